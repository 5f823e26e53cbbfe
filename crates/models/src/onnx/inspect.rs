//! What a model takes and gives, and the artifact that it carries.

use super::error::{ModelProblem, OnnxError, file_error};
use super::graph::Precision;
use super::message::{self, Extent};
use super::model::{Graph, Model};
use super::wire::Document;
use abstain::Artifact;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::Path;

/// What a model takes and gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ModelSummary {
    /// The version of the file format.
    pub ir_version: i64,
    /// The version of the operators of ONNX; nothing if the model uses none of them.
    pub opset: Option<i64>,
    /// The program that wrote the model.
    pub producer: String,
    /// What must be given, without the initialisers that some models list among the inputs.
    pub inputs: Vec<ModelValue>,
    /// What it gives.
    pub outputs: Vec<ModelValue>,
    /// Whether some of its numbers are in other files.
    pub external_data: bool,
    /// These files, relative to the folder of the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub external_files: Vec<String>,
    /// What the model says of itself, by key.
    pub metadata: BTreeMap<String, String>,
    /// The artifact in it, if `abstain export` wrote one, and the outputs that it added.
    pub selective: Option<Selective>,
}

/// What `abstain export` wrote into a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Selective {
    /// The artifact.
    pub artifact: Artifact,
    /// The value of the graph that the decisions are computed from.
    pub logits: String,
    /// What the names of its outputs begin with.
    pub prefix: String,
    /// The numbers in which its graph computes.
    pub precision: Precision,
    /// The SHA-256 of the model before; nothing if there was none.
    pub source_sha256: Option<String>,
}

/// The outputs that `abstain export` adds to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The predicted class.
    Prediction,
    /// The confidence on the rank scale.
    Confidence,
    /// The probability of being right.
    ProbabilityRight,
    /// Whether to trust the prediction.
    Accept,
}

impl Decision {
    /// All of them.
    pub const ALL: [Decision; 4] =
        [Decision::Prediction, Decision::Confidence, Decision::ProbabilityRight, Decision::Accept];

    /// The name of the output.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Prediction => "prediction",
            Decision::Confidence => "confidence",
            Decision::ProbabilityRight => "probability_right",
            Decision::Accept => "accept",
        }
    }

    /// Whether an artifact has it.
    pub fn is_of(self, artifact: &Artifact) -> bool {
        match self {
            Decision::Prediction | Decision::Confidence => true,
            Decision::ProbabilityRight => artifact.estimator.is_probability(),
            Decision::Accept => artifact.rule.is_some(),
        }
    }
}

impl Selective {
    /// The name of an output, if the artifact has it.
    pub fn output(&self, decision: Decision) -> Option<String> {
        decision.is_of(&self.artifact).then(|| format!("{}{}", self.prefix, decision.name()))
    }
}

/// An input or output of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ModelValue {
    /// Its name.
    pub name: String,
    /// The type of its elements; nothing if it is no tensor, or of unknown type.
    pub element: Option<ElementType>,
    /// Its dimensions; nothing if they are not stated.
    pub shape: Option<Vec<Dimension>>,
}

/// A dimension of a tensor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Dimension {
    /// A number.
    Fixed(i64),
    /// Any number, the same wherever the name is the same.
    Named(String),
    /// Any number.
    Unknown,
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dimension::Fixed(extent) => write!(f, "{extent}"),
            Dimension::Named(name) => f.write_str(name),
            Dimension::Unknown => f.write_str("?"),
        }
    }
}

/// The type of the elements of a tensor, by its number in ONNX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementType(i32);

impl ElementType {
    /// 32-bit floats.
    pub const FLOAT32: ElementType = ElementType(1);
    /// 8-bit whole numbers without a sign, as of images.
    pub const UINT8: ElementType = ElementType(2);
    /// 64-bit whole numbers.
    pub const INT64: ElementType = ElementType(7);
    /// Truth values.
    pub const BOOL: ElementType = ElementType(9);
    /// 16-bit floats.
    pub const FLOAT16: ElementType = ElementType(10);
    /// 64-bit floats.
    pub const FLOAT64: ElementType = ElementType(11);
    /// The upper half of 32-bit floats.
    pub const BFLOAT16: ElementType = ElementType(16);

