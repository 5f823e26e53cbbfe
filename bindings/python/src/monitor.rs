//! `abstain.Monitor` and `abstain.audit_sample`.

use crate::arrays::Vector;
use crate::artifact::Artifact;
use crate::errors::Failure;
use crate::page::{self, json, plain};
use crate::work::work;
use abstain::Threshold;
use abstain::monitor::{AuditPlan, MonitorSettings, Reference};
use abstain_lab::{
    AuditRequest, GroupColumn, History, LabError, LabelColumns, OutcomeColumns, StreamColumns,
    StreamState, WatchResult, confidence_artifact, label_columns, labels_to_confirm,
    labels_to_notice, recertified, stream_from_json, stream_to_json, watch_columns,
};
use abstain_report::figure::Figure;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Numbers of rows, classes or groups.
type Integers<'py> = PyReadonlyArray1<'py, i64>;

/// The keywords of a monitor.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    alpha: f64,
    target_risk: Option<f64>,
    delta: f64,
    max_loss: f64,
    parts: u32,
    groups: u32,
    abstained_labelled: bool,
    seed: u64,
}

impl Settings {
    fn settings(&self) -> MonitorSettings {
        MonitorSettings {
            alpha: self.alpha,
            target_risk: self.target_risk,
            delta: self.delta,
            max_loss: self.max_loss,
            parts: self.parts,
            groups: self.groups,
            abstained_labelled: self.abstained_labelled,
            seed: self.seed,
        }
    }
}

/// Groups by their names, and the place of the name of each row.
#[derive(FromPyObject)]
pub(crate) struct Groups<'py>(Vec<String>, Integers<'py>);

impl Groups<'_> {
    fn column(&self) -> PyResult<GroupColumn<'_>> {
        Ok(GroupColumn { names: &self.0, places: self.1.as_slice()? })
    }
}

/// What is known of answers.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Outcomes<'py> {
    loss: Vector<'py>,
    propensity: Option<Vector<'py>>,
    min_propensity: Option<f64>,
}

impl Outcomes<'_> {
    fn columns(&self) -> PyResult<OutcomeColumns<'_>> {
        Ok(OutcomeColumns {
            losses: self.loss.as_slice()?,
            propensities: self.propensity.as_ref().map(|array| array.as_slice()).transpose()?,
            min_propensity: self.min_propensity,
        })
    }
}

/// A stream that is watched. It is locked only while the interpreter is let go: what holds the lock may
/// need the interpreter to see signals.
#[pyclass(frozen, module = "abstain._abstain")]
pub(crate) struct Monitor {
    artifact: abstain::Artifact,
    state: Mutex<StreamState>,
}

impl Monitor {
    fn of(artifact: abstain::Artifact, state: StreamState) -> Self {
        Monitor { artifact, state: Mutex::new(state) }
    }

    /// What is known now.
    fn now<T: Send>(&self, py: Python<'_>, look: impl FnOnce(&StreamState) -> T + Send) -> T {
        py.detach(|| look(&self.state.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// What is known now, and how the stream went until then.
    fn shown(&self, py: Python<'_>) -> (WatchResult, History) {
        py.detach(|| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            (WatchResult::of(&mut state), state.history().cloned().unwrap_or_default())
        })
    }

    /// Goes on from what is known now, or not at all.
    fn advance<T: Send>(
        &self,
        py: Python<'_>,
        count: impl FnOnce(&mut StreamState) -> Result<T, LabError> + Send,
    ) -> PyResult<T> {
        work(py, None, |_| {
            Ok(count(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))?)
        })
    }
}

#[pymethods]
impl Monitor {
    #[new]
    fn new(artifact: &Bound<'_, Artifact>, settings: Settings) -> PyResult<Self> {
        let artifact = artifact.get().inner.clone();
        let state = StreamState::new(&artifact, &settings.settings()).map_err(Failure::from)?;
        Ok(Monitor::of(artifact, state.with_history()))
    }

    /// A monitor from its artifact and the JSON of its state.
    #[staticmethod]
    fn of_json(artifact: &Bound<'_, Artifact>, state: &str) -> PyResult<Self> {
        let artifact = artifact.get().inner.clone();
        let state = stream_from_json(&artifact, state).map_err(Failure::from)?;
        Ok(Monitor::of(artifact, state.with_history()))
    }

    /// The JSON of its state.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.now(py, stream_to_json).map_err(Failure::from)?)
    }

    /// The same, which goes on separately.
    fn copy(&self, py: Python<'_>) -> Self {
        Monitor::of(self.artifact.clone(), self.now(py, Clone::clone))
    }

    /// Counts new rows.
    fn update(
        &self,
        py: Python<'_>,
        confidence: Vector<'_>,
        prediction: Option<Integers<'_>>,
        rows: Option<Integers<'_>>,
        groups: Option<Groups<'_>>,
        outcomes: Option<Outcomes<'_>>,
    ) -> PyResult<()> {
        let columns = StreamColumns {
            confidences: confidence.as_slice()?,
            predictions: prediction.as_ref().map(|array| array.as_slice()).transpose()?,
            rows: rows.as_ref().map(|array| array.as_slice()).transpose()?,
            groups: groups.as_ref().map(Groups::column).transpose()?,
            outcomes: outcomes.as_ref().map(Outcomes::columns).transpose()?,
        };
        self.advance(py, |state| watch_columns(&self.artifact, state, &columns))
    }

