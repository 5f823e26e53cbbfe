//! NAURC, the normalised AURC.
//!
//! - **Definition**: `(AURC − AURC*) / (R − AURC*)`, with `AURC*` that of the rows sorted by their
//!   loss and `R` the risk of the classifier.
//! - **Range and direction**: 0 for an ideal confidence, 1 for a random one, more for a worse one.
//!   Lower is better.
//! - **Invariances**: the order of the rows; any increasing map of the confidence; the scale of
//!   the loss.
//! - **Undefined when**: all losses are equal, or the weights of several rows sum to 1 or less.
//! - **Cost**: that of E-AURC.
//! - **Reference**: Cattelan & Silva (2024).

use super::{Direction, Info, Largest, check_counts};
use crate::curve::{Count, RcCurve};
use crate::error::Undefined;
use crate::interval::{Expansion, Sum, mean_risk};

pub(super) const INFO: Info = Info {
    name: "NAURC",
    better: Direction::Lower,
    one_threshold: false,
    largest: Largest::None,
    parameters: &[],
};

pub(super) fn evaluate<C: Count>(curve: &RcCurve<C>, _at: [f64; 2]) -> Result<f64, Undefined> {
    if curve.total_loss() == 0.0 {
        return Err(Undefined::NoErrors);
    }
    check_counts(curve)?;
    let room = curve.risk() - curve.oracle_aurc();
    // Equal losses leave no room but for rounding.
    if room <= 1e-14 * curve.risk() {
        return Err(Undefined::EqualLosses);
    }
    Ok(((curve.mean_of_risks() - curve.oracle_aurc()) / room).max(0.0))
}

pub(super) fn expansion(curve: &RcCurve, _at: [f64; 2]) -> Expansion {
    let sum = mean_risk(curve, &curve.counts());
    let room = curve.risk() - curve.oracle_aurc();
    let naurc = (curve.mean_of_risks() - curve.oracle_aurc()) / room;
    // d NAURC = (d AURC − NAURC · d R − (1 − NAURC) · d AURC*) / room.
    let (scale, per_loss, per_ideal) = (sum.scale / room, naurc, 1.0 - naurc);
    Expansion::Sum(Sum { scale, per_loss, per_ideal, ..sum })
}
