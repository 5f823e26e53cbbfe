//! `abstain export`: every option, and what is refused. What the graphs compute is compared with ONNX
//! Runtime in bindings/python/tests/test_export.py.

mod common;

use common::Folder;
use serde_json::Value;

/// A field of bytes: tag, length, body.
fn field(number: u8, body: &[u8]) -> Vec<u8> {
    let length = u8::try_from(body.len()).expect("shorter than 128 bytes");
    assert!(number < 16 && length < 128);
    [vec![number << 3 | 2, length], body.to_vec()].concat()
}

fn node(operator: &str, input: &str, output: &str) -> Vec<u8> {
    let parts = [(1, input), (2, output), (3, operator), (4, operator)];
    let body: Vec<u8> =
        parts.iter().flat_map(|(number, text)| field(*number, text.as_bytes())).collect();
    field(1, &body)
}

/// An input (11) or output (12) of float32 with rows called N.
fn value(number: u8, name: &str, columns: u8) -> Vec<u8> {
    let shape = [field(1, &field(2, b"N")), field(1, &[0x08, columns])].concat();
    let tensor = [vec![0x08, 1], field(2, &shape)].concat();
    field(number, &[field(1, name.as_bytes()), field(2, &field(1, &tensor))].concat())
}

/// A model whose graph is made of these parts.
fn model(opset: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    let graph = parts.concat();
    let length = u16::try_from(graph.len()).expect("small");
    let low = u8::try_from(length & 0x7f).expect("seven bits") | 0x80;
    let high = u8::try_from(length >> 7).expect("seven bits");
    let opset = field(8, &[0x10, opset]);
    [vec![0x08, 8, 7 << 3 | 2, low, high], graph, opset].concat()
}

/// A folder with an estimator and a model that ends in a softmax.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.ok(&["threshold", "MaxLogit-pNorm(p=4)", "--at", "1.5", "-q", "-o", "deployed.json"]);
    let parts = [
        value(11, "x", 4),
        node("Relu", "x", "scores"),
        node("Softmax", "scores", "probs"),
        value(12, "probs", 4),
    ];
    folder.put("model.onnx", &model(17, &parts));
    folder
}

fn names(report: &Value) -> Vec<&str> {
    let outputs = report["outputs"].as_array().expect("a list");
    outputs.iter().map(|output| output["name"].as_str().expect("a name")).collect()
}

/// Standard error of what must end in an error.
fn failed(folder: &Folder, arguments: &[&str]) -> String {
    let outcome = folder.run(arguments);
    assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.out);
    outcome.err
}

fn export(folder: &Folder, more: &[&str]) -> Value {
    let words = ["export", "deployed.json", "model.onnx", "-o", "selective.onnx", "--json"];
    folder.ok_json(&[&words[..], more].concat())
}

#[test]
fn a_model_gets_outputs_and_show_explains_it() {
    let folder = folder();
    let report = export(&folder, &[]);
    assert_eq!(names(&report), ["prediction", "confidence", "accept"]);
    assert_eq!(report["logits"]["name"], "scores");
    assert_eq!(report["logits"]["origin"]["before"]["operator"], "Softmax");
    assert_eq!((report["classes"].as_u64(), report["opset"].as_u64()), (Some(4), Some(17)));
    let text = folder.run(&["export", "deployed.json", "model.onnx", "-o", "selective.onnx"]);
    assert!(text.out.contains("'scores', of which 'probs' is the Softmax"), "{}", text.out);
    assert!(text.err.contains("written: selective.onnx"), "{}", text.err);
    let words = ["export", "deployed.json", "model.onnx", "-q", "-o", "selective.onnx"];
    assert_eq!(folder.run(&words).err, "");

    let shown = folder.ok(&["show", "selective.onnx"]);
    let artifact = folder.ok(&["show", "deployed.json"]);
    assert!(shown.starts_with(&artifact), "{shown}");
    assert!(shown.contains("Inputs: x float32 [N, 4]"), "{shown}");
    let outputs = "Outputs: probs float32 [N, 4], prediction int64 [N], confidence float32 [N], accept bool [N]";
    assert!(shown.contains(outputs), "{shown}");
    let json = folder.ok_json(&["show", "selective.onnx", "--json"]);
    assert_eq!(json, folder.json("deployed.json"));
    // It is an estimator as any other.
    folder.rows("", 20, 4, 1);
    let scored = |estimator: &str| folder.ok(&["score", estimator, "logits.npy", "-q"]);
    assert_eq!(scored("selective.onnx"), scored("deployed.json"));
}

#[test]
fn a_value_of_the_model_can_be_named() {
    let folder = folder();
    let report = export(&folder, &["--logits", "probs"]);
    assert_eq!(report["logits"], serde_json::json!({"name": "probs", "origin": "named"}));
    let refused = failed(
        &folder,
        &["export", "MSP", "model.onnx", "--logits", "nothing", "-o", "other.onnx"],
    );
    assert!(refused.contains("no value of it is called 'nothing'"), "{refused}");
    assert!(refused.contains("hint: choose with --logits"), "{refused}");
    assert!(!folder.path().join("other.onnx").exists());
}

