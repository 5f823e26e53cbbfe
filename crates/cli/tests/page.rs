//! `--page`: the page as a file. What it does in a browser is tested in `browser/`.

mod common;

use common::{Folder, npy_f64};
use serde_json::Value;

const FEW: [&str; 4] = ["--method", "MSP-TS-AURC,MaxLogit-pNorm", "--replicates", "50"];
const TUNE: [&str; 3] = ["tune", "logits.npy", "labels.npy"];

/// A name that would do something in a page that does not escape it.
const HOSTILE: &str = "<img src=x onerror=alert(1)>&amp;</script><script>alert(2)</script>";

/// The data that the page's script reads.
fn data(html: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"data\">";
    let from = html.find(start).expect("data") + start.len();
    let length = html[from..].find("</script>").expect("an end");
    serde_json::from_str(&html[from..from + length]).expect("JSON")
}

#[test]
fn a_page_carries_the_json_of_its_command() {
    let folder = Folder::with_rows(800, 6, 3);
    let more = ["--target-accuracy", "0.8", "--delta", "0.1", "--json", "--page", "page.html"];
    let json = folder.ok_json(&[&TUNE[..], &FEW, &more].concat());
    let page = data(&folder.read("page.html"));
    assert_eq!(page["report"], json);
    assert_eq!((page["kind"].as_str(), page["delta"].as_f64()), (Some("tune"), Some(0.1)));
    let set = &page["sets"][0];
    // The certified threshold is a position of the recommended method, with the certificate's counts.
    let choice =
        &set["methods"][usize::try_from(set["choice"].as_u64().expect("a place")).expect("small")];
    let certificate = &json["report"]["certificate"];
    let positions = &choice["positions"];
    let at = positions["threshold"]
        .as_array()
        .and_then(|all| all.iter().position(|result| *result == certificate["threshold"]))
        .expect("the certified threshold");
    assert_eq!(positions["accepted"][at], certificate["accepted"]);
    assert_eq!(positions["loss"][at], certificate["errors"]);
    assert_eq!(set["marks"][0]["accepted"], certificate["accepted"]);
    assert_eq!(set["rows"], json["report"]["test_rows"]);

    folder.ok(&[&TUNE[..], &FEW, &["-o", "e.json", "-q"]].concat());
    let eval = ["eval", "e.json", "logits.npy", "labels.npy", "--replicates", "50"];
    let more = ["--set", "again", "logits.npy", "labels.npy", "--json", "--page", "eval.html"];
    let json = folder.ok_json(&[&eval[..], &more].concat());
    let page = data(&folder.read("eval.html"));
    assert_eq!(page["report"], json);
    assert_eq!(page["sets"][1]["name"], "again");
    assert_eq!(page["sets"][0]["baseline"], 0);
}

#[test]
fn what_is_known_is_drawn() {
    let folder = Folder::with_rows(600, 4, 5);
    // Losses alone: no classes, no predictions.
    folder.put("mine.npy", &npy_f64(&[0.9, 0.8, 0.7, 0.2], "(4,)"));
    folder.put("losses.npy", &npy_f64(&[0.0, 0.0, 1.0, 1.0], "(4,)"));
    let result = ["eval", "--confidence", "mine.npy", "--replicates", "50", "--page", "mine.html"];
    folder.ok(&[&result[..], &["--losses", "losses.npy", "-q"]].concat());
    let page = data(&folder.read("mine.html"));
    let method = &page["sets"][0]["methods"][0];
    assert_eq!((&method["name"], &method["by_class"]), (&Value::from("mine"), &Value::Null));
    assert_eq!(method["errors"][0]["row"], 2);
    assert_eq!(method["errors"][0]["label"], Value::Null);
    assert_eq!(method["positions"]["accepted"], serde_json::json!([1, 2, 3, 4]));
    // With predictions and labels: classes as far as they occur.
    folder.put("scores.csv", b"prediction,confidence\n0,0.9\n1,0.8\n2,0.7\n0,0.2\n");
    folder.put("true.csv", b"label\n0\n1\n0\n0\n");
    let result =
        ["eval", "--confidence", "scores.csv", "--replicates", "50", "--page", "mine.html"];
    folder.ok(&[&result[..], &["--labels", "true.csv", "-q"]].concat());
    let method = data(&folder.read("mine.html"))["sets"][0]["methods"][0].clone();
    assert_eq!(method["by_class"]["rows"], serde_json::json!([3, 1, 0]));
    assert_eq!(
        (&method["errors"][0]["row"], &method["errors"][0]["predicted"]),
        (&2.into(), &2.into())
    );
    // Names of classes.
    folder.put("names.txt", b"cat\ndog\r\nhorse\nfrog\n");
    let more = ["--page", "named.html", "--class-names", "names.txt", "-q"];
    folder.ok(&[&TUNE[..], &FEW, &more].concat());
    let page = data(&folder.read("named.html"));
    assert_eq!(page["class_names"], serde_json::json!(["cat", "dog", "horse", "frog"]));
    // Graded losses have no bounds.
    folder.put("costs.npy", &npy_f64(&numbers(16), "(4, 4)"));
    let graded = ["--loss", "costs.npy", "--target-risk", "1.1", "--page", "g.html"];
    let output = folder.ok(&[&TUNE[..], &FEW, &graded].concat());
    assert!(output.contains("(met on these rows, not certified)"), "{output}");
    let page = data(&folder.read("g.html"));
    assert_eq!((&page["zero_one"], &page["target"]["risk"]), (&false.into(), &1.1.into()));
    assert_eq!(page["sets"][0]["methods"][0]["positions"]["bound"], Value::Null);
}

