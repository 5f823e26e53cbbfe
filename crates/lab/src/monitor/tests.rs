use super::*;
use abstain::monitor::{MonitorSettings, Reference};
use abstain::{Estimator, threshold::Basis};
use abstain_io::{RecordFile, RecordNames, Source};
use std::fmt::Write;
use std::path::Path;

fn artifact() -> Artifact {
    let mut artifact = Artifact::new(Estimator::MSP);
    artifact.classes = Some(3);
    artifact.class_names = Some(["cat", "dog", "fox"].map(String::from).to_vec());
    let confidences: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
    let reference = Reference::new(&confidences, &vec![0.0; 1000], None, 0.5, 1);
    artifact.reference = Some(reference.expect("a reference"));
    let basis = Basis::Risk {
        risk: 0.05,
        loss: "zero-one".into(),
        rows: 1000,
        accepted: 500,
        selective_risk: 0.0,
        weighted_coverage: None,
    };
    artifact.rule = Some(Threshold { at: 0.5, basis }.into());
    artifact
}

fn file(path: &Path, confidences: bool) -> RecordFile {
    RecordFile {
        source: Source::new(path).whole_lines(),
        format: None,
        names: RecordNames { others: Vec::new(), ..RecordNames::default() },
        confidences,
        row_by_row: false,
    }
}

struct Folder {
    inner: tempfile::TempDir,
    artifact: Artifact,
    state: WatchState,
}

impl Folder {
    fn new() -> Self {
        let artifact = artifact();
        let state = WatchState::new(&artifact, &MonitorSettings::default()).expect("a state");
        Folder { inner: tempfile::tempdir().expect("a folder"), artifact, state }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.inner.path().join(name), text).expect("written");
    }

    /// Watches what is in the files, after the state went through JSON.
    fn watch(&mut self, next_file: bool) -> Result<WatchResult, LabError> {
        let labels = self.inner.path().join("labels.csv");
        let request = WatchRequest {
            artifact: &self.artifact,
            settings: MonitorSettings::default(),
            records: file(&self.inner.path().join("records.csv"), true),
            labels: labels.exists().then(|| file(&labels, false)),
            next_file,
            earlier: Vec::new(),
            min_propensity: None,
        };
        let mut state = state_from_json(&state_to_json(&self.state)?)?;
        assert_eq!(state, self.state);
        let result = watch(&request, &mut state, &mut |_| Ok(()))?;
        self.state = state;
        Ok(result)
    }
}

/// Records `from..to` of a stream whose confidences repeat every 1000 rows.
fn records(to: u64) -> String {
    let mut text = String::from("id,time,prediction,confidence\n");
    for row in 0..to {
        let confidence = (row * 389 % 1000) as f64 / 1000.0;
        writeln!(text, "r{row},{row},cat,{confidence}").expect("a string");
    }
    text
}

#[test]
fn records_and_labels_are_counted_once() {
    let mut folder = Folder::new();
    folder.write("records.csv", &records(100));
    folder.write("labels.csv", "id,label\nr1,cat\nr2,dog\nr500,cat\n");
    let first = folder.watch(false).expect("watched");
    assert_eq!((first.new_records, first.new_labels), (100, 2));
    assert_eq!(first.problems[0].kind, RecordProblemKind::UnknownId);
    let again = folder.watch(false).expect("watched");
    assert_eq!((again.new_records, again.new_labels), (0, 0));
    assert_eq!(again.report, first.report);
    folder.write("records.csv", &records(600));
    let more = folder.watch(false).expect("watched");
    // The label that was unknown belongs to one of them.
    assert_eq!((more.new_records, more.new_labels), (500, 1));
    assert!(more.problems.is_empty());
    let mut whole = Folder::new();
    whole.write("records.csv", &records(600));
    whole.write("labels.csv", "id,label\nr1,cat\nr2,dog\nr500,cat\n");
    assert_eq!(whole.watch(false).expect("watched").report, more.report);
}

