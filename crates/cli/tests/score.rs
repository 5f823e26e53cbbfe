//! `abstain score` in every format, streamed, bit for bit the library's.

mod common;

use abstain::{Artifact, Logits, Rule, Threshold};
use common::{Folder, classifier, csv, npy_f32};
use std::io::Write;
use std::process::Stdio;

/// What the library says of the same rows.
fn expected(text: &str, at: Option<f64>, rows: usize, classes: usize) -> Vec<abstain::Answer> {
    let (logits, _) = classifier(rows, classes, 1);
    let mut artifact = Artifact::new(text.parse().expect("an estimator"));
    artifact.rule = at.map(|at| Threshold::given(at).into());
    artifact.answers(&Logits::new(&logits, classes).expect("valid")).expect("answers")
}

/// The rows of a file of text: prediction, confidence, accept.
fn read_text(text: &str, delimiter: char) -> Vec<(u32, u64, Option<bool>)> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a line of names").split(delimiter).collect();
    assert_eq!(names[..2], ["prediction", "confidence"]);
    let accept = names.iter().position(|name| *name == "accept");
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split(delimiter).collect();
            let confidence: f64 = fields[1].parse().expect("a number");
            let accept = accept.map(|at| fields[at].parse().expect("true or false"));
            (fields[0].parse().expect("a class"), confidence.to_bits(), accept)
        })
        .collect()
}

fn as_tuples(answers: &[abstain::Answer]) -> Vec<(u32, u64, Option<bool>)> {
    answers.iter().map(|a| (a.prediction, a.confidence.to_bits(), a.accept)).collect()
}

#[test]
fn every_output_is_the_librarys_to_the_bit() {
    let folder = Folder::with_rows(700, 6, 1);
    let result = "MaxLogit-pNorm(p=4)";
    let wanted = as_tuples(&expected(result, Some(1.5), 700, 6));
    let score = |output: &str| {
        folder.ok(&["score", result, "logits.npy", "--threshold", "1.5", "-o", output]);
    };
    score("scores.csv");
    assert_eq!(read_text(&folder.read("scores.csv"), ','), wanted);
    score("scores.tsv");
    assert_eq!(read_text(&folder.read("scores.tsv"), '\t'), wanted);
    score("scores.jsonl");
    let lines: Vec<_> = folder
        .read("scores.jsonl")
        .lines()
        .map(|line| {
            let json: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let prediction = json["prediction"].as_u64().expect("a class");
            let confidence = json["confidence"].as_f64().expect("a number");
            let accept = json["accept"].as_bool();
            (u32::try_from(prediction).expect("small"), confidence.to_bits(), accept)
        })
        .collect();
    assert_eq!(lines, wanted);
    // Binary formats, read back by the program itself.
    for output in ["scores.npy", "scores.parquet"] {
        score(output);
        let result =
            folder.ok_json(&["eval", "--confidence", output, "--labels", "labels.npy", "--json"]);
        let text = folder.ok_json(&[
            "eval",
            "--confidence",
            "scores.csv",
            "--labels",
            "labels.npy",
            "--json",
        ]);
        assert_eq!(result[0]["metrics"], text[0]["metrics"], "{output}");
    }
    let npy = std::fs::read(folder.path().join("scores.npy")).expect("read");
    let records: Vec<_> = npy[256..]
        .chunks_exact(17)
        .map(|record| {
            let prediction = i64::from_le_bytes(record[..8].try_into().expect("eight"));
            let confidence = u64::from_le_bytes(record[8..16].try_into().expect("eight"));
            let prediction = u32::try_from(prediction).expect("a class");
            (prediction, confidence, Some(record[16] == 1))
        })
        .collect();
    assert_eq!(records, wanted);
    assert!(String::from_utf8_lossy(&npy[..256]).contains("'shape': (700,)"));
}

