//! A closer look at chosen models: the effect of the size of the hold-out, and the weight of each
//! logit.

use super::methods::{MethodsResult, exponent_of};
use super::rows::{ProfiledRows, part};
use crate::PaperError;
use crate::protocol::{MAX_LOGIT_PNORM, MSP_PNORM, MSP_TS_AURC, Protocol};
use abstain::internal::Weighing;
use abstain::{
    Error, Estimator, Fallback, Method, Tuner,
    internal::Profiles,
    stop,
    transform::{Exponent, Temperature},
};
use abstain_lab::Split;
use abstain_lab::Spread;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The methods that are tuned with hold-outs of many sizes.
const METHODS: [Method; 4] = [MSP_TS_AURC, MSP_PNORM, MAX_LOGIT_PNORM, Method::Stack];

/// The sizes of hold-outs, as far as there are rows.
const SIZES: [usize; 7] = [50, 100, 200, 500, 1000, 2000, 5000];

/// A closer look at a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Closeup {
    /// The methods that were tuned, without a fallback.
    pub methods: Vec<Method>,
    /// One result per size of the hold-out.
    pub sizes: Vec<SizeResult>,
    /// NAURC of each method when it is tuned on the test rows themselves.
    pub bound: Vec<Option<Spread>>,
    /// NAURC of MSP.
    pub msp: Option<Spread>,
    /// The number of random hold-outs.
    pub realisations: usize,
    /// The weight of each logit in some methods.
    pub influences: Vec<Influence>,
}

/// Hold-outs of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeResult {
    /// The number of tuning rows.
    pub tuning_rows: usize,
    /// NAURC of each method on the test rows, over the realisations.
    pub naurc: Vec<Option<Spread>>,
}

/// The geometric mean of `A_j / A_2` over all rows, largest logit first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Influence {
    /// The method.
    pub method: Method,
    /// Its parameter, `T` or `p`, tuned on the hold-out of the first split.
    pub parameter: f64,
    /// The ratios.
    pub ratios: Vec<f64>,
}

/// A method whose weights are measured, with its parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WeighedMethod {
    method: Method,
    parameter: f64,
    pub(crate) weighing: Weighing,
}

impl WeighedMethod {
    pub(crate) fn with_ratios(self, ratios: Vec<f64>) -> Influence {
        Influence { method: self.method, parameter: self.parameter, ratios }
    }
}

/// MSP, and the two methods that give small logits less weight, as tuned on the first split.
pub(crate) fn weighed_methods(methods: &MethodsResult) -> Result<Vec<WeighedMethod>, Error> {
    let first = methods.holdouts.first().and_then(|holdout| holdout.splits.first());
    let tuned = |method: Method| Some(&first?.outcome(method)?.estimator);
    let temperature = match tuned(MSP_TS_AURC) {
        Some(Estimator::Scored { transform, .. }) => transform.temperature,
        _ => Temperature::ONE,
    };
    let exponential = |method: Method, temperature: Temperature| WeighedMethod {
        method,
        parameter: temperature.get(),
        weighing: Weighing::Exponential(temperature),
    };
    let mut weighed =
        vec![exponential(Method::MSP, Temperature::ONE), exponential(MSP_TS_AURC, temperature)];
    // With p = 0 only the largest logit has any weight.
    let p = tuned(MAX_LOGIT_PNORM).and_then(exponent_of).filter(|p| p.is_finite() && *p > 0.0);
    if let Some(p) = p {
        let weighing = Weighing::Power(Exponent::new(p)?);
        weighed.push(WeighedMethod { method: MAX_LOGIT_PNORM, parameter: p, weighing });
    }
    Ok(weighed)
}

