//! Cross-fitting: every row tunes, and every row is measured by an estimator that has not seen it.

use super::recalibrate::Recalibration;
use super::{SCALED_MSP, Tuned, Tuner, nll_temperatures_outside, temperature_of};
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
use crate::score::Score;
use crate::stop;
use crate::transform::{Temperature, Transform};
use rayon::prelude::*;

/// The temperature is that of most likelihood.
const MOST_LIKELY: TransformKind = TransformKind::Temperature(TemperatureObjective::Nll);

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
    /// The confidence of each row by `tuned.estimator`, which it tuned.
    pub in_sample: Vec<f64>,
}

impl Tuner {
    /// The folds of some rows.
    pub fn folds(&self, profiles: &Profiles, count: usize) -> Result<Folds, Error> {
        Folds::new(&profiles.right(), profiles.clusters(), count, self.seed)
    }

    /// Tunes a method on all rows, and on the rows outside of each fold.
    pub fn cross_fit(
        &self,
        method: Method,
        profiles: &Profiles,
        folds: &Folds,
    ) -> Result<CrossFitted, Error> {
        if folds.assignment().len() != profiles.rows() {
            let (found, expected) = (folds.assignment().len(), profiles.rows());
            return Err(Error::Length { what: "folds", found, expected });
        }
        let (mut tuned, of_folds) = match self.fallback {
            Fallback::Veto(_) => self.search_folds(method, profiles, folds)?,
            _ => (self.tune(method, profiles)?, self.select_folds(method, profiles, folds)?),
        };
        if let Some(recalibrated) = recalibrated(&tuned.estimator, &of_folds, profiles, folds)? {
            tuned.estimator = recalibrated;
        }
        let estimator = std::slice::from_ref(&tuned.estimator);
        let mut in_sample = profiles.confidences(estimator)?.swap_remove(0);
        let mut out_of_fold =
            out_of_fold(&tuned.estimator, &in_sample, &of_folds, (profiles, folds))?;
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
                in_sample.clone_from(&msp);
                out_of_fold = msp;
            }
        }
        // Two classes leave a stack nothing beside MSP.
        tuned.fell_back |= method.is_stack() && tuned.estimator == Estimator::MSP;
        Ok(CrossFitted { tuned, out_of_fold, in_sample })
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
        if method == Method::Stack {
            return Ok((
                self.search(method, profiles)?,
                self.select_folds(method, profiles, folds)?,
            ));
        }
        let samples: Vec<Vec<u32>> = (0..folds.count()).map(|k| folds.counts_outside(k)).collect();
        match method {
            Method::Family(family) if self.has_tuned_temperature(family) => {
                return self.search_scaled_folds(family, profiles, &samples);
            }
            Method::Scored { score, transform } if transform == MOST_LIKELY => {
                return self.search_likely_folds(score, profiles, folds, &samples);
            }
            _ => {}
        }
        // The candidates are the same for all folds: the rows are sorted once for each of them.
        let mut found = self.search_samples(method, profiles, &samples)?.into_iter();
        let tuned = found.next().unwrap_or(Err(Error::NoRows))?;
        let estimators = found.map(|tuned| or_msp(tuned.map(|tuned| tuned.estimator)));
        Ok((tuned, estimators.collect::<Result<_, _>>()?))
    }

    /// A score at the temperature of most likelihood, which every score shares.
    fn search_likely_folds(
        &self,
        score: Score,
        profiles: &Profiles,
        folds: &Folds,
        samples: &[Vec<u32>],
    ) -> Result<(Tuned, Vec<Estimator>), Error> {
        let method = Method::Scored { score, transform: MOST_LIKELY };
        let tuned = self.search(method, profiles)?;
        let at = |temperature| Estimator::Scored {
            score,
            transform: Transform { norm: None, temperature },
        };
        let estimators: Vec<Estimator> =
            nll_temperatures_outside(profiles, folds)?.into_iter().map(at).collect();
        let values = self.objective_of(method).evaluate_samples(profiles, &estimators, samples)?;
        let defined = |(fold, estimator): (usize, Estimator)| match values[fold][1 + fold] {
            Ok(_) => estimator,
            Err(_) => Estimator::MSP,
        };
        Ok((tuned, estimators.into_iter().enumerate().map(defined).collect()))
    }

    /// A family that is tuned at the temperature of temperature scaling, which is often the same in
    /// several folds.
    fn search_scaled_folds(
        &self,
        family: Family,
        profiles: &Profiles,
        samples: &[Vec<u32>],
    ) -> Result<(Tuned, Vec<Estimator>), Error> {
        let method = Method::Family(family);
        let scaled = self.search_samples(SCALED_MSP, profiles, samples)?.into_iter();
        let mut temperatures: Vec<Result<Temperature, Error>> =
            scaled.map(|tuned| tuned.map(|tuned| temperature_of(&tuned))).collect();
        let of_all = temperatures.remove(0)?;
        let search = |temperature: Temperature, samples: &[Vec<u32>]| {
            let grid = self.family_grid(family, profiles.classes(), || Ok(temperature))?;
            self.search_grid_samples(method, &grid, profiles, samples)
        };
        let mut estimators = vec![Estimator::MSP; samples.len()];
        let mut tuned = None;
        let mut distinct = vec![of_all];
        for temperature in temperatures.iter().flatten() {
            if !distinct.contains(temperature) {
                distinct.push(*temperature);
            }
        }
        for temperature in distinct {
            let places: Vec<usize> = (0..samples.len())
                .filter(|&fold| temperatures[fold].as_ref() == Ok(&temperature))
                .collect();
            let chosen: Vec<Vec<u32>> = places.iter().map(|&fold| samples[fold].clone()).collect();
            let mut found = search(temperature, &chosen)?.into_iter();
            let on_all = found.next().unwrap_or(Err(Error::NoRows));
            if temperature == of_all {
                tuned = Some(on_all?);
            }
            for (fold, found) in places.into_iter().zip(found) {
                estimators[fold] = or_msp(found.map(|tuned| tuned.estimator))?;
            }
        }
        Ok((tuned.ok_or(Error::NoRows)?, estimators))
    }

    /// Whether a family is tuned at the temperature of temperature scaling.
    fn has_tuned_temperature(&self, family: Family) -> bool {
        let axes = family.search(&self.space).axes;
        axes.iter().any(|axis| matches!(axis, Axis::TunedTemperature))
    }

    /// The estimator tuned outside of each fold, one fold after the other.
    fn select_folds(
        &self,
        method: Method,
        profiles: &Profiles,
        folds: &Folds,
    ) -> Result<Vec<Estimator>, Error> {
        // A copy of no more than it needs: tables are most of a profile.
        let plan = self.plan(&[method]);
        let of_fold = |fold: usize| {
            stop::check()?;
            let outside = profiles.select_planned(&folds.outside(fold), &plan);
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
        Err(error @ (Error::Stopped | Error::NotProfiled { .. })) => Err(error),
        Err(_) => Ok(Estimator::MSP),
        found => found,
    }
}

