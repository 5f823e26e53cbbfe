use super::*;
use abstain::Basis;
use abstain::monitor::Reference;
use abstain_io::{RecordNames, Source};
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
    assert!(class.expect_err("no class").contains("class 7 was predicted"));
    let alike = wrong("id,prediction,confidence\na,cat,0.9\n", Some("id,label\na,wolf\n"));
    assert!(alike.expect_err("another name").contains("not named alike"));
    let ids = wrong("prediction,confidence\ncat,0.9\n", Some("id,label\na,cat\n"));
    assert!(ids.expect_err("no ids").contains("no column of ids"));
    let none = wrong("id,confidence\na,0.9\n", Some("id,colour\na,red\n"));
    assert!(none.expect_err("no labels").contains("no column of labels"));
    let loss = wrong("id,confidence\na,0.9\n", Some("id,loss\na,3\n"));
    assert!(loss.expect_err("too large").contains("id a"));
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
        assert!(matches!(folder.watch(false), Err(LabError::Record { .. })), "{labels}");
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
    let History { rows, labels } = &folder.state.history;
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
    // The name of an artifact of the first version in the states of its time.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/version-1/confidence.json");
    let old = abstain_io::read_artifact(Path::new(path)).expect("an artifact");
    let state = WatchState::new(&old, &MonitorSettings::default()).expect("a state");
    let json = state_to_json(&state).expect("a text");
    let name = "407c53f56cf8603e67eddb008bae7ddf0ce9e9c1a00208b67ba3c5bf815f49a7";
    assert!(json.contains(&format!("\"artifact\":\"{name}\"")), "{json}");
    for text in ["", "{}", "[]", "{\"format\":\"abstain-watch\"}"] {
        assert!(matches!(state_from_json(text), Err(LabError::State { .. })), "{text}");
    }
}
