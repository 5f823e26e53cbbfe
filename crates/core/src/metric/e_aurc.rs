//! E-AURC, the AURC in excess of the smallest possible.
//!
//! - **Definition**: `AURC − AURC*`, where `AURC*` is that of the rows sorted by their loss.
//! - **Range and direction**: from 0. Lower is better; an ideal confidence has 0.
//! - **Invariances**: the order of the rows; any increasing map of the confidence.
//! - **Undefined when**: the weights of several rows sum to 1 or less.
//! - **Cost**: that of AURC; one more sort if the loss is not 0/1.
//! - **Reference**: Geifman et al. (2019), with the empirical oracle in place of its closed-form
//!   approximation, which can make E-AURC negative.

use super::{Direction, Info, Largest, check_counts};
use crate::curve::{Count, RcCurve};
use crate::error::Undefined;
use crate::interval::{Expansion, Sum, mean_risk};

pub(super) const INFO: Info = Info {
    name: "E-AURC",
    better: Direction::Lower,
    one_threshold: false,
    largest: Largest::ZeroOne(1.0),
    parameters: &[],
};

pub(super) fn evaluate<C: Count>(curve: &RcCurve<C>, _at: [f64; 2]) -> Result<f64, Undefined> {
    check_counts(curve)?;
    // Both are sums of the same fractions: what rounding leaves below zero is zero.
    Ok((curve.mean_of_risks() - curve.oracle_aurc()).max(0.0))
}

pub(super) fn expansion(curve: &RcCurve, _at: [f64; 2]) -> Expansion {
    Expansion::Sum(Sum { per_ideal: 1.0, ..mean_risk(curve, &curve.counts()) })
}
