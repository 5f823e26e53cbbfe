//! Limits of weighted sums of rare events.

use super::expansion::Tail;
use super::rarer::counted_by_right;
use crate::certify::upper_bound;
use statrs::distribution::{ContinuousCDF, Gamma, Normal};

/// How much larger than the mean weight of a row the weight of an event is that was not seen: the
/// mean weight to the power `1 − 2θ` times the mean square to the power `θ`. At 0 it is the mean
/// (Tiwari et al., 2006), at ½ the root mean square, at 1 the mean of a draw by weight. Chosen by
/// resampling real sets; see docs/decisions/intervals.md.
const UNSEEN: f64 = 0.5;
const UNSEEN_OF_DIFFERENCE: f64 = 0.75;
const UNSEEN_IF_EVEN: f64 = 1.0;

/// The same where most rows are counted by right ones: of a few right rows, one at the top weighs even
/// more than an error there.
const UNSEEN_IF_RIGHT: f64 = 1.0;

/// The part of the weight that counts for a single metric whose weights have a short tail.
const SHORT: f64 = 0.7;

/// Beyond this shape the gamma distribution is so close to normal that the cube-root transform has
/// more digits than the series.
const LARGE_SHAPE: f64 = 1e5;

/// Below this shape the lower quantiles are zero to hundreds of digits.
const SMALL_SHAPE: f64 = 0.01;

/// What an interval is computed from: sums over the rows, apart for rows that raise the metric and
/// rows that lower it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    raised: Part,
    lowered: Part,
    rows: f64,
    influence: f64,
    influence_squared: f64,
    /// The rows that are counted if they are right.
    by_right: f64,
    tail: Tail,
    paired: bool,
}

/// How far below and above an estimate the limits are, and its standard error.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    pub(super) below: f64,
    pub(super) above: f64,
    pub(super) standard_error: f64,
}

/// The rows that change a metric in one direction.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    /// By how much all losses together change it, and the sum of the squares.
    sum: f64,
    squares: f64,
    /// What a loss in each row would change, and the squares, summed over all rows.
    unseen: f64,
    unseen_squares: f64,
}

impl Part {
    fn add(&mut self, contribution: f64, unseen: f64) {
        let (contribution, unseen) = (contribution.max(0.0), unseen.max(0.0));
        self.sum += contribution;
        self.squares += contribution * contribution;
        self.unseen += unseen;
        self.unseen_squares += unseen * unseen;
    }

    /// How far below and above the sum the limits are, if its variance is larger by a factor and the
    /// event that was not seen has a weight by the power `theta`, times `part`.
    fn distances(
        &self,
        rows: f64,
        factor: f64,
        (theta, part): (f64, f64),
        outside: f64,
    ) -> (f64, f64) {
        let unseen = if self.unseen > 0.0 {
            let (mean, mean_square) = (self.unseen / rows, self.unseen_squares / rows);
            part * mean.powf(1.0 - 2.0 * theta) * mean_square.powf(theta)
        } else {
            0.0
        };
        let sum = Weighted { sum: self.sum, variance: factor * self.squares, unseen };
        ((self.sum - sum.low(outside)).max(0.0), (sum.high(outside) - self.sum).max(0.0))
    }
}

/// A sum of weights of rare events, with the gamma limits of Fay & Feuer (1997).
#[derive(Debug, Clone, Copy)]
pub(super) struct Weighted {
    pub(super) sum: f64,
    pub(super) variance: f64,
    /// The weight of an event that was not seen.
    pub(super) unseen: f64,
}

impl Weighted {
    /// The lower limit.
    pub(super) fn low(&self, outside: f64) -> f64 {
        gamma_quantile(self.sum, self.variance, outside)
    }

    /// The upper limit: as if one more event had been seen.
    pub(super) fn high(&self, outside: f64) -> f64 {
        let Weighted { sum, variance, unseen } = *self;
        gamma_quantile(sum + unseen, variance + unseen * unseen, 1.0 - outside)
    }
}

impl Moments {
    /// No rows yet.
    pub(super) fn new(tail: Tail, paired: bool) -> Self {
        Moments { tail, paired, ..Moments::default() }
    }

