//! What is drawn of a tuning experiment.

use super::{Answers, Painter, Picture, Rows, Subject, Surface};
use crate::tune::Found;
use abstain::Error;

impl Found {
    /// MSP, the choice, and the methods that were not given up, on the test rows of the first split. Also
    /// which lines of the report they are. `answers` are those of the source of the test rows.
    pub fn picture(
        &self,
        painter: &Painter,
        answers: &Answers,
    ) -> Result<(Picture, Vec<usize>), Error> {
        let (report, run) = (&self.report, &self.run);
        let choice = report.choice.place(&report.methods);
        let mut places = vec![0];
        if choice != 0 {
            places.push(choice);
        }
        let leads = places.len();
        let others = (0..report.methods.len()).filter(|&line| {
            !places[..leads].contains(&line) && report.methods[line].stands_alone()
        });
        places.extend(others.collect::<Vec<_>>());
        let certified: Vec<f64> = report.certificate.iter().map(|own| own.threshold).collect();
        let subject = |(at, &line): (usize, &usize)| Subject {
            name: report.methods[line].method.to_string(),
            estimator: report.methods[line].estimator.as_ref(),
            confidences: &run.confidences[line],
            surface: run.tuned[line].1.as_ref().ok().and_then(Surface::new),
            lead: at < leads,
            thresholds: if line == choice { certified.clone() } else { Vec::new() },
        };
        let subjects: Vec<Subject<'_>> = places.iter().enumerate().map(subject).collect();
        let rows = Rows {
            losses: &run.losses,
            classes: Some(report.classes),
            answers: Some(answers),
            index: run.rows.as_deref(),
        };
        Ok((painter.picture(&subjects, &rows)?, places))
    }
}
