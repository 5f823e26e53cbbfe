//! AUGRC, the area under the generalised-risk-coverage curve.
//!
//! - **Definition**: the trapezoid area under (coverage, share of rows accepted and wrong) through
//!   the thresholds, from (0, 0). It equals `(1 − AUROC)·acc·(1 − acc) + (1 − acc)² / 2`.
//! - **Range and direction**: `[0, ½]`. Lower is better.
//! - **Invariances**: the order of the rows; any increasing map of the confidence.
//! - **Undefined when**: a loss is neither 0 nor 1.
//! - **Cost**: one pass over the thresholds.
//! - **Reference**: Traub et al. (2024).

use super::{Direction, Info, Largest, right_and_wrong};
use crate::curve::{Count, RcCurve};
use crate::error::Undefined;
use crate::interval::{Expansion, generalised_risk};

pub(super) const INFO: Info = Info {
    name: "AUGRC",
    better: Direction::Lower,
    one_threshold: false,
    largest: Largest::Always(0.5),
    parameters: &[],
};

pub(super) fn evaluate<C: Count>(curve: &RcCurve<C>, _at: [f64; 2]) -> Result<f64, Undefined> {
    right_and_wrong(curve)?;
    let n = curve.rows().to_f64();
    let area: f64 = curve.groups().map(|g| g.rows.to_f64() * (g.loss_before + 0.5 * g.loss)).sum();
    Ok(area / (n * n))
}

pub(super) fn expansion(curve: &RcCurve, _at: [f64; 2]) -> Expansion {
    Expansion::Sum(generalised_risk(curve))
}
