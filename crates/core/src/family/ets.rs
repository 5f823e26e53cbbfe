//! ETS, ensemble temperature scaling.
//!
//! - **Definition**: `w MSP(z / T) + (1 − w) MSP(z)`. The original has three weights; a constant
//!   term and the sum of the other two do not change the order.
//! - **Range and direction**: `[1/C, 1]`, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. 1 if a single class is not masked.
//! - **Rank scale**: `−ln` of what is missing to 1.
//! - **Cost**: two passes of exponentials.
//! - **Reference**: Zhang et al. (2020).

use crate::row::Statistics;
use crate::score::softmax;

pub(crate) fn confidence(scaled: &impl Statistics, raw: &impl Statistics, weight: f64) -> f64 {
    let scaled = weight.ln() + softmax::log_rest(scaled);
    let raw = (1.0 - weight).ln() + softmax::log_rest(raw);
    -softmax::log_add(scaled, raw)
}

pub(crate) fn value(confidence: f64) -> f64 {
    -(-confidence).exp_m1()
}
