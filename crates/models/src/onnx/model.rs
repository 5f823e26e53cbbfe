//! A model without its numbers: what there is, and where it is in the file.

use super::graph::PREFIX;
use super::inspect::key;
use super::message::{self, field};
use super::wire::{Document, Field, Span, WireError};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{Read, Seek};

/// Graphs in graphs, as of conditions and loops, are followed so deep.
const DEEPEST: usize = 40;

/// A model without its numbers.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) ir_version: i64,
    pub(crate) producer: String,
    /// The versions of the sets of operators, by domain; that of ONNX itself is the empty text.
    pub(crate) opsets: BTreeMap<String, i64>,
    pub(crate) metadata: BTreeMap<String, String>,
    /// The functions that it defines, by domain and name.
    pub(crate) functions: HashSet<(String, String)>,
    pub(crate) graphs: Vec<Graph>,
    /// Numbers that are in other files.
    pub(crate) external: External,
    /// The entries of the metadata that `abstain export` wrote.
    pub(crate) entries: Vec<Span>,
}

/// Numbers of a model that are in other files.
#[derive(Debug, Default)]
pub(crate) struct External {
    /// Whether there are some.
    pub(crate) any: bool,
    /// The files, relative to the folder of the model.
    pub(crate) files: BTreeSet<String>,
}

/// A graph without its numbers.
#[derive(Debug)]
pub(crate) struct Graph {
    /// Where it is.
    pub(crate) field: Field,
    pub(crate) inputs: Vec<message::ValueInfo>,
    pub(crate) outputs: Vec<(message::ValueInfo, Span)>,
    /// The types of some inner values.
    pub(crate) values: Vec<message::ValueInfo>,
    pub(crate) initialisers: HashSet<String>,
    pub(crate) nodes: Vec<Node>,
    /// The names of values in the graphs inside it.
    pub(crate) inner_names: HashSet<String>,
    /// The fields whose names begin as those of `abstain export`: nodes, initialisers and types.
    pub(crate) marked: Vec<Span>,
}

/// A node of a graph.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) operator: String,
    pub(crate) domain: String,
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    /// The attribute of this name, which many operators have.
    pub(crate) axis: Option<i64>,
}

impl Model {
    /// Reads everything but the numbers.
    pub(crate) fn read<R: Read + Seek>(document: &mut Document<R>) -> Result<Model, WireError> {
        let mut model = Model::default();
        let Span { start: mut at, end } = document.whole();
        while let Some(found) = document.next(&mut at, end)? {
            match found.number {
                field::model::IR_VERSION => model.ir_version = found.integer()?,
                field::model::PRODUCER_NAME => model.producer = document.text(&found)?,
                field::model::OPSET_IMPORT => {
                    let set: message::OperatorSetId = document.message(&found)?;
                    // The domain of ONNX itself has two names.
                    let domain = if set.domain == "ai.onnx" { String::new() } else { set.domain };
                    model.opsets.insert(domain, set.version);
                }
                field::model::METADATA_PROPS => {
                    let entry: message::Entry = document.message(&found)?;
                    if key::ALL.contains(&&*entry.key) {
                        model.entries.push(found.whole);
                    }
                    model.metadata.insert(entry.key, entry.value);
                }
                field::model::GRAPH => {
                    let graph = Graph::read(document, &found, &mut model.external)?;
                    model.graphs.push(graph);
                }
                field::model::FUNCTIONS => {
                    let function = read_function(document, &found, &mut model.external)?;
                    model.functions.insert(function);
                }
                _ => {}
            }
        }
        Ok(model)
    }
}

impl Graph {
    fn read<R: Read + Seek>(
        document: &mut Document<R>,
        graph: &Field,
        external: &mut External,
    ) -> Result<Graph, WireError> {
        let mut read = Graph {
            field: *graph,
            inputs: Vec::new(),
            outputs: Vec::new(),
            values: Vec::new(),
            initialisers: HashSet::new(),
            nodes: Vec::new(),
            inner_names: HashSet::new(),
            marked: Vec::new(),
        };
        let Span { start: mut at, end } = graph.body()?;
        while let Some(found) = document.next(&mut at, end)? {
            match found.number {
                field::graph::NODE => {
                    let mut inner = Inner { external, names: &mut read.inner_names, depth: 0 };
                    let node = read_node(document, &found, &mut inner)?;
                    read.mark(&node.name, &found);
                    read.nodes.push(node);
                }
                field::graph::INITIALIZER => {
                    let name = read_tensor(document, &found, external)?;
                    read.mark(&name, &found);
                    read.initialisers.insert(name);
                }
                field::graph::SPARSE_INITIALIZER => {
                    let name = read_sparse_tensor(document, &found, external)?;
                    read.initialisers.insert(name);
                }
                field::graph::INPUT => read.inputs.push(document.message(&found)?),
                field::graph::OUTPUT => {
                    read.outputs.push((document.message(&found)?, found.whole));
                }
                field::graph::VALUE_INFO => {
                    let value: message::ValueInfo = document.message(&found)?;
                    read.mark(&value.name, &found);
                    read.values.push(value);
                }
                _ => {}
            }
        }
        Ok(read)
    }

    fn mark(&mut self, name: &str, field: &Field) {
        if name.starts_with(PREFIX) {
            self.marked.push(field.whole);
        }
    }
}

