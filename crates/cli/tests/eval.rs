//! `abstain eval`, `certify`, `threshold` and `show`.

mod common;

use common::{Folder, classifier, npy_f64, npy_labels};
use serde_json::Value;

fn metric<'a>(report: &'a Value, name: &str) -> &'a Value {
    let lines = report["metrics"].as_array().expect("a list");
    lines.iter().find(|line| line["metric"] == name).expect("a metric")
}

#[test]
fn an_estimator_is_measured_against_msp() {
    let folder = Folder::with_rows(900, 8, 1);
    let eval = ["eval", "MaxLogit-pNorm(p=3)", "logits.npy", "labels.npy"];
    let reports = folder.ok_json(&[&eval[..], &["--json"]].concat());
    let report = &reports[0];
    assert_eq!(report["contenders"], serde_json::json!(["MaxLogit-pNorm(p=3)", "MSP"]));
    assert_eq!(report["verdicts"], serde_json::json!(["better"]));
    let naurc = metric(report, "NAURC");
    let number = |value: &Value| value["estimate"].as_f64().expect("a number");
    let difference = number(&naurc["values"][0]) - number(&naurc["values"][1]);
    assert!((number(&naurc["differences"][0]) - difference).abs() < 1e-12);
    assert!(naurc["differences"][0]["high"].as_f64() < Some(0.0));
    // Every kind of metric is there unless some are named.
    for kind in ["Accuracy", "AURC", "E-AURC", "AUROC", "AUGRC", "PartialAURC@0.2..0.8"] {
        metric(report, kind);
    }
    let text = folder.ok(&eval);
    assert!(text.contains("MaxLogit-pNorm(p=3) is better than MSP here."), "{text}");
    let few = folder.ok_json(&[&eval[..], &["--json", "--metric", "SAC@0.9,NAURC"]].concat());
    assert_eq!(few[0]["metrics"].as_array().map(Vec::len), Some(2));
    let requested = folder.ok_json(&[&eval[..], &["--json", "--target-accuracy", "0.97"]].concat());
    metric(&requested[0], "SAC@0.97");
    let seeded = |seed: &str| {
        let more = ["--json", "--metric", "AURC", "--seed", seed, "--replicates", "50", "--quiet"];
        folder.ok_json(&[&eval[..], &more].concat())
    };
    assert_eq!(seeded("1"), seeded("1"));
    assert_ne!(seeded("1"), seeded("2"));
    assert_eq!(metric(&seeded("1")[0], "AURC")["values"][0]["replicates"], 50);
    // Without replicates it is a closed form, which no seed changes.
    assert_eq!(naurc["values"][0]["replicates"], Value::Null);
    assert_eq!(folder.ok_json(&[&eval[..], &["--json", "--seed", "9"]].concat()), reports);
    let top = folder.ok_json(&[&eval[..], &["--json", "--loss", "top-3"]].concat());
    assert!(top[0]["accuracy"].as_f64() > report["accuracy"].as_f64());
}

/// The committed sets: tuned on clean rows, worse than MSP on shifted ones, and it says so.
#[test]
fn shift_is_said_plainly() {
    let folder = Folder::new();
    let demo = |set: &str, file: &str| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/demo").to_string();
        format!("{path}/{set}/{file}.npy")
    };
    let (logits, labels) = (demo("fashion-mixup", "logits"), demo("fashion-mixup", "labels"));
    let tune =
        ["tune", &logits, &labels, "--method", "MaxLogit-pNorm", "--fallback", "paper", "-q"];
    folder.ok(&[&tune[..], &["--replicates", "20", "-o", "e.json"]].concat());
    let (moved, same) =
        (demo("fashion-mixup-shifted", "logits"), demo("fashion-mixup-shifted", "labels"));
    let set = ["--set", "rolled by two pixels", &moved, &same, "--replicates", "100"];
    let text = folder.ok(&[&["eval", "e.json", &logits, &labels], &set[..]].concat());
    let (clean, shifted) = text.split_once("rolled by two pixels:").expect("both sets");
    assert!(clean.contains("is better than MSP here"), "{clean}");
    assert!(shifted.contains("is WORSE than MSP here"), "{shifted}");
    assert!(shifted.contains("rolled by two pixels  10,000"), "a summary of the sets:\n{shifted}");
}

