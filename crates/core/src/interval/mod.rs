//! Intervals of metrics, and of differences of two estimators on the same rows, from one sort.
//!
//! A metric such as AURC is a weighted count of errors, and an error among the surest rows weighs
//! most. Real classifiers make a few such errors, and a sample that happens to miss them is too
//! optimistic and too sure of it: so is the bootstrap, which can only repeat what it has seen. The
//! intervals here count one more error than was seen. They are closed forms:
//!
//! * **AURC, E-AURC, NAURC, AUROC, AUGRC, PartialAURC, RiskAtCoverage** are sums of weighted losses to
//!   first order ([`expansion`]). The losses that raise the metric and those that lower it are two
//!   sums of rare events, each with gamma limits (Fay & Feuer, 1997) in which the loss that was not
//!   seen has a typical weight (after Tiwari et al., 2006). The limits are combined by MOVER (Zou &
//!   Donner, 2008), and are never closer than those of the influence function, whose variance
//!   includes that of the ranks.
//! * **Differences** are the same sums with the difference of the weights.
//! * **SAC and CoverageAtRisk** invert an exact test at each threshold ([`coverage`]).
//! * **Accuracy** is binomial: Clopper & Pearson (1934).
//!
//! A loss that is not 0/1 counts by its size; the one that was not seen has the size of a loss that is
//! drawn by size. Inside ties everything is an expectation over the order.

mod coverage;
mod expansion;
mod limits;

use crate::bootstrap::Bootstrap;
use crate::curve::{Ranking, RcCurve};
use crate::error::{Error, Undefined};
use crate::losses::Losses;
use crate::metric::Metric;
use crate::stop;
use coverage::Reach;
use expansion::rank_without_loss;
pub(crate) use expansion::{Expansion, Sum, generalised_risk, mean_risk, selective_risk};
use limits::{Moments, binomial_limits, normal_quantile};
use rayon::prelude::*;
use serde::Serialize;

/// A value with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The value on the rows themselves.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The standard error: of the influence function, or the standard deviation over the replicates.
    pub standard_error: f64,
    /// Replicates in which the value was defined, which alone count; `None` for a closed form.
    pub replicates: Option<usize>,
}

/// A metric of an estimator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// The metric itself.
    pub value: Result<Interval, Undefined>,
    /// The metric less that of the first estimator.
    pub difference: Result<Interval, Undefined>,
}

/// How to make intervals.
///
/// ```
/// use abstain::{Intervals, Losses, Metric};
///
/// let losses = Losses::new(vec![0.0, 0.0, 1.0, 0.0])?;
/// let found = Intervals::default().intervals(&[Metric::AURC], &[0.9, 0.8, 0.4, 0.6], &losses)?;
/// let aurc = found[0]?;
/// assert_eq!(aurc.estimate, 0.0625);
/// assert!(aurc.low < 0.01 && aurc.high > 0.3);
/// # Ok::<(), abstain::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intervals {
    /// How often an interval should hold the truth, such as 0.95.
    pub level: f64,
    /// The replicates of a bootstrap; closed forms if there are none.
    pub replicates: Option<usize>,
    /// The seed of the replicates.
    pub seed: u64,
}

impl Default for Intervals {
    fn default() -> Self {
        Intervals { level: 0.95, replicates: None, seed: 0 }
    }
}

impl Intervals {
    /// The bootstrap, where one is requested.
    pub fn bootstrap(&self) -> Option<Bootstrap> {
        let Intervals { level, replicates, seed } = *self;
        replicates.map(|replicates| Bootstrap { replicates, level, seed })
    }

    /// What `progress` counts up to for so many estimators.
    pub fn steps(&self, estimators: usize) -> usize {
        self.replicates.unwrap_or(estimators)
    }

    /// An interval for each metric.
    pub fn intervals(
        &self,
        metrics: &[Metric],
        confidences: &[f64],
        losses: &Losses,
    ) -> Result<Vec<Result<Interval, Undefined>>, Error> {
        let all = self.compare(metrics, &[confidences], losses, &mut |_| {})?;
        Ok(all.into_iter().flatten().map(|compared| compared.value).collect())
    }

    /// An interval for each metric of `a` less that of `b`, on the same rows.
    pub fn differences(
        &self,
        metrics: &[Metric],
        a: &[f64],
        b: &[f64],
        losses: &Losses,
    ) -> Result<Vec<Result<Interval, Undefined>>, Error> {
        let mut all = self.compare(metrics, &[b, a], losses, &mut |_| {})?;
        let of_a = all.pop().unwrap_or_default();
        Ok(of_a.into_iter().map(|compared| compared.difference).collect())
    }

