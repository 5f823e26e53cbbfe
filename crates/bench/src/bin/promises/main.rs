//! Are promises kept? Repeats simulations from outside: samples of real sets are given to the use cases
//! as a user would give them, and it is counted how often what they say is true of the population.
//!
//! ```sh
//! cargo run --release -p abstain-bench --bin promises -- [--runs N] [--seed N] [--only NAME]… [FOLDER…]
//! ```
//!
//! `--runs` is the number of samples of each case (100). A folder holds sets as for `--bin intervals`;
//! without one, they are the project's. The exit status is 1 if a promise is broken beyond chance.
//!
//! To add a simulation, write its file with a constant `SIMULATION` and add its line below.

use abstain_bench::{Random, Set, folders_of_the_project, read_sets};
use anyhow::{Context, Result, bail, ensure};
use std::path::PathBuf;
use std::process::ExitCode;

macro_rules! simulations {
    ($($module:ident;)*) => {
        $(mod $module;)*
        const SIMULATIONS: &[Simulation] = &[$($module::SIMULATION),*];
    };
}

simulations! {
    duplicates;
    gains;
    intervals;
    labels;
    probabilities;
    reuse;
}

/// A simulation of one promise.
struct Simulation {
    name: &'static str,
    /// What is promised, in one sentence.
    promise: &'static str,
    run: fn(&Settings) -> Result<Vec<Case>>,
}

/// What all simulations share.
struct Settings {
    /// Samples of each case.
    runs: usize,
    seed: u64,
    sets: Vec<Set>,
}

/// How often a promise was kept in one case.
struct Case {
    /// The columns that say which case it is, and what else was measured there.
    name: String,
    measured: String,
    kept: usize,
    runs: usize,
    /// The share in which it must be kept.
    at_least: f64,
}

impl Case {
    fn share(&self) -> f64 {
        self.kept as f64 / self.runs as f64
    }

    /// Whether it is broken by more than three standard deviations of chance.
    fn is_broken(&self) -> bool {
        let chance = 3.0 * (self.at_least * (1.0 - self.at_least) / self.runs as f64).sqrt();
        self.runs > 0 && self.share() < self.at_least - chance
    }
}

impl Settings {
    /// Random numbers of one run of one case.
    fn random(&self, case: &str, run: usize) -> Random {
        let case = case
            .bytes()
            .fold(self.seed, |sum, byte| sum.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte));
        Random::of(case, run, 0)
    }
}

/// A row of so many.
fn row(random: &mut Random, rows: usize) -> usize {
    random.below(u32::try_from(rows).unwrap_or(u32::MAX)) as usize
}

/// So many of all rows, each at most once.
fn without_replacement(random: &mut Random, all: usize, wanted: usize) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..all).collect();
    for place in 0..wanted {
        let other = place + row(random, all - place);
        rows.swap(place, other);
    }
    rows.truncate(wanted);
    rows
}

fn main() -> Result<ExitCode> {
    let (mut runs, mut seed, mut only, mut folders) = (100, 0, Vec::new(), Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} takes a value"));
        match argument.as_str() {
            "--runs" => runs = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            "--only" => only.push(value()?),
            option if option.starts_with('-') => bail!("there is no option {option}"),
            folder => folders.push(PathBuf::from(folder)),
        }
    }
    for name in &only {
        let names: Vec<&str> = SIMULATIONS.iter().map(|simulation| simulation.name).collect();
        ensure!(names.contains(&&name[..]), "there is no simulation {name}, but {names:?}");
    }
    if folders.is_empty() {
        folders = folders_of_the_project();
    }
    let mut sets = Vec::new();
    for folder in &folders {
        sets.extend(read_sets(folder)?);
    }
    let settings = Settings { runs, seed, sets };
    let mut broken = 0;
    for simulation in SIMULATIONS {
        if !only.is_empty() && !only.iter().any(|name| name == simulation.name) {
            continue;
        }
        println!("## {}\n\n{}\n", simulation.name, simulation.promise);
        println!("| case | kept | of | at least | | |\n|---|---|---|---|---|---|");
        for case in (simulation.run)(&settings)? {
            let Case { name, measured, runs, at_least, .. } = &case;
            let mark = if case.is_broken() { "**broken**" } else { "" };
            println!(
                "| {name} | {:.3} | {runs} | {at_least:.2} | {measured} | {mark} |",
                case.share()
            );
            broken += usize::from(case.is_broken());
        }
        println!();
    }
    Ok(if broken > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
