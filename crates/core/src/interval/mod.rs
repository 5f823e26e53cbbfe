//! Intervals of metrics, and of differences of two estimators on the same rows, from one sort.
//!
//! A metric such as AURC is a weighted count of errors, and an error among the surest rows weighs
//! most. Real classifiers make a few such errors, and a sample that happens to miss them is too
//! optimistic and too sure of it: so is the bootstrap, which can only repeat what it has seen. The
//! intervals here count one more error than was seen. They are closed forms:
//!
//! * **AURC, E-AURC, NAURC, AUROC, AUGRC, PartialAURC, RiskAtCoverage** are sums of weighted losses to
//!   first order (`expansion`). Where most rows are wrong, right rows are counted instead (`rarer`).
//!   The events that raise the metric and those that lower it are two sums of rare events, each with
//!   gamma limits (Fay & Feuer, 1997) in which the event that was not seen has a typical weight
//!   (after Tiwari et al., 2006). The limits are combined by MOVER (Zou &
//!   Donner, 2008), and are never closer than those of the influence function, whose variance
//!   includes that of the ranks.
//! * **Differences** are the same sums with the difference of the weights.
//! * **SAC and CoverageAtRisk** invert an exact test at each threshold (`coverage`).
//! * **Accuracy** is binomial: Clopper & Pearson (1934).
//!
//! A loss that is not 0/1 counts by its size; the one that was not seen has the size of a loss that is
//! drawn by size. Inside ties everything is an expectation over the order.

mod coverage;
mod expansion;
mod limits;
mod rarer;

use crate::bootstrap::Bootstrap;
use crate::curve::{Ranking, RcCurve};
use crate::error::{Error, Undefined};
use crate::losses::Losses;
use crate::metric::Metric;
use crate::stop;
use crate::weights::Weights;
use coverage::Reach;
use expansion::rank_without_loss;
pub(crate) use expansion::{Expansion, Sum, Tail, generalised_risk, mean_risk, selective_risk};
use limits::{Moments, Spread, binomial_limits, normal_quantile};
use rarer::first_counted_by_right;
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

impl Interval {
    /// A difference that was measured by cross-fitting, as that of the estimator tuned on all rows.
    ///
    /// The estimators of the folds are tuned on fewer rows, and are worse than the one that is tuned on
    /// all: the truth may be beyond the limit. `apparent` is the same difference by that estimator on the
    /// rows that tuned it, which is too good. The limit on its side is moved by the distance between them
    /// (docs/decisions/choice-of-tune.md).
    #[must_use]
    pub fn of_fit_on_all_rows(self, apparent: f64) -> Interval {
        let optimism = apparent - self.estimate;
        let (low, high) = (self.low + optimism.min(0.0), self.high + optimism.max(0.0));
        Interval { low, high, ..self }
    }
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

    /// How intervals of rows with weights are made: always by a bootstrap, of the usual number of
    /// replicates if none is requested. The closed forms count errors that were not seen, and nothing says
    /// what such an error would weigh.
    #[must_use]
    pub fn of_weighted(self) -> Self {
        let usual = Bootstrap::default().replicates;
        Intervals { replicates: Some(self.replicates.unwrap_or(usual)), ..self }
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
        // A metric may be wanted twice, for different purposes.
        let mut once: Vec<Metric> = Vec::new();
        for metric in metrics {
            if !once.contains(metric) {
                once.push(*metric);
            }
        }
        let place = |metric: &Metric| once.iter().position(|other| other == metric);
        let places: Vec<usize> = metrics.iter().filter_map(place).collect();
        let expand = |all: Vec<Compared>| places.iter().map(|&place| all[place]).collect();
        let measured: Vec<Measured> =
            once.par_iter().map(|metric| rows.measure(metric, &first)).collect();
        let of_first = measured.iter().map(|measured| Compared {
            value: measured.interval,
            difference: measured.interval.map(|_| NO_DIFFERENCE),
        });
        let of_first: Vec<Compared> = expand(of_first.collect());
        let mut all = vec![of_first.clone()];
        progress(1);
        for chunk in others.chunks(rayon::current_num_threads()) {
            stop::check()?;
            let compared = |column: &&[f64]| -> Result<Vec<Compared>, Error> {
                let ranking = Ranking::new(column, losses)?;
                if ranking.is_same(&first) {
                    return Ok(of_first.clone());
                }
                let each = once.par_iter().zip(&measured);
                let each =
                    each.map(|(metric, before)| rows.compare(metric, &ranking, (before, &first)));
                Ok(expand(each.collect()))
            };
            all.extend(chunk.par_iter().map(compared).collect::<Result<Vec<_>, _>>()?);
            progress(all.len());
        }
        Ok(all)
    }

