//! `abstain tune`: every option does what it says.

mod common;

use common::{Folder, classifier, npy_f64, npy_labels};
use serde_json::Value;
use sha2::{Digest, Sha256};

const FEW: [&str; 4] = ["--method", "MSP-TS-AURC,MaxLogit-pNorm", "--replicates", "100"];

fn tune(folder: &Folder, more: &[&str]) -> Value {
    folder.ok_json(&[&["tune", "logits.npy", "labels.npy", "--json"], &FEW[..], more].concat())
}

fn line<'a>(json: &'a Value, method: &str) -> &'a Value {
    let lines = json["report"]["methods"].as_array().expect("a list");
    lines.iter().find(|line| line["method"] == method).expect("in the list")
}

fn estimate(json: &Value, method: &str, metric: &str) -> f64 {
    line(json, method)[metric]["interval"]["estimate"].as_f64().expect("a number")
}

/// With two classes all methods of one ranking are one line.
#[test]
fn methods_that_rank_alike_are_one_line() {
    let folder = Folder::with_rows(600, 2, 3);
    let command = ["tune", "logits.npy", "labels.npy", "--method", "LogitsMargin,DOCTOR"];
    let short = folder.run(&command).out;
    let said = "All 2 other methods rank these rows as MSP does.";
    assert!(short.contains(said) && !short.contains("LogitsMargin "), "{short}");
    let all = folder.run(&[&command[..], &["--all"]].concat()).out;
    assert!(all.contains("LogitsMargin ") && !all.contains(said), "{all}");
}

/// A δ of 0.95 is not taken for a probability of failure, before any row is read.
#[test]
fn a_confidence_is_not_taken_for_delta() {
    let folder = Folder::with_rows(600, 4, 3);
    let target = ["--target-accuracy", "0.9", "--delta", "0.95"];
    for command in
        [&["tune", "logits.npy", "labels.npy"][..], &["certify", "MSP", "logits.npy", "labels.npy"]]
    {
        let output = folder.run(&[command, &target].concat());
        assert_eq!(output.code, Some(2), "{}", output.out);
        let meaning = "it is the probability with which the guarantee may fail, such as 0.05";
        assert!(output.err.contains(meaning), "{}", output.err);
    }
}