#[test]
fn outputs_have_a_prefix() {
    let folder = folder();
    let report = export(&folder, &["--prefix", "selective_"]);
    assert_eq!(names(&report)[2], "selective_accept");
}

#[test]
fn the_precision_is_chosen() {
    let folder = folder();
    assert_eq!(export(&folder, &[])["precision"], "float32");
    let single = std::fs::read(folder.path().join("selective.onnx")).expect("read");
    assert_eq!(export(&folder, &["--precision", "float64"])["precision"], "float64");
    let double = std::fs::read(folder.path().join("selective.onnx")).expect("read");
    assert_ne!(single, double);
    assert!(folder.ok(&["show", "selective.onnx"]).contains("'scores' in float64"));
    let words = ["export", "MSP-TS(T=1e-60)", "model.onnx", "-o", "other.onnx"];
    let refused = failed(&folder, &words);
    assert!(refused.contains("hint: give --precision float64"), "{refused}");
    failed(&folder, &[&words[..], &["--precision", "float16"]].concat());
}

#[test]
fn without_a_model_a_graph_is_written() {
    let folder = folder();
    let write = |more: &[&str]| {
        let words = ["export", "deployed.json", "-o", "graph.onnx", "--json"];
        folder.ok_json(&[&words[..], more].concat())
    };
    let report = write(&[]);
    assert_eq!(report["logits"], serde_json::json!({"name": "logits", "origin": "input"}));
    assert_eq!(report["opset"], 17);
    assert!(folder.ok(&["show", "graph.onnx"]).contains("Inputs: logits float32 [N, C]"));
    assert_eq!(write(&["--opset", "21"])["opset"], 21);
    assert_eq!(write(&["--logits", "scores"])["logits"]["name"], "scores");
    let words = ["export", "MSP", "-o", "other.onnx", "--opset", "12"];
    assert!(failed(&folder, &words).contains("opset 12 is not written"));
    // A model decides its opset.
    failed(&folder, &["export", "MSP", "model.onnx", "-o", "other.onnx", "--opset", "17"]);
    let note = folder.run(&["export", "MSP", "-o", "other.onnx"]).err;
    assert!(note.contains("no threshold, so there is no output `accept`"), "{note}");
}

#[test]
fn an_exported_model_is_exported_again() {
    let folder = folder();
    export(&folder, &[]);
    let words = ["export", "Leon", "selective.onnx", "-o", "again.onnx", "--json"];
    let report = folder.ok_json(&words);
    assert_eq!(report["replaced"], true);
    folder.ok(&["export", "Leon", "model.onnx", "-q", "-o", "straight.onnx"]);
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("read");
    assert_eq!(read("again.onnx"), read("straight.onnx"));
}

#[test]
fn what_cannot_be_done_is_refused_with_a_hint() {
    let folder = folder();
    let parts =
        [value(11, "x", 4), node("Relu", "x", "logits"), value(12, "logits", 4), value(12, "x", 4)];
    folder.put("two.onnx", &model(17, &parts));
    folder.put("old.onnx", &model(12, &parts[..3]));
    let certain = [value(11, "x", 4), node("LogSoftmax", "x", "logs"), value(12, "logs", 4)];
    folder.put("uncertain.onnx", &model(17, &certain));
    let taken = [value(11, "x", 4), node("Relu", "x", "accept"), value(12, "accept", 4)];
    folder.put("taken.onnx", &model(17, &taken));
    folder.put("none.onnx", b"not a model");
    let refused = |estimator: &str, model: &str, problem: &str, hint: &str| {
        let text = failed(&folder, &["export", estimator, model, "-o", "out.onnx"]);
        assert!(text.contains(problem) && text.contains(hint), "{text}");
        assert!(!folder.path().join("out.onnx").exists());
    };
    refused("MSP", "two.onnx", "which of its outputs holds the logits?", "--logits NAME");
    refused("MSP", "old.onnx", "opset 12", "version_converter");
    refused("MSP", "uncertain.onnx", "computed by LogSoftmax", "give --logits logs");
    refused("deployed.json", "taken.onnx", "called 'accept' already", "give --prefix");
    refused("MSP", "none.onnx", "not a sound ONNX file", "");
    refused("MSP", "missing.onnx", "missing.onnx", "");
    refused("Confidence", "model.onnx", "no logits", "");
    let text = failed(&folder, &["export", "MSP", "model.onnx", "-o", "model.onnx"]);
    assert!(text.contains("would be written over"), "{text}");
    let text = failed(&folder, &["show", "model.onnx"]);
    assert!(text.contains("there is no artifact in it"), "{text}");
    let text = failed(&folder, &["export", "MSP", "model.onnx", "-o", "-"]);
    assert!(text.contains("written to a file"), "{text}");
}