#[test]
fn labels_that_are_filled_in_repeated_or_changed() {
    let mut folder = Folder::new();
    folder.write("records.csv", &records(50));
    folder.write("labels.csv", "id,label\nr1,\nr2,cat\nr3,\n");
    assert_eq!(folder.watch(false).expect("watched").new_labels, 1);
    folder.write("labels.csv", "id,label\nr1,cat\nr2,cat\nr3,dog\nr3,dog\n");
    let filled = folder.watch(false).expect("watched");
    assert_eq!((filled.new_labels, filled.problems.len()), (2, 1));
    assert_eq!(filled.problems[0].kind, RecordProblemKind::LabelRepeated);
    folder.write("labels.csv", "id,label\nr1,dog\n");
    let changed = folder.watch(false).expect("watched");
    assert_eq!(changed.new_labels, 0);
    assert_eq!(changed.problems[0].kind, RecordProblemKind::LabelChanged);
    assert_eq!(changed.problems[0].examples, ["r1"]);
}

#[test]
fn files_that_were_replaced_are_noticed() {
    let mut folder = Folder::new();
    folder.write("records.csv", &records(100));
    folder.watch(false).expect("watched");
    let other = records(100).replace("r0,", "x0,");
    let shorter = records(50);
    let later = records(100).replace("r99,", "x99,");
    for text in [other, shorter, later] {
        folder.write("records.csv", &text);
        let error = folder.watch(false).expect_err("replaced");
        assert!(matches!(error, LabError::RecordsReplaced { rows: 100, .. }), "{error}");
    }
    folder.write("records.csv", &records(30).replace("r0,", "new,"));
    let next = folder.watch(true).expect("the next file");
    assert_eq!((next.new_records, next.report.records), (30, 130));
    // The same call once more: the file begins with what was counted.
    assert_eq!(folder.watch(true).expect("watched").new_records, 0);
}

#[test]
fn wrong_records_are_refused_with_their_rows() {
    let wrong = |text: &str, labels: Option<&str>| {
        let mut folder = Folder::new();
        folder.write("records.csv", text);
        if let Some(labels) = labels {
            folder.write("labels.csv", labels);
        }
        folder.watch(false).map(|_| ()).map_err(|error| error.to_string())
    };
    let other = wrong("id,confidence,accept\na,0.9,true\nb,0.8,false\n", None);
    assert!(
        other
            .expect_err("another threshold")
            .contains("row 1: the confidence 0.8 was not accepted")
    );
    let class = wrong("id,prediction,confidence\na,7,0.9\n", None);
    assert!(class.expect_err("no class").contains("the prediction 7 is no class: there are 3"));
    let alike = wrong("id,prediction,confidence\na,cat,0.9\n", Some("id,label\na,wolf\n"));
    assert!(alike.expect_err("another name").contains("not named alike"));
    let ids = wrong("prediction,confidence\ncat,0.9\n", Some("id,label\na,cat\n"));
    assert!(ids.expect_err("no ids").contains("no column of ids"));
    let none = wrong("id,confidence\na,0.9\n", Some("id,colour\na,red\n"));
    assert!(none.expect_err("no labels").contains("no column of labels"));
    let loss = wrong("id,confidence\na,0.9\n", Some("id,loss\na,3\n"));
    assert!(loss.expect_err("too large").contains("id a: the loss 3 is not from 0 to 1"));
    let flags = wrong("prediction,label,correct,confidence\ncat,dog,1,0.9\n", None);
    assert!(flags.expect_err("contradicts").contains("the flag '1' contradicts"));
    assert!(wrong("prediction,label,correct,confidence\n0,cat,1,0.9\n1,1.0,1,0.8\n", None).is_ok());
    assert!(wrong("id,confidence\na,0.9\n", Some("id,label\na,cat\n")).is_err());
    assert!(wrong("id,prediction,confidence\na,0,0.9\n", Some("id,label\na,cat\n")).is_ok());
}

