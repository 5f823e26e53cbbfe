use super::*;
use crate::onnx::inspect;
use crate::onnx::wire::Document;
use abstain::{Rule, Threshold};
use proptest::prelude::*;
use std::{fs, io};

/// A folder with `model.onnx`.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(model: &[u8]) -> Self {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        fs::write(folder.model(), model).expect("written");
        folder
    }

    fn model(&self) -> PathBuf {
        self.0.path().join("model.onnx")
    }

    fn request(&self) -> ExportRequest {
        ExportRequest {
            model: Some(self.model()),
            output: self.0.path().join("selective.onnx"),
            ..ExportRequest::default()
        }
    }

    /// The file that is written for an artifact.
    fn exported(&self, artifact: &Artifact) -> Vec<u8> {
        let request = self.request();
        export(artifact, &request).expect("exported");
        fs::read(&request.output).expect("written")
    }

    /// Why nothing is written.
    fn refusal(&self, artifact: &Artifact, request: &ExportRequest) -> String {
        let error = export(artifact, request).expect_err("it is refused").to_string();
        assert!(!request.output.exists(), "a refusal writes nothing");
        error.replace(&format!("{}: ", self.model().display()), "")
    }
}

fn artifact(text: &str) -> Artifact {
    let mut artifact = Artifact::new(text.parse().expect("an estimator"));
    artifact.rule = Some(Threshold::given(1.0).into());
    artifact
}

fn node(operator: &str, input: &str, output: &str) -> message::Node {
    message::Node {
        inputs: vec![input.into()],
        outputs: vec![output.into()],
        name: format!("node_{output}"),
        operator: operator.into(),
        attributes: Vec::new(),
    }
}

fn value(name: &str, element: ElementType, shape: &[Extent]) -> message::ValueInfo {
    let dimension = |extent: &Extent| message::Dimension { extent: Some(extent.clone()) };
    graph::value_info(name, element, shape.iter().map(dimension).collect())
}

fn rows_and(classes: i64) -> Vec<Extent> {
    vec![Extent::Named("batch".into()), Extent::Fixed(classes)]
}

/// A model of a chain of operators.
fn model(operators: &[&str]) -> message::Model {
    let mut nodes = Vec::new();
    let mut last = "x".to_string();
    for (k, operator) in operators.iter().enumerate() {
        let output = format!("v{k}");
        nodes.push(node(operator, &last, &output));
        last = output;
    }
    message::Model {
        ir_version: 8,
        producer_name: "a test".into(),
        producer_version: String::new(),
        graph: Some(message::Graph {
            nodes,
            name: "net".into(),
            initialisers: vec![message::Tensor {
                dimensions: vec![2],
                element: 1,
                name: "weights".into(),
                data: vec![7; 8],
            }],
            inputs: vec![value("x", ElementType::FLOAT32, &rows_and(4))],
            outputs: vec![value(&last, ElementType::FLOAT32, &rows_and(4))],
        }),
        opset_import: vec![message::OperatorSetId { domain: String::new(), version: 17 }],
        metadata_props: vec![message::Entry { key: "author".into(), value: "me".into() }],
    }
}

fn bytes(model: &message::Model) -> Vec<u8> {
    model.encode_to_vec()
}

#[test]
fn decisions_are_appended_and_all_else_is_kept() {
    // A field that no version of ONNX has, before the graph, in it and behind it.
    let unknown = [header(3000, 5), b"hello".to_vec()].concat();
    let mut parts = model(&["Gemm"]);
    let graph = parts.graph.take().expect("a graph").encode_to_vec();
    let graph = [unknown.clone(), graph, unknown.clone()].concat();
    let field = [header(7, graph.len() as u64), graph.clone()].concat();
    let source = [unknown.clone(), field.clone(), bytes(&parts), unknown.clone()].concat();
    let folder = Folder::new(&source);
    let found = folder.exported(&artifact("MSP"));

    let added = found.len() - source.len();
    assert!(found.starts_with(&unknown));
    // The graph begins as it was, and what is behind it is as it was.
    let start = found.windows(graph.len()).position(|window| window == graph).expect("the graph");
    let behind = [bytes(&parts), unknown].concat();
    let place = found.windows(behind.len()).rposition(|window| window == behind);
    assert!(place.is_some_and(|place| place > start + graph.len()));
    assert!(added > 1000);

    let summary = inspect(&folder.request().output).expect("sound");
    assert_eq!(summary.metadata["author"], "me");
    let names: Vec<&str> = summary.outputs.iter().map(|output| &*output.name).collect();
    assert_eq!(names, ["v0", "prediction", "confidence", "probability_right", "accept"]);
    let selective = summary.selective.expect("an artifact");
    assert_eq!(selective.artifact, artifact("MSP"));
    assert_eq!(selective.logits, "v0");
    assert_eq!(selective.source_sha256, Some(abstain_io::hash_of(&source)));
}

