//! MaxLogit, the largest logit.
//!
//! - **Definition**: `u_1`.
//! - **Range and direction**: any real number, higher is surer. Under the centred p-norm `[0, 1]`,
//!   with 0 for constant rows alone.
//! - **Invariances**: permuting classes. Raw, it does see a constant added to the row.
//! - **Undefined when**: never.
//! - **Rank scale**: the value itself; under a p-norm, where it lies in [−1, 1] and comes close to 1
//!   for large p, `ln((1 + u_1) / (1 − u_1))`. A temperature does not change the order.
//! - **Cost**: one pass of comparisons.
//! - **Reference**: Hendrycks et al. (2022); with the p-norm, the paper's best estimator.

use super::Info;
use crate::row::Statistics;

pub(super) const INFO: Info = Info {
    name: "MaxLogit",
    aliases: &[],
    temperature_matters: false,
    sees_constants: true,
    counts_classes: false,
};

pub(crate) fn confidence(row: &impl Statistics) -> f64 {
    match row.missing_to_one() {
        None => row.top(),
        // ln_1p keeps the digits of small values, as the sum of logarithms does those near 1.
        Some(missing) if missing > 0.5 => {
            let top = row.top();
            top.ln_1p() - (-top).ln_1p()
        }
        Some(missing) => (2.0 - missing).ln() - missing.ln(),
    }
}

/// The value for a confidence under a p-norm.
pub(crate) fn normalised_value(confidence: f64) -> f64 {
    (0.5 * confidence).tanh()
}

pub(crate) fn value(confidence: f64, _classes: usize) -> f64 {
    confidence
}
