//! How sure an estimator is of right and of wrong rows.

use abstain::Losses;
use serde::Serialize;

const BINS: usize = 40;

/// The share of the rows beyond each end: a few far out must not squeeze the others into one bin.
const BEYOND: f64 = 0.001;

/// Counts in bins of equal width; the bins at the ends hold also what lies beyond them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Histogram {
    /// One more than there are bins.
    pub edges: Vec<f64>,
    /// The rows without a loss.
    pub right: Vec<usize>,
    /// The others.
    pub wrong: Vec<usize>,
}

impl Histogram {
    /// Of confidences on the scale of thresholds, which may be infinite.
    pub(super) fn new(confidences: &[f64], losses: &Losses) -> Self {
        let mut finite: Vec<f64> = confidences.iter().copied().filter(|c| c.is_finite()).collect();
        finite.sort_unstable_by(f64::total_cmp);
        let (low, high) = match finite.len().checked_sub(1) {
            None => (0.0, 0.0),
            Some(last) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a row"
                )]
                let beyond = (BEYOND * last as f64) as usize;
                (finite[beyond], finite[last - beyond])
            }
        };
        // All alike, they are in the middle of bins of some width.
        let (low, high) = if low < high { (low, high) } else { (low - 0.5, high + 0.5) };
        // Not by their difference, which may be infinite.
        let edge = |i: usize| {
            let share = i as f64 / BINS as f64;
            low * (1.0 - share) + high * share
        };
        let mut all = Histogram {
            edges: (0..=BINS).map(edge).collect(),
            right: vec![0; BINS],
            wrong: vec![0; BINS],
        };
        for (&confidence, &loss) in confidences.iter().zip(losses.values()) {
            // The first bin whose upper edge is above it.
            let bin = all.edges[1..BINS].partition_point(|&upper| upper <= confidence);
            let counts = if loss > 0.0 { &mut all.wrong } else { &mut all.right };
            counts[bin] += 1;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_a_bin() {
        let confidences = [f64::NEG_INFINITY, -1.0, 0.0, 0.5, 1.0, 1.0, f64::INFINITY];
        let losses = Losses::new(vec![1.0, 1.0, 0.0, 0.3, 0.0, 0.0, 0.0]).expect("losses");
        let found = Histogram::new(&confidences, &losses);
        assert_eq!((found.edges.len(), found.edges[0], found.edges[BINS]), (BINS + 1, -1.0, 1.0));
        assert_eq!((found.wrong[0], found.right[BINS - 1]), (2, 3));
        assert_eq!((found.right[20], found.wrong[30]), (1, 1));
        assert_eq!(found.right.iter().chain(&found.wrong).sum::<usize>(), 7);
    }

    #[test]
    fn equal_and_infinite_confidences_have_bins_too() {
        let losses = Losses::new(vec![0.0, 1.0]).expect("losses");
        let equal = Histogram::new(&[3.0, 3.0], &losses);
        assert_eq!((equal.edges[0], equal.edges[BINS]), (2.5, 3.5));
        assert_eq!((equal.right[20], equal.wrong[20]), (1, 1));
        let huge = Histogram::new(&[-1.7e308, 1.7e308], &losses);
        assert!(huge.edges.iter().all(|edge| edge.is_finite()) && huge.edges.is_sorted());
        let infinite = Histogram::new(&[f64::INFINITY, f64::NEG_INFINITY], &losses);
        assert_eq!((infinite.right[BINS - 1], infinite.wrong[0]), (1, 1));
    }
}
