//! Tables as people have them, with the rows of a real network: each is read rightly or refused, and
//! every kind of input goes from tuning to scoring.

mod common;

use abstain_io::{LogitsReader, ReadOptions, Source, read_labels};
use common::Folder;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;

const CLASSES: usize = 10;
const NAMES: [&str; CLASSES] =
    ["shirt", "trousers", "pullover", "dress", "coat", "sandal", "top", "sneaker", "bag", "boot"];

/// Rows of the network in the demo.
struct Rows {
    logits: Vec<Vec<f64>>,
    labels: Vec<usize>,
}

impl Rows {
    fn read(first: usize, count: usize) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/fashion-ce");
        let source = Source::new(folder.join("logits.npy"));
        let options = ReadOptions::default();
        let mut reader = LogitsReader::open(&source, &options).expect("logits");
        let mut logits = Vec::new();
        let mut row = vec![0.0; CLASSES];
        while let Some((_, chunk)) = reader.next_chunk().expect("rows") {
            for index in 0..chunk.rows() {
                chunk.copy_row(index, &mut row);
                logits.push(row.clone());
            }
        }
        let labels = read_labels(&Source::new(folder.join("labels.npy")), &options, CLASSES);
        let labels = labels.expect("labels");
        let labels = labels.values().iter().map(|&label| label as usize);
        Rows {
            logits: logits[first..first + count].to_vec(),
            labels: labels.skip(first).take(count).collect(),
        }
    }

    fn prediction(&self, row: usize) -> usize {
        let logits = &self.logits[row];
        (0..CLASSES).rev().max_by(|&a, &b| logits[a].total_cmp(&logits[b])).expect("a class")
    }

    fn accuracy(&self) -> f64 {
        let right = (0..self.labels.len()).filter(|&row| self.prediction(row) == self.labels[row]);
        right.count() as f64 / self.labels.len() as f64
    }

    fn probabilities(&self, row: usize) -> Vec<f64> {
        let largest = self.logits[row].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let odds: Vec<f64> = self.logits[row].iter().map(|x| (x - largest).exp()).collect();
        let sum: f64 = odds.iter().sum();
        odds.iter().map(|x| x / sum).collect()
    }

    /// The confidence of MSP and whether the prediction is right.
    fn judged(&self, row: usize) -> (f64, bool) {
        let probability = self.probabilities(row).into_iter().fold(0.0, f64::max);
        (probability, self.prediction(row) == self.labels[row])
    }

    /// A table of columns by name.
    fn table(&self, columns: &[(String, &dyn Fn(usize) -> String)]) -> String {
        let names: Vec<&str> = columns.iter().map(|(name, _)| &name[..]).collect();
        let mut text = names.join(",") + "\n";
        for row in 0..self.labels.len() {
            let cells: Vec<String> = columns.iter().map(|(_, cell)| cell(row)).collect();
            text += &(cells.join(",") + "\n");
        }
        text
    }
}

/// The accuracy that the program reads in a table, or its message.
fn accuracy(folder: &Folder, table: &str, more: &[&str]) -> Result<f64, String> {
    folder.put("table.csv", table.as_bytes());
    let eval = ["eval", "MSP", "table.csv", "--json"];
    let outcome = folder.run(&[&eval[..], more].concat());
    match outcome.code {
        Some(0) => {
            let report: Value = serde_json::from_str(&outcome.out).expect("JSON");
            Ok(report[0]["accuracy"].as_f64().expect("a number"))
        }
        code => {
            assert_eq!(code, Some(2), "{}", outcome.err);
            assert!(outcome.err.contains("hint: "), "without a hint: {}", outcome.err);
            Err(outcome.err)
        }
    }
}

/// The cells of each class, and the labels.
fn cells(rows: &Rows) -> Vec<Box<dyn Fn(usize) -> String + '_>> {
    (0..CLASSES)
        .map(|class| Box::new(move |row: usize| rows.logits[row][class].to_string()) as Box<_>)
        .collect()
}

#[test]
fn columns_of_other_things_are_no_classes() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 400));
    let cells = cells(&rows);
    let label = |row: usize| rows.labels[row].to_string();
    // The loss tells the label: as a class it would look perfect.
    let loss = |row: usize| (-rows.probabilities(row)[rows.labels[row]].ln()).to_string();
    let predicted = |row: usize| rows.prediction(row).to_string();
    let correct = |row: usize| u8::from(rows.judged(row).1).to_string();
    let weight = |_: usize| "1.5".to_string();
    for names in [NAMES.map(String::from), std::array::from_fn(|class| format!("logit_{class}"))] {
        let mut columns: Vec<(String, &dyn Fn(usize) -> String)> = Vec::new();
        for (name, cell) in names.into_iter().zip(&cells) {
            columns.push((name, cell));
        }
        columns.insert(3, ("loss".into(), &loss));
        columns.push(("pred".into(), &predicted));
        columns.insert(0, ("y_pred".into(), &predicted));
        columns.push(("correct".into(), &correct));
        columns.push(("entropy".into(), &loss));
        columns.push(("sample_weight".into(), &weight));
        columns.push(("label".into(), &label));
        assert_eq!(accuracy(&folder, &rows.table(&columns), &[]), Ok(rows.accuracy()));
        let outcome = folder.run(&["eval", "MSP", "table.csv"]);
        assert!(outcome.err.contains("400 rows of 10 classes (logits) from"), "{}", outcome.err);
        assert!(outcome.err.contains("not used: 'y_pred', 'loss', …, 'sample_weight'"));
    }
    // A word that may be a class or not.
    let spread = |row: usize| (rows.logits[row][0] / 3.0).to_string();
    let mut columns: Vec<(String, &dyn Fn(usize) -> String)> = Vec::new();
    for (name, cell) in NAMES.iter().zip(&cells) {
        columns.push(((*name).to_string(), cell));
    }
    columns.push(("spread".into(), &spread));
    columns.push(("label".into(), &label));
    let table = rows.table(&columns);
    let message = accuracy(&folder, &table, &[]).unwrap_err();
    assert!(message.contains("11 columns may be classes"), "{message}");
    assert!(message.contains("--logits-name"), "{message}");
    let names = NAMES.join(",");
    for option in ["--logits-name", "--class-names"] {
        assert_eq!(accuracy(&folder, &table, &[option, &names]), Ok(rows.accuracy()));
    }
}

#[test]
fn numbered_columns_are_read_by_their_numbers() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 300));
    let cells = cells(&rows);
    let label = |row: usize| rows.labels[row].to_string();
    let from_one = |row: usize| (rows.labels[row] + 1).to_string();
    // As they sort by name, if there were ten times as many; and from one on.
    for (first, order) in [(0, [3, 0, 9, 1, 2, 8, 4, 7, 5, 6]), (1, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])]
    {
        let mut columns: Vec<(String, &dyn Fn(usize) -> String)> = Vec::new();
        for class in order {
            columns.push((format!("logit_{}", class + first), &cells[class]));
        }
        let labels: &dyn Fn(usize) -> String = if first == 0 { &label } else { &from_one };
        columns.push(("y_true".into(), labels));
        assert_eq!(accuracy(&folder, &rows.table(&columns), &[]), Ok(rows.accuracy()), "{first}");
        columns.remove(3);
        let message = accuracy(&folder, &rows.table(&columns), &[]).unwrap_err();
        assert!(message.contains("is missing"), "{message}");
    }
}

