//! What a page draws of a tuning.

use super::{DrawnRows, Painter, Picture, Subject, Surface};
use crate::certify::DEFAULT_DELTA;
use crate::tune::{TuneReport, TuneResult};
use abstain::Error;

impl TuneResult {
    /// The probability with which the bounds of a page may fail.
    pub fn delta(&self) -> f64 {
        self.request.delta.unwrap_or(DEFAULT_DELTA)
    }

    /// The baseline, the choice, and the other methods that did not fall back, on the test rows of
    /// the first split. Also their indices in [`TuneReport::methods`].
    pub fn picture(&self) -> Result<(Picture, Vec<usize>), Error> {
        let TuneResult { report, run, .. } = self;
        let chosen = report.chosen();
        let mut lines = vec![TuneReport::BASELINE, chosen];
        lines.dedup();
        let leads = lines.len();
        let others = (0..report.methods.len())
            .filter(|line| !lines[..leads].contains(line) && report.methods[*line].stands_alone());
        lines.extend(others.collect::<Vec<_>>());
        let certified: Vec<f64> =
            report.certificate.iter().map(|certificate| certificate.threshold).collect();
        let subject = |(index, &line): (usize, &usize)| Subject {
            name: report.methods[line].method.to_string(),
            estimator: report.methods[line].estimator.as_ref(),
            confidences: &run.confidences[line],
            surface: run.tuned[line].1.as_ref().ok().and_then(Surface::new),
            lead: index < leads,
            thresholds: if line == chosen { certified.clone() } else { Vec::new() },
        };
        let subjects: Vec<Subject<'_>> = lines.iter().enumerate().map(subject).collect();
        let rows = DrawnRows {
            losses: &run.losses,
            classes: Some(report.classes),
            answers: Some(&run.answers),
            index: run.rows.as_deref(),
        };
        let painter = Painter {
            // Where every row tuned, none can bound, and bounds count independent rows.
            delta: (report.folds.is_none() && run.certifying.is_none()).then(|| self.delta()),
            target: report.target,
            intervals: self.request.intervals(),
            pictures: 1,
        };
        Ok((painter.picture(&subjects, &rows)?, lines))
    }
}