#[test]
fn times_that_go_backwards_are_counted_and_said() {
    let mut folder = Folder::new();
    folder.write(
        "records.csv",
        "id,time,confidence\na,2026-01-02,0.9\nb,2026-01-01,0.9\nc,2026-01-03,0.9\n",
    );
    let result = folder.watch(false).expect("watched");
    assert_eq!(result.new_records, 3);
    assert_eq!(result.problems[0].kind, RecordProblemKind::TimeBackwards);
    assert_eq!(result.problems[0].count, 1);
}

/// Twenty days of a hundred rows: half are accepted on the first ten, nine in ten later.
#[test]
fn now_is_the_last_week() {
    let mut folder = Folder::new();
    let mut text = String::from("id,time,confidence\n");
    for row in 0..2000 {
        let (day, sure) = (row / 100, if row < 1000 { row % 2 == 0 } else { row % 10 != 0 });
        let confidence = if sure { 0.9 } else { 0.1 };
        writeln!(text, "r{row},2026-01-{:02}T12:00,{confidence}", day + 1).expect("a string");
    }
    folder.write("records.csv", &text);
    let result = folder.watch(false).expect("watched");
    let now = result.now.expect("more than a week");
    assert_eq!(now.days, Some(7.0));
    // Days 13 to 20 at most, from the last point of the history before.
    assert!((700..900).contains(&now.rows), "{}", now.rows);
    assert!((now.coverage - 0.9).abs() < 0.02, "{}", now.coverage);
    assert_eq!(result.report.coverage.share, Some(0.7));
    let first = result.first.expect("a first row");
    assert_eq!(
        (first.id.as_deref(), first.time.as_deref()),
        (Some("r0"), Some("2026-01-01T12:00"))
    );
    assert_eq!(result.last_time.as_deref(), Some("2026-01-20T12:00"));
    // The alarm is named by the id and the time of its row.
    let alarm = result.report.alarms.first().expect("an alarm").alarm;
    let place = result.places.iter().find(|place| place.row == alarm.row).expect("a place");
    assert_eq!(place.id, Some(format!("r{}", alarm.row)));
    assert_eq!(place.time, Some(format!("2026-01-{:02}T12:00", alarm.row / 100 + 1)));
}

#[test]
fn ids_that_several_records_have_take_no_label() {
    let mut folder = Folder::new();
    folder.write("records.csv", "id,prediction,confidence\na,cat,0.9\na,cat,0.7\nb,cat,0.8\n");
    folder.write("labels.csv", "id,label\na,cat\nb,cat\n");
    let result = folder.watch(false).expect("watched");
    assert_eq!(result.new_labels, 1);
    assert_eq!(result.problems[0].kind, RecordProblemKind::RepeatedId);
}

#[test]
fn propensities_weigh_labels() {
    let mut folder = Folder::new();
    folder.write("records.csv", &records(1000));
    let mut labels = String::from("id,correct,propensity,min_propensity\n");
    for row in 0..1000 {
        let right = u8::from(row % 10 != 0);
        let propensity = if row % 10 == 0 { 0.4 } else { 0.1 };
        writeln!(labels, "r{row},{right},{propensity},0.1").expect("a string");
    }
    folder.write("labels.csv", &labels);
    let report = folder.watch(false).expect("watched").report;
    // One of ten is wrong, and counts a quarter.
    let mean = report.risk.expect("a target").mean.expect("labels");
    assert!((mean - 0.025 / 0.925).abs() < 1e-4, "{mean}");
    for labels in [
        "id,correct,propensity\nr1,1,0.1\n",
        "id,correct,propensity,min_propensity\nr1,1,0.1,0.2\n",
    ] {
        let mut folder = Folder::new();
        folder.write("records.csv", &records(10));
        folder.write("labels.csv", labels);
        assert!(matches!(folder.watch(false), Err(LabError::Record(_))), "{labels}");
    }
}