#[test]
fn confidences_of_ones_own() {
    let folder = Folder::with_rows(500, 5, 2);
    let (_, labels) = classifier(500, 5, 2);
    folder.ok(&["score", "MSP", "logits.npy", "-q", "-o", "scores.csv"]);
    folder.ok(&["score", "MSP", "logits.npy", "-q", "-o", "scores.parquet"]);
    let direct = folder.ok_json(&["eval", "MSP", "logits.npy", "labels.npy", "--json"]);
    let aurc = |json: &Value| metric(&json[0], "AURC")["values"][0].clone();
    let eval = |more: &[&str]| folder.ok_json(&[&["eval", "--json"], more].concat());
    // Beside its predictions, from two formats.
    for scores in ["scores.csv", "scores.parquet"] {
        let result = eval(&["--confidence", scores, "--labels", "labels.npy"]);
        assert_eq!(aurc(&result), aurc(&direct));
    }
    // With predictions in a separate file, or losses.
    let text = folder.read("scores.csv");
    let fields = |k: usize| -> Vec<f64> {
        let field = |line: &str| line.split(',').nth(k).and_then(|x| x.parse().ok());
        text.lines().skip(1).map(|line| field(line).expect("a number")).collect()
    };
    let (predictions, confidences) = (fields(0), fields(1));
    folder.put("c.npy", &npy_f64(&confidences, "(500,)"));
    folder.put("p.npy", &npy_f64(&predictions, "(500,)"));
    let losses: Vec<f64> = predictions
        .iter()
        .zip(&labels)
        .map(|(p, &l)| if *p == f64::from(l) { 0.0 } else { 1.0 })
        .collect();
    folder.put("l.npy", &npy_f64(&losses, "(500,)"));
    let apart =
        eval(&["--confidence", "c.npy", "--labels", "labels.npy", "--predictions", "p.npy"]);
    assert_eq!(aurc(&apart), aurc(&direct));
    assert_eq!(aurc(&eval(&["--confidence", "c.npy", "--losses", "l.npy"])), aurc(&direct));
    // Beside an artifact that is MSP, which keeps its threshold.
    folder.ok(&["threshold", "MSP", "logits.npy", "--coverage", "0.5", "-q", "-o", "t.json"]);
    let alone = folder.ok_json(&["eval", "t.json", "logits.npy", "labels.npy", "--json"]);
    let random: Vec<f64> = (0..500).map(|i| f64::from(i * 37 % 101)).collect();
    folder.put("r.npy", &npy_f64(&random, "(500,)"));
    let beside = ["eval", "t.json", "logits.npy", "labels.npy", "--confidence", "r.npy", "--json"];
    let mut beside = folder.ok_json(&beside);
    assert_eq!(beside[0]["contenders"], serde_json::json!(["r", "MSP"]));
    assert_eq!(
        (&alone[0]["threshold"]["whose"], &beside[0]["threshold"]["whose"]),
        (&0.into(), &1.into())
    );
    beside[0]["threshold"]["whose"] = 0.into();
    assert_eq!(beside[0]["threshold"], alone[0]["threshold"]);
    // Beside an estimator's.
    let result = folder.ok_json(&[
        "eval",
        "LogitsMargin",
        "logits.npy",
        "labels.npy",
        "--confidence",
        "c.npy",
        "--json",
    ]);
    assert_eq!(result[0]["contenders"], serde_json::json!(["LogitsMargin", "c", "MSP"]));
    assert_eq!(metric(&result[0], "AURC")["values"][1], metric(&result[0], "AURC")["values"][2]);
}

