//! The loops over classes, written so that the compiler turns each into vector instructions.
//!
//! `multiversion` compiles every function twice on x86-64, with and without AVX2 + FMA, and picks
//! one at run time. Both give the same bits: sums run in a fixed number of lanes, and every fused
//! multiply-add is asked for by name (`mul_add`), never left to the compiler. The code that the
//! macro writes to pick a version is the only unsafe code of the crate; nothing here is.
#![allow(unsafe_code)]

use multiversion::multiversion;
use std::f64::consts::LOG2_E;

/// Accumulators of a sum: two AVX2 registers, which hides the latency of the additions.
const LANES: usize = 8;

/// Values computed before they are summed. The elementwise loop and the reduction are separate
/// loops because the compiler may vectorise the first freely but not reorder the second.
const BLOCK: usize = 64;

/// `2^x` for `x <= 0`, to about one unit in the last place; below -1022 it stays at `2^-1022`.
///
/// `x = n + r` with `n` an integer and `|r| <= 1/2`; `2^n` is put together from its bits and `2^r`
/// is `1 + r q(r)`, where `q` interpolates `(2^r - 1) / r` at eleven Chebyshev nodes (relative
/// error 2e-17). `2^0` is exactly 1.
#[inline(always)]
fn exp2_of_non_positive(x: f64) -> f64 {
    /// Adding 1.5 × 2^52 rounds to an integer and leaves that integer in the low bits.
    const ROUNDER: f64 = 6755399441055744.0;
    const Q: [f64; 11] = [
        0.6931471805599453,
        0.24022650695910097,
        0.0555041086648216,
        0.009618129107606888,
        0.0013333558146416936,
        0.0001540353044173605,
        1.525273382983612e-05,
        1.321544258792169e-06,
        1.0178062445845774e-07,
        7.072585949269223e-09,
        4.4549605981865186e-10,
    ];
    let x = if x > -1022.0 { x } else { -1022.0 };
    let shifted = x + ROUNDER;
    let r = x - (shifted - ROUNDER);
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    let r2 = r * r;
    let r4 = r2 * r2;
    let low = r2.mul_add(r.mul_add(Q[3], Q[2]), r.mul_add(Q[1], Q[0]));
    let middle = r2.mul_add(r.mul_add(Q[7], Q[6]), r.mul_add(Q[5], Q[4]));
    let high = r2.mul_add(Q[10], r.mul_add(Q[9], Q[8]));
    let q = (r4 * r4).mul_add(high, r4.mul_add(middle, low));
    (power * r).mul_add(q, power)
}

/// Adds a block of values to the lanes.
#[inline(always)]
fn accumulate(lanes: &mut [f64; LANES], block: &[f64]) {
    let (chunks, rest) = block.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += x;
        }
    }
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane += x;
    }
}

#[inline(always)]
fn total(lanes: &[f64; LANES]) -> f64 {
    lanes.iter().sum()
}

/// The largest and the second largest value; the second is `-inf` for a single value.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn top_two(z: &[f64]) -> (f64, f64) {
    let mut first = [f64::NEG_INFINITY; LANES];
    let mut second = [f64::NEG_INFINITY; LANES];
    let (chunks, rest) = z.as_chunks::<LANES>();
    for chunk in chunks {
        for i in 0..LANES {
            let x = chunk[i];
            let smaller = if x < first[i] { x } else { first[i] };
            first[i] = if x > first[i] { x } else { first[i] };
            second[i] = if smaller > second[i] { smaller } else { second[i] };
        }
    }
    let (mut a, mut b) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for &x in first.iter().chain(&second).chain(rest) {
        if x > a {
            b = a;
            a = x;
        } else if x > b {
            b = x;
        }
    }
    (a, b)
}

/// The smallest value; `inf` for none.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn smallest(z: &[f64]) -> f64 {
    let mut lanes = [f64::INFINITY; LANES];
    let (chunks, rest) = z.as_chunks::<LANES>();
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] = if chunk[i] < lanes[i] { chunk[i] } else { lanes[i] };
        }
    }
    lanes.iter().chain(rest).fold(f64::INFINITY, |m, &x| if x < m { x } else { m })
}

/// `Σ (z_j − top)`. Differences first: the sum does not see a constant added to the row.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn sum_below(z: &[f64], top: f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let mut block = [0.0; BLOCK];
    for chunk in z.chunks(BLOCK) {
        for (y, &x) in block.iter_mut().zip(chunk) {
            *y = x - top;
        }
        accumulate(&mut lanes, &block[..chunk.len()]);
    }
    total(&lanes)
}

/// `Σ exp(β (min(z_j, ceiling) − ceiling))`: every value above the ceiling counts as 1.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn sum_exp_below(z: &[f64], ceiling: f64, beta: f64) -> f64 {
    let rate = beta * LOG2_E;
    let mut lanes = [0.0; LANES];
    let mut block = [0.0; BLOCK];
    for chunk in z.chunks(BLOCK) {
        for (y, &x) in block.iter_mut().zip(chunk) {
            let difference = if x < ceiling { x - ceiling } else { 0.0 };
            *y = exp2_of_non_positive(difference * rate);
        }
        accumulate(&mut lanes, &block[..chunk.len()]);
    }
    total(&lanes)
}

