//! Accuracy, the share of right rows.
//!
//! - **Definition**: one minus the mean loss.
//! - **Range and direction**: `[0, 1]`. Higher is better; the confidence plays no part.
//! - **Invariances**: everything but the losses.
//! - **Undefined when**: a loss is neither 0 nor 1.
//! - **Cost**: none.

use super::{Direction, Info, Largest, right_and_wrong};
use crate::curve::{Count, RcCurve};
use crate::error::Undefined;
use crate::interval::Expansion;

pub(super) const INFO: Info = Info {
    name: "Accuracy",
    better: Direction::Higher,
    one_threshold: false,
    largest: Largest::Always(1.0),
    parameters: &[],
};

pub(super) fn evaluate<C: Count>(curve: &RcCurve<C>, _at: [f64; 2]) -> Result<f64, Undefined> {
    let (right, _) = right_and_wrong(curve)?;
    Ok(right / curve.rows().to_f64())
}

pub(super) fn expansion(_curve: &RcCurve, _at: [f64; 2]) -> Expansion {
    Expansion::Accuracy
}
