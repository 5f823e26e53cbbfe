//! NegativeGini, the negative Gini index of the softmax probabilities.
//!
//! - **Definition**: `Σ_k σ_k(u)² − 1`.
//! - **Range and direction**: `[1/C − 1, 0]`, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. 0 if a single class is not masked.
//! - **Rank scale**: `−ln(1 − Σ σ_k²)`. With `q = 1 − σ_1` and `L` the log of the tail sum,
//!   `1 − Σ σ_k² = q (2 − q (1 + e^{L(2) − 2 L(1)}))`, which has no cancellation.
//! - **Cost**: two passes of exponentials.
//! - **Reference**: Granese et al. (2021), as DOCTOR's Dα; Gomes et al. (2022).

use super::{Info, softmax};
use crate::elementary::{exp, ln};
use crate::row::Statistics;

pub(super) const INFO: Info = Info {
    name: "NegativeGini",
    aliases: &["Gini", "DOCTOR-alpha", "DOCTOR", "D-alpha", "Dα"],
    temperature_matters: true,
    sees_constants: false,
    counts_classes: false,
};

#[inline(always)]
pub(crate) fn confidence(row: &impl Statistics) -> f64 {
    -log_impurity(row)
}

/// `ln(1 − Σ σ_k²)`; `-inf` if a single class is not masked.
#[inline(always)]
pub(crate) fn log_impurity(row: &impl Statistics) -> f64 {
    let (log_tail, log_tail_of_squares) = row.log_tails();
    let log_rest = -softmax::softplus(row.gap() - log_tail);
    // Of two rows drawn from the rest, the chance that they agree: at most 1.
    let agreement = exp((log_tail_of_squares - 2.0 * log_tail).min(0.0));
    let found = log_rest + ln(2.0 - exp(log_rest) * (1.0 + agreement));
    if log_rest == f64::NEG_INFINITY { f64::NEG_INFINITY } else { found }
}

pub(crate) fn value(confidence: f64, _classes: usize) -> f64 {
    -(-confidence).exp()
}
