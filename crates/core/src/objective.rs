//! What a search optimises.

use crate::curve::{Areas, RcCurve, SortedRows, Sorter};
use crate::error::{Error, Undefined};
use crate::estimator::Estimator;
use crate::losses::Losses;
use crate::metric::{Direction, Metric};
use crate::profile::Profiles;
use crate::stop;
use crate::text::json_as_text;
use std::fmt;
use std::str::FromStr;

/// Confidences that are held at the same time, of all candidates together: 32 MB.
const CONFIDENCES_AT_ONCE: usize = 1 << 22;

/// What a search optimises: any metric of the risk-coverage curve, or the negative log-likelihood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Objective {
    /// A metric, better in its direction.
    Metric(Metric),
    /// The negative log-likelihood of the labels under the estimator's softmax; undefined for
    /// estimators that give no probability to the classes.
    Nll,
}

impl Default for Objective {
    fn default() -> Self {
        Objective::Metric(Metric::AURC)
    }
}

impl Objective {
    /// The value turned so that lower is better.
    pub fn cost(&self, value: f64) -> f64 {
        match self {
            Objective::Metric(metric) if metric.better() == Direction::Higher => -value,
            Objective::Metric(_) | Objective::Nll => value,
        }
    }

    /// The value of each estimator on the rows of a profile.
    pub fn evaluate(
        &self,
        profiles: &Profiles,
        estimators: &[Estimator],
    ) -> Result<Vec<Result<f64, Undefined>>, Error> {
        let values = self.evaluate_samples(profiles, estimators, &[])?;
        Ok(values.into_iter().map(|values| values[0]).collect())
    }

    /// The value of each estimator on all rows, then on each sample of them: a sample says how often
    /// each row counts. The rows are sorted once for all samples.
    pub(crate) fn evaluate_samples(
        &self,
        profiles: &Profiles,
        estimators: &[Estimator],
        samples: &[Vec<u32>],
    ) -> Result<Vec<Vec<Result<f64, Undefined>>>, Error> {
        let losses = profiles.losses();
        // Most searches are for AURC, which needs no curve.
        let of_aurc = *self == Objective::Metric(Metric::AURC);
        let areas = of_aurc.then(|| Areas::new(&losses, samples)).flatten();
        let mut values = Vec::with_capacity(estimators.len());
        let at_once = (CONFIDENCES_AT_ONCE / profiles.rows().max(1)).clamp(1, 256);
        for some in estimators.chunks(at_once) {
            stop::check()?;
            match self {
                Objective::Metric(metric) => {
                    values.extend(profiles.map_confidences(some, |sorter: &mut Sorter, c| {
                        if c.iter().any(|c| c.is_nan()) {
                            return vec![Err(Undefined::NotFinite); 1 + samples.len()];
                        }
                        sorter.sort(c);
                        match &areas {
                            Some(areas) if !sorter.has_ties() => {
                                areas.of_order(sorter).into_iter().map(Ok).collect()
                            }
                            _ => Self::metrics_of(*metric, sorter, c, &losses, samples),
                        }
                    })?);
                }
                Objective::Nll => {
                    let rows = profiles.log_losses(some)?;
                    values.extend(rows.iter().map(|row_losses| {
                        let all = std::iter::once(mean_log_loss(row_losses));
                        all.chain(samples.iter().map(|counts| {
                            let counted = row_losses.iter().zip(counts).filter(|(_, c)| **c > 0);
                            mean_log_loss(&counted.map(|(loss, _)| *loss).collect::<Vec<_>>())
                        }))
                        .collect()
                    }));
                }
            }
        }
        Ok(values)
    }

    fn metrics_of(
        metric: Metric,
        sorter: &Sorter,
        confidences: &[f64],
        losses: &Losses,
        samples: &[Vec<u32>],
    ) -> Vec<Result<f64, Undefined>> {
        let of_all = || {
            // None is NaN, and a profile in use has rows.
            let curve = RcCurve::new(confidences, losses).map_err(|_| Undefined::NotFinite)?;
            metric.evaluate(&curve)
        };
        if samples.is_empty() {
            return vec![of_all()];
        }
        let Ok(sorted) = SortedRows::of_order(sorter, confidences, losses) else {
            return vec![Err(Undefined::NotFinite); 1 + samples.len()];
        };
        let mut curve = RcCurve::memory();
        let ones = vec![1; confidences.len()];
        let mut values = Vec::with_capacity(1 + samples.len());
        for counts in std::iter::once(&ones).chain(samples) {
            curve = sorted.resampled(counts, curve);
            values.push(metric.evaluate(&curve));
        }
        values
    }
}

fn mean_log_loss(rows: &[f64]) -> Result<f64, Undefined> {
    if rows.iter().any(|x| x.is_nan()) {
        return Err(Undefined::NoLikelihood);
    }
    match rows.iter().position(|x| x.is_infinite()) {
        Some(row) => Err(Undefined::MaskedLabel { row }),
        None => Ok(rows.iter().sum::<f64>() / rows.len() as f64),
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Objective::Metric(metric) => metric.fmt(f),
            Objective::Nll => f.write_str("NLL"),
        }
    }
}

impl FromStr for Objective {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text.trim().eq_ignore_ascii_case("NLL") {
            return Ok(Objective::Nll);
        }
        text.parse().map(Objective::Metric)
    }
}

json_as_text!(Objective);
