//! The artifact: an estimator, what its rows are, and its threshold.

use crate::arrays::{GivenInput, GivenLoss, GivenTarget, Rows, encoding, labels};
use crate::errors::Failure;
use crate::page::{json, plain};
use crate::tuning::{repeats, target};
use crate::work::work;
use abstain::{Answer, Encoding, Loss, MemoryRows, Rule};
use abstain_io::{parse_artifact, read_artifact, write_artifact};
use abstain_lab::{
    CertifyRequest, Costs, GivenThreshold, Scorer, certify, check_classes, cover, loss_for,
    minimise_cost, set_threshold, warnings_of,
};
use abstain_models::onnx::{ExportRequest, export, is_model, selective_artifact};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use std::path::PathBuf;

/// An artifact, which is immutable.
#[pyclass(frozen, module = "abstain._abstain")]
pub(crate) struct Artifact {
    pub(crate) inner: abstain::Artifact,
    /// What its rows are; for a bare estimator of probabilities the floor is that of the rows.
    pub(crate) encoding: Encoding,
}

impl From<abstain::Artifact> for Artifact {
    fn from(inner: abstain::Artifact) -> Self {
        let encoding = inner.input;
        Artifact { inner, encoding }
    }
}

/// The keywords of a threshold that meets a target.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ThresholdOptions {
    target_accuracy: Option<f64>,
    target_risk: Option<f64>,
    delta: Option<f64>,
    procedure: String,
    tried: Option<usize>,
    max_weight: Option<f64>,
    seed: u64,
    repeats: String,
    pub(crate) group_folds: Option<Vec<String>>,
}

impl ThresholdOptions {
    pub(crate) fn request(&self) -> Result<CertifyRequest, Failure> {
        let Some(target) = target(self.target_accuracy, self.target_risk)? else {
            return Err(Failure::Input("give target_accuracy or target_risk".into()));
        };
        let (procedure, tried) = (self.procedure.parse()?, self.tried.unwrap_or(1));
        let (delta, max_weight, seed) = (self.delta, self.max_weight, self.seed);
        let repeats = repeats(&self.repeats)?;
        let request = CertifyRequest { target, delta, procedure, tried, max_weight, repeats, seed };
        request.check()?;
        Ok(request)
    }
}

/// The keywords of an export.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ExportOptions {
    model: Option<PathBuf>,
    output: PathBuf,
    logits: Option<String>,
    prefix: String,
    precision: String,
    opset: Option<i64>,
}

impl ExportOptions {
    fn request(self) -> Result<ExportRequest, Failure> {
        let ExportOptions { model, output, logits, prefix, precision, opset } = self;
        let wrong = |wanted| Failure::Input(format!("precision must be {wanted}"));
        let precision = precision.parse().map_err(wrong)?;
        Ok(ExportRequest { model, output, logits, prefix, precision, opset })
    }
}

impl Artifact {
    /// The loss to use with it: the given one, or the one it was made for.
    pub(crate) fn loss(&self, given: Option<&GivenLoss<'_>>) -> Result<Loss, Failure> {
        match given {
            Some(given) => given.loss(),
            None => Ok(loss_for(&self.inner)?),
        }
    }
}

#[pymethods]
impl Artifact {
    /// An estimator by its text, such as "MaxLogit-pNorm(p=5)".
    #[staticmethod]
    fn of_text(text: &str, input: GivenInput) -> PyResult<Self> {
        let mut inner = abstain::Artifact::new(text.parse().map_err(Failure::Core)?);
        let encoding = encoding(&input)?;
        if !encoding.needs_floor() {
            inner.input = encoding;
        }
        inner.check().map_err(|error| Failure::Input(error.to_string()))?;
        Ok(Artifact { inner, encoding })
    }

    /// An artifact from its JSON.
    #[staticmethod]
    fn of_json(text: &str) -> PyResult<Self> {
        Ok(parse_artifact(text).map_err(|kind| Failure::Input(kind.to_string()))?.into())
    }

