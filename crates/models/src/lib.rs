//! Classifiers themselves: a tuned confidence written into an ONNX model, and, with the feature
//! `images`, images to logits and decisions.

pub mod onnx;

#[cfg(feature = "images")]
mod classifier;
#[cfg(feature = "images")]
pub mod corrupt;
#[cfg(feature = "images")]
mod dataset;
#[cfg(feature = "images")]
mod decode;
#[cfg(feature = "images")]
mod logits;
#[cfg(feature = "images")]
mod pass;
#[cfg(feature = "images")]
mod pixels;
#[cfg(feature = "images")]
mod predict;
#[cfg(feature = "images")]
mod preprocess;
#[cfg(feature = "images")]
mod runtime;
#[cfg(feature = "images")]
mod sheet;
#[cfg(feature = "images")]
mod shifted;

#[cfg(feature = "images")]
pub use classifier::{Classifier, ClassifierError, ClassifierRequest};
#[cfg(feature = "images")]
pub use dataset::{
    ClassOrder, Dataset, DatasetError, DatasetLayout, DatasetOptions, Item, Label, LabelError,
    resolve,
};
#[cfg(feature = "images")]
pub use decode::{DecodeError, Decoded, decode};
#[cfg(feature = "images")]
pub use logits::{
    CollectProgress, LogitsError, LogitsRequest, LogitsResult, SetResult, Skipped, collect_logits,
};
#[cfg(feature = "images")]
pub use pixels::Pixels;
#[cfg(feature = "images")]
pub use predict::{PredictError, PredictRequest, PredictSummary, Predicted, predict};
#[cfg(feature = "images")]
pub use preprocess::{
    Channels, ConfigError, Crop, Interpolation, Layout, Preprocess, Resize, Rounding, Size,
};
#[cfg(feature = "images")]
pub use runtime::{Runtime, RuntimeChoice, RuntimeError, find_library};
#[cfg(feature = "images")]
pub use sheet::write_contact_sheet;
#[cfg(feature = "images")]
pub use shifted::{Shifted, find_shifted};
