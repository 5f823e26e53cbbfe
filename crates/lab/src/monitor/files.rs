//! Files as records and labels: what is new in them since the state was stored.
//!
//! Each record is counted once: the [`FileCursor`](super::FileCursor) says how much of their file was counted,
//! and recognises it by a hash. Labels are found by the identifiers of their rows, for which the file is read
//! from its beginning. A state that was lost is made again from the same files, row for row.

use super::cursor::{Counted, EarlierFile, Reading, Replaced, WatchState};
use super::places::RowPlace;
use super::record::{
    ClassValue, CountedRow, Label, LabelRecord, Lookup, Outcome, Propensity, RecordError,
    RecordErrorKind, RecordPlace, RowKey, ScoredRecord,
};
use super::state::{LabelAnswer, StreamState};
use super::window::Window;
use super::{EachRecord, RecordSource};
use crate::error::LabError;
use abstain::Artifact;
use abstain::monitor::{MonitorReport, MonitorSettings, NamedAlarm};
use abstain_io::{RecordFile, RecordRow, Role, Source, truth_of};
use serde::Serialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

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
    /// Files of records that were counted before, where they are not where they were: in these, and in those
    /// that are, the rows of late labels are found.
    pub earlier: Vec<RecordFile>,
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
    /// The first row and the latest time, if records have identifiers or times.
    pub first: Option<RowPlace>,
    /// The latest time of a record.
    pub last_time: Option<String>,
    /// The identifiers and times of rows that the report names.
    pub places: Vec<RowPlace>,
    /// The last rows and labels, if there are more than these.
    pub now: Option<Window>,
}

impl WatchResult {
    /// What is known now, whoever counted it.
    pub fn of(stream: &mut StreamState) -> Self {
        let counted = stream.report();
        WatchResult::new(stream, (counted.records, counted.labels), Vec::new())
    }

    fn new(stream: &mut StreamState, before: (u64, u64), problems: Vec<RecordProblem>) -> Self {
        let report = stream.report();
        let of_alarm = |alarm: &NamedAlarm| [Some(alarm.alarm.row), alarm.alarm.change];
        let since = report.risk.and_then(|risk| risk.since_change).map(|since| since.row);
        let mut rows: Vec<u64> = report.alarms.iter().flat_map(of_alarm).flatten().collect();
        rows.extend([report.certified_since, report.changed_since, since].into_iter().flatten());
        rows.sort_unstable();
        rows.dedup();
        let (first, last_time) = stream.span();
        WatchResult {
            new_records: report.records - before.0,
            new_labels: report.labels - before.1,
            problems,
            first,
            last_time,
            places: rows.into_iter().filter_map(|row| stream.place(row)).collect(),
            now: stream.window(&report),
            report,
        }
    }

    /// What is known of a row that the report names.
    pub fn place(&self, row: u64) -> Option<&RowPlace> {
        self.places.iter().find(|place| place.row == row)
    }
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

    /// What a label was not counted for.
    fn add_label(&mut self, answer: LabelAnswer, id: &str) {
        let kind = match answer {
            LabelAnswer::Counted => return,
            LabelAnswer::Repeated => RecordProblemKind::LabelRepeated,
            LabelAnswer::Changed => RecordProblemKind::LabelChanged,
            LabelAnswer::Unknown => RecordProblemKind::UnknownId,
            LabelAnswer::Several => RecordProblemKind::RepeatedId,
        };
        self.add(kind, || id.to_string());
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
    next.cursor.group = group.cloned();
    let result = count(request, &mut next, on_record)?;
    *state = next;
    Ok(result)
}

fn count(
    request: &WatchRequest<'_>,
    state: &mut WatchState,
    on_record: &mut OnRecord<'_>,
) -> Result<WatchResult, LabError> {
    let monitor = state.stream.monitor();
    let before = (monitor.records(), monitor.labels());
    let mut watching = Watching {
        request,
        problems: Problems::default(),
        beside_flags: HashMap::new(),
        unfilled: 0,
    };
    let labels = watching.new_labels(state)?;
    let rows = watching.count_records(state, &labels, on_record)?;
    watching.count_labels(state, &labels, &rows)?;
    state.stream.set_unfilled(watching.unfilled);
    let mut result = WatchResult::new(&mut state.stream, before, Vec::new());
    let report = &result.report;
    let compared = report.selection.as_ref().is_some_and(|selection| !selection.not_compared);
    if report.lacks_abstained_labels && compared {
        let abstained = report.records - report.accepted;
        return Err(LabError::NoAbstainedLabels { labels: report.labels, abstained });
    }
    let risk = report.risk.as_ref();
    let largest = Some(report.max_loss);
    if risk.is_some_and(|risk| risk.mean == largest && risk.test.observations >= SUSPICIOUS) {
        watching.problems.add(RecordProblemKind::NoneRight, || "all labels".into());
    }
    result.problems = watching.problems.0;
    Ok(result)
}

struct Watching<'a> {
    request: &'a WatchRequest<'a>,
    problems: Problems,
    /// Labels beside flags, by identifiers: the prediction of the row says whether they agree.
    beside_flags: HashMap<String, Outcome<'static>>,
    /// Rows that were chosen with a propensity and have no label.
    unfilled: u64,
}

