//! `abstain.Monitor` and `abstain.audit_sample`.

use crate::arrays::Vector;
use crate::artifact::Artifact;
use crate::errors::Failure;
use crate::page::json;
use crate::work::work;
use abstain::monitor::{AuditPlan, Monitor as State, MonitorSettings, Reference};
use abstain::{Error, Threshold};
use abstain_lab::{
    GroupColumn, LabError, LabelColumns, OutcomeColumns, StreamColumns, audit_confidences,
    confidence_artifact, label_columns, labels_to_confirm, labels_to_notice, recertified,
    watch_columns,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
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
    watched: Mutex<Watched>,
}

#[derive(Clone)]
struct Watched {
    state: State,
    /// One more than the largest number of a row so far.
    rows: u64,
}

impl Monitor {
    fn of(artifact: abstain::Artifact, watched: Watched) -> Self {
        Monitor { artifact, watched: Mutex::new(watched) }
    }

    /// What is known now.
    fn now(&self, py: Python<'_>) -> Watched {
        py.detach(|| self.watched.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Goes on from what is known now, or not at all.
    fn advance(
        &self,
        py: Python<'_>,
        next: impl FnOnce(&Watched) -> Result<Watched, LabError> + Send,
    ) -> PyResult<()> {
        work(py, None, |_| {
            let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
            *watched = next(&watched)?;
            Ok(())
        })
    }
}

#[pymethods]
impl Monitor {
    #[new]
    fn new(artifact: &Bound<'_, Artifact>, settings: Settings) -> PyResult<Self> {
        let artifact = artifact.get().inner.clone();
        let state = State::new(&artifact, &settings.settings()).map_err(Failure::Core)?;
        Ok(Monitor::of(artifact, Watched { state, rows: 0 }))
    }

    /// A monitor from its artifact, the JSON of its state and the number of rows of the stream.
    #[staticmethod]
    fn of_json(artifact: &Bound<'_, Artifact>, state: &str, rows: u64) -> PyResult<Self> {
        let artifact = artifact.get().inner.clone();
        let state: State = parse(state, "the state of a monitor")?;
        if artifact.threshold().map(|threshold| threshold.at) != Some(state.threshold()) {
            return Err(Failure::Core(Error::StatesDiffer).into());
        }
        Ok(Monitor::of(artifact, Watched { state, rows }))
    }

    /// The JSON of its state, and the number of rows of the stream.
    fn json(&self, py: Python<'_>) -> PyResult<(String, u64)> {
        let Watched { state, rows } = self.now(py);
        Ok((json(&state)?, rows))
    }

    /// The same, which goes on separately.
    fn copy(&self, py: Python<'_>) -> Self {
        Monitor::of(self.artifact.clone(), self.now(py))
    }

    /// What it watches.
    fn artifact(&self) -> Artifact {
        self.artifact.clone().into()
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
        self.advance(py, |watched| {
            let state = watch_columns(&self.artifact, &watched.state, &columns)?;
            let last = columns.rows.and_then(|rows| rows.iter().max());
            let given = last.map_or(0, |row| row.unsigned_abs() + 1);
            let rows = watched.rows.max(given).max(state.records());
            Ok(Watched { state, rows })
        })
    }

    /// Counts labels of rows that were counted before.
    fn update_labels(
        &self,
        py: Python<'_>,
        rows: Integers<'_>,
        confidence: Vector<'_>,
        groups: Option<Groups<'_>>,
        outcomes: Outcomes<'_>,
    ) -> PyResult<()> {
        let (rows, confidences) = (rows.as_slice()?, confidence.as_slice()?);
        let groups = groups.as_ref().map(Groups::column).transpose()?;
        let outcomes = outcomes.columns()?;
        self.advance(py, |watched| {
            let of = watched.rows;
            let columns = LabelColumns { rows, of, confidences, groups, outcomes };
            Ok(Watched { state: label_columns(&watched.state, &columns)?, rows: of })
        })
    }

    /// Adds another part of the stream.
    fn merge(&self, py: Python<'_>, other: &Bound<'_, Monitor>) -> PyResult<()> {
        let other = other.get();
        if other.artifact != self.artifact {
            return Err(Failure::Core(Error::StatesDiffer).into());
        }
        // Two that are merged into each other must not wait for each other.
        let part = other.now(py);
        self.advance(py, |watched| {
            let mut merged = watched.clone();
            merged.state.merge(&part.state)?;
            merged.rows = merged.rows.max(part.rows).max(merged.state.records());
            Ok(merged)
        })
    }

    /// Whether an alarm stands.
    fn alarm(&self, py: Python<'_>) -> bool {
        self.now(py).state.has_alarm()
    }

    /// The JSON of what is known, as `abstain monitor --json` has it.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        json(&self.now(py).state.report())
    }

    /// Discards the evidence for thresholds.
    fn restart_certification(&self, py: Python<'_>) -> PyResult<()> {
        self.advance(py, |watched| {
            let mut next = watched.clone();
            next.state.restart_certification();
            Ok(next)
        })
    }

    /// The artifact with the lowest threshold that the labels of the stream certify.
    fn recertified(&self, py: Python<'_>) -> PyResult<Artifact> {
        let found = recertified(&self.artifact, &self.now(py).state);
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
    let (artifact, confidences) = (&artifact.get().inner, confidence.as_slice()?);
    let (plan, rows, propensities) =
        work(py, None, |_| Ok(audit_confidences(artifact, confidences, budget, abstained, seed)?))?;
    let rows: Vec<i64> = rows.into_iter().map(|row| row.try_into().unwrap_or(i64::MAX)).collect();
    Ok((json(&plan)?, rows.into_pyarray(py), propensities.into_pyarray(py)))
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
