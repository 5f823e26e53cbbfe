//! Which method, and which rule? Tunes each on small hold-outs of real sets and measures NAURC on the
//! rows that are left.
//!
//! ```sh
//! cargo run --release -p abstain-bench --bin choose -- crates/cli/demo zoo FOLDER…
//! ```
//!
//! A folder holds sets: `NAME/logits.npy` or `NAME/probs.npy`, and `NAME/labels.npy`; or it is a zoo with
//! `labels.npy`, `clean/MODEL.npy` and `shift/CORRUPTION/MODEL.npy`. Each real set is followed by one with
//! labels drawn from its softmax, on which MSP is optimal by construction.

use abstain::calibration::Reliability;
use abstain::family::stack::{Deployment, Ridge};
use abstain::{
    Bootstrap, Estimator, Fallback, Labels, Logits, Losses, Method, Metric, Probabilities, RcCurve,
    Tuner,
    family::stack::StackRecipe,
    internal::{ProfilePlan, Profiles},
};
use abstain_bench::{read_labels, read_values};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

const SEEDS: u64 = 10;

/// Hold-outs of each net and corruption.
const SHIFT_SEEDS: u64 = 5;

/// Hold-outs in rows; 0 stands for a tenth of the set.
const HOLD_OUTS: [usize; 5] = [100, 250, 500, 1000, 0];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            #[expect(clippy::cast_possible_truncation)]
            let j = (self.next() % (i as u64 + 1)) as usize;
            order.swap(i, j);
        }
        order
    }
}

/// A real set, or one with drawn labels.
struct Set {
    name: String,
    group: Group,
    profiles: Profiles,
    /// What NAURC is measured by: of drawn labels their expectation, so that their noise does not count.
    losses: Losses,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    /// Up to 100 classes.
    Few,
    /// More classes.
    Many,
    /// The nets of a zoo.
    Zoo,
    /// Labels drawn from the softmax.
    Drawn,
}

fn read_logits(path: &Path, probabilities: bool) -> Result<Logits<'static>> {
    let (values, classes) = read_values(path).with_context(|| path.display().to_string())?;
    Ok(if probabilities {
        Logits::from_probabilities(values, classes, Probabilities::default())?
    } else {
        Logits::new(values, classes)?
    })
}

/// The same rows with labels drawn from their softmax, and the chance of each row to be wrong.
fn drawn(logits: &Logits<'_>, probabilities: bool, seed: u64) -> Result<(Labels, Losses)> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut labels, mut losses, mut row) = (Vec::new(), Vec::new(), vec![0.0; logits.classes()]);
    for i in 0..logits.rows() {
        logits.copy_row(i, &mut row);
        let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !probabilities {
            for x in &mut row {
                *x = (*x - top).exp();
            }
        }
        let (largest, total) = (row.iter().copied().fold(0.0, f64::max), row.iter().sum::<f64>());
        losses.push(1.0 - largest / total);
        let mut left = random.uniform() * total;
        let found = row.iter().position(|x| {
            left -= x;
            left <= 0.0
        });
        labels.push(u32::try_from(found.unwrap_or(0))?);
    }
    Ok((Labels::new(&labels, logits.classes())?, Losses::new(losses)?))
}

