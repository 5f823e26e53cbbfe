//! MSP, the maximum softmax probability.
//!
//! - **Definition**: `max_k σ_k(u)`.
//! - **Range and direction**: `[1/C, 1]`, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. 1 if a single class is not masked.
//! - **Rank scale**: the log-odds `ln(σ_1 / (1 − σ_1))`, from the sum without the top class.
//! - **Cost**: one pass of exponentials.
//! - **Reference**: Hendrycks & Gimpel (2017); Geifman & El-Yaniv (2017), "softmax response".
//!   DOCTOR's Dβ ranks the same (Granese et al., 2021).

use super::{Info, softmax};
use crate::row::Statistics;

pub(super) const INFO: Info = Info {
    name: "MSP",
    aliases: &["SoftmaxResponse", "MaxSoftmax", "DOCTOR-beta", "D-beta", "Dβ"],
    temperature_matters: true,
    sees_constants: false,
    counts_classes: false,
};

#[inline(always)]
pub(crate) fn confidence(row: &impl Statistics) -> f64 {
    softmax::log_odds(row)
}

pub(crate) fn value(confidence: f64, _classes: usize) -> f64 {
    softmax::sigmoid(confidence)
}