#[test]
fn labels_are_names_truth_or_one_hot() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 600));
    let cells = cells(&rows);
    let name = |row: usize| NAMES[rows.labels[row]].to_string();
    let mut columns: Vec<(String, &dyn Fn(usize) -> String)> = Vec::new();
    for class in [3, 0, 9, 1, 2, 8, 4, 7, 5, 6] {
        columns.push((format!("logit_{}", NAMES[class]), &cells[class]));
    }
    columns.push(("true_label".into(), &name));
    let table = rows.table(&columns);
    assert_eq!(accuracy(&folder, &table, &[]), Ok(rows.accuracy()));
    // Names in the artifact: rows are matched by them, and answered with them.
    folder.ok(&["tune", "table.csv", "--method", "MaxLogit-pNorm", "-q", "-o", "e.json"]);
    assert_eq!(folder.json("e.json")["class_names"][1], "shirt");
    columns.swap(0, 5);
    folder.put("other.csv", rows.table(&columns).as_bytes());
    let scores = folder.ok(&["score", "e.json", "other.csv", "-q", "--keep", "true_label"]);
    assert_eq!(scores, folder.ok(&["score", "e.json", "table.csv", "-q", "--keep", "true_label"]));
    let mut lines = scores.lines();
    assert_eq!(lines.next(), Some("true_label,prediction,confidence"));
    let right = lines.filter(|line| line.split(',').next() == line.split(',').nth(1)).count();
    assert!((right as f64 / 600.0 - rows.accuracy()).abs() < 1e-12);
    let ids = folder.ok(&["score", "e.json", "table.csv", "-q", "--ids"]);
    assert!(ids.lines().nth(1).is_some_and(|line| line.starts_with(|c: char| c.is_ascii_digit())));
    // Without names of columns, sorted as scikit-learn sorts them; this is said.
    let sorted = |row: usize| format!("class {}", rows.labels[row]);
    let numbered: Vec<(String, &dyn Fn(usize) -> String)> =
        (0..CLASSES).map(|class| (format!("p{class}"), &*cells[class] as _)).collect();
    let numbered = [&numbered[..], &[("label".to_string(), &sorted as _)]].concat();
    assert_eq!(accuracy(&folder, &rows.table(&numbered), &[]), Ok(rows.accuracy()));
    // One-hot rows in a separate file.
    let one_hot: Vec<f64> = rows
        .labels
        .iter()
        .flat_map(|&label| (0..CLASSES).map(move |class| f64::from(u8::from(class == label))))
        .collect();
    folder.put("one-hot.npy", &common::npy_f64(&one_hot, "(600, 10)"));
    let logits: Vec<f64> = rows.logits.concat();
    folder.put("logits.npy", &common::npy_f64(&logits, "(600, 10)"));
    let report = folder.ok_json(&["eval", "MSP", "logits.npy", "one-hot.npy", "--json"]);
    assert_eq!(report[0]["accuracy"].as_f64(), Some(rows.accuracy()));
}

