//! Real sets of logits and labels, and random numbers, for the benchmarks.

use abstain::half::f16;
use abstain::logits::Values;
use anyhow::{Context, Result};
use std::path::Path;

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
