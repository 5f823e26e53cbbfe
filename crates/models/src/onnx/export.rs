//! The use case: an estimator written into a model, or as a graph without one.

use super::error::{ModelProblem, OnnxError, file_error};
use super::family;
use super::graph::{self, Graph, PREFIX, Precision};
use super::inspect::{
    Decision, Dimension, ElementType, ModelValue, Selective, key, only_graph, read_model, selective,
};
use super::message::{self, Extent, field};
use super::model::{self, Model};
use super::row::Row;
use super::splice::{Edit, copy_with};
use super::wire::{Span, header};
use abstain::{Artifact, Encoding, Estimator, logits::Values};
use abstain_io::AtomicFile;
use prost::Message;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What is to be written.
#[derive(Debug, Clone, Default)]
pub struct ExportRequest {
    /// The model that the decisions are written into; nothing for a graph that takes logits.
    pub model: Option<PathBuf>,
    /// Where to write.
    pub output: PathBuf,
    /// The value of the model that holds the logits, or the name of the input of a graph without a
    /// model.
    pub logits: Option<String>,
    /// What the names of the outputs begin with.
    pub prefix: String,
    /// The numbers in which the graph computes.
    pub precision: Precision,
    /// The version of the operators of a graph without a model.
    pub opset: Option<i64>,
}

impl ExportRequest {
    /// The oldest version of the operators.
    pub const OLDEST_OPSET: i64 = 13;
    /// The newest version of the operators that is known.
    pub const NEWEST_OPSET: i64 = 26;
    /// That of graphs without a model.
    pub const DEFAULT_OPSET: i64 = 17;
}

/// The oldest version of the file format in which initialisers need not be inputs.
const OLDEST_FORMAT: i64 = 4;

/// What was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExportResult {
    /// The file.
    pub output: PathBuf,
    /// The value that the decisions are computed from.
    pub logits: LogitsValue,
    /// The number of classes, if it is known.
    pub classes: Option<usize>,
    /// The numbers in which the graph computes.
    pub precision: Precision,
    /// The version of the operators.
    pub opset: i64,
    /// The outputs that were added.
    pub outputs: Vec<ModelValue>,
    /// How many nodes of each operator were added.
    pub operators: BTreeMap<String, usize>,
    /// Whether those of an earlier export were replaced.
    pub replaced: bool,
    /// The SHA-256 of the model before the first export; nothing without a model.
    pub source_sha256: Option<String>,
}

/// The value that decisions are computed from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LogitsValue {
    /// Its name.
    pub name: String,
    /// How it was found.
    pub origin: Origin,
}

/// How the logits of a model were found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Origin {
    /// There is no model: they are the input.
    Input,
    /// By name.
    Named,
    /// An earlier export into the model used them.
    Recorded,
    /// They are the only output.
    OnlyOutput,
    /// They are what the only output is computed from by this operator.
    Before {
        /// The operator.
        operator: String,
        /// The output.
        output: String,
    },
}

/// Writes an estimator into a model, or as a graph without one.
pub fn export(artifact: &Artifact, request: &ExportRequest) -> Result<ExportResult, OnnxError> {
    if artifact.input == Encoding::Confidence || artifact.estimator.needs_extra() {
        let bare = artifact.input == Encoding::Confidence || artifact.estimator == Estimator::Extra;
        return Err(OnnxError::NotOfLogits { estimator: artifact.estimator.to_string(), bare });
    }
    match &request.model {
        Some(model) => export_into(artifact, request, model),
        None => export_alone(artifact, request),
    }
}