/// Terminal and page show the same sentences, cells and choice.
#[test]
fn page_has_the_words_of_the_terminal() {
    let folder = Folder::with_rows(800, 6, 3);
    let escaped =
        |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('\'', "&#x27;");
    let same = |text: &str, html: &str| {
        // The sentences stand below the curves, or below the last rule of a table without curves.
        let (text, accepted) = text.split_once("\nAccepted rows by").expect("classes");
        let words = |line: &'_ str| line.split_whitespace().map(String::from).collect::<Vec<_>>();
        for line in accepted.lines().map(words).filter(|words| words.len() > 5) {
            let Some(class) = line.first().filter(|class| class.parse::<u32>().is_ok()) else {
                continue;
            };
            assert!(html.contains(&format!("<span class=\"name\">{class}</span>")), "{line:?}");
        }
        let below = text.rsplit("MaxLogit-pNorm\n\n").next().expect("sentences");
        let below = below.rsplit("──\n").next().expect("sentences");
        let sentences: Vec<&str> = below.lines().filter(|line| line.ends_with('.')).collect();
        for sentence in &sentences {
            assert!(html.contains(&escaped(sentence)), "{sentence:?} is not on the page");
        }
        sentences.len()
    };
    let more = ["--target-accuracy", "0.8", "--delta", "0.1", "-o", "e.json", "--page", "t.html"];
    let text = folder.ok(&[&TUNE[..], &FEW, &more].concat());
    let html = folder.read("t.html");
    assert!(same(&text, &html) >= 3, "{text}");
    let chosen = text.lines().find_map(|line| line.strip_prefix(" ▸ ")).expect("a choice");
    let name = chosen.split("  ").next().expect("a name");
    let row = html.find("<tr class=\"chosen\"").expect("a chosen row");
    assert!(html[row..row + 300].contains(&format!("<span class=\"name\">{name}</span>")));
    for cell in chosen.split("  ").map(str::trim).filter(|cell| !cell.is_empty()) {
        assert!(html[row..].contains(&format!(">{cell}<")), "{cell} is not in the row");
    }
    folder.rows("other-", 300, 6, 6);
    let eval = ["eval", "e.json", "other-logits.npy", "other-labels.npy", "--replicates", "50"];
    let text = folder.ok(&[&eval[..], &["--page", "e.html"]].concat());
    assert!(same(&text, &folder.read("e.html")) >= 2, "{text}");
}

/// A threshold is drawn on the estimator that it belongs to.
#[test]
fn a_threshold_stays_with_its_estimator() {
    let folder = Folder::with_rows(400, 4, 5);
    folder.ok(&["threshold", "MSP", "logits.npy", "--coverage", "0.5", "-q", "-o", "t.json"]);
    let random: Vec<f64> = (0..400).map(|i| f64::from(i * 37 % 101)).collect();
    folder.put("mine.npy", &npy_f64(&random, "(400,)"));
    let eval = ["eval", "t.json", "logits.npy", "labels.npy", "--confidence", "mine.npy", "-q"];
    folder.ok(&[&eval[..], &["--replicates", "50", "--page", "p.html"]].concat());
    let page = data(&folder.read("p.html"));
    let set = &page["sets"][0];
    assert_eq!(
        (&set["methods"][0]["name"], &set["methods"][1]["name"]),
        (&"MSP".into(), &"mine".into())
    );
    assert_eq!(
        (&set["marks"][0]["method"], &set["marks"][0]["accepted"]),
        (&0.into(), &200.into())
    );
    assert_eq!(set["choice"], 1);
}

