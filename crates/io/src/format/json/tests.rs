use crate::ReadOptions;
use crate::format::tests::{LABELS, ROWS, Sample, labels, put, rows};
use serde_json::{Value, json};

fn record(index: usize) -> Value {
    json!({ "id": format!("row {index}"), "logits": ROWS[index], "label": LABELS[index] })
}

fn lines(record: impl Fn(usize) -> Value) -> Vec<u8> {
    (0..ROWS.len()).flat_map(|index| format!("{}\n", record(index)).into_bytes()).collect()
}

pub(super) fn samples() -> Vec<Sample> {
    let array: Vec<Value> = (0..ROWS.len()).map(record).collect();
    let columns = json!({ "logits": ROWS, "label": LABELS });
    let open_ended = Sample { open_ended: true, ..Sample::both(lines(record)) };
    vec![
        open_ended,
        Sample::both(serde_json::to_vec(&array).expect("JSON")),
        Sample::both(serde_json::to_vec_pretty(&array).expect("JSON")),
        Sample::both(serde_json::to_vec(&columns).expect("JSON")),
    ]
}

#[test]
fn rows_are_read_from_every_kind_of_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |name: &str, data: &[u8]| {
        rows(&put(folder.path(), name, data), &ReadOptions::default())
            .map_err(|error| error.kind.to_string())
    };
    let expected: Vec<Vec<f64>> = ROWS.iter().map(|row| row.to_vec()).collect();
    // Bare rows, on lines and in an array; JSON lines that are named as JSON; numbers for each class.
    assert_eq!(read("rows.jsonl", &lines(|i| json!(ROWS[i]))), Ok(expected.clone()));
    assert_eq!(read("rows.json", json!(ROWS).to_string().as_bytes()), Ok(expected.clone()));
    assert_eq!(read("lines.json", &lines(record)), Ok(expected.clone()));
    let named = |i: usize| {
        let [a, b, c, d] = ROWS[i];
        json!({ "logit_3": d, "logit_0": a, "logit_2": c, "logit_1": b, "loss": 0.5 })
    };
    assert_eq!(read("named.jsonl", &lines(named)), Ok(expected.clone()));
    // Objects in objects.
    let nested = |i: usize| json!({ "output": { "logits": ROWS[i] }, "label": LABELS[i] });
    assert_eq!(read("nested.jsonl", &lines(nested)), Ok(expected));
}

#[test]
fn labels_with_scores_are_classes_by_their_labels() {
    let folder = tempfile::tempdir().expect("a folder");
    let answer = |positive: f64, first: bool| {
        let (yes, no) = (
            json!({ "label": "POSITIVE", "score": positive }),
            json!({ "label": "NEGATIVE", "score": 1.0 - positive }),
        );
        json!(if first { [yes, no] } else { [no, yes] })
    };
    let read = |text: &str| {
        let path = put(folder.path(), "answers.jsonl", text.as_bytes());
        rows(&path, &ReadOptions::default()).map_err(|error| error.kind.to_string())
    };
    // By falling score: the order differs from row to row.
    let bare = format!("{}\n{}\n", answer(0.75, true), answer(0.25, false));
    assert_eq!(read(&bare), Ok(vec![vec![0.25, 0.75], vec![0.75, 0.25]]));
    let text = |answer: Value| json!({ "text": "fine", "output": answer, "label": "POSITIVE" });
    let records = format!("{}\n{}\n", text(answer(0.75, true)), text(answer(0.25, false)));
    assert_eq!(read(&records), Ok(vec![vec![0.25, 0.75], vec![0.75, 0.25]]));
    let missing = format!("{}\n{}\n", answer(0.75, true), r#"[{"label":"POSITIVE","score":1.0}]"#);
    assert!(read(&missing).is_err());
}

#[test]
fn broken_records_are_refused_with_their_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |text: &str| {
        let path = put(folder.path(), "x.jsonl", text.as_bytes());
        rows(&path, &ReadOptions::default()).unwrap_err().kind.to_string()
    };
    let good = r#"{"logits": [1.5, 2.0]}"#;
    for (record, problem) in [
        (r#"{"logits": [1.5]}"#, "row 1: 1 values where 2 were expected"),
        (r#"{"logits": null}"#, "row 1, column logits: the value is missing"),
        (r#"{"other": [1.5, 2.0]}"#, "row 1, column logits: the value is missing"),
        (r#"{"logits": [1.5, "x"]}"#, "row 1, column 'logits': 'x' is not a number"),
        (r#"{"logits": [1.5, null]}"#, "row 1, column 'logits': 'null' is not a number"),
        (r#"{"logits": "no"}"#, "row 1, column 'logits': 'no' is not a number"),
    ] {
        assert_eq!(read(&format!("{good}\n{record}\n")), problem);
    }
    for rest in ["{\"logits\": [1.5", "nonsense", "7"] {
        let message = read(&format!("{good}\n{rest}"));
        assert!(message.starts_with("not a sound jsonl file: row 1"), "{message}");
    }
    assert_eq!(read("[]"), "there are no rows");
    let infinite = read("{\"logits\": [\"inf\", 2.0]}\n");
    assert_eq!(infinite, "row 0, column 0: logit inf is not a finite number");
}

#[test]
fn labels_of_records_are_numbers_text_or_truth() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = ReadOptions {
        class_names: Some(["a", "b", "c", "d"].map(String::from).into()),
        ..ReadOptions::default()
    };
    let names = ["d", "b", "a", "b", "a"];
    let text = lines(|i| json!({ "logits": ROWS[i], "true_label": names[i] }));
    let path = put(folder.path(), "names.jsonl", &text);
    assert_eq!(labels(&path, &options).expect("read"), LABELS.map(u32::from));
    let null = put(folder.path(), "null.jsonl", b"{\"label\": 1}\n{\"label\": null}\n");
    let error = labels(&null, &ReadOptions::default()).unwrap_err().kind.to_string();
    assert_eq!(error, "row 1, column of the labels: the value is missing");
}
