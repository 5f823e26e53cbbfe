//! Which method and which fallback? Tunes each on small hold-outs of real and simulated sets and
//! measures NAURC on the rows that are left.
//!
//! ```sh
//! cargo run --release -p abstain-bench --bin choose -- FOLDER…
//! ```
//!
//! A folder holds sets: `NAME/logits.npy` or `NAME/probs.npy`, and `NAME/labels.npy`. Without one, it is
//! the project's `crates/cli/demo`. Simulated sets are added in any case.

use abstain::calibration::Reliability;
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
/// the whole row is scaled by a factor that does not depend on being right (`wild`) or does.
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
    let errors = Fallback::StandardErrors;
    let of = |scores: &[&str], c| -> Result<StackRecipe> {
        let scores = scores.iter().map(|s| Ok(s.parse()?)).collect::<Result<Vec<Estimator>>>()?;
        Ok(StackRecipe { scores, c })
    };
    let rule = |name, method: &str, fallback, stack| -> Result<Rule> {
        Ok(Rule { name, method: method.parse()?, fallback, stack })
    };
    let pnorm = |name, fallback| rule(name, "MaxLogit-pNorm", fallback, StackRecipe::default());
    let ts = |name, fallback| rule(name, "MSP-TS-AURC", fallback, StackRecipe::default());
    let stack = |name, fallback, recipe| rule(name, "Stack", fallback, recipe);
    let seven = [
        "MSP",
        "LogitsMargin",
        "NegativeEntropy",
        "MaxLogit-pNorm(p=2)",
        "MaxLogit-pNorm(p=4)",
        "MaxLogit-pNorm(p=6)",
        "MaxLogit-pNorm(p=10)",
    ];
    let three = ["MSP", "LogitsMargin", "MaxLogit-pNorm(p=4)"];
    let four = StackRecipe::default;
    Ok(vec![
        rule("MSP", "MSP", Fallback::None, four())?,
        pnorm("MaxLogit-pNorm, no fallback", Fallback::None)?,
        pnorm("MaxLogit-pNorm, the paper's fallback", Fallback::Paper)?,
        pnorm("MaxLogit-pNorm, ½ standard error", errors(0.5))?,
        pnorm("MaxLogit-pNorm, 1 standard error", errors(1.0))?,
        pnorm("MaxLogit-pNorm, 2 standard errors", errors(2.0))?,
        pnorm("MaxLogit-pNorm, cross-validation", cv)?,
        ts("MSP-TS-AURC, the paper's fallback", Fallback::Paper)?,
        ts("MSP-TS-AURC, ½ standard error", errors(0.5))?,
        ts("MSP-TS-AURC, cross-validation", cv)?,
        rule("HTS, ½ standard error", "HTS", errors(0.5), four())?,
        stack("stack of 7 scores, C = 0.3, no fallback", Fallback::None, of(&seven, 0.3)?)?,
        stack("stack of 7 scores, C = 0.3, cross-validation", cv, of(&seven, 0.3)?)?,
        stack("stack of 3 scores, C = 1, cross-validation", cv, of(&three, 1.0)?)?,
        stack("stack of 4 scores, C = 1, no fallback", Fallback::None, four())?,
        stack("stack of 4 scores, C = 1, cross-validation", cv, four())?,
        stack("**stack of 4 scores, C = 1, 1 standard error**", errors(1.0), four())?,
        stack(
            "stack of 4 scores, C = 0.3, cross-validation",
            cv,
            StackRecipe { c: 0.3, ..four() },
        )?,
        stack("stack of 4 scores, C = 3, cross-validation", cv, StackRecipe { c: 3.0, ..four() })?,
    ])
}