/// Tunes methods with hold-outs of many sizes. `influences` were measured beforehand, in the pass
/// that recorded the profiles.
pub(crate) fn closeup(
    profiles: &Profiles,
    protocol: &Protocol,
    influences: Vec<Influence>,
    progress: &mut dyn FnMut(usize),
) -> Result<Closeup, PaperError> {
    let wide = Protocol { splits: protocol.realisations, ..protocol.clone() };
    let splits = wide.splits(profiles.rows()).ok_or(PaperError::TooFewRows)?;
    let full = splits[0].tuning.len();
    let mut sizes: Vec<usize> = SIZES.iter().copied().filter(|&size| size < full).collect();
    sizes.push(full);
    let rows = ProfiledRows::new(profiles, protocol);
    let tuner = Tuner { fallback: Fallback::None, ..protocol.tuner.clone() };
    // The values of all realisations, by size and method.
    let mut naurc = vec![vec![Vec::new(); METHODS.len()]; sizes.len()];
    let mut bound = vec![Vec::new(); METHODS.len()];
    let mut msp = Vec::new();
    let bounds = search_test_rows(&tuner, profiles, &splits)?;
    for ((index, split), bounds) in splits.iter().enumerate().zip(bounds) {
        stop::check()?;
        progress(index);
        let seed = tuner.seed.wrapping_add(index as u64);
        let tuning_sets: Vec<Profiles> =
            sizes.iter().map(|&size| profiles.select(&part(&split.tuning, size, seed))).collect();
        let mut estimators = search_all(&tuner, &tuning_sets);
        estimators.extend(bounds);
        let mut wanted = vec![Estimator::MSP];
        wanted.extend(estimators.iter().flatten().cloned());
        let mut measured = rows.naurc(split, &wanted)?.into_iter();
        msp.extend(measured.next().flatten());
        let cells = naurc.iter_mut().chain([&mut bound]).flatten();
        for (estimator, cell) in estimators.iter().zip(cells) {
            if estimator.is_some() {
                cell.extend(measured.next().flatten());
            }
        }
    }
    let spreads = |cells: &[Vec<f64>]| cells.iter().map(|values| Spread::of(values)).collect();
    Ok(Closeup {
        methods: METHODS.to_vec(),
        bound: spreads(&bound),
        sizes: sizes
            .iter()
            .zip(&naurc)
            .map(|(&tuning_rows, cells)| SizeResult { tuning_rows, naurc: spreads(cells) })
            .collect(),
        msp: Spread::of(&msp),
        realisations: splits.len(),
        influences,
    })
}

/// The best estimator of every method on the test rows of every split.
fn search_test_rows(
    tuner: &Tuner,
    profiles: &Profiles,
    splits: &[Split],
) -> Result<Vec<Vec<Option<Estimator>>>, PaperError> {
    let subsets: Vec<Vec<usize>> = splits.iter().map(|split| split.test.clone()).collect();
    let losses = profiles.losses();
    let searchable = |rows: &Vec<usize>| {
        has_both(rows.iter().map(|&row| losses.values()[row]).sum(), rows.len())
    };
    let searchable: Vec<bool> = subsets.iter().map(searchable).collect();
    let mut found = vec![Vec::with_capacity(METHODS.len()); splits.len()];
    for method in METHODS {
        let tuned = tuner.search_subsets(method, profiles, &subsets)?;
        for ((found, tuned), searchable) in found.iter_mut().zip(tuned).zip(&searchable) {
            found.push(tuned.ok().filter(|_| *searchable).map(|tuned| tuned.estimator));
        }
    }
    Ok(found)
}

/// The best estimator of every method on every set of tuning rows, method by method within a set.
fn search_all(tuner: &Tuner, tuning_sets: &[Profiles]) -> Vec<Option<Estimator>> {
    tuning_sets
        .par_iter()
        .flat_map_iter(|tuning| METHODS.iter().map(move |&method| (tuning, method)))
        .map(|(tuning, method)| {
            let errors = tuning.losses().values().iter().sum::<f64>();
            let searched = has_both(errors, tuning.rows()).then(|| tuner.search(method, tuning));
            searched?.ok().map(|tuned| tuned.estimator)
        })
        .collect()
}

/// Whether there are right and wrong rows: of one kind alone, there is nothing to tune on.
fn has_both(errors: f64, rows: usize) -> bool {
    errors > 0.0 && errors < rows as f64
}
