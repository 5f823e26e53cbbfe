//! Do intervals hold? Takes real sets as populations, draws samples from them with repetition, and
//! counts how often an interval of the sample holds the value of the population.
//!
//! ```sh
//! cargo run --release -p abstain-bench --bin intervals -- [--runs N] [--replicates N] [--sets] [FOLDER…]
//! ```
//!
//! A folder holds sets: `NAME/logits.npy` or `NAME/probs.npy`, and `NAME/labels.npy`; or, as in `zoo`,
//! `labels.npy` and `clean/NAME.npy`. Without one, they are the project's `crates/cli/demo` and `zoo`.
//! With `--replicates`, the percentile bootstrap is measured on the same samples. `--sets` prints
//! every set.

use abstain::{Estimator, Interval, Intervals, Losses, Metric, RcCurve, interval::Compared};
use abstain_bench::{Set as RealSet, folders_of_the_project, read_sets};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::PathBuf;

const LEVEL: f64 = 0.9;

/// Rows of a sample, and its share of the runs.
const SIZES: [(usize, usize); 4] = [(100, 100), (300, 100), (1000, 50), (3000, 25)];

const METRICS: [&str; 11] = [
    "AURC",
    "NAURC",
    "E-AURC",
    "AUROC",
    "AUGRC",
    "Accuracy",
    "RiskAtCoverage@0.8",
    "RiskAtCoverage@0.5",
    "PartialAURC@0.2..0.8",
    "SAC@0.95",
    "CoverageAtRisk@0.02",
];

struct Set {
    name: String,
    /// MSP, and MaxLogit-pNorm. Of two classes the latter is a constant: MSP rounded stands for it.
    columns: [Vec<f64>; 2],
    losses: Vec<f64>,
}

fn columns(set: &RealSet) -> Result<Set> {
    let RealSet { name, logits, labels } = set;
    let msp = Estimator::MSP.confidences(logits);
    let other = if logits.classes() > 2 {
        "MaxLogit-pNorm(p=4)".parse::<Estimator>()?.confidences(logits)
    } else {
        msp.iter().map(|confidence| confidence.round()).collect()
    };
    let losses = Losses::zero_one(logits, labels)?.values().to_vec();
    Ok(Set { name: name.clone(), columns: [msp, other], losses })
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        #[expect(clippy::cast_possible_truncation, reason = "it is below n")]
        let below = ((u128::from(self.0) * n as u128) >> 64) as usize;
        below
    }
}

/// How often intervals held, how many there were, and their widths.
#[derive(Default, Clone)]
struct Held {
    times: usize,
    runs: usize,
    widths: Vec<f64>,
}

impl Held {
    fn add(&mut self, interval: Result<Interval, abstain::Undefined>, truth: f64) {
        let Ok(Interval { low, high, .. }) = interval else { return };
        self.runs += 1;
        self.times += usize::from(low - 1e-12 <= truth && truth <= high + 1e-12);
        self.widths.push(high - low);
    }

    fn share(&self) -> f64 {
        self.times as f64 / self.runs as f64
    }