/// What is gathered from inside of nodes.
struct Inner<'a> {
    external: &'a mut External,
    names: &'a mut HashSet<String>,
    depth: usize,
}

fn read_node<R: Read + Seek>(
    document: &mut Document<R>,
    node: &Field,
    inner: &mut Inner<'_>,
) -> Result<Node, WireError> {
    let mut read = Node::default();
    let Span { start: mut at, end } = node.body()?;
    while let Some(found) = document.next(&mut at, end)? {
        match found.number {
            field::node::INPUT => read.inputs.push(document.text(&found)?),
            field::node::OUTPUT => read.outputs.push(document.text(&found)?),
            field::node::NAME => read.name = document.text(&found)?,
            field::node::OP_TYPE => read.operator = document.text(&found)?,
            field::node::DOMAIN => read.domain = document.text(&found)?,
            field::node::ATTRIBUTE => {
                if let Some(axis) = read_attribute(document, &found, inner)? {
                    read.axis = Some(axis);
                }
            }
            _ => {}
        }
    }
    if read.domain == "ai.onnx" {
        read.domain.clear();
    }
    Ok(read)
}

/// The number of an attribute that is called `axis`. Tensors and graphs in it are looked through.
fn read_attribute<R: Read + Seek>(
    document: &mut Document<R>,
    attribute: &Field,
    inner: &mut Inner<'_>,
) -> Result<Option<i64>, WireError> {
    let (mut is_axis, mut number) = (false, None);
    let Span { start: mut at, end } = attribute.body()?;
    while let Some(found) = document.next(&mut at, end)? {
        match found.number {
            field::attribute::NAME => is_axis = document.text(&found)? == "axis",
            field::attribute::I => number = Some(found.integer()?),
            field::attribute::TENSOR | field::attribute::TENSORS => {
                read_tensor(document, &found, inner.external)?;
            }
            field::attribute::SPARSE_TENSOR | field::attribute::SPARSE_TENSORS => {
                read_sparse_tensor(document, &found, inner.external)?;
            }
            field::attribute::GRAPH | field::attribute::GRAPHS => {
                read_inner_graph(document, &found, inner)?;
            }
            _ => {}
        }
    }
    Ok(number.filter(|_| is_axis))
}

fn read_inner_graph<R: Read + Seek>(
    document: &mut Document<R>,
    graph: &Field,
    inner: &mut Inner<'_>,
) -> Result<(), WireError> {
    if inner.depth == DEEPEST {
        return Err(WireError::Depth);
    }
    inner.depth += 1;
    let Span { start: mut at, end } = graph.body()?;
    while let Some(found) = document.next(&mut at, end)? {
        match found.number {
            field::graph::NODE => {
                let node = read_node(document, &found, inner)?;
                inner.names.extend(node.outputs);
            }
            field::graph::INITIALIZER => {
                let name = read_tensor(document, &found, inner.external)?;
                inner.names.insert(name);
            }
            field::graph::SPARSE_INITIALIZER => {
                let name = read_sparse_tensor(document, &found, inner.external)?;
                inner.names.insert(name);
            }
            field::graph::INPUT => {
                let input: message::ValueInfo = document.message(&found)?;
                inner.names.insert(input.name);
            }
            _ => {}
        }
    }
    inner.depth -= 1;
    Ok(())
}

/// The name of a tensor; whether its numbers are in another file.
fn read_tensor<R: Read + Seek>(
    document: &mut Document<R>,
    tensor: &Field,
    external: &mut External,
) -> Result<String, WireError> {
    let mut name = String::new();
    let Span { start: mut at, end } = tensor.body()?;
    while let Some(found) = document.next(&mut at, end)? {
        match found.number {
            field::tensor::NAME => name = document.text(&found)?,
            field::tensor::EXTERNAL_DATA => {
                external.any = true;
                let entry: message::Entry = document.message(&found)?;
                if entry.key == "location" {
                    external.files.insert(entry.value);
                }
            }
            field::tensor::DATA_LOCATION => external.any |= found.integer()? != 0,
            _ => {}
        }
    }
    Ok(name)
}

/// A sparse tensor has the name of its values.
fn read_sparse_tensor<R: Read + Seek>(
    document: &mut Document<R>,
    tensor: &Field,
    external: &mut External,
) -> Result<String, WireError> {
    let mut name = String::new();
    let Span { start: mut at, end } = tensor.body()?;
    while let Some(found) = document.next(&mut at, end)? {
        match found.number {
            field::sparse_tensor::VALUES => name = read_tensor(document, &found, external)?,
            field::sparse_tensor::INDICES => {
                read_tensor(document, &found, external)?;
            }
            _ => {}
        }
    }
    Ok(name)
}

/// The domain and the name of a function.
fn read_function<R: Read + Seek>(
    document: &mut Document<R>,
    function: &Field,
    external: &mut External,
) -> Result<(String, String), WireError> {
    let (mut domain, mut name) = (String::new(), String::new());
    // The names in a function are apart from those of the graph.
    let mut names = HashSet::new();
    let Span { start: mut at, end } = function.body()?;
    while let Some(found) = document.next(&mut at, end)? {
        match found.number {
            field::function::NAME => name = document.text(&found)?,
            field::function::DOMAIN => domain = document.text(&found)?,
            field::function::NODE => {
                read_node(document, &found, &mut Inner { external, names: &mut names, depth: 0 })?;
            }
            _ => {}
        }
    }
    Ok((domain, name))
}
