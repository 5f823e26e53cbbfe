//! Classifiers themselves: a tuned confidence written into an ONNX model, and images to logits.

#[cfg(feature = "images")]
pub mod corrupt;
#[cfg(feature = "images")]
mod dataset;
#[cfg(feature = "images")]
mod decode;
pub mod onnx;
#[cfg(feature = "images")]
mod pixels;
#[cfg(feature = "images")]
mod preprocess;
#[cfg(feature = "images")]
mod runtime;

#[cfg(feature = "images")]
pub use dataset::{
    ClassOrder, Dataset, DatasetError, DatasetLayout, DatasetOptions, Item, Label, LabelError, resolve,
};
#[cfg(feature = "images")]
pub use decode::{DecodeError, Decoded, decode};
#[cfg(feature = "images")]
pub use pixels::Pixels;
#[cfg(feature = "images")]
pub use preprocess::{
    Channels, ConfigError, Crop, Interpolation, Layout, Preprocess, Resize, Rounding, Size,
};
#[cfg(feature = "images")]
pub use runtime::{Runtime, RuntimeChoice, RuntimeError, find_library};