#[test]
fn a_second_export_leaves_no_trace_of_the_first() {
    let folder = Folder::new(&bytes(&model(&["Gemm", "Softmax"])));
    let first = folder.exported(&artifact("Leon"));
    let straight = folder.exported(&artifact("GEN(gamma=0.1, M=3)"));
    let again = Folder::new(&first);
    assert_eq!(again.exported(&artifact("GEN(gamma=0.1, M=3)")), straight);
    assert_ne!(first, straight);
}

#[test]
fn logits_are_found_behind_the_only_output() {
    let found = |operators: &[&str], text: &str, encoding: Encoding| {
        let folder = Folder::new(&bytes(&model(operators)));
        let mut artifact = artifact(text);
        artifact.input = encoding;
        match export(&artifact, &folder.request()) {
            Ok(result) => result.logits.name,
            Err(OnnxError::Model { problem, .. }) => match *problem {
                ModelProblem::Uncertain { operator, .. } => format!("uncertain: {operator}"),
                other => other.to_string(),
            },
            Err(other) => other.to_string(),
        }
    };
    let logits = |operators: &[&str]| found(operators, "MSP", Encoding::Logits);
    assert_eq!(logits(&["Gemm"]), "v0");
    assert_eq!(logits(&["Gemm", "Identity"]), "v1");
    assert_eq!(logits(&["Softmax", "Gemm"]), "v1");
    assert_eq!(logits(&["Gemm", "Softmax"]), "v0");
    assert_eq!(logits(&["Gemm", "Softmax", "Cast", "Identity"]), "v0");
    for operators in [
        &["Gemm", "LogSoftmax"][..],
        &["Gemm", "Sigmoid"],
        &["Gemm", "Exp"],
        &["If"],
        &["Gemm", "Exp", "Div"],
    ] {
        let last = operators[operators.len() - 1];
        assert_eq!(logits(operators), format!("uncertain: {last}"));
    }
    assert_eq!(logits(&["Gemm", "Softmax", "Flatten"]), "uncertain: Softmax");
    let (floor, tolerance) = (Some(1e-9), None);
    let probabilities = Encoding::Probabilities { floor, tolerance };
    assert_eq!(found(&["Gemm", "Softmax"], "MSP", probabilities), "v1");
    assert_eq!(found(&["Gemm"], "MSP", probabilities), "uncertain: Gemm");
    let one = |operators: &[&str], encoding| found(operators, "MSP", encoding);
    // The output of these models has four numbers in a row.
    assert!(one(&["Gemm", "Sigmoid"], Encoding::BinaryLogit).contains("not of the shape"));
    assert_eq!(one(&["Gemm", "Softmax"], Encoding::BinaryLogit), "uncertain: Softmax");
}

#[test]
fn what_a_model_lacks_is_named() {
    let refusal = |model: &message::Model, artifact: &Artifact| {
        let folder = Folder::new(&bytes(model));
        folder.refusal(artifact, &folder.request())
    };
    let msp = artifact("MSP");
    let mut old = model(&["Gemm"]);
    old.opset_import[0].version = 12;
    assert_eq!(
        refusal(&old, &msp),
        "its operators are of opset 12, but opset 13 or later is needed"
    );
    old.opset_import.clear();
    assert!(refusal(&old, &msp).contains("no opset of ONNX"));
    let mut old = model(&["Gemm"]);
    old.ir_version = 3;
    assert!(refusal(&old, &msp).contains("version 3 of the file format"));
    let mut none = model(&["Gemm"]);
    none.graph = None;
    assert!(refusal(&none, &msp).contains("0 graphs"));
    let mut two = model(&["Gemm"]);
    let graph = two.graph.as_mut().expect("a graph");
    graph.outputs.push(value("features", ElementType::FLOAT32, &rows_and(9)));
    let text = refusal(&two, &msp);
    assert_eq!(
        text,
        "which of its outputs holds the logits? its outputs are v0 float32 [batch, 4], \
         features float32 [batch, 9]"
    );
    let mut classes = msp.clone();
    classes.classes = Some(5);
    let text = refusal(&model(&["Gemm"]), &classes);
    assert_eq!(text, "v0 float32 [batch, 4] has 4 classes, and the artifact is for 5");
    let mut taken = model(&["Gemm"]);
    taken.graph.as_mut().expect("a graph").nodes[0].outputs.push("accept".into());
    assert_eq!(refusal(&taken, &msp), "a value of it is called 'accept' already");
    let mut table = msp.clone();
    table.rule = Some(Rule::ByClass(vec![None; 4]));
    let several = "the rule has a threshold for each class, which cannot be applied here";
    assert_eq!(refusal(&model(&["Gemm"]), &table), several);
    let mut whole = model(&["ArgMax"]);
    whole.graph.as_mut().expect("a graph").outputs =
        vec![value("v0", ElementType::INT64, &rows_and(4))];
    assert_eq!(refusal(&whole, &msp), "v0 int64 [batch, 4] is not of real numbers");

    let folder = Folder::new(&bytes(&model(&["Gemm"])));
    let request = ExportRequest { opset: Some(17), ..folder.request() };
    assert_eq!(folder.refusal(&msp, &request), "the opset is that of the model");
    let request = ExportRequest { logits: Some("weights".into()), ..folder.request() };
    assert!(folder.refusal(&msp, &request).contains("no value of it is called 'weights'"));
    let tiny = artifact("MSP-TS(T=1e-60)");
    let refused = folder.refusal(&tiny, &folder.request());
    assert_eq!(refused, "1e-60 in the artifact is beyond the range of 32-bit floats");
    let double = ExportRequest { precision: Precision::Double, ..folder.request() };
    export(&tiny, &double).expect("double precision holds it");
}