#[test]
fn standard_input_and_output_stream() {
    let folder = Folder::with_rows(300, 5, 1);
    let wanted = as_tuples(&expected("MSP", None, 300, 5));
    let (logits, _) = classifier(300, 5, 1);
    let wide: Vec<f64> = logits.iter().map(|&x| f64::from(x)).collect();
    let inputs = [npy_f32(&logits, 5), csv(&wide, 5).into_bytes()];
    for input in inputs {
        let mut child = folder
            .command(&["score", "MSP", "-", "-q"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        child.stdin.take().expect("a pipe").write_all(&input).expect("written");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success());
        assert_eq!(read_text(&String::from_utf8_lossy(&output.stdout), ','), wanted);
    }
    // npy needs its number of rows at the front, and is written all the same.
    folder.ok(&["score", "MSP", "logits.npy", "-q", "-o", "file.npy"]);
    let output = folder
        .command(&["score", "MSP", "logits.npy", "-q", "--output-format", "npy"])
        .output()
        .expect("it runs");
    assert_eq!(output.stdout, std::fs::read(folder.path().join("file.npy")).expect("read"));
}

#[test]
fn tables_of_thresholds_are_applied_or_refused() {
    let folder = Folder::with_rows(200, 5, 1);
    let mut artifact = Artifact::new("LogitsMargin".parse().expect("an estimator"));
    artifact.classes = Some(5);
    let mut put = |name: &str, rule: Rule| {
        artifact.rule = Some(rule);
        folder.put(name, &serde_json::to_vec(&artifact).expect("serialises"));
    };
    let at = |class: u32| (class != 2).then(|| Threshold::given(f64::from(class) / 2.0));
    let rule = Rule::ByClass((0..5).map(at).collect());
    put("by-class.json", rule.clone());
    put("by-group.json", Rule::ByGroup([("north".to_string(), None)].into()));
    let rows = read_text(&folder.ok(&["score", "by-class.json", "logits.npy", "-q"]), ',');
    for &(prediction, confidence, accept) in &rows {
        let confidence = f64::from_bits(confidence);
        let decision = rule.decide(confidence, Some(prediction as usize), None);
        assert_eq!(accept, Some(decision.is_accept()), "{prediction} {confidence}");
    }
    let accepted = |class| rows.iter().filter(|row| row.0 == class && row.2 == Some(true)).count();
    assert!(accepted(1) > 0 && accepted(2) == 0, "{rows:?}");
    let shown = folder.ok(&["show", "by-class.json"]);
    assert!(shown.contains("Thresholds by predicted class:\n0: accept a confidence of 0 or more"));
    assert!(shown.contains("\n2: abstain\n"), "{shown}");
    for (command, by) in [
        (&["score", "by-group.json", "logits.npy"][..], "group"),
        (&["eval", "by-group.json", "logits.npy", "labels.npy"], "group"),
        (&["eval", "by-class.json", "logits.npy", "labels.npy"], "class"),
    ] {
        let output = folder.run(command);
        assert_eq!(output.code, Some(2), "{command:?}");
        let refusal =
            format!("the rule has a threshold for each {by}, which cannot be applied here");
        assert!(output.err.contains(&refusal), "{}", output.err);
    }
    // Another threshold takes the place of any rule.
    folder.ok(&["score", "by-group.json", "logits.npy", "-q", "--threshold", "1"]);
}

#[test]
fn options_of_score() {
    let folder = Folder::with_rows(200, 5, 1);
    let stated = folder.run(&["score", "MSP", "logits.npy"]);
    assert!(stated.err.starts_with("note: logits.npy: 200 rows of 5 classes (logits)\n"));
    assert!(stated.err.contains("note: the estimator has no threshold"), "{}", stated.err);
    assert!(stated.out.starts_with("prediction,confidence\n"));
    assert_eq!(folder.run(&["score", "MSP", "logits.npy", "--quiet"]).err, "");
    // The paper's number beside the confidence: a probability.
    let text = folder.ok(&["score", "MSP", "logits.npy", "-q", "--values", "--threshold", "-0.5"]);
    assert!(text.starts_with("prediction,confidence,value,accept\n"));
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |i: usize| fields[i].parse::<f64>().expect("a number");
        let (confidence, value) = (number(1), number(2));
        assert!((value - 1.0 / (1.0 + (-confidence).exp())).abs() < 1e-9, "{line}");
        assert_eq!(fields[3] == "true", confidence >= -0.5);
    }
    // A name that says nothing, with a word on what it should be.
    folder.ok(&["score", "MSP", "logits.npy", "-q", "-o", "scores", "--output-format", "jsonl"]);
    assert!(folder.read("scores").starts_with("{\"prediction\":"));
    // Named arrays, other formats and probabilities go through the same door.
    let (logits, _) = classifier(200, 5, 1);
    folder.put("logits.data", &npy_f32(&logits, 5));
    let stated = ["score", "MSP", "logits.data", "-q", "--format", "npy"];
    assert_eq!(folder.ok(&stated), folder.ok(&["score", "MSP", "logits.npy", "-q"]));
}
