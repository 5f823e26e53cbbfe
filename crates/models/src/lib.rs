//! Classifiers themselves: a tuned confidence written into an ONNX model, and, with the feature
//! `images`, images to logits and decisions.

#[cfg(feature = "images")]
pub mod images;
pub mod onnx;
