//! Tuning on the hold-out of a split and measuring on its test rows, from profiles alone.

use super::methods::FixedExponent;
use crate::protocol::{HoldoutResult, Measured, Outcome, Protocol, SplitResult};
use abstain::calibration::{DEFAULT_BINS, Reliability};
use abstain::{
    Error, Estimator, Losses, Method, Metric, RcCurve, Tuned, Tuner,
    internal::{Profiles, permutation},
    stop,
};
use abstain_lab::Split;
use abstain_lab::Target;
use rayon::prelude::*;

/// Some values per size of the hold-out and per split.
type BySizeAndSplit<T> = Vec<Vec<Vec<T>>>;

/// The profiles of a model's rows with their losses.
pub(super) struct ProfiledRows<'a> {
    pub(super) profiles: &'a Profiles,
    pub(super) losses: Losses,
    pub(super) target: Target,
}

/// A hold-out of one size, and what every method found on it.
pub(super) struct TunedHoldout<'a> {
    /// The index of its size, the full one first.
    pub(super) size: usize,
    /// The index of the split.
    pub(super) split: usize,
    tuned: &'a [(Method, Option<Tuned>)],
}

impl TunedHoldout<'_> {
    /// What a method found, unless its objective is undefined on the hold-out.
    pub(super) fn of(&self, method: Method) -> Option<&Tuned> {
        self.tuned.iter().find(|(other, _)| *other == method)?.1.as_ref()
    }
}

impl<'a> ProfiledRows<'a> {
    pub(super) fn new(profiles: &'a Profiles, protocol: &Protocol) -> Self {
        ProfiledRows { profiles, losses: profiles.losses(), target: protocol.target() }
    }

    /// Measures estimators on the test rows of a split.
    fn measure(&self, split: &Split, estimators: &[Estimator]) -> Result<Vec<Measured>, Error> {
        self.each(split, estimators, |estimator, confidences, losses| {
            self.measured(estimator, confidences, losses)
        })
    }

    /// The NAURC of estimators on the test rows of a split.
    pub(super) fn naurc(
        &self,
        split: &Split,
        estimators: &[Estimator],
    ) -> Result<Vec<Option<f64>>, Error> {
        self.each(split, estimators, |_, confidences, losses| {
            Ok(Metric::NAURC.evaluate(&RcCurve::new(confidences, losses)?).ok())
        })
    }