#[test]
fn a_broken_msp_is_found_and_fixed() {
    let folder = Folder::with_rows(1200, 12, 3);
    let output = folder.run(&["tune", "logits.npy", "labels.npy", "-o", "estimator.json"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    let note = "note: logits.npy: 1,200 rows of 12 classes (logits)\n";
    assert_eq!(output.err, format!("{note}written: estimator.json\n"));
    for part in [
        "1,200 rows in 5 folds: each is measured by estimators that have not seen it; 12 classes",
        "▸ Stack",
        "coverage: the share",
        "Use Stack (10 scores): at",
        "instead of",
        "measured on rows that it was not tuned on",
    ] {
        assert!(output.out.contains(part), "{part} is not in\n{}", output.out);
    }
    // The table has the baseline, the chosen method and the best three; with --all, every method of the
    // paper is in it or in the notes below it.
    let methods =
        |out: &str| out.lines().filter(|line| line.contains("] ") && line.contains(", ")).count();
    assert_eq!(methods(&output.out), 4, "{}", output.out);
    assert!(output.out.contains("more methods are not shown."), "{}", output.out);
    let all = folder.run(&["tune", "logits.npy", "labels.npy", "--all"]).out;
    assert!(methods(&all) > 4 && !all.contains("not shown"), "{all}");
    for method in abstain::Tuner::methods_of_the_paper() {
        assert!(all.contains(&method.to_string()), "{method}");
    }
    let artifact = folder.json("estimator.json");
    assert_eq!(artifact["format"], "abstain-estimator");
    assert_eq!(artifact["estimator"]["method"], "Stack");
    assert_eq!(artifact["classes"], 12);
    assert_eq!(artifact["rule"], Value::Null);
    assert_eq!(artifact["tuning"]["rows"], 1200);
    // The fingerprint is that of docs/artifact.md.
    let (logits, labels) = classifier(1200, 12, 3);
    let mut sum = [0_u8; 32];
    for (row, label) in logits.chunks(12).zip(labels) {
        let mut hash = Sha256::new();
        for &x in row {
            hash.update(f64::from(x).to_le_bytes());
        }
        hash.update(label.to_le_bytes());
        let mut carry = 0;
        for (byte, other) in sum.iter_mut().zip(hash.finalize()).rev() {
            carry += u16::from(*byte) + u16::from(other);
            [*byte, _] = carry.to_le_bytes();
            carry >>= 8;
        }
    }
    let hex: Vec<String> = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(artifact["tuning"]["data"], format!("sum-sha256:1200:{}", hex.concat()));
}

#[test]
fn methods_spaces_and_objectives_are_those_asked_for() {
    let folder = Folder::with_rows(800, 30, 4);
    let result = tune(&folder, &[]);
    let methods: Vec<&str> = result["report"]["methods"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|line| line["method"].as_str().expect("a name"))
        .collect();
    assert_eq!(methods, ["MSP", "MSP-TS-AURC", "MaxLogit-pNorm"]);
    assert_eq!(result["report"]["objective"], "AURC");
    assert_eq!(result["artifact"]["tuning"]["space"], "standard");
    // Without the recommended method the best one on the tuning rows is the candidate.
    assert_eq!(result["artifact"]["tuning"]["method"], "MaxLogit-pNorm");
    // Again and again is the same as with commas, and 'all' is every one of the paper.
    let twice = ["tune", "logits.npy", "labels.npy", "--json", "--replicates", "2"];
    let again = folder.ok_json(&[&twice[..], &["--method", "HTS", "--method", "BK"]].concat());
    assert_eq!(again["report"]["methods"].as_array().map(Vec::len), Some(3));
    let nll =
        tune(&folder, &["--objective", "NLL", "--method", "MSP-TS-NLL", "--fallback", "none"]);
    assert_eq!(nll["report"]["objective"], "NLL");
    let paper = tune(&folder, &["--space", "paper"]);
    assert_eq!(paper["artifact"]["tuning"]["space"], "paper");
    let fine = tune(&folder, &["--space", "fine", "--fallback", "none"]);
    let p = fine["artifact"]["estimator"]["p"].as_f64().expect("a number");
    assert_eq!((4.0 * p).fract(), 0.0, "in steps of a quarter: {p}");
}

#[test]
fn splits_and_seeds_decide_which_rows_tune() {
    let folder = Folder::with_rows(900, 6, 5);
    let rows = |json: &Value| {
        let count = |key: &str| json["report"][key].as_u64().expect("a count");
        (count("tuning_rows"), count("test_rows"))
    };
    assert_eq!(rows(&tune(&folder, &[])), (900, 900));
    assert_eq!(tune(&folder, &["--folds", "3"])["report"]["folds"], 3);
    let few = tune(&folder, &["--max-rows", "300"]);
    assert_eq!((rows(&few), &few["report"]["rows"]), ((300, 300), &900.into()));
    assert_eq!(rows(&tune(&folder, &["--holdout", "100"])), (100, 800));
    assert_eq!(rows(&tune(&folder, &["--holdout", "0.1"])), (90, 810));
    let naurc = |more: &[&str]| estimate(&tune(&folder, more), "MaxLogit-pNorm", "naurc");
    assert_eq!(naurc(&["--seed", "1"]), naurc(&["--seed", "1"]));
    assert_ne!(naurc(&["--seed", "1"]), naurc(&["--seed", "2"]));
    // The mean over splits is that of runs with the seeds one after the other.
    let result = tune(&folder, &["--splits", "3", "--seed", "5"]);
    let mean = line(&result, "MaxLogit-pNorm")["naurc"]["spread"]["mean"].as_f64().expect("a mean");
    let each: Vec<f64> =
        ["5", "6", "7"].iter().map(|seed| naurc(&["--holdout", "450", "--seed", seed])).collect();
    assert!((mean - each.iter().sum::<f64>() / 3.0).abs() < 1e-12);
    // What is kept is kept at one target, whatever each split would have suggested.
    let target = result["report"]["target"]["accuracy"].as_f64().expect("an accuracy").to_string();
    let kept = |seed: &str| {
        let split = ["--holdout", "450", "--seed", seed, "--target-accuracy", &target];
        let result = tune(&folder, &split);
        estimate(&result, "MSP", "kept")
    };
    let mean = line(&result, "MSP")["kept"]["spread"]["mean"].as_f64().expect("a mean");
    let each: Vec<f64> = ["5", "6", "7"].iter().map(|seed| kept(seed)).collect();
    assert!((mean - each.iter().sum::<f64>() / 3.0).abs() < 1e-12);
    let text =
        folder.ok(&[&["tune", "logits.npy", "labels.npy", "--splits", "3"], &FEW[..]].concat());
    assert!(text.contains("mean ± standard deviation over 3 random splits"), "{text}");
}

#[test]
fn a_test_set_is_measured_on_and_certified_on() {
    let folder = Folder::with_rows(600, 6, 6);
    folder.rows("test-", 2000, 6, 7);
    let test = ["--test", "test-logits.npy", "test-labels.npy"];
    let target = ["--target-accuracy", "0.9", "--delta", "0.05", "-o", "e.json"];
    let result = tune(&folder, &[&test[..], &target].concat());
    assert_eq!(result["report"]["tuning_rows"], 600);
    assert_eq!(result["report"]["test_rows"], 2000);
    // What was written is what was printed, and scoring the test rows finds what was certified.
    let artifact = folder.json("e.json");
    assert_eq!(result["artifact"], artifact);
    let certificate = &artifact["rule"]["threshold"]["certificate"];
    let scores = folder.ok(&["score", "e.json", "test-logits.npy", "-q"]);
    let (_, labels) = classifier(2000, 6, 7);
    let (mut accepted, mut errors) = (0_u64, 0_u64);
    for (line, label) in scores.lines().skip(1).zip(&labels) {
        let fields: Vec<&str> = line.split(',').collect();
        if fields[2] == "true" {
            accepted += 1;
            errors += u64::from(fields[0] != label.to_string());
        }
    }
    assert_eq!(certificate["accepted"], accepted);
    assert_eq!(certificate["errors"], errors);
    assert_eq!(certificate["rows"], 2000);
    assert_eq!(certificate["delta"], 0.05);
    let sgr = tune(&folder, &[&test[..], &target, &["--procedure", "sgr"]].concat());
    assert_eq!(sgr["artifact"]["rule"]["threshold"]["certificate"]["procedure"], "sgr");
    // Beside the other measures, so are they on the table.
    let eval = folder.ok_json(&["eval", "e.json", "test-logits.npy", "test-labels.npy", "--json"]);
    let metric = |name: &str| {
        let lines = eval[0]["metrics"].as_array().expect("a list").iter();
        let found = lines.clone().find(|line| line["metric"] == name).expect("a metric").clone();
        found["values"][0]["estimate"].as_f64().expect("a number")
    };
    let method = result["artifact"]["tuning"]["method"].as_str().expect("a name");
    assert!((metric("NAURC") - estimate(&result, method, "naurc")).abs() < 1e-12);
    assert!((metric("AUROC") - estimate(&result, method, "auroc")).abs() < 1e-12);
}

#[test]
fn targets_without_delta_set_a_threshold_without_a_certificate() {
    let folder = Folder::with_rows(800, 6, 8);
    for (option, value, risk) in [("--target-accuracy", "0.9", 0.1), ("--target-risk", "0.2", 0.2)]
    {
        let result = tune(&folder, &[option, value]);
        let threshold = &result["artifact"]["rule"]["threshold"];
        assert_eq!(threshold["basis"], "risk");
        assert_eq!(threshold["risk"], risk);
        let found = threshold["selective_risk"].as_f64().expect("a number");
        assert!(found <= risk + 1e-12 && found > risk / 2.0, "{found}");
    }
    let text = folder.ok(&[
        &["tune", "logits.npy", "labels.npy", "--target-risk", "0.2"],
        &FEW[..],
    ]
    .concat());
    assert!(text.contains("coverage at risk 0.2 ↑") && text.contains("not certified"), "{text}");
}

#[test]
fn losses_of_every_kind() {
    let folder = Folder::with_rows(600, 5, 9);
    let plain = tune(&folder, &[]);
    let accuracy = |json: &Value| json["report"]["accuracy"].as_f64().expect("a number");
    let top = tune(&folder, &["--loss", "top-2"]);
    assert!(accuracy(&top) > accuracy(&plain) + 0.03);
    assert_eq!(top["artifact"]["tuning"]["loss"], "top-2");
    // Costs of one for every error are the 0/1 loss.
    let costs: Vec<f64> = (0..25).map(|i| if i % 6 == 0 { 0.0 } else { 1.0 }).collect();
    folder.put("costs.npy", &npy_f64(&costs, "(5, 5)"));
    let same = tune(&folder, &["--loss", "costs.npy"]);
    assert_eq!(accuracy(&same), accuracy(&plain));
    // Graded ones leave AUROC undefined, and the rest works.
    let halves: Vec<f64> = costs.iter().map(|x| x / 2.0).collect();
    folder.put("halves.npy", &npy_f64(&halves, "(5, 5)"));
    let graded = tune(&folder, &["--loss", "halves.npy"]);
    assert_eq!(line(&graded, "MSP")["auroc"]["interval"], Value::Null);
    assert!(
        (estimate(&graded, "MSP", "aurc") - estimate(&plain, "MSP", "aurc") / 2.0).abs() < 1e-12
    );
    let per_row: Vec<f64> = (0..600).map(|i| f64::from(i % 3)).collect();
    folder.put("rows.npy", &npy_f64(&per_row, "(600,)"));
    assert!((accuracy(&tune(&folder, &["--loss", "rows.npy"])) - 0.0).abs() < 0.2);
}

#[test]
fn probabilities_and_masks() {
    let folder = Folder::new();
    let (logits, labels) = classifier(600, 5, 10);
    folder.put("labels.npy", &npy_labels(&labels));
    let mut probabilities = Vec::new();
    for row in logits.chunks(5) {
        let top = row.iter().copied().fold(f32::MIN, f32::max);
        let each: Vec<f64> = row.iter().map(|&x| f64::from(x - top).exp()).collect();
        let sum: f64 = each.iter().sum();
        // Rounded, as people save them: some become zero.
        probabilities.extend(each.iter().map(|x| (x / sum * 1e4).round() / 1e4));
    }
    folder.put("logits.npy", &npy_f64(&probabilities, "(600, 5)"));
    let result = tune(&folder, &["--probs"]);
    assert_eq!(
        result["artifact"]["input"],
        serde_json::json!({ "kind": "probabilities", "floor": 1e-4, "tolerance": null })
    );
    let lower =
        tune(&folder, &["--probs", "--floor", "1e-9", "--tolerance", "0.01", "-o", "p.json"]);
    assert_eq!(lower["artifact"]["input"]["floor"], 1e-9);
    assert_eq!(lower["artifact"]["input"]["tolerance"], 0.01);
    // Scoring knows that its rows are probabilities, and with which floor.
    folder.ok(&["score", "p.json", "logits.npy", "-q", "-o", "implied.csv"]);
    folder.ok(&[
        "score",
        "p.json",
        "logits.npy",
        "-q",
        "--probs",
        "--tolerance",
        "0.01",
        "-o",
        "stated.csv",
    ]);
    assert_eq!(folder.read("implied.csv"), folder.read("stated.csv"));
    let masked: Vec<f64> = logits
        .iter()
        .enumerate()
        .map(|(i, &x)| if i % 7 == 3 { f64::NEG_INFINITY } else { f64::from(x) })
        .collect();
    folder.put("logits.npy", &npy_f64(&masked, "(600, 5)"));
    let result = tune(&folder, &["--masked", "-o", "m.json"]);
    assert_eq!(result["artifact"]["input"]["kind"], "masked");
    assert!(folder.ok(&["score", "m.json", "logits.npy", "-q"]).lines().count() == 601);
}

#[test]
fn fallbacks_are_those_asked_for() {
    // Nothing to gain: the scale of every row is the same.
    let folder = Folder::new();
    let mut random = common::Lcg::new(11);
    let (mut logits, mut labels) = (Vec::new(), Vec::new());
    for row in 0..400_u32 {
        labels.push(row % 3);
        for class in 0..3 {
            let signal = if class == row % 3 { 1.0 } else { 0.0 };
            logits.push(signal + random.normal());
        }
    }
    folder.put("logits.npy", &npy_f64(&logits, "(400, 3)"));
    folder.put("labels.npy", &npy_labels(&labels));
    let reason = |fallback: &str| {
        let result = tune(&folder, &["--fallback", fallback, "--method", "MaxLogit-pNorm"]);
        assert_eq!(result["artifact"]["tuning"]["fallback"], fallback);
        result["report"]["choice"]["reason"].as_str().expect("a word").to_string()
    };
    assert_eq!(reason("none"), "as-asked");
    assert_eq!(reason("standard-errors=50"), "fell-back");
    assert_eq!(reason("cross-validation=4+50"), "fell-back");
    // The paper's rule takes what is not worse on the tuning rows, and asks nothing more.
    assert_eq!(reason("paper"), "as-asked");
}

#[test]
fn degenerate_rows_have_an_answer() {
    let folder = Folder::new();
    let run = |logits: &[f64], classes: usize, labels: &[u32]| {
        folder.put("logits.npy", &npy_f64(logits, &format!("({}, {classes})", labels.len())));
        folder.put("labels.npy", &npy_labels(labels));
        folder.run(&["tune", "logits.npy", "labels.npy", "--replicates", "20"])
    };
    let labels: Vec<u32> = (0..100).map(|i| i % 4).collect();
    let right: Vec<f64> =
        (0..400).map(|i| if i % 4 == (i / 4) % 4 { 3.0 } else { f64::from(i % 7) / 9.0 }).collect();
    let wrong: Vec<u32> = labels.iter().map(|x| (x + 1) % 4).collect();
    let one_hot: Vec<f64> =
        (0..400).map(|i| if i % 4 == (i / 20) % 4 { 1.0 } else { 0.0 }).collect();
    for (about, output) in [
        ("no errors", run(&right, 4, &labels)),
        ("all errors", run(&right, 4, &wrong)),
        ("equal rows", run(&[0.5; 400], 4, &labels)),
        ("one-hot rows", run(&one_hot, 4, &labels)),
        ("two classes", run(&right[..200], 2, &(0..100).map(|i| i % 2).collect::<Vec<u32>>())),
        ("four rows", run(&right[..16], 4, &labels[..4])),
    ] {
        assert_eq!(output.code, Some(0), "{about}: {}", output.err);
        assert!(
            output.out.contains("Keep MSP") || output.out.contains("Use LabelFree"),
            "{about}: {}",
            output.out
        );
        assert!(!output.out.contains("NaN"), "{about}: {}", output.out);
    }
}

#[test]
fn quiet_is_one_sentence_and_json_is_json() {
    let folder = Folder::with_rows(300, 4, 12);
    let output =
        folder.run(&["tune", "logits.npy", "labels.npy", "--method", "MSP", "-q", "-o", "e.json"]);
    assert_eq!(output.out.lines().count(), 1);
    assert!(output.out.starts_with("Keep MSP: at "), "{}", output.out);
    assert_eq!(output.err, "");
    let json = tune(&folder, &[]);
    let interval = &line(&json, "MSP")["naurc"]["interval"];
    assert_eq!(interval["replicates"], 100);
    assert!(
        json["report"]["before"]["coverage"].as_array().is_some_and(|result| result.len() > 10)
    );
}

#[test]
fn labels_may_lie_beside_the_logits() {
    let folder = Folder::with_rows(300, 4, 13);
    let (logits, labels) = classifier(300, 4, 13);
    let mut table = String::from("a,b,c,d,truth\n");
    for (row, label) in logits.chunks(4).zip(labels) {
        let row: Vec<String> = row.iter().map(|&x| f64::from(x).to_string()).collect();
        table += &(row.join(",") + &format!(",{label}\n"));
    }
    folder.put("table.data", table.as_bytes());
    let arguments = ["tune", "table.data", "--format", "csv", "--labels-name", "truth", "--json"];
    let result = folder.ok_json(&[&arguments[..], &FEW].concat());
    assert_eq!(
        result["artifact"]["tuning"]["data"],
        tune(&folder, &[])["artifact"]["tuning"]["data"]
    );
    let named = [&arguments[..], &FEW, &["--logits-name", "a*"]].concat();
    assert_eq!(folder.run(&named).code, Some(2), "one column is one class");
}

#[test]
fn folds_and_rows_are_those_requested() {
    let folder = Folder::with_rows(600, 5, 21);
    let report = |more: &[&str]| tune(&folder, more)["report"].clone();
    assert_eq!(report(&[])["folds"], 5);
    assert_eq!(report(&["--folds", "3"])["folds"], 3);
    let sampled = report(&["--max-rows", "200"]);
    assert_eq!((&sampled["rows"], &sampled["tuning_rows"]), (&600.into(), &200.into()));
    let refused = folder.run(&["tune", "logits.npy", "labels.npy", "--folds", "1"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("from 2 to 1000"), "{}", refused.err);
}

#[test]
fn the_label_free_rule_needs_no_labels() {
    let folder = Folder::with_rows(900, 7, 22);
    let output = folder.run(&["tune", "logits.npy", "--no-labels", "-o", "free.json"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    for part in
        ["900 rows without labels; 7 classes", "Use LabelFree", "Without labels it is not known"]
    {
        assert!(output.out.contains(part), "{part} is not in\n{}", output.out);
    }
    let artifact = folder.json("free.json");
    assert_eq!(artifact["estimator"]["method"], "LabelFree");
    assert_eq!((&artifact["rule"], &artifact["tuning"]["rows"]), (&Value::Null, &900.into()));
    let few = ["tune", "logits.npy", "--no-labels", "--max-rows", "100", "--json"];
    let few = folder.ok_json(&few);
    assert_eq!(few["rows"], 900);
    assert!(few["artifact"]["tuning"]["rows"].as_u64().expect("a count") <= 100);
    // The logits alone made the rule: their labels cannot certify it, and eval says so.
    let certify = ["certify", "free.json", "logits.npy", "labels.npy", "--target-risk", "0.3"];
    let refused = folder.run(&certify);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("the estimator was tuned on these rows"), "{}", refused.err);
    let output = folder.run(&["eval", "free.json", "logits.npy", "labels.npy"]);
    assert!(output.err.contains("tuned on some of these rows"), "{}", output.err);
    // Fresh rows can.
    folder.rows("fresh-", 2000, 7, 23);
    folder.ok(&[
        "certify",
        "free.json",
        "fresh-logits.npy",
        "fresh-labels.npy",
        "--target-risk",
        "0.4",
    ]);
    let both = folder.run(&["tune", "logits.npy", "labels.npy", "--no-labels"]);
    assert_eq!(both.code, Some(2));
}

#[test]
fn unlabelled_rows_give_the_stack_its_scale() {
    let folder = Folder::with_rows(900, 7, 24);
    folder.rows("deployed-", 1500, 7, 25);
    folder.rows("other-", 50, 6, 26);
    let tune = ["tune", "logits.npy", "labels.npy", "--method", "Stack", "--fallback", "none"];
    let with = |more: &[&str]| folder.ok_json(&[&tune[..], &["--json"], more].concat());
    let (plain, deployed) = (with(&[]), with(&["--unlabelled", "deployed-logits.npy"]));
    let mean = |json: &Value| json["artifact"]["estimator"]["terms"][0]["mean"].clone();
    assert_ne!(mean(&plain), mean(&deployed));
    // They have the mean that their file has, as the label-free rule shows.
    let free = folder.ok_json(&["tune", "deployed-logits.npy", "--no-labels", "--json"]);
    assert_eq!(mean(&free), mean(&deployed));
    // Rows that gave the estimator its scale cannot certify it.
    folder.ok(&[&tune[..], &["--unlabelled", "deployed-logits.npy", "-o", "e.json"]].concat());
    let certify = ["certify", "e.json", "deployed-logits.npy", "deployed-labels.npy"];
    let refused = folder.run(&[&certify[..], &["--target-risk", "0.3"]].concat());
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("the estimator was tuned on these rows"), "{}", refused.err);
    // The same for a certificate that tune makes: of its rows, and of its test rows.
    let delta = ["--target-risk", "0.3", "--delta", "0.1"];
    let test = ["--test", "deployed-logits.npy", "deployed-labels.npy"];
    let unlabelled = ["--unlabelled", "deployed-logits.npy"];
    for more in [vec!["--unlabelled", "logits.npy"], [&test[..], &unlabelled].concat()] {
        let refused = folder.run(&[&tune[..], &delta, &more].concat());
        assert_eq!(refused.code, Some(2), "{}", refused.out);
        assert!(refused.err.contains("cannot certify"), "{}", refused.err);
    }
    let other = folder.run(&[&tune[..], &["--unlabelled", "other-logits.npy"]].concat());
    assert_eq!(other.code, Some(2));
    assert!(other.err.contains("6 classes, but the tuning rows have 7"), "{}", other.err);
}

#[test]
fn an_extra_column_is_one_more_term() {
    let folder = Folder::with_rows(900, 7, 27);
    folder.rows("fresh-", 1500, 7, 28);
    // A number that is higher where the prediction is right, and noise.
    for prefix in ["", "fresh-"] {
        let (rows, seed) = if prefix.is_empty() { (900, 27) } else { (1500, 28) };
        let (logits, labels) = classifier(rows, 7, seed);
        let mut lines = vec!["id,distance\n".to_string()];
        for (row, (logits, label)) in logits.chunks(7).zip(&labels).enumerate() {
            let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let right = logits[usize::try_from(*label).expect("a class")] == top;
            let noise = (row * 7919 % 101) as f64 / 50.0;
            let distance = 100.0 + 3.0 * f64::from(u8::from(right)) + noise;
            lines.push(format!("{row},{distance}\n"));
        }
        folder.put(&format!("{prefix}extra.csv"), lines.concat().as_bytes());
    }
    let extra = ["--extra", "extra.csv", "--extra-name", "distance"];
    let fresh = ["--extra", "fresh-extra.csv", "--extra-name", "distance"];
    let tune = ["tune", "logits.npy", "labels.npy", "--method", "Stack"];
    let plain = folder.ok_json(&[&tune[..], &["--json"]].concat());
    let with = folder.ok_json(&[&tune[..], &extra, &["--json", "-o", "e.json"]].concat());
    let naurc = |json: &Value| estimate(json, "Stack", "naurc");
    assert!(naurc(&with) < 0.7 * naurc(&plain), "{} {}", naurc(&with), naurc(&plain));
    let terms = with["artifact"]["estimator"]["terms"].as_array().expect("terms");
    let of_extra = terms.iter().find(|term| term["estimator"]["method"] == "Extra");
    assert!(of_extra.expect("a term")["weight"].as_f64().expect("a number") > 0.5);
    // Every command needs it now, and uses it.
    let rows = ["fresh-logits.npy", "fresh-labels.npy"];
    let commands: [Vec<&str>; 5] = [
        vec!["score", "e.json", rows[0]],
        vec!["eval", "e.json", rows[0], rows[1]],
        vec!["certify", "e.json", rows[0], rows[1], "--target-risk", "0.3"],
        vec!["threshold", "e.json", rows[0], rows[1], "--target-risk", "0.3"],
        vec!["threshold", "e.json", rows[0], "--coverage", "0.5"],
    ];
    for command in &commands {
        let refused = folder.run(command);
        assert_eq!(refused.code, Some(2), "{command:?}");
        assert!(refused.err.contains("needs an extra column"), "{}", refused.err);
        assert!(refused.err.contains("--extra FILE"), "{}", refused.err);
        folder.ok(&[&command[..], &fresh].concat());
        let short = folder.run(&[&command[..], &extra].concat());
        assert_eq!(short.code, Some(2), "{command:?}");
        assert!(short.err.contains("900 numbers in the extra column"), "{}", short.err);
    }
    // An estimator without such a term has no use for it, nor have further sets one of it.
    let unused = folder.run(&[&["score", "MSP", rows[0]][..], &fresh].concat());
    assert!(unused.err.contains("no term for an extra column"), "{}", unused.err);
    let sets = [&commands[1][..], &fresh, &["--set", "again", rows[0], rows[1]]].concat();
    assert_eq!(folder.run(&sets).code, Some(2));
    // Infinite numbers are refused with their row.
    folder.put("bad.csv", format!("distance\n{}inf\n", "1\n".repeat(899)).as_bytes());
    let bad = folder.run(&[&tune[..], &["--extra", "bad.csv"]].concat());
    assert_eq!(bad.code, Some(2));
    assert!(bad.err.contains("bad.csv: row 899 of the extra column is inf"), "{}", bad.err);
}