#[test]
fn what_looks_wrong_is_said() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 500));
    let warnings = |more: &[&str]| {
        let outcome = folder.run(&[&["eval", "MSP"], more, &["--json"]].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        let report: Value = serde_json::from_str(&outcome.out).expect("JSON");
        let list = report[0]["warnings"].as_array().expect("a list").clone();
        assert_eq!(list.is_empty(), !outcome.err.contains("warning: "), "{}", outcome.err);
        list.iter().map(|warning| warning["kind"].as_str().expect("a kind").to_string()).collect()
    };
    let expect = |more: &[&str], kinds: &[&str]| {
        let found: Vec<String> = warnings(more);
        assert_eq!(found, kinds, "{more:?}");
    };
    let logits: Vec<f64> = rows.logits.concat();
    folder.put("logits.npy", &common::npy_f64(&logits, "(500, 10)"));
    let labels: Vec<u32> = rows.labels.iter().map(|&x| u32::try_from(x).expect("small")).collect();
    folder.put("labels.npy", &common::npy_labels(&labels));
    expect(&["logits.npy", "labels.npy"], &[]);
    let probabilities: Vec<f64> = (0..500).flat_map(|row| rows.probabilities(row)).collect();
    folder.put("out.npy", &common::npy_f64(&probabilities, "(500, 10)"));
    expect(&["out.npy", "labels.npy"], &["looks-like-probabilities"]);
    expect(&["out.npy", "labels.npy", "--probs"], &[]);
    let percent: Vec<f64> = probabilities.iter().map(|p| 100.0 * p).collect();
    folder.put("percent.npy", &common::npy_f64(&percent, "(500, 10)"));
    expect(&["percent.npy", "labels.npy"], &["looks-like-percentages"]);
    let sigmoids: Vec<f64> = logits.iter().map(|z| 1.0 / (1.0 + (-z).exp())).collect();
    folder.put("sigmoids.npy", &common::npy_f64(&sigmoids, "(500, 10)"));
    expect(&["sigmoids.npy", "labels.npy"], &["between-zero-and-one"]);
    // Also where notes are not wanted.
    let outcome = folder.run(&["eval", "MSP", "out.npy", "labels.npy", "-q"]);
    assert!(outcome.err.starts_with("warning: out.npy: every row lies"), "{}", outcome.err);
    let shuffled: Vec<u32> = (0..500).map(|i| labels[i * 307 % 500]).collect();
    folder.put("shuffled.npy", &common::npy_labels(&shuffled));
    expect(&["logits.npy", "shuffled.npy"], &["chance-accuracy"]);
    // Counted from 1, in rows where the last class does not occur.
    let few: Vec<usize> = (0..500).filter(|&row| labels[row] < 9).collect();
    let part: Vec<f64> = few.iter().flat_map(|&row| rows.logits[row].clone()).collect();
    folder.put("few.npy", &common::npy_f64(&part, &format!("({}, 10)", few.len())));
    let from_one: Vec<u32> = few.iter().map(|&row| labels[row] + 1).collect();
    folder.put("from-one.npy", &common::npy_labels(&from_one));
    expect(&["few.npy", "from-one.npy"], &["shifted-labels"]);
    expect(&["few.npy", "from-one.npy", "--first-label", "1"], &[]);
    // An artifact on rows of another scale, and of another acceptance.
    let tune = ["tune", "logits.npy", "labels.npy", "--method", "MaxLogit", "-q", "-o", "e.json"];
    folder.ok(&[&tune[..], &["--target-accuracy", "0.9"]].concat());
    let fresh = Rows::read(500, 500);
    let large: Vec<f64> = fresh.logits.concat().iter().map(|x| 20.0 * x).collect();
    folder.put("large.npy", &common::npy_f64(&large, "(500, 10)"));
    let outcome = folder.run(&["score", "e.json", "large.npy", "-o", "scores.csv"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert!(outcome.err.contains("times larger than those of the tuning rows"), "{}", outcome.err);
    let small: Vec<f64> = fresh.logits.concat().iter().map(|x| x / 20.0).collect();
    folder.put("small.npy", &common::npy_f64(&small, "(500, 10)"));
    let outcome = folder.run(&["score", "e.json", "small.npy", "-o", "scores.csv"]);
    assert!(outcome.err.contains("the threshold accepts 0.0 % of these rows"), "{}", outcome.err);
    // All rows alike.
    folder.put("constant.npy", &common::npy_f64(&[2.0, 0.0].repeat(60), "(60, 2)"));
    folder.put("ones.npy", &common::npy_labels(&[0, 1].repeat(30)));
    expect(&["constant.npy", "ones.npy"], &["chance-accuracy", "constant-confidence"]);
}

/// Rows of a binary classifier, of which the positive class is rare.
fn binary(rows: usize, seed: u64) -> Vec<(f64, u32)> {
    let mut random = common::Lcg::new(seed);
    (0..rows)
        .map(|_| {
            let logit = 2.5 * random.normal() - 2.0;
            let label = u32::from(random.next() < 1.0 / (1.0 + (-logit).exp()));
            (logit, label)
        })
        .collect()
}

#[test]
fn one_number_of_a_binary_classifier_goes_all_the_way() {
    let folder = Folder::new();
    let write = |name: &str, rows: &[(f64, u32)]| {
        let mut text = String::from("prob,pred,label\n");
        for (logit, label) in rows {
            let probability = 1.0 / (1.0 + (-logit).exp());
            let _ = writeln!(text, "{probability},{},{label}", u8::from(*logit > 0.0));
        }
        folder.put(name, text.as_bytes());
    };
    let rows = binary(4000, 1);
    write("tuning.csv", &rows[..1000]);
    write("fresh.csv", &rows[1000..3000]);
    write("test.csv", &rows[3000..]);
    // Not read without a word on what it is.
    for command in [&["tune", "tuning.csv"][..], &["eval", "MSP", "tuning.csv"]] {
        let outcome = folder.run(command);
        assert_eq!(outcome.code, Some(2), "{}", outcome.err);
        assert!(outcome.err.contains("hint: "), "{}", outcome.err);
    }
    let binary = ["--binary", "probability"];
    folder.ok(&[&["tune", "tuning.csv", "-q", "-o", "e.json"], &binary[..]].concat());
    assert_eq!(folder.json("e.json")["input"]["kind"], "binary-probability");
    // The artifact knows what its rows are.
    let certify = ["certify", "e.json", "fresh.csv", "--target-accuracy", "0.95", "-o", "c.json"];
    let text = folder.ok(&certify);
    assert!(text.contains("Accepted rows by predicted class"), "{text}");
    let report = folder.ok_json(&["eval", "c.json", "test.csv", "--json"]);
    let right = rows[3000..].iter().filter(|(z, y)| u32::from(*z > 0.0) == *y).count();
    assert_eq!(report[0]["accuracy"].as_f64(), Some(right as f64 / 1000.0));
    let by_class = report[0]["breakdown"]["by_class"].as_array().expect("classes");
    assert_eq!(by_class.len(), 2);
    let scores = folder.ok(&["score", "c.json", "test.csv", "-q"]);
    let predictions: Vec<u32> =
        scores.lines().skip(1).map(|line| line[..1].parse().expect("a class")).collect();
    let expected: Vec<u32> = rows[3000..].iter().map(|(z, _)| u32::from(*z > 0.0)).collect();
    assert_eq!(predictions, expected);
    // Logits of one dimension, and two columns, are the same rows.
    let logits: Vec<f64> = rows[3000..].iter().map(|(z, _)| *z).collect();
    folder.put("z.npy", &common::npy_f64(&logits, "(1000,)"));
    let one = folder.ok(&["score", "MSP", "z.npy", "-q", "--binary", "logit"]);
    let two: Vec<f64> = logits.iter().flat_map(|z| [0.0, *z]).collect();
    folder.put("two.npy", &common::npy_f64(&two, "(1000, 2)"));
    assert_eq!(one, folder.ok(&["score", "MSP", "two.npy", "-q"]));
    let outcome = folder.run(&["score", "MSP", "two.npy", "--binary", "logit"]);
    assert!(outcome.err.contains("leave out --binary"), "{}", outcome.err);
}

#[test]
fn what_looks_wrong_with_bare_confidences_is_said() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 500));
    let warnings = |columns: &[(&str, &dyn Fn(usize) -> String)]| -> Vec<String> {
        let columns: Vec<_> = columns.iter().map(|(name, f)| ((*name).to_string(), *f)).collect();
        folder.put("table.csv", rows.table(&columns).as_bytes());
        let outcome = folder.run(&["eval", "Confidence", "table.csv", "--json"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        let report: Value = serde_json::from_str(&outcome.out).expect("JSON");
        let list = report[0]["warnings"].as_array().expect("a list").clone();
        list.iter().map(|warning| warning["kind"].as_str().expect("a kind").to_string()).collect()
    };
    let confidence = |row: usize| rows.judged(row).0.to_string();
    let uncertainty = |row: usize| (1.0 - rows.judged(row).0).to_string();
    let correct = |row: usize| u8::from(rows.judged(row).1).to_string();
    let wrong = |row: usize| u8::from(!rows.judged(row).1).to_string();
    let prediction = |row: usize| rows.prediction(row).to_string();
    let label = |row: usize| rows.labels[row].to_string();
    let name = |row: usize| format!("class {}", rows.labels[row]);
    assert!(warnings(&[("confidence", &confidence), ("correct", &correct)]).is_empty());
    let reversed = warnings(&[("confidence", &uncertainty), ("correct", &correct)]);
    assert_eq!(reversed, ["reversed-confidence"]);
    // Numbers in one column, names in the other.
    let named = warnings(&[("confidence", &confidence), ("pred", &prediction), ("label", &name)]);
    assert_eq!(named, ["other-order"]);
    let all: [(&str, &dyn Fn(usize) -> String); 4] = [
        ("confidence", &confidence),
        ("correct", &wrong),
        ("pred", &prediction),
        ("label", &label),
    ];
    assert!(warnings(&all).contains(&"flag-disagrees".to_string()));
    // The probability of one of two classes.
    let two = binary(400, 3);
    let line = |&(logit, y): &(f64, u32)| {
        let p = 1.0 / (1.0 + (-logit).exp());
        format!("{p},{},{y}\n", u8::from(logit > 0.0))
    };
    let text: String = two.iter().map(line).collect();
    folder.put("two.csv", format!("score,y_pred,y_true\n{text}").as_bytes());
    let outcome = folder.run(&["eval", "Confidence", "two.csv"]);
    assert!(outcome.err.contains("the probability of the other class"), "{}", outcome.err);
}

#[test]
fn rows_of_two_files_are_compared_by_their_identifiers() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 100));
    let cells = cells(&rows);
    let id = |row: usize| format!("img-{row}");
    let mut columns: Vec<(String, &dyn Fn(usize) -> String)> = vec![("id".into(), &id)];
    columns.extend((0..CLASSES).map(|class| (format!("logit_{class}"), &*cells[class] as _)));
    folder.put("logits.csv", rows.table(&columns).as_bytes());
    let line = |row: usize| format!("img-{row},{}\n", rows.labels[row]);
    let labels = |order: &dyn Fn(usize) -> usize| {
        let lines: String = (0..100).map(|row| line(order(row))).collect();
        format!("id,label\n{lines}")
    };
    folder.put("labels.csv", labels(&|row| row).as_bytes());
    folder.ok(&["eval", "MSP", "logits.csv", "labels.csv"]);
    folder.put("labels.csv", labels(&|row| if row < 50 { row } else { 149 - row }).as_bytes());
    let accuracy = |more: &[&str]| {
        let eval = ["eval", "MSP", "logits.csv", "labels.csv", "--json"];
        let outcome = folder.run(&[&eval[..], more].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        let report: Value = serde_json::from_str(&outcome.out).expect("JSON");
        (report[0]["accuracy"].as_f64().expect("a number"), report[0]["input"].clone(), outcome.err)
    };
    assert_eq!(accuracy(&[]).0, rows.accuracy());
    // Labels of some of the rows, and of others.
    let some: String =
        (0..80).rev().map(line).chain(["img-700,1\n".into(), "img-7,\n".into()]).collect();
    let some = some.replacen(&line(7), "", 1);
    folder.put("labels.csv", format!("id,label\n{some}").as_bytes());
    let right = |row: &usize| rows.prediction(*row) == rows.labels[*row];
    let expected = (0..80).filter(|row| *row != 7).filter(right).count() as f64 / 79.0;
    let (found, input, notes) = accuracy(&[]);
    assert!((found - expected).abs() < 1e-12, "{found}");
    assert_eq!((&input["unlabelled"], &input["strangers"]), (&21.into(), &1.into()));
    assert!(notes.contains("21 rows without a label are left out, and 1 labels"), "{notes}");
    let eval = ["eval", "MSP", "logits.csv", "labels.csv", "--missing", "refuse"];
    assert!(hint_of(&folder, &eval).contains("--missing"), "refused");
    // Two labels of one row, and labels of none.
    folder.put("labels.csv", format!("id,label\n{some}{some}").as_bytes());
    assert!(hint_of(&folder, &eval[..4]).contains("one label of each row"));
    folder.put("labels.csv", b"id,label\na,1\nb,2\n");
    assert!(hint_of(&folder, &eval[..4]).contains("the labels of these rows"));
}

#[test]
fn whole_numbers_beside_the_name_of_the_labels_are_names() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 100));
    let cells = cells(&rows);
    let label = |row: usize| (10 * (rows.labels[row] + 1)).to_string();
    let mut columns: Vec<(String, &dyn Fn(usize) -> String)> = Vec::new();
    columns.extend((0..CLASSES).map(|class| ((10 * (class + 1)).to_string(), &*cells[class] as _)));
    columns.push(("label".into(), &label));
    folder.put("numbers.csv", b"10,20,30\n0.5,1.2,-3.1\n2.5,1.2,-3.1\n0.1,0.2,3.1\n");
    let outcome = folder.run(&["score", "MSP", "numbers.csv"]);
    assert_eq!(outcome.code, Some(2), "{} {}", outcome.out, outcome.err);
    // Read by the names, or refused; never as a row.
    match accuracy(&folder, &rows.table(&columns), &[]) {
        Ok(found) => assert!((found - rows.accuracy()).abs() < 1e-12, "{found}"),
        Err(message) => assert!(!message.contains("no labels"), "{message}"),
    }
}

