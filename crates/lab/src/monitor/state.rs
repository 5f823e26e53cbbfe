//! The state of a stream: its monitor, how it went, and which labels were counted.
//!
//! It knows nothing of where records come from. Files, columns of numbers, a service and an engine each make
//! [`ScoredRecord`]s and [`LabelRecord`]s; they know what they have passed on already.

use super::history::History;
use super::places::{Places, RowPlace};
use super::record::{
    ClassValue, Cost, CountedRow, LabelRecord, Lookup, Outcome, RecordError, RecordErrorKind,
    RecordPlace, RowKey, ScoredRecord, check_acceptance, predicted,
};
use super::rowset::RowSet;
use super::time::before;
use super::window::{Window, window};
use crate::error::LabError;
use abstain::monitor::{Feedback, Monitor, MonitorReport, MonitorSettings, Record};
use abstain::{Artifact, Error, Estimator, Threshold, stop};
use abstain_io::hash_of;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Write;

/// Records between two looks at whether the work is still wanted.
const CHUNK: usize = 1 << 14;

/// A stream that is watched: its monitor, how it went, and which labels were counted.
///
/// Every function that counts takes the artifact that the state was made with
/// ([`check_artifact`](Self::check_artifact) tells). A record or a label that is not valid changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamState {
    format: Tag,
    #[serde(deserialize_with = "known_version")]
    version: u32,
    /// The SHA-256 of the artifact.
    artifact: String,
    /// The identifiers whose labels were counted.
    #[serde(default, skip_serializing_if = "Labelled::is_empty")]
    labelled: Labelled,
    /// The rows whose labels were counted and that are known by their numbers.
    #[serde(default, skip_serializing_if = "RowSet::is_empty")]
    labelled_rows: RowSet,
    /// The latest time of a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_time: Option<String>,
    /// What some rows are called.
    #[serde(default, skip_serializing_if = "Places::is_empty")]
    places: Places,
    monitor: Monitor,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    history: Option<History>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Tag {
    #[serde(rename = "abstain-stream")]
    Stream,
}

/// A record that was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// Its number in the stream, from 0.
    pub row: u64,
    /// Whether its time is earlier than that of a record before it. It counts all the same.
    pub time_backwards: bool,
}

/// What became of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelAnswer {
    /// It was counted.
    Counted,
    /// The same label of this row was counted before. It is not counted again.
    Repeated,
    /// Another label of this row was counted before, and stays.
    Changed,
    /// No row is known by its identifier.
    Unknown,
    /// Several rows are known by its identifier.
    Several,
}

impl StreamState {
    /// The version of the state.
    pub const VERSION: u32 = 1;

    /// A stream of which nothing was seen yet. It keeps no history.
    pub fn new(artifact: &Artifact, settings: &MonitorSettings) -> Result<Self, LabError> {
        Ok(Self::of(fingerprint(artifact), Monitor::new(artifact, settings)?))
    }

    fn of(artifact: String, monitor: Monitor) -> Self {
        StreamState {
            format: Tag::Stream,
            version: Self::VERSION,
            artifact,
            labelled: Labelled::default(),
            labelled_rows: RowSet::default(),
            last_time: None,
            places: Places::default(),
            monitor,
            history: None,
        }
    }

    /// The same, which keeps a history from now on.
    #[must_use]
    pub fn with_history(self) -> Self {
        StreamState { history: Some(self.history.unwrap_or_default()), ..self }
    }

    /// The parts of a state that was stored before they were one.
    pub(super) fn of_parts(
        artifact: String,
        labelled: Labelled,
        last_time: Option<String>,
        monitor: Monitor,
        history: History,
    ) -> Self {
        let history = Some(history);
        StreamState { labelled, last_time, history, ..Self::of(artifact, monitor) }
    }

    /// Refuses a state of another artifact.
    pub fn check_artifact(&self, artifact: &Artifact) -> Result<(), LabError> {
        if self.artifact == fingerprint(artifact) {
            return Ok(());
        }
        Err(LabError::OtherArtifactWatched)
    }

    /// The monitor.
    pub fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// How the stream went, if that is kept.
    pub fn history(&self) -> Option<&History> {
        self.history.as_ref()
    }

    /// Everything that is known now. It is a point of the history.
    pub fn report(&mut self) -> MonitorReport {
        self.monitor.compare_labels();
        let report = self.monitor.report();
        if let Some(history) = &mut self.history
            && report.records > 0
        {
            history.push_rows(&report);
        }
        report
    }

    /// See [`Monitor::set_unfilled`].
    pub fn set_unfilled(&mut self, rows: u64) {
        self.monitor.set_unfilled(rows);
    }

