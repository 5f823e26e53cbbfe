//! MaxLogit, the largest logit.
//!
//! - **Definition**: `u_1`.
//! - **Range and direction**: any real number, higher is surer. Under the centred p-norm `[0, 1]`,
//!   with 0 for constant rows alone.
//! - **Invariances**: permuting classes. Raw, it does see a constant added to the row.
//! - **Undefined when**: never.
//! - **Rank scale**: the value itself. A temperature does not change the order.
//! - **Cost**: one pass of comparisons.
//! - **Reference**: Hendrycks et al. (2022); with the p-norm, the paper's best estimator.

use super::Info;
use crate::row::Statistics;

pub(super) const INFO: Info = Info { name: "MaxLogit", aliases: &[], temperature_matters: false };

pub(crate) fn confidence(row: &impl Statistics) -> f64 {
    row.top()
}

pub(crate) fn value(confidence: f64, _classes: usize) -> f64 {
    confidence
}
