//! Sentences for typed facts and refusals of the use cases.
//!
//! Layers below report facts as types; this is where each becomes a sentence, without a full stop
//! so that a face can continue it.

use abstain::Method;

/// An estimator that cannot rank rows of so many classes.
pub fn constant_confidence(method: Method, classes: usize) -> String {
    format!("{method} gives all rows of {classes} classes the same confidence")
}
