//! AUROC, the area under the ROC curve of telling right rows from wrong ones.
//!
//! - **Definition**: the chance that a right row is surer than a wrong one, ties counting one half.
//! - **Range and direction**: `[0, 1]`. Higher is better; a random confidence has ½.
//! - **Invariances**: the order of the rows; any increasing map of the confidence.
//! - **Undefined when**: no row is wrong, no row is right, or a loss is neither 0 nor 1.
//! - **Cost**: one pass over the thresholds.
//! - **Reference**: Fawcett (2006).

use super::{Direction, Info, Largest, right_and_wrong};
use crate::curve::{Count, RcCurve};
use crate::error::Undefined;
use crate::interval::{Expansion, Sum, Tail, generalised_risk};

pub(super) const INFO: Info = Info {
    name: "AUROC",
    better: Direction::Higher,
    one_threshold: false,
    largest: Largest::Always(1.0),
    parameters: &[],
};

pub(super) fn evaluate<C: Count>(curve: &RcCurve<C>, _at: [f64; 2]) -> Result<f64, Undefined> {
    let (right, wrong) = right_and_wrong(curve)?;
    if wrong == 0.0 {
        return Err(Undefined::NoErrors);
    }
    if right == 0.0 {
        return Err(Undefined::NoCorrect);
    }
    let pairs: f64 = curve
        .groups()
        .map(|group| {
            let wrong_below = wrong - group.loss_before - group.loss;
            group.right * (wrong_below + 0.5 * group.loss)
        })
        .sum();
    Ok(pairs / (right * wrong))
}

pub(super) fn expansion(curve: &RcCurve, at: [f64; 2]) -> Expansion {
    // 1 − AUROC = (AUGRC − R²/2) / (R (1 − R)).
    let sum = generalised_risk(curve);
    let risk = curve.risk();
    let missed = 1.0 - evaluate(curve, at).unwrap_or(1.0);
    let per_loss = risk + missed * (1.0 - 2.0 * risk);
    let scale = -sum.scale / (risk * (1.0 - risk));
    Expansion::Sum(Sum { scale, per_loss, tail: Tail::Short, ..sum })
}
