//! What can be wrong with a model.

use super::wire::WireError;
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
