//! The thresholds of an estimator that a page offers.

use super::{LossSum, Number, POSITIONS};
use crate::target::Target;
use abstain::{RcCurve, curve::Knot};
use serde::Serialize;

/// The accuracies of which a page knows the widest threshold exactly: every tenth of a per cent, or every
/// per cent of a curve that is not drawn in full.
const ACCURACIES: usize = 1000;
const FEW_ACCURACIES: usize = 100;

/// Thresholds, from the strictest to the one that accepts every row, and what each lets through.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Positions {
    /// How many rows are accepted.
    pub accepted: Vec<usize>,
    /// The sum of their losses: the errors, if the loss is 0/1.
    pub loss: Vec<LossSum>,
    /// The threshold.
    pub threshold: Vec<Number>,
    /// The same on the paper's scale.
    pub value: Option<Vec<Number>>,
    /// An upper bound on the selective risk of the population. All bounds of all estimators in the
    /// picture hold at once with probability 1 − δ; for the 0/1 loss.
    pub bound: Option<Vec<f64>>,
    /// The same if this threshold alone had been fixed before the rows were seen.
    pub alone: Option<Vec<f64>>,
}

/// The thresholds to offer: so many, evenly spaced by coverage; the cheapest ones, whatever an error and a
/// referral cost; the widest for every accuracy that can be requested; and what some numbers do as thresholds.
pub(super) fn offered(curve: &RcCurve, even: usize, target: Target, wanted: &[f64]) -> Vec<Knot> {
    let even = even.min(curve.rows());
    let mut knots: Vec<Knot> =
        (1..=even).map(|i| curve.narrowest_covering(i as f64 / even as f64)).collect();
    knots.extend(cheapest(curve));
    if curve.is_zero_one() {
        // From the accuracy of all rows on; below it, all are accepted.
        let steps = if even < POSITIONS.min(curve.rows()) { FEW_ACCURACIES } else { ACCURACIES };
        let steps = (0..=steps).map(|step| step as f64 / steps as f64);
        let wanted = steps.filter(|accuracy| *accuracy >= 1.0 - curve.risk());
        knots.extend(wanted.filter_map(|accuracy| curve.widest_within_accuracy(accuracy)));
    }
    knots.extend(target.widest(curve));
    knots.extend(wanted.iter().filter_map(|&threshold| curve.at_threshold(threshold)));
    knots.sort_by_key(|knot| knot.accepted);
    knots.dedup_by_key(|knot| knot.accepted);
    knots
}

/// The corners of the lower convex hull of rows and losses, from none accepted to all: whatever a loss and a
/// row that is not accepted cost, the least cost is at one of them.
fn cheapest(curve: &RcCurve) -> Vec<Knot> {
    let mut hull: Vec<Knot> = Vec::new();
    let nothing = Knot { threshold: f64::INFINITY, accepted: 0, loss: 0.0 };
    for knot in curve.knots() {
        while let Some(&last) = hull.last() {
            let before = if hull.len() > 1 { hull[hull.len() - 2] } else { nothing };
            let slope =
                |from: Knot, to: Knot| (to.loss - from.loss) / (to.accepted - from.accepted) as f64;
            if slope(before, last) < slope(last, knot) {
                break;
            }
            hull.pop();
        }
        hull.push(knot);
    }
    hull
}

#[cfg(test)]
mod tests {
    use super::*;
    use abstain::Losses;

    fn curve(rows: usize, steps: f64) -> RcCurve {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let confidences: Vec<f64> = (0..rows).map(|_| (next() * steps).floor() / steps).collect();
        let wrong = |c: &f64| f64::from(u8::from(next() > 0.3 + 0.7 * c));
        let losses: Vec<f64> = confidences.iter().map(wrong).collect();
        RcCurve::new(&confidences, &Losses::new(losses).expect("losses")).expect("a curve")
    }

    /// Against trying all thresholds, with and without ties.
    #[test]
    fn the_cheapest_and_the_widest_are_offered() {
        for steps in [1e12, 30.0] {
            let curve = curve(3000, steps);
            let found = offered(&curve, POSITIONS, Target::Accuracy(0.9), &[]);
            for ratio in [0.0, 0.3, 1.0, 2.5, 10.0, 1e6] {
                let cost = |knot: &Knot| ratio * knot.loss - knot.accepted as f64;
                let least = curve.knots().map(|knot| cost(&knot)).fold(0.0, f64::min);
                let offered = found.iter().map(cost).fold(0.0, f64::min);
                assert!((offered - least).abs() < 1e-9, "{ratio}: {offered} {least}");
            }
            for accuracy in [0.62, 0.75, 0.801, 0.9, 0.987, 1.0] {
                let widest = curve.widest_within_accuracy(accuracy).map(|knot| knot.accepted);
                let meets = |knot: &&Knot| 1.0 - knot.selective_risk() >= accuracy - 1e-12;
                let offered = found.iter().rev().find(meets).map(|knot| knot.accepted);
                assert_eq!(offered, widest, "{accuracy}");
            }
            let fewer = offered(&curve, 50, Target::Accuracy(0.857), &[]);
            assert!(fewer.len() < found.len() / 2 || steps < 1e3);
            let widest = curve.widest_within_accuracy(0.857).map(|knot| knot.accepted);
            assert!(fewer.iter().any(|knot| Some(knot.accepted) == widest));
            assert!(found.is_sorted_by(|a, b| a.accepted < b.accepted));
            assert_eq!(found.last().map(|knot| knot.accepted), Some(3000));
        }
    }
}