    /// Counts labels of rows that were counted before; returns how many had been counted.
    fn update_labels(
        &self,
        py: Python<'_>,
        rows: Integers<'_>,
        confidence: Vector<'_>,
        groups: Option<Groups<'_>>,
        outcomes: Outcomes<'_>,
    ) -> PyResult<usize> {
        let columns = LabelColumns {
            rows: rows.as_slice()?,
            confidences: confidence.as_slice()?,
            groups: groups.as_ref().map(Groups::column).transpose()?,
            outcomes: outcomes.columns()?,
        };
        self.advance(py, |state| label_columns(&self.artifact, state, &columns))
    }

    /// Adds another part of the stream.
    fn merge(&self, py: Python<'_>, other: &Bound<'_, Monitor>) -> PyResult<()> {
        // Two that are merged into each other must not wait for each other.
        let part = other.get().now(py, Clone::clone);
        self.advance(py, |state| state.merge(&part))
    }

    /// Whether an alarm stands.
    fn alarm(&self, py: Python<'_>) -> bool {
        self.now(py, |state| state.monitor().has_alarm())
    }

    /// The JSON of what is known, as `abstain monitor --json` has it.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        json(&self.now(py, |state| state.monitor().report()))
    }

    /// What `abstain monitor` prints.
    fn text(&self, py: Python<'_>) -> String {
        plain(&abstain_report::monitor(&self.shown(py).0))
    }

    /// The JSON of how the stream went.
    fn history(&self, py: Python<'_>) -> PyResult<String> {
        json(&self.shown(py).1)
    }

    /// How the stream went, as SVGs.
    fn svgs(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let (now, history) = self.shown(py);
        let figures = abstain_report::monitor_figures(&now.report, &history);
        let svg = |figure: &Figure| figure.svg().map_err(|error| Failure::Input(error.to_string()));
        Ok(figures.iter().map(svg).collect::<Result<_, _>>()?)
    }

    /// Writes the page of `abstain monitor --page`.
    fn page(&self, py: Python<'_>, path: PathBuf, title: &str) -> PyResult<()> {
        let (now, history) = self.shown(py);
        work(py, None, |_| {
            let html = abstain_report::page::monitor(title, &now, &history, &page::provenance());
            page::write(&path, &html.map_err(|error| Failure::Input(error.to_string()))?)
        })
    }

    /// Discards the evidence for thresholds.
    fn restart_certification(&self, py: Python<'_>) -> PyResult<()> {
        self.advance(py, |state| {
            state.restart_certification();
            Ok(())
        })
    }

    /// The artifact with the lowest threshold that the labels of the stream certify.
    fn recertified(&self, py: Python<'_>) -> PyResult<Artifact> {
        let found = self.now(py, |state| recertified(&self.artifact, state.monitor()));
        Ok(found.map_err(Failure::from)?.into())
    }
}

/// An artifact of a bare confidence, from the JSON of its threshold and of what is known of the certifying
/// rows.
#[pyfunction]
pub(crate) fn artifact_of_threshold(
    threshold: &str,
    reference: Option<&str>,
) -> PyResult<Artifact> {
    let mut artifact = confidence_artifact();
    artifact.rule = Some(parse::<Threshold>(threshold, "the threshold")?.into());
    let reference = reference.map(|text| parse::<Reference>(text, "the certifying rows"));
    artifact.reference = reference.transpose()?;
    artifact.check().map_err(|error| Failure::Input(error.to_string()))?;
    Ok(artifact.into())
}

/// Rows to have labelled: the JSON of the plan, the rows and their propensities.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "what the package makes an object of")]
pub(crate) fn audit<'py>(
    py: Python<'py>,
    artifact: &Bound<'py, Artifact>,
    confidence: Vector<'py>,
    budget: f64,
    abstained: f64,
    seed: u64,
) -> PyResult<(String, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>)> {
    let settings = MonitorSettings { seed, ..MonitorSettings::default() };
    let (artifact, confidences) = (&artifact.get().inner, confidence.as_slice()?);
    let request = AuditRequest {
        artifact,
        from_row: 0,
        budget,
        abstained,
        rise: None,
        simulate: false,
        settings,
    };
    let records = StreamColumns { confidences, ..StreamColumns::default() };
    let found = work(py, None, |_| Ok(abstain_lab::audit(&request, &records)?))?;
    let number = |row: u64| row.try_into().unwrap_or(i64::MAX);
    let rows: Vec<i64> = found.chosen.iter().map(|row| number(row.row)).collect();
    let propensities: Vec<f64> = found.chosen.iter().map(|row| row.propensity).collect();
    Ok((json(&found.plan)?, rows.into_pyarray(py), propensities.into_pyarray(py)))
}

/// The JSON of how many labels notice a rise of the risk, or confirm the threshold, by a plan.
#[pyfunction]
pub(crate) fn labels_needed(
    py: Python<'_>,
    artifact: &Bound<'_, Artifact>,
    plan: &str,
    rise: Option<f64>,
    risk: Option<f64>,
    settings: Settings,
) -> PyResult<String> {
    let (artifact, settings) = (&artifact.get().inner, settings.settings());
    let plan: AuditPlan = parse(plan, "the plan of an audit")?;
    let needed = work(py, None, |_| match rise {
        Some(rise) => Ok(Some(labels_to_notice(&plan, artifact, rise, &settings)?)),
        None => Ok(labels_to_confirm(&plan, artifact, risk, &settings)?),
    })?;
    json(&needed)
}

/// What JSON holds.
fn parse<T: DeserializeOwned>(text: &str, what: &str) -> PyResult<T> {
    let read = serde_json::from_str(text);
    Ok(read.map_err(|error| Failure::Input(format!("{what}: {error}")))?)
}