    /// Something of each estimator on the test rows of a split, of equal ones once.
    fn each<T: Copy + Send>(
        &self,
        split: &Split,
        estimators: &[Estimator],
        measured: impl Fn(&Estimator, &[f64], &Losses) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let (distinct, places) = distinct(estimators);
        let losses = self.losses.select(&split.test);
        let columns = self.profiles.confidences(&distinct)?;
        let measured = distinct
            .par_iter()
            .zip(columns)
            .map(|(estimator, column)| {
                let confidences: Vec<f64> = split.test.iter().map(|&row| column[row]).collect();
                measured(estimator, &confidences, &losses)
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(places.into_iter().map(|place| measured[place]).collect())
    }

    fn measured(
        &self,
        estimator: &Estimator,
        confidences: &[f64],
        losses: &Losses,
    ) -> Result<Measured, Error> {
        let curve = RcCurve::new(confidences, losses)?;
        let value = |metric: Metric| metric.evaluate(&curve).ok();
        let ece =
            |values: Vec<f64>| Some(Reliability::new(&values, losses, DEFAULT_BINS).ok()?.ece());
        Ok(Measured {
            naurc: value(Metric::NAURC),
            aurc: value(Metric::AURC),
            auroc: value(Metric::AUROC),
            coverage: value(self.target.metric()?),
            ece: estimator.probabilities(confidences).and_then(ece),
        })
    }

    /// The values of the paper's formula behind confidences.
    pub(super) fn values(&self, estimator: &Estimator, confidences: &[f64]) -> Vec<f64> {
        let classes = self.profiles.classes();
        confidences.iter().map(|&confidence| estimator.value(confidence, classes)).collect()
    }

    /// Tunes methods with hold-outs of every size and measures them, split by split. `fixed` derives
    /// outcomes with a fixed exponent from what was found on each hold-out; they are measured too,
    /// and returned by size of the hold-out and by split.
    pub(super) fn holdouts(
        &self,
        protocol: &Protocol,
        splits: &[Split],
        methods: &[Method],
        mut fixed: impl FnMut(&TunedHoldout<'_>) -> Vec<FixedExponent>,
    ) -> Result<(Vec<HoldoutResult>, BySizeAndSplit<FixedExponent>), Error> {
        let sizes = protocol.sizes(self.profiles.rows());
        let mut holdouts: Vec<HoldoutResult> = sizes
            .iter()
            .map(|&tuning_rows| HoldoutResult { tuning_rows, splits: Vec::new() })
            .collect();
        let mut exponents: BySizeAndSplit<FixedExponent> = vec![Vec::new(); sizes.len()];
        for (index, split) in splits.iter().enumerate() {
            stop::check()?;
            let seed = protocol.tuner.seed.wrapping_add(index as u64);
            let tuner = Tuner { seed, ..protocol.tuner.clone() };
            // All sizes are measured together, so that equal estimators are measured once.
            let mut outcomes: Vec<Vec<Outcome>> = Vec::new();
            for (k, &size) in sizes.iter().enumerate() {
                let tuning = self.profiles.select(&part(&split.tuning, size, seed));
                let tuned: Vec<(Method, Option<Tuned>)> = methods
                    .par_iter()
                    .map(|&method| (method, tuner.tune(method, &tuning).ok()))
                    .collect();
                outcomes.push(tuned.iter().map(unmeasured).collect());
                exponents[k].push(fixed(&TunedHoldout { size: k, split: index, tuned: &tuned }));
            }
            let mut all: Vec<&mut Outcome> = outcomes.iter_mut().flatten().collect();
            let last = exponents.iter_mut().filter_map(|splits| splits.last_mut()).flatten();
            all.extend(last.map(|fixed| &mut fixed.outcome));
            let baseline = self.measure_all(split, &mut all)?;
            let test = self.losses.select(&split.test);
            let risk = test.values().iter().sum::<f64>() / test.values().len() as f64;
            for (outcomes, holdout) in outcomes.into_iter().zip(&mut holdouts) {
                holdout.splits.push(SplitResult { accuracy: 1.0 - risk, baseline, outcomes });
            }
        }
        Ok((holdouts, exponents))
    }

    /// Measures outcomes on the test rows of a split, and MSP.
    fn measure_all(&self, split: &Split, all: &mut [&mut Outcome]) -> Result<Measured, Error> {
        let mut estimators = vec![Estimator::MSP];
        estimators.extend(all.iter().map(|outcome| outcome.estimator.clone()));
        let mut measured = self.measure(split, &estimators)?.into_iter();
        let baseline = measured.next().unwrap_or_default();
        all.iter_mut().zip(measured).for_each(|(outcome, found)| outcome.measured = found);
        Ok(baseline)
    }
}

/// A method as tuned. It falls back to MSP where nothing can be learnt, as from a hold-out without
/// errors.
fn unmeasured((method, tuned): &(Method, Option<Tuned>)) -> Outcome {
    let (estimator, fell_back) = match tuned {
        Some(tuned) => (tuned.best.estimator.clone(), tuned.fell_back),
        None => (Estimator::MSP, true),
    };
    Outcome { method: *method, estimator, fell_back, measured: Measured::default() }
}

/// The distinct estimators of a list, and the index among them of each of the list.
pub(super) fn distinct(estimators: &[Estimator]) -> (Vec<Estimator>, Vec<usize>) {
    let mut distinct: Vec<Estimator> = Vec::new();
    let place = |estimator: &Estimator| {
        distinct.iter().position(|other| other == estimator).unwrap_or_else(|| {
            distinct.push(estimator.clone());
            distinct.len() - 1
        })
    };
    let places = estimators.iter().map(place).collect();
    (distinct, places)
}

/// A random part of the rows of a hold-out.
pub(super) fn part(tuning: &[usize], size: usize, seed: u64) -> Vec<usize> {
    if size >= tuning.len() {
        return tuning.to_vec();
    }
    let mut rows: Vec<usize> =
        permutation(tuning.len(), seed).into_iter().take(size).map(|i| tuning[i]).collect();
    rows.sort_unstable();
    rows
}