    /// Every metric of every estimator with its interval, and its difference to the first
    /// estimator with its interval. `progress` is called from time to time with the number of
    /// [`Intervals::steps`] that are done.
    pub fn compare(
        &self,
        metrics: &[Metric],
        estimators: &[&[f64]],
        losses: &Losses,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<Vec<Compared>>, Error> {
        if let Some(bootstrap) = self.bootstrap() {
            return bootstrap.compare(metrics, estimators, losses, progress);
        }
        check_level(self.level)?;
        let Some((first, others)) = estimators.split_first() else {
            return Ok(Vec::new());
        };
        stop::check()?;
        let rows = Rows::new(losses, self.level)?;
        let first = Ranking::new(first, losses)?;
        let measured: Vec<Measured> =
            metrics.par_iter().map(|metric| rows.measure(metric, &first)).collect();
        let of_first = metrics.iter().zip(&measured).map(|(_, measured)| Compared {
            value: measured.interval,
            difference: measured.interval.map(|_| NO_DIFFERENCE),
        });
        let mut all = vec![of_first.collect()];
        progress(1);
        for chunk in others.chunks(rayon::current_num_threads()) {
            stop::check()?;
            let compared = |column: &&[f64]| -> Result<Vec<Compared>, Error> {
                let ranking = Ranking::new(column, losses)?;
                let same = ranking.is_same(&first);
                let each = metrics.iter().zip(&measured).map(|(metric, before)| {
                    let after = rows.measure(metric, &ranking);
                    let difference = rows.difference(metric, &after, before, same);
                    Compared { value: after.interval, difference }
                });
                Ok(each.collect())
            };
            all.extend(chunk.par_iter().map(compared).collect::<Result<Vec<_>, _>>()?);
            progress(all.len());
        }
        Ok(all)
    }

    /// A metric of each estimator less that of each other, on the same rows: `[a][b]` is that of `a`
    /// less that of `b`.
    pub fn pairs(
        &self,
        metric: Metric,
        estimators: &[&[f64]],
        losses: &Losses,
    ) -> Result<Vec<Vec<Result<Interval, Undefined>>>, Error> {
        if let Some(bootstrap) = self.bootstrap() {
            return bootstrap.pairs(metric, estimators, losses);
        }
        check_level(self.level)?;
        let rows = Rows::new(losses, self.level)?;
        let measured = estimators
            .par_iter()
            .map(|column| {
                stop::check()?;
                let ranking = Ranking::new(column, losses)?;
                Ok((rows.measure(&metric, &ranking), ranking))
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let against = |(a, ranking): &(Measured, Ranking)| {
            let each = measured.iter();
            each.map(|(b, other)| rows.difference(&metric, a, b, ranking.is_same(other))).collect()
        };
        Ok(measured.par_iter().map(against).collect())
    }
}

pub(crate) fn check_level(level: f64) -> Result<(), Error> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    let wanted = "a number between 0 and 1, both excluded";
    Err(Error::Parameter { name: "level", value: level, wanted })
}

/// The difference of two estimators that rank alike.
const NO_DIFFERENCE: Interval =
    Interval { estimate: 0.0, low: 0.0, high: 0.0, standard_error: 0.0, replicates: None };

/// What all estimators on the same rows share.
struct Rows<'a> {
    losses: &'a Losses,
    zero_one: bool,
    ideal: Ideal,
    /// The size of a loss that was not seen.
    size: f64,
    /// How often an interval may fail on each side.
    outside: f64,
}

/// What rows add to `n` times the AURC of the ideal confidence.
enum Ideal {
    /// So much for each error.
    ZeroOne(f64),
    /// For each row, and its influence.
    Graded {
        rows: Vec<(f64, f64)>,
        /// The mean for a loss of 1.
        slope: f64,
    },
}

/// A metric of an estimator: its interval, and what a difference is made from.
struct Measured {
    interval: Result<Interval, Undefined>,
    parts: Parts,
}

enum Parts {
    /// What each row adds to the metric, what a loss in its place would add, and its influence.
    Sum { rows: Vec<[f64; 3]>, even: bool },
    /// A coverage.
    Reach(Reach),
    /// Nothing: the metric is the same for all estimators, or undefined.
    None,
}

impl<'a> Rows<'a> {
    fn new(losses: &'a Losses, level: f64) -> Result<Self, Error> {
        let values = losses.values();
        let (n, total) = (values.len() as f64, values.iter().sum::<f64>());
        let zero_one = losses.is_zero_one();
        let squares: f64 = values.iter().map(|loss| loss * loss).sum();
        let size = if zero_one || total == 0.0 { 1.0 } else { squares / total };
        let ideal = if zero_one {
            // d AURC* / d risk = −ln(1 − risk), to half an error.
            let right = (n - total).max(0.5) / n;
            Ideal::ZeroOne(-right.ln())
        } else {
            Ideal::graded(losses)?
        };
        Ok(Rows { losses, zero_one, ideal, size, outside: (1.0 - level) / 2.0 })
    }