#[test]
fn bare_confidences_go_all_the_way() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 3000));
    let write = |name: &str, range: std::ops::Range<usize>| {
        let mut text = String::from("id,confidence,correct,site\n");
        for row in range {
            let (confidence, right) = rows.judged(row);
            let site = ["north", "south"][row % 2];
            let _ = writeln!(text, "row {row},{confidence},{right},{site}");
        }
        folder.put(name, text.as_bytes());
    };
    write("judged.csv", 0..2000);
    write("new.csv", 2000..3000);
    let outcome = folder.run(&["tune", "judged.csv"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.err.contains("nothing that could be tuned"), "{}", outcome.err);
    assert!(outcome.err.contains("abstain certify Confidence"), "{}", outcome.err);
    let certify = ["certify", "Confidence", "judged.csv", "--target-accuracy", "0.95"];
    let more = ["--group", "site", "-o", "judge.json"];
    let text = folder.ok(&[&certify[..], &more].concat());
    assert!(text.contains("Accepted rows by group") && text.contains("north"), "{text}");
    let artifact = folder.json("judge.json");
    let certificate = &artifact["rule"]["threshold"]["certificate"];
    let at = artifact["rule"]["threshold"]["at"].as_f64().expect("a number");
    let above = |range: std::ops::Range<usize>| {
        range.map(|row| rows.judged(row)).filter(|(confidence, _)| *confidence >= at)
    };
    assert_eq!(certificate["accepted"].as_u64(), Some(above(0..2000).count() as u64));
    let errors = above(0..2000).filter(|(_, right)| !right).count();
    assert_eq!(certificate["errors"].as_u64(), Some(errors as u64));
    // As many are accepted by the other commands.
    let accepted = above(2000..3000).count();
    let scores = folder.ok(&["score", "judge.json", "new.csv", "-q", "--keep", "id"]);
    assert!(scores.starts_with("id,confidence,accept\nrow 2000,"), "{scores}");
    assert_eq!(scores.lines().filter(|line| line.ends_with("true")).count(), accepted);
    let report = folder.ok_json(&["eval", "judge.json", "new.csv", "--json", "--group", "site"]);
    assert_eq!(report[0]["threshold"]["accepted"].as_u64(), Some(accepted as u64));
    assert_eq!(report[0]["breakdown"]["by_group"][1]["name"], "south");
    let covered =
        folder.ok_json(&["threshold", "Confidence", "new.csv", "--coverage", "0.5", "--json"]);
    assert_eq!(covered["artifact"]["rule"]["threshold"]["accepted"], 500);
    // Predictions and labels, and losses, say the same as flags.
    let mut compared = String::from("true_label,pred_label,confidence\n");
    let mut wrong = String::from("score,wrong\n");
    for row in 0..2000 {
        let (confidence, right) = rows.judged(row);
        let names = (NAMES[rows.labels[row]], NAMES[rows.prediction(row)]);
        let _ = writeln!(compared, "{},{},{confidence}", names.0, names.1);
        let _ = writeln!(wrong, "{confidence},{}", u8::from(!right));
    }
    folder.put("compared.csv", compared.as_bytes());
    folder.put("wrong.csv", wrong.as_bytes());
    let of = |table: &str| {
        let certify = ["certify", "Confidence", table, "--target-accuracy", "0.95", "--json", "-q"];
        folder.ok_json(&certify)["artifact"]["rule"]["threshold"]["certificate"].clone()
    };
    assert_eq!(&of("compared.csv"), certificate);
    assert_eq!(&of("wrong.csv"), certificate);
    // A column of correct flags is no column of losses.
    let losses = ["certify", "Confidence", "judged.csv", "--losses-name", "correct"];
    let outcome = folder.run(&[&losses[..], &["--target-accuracy", "0.9"]].concat());
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.err.contains("--correct-name"), "{}", outcome.err);
    let losses = ["eval", "--confidence", "judged.csv", "--losses", "judged.csv"];
    assert!(folder.run(&losses).err.contains("1 where a prediction is right"));
}

#[test]
fn weights_of_bare_confidences_count() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 3000));
    // A weight of 3 is three rows, which the other table has.
    let mut weighted = String::from("confidence,correct,site,weight\n");
    let mut repeated = String::from("confidence,correct,site\n");
    for row in 0..3000 {
        let (confidence, right) = rows.judged(row);
        let (site, weight) = (["north", "south"][row % 2], if right { 1 } else { 3 });
        let _ = writeln!(weighted, "{confidence},{right},{site},{weight}");
        for _ in 0..weight {
            let _ = writeln!(repeated, "{confidence},{right},{site}");
        }
    }
    folder.put("weighted.csv", weighted.as_bytes());
    folder.put("repeated.csv", repeated.as_bytes());
    let named = ["--weight-name", "weight"];
    let close = |a: &Value, b: &Value| {
        let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    };

    // Metrics are those of repeated rows; the intervals are not, because a row is one observation.
    let eval = |table: &str, more: &[&str]| {
        let eval = ["eval", "Confidence", table, "--json", "-q", "--group", "site"];
        folder.ok_json(&[&eval[..], &["--replicates", "50"], more].concat())[0].clone()
    };
    let (found, expected) = (eval("weighted.csv", &named), eval("repeated.csv", &[]));
    close(&found["accuracy"], &expected["accuracy"]);
    let lines = |report: &Value| report["metrics"].as_array().expect("metrics").clone();
    for (line, other) in lines(&found).iter().zip(lines(&expected)) {
        assert_eq!(line["metric"], other["metric"]);
        close(&line["values"][0]["estimate"], &other["values"][0]["estimate"]);
    }
    assert_eq!(found["rows"], 3000);
    assert_eq!(found["weights"]["sum"], expected["rows"].as_f64().expect("rows"));
    let group = |report: &Value| report["breakdown"]["by_group"][0].clone();
    assert_eq!(group(&found)["rows"], 1500);
    close(&group(&found)["weights"]["right"], &group(&expected)["right"]);
    // Without replicates there is a bootstrap too: closed forms would ignore the weights.
    let usual = ["eval", "Confidence", "weighted.csv", "--json", "-q", "--metric", "AURC"];
    let usual = folder.ok_json(&[&usual[..], &named].concat());
    assert_eq!(usual[0]["metrics"][0]["values"][0]["replicates"], 1000);
    let text = folder.ok(&[&["eval", "Confidence", "weighted.csv", "-q"], &named[..]].concat());
    assert!(text.contains("bootstrap of the rows with their weights"), "{text}");

    // Thresholds without a guarantee are those of repeated rows.
    for how in [["--target-accuracy", "0.95"], ["--coverage", "0.5"]] {
        let at = |table: &str, more: &[&str]| {
            let threshold = ["threshold", "Confidence", table, "--json", "-q"];
            folder.ok_json(&[&threshold[..], &how, more].concat())["artifact"]["rule"]["threshold"]
                .clone()
        };
        let (found, expected) = (at("weighted.csv", &named), at("repeated.csv", &[]));
        assert_eq!(found["at"], expected["at"]);
        assert_ne!(found["at"], at("weighted.csv", &[])["at"]);
        let count = |name: &str| expected[name].as_f64().expect("a number");
        close(&found["weighted_coverage"], &json!(count("accepted") / count("rows")));
    }

    // A certificate rests on the rows that a sample by weight kept.
    let certify = ["certify", "Confidence", "weighted.csv", "--target-accuracy", "0.9"];
    let with = |more: &[&str]| folder.ok_json(&[&certify[..], &["--json", "-q"], more].concat());
    let found = with(&[&named[..], &["--max-weight", "3"]].concat());
    let (sampled, kept) = (&found["sampled"], found["sampled"]["kept"].as_u64().expect("a count"));
    assert_eq!((&sampled["rows"], &sampled["max_weight"]), (&json!(3000), &json!(3.0)));
    assert_eq!(found["artifact"]["rule"]["threshold"]["certificate"]["rows"], kept);
    assert!((900..1600).contains(&kept), "{kept}");
    let seeded = with(&[&named[..], &["--max-weight", "3", "--seed", "1"]].concat());
    assert_ne!(seeded["artifact"], found["artifact"]);
    assert_eq!(with(&[&named[..], &["--max-weight", "3"]].concat()), found);
    let text = folder.ok(&[&certify[..], &named, &["--max-weight", "3"]].concat());
    assert!(text.contains("of 3,000 rows certify"), "{text}");
    assert!(text.contains("no weight in it is above 3"), "{text}");
    // The certificate of rows that all count the same is another.
    assert!(with(&[])["artifact"]["rule"]["threshold"]["certificate"]["rows"] == 3000);

    // A column that is not named is not used, and that is said.
    let outcome = folder.run(&certify);
    assert!(
        outcome.err.contains("'weight' is not used: --weight-name 'weight'"),
        "{}",
        outcome.err
    );
}