/// A graph without a model.
fn export_alone(artifact: &Artifact, request: &ExportRequest) -> Result<ExportResult, OnnxError> {
    let opset = request.opset.unwrap_or(ExportRequest::DEFAULT_OPSET);
    let (oldest, newest) = (ExportRequest::OLDEST_OPSET, ExportRequest::NEWEST_OPSET);
    if !(oldest..=newest).contains(&opset) {
        return Err(OnnxError::Opset { found: opset, oldest, newest });
    }
    let encoding = artifact.input;
    let default = if encoding.is_probabilities() { "probabilities" } else { "logits" };
    let name = request.logits.clone().unwrap_or(default.into());
    let dimension = |extent| message::Dimension { extent: Some(extent) };
    let rows = dimension(Extent::Named("N".into()));
    let numbers = match artifact.classes {
        _ if encoding.is_one_number() => Extent::Fixed(1),
        Some(classes) => Extent::Fixed(i64::try_from(classes).unwrap_or(i64::MAX)),
        None => Extent::Named("C".into()),
    };
    let input =
        graph::value_info(&name, ElementType::FLOAT32, vec![rows.clone(), dimension(numbers)]);
    let found = Found {
        logits: LogitsValue { name, origin: Origin::Input },
        element: Some(ElementType::FLOAT32),
        rows,
        classes: artifact.classes,
    };
    let mut graph = decisions(artifact, request, &found, opset)?;
    if let Some(taken) = graph.outputs.iter().find(|output| output.name == found.logits.name) {
        let problem = ModelProblem::NameTaken { name: taken.name.clone() };
        return Err(problem.of(&request.output));
    }
    let result = found.result(request, opset, &graph);
    graph.name = "abstain".into();
    graph.inputs = vec![input];
    let entries = metadata(artifact, request, &result);
    let model = message::Model {
        // The oldest one that every runtime of these operators knows.
        ir_version: if opset < 15 { 7 } else { 8 },
        producer_name: "abstain".into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        graph: Some(graph),
        opset_import: vec![message::OperatorSetId { domain: String::new(), version: opset }],
        metadata_props: entries,
    };
    AtomicFile::write_whole(&request.output, &model.encode_to_vec())?;
    Ok(result)
}

/// A model with the decisions as further outputs.
fn export_into(
    artifact: &Artifact,
    request: &ExportRequest,
    path: &Path,
) -> Result<ExportResult, OnnxError> {
    if request.opset.is_some() {
        return Err(OnnxError::OpsetOfModel);
    }
    let model = read_model(path)?;
    let before = selective(&model, path)?;
    let view = View::new(&model, path, before.as_ref())?;
    let found = view.find(artifact, request).map_err(|problem| problem.of(path))?;
    let opset = view.check(request).map_err(|problem| problem.of(path))?;
    let graph = decisions(artifact, request, &found, opset)?;
    view.check_names(&graph).map_err(|problem| problem.of(path))?;
    let mut result = found.result(request, opset, &graph);
    result.replaced = before.is_some();

    let edits = view.edits(&graph.encode_to_vec());
    let source = File::open(path).map_err(|error| file_error(error, path))?;
    let length = source.metadata().map_err(|error| file_error(error, path))?.len();
    let mut out = AtomicFile::create(&request.output)?;
    let copied = copy_with(source, &mut out, &edits);
    let (copied, hash) = copied.map_err(|error| out.error(error))?;
    if copied != length {
        return Err(ModelProblem::Changed.of(path));
    }
    result.source_sha256 = before.map_or(Some(hash), |before| before.source_sha256);
    let number = u32::try_from(field::model::METADATA_PROPS).unwrap_or_default();
    for entry in metadata(artifact, request, &result) {
        let bytes = entry.encode_to_vec();
        let field = [header(number, bytes.len() as u64), bytes].concat();
        out.write_all(&field).map_err(|error| out.error(error))?;
    }
    out.finish()?;
    Ok(result)
}