/// Tuned on a tenth of a clean set: NAURC on its shifted twin, `NAME-shifted`, and the calibration
/// error of what is a probability on the rest of the clean set.
fn shift_and_calibration(sets: &[Set], rules: &[Rule], tuner: &Tuner) -> Result<()> {
    println!("\ntuned on 10 %, {SEEDS} seeds: NAURC under shift, and ECE on the clean rest");
    println!("| set | method and rule | NAURC | NAURC, shifted | ECE |\n|---|---|---|---|---|");
    for set in sets {
        let twin = sets.iter().find(|other| other.name == format!("{}-shifted", set.name));
        for rule in rules {
            let mut sums = [0.0; 3];
            for seed in 0..SEEDS {
                let n = set.profiles.rows();
                let order = Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).permutation(n);
                let tuning = set.profiles.select(&order[..n / 10]);
                let rest = set.profiles.select(&order[n / 10..]);
                let tuner = rule.tuner(tuner, seed);
                let estimator = tuner.tune(rule.method, &tuning)?.estimator;
                let confidences = rest.confidences(std::slice::from_ref(&estimator))?;
                let values: Vec<f64> =
                    confidences[0].iter().map(|&c| estimator.value(c, rest.classes())).collect();
                let ece = if estimator.is_probability() {
                    Reliability::new(&values, &rest.losses(), 15)?.ece()
                } else {
                    f64::NAN
                };
                let shifted = match twin {
                    Some(twin) => naurc(&twin.profiles, &estimator)?,
                    None => f64::NAN,
                };
                for (sum, value) in sums.iter_mut().zip([naurc(&rest, &estimator)?, shifted, ece]) {
                    *sum += value / SEEDS as f64;
                }
            }
            let [clean, shifted, ece] =
                sums.map(|x| if x.is_nan() { "—".into() } else { format!("{x:.4}") });
            println!("| {} | {} | {clean} | {shifted} | {ece} |", set.name, rule.name);
        }
    }
    Ok(())
}

fn naurc(profiles: &Profiles, estimator: &Estimator) -> Result<f64> {
    Ok(evaluate_metrics(profiles, estimator, &[Metric::NAURC])?[0]?)
}

impl Rule {
    fn tuner(&self, tuner: &Tuner, seed: u64) -> Tuner {
        let (fallback, stack) = (self.fallback, self.stack.clone());
        Tuner { fallback, stack, seed, ..tuner.clone() }
    }
}

fn main() -> Result<()> {
    let mut folders: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        folders.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/demo"));
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
    for hold_out in HOLD_OUTS {
        // By rule: for each set the mean over seeds of NAURC, of MSP's, and of the best in hindsight.
        let mut table: BTreeMap<usize, Vec<[f64; 3]>> = BTreeMap::new();
        for set in &sets {
            let n = set.profiles.rows();
            let rows = if hold_out == 0 { n / 10 } else { hold_out };
            let mut sums = vec![[0.0; 3]; rules.len()];
            for seed in 0..SEEDS {
                let order = Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).permutation(n);
                let tuning = set.profiles.select(&order[..rows]);
                let rest = set.profiles.select(&order[rows..]);
                let msp = naurc(&rest, &Estimator::MSP)?;
                let best = hindsight.iter().map(|e| naurc(&rest, e)).collect::<Result<Vec<_>>>()?;
                let best = best.into_iter().fold(f64::INFINITY, f64::min);
                for (rule, sum) in rules.iter().zip(&mut sums) {
                    let tuned = rule.tuner(&tuner, seed).tune(rule.method, &tuning)?;
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
        println!(
            "| method and rule | mean NAURC | worse than MSP | mean regret |\n|---|---|---|---|"
        );
        for (rule, sets) in &table {
            let mean =
                |f: fn(&[f64; 3]) -> f64| sets.iter().map(f).sum::<f64>() / sets.len() as f64;
            let worse = sets.iter().filter(|s| s[0] > s[1] + 0.001).count();
            let (naurc, regret) = (mean(|s| s[0]), mean(|s| s[0] - s[2]));
            println!("| {} | {naurc:.4} | {worse} | {regret:.4} |", rules[*rule].name);
        }
    }
    let shown = [
        "MSP",
        "MaxLogit-pNorm, the paper's fallback",
        "MaxLogit-pNorm, 1 standard error",
        "stack of 4 scores, C = 1, cross-validation",
        "**stack of 4 scores, C = 1, 1 standard error**",
    ];
    let shown: Vec<Rule> = rules.into_iter().filter(|rule| shown.contains(&rule.name)).collect();
    let real: Vec<Set> =
        sets.into_iter().filter(|set| !set.name.starts_with("simulated")).collect();
    shift_and_calibration(&real, &shown, &tuner)
}
