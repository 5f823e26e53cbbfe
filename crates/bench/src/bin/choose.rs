//! Which method and which fallback? Tunes each on small hold-outs of real and simulated sets and
//! measures NAURC on the rows that are left.
//!
//! ```sh
//! cargo run --release -p abstain-bench --bin choose -- FOLDER…
//! ```
//!
//! A folder holds sets: `NAME/logits.npy` or `NAME/probs.npy`, and `NAME/labels.npy`. Without one, it is
//! the project's `demo`. Simulated sets are added in any case.

use abstain::half::f16;
use abstain::{
    Estimator, Fallback, Labels, Logits, Method, Metric, Probabilities, Profiles, StackRecipe,
    Tuner, Values, evaluate_metrics,
};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const SEEDS: u64 = 10;

/// Hold-outs in rows; 0 stands for a tenth of the set.
const HOLD_OUTS: [usize; 5] = [100, 250, 500, 1000, 0];

fn read_values(path: &Path) -> Result<(Values<'static>, usize)> {
    let bytes = std::fs::read(path)?;
    let npy = npyz::NpyFile::new(&bytes[..])?;
    let classes = usize::try_from(npy.shape()[1])?;
    let descr = npy.dtype().descr();
    let values = if descr.contains("f2") {
        Values::from(npy.into_vec::<f16>()?)
    } else if descr.contains("f4") {
        Values::from(npy.into_vec::<f32>()?)
    } else {
        Values::from(npy.into_vec::<f64>()?)
    };
    Ok((values, classes))
}

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

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
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

/// A simulated classifier: the label's logit is raised by an amount that varies from row to row, and
/// the whole row is scaled by a factor that says nothing about being right (`wild`) or does.
fn simulated(seed: u64, rows: usize, classes: usize, wild: f64) -> (Vec<f64>, Vec<u32>) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let label = random.next() % classes as u64;
        let signal = 2.0 + 2.0 * random.uniform() * (classes as f64).ln();
        let scale = (wild * random.normal()).exp();
        for class in 0..classes as u64 {
            let raised = if class == label { signal } else { 0.0 };
            values.push(scale * (raised + random.normal()));
        }
        labels.push(u32::try_from(label).unwrap_or(0));
    }
    (values, labels)
}

struct Set {
    name: String,
    profiles: Profiles,
}

fn sets(folders: &[PathBuf], tuner: &Tuner, methods: &[Method]) -> Result<Vec<Set>> {
    let plan = tuner.plan(methods);
    let mut sets = Vec::new();
    for folder in folders {
        let mut names: Vec<PathBuf> =
            std::fs::read_dir(folder)?.filter_map(|e| Some(e.ok()?.path())).collect();
        names.sort();
        for path in names.iter().filter(|path| path.join("labels.npy").exists()) {
            let name = path.file_name().map_or(String::new(), |n| n.to_string_lossy().into());
            let probabilities = path.join("probs.npy");
            let logits = if probabilities.exists() {
                let (values, classes) = read_values(&probabilities)?;
                Logits::from_probabilities(values, classes, Probabilities::default())?
            } else {
                let (values, classes) = read_values(&path.join("logits.npy"))?;
                Logits::new(values, classes)?
            };
            let bytes = std::fs::read(path.join("labels.npy"))?;
            let labels = npyz::NpyFile::new(&bytes[..])?.into_vec::<i64>()?;
            let labels = Labels::new(&labels, logits.classes())?;
            sets.push(Set { name, profiles: Profiles::new(&logits, &labels, &plan)? });
        }
    }
    for (seed, classes, wild) in
        [(1, 10, 0.0), (2, 10, 0.5), (3, 100, 0.0), (4, 100, 0.3), (5, 100, 0.8), (6, 3, 0.5)]
    {
        let (values, labels) = simulated(seed, 5000, classes, wild);
        let logits = Logits::new(values, classes)?;
        let labels = Labels::new(&labels, classes)?;
        let name = format!("simulated, {classes} classes, {wild}");
        sets.push(Set { name, profiles: Profiles::new(&logits, &labels, &plan)? });
    }
    Ok(sets)
}

struct Rule {
    name: &'static str,
    method: Method,
    fallback: Fallback,
    stack: StackRecipe,
}