    /// An artifact from its file.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        if is_model(&path) {
            return Ok(selective_artifact(&path).map_err(Failure::from)?.into());
        }
        Ok(read_artifact(&path).map_err(Failure::File)?.into())
    }

    /// Writes the estimator into a model, or as a graph without one; returns the JSON of what was
    /// written.
    fn export(&self, py: Python<'_>, options: ExportOptions) -> PyResult<String> {
        let request = options.request()?;
        if self.encoding.needs_floor() {
            return Err(
                Failure::Input("an estimator for probabilities needs a floor".into()).into()
            );
        }
        json(&work(py, None, |_| Ok(export(&self.inner, &request)?))?)
    }

    /// Writes the file, whole or not at all.
    fn write(&self, path: PathBuf) -> PyResult<()> {
        Ok(write_artifact(&self.inner, &path).map_err(Failure::File)?)
    }

    /// The artifact's JSON.
    fn json(&self) -> PyResult<String> {
        json(&self.inner)
    }

    /// The estimator's text.
    fn name(&self) -> String {
        match &self.inner.estimator {
            // It has too many numbers for a line.
            abstain::Estimator::Stack(stack) => stack.name().into(),
            // One that is computed elsewhere; nothing is beside it.
            _ if self.encoding == Encoding::Confidence => self.encoding.to_string(),
            other => other.to_string(),
        }
    }

    /// The kind of its rows, such as "logits".
    fn input(&self) -> String {
        self.encoding.to_string()
    }

    /// What replaces zeros of probabilities, if it is known.
    fn floor(&self) -> Option<f64> {
        self.inner.input.floor()
    }

    /// Whether another one is the same.
    fn same(&self, other: &Bound<'_, Artifact>) -> bool {
        self.inner == other.get().inner
    }

    /// The JSON of the threshold of all rows, and of what a monitor compares with.
    fn threshold(&self) -> PyResult<Option<(String, Option<String>)>> {
        let Some(Rule::Threshold(threshold)) = &self.inner.rule else { return Ok(None) };
        let reference = self.inner.reference.as_ref().map(json).transpose()?;
        Ok(Some((json(threshold)?, reference)))
    }

    /// The number of classes, if it is known.
    fn classes(&self) -> Option<usize> {
        self.inner.classes
    }

    /// The names of the classes, if they are known.
    fn class_names(&self) -> Option<Vec<String>> {
        self.inner.class_names.clone()
    }

    /// The same with names of the classes.
    fn with_class_names(&self, names: Vec<String>) -> PyResult<Self> {
        let mut inner = self.inner.clone();
        inner.class_names = Some(names);
        inner.check().map_err(|why| Failure::Input(format!("class_names: {why}")))?;
        Ok(Artifact { inner, encoding: self.encoding })
    }

    /// What `abstain show` says of it.
    fn text(&self) -> String {
        plain(&abstain_report::artifact(&self.inner))
    }

    /// The confidence of each row; its value by the paper's formula if `values`.
    fn confidence<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        values: bool,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let matrix = rows.matrix_for(self)?;
        let confidences = work(py, None, |_| {
            check_classes(&self.inner, matrix.classes)?;
            let estimator = &self.inner.estimator;
            let mut all = Vec::new();
            matrix.chunks(|logits| {
                all.extend(if values {
                    estimator.values(logits)
                } else {
                    estimator.confidences(logits)
                });
                Ok(())
            })?;
            Ok(all)
        })?;
        Ok(confidences.into_pyarray(py))
    }

    /// Prediction, confidence and, with a threshold, acceptance of each row.
    #[expect(clippy::type_complexity, reason = "what the package makes a named tuple of")]
    fn answers<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
    ) -> PyResult<(
        Bound<'py, PyArray1<i64>>,
        Bound<'py, PyArray1<f64>>,
        Option<Bound<'py, PyArray1<bool>>>,
    )> {
        let matrix = rows.matrix_for(self)?;
        let answers: Vec<Answer> = work(py, None, |_| {
            let scorer = Scorer::new(&self.inner, None, false)?;
            let mut all = Vec::new();
            matrix.chunks(|logits| {
                all.extend(scorer.score(logits)?.answers);
                Ok(())
            })?;
            Ok(all)
        })?;
        let prediction: Vec<i64> = answers.iter().map(|answer| answer.prediction.into()).collect();
        let confidence: Vec<f64> = answers.iter().map(|answer| answer.confidence).collect();
        // Of no rows, too, nothing is accepted or not without a threshold.
        let accept: Option<Vec<bool>> = answers.iter().map(|answer| answer.accept).collect();
        let accept = accept.filter(|_| self.inner.rule.is_some());
        Ok((
            prediction.into_pyarray(py),
            confidence.into_pyarray(py),
            accept.map(|accept| accept.into_pyarray(py)),
        ))
    }

    /// The same with a threshold that is given: a confidence, or a value of the paper's formula.
    fn with_threshold_at(&self, at: Option<f64>, value: Option<f64>) -> PyResult<Self> {
        let given = match (at, value) {
            (Some(at), None) => GivenThreshold::Confidence(at),
            (None, Some(value)) => GivenThreshold::Value(value),
            _ => return Err(Failure::Input("give at or value".into()).into()),
        };
        let inner = set_threshold(&self.inner, given).map_err(Failure::from)?;
        Ok(Artifact { inner, encoding: self.encoding })
    }

    /// The same with the threshold that accepts this share of some rows.
    fn with_coverage(&self, py: Python<'_>, rows: Rows<'_>, coverage: f64) -> PyResult<Self> {
        let matrix = rows.matrix_for(self)?;
        work(py, None, |_| {
            let mut source = MemoryRows::unlabelled(matrix.logits()?, matrix.encoding);
            Ok(cover(&self.inner, coverage, &mut source)?.artifact.into())
        })
    }

    /// The same with the threshold that some labelled rows suggest, or certify, and the JSON of what is
    /// known of the rows.
    #[expect(clippy::too_many_arguments, reason = "the package's keywords")]
    fn with_threshold_on(
        &self,
        py: Python<'_>,
        rows: Rows<'_>,
        target: GivenTarget<'_>,
        class_names: Option<Vec<String>>,
        loss: Option<GivenLoss<'_>>,
        groups: Option<Vec<String>>,
        options: ThresholdOptions,
    ) -> PyResult<(Self, String)> {
        let request = options.request()?;
        let matrix = rows.matrix_for(self)?;
        let (labels, loss) = (labels(&target, matrix.classes)?, self.loss(loss.as_ref())?);
        let certified = work(py, None, |_| {
            let source = matrix.grouped(labels, loss, groups, options.group_folds)?;
            let mut source = source.with_class_names(class_names);
            Ok(certify(&self.inner, &request, &mut source)?)
        })?;
        let found = json(&certified)?;
        Ok((certified.artifact.into(), found))
    }

    /// The JSON of what looks wrong with some labelled rows.
    fn warnings(
        &self,
        py: Python<'_>,
        rows: Rows<'_>,
        target: GivenTarget<'_>,
        loss: Option<GivenLoss<'_>>,
    ) -> PyResult<String> {
        let matrix = rows.matrix_for(self)?;
        let (labels, loss) = (labels(&target, matrix.classes)?, self.loss(loss.as_ref())?);
        json(&work(py, None, |_| {
            Ok(warnings_of(&self.inner, &mut matrix.labelled(labels, loss)?)?)
        })?)
    }

    /// The same with the threshold at which errors and abstentions cost least on some labelled rows.
    fn with_costs(
        &self,
        py: Python<'_>,
        rows: Rows<'_>,
        target: GivenTarget<'_>,
        loss: Option<GivenLoss<'_>>,
        costs: (f64, f64),
    ) -> PyResult<Self> {
        let costs = Costs { error: costs.0, abstention: costs.1 };
        let matrix = rows.matrix_for(self)?;
        let (labels, loss) = (labels(&target, matrix.classes)?, self.loss(loss.as_ref())?);
        work(py, None, |_| {
            let mut source = matrix.labelled(labels, loss)?;
            Ok(minimise_cost(&self.inner, &costs, &mut source)?.artifact.into())
        })
    }
}