fn subfolders(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

fn name_of(path: &Path) -> String {
    path.file_stem().map_or(String::new(), |name| name.to_string_lossy().into())
}

fn sets(folders: &[PathBuf], plan: &ProfilePlan) -> Result<Vec<Set>> {
    let mut sets: Vec<Set> = Vec::new();
    let mut add = |name: String,
                   group: Group,
                   probabilities: bool,
                   logits: &Logits<'_>,
                   labels: &Labels|
     -> Result<()> {
        // Two classes leave every rule MSP, and a set in two folders counts once.
        if logits.classes() < 3 || sets.iter().any(|set| set.name == name) {
            return Ok(());
        }
        let profiles = Profiles::new(logits, labels, plan)?;
        let losses = profiles.losses();
        sets.push(Set { name: name.clone(), group, profiles, losses });
        let (labels, losses) = drawn(logits, probabilities, sets.len() as u64)?;
        let profiles = Profiles::new(logits, &labels, plan)?;
        sets.push(Set { name: format!("{name}, drawn"), group: Group::Drawn, profiles, losses });
        Ok(())
    };
    for folder in folders {
        if folder.join("labels.npy").exists() {
            for path in subfolders(&folder.join("clean"))? {
                let logits = read_logits(&path, false)?;
                let labels =
                    Labels::new(&read_labels(&folder.join("labels.npy"))?, logits.classes())?;
                add(name_of(&path), Group::Zoo, false, &logits, &labels)?;
            }
        }
        for path in &subfolders(folder)? {
            let (logits, probabilities) = (path.join("logits.npy"), path.join("probs.npy"));
            let are_probabilities = probabilities.exists();
            let logits = if are_probabilities {
                read_logits(&probabilities, true)?
            } else if logits.exists() {
                read_logits(&logits, false)?
            } else {
                continue;
            };
            let labels = Labels::new(&read_labels(&path.join("labels.npy"))?, logits.classes())?;
            let group = if logits.classes() > 100 { Group::Many } else { Group::Few };
            add(name_of(path), group, are_probabilities, &logits, &labels)?;
        }
    }
    Ok(sets)
}

/// A rule: from tuning rows to an estimator.
struct Rule {
    name: &'static str,
    tune: fn(&Profiles, u64) -> Result<Estimator, abstain::Error>,
}

fn tuned(
    tuning: &Profiles,
    seed: u64,
    method: Method,
    fallback: Fallback,
    stack: StackRecipe,
) -> Result<Estimator, abstain::Error> {
    let tuner = Tuner { fallback, stack, seed, ..Tuner::default() };
    Ok(tuner.tune(method, tuning)?.estimator)
}

/// The program's default until version 0.1: half of the rows tune a stack of four scores, which must win
/// by one standard error there and with 95 % confidence on the other half.
fn halves(tuning: &Profiles, seed: u64) -> Result<Estimator, abstain::Error> {
    let (n, ridge) = (tuning.rows(), StackRecipe::Ridge(Ridge::default()));
    let rows: Vec<usize> = (0..n).collect();
    let (first, second) = (tuning.select(&rows[..n / 2]), tuning.select(&rows[n / 2..]));
    let found = tuned(&first, seed, Method::Stack, Fallback::StandardErrors(1.0), ridge)?;
    let columns = second.confidences(&[Estimator::MSP, found.clone()])?;
    let bootstrap = Bootstrap { replicates: 200, level: 0.95, seed };
    let losses = second.losses();
    let gain = &bootstrap.differences(&[Metric::NAURC], &columns[0], &columns[1], &losses)?[0];
    Ok(if gain.is_ok_and(|gain| gain.low > 0.0) { found } else { Estimator::MSP })
}

const RULES: [Rule; 7] = [
    Rule { name: "MSP", tune: |_, _| Ok(Estimator::MSP) },
    Rule {
        name: "MaxLogit-pNorm, the paper's fallback",
        tune: |rows, seed| {
            let method = "MaxLogit-pNorm".parse()?;
            tuned(rows, seed, method, Fallback::Paper, StackRecipe::default())
        },
    },
    Rule { name: "the former default: halves, two gates", tune: halves },
    Rule {
        name: "the former stack, 1 standard error",
        tune: |rows, seed| {
            let ridge = StackRecipe::Ridge(Ridge::default());
            tuned(rows, seed, Method::Stack, Fallback::StandardErrors(1.0), ridge)
        },
    },
    Rule {
        name: "label-free",
        tune: |rows, seed| {
            tuned(rows, seed, Method::LabelFree, Fallback::None, StackRecipe::default())
        },
    },
    Rule {
        name: "anchored stack, no fallback",
        tune: |rows, seed| tuned(rows, seed, Method::Stack, Fallback::None, StackRecipe::default()),
    },
    Rule {
        name: "**anchored stack, veto**",
        tune: |rows, seed| {
            tuned(rows, seed, Method::Stack, Fallback::default(), StackRecipe::default())
        },
    },
];

fn naurc(confidences: &[f64], losses: &Losses) -> Result<f64> {
    Ok(Metric::NAURC.evaluate(&RcCurve::new(confidences, losses)?)?)
}

/// NAURC of some estimators on some rows of a set.
fn naurcs(set: &Set, rows: &[usize], estimators: &[Estimator]) -> Result<Vec<f64>> {
    let (profiles, losses) = (set.profiles.select(rows), set.losses.select(rows));
    let columns = profiles.confidences(estimators)?;
    columns.iter().map(|column| naurc(column, &losses)).collect()
}

/// The mean over hold-outs of one rule on one set.
#[derive(Clone, Copy, Default)]
struct Cell {
    naurc: f64,
    msp: f64,
    best: f64,
    ece: f64,
}

fn cells(set: &Set, hold_out: usize, hindsight: &[Estimator]) -> Result<Vec<Cell>> {
    let n = set.profiles.rows();
    let rows = if hold_out == 0 { n / 10 } else { hold_out };
    let mut cells = [Cell::default(); RULES.len()];
    for seed in 0..SEEDS {
        let order = Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).permutation(n);
        let (tuning, rest) = (set.profiles.select(&order[..rows]), &order[rows..]);
        let found = RULES
            .iter()
            .map(|rule| Ok((rule.tune)(&tuning, seed)?))
            .collect::<Result<Vec<Estimator>>>()?;
        let values = naurcs(set, rest, &found)?;
        let best = naurcs(set, rest, hindsight)?;
        let msp = best[0];
        let best = best.into_iter().fold(f64::INFINITY, f64::min);
        let test = set.profiles.select(rest);
        for ((cell, naurc), estimator) in cells.iter_mut().zip(values).zip(&found) {
            let share = 1.0 / SEEDS as f64;
            (cell.naurc, cell.msp) = (cell.naurc + share * naurc, cell.msp + share * msp);
            cell.best += share * best;
            if estimator.is_probability() {
                let confidences = test.confidences(std::slice::from_ref(estimator))?;
                let value = |&c: &f64| estimator.value(c, test.classes());
                let values: Vec<f64> = confidences[0].iter().map(value).collect();
                cell.ece += share * Reliability::new(&values, &test.losses(), 15)?.ece();
            } else {
                cell.ece = f64::NAN;
            }
        }
    }
    Ok(cells.to_vec())
}

