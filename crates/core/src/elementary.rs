//! Exponentials and logarithms that a search takes by the million.
//!
//! Those of the system's library are calls, one number at a time. These are plain arithmetic without
//! branches, so that a loop over them is vectorised, and each operation rounds as IEEE 754 says, so that
//! the bits do not depend on the instruction set. They are within two units in the last place of those.
// What is inlined takes on the instruction set of the version that it is inlined into.
#![allow(clippy::inline_always)]

use std::f64::consts::LOG2_E;

/// The logarithm of 2 in two parts; a multiple of the first by a whole number below 2^20 is exact.
const LN_2_HIGH: f64 = 6.93147180369123816490e-01;
const LN_2_LOW: f64 = 1.90821492927058770002e-10;

/// Adding 1.5 × 2^52 rounds to a whole number, and leaves it in the low bits.
pub(crate) const ROUNDER: f64 = 6755399441055744.0;

/// `1/2!, 1/3!, …` to `1/13!`: the next term of the series is below 5e-18 for `|r| <= ln(2)/2`.
const FACTORIALS: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40320.0,
    1.0 / 362880.0,
    1.0 / 3628800.0,
    1.0 / 39916800.0,
    1.0 / 479001600.0,
    1.0 / 6227020800.0,
];

/// `ln((1 + s)/(1 − s)) = 2s + s (L_1 s² + L_2 s⁴ + …)` for `|s| < 0.1716`, to 2^-58 (FDLIBM).
const L: [f64; 7] = [
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
];

/// The whole number `n` of doublings in `e^x`, and `e^r − 1` for the rest `r = x − n ln 2`.
#[inline(always)]
fn reduced(x: f64) -> (f64, f64) {
    let n = (x * LOG2_E + ROUNDER) - ROUNDER;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let [a, b, c, d, e, f, g, h, i, j, k, l] = FACTORIALS;
    // In pairs: a chain of twelve steps would wait for each of them.
    let (r2, r4) = (r * r, (r * r) * (r * r));
    let low = (a + b * r) + (c + d * r) * r2;
    let middle = (e + f * r) + (g + h * r) * r2;
    let high = (i + j * r) + (k + l * r) * r2;
    (n, r + r2 * (low + r4 * (middle + r4 * high)))
}

/// `2^n` for a whole `n` from −1022 to 1023.
#[inline(always)]
fn power_of_two(n: f64) -> f64 {
    f64::from_bits((n + ROUNDER).to_bits().wrapping_add(1023) << 52)
}

/// `n` in two halves, whose powers of two are in range where that of `n` is not.
#[inline(always)]
fn halves(n: f64) -> (f64, f64) {
    let half = (n * 0.5 + ROUNDER) - ROUNDER;
    (half, n - half)
}

/// `x`, or a number whose exponential is 0 or infinite too.
#[inline(always)]
fn within_reach(x: f64) -> f64 {
    let x = if x > 1000.0 { 1000.0 } else { x };
    if x < -1000.0 { -1000.0 } else { x }
}

/// `e^x`.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let (n, rest) = reduced(within_reach(x));
    let (one, other) = halves(n);
    (1.0 + rest) * power_of_two(one) * power_of_two(other)
}

/// `e^x − 1`, with all digits of small ones.
#[inline(always)]
pub(crate) fn exp_m1(x: f64) -> f64 {
    let (n, rest) = reduced(within_reach(x));
    let (one, other) = halves(n);
    let power = power_of_two(one);
    (power * rest + (power - power_of_two(-other))) * power_of_two(other)
}

/// `ln x`.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    /// The bits of a number just above √½, from which on a mantissa is left as it is.
    const FIRST: u64 = 0x3fe6_a09e << 32;
    const ONE: u64 = 0x3ff0_0000 << 32;
    const MANTISSA: u64 = (1 << 52) - 1;
    /// 2^52, whose low bits count ones.
    const COUNT: f64 = 4503599627370496.0;
    // The exponent of a subnormal number is in its leading zeros.
    let tiny = x < f64::MIN_POSITIVE;
    let scaled = if tiny { x * 18014398509481984.0 } else { x };
    let bits = scaled.to_bits().wrapping_add(ONE - FIRST);
    let exponent = f64::from_bits((bits >> 52) | COUNT.to_bits()) - (COUNT + 1023.0);
    let exponent = if tiny { exponent - 54.0 } else { exponent };
    let f = f64::from_bits((bits & MANTISSA) + FIRST) - 1.0;
    let s = f / (2.0 + f);
    let (s2, s4) = (s * s, (s * s) * (s * s));
    let even = s4 * (L[1] + s4 * (L[3] + s4 * L[5]));
    let odd = s2 * (L[0] + s4 * (L[2] + s4 * (L[4] + s4 * L[6])));
    let half = 0.5 * f * f;
    let found =
        exponent * LN_2_HIGH - ((half - (s * (half + (even + odd)) + exponent * LN_2_LOW)) - f);
    let found = if x == 0.0 { f64::NEG_INFINITY } else { found };
    let found = if x == f64::INFINITY { x } else { found };
    if x >= 0.0 { found } else { f64::NAN }
}

/// `ln(1 + x)`, with all digits of small ones.
#[inline(always)]
pub(crate) fn ln_1p(x: f64) -> f64 {
    let sum = 1.0 + x;
    // What the sum has lost, exactly.
    let kept = sum - 1.0;
    let lost = (1.0 - (sum - kept)) + (x - kept);
    let found = ln(sum);
    if sum > 0.0 && sum < f64::INFINITY { found + lost / sum } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error over many numbers, in units of the last place.
    fn worst(ours: fn(f64) -> f64, theirs: fn(f64) -> f64, xs: impl Iterator<Item = f64>) -> f64 {
        let error = |x: f64| {
            let (found, wanted) = (ours(x), theirs(x));
            if found == wanted || found.is_nan() && wanted.is_nan() {
                return 0.0;
            }
            let unit = f64::from_bits(wanted.abs().to_bits() + 1) - wanted.abs();
            let units = (found - wanted).abs() / unit;
            assert!(units < 3.0, "{x:e}: {found:e} {wanted:e}");
            units
        };
        xs.map(error).fold(0.0, f64::max)
    }

    #[test]
    fn they_agree_with_those_of_the_system() {
        // Of every magnitude and either sign, and numbers close to 1 and to 0.
        let magnitudes = (-3200..=3200).map(|k| 10_f64.powf(f64::from(k) / 10.0 + 0.001));
        let near = (-40_000..=40_000).map(|k| f64::from(k) / 39_989.0);
        let xs: Vec<f64> = magnitudes
            .flat_map(|x| [x, -x])
            .chain(near.flat_map(|x| [x, 1.0 + x, 800.0 * x, 40.0 * x, 1e-3 * x]))
            .chain([0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, 1e-310])
            .collect();
        let all = || xs.iter().copied();
        println!("exp {}", worst(exp, f64::exp, all()));
        println!("exp_m1 {}", worst(exp_m1, f64::exp_m1, all()));
        println!("ln {}", worst(ln, f64::ln, all()));
        println!("ln_1p {}", worst(ln_1p, f64::ln_1p, all()));
    }

    #[test]
    fn whole_results_are_exact() {
        assert_eq!((exp(0.0), exp_m1(0.0), ln(1.0), ln_1p(0.0)), (1.0, 0.0, 0.0, 0.0));
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp_m1(f64::NEG_INFINITY), -1.0);
        assert_eq!(ln_1p(-1.0), f64::NEG_INFINITY);
    }
}
