//! The corpus of labels (testdata/labels.toml) through the program.

mod common;

use common::{Folder, npy_f64};
use toml::{Table, Value};

/// A cell as it is written into csv, and as JSON.
fn cell(value: &Value) -> (String, String) {
    match value {
        Value::String(text) => (text.clone(), format!("{text:?}")),
        Value::Array(row) => {
            let row = row.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            (format!("\"[{row}]\""), format!("[{row}]"))
        }
        other => (other.to_string(), other.to_string()),
    }
}

#[test]
fn labels_are_read_as_the_corpus_says() {
    let text = include_str!("../../../testdata/labels.toml");
    let corpus: Table = text.parse().expect("TOML");
    for case in corpus["case"].as_array().expect("cases") {
        let name = case["name"].as_str().expect("a name");
        let classes = usize::try_from(case["classes"].as_integer().expect("classes")).expect("few");
        let labels = case["labels"].as_array().expect("labels");
        let expected = case.get("expected").and_then(Value::as_array);
        // Logits that predict the classes that are expected: all are right, or a label is misread.
        let class = |row: usize| match expected {
            Some(expected) => expected[row].as_integer().expect("a class"),
            None => 0,
        };
        let logit = |row: usize, column: usize| {
            let is_predicted = i64::try_from(column) == Ok(class(row));
            if is_predicted { 4.5 + row as f64 } else { column as f64 / 16.0 }
        };
        let rows = labels.len();
        let logits: Vec<f64> =
            (0..rows).flat_map(|row| (0..classes).map(move |column| logit(row, column))).collect();
        let folder = Folder::new();
        folder.put("logits.npy", &npy_f64(&logits, &format!("({rows}, {classes})")));
        let cells: Vec<(String, String)> = labels.iter().map(cell).collect();
        let lines = |line: fn(&(String, String)) -> String| -> String {
            cells.iter().map(|cell| line(cell) + "\n").collect()
        };
        folder.put("labels.csv", format!("label\n{}", lines(|cell| cell.0.clone())).as_bytes());
        let records = lines(|cell| format!("{{\"label\": {}}}", cell.1));
        folder.put("labels.jsonl", records.as_bytes());
        let mut options: Vec<String> =
            ["--json", "--quiet", "--missing", "refuse"].map(String::from).to_vec();
        if let Some(names) = case.get("class_names").and_then(Value::as_array) {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            folder.put("names.txt", names.join("\n").as_bytes());
            options.extend(["--class-names", "names.txt"].map(String::from));
        }
        if let Some(first) = case.get("first_label") {
            options.extend(["--first-label".to_string(), first.to_string()]);
        }
        for file in ["labels.csv", "labels.jsonl"] {
            let mut arguments = vec!["eval", "MSP", "logits.npy", file];
            arguments.extend(options.iter().map(String::as_str));
            let outcome = folder.run(&arguments);
            if expected.is_none() {
                assert_eq!(outcome.code, Some(2), "{name}, {file}: {}", outcome.out);
                continue;
            }
            assert_eq!(outcome.code, Some(0), "{name}, {file}: {}", outcome.err);
            let found: serde_json::Value = serde_json::from_str(&outcome.out).expect("valid JSON");
            assert_eq!(found[0]["accuracy"], 1.0, "{name}, {file}");
        }
    }
}
