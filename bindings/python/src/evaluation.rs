//! `Estimator.evaluate`.

use crate::arrays::{GivenLoss, GivenTarget, Rows, Vector, labels};
use crate::artifact::Artifact;
use crate::errors::Failure;
use crate::page::{self, Heading, plain};
use crate::tuning::target;
use crate::work::work;
use abstain_lab::{Contender, EvaluateRequest, EvaluateResult, Gate};
use pyo3::prelude::*;
use std::path::PathBuf;

/// The keywords of `Estimator.evaluate`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    name: String,
    metrics: Option<Vec<String>>,
    target_accuracy: Option<f64>,
    target_risk: Option<f64>,
    replicates: Option<usize>,
    seed: u64,
    check_target: bool,
    min_coverage: Option<f64>,
    min_accuracy: Option<f64>,
    groups: Option<Vec<String>>,
}

impl Options {
    fn request(&self) -> Result<EvaluateRequest, Failure> {
        let parse = |names: &Vec<String>| names.iter().map(|name| name.parse()).collect();
        Ok(EvaluateRequest {
            metrics: self.metrics.as_ref().map(parse).transpose()?,
            target: target(self.target_accuracy, self.target_risk)?,
            replicates: self.replicates,
            seed: self.seed,
            gate: Gate {
                target: self.check_target,
                min_coverage: self.min_coverage,
                min_accuracy: self.min_accuracy,
            },
        })
    }
}

/// What was measured, and the rows behind it.
#[pyclass(frozen, module = "abstain._abstain")]
pub(crate) struct Evaluation(EvaluateResult);

/// Measures the estimator on labelled rows against MSP and against other columns of confidences.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the package's keywords")]
pub(crate) fn evaluate(
    py: Python<'_>,
    estimator: &Bound<'_, Artifact>,
    rows: Rows<'_>,
    target: GivenTarget<'_>,
    class_names: Option<Vec<String>>,
    loss: Option<GivenLoss<'_>>,
    others: Vec<(String, Vector<'_>)>,
    options: Options,
    progress: Option<Py<PyAny>>,
) -> PyResult<Evaluation> {
    let estimator = estimator.get();
    let request = options.request()?;
    let matrix = rows.matrix_for(estimator)?;
    let (labels, loss) = (labels(&target, matrix.classes)?, estimator.loss(loss.as_ref())?);
    let contender = |(name, column): &(String, Vector<'_>)| -> PyResult<Contender> {
        Ok(Contender::of_column(name, column.as_slice()?.to_vec()))
    };
    let others = others.iter().map(contender).collect::<PyResult<Vec<_>>>()?;
    work(py, progress, |progress| {
        let source = matrix.grouped(labels, loss, options.groups, None)?;
        let mut source = source.with_class_names(class_names);
        let mut on_step = |done, steps| progress.at(done, steps, "measuring");
        let (name, artifact) = (&options.name, Some(&estimator.inner));
        let result =
            abstain_lab::evaluate(name, artifact, &mut source, others, &request, &mut on_step)?;
        Ok(Evaluation(result))
    })
}

#[pymethods]
impl Evaluation {
    /// One set of the report of `abstain eval --json`.
    fn json(&self) -> PyResult<String> {
        page::json(&self.0.report)
    }

    /// What `abstain eval` prints.
    fn text(&self) -> String {
        plain(&abstain_report::evaluation(&self.0.report, self.0.known))
    }

    /// The index of the estimator among the contenders.
    fn place(&self) -> usize {
        self.0.contenders.of_artifact
    }

    /// What else is to be known of the rows.
    fn notes(&self) -> Vec<String> {
        abstain_report::evaluation_notes(&self.0)
    }

    /// Writes the page of `abstain eval --page`.
    fn page(
        &self,
        py: Python<'_>,
        path: PathBuf,
        title: String,
        class_names: Option<Vec<String>>,
    ) -> PyResult<()> {
        let heading = Heading { title, class_names };
        work(py, None, |_| {
            heading.check(self.0.classes.unwrap_or(0))?;
            page::write(&path, &heading.evaluation(&self.0)?)
        })
    }
}