    /// Discards the evidence for thresholds: see [`Monitor::restart_certification`].
    pub fn restart_certification(&mut self) {
        self.monitor.restart_certification();
    }

    /// Counts a record, and the label beside it.
    pub fn record(
        &mut self,
        artifact: &Artifact,
        record: &ScoredRecord<'_>,
    ) -> Result<Recorded, RecordErrorKind> {
        let Checked { prediction, label } = self.check(artifact, record)?;
        let raised = self.monitor.alarms_raised();
        let (confidence, group) = (record.confidence, record.group);
        let earlier =
            |time: &&str| self.last_time.as_deref().is_some_and(|last| before(time, last));
        let time_backwards = record.time.as_ref().is_some_and(earlier);
        if let Some(time) = record.time.filter(|_| !time_backwards) {
            // Most streams have a time: its memory is used again.
            let last = self.last_time.get_or_insert_default();
            last.clear();
            last.push_str(time);
        }
        let row = record.row.unwrap_or(self.monitor.records());
        let probability = probability_of(artifact, confidence);
        let recorded = Record { confidence, prediction, probability, group, row: record.row };
        self.monitor.record(&recorded);
        self.places.see(row, record.id, record.time);
        if let Some(history) = &mut self.history
            && history.rows_are_due(self.monitor.records())
        {
            history.push_rows(&self.monitor.report());
        }
        if let Some(Cost { loss, weight, sampled }) = label {
            let feedback = Feedback { row, confidence, loss, weight, group, prediction, sampled };
            self.count_label(&feedback)?;
            if !self.labelled_rows.contains(row) {
                self.labelled_rows.insert(row);
            }
        }
        if self.monitor.alarms_raised() > raised {
            self.places.alarm(RowPlace::new(row, record.id, record.time));
        }
        Ok(Recorded { row, time_backwards })
    }

    /// Counts a label of a row that was counted before. `find` looks the row up.
    pub fn label<'r>(
        &mut self,
        artifact: &Artifact,
        label: &LabelRecord<'_>,
        find: impl FnOnce(&RowKey<'_>) -> Lookup<'r>,
    ) -> Result<LabelAnswer, RecordErrorKind> {
        match &label.key {
            RowKey::Id(id) => {
                if let Some(answer) = self.known(id, &label.label.outcome) {
                    return Ok(answer);
                }
            }
            // What its label was is not kept.
            RowKey::Row(row) if self.labelled_rows.contains(*row) => {
                return Ok(LabelAnswer::Repeated);
            }
            RowKey::Row(_) => {}
        }
        let found = match find(&label.key) {
            Lookup::Unknown => return Ok(LabelAnswer::Unknown),
            Lookup::Several => return Ok(LabelAnswer::Several),
            Lookup::One(found) => found,
        };
        let Cost { loss, weight, sampled } = self.check_label(artifact, label, &found)?;
        let CountedRow { row, confidence, group, prediction, time } = &found;
        let (row, confidence, group) = (*row, *confidence, group.as_deref());
        let class = |value: &ClassValue<'_>| predicted(artifact, value).ok().flatten();
        let prediction = prediction.as_ref().and_then(class);
        let raised = self.monitor.alarms_raised();
        self.count_label(&Feedback { row, confidence, loss, weight, group, prediction, sampled })?;
        if self.monitor.alarms_raised() > raised {
            let id = match &label.key {
                RowKey::Id(id) => Some(id.as_ref()),
                RowKey::Row(_) => None,
            };
            self.places.alarm(RowPlace::new(row, id, time.as_deref()));
        }
        match &label.key {
            RowKey::Id(id) => self.labelled.insert(id, label.label.outcome.hash()),
            RowKey::Row(row) => self.labelled_rows.insert(*row),
        }
        Ok(LabelAnswer::Counted)
    }

    /// What is known of a row that a report names; of one that is not remembered, the time of one shortly
    /// before it.
    pub fn place(&self, row: u64) -> Option<RowPlace> {
        self.places.of(row)
    }

    /// The first row, and the latest time.
    pub fn span(&self) -> (Option<RowPlace>, Option<String>) {
        (self.places.first().cloned(), self.last_time.clone())
    }

    /// The last rows and labels, if a history is kept and there are more than these.
    pub fn window(&self, report: &MonitorReport) -> Option<Window> {
        window(report, self.history.as_ref()?, &self.places, self.last_time.as_deref())
    }

    /// What becomes of a label of an identifier whose label was counted before.
    pub fn known(&self, id: &str, outcome: &Outcome<'_>) -> Option<LabelAnswer> {
        let same = self.labelled.get(id)? == outcome.hash();
        Some(if same { LabelAnswer::Repeated } else { LabelAnswer::Changed })
    }