    /// The same of rows with weights, by a bootstrap of the rows with their weights.
    pub fn compare_weighted(
        &self,
        metrics: &[Metric],
        estimators: &[&[f64]],
        losses: &Losses,
        weights: &Weights,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<Vec<Compared>>, Error> {
        let bootstrap = self.of_weighted().bootstrap().unwrap_or_default();
        bootstrap.compare_weighted(metrics, estimators, losses, weights, progress)
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
            let difference = |(b, other): &(Measured, Ranking)| {
                if ranking.is_same(other) {
                    return a.interval.map(|_| NO_DIFFERENCE);
                }
                rows.compare(&metric, ranking, (b, other)).difference
            };
            measured.iter().map(difference).collect()
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

/// Rows whose weights are looked up together: one after another, each lookup would wait for memory.
const GATHERED: usize = 1024;

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
    /// Of a coverage; that of other metrics is found from the rankings.
    reach: Option<Reach>,
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
            Err(undefined) => return Measured { interval: Err(undefined), reach: None },
        };
        let (reach, spread) = match metric.expansion(&ranking.curve) {
            Expansion::Sum(sum) => {
                let mut moments = Moments::new(sum.tail, false);
                let mut rows = Vec::new();
                let by_right = self.first_counted_by_right(ranking);
                for first in (0..ranking.groups.len()).step_by(GATHERED) {
                    self.add_rows(&sum, ranking, first, &mut rows);
                    for (row, &group) in rows.drain(..).zip(&ranking.groups[first..]) {
                        moments.add(row, group as usize >= by_right);
                    }
                }
                (None, moments.spread(self.outside))
            }
            Expansion::CoverageAt { risk } => {
                let reach = self.reach(ranking, risk, estimate);
                let spread = self.spread_of_reach(reach.distances);
                (Some(reach), spread)
            }
            Expansion::Accuracy => (None, self.accuracy(&ranking.curve, estimate)),
        };
        let range = metric.range(self.zero_one);
        Measured { interval: Ok(interval(estimate, spread, range)), reach }
    }

    /// A metric of an estimator, and its difference to that of another, which ranks otherwise. What rows
    /// add is not kept: it would take more memory than all else.
    fn compare(
        &self,
        metric: &Metric,
        ranking: &Ranking,
        (before, other): (&Measured, &Ranking),
    ) -> Compared {
        let (Ok(estimate), Ok(of_before)) = (metric.evaluate(&ranking.curve), before.interval)
        else {
            let value = self.measure(metric, ranking).interval;
            return Compared { value, difference: value.and(before.interval) };
        };
        let expansions = (metric.expansion(&ranking.curve), metric.expansion(&other.curve));
        if let (Expansion::Sum(sum), Expansion::Sum(of_other)) = expansions {
            let mut single = Moments::new(sum.tail, false);
            let mut paired = Moments::new(sum.tail, true);
            let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
            let mostly_wrong = 2.0 * ranking.curve.total_loss() > ranking.curve.rows() as f64;
            let by_right = [ranking, other].map(|ranking| self.first_counted_by_right(ranking));
            for first in (0..ranking.groups.len()).step_by(GATHERED) {
                self.add_rows(&sum, ranking, first, &mut of_a);
                self.add_rows(&of_other, other, first, &mut of_b);
                let groups = ranking.groups[first..].iter().zip(&other.groups[first..]);
                for ((a, b), (&group, &of_other)) in of_a.drain(..).zip(of_b.drain(..)).zip(groups)
                {
                    let counts = [group as usize >= by_right[0], of_other as usize >= by_right[1]];
                    single.add(a, counts[0]);
                    // Where the rankings disagree, a difference counts what is rarer over all.
                    let agree = counts[0] == counts[1];
                    paired.add(less(&a, &b), if agree { counts[0] } else { mostly_wrong });
                }
            }
            let range = metric.range(self.zero_one);
            let value = interval(estimate, single.spread(self.outside), range);
            let (difference, range) = (estimate - of_before.estimate, range_of_differences(range));
            let difference = interval(difference, paired.spread(self.outside), range);
            return Compared { value: Ok(value), difference: Ok(difference) };
        }
        let after = self.measure(metric, ranking);
        // What has no coverage is the same for all estimators.
        let mut difference = NO_DIFFERENCE;
        if let (Some(a), Some(b)) = (&after.reach, &before.reach) {
            let correlation = coverage::correlation(a, b);
            let combined =
                |x: f64, y: f64| (x * x + y * y - 2.0 * correlation * x * y).max(0.0).sqrt();
            let spread = self.spread_of_reach((
                combined(a.distances.0, b.distances.1),
                combined(a.distances.1, b.distances.0),
            ));
            let range = range_of_differences(metric.range(self.zero_one));
            difference = interval(estimate - of_before.estimate, spread, range);
        }
        Compared { value: after.interval, difference: Ok(difference) }
    }

