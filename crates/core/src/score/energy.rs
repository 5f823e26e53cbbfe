//! Energy, the negative free energy of the row.
//!
//! - **Definition**: `ln Σ_k exp(u_k)`. Liu et al. write it as `T ln Σ_k exp(z_k / T)`, which is
//!   this at `u = z / T` times the constant `T`.
//! - **Range and direction**: any real number, higher is surer.
//! - **Invariances**: permuting classes. Raw, it does see a constant added to the row.
//! - **Undefined when**: never.
//! - **Rank scale**: the value itself.
//! - **Cost**: one pass of exponentials.
//! - **Reference**: Liu et al. (2020).

use super::{Info, softmax};
use crate::row::Statistics;

pub(super) const INFO: Info = Info {
    name: "Energy",
    aliases: &["NegativeEnergy", "LogSumExp"],
    temperature_matters: true,
    sees_constants: true,
    counts_classes: false,
};

#[inline(always)]
pub(crate) fn confidence(row: &impl Statistics) -> f64 {
    row.top() + softmax::softplus(-softmax::log_odds(row))
}

pub(crate) fn value(confidence: f64, _classes: usize) -> f64 {
    confidence
}
