//! The Rust half of `compare.py`: times the library on the arrays that the script wrote, and prints
//! one JSON object with the seconds of every repetition and the results to compare.

use abstain::{Bootstrap, Estimator, Logits, Losses, Metric, RcCurve, internal::Instructions};
use anyhow::{Context, Result};
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use std::time::Instant;

fn read<T: npyz::Deserialize>(folder: &str, name: &str) -> Result<Vec<T>> {
    let path = format!("{folder}/{name}.npy");
    let file = std::fs::File::open(&path).with_context(|| path.clone())?;
    let npy = npyz::NpyFile::new(std::io::BufReader::with_capacity(1 << 20, file))?;
    npy.into_vec().with_context(|| path)
}

struct Bench {
    repetitions: usize,
    results: Map<String, Value>,
}

impl Bench {
    /// Runs once to warm up, then times each repetition; keeps the sum of what came out.
    fn run(&mut self, name: &str, mut work: impl FnMut() -> Result<f64>) -> Result<()> {
        let check = work()?;
        let mut seconds = Vec::new();
        for _ in 0..self.repetitions {
            let start = Instant::now();
            work()?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        self.results.insert(name.into(), json!({ "seconds": seconds, "check": check }));
        Ok(())
    }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments
        .next()
        .context("usage: abstain-bench FOLDER CLASSES REPETITIONS [portable|avx2]")?;
    let classes: usize = arguments.next().context("CLASSES is missing")?.parse()?;
    let repetitions = arguments.next().context("REPETITIONS is missing")?.parse()?;
    // Fewer instructions than the processor has, to compare them.
    let instructions = match arguments.next().as_deref() {
        Some("portable") => Instructions::Portable,
        Some("avx2") => Instructions::Avx2,
        Some(other) => anyhow::bail!("'{other}' is neither portable nor avx2"),
        None => Instructions::Avx512,
    };
    let instructions = format!("{:?}", instructions.limit());
    let values: Vec<f32> = read(&folder, "logits")?;
    let confidences: Vec<f64> = read(&folder, "confidences")?;
    let losses = Losses::new(read(&folder, "losses")?)?;
    let mut bench = Bench { repetitions, results: Map::new() };

    bench.results.insert("instructions".into(), instructions.into());
    // What no program can be faster than.
    bench.run("read", || {
        let sum = |chunk: &[f32]| chunk.iter().fold(0, |sum: u32, x| sum.wrapping_add(x.to_bits()));
        Ok(f64::from(values.par_chunks(1 << 16).map(sum).reduce(|| 0, u32::wrapping_add)))
    })?;
    // With the check for NaN and infinities.
    for text in ["MSP", "MaxLogit-pNorm(p=5)"] {
        let estimator: Estimator = text.parse()?;
        bench.run(text, || {
            let score = |logits: &Logits<'_>| Ok(estimator.values(logits));
            Ok(Logits::map_pieces(&values[..], classes, score)?.iter().sum())
        })?;
    }
    bench.run("AURC", || {
        let curve = RcCurve::new(&confidences, &losses)?;
        Ok(Metric::AURC.evaluate(&curve)?)
    })?;
    bench.repetitions = 1;
    let bootstrap = Bootstrap { replicates: 1000, ..Bootstrap::default() };
    bench.run("bootstrap", || {
        let found = bootstrap.intervals(&[Metric::AURC], &confidences, &losses)?;
        Ok(found[0]?.standard_error)
    })?;
    println!("{}", Value::Object(bench.results));
    Ok(())
}