    /// Appends, for some rows from `first` on, what each adds to a sum, what a loss in its place would
    /// add, and its influence on it, up to a constant.
    fn add_rows(&self, sum: &Sum, ranking: &Ranking, first: usize, rows: &mut Vec<[f64; 3]>) {
        let end = (first + GATHERED).min(ranking.groups.len());
        let losses = self.losses.values();
        let (scale, influence_scale) = (sum.scale, sum.scale * losses.len() as f64);
        let slope = match &self.ideal {
            Ideal::ZeroOne(slope) | Ideal::Graded { slope, .. } => *slope,
        };
        let (per_loss, per_ideal) = (sum.per_loss, sum.per_ideal);
        let always = per_loss + per_ideal * slope;
        let mut weights = [(0.0, 0.0); GATHERED];
        for (weight, &group) in weights.iter_mut().zip(&ranking.groups[first..end]) {
            *weight = sum.weights.of(&ranking.curve, group as usize);
        }
        rows.extend((first..end).zip(&weights).map(|(row, &(weight, rank))| {
            let loss = losses[row];
            let (ideal, ideal_influence) = match &self.ideal {
                Ideal::ZeroOne(slope) => (slope * loss, slope * loss),
                Ideal::Graded { rows, .. } => rows[row],
            };
            let by_loss = loss * (weight - per_loss);
            let contribution = scale * (by_loss - per_ideal * ideal);
            let unseen = scale * self.size * (weight - always);
            let influence = influence_scale * (by_loss + rank - per_ideal * ideal_influence);
            [contribution, unseen, influence]
        }));
    }

    /// The first group of which right rows are counted; losses that are not 0/1 are not exchanged for
    /// their absence.
    fn first_counted_by_right(&self, ranking: &Ranking) -> usize {
        if self.zero_one { first_counted_by_right(&ranking.curve) } else { usize::MAX }
    }

    fn reach(&self, ranking: &Ranking, risk: f64, estimate: f64) -> Reach {
        let accepted = count(estimate * ranking.curve.rows() as f64);
        coverage::reach(ranking, self.losses, risk, accepted, self.outside)
    }

    fn accuracy(&self, curve: &RcCurve, estimate: f64) -> Spread {
        let n = curve.rows();
        let right = n - count(curve.total_loss());
        let (low, high) = binomial_limits(right, n, self.outside);
        let standard_error = (estimate * (1.0 - estimate) / n as f64).sqrt();
        Spread { below: estimate - low, above: high - estimate, standard_error }
    }

    /// The standard error is that of a normal interval as wide.
    fn spread_of_reach(&self, (below, above): (f64, f64)) -> Spread {
        let standard_error = f64::midpoint(below, above) / -normal_quantile(self.outside);
        Spread { below, above, standard_error }
    }
}

/// What one row adds, less what another does.
fn less(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn range_of_differences((least, most): (f64, f64)) -> (f64, f64) {
    (least - most, most - least)
}

impl Ideal {
    fn graded(losses: &Losses) -> Result<Self, Error> {
        let ranking = Ranking::ideal(losses)?;
        let sum = mean_risk(&ranking.curve, &ranking.curve.counts());
        let influence = |(group, &loss): (usize, &f64)| {
            let (weight, rank) = sum.weights.of(&ranking.curve, group);
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

/// The interval around an estimate, inside a range.
fn interval(estimate: f64, spread: Spread, (least, most): (f64, f64)) -> Interval {
    Interval {
        estimate,
        low: (estimate - spread.below).max(least).min(estimate),
        high: (estimate + spread.above).min(most).max(estimate),
        standard_error: spread.standard_error,
        replicates: None,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row count")]
fn count(value: f64) -> usize {
    value.round() as usize
}