/// `Σ d_j exp(β d_j)` with `d_j = min(z_j, ceiling) − ceiling`.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn sum_exp_moment_below(z: &[f64], ceiling: f64, beta: f64) -> f64 {
    let rate = beta * LOG2_E;
    let mut lanes = [0.0; LANES];
    let mut block = [0.0; BLOCK];
    for chunk in z.chunks(BLOCK) {
        for (y, &x) in block.iter_mut().zip(chunk) {
            let difference = if x < ceiling { x - ceiling } else { 0.0 };
            *y = difference * exp2_of_non_positive(difference * rate);
        }
        accumulate(&mut lanes, &block[..chunk.len()]);
    }
    total(&lanes)
}

/// `Σ (exp(β d_j) − mean)²` with `d_j = min(z_j, ceiling) − ceiling`.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn sum_exp_deviation_below(z: &[f64], ceiling: f64, beta: f64, mean: f64) -> f64 {
    let rate = beta * LOG2_E;
    let mut lanes = [0.0; LANES];
    let mut block = [0.0; BLOCK];
    for chunk in z.chunks(BLOCK) {
        for (y, &x) in block.iter_mut().zip(chunk) {
            let difference = if x < ceiling { x - ceiling } else { 0.0 };
            let deviation = exp2_of_non_positive(difference * rate) - mean;
            *y = deviation * deviation;
        }
        accumulate(&mut lanes, &block[..chunk.len()]);
    }
    total(&lanes)
}

/// `Σ |((z_j − top) + offset) · inverse_unit|^p` for a whole `p >= 1`, by repeated squaring.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn power_sum_whole(z: &[f64], top: f64, offset: f64, inverse_unit: f64, p: u32) -> f64 {
    let mut lanes = [0.0; LANES];
    let mut square = [0.0; BLOCK];
    let mut power = [0.0; BLOCK];
    for chunk in z.chunks(BLOCK) {
        for (y, &x) in square.iter_mut().zip(chunk) {
            *y = (((x - top) + offset) * inverse_unit).abs();
        }
        power.fill(1.0);
        let mut bits = p;
        while bits > 0 {
            if bits & 1 == 1 {
                for (power, square) in power.iter_mut().zip(&square) {
                    *power *= square;
                }
            }
            bits >>= 1;
            if bits > 0 {
                for square in &mut square {
                    *square *= *square;
                }
            }
        }
        accumulate(&mut lanes, &power[..chunk.len()]);
    }
    total(&lanes)
}

/// `Σ |((z_j − top) + offset) · inverse_unit|^p` for any real `p > 0`.
pub(super) fn power_sum_real(z: &[f64], top: f64, offset: f64, inverse_unit: f64, p: f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let mut block = [0.0; BLOCK];
    for chunk in z.chunks(BLOCK) {
        for (y, &x) in block.iter_mut().zip(chunk) {
            *y = (((x - top) + offset) * inverse_unit).abs().powf(p);
        }
        accumulate(&mut lanes, &block[..chunk.len()]);
    }
    total(&lanes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp2_agrees_with_the_standard_library() {
        let mut worst: f64 = 0.0;
        for i in 0..2_000_000 {
            let x = -f64::from(i) * 5e-4;
            worst = worst.max((exp2_of_non_positive(x) / x.exp2() - 1.0).abs());
        }
        assert!(worst < 4.5e-16, "relative error {worst:e}");
        assert_eq!(exp2_of_non_positive(0.0), 1.0);
        assert_eq!(exp2_of_non_positive(-1.0), 0.5);
        assert_eq!(exp2_of_non_positive(-1e300), f64::MIN_POSITIVE);
        assert_eq!(exp2_of_non_positive(f64::NEG_INFINITY), f64::MIN_POSITIVE);
    }

    /// Lengths around the block and lane sizes, so that every remainder is met.
    #[test]
    fn loops_agree_with_their_plain_forms_at_every_length() {
        for n in (1..40).chain(60..70).chain([127, 128, 129, 1000]) {
            let z: Vec<f64> = (0..n).map(|i| f64::from((i * 7919) % 101) * 0.1 - 4.0).collect();
            let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-13 * b.abs(), "{n}: {a} {b}");

            let mut sorted = z.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let (first, second) = top_two(&z);
            assert_eq!(first, sorted[0]);
            assert_eq!(second, sorted.get(1).copied().unwrap_or(f64::NEG_INFINITY));
            assert_eq!(smallest(&z), sorted[sorted.len() - 1]);

            close(sum_below(&z, first), z.iter().map(|x| x - first).sum());
            let d: Vec<f64> = z.iter().map(|x| x.min(3.0) - 3.0).collect();
            let w: Vec<f64> = d.iter().map(|d| (0.7 * d).exp()).collect();
            close(sum_exp_below(&z, 3.0, 0.7), w.iter().sum());
            close(sum_exp_moment_below(&z, 3.0, 0.7), d.iter().zip(&w).map(|(d, w)| d * w).sum());
            close(
                sum_exp_deviation_below(&z, 3.0, 0.7, 0.3),
                w.iter().map(|w| (w - 0.3).powi(2)).sum(),
            );
            for p in 1..12 {
                let plain = z.iter().map(|x| ((x + 0.5) / 6.0).abs().powi(p)).sum();
                close(power_sum_whole(&z, first, first + 0.5, 1.0 / 6.0, p.unsigned_abs()), plain);
                close(power_sum_real(&z, first, first + 0.5, 1.0 / 6.0, f64::from(p)), plain);
            }
        }
    }
}
