//! Bootstrap intervals for metrics and for differences of two estimators, from one sort.
//!
//! A replicate draws as many rows as there are, with repetition. Sorted once, it is a count for each
//! row and one pass over the sorted rows; two estimators that are compared see the same counts. A row
//! with a weight is drawn with it: the weight is part of the row, as its loss is.

use crate::curve::{RcCurve, SortedRows, WeightedCurve};
use crate::error::{Error, Undefined};
use crate::interval::{Compared, Interval, Intervals, check_level};
use crate::losses::Losses;
use crate::metric::Metric;
use crate::random::Random;
use crate::stop;
use crate::weights::Weights;
use rayon::prelude::*;

/// Replicates between two words on progress: many enough for all cores, but fewer where each takes long.
const REPLICATES_AT_ONCE: usize = 32;

/// Rows that are counted between two words on progress, a few tenths of a second on one core.
const ROWS_AT_ONCE: usize = 1 << 24;

/// How to bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// How many replicates.
    pub replicates: usize,
    /// How often the interval should hold the truth, such as 0.95.
    pub level: f64,
    /// The seed of the replicates.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap { replicates: 1000, level: 0.95, seed: 0 }
    }
}

/// The values on the rows as they are, and on each replicate.
type Replicates = (Vec<Result<f64, Undefined>>, Vec<Vec<Result<f64, Undefined>>>);

impl Bootstrap {
    fn check(&self) -> Result<(), Error> {
        if self.replicates < 2 {
            let value = self.replicates as f64;
            return Err(Error::Parameter { name: "replicates", value, wanted: "at least 2" });
        }
        check_level(self.level)
    }

    fn as_intervals(&self) -> Intervals {
        let Bootstrap { replicates, level, seed } = *self;
        Intervals { level, replicates: Some(replicates), seed }
    }

    /// An interval for each metric.
    pub fn intervals(
        &self,
        metrics: &[Metric],
        confidences: &[f64],
        losses: &Losses,
    ) -> Result<Vec<Result<Interval, Undefined>>, Error> {
        self.as_intervals().intervals(metrics, confidences, losses)
    }

    /// An interval for each metric of `a` less that of `b`, on the same replicates.
    pub fn differences(
        &self,
        metrics: &[Metric],
        a: &[f64],
        b: &[f64],
        losses: &Losses,
    ) -> Result<Vec<Result<Interval, Undefined>>, Error> {
        self.as_intervals().differences(metrics, a, b, losses)
    }