    /// The names of the first types, in the order of their numbers.
    const NAMES: [&'static str; 17] = [
        "undefined",
        "float32",
        "uint8",
        "int8",
        "uint16",
        "int16",
        "int32",
        "int64",
        "string",
        "bool",
        "float16",
        "float64",
        "uint32",
        "uint64",
        "complex64",
        "complex128",
        "bfloat16",
    ];

    /// Its number in ONNX.
    pub fn number(self) -> i32 {
        self.0
    }

    /// Whether these are real numbers that a classifier may give.
    pub fn is_float(self) -> bool {
        [Self::FLOAT32, Self::FLOAT16, Self::FLOAT64, Self::BFLOAT16].contains(&self)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match usize::try_from(self.0).ok().and_then(|number| Self::NAMES.get(number)) {
            Some(name) => f.write_str(name),
            None => write!(f, "type {}", self.0),
        }
    }
}

impl Serialize for ElementType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl ModelValue {
    pub(crate) fn of(value: &message::ValueInfo) -> Self {
        let tensor = value.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
        let shape = tensor.and_then(|tensor| tensor.shape.as_ref()).map(|shape| {
            let dimension = |dimension: &message::Dimension| match &dimension.extent {
                Some(Extent::Fixed(extent)) => Dimension::Fixed(*extent),
                Some(Extent::Named(name)) if !name.is_empty() => Dimension::Named(name.clone()),
                _ => Dimension::Unknown,
            };
            shape.dimensions.iter().map(dimension).collect()
        });
        let element = tensor.map(|tensor| ElementType(tensor.element)).filter(|type_| type_.0 != 0);
        ModelValue { name: value.name.clone(), element, shape }
    }
}

impl fmt::Display for ModelValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(element) = self.element {
            write!(f, " {element}")?;
        }
        if let Some(shape) = &self.shape {
            let shape: Vec<String> = shape.iter().map(ToString::to_string).collect();
            write!(f, " [{}]", shape.join(", "))?;
        }
        Ok(())
    }
}

/// The keys of the metadata that `abstain export` writes.
pub(crate) mod key {
    pub(crate) const ARTIFACT: &str = "abstain.artifact";
    pub(crate) const ESTIMATOR: &str = "abstain.estimator";
    pub(crate) const THRESHOLD: &str = "abstain.threshold";
    pub(crate) const WRITTEN_BY: &str = "abstain.written_by";
    pub(crate) const PRECISION: &str = "abstain.precision";
    pub(crate) const LOGITS: &str = "abstain.logits";
    pub(crate) const PREFIX: &str = "abstain.prefix";
    pub(crate) const SOURCE: &str = "abstain.source_sha256";

    /// What `export` writes, and replaces. Others have keys that begin alike.
    pub(crate) const ALL: [&str; 8] =
        [ARTIFACT, ESTIMATOR, THRESHOLD, WRITTEN_BY, PRECISION, LOGITS, PREFIX, SOURCE];
}

/// Reads what a model takes and gives, and the artifact that it carries. Of a file of any size only
/// these fields are read.
pub fn inspect(path: &Path) -> Result<ModelSummary, OnnxError> {
    let model = read_model(path)?;
    let graph = only_graph(&model, path)?;
    let inputs = graph.inputs.iter().filter(|input| !graph.initialisers.contains(&input.name));
    Ok(ModelSummary {
        ir_version: model.ir_version,
        opset: model.opsets.get("").copied(),
        producer: model.producer.clone(),
        inputs: inputs.map(ModelValue::of).collect(),
        outputs: graph.outputs.iter().map(|(output, _)| ModelValue::of(output)).collect(),
        external_data: model.external.any,
        external_files: model.external.files.iter().cloned().collect(),
        selective: selective(&model, path)?,
        metadata: model.metadata,
    })
}

/// Whether a file is a model, by its name.
pub fn is_model(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx"))
}

/// The artifact that a model carries.
pub fn selective_artifact(path: &Path) -> Result<Artifact, OnnxError> {
    let carried = selective(&read_model(path)?, path)?;
    Ok(carried.ok_or_else(|| ModelProblem::NoArtifact.of(path))?.artifact)
}

/// Everything of a model but its numbers.
pub(crate) fn read_model(path: &Path) -> Result<Model, OnnxError> {
    let file = File::open(path).map_err(|error| file_error(error, path))?;
    let mut document = Document::new(file).map_err(|error| file_error(error, path))?;
    Model::read(&mut document).map_err(|error| error.of(path))
}