#[test]
fn certificates_on_the_same_confidences_are_noticed() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 2000));
    let write = |name: &str, range: std::ops::Range<usize>| {
        let mut text = String::from("confidence,correct\n");
        for row in range {
            let (confidence, right) = rows.judged(row);
            let _ = writeln!(text, "{confidence},{right}");
        }
        folder.put(name, text.as_bytes());
    };
    write("first.csv", 0..1000);
    write("second.csv", 1000..2000);
    let certify = |estimator: &str, table: &str, more: &[&str]| {
        let certify = ["certify", estimator, table, "--target-accuracy", "0.9", "--json"];
        folder.ok_json(&[&certify[..], more].concat())
    };
    let first = certify("Confidence", "first.csv", &["-o", "judge.json"]);
    assert_eq!(first["warnings"], json!([]));
    let data = first["artifact"]["rule"]["threshold"]["data"].as_str().expect("a fingerprint");
    assert!(data.starts_with("sum-sha256:1000:"), "{data}");
    assert_eq!(certify("judge.json", "first.csv", &[])["warnings"][0]["kind"], "certifying-rows");
    assert_eq!(certify("judge.json", "second.csv", &[])["warnings"], json!([]));
    let eval = |table: &str| folder.ok_json(&["eval", "judge.json", table, "--json"]);
    assert_eq!(eval("first.csv")[0]["warnings"][0]["kind"], "certifying-rows");
    assert_eq!(eval("second.csv")[0]["warnings"], json!([]));
}

#[test]
fn records_and_sets_of_files_are_read() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 600));
    let record = |row: usize| json!({ "id": row, "logits": rows.logits[row], "label": NAMES[rows.labels[row]] });
    std::fs::create_dir(folder.path().join("set")).expect("a folder");
    for (part, number) in [(0, 2), (1, 10), (2, 1)] {
        // In the order of their numbers, not of their names.
        let first = [1, 2, 0][part] * 200;
        let line = |row| format!("{}\n", record(row)).into_bytes();
        let lines: Vec<u8> = (first..first + 200).flat_map(line).collect();
        folder.put(&format!("set/part-{number}.jsonl"), &lines);
    }
    let all_names = NAMES.join(",");
    let names = ["--class-names", &all_names];
    for source in ["set", "set/part-*.jsonl"] {
        let report = folder.ok_json(&[&["eval", "MSP", source, "--json"], &names[..]].concat());
        assert_eq!(report[0]["rows"], 600);
        assert_eq!(report[0]["accuracy"].as_f64(), Some(rows.accuracy()), "{source}");
    }
    let scores = folder.ok(&[&["score", "MSP", "set", "-q", "--keep", "id"], &names[..]].concat());
    let ids: Vec<&str> = scores.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(ids, (0..600).map(|row| row.to_string()).collect::<Vec<_>>());
    // What a shell makes of a pattern without quotes.
    let two = ["eval", "MSP", "set/part-1.jsonl", "set/part-2.jsonl"];
    let outcome = folder.run(&[&two[..], &names].concat());
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.err.contains("quote a pattern"), "{}", outcome.err);
    let outcome = folder.run(&["eval", "MSP", "set/other-*.jsonl"]);
    assert!(outcome.err.contains("no file that can be read fits"), "{}", outcome.err);
}

