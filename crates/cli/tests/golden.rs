//! The golden corpus through the program: the same figures as through the library.

mod common;

use common::{Folder, csv, npy_f64};
use toml::{Table, Value};

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|v| v.as_float().expect("a number")).collect()
}

fn close(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0)
}

fn write(folder: &Folder, case: &Table) -> Vec<String> {
    let rows: Vec<Vec<f64>> = case["rows"].as_array().expect("rows").iter().map(floats).collect();
    let classes = rows[0].len();
    folder.put("logits.csv", csv(&rows.concat(), classes).as_bytes());
    let labels = case["labels"].as_array().expect("labels").iter();
    let labels: Vec<String> = labels.map(|label| format!("{label}\n")).collect();
    folder.put("labels.csv", labels.concat().as_bytes());
    let mut options = Vec::new();
    let mut add = |words: &[&str]| options.extend(words.iter().map(ToString::to_string));
    if case["kind"].as_str() == Some("probabilities") {
        add(&["--probs"]);
        if let Some(floor) = case.get("floor").and_then(Value::as_float) {
            add(&["--floor", &floor.to_string()]);
        }
    } else if case.contains_key("masked") {
        add(&["--masked"]);
    }
    match case["loss"].as_str().expect("a loss") {
        "0/1" => {}
        "given" => {
            let losses = floats(&case["losses"]);
            folder.put("losses.npy", &npy_f64(&losses, &format!("({},)", losses.len())));
            add(&["--loss", "losses.npy"]);
        }
        "cost" => {
            let costs = case["cost"].as_array().expect("costs").iter().flat_map(floats);
            let costs: Vec<f64> = costs.collect();
            folder.put("costs.npy", &npy_f64(&costs, &format!("({classes}, {classes})")));
            add(&["--loss", "costs.npy"]);
        }
        top => add(&["--loss", top]),
    }
    options
}

#[test]
fn the_program_gives_the_oracles_figures() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/golden.toml");
    let text = std::fs::read_to_string(path).expect("golden.toml is part of the project");
    let corpus: Table = text.parse().expect("valid TOML");
    let folder = Folder::new();
    let mut checked = 0;
    for case in corpus["case"].as_array().expect("cases") {
        let case = case.as_table().expect("a table");
        let options = write(&folder, case);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        for wanted in case["estimator"].as_array().expect("estimators") {
            let name = wanted["name"].as_str().expect("a name");
            let metrics = wanted["metrics"].as_table().expect("metrics");
            let names: Vec<&str> = metrics.keys().map(String::as_str).collect();
            let names = names.join(",");
            let eval = ["eval", name, "logits.csv", "labels.csv", "--json"];
            let report = folder.ok_json(&[&eval[..], &["--metric", &names], &options].concat());
            for line in report[0]["metrics"].as_array().expect("metrics") {
                let metric = line["metric"].as_str().expect("a name");
                let found = line["values"][0]["estimate"].as_f64();
                match (found, metrics[metric].as_float()) {
                    (Some(found), Some(wanted)) => {
                        assert!(close(found, wanted), "{name}, {metric}: {found}, oracle {wanted}");
                    }
                    (None, None) => {}
                    (found, wanted) => panic!("{name}, {metric}: {found:?}, oracle {wanted:?}"),
                }
                checked += usize::from(found.is_some());
            }
        }
    }
    assert!(checked > 2000, "{checked} figures were compared");
}
