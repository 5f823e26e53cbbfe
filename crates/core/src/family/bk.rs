//! BK, the estimator of Boursinos & Koutsoukos (2022).
//!
//! - **Definition**: `a σ_1 + b (1 − σ_2)`. Only the direction of `(a, b)` changes the order.
//! - **Range and direction**: a real number, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. `a + b` if a single class is not masked.
//! - **Rank scale**: the value less `a + b`, that is `−(a (1 − σ_1) + b σ_2)`. It keeps its digits
//!   down to probabilities of 1e-308; below that, rows tie.
//! - **Cost**: one pass of exponentials.
//! - **Reference**: Boursinos & Koutsoukos (2022).

use crate::row::Statistics;
use crate::score::softmax;

pub(crate) fn confidence(row: &impl Statistics, a: f64, b: f64) -> f64 {
    let log_odds = softmax::log_odds(row);
    if log_odds == f64::INFINITY {
        return 0.0;
    }
    // With S = e^L the sum of the others relative to the second: 1 − σ_1 = σ_2 S. Written so that
    // a + b = 0 leaves exactly nothing where there is no third class.
    let second = (-row.gap()).exp() * softmax::sigmoid(log_odds);
    -second * (a * row.log_tail(1.0).exp_m1() + (a + b))
}

pub(crate) fn value(confidence: f64, a: f64, b: f64) -> f64 {
    a + b + confidence
}