    /// Counts all of these records, or none where one is not valid or the work is interrupted.
    pub fn record_all<'a>(
        &mut self,
        artifact: &Artifact,
        records: impl Iterator<Item = Result<ScoredRecord<'a>, RecordErrorKind>> + Clone,
    ) -> Result<(), LabError> {
        let check =
            |state: &Self, record: &ScoredRecord<'_>| state.check(artifact, record).map(drop);
        let records = records.map(|record| record.map(Some));
        self.all_or_none(records, check, |state, record| state.record(artifact, record).map(drop))?;
        self.monitor.compare_labels();
        Ok(())
    }

    /// Counts all of these labels, each with its row, or none where one is not valid or the work is
    /// interrupted. `None` is a row without a label. Returns how many were counted before, and are not
    /// counted again.
    pub fn label_all<'a>(
        &mut self,
        artifact: &Artifact,
        labels: impl Iterator<Item = Result<Option<LabelledRow<'a>>, RecordErrorKind>> + Clone,
    ) -> Result<usize, LabError> {
        let repeated = Cell::new(0);
        let check = |state: &Self, (label, found): &LabelledRow<'_>| {
            state.check_label(artifact, label, found).map(drop)
        };
        self.all_or_none(labels, check, |state, (label, found)| {
            let answer = state.label(artifact, label, |_| Lookup::One(found.clone()))?;
            repeated.set(repeated.get() + usize::from(answer != LabelAnswer::Counted));
            Ok(())
        })?;
        self.monitor.compare_labels();
        Ok(repeated.get())
    }

    fn all_or_none<T>(
        &mut self,
        items: impl Iterator<Item = Result<Option<T>, RecordErrorKind>> + Clone,
        check: impl Fn(&Self, &T) -> Result<(), RecordErrorKind>,
        count: impl Fn(&mut Self, &T) -> Result<(), RecordErrorKind>,
    ) -> Result<(), LabError> {
        // What is valid is counted without an error, so that only long work, which may be interrupted, needs
        // a copy.
        if each(items.clone(), |item| check(self, &item))? <= CHUNK {
            each(items, |item| count(self, &item))?;
            return Ok(());
        }
        let mut next = self.clone();
        each(items, |item| count(&mut next, &item))?;
        *self = next;
        Ok(())
    }

    /// Adds another part of the stream, watched with the same artifact and settings. Parts in which the same
    /// identifier has a label are refused. A history begins anew: those of parts do not add up to one.
    pub fn merge(&mut self, other: &StreamState) -> Result<(), LabError> {
        if self.artifact != other.artifact {
            return Err(Error::StatesDiffer.into());
        }
        let twice = other.labelled.0.keys().filter(|id| self.labelled.0.contains_key(*id)).count();
        if twice > 0 {
            return Err(LabError::LabelledTwice { labels: twice });
        }
        self.monitor.merge(&other.monitor)?;
        self.labelled.0.extend(&other.labelled.0);
        self.labelled_rows.merge(&other.labelled_rows);
        let earlier =
            |last: &String| other.last_time.as_ref().is_some_and(|time| before(last, time));
        if self.last_time.as_ref().is_none_or(earlier) {
            self.last_time.clone_from(&other.last_time);
        }
        if let Some(history) = &mut self.history {
            *history = History::default();
            self.report();
        }
        Ok(())
    }

    /// What is counted of a record, if it is valid.
    fn check(
        &self,
        artifact: &Artifact,
        record: &ScoredRecord<'_>,
    ) -> Result<Checked, RecordErrorKind> {
        if record.confidence.is_nan() {
            return Err(RecordErrorKind::Confidence);
        }
        check_acceptance(record, &Threshold::given(self.monitor.threshold()))?;
        let class = |value: &ClassValue<'_>| predicted(artifact, value).transpose();
        let prediction = record.prediction.as_ref().and_then(class).transpose()?;
        let max_loss = self.monitor.settings().max_loss;
        let label = record.label.as_ref();
        let label = label
            .map(|label| label.cost(artifact, record.prediction.as_ref(), max_loss))
            .transpose()?;
        Ok(Checked { prediction, label })
    }

    /// The loss and the weight of a label, if it is valid.
    fn check_label(
        &self,
        artifact: &Artifact,
        label: &LabelRecord<'_>,
        found: &CountedRow<'_>,
    ) -> Result<Cost, RecordErrorKind> {
        let (row, rows) = (found.row, self.monitor.rows());
        if row >= rows {
            return Err(RecordErrorKind::NotCounted { row, rows });
        }
        if found.confidence.is_nan() {
            return Err(RecordErrorKind::Confidence);
        }
        let max_loss = self.monitor.settings().max_loss;
        label.label.cost(artifact, found.prediction.as_ref(), max_loss)
    }

    fn count_label(&mut self, feedback: &Feedback<'_>) -> Result<(), RecordErrorKind> {
        let (loss, max_loss) = (feedback.loss, self.monitor.settings().max_loss);
        self.monitor.label(feedback).map_err(|_| RecordErrorKind::Loss { loss, max_loss })?;
        if let Some(history) = &mut self.history
            && history.labels_are_due(self.monitor.labels_of_accepted())
        {
            history.push_labels(&self.monitor.report(), feedback.row);
        }
        Ok(())
    }
}

