//! The confidence of an estimator as a graph of ONNX operators.
//!
//! [`inspect`] says what a model takes and gives, and which artifact it carries. Files are read
//! lazily: the numbers of a model, which may be many gigabytes, are never brought into memory.

mod error;
mod inspect;
mod message;
mod model;
mod wire;

pub use error::{ModelProblem, OnnxError};
pub use inspect::{Decision, Dimension, ElementType, ModelSummary, ModelValue, Selective, inspect};
