//! What a page draws of an evaluation.

use super::{DrawnRows, Painter, Picture, Subject};
use crate::evaluate::{Contenders, EvaluateResult};
use abstain::Error;

impl EvaluateResult {
    /// The contenders on these rows, as one of so many pictures on a page; see [`Painter::compared`].
    pub fn picture(&self, pictures: usize, first: Option<&Picture>) -> Result<Picture, Error> {
        let rows = DrawnRows {
            losses: &self.losses,
            classes: self.classes,
            answers: self.answers.as_ref(),
            index: None,
        };
        let (delta, target, intervals) = (self.delta, self.report.target, self.intervals);
        let painter = Painter { delta, target, intervals, pictures };
        painter.compared(&self.contenders, &rows, first)
    }
}

impl Painter {
    /// The baseline, and then the contenders that are compared with it.
    ///
    /// A further set follows a first one: all thresholds of the first are among its positions, so
    /// that what any of them does here is exact. Bounds are for the set on which a threshold is
    /// chosen.
    pub fn compared(
        &self,
        contenders: &Contenders,
        rows: &DrawnRows<'_>,
        first: Option<&Picture>,
    ) -> Result<Picture, Error> {
        let of_first = |name: &str| {
            let method = first?.methods.iter().find(|method| method.name == name)?;
            Some(method.positions.threshold.iter().map(|number| number.0).collect::<Vec<f64>>())
        };
        let mut subjects = Vec::new();
        for (index, contender) in contenders.all().enumerate() {
            let mut thresholds = of_first(&contender.name).unwrap_or_default();
            thresholds.extend(contenders.threshold.filter(|_| index == contenders.of_artifact));
            subjects.push(Subject {
                name: contender.name.clone(),
                estimator: contender.estimator.as_ref(),
                confidences: &contender.confidences,
                surface: None,
                lead: true,
                thresholds,
            });
        }
        // Pictures show the baseline first.
        subjects.rotate_right(1);
        if first.is_none() {
            return self.picture(&subjects, rows);
        }
        let mut picture = Painter { delta: None, ..*self }.picture(&subjects, rows)?;
        for method in &mut picture.methods {
            method.positions.value = None;
        }
        Ok(picture)
    }
}
