//! The C interface: load an artifact, score rows, free it. `include/abstain.h` documents every
//! function; this crate is the library behind it.
//!
//! - [`ffi`]: the functions. All unsafe code is there: pointers become references, or errors.
//! - `estimator`: what an estimator is behind its pointer, and scoring, in safe code.
//! - `failure`: errors with their codes and words.

mod estimator;
mod failure;
pub mod ffi;
