//! Which method beats which: on each model by the bootstrap over rows, over models by the sign test,
//! both with Holm's correction.

use super::{Context, over_splits, place};
use crate::bench::ModelResults;
use crate::measure::COMPARED;
use crate::protocol::MAX_LOGIT_PNORM;
use crate::statistics::{holm, normal_test, sign_test};
use abstain::Method;
use serde::Serialize;

/// Differences smaller than this are none: no table shows them.
const NO_DIFFERENCE: f64 = 1e-5;

/// A normal variable is within so many standard deviations 95 % of the time.
const NORMAL_95: f64 = 1.959963984540054;

/// Which method beats which.
#[derive(Debug, Clone, Serialize)]
pub struct SignificanceStudy {
    /// How sure is sure: corrected p-values below this.
    pub level: f64,
    /// The replicates of the bootstrap.
    pub replicates: usize,
    /// Every method against MSP, then against MaxLogit-pNorm.
    pub duels: Vec<Duel>,
}

/// A method against a reference, both as used in the end.
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
    /// Those on which it is the same, as where both are MSP.
    pub ties: usize,
    /// The sign test's p-value.
    pub p: f64,
    /// The same, corrected for all duels with this reference.
    pub p_corrected: f64,
    /// The models on which it is surely better, on the test rows of the first split.
    pub surely_better: usize,
    /// Those on which it is surely worse.
    pub surely_worse: usize,
    /// Model by model.
    pub models: Vec<ModelDuel>,
}

/// A duel on one model.
#[derive(Debug, Clone, Serialize)]
pub struct ModelDuel {
    /// The model.
    pub model: String,
    /// What it is called.
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

impl SignificanceStudy {
    /// From what was measured.
    pub fn new(context: &Context<'_>) -> Self {
        let level = 0.05;
        let mut duels = Vec::new();
        for (which, reference) in [Method::MSP, MAX_LOGIT_PNORM].into_iter().enumerate() {
            let others = COMPARED.iter().enumerate().filter(|(_, method)| **method != reference);
            let mut own: Vec<Duel> = others
                .map(|(index, &method)| {
                    duel(context.results, method, reference, (which, index), level)
                })
                .collect();
            let corrected = holm(&own.iter().map(|duel| duel.p).collect::<Vec<f64>>());
            own.iter_mut().zip(corrected).for_each(|(duel, p)| duel.p_corrected = p);
            duels.extend(own);
        }
        SignificanceStudy { level, replicates: context.protocol.replicates, duels }
    }
}

/// Whether there are ten errors and ten right rows on the test rows of the first split.
fn enough(own: &ModelResults) -> bool {
    let test = own.methods.rows - own.full().tuning_rows;
    let accuracy = own.full().splits[0].accuracy;
    accuracy.min(1.0 - accuracy) * test as f64 >= 9.5
}

fn duel(
    results: &[ModelResults],
    method: Method,
    reference: Method,
    (which, index): (usize, usize),
    level: f64,
) -> Duel {
    let naurc = |own: &ModelResults, method: Method| {
        let place = place(method)?;
        Some(over_splits(own.full(), |split| split.finally(place).naurc)?.mean)
    };
    let differences =
        results.iter().filter_map(|own| Some(naurc(own, method)? - naurc(own, reference)?));
    let differences: Vec<f64> = differences.collect();
    let wins = differences.iter().filter(|d| **d < -NO_DIFFERENCE).count();
    let losses = differences.iter().filter(|d| **d > NO_DIFFERENCE).count();
    let mut models: Vec<ModelDuel> = results
        .iter()
        .map(|own| {
            let found = own.methods.comparisons[which].get(index).copied().flatten();
            ModelDuel {
                model: own.model.name.clone(),
                title: own.model.title.clone(),
                difference: found.map(|own| own.difference),
                interval: found.map(|own| {
                    let half = NORMAL_95 * own.standard_error;
                    [own.difference - half, own.difference + half]
                }),
                // A normal test wants some errors, and some rows that are right.
                p: found
                    .filter(|_| enough(own))
                    .map(|own| normal_test(own.difference, own.standard_error)),
                p_corrected: None,
            }
        })
        .collect();
    let p: Vec<f64> = models.iter().map(|own| own.p.unwrap_or(1.0)).collect();
    for (own, corrected) in models.iter_mut().zip(holm(&p)) {
        own.p_corrected = own.p.map(|_| corrected);
    }
    let surely = |better: bool| {
        let sure = models.iter().filter(|own| own.p_corrected.is_some_and(|p| p < level));
        sure.filter(|own| own.difference.is_some_and(|d| (d < 0.0) == better)).count()
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
        surely_better: surely(true),
        surely_worse: surely(false),
        models,
    }
}