    fn width(&mut self) -> f64 {
        self.widths.sort_by(f64::total_cmp);
        self.widths.get(self.widths.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// Metric, single (0: MSP, 1: the other) or difference (2), rows; then closed form and bootstrap.
type Counts = BTreeMap<(usize, usize, usize), [Held; 2]>;

fn measure(
    set: &Set,
    metrics: &[Metric],
    runs: usize,
    replicates: Option<usize>,
) -> Result<Counts> {
    let losses = Losses::new(set.losses.clone())?;
    let truth = set.columns.iter().map(|column| {
        let curve = RcCurve::new(column, &losses)?;
        Ok(metrics.iter().map(|metric| metric.evaluate(&curve).ok()).collect())
    });
    let truth: Vec<Vec<Option<f64>>> = truth.collect::<Result<_>>()?;
    let mut counts = Counts::new();
    for (rows, share) in SIZES {
        if rows > set.losses.len() {
            continue;
        }
        let name =
            set.name.bytes().fold(rows as u64, |sum, byte| sum.wrapping_mul(31) ^ u64::from(byte));
        let mut random = Random(name.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for run in 0..runs * share / 100 {
            let sample: Vec<usize> = (0..rows).map(|_| random.below(set.losses.len())).collect();
            let drawn =
                |values: &[f64]| -> Vec<f64> { sample.iter().map(|&row| values[row]).collect() };
            let losses = Losses::new(drawn(&set.losses))?;
            let columns = [drawn(&set.columns[0]), drawn(&set.columns[1])];
            let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
            let seed = run as u64;
            for (which, replicates) in [None, replicates].into_iter().enumerate() {
                if which == 1 && replicates.is_none() {
                    continue;
                }
                let intervals = Intervals { level: LEVEL, replicates, seed };
                let found = intervals.compare(metrics, &columns, &losses, &mut |_| {})?;
                for (metric, pair) in found[0].iter().zip(&found[1]).enumerate() {
                    let (first, second): (&Compared, &Compared) = pair;
                    let (Some(a), Some(b)) = (truth[0][metric], truth[1][metric]) else { continue };
                    let each = [(first.value, a), (second.value, b), (second.difference, b - a)];
                    for (kind, (interval, truth)) in each.into_iter().enumerate() {
                        let held = counts.entry((metric, kind, rows)).or_default();
                        held[which].add(interval, truth);
                    }
                }
            }
        }
    }
    Ok(counts)
}

/// The lowest share and its set, the mean share, and the mean of the widths relative to the closed
/// form's.
fn cell(
    sets: &[(String, Counts)],
    metric: usize,
    kinds: &[usize],
    rows: usize,
    which: usize,
) -> String {
    let (mut lowest, mut worst, mut sum, mut widths, mut n) = (2.0, "", 0.0, 0.0, 0.0);
    for (name, counts) in sets {
        for &kind in kinds {
            let Some(held) = counts.get(&(metric, kind, rows)) else { continue };
            let [mut closed, mut this] = [held[0].clone(), held[which].clone()];
            if this.share() < lowest {
                (lowest, worst) = (this.share(), name);
            }
            sum += this.share();
            let (width, of_closed) = (this.width(), closed.width());
            widths += if of_closed > 0.0 { width / of_closed } else { 1.0 };
            n += 1.0;
        }
    }
    let lowest = if which == 0 { format!("{lowest:.2} ({worst})") } else { format!("{lowest:.2}") };
    let width = if which == 0 { String::new() } else { format!(", width {:.2}", widths / n) };
    format!("{lowest}, {:.3}{width}", sum / n)
}

fn main() -> Result<()> {
    let (mut runs, mut replicates, mut every, mut folders) = (1000, None, false, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || -> Result<usize> { Ok(arguments.next().context("a number")?.parse()?) };
        match argument.as_str() {
            "--runs" => runs = number()?,
            "--replicates" => replicates = Some(number()?),
            "--sets" => every = true,
            option if option.starts_with('-') => bail!("there is no option {option}"),
            folder => folders.push(PathBuf::from(folder)),
        }
    }
    if folders.is_empty() {
        folders = folders_of_the_project();
    }
    let metrics: Vec<Metric> = METRICS.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
    let mut sets = Vec::new();
    for folder in &folders {
        for set in read_sets(folder)? {
            let set = columns(&set)?;
            eprintln!("{}", set.name);
            sets.push((set.name.clone(), measure(&set, &metrics, runs, replicates)?));
        }
    }
    let header: Vec<String> = SIZES.iter().map(|(rows, _)| format!("{rows} rows")).collect();
    println!("| metric | of | interval | {} |\n|---|---|---|---|---|---|---|", header.join(" | "));
    for (index, metric) in metrics.iter().enumerate() {
        for (kinds, of) in [(&[0, 1][..], "one"), (&[2][..], "difference")] {
            for (which, made) in ["closed form", "bootstrap"].into_iter().enumerate() {
                if which == 1 && replicates.is_none() {
                    continue;
                }
                let cells = SIZES.map(|(rows, _)| cell(&sets, index, kinds, rows, which));
                println!("| {metric} | {of} | {made} | {} |", cells.join(" | "));
            }
        }
    }
    if every {
        for (name, counts) in &mut sets {
            println!("\n{name}");
            for ((metric, kind, rows), held) in counts.iter_mut() {
                let kind = ["MSP", "other", "difference"][*kind];
                let each = held.each_mut().map(|held| (held.share(), held.width()));
                println!("{} {kind} {rows}: {each:.4?}", metrics[*metric]);
            }
        }
    }
    Ok(())
}
