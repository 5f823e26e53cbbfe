//! AURC, the area under the risk-coverage curve.
//!
//! - **Definition**: the mean over `k = 1..n` of the selective risk of the `k` surest rows, in
//!   expectation over the order of rows with equal confidence.
//! - **Range and direction**: from 0; at most 1 for the 0/1 loss. Lower is better. A random
//!   confidence has the risk of the classifier.
//! - **Invariances**: the order of the rows; any increasing map of the confidence.
//! - **Undefined when**: the weights of several rows sum to 1 or less.
//! - **Cost**: one pass over the rows.
//! - **Reference**: Geifman et al. (2019). Other conventions are in [`crate::compat`].

use super::{Direction, Info, Largest, check_counts};
use crate::curve::{Count, RcCurve};
use crate::error::Undefined;
use crate::interval::{Expansion, mean_risk};

pub(super) const INFO: Info = Info {
    name: "AURC",
    better: Direction::Lower,
    one_threshold: false,
    largest: Largest::ZeroOne(1.0),
    parameters: &[],
};

pub(super) fn evaluate<C: Count>(curve: &RcCurve<C>, _at: [f64; 2]) -> Result<f64, Undefined> {
    check_counts(curve)?;
    Ok(curve.mean_of_risks())
}

pub(super) fn expansion(curve: &RcCurve, _at: [f64; 2]) -> Expansion {
    Expansion::Sum(mean_risk(curve, &curve.counts()))
}