/// Calls a function with each item until one is wrong, and says how many there are.
fn each<T>(
    items: impl Iterator<Item = Result<Option<T>, RecordErrorKind>>,
    mut one: impl FnMut(T) -> Result<(), RecordErrorKind>,
) -> Result<usize, LabError> {
    let mut rows = 0;
    for item in items {
        if rows % CHUNK == 0 {
            stop::check()?;
        }
        let wrong = |kind| RecordError::new(RecordPlace::Row(rows), kind);
        item.and_then(|item| item.map_or(Ok(()), &mut one)).map_err(wrong)?;
        rows += 1;
    }
    Ok(rows)
}

/// A label, and the row that it belongs to.
pub type LabelledRow<'a> = (LabelRecord<'a>, CountedRow<'a>);

/// What is counted of a record: the predicted class and its label.
struct Checked {
    prediction: Option<u32>,
    label: Option<Cost>,
}

/// A state as text.
pub fn stream_to_json(state: &StreamState) -> Result<String, LabError> {
    serde_json::to_string(state).map_err(|error| LabError::State { problem: error.to_string() })
}

/// Reads the state of the stream of an artifact, or that of its monitor alone, from which it goes on as well.
pub fn stream_from_json(artifact: &Artifact, text: &str) -> Result<StreamState, LabError> {
    #[derive(Deserialize)]
    struct Head<'a> {
        format: &'a str,
    }
    let problem = |error: serde_json::Error| LabError::State { problem: error.to_string() };
    let Head { format } = serde_json::from_str(text).map_err(problem)?;
    if format != "abstain-monitor" {
        let state: StreamState = serde_json::from_str(text).map_err(problem)?;
        state.check_artifact(artifact)?;
        return Ok(state);
    }
    let monitor: Monitor = serde_json::from_str(text).map_err(problem)?;
    if artifact.threshold().map(|threshold| threshold.at) != Some(monitor.threshold()) {
        return Err(LabError::OtherArtifactWatched);
    }
    Ok(StreamState::of(fingerprint(artifact), monitor))
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let version = u32::deserialize(deserializer)?;
    if version == StreamState::VERSION {
        return Ok(version);
    }
    let known = StreamState::VERSION;
    Err(serde::de::Error::custom(format!("version {version} of a stream is not {known}")))
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

/// The SHA-256 of what decides which rows are accepted and what is promised of them.
fn fingerprint(artifact: &Artifact) -> String {
    // The threshold alone, as in the first version of artifacts: monitors have no other rules.
    let decisive =
        (&artifact.estimator, artifact.threshold(), &artifact.input, &artifact.reference);
    hash_of(serde_json::to_string(&decisive).unwrap_or_default().as_bytes())
}

/// A hash of bytes that come one after the other (FNV-1a): its value is all that has to be stored to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// The hash of a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut hash = Hash::default();
        hash.add(text.as_bytes());
        hash
    }

    /// Its bits.
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        format!("{:016x}", self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map(Hash).map_err(serde::de::Error::custom)
    }
}

/// The identifiers whose labels were counted, and what the labels were: hashes of both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Labelled(HashMap<u64, u64>);

impl Labelled {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The hash of the label of an identifier, if it was counted.
    fn get(&self, id: &str) -> Option<Hash> {
        self.0.get(&Hash::of(id).0).copied().map(Hash)
    }

    fn insert(&mut self, id: &str, label: Hash) {
        self.0.insert(Hash::of(id).0, label.0);
    }
}

impl Serialize for Labelled {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut pairs: Vec<_> = self.0.iter().collect();
        pairs.sort_unstable();
        let mut text = String::with_capacity(32 * pairs.len());
        for (id, label) in pairs {
            let _ = write!(text, "{id:016x}{label:016x}");
        }
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Labelled {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if !text.is_ascii() || text.len() % 32 != 0 {
            return Err(serde::de::Error::custom("labels whose number of digits is not whole"));
        }
        let number =
            |digits: &str| u64::from_str_radix(digits, 16).map_err(serde::de::Error::custom);
        let pairs = (0..text.len())
            .step_by(32)
            .map(|at| Ok((number(&text[at..at + 16])?, number(&text[at + 16..at + 32])?)));
        pairs.collect::<Result<_, _>>().map(Labelled)
    }
}