fn print_table(group: Group, hold_out: usize, sets: &[(&Set, Vec<Cell>)]) {
    let label = if hold_out == 0 { "10 %".into() } else { format!("{hold_out} rows") };
    let chosen: Vec<&Vec<Cell>> =
        sets.iter().filter(|(set, _)| set.group == group).map(|(_, cells)| cells).collect();
    if chosen.is_empty() {
        return;
    }
    println!("\nhold-out {label}, {group:?}, {} sets, {SEEDS} hold-outs each", chosen.len());
    println!("| method and rule | NAURC | regret | worse than MSP | worst | ECE |");
    println!("|---|---|---|---|---|---|");
    for (k, rule) in RULES.iter().enumerate() {
        let mean = |f: fn(&Cell) -> f64| {
            chosen.iter().map(|cells| f(&cells[k])).sum::<f64>() / chosen.len() as f64
        };
        let harm = |cells: &&Vec<Cell>| cells[k].naurc - cells[k].msp;
        let worse = chosen.iter().filter(|cells| harm(cells) > 0.001).count();
        let worst = chosen.iter().map(harm).fold(f64::NEG_INFINITY, f64::max);
        println!(
            "| {} | {:.4} | {:+.4} | {worse} | {worst:+.4} | {:.3} |",
            rule.name,
            mean(|c| c.naurc),
            mean(|c| c.naurc - c.best),
            mean(|c| c.ece),
        );
    }
}