/// The rows of a file that labels belong to, by their identifiers.
#[derive(Clone)]
struct RowsById(HashMap<String, Lookup<'static>>);

impl RowsById {
    /// Whether some rows were not found.
    fn lacks_some(&self) -> bool {
        self.0.values().any(|found| *found == Lookup::Unknown)
    }

    fn wanted_by(labels: &[LabelRecord<'_>]) -> Self {
        RowsById(labels.iter().map(|label| (label.key.to_string(), Lookup::Unknown)).collect())
    }

    fn add(&mut self, row: u64, record: &ScoredRecord<'_>) {
        let Some(found) = record.id.and_then(|id| self.0.get_mut(id)) else { return };
        *found = match found {
            Lookup::Unknown => Lookup::One(CountedRow {
                row,
                confidence: record.confidence,
                prediction: record.prediction.clone().map(ClassValue::into_owned),
                group: record.group.map(|group| group.to_string().into()),
                time: record.time.map(|time| time.to_string().into()),
            }),
            Lookup::One(_) | Lookup::Several => Lookup::Several,
        };
    }

    fn find(&self, key: &RowKey<'_>) -> Lookup<'static> {
        let RowKey::Id(id) = key else { return Lookup::Unknown };
        self.0.get(id.as_ref()).cloned().unwrap_or(Lookup::Unknown)
    }
}

impl Watching<'_> {
    /// The labels that were not counted yet.
    fn new_labels(&mut self, state: &WatchState) -> Result<Vec<LabelRecord<'static>>, LabError> {
        let mut labels = Vec::new();
        let mut seen = HashMap::new();
        let Some(file) = &self.request.labels else { return Ok(labels) };
        let columns = file.columns()?;
        let has = |role: Role| columns.iter().any(|(known, _)| *known == role);
        let path = || file.source.path().to_path_buf();
        if !has(Role::Id) {
            return Err(LabError::NoIds { path: path() });
        }
        if ![Role::Label, Role::Correct, Role::Loss].into_iter().any(has) {
            return Err(LabError::NoOutcomes { path: path() });
        }
        let mut sampled = None;
        file.each(|row, record| -> Result<bool, LabError> {
            let wrong = |kind| file.wrong(row, kind);
            let Some(outcome) = outcome_of(self.request.artifact, record).map_err(wrong)? else {
                self.unfilled += u64::from(record.get(Role::Propensity).is_some());
                return Ok(true);
            };
            let id = record.get(Role::Id).ok_or_else(|| wrong(RecordErrorKind::NoId))?;
            let hash = outcome.hash();
            match seen.entry(id.to_string()) {
                Entry::Occupied(first) => {
                    let same = *first.get() == hash;
                    let answer = if same { LabelAnswer::Repeated } else { LabelAnswer::Changed };
                    self.problems.add_label(answer, id);
                    return Ok(true);
                }
                Entry::Vacant(first) => first.insert(hash),
            };
            match state.stream.known(id, &outcome) {
                // In a file that grows, labels that were counted are no mistake.
                Some(LabelAnswer::Repeated) => return Ok(true),
                Some(answer) => {
                    self.problems.add_label(answer, id);
                    return Ok(true);
                }
                None => {}
            }
            if let (Outcome::Correct(_), Some(label)) = (&outcome, class_in(record, Role::Label)) {
                self.beside_flags.insert(id.to_string(), Outcome::Label(label).into_owned());
            }
            let propensity = self.propensity_of(record).map_err(wrong)?;
            if *sampled.get_or_insert(propensity.is_some()) != propensity.is_some() {
                return Err(wrong(RecordErrorKind::SomePropensities));
            }
            let label = Label { outcome: outcome.into_owned(), propensity };
            labels.push(LabelRecord { key: RowKey::Id(id.to_string().into()), label });
            Ok(true)
        })?;
        Ok(labels)
    }

    /// Counts the records that are new, and looks up those whose labels are.
    fn count_records(
        &mut self,
        state: &mut WatchState,
        labels: &[LabelRecord<'_>],
        on_record: &mut OnRecord<'_>,
    ) -> Result<RowsById, LabError> {
        let (artifact, file) = (self.request.artifact, &self.request.records);
        let path = || file.source.path().to_path_buf();
        let mut rows = RowsById::wanted_by(labels);
        // A stream can be read once only: its rows say whether they have identifiers.
        let streamed = file.source.path().as_os_str() == "-";
        if !labels.is_empty() && !streamed && !has_ids(file)? {
            return Err(LabError::NoIds { path: path() });
        }
        let mut reading = Reading::new(&state.cursor, self.request.next_file);
        let counted_before = reading.before.rows;
        let replaced =
            |_: Replaced| LabError::RecordsReplaced { path: path(), rows: counted_before };
        file.each(|row, record| -> Result<bool, LabError> {
            let wrong = |kind| file.wrong(row, kind);
            let mut scored = scored(record);
            let is_new = reading.advance(&mut state.cursor, scored.id, scored.confidence);
            let is_new = is_new.map_err(replaced)?;
            rows.add(state.cursor.earlier + row, &scored);
            if !is_new {
                return Ok(true);
            }
            // With a file of labels, those beside the records do not count.
            if self.request.labels.is_none()
                && let Some(outcome) = outcome_of(artifact, record).map_err(wrong)?
            {
                let propensity = self.propensity_of(record).map_err(wrong)?;
                scored.label = Some(Label { outcome, propensity });
            }
            let recorded = state.stream.record(artifact, &scored).map_err(wrong)?;
            if recorded.time_backwards {
                let example = || format!("row {}", recorded.row);
                self.problems.add(RecordProblemKind::TimeBackwards, example);
            }
            state.cursor.file = reading.read;
            on_record(state)?;
            Ok(true)
        })?;
        reading.finish().map_err(replaced)?;
        if !streamed {
            state.cursor.path = Some(path());
        }
        if rows.lacks_some() {
            self.find_earlier(state, &mut rows)?;
        }
        Ok(rows)
    }

    /// Looks for rows of labels in the files before the one that was read. Those that are gone, or are others
    /// now, have none.
    fn find_earlier(&self, state: &WatchState, rows: &mut RowsById) -> Result<(), LabError> {
        let RecordFile { format, names, .. } = &self.request.records;
        let known = state.cursor.before.iter().filter_map(|file| file.path.as_ref());
        let known = known.filter(|path| path.exists()).map(|path| RecordFile {
            source: Source::new(path),
            format: *format,
            names: names.clone(),
            confidences: true,
            row_by_row: false,
        });
        let known: Vec<RecordFile> = known.collect();
        for file in self.request.earlier.iter().chain(&known) {
            let (mut read, mut counted) = (Counted::default(), None::<&EarlierFile>);
            let mut found = rows.clone();
            file.each(|row, record| -> Result<bool, LabError> {
                let record = scored(record);
                read.add(record.id, record.confidence);
                if row == 0 {
                    let first = |earlier: &&EarlierFile| earlier.counted.first == read.first;
                    counted = state.cursor.before.iter().find(first);
                }
                let Some(earlier) = counted else { return Ok(false) };
                found.add(earlier.from + row, &record);
                Ok(read.rows < earlier.counted.rows)
            })?;
            if counted.is_some_and(|earlier| earlier.counted == read) {
                *rows = found;
            }
        }
        Ok(())
    }

    /// Counts the labels whose records were found, in the order of their file.
    fn count_labels(
        &mut self,
        state: &mut WatchState,
        labels: &[LabelRecord<'_>],
        rows: &RowsById,
    ) -> Result<(), LabError> {
        let Some(file) = &self.request.labels else { return Ok(()) };
        for label in labels {
            self.check_flag(label, rows)?;
            let counted = state.stream.label(self.request.artifact, label, |key| rows.find(key));
            let answer = counted.map_err(|kind| {
                let (path, id) = (file.source.path().to_path_buf(), label.key.to_string());
                RecordError::new(RecordPlace::Id { path, id }, kind)
            })?;
            self.problems.add_label(answer, &label.key.to_string());
        }
        Ok(())
    }

    /// Refuses a flag that contradicts the label beside it.
    fn check_flag(&self, label: &LabelRecord<'_>, rows: &RowsById) -> Result<(), LabError> {
        let (RowKey::Id(id), Outcome::Correct(right)) = (&label.key, &label.label.outcome) else {
            return Ok(());
        };
        let (Some(beside), Lookup::One(row)) =
            (self.beside_flags.get(id.as_ref()), rows.find(&label.key))
        else {
            return Ok(());
        };
        let (Some(prediction), Some(file)) = (&row.prediction, &self.request.labels) else {
            return Ok(());
        };
        // What cannot be compared contradicts nothing.
        let loss = beside.loss(self.request.artifact, Some(prediction));
        if !loss.is_ok_and(|loss| *right != (loss == 0.0)) {
            return Ok(());
        }
        let text = |outcome: &Outcome<'_>| match outcome {
            Outcome::Label(label) => label.to_string(),
            _ => String::new(),
        };
        let kind = RecordErrorKind::FlagContradicts {
            flag: right.to_string(),
            label: text(beside),
            prediction: prediction.to_string(),
        };
        let (path, id) = (file.source.path().to_path_buf(), id.to_string());
        Err(RecordError::new(RecordPlace::Id { path, id }, kind).into())
    }

    /// The probability with which a row was chosen for its label, if it states one.
    fn propensity_of(&self, record: &RecordRow<'_>) -> Result<Option<Propensity>, RecordErrorKind> {
        let Some(propensity) = number_in(record, Role::Propensity)? else {
            return Ok(None);
        };
        let smallest = match self.request.min_propensity {
            Some(smallest) => smallest,
            None => {
                number_in(record, Role::MinPropensity)?.ok_or(RecordErrorKind::NoMinPropensity)?
            }
        };
        Propensity::new(propensity, smallest).map(Some)
    }
}

impl RecordSource for RecordFile {
    fn each(&self, each: &mut EachRecord<'_>) -> Result<(), LabError> {
        RecordFile::each(self, |row, record| each(row, &scored(record)).map(|()| true))
    }

    fn wrong(&self, row: u64, kind: RecordErrorKind) -> LabError {
        let path = self.source.path().to_path_buf();
        match kind {
            // One row without an identifier, or a file without.
            RecordErrorKind::NoId if has_ids(self).is_ok_and(|has| !has) => {
                LabError::NoIds { path }
            }
            kind => RecordError::new(RecordPlace::File { path, row }, kind).into(),
        }
    }
}

fn has_ids(file: &RecordFile) -> Result<bool, LabError> {
    Ok(file.columns()?.iter().any(|(role, _)| *role == Role::Id))
}

/// A row of a file as a record, without its label.
fn scored<'a>(record: &RecordRow<'a>) -> ScoredRecord<'a> {
    ScoredRecord {
        id: record.get(Role::Id),
        prediction: class_in(record, Role::Prediction),
        group: record.get(Role::Group),
        accept: flag_in(record, Role::Accept).and_then(|(_, accept)| accept),
        time: record.get(Role::Time),
        ..ScoredRecord::new(record.confidence)
    }
}

