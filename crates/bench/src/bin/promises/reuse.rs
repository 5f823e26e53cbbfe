//! Rows that tuned an estimator, given once more to certify it.

use crate::{Case, Settings, Simulation, without_replacement};
use abstain::{Artifact, Encoding, Labels, Logits, Loss, MemoryRows};
use abstain_lab::{CertifyRequest, LabError, Target, TuneRequest, certify, tune};
use anyhow::Result;
use rayon::prelude::*;

pub(crate) const SIMULATION: Simulation = Simulation {
    name: "reuse",
    promise: "Tuning rows do not certify, also if they were changed a little; other rows do.",
    run,
};

const ROWS: usize = 400;

/// A change of the numbers, and whether rows that tuned are among those that are to certify.
type Change = (&'static str, fn(f64) -> f64, bool);

const CHANGES: [Change; 5] = [
    ("the tuning rows", |x| x, true),
    ("in half precision", |x| abstain::half::f16::from_f64(x).to_f64(), true),
    ("with three decimals", |x| (x * 1000.0).round() / 1000.0, true),
    ("with a constant added", |x| x + 3.7, true),
    ("other rows", |x| x, false),
];

fn run(settings: &Settings) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    // Numbers of two or three classes are recognised only as they are.
    let sets = settings.sets.iter().filter(|set| set.logits.classes() > 3);
    for set in sets.filter(|set| 2 * ROWS <= set.logits.rows()) {
        let sample = |run: usize| -> Result<[bool; CHANGES.len()]> {
            let mut random = settings.random(&set.name, run);
            let drawn = without_replacement(&mut random, set.logits.rows(), 2 * ROWS);
            let source = |rows: &[usize], change: fn(f64) -> f64| -> Result<MemoryRows<'static>> {
                let mut values = vec![0.0; rows.len() * set.logits.classes()];
                for (row, out) in rows.iter().zip(values.chunks_mut(set.logits.classes())) {
                    set.logits.copy_row(*row, out);
                }
                for value in &mut values {
                    *value = change(*value);
                }
                let labels: Labels = set.labels.select(rows);
                let logits = Logits::new(values, set.logits.classes())?;
                Ok(MemoryRows::new(logits, Encoding::Logits, labels, Loss::ZeroOne)?)
            };
            let request = TuneRequest {
                methods: TuneRequest::methods_by_name(&["MaxLogit-pNorm"])?,
                ..TuneRequest::default()
            };
            let artifact: Artifact =
                tune(&request, &mut source(&drawn[..ROWS], |x| x)?, &mut |_| {})?.artifact;
            let mut kept = [false; CHANGES.len()];
            for (kept, (_, change, reused)) in kept.iter_mut().zip(CHANGES) {
                let rows = if reused { &drawn[..ROWS] } else { &drawn[ROWS..] };
                let wanted = CertifyRequest {
                    delta: Some(0.1),
                    ..CertifyRequest::uncertified(Target::Risk(0.5))
                };
                let found = certify(&artifact, &wanted, &mut source(rows, change)?);
                let refused = matches!(
                    found,
                    Err(LabError::CertifyingRowsTuned | LabError::CertifyingRowsShared)
                );
                *kept = refused == reused;
            }
            Ok(kept)
        };
        let runs = (0..settings.runs).into_par_iter();
        let found: Vec<[bool; CHANGES.len()]> = runs.map(sample).collect::<Result<_>>()?;
        for (index, (what, ..)) in CHANGES.iter().enumerate() {
            cases.push(Case {
                name: format!("{}: {what}", set.name),
                measured: String::new(),
                kept: found.iter().filter(|kept| kept[index]).count(),
                runs: found.len(),
                at_least: 0.99,
            });
        }
    }
    Ok(cases)
}
