//! Tuning on the hold-out of a split and measuring on its test rows, all from profiles.

use crate::protocol::{Holdings, Measured, Outcome, Protocol, SplitResult};
use crate::split::Split;
use crate::target::Target;
use abstain::calibration::{DEFAULT_BINS, Reliability};
use abstain::{
    Error, Estimator, Losses, Method, Metric, ProfilePlan, Profiles, RcCurve, Tuned, Tuner,
    permutation,
};
use rayon::prelude::*;

/// What profiles must hold for some methods.
pub(crate) fn plan(protocol: &Protocol, methods: &[Method]) -> ProfilePlan {
    protocol.tuner.plan(methods)
}

/// Further outcomes, by size of the hold-out and by split.
pub(super) type Further = Vec<Vec<Vec<Outcome>>>;

/// The profiles of a model's rows, ready to be split.
pub(super) struct Rows<'a> {
    pub(super) profiles: &'a Profiles,
    pub(super) losses: Losses,
    pub(super) target: Target,
}

impl<'a> Rows<'a> {
    pub(super) fn new(profiles: &'a Profiles, protocol: &Protocol) -> Self {
        Rows { profiles, losses: profiles.losses(), target: protocol.target() }
    }

    /// Measures estimators on the test rows of a split, each of them once.
    pub(super) fn measure(
        &self,
        split: &Split,
        estimators: &[Estimator],
    ) -> Result<Vec<Measured>, Error> {
        let (distinct, places) = distinct(estimators);
        let losses = self.losses.select(&split.test);
        let columns = self.profiles.confidences(&distinct)?;
        let measured = distinct
            .par_iter()
            .zip(columns)
            .map(|(estimator, column)| {
                let own: Vec<f64> = split.test.iter().map(|&row| column[row]).collect();
                self.measured(estimator, &own, &losses)
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
        let ece = || {
            let values = self.values(estimator, confidences);
            Some(Reliability::new(&values, losses, DEFAULT_BINS).ok()?.ece())
        };
        Ok(Measured {
            naurc: value(Metric::NAURC),
            aurc: value(Metric::AURC),
            auroc: value(Metric::AUROC),
            coverage: value(self.target.metric()?),
            ece: estimator.is_probability().then(ece).flatten(),
        })
    }

    /// The paper's numbers behind confidences.
    pub(super) fn values(&self, estimator: &Estimator, confidences: &[f64]) -> Vec<f64> {
        let classes = self.profiles.classes();
        confidences.iter().map(|&own| estimator.value(own, classes)).collect()
    }

    /// Tunes methods with hold-outs of every size and measures them, on one split after the other.
    /// What was found with each hold-out is handed to `seen`, whose outcomes are measured too.
    pub(super) fn holdings(
        &self,
        protocol: &Protocol,
        splits: &[Split],
        methods: &[Method],
        mut seen: impl FnMut(usize, usize, &Split, &[Option<Tuned>]) -> Result<Vec<Outcome>, Error>,
    ) -> Result<(Vec<Holdings>, Further), Error> {
        let sizes = protocol.sizes(self.profiles.rows());
        let mut holdings: Vec<Holdings> =
            sizes.iter().map(|&tuning_rows| Holdings { tuning_rows, splits: Vec::new() }).collect();
        let mut further = vec![Vec::new(); sizes.len()];
        for (index, split) in splits.iter().enumerate() {
            let seed = protocol.tuner.seed.wrapping_add(index as u64);
            let tuner = Tuner { seed, ..protocol.tuner.clone() };
            // All sizes together, so that what is the same is measured once.
            let mut estimators = vec![Estimator::MSP];
            let mut chosen: Vec<Vec<(Estimator, bool)>> = Vec::new();
            for (k, &size) in sizes.iter().enumerate() {
                let tuning = self.profiles.select(&part(&split.tuning, size, seed));
                let tuned: Vec<Option<Tuned>> =
                    methods.par_iter().map(|&method| tuner.tune(method, &tuning).ok()).collect();
                let own = tuned.iter().map(|tuned| match tuned {
                    Some(tuned) => (tuned.best.estimator.clone(), tuned.fell_back),
                    // Nothing to learn from, as a hold-out without errors: MSP.
                    None => (Estimator::MSP, true),
                });
                chosen.push(own.collect());
                further[k].push(seen(k, index, split, &tuned)?);
            }
            estimators.extend(chosen.iter().flatten().map(|own| own.0.clone()));
            let more = further.iter().filter_map(|own| own.last()).flatten();
            estimators.extend(more.map(|outcome| outcome.estimator.clone()));
            let mut measured = self.measure(split, &estimators)?.into_iter();
            let baseline = measured.next().unwrap_or_default();
            let test = self.losses.select(&split.test);
            let risk = test.values().iter().sum::<f64>() / test.values().len() as f64;
            for (own, holdings) in chosen.into_iter().zip(&mut holdings) {
                let outcomes =
                    own.into_iter().zip(&mut measured).map(|((estimator, fell_back), measured)| {
                        Outcome { estimator, fell_back, measured }
                    });
                let outcomes = outcomes.collect();
                holdings.splits.push(SplitResult { accuracy: 1.0 - risk, baseline, outcomes });
            }
            for outcomes in further.iter_mut().filter_map(|own| own.last_mut()) {
                for (outcome, measured) in outcomes.iter_mut().zip(&mut measured) {
                    outcome.measured = measured;
                }
            }
        }
        Ok((holdings, further))
    }
}

/// Each estimator once, and where each of those given is among them.
pub(super) fn distinct(estimators: &[Estimator]) -> (Vec<Estimator>, Vec<usize>) {
    let mut distinct: Vec<Estimator> = Vec::new();
    let place = |own: &Estimator| {
        distinct.iter().position(|other| other == own).unwrap_or_else(|| {
            distinct.push(own.clone());
            distinct.len() - 1
        })
    };
    let places = estimators.iter().map(place).collect();
    (distinct, places)
}

/// Some of the rows of a hold-out: of all orders the data may be in, a random part.
pub(super) fn part(tuning: &[usize], size: usize, seed: u64) -> Vec<usize> {
    if size >= tuning.len() {
        return tuning.to_vec();
    }
    let mut rows: Vec<usize> =
        permutation(tuning.len(), seed).into_iter().take(size).map(|i| tuning[i]).collect();
    rows.sort_unstable();
    rows
}
