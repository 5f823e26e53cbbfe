//! What is drawn of contenders on one set of rows.

use super::{Painter, Picture, Rows, Subject};
use crate::evaluate::Contender;
use abstain::Error;

impl Painter {
    /// The baseline, which is the last of the contenders, and then the others. A threshold is that of one
    /// of them.
    pub fn compared(
        &self,
        contenders: &[Contender],
        threshold: Option<(usize, f64)>,
        rows: &Rows<'_>,
    ) -> Result<Picture, Error> {
        let mut subjects: Vec<Subject<'_>> = contenders
            .iter()
            .enumerate()
            .map(|(at, own)| Subject {
                name: own.name.clone(),
                estimator: own.estimator.as_ref(),
                confidences: &own.confidences,
                surface: None,
                lead: true,
                thresholds: threshold
                    .filter(|(whose, _)| *whose == at)
                    .map(|(_, threshold)| threshold)
                    .into_iter()
                    .collect(),
            })
            .collect();
        subjects.rotate_right(1.min(contenders.len()));
        self.picture(&subjects, rows)
    }
}
