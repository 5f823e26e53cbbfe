//! Classifiers themselves: a tuned confidence written into an ONNX model, and images to logits.

#[cfg(feature = "images")]
pub mod corrupt;
pub mod onnx;
#[cfg(feature = "images")]
mod pixels;

#[cfg(feature = "images")]
pub use pixels::Pixels;
