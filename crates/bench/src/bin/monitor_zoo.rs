//! How soon does a monitor notice a shift without labels? On the networks of the zoo.
//!
//! ```sh
//! cargo run --release -p abstain-bench --bin monitor_zoo -- [--streams N] [--rows] [FOLDER]
//! ```
//!
//! For each network 2,000 clean rows are the certifying rows; the threshold accepts 80 % of them. The
//! stream has 1,000 of the other clean rows, then corrupted copies of those that are left, up to 5,000, in
//! an order that is drawn anew for each stream. Another stream stays clean for 8,000 rows. A row is counted
//! from the change on. `--rows` prints every network.

use abstain::monitor::{Monitor, MonitorSettings, Record, Reference};
use abstain::{Artifact, Estimator, Labels, Logits, Losses, Threshold, threshold::Basis};
use abstain_bench::{Random, read_labels, read_values};
use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

const CERTIFYING: usize = 2000;
const CLEAN: usize = 1000;
const CHANGED: usize = 5000;
const COVERAGE: f64 = 0.8;
const CORRUPTIONS: [&str; 5] = ["noise", "blur", "contrast", "rotate", "occlude"];
const TESTS: [&str; 4] = ["confidences", "predictions", "coverage-low", "coverage-high"];

/// The rows of a file: confidence, predicted class, loss.
struct Rows(Vec<(f64, u32, f64)>);

impl Rows {
    fn read(path: &Path, labels: &[i64]) -> Result<Self> {
        let (values, classes) = read_values(path)?;
        let logits = Logits::new(values, classes)?;
        let losses = Losses::zero_one(&logits, &Labels::new(labels, classes)?)?;
        let confidences = Estimator::MSP.confidences(&logits);
        let rows = confidences.iter().zip(logits.predictions()).zip(losses.values());
        let rows =
            rows.map(|((&confidence, class), &loss)| Ok((confidence, u32::try_from(class)?, loss)));
        Ok(Rows(rows.collect::<Result<_>>()?))
    }

    fn accuracy(&self, at: f64) -> f64 {
        let threshold = Threshold::given(at);
        let accepted = || self.0.iter().filter(|row| threshold.accepts(row.0));
        1.0 - accepted().map(|row| row.2).sum::<f64>() / accepted().count() as f64
    }
}

/// Rows from the change to the alarm of each test, in a stream.
type Delays = [Option<usize>; TESTS.len()];

fn shuffle(rows: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    for i in (1..rows).rev() {
        let bound = u32::try_from(i + 1).unwrap_or(u32::MAX);
        order.swap(i, random.below(bound) as usize);
    }
    order
}

/// A threshold and a reference of the certifying rows, with the threshold.
fn certify(clean: &Rows, chosen: &[usize], seed: u64) -> Result<(Artifact, f64)> {
    let confidences: Vec<f64> = chosen.iter().map(|&row| clean.0[row].0).collect();
    let losses: Vec<f64> = chosen.iter().map(|&row| clean.0[row].2).collect();
    let classes: Vec<usize> = chosen.iter().map(|&row| clean.0[row].1 as usize).collect();
    let mut sorted = confidences.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
    let at = sorted[((1.0 - COVERAGE) * sorted.len() as f64) as usize];
    let (given, rows) = (Threshold::given(at), chosen.len());
    let accepted = confidences.iter().filter(|confidence| given.accepts(**confidence)).count();
    let mut artifact = Artifact::new(Estimator::MSP);
    let basis = Basis::Coverage { coverage: COVERAGE, rows, accepted, weighted_coverage: None };
    artifact.rule = Some(Threshold { at, basis }.into());
    artifact.reference = Some(Reference::new(&confidences, &losses, Some(&classes), at, seed)?);
    Ok((artifact, at))
}

/// One stream: clean rows, then those of another file.
fn stream(clean: &Rows, before: usize, after: &Rows, rows: usize, seed: usize) -> Result<Delays> {
    let random = &mut Random::of(21, 0, seed);
    let order = shuffle(clean.0.len(), random);
    let (chosen, others) = order.split_at(CERTIFYING);
    let (artifact, _) = certify(clean, chosen, seed as u64)?;
    let settings = MonitorSettings { seed: seed as u64 + 1, ..MonitorSettings::default() };
    let mut monitor = Monitor::new(&artifact, &settings)?;
    let changed = others[before..].iter().map(|&row| after.0[row]).take(rows);
    for (confidence, class, _) in others[..before].iter().map(|&row| clean.0[row]).chain(changed) {
        monitor.record(&Record { prediction: Some(class), ..Record::new(confidence) });
    }
    let report = monitor.report();
    let alarm_of = |test: &str| report.alarms.iter().find(|alarm| alarm.test == test);
    // An alarm before the change is false, and counts as one at once.
    Ok(TESTS.map(|test| {
        let row = usize::try_from(alarm_of(test)?.alarm.row).ok()?;
        Some((row + 1).saturating_sub(before))
    }))
}