#[test]
fn labels_beside_records_count_where_there_is_no_other_file() {
    let mut folder = Folder::new();
    let mut text = String::from("prediction,confidence,label\n");
    for row in 0..100 {
        writeln!(text, "cat,0.9,{}", if row % 2 == 0 { "cat" } else { "" }).expect("a string");
    }
    folder.write("records.csv", &text);
    let result = folder.watch(false).expect("watched");
    assert_eq!((result.new_records, result.new_labels), (100, 50));
}

#[test]
fn histories_keep_their_size() {
    let mut folder = Folder::new();
    folder.write("records.csv", &records(5000));
    let mut labels = String::from("id,label\n");
    for row in 0..5000 {
        writeln!(labels, "r{row},cat").expect("a string");
    }
    folder.write("labels.csv", &labels);
    folder.watch(false).expect("watched");
    let History { rows, labels } = folder.state.stream.history().expect("kept");
    assert!((60..=130).contains(&rows.len()) && (60..=130).contains(&labels.len()));
    assert_eq!(rows.last().map(|point| point.row), Some(5000));
    assert!(rows.windows(2).all(|pair| pair[0].row < pair[1].row));
    assert!(labels.windows(2).all(|pair| pair[0].labels < pair[1].labels));
}

#[test]
fn states_of_others_are_refused() {
    let mut folder = Folder::new();
    folder.write("records.csv", &records(10));
    folder.watch(false).expect("watched");
    folder.artifact.rule = Some(Threshold::given(0.4).into());
    assert!(matches!(folder.watch(false), Err(LabError::OtherArtifactWatched)));
    let later =
        state_to_json(&folder.state).expect("text").replace("\"version\":2", "\"version\":3");
    assert!(matches!(state_from_json(&later), Err(LabError::StateVersion { found: 3 })));
    for text in ["", "{}", "[]", "{\"format\":\"abstain-watch\"}"] {
        assert!(matches!(state_from_json(text), Err(LabError::State { .. })), "{text}");
    }
}

/// The name of an artifact of the first version in the states of its time.
#[test]
fn artifacts_of_version_1_keep_their_name() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/version-1/confidence.json");
    let old = abstain_io::read_artifact(Path::new(path)).expect("an artifact");
    let state = StreamState::new(&old, &MonitorSettings::default()).expect("a state");
    let json = stream_to_json(&state).expect("a text");
    let name = "407c53f56cf8603e67eddb008bae7ddf0ce9e9c1a00208b67ba3c5bf815f49a7";
    assert!(json.contains(&format!("\"artifact\":\"{name}\"")), "{json}");
}

/// The layout of version 1, in which cursor and stream were one.
#[test]
fn states_of_version_1_go_on() {
    let mut folder = Folder::new();
    folder.write("records.csv", &records(100));
    folder.write("labels.csv", "id,label\nr1,cat\nr2,dog\n");
    folder.watch(false).expect("watched");
    let text = state_to_json(&folder.state).expect("text");
    let mut stored: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let (mut cursor, mut stream) = (stored["cursor"].take(), stored["stream"].take());
    let flat = stored.as_object_mut().expect("an object");
    flat.retain(|key, _| key != "cursor" && key != "stream");
    flat.insert("version".into(), 1.into());
    for part in [cursor.as_object_mut(), stream.as_object_mut()] {
        let part = part.expect("an object");
        // Version 1 knew neither paths nor what rows are called.
        let later = ["format", "version", "places", "path", "before"];
        part.retain(|key, _| !later.contains(&key.as_str()));
        flat.append(part);
    }
    let read = state_from_json(&stored.to_string()).expect("a state");
    assert_eq!(read.stream.monitor(), folder.state.stream.monitor());
    assert_eq!(read.stream.history(), folder.state.stream.history());
    assert_eq!(read.cursor.file, folder.state.cursor.file);
    // One that a program of that version wrote.
    let seed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/state/version-1.json");
    let text = std::fs::read_to_string(seed).expect("the seed of a fuzz target");
    let state = state_from_json(&text).expect("a state");
    assert!(state.cursor.file.rows > 0 && state.stream.monitor().labels() > 0);
}

