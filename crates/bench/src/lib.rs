//! Real sets of logits and labels, and random numbers, for the benchmarks.

use abstain::half::f16;
use abstain::logits::Values;
use abstain::{Labels, Logits, Probabilities};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The numbers of an npy file, and how many classes a row has.
pub fn read_values(path: &Path) -> Result<(Values<'static>, usize)> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
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

/// The labels of an npy file.
pub fn read_labels(path: &Path) -> Result<Vec<i64>> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let npy = npyz::NpyFile::new(&bytes[..])?;
    if npy.dtype().descr().contains("u1") {
        return Ok(npy.into_vec::<u8>()?.into_iter().map(i64::from).collect());
    }
    Ok(npy.into_vec::<i64>()?)
}

/// A real set.
#[derive(Debug, Clone)]
pub struct Set {
    /// The name of its folder or file.
    pub name: String,
    /// The logits.
    pub logits: Logits<'static>,
    /// The labels.
    pub labels: Labels,
}

/// The sets of a folder: `NAME/logits.npy` or `NAME/probs.npy`, and `NAME/labels.npy`; or, as in `zoo`,
/// `labels.npy` and `clean/NAME.npy`.
pub fn read_sets(folder: &Path) -> Result<Vec<Set>> {
    let set = |path: &Path, logits: Logits<'static>, labels: &Path| -> Result<Set> {
        let name = path.file_stem().map_or(String::new(), |name| name.to_string_lossy().into());
        let labels = Labels::new(&read_labels(labels)?, logits.classes())?;
        Ok(Set { name, logits, labels })
    };
    let read = |path: &Path| -> Result<Logits<'static>> {
        let (values, classes) = read_values(path)?;
        Ok(Logits::new(values, classes)?)
    };
    let mut sets = Vec::new();
    if folder.join("clean").is_dir() {
        for path in entries(&folder.join("clean"))? {
            sets.push(set(&path, read(&path)?, &folder.join("labels.npy"))?);
        }
        return Ok(sets);
    }
    for path in entries(folder)?.iter().filter(|path| path.join("labels.npy").exists()) {
        let probabilities = path.join("probs.npy");
        let logits = if probabilities.exists() {
            let (values, classes) = read_values(&probabilities)?;
            Logits::from_probabilities(values, classes, Probabilities::default())?
        } else {
            read(&path.join("logits.npy"))?
        };
        sets.push(set(path, logits, &path.join("labels.npy"))?);
    }
    Ok(sets)
}

/// The sets that the project has: the demo's and those of `zoo`.
pub fn folders_of_the_project() -> Vec<PathBuf> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    vec![project.join("crates/cli/demo"), project.join("zoo")]
}

/// What is in a folder, sorted by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

/// Random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The numbers of one stream of one case.
    pub fn of(seed: u64, case: usize, stream: usize) -> Self {
        let mut mixed = Random(seed);
        for part in [case as u64, stream as u64] {
            mixed.0 = mixed.bits() ^ part;
        }
        Random(mixed.bits())
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 on and below 1.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number below `n`, which is not 0.
    pub fn below(&mut self, n: u32) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "it is below n")]
        let below = ((u128::from(self.bits()) * u128::from(n)) >> 64) as u32;
        below
    }

    /// 1 with this probability, else 0.
    pub fn loss(&mut self, risk: f64) -> f64 {
        if self.share() < risk { 1.0 } else { 0.0 }
    }
}