/// The graph of the decisions.
fn decisions(
    artifact: &Artifact,
    request: &ExportRequest,
    found: &Found,
    opset: i64,
) -> Result<message::Graph, OnnxError> {
    let graph = Graph::new(request.precision, opset);
    let unknown = || OnnxError::Unknown { estimator: artifact.estimator.to_string() };
    let (encoding, tolerance) = (artifact.input, found.tolerance(artifact.input));
    let row = Row::new(&graph, &found.logits.name, encoding, tolerance, found.classes);
    let row = row.ok_or_else(unknown)?;
    let confidence = family::confidence(&artifact.estimator, &row).ok_or_else(unknown)?;
    let confidence = row.where_valid(confidence);
    let name = |decision: Decision| format!("{}{}", request.prefix, decision.name());
    let rows = &found.rows;
    row.prediction().output(&name(Decision::Prediction), rows);
    confidence.output(&name(Decision::Confidence), rows);
    if Decision::ProbabilityRight.is_of(artifact) {
        let value = family::value(&artifact.estimator, confidence, &row).ok_or_else(unknown)?;
        value.output(&name(Decision::ProbabilityRight), rows);
    }
    if let Some(threshold) = artifact.one_threshold()? {
        let at = request.precision.rounded_down(threshold.at_unrounded());
        confidence.at_least(at).output(&name(Decision::Accept), rows);
    }
    graph.finish().map_err(|number| OnnxError::OutOfRange { number })
}

/// What is written beside the graph.
fn metadata(
    artifact: &Artifact,
    request: &ExportRequest,
    result: &ExportResult,
) -> Vec<message::Entry> {
    // An artifact is plain data: it has a text.
    let text = serde_json::to_string(artifact).unwrap_or_default();
    let prefix = Some(request.prefix.clone()).filter(|prefix| !prefix.is_empty());
    let threshold = artifact.threshold().map(|threshold| threshold.at.to_string());
    let entries = [
        (key::ESTIMATOR, Some(artifact.estimator.to_string())),
        (key::THRESHOLD, threshold),
        (key::LOGITS, Some(result.logits.name.clone())),
        (key::PREFIX, prefix),
        (key::PRECISION, Some(request.precision.to_string())),
        (key::SOURCE, result.source_sha256.clone()),
        (key::WRITTEN_BY, Some(concat!("abstain ", env!("CARGO_PKG_VERSION")).into())),
        (key::ARTIFACT, Some(text)),
    ];
    let entry = |(key, value): (&str, Option<String>)| {
        value.map(|value| message::Entry { key: key.into(), value })
    };
    entries.into_iter().filter_map(entry).collect()
}

/// The logits of a model.
struct Found {
    logits: LogitsValue,
    /// The type of their elements, if it is known.
    element: Option<ElementType>,
    rows: message::Dimension,
    /// The number of classes, if it is known.
    classes: Option<usize>,
}

impl Found {
    /// How far probabilities may be from valid.
    fn tolerance(&self, encoding: Encoding) -> f64 {
        let stated = match encoding {
            Encoding::Probabilities { tolerance, .. }
            | Encoding::BinaryProbability { tolerance, .. } => tolerance,
            _ => None,
        };
        let is_half = |element| [ElementType::FLOAT16, ElementType::BFLOAT16].contains(&element);
        stated.unwrap_or_else(|| {
            let half: &[abstain::half::f16] = &[];
            let single: &[f32] = &[];
            let values =
                if self.element.is_some_and(is_half) { half.into() } else { Values::from(single) };
            values.default_tolerance()
        })
    }

    fn result(&self, request: &ExportRequest, opset: i64, graph: &message::Graph) -> ExportResult {
        let mut operators = BTreeMap::new();
        for node in &graph.nodes {
            *operators.entry(node.operator.clone()).or_default() += 1;
        }
        ExportResult {
            output: request.output.clone(),
            logits: self.logits.clone(),
            classes: self.classes,
            precision: request.precision,
            opset,
            outputs: graph.outputs.iter().map(ModelValue::of).collect(),
            operators,
            replaced: false,
            source_sha256: None,
        }
    }
}

/// A model without what an earlier export wrote into it.
struct View<'a> {
    model: &'a Model,
    path: &'a Path,
    graph: &'a model::Graph,
    before: Option<&'a Selective>,
    /// The nodes that are not of an earlier export.
    nodes: Vec<&'a model::Node>,
    /// The node that computes each value.
    producers: HashMap<&'a str, &'a model::Node>,
    /// The outputs of an earlier export.
    earlier: HashSet<&'a str>,
}