    /// A metric of an estimator.
    fn measure(&self, metric: &Metric, ranking: &Ranking) -> Measured {
        let estimate = match metric.evaluate(&ranking.curve) {
            Ok(estimate) => estimate,
            Err(undefined) => return Measured { interval: Err(undefined), parts: Parts::None },
        };
        let (parts, distances, standard_error) = match metric.expansion(&ranking.curve) {
            Expansion::Sum(sum) => {
                let rows = self.contributions(&sum, ranking);
                let moments = Moments::of(rows.iter().copied(), sum.even, false);
                let parts = Parts::Sum { rows, even: sum.even };
                (parts, moments.distances(self.outside), moments.variance().sqrt())
            }
            Expansion::CoverageAt { risk } => {
                let n = ranking.curve.rows();
                let accepted = count(estimate * n as f64);
                let reach = coverage::reach(ranking, self.losses, risk, accepted, self.outside);
                let distances = reach.distances;
                (Parts::Reach(reach), distances, self.half_width(distances))
            }
            Expansion::Accuracy => {
                let (n, right) = (ranking.curve.rows(), right_rows(&ranking.curve));
                let (low, high) = binomial_limits(right, n, self.outside);
                let error = (estimate * (1.0 - estimate) / n as f64).sqrt();
                (Parts::None, (estimate - low, high - estimate), error)
            }
        };
        let range = metric.range(self.zero_one);
        Measured { interval: Ok(interval(estimate, distances, standard_error, range)), parts }
    }

    /// The difference of two estimators.
    fn difference(
        &self,
        metric: &Metric,
        a: &Measured,
        b: &Measured,
        same: bool,
    ) -> Result<Interval, Undefined> {
        let (of_a, of_b) = (a.interval?, b.interval?);
        if same {
            return Ok(NO_DIFFERENCE);
        }
        let (distances, standard_error) = match (&a.parts, &b.parts) {
            (Parts::Sum { rows: of_a, even }, Parts::Sum { rows: of_b, .. }) => {
                let less = |(a, b): (&[f64; 3], &[f64; 3])| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
                let moments = Moments::of(of_a.iter().zip(of_b).map(less), *even, true);
                (moments.distances(self.outside), moments.variance().sqrt())
            }
            (Parts::Reach(a), Parts::Reach(b)) => {
                let correlation = coverage::correlation(a, b);
                let combined =
                    |x: f64, y: f64| (x * x + y * y - 2.0 * correlation * x * y).max(0.0).sqrt();
                let distances = (
                    combined(a.distances.0, b.distances.1),
                    combined(a.distances.1, b.distances.0),
                );
                (distances, self.half_width(distances))
            }
            _ => return Ok(NO_DIFFERENCE),
        };
        let (low, high) = metric.range(self.zero_one);
        let range = (low - high, high - low);
        Ok(interval(of_a.estimate - of_b.estimate, distances, standard_error, range))
    }

    /// What each row adds to a sum, what a loss in its place would add, and its influence on it, up
    /// to a constant.
    fn contributions(&self, sum: &Sum, ranking: &Ranking) -> Vec<[f64; 3]> {
        let n = self.losses.values().len() as f64;
        let slope = match &self.ideal {
            Ideal::ZeroOne(slope) | Ideal::Graded { slope, .. } => *slope,
        };
        let always = sum.per_loss + sum.per_ideal * slope;
        let rows = ranking.groups().zip(self.losses.values()).enumerate();
        let of_row = |(row, (group, &loss)): (usize, (usize, &f64))| {
            let (weight, rank) = sum.groups[group];
            let (ideal, ideal_influence) = match &self.ideal {
                Ideal::ZeroOne(slope) => (slope * loss, slope * loss),
                Ideal::Graded { rows, .. } => rows[row],
            };
            let by_loss = loss * (weight - sum.per_loss);
            [
                sum.scale * (by_loss - sum.per_ideal * ideal),
                sum.scale * self.size * (weight - always),
                sum.scale * n * (by_loss + rank - sum.per_ideal * ideal_influence),
            ]
        };
        rows.map(of_row).collect()
    }

    /// What would be the standard error of a normal interval as wide.
    fn half_width(&self, (below, above): (f64, f64)) -> f64 {
        f64::midpoint(below, above) / -normal_quantile(self.outside)
    }
}

impl Ideal {
    fn graded(losses: &Losses) -> Result<Self, Error> {
        let ranking = Ranking::ideal(losses)?;
        let sum = mean_risk(&ranking.curve, &(1..=losses.values().len()));
        let influence = |(group, &loss): (usize, &f64)| {
            let (weight, rank) = sum.groups[group];
            loss * weight + rank
        };
        let influences: Vec<f64> = ranking.groups().zip(losses.values()).map(influence).collect();
        // What a row would do in the first place without a loss.
        let without = -rank_without_loss(&ranking.curve);
        let added: f64 = influences.iter().map(|influence| influence + without).sum();
        let total = ranking.curve.total_loss();
        let slope = if total > 0.0 { added / total } else { 0.0 };
        let rows = influences.iter().map(|&influence| (influence + without, influence)).collect();
        Ok(Ideal::Graded { rows, slope })
    }
}

/// The interval at some distances from an estimate, inside a range.
fn interval(
    estimate: f64,
    (below, above): (f64, f64),
    standard_error: f64,
    (least, most): (f64, f64),
) -> Interval {
    Interval {
        estimate,
        low: (estimate - below).max(least).min(estimate),
        high: (estimate + above).min(most).max(estimate),
        standard_error,
        replicates: None,
    }
}

fn right_rows(curve: &RcCurve) -> usize {
    curve.rows() - count(curve.total_loss())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row count")]
fn count(value: f64) -> usize {
    value.round() as usize
}