#[test]
fn a_certified_threshold_holds_on_its_rows() {
    let folder = Folder::with_rows(500, 6, 3);
    folder.rows("fresh-", 1500, 6, 4);
    folder.ok(&["tune", "logits.npy", "labels.npy", "-q", "-o", "e.json"]);
    let certify = ["certify", "e.json", "fresh-logits.npy", "fresh-labels.npy"];
    let output =
        folder.run(&[&certify[..], &["--target-accuracy", "0.9", "-o", "c.json"]].concat());
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(
        output.out.contains("Certificate: with probability 95 %, at most 10 % of"),
        "{}",
        output.out
    );
    let note = "note: fresh-logits.npy: 1,500 rows of 6 classes (logits)\n";
    let one_call = "note: the guarantee is that of one call whose target, delta, seed and splits were \
                    fixed before looking at the rows; calls on the same rows share delta (--tried)\n";
    assert_eq!(output.err, format!("{note}{one_call}written: c.json\n"));
    let certificate = folder.json("c.json")["rule"]["threshold"]["certificate"].clone();
    let report =
        folder.ok_json(&["eval", "c.json", "fresh-logits.npy", "fresh-labels.npy", "--json"]);
    assert_eq!(report[0]["threshold"]["accepted"], certificate["accepted"]);
    let text = folder.ok(&["eval", "c.json", "fresh-logits.npy", "fresh-labels.npy"]);
    assert!(text.contains("in line with the 90 % that was certified"), "{text}");
    // More estimators tried, a smaller delta, another procedure: less is kept.
    let accepted = |more: &[&str]| {
        let result =
            folder.ok_json(&[&certify[..], &["--target-risk", "0.1", "--json"], more].concat());
        result["artifact"]["rule"]["threshold"]["certificate"]["accepted"]
            .as_u64()
            .expect("a count")
    };
    let plain = accepted(&[]);
    assert_eq!(Some(plain), certificate["accepted"].as_u64());
    assert!(accepted(&["--tried", "50"]) < plain);
    assert!(accepted(&["--delta", "0.0001"]) < plain);
    assert_ne!(accepted(&["--procedure", "sgr"]), plain);
    assert!(accepted(&["--loss", "top-2"]) > plain);
    let output = folder.run(&[&certify[..], &["--target-accuracy", "0.9"]].concat());
    assert!(output.err.contains("nothing was written"), "{}", output.err);
    let output = folder.run(&[&certify[..], &["--target-accuracy", "0.9", "--quiet"]].concat());
    assert_eq!(output.err, "");
}

#[test]
fn thresholds_by_coverage_accuracy_risk_and_hand() {
    let folder = Folder::with_rows(1000, 6, 5);
    let threshold = |more: &[&str]| {
        let command = ["threshold", "MaxLogit-pNorm(p=4)", "logits.npy"];
        folder.ok_json(&[&command[..], more, &["--json"]].concat())["artifact"]["rule"]["threshold"]
            .clone()
    };
    let result = threshold(&["--coverage", "0.3"]);
    assert_eq!((&result["basis"], &result["accepted"]), (&"coverage".into(), &300.into()));
    let result = threshold(&["labels.npy", "--target-accuracy", "0.9"]);
    assert_eq!((&result["basis"], &result["risk"]), (&"risk".into(), &0.1.into()));
    assert_eq!(result, threshold(&["labels.npy", "--risk", "0.1"]));
    assert!(result["selective_risk"].as_f64() <= Some(0.1));
    let graded = threshold(&["labels.npy", "--risk", "0.1", "--loss", "top-2"]);
    assert!(graded["accepted"].as_u64() > result["accepted"].as_u64());
    // The value of a probability is a confidence, and a confidence that looks like one is noted.
    let value = folder.ok_json(&["threshold", "MSP", "--value", "0.9", "--json"]);
    let at = value["artifact"]["rule"]["threshold"]["at"].as_f64().expect("a number");
    assert!((at - 9.0_f64.ln()).abs() < 1e-9, "{at}");
    let output = folder.run(&["threshold", "MSP", "--at", "0.9"]);
    assert!(output.err.contains("0.9 is a probability of 0.711"), "{}", output.err);
    let output = folder.run(&["score", "MSP", "logits.npy", "--threshold", "0.9"]);
    assert!(output.err.contains("for a probability of 0.9 give 2.197225"), "{}", output.err);
    assert_eq!(folder.run(&["threshold", "MaxLogit-pNorm(p=2)", "--value", "0.5"]).code, Some(2));
    // By hand, without any rows; the accepted rows are those at or above it.
    let output = folder.run(&["threshold", "MSP", "--at", "-1.25", "-o", "t.json"]);
    assert_eq!(output.err, "written: t.json\n");
    assert!(output.out.contains("set by hand"), "{}", output.out);
    let scores = folder.ok(&["score", "t.json", "logits.npy"]);
    for line in scores.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields[2] == "true", fields[1].parse::<f64>().expect("a number") >= -1.25);
    }
    assert_eq!(folder.run(&["threshold", "MSP", "--at", "1", "-q"]).err, "");
}