fn stream() -> (Artifact, StreamState) {
    let artifact = artifact();
    let state = StreamState::new(&artifact, &MonitorSettings::default()).expect("a state");
    (artifact, state.with_history())
}

fn label_of<'a>(id: &'a str, outcome: Outcome<'a>) -> LabelRecord<'a> {
    LabelRecord { key: RowKey::Id(id.into()), label: Label { outcome, propensity: None } }
}

fn cat<'a>() -> ClassValue<'a> {
    ClassValue::Text("cat".into())
}

/// Where a service would look its rows up.
fn row_of(key: &RowKey<'_>) -> Lookup<'static> {
    let RowKey::Id(id) = key else { return Lookup::Unknown };
    match id.as_ref() {
        "twice" => Lookup::Several,
        id => {
            id.strip_prefix('r').and_then(|row| row.parse().ok()).map_or(Lookup::Unknown, |row| {
                let (prediction, group) = (Some(cat()), None);
                Lookup::One(CountedRow { row, confidence: 0.9, prediction, group, time: None })
            })
        }
    }
}

#[test]
fn every_label_has_an_answer() {
    let (artifact, mut state) = stream();
    for _ in 0..3 {
        state.record(&artifact, &ScoredRecord::new(0.9)).expect("a record");
    }
    let mut answer = |label: LabelRecord<'_>| state.label(&artifact, &label, row_of);
    let right = || Outcome::Label(cat());
    assert_eq!(answer(label_of("r0", right())), Ok(LabelAnswer::Counted));
    assert_eq!(answer(label_of("r0", right())), Ok(LabelAnswer::Repeated));
    assert_eq!(answer(label_of("r0", Outcome::Correct(true))), Ok(LabelAnswer::Changed));
    assert_eq!(answer(label_of("x", right())), Ok(LabelAnswer::Unknown));
    assert_eq!(answer(label_of("twice", right())), Ok(LabelAnswer::Several));
    // A flag and its loss are the same label.
    assert_eq!(answer(label_of("r1", Outcome::Correct(false))), Ok(LabelAnswer::Counted));
    assert_eq!(answer(label_of("r1", Outcome::Loss(1.0))), Ok(LabelAnswer::Repeated));
    assert!(matches!(
        answer(label_of("r3", right())),
        Err(RecordErrorKind::NotCounted { row: 3, rows: 3 })
    ));
    assert_eq!(state.monitor().labels(), 2);
    assert_eq!(state.report().risk.and_then(|risk| risk.mean), Some(0.5));
}

#[test]
fn what_is_not_valid_changes_nothing() {
    let (artifact, mut state) = stream();
    let good = ScoredRecord { time: Some("2"), ..ScoredRecord::new(0.9) };
    state.record(&artifact, &good).expect("a record");
    let before = state.clone();
    let labelled = |outcome| Some(Label { outcome, propensity: None });
    let time = Some("3");
    for wrong in [
        ScoredRecord { time, ..ScoredRecord::new(f64::NAN) },
        ScoredRecord { time, accept: Some(false), ..good.clone() },
        ScoredRecord { time, prediction: Some(ClassValue::Number(3)), ..good.clone() },
        ScoredRecord { time, prediction: Some(ClassValue::Number(-1)), ..good.clone() },
        ScoredRecord { time, label: labelled(Outcome::Loss(1.5)), ..good.clone() },
        ScoredRecord { time, label: labelled(Outcome::Loss(f64::NAN)), ..good.clone() },
        ScoredRecord { time, label: labelled(Outcome::Label(cat())), ..good.clone() },
    ] {
        assert!(state.record(&artifact, &wrong).is_err(), "{wrong:?}");
        assert_eq!(state, before);
        let batch = [good.clone(), wrong].map(Ok);
        let error = state.record_all(&artifact, batch.into_iter()).expect_err("one is wrong");
        assert!(error.to_string().starts_with("row 1: "), "{error}");
        assert_eq!(state, before);
    }
    for outcome in [Outcome::Loss(-1.0), Outcome::Label(ClassValue::Text("wolf".into()))] {
        assert!(state.label(&artifact, &label_of("r0", outcome), row_of).is_err());
        assert_eq!(state, before);
    }
    assert!(Propensity::new(0.1, 0.2).is_err() && Propensity::new(0.5, 0.0).is_err());
    let earlier = ScoredRecord { time: Some("1"), ..good };
    assert!(state.record(&artifact, &earlier).expect("a record").time_backwards);
}

#[test]
fn parts_are_merged_where_no_label_is_in_both() {
    let (artifact, empty) = stream();
    let count = |rows: std::ops::Range<u64>| {
        let mut state = empty.clone();
        for row in rows {
            let confidence = (row * 389 % 1000) as f64 / 1000.0;
            let record = ScoredRecord { row: Some(row), ..ScoredRecord::new(confidence) };
            state.record(&artifact, &record).expect("a record");
            let (prediction, group, time) = (None, None, None);
            let found = CountedRow { row, confidence, prediction, group, time };
            let id = row.to_string();
            let label = label_of(&id, Outcome::Correct(row % 10 != 0));
            let answer = state.label(&artifact, &label, |_| Lookup::One(found));
            assert_eq!(answer, Ok(LabelAnswer::Counted));
        }
        state
    };
    let mut merged = count(0..500);
    merged.merge(&count(500..1000)).expect("parts of one stream");
    let whole = count(0..1000);
    let (mine, all) = (merged.monitor().report(), whole.monitor().report());
    assert_eq!((mine.records, mine.accepted, mine.labels), (1000, all.accepted, 1000));
    assert_eq!(mine.risk.and_then(|risk| risk.mean), all.risk.and_then(|risk| risk.mean));
    // What either part counted is known.
    assert_eq!(merged.known("3", &Outcome::Correct(true)), Some(LabelAnswer::Repeated));
    assert_eq!(merged.known("700", &Outcome::Correct(true)), Some(LabelAnswer::Changed));
    assert_eq!(merged.history().map(|history| history.rows.len()), Some(1));
    let before = merged.clone();
    let error = merged.merge(&count(999..1001)).expect_err("a label of both");
    assert!(matches!(error, LabError::LabelledTwice { labels: 1 }), "{error}");
    assert_eq!(merged, before);
    let mut other = artifact.clone();
    other.rule = Some(Threshold::given(0.4).into());
    let other = StreamState::new(&other, &MonitorSettings::default()).expect("a state");
    assert!(merged.merge(&other).is_err());
    // Text and back, and the state of a monitor alone.
    let text = stream_to_json(&merged).expect("text");
    assert_eq!(stream_from_json(&artifact, &text).expect("a state"), merged);
    let alone = serde_json::to_string(merged.monitor()).expect("text");
    let alone = stream_from_json(&artifact, &alone).expect("a state");
    assert_eq!((alone.monitor(), alone.history()), (merged.monitor(), None));
}

#[test]
fn labels_certify_a_threshold_anew() {
    let mut artifact = artifact();
    artifact.reference = None;
    let settings = MonitorSettings { target_risk: Some(0.1), ..MonitorSettings::default() };
    let mut state = StreamState::new(&artifact, &settings).expect("a state");
    assert!(matches!(
        recertified(&artifact, state.monitor()),
        Err(LabError::Refused(Refusal::NothingCertified { .. }))
    ));
    let label = Some(Label { outcome: Outcome::Loss(0.0), propensity: None });
    for _ in 0..400 {
        let record = ScoredRecord { label: label.clone(), ..ScoredRecord::new(1.0) };
        state.record(&artifact, &record).expect("a record");
    }
    let found = recertified(&artifact, state.monitor()).expect("a certificate");
    found.check().expect("a sound artifact");
    assert!(matches!(found.threshold(), Some(Threshold { at: 0.5, basis: Basis::Anytime { .. } })));
}
