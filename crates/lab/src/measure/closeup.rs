//! A closer look at chosen models: what the size of the hold-out does, and what each logit weighs.

use super::methods::exponent_of;
use super::rows::{Rows, part};
use crate::LabError;
use crate::protocol::{MAX_LOGIT_PNORM, MSP_PNORM, MSP_TS_AURC, Protocol};
use crate::split::Split;
use crate::statistics::Spread;
use crate::zoo::{Model, Zoo};
use abstain::{
    Error, Estimator, Exponent, Fallback, Method, Profiles, Temperature, Tuner, Weighing,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The methods whose hunger for rows is shown.
pub(crate) const HUNGRY: [Method; 4] = [MSP_TS_AURC, MSP_PNORM, MAX_LOGIT_PNORM, Method::Stack];

/// The sizes of hold-outs, as far as there are rows.
const SIZES: [usize; 7] = [50, 100, 200, 500, 1000, 2000, 5000];

/// What was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Closeup {
    /// The methods that were tuned, without giving any of them up.
    pub methods: Vec<Method>,
    /// By the size of the hold-out.
    pub sizes: Vec<SizeResult>,
    /// NAURC of each method when it is tuned on the test rows themselves.
    pub bound: Vec<Option<Spread>>,
    /// NAURC of MSP.
    pub msp: Option<Spread>,
    /// How many realisations.
    pub realisations: usize,
    /// What each logit weighs.
    pub influences: Vec<Influence>,
}

/// Hold-outs of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeResult {
    /// The rows that tuned.
    pub tuning_rows: usize,
    /// NAURC of each method on the test rows, over the realisations.
    pub naurc: Vec<Option<Spread>>,
}

/// The geometric mean of `A_j / A_2` over all rows, largest logit first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Influence {
    /// In which method.
    pub method: Method,
    /// The number that was tuned on the first split's hold-out: `T` or `p`.
    pub parameter: f64,
    /// The ratios.
    pub ratios: Vec<f64>,
}

/// Looks closer at a model.
pub(crate) fn closeup(
    zoo: &Zoo,
    model: &Model,
    profiles: &Profiles,
    protocol: &Protocol,
    progress: &mut dyn FnMut(usize),
) -> Result<Closeup, LabError> {
    let wide = Protocol { splits: protocol.realisations, ..protocol.clone() };
    let splits = wide.splits(profiles.rows()).ok_or(LabError::TooFewRows)?;
    let full = splits[0].tuning.len();
    let mut sizes: Vec<usize> = SIZES.iter().copied().filter(|&size| size < full).collect();
    sizes.push(full);
    let rows = Rows::new(profiles, protocol);
    let tuner = Tuner { fallback: Fallback::None, ..protocol.tuner.clone() };
    // By size and method; the last line is the bound.
    let mut naurc = vec![vec![Vec::new(); HUNGRY.len()]; sizes.len() + 1];
    let mut msp = Vec::new();
    for (index, split) in splits.iter().enumerate() {
        progress(index);
        let seed = tuner.seed.wrapping_add(index as u64);
        let test = profiles.select(&split.test);
        let mut tasks: Vec<Profiles> =
            sizes.iter().map(|&size| profiles.select(&part(&split.tuning, size, seed))).collect();
        tasks.push(test);
        let estimators: Vec<Option<Estimator>> = tasks
            .par_iter()
            .flat_map_iter(|tuning| HUNGRY.iter().map(move |&method| (tuning, method)))
            .map(|(tuning, method)| {
                // A hold-out without errors, or of nothing else, teaches nothing.
                let errors = tuning.losses().values().iter().sum::<f64>();
                if errors == 0.0 || errors == tuning.rows() as f64 {
                    return None;
                }
                tuner.search(method, tuning).ok().map(|own| own.estimator)
            })
            .collect();
        let mut wanted = vec![Estimator::MSP];
        wanted.extend(estimators.iter().flatten().cloned());
        let mut measured = rows.measure(split, &wanted)?.into_iter();
        msp.extend(measured.next().and_then(|own| own.naurc));
        for (place, estimator) in estimators.iter().enumerate() {
            if estimator.is_some()
                && let Some(value) = measured.next().and_then(|own| own.naurc)
            {
                naurc[place / HUNGRY.len()][place % HUNGRY.len()].push(value);
            }
        }
    }
    let bound = naurc.pop().unwrap_or_default();
    let spreads = |own: &Vec<Vec<f64>>| own.iter().map(|values| Spread::of(values)).collect();
    Ok(Closeup {
        methods: HUNGRY.to_vec(),
        bound: spreads(&bound),
        sizes: sizes
            .iter()
            .zip(&naurc)
            .map(|(&tuning_rows, own)| SizeResult { tuning_rows, naurc: spreads(own) })
            .collect(),
        msp: Spread::of(&msp),
        realisations: splits.len(),
        influences: influences(zoo, model, profiles, &tuner, &splits[0])?,
    })
}

/// MSP, and the two methods that let small logits weigh less.
fn influences(
    zoo: &Zoo,
    model: &Model,
    profiles: &Profiles,
    tuner: &Tuner,
    split: &Split,
) -> Result<Vec<Influence>, LabError> {
    let tuning = profiles.select(&split.tuning);
    let found = |method: Method| -> Result<Estimator, Error> {
        Ok(tuner.search(method, &tuning)?.estimator)
    };
    let temperature = match found(MSP_TS_AURC)? {
        Estimator::Scored { transform, .. } => transform.temperature,
        _ => Temperature::ONE,
    };
    // Centred only, no logit but the largest weighs anything.
    let p = exponent_of(&found(MAX_LOGIT_PNORM)?).filter(|p| p.is_finite() && *p > 0.0);
    let mut asked = vec![
        (Method::MSP, 1.0, Weighing::Exponential(Temperature::ONE)),
        (MSP_TS_AURC, temperature.get(), Weighing::Exponential(temperature)),
    ];
    if let Some(p) = p {
        asked.push((MAX_LOGIT_PNORM, p, Weighing::Power(Exponent::new(p)?)));
    }
    let weighings: Vec<Weighing> = asked.iter().map(|own| own.2).collect();
    let ratios = zoo.influences(model, &weighings)?;
    let line = |((method, parameter, _), ratios)| Influence { method, parameter, ratios };
    Ok(asked.into_iter().zip(ratios).map(line).collect())
}
