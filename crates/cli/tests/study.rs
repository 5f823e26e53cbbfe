//! Zoos through the program: `bench` and `study`.

mod common;

use common::{Folder, classifier, npy_f32, npy_labels};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const ROWS: usize = 400;
const CLASSES: usize = 4;

/// Small enough for a test: few splits, few realisations.
const QUICK: [&str; 8] =
    ["--splits", "2", "--smaller", "80", "--replicates", "20", "--holdout", "150"];

/// Two models and a set on which they do worse.
fn zoo() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("zoo")).expect("a folder");
    let (_, labels) = classifier(ROWS, CLASSES, 1);
    folder.put("zoo/labels.npy", &npy_labels(&labels));
    for (name, scale) in [("plain", 1.0), ("broken", 0.2)] {
        // The same rows, some of them far too timid.
        let (mut logits, _) = classifier(ROWS, CLASSES, 1);
        for (row, values) in logits.chunks_mut(CLASSES).enumerate() {
            if row % 3 == 0 {
                for x in values {
                    *x *= scale;
                }
            }
        }
        folder.put(&format!("zoo/{name}.npy"), &npy_f32(&logits, CLASSES));
        let noisy: Vec<f32> =
            logits.iter().enumerate().map(|(i, x)| x + (i * 7919 % 13) as f32 / 8.0).collect();
        folder.put(&format!("zoo/noise-{name}.npy"), &npy_f32(&noisy, CLASSES));
    }
    let manifest = r#"
        title = "Made <b>up</b> | & more"
        labels = "labels.npy"
        [[model]]
        name = "plain"
        title = "Plain <script>alert(1)</script>"
        logits = "plain.npy"
        [[model]]
        name = "broken"
        logits = "broken.npy"
        [[set]]
        name = "noise-1"
        group = "noise"
        severity = 1
        aligned = true
        logits = "noise-{model}.npy"
    "#;
    folder.put("zoo/zoo.toml", manifest.as_bytes());
    folder
}

fn with<'a>(first: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    [first, &QUICK, rest].concat()
}

/// Every file below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below").display().to_string();
                all.insert(name, std::fs::read(path).expect("a file"));
            }
        }
    }
    all
}

