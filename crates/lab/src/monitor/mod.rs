//! The use case *monitor*: whether what an artifact promises still holds, by the records of a deployment
//! and by labels that come later.
//!
//! Records are in time order, and each is counted once: the state says how much of their file was counted,
//! and recognises it by a hash. Labels are found by the identifiers of their rows; the state knows which
//! were counted. A state that was lost is made again from the same files, row for row.

mod columns;
mod history;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use columns::check_confidences;
pub use columns::{
    GroupColumn, LabelColumns, OutcomeColumns, StreamColumns, label_columns, recertified,
    watch_columns,
};
pub use history::{History, LabelPoint, RowPoint};
pub use state::{Counted, Hash, Labelled, WatchState};

use crate::error::LabError;
use abstain::monitor::{Feedback, MonitorReport, MonitorSettings, Record};
use abstain::{Artifact, Estimator};
use abstain_io::{RecordFile, RecordRow, Role};
use serde::Serialize;
use std::collections::HashMap;

/// Labels without a single right answer from which on the labels look wrong.
const SUSPICIOUS: u64 = 20;

/// Examples that a problem names.
const EXAMPLES: usize = 3;

/// What to watch.
#[derive(Debug)]
pub struct WatchRequest<'a> {
    /// What decides, and what it promises.
    pub artifact: &'a Artifact,
    /// How it is tested.
    pub settings: MonitorSettings,
    /// The records, in time order.
    pub records: RecordFile,
    /// The labels of some of them, by their identifiers. Without, those beside the records.
    pub labels: Option<RecordFile>,
    /// Whether the file of records follows the one that was read last, instead of beginning with it.
    pub next_file: bool,
    /// The smallest probability with which any row was chosen for a label, if the labels do not say it.
    pub min_propensity: Option<f64>,
}

/// What a call found.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct WatchResult {
    /// Everything that is known now.
    pub report: MonitorReport,
    /// Rows that this call counted.
    pub new_records: u64,
    /// Labels that this call counted.
    pub new_labels: u64,
    /// What is wrong with records or labels.
    pub problems: Vec<RecordProblem>,
}

/// Something that is wrong with some records or labels, which were treated as it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecordProblem {
    /// What is wrong.
    pub kind: RecordProblemKind,
    /// How many there are.
    pub count: u64,
    /// Some of them: identifiers, or numbers of rows.
    pub examples: Vec<String>,
}

/// What is wrong with records or labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RecordProblemKind {
    /// Labels of identifiers that no record of the file has. They are counted once one has them.
    UnknownId,
    /// Labels of identifiers that several records have. They are not counted.
    RepeatedId,
    /// The same label once more. It is not counted again.
    LabelRepeated,
    /// Another label of a row whose label was counted. The first stays.
    LabelChanged,
    /// Times that are earlier than those before them. The order of the file is what counts.
    TimeBackwards,
    /// No label equals its prediction: they may be numbered or spelt in another way.
    NoneRight,
}

/// Called while a stream is watched.
pub type OnRecord<'a> = dyn FnMut(&WatchState) -> Result<(), LabError> + 'a;

/// A record that has a label.
struct Found {
    row: u64,
    confidence: f64,
    prediction: Option<String>,
    group: Option<String>,
    times: u32,
}

/// A label that was not counted yet.
struct NewLabel {
    id: String,
    outcome: Outcome,
    weight: f64,
}

#[derive(Debug, Clone, PartialEq)]
enum Outcome {
    Loss(f64),
    Label(String),
}

impl Outcome {
    fn hash(&self) -> Hash {
        match self {
            Outcome::Loss(loss) => Hash::of(&format!("loss {loss}")),
            Outcome::Label(label) => Hash::of(&format!("label {label}")),
        }
    }
}

#[derive(Default)]
struct Problems(Vec<RecordProblem>);

