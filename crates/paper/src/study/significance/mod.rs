//! Which method beats which: on each model by the bootstrap over rows, over models by the sign test,
//! both with Holm's correction.

mod present;

use super::{Context, NotMeasured, Study, over_splits};
use crate::measure::ModelResults;
use crate::measure::{COMPARED, Comparison, REFERENCES};
use crate::statistics::{holm, normal_test, sign_test};
use abstain::Method;
use serde::Serialize;

/// The significance level.
const LEVEL: f64 = 0.05;

/// Differences up to this count as ties: no table shows them.
const NO_DIFFERENCE: f64 = 1e-5;

/// The 97.5 % quantile of the standard normal distribution.
const NORMAL_95: f64 = 1.959963984540054;

/// Which method beats which.
#[derive(Debug, Clone, Serialize)]
pub struct SignificanceStudy {
    /// The significance level, for corrected p-values.
    pub level: f64,
    /// The replicates of the bootstrap.
    pub replicates: usize,
    /// Every method against MSP, then against MaxLogit-pNorm.
    pub duels: Vec<Duel>,
}

/// A method against a reference, with MSP where one of them fell back.
#[derive(Debug, Clone, Serialize)]
pub struct Duel {
    /// The method.
    pub method: Method,
    /// The reference.
    pub reference: Method,
    /// The models on which its mean NAURC over the splits is lower.
    pub wins: usize,
    /// Those on which it is higher.
    pub losses: usize,
    /// Those on which it is the same, as where both fell back.
    pub ties: usize,
    /// The sign test's p-value.
    pub p: f64,
    /// The same, corrected for all duels with this reference.
    pub p_corrected: f64,
    /// The models on which it is significantly better, on the test rows of the first split.
    pub surely_better: usize,
    /// Those on which it is significantly worse.
    pub surely_worse: usize,
    /// Model by model.
    pub models: Vec<ModelDuel>,
}

/// A duel on one model.
#[derive(Debug, Clone, Serialize)]
pub struct ModelDuel {
    /// The model.
    pub model: String,
    /// Its title.
    pub title: String,
    /// NAURC less that of the reference on the test rows of the first split.
    pub difference: Option<f64>,
    /// Its 95 % interval: normal, as the p-value, by the standard error of the bootstrap.
    pub interval: Option<[f64; 2]>,
    /// Its p-value.
    pub p: Option<f64>,
    /// The same, corrected for all models of this duel.
    pub p_corrected: Option<f64>,
}

impl Study for SignificanceStudy {
    const NAME: &'static str = "significance";

    fn new(context: &Context<'_>) -> Result<Self, NotMeasured> {
        let against = |reference: Method| {
            let others = COMPARED.iter().filter(|method| **method != reference);
            let mut duels: Vec<Duel> =
                others.map(|&method| duel(context.models(), method, reference)).collect();
            let corrected = holm(&duels.iter().map(|duel| duel.p).collect::<Vec<f64>>());
            duels.iter_mut().zip(corrected).for_each(|(duel, p)| duel.p_corrected = p);
            duels
        };
        Ok(SignificanceStudy {
            level: LEVEL,
            replicates: context.protocol.replicates,
            duels: REFERENCES.into_iter().flat_map(against).collect(),
        })
    }
}

impl SignificanceStudy {
    /// A method against a reference.
    pub fn duel(&self, method: Method, reference: Method) -> Option<&Duel> {
        self.duels.iter().find(|duel| duel.method == method && duel.reference == reference)
    }
}

fn duel(results: &[ModelResults], method: Method, reference: Method) -> Duel {
    let naurc = |model: &ModelResults, method: Method| {
        Some(over_splits(model.full(), |split| split.used_measured(method)?.naurc)?.mean)
    };
    let differences: Vec<f64> = results
        .iter()
        .filter_map(|model| Some(naurc(model, method)? - naurc(model, reference)?))
        .collect();
    let wins = differences.iter().filter(|d| **d < -NO_DIFFERENCE).count();
    let losses = differences.iter().filter(|d| **d > NO_DIFFERENCE).count();
    let mut models: Vec<ModelDuel> =
        results.iter().map(|model| model_duel(model, method, reference)).collect();
    let p: Vec<f64> = models.iter().map(|model| model.p.unwrap_or(1.0)).collect();
    for (model, corrected) in models.iter_mut().zip(holm(&p)) {
        model.p_corrected = model.p.map(|_| corrected);
    }
    let significant = |better: bool| {
        let below = models.iter().filter(|model| model.p_corrected.is_some_and(|p| p < LEVEL));
        below.filter(|model| model.difference.is_some_and(|d| (d < 0.0) == better)).count()
    };
    let p = sign_test(wins, losses);
    Duel {
        method,
        reference,
        wins,
        losses,
        ties: differences.len() - wins - losses,
        p,
        p_corrected: p,
        surely_better: significant(true),
        surely_worse: significant(false),
        models,
    }
}

/// A duel on one model, before the correction of its p-value.
fn model_duel(model: &ModelResults, method: Method, reference: Method) -> ModelDuel {
    let same = |found: &&Comparison| found.method == method && found.reference == reference;
    let found = model.methods.comparisons.iter().find(same);
    ModelDuel {
        model: model.model.name.clone(),
        title: model.model.title.clone(),
        difference: found.map(|found| found.difference),
        interval: found.map(|found| {
            let half = NORMAL_95 * found.standard_error;
            [found.difference - half, found.difference + half]
        }),
        p: found
            .filter(|_| supports_normal_test(model))
            .map(|found| normal_test(found.difference, found.standard_error)),
        p_corrected: None,
    }
}

/// Whether there are about ten errors and ten right rows among the test rows of the first split: a
/// normal approximation needs some of both.
fn supports_normal_test(model: &ModelResults) -> bool {
    let test = model.methods.rows - model.full().tuning_rows;
    let accuracy = model.full().splits[0].accuracy;
    accuracy.min(1.0 - accuracy) * test as f64 >= 9.5
}
