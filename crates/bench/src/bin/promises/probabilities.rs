//! The stack's probability of being right, recalibrated on rows out of fold, is not worse than it was.

use crate::{Case, Settings, Simulation, without_replacement};
use abstain::calibration::{DEFAULT_BINS, Reliability};
use abstain::internal::{Folds, Profiles};
use abstain::{Estimator, Losses, Tuner};
use abstain_bench::Set;
use anyhow::Result;
use rayon::prelude::*;

pub(crate) const SIMULATION: Simulation = Simulation {
    name: "probabilities",
    promise: "The log-loss of the probability of being right is not worse by more than 0.01 after \
              recalibration.",
    run,
};

const SIZES: [usize; 4] = [100, 300, 1000, 2000];

/// Log-loss and ECE before and after.
type Found = [[f64; 2]; 2];

fn run(settings: &Settings) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for set in settings.sets.iter().filter(|set| set.logits.classes() > 2) {
        for rows in SIZES.into_iter().filter(|rows| 2 * rows <= set.logits.rows()) {
            let name = format!("{}, {rows} rows", set.name);
            let runs = (0..settings.runs).into_par_iter();
            let found = runs.map(|run| sample(settings, set, rows, (&name, run)));
            let found: Vec<Found> = found.filter_map(Result::transpose).collect::<Result<_>>()?;
            if found.is_empty() {
                continue;
            }
            let mean = |after: usize, of: usize| {
                found.iter().map(|found| found[after][of]).sum::<f64>() / found.len() as f64
            };
            cases.push(Case {
                measured: format!(
                    "log-loss {:.4} → {:.4}, ECE {:.4} → {:.4}",
                    mean(0, 0),
                    mean(1, 0),
                    mean(0, 1),
                    mean(1, 1)
                ),
                kept: found.iter().filter(|[before, after]| after[0] <= before[0] + 0.01).count(),
                runs: found.len(),
                at_least: 0.95,
                name,
            });
        }
    }
    Ok(cases)
}

/// Tunes on a sample, and measures on the rows that are left; nothing where the stack fell back.
fn sample(
    settings: &Settings,
    set: &Set,
    rows: usize,
    (case, run): (&str, usize),
) -> Result<Option<Found>> {
    let mut random = settings.random(case, run);
    let all = set.logits.rows();
    let drawn = without_replacement(&mut random, all, all);
    let (drawn, fresh) = drawn.split_at(rows);
    let tuner = Tuner::default();
    let method = Tuner::RECOMMENDED;
    let (logits, labels) = (set.logits.select(drawn), set.labels.select(drawn));
    let profiles = Profiles::new(&logits, &labels, &tuner.plan(&[method]))?;
    let before = tuner.tune(method, &profiles)?.best.estimator;
    let folds = tuner.folds(&profiles, Folds::DEFAULT)?;
    let after = tuner.cross_fit(method, &profiles, &folds)?.tuned.estimator;
    if [&before, &after].iter().any(|estimator| estimator.method() != method) {
        return Ok(None);
    }
    let (logits, labels) = (set.logits.select(fresh), set.labels.select(fresh));
    let losses = Losses::zero_one(&logits, &labels)?;
    let measure = |estimator: &Estimator| -> Result<[f64; 2]> {
        let values = estimator.values(&logits);
        let each = values
            .iter()
            .zip(losses.values())
            .map(|(&p, &loss)| -(if loss == 0.0 { p } else { 1.0 - p }).max(1e-12).ln());
        let log_loss = each.sum::<f64>() / values.len() as f64;
        Ok([log_loss, Reliability::new(&values, &losses, DEFAULT_BINS)?.ece()])
    };
    Ok(Some([measure(&before)?, measure(&after)?]))
}
