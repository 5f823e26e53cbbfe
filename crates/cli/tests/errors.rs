//! Every wrong input: one clear message, the right exit code, and nothing lost.

mod common;

use common::{Folder, csv, npy, npy_f32, npy_f64, npy_labels};
use std::fmt::Write;

/// Runs commands that must fail and records their messages.
struct Log<'a> {
    folder: &'a Folder,
    text: String,
}

impl Log<'_> {
    fn fails(&mut self, about: &str, code: i32, arguments: &[&str]) {
        let before = self.folder.names();
        let output = self.folder.run(arguments);
        let _ = writeln!(self.text, "# {about}\n$ abstain {}\n{}", arguments.join(" "), output.err);
        assert_eq!(output.code, Some(code), "{arguments:?}: {}{}", output.out, output.err);
        assert!(!output.err.contains("panicked"), "{}", output.err);
        assert_eq!(self.folder.names(), before, "{arguments:?} left something behind");
    }
}

fn labelled(folder: &Folder, name: &str, labels: &[f64]) {
    folder.put(name, &npy_f64(labels, &format!("({},)", labels.len())));
}

#[test]
fn wrong_values_are_refused() {
    let folder = Folder::with_rows(40, 4, 1);
    let rows = |values: &[f64], name: &str| {
        folder.put(name, csv(values, 4).as_bytes());
    };
    let sound: Vec<f64> = (0..160).map(|i| f64::from(i * 37 % 11)).collect();
    let with = |row: usize, column: usize, value: f64| {
        let mut values = sound.clone();
        values[row * 4 + column] = value;
        values
    };
    rows(&with(7, 2, f64::NAN), "nan.csv");
    rows(&with(9, 0, f64::INFINITY), "inf.csv");
    rows(&with(9, 3, f64::NEG_INFINITY), "masked.csv");
    rows(&with(0, 0, 1e101), "huge.csv");
    let probabilities: Vec<f64> = [0.7, 0.1, 0.1, 0.1].repeat(40);
    rows(&probabilities, "probs.csv");
    let mut off = probabilities.clone();
    off[21] = 0.3;
    rows(&off, "sum.csv");
    off[21] = -0.3;
    rows(&off, "negative.csv");
    folder.put("one-class.csv", &"1\n".repeat(40).into_bytes());
    folder.put("one-row.csv", b"1,2,3,4\n");
    folder.put("one-label.csv", b"1\n");
    folder.put("text.csv", b"a,b,c\n1,2,3\n1,x,3\n");
    folder.put("ragged.csv", b"1,2,3\n1,2,3\n1,2\n");
    folder.put("only-names.csv", b"a,b,c\n");
    let label = |at: usize, value: f64| {
        let mut labels: Vec<f64> = (0..40).map(|i| f64::from(i % 4)).collect();
        labels[at] = value;
        labels
    };
    labelled(&folder, "negative-label.npy", &label(5, -1.0));
    labelled(&folder, "large-label.npy", &label(5, 9.0));
    labelled(&folder, "from-one.npy", &label(5, 4.0));
    labelled(&folder, "half-label.npy", &label(5, 1.5));
    labelled(&folder, "few-labels.npy", &label(5, 1.0)[..39]);
    folder.put("one-hot.npy", &npy_f64(&sound, "(40, 4)"));
    folder.put("words.csv", &"cat\ndog\n".repeat(20).into_bytes());
    let mut log = Log { folder: &folder, text: String::new() };
    let all = "labels.npy";
    log.fails("NaN", 2, &["tune", "nan.csv", all]);
    log.fails("infinity", 2, &["score", "MSP", "inf.csv", "--bad-rows", "refuse"]);
    log.fails("minus infinity in rows that are not masked", 2, &["tune", "masked.csv", all]);
    log.fails("too large", 2, &["tune", "huge.csv", all]);
    log.fails("logits for probabilities", 2, &["tune", "logits.npy", all, "--probs"]);
    log.fails("a sum that is not 1", 2, &["tune", "sum.csv", all, "--probs"]);
    log.fails("a negative probability", 2, &["tune", "negative.csv", all, "--probs"]);
    log.fails(
        "a floor above everything",
        2,
        &["tune", "probs.csv", all, "--probs", "--floor", "0.9"],
    );
    log.fails("a floor out of range", 2, &["tune", "probs.csv", all, "--probs", "--floor", "2"]);
    log.fails(
        "a tolerance out of range",
        2,
        &["tune", "probs.csv", all, "--probs", "--tolerance", "3"],
    );
    log.fails("one class", 2, &["tune", "one-class.csv", all]);
    log.fails("one row", 2, &["tune", "one-row.csv", "one-label.csv"]);
    log.fails("a word among numbers", 2, &["score", "MSP", "text.csv", "--bad-rows", "refuse"]);
    log.fails("a row that is too short", 2, &["score", "MSP", "ragged.csv"]);
    log.fails("names without rows", 2, &["score", "MSP", "only-names.csv"]);
    log.fails("a negative label", 2, &["tune", "logits.npy", "negative-label.npy"]);
    log.fails("a label that is too large", 2, &["tune", "logits.npy", "large-label.npy"]);
    log.fails("labels counted from 1", 2, &["tune", "logits.npy", "from-one.npy"]);
    log.fails("a label that is not whole", 2, &["tune", "logits.npy", "half-label.npy"]);
    log.fails("too few labels", 2, &["tune", "logits.npy", "few-labels.npy"]);
    log.fails("too few labels for text", 2, &["tune", "probs.csv", "few-labels.npy"]);
    log.fails("one-hot labels", 2, &["tune", "logits.npy", "one-hot.npy"]);
    log.fails("labels in words", 2, &["tune", "logits.npy", "words.csv"]);
    log.fails("labels for logits", 2, &["tune", "labels.npy", "logits.npy"]);
    log.fails("no labels", 2, &["tune", "logits.npy"]);
    insta::assert_snapshot!(log.text);
}