    /// Adds a row: what it adds to the metric, what a loss in its place would add, and its influence
    /// on the metric. It is counted by its loss, or by its being right.
    pub(super) fn add(&mut self, row: [f64; 3], by_right: bool) {
        let row = if by_right { counted_by_right(row) } else { row };
        let [contribution, unseen, influence] = row;
        self.by_right += f64::from(u8::from(by_right));
        self.raised.add(contribution, unseen);
        self.lowered.add(-contribution, -unseen);
        self.rows += 1.0;
        self.influence += influence;
        self.influence_squared += influence * influence;
    }

    /// The variance of the metric by the influence function.
    fn variance(&self) -> f64 {
        let n = self.rows;
        if n < 2.0 {
            return 0.0;
        }
        let squares = self.influence_squared - self.influence * self.influence / n;
        squares.max(0.0) / ((n - 1.0) * n)
    }

    /// How far below and above the estimate the limits are; the interval fails on each side with
    /// probability `outside`.
    pub(super) fn spread(&self, outside: f64) -> Spread {
        let variance = self.variance();
        let counted = self.raised.squares + self.lowered.squares;
        let mut factor = if counted > 0.0 { variance / counted } else { 1.0 };
        // Where a few rows weigh most, a smaller variance may be that of a sample that missed them.
        if self.tail != Tail::Short {
            factor = factor.max(1.0);
        }
        let theta = if self.paired { UNSEEN_OF_DIFFERENCE } else { UNSEEN };
        let unseen = match self.tail {
            Tail::None => (UNSEEN_IF_EVEN, 1.0),
            Tail::Short if self.paired => (theta, 1.0),
            Tail::Short => (theta, SHORT),
            Tail::Long if 2.0 * self.by_right > self.rows => (UNSEEN_IF_RIGHT, 1.0),
            Tail::Long => (theta, 1.0),
        };
        let distances = |part: &Part| part.distances(self.rows, factor, unseen, outside);
        let (raised_low, raised_high) = distances(&self.raised);
        let (lowered_low, lowered_high) = distances(&self.lowered);
        let normal = -normal_quantile(outside) * variance.sqrt();
        Spread {
            below: raised_low.hypot(lowered_high).max(normal),
            above: raised_high.hypot(lowered_low).max(normal),
            standard_error: variance.sqrt(),
        }
    }
}

/// The quantile of the standard normal distribution.
pub(super) fn normal_quantile(share: f64) -> f64 {
    Normal::standard().inverse_cdf(share)
}

/// The quantile of the gamma distribution with a mean and a variance; the mean if there is no variance.
fn gamma_quantile(mean: f64, variance: f64, share: f64) -> f64 {
    let (shape, scale) = (mean * mean / variance, variance / mean);
    if !(mean > 0.0 && shape.is_finite() && scale > 0.0) {
        return mean;
    }
    if shape < SMALL_SHAPE && share < 0.5 {
        return 0.0;
    }
    if shape > LARGE_SHAPE {
        // Wilson & Hilferty (1931).
        let spread = 1.0 / (9.0 * shape);
        return mean * (1.0 - spread + normal_quantile(share) * spread.sqrt()).powi(3);
    }
    Gamma::new(shape, 1.0).map_or(mean, |gamma| scale * gamma.inverse_cdf(share))
}

/// The exact limits of a share: `hits` of `rows`.
pub(super) fn binomial_limits(hits: usize, rows: usize, outside: f64) -> (f64, f64) {
    (1.0 - upper_bound(rows - hits, rows, outside), upper_bound(hits, rows, outside))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of scipy.stats.gamma.
    #[test]
    fn gamma_quantiles_are_scipys() {
        for (shape, share, expected) in [
            (0.5, 0.05, 0.00196607),
            (1.0, 0.975, 3.688879454113936),
            (12.5, 0.05, 7.305703819741655),
            (1e5, 0.95, 100520.7162815659),
            (1.0001e5, 0.95, 100530.7422883662),
        ] {
            let found = gamma_quantile(shape, shape, share);
            assert!((found / expected - 1.0).abs() < 2e-8, "{shape} {share}: {found}");
        }
    }
}
