//! Metrics as weighted sums of losses.
//!
//! Most metrics of a ranking are, to first order, sums over the rows: `Σ ℓ_i w_i`, where the weight
//! depends on the place of the row, plus a part that comes from the ranks themselves. Both are the
//! same for all rows of a group of equal confidence.

use crate::curve::{Counts, RcCurve};
use std::sync::Arc;

/// What the interval of a metric is made from.
#[derive(Debug, Clone)]
pub(crate) enum Expansion {
    /// A weighted sum of losses.
    Sum(Sum),
    /// The share of right rows, which is the same for all estimators.
    Accuracy,
    /// The largest coverage at a selective risk.
    CoverageAt {
        /// The risk.
        risk: f64,
    },
}

/// A weighted sum of losses: a row of loss `ℓ` in group `g` adds
/// `scale · (ℓ · weight_g − per_loss · ℓ − per_ideal · ideal)`, where `ideal` is what the row adds to
/// `n` times the AURC of the ideal confidence.
#[derive(Debug, Clone)]
pub(crate) struct Sum {
    pub(crate) scale: f64,
    pub(crate) weights: Weights,
    pub(crate) per_loss: f64,
    pub(crate) per_ideal: f64,
    pub(crate) tail: Tail,
}

/// How unequal the weights of a sum are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tail {
    /// All losses that count weigh the same.
    None,
    /// No row weighs much more than the others, and the sum does not grow with the number of losses.
    Short,
    /// A few rows weigh far more than the others.
    #[default]
    Long,
}

/// The weight of a loss in each group, and what a row of the group changes through the ranks of the
/// others, whatever its loss.
#[derive(Debug, Clone)]
pub(crate) enum Weights {
    /// For each group.
    Listed(Arc<Vec<(f64, f64)>>),
    /// The share of rows below, and the mean loss above.
    Ranks,
    /// Weight 1 and some number in the first groups, nothing in the others.
    First { groups: usize, rank: f64 },
}

impl Weights {
    /// Those of a group of a curve.
    #[inline]
    pub(crate) fn of(&self, curve: &RcCurve, group: usize) -> (f64, f64) {
        match *self {
            Weights::Listed(ref all) => all[group],
            Weights::Ranks => {
                let (group, n) = (curve.group(group), curve.rows() as f64);
                let above = group.rows_before as f64 + 0.5 * group.rows as f64;
                (1.0 - above / n, (group.loss_before + 0.5 * group.loss) / n)
            }
            Weights::First { groups, rank } if group < groups => (1.0, rank),
            Weights::First { .. } => (0.0, 0.0),
        }
    }
}

impl Sum {
    /// A sum of weighted losses and nothing else.
    pub(crate) fn plain(scale: f64, weights: Weights) -> Self {
        Sum { scale, weights, per_loss: 0.0, per_ideal: 0.0, tail: Tail::Long }
    }
}

/// The mean over row counts `k` of the selective risk of the `k` surest rows.
///
/// With `W_r = Σ_{k ≥ r} 1/k` over the row counts, the row at place `r` weighs `W_r`. Its influence
/// through the ranks of the others is `R_r − Σ_{k ≥ r} R_k/k`, less the risk at the last count, and 0
/// beyond that. Inside a tie both are means over the places.
pub(crate) fn mean_risk(curve: &RcCurve, counts: &Counts<usize>) -> Sum {
    let groups = if *counts == curve.counts() {
        curve.area_weights(|| weights_of_mean(curve, counts))
    } else {
        Arc::new(weights_of_mean(curve, counts))
    };
    Sum::plain(1.0 / counts.width() as f64, Weights::Listed(groups))
}

fn weights_of_mean(curve: &RcCurve, counts: &Counts<usize>) -> Vec<(f64, f64)> {
    let (first, last) = (counts.after + 1, counts.to);
    let mut groups = vec![(0.0, 0.0); curve.thresholds()];
    let (mut weights, mut risks) = (0.0, 0.0);
    let (mut risk_here, mut risk_last) = (0.0, 0.0);
    for (group, values) in curve.groups().rev().zip(groups.iter_mut().rev()) {
        let mean = group.loss / group.rows as f64;
        let (mut weight, mut rank) = (0.0, 0.0);
        for within in (1..=group.rows).rev() {
            let place = group.rows_before + within;
            if place > last {
                continue;
            }
            let k = place as f64;
            if place >= first {
                risk_here = (group.loss_before + within as f64 * mean) / k;
                if place == last {
                    risk_last = risk_here;
                }
                weights += 1.0 / k;
                risks += risk_here / k;
            }
            weight += weights;
            rank += risk_here - risks - risk_last;
        }
        *values = (weight / group.rows as f64, rank / group.rows as f64);
    }
    groups
}

/// The part of [`mean_risk`] that comes from the ranks, for a row before all others.
pub(crate) fn rank_without_loss(curve: &RcCurve) -> f64 {
    let mut risks = 0.0;
    for group in curve.groups() {
        let mean = group.loss / group.rows as f64;
        for within in 1..=group.rows {
            let k = (group.rows_before + within) as f64;
            risks += (group.loss_before + within as f64 * mean) / (k * k);
        }
    }
    -risks - curve.risk()
}

/// The share of rows that are accepted and wrong, in the mean over all coverages. A row weighs the
/// share of rows below it, and changes through the ranks what the losses above it are.
pub(crate) fn generalised_risk(curve: &RcCurve) -> Sum {
    Sum::plain(1.0 / curve.rows() as f64, Weights::Ranks)
}

/// The selective risk of the rows up to a group, at a coverage. A row that is accepted pushes out
/// another at the threshold, whose risk is that of the rows around it.
pub(crate) fn selective_risk(curve: &RcCurve, accepted: usize) -> Sum {
    let (n, k) = (curve.rows() as f64, accepted as f64);
    // As far as the number of rows above the population's threshold may well be off.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row count")]
    let around = (2.0 * (k * (1.0 - k / n)).sqrt()).ceil() as usize;
    let at_threshold = curve.risk_between(accepted.saturating_sub(around), accepted + around);
    let groups = curve.knots().take_while(|knot| knot.accepted <= accepted).count();
    let weights = Weights::First { groups, rank: -at_threshold };
    Sum { tail: Tail::None, ..Sum::plain(1.0 / k, weights) }
}
