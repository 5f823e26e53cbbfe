//! LogitsMargin, the difference of the two largest logits.
//!
//! - **Definition**: `u_1 − u_2`.
//! - **Range and direction**: `[0, ∞]`, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. Infinite if a single class is not masked.
//! - **Rank scale**: the value itself. A temperature does not change the order; it is the limit of
//!   MSP's order as the temperature goes to 0.
//! - **Cost**: one pass of comparisons.
//! - **Reference**: Streeter (2018); Lebovitz et al. (2023).

use super::Info;
use crate::row::Statistics;

pub(super) const INFO: Info = Info {
    name: "LogitsMargin",
    aliases: &["LogitMargin"],
    temperature_matters: false,
    sees_constants: false,
    counts_classes: false,
};

#[inline(always)]
pub(crate) fn confidence(row: &impl Statistics) -> f64 {
    row.gap()
}

pub(crate) fn value(confidence: f64, _classes: usize) -> f64 {
    confidence
}