/// Costs of nothing on the diagonal and something beside it.
fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|i| if i % 5 == 0 { 0.0 } else { 0.5 + i as f64 / 10.0 }).collect()
}

#[test]
fn a_page_is_written_even_where_a_certificate_is_refused() {
    let folder = Folder::with_rows(200, 4, 5);
    let more =
        ["--target-accuracy", "0.999", "--delta", "0.01", "-o", "e.json", "--page", "p.html"];
    let output = folder.run(&[&TUNE[..], &FEW, &more].concat());
    assert_eq!(output.code, Some(1), "{}", output.err);
    assert_eq!(folder.names(), ["labels.npy", "logits.npy", "p.html"]);
    let html = folder.read("p.html");
    assert!(html.contains("No threshold for 99.9 % accuracy can be certified"));
    assert!(output.err.contains("written: p.html"));
    // It is the headline.
    let from = html.find("class=\"verdict bad\"").expect("a bad verdict");
    assert!(html[from..from + 400].contains("No threshold for 99.9 % accuracy can be certified"));
}

#[test]
fn rows_are_named_after_the_file_they_are_in() {
    let folder = Folder::with_rows(400, 4, 5);
    folder.rows("other-", 300, 4, 6);
    let test = ["--test", "other-logits.npy", "other-labels.npy", "--page", "p.html", "-q"];
    folder.ok(&[&TUNE[..], &FEW, &test].concat());
    let set = &data(&folder.read("p.html"))["sets"][0];
    assert_eq!((&set["name"], &set["rows"]), (&"other-logits.npy".into(), &300.into()));
    folder.ok(&[&TUNE[..], &FEW, &["--splits", "3", "--page", "p.html", "-q"]].concat());
    assert!(folder.read("p.html").contains("are means over 3 random splits"));
    // The old spelling.
    folder.ok(&[&TUNE[..], &FEW, &["--loss", "top-2", "--report", "p.html", "-q"]].concat());
    assert!(folder.read("p.html").contains("loss: top-2"));
}

/// A bound on rows that tuned the estimator would be no bound.
#[test]
fn rows_that_tuned_bound_nothing() {
    let folder = Folder::with_rows(400, 4, 5);
    folder.rows("other-", 300, 4, 6);
    folder.ok(&[&TUNE[..], &FEW, &["-o", "e.json", "-q"]].concat());
    let bounds = |prefix: &str| {
        let (logits, labels) = (format!("{prefix}logits.npy"), format!("{prefix}labels.npy"));
        let eval = ["eval", "e.json", &logits, &labels, "--replicates", "50", "-q"];
        folder.ok(&[&eval[..], &["--page", "p.html"]].concat());
        let html = folder.read("p.html");
        let tuned = html.contains("was tuned on some of these rows");
        (data(&html)["sets"][0]["methods"][0]["positions"]["bound"].is_null(), tuned)
    };
    assert_eq!(bounds(""), (true, true));
    assert_eq!(bounds("other-"), (false, false));
}

#[test]
fn names_are_text_and_nothing_else() {
    let folder = Folder::with_rows(300, 3, 5);
    let name = HOSTILE.replace('/', "_") + ".npy";
    let logits = std::fs::read(folder.path().join("logits.npy")).expect("logits");
    folder.put(&name, &logits);
    folder.put("names.txt", format!("{HOSTILE}\nb\nc\n").as_bytes());
    let tune = ["tune", &name, "labels.npy", "--class-names", "names.txt", "--page", "t.html"];
    folder.ok(&[&tune[..], &FEW, &["-q"]].concat());
    let eval = ["eval", "MSP-TS(T=2)", "logits.npy", "labels.npy", "--replicates", "50", "-q"];
    let more = ["--set", HOSTILE, "logits.npy", "labels.npy", "--page", "e.html"];
    folder.ok(&[&eval[..], &more].concat());
    for page in ["t.html", "e.html"] {
        let html = folder.read(page);
        assert!(!html.contains("<img"), "{page}");
        assert!(!html.contains("<script>alert"), "{page}");
        // One script that runs, and one that holds data.
        assert_eq!(html.matches("<script").count(), 2, "{page}");
        assert_eq!(html.matches("</script").count(), 2, "{page}");
        assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;"), "{page}");
    }
    assert_eq!(data(&folder.read("t.html"))["class_names"][0], HOSTILE);
    assert_eq!(data(&folder.read("e.html"))["sets"][1]["name"], HOSTILE);
}

