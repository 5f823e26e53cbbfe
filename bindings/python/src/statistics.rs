//! Statistics over many classifiers.

use crate::arrays::Vector;
use crate::errors::Failure;
use abstain::statistics;
use pyo3::prelude::*;

/// Pearson's correlation.
#[pyfunction]
pub(crate) fn pearson(x: Vector<'_>, y: Vector<'_>) -> PyResult<f64> {
    Ok(statistics::pearson(x.as_slice()?, y.as_slice()?).map_err(Failure::Core)?)
}

/// Spearman's.
#[pyfunction]
pub(crate) fn spearman(x: Vector<'_>, y: Vector<'_>) -> PyResult<f64> {
    Ok(statistics::spearman(x.as_slice()?, y.as_slice()?).map_err(Failure::Core)?)
}

/// The paper's average positive gain of a method over a baseline.
#[pyfunction]
pub(crate) fn average_positive_gain(
    baseline: Vector<'_>,
    method: Vector<'_>,
    epsilon: f64,
) -> PyResult<f64> {
    let (baseline, method) = (baseline.as_slice()?, method.as_slice()?);
    Ok(statistics::average_positive_gain(baseline, method, epsilon).map_err(Failure::Core)?)
}
