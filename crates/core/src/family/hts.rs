//! HTS, entropy-based temperature scaling.
//!
//! - **Definition**: `MSP(z / T_H)` with `T_H = ln(1 + exp(b + w ln(H / C)))` and `H` the entropy of
//!   the row's softmax probabilities.
//! - **Range and direction**: `[1/C, 1]`, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. `T_H` is kept between 1e-100 and 1e100; 1 if a single class is not
//!   masked, where `H` is 0.
//! - **Rank scale**: the log-odds, as for MSP.
//! - **Cost**: three passes of exponentials.
//! - **Reference**: Balanya et al. (2022).

use crate::score::softmax;

/// `T_H` of a row of so many classes whose entropy has this logarithm.
pub(crate) fn temperature(log_entropy: f64, classes: f64, b: f64, w: f64) -> f64 {
    let log_mean_entropy = log_entropy - classes.ln();
    // A weight of 0 switches the entropy off even where its logarithm is infinite.
    let entropy_term = if w == 0.0 { 0.0 } else { w * log_mean_entropy };
    softmax::softplus(b + entropy_term).clamp(1e-100, 1e100)
}
