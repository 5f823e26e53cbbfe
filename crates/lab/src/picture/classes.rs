//! Who pays for the abstentions: what thresholds do to the rows of each class.

use super::{DrawnRows, LossSum};
use abstain::RcCurve;
use serde::Serialize;

/// Levels of coverage at which classes are counted, as far as the cells of a page suffice.
const LEVELS: usize = 100;
const CELLS: usize = 60_000;

/// The rows of each true class, at some thresholds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ByClass {
    /// How many rows of all classes each threshold accepts, ascending.
    pub accepted: Vec<usize>,
    /// The rows of each class.
    pub rows: Vec<usize>,
    /// How many of them each threshold accepts: one line a threshold.
    pub answered: Vec<Vec<usize>>,
    /// The sum of the losses of those.
    pub loss: Vec<Vec<LossSum>>,
}

impl ByClass {
    /// Of labelled rows, if there are not too many classes for one of so many pictures on a page.
    pub(super) fn new(
        curve: &RcCurve,
        confidences: &[f64],
        rows: &DrawnRows<'_>,
        pictures: usize,
    ) -> Option<Self> {
        let classes = rows.classes?;
        let labels: Vec<usize> = (0..confidences.len()).map_while(|row| rows.label(row)).collect();
        if labels.len() < confidences.len() {
            return None;
        }
        let levels = (CELLS / pictures.max(1) / classes.max(1)).min(LEVELS).min(curve.rows());
        if levels < 2 {
            return None;
        }
        let mut order: Vec<usize> = (0..confidences.len()).collect();
        order.sort_by(|&a, &b| confidences[b].total_cmp(&confidences[a]));
        let mut all = ByClass {
            accepted: Vec::new(),
            rows: vec![0; classes],
            answered: Vec::new(),
            loss: Vec::new(),
        };
        let (mut done, mut losses) = (0, vec![LossSum(0.0); classes]);
        for level in 1..=levels {
            let accepted = curve.narrowest_covering(level as f64 / levels as f64).accepted;
            if all.accepted.last() == Some(&accepted) {
                continue;
            }
            for &row in &order[done..accepted] {
                all.rows[labels[row]] += 1;
                losses[labels[row]].0 += rows.losses.values()[row];
            }
            done = accepted;
            all.accepted.push(accepted);
            // At the last level these are all rows of each class.
            all.answered.push(all.rows.clone());
            all.loss.push(losses.clone());
        }
        Some(all)
    }
}
