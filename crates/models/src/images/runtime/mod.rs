//! What runs a model: `rten`, which is always there, or the library of ONNX Runtime where one is
//! found.

mod onnxruntime;
mod rten;

pub use onnxruntime::find_library;

use std::fmt;
use std::path::{Path, PathBuf};

/// A choice of runtime.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RuntimeChoice {
    /// ONNX Runtime if its library is found, `rten` otherwise.
    #[default]
    Auto,
    /// `rten`.
    Rten,
    /// ONNX Runtime, from this library or from where it is found.
    OnnxRuntime(Option<PathBuf>),
}

/// A runtime that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runtime {
    /// `rten`.
    Rten,
    /// ONNX Runtime, from this library.
    OnnxRuntime(PathBuf),
}

impl RuntimeChoice {
    /// The runtime.
    pub fn resolve(&self) -> Result<Runtime, RuntimeError> {
        match self {
            RuntimeChoice::Rten => Ok(Runtime::Rten),
            RuntimeChoice::Auto => Ok(find_library().map_or(Runtime::Rten, Runtime::OnnxRuntime)),
            RuntimeChoice::OnnxRuntime(Some(path)) => Ok(Runtime::OnnxRuntime(path.clone())),
            RuntimeChoice::OnnxRuntime(None) => {
                find_library().map(Runtime::OnnxRuntime).ok_or(RuntimeError::NotFound)
            }
        }
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Runtime::Rten => f.write_str("rten"),
            Runtime::OnnxRuntime(path) => write!(f, "ONNX Runtime ({})", path.display()),
        }
    }
}

/// Why a model cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// No library of ONNX Runtime was found.
    #[error("no library of ONNX Runtime was found")]
    NotFound,
    /// The library cannot be loaded.
    #[error("{}: the library cannot be loaded: {problem}", path.display())]
    Library {
        /// The library.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// The model cannot be loaded.
    #[error("{}: {runtime} cannot load the model: {problem}", path.display())]
    Load {
        /// The model.
        path: PathBuf,
        /// What refuses it.
        runtime: &'static str,
        /// Why.
        problem: String,
    },
    /// The model fails.
    #[error("{}: {runtime} cannot run the model: {problem}", path.display())]
    Run {
        /// The model.
        path: PathBuf,
        /// What refuses it.
        runtime: &'static str,
        /// Why.
        problem: String,
    },
}

/// Numbers that a model gives, with their shape.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Values,
}

/// The numbers of a tensor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    Floats(Vec<f32>),
    Integers(Vec<i64>),
}

/// The numbers that a model takes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Input {
    Float(Vec<f32>),
    Half(Vec<half::f16>),
    Byte(Vec<u8>),
}

/// A model that was loaded.
pub(crate) trait Session {
    /// Runs a batch; returns the outputs in the order of their names.
    fn run(&mut self, input: Input, shape: [usize; 4]) -> Result<Vec<Tensor>, RuntimeError>;
}

/// What is run, and what for.
pub(crate) struct SessionOptions<'a> {
    pub(crate) path: &'a Path,
    pub(crate) input: &'a str,
    pub(crate) outputs: &'a [String],
    pub(crate) threads: usize,
}

/// Loads a model.
pub(crate) fn load(
    runtime: &Runtime,
    options: &SessionOptions<'_>,
) -> Result<Box<dyn Session>, RuntimeError> {
    match runtime {
        Runtime::Rten => Ok(Box::new(self::rten::Model::load(options)?)),
        Runtime::OnnxRuntime(library) => {
            Ok(Box::new(self::onnxruntime::Model::load(library, options)?))
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