#[test]
fn bench_shows_a_zoo_at_a_glance() {
    let folder = zoo();
    let text = folder.ok(&with(&["bench", "zoo"], &[]));
    assert!(text.contains("MaxLogit-pNorm") && text.contains("Plain <script>"), "{text}");
    assert!(!folder.path().join("results").exists(), "without --out nothing is written");
    let json = folder.ok_json(&with(&["bench", "zoo"], &["--json"]));
    assert_eq!(json["models"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["target"], 0.98);
    // Rows far too timid: there is something to mend.
    let naurc = |model: usize, method: &str| {
        json["models"][model][method]["mean"].as_f64().expect("a number")
    };
    assert!(naurc(1, "stack") < naurc(1, "msp") - 0.05, "{json}");
    let folders = folder.run(&with(&["bench", "zoo"], &["--out", "out", "--quiet"]));
    assert_eq!((folders.code, &folders.err[..]), (Some(0), ""));
    let written = files(&folder.path().join("out"));
    for name in ["bench.md", "tables/models.tex", "json/summary.json", "models/plain.methods.json"]
    {
        assert!(written.contains_key(name), "{name}: {:?}", written.keys());
    }
    assert_eq!(folder.json("out/json/summary.json"), json);
}

#[test]
fn every_option_does_what_it_says() {
    let folder = zoo();
    let bench = |more: &[&str]| folder.ok_json(&with(&["bench", "zoo", "--json"], more));
    let plain = bench(&[]);
    assert_eq!(bench(&[]), plain, "the same every time");
    let one = bench(&["--models", "broken"]);
    assert_eq!(one["models"].as_array().map(Vec::len), Some(1));
    assert_eq!(one["models"][0]["model"], "broken");
    // A last option wins over an earlier one of the same name only if clap is asked to, so the quick
    // ones are left out here.
    let own = |more: &[&str]| {
        let base = ["bench", "zoo", "--json", "--smaller", "0", "--replicates", "10"];
        folder.ok_json(&[&base[..], more].concat())
    };
    let base = own(&["--splits", "2", "--holdout", "150"]);
    assert_ne!(own(&["--splits", "3", "--holdout", "150"])["models"], base["models"]);
    assert_ne!(own(&["--splits", "2", "--holdout", "0.25"])["models"], base["models"]);
    let same = ["--splits", "2", "--holdout", "150"];
    let changed = |more: &[&str]| own(&[&same[..], more].concat());
    assert_ne!(changed(&["--seed", "5"])["models"], base["models"]);
    assert_eq!(changed(&["--accuracy", "0.9"])["target"], 0.9);
    assert_ne!(changed(&["--accuracy", "0.9"])["models"], base["models"]);
    assert_eq!(changed(&["--epsilon", "0.5"])["apg"][0][1]["mean"], 0.0, "no gain is that large");
    let certified = changed(&["--certified", "--delta", "0.2", "--accuracy", "0.9"]);
    assert_eq!(certified["delta"], 0.2);
    let bare = changed(&["--accuracy", "0.9"]);
    assert_eq!(bare["delta"], Value::Null);
    let kept = |json: &Value| json["models"][0]["coverage"]["after"]["mean"].as_f64();
    assert!(kept(&certified) < kept(&bare), "a guarantee costs coverage");
    // Without the fallback, methods that lose to MSP on the hold-out are used all the same.
    assert_eq!(changed(&["--fallback", "paper"]), base);
    assert_ne!(changed(&["--fallback", "none"])["models"], base["models"]);
    assert_ne!(changed(&["--space", "fine"])["apg"], base["apg"], "finer temperatures");
    let help = folder.ok(&["bench", "--help"]);
    for option in
        ["--models", "--splits", "--holdout", "--smaller", "--space", "--fallback", "--epsilon"]
    {
        assert!(help.contains(option), "{option}");
    }
}

#[test]
fn study_all_writes_everything() {
    let folder = zoo();
    let more = ["--realisations", "2", "--out", "out", "--show", "broken"];
    let said = folder.run(&with(&["study", "all", "zoo"], &more));
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("written: ") && said.err.contains("README.md"), "{}", said.err);
    let written = files(&folder.path().join("out"));
    let tables = [
        "models",
        "gains",
        "naurc",
        "auroc",
        "apg-150",
        "apg-80",
        "full-naurc",
        "full-aurc",
        "full-auroc",
        "before-after",
        "epsilon",
        "selective-risk",
        "efficiency",
        "exponent-150",
        "exponent-80",
        "centring",
        "centring-models",
        "others",
        "shift",
        "shift-naurc",
        "ece",
        "influence",
        "significance",
        "significance-models",
    ];
    for table in tables {
        for format in ["md", "csv", "tex"] {
            let name = format!("tables/{table}.{format}");
            let text = written.get(&name).unwrap_or_else(|| panic!("{name} is missing"));
            assert!(text.len() > 60, "{name} is empty");
        }
        let latex = String::from_utf8_lossy(&written[&format!("tables/{table}.tex")]);
        assert!(latex.contains("\\caption") && latex.contains("\\toprule"), "{table}");
    }
    let figures = [
        "gains",
        "scatter",
        "epsilon",
        "curves",
        "efficiency",
        "exponent",
        "centring",
        "others",
        "shift",
        "reliability",
        "histograms",
        "very-sure",
        "influence",
        "significance",
    ];
    let page = String::from_utf8_lossy(&written["README.md"]);
    for figure in figures {
        let svg = String::from_utf8_lossy(&written[&format!("figures/{figure}.svg")]);
        assert!(svg.starts_with("<svg") && !svg.contains("<script"), "{figure}");
        assert!(!svg.contains("no data"), "{figure} is empty");
        assert!(written[&format!("figures/{figure}.png")].starts_with(b"\x89PNG"), "{figure}");
        assert!(page.contains(&format!("figures/{figure}.svg")), "{figure} is not on the page");
    }
    // Names of people's own are text, not markup.
    assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
    assert!(page.contains("Shown on their own: broken (as asked)"));
    for study in ["methods", "scatter", "shift", "calibration", "significance", "summary"] {
        let json: Value =
            serde_json::from_slice(&written[&format!("json/{study}.json")]).expect("valid JSON");
        assert!(json.is_object());
    }
    let efficiency = folder.json("out/json/efficiency.json");
    assert_eq!(efficiency["models"][0]["realisations"], 2);
    assert_eq!(efficiency["models"].as_array().map(Vec::len), Some(1));
    // One study alone is the same study, and takes what is finished from the folder.
    let one = folder.ok_json(&with(&["study", "shift", "zoo", "--json", "-q"], &more[2..4]));
    assert_eq!(one["shift"], folder.json("out/json/shift.json"));
}

