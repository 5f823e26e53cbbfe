//! Thresholds on a bare confidence: `abstain.certify` and `abstain.threshold`.

use crate::arrays::{Vector, given_losses, given_weights};
use crate::artifact::{FoundThreshold, ThresholdOptions};
use crate::page::json;
use crate::work::work;
use abstain_lab::{
    BareRows, Contender, Costs, certify_bare, confidence_artifact, cover_confidences,
    minimise_cost_of_confidences,
};
use pyo3::prelude::*;

/// The columns of rows that have a confidence and no logits.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Columns<'py> {
    confidence: Vector<'py>,
    loss: Vector<'py>,
    weights: Option<Vector<'py>>,
    groups: Option<Vec<String>>,
}

impl Columns<'_> {
    fn rows(self) -> PyResult<BareRows> {
        let column = Contender::of_column("confidence", self.confidence.as_slice()?.to_vec());
        let (groups, weights) = (self.groups, given_weights(self.weights.as_ref())?);
        Ok(BareRows { groups, weights, ..BareRows::new(column, given_losses(&self.loss)?) })
    }
}

/// The JSON of a threshold that meets a target, with a guarantee if one is requested, and of what it
/// accepts.
#[pyfunction]
pub(crate) fn threshold_on_confidences(
    py: Python<'_>,
    columns: Columns<'_>,
    options: ThresholdOptions,
) -> PyResult<String> {
    let (request, rows) = (options.request()?, columns.rows()?);
    let certified = work(py, None, |_| Ok(certify_bare(&confidence_artifact(), &request, &rows)?))?;
    json(&FoundThreshold::of(&certified))
}

/// The JSON of the threshold that accepts a share of the rows.
#[pyfunction]
pub(crate) fn coverage_of_confidences(
    py: Python<'_>,
    confidence: Vector<'_>,
    weights: Option<Vector<'_>>,
    coverage: f64,
) -> PyResult<String> {
    let (confidence, weights) = (confidence.as_slice()?, given_weights(weights.as_ref())?);
    json(&work(py, None, |_| Ok(cover_confidences(confidence, weights.as_ref(), coverage)?))?)
}

/// The JSON of the threshold at which errors and abstentions cost least.
#[pyfunction]
pub(crate) fn costs_of_confidences(
    py: Python<'_>,
    columns: Columns<'_>,
    costs: (f64, f64),
) -> PyResult<String> {
    let costs = Costs { error: costs.0, abstention: costs.1 };
    let rows = columns.rows()?;
    json(&work(py, None, |_| Ok(minimise_cost_of_confidences(&rows, &costs)?))?)
}