/// What a row of a file says of how good its answer was.
fn outcome_of<'a>(
    artifact: &Artifact,
    record: &RecordRow<'a>,
) -> Result<Option<Outcome<'a>>, RecordErrorKind> {
    if let Some(loss) = number_in(record, Role::Loss)? {
        return Ok(Some(Outcome::Loss(loss)));
    }
    let label = class_in(record, Role::Label).map(Outcome::Label);
    let Some((text, right)) = flag_in(record, Role::Correct) else { return Ok(label) };
    let right = right.ok_or_else(|| RecordErrorKind::NotAFlag { text: text.to_string() })?;
    let prediction = class_in(record, Role::Prediction);
    if let (Some(label), Some(prediction)) = (label, &prediction)
        // What cannot be compared contradicts nothing.
        && label.loss(artifact, Some(prediction)).is_ok_and(|loss| right != (loss == 0.0))
    {
        return Err(RecordErrorKind::FlagContradicts {
            flag: text.to_string(),
            label: record.get(Role::Label).unwrap_or_default().to_string(),
            prediction: prediction.to_string(),
        });
    }
    Ok(Some(Outcome::Correct(right)))
}

/// A number as tables hold it.
fn number_in(record: &RecordRow<'_>, role: Role) -> Result<Option<f64>, RecordErrorKind> {
    let Some(text) = record.get(role) else { return Ok(None) };
    let wrong = |_| RecordErrorKind::NotANumber { role, text: text.to_string() };
    text.parse().map(Some).map_err(wrong)
}

/// A class as tables hold it.
fn class_in<'a>(record: &RecordRow<'a>, role: Role) -> Option<ClassValue<'a>> {
    record.get(role).map(|text| ClassValue::Text(text.into()))
}

/// A flag as tables hold it, and what it says if that can be read.
fn flag_in<'a>(record: &RecordRow<'a>, role: Role) -> Option<(&'a str, Option<bool>)> {
    record.get(role).map(|text| (text, truth_of(text)))
}
