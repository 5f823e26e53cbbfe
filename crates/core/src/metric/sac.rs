//! SAC, the selective accuracy constraint.
//!
//! - **Definition**: the largest coverage of a threshold at which the accuracy of the accepted
//!   rows is at least the one requested; 0 if there is no such threshold.
//! - **Range and direction**: `[0, 1]`. Higher is better.
//! - **Invariances**: the order of the rows; any increasing map of the confidence.
//! - **Undefined when**: a loss is neither 0 nor 1.
//! - **Cost**: one pass over the thresholds.
//! - **Reference**: Galil et al. (2023).

use super::{Direction, Info, Largest, Parameter, right_and_wrong};
use crate::curve::{Count, RcCurve};
use crate::error::Undefined;
use crate::interval::Expansion;

pub(super) const INFO: Info = Info {
    name: "SAC",
    better: Direction::Higher,
    one_threshold: true,
    largest: Largest::Always(1.0),
    parameters: &[Parameter { name: "accuracy", largest: 1.0 }],
};

pub(super) fn evaluate<C: Count>(
    curve: &RcCurve<C>,
    [accuracy, _]: [f64; 2],
) -> Result<f64, Undefined> {
    right_and_wrong(curve)?;
    // Not by way of the risk: 1 − 0.99999 is not 0.00001 to twelve digits.
    let accepted =
        curve.widest_within_accuracy(accuracy).map_or(0.0, |knot| knot.accepted.to_f64());
    Ok(accepted / curve.rows().to_f64())
}

pub(super) fn expansion(_curve: &RcCurve, [accuracy, _]: [f64; 2]) -> Expansion {
    Expansion::CoverageAt { risk: 1.0 - accuracy }
}
