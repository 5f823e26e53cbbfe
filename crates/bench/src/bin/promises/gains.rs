//! The gain that `tune` shows is that of the estimator that it writes, on new rows.

use crate::{Case, Settings, Simulation, row, without_replacement};
use abstain::{Estimator, Losses, MemoryRows, Metric, RcCurve, Tuner};
use abstain_bench::Set;
use abstain_lab::{TuneRequest, tune};
use anyhow::{Context, Result};
use rayon::prelude::*;

pub(crate) const SIMULATION: Simulation = Simulation {
    name: "gains",
    promise: "The 95 % interval of the gain holds the gain of the written estimator on new rows.",
    run,
};

const SIZES: [usize; 3] = [100, 300, 1000];

/// What one sample gave: whether the interval held, whether the truth was above it, its width, and how
/// far the estimate was from the truth.
struct Found {
    held: bool,
    above: bool,
    width: f64,
    error: f64,
}

fn run(settings: &Settings) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    // Two classes leave every method MSP.
    for set in settings.sets.iter().filter(|set| set.logits.classes() > 2) {
        for rows in SIZES.into_iter().filter(|rows| 2 * rows <= set.logits.rows()) {
            for replaced in [true, false] {
                let how = if replaced { "with" } else { "without" };
                let name = format!("{}, {rows} rows {how} replacement", set.name);
                let runs = (0..settings.runs).into_par_iter();
                let found = runs.map(|run| sample(settings, set, rows, replaced, (&name, run)));
                let found: Vec<Found> =
                    found.filter_map(Result::transpose).collect::<Result<_>>()?;
                cases.push(summary(name, &found));
            }
        }
    }
    Ok(cases)
}

fn summary(name: String, found: &[Found]) -> Case {
    let share = |count: usize| count as f64 / found.len() as f64;
    let mut widths: Vec<f64> = found.iter().map(|found| found.width).collect();
    widths.sort_by(f64::total_cmp);
    let width = widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN);
    let error = found.iter().map(|found| found.error).sum::<f64>() / found.len() as f64;
    let above = share(found.iter().filter(|found| found.above).count());
    Case {
        measured: format!("width {width:.3}, bias {error:+.4}, truth above {above:.3}"),
        kept: found.iter().filter(|found| found.held).count(),
        runs: found.len(),
        at_least: 0.93,
        name,
    }
}

/// Tunes on a sample, and compares the gain that is shown with that on the population; nothing where
/// the method fell back, for the gain is then 0 by definition, or where it is undefined.
fn sample(
    settings: &Settings,
    set: &Set,
    rows: usize,
    replaced: bool,
    (case, run): (&str, usize),
) -> Result<Option<Found>> {
    let mut random = settings.random(case, run);
    let all = set.logits.rows();
    let drawn: Vec<usize> = if replaced {
        (0..rows).map(|_| row(&mut random, all)).collect()
    } else {
        without_replacement(&mut random, all, rows)
    };
    let request = TuneRequest { methods: vec![Tuner::RECOMMENDED], ..TuneRequest::default() };
    let (logits, labels) = (set.logits.select(&drawn), set.labels.select(&drawn));
    let result = tune(&request, &mut MemoryRows::zero_one(logits, labels)?, &mut |_| {})?;
    let line = result.report.line(Tuner::RECOMMENDED).context("its line")?;
    let estimator = line.estimator.clone().context("it was tuned")?;
    let Some(gain) = line.gain.interval.filter(|_| estimator != Estimator::MSP) else {
        return Ok(None);
    };
    // Drawn with replacement, all rows are the population; else those that are left.
    let fresh: Vec<usize> = if replaced {
        (0..all).collect()
    } else {
        let mut left = vec![true; all];
        for &row in &drawn {
            left[row] = false;
        }
        (0..all).filter(|&row| left[row]).collect()
    };
    let (logits, labels) = (set.logits.select(&fresh), set.labels.select(&fresh));
    let losses = Losses::zero_one(&logits, &labels)?;
    let naurc = |estimator: &Estimator| -> Result<f64> {
        Ok(Metric::NAURC.evaluate(&RcCurve::new(&estimator.confidences(&logits), &losses)?)?)
    };
    let truth = naurc(&Estimator::MSP)? - naurc(&estimator)?;
    Ok(Some(Found {
        held: (gain.low..=gain.high).contains(&truth),
        above: truth > gain.high,
        width: gain.high - gain.low,
        error: gain.estimate - truth,
    }))
}
