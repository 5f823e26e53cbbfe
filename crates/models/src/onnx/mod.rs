//! The confidence of an estimator as a graph of ONNX operators.
//!
//! [`export()`] writes an estimator into a model, so that it runs wherever the model runs: the
//! formulas of `docs/artifact.md` as operators (`row`, `score`, `family`), appended to the graph of
//! the model by a splice that copies all else byte for byte. [`inspect()`] says what a model takes
//! and gives, and which artifact it carries. Files are read lazily: the numbers of a model, which
//! may be many gigabytes, are never brought into memory.

mod elementary;
mod error;
mod export;
mod family;
mod graph;
mod inspect;
mod message;
mod model;
mod row;
mod score;
mod splice;
mod wire;

pub use error::{ModelProblem, OnnxError};
pub use export::{ExportRequest, ExportResult, LogitsValue, Origin, export};
pub use graph::Precision;
pub use inspect::{
    Decision, Dimension, ElementType, ModelSummary, ModelValue, Selective, inspect, is_model,
    selective_artifact,
};