#[test]
fn pages_replace_nothing_and_need_names_that_fit() {
    let folder = Folder::with_rows(200, 4, 5);
    folder.put("three.txt", b"a\nb\nc\n");
    folder.put("bytes.txt", b"\xff\xfe");
    let before = folder.names();
    let refused = |more: &[&str], part: &str| {
        let output = folder.run(&[&TUNE[..], &FEW, more].concat());
        assert_eq!(output.code, Some(2), "{more:?}: {}", output.err);
        assert!(output.err.contains(part), "{more:?}: {}", output.err);
        assert_eq!(folder.names(), before, "{more:?}");
    };
    refused(&["--page", "logits.npy"], "logits.npy would be written over logits.npy");
    refused(&["--page", "-"], "a page is written to a file");
    refused(&["--page", "./e.json", "-o", "e.json"], "both be e.json");
    refused(&["--page", "no/such/page.html"], "no/such/page.html");
    refused(&["--page", "p.html", "--class-names", "three.txt"], "3 class names for 4 classes");
    refused(&["--page", "p.html", "--class-names", "none.txt"], "none.txt");
    refused(&["--page", "p.html", "--class-names", "bytes.txt"], "bytes.txt");
    refused(&["--class-names", "a,b,c,a"], "empty or there twice");
    let output = folder.run(&["eval", "MSP", "logits.npy", "labels.npy", "--page", "labels.npy"]);
    assert_eq!(output.code, Some(2), "{}", output.err);
    let eval = ["eval", "MSP", "logits.npy", "labels.npy", "--page", "p.html", "--class-names"];
    for (names, part) in [("three.txt", "3 class names for 4 classes"), ("none.txt", "none.txt")] {
        let output = folder.run(&[&eval[..], &[names]].concat());
        assert_eq!((output.code, &output.out[..]), (Some(2), ""), "before any work");
        assert!(output.err.contains(part), "{}", output.err);
    }
    assert_eq!(folder.names(), before);
    // A zoo: any of its files.
    std::fs::create_dir(folder.path().join("zoo")).expect("a folder");
    folder.rows("zoo/", 200, 4, 5);
    let labels = std::fs::read(folder.path().join("zoo/labels.npy")).expect("labels");
    for file in ["zoo/labels.npy", "zoo/logits.npy"] {
        let output = folder.run(&["bench", "zoo", "--page", file, "--splits", "1"]);
        assert_eq!(output.code, Some(2), "{}", output.err);
    }
    assert_eq!(std::fs::read(folder.path().join("zoo/labels.npy")).expect("labels"), labels);
    // Where classes are only seen, there may be more of them than occur.
    folder.put("scores.csv", b"prediction,confidence\n0,0.9\n1,0.8\n");
    folder.put("true.csv", b"label\n0\n0\n");
    let result = ["eval", "--confidence", "scores.csv", "--labels", "true.csv", "-q"];
    folder.ok(&[&result[..], &["--page", "p.html", "--class-names", "three.txt"]].concat());
    assert!(folder.read("p.html").contains("scores.csv (SHA-256)"));
}

#[test]
fn a_page_is_the_same_each_time_and_loads_nothing() {
    let folder = Folder::with_rows(300, 4, 5);
    let page = || {
        folder.ok(&[&TUNE[..], &FEW, &["--page", "page.html", "-q"]].concat());
        folder.read("page.html")
    };
    let html = page();
    assert_eq!(html, page());
    assert!(html.contains("default-src &#x27;none&#x27;") || html.contains("default-src 'none'"));
    // Names of the SVG namespace are no addresses.
    let addresses =
        html.matches("http").count() - html.matches("http://www.w3.org/2000/svg").count();
    assert_eq!(addresses - html.matches("http-equiv").count(), 0, "addresses in the page");
}

#[test]
fn the_demo_writes_a_page_for_each_classifier() {
    let folder = Folder::new();
    let output = folder.run(&["demo", "--page", "pages"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    for name in ["imagenet-efficientnet-lite2", "fashion-ce"] {
        let html = folder.read(&format!("pages/{name}.html"));
        assert_eq!(data(&html)["report"]["set"], name);
        assert!(output.err.contains(name));
    }
}
