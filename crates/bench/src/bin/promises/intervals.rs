//! Intervals hold whatever the accuracy, and that of AUROC is hardly wider than DeLong's where both
//! right and wrong rows are many.

use crate::{Case, Settings, Simulation, row};
use abstain::{Estimator, Interval, Intervals, Losses, Metric, RcCurve};
use abstain_bench::Set;
use anyhow::Result;
use rayon::prelude::*;
use std::collections::HashSet;

pub(crate) const SIMULATION: Simulation = Simulation {
    name: "intervals",
    promise: "95 % intervals hold the value of the population, by the accuracy of the classifier.",
    run,
};

const ACCURACIES: [f64; 9] = [0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98];
const SIZES: [usize; 3] = [100, 300, 1000];
const METRICS: [Metric; 3] = [Metric::AUROC, Metric::NAURC, Metric::AURC];

/// Two rankings of the same rows, the right ones and the wrong ones.
struct Rows {
    name: String,
    columns: [Vec<f64>; 2],
    right: Vec<usize>,
    wrong: Vec<usize>,
}

/// Whether an interval held, its width, and that of a normal interval, which is DeLong's for AUROC.
#[derive(Clone, Copy)]
struct Measured {
    held: bool,
    width: f64,
    normal: f64,
}

type Found = Option<Measured>;

fn run(settings: &Settings) -> Result<Vec<Case>> {
    let sets: Vec<Rows> = settings.sets.iter().map(Rows::new).collect::<Result<_>>()?;
    let mut cases = Vec::new();
    for rows in SIZES {
        for accuracy in ACCURACIES {
            // For each set and metric: of one ranking and of the difference.
            let mut worst: Vec<Option<(f64, Case)>> =
                (0..2 * METRICS.len()).map(|_| None).collect();
            for set in &sets {
                let population = set.population(accuracy);
                let truth = set.truth(&population)?;
                let name = format!("{}, {rows} rows, accuracy {accuracy}", set.name);
                let runs = (0..settings.runs).into_par_iter();
                let found = runs.map(|run| {
                    let mut random = settings.random(&name, run);
                    let mut draw = || population[row(&mut random, population.len())];
                    let sample: Vec<usize> = (0..rows).map(|_| draw()).collect();
                    set.measure(&sample, &truth)
                });
                let found: Vec<Vec<Found>> = found.collect::<Result<_>>()?;
                for (place, worst) in worst.iter_mut().enumerate() {
                    let of_place: Vec<Measured> =
                        found.iter().filter_map(|found| found[place]).collect();
                    let case = case(place, (rows, accuracy, &set.name), &of_place);
                    if case.runs > 0
                        && worst.as_ref().is_none_or(|(share, _)| case.share() < *share)
                    {
                        *worst = Some((case.share(), case));
                    }
                }
            }
            cases.extend(worst.into_iter().flatten().map(|(_, case)| case));
        }
    }
    Ok(cases)
}

fn case(place: usize, (rows, accuracy, set): (usize, f64, &str), found: &[Measured]) -> Case {
    let metric = METRICS[place % METRICS.len()];
    let of = if place < METRICS.len() { "" } else { "difference of " };
    let median = |of: fn(&Measured) -> f64| {
        let mut all: Vec<f64> = found.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let (width, normal) = (median(|found| found.width), median(|found| found.normal));
    Case {
        name: format!("{of}{metric}, {rows} rows, accuracy {accuracy}"),
        measured: format!("lowest on {set}: width {width:.3}, {:.2} of normal", width / normal),
        kept: found.iter().filter(|found| found.held).count(),
        runs: found.len(),
        at_least: 0.93,
    }
}

impl Rows {
    fn new(set: &Set) -> Result<Self> {
        let msp = Estimator::MSP.confidences(&set.logits);
        // Of two classes a p-norm is a constant: MSP rounded stands for it.
        let other = if set.logits.classes() > 2 {
            "MaxLogit-pNorm(p=4)".parse::<Estimator>()?.confidences(&set.logits)
        } else {
            msp.iter().map(|confidence| confidence.round()).collect()
        };
        let losses = Losses::zero_one(&set.logits, &set.labels)?;
        let (wrong, right) = (0..msp.len()).partition(|&row| losses.values()[row] == 1.0);
        Ok(Rows { name: set.name.clone(), columns: [msp, other], right, wrong })
    }

    /// The rows of a population of some accuracy: each as often as it must be.
    fn population(&self, accuracy: f64) -> Vec<usize> {
        const ROWS: usize = 20_000;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row count")]
        let right = (accuracy * ROWS as f64).round() as usize;
        let repeated = |rows: &[usize], wanted: usize| -> Vec<usize> {
            (0..wanted).map(|place| rows[place * rows.len() / wanted]).collect()
        };
        [repeated(&self.right, right), repeated(&self.wrong, ROWS - right)].concat()
    }

    /// The losses of some rows.
    fn losses(&self, rows: &[usize]) -> Result<Losses> {
        let wrong: HashSet<usize> = self.wrong.iter().copied().collect();
        let losses = rows.iter().map(|row| f64::from(u8::from(wrong.contains(row))));
        Ok(Losses::new(losses.collect())?)
    }

    /// The metrics of both rankings of a population.
    fn truth(&self, population: &[usize]) -> Result<[Vec<f64>; 2]> {
        let losses = self.losses(population)?;
        let metrics = |column: &Vec<f64>| -> Result<Vec<f64>> {
            let confidences: Vec<f64> = population.iter().map(|&row| column[row]).collect();
            let curve = RcCurve::new(&confidences, &losses)?;
            Ok(METRICS.iter().map(|metric| metric.evaluate(&curve)).collect::<Result<_, _>>()?)
        };
        Ok([metrics(&self.columns[0])?, metrics(&self.columns[1])?])
    }

    fn measure(&self, sample: &[usize], truth: &[Vec<f64>; 2]) -> Result<Vec<Found>> {
        let drawn = self
            .columns
            .each_ref()
            .map(|column| -> Vec<f64> { sample.iter().map(|&row| column[row]).collect() });
        let losses = self.losses(sample)?;
        let columns: Vec<&[f64]> = drawn.iter().map(|column| &column[..]).collect();
        let found = Intervals::default().compare(&METRICS, &columns, &losses, &mut |_| {})?;
        let held = |interval: Interval, truth: f64| {
            let Interval { low, high, standard_error, .. } = interval;
            let held = (low - 1e-12..=high + 1e-12).contains(&truth);
            Measured { held, width: high - low, normal: 2.0 * 1.96 * standard_error }
        };
        let ones = found[0].iter().zip(&truth[0]);
        let ones = ones.map(|(found, &truth)| found.value.ok().map(|found| held(found, truth)));
        let differences = found[1].iter().zip(truth[1].iter().zip(&truth[0]));
        let differences = differences.map(|(found, (after, before))| {
            found.difference.ok().map(|found| held(found, after - before))
        });
        Ok(ones.chain(differences).collect())
    }
}
