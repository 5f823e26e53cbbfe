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
use crate::elementary::{exp_m1, ln_1p};
use crate::row::Statistics;

pub(super) const INFO: Info = Info {
    name: "MaxLogit",
    aliases: &[],
    temperature_matters: false,
    sees_constants: true,
    counts_classes: false,
};

#[inline(always)]
pub(crate) fn confidence(row: &impl Statistics) -> f64 {
    row.log_share().map_or(row.top(), |log_share| normalised(row.top(), log_share))
}

/// `ln((1 + u_1) / (1 − u_1))` for a `u_1` of the sign of `top` and with `−ln |u_1| = log_share`. In this
/// form it keeps all digits both of a `u_1` near 0 and of one near 1.
#[inline(always)]
pub(crate) fn normalised(top: f64, log_share: f64) -> f64 {
    let found = ln_1p(2.0 / exp_m1(log_share));
    // The zero vector stays at 0.
    let found = if top == 0.0 { 0.0 } else { found };
    if top < 0.0 { -found } else { found }
}

/// The value for a confidence under a p-norm: `tanh(confidence / 2)`.
pub(crate) fn normalised_value(confidence: f64) -> f64 {
    let rest = exp_m1(-confidence.abs());
    (-rest / (2.0 + rest)).copysign(confidence)
}

pub(crate) fn value(confidence: f64, _classes: usize) -> f64 {
    confidence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_hyperbolic_tangents() {
        for i in -4000..=4000 {
            let confidence = f64::from(i).powi(3) * 1e-9;
            let (found, exact) = (normalised_value(confidence), (0.5 * confidence).tanh());
            assert!((found - exact).abs() <= 5e-16 * exact.abs(), "{confidence}: {found} {exact}");
        }
        assert_eq!(normalised_value(f64::INFINITY), 1.0);
        assert_eq!(normalised_value(f64::NEG_INFINITY), -1.0);
        assert_eq!(normalised_value(1e-300), 5e-301);
        assert_eq!(normalised_value(0.0), 0.0);
    }
}
