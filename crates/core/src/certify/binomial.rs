//! Exact binomial tails, and what follows from them.

use crate::curve::Knot;
use statrs::function::beta;

/// Up to here `statrs` evaluates a binomial tail to eight digits or more.
pub(super) const EXACT_ROWS: usize = 1_000_000;

/// `P[Bin(n, p) <= k]`: exact up to a million rows; beyond, where the exact evaluation loses its digits,
/// Chernoff's bound on it, which is never too small.
pub fn binomial_tail(k: usize, n: usize, p: f64) -> f64 {
    if k >= n || p <= 0.0 {
        return 1.0;
    }
    if p >= 1.0 {
        return 0.0;
    }
    if n > EXACT_ROWS {
        let share = k as f64 / n as f64;
        if share >= p {
            return 1.0;
        }
        let divergence = if k == 0 { 0.0 } else { share * (share / p).ln() }
            + (1.0 - share) * ((1.0 - share) / (1.0 - p)).ln();
        return (-(n as f64) * divergence).exp();
    }
    tail_of_rates(k as f64, n as f64, p)
}

/// The same for expected counts, which need not be whole: the beta distribution between them.
pub(super) fn tail_of_rates(k: f64, n: f64, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    beta::checked_beta_reg(n - k, k + 1.0, 1.0 - p).unwrap_or(1.0).clamp(0.0, 1.0)
}

/// The largest risk with which `k` errors in `n` rows are still as likely as `delta`: the exact
/// (Clopper–Pearson) upper bound.
pub fn upper_bound(k: usize, n: usize, delta: f64) -> f64 {
    // The tail falls as the risk rises.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle == low || middle == high {
            break;
        }
        if binomial_tail(k, n, middle) > delta {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// An upper bound on the selective risk of the population above a threshold that was chosen after looking:
/// those of all thresholds of so many estimators on these rows hold at once with probability 1 − δ.
///
/// A threshold is the confidence of some row. To all other rows it is a fixed number, so that the errors
/// among those of them that reach it are binomial, with ties as without: the exact bound of one row less,
/// and a union bound over the rows and the estimators. That row counts as right, which can only raise the
/// bound.
pub fn bound_everywhere(knot: &Knot, delta: f64, rows: usize, estimators: usize) -> f64 {
    let others = knot.accepted - 1;
    let level = delta / (rows.max(1) as f64 * estimators.max(1) as f64);
    upper_bound(knot.errors().min(others), others, level)
}

/// The fewest rows that can certify a risk at all: without an error among them.
pub(super) fn smallest_certifiable(risk: f64, delta: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row count")]
    let mut rows = ((delta.ln() / (-risk).ln_1p()).floor() as usize).max(1);
    // Decided by the very test that is used later.
    while binomial_tail(0, rows, risk) > delta {
        rows += 1;
    }
    rows
}
