//! The Rust half of `compare_tuning.py`: searches on the arrays that the script wrote, each from the
//! logits to the best candidate, and what they found.

use abstain::{Estimator, Fallback, Labels, Logits, Method, Tuner, internal::Profiles};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::time::Instant;

fn read<T: npyz::Deserialize>(folder: &str, name: &str) -> Result<Vec<T>> {
    let path = format!("{folder}/{name}.npy");
    let file = std::fs::File::open(&path).with_context(|| path.clone())?;
    let npy = npyz::NpyFile::new(std::io::BufReader::with_capacity(1 << 20, file))?;
    npy.into_vec().with_context(|| path)
}

/// The seconds of the pass over the logits and of everything, and the best candidate.
type Run = (f64, f64, abstain::internal::Candidate);

/// The fastest of some runs.
fn fastest(runs: usize, work: impl Fn() -> Result<Run>) -> Result<Run> {
    let mut all = (0..runs).map(|_| work()).collect::<Result<Vec<Run>>>()?;
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    Ok(all.swap_remove(0))
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().context("usage: tuning FOLDER CLASSES")?;
    let classes: usize = arguments.next().context("CLASSES is missing")?.parse()?;
    let values: Vec<f32> = read(&folder, "logits")?;
    let labels: Vec<i64> = read(&folder, "labels")?;
    // Every point of the grids, as the script tries them: the default would be coarse first.
    let mut tuner = Tuner { fallback: Fallback::None, ..Tuner::default() };
    tuner.space.coarse_first = false;
    let search = |tuner: &Tuner, method: Method, rows: usize, classes: usize| {
        fastest(5, || {
            // Narrower rows are cut from the wide ones, so that the growth is that of the work.
            let narrow: Vec<f32> =
                values.chunks(1000).take(rows).flat_map(|row| &row[..classes]).copied().collect();
            let labels: Vec<i64> =
                labels.iter().take(rows).map(|y| y % i64::try_from(classes).unwrap_or(1)).collect();
            let start = Instant::now();
            let logits = Logits::new(narrow, classes)?;
            let labels = Labels::new(&labels, classes)?;
            let profiles = Profiles::new(&logits, &labels, &tuner.plan(&[method]))?;
            let profile = start.elapsed().as_secs_f64();
            let found = tuner.search(method, &profiles)?.best;
            Ok((profile, start.elapsed().as_secs_f64(), found))
        })
    };
    let rows = labels.len();
    let report = |(profile, all, found): Run| -> Value {
        json!({ "profile": profile, "seconds": all, "best": found.estimator, "value": found.value })
    };
    let method = |name: &str| name.parse::<Method>();
    let mut out = serde_json::Map::new();
    for name in ["MaxLogit-pNorm", "MSP-TS-AURC", "MSP-pNorm"] {
        out.insert(name.into(), report(search(&tuner, method(name)?, rows, classes)?));
    }
    // How the cost grows.
    let mut growth = Vec::new();
    let mut grow = |what: &str, tuner: &Tuner, rows: usize, classes: usize| -> Result<()> {
        let (profile, all, _) = search(tuner, method("MSP-pNorm")?, rows, classes)?;
        growth.push(json!({ "what": what, "profile": profile, "search": all - profile }));
        Ok(())
    };
    let mut tenth = tuner.clone();
    tenth.space.temperatures = tenth.space.temperatures.into_iter().skip(9).step_by(10).collect();
    grow("2,500 rows, 100 classes, 11 × 30", &tenth, rows / 2, classes / 10)?;
    grow("rows × 2", &tenth, rows, classes / 10)?;
    grow("classes × 10", &tenth, rows / 2, classes)?;
    grow("grid × 10", &tuner, rows / 2, classes / 10)?;
    out.insert("growth".into(), growth.into());
    // Everything, with the fallbacks that plain tuning has.
    let logits = Logits::new(&values[..], classes)?;
    let labels = Labels::new(&labels, classes)?;
    let everything = Tuner::default();
    let methods = Tuner::methods_of_the_paper();
    let start = Instant::now();
    let profiles = Profiles::new(&logits, &labels, &everything.plan(&methods))?;
    let table: Vec<(String, Estimator, f64)> = everything
        .tune_all(&methods, &profiles)
        .into_iter()
        .map(|(method, tuned)| {
            let tuned = tuned?;
            let value = tuned.best.value.unwrap_or(f64::NAN);
            Ok((method.to_string(), tuned.estimator, value))
        })
        .collect::<Result<_>>()?;
    let all = start.elapsed().as_secs_f64();
    out.insert("everything".into(), json!({ "seconds": all, "table": table }));
    println!("{}", Value::Object(out));
    Ok(())
}
