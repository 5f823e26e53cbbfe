//! Zoos through the program: `bench` and `study`.

mod common;

use abstain_paper::study::STUDIES;
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
        // The same rows, some of them with a confidence that is too low.
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
fn bench_prints_and_writes_an_overview() {
    let folder = zoo();
    let text = folder.ok(&with(&["bench", "zoo"], &[]));
    assert!(text.contains("MaxLogit-pNorm") && text.contains("Plain <script>"), "{text}");
    assert!(!folder.path().join("results").exists(), "without --output nothing is written");
    let json = folder.ok_json(&with(&["bench", "zoo"], &["--json"]));
    assert_eq!(json["models"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["target"], 0.98);
    // A third of the rows is scaled down, which the stack corrects.
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
fn every_option_changes_the_result() {
    let folder = zoo();
    let bench = |more: &[&str]| folder.ok_json(&with(&["bench", "zoo", "--json"], more));
    let plain = bench(&[]);
    assert_eq!(bench(&[]), plain, "the same every time");
    let one = bench(&["--models", "broken"]);
    assert_eq!(one["models"].as_array().map(Vec::len), Some(1));
    assert_eq!(one["models"][0]["model"], "broken");
    // An option cannot be repeated, so that the quick ones are left out here.
    let bare_bench = |more: &[&str]| {
        let base = ["bench", "zoo", "--json", "--smaller", "0", "--replicates", "10"];
        folder.ok_json(&[&base[..], more].concat())
    };
    let base = bare_bench(&["--splits", "2", "--holdout", "150"]);
    assert_ne!(bare_bench(&["--splits", "3", "--holdout", "150"])["models"], base["models"]);
    assert_ne!(bare_bench(&["--splits", "2", "--holdout", "0.25"])["models"], base["models"]);
    let same = ["--splits", "2", "--holdout", "150"];
    let changed = |more: &[&str]| bare_bench(&[&same[..], more].concat());
    assert_ne!(changed(&["--seed", "5"])["models"], base["models"]);
    assert_eq!(changed(&["--target-accuracy", "0.9"])["target"], 0.9);
    assert_ne!(changed(&["--target-accuracy", "0.9"])["models"], base["models"]);
    assert_eq!(changed(&["--epsilon", "0.5"])["apg"][0][1]["mean"], 0.0, "no gain is that large");
    let certified = changed(&["--certified", "--delta", "0.2", "--target-accuracy", "0.9"]);
    assert_eq!(certified["delta"], 0.2);
    let bare = changed(&["--target-accuracy", "0.9"]);
    assert_eq!(bare["delta"], Value::Null);
    let coverage = |json: &Value| json["models"][0]["coverage"]["after"]["mean"].as_f64();
    assert!(coverage(&certified) < coverage(&bare), "a guarantee costs coverage");
    // Without the fallback, methods that lose to MSP on the hold-out are used too.
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
    let more = ["--realisations", "2", "--output", "out", "--show", "broken"];
    let output = folder.run(&with(&["study", "all", "zoo"], &more));
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(output.err.contains("written: ") && output.err.contains("README.md"), "{}", output.err);
    let written = files(&folder.path().join("out"));
    let names: Vec<&str> = written.keys().map(|name| &name[..]).collect();
    insta::assert_snapshot!("study_all_files", names.join("\n"));
    let page = String::from_utf8_lossy(&written["README.md"]);
    // The paper has no figures of these models.
    assert!(!written.contains_key("json/published.json"));
    for study in STUDIES.iter().filter(|study| study.name != "published") {
        let json = serde_json::from_slice::<Value>(&written[&format!("json/{}.json", study.name)]);
        assert!(json.is_ok_and(|json| json.is_object()), "{}", study.name);
        assert!(page.contains(&format!("<a id=\"{}\"></a>", study.name)), "{}", study.name);
    }
    for (name, bytes) in &written {
        let text = String::from_utf8_lossy(bytes);
        match (name.split_once('/'), name.rsplit_once('.').map(|name| name.1)) {
            (Some(("tables", _)), Some("tex")) => {
                assert!(text.contains("\\caption") && text.contains("\\toprule"), "{name}");
            }
            (Some(("tables", _)), _) => assert!(text.len() > 60, "{name} is empty"),
            (Some(("figures", _)), Some("svg")) => {
                assert!(text.starts_with("<svg") && !text.contains("<script"), "{name}");
                assert!(!text.contains("no data"), "{name} is empty");
                assert!(page.contains(&format!("({name})")), "{name} is not on the page");
            }
            (Some(("figures", _)), _) => assert!(bytes.starts_with(b"\x89PNG"), "{name}"),
            _ => {}
        }
    }
    // Names of models and zoos are text, not markup.
    assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
    assert!(page.contains("Shown individually: broken (as requested)"));
    let efficiency = folder.json("out/json/efficiency.json");
    assert_eq!(efficiency["models"][0]["realisations"], 2);
    assert_eq!(efficiency["models"].as_array().map(Vec::len), Some(1));
    // A single study has the same numbers, and uses the records in the folder.
    let one = folder.ok_json(&with(&["study", "shift", "zoo", "--json", "-q"], &more[2..4]));
    assert_eq!(one["shift"], folder.json("out/json/shift.json"));
}

#[test]
fn a_killed_run_continues_to_the_same_files() {
    let folder = zoo();
    let study = |out: &'static str| {
        with(&["study", "all", "zoo", "-q"], &["--realisations", "2", "-o", out])
    };
    let started = std::time::Instant::now();
    folder.ok(&study("whole"));
    let whole = started.elapsed();
    let mut records = 0;
    for part in [1, 2, 3, 4, 6, 9] {
        let mut child = folder.command(&study("stopped")).spawn().expect("it runs");
        std::thread::sleep(whole * part / 10);
        // It may be over already.
        let _ = child.kill();
        child.wait().expect("it ends");
        records = records.max(
            std::fs::read_dir(folder.path().join("stopped/models")).map_or(0, Iterator::count),
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    folder.ok(&study("stopped"));
    let mut stopped = files(&folder.path().join("stopped"));
    // A file that was being written when the run was killed has a temporary name.
    stopped.retain(|name, _| !name.contains(".tmp") && !name.contains("/."));
    assert_eq!(stopped, files(&folder.path().join("whole")));
    assert!(records > 0, "no record was stored");
}

#[test]
fn mistakes_are_reported_before_any_work() {
    let folder = zoo();
    let fails = |arguments: &[&str], wanted: &str| {
        let output = folder.run(arguments);
        assert_eq!(output.code, Some(2), "{arguments:?}: {}", output.err);
        assert!(output.err.contains(wanted), "{arguments:?}: {}", output.err);
        assert!(!folder.path().join("results").exists(), "{arguments:?}");
    };
    fails(&["study", "all", "nowhere"], "no such file");
    fails(&["bench", "zoo", "--models", "nobody"], "no model is called 'nobody'");
    fails(&["bench", "zoo", "--models", "nobody"], "there are plain, broken");
    fails(&["study", "curves", "zoo", "--show", "nobody"], "no model is called 'nobody'");
    fails(&["study", "published", "zoo"], "the paper's tables have no figures of these models");
    fails(&["study", "published", "zoo"], "VGG16 (vgg16, vgg16.tv_in1k); ResNet-50 (resnet50, ");
    fails(&["study", "everything", "zoo"], "invalid value 'everything'");
    fails(&["bench", "zoo", "--holdout", "400"], "the hold-out needs at least one tuning row");
    fails(&["bench", "zoo", "--delta", "0.1"], "--certified");
    fails(&["bench", "zoo", "--epsilon=-1"], "a number from 0 to 1");
    folder.put("file", b"");
    fails(&["study", "methods", "zoo", "--out", "file"], "file: ");
    // Each has its page, and the pages of others do not matter.
    std::fs::create_dir(folder.path().join("mine")).expect("a folder");
    folder.put("mine/README.md", b"mine");
    folder.put("mine/methods.md", b"\xff mine");
    folder.put("mine/bench.md", b"mine");
    for command in [&["study", "all"], &["study", "methods"]] {
        let arguments = [command[0], command[1], "zoo", "--output", "mine"];
        fails(&arguments, "would replace this file");
    }
    fails(&["bench", "zoo", "--output", "mine"], "bench.md: the page of results would replace");
    let output = folder.run(&["study", "curves", "zoo", "--output", "mine"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    std::fs::remove_file(folder.path().join("zoo/broken.npy")).expect("removed");
    folder.put("zoo/noise-plain.npy", &npy_f32(&[0.0; 8], CLASSES));
    let output = folder.run(&["bench", "zoo"]);
    assert_eq!(output.code, Some(2));
    assert!(output.err.contains("problems") && output.err.contains("broken.npy"), "{}", output.err);
    assert!(output.err.contains("noise-plain.npy: 2 rows"), "{}", output.err);
    assert!(output.err.contains("hint: docs/zoo.md"), "{}", output.err);
    // A zoo without further sets.
    folder.put(
        "zoo/zoo.toml",
        b"labels = \"labels.npy\"\n[[model]]\nname = \"plain\"\nlogits = \"plain.npy\"\n",
    );
    fails(&["study", "shift", "zoo"], "the models have no further sets");
}

/// Models with the names and the classes of published ones, two of them on a corruption and on V2.
fn published_zoo() -> Folder {
    const ROWS: usize = 120;
    const CLASSES: usize = 1000;
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("zoo")).expect("a folder");
    let (logits, labels) = classifier(ROWS, CLASSES, 3);
    folder.put("zoo/labels.npy", &npy_labels(&labels));
    for (number, name) in ["resnet50", "mine", "vgg16"].into_iter().enumerate() {
        let changed: Vec<f32> =
            logits.iter().enumerate().map(|(i, x)| x + (i * 7919 % (7 + number)) as f32).collect();
        folder.put(&format!("zoo/{name}.npy"), &npy_f32(&changed, CLASSES));
    }
    let manifest = r#"
        labels = "labels.npy"
        [[model]]
        name = "resnet50"
        logits = "resnet50.npy"
        [[model]]
        name = "mine"
        logits = "mine.npy"
        [[model]]
        name = "vgg16"
        title = "VGG-16 of ours"
        logits = "vgg16.npy"
        [[set]]
        name = "fog-2"
        group = "fog"
        severity = 2
        aligned = true
        logits = "{model}.npy"
        models = ["resnet50", "mine"]
        [[set]]
        name = "ImageNet-V2"
        aligned = false
        labels = "labels.npy"
        logits = "{model}.npy"
        models = ["resnet50"]
    "#;
    folder.put("zoo/zoo.toml", manifest.as_bytes());
    folder
}

#[test]
fn published_figures_stand_beside_those_of_the_zoo() {
    let folder = published_zoo();
    let quick = ["--splits", "2", "--smaller", "0", "--replicates", "5", "--holdout", "60"];
    let run = |first: &[&str]| folder.run(&[first, &quick].concat());
    let output = run(&["study", "published", "zoo", "-q", "-o", "one"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    for text in ["VGG-16 of ours", "Published", "Difference", "0.1839 ±0.0006", "80.84", "Table 3"]
    {
        assert!(output.out.contains(text), "{text}: {}", output.out);
    }
    let json = folder.json("one/json/published.json");
    let methods =
        folder.ok_json(&[&["study", "methods", "zoo", "--json", "-o", "one"], &quick[..]].concat());
    let all = json["comparisons"].as_array().expect("a list");
    let of = |model: &str| -> Vec<&Value> { all.iter().filter(|c| c["model"] == model).collect() };
    assert_eq!((of("vgg16").len(), of("mine").len()), (20, 0));
    // Accuracy and three coverages of the rows of the zoo, of severity 2 and of V2.
    assert_eq!(of("resnet50").len(), 12);
    assert_eq!(all.len(), 32, "84 models would have averages");
    let number = |value: &Value| value.as_f64().expect("a number");
    for one in all {
        let difference = number(&one["here"]["mean"]) - number(&one["published"]["mean"]);
        assert_eq!(number(&one["difference"]), difference, "{one}");
    }
    let msp = of("vgg16").into_iter().find(|c| c["published"]["method"] == "MSP").expect("MSP");
    assert_eq!(number(&msp["published"]["mean"]), 0.1839);
    assert_eq!(msp["here"], methods["methods"]["models"][2]["naurc"][0][0]);
    let fog = of("resnet50").into_iter().find(|c| c["published"]["rows"] == "2").expect("level 2");
    assert_eq!(fog["corruptions"], 1);
    // All studies have it too, with the same numbers; a certified coverage is not compared.
    let all =
        run(&["study", "all", "zoo", "-q", "-o", "all", "--realisations", "1", "--certified"]);
    assert_eq!(all.code, Some(0), "{}", all.err);
    assert!(all.out.contains("vgg16 against 20 figures of Table 1 of the paper"), "{}", all.out);
    assert_eq!(folder.json("all/json/published.json"), json);
    // Without further sets, the accuracy is left to compare.
    folder.put(
        "zoo/zoo.toml",
        b"labels = \"labels.npy\"\n[[model]]\nname = \"ResNet-50\"\nlogits = \"resnet50.npy\"\n",
    );
    let json = folder
        .ok_json(&[&["study", "published", "zoo", "--json", "-o", "bare"], &quick[..]].concat());
    let all = json["published"]["comparisons"].as_array().expect("a list");
    assert_eq!(all.len(), 1);
    assert_eq!(
        (&all[0]["published"]["metric"], &all[0]["published"]["rows"]),
        (&"Accuracy".into(), &"0".into())
    );
}

/// The zoo of the repository: MaxLogit-pNorm improves one net, and MSP is fine on another.
#[test]
fn the_zoo_of_the_repository_is_sound() {
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
