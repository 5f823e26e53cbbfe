//! Thresholds on a bare confidence: `abstain.certify` and `abstain.threshold`.

use crate::arrays::{Vector, given_losses};
use crate::artifact::ThresholdOptions;
use crate::page::json;
use crate::work::work;
use abstain_lab::{Costs, certify_confidences, cover_confidences, minimise_cost_of_confidences};
use pyo3::prelude::*;

/// The JSON of a threshold that meets a target, with a guarantee if one is requested.
#[pyfunction]
pub(crate) fn threshold_on_confidences(
    py: Python<'_>,
    confidence: Vector<'_>,
    loss: Vector<'_>,
    options: ThresholdOptions,
) -> PyResult<String> {
    let request = options.request()?;
    let (confidence, losses) = (confidence.as_slice()?, given_losses(&loss)?);
    json(&work(py, None, |_| Ok(certify_confidences(confidence, &losses, &request, None)?))?)
}

/// The JSON of the threshold that accepts a share of the rows.
#[pyfunction]
pub(crate) fn coverage_of_confidences(
    py: Python<'_>,
    confidence: Vector<'_>,
    coverage: f64,
) -> PyResult<String> {
    let confidence = confidence.as_slice()?;
    json(&work(py, None, |_| Ok(cover_confidences(confidence, coverage)?))?)
}

/// The JSON of the threshold at which errors and abstentions cost least.
#[pyfunction]
pub(crate) fn costs_of_confidences(
    py: Python<'_>,
    confidence: Vector<'_>,
    loss: Vector<'_>,
    costs: (f64, f64),
) -> PyResult<String> {
    let costs = Costs { error: costs.0, abstention: costs.1 };
    let (confidence, losses) = (confidence.as_slice()?, given_losses(&loss)?);
    json(&work(py, None, |_| Ok(minimise_cost_of_confidences(confidence, &losses, &costs)?))?)
}