impl<'a> View<'a> {
    fn new(
        model: &'a Model,
        path: &'a Path,
        before: Option<&'a Selective>,
    ) -> Result<Self, OnnxError> {
        let graph = only_graph(model, path)?;
        let is_earlier = |node: &&model::Node| before.is_some() && node.name.starts_with(PREFIX);
        let (earlier, nodes): (Vec<_>, Vec<_>) = graph.nodes.iter().partition(is_earlier);
        let earlier = earlier.iter().flat_map(|node| &node.outputs).map(String::as_str).collect();
        let each = |node: &&'a model::Node| {
            let node = *node;
            node.outputs.iter().map(move |output| (output.as_str(), node))
        };
        let producers = nodes.iter().flat_map(each).collect();
        Ok(View { model, path, graph, before, nodes, producers, earlier })
    }

    /// The outputs of the model itself.
    fn outputs(&self) -> Vec<ModelValue> {
        let outputs = self.graph.outputs.iter().map(|(output, _)| output);
        let outputs = outputs.filter(|output| !self.earlier.contains(&*output.name));
        outputs.map(ModelValue::of).collect()
    }

    fn producer(&self, name: &str) -> Option<&'a model::Node> {
        self.producers.get(name).copied()
    }

    /// What the model says of a value. What an activation takes has the shape of what it gives.
    fn described(&self, name: &str) -> ModelValue {
        const SAME_SHAPE: [&str; 5] = ["Softmax", "LogSoftmax", "Sigmoid", "Identity", "Cast"];
        const STEPS: usize = 8;
        let outputs = || self.graph.outputs.iter().map(|(output, _)| output);
        let find = |name: &str| {
            let mut all = outputs().chain(&self.graph.values).chain(&self.graph.inputs);
            all.find(|value| value.name == name).map(ModelValue::of)
        };
        let found = find(name);
        if let Some(value) = found.as_ref().filter(|value| value.shape.is_some()) {
            return value.clone();
        }
        let (mut behind, mut shape) = (name, None);
        for _ in 0..STEPS {
            let next = self.nodes.iter().find(|node| {
                node.inputs.first().is_some_and(|input| input == behind)
                    && SAME_SHAPE.contains(&&*node.operator)
            });
            let Some(output) = next.and_then(|node| node.outputs.first()) else { break };
            shape = find(output).and_then(|value| value.shape);
            if shape.is_some() {
                break;
            }
            behind = output;
        }
        let element = found.and_then(|value| value.element);
        ModelValue { name: name.into(), element, shape }
    }

    /// The logits, or whatever else the artifact is for.
    fn find(&self, artifact: &Artifact, request: &ExportRequest) -> Result<Found, ModelProblem> {
        let encoding = artifact.input;
        let recorded = self.before.filter(|before| before.artifact.input == encoding);
        let logits = if let Some(name) = &request.logits {
            self.named(name)?
        } else if let Some(before) = recorded.filter(|before| !before.logits.is_empty()) {
            LogitsValue { origin: Origin::Recorded, ..self.named(&before.logits)? }
        } else {
            let outputs = self.outputs();
            let [output] = &*outputs else {
                return Err(ModelProblem::Outputs { encoding, outputs });
            };
            self.behind(&output.name, encoding)?
        };
        let value = self.described(&logits.name);
        let (rows, classes) = check_value(&value, artifact)?;
        Ok(Found { logits, element: value.element, rows, classes })
    }

    fn named(&self, name: &str) -> Result<LogitsValue, ModelProblem> {
        let is_input = self.graph.inputs.iter().any(|input| input.name == name);
        if name.is_empty() || (!is_input && self.producer(name).is_none()) {
            let outputs = self.outputs();
            return Err(ModelProblem::NoSuchValue { name: name.into(), outputs });
        }
        Ok(LogitsValue { name: name.into(), origin: Origin::Named })
    }

    /// The logits or probabilities behind the only output, by the operator that computes it.
    fn behind(&self, output: &str, encoding: Encoding) -> Result<LogitsValue, ModelProblem> {
        // What changes the type of numbers at most, or only their arrangement.
        const SAME: [&str; 4] = ["Identity", "Cast", "QuantizeLinear", "DequantizeLinear"];
        const REARRANGED: [&str; 5] = ["Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose"];
        let as_it_is = || LogitsValue { name: output.into(), origin: Origin::OnlyOutput };
        let (mut node, mut rearranged) = (self.producer(output), false);
        // Each step goes to an earlier node, unless the model is broken.
        for _ in 0..self.nodes.len() {
            let Some(found) = node else { break };
            let operator = &*found.operator;
            rearranged |= REARRANGED.contains(&operator);
            if !found.domain.is_empty()
                || !(SAME.contains(&operator) || REARRANGED.contains(&operator))
            {
                break;
            }
            node = found.inputs.first().and_then(|input| self.producer(input));
        }
        let uncertain = |node: Option<&model::Node>| ModelProblem::Uncertain {
            output: output.into(),
            operator: node.map_or("no operator".into(), |node| node.operator.clone()),
            encoding,
        };
        let Some(found) = node else {
            return if encoding.is_probabilities() { Err(uncertain(None)) } else { Ok(as_it_is()) };
        };
        let over_classes = found.axis.is_none_or(|axis| axis == 1 || axis == -1) && !rearranged;
        let step = match (&*found.domain, &*found.operator) {
            ("", "Softmax") if over_classes => Step::Softmax,
            ("", "Sigmoid") if !rearranged => Step::Sigmoid,
            ("", "Softmax" | "LogSoftmax" | "Sigmoid" | "HardSigmoid" | "Exp" | "Hardmax") => {
                Step::Unclear
            }
            ("", "Div") if self.is_quotient_of_exponentials(found) => Step::Unclear,
            // What may end in anything: graphs in graphs, classical classifiers, and functions.
            ("", "If" | "Loop" | "Scan") | ("ai.onnx.ml", _) => Step::Unclear,
            (domain, name) => {
                let function = (domain.to_string(), name.to_string());
                if self.model.functions.contains(&function) { Step::Unclear } else { Step::Other }
            }
        };
        let before = || {
            let name = found.inputs.first().cloned().unwrap_or_default();
            let (operator, output) = (found.operator.clone(), output.to_string());
            LogitsValue { name, origin: Origin::Before { operator, output } }
        };
        match (encoding, step) {
            (Encoding::Logits | Encoding::Masked, Step::Softmax)
            | (Encoding::BinaryLogit, Step::Sigmoid) => Ok(before()),
            (Encoding::Probabilities { .. }, Step::Softmax)
            | (Encoding::BinaryProbability { .. }, Step::Sigmoid)
            | (Encoding::Logits | Encoding::Masked | Encoding::BinaryLogit, Step::Other) => {
                Ok(as_it_is())
            }
            _ => Err(uncertain(Some(found))),
        }
    }

    /// Whether a quotient is a softmax that was written out.
    fn is_quotient_of_exponentials(&self, quotient: &model::Node) -> bool {
        let above = quotient.inputs.first().and_then(|input| self.producer(input));
        above.is_some_and(|node| node.operator == "Exp")
    }

    /// The version of the operators, if the model can be written to.
    fn check(&self, request: &ExportRequest) -> Result<i64, ModelProblem> {
        let (found, oldest) = (self.model.opsets.get("").copied(), ExportRequest::OLDEST_OPSET);
        let Some(opset) = found.filter(|opset| *opset >= oldest) else {
            return Err(ModelProblem::OldOpset { found, oldest });
        };
        if self.model.ir_version < OLDEST_FORMAT {
            let (found, oldest) = (self.model.ir_version, OLDEST_FORMAT);
            return Err(ModelProblem::OldFormat { found, oldest });
        }
        if self.model.external.any && folder(self.path) != folder(&request.output) {
            return Err(ModelProblem::ExternalData);
        }
        Ok(opset)
    }

    /// Refuses names that are taken.
    fn check_names(&self, graph: &message::Graph) -> Result<(), ModelProblem> {
        let of_nodes = self.nodes.iter().flat_map(|node| &node.outputs);
        let inputs = self.graph.inputs.iter().map(|input| &input.name);
        let constants = self.graph.initialisers.iter();
        let constants = constants.filter(|name| self.before.is_none() || !name.starts_with(PREFIX));
        let taken: HashSet<&String> =
            of_nodes.chain(inputs).chain(constants).chain(&self.graph.inner_names).collect();
        let added = graph.nodes.iter().flat_map(|node| &node.outputs);
        let mut added = added.chain(graph.initialisers.iter().map(|tensor| &tensor.name));
        match added.find(|name| taken.contains(name)) {
            Some(name) => Err(ModelProblem::NameTaken { name: name.clone() }),
            None => Ok(()),
        }
    }

    /// The changes that add to the graph and remove what an earlier export wrote.
    fn edits(&self, added: &[u8]) -> Vec<Edit> {
        let mut removed: Vec<Span> = Vec::new();
        if self.before.is_some() {
            removed.extend(&self.graph.marked);
            let outputs = self.graph.outputs.iter();
            let outputs = outputs.filter(|(output, _)| self.earlier.contains(&*output.name));
            removed.extend(outputs.map(|(_, span)| span));
        }
        let whole = self.graph.field.whole;
        // A graph is a message: this is its place.
        let body = self.graph.field.body().unwrap_or(whole);
        let length = body.len() - removed.iter().map(|span| span.len()).sum::<u64>();
        let number = u32::try_from(field::model::GRAPH).unwrap_or_default();
        let header = header(number, length + added.len() as u64);
        let mut edits = vec![
            Edit { at: Span { start: whole.start, end: body.start }, insert: header },
            Edit { at: Span { start: body.end, end: body.end }, insert: added.to_vec() },
        ];
        let entries: &[Span] = if self.before.is_some() { &self.model.entries } else { &[] };
        let removed = removed.iter().chain(entries);
        edits.extend(removed.map(|&at| Edit { at, insert: Vec::new() }));
        edits.sort_by_key(|edit| (edit.at.start, edit.at.end));
        edits
    }
}