impl Problems {
    fn add(&mut self, kind: RecordProblemKind, example: impl FnOnce() -> String) {
        let found = self.0.iter().position(|problem| problem.kind == kind);
        let index = found.unwrap_or_else(|| {
            self.0.push(RecordProblem { kind, count: 0, examples: Vec::new() });
            self.0.len() - 1
        });
        let problem = &mut self.0[index];
        problem.count += 1;
        if problem.examples.len() < EXAMPLES {
            problem.examples.push(example());
        }
    }
}

/// Counts the records and labels that are new since the state was stored, and says what is known then.
/// `on_record` is called after each new record.
pub fn watch(
    request: &WatchRequest<'_>,
    state: &mut WatchState,
    on_record: &mut OnRecord<'_>,
) -> Result<WatchResult, LabError> {
    let named = request.records.names.others.iter().find(|(role, _)| *role == Role::Group);
    let group = named.map(|(_, name)| name);
    state.check(request.artifact, &request.settings, group)?;
    // Nothing is counted where something is wrong.
    let mut next = state.clone();
    next.group = group.cloned();
    let result = count(request, &mut next, on_record)?;
    *state = next;
    Ok(result)
}

fn count(
    request: &WatchRequest<'_>,
    state: &mut WatchState,
    on_record: &mut OnRecord<'_>,
) -> Result<WatchResult, LabError> {
    let (records_before, labels_before) = (state.monitor.records(), state.monitor.labels());
    let mut watching = Watching { request, problems: Problems::default() };
    let (labels, mut wanted) = watching.new_labels(state)?;
    watching.count_records(state, &mut wanted, on_record)?;
    watching.count_labels(state, labels, &wanted)?;
    let report = state.monitor.report();
    if report.records > 0 {
        state.history.push_rows(&report);
    }
    let risk = report.risk.as_ref();
    let largest = Some(report.max_loss);
    if risk.is_some_and(|risk| risk.mean == largest && risk.test.observations >= SUSPICIOUS) {
        watching.problems.add(RecordProblemKind::NoneRight, || "all labels".into());
    }
    Ok(WatchResult {
        new_records: report.records - records_before,
        new_labels: report.labels - labels_before,
        report,
        problems: watching.problems.0,
    })
}

struct Watching<'a> {
    request: &'a WatchRequest<'a>,
    problems: Problems,
}

