//! LDAM, linear discriminant analysis of the row: the top probability against the rest.
//!
//! - **Definition**: `(σ_1 − m)² / v`, where `m` and `v` are the mean and the variance of the other
//!   `C − 1` probabilities (divided by `C − 1`).
//! - **Range and direction**: `[0, ∞]`, higher is surer. Infinite where all others are equal, and
//!   so for two classes; 0 for a row of equal logits.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never.
//! - **Rank scale**: its logarithm; the ratio does not change when all probabilities are scaled by
//!   that of the runner-up.
//! - **Cost**: two passes of exponentials.
//! - **Reference**: He et al. (2011).

use super::Info;
use crate::elementary::{exp, exp_m1, ln};
use crate::row::Statistics;

pub(super) const INFO: Info = Info {
    name: "LDAM",
    aliases: &[],
    temperature_matters: true,
    sees_constants: false,
    counts_classes: true,
};

#[inline(always)]
pub(crate) fn confidence(row: &impl Statistics) -> f64 {
    let gap = row.gap();
    if gap == f64::INFINITY {
        return f64::INFINITY;
    }
    let (mean, variance) = row.tail_moments();
    // e^−g (e^g − m) = 1 − m e^−g = (1 − e^−g) + (1 − m) e^−g, a sum of two non-negative terms.
    let distance = -exp_m1(-gap) + (1.0 - mean).max(0.0) * exp(-gap);
    if distance == 0.0 {
        return f64::NEG_INFINITY;
    }
    2.0 * (gap + ln(distance)) - ln(variance)
}

pub(crate) fn value(confidence: f64, _classes: usize) -> f64 {
    confidence.exp()
}
