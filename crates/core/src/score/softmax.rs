//! What the softmax scores share, on logarithmic scales that do not saturate.

use crate::elementary::{exp, ln_1p};
use crate::row::Statistics;

/// Beyond this log-odds `1 + exp(−x)` is 1 in f64, and the leading term is exact.
pub(crate) const SATURATED: f64 = 37.0;

/// The log-odds of the top class, `ln(σ_1 / (1 − σ_1))`.
#[inline(always)]
pub(crate) fn log_odds(row: &impl Statistics) -> f64 {
    row.gap() - row.log_tail(1.0)
}

/// `ln(1 + e^x)`.
#[inline(always)]
pub(crate) fn softplus(x: f64) -> f64 {
    x.max(0.0) + ln_1p(exp(-x.abs()))
}

/// `1 / (1 + e^−x)`.
#[inline(always)]
pub(crate) fn sigmoid(x: f64) -> f64 {
    let e = exp(-x.abs());
    (if x >= 0.0 { 1.0 } else { e }) / (1.0 + e)
}

/// `ln(e^a + e^b)`.
#[inline(always)]
pub(crate) fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if high.is_infinite() { high } else { high + ln_1p(exp(low - high)) }
}

/// `ln(1 − σ_1)`, the logarithm of the probability left to the other classes.
#[inline(always)]
pub(crate) fn log_rest(row: &impl Statistics) -> f64 {
    -softplus(log_odds(row))
}

/// `−ln σ_label(u)`, where the label's logit is `distance` below the top one (before the transform).
#[inline(always)]
pub(crate) fn log_loss(row: &impl Statistics, distance: f64) -> f64 {
    // The top class is at 0 and a masked one out of reach, whatever the scale.
    let fixed = distance == 0.0 || distance == f64::INFINITY;
    let distance = if fixed { distance } else { distance * row.beta() };
    distance + softplus(-log_odds(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_the_scales() {
        assert_eq!(softplus(f64::NEG_INFINITY), 0.0);
        assert_eq!(softplus(1000.0), 1000.0);
        assert!((softplus(0.0) - 2.0_f64.ln()).abs() < 1e-16);
        assert!((softplus(-800.0)).abs() < 1e-300);
        assert_eq!(sigmoid(f64::INFINITY), 1.0);
        assert_eq!(sigmoid(f64::NEG_INFINITY), 0.0);
        assert!((sigmoid(-50.0) - (-50.0_f64).exp()).abs() < 1e-36);
        assert_eq!(log_add(f64::NEG_INFINITY, f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert!((log_add(0.0, 0.0) - 2.0_f64.ln()).abs() < 1e-16);
        assert_eq!(log_add(-3.0, f64::NEG_INFINITY), -3.0);
    }
}
