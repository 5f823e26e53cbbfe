//! Elementary functions that ONNX does not have, without loss of digits.

use super::graph::Real;

/// `ln(1 + x)` for `x > −1`. Where `1 + x` rounds, the logarithm of the rounded number is corrected
/// by the ratio of `x` to what is left of it.
pub(crate) fn ln_1p(x: Real<'_>) -> Real<'_> {
    let sum = 1.0 + x;
    let ln = sum.ln();
    let small = sum.equals(1.0).choose(x, ln * (x / (sum - 1.0)));
    x.less(1.0).choose(small, ln)
}

/// `e^x − 1`, corrected in the same way.
pub(crate) fn exp_m1(x: Real<'_>) -> Real<'_> {
    let exp = x.exp();
    let difference = exp - 1.0;
    let small = exp.equals(1.0).choose(x, difference * (x / exp.ln()));
    x.abs().less(1.0).choose(small, difference)
}

/// `ln(1 + e^x)`.
pub(crate) fn softplus(x: Real<'_>) -> Real<'_> {
    x.max(0.0) + ln_1p((0.0 - x.abs()).exp())
}

/// `1 / (1 + e^−x)`; that of ONNX Runtime ends at 1e-8.
pub(crate) fn sigmoid(x: Real<'_>) -> Real<'_> {
    (0.0 - softplus(0.0 - x)).exp()
}

/// `ln(e^a + e^b)`, of which one at least is finite.
pub(crate) fn log_add<'g>(a: Real<'g>, b: Real<'g>) -> Real<'g> {
    let (high, low) = (a.max(b), a.min(b));
    high + ln_1p((low - high).exp())
}
