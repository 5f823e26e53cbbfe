//! Real sets of logits and labels, for the benchmarks.

use abstain::Values;
use abstain::half::f16;
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