/// The median of some delays, and the share that alarmed if it is not all.
fn median(mut delays: Vec<Option<usize>>) -> String {
    let alarmed = delays.iter().flatten().count();
    let share = 100.0 * alarmed as f64 / delays.len() as f64;
    delays.sort_unstable_by_key(|delay| delay.unwrap_or(usize::MAX));
    let text = delays[delays.len() / 2].map_or("–".into(), |rows| rows.to_string());
    if alarmed == delays.len() { text } else { format!("{text} ({share:.0} %)") }
}

fn main() -> Result<()> {
    let (mut streams, mut every) = (100, false);
    let mut folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../zoo");
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--streams" => streams = arguments.next().context("a number")?.parse()?,
            "--rows" => every = true,
            option if option.starts_with('-') => bail!("there is no option {option}"),
            path => folder = PathBuf::from(path),
        }
    }
    let labels = read_labels(&folder.join("labels.npy"))?;
    let names = |folder: &Path| -> Result<Vec<String>> {
        let mut names: Vec<String> = std::fs::read_dir(folder)?
            .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_string_lossy().into()))
            .collect();
        names.sort();
        Ok(names)
    };
    let clean = |name: &str| Rows::read(&folder.join(format!("clean/{name}.npy")), &labels);
    let all = names(&folder.join("clean"))?;
    println!(
        "False alarms on 8,000 clean rows, {streams} streams of each of {} networks\n",
        all.len()
    );
    println!("| test | alarmed | share | at most |\n|---|---|---|---|");
    let mut alarmed = [0; TESTS.len()];
    for name in &all {
        let rows = clean(name)?;
        let found: Vec<Delays> = (0..streams)
            .into_par_iter()
            .map(|seed| stream(&rows, 0, &rows, 8000, seed))
            .collect::<Result<_>>()?;
        for (index, count) in alarmed.iter_mut().enumerate() {
            *count += found.iter().filter(|delays| delays[index].is_some()).count();
        }
    }
    for (index, (test, count)) in TESTS.iter().zip(alarmed).enumerate() {
        let share = 100.0 * f64::from(u32::try_from(count)?) / (streams * all.len()) as f64;
        println!(
            "| {test} | {count} | {share:.2} % | {} |",
            if index < 2 { "1.67 %" } else { "0.83 %" }
        );
    }
    let shifted = names(&folder.join("shift/noise-1"))?;
    println!(
        "\nRows until the alarm, medians over {streams} streams of {} networks\n",
        shifted.len()
    );
    println!("| corruption | accuracy | of accepted | {} | any |", TESTS.join(" | "));
    println!("|---|---|---|---|---|---|---|---|");
    let mut lines = Vec::new();
    for corruption in CORRUPTIONS {
        for severity in 1..=3 {
            let place = format!("{corruption}-{severity}");
            let (mut delays, mut change, mut of_accepted) = (Vec::<Delays>::new(), 0.0, 0.0);
            for name in &shifted {
                let clean = clean(name)?;
                let rows = Rows::read(&folder.join(format!("shift/{place}/{name}.npy")), &labels)?;
                let found: Vec<Delays> = (0..streams)
                    .into_par_iter()
                    .map(|seed| stream(&clean, CLEAN, &rows, CHANGED, seed))
                    .collect::<Result<_>>()?;
                let whole: Vec<usize> = (0..clean.0.len()).collect();
                let (_, at) = certify(&clean, &whole, 0)?;
                let all = [f64::NEG_INFINITY, at].map(|at| rows.accuracy(at) - clean.accuracy(at));
                change += all[0] / shifted.len() as f64;
                of_accepted += all[1] / shifted.len() as f64;
                lines.push(line(&format!("{place}, `{name}`"), all[0], all[1], &found));
                delays.extend(found);
            }
            println!("{}", line(&place, change, of_accepted, &delays));
        }
    }
    if every {
        println!("\n{}", lines.join("\n"));
    }
    Ok(())
}

/// A line of the table: the changes of the accuracy, and the delays of each test and of the first of all.
fn line(name: &str, change: f64, of_accepted: f64, delays: &[Delays]) -> String {
    let each = |test: usize| median(delays.iter().map(|delays| delays[test]).collect());
    let cells: Vec<String> = (0..TESTS.len()).map(each).collect();
    let any = median(delays.iter().map(|delays| delays.iter().flatten().min().copied()).collect());
    let (change, of_accepted) = (100.0 * change, 100.0 * of_accepted);
    format!("| {name} | {change:+.1} | {of_accepted:+.1} | {} | {any} |", cells.join(" | "))
}