    /// Every metric of every estimator with its interval, and its difference to the first
    /// estimator with its interval. All of them use the same replicates; `progress` is called from
    /// time to time with the number that are done.
    pub fn compare(
        &self,
        metrics: &[Metric],
        estimators: &[&[f64]],
        losses: &Losses,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<Vec<Compared>>, Error> {
        let found = self.resample(metrics, estimators, losses, progress)?;
        Ok(self.compared(metrics, estimators.len(), &found))
    }

    /// The same of rows with weights.
    pub(crate) fn compare_weighted(
        &self,
        metrics: &[Metric],
        estimators: &[&[f64]],
        losses: &Losses,
        weights: &Weights,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<Vec<Compared>>, Error> {
        let of_counts = estimators
            .iter()
            .map(|confidences| {
                stop::check()?;
                WeightedCurve::resampled(confidences, losses, weights)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let values = |counts: &[u32]| {
            let mut all = Vec::with_capacity(estimators.len() * metrics.len());
            for curve in &of_counts {
                let curve = curve(counts);
                let value = |metric: &Metric| match &curve {
                    Some(curve) => metric.evaluate(curve),
                    None => Err(Undefined::LessThanARow),
                };
                all.extend(metrics.iter().map(value));
            }
            all
        };
        let rows = losses.values().len();
        let found = self.replicate(rows, estimators.len(), values, progress)?;
        Ok(self.compared(metrics, estimators.len(), &found))
    }

    fn compared(
        &self,
        metrics: &[Metric],
        estimators: usize,
        (estimates, replicates): &Replicates,
    ) -> Vec<Vec<Compared>> {
        let compared = |estimator: usize, metric: usize| {
            let (column, first) = (estimator * metrics.len() + metric, metric);
            let each = replicates.iter();
            Compared {
                value: estimates[column].and_then(|estimate| {
                    self.interval(estimate, each.filter_map(|v| v[column].ok()).collect())
                }),
                difference: self.difference(column, first, estimates, replicates),
            }
        };
        let of = |estimator| (0..metrics.len()).map(|metric| compared(estimator, metric)).collect();
        (0..estimators).map(of).collect()
    }

    /// A metric of each estimator less that of each other, on the same replicates: `[a][b]` is that of
    /// `a` less that of `b`.
    pub fn pairs(
        &self,
        metric: Metric,
        estimators: &[&[f64]],
        losses: &Losses,
    ) -> Result<Vec<Vec<Result<Interval, Undefined>>>, Error> {
        let (estimates, replicates) = self.resample(&[metric], estimators, losses, &mut |_| {})?;
        let difference = |a: usize, b: usize| self.difference(a, b, &estimates, &replicates);
        let against = |a: usize| (0..estimators.len()).map(|b| difference(a, b)).collect();
        Ok((0..estimators.len()).map(against).collect())
    }

    fn difference(
        &self,
        a: usize,
        b: usize,
        estimates: &[Result<f64, Undefined>],
        replicates: &[Vec<Result<f64, Undefined>>],
    ) -> Result<Interval, Undefined> {
        let of = |values: &[Result<f64, Undefined>]| Ok(values[a]? - values[b]?);
        of(estimates).and_then(|estimate| {
            self.interval(estimate, replicates.iter().filter_map(|v| of(v).ok()).collect())
        })
    }

    /// The values of all metrics of the first estimator, then of the second, and so on: on the rows
    /// as they are, and on each replicate.
    fn resample(
        &self,
        metrics: &[Metric],
        estimators: &[&[f64]],
        losses: &Losses,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Replicates, Error> {
        let sorted = estimators
            .iter()
            .map(|confidences| {
                stop::check()?;
                SortedRows::new(confidences, losses)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let values = |counts: &[u32]| -> Vec<Result<f64, Undefined>> {
            let mut all = Vec::with_capacity(sorted.len() * metrics.len());
            let mut curve = RcCurve::memory();
            for rows in &sorted {
                curve = rows.resampled(counts, curve);
                all.extend(metrics.iter().map(|metric| metric.evaluate(&curve)));
            }
            all
        };
        self.replicate(losses.values().len(), sorted.len(), values, progress)
    }

    /// The values of so many columns of `n` rows, each of which is taken as often as its count says.
    fn replicate(
        &self,
        n: usize,
        columns: usize,
        values: impl Fn(&[u32]) -> Vec<Result<f64, Undefined>> + Sync,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Replicates, Error> {
        self.check()?;
        let estimates = values(&vec![1; n]);
        let one = |replicate| {
            let mut random = Random::of_task(self.seed, replicate);
            let mut counts = vec![0_u32; n];
            for _ in 0..n {
                counts[random.below(n)] += 1;
            }
            values(&counts)
        };
        let mut replicates: Vec<Vec<Result<f64, Undefined>>> = Vec::new();
        let at_once = (ROWS_AT_ONCE / (n * columns).max(1)).clamp(
            rayon::current_num_threads(),
            REPLICATES_AT_ONCE.max(rayon::current_num_threads()),
        );
        while replicates.len() < self.replicates {
            stop::check()?;
            let done = replicates.len();
            let end = (done + at_once).min(self.replicates);
            replicates.par_extend((done..end).into_par_iter().map(one));
            progress(end);
        }
        Ok((estimates, replicates))
    }

    fn interval(&self, estimate: f64, mut values: Vec<f64>) -> Result<Interval, Undefined> {
        if values.len() < 2 {
            return Err(Undefined::TooFewPoints);
        }
        values.sort_unstable_by(f64::total_cmp);
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let outside = (1.0 - self.level) / 2.0;
        Ok(Interval {
            estimate,
            low: quantile(&values, outside),
            high: quantile(&values, 1.0 - outside),
            standard_error: variance.sqrt(),
            replicates: Some(values.len()),
        })
    }
}

/// The quantile of sorted values, interpolated as numpy does by default.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (position - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A replicate is what it says: the metric of rows that are really repeated.
    #[test]
    fn replicates_are_resampled_rows() {
        let confidences = [0.9, 0.8, 0.8, 0.5, 0.4, 0.1];
        for losses in [[0.0, 1.0, 0.0, 0.0, 1.0, 1.0], [0.3, 1.7, 0.0, 0.2, 0.9, 2.0]] {
            let losses = Losses::new(losses.to_vec()).expect("losses");
            let counts = [2, 1, 0, 3, 0, 2];
            let repeat = |values: &[f64]| -> Vec<f64> {
                let each = values.iter().zip(counts);
                each.flat_map(|(&x, c)| std::iter::repeat_n(x, c as usize)).collect()
            };
            let plain = RcCurve::new(
                &repeat(&confidences),
                &Losses::new(repeat(losses.values())).expect("losses"),
            );
            let plain = plain.expect("a curve");
            let fast = SortedRows::new(&confidences, &losses)
                .expect("valid")
                .resampled(&counts, RcCurve::memory());
            for text in [
                "AURC",
                "NAURC",
                "AUROC",
                "AUGRC",
                "E-AURC",
                "CoverageAtRisk@0.4",
                "RiskAtCoverage@0.5",
            ] {
                let metric: Metric = text.parse().expect("a metric");
                match (metric.evaluate(&plain), metric.evaluate(&fast)) {
                    (Ok(a), Ok(b)) => assert!((a - b).abs() < 1e-14, "{text}: {a} {b}"),
                    (a, b) => assert_eq!(a, b),
                }
            }
        }
    }

    /// The same of rows with weights, which are repeated with them.
    #[test]
    fn replicates_of_weighted_rows_are_resampled_rows() {
        let confidences = [0.9, 0.8, 0.8, 0.5, 0.4, 0.1];
        let weights = Weights::new(vec![1.5, 0.0, 2.0, 0.7, 3.0, 1.0]).expect("weights");
        for losses in [[0.0, 1.0, 0.0, 0.0, 1.0, 1.0], [0.3, 1.7, 0.0, 0.2, 0.9, 2.0]] {
            let losses = Losses::new(losses.to_vec()).expect("losses");
            let resampled = WeightedCurve::resampled(&confidences, &losses, &weights);
            let resampled = resampled.expect("valid");
            let whole = RcCurve::weighted(&confidences, &losses, &weights).expect("valid");
            assert_eq!(resampled(&[1; 6]).expect("a curve"), whole);
            let counts = [2, 1, 0, 3, 0, 2];
            let repeated: Vec<usize> =
                (0..6).flat_map(|row| std::iter::repeat_n(row, counts[row] as usize)).collect();
            let of = |values: &[f64]| repeated.iter().map(|&row| values[row]).collect::<Vec<_>>();
            let plain = RcCurve::weighted(
                &of(&confidences),
                &losses.select(&repeated),
                &Weights::new(of(weights.values())).expect("weights"),
            );
            let (plain, fast) = (plain.expect("valid"), resampled(&counts).expect("a curve"));
            for text in ["AURC", "NAURC", "AUGRC", "CoverageAtRisk@0.4", "RiskAtCoverage@0.5"] {
                let metric: Metric = text.parse().expect("a metric");
                match (metric.evaluate(&plain), metric.evaluate(&fast)) {
                    (Ok(a), Ok(b)) => assert!((a - b).abs() < 1e-14, "{text}: {a} {b}"),
                    (a, b) => assert_eq!(a, b),
                }
            }
            // Nothing is left but a row that does not count.
            assert!(resampled(&[0, 6, 0, 0, 0, 0]).is_none());
        }
    }

    #[test]
    fn quantiles_are_numpys() {
        let values = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(quantile(&values, 0.5), 3.0);
        assert!((quantile(&values, 0.9) - 6.8).abs() < 1e-14);
        assert_eq!(quantile(&values, 1.0), 8.0);
    }

    #[test]
    fn equal_estimators_do_not_differ_and_seeds_decide() {
        let confidences: Vec<f64> = (0..200).map(|i| f64::from(i * 37 % 101)).collect();
        let losses: Vec<f64> = (0..200).map(|i| f64::from(u8::from(i * 53 % 10 < 3))).collect();
        let losses = Losses::new(losses).expect("losses");
        let bootstrap = Bootstrap { replicates: 50, ..Bootstrap::default() };
        let same = bootstrap.differences(&[Metric::AURC], &confidences, &confidences, &losses);
        let same = same.expect("valid")[0].expect("defined");
        assert_eq!((same.estimate, same.low, same.high, same.standard_error), (0.0, 0.0, 0.0, 0.0));
        let run = |seed| {
            let bootstrap = Bootstrap { seed, ..bootstrap };
            bootstrap.intervals(&[Metric::NAURC], &confidences, &losses).expect("valid")
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        for bad in [Bootstrap { replicates: 1, ..bootstrap }, Bootstrap { level: 1.0, ..bootstrap }]
        {
            let error = bad.intervals(&[Metric::AURC], &confidences, &losses).unwrap_err();
            assert!(matches!(error, Error::Parameter { .. }));
        }
    }
}