#[test]
fn lines_are_scored_as_they_come() {
    let folder = Folder::new();
    let arguments = ["score", "MSP", "-", "--format", "jsonl", "--line-buffered", "-q"];
    let mut child = folder
        .command(&arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    for (logits, expected) in [([2.0, 0.0], "0,2.0"), ([0.0, 3.0], "1,3.0"), ([4.0, 0.0], "0,4.0")]
    {
        // The answer is there before the next row is.
        writeln!(input, "{}", json!({ "logits": logits })).expect("written");
        input.flush().expect("written");
        loop {
            line.clear();
            output.read_line(&mut line).expect("read");
            if !line.starts_with("prediction") {
                break;
            }
        }
        assert_eq!(line.trim(), expected);
    }
    drop(input);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn artifacts_say_which_model_they_are_for() {
    let folder = Folder::with_rows(400, 4, 1);
    folder.rows("fresh-", 400, 4, 2);
    let tune = ["tune", "logits.npy", "labels.npy", "--method", "MSP", "-q", "-o", "e.json"];
    let identity = ["--model-id", "resnet@2", "--metadata", "owner=us", "--date", "2026-11-17"];
    folder.ok(&[&tune[..], &identity].concat());
    let artifact = folder.json("e.json");
    let model = json!({ "name": "resnet", "version": "2", "metadata": { "owner": "us" } });
    assert_eq!((&artifact["model"], &artifact["date"]), (&model, &"2026-11-17".into()));
    assert!(folder.ok(&["show", "e.json"]).contains("resnet@2"));
    let commands: [&[&str]; 4] = [
        &["score", "e.json", "logits.npy"],
        &["eval", "e.json", "fresh-logits.npy", "fresh-labels.npy"],
        &["certify", "e.json", "fresh-logits.npy", "fresh-labels.npy", "--target-accuracy", "0.5"],
        &["threshold", "e.json", "fresh-logits.npy", "--coverage", "0.5"],
    ];
    for command in commands {
        for id in ["resnet", "resnet@2"] {
            folder.ok(&[command, &["--model-id", id]].concat());
        }
        let outcome = folder.run(&[command, &["--model-id", "resnet@3"]].concat());
        assert_eq!(outcome.code, Some(2));
        assert!(
            outcome.err.contains("for the model resnet@2, not for resnet@3"),
            "{}",
            outcome.err
        );
    }
    // What is certified is still of that model.
    folder.ok(&[commands[2], &["-q", "-o", "c.json"]].concat());
    assert_eq!(folder.json("c.json")["model"], model);
}

/// The options that a hint names, each with its value.
fn options_in(hint: &str) -> Vec<Vec<String>> {
    let mut options: Vec<Vec<String>> = Vec::new();
    let (mut word, mut quoted, mut words) = (String::new(), false, Vec::new());
    for c in hint.chars().chain([' ']) {
        match c {
            '\'' => quoted = !quoted,
            ' ' | '(' | ')' | ';' if !quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    for pair in words.windows(2) {
        if pair[0].starts_with("--") && !pair[1].starts_with("--") {
            options.push(pair.to_vec());
        }
    }
    options
}

/// The hint of a command that is refused.
fn hint_of(folder: &Folder, command: &[&str]) -> String {
    let outcome = folder.run(command);
    assert_eq!(outcome.code, Some(2), "{command:?}: {}{}", outcome.out, outcome.err);
    let hint = outcome.err.lines().find_map(|line| line.strip_prefix("hint: "));
    hint.unwrap_or_else(|| panic!("without a hint: {}", outcome.err)).to_string()
}

/// Rows of a fraud detector: one in eight is fraud, and the detector is right in nine of ten rows.
fn fraud(count: usize) -> Vec<(f64, bool)> {
    let row = |row: usize| {
        let is_fraud = row % 8 == 3;
        let right = row * 7919 % 10 != 4;
        let distance = (row * 104_729 % 89 + 1) as f64 / 200.0;
        (if is_fraud == right { 0.5 + distance } else { 0.5 - distance }, is_fraud)
    };
    (0..count).map(row).collect()
}

#[test]
fn binary_names_in_sorted_order_are_refused_where_they_are_inverted() {
    let (folder, rows) = (Folder::new(), fraud(400));
    let table = |head: &str, line: &dyn Fn(f64) -> String, names: [&str; 2]| -> String {
        let lines = rows.iter().map(|&(p, fraud)| {
            format!("{},{}\n", line(p), if fraud { names[1] } else { names[0] })
        });
        format!("{head}\n{}", lines.collect::<String>())
    };
    let one = |p: f64| p.to_string();
    let two = |p: f64| format!("{},{p}", 1.0 - p);
    for (head, line, options) in [
        ("prob,label", &one as &dyn Fn(f64) -> String, &["--binary", "probability"][..]),
        ("p_0,p_1,label", &two, &["--probs"]),
    ] {
        folder.put("fraud.csv", table(head, line, ["legit", "fraud"]).as_bytes());
        let eval = [&["eval", "MSP", "fraud.csv", "--json"], options].concat();
        let tune = [&["tune", "fraud.csv", "-q", "-o", "e.json"], options].concat();
        let outcome = folder.run(&tune);
        assert!(!folder.path().join("e.json").exists(), "{}", outcome.err);
        let hint = hint_of(&folder, &tune);
        assert_eq!(hint, hint_of(&folder, &eval));
        let followed = options_in(&hint);
        let expected = [
            ["--class-names", "legit,fraud"],
            ["--positive", "fraud"],
            ["--class-names", "fraud,legit"],
        ];
        assert_eq!(followed, expected);
        let accuracies = followed.iter().map(|option| {
            let option: Vec<&str> = option.iter().map(String::as_str).collect();
            let outcome = folder.run(&[&eval[..], &option].concat());
            assert_eq!(outcome.code, Some(0), "{option:?}: {}", outcome.err);
            let report: Value = serde_json::from_str(&outcome.out).expect("JSON");
            report[0]["accuracy"].as_f64().expect("a number")
        });
        let accuracies: Vec<f64> = accuracies.collect();
        for (found, expected) in accuracies.into_iter().zip([0.9, 0.9, 0.1]) {
            assert!((found - expected).abs() < 1e-12, "{found}");
        }
        // Names whose sorted order is right need nothing, and the note says which one is positive.
        folder.put("fraud.csv", table(head, line, ["a-legit", "fraud"]).as_bytes());
        let outcome = folder.run(&eval);
        let report: Value = serde_json::from_str(&outcome.out).expect("JSON");
        assert_eq!(report[0]["accuracy"], 0.9, "{}", outcome.err);
        assert_eq!(report[0]["input"]["positive"], "fraud");
        assert!(outcome.err.contains("class 1, 'fraud'"), "{}", outcome.err);
    }
}

/// What looks wrong is said where nothing can be certified, too: it may be why.
#[test]
fn refused_certificates_say_what_looks_wrong() {
    let folder = Folder::new();
    // An uncertainty: the higher, the more often wrong.
    let line = |i: usize| format!("{}.{},{}", i / 100, i % 100 + 100, u8::from(i * 7 % 300 > i));
    folder.put(
        "judged.csv",
        format!("confidence,correct\n{}", text_of((0..300).map(line))).as_bytes(),
    );
    let outcome = folder.run(&["certify", "Confidence", "judged.csv", "--target-accuracy", "0.99"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
    assert!(outcome.err.contains("--negate"), "{}", outcome.err);
}

#[test]
fn identifiers_are_the_same_but_for_case_and_separators() {
    let folder = Folder::new();
    let rows = Rows::read(0, 200);
    let header: String = (0..CLASSES).flat_map(|class| [format!(",logit_{class}")]).collect();
    let logits = rows.logits.iter().enumerate().map(|(row, logits)| {
        let numbers: Vec<String> = logits.iter().map(ToString::to_string).collect();
        format!("x{row},{}", numbers.join(","))
    });
    folder.put("logits.csv", format!("image_id{header}\n{}", text_of(logits)).as_bytes());
    // In another order.
    let labels = (0..200).rev().map(|row| format!("x{row},{}", rows.prediction(row)));
    for name in ["image_id", "imageId", "Image ID"] {
        folder.put("labels.csv", format!("{name},label\n{}", text_of(labels.clone())).as_bytes());
        let report = folder.ok_json(&["eval", "MSP", "logits.csv", "labels.csv", "--json"]);
        assert_eq!(report[0]["accuracy"], 1.0, "{name}");
    }
}

#[test]
fn columns_of_classes_are_matched_in_any_case_and_all_of_them() {
    let folder = Folder::new();
    let rows = Rows::read(0, 300);
    let table = |header: &[String]| {
        let lines = rows.logits.iter().zip(&rows.labels).map(|(logits, label)| {
            let numbers: Vec<String> = logits.iter().rev().map(ToString::to_string).collect();
            format!("{},{}", numbers.join(","), NAMES[*label])
        });
        format!("{},label\n{}", header.join(","), text_of(lines))
    };
    // In the reverse order, so that places would be wrong.
    let names: Vec<String> = NAMES.iter().rev().map(ToString::to_string).collect();
    folder.put("rows.csv", table(&names).as_bytes());
    folder.ok(&["tune", "rows.csv", "--class-names", &NAMES.join(","), "-q", "-o", "e.json"]);
    let upper: Vec<String> = names.iter().map(|name| name.to_uppercase()).collect();
    folder.put("upper.csv", table(&upper).as_bytes());
    let score = |file: &str| folder.run(&["score", "e.json", file, "--ids", "-q"]);
    assert_eq!(score("upper.csv").out, score("rows.csv").out);
    let mut zebra = names;
    zebra[3] = "zebra".to_string();
    folder.put("zebra.csv", table(&zebra).as_bytes());
    let outcome = score("zebra.csv");
    assert_eq!(outcome.code, Some(2), "{}", outcome.out);
    assert!(outcome.err.contains("nothing in it is called"), "{}", outcome.err);
}

#[test]
fn tables_without_the_column_of_the_threshold_are_refused() {
    let folder = Folder::new();
    let line = |i: usize| format!("{}.5,{}", i, u8::from(i < 250));
    folder
        .put("judged.csv", format!("entropy,correct\n{}", text_of((0..300).map(line))).as_bytes());
    let negated = ["--confidence-name", "entropy", "--negate"];
    let certify =
        ["certify", "Confidence", "judged.csv", "--target-accuracy", "0.9", "-o", "e.json"];
    folder.ok(&[&certify[..], &negated].concat());
    folder.put("new.csv", b"confidence\n0.1\n0.9\n");
    for command in [&["score", "e.json", "new.csv"][..], &["eval", "e.json", "new.csv"]] {
        let outcome = folder.run(command);
        assert_eq!(outcome.code, Some(2), "{}", outcome.out);
        assert!(outcome.err.contains("nothing in it is called 'entropy'"), "{}", outcome.err);
    }
}

/// Each line with its end.
fn text_of(lines: impl Iterator<Item = String>) -> String {
    lines.flat_map(|line| [line, "\n".to_string()]).collect()
}

#[test]
fn positive_classes_are_one_of_two() {
    let folder = Folder::new();
    let lines = text_of((0..40).map(|i| format!("0.{},{}", 10 + i, i % 2)));
    folder.put("numbers.csv", format!("prob,label\n{lines}").as_bytes());
    let eval = ["eval", "MSP", "numbers.csv", "--binary", "probability", "--json"];
    folder.ok(&[&eval[..], &["--positive", "1"]].concat());
    let hint = hint_of(&folder, &[&eval[..], &["--positive", "0"]].concat());
    assert!(hint.contains("1 − p"), "{hint}");
    let lines = text_of((0..40).map(|i| format!("0.{},{}", 10 + i, ["no", "si"][i % 2])));
    folder.put("numbers.csv", format!("prob,label\n{lines}").as_bytes());
    let hint = hint_of(&folder, &[&eval[..], &["--positive", "SI"]].concat());
    assert!(hint.contains("as the labels write it"), "{hint}");
}

#[test]
fn swapped_names_of_several_classes_are_refused_unless_they_are_stated() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 600));
    // Numbered columns, and names that sort in the order of the classes but for two.
    let names = ["a", "b", "c", "h", "e", "f", "g", "d", "i", "j"];
    let cells = cells(&rows);
    let label = |row: usize| names[rows.labels[row]].to_string();
    let mut columns: Vec<(String, &dyn Fn(usize) -> String)> = Vec::new();
    for (class, cell) in cells.iter().enumerate() {
        columns.push((format!("logit_{class}"), cell));
    }
    columns.push(("label".into(), &label));
    folder.put("table.csv", rows.table(&columns).as_bytes());
    let eval = ["eval", "MSP", "table.csv", "--json"];
    let options = options_in(&hint_of(&folder, &eval));
    assert_eq!(options[0], ["--class-names", "a,b,c,h,e,f,g,d,i,j"]);
    let found = |option: &[String]| {
        let out = folder.ok(&[&eval[..], &[option[0].as_str(), &option[1]]].concat());
        let report: Value = serde_json::from_str(&out).expect("JSON");
        (report[0]["accuracy"].as_f64(), report[0]["warnings"][0]["kind"].clone())
    };
    assert_eq!(found(&options[0]), (Some(rows.accuracy()), Value::Null));
    // Stated, the sorted order is only warned of.
    assert_eq!(found(&options[1]).1, "other-order");
}

#[test]
fn confidences_of_other_predictions_are_not_judged_by_these() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 300));
    let cells = cells(&rows);
    let label = |row: usize| rows.labels[row].to_string();
    let mut columns: Vec<(String, &dyn Fn(usize) -> String)> = Vec::new();
    for (class, cell) in cells.iter().enumerate() {
        columns.push((format!("logit_{class}"), cell));
    }
    columns.push(("label".into(), &label));
    folder.put("a.csv", rows.table(&columns).as_bytes());
    let confidence = |row: usize| rows.judged(row).0.to_string();
    let same = |row: usize| rows.prediction(row).to_string();
    let other = |row: usize| {
        ((rows.prediction(row) + usize::from(row.is_multiple_of(6))) % CLASSES).to_string()
    };
    let with = |prediction: &dyn Fn(usize) -> String| {
        let columns = [
            ("confidence".into(), &confidence as &dyn Fn(usize) -> String),
            ("prediction".into(), prediction),
        ];
        folder.put("b.csv", rows.table(&columns).as_bytes());
    };
    let eval = ["eval", "MSP", "a.csv", "--confidence", "b.csv", "--json"];
    with(&same);
    folder.ok(&eval);
    with(&other);
    let outcome = folder.run(&eval);
    assert_eq!(outcome.code, Some(2), "{}", outcome.out);
    assert!(outcome.err.contains("in 50 of 300 rows"), "{}", outcome.err);
    assert!(outcome.err.contains("hint: measure them by their predictions"), "{}", outcome.err);
    // As the hint says.
    folder.put("labels.csv", rows.table(&[("label".into(), &label)]).as_bytes());
    folder.ok(&["eval", "--confidence", "b.csv", "--labels", "labels.csv", "--json"]);
}

