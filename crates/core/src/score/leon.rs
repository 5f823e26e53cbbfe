//! Leon, the estimator of Leon et al. (2018).
//!
//! - **Definition**: `2 σ_1 − 1/C − s`, where `s` is the sample standard deviation (divided by
//!   `C − 1`) of the row's `C` probabilities.
//! - **Range and direction**: up to `2 − 1/C − 1/√C`, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. Its largest value if a single class is not masked.
//! - **Rank scale**: `−ln` of what is missing to the largest value. With `q = 1 − σ_1` and
//!   `G = 1 − Σ σ_k²`, that is `2q − G / ((C − 1) (1/√C + s))`, for `1/C − s² = G / (C − 1)`.
//! - **Cost**: two passes of exponentials.
//! - **Reference**: Leon et al. (2018), as the code of Cattelan & Silva (2024) evaluates it.

use super::{Info, negative_gini, softmax};
use crate::elementary::{exp, ln};
use crate::row::Statistics;

pub(super) const INFO: Info = Info {
    name: "Leon",
    aliases: &["Leon2018"],
    temperature_matters: true,
    sees_constants: false,
    counts_classes: true,
};

#[inline(always)]
pub(crate) fn confidence(row: &impl Statistics) -> f64 {
    let log_rest = softmax::log_rest(row);
    if log_rest == f64::NEG_INFINITY {
        return f64::INFINITY;
    }
    let classes = row.classes();
    let log_impurity = negative_gini::log_impurity(row);
    let variance = 1.0 / classes - exp(log_impurity) / (classes - 1.0);
    // In a row of equal logits the two are equal, and the root would magnify what rounding leaves.
    let variance = if variance * classes < 2e-15 { 0.0 } else { variance };
    let spread = (classes - 1.0) * (classes.sqrt().recip() + variance.sqrt());
    // Both terms relative to q, so that neither underflows.
    let missing = 2.0 - exp(log_impurity - log_rest) / spread;
    -(log_rest + ln(missing))
}

pub(crate) fn value(confidence: f64, classes: usize) -> f64 {
    let classes = classes as f64;
    2.0 - 1.0 / classes - classes.sqrt().recip() - (-confidence).exp()
}