impl Watching<'_> {
    /// The labels that were not counted yet, and the identifiers of which records are wanted.
    #[expect(clippy::type_complexity, reason = "labels, and where their records will be")]
    fn new_labels(
        &mut self,
        state: &WatchState,
    ) -> Result<(Vec<NewLabel>, HashMap<String, Option<Found>>), LabError> {
        let mut labels: Vec<NewLabel> = Vec::new();
        let mut wanted = HashMap::new();
        let mut seen: HashMap<String, Hash> = HashMap::new();
        let Some(file) = &self.request.labels else { return Ok((labels, wanted)) };
        let path = file.source.path().to_path_buf();
        let columns = file.columns()?;
        let has = |role: Role| columns.iter().any(|(known, _)| *known == role);
        if !has(Role::Id) {
            return Err(LabError::NoIds { path });
        }
        if ![Role::Label, Role::Correct, Role::Loss].into_iter().any(has) {
            return Err(LabError::NoOutcomes { path });
        }
        let mut weighted = None;
        file.each(|row, record| -> Result<bool, LabError> {
            let wrong = |problem: String| LabError::Record { path: path.clone(), row, problem };
            let Some(outcome) = self.outcome(record).map_err(wrong)? else { return Ok(true) };
            let Some(id) = record.get(Role::Id) else {
                return Err(wrong("a label without an id".into()));
            };
            let hash = outcome.hash();
            match seen.get(id).copied().or_else(|| state.labelled.get(id)) {
                Some(known) if known != hash => {
                    self.problems.add(RecordProblemKind::LabelChanged, || id.to_string());
                }
                // In a file that grows, labels that were counted are no mistake.
                Some(_) if !seen.contains_key(id) => {}
                Some(_) => self.problems.add(RecordProblemKind::LabelRepeated, || id.to_string()),
                None => {
                    let has_propensity = record.get(Role::Propensity).is_some();
                    if *weighted.get_or_insert(has_propensity) != has_propensity {
                        return Err(wrong(
                            "some labels have a propensity and others have none".into(),
                        ));
                    }
                    let weight =
                        if has_propensity { self.weight(record).map_err(wrong)? } else { 1.0 };
                    wanted.insert(id.to_string(), None);
                    labels.push(NewLabel { id: id.to_string(), outcome, weight });
                }
            }
            seen.entry(id.to_string()).or_insert(hash);
            Ok(true)
        })?;
        Ok((labels, wanted))
    }

    /// The weight of a label that was sampled.
    fn weight(&self, record: &RecordRow<'_>) -> Result<f64, String> {
        let number = |role: Role| -> Result<Option<f64>, String> {
            let Some(text) = record.get(role) else { return Ok(None) };
            let number = text.parse::<f64>().ok().filter(|x| *x > 0.0 && *x <= 1.0);
            number.map(Some).ok_or_else(|| format!("{role} '{text}' is not above 0 and at most 1"))
        };
        let missing = "some labels have a propensity and this one has none";
        let propensity = number(Role::Propensity)?.ok_or(missing)?;
        let smallest = match self.request.min_propensity {
            Some(smallest) => smallest,
            None => number(Role::MinPropensity)?
                .ok_or("the smallest propensity of the sample is not known")?,
        };
        if propensity < smallest {
            return Err(format!("its propensity {propensity} is below the smallest, {smallest}"));
        }
        Ok(smallest / propensity)
    }

    /// Counts the records that are new, and looks up those whose labels are.
    fn count_records(
        &mut self,
        state: &mut WatchState,
        wanted: &mut HashMap<String, Option<Found>>,
        on_record: &mut OnRecord<'_>,
    ) -> Result<(), LabError> {
        let file = &self.request.records;
        let path = file.source.path().to_path_buf();
        if !wanted.is_empty() && !file.columns()?.iter().any(|(role, _)| *role == Role::Id) {
            return Err(LabError::NoIds { path });
        }
        let before = state.file;
        let mut counted = Counted::default();
        // Whether rows are those that were counted before.
        let mut known = before.rows > 0;
        file.each(|row, record| -> Result<bool, LabError> {
            let id = record.get(Role::Id);
            counted.add(id, record.confidence);
            if counted.rows == 1 && known && counted.first != before.first {
                if !self.request.next_file {
                    return Err(LabError::RecordsReplaced {
                        path: path.clone(),
                        rows: before.rows,
                    });
                }
                known = false;
                state.earlier += before.rows;
            }
            let position = state.earlier + row;
            if let Some(found) = id.and_then(|id| wanted.get_mut(id)) {
                let times = found.as_ref().map_or(0, |found| found.times) + 1;
                *found = Some(Found {
                    row: position,
                    confidence: record.confidence,
                    prediction: record.get(Role::Prediction).map(str::to_string),
                    group: record.get(Role::Group).map(str::to_string),
                    times,
                });
            }
            if known && counted.rows <= before.rows {
                if counted.rows == before.rows && counted != before {
                    return Err(LabError::RecordsReplaced {
                        path: path.clone(),
                        rows: before.rows,
                    });
                }
                return Ok(true);
            }
            let wrong = |problem: String| LabError::Record { path: path.clone(), row, problem };
            self.count_record(state, record, position).map_err(wrong)?;
            state.file = counted;
            on_record(state)?;
            Ok(true)
        })?;
        if known && counted.rows < before.rows {
            return Err(LabError::RecordsReplaced { path, rows: before.rows });
        }
        Ok(())
    }

    fn count_record(
        &mut self,
        state: &mut WatchState,
        record: &RecordRow<'_>,
        row: u64,
    ) -> Result<(), String> {
        let artifact = self.request.artifact;
        let (confidence, at) = (record.confidence, state.monitor.threshold());
        check_acceptance(record, at)?;
        let prediction = record.get(Role::Prediction).and_then(|text| class_of(artifact, text));
        if let (Some(class), Some(classes)) = (prediction, artifact.classes)
            && class as usize >= classes
        {
            return Err(format!("class {class} was predicted, but there are {classes} classes"));
        }
        if let Some(time) = record.get(Role::Time) {
            let earlier = state.last_time.as_deref().is_some_and(|last| before(time, last));
            if earlier {
                self.problems.add(RecordProblemKind::TimeBackwards, || format!("row {row}"));
            } else {
                state.last_time = Some(time.to_string());
            }
        }
        let probability = probability_of(artifact, confidence);
        let group = record.get(Role::Group);
        state.monitor.record(&Record { confidence, prediction, probability, group, row: None });
        if state.history.rows_are_due(state.monitor.records()) {
            state.history.push_rows(&state.monitor.report());
        }
        // With a file of labels, those beside the records do not count.
        if self.request.labels.is_none()
            && let Some(outcome) = self.outcome(record)?
        {
            let prediction = record.get(Role::Prediction);
            let loss = self.loss(&outcome, prediction)?;
            let sampled = record.get(Role::Propensity).is_some();
            let weight = if sampled { self.weight(record)? } else { 1.0 };
            label(state, &Feedback { group, weight, ..Feedback::new(row, confidence, loss) })?;
        }
        Ok(())
    }

    /// Counts the labels whose records were found, in the order of their file.
    fn count_labels(
        &mut self,
        state: &mut WatchState,
        labels: Vec<NewLabel>,
        wanted: &HashMap<String, Option<Found>>,
    ) -> Result<(), LabError> {
        let path = self.request.labels.as_ref().map(|file| file.source.path().to_path_buf());
        for NewLabel { id, outcome, weight } in labels {
            let found = match wanted.get(&id).and_then(Option::as_ref) {
                None => {
                    self.problems.add(RecordProblemKind::UnknownId, || id.clone());
                    continue;
                }
                Some(found) if found.times > 1 => {
                    self.problems.add(RecordProblemKind::RepeatedId, || id.clone());
                    continue;
                }
                Some(found) => found,
            };
            let wrong = |problem: String| LabError::Label {
                path: path.clone().unwrap_or_default(),
                id: id.clone(),
                problem,
            };
            let loss = self.loss(&outcome, found.prediction.as_deref()).map_err(wrong)?;
            let group = found.group.as_deref();
            let feedback =
                Feedback { weight, group, ..Feedback::new(found.row, found.confidence, loss) };
            label(state, &feedback).map_err(wrong)?;
            state.labelled.insert(&id, outcome.hash());
        }
        Ok(())
    }

    /// What a row says of how good its answer was.
    fn outcome(&self, record: &RecordRow<'_>) -> Result<Option<Outcome>, String> {
        if let Some(text) = record.get(Role::Loss) {
            let loss =
                text.parse::<f64>().map_err(|_| format!("the loss '{text}' is not a number"))?;
            return Ok(Some(Outcome::Loss(loss)));
        }
        if let Some(text) = record.get(Role::Correct) {
            let right = truth(text).ok_or_else(|| format!("'{text}' is neither true nor false"))?;
            let loss = if right { 0.0 } else { 1.0 };
            if let (Some(label), Some(prediction)) = (record.get(Role::Label), record.get(Role::Prediction))
                // What cannot be compared contradicts nothing.
                && self.loss(&Outcome::Label(label.into()), Some(prediction)).is_ok_and(|other| other != loss)
            {
                return Err(format!(
                    "the flag '{text}' contradicts the label '{label}' and the prediction '{prediction}'"
                ));
            }
            return Ok(Some(Outcome::Loss(loss)));
        }
        Ok(record.get(Role::Label).map(|label| Outcome::Label(label.to_string())))
    }

    /// What an answer cost.
    fn loss(&self, outcome: &Outcome, prediction: Option<&str>) -> Result<f64, String> {
        let label = match outcome {
            Outcome::Loss(loss) => return Ok(*loss),
            Outcome::Label(label) => label,
        };
        let prediction = prediction
            .ok_or("there is a label, but the record has no prediction to compare it with")?;
        let artifact = self.request.artifact;
        let classes = (class_of(artifact, label), class_of(artifact, prediction));
        if let (Some(class), Some(known)) = (classes.0, artifact.classes)
            && class as usize >= known
        {
            return Err(format!(
                "the label '{label}' is no class: there are {known}, counted from 0"
            ));
        }
        let wrong = match classes {
            (Some(label), Some(prediction)) => label != prediction,
            (None, None) => label != prediction,
            _ => {
                return Err(format!(
                    "the label '{label}' and the prediction '{prediction}' are not named alike"
                ));
            }
        };
        Ok(if wrong { 1.0 } else { 0.0 })
    }
}