/// Tuned on 1,000 clean rows of a zoo: the mean change against MSP on the same net under corruption.
fn shift(zoo: &Path, plan: &ProfilePlan) -> Result<()> {
    let labels = zoo.join("labels.npy");
    let mut changes: Vec<Vec<f64>> = vec![Vec::new(); RULES.len() + 2];
    for folder in subfolders(&zoo.join("shift"))? {
        for path in subfolders(&folder)? {
            let read = |path: &Path| -> Result<Profiles> {
                let logits = read_logits(path, false)?;
                Ok(Profiles::new(
                    &logits,
                    &Labels::new(&read_labels(&labels)?, logits.classes())?,
                    plan,
                )?)
            };
            let clean = zoo.join("clean").join(path.file_name().context("a file")?);
            let (clean, shifted) = (read(&clean)?, read(&path)?);
            let mut sums = vec![0.0; changes.len()];
            for seed in 0..SHIFT_SEEDS {
                let order = Random(seed + 7).permutation(clean.rows());
                let (tuning, test) = (clean.select(&order[..1000]), shifted.select(&order[1000..]));
                let mut found = RULES
                    .iter()
                    .map(|rule| Ok((rule.tune)(&tuning, seed)?))
                    .collect::<Result<Vec<Estimator>>>()?;
                // Rows of the deployment that are not measured: those of the tuning images.
                let deployment = Deployment::new(shifted.select(&order[..1000]), None);
                let recipe = StackRecipe::Anchored { deployment: Some(deployment), extra: false };
                found.push(recipe.label_free(&tuning)?);
                found.push(recipe.fit(&tuning)?);
                let columns = test.confidences(&found)?;
                let losses = test.losses();
                let msp = naurc(&columns[0], &losses)?;
                for (sum, column) in sums.iter_mut().zip(&columns) {
                    *sum += (naurc(column, &losses)? - msp) / SHIFT_SEEDS as f64;
                }
            }
            for (changes, sum) in changes.iter_mut().zip(sums) {
                changes.push(sum);
            }
        }
    }
    println!(
        "\nunder shift, {} pairs of net and corruption, 1,000 clean rows, {SHIFT_SEEDS} hold-outs each",
        changes[0].len()
    );
    println!("| method and rule | change of NAURC against MSP | worst | worse than MSP |");
    println!("|---|---|---|---|");
    let adapted =
        ["label-free, unlabelled shifted rows", "anchored stack, unlabelled shifted rows"];
    for (name, changes) in RULES.iter().map(|rule| rule.name).chain(adapted).zip(&changes) {
        let mean = changes.iter().sum::<f64>() / changes.len() as f64;
        let worst = changes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let worse = changes.iter().filter(|&&change| change > 0.001).count();
        println!("| {name} | {mean:+.4} | {worst:+.4} | {worse} |");
    }
    Ok(())
}

fn main() -> Result<()> {
    let mut folders: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        folders = vec![root.join("../cli/demo"), root.join("../../zoo")];
    }
    let plan = Tuner::default().plan(&["MaxLogit-pNorm".parse()?, Method::Stack]);
    let ridge = StackRecipe::Ridge(Ridge::default());
    let plan = plan.and(&ProfilePlan::of(&ridge.scores())).without_exponentials();
    let sets = sets(&folders, &plan).context("reading the sets")?;
    eprintln!("{} sets: {:?}", sets.len(), sets.iter().map(|s| &s.name).collect::<Vec<_>>());
    let hindsight: Vec<Estimator> = std::iter::once(Ok(Estimator::MSP))
        .chain((0..=10).map(|p| Estimator::max_logit_pnorm(f64::from(p))))
        .collect::<Result<_, _>>()?;
    for hold_out in HOLD_OUTS {
        let table = sets
            .iter()
            .map(|set| Ok((set, cells(set, hold_out, &hindsight)?)))
            .collect::<Result<Vec<_>>>()?;
        for group in [Group::Few, Group::Many, Group::Zoo, Group::Drawn] {
            print_table(group, hold_out, &table);
        }
        for (set, cells) in &table {
            let values: Vec<String> =
                cells.iter().map(|c| format!("{:+.4}", c.naurc - c.msp)).collect();
            let best = cells[0].best - cells[0].msp;
            let (group, name) = (set.group, &set.name);
            eprintln!("{hold_out} {group:?} {name}: {}, in hindsight {best:+.4}", values.join(" "));
        }
    }
    for zoo in folders.iter().filter(|folder| folder.join("shift").exists()) {
        shift(zoo, &plan)?;
    }
    Ok(())
}
