//! Copies and groups of rows: `--repeats` and `--group-folds`.

mod common;

use common::{Folder, classifier, npy_f32, npy_labels};
use std::fmt::Write;

fn certificate_rows(found: &serde_json::Value) -> Option<u64> {
    found["artifact"]["rule"]["threshold"]["certificate"]["rows"].as_u64()
}

#[test]
fn copies_are_counted_once_unless_they_are_kept() {
    let folder = Folder::new();
    let (logits, labels) = classifier(300, 5, 3);
    folder.put("logits.npy", &npy_f32(&logits.repeat(2), 5));
    folder.put("labels.npy", &npy_labels(&labels.repeat(2)));
    let certify = ["certify", "LogitsMargin", "logits.npy", "labels.npy", "--target-risk", "0.3"];
    let outcome = folder.run(&certify);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert!(
        outcome.err.contains(
            "300 of the 600 rows are equal to others, in more digits than chance repeats (300 are \
             distinct)"
        ),
        "{}",
        outcome.err
    );
    assert!(outcome.err.contains("--repeats keep if each counts"), "{}", outcome.err);
    let text =
        "300 of 600 rows certify: of rows that are equal or of one group, one drawn at random";
    assert!(outcome.out.contains(text), "{}", outcome.out);
    let json = |more: &[&str]| folder.ok_json(&[&certify[..], &["--json", "-q"], more].concat());
    let once = json(&[]);
    assert_eq!(certificate_rows(&once), Some(300));
    assert_eq!(once["counted"], serde_json::json!({ "rows": 600, "counted": 300, "seed": 0 }));
    let kept = json(&["--repeats", "keep"]);
    assert_eq!(certificate_rows(&kept), Some(600));
    assert!(kept["counted"].is_null() && kept["warnings"] == serde_json::json!([]));
    let tune = ["tune", "logits.npy", "labels.npy", "--target-risk", "0.3", "--delta", "0.1"];
    let tuned = folder.ok_json(&[&tune[..], &["--method", "LogitsMargin", "--json"]].concat());
    let counted = &tuned["report"]["counted"];
    assert_eq!(counted["rows"], tuned["report"]["test_rows"]);
    assert_eq!(counted["counted"].as_u64().map(|rows| 2 * rows), counted["rows"].as_u64());
    assert_eq!(certificate_rows(&tuned), counted["counted"].as_u64());
    assert_eq!(folder.run(&[&certify[..], &["--repeats", "all"]].concat()).code, Some(2));
}

#[test]
fn rows_of_a_group_certify_as_one() {
    let folder = Folder::new();
    let (logits, labels) = classifier(400, 3, 4);
    let mut table = "logit_0,logit_1,logit_2,label,video\n".to_string();
    let mut judged = "confidence,correct,id\n".to_string();
    for (row, (logits, label)) in logits.chunks(3).zip(&labels).enumerate() {
        let [a, b, c] = logits else { unreachable!("three classes") };
        let (confidence, right) = (f64::from(a.abs()).min(9.0), u8::from(row % 7 > 0));
        writeln!(table, "{a},{b},{c},{label},{}", row / 2).expect("text");
        writeln!(judged, "{confidence:.1},{right},{}", row / 4).expect("text");
    }
    folder.put("rows.csv", table.as_bytes());
    folder.put("judged.csv", judged.as_bytes());
    let target = ["--target-risk", "0.4", "--delta", "0.2", "--json", "-q"];
    let run = |start: &[&str], column: &str| {
        let groups = ["--group-folds", column];
        folder.ok_json(&[start, &target[..], &groups].concat())
    };
    let found = run(&["certify", "LogitsMargin", "rows.csv"], "video");
    assert_eq!(certificate_rows(&found), Some(200));
    // A column of numbers that is a group is no class.
    assert_eq!(found["artifact"]["classes"], 3);
    let found = run(&["certify", "Confidence", "judged.csv"], "id");
    assert_eq!(certificate_rows(&found), Some(100));
    let seeded = ["certify", "Confidence", "judged.csv", "--seed", "5"];
    assert_eq!(run(&seeded, "id")["counted"]["seed"], 5);
    let found = run(&["tune", "rows.csv", "--method", "LogitsMargin"], "video");
    let counted = &found["report"]["counted"];
    assert_eq!(counted["counted"].as_u64().map(|rows| 2 * rows), counted["rows"].as_u64());
    // The same column may also be what is counted.
    let start = ["certify", "LogitsMargin", "rows.csv", "--group", "video"];
    assert_eq!(certificate_rows(&run(&start, "video")), Some(200));
}
