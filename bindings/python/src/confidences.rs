//! Thresholds on a bare confidence: `abstain.certify` and `abstain.threshold`.

use crate::arrays::{Vector, given_losses, given_weights};
use crate::artifact::ThresholdOptions;
use crate::page::json;
use crate::work::work;
use abstain_lab::{
    Contender, Costs, Groups, MeasuredRows, certify, confidence_artifact, cover, minimise_cost,
};
use pyo3::prelude::*;

/// The columns of rows that have a confidence and no logits.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Columns<'py> {
    confidence: Vector<'py>,
    loss: Option<Vector<'py>>,
    weights: Option<Vector<'py>>,
    groups: Option<Vec<String>>,
}

impl Columns<'_> {
    fn rows(self) -> PyResult<MeasuredRows> {
        let column = Contender::of_column("confidence", self.confidence.as_slice()?.to_vec());
        let losses = self.loss.as_ref().map(given_losses).transpose()?;
        let mut rows = MeasuredRows::new(column, losses);
        rows.groups = self.groups.as_deref().map(Groups::new);
        rows.weights = given_weights(self.weights.as_ref())?;
        Ok(rows)
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
    let (request, mut rows) = (options.request()?, columns.rows()?);
    rows.fold_groups = options.group_folds;
    json(&work(py, None, |_| Ok(certify(&confidence_artifact(), &request, rows)?))?)
}

/// The JSON of the threshold that accepts a share of the rows, which need no losses.
#[pyfunction]
pub(crate) fn coverage_of_confidences(
    py: Python<'_>,
    columns: Columns<'_>,
    coverage: f64,
) -> PyResult<String> {
    let rows = columns.rows()?;
    json(&work(py, None, |_| Ok(cover(&confidence_artifact(), coverage, rows)?))?)
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
    json(&work(py, None, |_| Ok(minimise_cost(&confidence_artifact(), &costs, rows)?))?)
}