#[test]
fn wrong_weights_are_refused() {
    let folder = Folder::with_rows(40, 4, 1);
    for (name, weights) in [
        ("sound.csv", ["1", "2.5"]),
        ("negative.csv", ["1", "-2"]),
        ("nan.csv", ["nan", "1"]),
        ("word.csv", ["1", "heavy"]),
        ("huge.csv", ["1e101", "1"]),
        ("zero.csv", ["0", "0"]),
    ] {
        let table =
            format!("confidence,correct,weight\n0.9,1,{}\n0.8,0,{}\n", weights[0], weights[1]);
        folder.put(name, table.as_bytes());
    }
    let mut log = Log { folder: &folder, text: String::new() };
    let named = ["--weight-name", "weight"];
    for (about, name) in [
        ("a negative weight", "negative.csv"),
        ("a weight that is NaN", "nan.csv"),
        ("a weight that is a word", "word.csv"),
        ("a weight that is too large", "huge.csv"),
        ("no weight but 0", "zero.csv"),
    ] {
        log.fails(about, 2, &[&["eval", "Confidence", name], &named[..]].concat());
    }
    let eval = ["eval", "Confidence", "sound.csv"];
    log.fails("no such column", 2, &[&eval[..], &["--weight-name", "w"]].concat());
    log.fails("a page", 2, &[&eval[..], &named, &["--page", "page.html"]].concat());
    let certify = ["certify", "Confidence", "sound.csv", "--target-accuracy", "0.5"];
    log.fails("no largest weight", 2, &[&certify[..], &named].concat());
    let largest = |weight| [&certify[..], &named, &["--max-weight", weight]].concat();
    log.fails("a weight above the largest", 2, &largest("2"));
    log.fails("a largest weight of 0", 2, &largest("0"));
    log.fails("no row is kept", 1, &largest("1e9"));
    log.fails("no weights", 2, &[&certify[..], &["--max-weight", "3"]].concat());
    let logits = ["logits.npy", "labels.npy"];
    let certify = ["certify", "MSP", logits[0], logits[1], "--target-accuracy", "0.5"];
    log.fails("weights of logits", 2, &[&certify[..], &named].concat());
    log.fails("the same", 2, &[&["eval", "MSP"], &logits[..], &named].concat());
    let threshold = ["threshold", "MSP", logits[0], "--coverage", "0.5"];
    log.fails("the same of a coverage", 2, &[&threshold[..], &named].concat());
    let threshold = ["threshold", "Confidence", "sound.csv", "--target-accuracy", "0.5"];
    folder.ok(&[&threshold[..], &["-q", "-o", "judge.json"]].concat());
    let eval = ["eval", "judge.json", "sound.csv", "--fail-if-violated"];
    log.fails("a requirement that needs equal weights", 2, &[&eval[..], &named].concat());
    insta::assert_snapshot!(log.text);
}

