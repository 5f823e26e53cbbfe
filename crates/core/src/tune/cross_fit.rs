//! Cross-fitting: every row tunes, and every row is measured by an estimator that has not seen it.

use super::{Tuned, Tuner};
use crate::error::Error;
use crate::estimator::Estimator;
use crate::fallback::Fallback;
use crate::family::{Axis, Family};
use crate::folds::Folds;
use crate::interval::Intervals;
use crate::losses::Losses;
use crate::method::{Method, TemperatureObjective, TransformKind};
use crate::metric::Metric;
use crate::objective::Objective;
use crate::profile::Profiles;
use crate::stop;
use rayon::prelude::*;

/// A method tuned on all rows, and what it would have given to rows that it had not seen.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossFitted {
    /// Tuned on all rows.
    pub tuned: Tuned,
    /// The confidence of each row by the method tuned on the other folds, on the scale of
    /// `tuned.estimator`.
    ///
    /// Tuned parameters differ between folds, and with them the scale of the confidences. The fold's
    /// estimator ranks the row among all rows, and the row is given the confidence of the same rank of
    /// the estimator tuned on all rows. So a threshold accepts the same share of rows by each of them.
    pub out_of_fold: Vec<f64>,
}

impl Tuner {
    /// The folds of some rows.
    pub fn folds(&self, profiles: &Profiles, count: usize) -> Result<Folds, Error> {
        Folds::new(&profiles.right(), count, self.seed)
    }

    /// Tunes a method on all rows, and on the rows outside of each fold.
    pub fn cross_fit(
        &self,
        method: Method,
        profiles: &Profiles,
        folds: &Folds,
    ) -> Result<CrossFitted, Error> {
        if folds.of_rows().len() != profiles.rows() {
            let (found, expected) = (folds.of_rows().len(), profiles.rows());
            return Err(Error::Length { what: "folds", found, expected });
        }
        let (mut tuned, of_folds) = match self.fallback {
            Fallback::Veto(_) => self.search_folds(method, profiles, folds)?,
            _ => (self.tune(method, profiles)?, self.select_folds(method, profiles, folds)?),
        };
        let mut out_of_fold = out_of_fold(&tuned.estimator, &of_folds, profiles, folds)?;
        if let Fallback::Veto(times) = self.fallback
            && tuned.estimator != Estimator::MSP
        {
            let msp = profiles.confidences(&[Estimator::MSP])?.swap_remove(0);
            let constant = tuned.estimator.is_constant(profiles.classes());
            // Where all rows are right, or all wrong, only a rule without labels can be better.
            let right = profiles.right();
            let silent = !right.contains(&true) || !right.contains(&false);
            if constant
                || silent && tuned.estimator.method() != Method::LabelFree
                || self.vetoed(times, &out_of_fold, &msp, &profiles.losses())?
            {
                tuned.fall_back();
                out_of_fold = msp;
            }
        }
        // Two classes leave a stack nothing beside MSP.
        tuned.fell_back |= method.is_stack() && tuned.estimator == Estimator::MSP;
        Ok(CrossFitted { tuned, out_of_fold })
    }

    /// Whether MSP is better by more than so many standard errors of the difference.
    fn vetoed(
        &self,
        times: f64,
        out_of_fold: &[f64],
        msp: &[f64],
        losses: &Losses,
    ) -> Result<bool, Error> {
        let objective = match self.objective {
            Objective::Metric(metric) => metric,
            Objective::Nll => Metric::AURC,
        };
        let compared = Intervals::default().differences(&[objective], out_of_fold, msp, losses)?;
        let difference = compared[0];
        // Where the metric is undefined there is nothing against the method.
        Ok(difference.is_ok_and(|found| {
            let worse = Objective::Metric(objective).cost(found.estimate);
            worse > 0.0 && worse > times * found.standard_error
        }))
    }

    /// The method on all rows, and its estimator outside of each fold, whether or not they beat MSP.
    fn search_folds(
        &self,
        method: Method,
        profiles: &Profiles,
        folds: &Folds,
    ) -> Result<(Tuned, Vec<Estimator>), Error> {
        if fits_labels(method, self) {
            return Ok((
                self.search(method, profiles)?,
                self.select_folds(method, profiles, folds)?,
            ));
        }
        // The candidates are the same for all folds: the rows are sorted once for each of them.
        let samples: Vec<Vec<u32>> = (0..folds.count()).map(|k| folds.counts_outside(k)).collect();
        let mut found = self.search_samples(method, profiles, &samples)?.into_iter();
        let tuned = found.next().unwrap_or(Err(Error::NoRows))?;
        let estimators = found.map(|tuned| or_msp(tuned.map(|tuned| tuned.estimator)));
        Ok((tuned, estimators.collect::<Result<_, _>>()?))
    }

    /// The estimator tuned outside of each fold, one fold after the other.
    fn select_folds(
        &self,
        method: Method,
        profiles: &Profiles,
        folds: &Folds,
    ) -> Result<Vec<Estimator>, Error> {
        let of_fold = |fold: usize| {
            stop::check()?;
            let outside = profiles.select(&folds.outside(fold));
            or_msp(
                match self.fallback {
                    Fallback::Veto(_) => self.search(method, &outside),
                    _ => self.tune(method, &outside),
                }
                .map(|tuned| tuned.estimator),
            )
        };
        (0..folds.count()).map(of_fold).collect()
    }
}

/// What a fold uses on which nothing can be tuned, as one outside of which there are no errors.
fn or_msp(estimator: Result<Estimator, Error>) -> Result<Estimator, Error> {
    match estimator {
        Err(Error::Stopped) => Err(Error::Stopped),
        Err(_) => Ok(Estimator::MSP),
        found => found,
    }
}

/// Whether the candidates of a method depend on the labels, so that each fold has different ones.
fn fits_labels(method: Method, tuner: &Tuner) -> bool {
    let tuned_temperature = |family: Family| {
        let axes = family.search(&tuner.space).axes;
        axes.iter().any(|axis| matches!(axis, Axis::TunedTemperature))
    };
    match method {
        Method::Stack => true,
        Method::LabelFree | Method::Extra => false,
        Method::Family(family) => tuned_temperature(family),
        Method::Scored { transform, .. } => {
            transform == TransformKind::Temperature(TemperatureObjective::Nll)
        }
    }
}

fn out_of_fold(
    estimator: &Estimator,
    of_folds: &[Estimator],
    profiles: &Profiles,
    folds: &Folds,
) -> Result<Vec<f64>, Error> {
    let mut out = profiles.confidences(std::slice::from_ref(estimator))?.swap_remove(0);
    let mut scale = out.clone();
    scale.par_sort_unstable_by(f64::total_cmp);
    for (fold, of_fold) in of_folds.iter().enumerate().filter(|(_, other)| *other != estimator) {
        stop::check()?;
        let confidences = profiles.confidences(std::slice::from_ref(of_fold))?.swap_remove(0);
        let mut sorted = confidences.clone();
        sorted.par_sort_unstable_by(f64::total_cmp);
        for (row, _) in folds.of_rows().iter().enumerate().filter(|(_, of_row)| **of_row == fold) {
            // The middle of those that tie with it.
            let first = sorted.partition_point(|&c| c < confidences[row]);
            let end = sorted.partition_point(|&c| c <= confidences[row]);
            out[row] = scale[usize::midpoint(first, end - 1)];
        }
    }
    Ok(out)
}
