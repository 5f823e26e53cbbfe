//! Labels of a deployment that are not those of a random part of its rows.

use crate::{Case, Settings, Simulation, row};
use abstain::monitor::{Feedback, Monitor, MonitorSettings, Record, Reference};
use abstain::{Artifact, Estimator, Losses, Threshold};
use abstain_bench::Random;
use anyhow::{Context, Result};
use rayon::prelude::*;

pub(crate) const SIMULATION: Simulation = Simulation {
    name: "labels",
    promise: "Labels of the surest rows alone are noticed, in 95 % of the streams; labels of a random part \
              are not taken for such, in 99 %.",
    run,
};

/// The rows of a stream, and those of them that have labels.
const ROWS: u64 = 3000;
const LABELLED: f64 = 0.3;

fn run(settings: &Settings) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for set in &settings.sets {
        let confidences = Estimator::MSP.confidences(&set.logits);
        let losses = Losses::zero_one(&set.logits, &set.labels)?;
        let mut sorted = confidences.clone();
        sorted.sort_by(f64::total_cmp);
        // Four fifths are accepted, and the surer half of these is labelled, or a random part.
        let quantile = |share: f64| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row")]
            let place = (share * sorted.len() as f64) as usize;
            sorted[place.min(sorted.len() - 1)]
        };
        let (at, sure) = (quantile(0.2), quantile(0.6));
        let mut artifact = Artifact::new(Estimator::MSP);
        artifact.rule = Some(Threshold::given(at).into());
        let reference = Reference::new(&confidences, losses.values(), None, at, 1);
        artifact.reference = Some(reference.context("a reference")?);
        for (what, selected) in [("the surest", true), ("a random part", false)] {
            let name = format!("{}: {what}", set.name);
            let sample = |run: usize| -> Result<bool> {
                let mut random: Random = settings.random(&name, run);
                let mut monitor = Monitor::new(&artifact, &MonitorSettings::default())?;
                for place in 0..ROWS {
                    let row = row(&mut random, confidences.len());
                    let confidence = confidences[row];
                    monitor.record(&Record::new(confidence));
                    let labelled = random.share() < LABELLED && confidence >= at;
                    if labelled && (!selected || confidence >= sure) {
                        monitor.label(&Feedback::new(place, confidence, losses.values()[row]))?;
                    }
                }
                monitor.compare_labels();
                let found = monitor.report().selection.context("labels are compared")?;
                Ok((found.against().count() > 0) == selected)
            };
            let runs = (0..settings.runs).into_par_iter();
            let kept: Vec<bool> = runs.map(sample).collect::<Result<_>>()?;
            cases.push(Case {
                measured: String::new(),
                kept: kept.iter().filter(|kept| **kept).count(),
                runs: kept.len(),
                at_least: if selected { 0.95 } else { 0.99 },
                name,
            });
        }
    }
    Ok(cases)
}
