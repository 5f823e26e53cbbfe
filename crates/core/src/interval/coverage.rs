//! The largest coverage at a selective risk: limits by inverting a test at each threshold.
//!
//! At the population's threshold the errors among the accepted rows are binomial with the risk that
//! is wanted. The limits are the row counts around the estimate at which a test does not refuse that
//! risk, widened by what the coverage of a fixed threshold varies.

use super::limits::{Weighted, binomial_limits, normal_quantile};
use crate::certify::binomial_tail;
use crate::curve::{Knot, Ranking};
use crate::losses::Losses;

/// The limits of a coverage, and what two estimators are compared by.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    /// How far below and above the estimate the limits are.
    pub(super) distances: (f64, f64),
    /// The influence of each row, up to a factor.
    pub(super) influence: Vec<f64>,
}

/// The limits of the largest coverage at a risk, which is `accepted` rows on these.
pub(super) fn reach(
    ranking: &Ranking,
    losses: &Losses,
    risk: f64,
    accepted: usize,
    outside: f64,
) -> Reach {
    let curve = &ranking.curve;
    let test = Test::new(ranking, losses, risk, outside);
    let mut knots = curve.knots().enumerate().rev();
    let wider = knots.by_ref().take_while(|(_, knot)| knot.accepted > accepted);
    let mut refused = true;
    let mut high = accepted;
    let mut inside = curve.thresholds();
    for (group, knot) in wider {
        inside = group;
        if refused && !test.above(group, &knot) {
            (refused, high) = (false, knot.accepted);
        }
    }
    let mut narrower = curve.knots().enumerate().take(inside).rev();
    let low = narrower.find(|(group, knot)| test.below(*group, knot));
    let low = low.map_or(0, |(_, knot)| knot.accepted);
    let n = curve.rows();
    let share = |rows: usize| rows as f64 / n as f64;
    let (least, most) = binomial_limits(accepted, n, outside);
    let estimate = share(accepted);
    let distances = (
        (estimate - share(low)).hypot(estimate - least.min(estimate)),
        (share(high) - estimate).hypot(most.max(estimate) - estimate),
    );
    // A row that is accepted widens the coverage itself, and its loss moves the threshold, by the
    // less the steeper the risk rises there.
    let slope = (curve.risk_between(low, high) - risk).max(0.0);
    let influence = |(group, loss): (usize, f64)| {
        if group < inside { slope - (loss - risk) } else { 0.0 }
    };
    let rows = ranking.groups().zip(losses.values().iter().copied());
    Reach { distances, influence: rows.map(influence).collect() }
}

/// The correlation of two coverages; none where it cannot be computed or is negative.
pub(super) fn correlation(a: &Reach, b: &Reach) -> f64 {
    let n = a.influence.len() as f64;
    let mean = |x: &[f64]| x.iter().sum::<f64>() / n;
    let (mean_a, mean_b) = (mean(&a.influence), mean(&b.influence));
    let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
    for (x, y) in a.influence.iter().zip(&b.influence) {
        let (x, y) = (x - mean_a, y - mean_b);
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    if aa > 0.0 && bb > 0.0 { (ab / (aa * bb).sqrt()).clamp(0.0, 1.0) } else { 0.0 }
}

/// A test of whether the selective risk at a threshold is the one that is wanted.
struct Test {
    risk: f64,
    outside: f64,
    /// The standard score at which a normal test decides.
    score: f64,
    zero_one: bool,
    /// The squared losses of all rows up to each group, and a typical loss.
    squares: Vec<f64>,
    size: f64,
}

/// Errors from which a normal test is good enough to tell clear cases.
const MANY: f64 = 10.0;

impl Test {
    fn new(ranking: &Ranking, losses: &Losses, risk: f64, outside: f64) -> Self {
        let zero_one = ranking.curve.is_zero_one();
        let mut squares = Vec::new();
        if !zero_one {
            squares = vec![0.0; ranking.curve.thresholds()];
            for (group, loss) in ranking.groups().zip(losses.values()) {
                squares[group] += loss * loss;
            }
            let mut sum = 0.0;
            for square in &mut squares {
                sum += *square;
                *square = sum;
            }
        }
        let total = ranking.curve.total_loss();
        let size = match squares.last() {
            Some(squares) if total > 0.0 => squares / total,
            _ => 1.0,
        };
        Test { risk, outside, score: -normal_quantile(outside), zero_one, squares, size }
    }

    /// The expected loss at the wanted risk, less the loss; and its standard deviation.
    fn difference(&self, group: usize, knot: &Knot) -> (f64, f64) {
        let k = knot.accepted as f64;
        let expected = k * self.risk;
        let variance = if self.zero_one {
            expected * (1.0 - self.risk)
        } else {
            self.squares[group] - 2.0 * self.risk * knot.loss + self.risk * expected
        };
        (expected - knot.loss, variance.max(0.0).sqrt())
    }

    fn weighted(&self, group: usize, knot: &Knot) -> Weighted {
        Weighted { sum: knot.loss, variance: self.squares[group], unseen: self.size }
    }

    /// Whether a normal test of so much loss is clear; nothing if only the exact test can tell. The
    /// lower tail of few errors is shorter than the normal one, and the upper longer.
    fn clear(&self, score: f64, loss: f64) -> Option<bool> {
        if score < self.score - 1.0 {
            return Some(false);
        }
        (score > self.score + 1.0 && loss / self.size >= MANY).then_some(true)
    }

    /// Whether the risk is surely below the wanted one.
    fn below(&self, group: usize, knot: &Knot) -> bool {
        let (difference, deviation) = self.difference(group, knot);
        if difference <= 0.0 {
            return false;
        }
        let expected = knot.accepted as f64 * self.risk;
        self.clear(difference / deviation, expected).unwrap_or_else(|| {
            if self.zero_one {
                binomial_tail(knot.errors(), knot.accepted, self.risk) <= self.outside
            } else {
                self.weighted(group, knot).high(self.outside) <= expected
            }
        })
    }

    /// Whether the risk is surely above the wanted one.
    fn above(&self, group: usize, knot: &Knot) -> bool {
        let (difference, deviation) = self.difference(group, knot);
        if difference >= 0.0 {
            return false;
        }
        let expected = knot.accepted as f64 * self.risk;
        self.clear(-difference / deviation, knot.loss).unwrap_or_else(|| {
            if self.zero_one {
                // At least so many errors: at most the rest is right.
                let right = knot.accepted - knot.errors();
                binomial_tail(right, knot.accepted, 1.0 - self.risk) <= self.outside
            } else {
                self.weighted(group, knot).low(self.outside) >= expected
            }
        })
    }
}