#[test]
fn errors_are_json_where_json_is_wanted() {
    let folder = Folder::with_rows(60, 3, 1);
    let outcome = folder.run(&["eval", "MSP", "logits.npy", "--json"]);
    assert_eq!(outcome.code, Some(2));
    let found: Value = serde_json::from_str(&outcome.out).expect("JSON");
    let error = &found["error"];
    assert_eq!(error["kind"], "error");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("labels")), "{error}");
    assert!(error["hint"].as_str().is_some_and(|text| text.contains("--labels-name")), "{error}");
    assert!(outcome.err.contains("error: "), "{}", outcome.err);
    // Results that were printed before a refusal are the only JSON.
    let gate = ["eval", "MSP", "logits.npy", "labels.npy", "--json", "--min-accuracy", "1.0"];
    let outcome = folder.run(&gate);
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
    let found: Value = serde_json::from_str(&outcome.out).expect("JSON");
    assert_eq!(found[0]["rows"], 60);
    let outcome = folder.run(&["eval", "MSP", "logits.npy"]);
    assert_eq!(outcome.out, "");
}

#[test]
fn labels_may_be_columns_of_zeros_and_ones() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 300));
    let cells = cells(&rows);
    let one_hot = |class: usize| {
        let rows = &rows;
        move |row: usize| u8::from(rows.labels[row] == class).to_string()
    };
    let truths: Vec<_> = (0..CLASSES).map(one_hot).collect();
    for words in [false, true] {
        let name = |class: usize| if words { NAMES[class].to_string() } else { class.to_string() };
        let mut columns: Vec<(String, &dyn Fn(usize) -> String)> = Vec::new();
        // The columns of the labels are in another order than those of the logits.
        for (class, truth) in truths.iter().enumerate().rev() {
            columns.push((format!("true_{}", name(class)), truth));
        }
        for (class, cell) in cells.iter().enumerate() {
            columns.push((format!("logit_{}", name(class)), cell));
        }
        let found = accuracy(&folder, &rows.table(&columns), &["--labels-name", "true_*"]);
        assert_eq!(found, Ok(rows.accuracy()), "{words}");
    }
}

#[test]
fn columns_without_names_that_no_label_confirms_are_refused() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 400));
    let cells = cells(&rows);
    let stray = |row: usize| (0.1 + row as f64 / 700.0).to_string();
    let mut columns: Vec<(String, &dyn Fn(usize) -> String)> = Vec::new();
    for (class, cell) in cells.iter().enumerate() {
        columns.push((class.to_string(), cell));
    }
    columns.push(("stray".into(), &stray));
    let table = rows.table(&columns);
    let bare = table.split_once('\n').expect("a line of names").1;
    folder.put("bare.csv", bare.as_bytes());
    let label = |row: usize| rows.labels[row].to_string();
    folder.put("labels.csv", rows.table(&[("label".into(), &label)]).as_bytes());
    let eval = ["eval", "MSP", "bare.csv", "labels.csv", "--json"];
    let options = options_in(&hint_of(&folder, &eval));
    assert_eq!(options[0], ["--logits-name", "0,1,2,3,4,5,6,7,8,9"]);
    let out = folder.ok(&[&eval[..], &["--logits-name", &options[0][1]]].concat());
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(report[0]["accuracy"], rows.accuracy());
}

#[test]
fn tables_without_logits_or_labels_are_not_said_to_have_logits() {
    let folder = Folder::new();
    let line = |(p, fraud): &(f64, bool)| format!("{},{p},{}", p * 90.0, u8::from(*fraud));
    let lines = text_of(fraud(60).iter().map(line));
    folder.put("fraud.csv", format!("amount,risk,is_fraud\n{lines}").as_bytes());
    let outcome = folder.run(&["tune", "fraud.csv"]);
    assert_eq!(outcome.code, Some(2));
    assert!(!outcome.err.contains("there are logits"), "{}", outcome.err);
    assert!(
        outcome.err.contains("which of 'amount', 'risk', 'is_fraud' holds the labels?"),
        "{}",
        outcome.err
    );
    assert!(outcome.err.contains("--labels-name"), "{}", outcome.err);
    let named = [
        "eval",
        "MSP",
        "fraud.csv",
        "--labels-name",
        "is_fraud",
        "--binary",
        "probability",
        "--logits-name",
        "risk",
    ];
    folder.ok(&named);
}

#[test]
fn uncertainties_are_negated_and_artifacts_remember_it() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 500));
    let doubt = |row: usize| (1.0 - rows.judged(row).0).to_string();
    let correct = |row: usize| if rows.judged(row).1 { "correct" } else { "incorrect" }.to_string();
    let columns: [(String, &dyn Fn(usize) -> String); 2] =
        [("doubt".into(), &doubt), ("correct".into(), &correct)];
    folder.put("judged.csv", rows.table(&columns).as_bytes());
    let eval = ["eval", "Confidence", "judged.csv", "--confidence-name", "doubt", "--json"];
    let auroc = |more: &[&str]| {
        let out = folder.ok(&[&eval[..], more].concat());
        let report: Value = serde_json::from_str(&out).expect("JSON");
        let found = report[0]["metrics"]
            .as_array()
            .expect("metrics")
            .iter()
            .find(|m| m["metric"] == "AUROC");
        found.expect("AUROC")["values"][0]["estimate"].as_f64().unwrap_or_default()
    };
    assert!(auroc(&["--negate"]) > 0.8);
    // A confidence that is higher for wrong predictions is said with what mends it.
    let outcome = folder.run(&eval);
    assert!(outcome.err.contains("--negate"), "{}", outcome.err);
    let certify = [
        "certify",
        "Confidence",
        "judged.csv",
        "--confidence-name",
        "doubt",
        "--negate",
        "--target-accuracy",
        "0.9",
        "-q",
        "-o",
        "judge.json",
    ];
    folder.ok(&certify);
    assert_eq!(
        folder.json("judge.json")["columns"],
        json!({ "confidence": "doubt", "negated": true })
    );
    let scored = folder.ok(&["score", "judge.json", "judged.csv", "-q"]);
    let first = scored.lines().nth(1).expect("a row").to_string();
    let confidence: f64 = first.split(',').next().expect("a cell").parse().expect("a number");
    assert!((confidence + 1.0 - rows.judged(0).0).abs() < 1e-9, "{first}");
}

#[test]
fn artifacts_remember_the_names_of_columns() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 400));
    let cells = cells(&rows);
    let (label, other) =
        (|row: usize| rows.labels[row].to_string(), |row: usize| (row % 7).to_string());
    let mut columns: Vec<(String, &dyn Fn(usize) -> String)> = vec![("first_seen".into(), &other)];
    for (class, cell) in cells.iter().enumerate() {
        columns.push((format!("net7.{}", NAMES[class]), cell));
        columns.push((format!("net8.{}", NAMES[class]), cell));
    }
    columns.push(("judged_by_hand".into(), &label));
    folder.put("rows.csv", rows.table(&columns).as_bytes());
    let tune = ["tune", "rows.csv", "--method", "MSP", "-q", "-o", "e.json"];
    assert!(hint_of(&folder, &tune).contains("--l"));
    let named =
        ["--logits-name", "net8.*", "--labels-name", "judged_by_hand", "--first-label", "0"];
    folder.ok(&[&tune[..], &named].concat());
    let remembered = json!({ "logits": "net8.*", "labels": "judged_by_hand" });
    assert_eq!(folder.json("e.json")["columns"], remembered);
    folder.ok(&["eval", "e.json", "rows.csv", "-q"]);
    let scored = folder.ok(&["score", "e.json", "rows.csv", "-q"]);
    assert_eq!(scored.lines().count(), 401);
    // Files without such columns are read as before.
    folder.rows("plain-", 50, CLASSES, 3);
    folder.ok(&["score", "e.json", "plain-logits.npy", "-q"]);
}

