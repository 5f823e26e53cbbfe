//! SoftmaxMargin, the difference of the two largest softmax probabilities.
//!
//! - **Definition**: `σ_1(u) − σ_2(u)`.
//! - **Range and direction**: `[0, 1]`, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. 1 if a single class is not masked.
//! - **Rank scale**: its log-odds. With `g = u_1 − u_2` and `S = Σ_{j≠1} exp(u_j − u_2)` the margin
//!   is `(1 − e^−g) / (1 + e^−g S)`, so its odds are `(e^g − 1) / (1 + S)`.
//! - **Cost**: one pass of exponentials.
//! - **Reference**: Belghazi & Lopez-Paz (2021).

use super::{Info, softmax};
use crate::elementary::{exp_m1, ln};
use crate::row::Statistics;

pub(super) const INFO: Info = Info {
    name: "SoftmaxMargin",
    aliases: &["SM"],
    temperature_matters: true,
    sees_constants: false,
    counts_classes: false,
};

#[inline(always)]
pub(crate) fn confidence(row: &impl Statistics) -> f64 {
    let gap = row.gap();
    let log_exp_minus_one = gap + ln(-exp_m1(-gap));
    let found = log_exp_minus_one - softmax::softplus(row.log_tail(1.0));
    if gap == f64::INFINITY { f64::INFINITY } else { found }
}

pub(crate) fn value(confidence: f64, _classes: usize) -> f64 {
    softmax::sigmoid(confidence)
}
