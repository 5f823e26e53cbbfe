//! Certificates on rows that are there several times.

use crate::{Case, Settings, Simulation, without_replacement};
use abstain::{Artifact, Estimator, Losses, MemoryRows, RcCurve};
use abstain_lab::{CertifyRequest, Target, certify};
use anyhow::Result;
use rayon::prelude::*;

pub(crate) const SIMULATION: Simulation = Simulation {
    name: "duplicates",
    promise: "Where each row is there several times, a certificate at δ = 0.1 holds in 90 % of the samples.",
    run,
};

/// Rows, and how often each is there.
const CASES: [(usize, usize); 3] = [(100, 10), (500, 2), (300, 1)];

fn run(settings: &Settings) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for set in settings.sets.iter().filter(|set| set.logits.classes() > 2) {
        let losses = Losses::zero_one(&set.logits, &set.labels)?;
        let population = RcCurve::new(&Estimator::MSP.confidences(&set.logits), &losses)?;
        // Some thresholds meet it, and many nearly do.
        let target = population.risk() / 2.0;
        for (rows, times) in CASES.into_iter().filter(|(rows, _)| 2 * rows <= set.logits.rows()) {
            let name = format!("{}, {rows} rows {times} times", set.name);
            let sample = |run: usize| -> Result<Option<bool>> {
                let drawn =
                    without_replacement(&mut settings.random(&name, run), set.logits.rows(), rows);
                let drawn = drawn.repeat(times);
                let (logits, labels) = (set.logits.select(&drawn), set.labels.select(&drawn));
                let mut source = MemoryRows::zero_one(logits, labels)?;
                let request = CertifyRequest {
                    delta: Some(0.1),
                    ..CertifyRequest::uncertified(Target::Risk(target))
                };
                let found = certify(&Artifact::new(Estimator::MSP), &request, &mut source);
                let Ok(found) = found else { return Ok(None) };
                let at = found.artifact.threshold().map_or(f64::NAN, |threshold| threshold.at);
                let accepted = population.knots().take_while(|knot| knot.threshold >= at).last();
                Ok(Some(accepted.is_none_or(|knot| knot.selective_risk() <= target)))
            };
            let runs = (0..settings.runs).into_par_iter();
            let found: Vec<Option<bool>> = runs.map(sample).collect::<Result<_>>()?;
            let certified = found.iter().flatten().count();
            cases.push(Case {
                measured: format!("certified {certified}"),
                kept: found.iter().filter(|held| held.is_none_or(|held| held)).count(),
                runs: found.len(),
                at_least: 0.9,
                name,
            });
        }
    }
    Ok(cases)
}