/// A stack whose log-odds of being right are mended by those of its folds; nothing if they need not be, or
/// if a fold has none.
fn recalibrated(
    estimator: &Estimator,
    of_folds: &[Estimator],
    profiles: &Profiles,
    folds: &Folds,
) -> Result<Option<Estimator>, Error> {
    let labelled = |estimator: &Estimator| match estimator {
        Estimator::Stack(stack) => stack.is_labelled(),
        _ => false,
    };
    let Estimator::Stack(stack) = estimator else { return Ok(None) };
    if !labelled(estimator) || !of_folds.iter().all(labelled) {
        return Ok(None);
    }
    let mut log_odds = vec![0.0; profiles.rows()];
    for (fold, of_fold) in of_folds.iter().enumerate() {
        stop::check()?;
        let confidences = profiles.confidences(std::slice::from_ref(of_fold))?.swap_remove(0);
        for (row, _) in folds.assignment().iter().enumerate().filter(|(_, of_row)| **of_row == fold)
        {
            log_odds[row] = confidences[row];
        }
    }
    let found = Recalibration::of(&log_odds, &profiles.right(), folds);
    Ok(found.map(|Recalibration { intercept, slope }| stack.rescaled(intercept, slope).into()))
}

/// The confidences of the rows by the estimators of their folds, on the scale of the one of all rows.
fn out_of_fold(
    estimator: &Estimator,
    in_sample: &[f64],
    of_folds: &[Estimator],
    (profiles, folds): (&Profiles, &Folds),
) -> Result<Vec<f64>, Error> {
    let mut out = in_sample.to_vec();
    let mut scale = out.clone();
    scale.par_sort_unstable_by(f64::total_cmp);
    for (fold, of_fold) in of_folds.iter().enumerate().filter(|(_, other)| *other != estimator) {
        stop::check()?;
        let confidences = profiles.confidences(std::slice::from_ref(of_fold))?.swap_remove(0);
        let mut sorted = confidences.clone();
        sorted.par_sort_unstable_by(f64::total_cmp);
        for (row, _) in folds.assignment().iter().enumerate().filter(|(_, of_row)| **of_row == fold)
        {
            // The middle of those that tie with it.
            let first = sorted.partition_point(|&c| c < confidences[row]);
            let end = sorted.partition_point(|&c| c <= confidences[row]);
            out[row] = scale[usize::midpoint(first, end - 1)];
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Labels;
    use crate::logits::Logits;
    use crate::random::Random;

    /// What is shared between folds must not change them: each is tuned as if its rows were all.
    #[test]
    fn folds_that_share_work_are_tuned_as_if_alone() {
        let mut random = Random::new(5);
        for classes in [6, 40] {
            let rows = 300;
            let mut uniform = || random.below(1 << 40) as f64 / 2_f64.powi(40);
            let values: Vec<f64> = (0..rows * classes).map(|_| 6.0 * uniform()).collect();
            let logits = Logits::new(&values[..], classes).expect("valid");
            let label = |(row, prediction): (usize, usize)| {
                if row % 4 == 0 { (prediction + 1) % classes } else { prediction }
            };
            let labels: Vec<usize> =
                logits.predictions().into_iter().enumerate().map(label).collect();
            let labels: Vec<i64> = labels.iter().map(|&y| i64::try_from(y).expect("few")).collect();
            let labels = Labels::new(&labels, classes).expect("valid");
            let mut tuner = Tuner::default();
            // Coarsely, a fold also tries what others lead to.
            tuner.space.coarse_first = false;
            let methods: Vec<Method> = ["MSP-TS-NLL", "NegativeGini-TS-NLL", "ETS", "MSP-TS-AURC"]
                .iter()
                .map(|name| name.parse().expect("a method"))
                .chain([Method::Stack])
                .collect();
            let profiles = Profiles::new(&logits, &labels, &tuner.plan(&methods)).expect("valid");
            for count in [2, 5] {
                let folds = tuner.folds(&profiles, count).expect("folds");
                for &method in &methods {
                    let (tuned, shared) =
                        tuner.search_folds(method, &profiles, &folds).expect("tuned");
                    assert_eq!(tuned, tuner.search(method, &profiles).expect("tuned"), "{method}");
                    for (fold, estimator) in shared.iter().enumerate() {
                        let alone = profiles.select(&folds.outside(fold));
                        let alone = tuner.search(method, &alone).expect("tuned").estimator;
                        assert_eq!(*estimator, alone, "{method}, {classes} classes, fold {fold}");
                    }
                }
            }
        }
    }
}