#[test]
fn show_explains_every_kind_of_artifact() {
    let folder = Folder::with_rows(500, 6, 6);
    folder.ok(&["tune", "logits.npy", "labels.npy", "-q", "-o", "stack.json"]);
    let stack = folder.ok(&["show", "stack.json"]);
    for part in [
        "Stack (10 scores)",
        "logistic regression",
        "LogitsMargin",
        "rows of 6 classes",
        "No threshold: `accept` is not written",
        "Tuned: Stack for AURC (loss zero-one) on 500 rows",
        "Data: sum-sha256:500:",
    ] {
        assert!(stack.contains(part), "{part} is not in\n{stack}");
    }
    assert_eq!(folder.ok_json(&["show", "stack.json", "--json"]), folder.json("stack.json"));
    // What was written before there were artifacts: a bare estimator.
    folder.put("bare.json", br#"{"method": "MSP-pNorm", "p": "inf", "tau": 0.25}"#);
    let bare = folder.ok(&["show", "bare.json"]);
    assert!(bare.contains("MSP-pNorm (p = inf, τ = 0.25)"), "{bare}");
    for (text, part) in [
        ("BK(a=1, b=0.5)", "two largest"),
        ("ETS(T=2, w=0.5)", "mixture"),
        ("HTS(b=0, w=1)", "entropy"),
        ("MSP-TS(T=2)", "divided by a temperature"),
        ("Energy", "of the logits as they are"),
    ] {
        let shown = folder.ok(&["show", text]);
        assert!(shown.contains(part), "{shown}");
    }
}

/// What an artifact was made for goes with it: the kind of its rows, and what an error costs.
#[test]
fn thresholds_remember_rows_and_losses() {
    let folder = Folder::new();
    let (logits, labels) = classifier(600, 5, 7);
    let mut probabilities = Vec::new();
    for row in logits.chunks(5) {
        let sum: f64 = row.iter().map(|&x| f64::from(x).exp()).sum();
        probabilities.extend(row.iter().map(|&x| f64::from(x).exp() / sum));
    }
    folder.put("probs.npy", &npy_f64(&probabilities, "(600, 5)"));
    folder.put("labels.npy", &common::npy_labels(&labels));
    let threshold = ["threshold", "MSP", "probs.npy", "--probs", "--coverage", "0.5", "-q"];
    folder.ok(&[&threshold[..], &["-o", "t.json"]].concat());
    let scores = folder.ok(&["score", "t.json", "probs.npy", "-q"]);
    assert_eq!(scores.matches("true").count(), 300);
    // Not with another floor, which would move confidences under the threshold.
    let floor = ["score", "t.json", "probs.npy", "-q", "--probs", "--floor", "0.01"];
    assert_eq!(folder.run(&floor).code, Some(2));
    // What the file says counts, though it does not say how many classes there are.
    let mut artifact = folder.json("t.json");
    artifact["classes"] = Value::Null;
    folder.put("any.json", artifact.to_string().as_bytes());
    assert_eq!(folder.ok(&["score", "any.json", "probs.npy", "-q"]), scores);
    // Top-2 errors were certified, and top-2 errors are counted.
    let certify = ["certify", "MSP", "probs.npy", "labels.npy", "--probs", "--loss", "top-2", "-q"];
    folder.ok(&[&certify[..], &["--target-accuracy", "0.9", "-o", "c.json"]].concat());
    assert_eq!(folder.json("c.json")["rule"]["threshold"]["loss"], "top-2");
    assert!(folder.ok(&["show", "c.json"]).contains("wrong by the loss top-2"));
    let result = folder.ok_json(&["eval", "c.json", "probs.npy", "labels.npy", "--json"]);
    assert_eq!(result[0]["target"], serde_json::json!({ "accuracy": 0.9 }));
    let errors = folder.json("c.json")["rule"]["threshold"]["certificate"]["errors"].clone();
    let accepted = result[0]["threshold"]["accepted"].as_f64().expect("a count");
    let risk = result[0]["threshold"]["selective_risk"].as_f64().expect("a risk");
    assert_eq!((risk * accepted).round(), errors.as_f64().expect("a count"));
    let plain = folder.ok_json(&[
        "eval",
        "c.json",
        "probs.npy",
        "labels.npy",
        "--json",
        "--loss",
        "zero-one",
    ]);
    assert!(plain[0]["accuracy"].as_f64() < result[0]["accuracy"].as_f64());
}

#[test]
fn columns_need_names_that_are_not_taken() {
    let folder = Folder::with_rows(100, 4, 8);
    let column = npy_f64(&(0..100).map(f64::from).collect::<Vec<_>>(), "(100,)");
    folder.put("MSP.npy", &column);
    let eval = ["eval", "LogitsMargin", "logits.npy", "labels.npy", "--confidence", "MSP.npy"];
    let output = folder.run(&eval);
    assert_eq!(output.code, Some(2));
    assert!(output.err.contains("the name 'MSP' is taken"), "{}", output.err);
}

#[test]
fn what_cannot_be_trusted_is_noted_or_refused() {
    let folder = Folder::with_rows(600, 5, 8);
    folder.rows("test-", 900, 5, 9);
    let tune = ["tune", "logits.npy", "labels.npy", "--replicates", "50", "-q", "-o", "e.json"];
    // The rows that were tuned on are no test, in whatever file.
    std::fs::copy(folder.path().join("logits.npy"), folder.path().join("copy.npy"))
        .expect("copied");
    let output = folder.run(&[&tune[..], &["--test", "copy.npy", "labels.npy"]].concat());
    assert_eq!(output.code, Some(2));
    assert!(output.err.contains("the rows that the estimator is tuned on"), "{}", output.err);
    // Rows on which two estimators were compared cost half of delta.
    folder.ok(&[&tune[..], &["--test", "test-logits.npy", "test-labels.npy"]].concat());
    let certify =
        ["certify", "e.json", "test-logits.npy", "test-labels.npy", "--target-risk", "0.2"];
    let output = folder.run(&[&certify[..], &["--json"]].concat());
    assert!(output.err.contains("--tried 2"), "{}", output.err);
    assert!(output.out.contains("\"tried\": 2"), "{}", output.out);
    let output = folder.run(&["eval", "e.json", "logits.npy", "labels.npy", "--replicates", "20"]);
    assert!(output.err.contains("tuned on some of these rows"), "{}", output.err);
    let test = ["eval", "e.json", "test-logits.npy", "test-labels.npy", "--replicates", "20"];
    let output = folder.run(&test);
    assert!(output.err.contains("compared with MSP on these rows"), "{}", output.err);
    // Two classes leave some estimators nothing to rank by.
    folder.rows("two-", 300, 2, 10);
    let eval = ["eval", "MaxLogit-pNorm(p=2)", "two-logits.npy", "two-labels.npy"];
    let output = folder.run(&eval);
    assert!(
        output.err.contains("gives all rows of 2 classes the same confidence"),
        "{}",
        output.err
    );
    assert!(output.out.contains("is WORSE than MSP here.\n"), "it was not tuned: {}", output.out);
}

/// Everything is printed, and the code says whether the requirements are met.
#[test]
fn requirements_decide_the_exit_code() {
    let folder = Folder::with_rows(900, 8, 1);
    folder.rows("fresh-", 900, 8, 2);
    let certify = ["certify", "MSP", "logits.npy", "labels.npy", "--target-accuracy", "0.7"];
    folder.ok(&[&certify[..], &["-o", "e.json"]].concat());
    let next: Vec<u32> = classifier(900, 8, 2).1.iter().map(|label| (label + 1) % 8).collect();
    folder.put("wrong.npy", &npy_labels(&next));
    let on = |labels: &str, more: &[&str]| {
        let eval = ["eval", "e.json", "fresh-logits.npy", labels, "-q"];
        folder.run(&[&eval[..], more].concat())
    };
    let fresh = |more: &[&str]| on("fresh-labels.npy", more);
    let verdict = |out: &str| -> Value {
        serde_json::from_str::<Value>(out).expect("JSON")[0]["verdict"].clone()
    };
    let plain = fresh(&["--json"]);
    assert_eq!((plain.code, verdict(&plain.out)), (Some(0), Value::Null));

    // The target holds on rows of the same kind, and is violated on others.
    let holds = fresh(&["--json", "--fail-if-violated"]);
    assert_eq!(holds.code, Some(0), "{}", holds.out);
    let found = verdict(&holds.out);
    assert_eq!((&found["passed"], &found["checks"][0]["bound"]), (&true.into(), &0.3.into()));
    let violated = on("wrong.npy", &["--json", "--fail-if-violated"]);
    assert_eq!(violated.code, Some(1), "{}", violated.out);
    assert!(violated.err.contains("requirements are not met on fresh-logits"), "{}", violated.err);
    let check = &verdict(&violated.out)["checks"][0];
    assert_eq!((&check["check"], &check["passed"]), (&"target-risk".into(), &false.into()));
    assert!(check["limits"][0].as_f64() > Some(0.3), "{check}");
    let text = on("wrong.npy", &["--fail-if-violated"]);
    assert_eq!(text.code, Some(1));
    assert!(text.out.contains("Requirement NOT met:"), "{}", text.out);
    assert!(text.out.contains("NAURC"), "all is printed: {}", text.out);
    // All sets count, and the page is written.
    let set = ["--set", "wrong", "fresh-logits.npy", "wrong.npy", "--page", "p.html"];
    let sets = fresh(&[&set[..], &["--fail-if-violated"]].concat());
    assert_eq!(sets.code, Some(1));
    assert!(sets.err.contains("not met on wrong\n"), "{}", sets.err);
    assert!(folder.path().join("p.html").exists());

    // Coverage and accuracy on these rows.
    let threshold: Value = serde_json::from_str(&plain.out).expect("JSON");
    let threshold = &threshold[0]["threshold"];
    let coverage = threshold["coverage"].as_f64().expect("a coverage");
    let accuracy = 1.0 - threshold["selective_risk"].as_f64().expect("a risk");
    for (option, value, name) in
        [("--min-coverage", coverage, "min-coverage"), ("--min-accuracy", accuracy, "min-accuracy")]
    {
        for (bound, code) in [(value - 1e-6, 0), (value + 1e-6, 1)] {
            let output = fresh(&["--json", option, &bound.to_string()]);
            assert_eq!(output.code, Some(code), "{option} {bound}: {}", output.err);
            let check = &verdict(&output.out)["checks"][0];
            assert_eq!(check["check"], name);
            assert_eq!(
                (check["value"].as_f64(), check["bound"].as_f64()),
                (Some(value), Some(bound))
            );
            assert_eq!(check["passed"], code == 0);
        }
    }
    let both = fresh(&["--json", "--min-coverage", "1e-6", "--min-accuracy", "1"]);
    assert_eq!(both.code, Some(1));
    assert_eq!(verdict(&both.out)["checks"].as_array().map(Vec::len), Some(2));

    // Without a threshold the accuracy is that of all rows, and the others have nothing to check.
    let msp = ["eval", "MSP", "fresh-logits.npy", "fresh-labels.npy", "-q"];
    assert_eq!(folder.run(&[&msp[..], &["--min-accuracy", "0.1"]].concat()).code, Some(0));
    assert_eq!(folder.run(&[&msp[..], &["--min-accuracy", "0.99"]].concat()).code, Some(1));
    for more in [&["--fail-if-violated"][..], &["--min-coverage", "0.1"]] {
        let output = folder.run(&[&msp[..], more].concat());
        assert_eq!(output.code, Some(2));
        assert!(output.err.contains("there is no threshold"), "{}", output.err);
    }
    folder.ok(&["threshold", "MSP", "--at", "1", "-o", "at.json"]);
    let at =
        ["eval", "at.json", "fresh-logits.npy", "fresh-labels.npy", "-q", "--fail-if-violated"];
    let output = folder.run(&at);
    assert_eq!(output.code, Some(2));
    assert!(output.err.contains("has no target"), "{}", output.err);
    let lenient = folder.run(&[&at[..], &["--target-risk", "0.9"]].concat());
    assert_eq!(lenient.code, Some(0), "{}", lenient.err);
}

/// A pipe with a path can be read once, and is read once.
#[cfg(unix)]
#[test]
fn named_pipes_are_files() {
    let folder = Folder::with_rows(300, 5, 11);
    let plain = folder.ok(&["eval", "LogitsMargin", "logits.npy", "labels.npy", "--json"]);
    let script = format!(
        "mkfifo pipe && (cat logits.npy > pipe &) && '{}' eval LogitsMargin pipe labels.npy --json",
        common::program().display()
    );
    let mut command = std::process::Command::new("sh");
    let output = common::outcome(
        &command.args(["-c", &script]).current_dir(folder.path()).output().expect("it runs"),
    );
    assert_eq!(output.code, Some(0), "{}", output.err);
    let plain = plain.replace("\"logits.npy\"", "\"logits\"");
    assert_eq!(output.out.replace("\"pipe\"", "\"logits\""), plain);
}

#[test]
fn calibration_is_measured_by_name() {
    let folder = Folder::with_rows(300, 5, 2);
    let report = |metrics: &str| {
        let eval = ["eval", "MSP-TS(T=2)", "logits.npy", "labels.npy", "--json", "--metric"];
        folder.ok_json(&[&eval[..], &[metrics]].concat())[0].clone()
    };
    let both = report("NAURC,nll,ECE");
    assert_eq!(both["metrics"].as_array().map(Vec::len), Some(1));
    assert!(both["ece"][0].as_f64().is_some_and(|ece| (0.0..1.0).contains(&ece)));
    let (logits, labels) = common::classifier(300, 5, 2);
    for (contender, temperature) in [(0, 2.0), (1, 1.0)] {
        let loss = |(row, &label): (&[f32], &u32)| {
            let scaled: Vec<f64> = row.iter().map(|&z| f64::from(z) / temperature).collect();
            scaled.iter().map(|z| z.exp()).sum::<f64>().ln() - scaled[label as usize]
        };
        let mean = logits.chunks_exact(5).zip(&labels).map(loss).sum::<f64>() / 300.0;
        let found = both["nll"][contender].as_f64().expect("a number");
        assert!((found - mean).abs() < 1e-9, "{found} is not {mean}");
    }
    let alone = report("AUROC");
    assert!(alone.get("nll").is_none() && alone["ece"][0].is_null(), "{alone}");
    let text = folder.ok(&["eval", "MSP", "logits.npy", "labels.npy", "--metric", "NLL", "-q"]);
    assert!(text.contains("NLL") && !text.contains("ECE"), "{text}");
    let wrong = folder.run(&["eval", "MSP", "logits.npy", "labels.npy", "--metric", "NLLL"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
}