#[test]
fn names_inside_of_conditions_are_taken_too() {
    let mut outer = model(&["Gemm"]);
    let graph = outer.graph.as_mut().expect("a graph");
    let inner =
        message::Graph { nodes: vec![node("Relu", "v0", "accept")], ..message::Graph::default() };
    let inner = inner.encode_to_vec();
    let attribute = [header(6, inner.len() as u64), inner].concat();
    let attribute = [header(5, attribute.len() as u64), attribute].concat();
    let mut body = node("If", "v0", "v1").encode_to_vec();
    body.extend(attribute);
    let field = [header(1, body.len() as u64), body].concat();
    graph.outputs[0].name = "v0".into();
    let graph = [graph.encode_to_vec(), field].concat();
    outer.graph = None;
    let source = [header(7, graph.len() as u64), graph, bytes(&outer)].concat();
    let folder = Folder::new(&source);
    let refused = folder.refusal(&artifact("MSP"), &folder.request());
    assert_eq!(refused, "a value of it is called 'accept' already");
}

#[test]
fn numbers_in_other_files_bind_a_model_to_its_folder() {
    let mut parts = model(&["Gemm"]);
    let graph = parts.graph.take().expect("a graph");
    // An initialiser whose data location is another file.
    let tensor = [header(8, 1), b"w".to_vec(), vec![0x70, 1]].concat();
    let field = [header(5, tensor.len() as u64), tensor].concat();
    let graph = [graph.encode_to_vec(), field].concat();
    let folder = Folder::new(&[header(7, graph.len() as u64), graph, bytes(&parts)].concat());
    assert!(inspect(&folder.model()).expect("sound").external_data);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let output = elsewhere.path().join("selective.onnx");
    let request = ExportRequest { output, ..folder.request() };
    assert!(folder.refusal(&artifact("MSP"), &request).contains("in other files"));
    folder.exported(&artifact("MSP"));
}

#[test]
fn estimators_without_logits_are_refused() {
    let folder = Folder::new(&bytes(&model(&["Gemm"])));
    let mut bare = Artifact::new(Estimator::Extra);
    bare.input = Encoding::Confidence;
    assert_eq!(
        folder.refusal(&bare, &folder.request()),
        "Extra cannot be written as a graph: there are no logits that the confidence is computed from"
    );
}

/// A model with all that is read of one: nested graphs, functions, types, and an earlier export.
fn rich() -> Vec<u8> {
    let folder = Folder::new(&bytes(&model(&["Gemm", "Softmax"])));
    let mut found = folder.exported(&artifact("MSP"));
    let function = [header(1, 1), b"f".to_vec(), header(10, 1), b"d".to_vec()].concat();
    found.extend([header(25, function.len() as u64), function].concat());
    found
}

/// Reads and exports bytes that may be no model; nothing but an error may come of it.
fn attempt(bytes: &[u8]) -> bool {
    // In memory first, which is where most end.
    let mut document = Document::new(io::Cursor::new(bytes)).expect("in memory");
    if Model::read(&mut document).is_err() {
        return false;
    }
    let folder = Folder::new(bytes);
    let inspected = inspect(&folder.model());
    let written = export(&artifact("MSP"), &folder.request());
    if written.is_ok() {
        // What is written can be read, and says what was written.
        let summary = inspect(&folder.request().output).expect("sound");
        assert!(summary.selective.is_some());
    }
    assert!(inspected.is_ok() || written.is_err());
    written.is_ok()
}

#[test]
fn a_model_that_is_cut_short_anywhere_is_refused_or_sound() {
    let whole = rich();
    assert!(attempt(&whole));
    let sound = (0..whole.len()).filter(|&end| attempt(&whole[..end])).count();
    // Between two fields behind the graph a file ends soundly, if its opset is there.
    assert!(sound < 20, "{sound} pieces were taken for models");
}

proptest! {
    // Each may write a file.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn mutations_of_a_model_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)
    ) {
        let mut bytes = rich();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        attempt(&bytes);
    }

    #[test]
    fn bytes_that_are_no_model_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        attempt(&bytes);
    }
}
