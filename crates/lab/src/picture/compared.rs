//! What is drawn of contenders on one set of rows.

use super::{Painter, Picture, Rows, Subject};
use crate::evaluate::Contender;
use abstain::Error;

impl Painter {
    /// The baseline, which is the last of the contenders, and then the others. A threshold is that of one
    /// of them.
    ///
    /// A further set follows a first one: all thresholds of the first are among its own, so that what any of
    /// them does here is known exactly. Bounds are for the set on which a threshold is chosen.
    pub fn compared(
        &self,
        contenders: &[Contender],
        threshold: Option<(usize, f64)>,
        rows: &Rows<'_>,
        first: Option<&Picture>,
    ) -> Result<Picture, Error> {
        let of_first = |name: &str| {
            let method = first?.methods.iter().find(|own| own.name == name)?;
            Some(method.positions.threshold.iter().map(|own| own.0).collect::<Vec<f64>>())
        };
        let mut subjects = Vec::new();
        for (at, own) in contenders.iter().enumerate() {
            let mut thresholds = of_first(&own.name).unwrap_or_default();
            thresholds.extend(threshold.filter(|(whose, _)| *whose == at).map(|(_, at)| at));
            subjects.push(Subject {
                name: own.name.clone(),
                estimator: own.estimator.as_ref(),
                confidences: &own.confidences,
                surface: None,
                lead: true,
                thresholds,
            });
        }
        subjects.rotate_right(1.min(contenders.len()));
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