/// The graph of a model.
pub(crate) fn only_graph<'a>(model: &'a Model, path: &Path) -> Result<&'a Graph, OnnxError> {
    match &*model.graphs {
        [graph] => Ok(graph),
        graphs => Err(ModelProblem::Graphs { found: graphs.len() }.of(path)),
    }
}

/// What `abstain export` wrote into a model.
pub(crate) fn selective(model: &Model, path: &Path) -> Result<Option<Selective>, OnnxError> {
    let Some(text) = model.metadata.get(key::ARTIFACT) else { return Ok(None) };
    let parsed = abstain_io::parse_artifact(text);
    let artifact = parsed.map_err(|kind| ModelProblem::Artifact(kind).of(path))?;
    let text = |key: &str| model.metadata.get(key).cloned();
    Ok(Some(Selective {
        artifact,
        logits: text(key::LOGITS).unwrap_or_default(),
        prefix: text(key::PREFIX).unwrap_or_default(),
        precision: text(key::PRECISION).and_then(|text| text.parse().ok()).unwrap_or_default(),
        source_sha256: text(key::SOURCE),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx::wire::header;
    use std::io::Write;

    fn field(number: u32, body: &[u8]) -> Vec<u8> {
        [header(number, body.len() as u64), body.to_vec()].concat()
    }

    fn value(name: &str, element: u8, dimensions: &[&[u8]]) -> Vec<u8> {
        let dimensions: Vec<u8> = dimensions.iter().flat_map(|body| field(1, body)).collect();
        let tensor = [vec![0x08, element], field(2, &dimensions)].concat();
        [field(1, name.as_bytes()), field(2, &field(1, &tensor))].concat()
    }

    fn entry(key: &str, value: &str) -> Vec<u8> {
        field(14, &[field(1, key.as_bytes()), field(2, value.as_bytes())].concat())
    }

    fn inspected(bytes: &[u8]) -> Result<ModelSummary, OnnxError> {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(bytes).expect("written");
        inspect(file.path())
    }

    #[test]
    fn inputs_outputs_and_the_artifact_are_read() {
        let weights = [field(8, b"weights"), field(9, &[0; 10_000])].concat();
        let graph = [
            field(11, &value("image", 1, &[b"\x12\x01N", b"\x08\x03"])),
            field(11, &value("weights", 1, &[])),
            field(5, &weights),
            field(12, &value("logits", 10, &[b"", b"\x08\xe8\x07"])),
        ]
        .concat();
        let opset = [field(1, b""), vec![0x10, 17]].concat();
        let artifact = r#"{"method": "MaxLogit-pNorm", "p": 5}"#;
        let model = [
            vec![0x08, 8],
            field(2, b"someone"),
            field(8, &opset),
            field(7, &graph),
            entry("author", "me"),
            entry(key::ARTIFACT, artifact),
            entry(key::LOGITS, "logits"),
            entry(key::PREFIX, "selective_"),
        ]
        .concat();
        let summary = inspected(&model).expect("sound");
        assert_eq!((summary.ir_version, summary.opset), (8, Some(17)));
        assert_eq!(summary.producer, "someone");
        let texts = |values: &[ModelValue]| values.iter().map(ToString::to_string).collect();
        let texts: [Vec<String>; 2] = [texts(&summary.inputs), texts(&summary.outputs)];
        assert_eq!(texts, [["image float32 [N, 3]"], ["logits float16 [?, 1000]"]]);
        assert_eq!(summary.metadata["author"], "me");
        assert!(!summary.external_data);
        let selective = summary.selective.expect("an artifact");
        assert_eq!(selective.artifact.estimator.to_string(), "MaxLogit-pNorm(p=5)");
        let outputs = Decision::ALL.map(|decision| selective.output(decision));
        let wanted = [Some("selective_prediction"), Some("selective_confidence"), None, None];
        assert_eq!(outputs, wanted.map(|name| name.map(str::to_string)));
    }

    #[test]
    fn what_is_no_model_is_refused() {
        for bytes in [&b""[..], b"{}", b"\x08\x08"] {
            assert!(matches!(inspected(bytes), Err(OnnxError::Model { .. })), "{bytes:?}");
        }
        let broken = [field(7, b""), entry(key::ARTIFACT, "{}")].concat();
        assert!(inspected(&broken).expect_err("no artifact").to_string().contains("artifact"));
    }
}