#[test]
fn rows_that_cannot_be_scored_abstain() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 60));
    let cells = cells(&rows);
    let cell = |class: usize| {
        let cells = &cells;
        move |row: usize| match (row, class) {
            (7, 3) => String::new(),
            (9, 0) => "n/a".into(),
            (11, 2) => "inf".into(),
            _ => cells[class](row),
        }
    };
    let cell: Vec<_> = (0..CLASSES).map(cell).collect();
    let columns = cell
        .iter()
        .zip(NAMES)
        .map(|(cell, name)| (format!("logit_{name}"), cell as &dyn Fn(usize) -> String));
    folder.put("rows.csv", rows.table(&columns.collect::<Vec<_>>()).as_bytes());
    let objects = (0..60).map(|row| {
        let logits: Vec<Value> =
            (0..CLASSES)
                .map(|class| {
                    if row == 7 && class == 3 {
                        Value::Null
                    } else {
                        rows.logits[row][class].into()
                    }
                })
                .collect();
        json!({ "logits": logits }).to_string() + "\n"
    });
    folder.put("rows.jsonl", objects.collect::<String>().as_bytes());
    let score = ["score", "MSP", "rows.csv", "--threshold", "0", "--values", "-q"];
    let outcome = folder.run(&score);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    let lines: Vec<&str> = outcome.out.lines().skip(1).collect();
    assert_eq!(lines.len(), 60);
    for (row, line) in lines.iter().enumerate() {
        if [7, 9, 11].contains(&row) {
            assert_eq!(*line, ",-inf,NaN,false", "{row}");
        } else {
            assert!(line.starts_with(NAMES[rows.prediction(row)]), "{row}: {line}");
        }
    }
    assert!(outcome.err.contains("3 row(s) cannot be scored and abstain"), "{}", outcome.err);
    let outcome = folder.run(&["score", "MSP", "rows.jsonl", "--threshold", "0", "-q"]);
    assert_eq!(outcome.out.lines().nth(8), Some("-1,-inf,false"), "{}{}", outcome.out, outcome.err);
    // Where most rows are bad, the file is.
    folder.put("bad.csv", "a,b\n1,2\n-inf,3\n-inf,4\n5,-inf\n".as_bytes());
    let hint = hint_of(&folder, &["score", "MSP", "bad.csv", "-o", "bad-scores.csv"]);
    assert!(hint.contains("--masked"), "{hint}");
    assert!(!folder.path().join("bad-scores.csv").exists());
    let refused = folder.run(&[&score[..], &["--bad-rows", "refuse"]].concat());
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("row 7"), "{}", refused.err);
}

#[test]
fn long_tables_are_noticed() {
    let folder = Folder::new();
    let rows = Rows::read(0, 60);
    let mut long = String::from("id,class,score\n");
    for (row, logits) in rows.logits.iter().enumerate() {
        for (class, logit) in logits.iter().enumerate() {
            let _ = writeln!(long, "{row},{},{logit}", NAMES[class]);
        }
    }
    folder.put("long.csv", long.as_bytes());
    for command in [&["tune", "long.csv"][..], &["score", "MSP", "long.csv"]] {
        let hint = hint_of(&folder, command);
        assert!(hint.contains("df.pivot(index='id', columns='class', values='score')"), "{hint}");
    }
    // What the hint makes of it.
    let mut wide = String::from("id");
    for name in NAMES {
        wide.extend([",score_", name]);
    }
    for (row, logits) in rows.logits.iter().enumerate() {
        let _ = write!(wide, "\n{row}");
        for logit in logits {
            wide.extend([",", &logit.to_string()]);
        }
    }
    folder.put("wide.csv", wide.as_bytes());
    assert_eq!(folder.ok(&["score", "MSP", "wide.csv", "-q"]).lines().count(), 61);
    // Two models in one table.
    let line = |row| format!("{},{},0.{},{}", row % 40, row / 40, 10 + row, row % 2);
    let pooled = text_of((0..80).map(line));
    folder.put("pooled.csv", format!("id,model,confidence,correct\n{pooled}").as_bytes());
    let outcome = folder.run(&["eval", "Confidence", "pooled.csv"]);
    assert!(outcome.err.contains("40 rows have the 'id' of an earlier one"), "{}", outcome.err);
}

#[test]
fn missing_labels_are_left_out_in_every_format() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 90));
    // The first label is missing, so that the first row does not show what the others are.
    let is_missing = |row: usize| row.is_multiple_of(9);
    let cells = cells(&rows);
    let label =
        |row: usize| if is_missing(row) { String::new() } else { NAMES[rows.labels[row]].into() };
    let mut columns: Vec<(String, &dyn Fn(usize) -> String)> = Vec::new();
    for (class, cell) in cells.iter().enumerate() {
        columns.push((format!("logit_{}", NAMES[class]), cell));
    }
    columns.push(("label".into(), &label));
    folder.put("rows.csv", rows.table(&columns).as_bytes());
    let numbered = |row: usize| {
        let label = if is_missing(row) { Value::Null } else { rows.labels[row].into() };
        json!({ "logits": rows.logits[row], "label": label }).to_string() + "\n"
    };
    folder.put("rows.jsonl", (0..90).map(numbered).collect::<String>().as_bytes());
    let right = |row: &usize| rows.prediction(*row) == rows.labels[*row];
    let expected = (0..90).filter(|row| !is_missing(*row)).filter(right).count() as f64 / 80.0;
    for file in ["rows.csv", "rows.jsonl"] {
        let outcome = folder.run(&["eval", "MSP", file, "--json"]);
        assert_eq!(outcome.code, Some(0), "{file}: {}", outcome.err);
        let report: Value = serde_json::from_str(&outcome.out).expect("JSON");
        let found = report[0]["accuracy"].as_f64().expect("a number");
        assert!((found - expected).abs() < 1e-12, "{file}: {found}");
        assert_eq!(
            (&report[0]["rows"], &report[0]["input"]["unlabelled"]),
            (&80.into(), &10.into())
        );
        assert!(outcome.err.contains("10 rows without a label"), "{}", outcome.err);
        let refused = folder.run(&["eval", "MSP", file, "--missing", "refuse"]);
        assert_eq!(refused.code, Some(2), "{file}");
    }
    // Of confidences, too.
    let judged = |row: usize| {
        let (confidence, _) = rows.judged(row);
        format!("{confidence},{},{}\n", NAMES[rows.prediction(row)], label(row))
    };
    let lines: String = (0..90).map(judged).collect();
    folder.put("judged.csv", format!("confidence,prediction,label\n{lines}").as_bytes());
    let out = folder.ok(&["eval", "Confidence", "judged.csv", "--json", "-q"]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert!((report[0]["accuracy"].as_f64().expect("a number") - expected).abs() < 1e-12);
}

#[test]
fn tables_of_spreadsheets_are_read() {
    let (folder, rows) = (Folder::new(), Rows::read(0, 120));
    let names: Vec<String> = (0..CLASSES).map(|class| format!("p_{class}")).collect();
    let mut text = format!("{};label\n", names.join(";"));
    for row in 0..120 {
        let share = |p: &f64| format!("{:.9}%", 100.0 * p).replace('.', ",");
        let cells: Vec<String> = rows.probabilities(row).iter().map(share).collect();
        let _ = writeln!(text, "{};{}", cells.join(";"), rows.labels[row]);
    }
    assert_eq!(accuracy(&folder, &text, &["--probs"]), Ok(rows.accuracy()));
    let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
    let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
    folder.put("excel.csv", &bytes);
    let out = folder.ok(&["eval", "MSP", "excel.csv", "--probs", "--json", "-q"]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(report[0]["accuracy"], rows.accuracy());
    // Two lines of names: what the hint says makes it readable.
    let (head, rest) = text.split_once('\n').expect("lines");
    let units = ["%"; CLASSES + 1].join(";");
    folder.put("two.csv", format!("{head}\n{units}\n{rest}").as_bytes());
    assert!(hint_of(&folder, &["eval", "MSP", "two.csv", "--probs"]).contains("`sed 2d`"));
}
