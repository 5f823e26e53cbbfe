//! What can be wrong with a model.

use super::inspect::ModelValue;
use super::wire::WireError;
use abstain::Encoding;
use std::io;
use std::path::{Path, PathBuf};

/// Why a model could not be read, or an estimator not be written into one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OnnxError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] abstain_io::Error),
    /// A file is no ONNX model, or one that cannot be used.
    #[error("{}: {problem}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: Box<ModelProblem>,
    },
    /// The estimator needs more than the model gives.
    #[error("{estimator} cannot be written as a graph: {}", if *.bare {
        "there are no logits that the confidence is computed from"
    } else {
        "it needs a further number beside each row"
    })]
    NotOfLogits {
        /// The estimator.
        estimator: String,
        /// Whether it has no logits at all.
        bare: bool,
    },
    /// The estimator is not known here.
    #[error("{estimator} cannot be written as a graph")]
    Unknown {
        /// The estimator.
        estimator: String,
    },
    /// The rule of the artifact is not known here.
    #[error(transparent)]
    Rule(#[from] abstain::Error),
    /// A number of the artifact is not one of 32-bit floats.
    #[error("{number:e} in the artifact is beyond the range of 32-bit floats")]
    OutOfRange {
        /// The number.
        number: f64,
    },
    /// A version of the operators that is not written.
    #[error("opset {found} is not written, but those from {oldest} to {newest} are")]
    Opset {
        /// The requested version.
        found: i64,
        /// The oldest one that is written.
        oldest: i64,
        /// The newest one that is written.
        newest: i64,
    },
    /// The model decides the version of the operators.
    #[error("the opset is that of the model")]
    OpsetOfModel,
}

/// What is wrong with a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelProblem {
    /// Not a sound file.
    #[error("not a sound ONNX file: {0}")]
    Malformed(String),
    /// There is no graph in it, or more than one.
    #[error("not an ONNX model: it has {found} graphs, where one is expected")]
    Graphs {
        /// How many there are.
        found: usize,
    },
    /// The artifact in it cannot be read.
    #[error("the artifact in it cannot be read: {0}")]
    Artifact(abstain_io::ErrorKind),
    /// There is no artifact in it.
    #[error("there is no artifact in it: it was not written by `abstain export`")]
    NoArtifact,
    /// Its operators are too old.
    #[error("its operators are of {}, but opset {oldest} or later is needed", opset_text(*.found))]
    OldOpset {
        /// Their version, if there is one.
        found: Option<i64>,
        /// The oldest version that is supported.
        oldest: i64,
    },
    /// Its file format is too old.
    #[error("it is of version {found} of the file format, but {oldest} or later is needed")]
    OldFormat {
        /// Its version.
        found: i64,
        /// The oldest version that is supported.
        oldest: i64,
    },
    /// It has several outputs, or none.
    #[error("which of its outputs holds the {}? {}", numbers(*.encoding), listed(.outputs))]
    Outputs {
        /// What is looked for.
        encoding: Encoding,
        /// What there is.
        outputs: Vec<ModelValue>,
    },
    /// No value has the name.
    #[error("no value of it is called '{name}'; {}", listed(.outputs))]
    NoSuchValue {
        /// The name.
        name: String,
        /// Its outputs.
        outputs: Vec<ModelValue>,
    },
    /// The output may be something else than what the artifact is for.
    #[error(
        "its output '{output}' is computed by {operator}, and may not be the {} that the artifact is for",
        numbers(*.encoding)
    )]
    Uncertain {
        /// The output.
        output: String,
        /// What computes it.
        operator: String,
        /// What is looked for.
        encoding: Encoding,
    },
    /// The value is not of real numbers.
    #[error("{value} is not of real numbers")]
    NotReal {
        /// The value.
        value: ModelValue,
    },
    /// The value has another shape.
    #[error("{value} is not of the shape {}", expected(*.one_number))]
    Shape {
        /// The value.
        value: ModelValue,
        /// Whether one number for each row is expected.
        one_number: bool,
    },
    /// The value has another number of classes.
    #[error("{value} has {found} classes, and the artifact is for {expected}")]
    Classes {
        /// The value.
        value: ModelValue,
        /// Those of the model.
        found: i64,
        /// Those of the artifact.
        expected: usize,
    },
    /// A name is taken.
    #[error("a value of it is called '{name}' already")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Its other files would not be found.
    #[error("some of its numbers are in other files, which are looked for beside the model")]
    ExternalData,
    /// It changed while it was copied.
    #[error("it changed while it was read")]
    Changed,
}

/// What the numbers of an encoding are called.
fn numbers(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Probabilities { .. } => "probabilities",
        Encoding::BinaryProbability { .. } => "probability of class 1",
        Encoding::BinaryLogit => "logit of class 1",
        _ => "logits",
    }
}

fn expected(one_number: bool) -> &'static str {
    if one_number { "[rows] or [rows, 1]" } else { "[rows, classes]" }
}

fn opset_text(opset: Option<i64>) -> String {
    opset.map_or("no opset of ONNX".into(), |opset| format!("opset {opset}"))
}

fn listed(outputs: &[ModelValue]) -> String {
    let names: Vec<String> = outputs.iter().map(ToString::to_string).collect();
    match &*names {
        [] => "it has no outputs".into(),
        [name] => format!("its output is {name}"),
        names => format!("its outputs are {}", names.join(", ")),
    }
}

impl ModelProblem {
    /// The error of a file.
    pub(crate) fn of(self, path: &Path) -> OnnxError {
        OnnxError::Model { path: path.to_path_buf(), problem: Box::new(self) }
    }
}

impl WireError {
    /// The error of a file.
    pub(crate) fn of(self, path: &Path) -> OnnxError {
        match self {
            WireError::Io(error) => file_error(error, path),
            other => ModelProblem::Malformed(other.to_string()).of(path),
        }
    }
}

/// The operating system refused.
pub(crate) fn file_error(error: io::Error, path: &Path) -> OnnxError {
    let kind = Box::new(abstain_io::ErrorKind::from(error));
    OnnxError::File(abstain_io::Error { path: path.to_path_buf(), kind })
}