fn label(state: &mut WatchState, feedback: &Feedback<'_>) -> Result<(), String> {
    state.monitor.label(feedback).map_err(|error| error.to_string())?;
    let report = || state.monitor.report();
    let labels = state.monitor.labels_of_accepted();
    if state.history.labels_are_due(labels) {
        let report = report();
        state.history.push_labels(&report, feedback.row);
    }
    Ok(())
}

/// The probability that an answer of this confidence is right, if the estimator states one.
fn probability_of(artifact: &Artifact, confidence: f64) -> Option<f64> {
    match &artifact.estimator {
        Estimator::Stack(stack) if stack.is_labelled() => {
            artifact.classes.map(|classes| artifact.estimator.value(confidence, classes))
        }
        _ => None,
    }
}

/// Refuses a record whose acceptance is not that of the threshold.
pub(crate) fn check_acceptance(record: &RecordRow<'_>, at: f64) -> Result<(), String> {
    let confidence = record.confidence;
    let Some(accept) = record.get(Role::Accept).and_then(truth) else { return Ok(()) };
    // Confidences that were rounded may be on the other side.
    if accept == (confidence >= at) || (confidence - at).abs() <= 1e-6 * at.abs().max(1.0) {
        return Ok(());
    }
    let accepted = if accept { "was accepted" } else { "was not accepted" };
    Err(format!(
        "the confidence {confidence} {accepted}, but the threshold is {at}: these are scores of another \
         estimator or threshold"
    ))
}

/// A truth value as tables hold it.
fn truth(text: &str) -> Option<bool> {
    abstain_io::truth_of(text)
}

/// The number of a class by its name or number, as labels and predictions hold it.
fn class_of(artifact: &Artifact, text: &str) -> Option<u32> {
    let names = artifact.class_names.as_deref().unwrap_or_default();
    abstain_io::class_of(text, names)
}

/// Whether a time is earlier than another: numbers by size, texts such as 2026-11-17T12:00 by letters.
fn before(time: &str, last: &str) -> bool {
    match (time.parse::<f64>(), last.parse::<f64>()) {
        (Ok(time), Ok(last)) => time < last,
        _ => time < last,
    }
}

/// Where a state is stored, as text.
pub fn state_to_json(state: &WatchState) -> Result<String, LabError> {
    serde_json::to_string(state).map_err(|error| LabError::State { problem: error.to_string() })
}

/// Reads a state.
pub fn state_from_json(text: &str) -> Result<WatchState, LabError> {
    serde_json::from_str(text).map_err(|error| LabError::State { problem: error.to_string() })
}
