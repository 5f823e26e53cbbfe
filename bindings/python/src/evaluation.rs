//! `Estimator.evaluate`.

use crate::arrays::{GivenLoss, Rows, Vector, labels};
use crate::artifact::{Artifact, fingerprint};
use crate::errors::Failure;
use crate::page::{self, Heading, plain};
use crate::work::work;
use abstain::{Bootstrap, Estimator, Losses, Metric};
use abstain_lab::picture::{Answers, Rows as PictureRows};
use abstain_lab::{
    Asked, Contender, InMemory, RowSource, SetReport, Target, seen_before, usual_metrics,
};
use abstain_report::Known;
use abstain_report::page::{Detail, EvalPage, EvaluatedSet};
use abstain_report::sentences::constant_confidence;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::path::PathBuf;

/// What to measure, as Python says it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    name: String,
    metrics: Option<Vec<String>>,
    accuracy: Option<f64>,
    replicates: usize,
    seed: u64,
}

/// What was measured, and the rows that say so.
#[pyclass(frozen, module = "abstain._abstain")]
pub(crate) struct Evaluation {
    report: SetReport,
    contenders: Vec<Contender>,
    losses: Losses,
    answers: Answers,
    known: Known,
    estimator: Estimator,
    fingerprint: String,
    notes: Vec<String>,
    loss: String,
    classes: usize,
    /// Which of the contenders is the estimator.
    whose: usize,
    /// Whether a page shows bounds: not on rows that tuned the estimator.
    has_bounds: bool,
    bootstrap: Bootstrap,
}

/// Measures the estimator on labelled rows against MSP and against confidences of the user's own.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the package's keywords")]
pub(crate) fn evaluate(
    py: Python<'_>,
    estimator: &Bound<'_, Artifact>,
    rows: Rows<'_>,
    target: PyReadonlyArray1<'_, i64>,
    loss: Option<GivenLoss<'_>>,
    others: Vec<(String, Vector<'_>)>,
    options: Options,
    progress: Option<Py<PyAny>>,
) -> PyResult<Evaluation> {
    let subject = estimator.get();
    let matrix = rows.matrix(subject.encoding)?;
    let (labels, loss) = (labels(&target, matrix.classes)?, subject.loss(loss.as_ref())?);
    let own = |(name, own): &(String, Vector<'_>)| -> PyResult<Contender> {
        Ok(Contender {
            name: name.clone(),
            estimator: None,
            confidences: own.as_slice()?.to_vec(),
            probabilities: None,
        })
    };
    let others = others.iter().map(own).collect::<PyResult<Vec<_>>>()?;
    let metrics: Option<Vec<Metric>> = match &options.metrics {
        None => None,
        Some(names) => {
            let parsed = names.iter().map(|name| name.parse()).collect::<Result<_, _>>();
            Some(parsed.map_err(Failure::Core)?)
        }
    };
    work(py, progress, |progress| {
        let artifact = &subject.inner;
        let logits = subject.logits(&matrix)?;
        let losses = loss.of(&logits, &labels)?;
        let mut set = InMemory::with_losses(&logits, &labels, losses)?;
        let data = fingerprint(&logits, &labels)?;
        let mut estimators = vec![artifact.estimator.clone()];
        if artifact.estimator != Estimator::MSP {
            estimators.push(Estimator::MSP);
        }
        let (columns, losses) = set.confidences(&estimators)?;
        let mut notes = Vec::new();
        let seen = seen_before(artifact, Some(&data));
        notes.extend(seen.map(String::from));
        if artifact.estimator.is_constant(logits.classes()) {
            let method = artifact.estimator.method();
            notes.push(constant_confidence(method, logits.classes()));
        }
        let mut contenders: Vec<Contender> = (estimators.iter().zip(columns))
            .map(|(estimator, own)| Contender::new(estimator, own, logits.classes()))
            .collect();
        // The baseline stays last.
        let before = contenders.len() - 1;
        contenders.splice(before..before, others);
        let whose = if artifact.estimator == Estimator::MSP { contenders.len() - 1 } else { 0 };
        let threshold = artifact.threshold.as_ref().map(|own| (whose, own.at()));
        let target = (options.accuracy.map(Target::Accuracy))
            .or(Target::of_artifact(artifact))
            .unwrap_or_else(|| Target::usual_for(&losses));
        // Checks the range.
        target.metric()?;
        let metrics = match metrics {
            Some(metrics) => metrics,
            None => usual_metrics(target, losses.is_zero_one())?,
        };
        let (replicates, seed) = (options.replicates, options.seed);
        let bootstrap = Bootstrap { replicates, seed, ..Bootstrap::default() };
        let asked = Asked { metrics, target, threshold, bootstrap };
        let report =
            abstain_lab::evaluate(&options.name, &contenders, &losses, &asked, &mut |done| {
                progress.at(done, replicates, "measuring");
            })?;
        Ok(Evaluation {
            report,
            contenders,
            answers: set.answers()?,
            losses,
            known: Known::of(artifact),
            estimator: artifact.estimator.clone(),
            fingerprint: data,
            notes,
            loss: loss.name(),
            classes: logits.classes(),
            whose,
            has_bounds: seen.is_none(),
            bootstrap,
        })
    })
}

#[pymethods]
impl Evaluation {
    /// One set of the report of `abstain eval --json`.
    fn json(&self) -> PyResult<String> {
        page::json(&self.report)
    }

    /// What `abstain eval` prints.
    fn text(&self) -> String {
        plain(&abstain_report::evaluation(&self.report, self.known))
    }

    /// Which of the contenders is the estimator: the first, but for MSP, which is last as the baseline.
    fn place(&self) -> usize {
        self.whose
    }

    /// What else is to be said.
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Writes the page of `abstain eval --report`.
    fn page(
        &self,
        py: Python<'_>,
        path: PathBuf,
        title: String,
        class_names: Option<Vec<String>>,
    ) -> PyResult<()> {
        let heading = Heading { title, class_names };
        work(py, None, |_| {
            heading.check(self.classes)?;
            let (known, bootstrap) = (self.known, self.bootstrap);
            let painter = EvalPage::painter(known, bootstrap, &self.report, 1, self.has_bounds);
            let rows = PictureRows {
                losses: &self.losses,
                classes: Some(self.classes),
                answers: Some(&self.answers),
                index: None,
            };
            let threshold = self.report.threshold.map(|own| (own.whose, own.at));
            let picture = painter.compared(&self.contenders, threshold, &rows, None)?;
            let set = EvaluatedSet {
                report: self.report.clone(),
                picture,
                notes: self.notes.clone(),
                details: vec![Detail::new("Rows and labels (SHA-256)", &self.fingerprint)],
            };
            let page = EvalPage {
                sets: vec![set],
                known,
                estimator: Some(self.estimator.clone()),
                loss: self.loss.clone(),
                bootstrap,
                title: heading.title,
                class_names: heading.class_names,
                provenance: page::provenance(),
            };
            let html = page.html().map_err(page::failure)?;
            page::write(&path, &html)
        })
    }
}