/// What an output is computed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Softmax,
    Sigmoid,
    /// Something whose numbers may be of any kind.
    Unclear,
    /// Something that gives neither probabilities nor their logarithms.
    Other,
}

/// The dimension of the rows and the number of classes of a value that may be what the artifact is
/// for.
fn check_value(
    value: &ModelValue,
    artifact: &Artifact,
) -> Result<(message::Dimension, Option<usize>), ModelProblem> {
    if value.element.is_some_and(|element| !element.is_float()) {
        return Err(ModelProblem::NotReal { value: value.clone() });
    }
    let mut classes = artifact.classes;
    let Some(shape) = &value.shape else {
        return Ok((message::Dimension { extent: None }, classes));
    };
    let one_number = artifact.input.is_one_number();
    match &**shape {
        [_] if one_number => {}
        [_, numbers] => match (numbers, one_number) {
            (Dimension::Fixed(1), true) => {}
            (Dimension::Fixed(found), false) if *found >= 2 => {
                let count = usize::try_from(*found).unwrap_or(usize::MAX);
                if let Some(expected) = artifact.classes.filter(|expected| *expected != count) {
                    let (value, found) = (value.clone(), *found);
                    return Err(ModelProblem::Classes { value, found, expected });
                }
                classes = Some(count);
            }
            (Dimension::Fixed(_), _) => {
                return Err(ModelProblem::Shape { value: value.clone(), one_number });
            }
            _ => {}
        },
        _ => return Err(ModelProblem::Shape { value: value.clone(), one_number }),
    }
    let extent = match &shape[0] {
        Dimension::Fixed(rows) => Some(Extent::Fixed(*rows)),
        Dimension::Named(name) => Some(Extent::Named(name.clone())),
        Dimension::Unknown => None,
    };
    Ok((message::Dimension { extent }, classes))
}

/// The folder that a file is in, links followed.
fn folder(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).canonicalize().ok()
}

#[cfg(test)]
mod tests;
