//! RiskAtCoverage, the selective risk at a coverage.
//!
//! - **Definition**: the mean loss of the accepted rows at the strictest threshold whose coverage
//!   is at least the one requested.
//! - **Range and direction**: from 0; at most 1 for the 0/1 loss. Lower is better.
//! - **Invariances**: the order of the rows; any increasing map of the confidence.
//! - **Undefined when**: never. At coverage 0 it is that of the strictest threshold.
//! - **Cost**: a binary search.
//! - **Reference**: Geifman & El-Yaniv (2017).

use super::{Direction, Info, Largest, Parameter};
use crate::curve::{Count, RcCurve};
use crate::error::Undefined;
use crate::interval::{Expansion, selective_risk};

pub(super) const INFO: Info = Info {
    name: "RiskAtCoverage",
    better: Direction::Lower,
    one_threshold: true,
    largest: Largest::ZeroOne(1.0),
    parameters: &[Parameter { name: "coverage", largest: 1.0 }],
};

#[expect(clippy::unnecessary_wraps, reason = "all metrics have one signature")]
pub(super) fn evaluate<C: Count>(
    curve: &RcCurve<C>,
    [coverage, _]: [f64; 2],
) -> Result<f64, Undefined> {
    Ok(curve.narrowest_covering(coverage).selective_risk())
}

pub(super) fn expansion(curve: &RcCurve, [coverage, _]: [f64; 2]) -> Expansion {
    Expansion::Sum(selective_risk(curve, curve.narrowest_covering(coverage).accepted))
}
