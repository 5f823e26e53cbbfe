//! PartialAURC, the mean selective risk over a range of coverages.
//!
//! - **Definition**: the mean over those `k` with `from < k/n <= to` of the selective risk of the
//!   `k` surest rows, in expectation over the order of rows with equal confidence. From 0 to 1 it
//!   is the AURC.
//! - **Range and direction**: from 0; at most 1 for the 0/1 loss. Lower is better.
//! - **Invariances**: the order of the rows; any increasing map of the confidence.
//! - **Undefined when**: no row count falls into the range, or the weights of several rows sum to 1
//!   or less.
//! - **Cost**: one pass over the rows.

use super::{Direction, Info, Largest, Parameter, check_counts};
use crate::curve::{Count, RcCurve};
use crate::error::Undefined;
use crate::interval::{Expansion, mean_risk};

pub(super) const INFO: Info = Info {
    name: "PartialAURC",
    better: Direction::Lower,
    one_threshold: false,
    largest: Largest::ZeroOne(1.0),
    parameters: &[Parameter { name: "from", largest: 1.0 }, Parameter { name: "to", largest: 1.0 }],
};

pub(super) fn evaluate<C: Count>(
    curve: &RcCurve<C>,
    [from, to]: [f64; 2],
) -> Result<f64, Undefined> {
    check_counts(curve)?;
    let counts = curve.counts_within(from, to);
    if counts.is_empty() {
        return Err(Undefined::EmptyRange);
    }
    Ok(curve.sum_of_risks(&counts) / counts.width().to_f64())
}

pub(super) fn expansion(curve: &RcCurve, [from, to]: [f64; 2]) -> Expansion {
    Expansion::Sum(mean_risk(curve, &curve.counts_within(from, to)))
}
