//! NegativeEntropy, the negative entropy of the softmax probabilities.
//!
//! - **Definition**: `Σ_k σ_k(u) ln σ_k(u)`.
//! - **Range and direction**: `[−ln C, 0]`, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. 0 if a single class is not masked.
//! - **Rank scale**: `−ln H`. With `q = 1 − σ_1`, `g = u_1 − u_2` and `m` the mean of `u_j − u_2`
//!   over the others under their softmax weights, `H = q (g − m) + ln(1 + e^−log-odds)`.
//! - **Cost**: two passes of exponentials.
//! - **Reference**: Belghazi & Lopez-Paz (2021).

use super::{Info, softmax};
use crate::elementary::{ln, ln_1p};
use crate::row::Statistics;

pub(super) const INFO: Info = Info {
    name: "NegativeEntropy",
    aliases: &["Entropy", "NegEntropy"],
    temperature_matters: true,
    sees_constants: false,
    counts_classes: false,
};

#[inline(always)]
pub(crate) fn confidence(row: &impl Statistics) -> f64 {
    -log_entropy(row)
}

/// `ln H`; `-inf` if a single class is not masked.
#[inline(always)]
pub(crate) fn log_entropy(row: &impl Statistics) -> f64 {
    let (log_tail, tail_mean) = row.tail();
    let log_odds = row.gap() - log_tail;
    let distance = row.gap() - tail_mean;
    let found = ln(softmax::sigmoid(-log_odds) * distance + softmax::softplus(-log_odds));
    // q and ln(1 + e^−x) are both e^−x from there on, and would underflow.
    let saturated = ln_1p(distance) - log_odds;
    let found = if log_odds > softmax::SATURATED { saturated } else { found };
    if log_odds == f64::INFINITY { f64::NEG_INFINITY } else { found }
}

pub(crate) fn value(confidence: f64, _classes: usize) -> f64 {
    -(-confidence).exp()
}
