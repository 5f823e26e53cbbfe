//! CoverageAtRisk, the largest coverage at a selective risk.
//!
//! - **Definition**: the largest coverage of a threshold at which the mean loss of the accepted
//!   rows is at most the one requested; 0 if there is no such threshold.
//! - **Range and direction**: `[0, 1]`. Higher is better.
//! - **Invariances**: the order of the rows; any increasing map of the confidence.
//! - **Undefined when**: never.
//! - **Cost**: one pass over the thresholds.
//! - **Reference**: Geifman & El-Yaniv (2017).

use super::{Direction, Info, Largest, Parameter};
use crate::curve::{Count, RcCurve};
use crate::error::Undefined;
use crate::interval::Expansion;

pub(super) const INFO: Info = Info {
    name: "CoverageAtRisk",
    better: Direction::Higher,
    one_threshold: true,
    largest: Largest::Always(1.0),
    parameters: &[Parameter { name: "risk", largest: f64::MAX }],
};

#[expect(clippy::unnecessary_wraps, reason = "all metrics have one signature")]
pub(super) fn evaluate<C: Count>(
    curve: &RcCurve<C>,
    [risk, _]: [f64; 2],
) -> Result<f64, Undefined> {
    let accepted = curve.widest_within_risk(risk).map_or(0.0, |knot| knot.accepted.to_f64());
    Ok(accepted / curve.rows().to_f64())
}

pub(super) fn expansion(_curve: &RcCurve, [risk, _]: [f64; 2]) -> Expansion {
    Expansion::CoverageAt { risk }
}