#[test]
fn wrong_files_are_refused() {
    let folder = Folder::with_rows(40, 4, 1);
    let sound = std::fs::read(folder.path().join("logits.npy")).expect("read");
    folder.put("cut.npy", &sound[..sound.len() - 100]);
    folder.put("cut-header.npy", &sound[..40]);
    folder.put("empty.npy", b"");
    folder.put("other.npy", b"PK\x03\x04 something else entirely, and long enough to look at");
    folder.put("text.npy", b"1,2,3\n4,5,6\n");
    folder.put("binary.csv", &sound);
    folder.put("pickle.npy", &npy("'|O'", "(3,)", b"\x80\x03]q\x00."));
    folder.put("complex.npy", &npy("'<c8'", "(2, 3)", &[0; 48]));
    folder.put("bfloat16.npy", &npy("'|V2'", "(2, 3)", &[0; 12]));
    folder.put("three.npy", &npy_f64(&[0.0; 24], "(2, 3, 4)"));
    folder.put("no-rows.npy", &npy_f64(&[], "(0, 4)"));
    folder.put("unknown.bin", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    folder.put("hdf.h5", b"\x89HDF\r\n\x1a\n and so on and so on and so on");
    folder.put(
        "old.pt",
        b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.",
    );
    folder.put("cut.pt", b"PK\x03\x04\x00\x00\x00\x00 the rest of the archive is not there");
    folder.put("cut.npz", b"PK\x03\x04\x00\x00\x00\x00 the rest of the archive is not there");
    folder.put("cut.parquet", b"PAR1 and then nothing");
    folder.put("cut.safetensors", b"\xff\0\0\0\0\0\0\0{\"logits\":");
    folder.put("cut.csv.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x4b");
    let hostile = include_bytes!("../../io/fixtures/calls-os-system.pt");
    folder.put("hostile.pt", hostile);
    std::fs::create_dir(folder.path().join("folder")).expect("made");
    let mut log = Log { folder: &folder, text: String::new() };
    for (about, name) in [
        ("no such file", "nothing.npy"),
        ("a folder", "folder"),
        ("an empty file", "empty.npy"),
        ("npy, cut short", "cut.npy"),
        ("npy, cut in its header", "cut-header.npy"),
        ("a zip archive named npy", "other.npy"),
        ("text named npy", "text.npy"),
        ("npy named csv", "binary.csv"),
        ("pickled objects", "pickle.npy"),
        ("complex numbers", "complex.npy"),
        ("bfloat16 in npy", "bfloat16.npy"),
        ("three dimensions", "three.npy"),
        ("no rows", "no-rows.npy"),
        ("an unknown format", "unknown.bin"),
        ("HDF5", "hdf.h5"),
        ("PyTorch before 1.6", "old.pt"),
        ("pt, cut short", "cut.pt"),
        ("a pickle that wants to run something", "hostile.pt"),
        ("npz, cut short", "cut.npz"),
        ("parquet, cut short", "cut.parquet"),
        ("safetensors, cut short", "cut.safetensors"),
        ("gzip, cut short", "cut.csv.gz"),
    ] {
        log.fails(about, 2, &["score", "MSP", name, "-o", "out.npy"]);
        log.text += "\n";
    }
    assert!(!folder.path().join("was-executed").exists());
    insta::assert_snapshot!(log.text.replace("\n\n\n", "\n\n"));
}

#[test]
fn wrong_estimators_are_refused() {
    let folder = Folder::with_rows(40, 4, 1);
    folder.rows("other-", 40, 5, 1);
    folder.ok(&["tune", "logits.npy", "labels.npy", "--method", "MSP", "-q", "-o", "sound.json"]);
    let sound = folder.read("sound.json");
    folder.put("newer.json", sound.replace("\"version\": 2", "\"version\": 3").as_bytes());
    folder.put("more.json", sound.replace("\"classes\"", "\"colour\": 1, \"classes\"").as_bytes());
    folder.put("cut.json", &sound.as_bytes()[..100]);
    folder.put("another.json", b"{\"name\": \"something\"}");
    folder.put("list.json", b"[1, 2, 3]");
    folder.put("empty.json", b"");
    folder.put("bare.json", b"{\"method\": \"MaxLogit-pNorm\", \"q\": 3}");
    let mut log = Log { folder: &folder, text: String::new() };
    for (about, name) in [
        ("no such file", "nothing.json"),
        ("a newer version", "newer.json"),
        ("an unknown field", "more.json"),
        ("cut short", "cut.json"),
        ("another kind of JSON", "another.json"),
        ("not an object", "list.json"),
        ("empty", "empty.json"),
        ("a parameter that the method does not take", "bare.json"),
        ("not JSON", "logits.npy"),
        ("a name that nothing has", "MaxLogit-pNrom"),
        ("a rank-neutral name", "MaxLogit-TS(T=2)"),
    ] {
        log.fails(about, 2, &["show", name]);
    }
    log.fails("other classes", 2, &["score", "sound.json", "other-logits.npy"]);
    log.fails("other classes", 2, &["eval", "sound.json", "other-logits.npy", "other-labels.npy"]);
    log.fails("another kind of rows", 2, &["score", "sound.json", "logits.npy", "--probs"]);
    insta::assert_snapshot!(log.text);
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = Folder::with_rows(200, 4, 1);
    folder.rows("other-", 60, 5, 1);
    folder.put("losses.npy", &npy_f64(&[0.5; 50], "(50,)"));
    folder.put("costs.npy", &npy_f64(&[0.5; 9], "(3, 3)"));
    folder.put("halves.npy", &npy_f64(&[0.5; 16], "(4, 4)"));
    folder.put("rows.csv", &"1,2,3,4\n".repeat(200).into_bytes());
    folder.put("short.csv", b"confidence\n0.5\n0.25\n");
    let mut log = Log { folder: &folder, text: String::new() };
    let tune = |more: &[&'static str]| [&["tune", "logits.npy", "labels.npy"], more].concat();
    log.fails("an unknown method", 2, &tune(&["--method", "MSP-TS-AUROC"]));
    log.fails("an unknown objective", 2, &tune(&["--objective", "AURK"]));
    log.fails("an unknown space", 2, &tune(&["--space", "outer"]));
    log.fails("an unknown fallback", 2, &tune(&["--fallback", "never"]));
    log.fails("an accuracy above 1", 2, &tune(&["--target-accuracy", "98"]));
    log.fails("both targets", 2, &tune(&["--target-accuracy", "0.9", "--target-risk", "0.1"]));
    log.fails("delta without a target", 2, &tune(&["--delta", "0.1"]));
    log.fails("more tuning rows than rows", 2, &tune(&["--holdout", "200"]));
    log.fails("a hold-out and a test set", 2, &tune(&["--holdout", "0.1", "--test", "logits.npy"]));
    log.fails(
        "a test set of other classes",
        2,
        &tune(&["--test", "other-logits.npy", "other-labels.npy"]),
    );
    log.fails("losses of other rows", 2, &tune(&["--loss", "losses.npy"]));
    log.fails("costs of other classes", 2, &tune(&["--loss", "costs.npy"]));
    log.fails("top-4 of 4 classes", 2, &tune(&["--loss", "top-4"]));
    log.fails("the output over the input", 2, &tune(&["-o", "labels.npy"]));
    log.fails("the output over the costs", 2, &tune(&["--loss", "costs.npy", "-o", "costs.npy"]));
    log.fails("the output to standard output", 2, &tune(&["-o", "-"]));
    log.fails(
        "losses of one set for two",
        2,
        &tune(&["--loss", "losses.npy", "--test", "logits.npy"]),
    );
    log.fails("parameters of a method", 2, &tune(&["--method", "MaxLogit-pNorm(p=5)"]));
    log.fails("accuracy as the objective", 2, &tune(&["--objective", "Accuracy"]));
    let graded =
        ["--loss", "halves.npy", "--target-risk", "0.2", "--delta", "0.05", "--method", "MSP"];
    log.fails("graded losses, certified", 2, &tune(&graded));
    log.fails(
        "too few losses for text",
        2,
        &["eval", "MSP", "rows.csv", "labels.npy", "--loss", "losses.npy"],
    );
    log.fails(
        "labels for a coverage",
        2,
        &["threshold", "MSP", "logits.npy", "labels.npy", "--coverage", "0.5"],
    );
    log.fails("rows for a threshold by hand", 2, &["threshold", "MSP", "logits.npy", "--at", "1"]);
    log.fails("no target to certify", 2, &["certify", "MSP", "logits.npy", "labels.npy"]);
    log.fails("an array that is not there", 2, &tune(&["--logits-name", "z"]));
    log.fails("an output of unknown format", 2, &["score", "MSP", "logits.npy", "-o", "out.xyz"]);
    log.fails("the scores over the logits", 2, &["score", "MSP", "logits.npy", "-o", "logits.npy"]);
    log.fails("both from standard input", 2, &["eval", "MSP", "-", "-"]);
    log.fails("confidences alone", 2, &["eval", "--confidence", "short.csv"]);
    log.fails(
        "confidences of other rows",
        2,
        &["eval", "--confidence", "short.csv", "--losses", "losses.npy"],
    );
    log.fails(
        "no predictions",
        2,
        &["eval", "--confidence", "short.csv", "--labels", "labels.npy"],
    );
    log.fails("no way to a threshold", 2, &["threshold", "MSP", "logits.npy"]);
    log.fails("an unknown page", 2, &["man", "tuna"]);
    insta::assert_snapshot!(log.text);
}

#[test]
fn refusals_exit_with_1_and_lose_nothing() {
    let folder = Folder::with_rows(400, 4, 1);
    folder.rows("fresh-", 300, 4, 2);
    let mut log = Log { folder: &folder, text: String::new() };
    folder.put("estimator.json", b"{\"method\": \"MSP\"}");
    let target = ["--target-accuracy", "0.999", "--delta", "0.05"];
    let tune = [
        &["tune", "logits.npy", "labels.npy", "--method", "MSP", "-q", "-o", "estimator.json"],
        &target[..],
    ]
    .concat();
    log.fails("a target that cannot be certified", 1, &tune);
    // With its output shown, it offers nothing less than the target.
    let loud =
        ["tune", "logits.npy", "labels.npy", "--method", "MSP", "--target-accuracy", "0.999"];
    let output = folder.run(&[&loud[..], &["--delta", "0.05"]].concat());
    assert!(!output.out.contains("Threshold:"), "{}", output.out);
    let output = folder.run(&[&loud[..], &["--delta", "0.05", "--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&output.out).expect("valid JSON");
    assert_eq!(json["artifact"]["rule"], serde_json::Value::Null);
    let certify = ["certify", "estimator.json", "fresh-logits.npy", "fresh-labels.npy"];
    log.fails(
        "the same on fresh rows",
        1,
        &[&certify[..], &target, &["-o", "estimator.json"]].concat(),
    );
    let (wrong, _) = common::classifier(400, 4, 1);
    let negated: Vec<f32> = wrong.iter().map(|x| -x).collect();
    folder.put("wrong.npy", &npy_f32(&negated, 4));
    let threshold = ["threshold", "MSP", "wrong.npy", "labels.npy", "--accuracy", "0.99"];
    log.fails("a target out of reach", 1, &threshold);
    let tune = ["tune", "wrong.npy", "labels.npy", "--method", "MSP", "--target-accuracy", "0.99"];
    log.fails("the same while tuning", 1, &[&tune[..], &["-q", "-o", "estimator.json"]].concat());
    assert_eq!(folder.read("estimator.json"), "{\"method\": \"MSP\"}");
    insta::assert_snapshot!(log.text);
}

#[test]
fn certify_refuses_tuning_rows() {
    let folder = Folder::with_rows(400, 4, 1);
    folder.ok(&["tune", "logits.npy", "labels.npy", "--method", "MSP", "-q", "-o", "e.json"]);
    let certify = ["certify", "e.json", "logits.npy", "labels.npy", "--target-accuracy", "0.8"];
    let output = folder.run(&certify);
    assert_eq!(output.code, Some(2));
    insta::assert_snapshot!(output.err, @r"
    note: logits.npy: 400 rows of 4 classes (logits)
    error: logits.npy: the estimator was tuned on these rows
    hint: certify on other rows, or let `abstain tune --delta` keep some of them for it
    ");
    // The same rows in another format are still the same rows.
    let (logits, labels) = common::classifier(400, 4, 1);
    let wide: Vec<f64> = logits.iter().map(|&x| f64::from(x)).collect();
    folder.put("again.npy", &npy_f64(&wide, "(400, 4)"));
    folder.put("labels32.npy", &npy_labels(&labels));
    let certify = ["certify", "e.json", "again.npy", "labels32.npy", "--target-accuracy", "0.8"];
    assert_eq!(folder.run(&certify).code, Some(2));
    // So are some of them, all of them among others, and all of them in another order.
    let (others, other_labels) = common::classifier(100, 4, 9);
    let reversed =
        |values: &[f32]| -> Vec<f32> { values.chunks_exact(4).rev().flatten().copied().collect() };
    let backwards: Vec<u32> = labels.iter().rev().copied().collect();
    for (name, logits, labels) in [
        ("part", logits[..200 * 4].to_vec(), labels[..200].to_vec()),
        ("more", [&logits[..], &others].concat(), [&labels[..], &other_labels].concat()),
        ("reversed", reversed(&logits), backwards),
    ] {
        folder.put("rows.npy", &common::npy_f32(&logits, 4));
        folder.put("of-rows.npy", &npy_labels(&labels));
        let certify = ["certify", "e.json", "rows.npy", "of-rows.npy", "--target-accuracy", "0.8"];
        let output = folder.run(&certify);
        assert_eq!(output.code, Some(2), "{name}: {}", output.err);
        // The order does not matter to the fingerprint of all of them.
        let words = match name {
            "reversed" => "the estimator was tuned on these rows\n",
            _ => "tuned on these rows, or on many of them, in another order or rounded",
        };
        assert!(output.err.contains(words), "{name}: {}", output.err);
    }
    // A few of them among others are said, and counted.
    let (others, other_labels) = common::classifier(300, 4, 9);
    let few = [&logits[..26 * 4], &others].concat();
    folder.put("rows.npy", &common::npy_f32(&few, 4));
    folder.put("of-rows.npy", &npy_labels(&[&labels[..26], &other_labels].concat()));
    let certify = ["certify", "e.json", "rows.npy", "of-rows.npy", "--target-accuracy", "0.6"];
    let output = folder.run(&certify);
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(
        output.err.contains("tuning rows that were looked for are among these"),
        "{}",
        output.err
    );
}