/// Stopped anywhere, and begun again, a run ends as if nothing had been.
#[test]
fn a_run_that_was_killed_goes_on() {
    let folder = zoo();
    let study = |out: &'static str| {
        with(&["study", "all", "zoo", "-q"], &["--realisations", "2", "--out", out])
    };
    let started = std::time::Instant::now();
    folder.ok(&study("whole"));
    let whole = started.elapsed();
    let mut kept = 0;
    for part in [1, 2, 3, 4, 6, 9] {
        let mut child = folder.command(&study("stopped")).spawn().expect("it runs");
        std::thread::sleep(whole * part / 10);
        // It may be over already, where the machine has become faster.
        let _ = child.kill();
        child.wait().expect("it ends");
        kept = kept.max(
            std::fs::read_dir(folder.path().join("stopped/models")).map_or(0, Iterator::count),
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    folder.ok(&study("stopped"));
    let mut stopped = files(&folder.path().join("stopped"));
    // What was being written when it was killed has a name of its own, and hurts no one.
    stopped.retain(|name, _| !name.contains(".tmp") && !name.contains("/."));
    assert_eq!(stopped, files(&folder.path().join("whole")));
    assert!(kept > 0, "nothing was ever kept");
}

#[test]
fn mistakes_are_said_before_any_work() {
    let folder = zoo();
    let fails = |arguments: &[&str], wanted: &str| {
        let said = folder.run(arguments);
        assert_eq!(said.code, Some(2), "{arguments:?}: {}", said.err);
        assert!(said.err.contains(wanted), "{arguments:?}: {}", said.err);
        assert!(!folder.path().join("results").exists(), "{arguments:?}");
    };
    fails(&["study", "all", "nowhere"], "no such file");
    fails(&["bench", "zoo", "--models", "nobody"], "no model is called 'nobody'");
    fails(&["bench", "zoo", "--models", "nobody"], "there are plain, broken");
    fails(&["study", "curves", "zoo", "--show", "nobody"], "no model is called 'nobody'");
    fails(&["study", "everything", "zoo"], "invalid value 'everything'");
    fails(&["bench", "zoo", "--holdout", "400"], "the hold-out must leave rows to measure on");
    fails(&["bench", "zoo", "--delta", "0.1"], "--certified");
    fails(&["bench", "zoo", "--epsilon=-1"], "a number from 0 to 1");
    folder.put("file", b"");
    fails(&["study", "methods", "zoo", "--out", "file"], "file: ");
    folder.put("zoo/README.md", b"mine");
    fails(&["study", "methods", "zoo", "--out", "zoo"], "would replace this file");
    std::fs::remove_file(folder.path().join("zoo/broken.npy")).expect("removed");
    folder.put("zoo/noise-plain.npy", &npy_f32(&[0.0; 8], CLASSES));
    let said = folder.run(&["bench", "zoo"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("problems") && said.err.contains("broken.npy"), "{}", said.err);
    assert!(said.err.contains("noise-plain.npy: 2 rows"), "{}", said.err);
    assert!(said.err.contains("hint: docs/zoo.md"), "{}", said.err);
    // A zoo without further sets has nothing to say about them.
    folder.put(
        "zoo/zoo.toml",
        b"labels = \"labels.npy\"\n[[model]]\nname = \"plain\"\nlogits = \"plain.npy\"\n",
    );
    fails(&["study", "shift", "zoo"], "the models have no further sets");
}

/// The zoo that comes with the project: sound as a whole, and one net is broken where another is fine.
#[test]
fn our_own_zoo_is_sound() {
    let folder = Folder::new();
    let zoo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../zoo");
    let quick = ["--splits", "3", "--smaller", "0", "--models", "mlp-ls,resnet-ce"];
    let json = folder.ok_json(&[&["bench", zoo, "--json"], &quick[..]].concat());
    let naurc = |model: usize, method: &str| {
        json["models"][model][method]["mean"].as_f64().expect("a number")
    };
    assert!(naurc(0, "max_logit_pnorm") < naurc(0, "msp") - 0.02, "{json}");
    assert_eq!(json["models"][0]["p"], 2.0);
    assert_eq!(json["models"][1]["p"], "F", "MSP is fine");
    assert_eq!(naurc(1, "max_logit_pnorm"), naurc(1, "msp"));
}