fn rules() -> Result<Vec<Rule>> {
    let cv = Fallback::CrossValidation { folds: 5, standard_errors: 0.0 };
    let default = StackRecipe::default;
    let with_c = |c| StackRecipe { c, ..default() };
    let of = |scores: &[&str], c| -> Result<StackRecipe> {
        let scores = scores.iter().map(|s| Ok(s.parse()?)).collect::<Result<Vec<Estimator>>>()?;
        Ok(StackRecipe { scores, c })
    };
    let few = ["MSP", "LogitsMargin", "MaxLogit-pNorm(p=4)"];
    let more = [
        "MSP", "LogitsMargin", "NegativeEntropy", "MaxLogit-pNorm(p=2)", "MaxLogit-pNorm(p=3)",
        "MaxLogit-pNorm(p=4)", "MaxLogit-pNorm(p=6)", "MaxLogit-pNorm(p=8)", "MaxLogit-pNorm(p=10)",
        "SoftmaxMargin",
    ];
    let rule = |name, method: &str, fallback, stack| -> Result<Rule> {
        Ok(Rule { name, method: method.parse()?, fallback, stack })
    };
    Ok(vec![
        rule("MSP", "MSP", Fallback::None, default())?,
        rule("pNorm, no fallback", "MaxLogit-pNorm", Fallback::None, default())?,
        rule("pNorm, paper's fallback", "MaxLogit-pNorm", Fallback::Paper, default())?,
        rule("pNorm, 1 standard error", "MaxLogit-pNorm", Fallback::StandardErrors(1.0), default())?,
        rule("pNorm, 2 standard errors", "MaxLogit-pNorm", Fallback::StandardErrors(2.0), default())?,
        rule("pNorm, cross-validation", "MaxLogit-pNorm", cv, default())?,
        rule("TS-AURC, paper's fallback", "MSP-TS-AURC", Fallback::Paper, default())?,
        rule("TS-AURC, 1 standard error", "MSP-TS-AURC", Fallback::StandardErrors(1.0), default())?,
        rule("HTS, 1 standard error", "HTS", Fallback::StandardErrors(1.0), default())?,
        rule("stack, no fallback", "Stack", Fallback::None, default())?,
        rule("stack, cross-validation", "Stack", cv, default())?,
        rule("stack, 1 standard error", "Stack", Fallback::StandardErrors(1.0), default())?,
        rule("stack C = 0.03, cross-validation", "Stack", cv, with_c(0.03))?,
        rule("stack C = 0.1, cross-validation", "Stack", cv, with_c(0.1))?,
        rule("stack C = 1, cross-validation", "Stack", cv, with_c(1.0))?,
        rule("stack of 3, cross-validation", "Stack", cv, of(&few, 0.3)?)?,
        rule("stack of 10, cross-validation", "Stack", cv, of(&more, 0.3)?)?,
    ])
}

/// NAURC on the test rows for each seed: of the rule, and in hindsight.
fn main() -> Result<()> {
    let mut folders: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        folders.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo"));
    }
    let rules = rules()?;
    let tuner = Tuner::default();
    let methods: Vec<Method> = rules.iter().map(|rule| rule.method).collect();
    let sets = sets(&folders, &tuner, &methods).context("reading the sets")?;
    eprintln!("{} sets: {:?}", sets.len(), sets.iter().map(|s| &s.name).collect::<Vec<_>>());
    let hindsight: Vec<Estimator> = (0..=10)
        .map(|p| Estimator::max_logit_pnorm(f64::from(p)))
        .chain([Ok(Estimator::MSP)])
        .collect::<Result<_, _>>()?;
    let naurc = |profiles: &Profiles, estimator: &Estimator| -> Result<f64> {
        Ok(evaluate_metrics(profiles, estimator, &[Metric::NAURC])?[0]?)
    };
    for hold_out in HOLD_OUTS {
        // By rule: for each set the mean over seeds of NAURC, of MSP's, and of the best in hindsight.
        let mut table: BTreeMap<usize, Vec<[f64; 3]>> = BTreeMap::new();
        for set in &sets {
            let n = set.profiles.rows();
            let rows = if hold_out == 0 { n / 10 } else { hold_out };
            let mut sums = vec![[0.0; 3]; rules.len()];
            for seed in 0..SEEDS {
                let order = Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).permutation(n);
                let own = set.profiles.select(&order[..rows]);
                let rest = set.profiles.select(&order[rows..]);
                let msp = naurc(&rest, &Estimator::MSP)?;
                let best = hindsight.iter().map(|e| naurc(&rest, e)).collect::<Result<Vec<_>>>()?;
                let best = best.into_iter().fold(f64::INFINITY, f64::min);
                for (rule, sum) in rules.iter().zip(&mut sums) {
                    let tuner = Tuner {
                        fallback: rule.fallback,
                        stack: rule.stack.clone(),
                        seed,
                        ..tuner.clone()
                    };
                    let tuned = tuner.tune(rule.method, &own)?;
                    let found = naurc(&rest, &tuned.estimator)?;
                    for (sum, value) in sum.iter_mut().zip([found, msp, best]) {
                        *sum += value / SEEDS as f64;
                    }
                }
            }
            for (rule, sum) in sums.iter().enumerate() {
                table.entry(rule).or_default().push(*sum);
            }
        }
        let label = if hold_out == 0 { "10 %".into() } else { format!("{hold_out} rows") };
        println!("\nhold-out {label}, {} sets, {SEEDS} seeds", sets.len());
        println!("| method and rule | mean NAURC | worse than MSP | mean regret |\n|---|---|---|---|");
        for (rule, sets) in &table {
            let mean = |f: fn(&[f64; 3]) -> f64| sets.iter().map(f).sum::<f64>() / sets.len() as f64;
            let worse = sets.iter().filter(|s| s[0] > s[1] + 0.001).count();
            let (naurc, regret) = (mean(|s| s[0]), mean(|s| s[0] - s[2]));
            println!("| {} | {naurc:.4} | {worse} | {regret:.4} |", rules[*rule].name);
        }
    }
    Ok(())
}
