//! The loops over classes, written so that the compiler turns each into vector instructions.
//!
//! `multiversion` compiles every function twice on x86-64, with and without AVX2 + FMA, and picks
//! one at run time. Both give the same bits: sums run in a fixed number of lanes, and every fused
//! multiply-add is requested by name (`mul_add`), never left to the compiler. The code that the
//! macro writes to pick a version is the only unsafe code of the crate; nothing here is.
#![allow(unsafe_code)]
// What is inlined takes on the instruction set of the version it is inlined into.
#![allow(clippy::inline_always)]

use multiversion::multiversion;
use std::f64::consts::{LN_2, LOG2_E};

/// Accumulators of a sum: two AVX2 registers, which hides the latency of the additions.
const LANES: usize = 8;

/// Sums that run side by side, one for each element of a block: the compiler may vectorise a loop
/// without a reduction freely, but not reorder a sum.
const BLOCK: usize = 64;

/// `2^x` for `x <= 0`, to about one unit in the last place; below -1021 it stays at `2^-1021`.
///
/// `x = n + r` with `n` an integer and `|r| <= 1/2`. `2^r` is `1 + r q(r)`, where `q` interpolates
/// `(2^r - 1) / r` at eleven Chebyshev nodes (relative error 2e-17), and `n` is added to its
/// exponent. `2^0` is exactly 1.
#[inline(always)]
fn exp2_of_non_positive(x: f64) -> f64 {
    /// Adding 1.5 × 2^52 rounds to an integer and leaves that integer in the low bits.
    const ROUNDER: f64 = 6755399441055744.0;
    const Q: [f64; 11] = [
        LN_2,
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
    let x = if x > -1021.0 { x } else { -1021.0 };
    let shifted = x + ROUNDER;
    let r = x - (shifted - ROUNDER);
    let r2 = r * r;
    let r4 = r2 * r2;
    let low = r2.mul_add(r.mul_add(Q[3], Q[2]), r.mul_add(Q[1], Q[0]));
    let middle = r2.mul_add(r.mul_add(Q[7], Q[6]), r.mul_add(Q[5], Q[4]));
    let high = r2.mul_add(Q[10], r.mul_add(Q[9], Q[8]));
    let q = (r4 * r4).mul_add(high, r4.mul_add(middle, low));
    f64::from_bits(r.mul_add(q, 1.0).to_bits().wrapping_add(shifted.to_bits() << 52))
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
    // In pairs: a chain of additions would wait for each of them.
    let [a, b, c, d, e, f, g, h] = *lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Widens single precision to double, exactly, and finds the two largest values on the way: in
/// single precision a comparison costs half.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(crate) fn widen_and_top_two(from: &[f32], to: &mut [f64]) -> (f64, f64) {
    let mut first = [f32::NEG_INFINITY; LANES];
    let mut second = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = from.as_chunks::<LANES>();
    let (wide, wide_rest) = to.as_chunks_mut::<LANES>();
    for (chunk, wide) in chunks.iter().zip(wide) {
        for i in 0..LANES {
            let x = chunk[i];
            let smaller = if x < first[i] { x } else { first[i] };
            first[i] = if x > first[i] { x } else { first[i] };
            second[i] = if smaller > second[i] { smaller } else { second[i] };
            wide[i] = f64::from(x);
        }
    }
    for (wide, &x) in wide_rest.iter_mut().zip(rest) {
        *wide = f64::from(x);
    }
    let (first, second) = two_largest(first.iter().chain(&second).chain(rest).copied());
    (f64::from(first), f64::from(second))
}

/// The two largest of a few values.
#[inline(always)]
fn two_largest<T: PartialOrd + Copy + From<f32>>(values: impl Iterator<Item = T>) -> (T, T) {
    let (mut a, mut b) = (T::from(f32::NEG_INFINITY), T::from(f32::NEG_INFINITY));
    for x in values {
        if x > a {
            b = a;
            a = x;
        } else if x > b {
            b = x;
        }
    }
    (a, b)
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
    two_largest(first.iter().chain(&second).chain(rest).copied())
}

/// `Σ (z_j − top)` and the smallest value. Differences first: the sum does not see a constant added
/// to the row.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn sum_below_and_smallest(z: &[f64], top: f64) -> (f64, f64) {
    let mut sums = [0.0; LANES];
    let mut smallest = [f64::INFINITY; LANES];
    let (chunks, rest) = z.as_chunks::<LANES>();
    for chunk in chunks {
        for i in 0..LANES {
            sums[i] += chunk[i] - top;
            smallest[i] = if chunk[i] < smallest[i] { chunk[i] } else { smallest[i] };
        }
    }
    for (i, &x) in rest.iter().enumerate() {
        sums[i] += x - top;
        smallest[i] = if x < smallest[i] { x } else { smallest[i] };
    }
    (total(&sums), smallest.iter().fold(f64::INFINITY, |m, &x| if x < m { x } else { m }))
}

/// `Σ exp(β (min(z_j, ceiling) − ceiling))`: every value above the ceiling counts as 1.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn sum_exp_below(z: &[f64], ceiling: f64, beta: f64) -> f64 {
    let below = |x: f64| if x < ceiling { x - ceiling } else { 0.0 };
    let rate = beta * LOG2_E;
    sum_of(z, |x| exp2_of_non_positive(below(x) * rate))
}

/// `Σ exp(β d_j)` and `Σ d_j exp(β d_j)` with `d_j = min(z_j, ceiling) − ceiling`.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn sum_exp_and_moment_below(z: &[f64], ceiling: f64, beta: f64) -> (f64, f64) {
    let below = |x: f64| if x < ceiling { x - ceiling } else { 0.0 };
    let rate = beta * LOG2_E;
    sums_of(z, |x| {
        let weight = exp2_of_non_positive(below(x) * rate);
        (weight, below(x) * weight)
    })
}

/// `Σ exp(β d_j)` and `Σ exp(2β d_j)` with `d_j = min(z_j, ceiling) − ceiling`.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn sum_exp_and_square_below(z: &[f64], ceiling: f64, beta: f64) -> (f64, f64) {
    let below = |x: f64| if x < ceiling { x - ceiling } else { 0.0 };
    let rate = beta * LOG2_E;
    sums_of(z, |x| {
        let weight = exp2_of_non_positive(below(x) * rate);
        (weight, weight * weight)
    })
}

/// `Σ (exp(β d_j) − mean)²` with `d_j = min(z_j, ceiling) − ceiling`.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn sum_exp_deviation_below(z: &[f64], ceiling: f64, beta: f64, mean: f64) -> f64 {
    let below = |x: f64| if x < ceiling { x - ceiling } else { 0.0 };
    let rate = beta * LOG2_E;
    sum_of(z, |x| {
        let deviation = exp2_of_non_positive(below(x) * rate) - mean;
        deviation * deviation
    })
}

/// `Σ |((min(z_j, ceiling) − top) + offset) · inverse_unit|^p` for a whole `p >= 1`, by repeated squaring.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn power_sum_whole(
    z: &[f64],
    top: f64,
    ceiling: f64,
    offset: f64,
    inverse_unit: f64,
    p: u32,
) -> f64 {
    let magnitude = |x: f64| {
        let x = if x < ceiling { x } else { ceiling };
        (((x - top) + offset) * inverse_unit).abs()
    };
    // A power that is known when this is compiled is a few multiplications inside the loop.
    match p {
        1 => sum_of(z, magnitude),
        2 => sum_of(z, |x| whole_power(magnitude(x), 2)),
        3 => sum_of(z, |x| whole_power(magnitude(x), 3)),
        4 => sum_of(z, |x| whole_power(magnitude(x), 4)),
        5 => sum_of(z, |x| whole_power(magnitude(x), 5)),
        6 => sum_of(z, |x| whole_power(magnitude(x), 6)),
        7 => sum_of(z, |x| whole_power(magnitude(x), 7)),
        8 => sum_of(z, |x| whole_power(magnitude(x), 8)),
        9 => sum_of(z, |x| whole_power(magnitude(x), 9)),
        10 => sum_of(z, |x| whole_power(magnitude(x), 10)),
        _ => sum_of(z, |x| whole_power(magnitude(x), p)),
    }
}

/// Sums a function of every element: as many sums as elements in a block, so that there is no
/// reduction inside the loop and it vectorises.
#[inline(always)]
fn sum_of(z: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    if z.len() < BLOCK {
        return sum_of_few(z, f);
    }
    let mut sums = [0.0; BLOCK];
    let (blocks, rest) = z.as_chunks::<BLOCK>();
    for block in blocks {
        for (sum, &x) in sums.iter_mut().zip(block) {
            *sum += f(x);
        }
    }
    for (sum, &x) in sums.iter_mut().zip(rest) {
        *sum += f(x);
    }
    let mut lanes = [0.0; LANES];
    accumulate(&mut lanes, &sums);
    total(&lanes)
}

/// Two sums at once, for little more than the price of one.
#[inline(always)]
fn sums_of(z: &[f64], f: impl Fn(f64) -> (f64, f64)) -> (f64, f64) {
    let (mut first, mut second) = ([0.0; LANES], [0.0; LANES]);
    let (chunks, rest) = z.as_chunks::<LANES>();
    for chunk in chunks {
        for i in 0..LANES {
            let (a, b) = f(chunk[i]);
            first[i] += a;
            second[i] += b;
        }
    }
    if let Some(&filler) = rest.first() {
        let mut filled = [filler; LANES];
        filled[..rest.len()].copy_from_slice(rest);
        for i in 0..LANES {
            let (a, b) = f(filled[i]);
            first[i] += if i < rest.len() { a } else { 0.0 };
            second[i] += if i < rest.len() { b } else { 0.0 };
        }
    }
    (total(&first), total(&second))
}

/// [`sum_of`] few elements, to the same bits: what does not fill the lanes is filled up, since the
/// compiler would go through a rest one by one.
#[inline(always)]
fn sum_of_few(z: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = z.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane += f(x);
        }
    }
    if let Some(&filler) = rest.first() {
        let mut filled = [filler; LANES];
        filled[..rest.len()].copy_from_slice(rest);
        for (i, lane) in lanes.iter_mut().enumerate() {
            let value = f(filled[i]);
            *lane += if i < rest.len() { value } else { 0.0 };
        }
    }
    total(&lanes)
}

/// `x^p` by repeated squaring.
#[inline(always)]
pub(super) fn whole_power(x: f64, p: u32) -> f64 {
    let (mut square, mut power, mut bits) = (x, 1.0, p);
    while bits > 0 {
        if bits & 1 == 1 {
            power *= square;
        }
        bits >>= 1;
        square *= square;
    }
    power
}

/// `Σ |((min(z_j, ceiling) − top) + offset) · inverse_unit|^p` for any real `p > 0`.
pub(super) fn power_sum_real(
    z: &[f64],
    top: f64,
    ceiling: f64,
    offset: f64,
    inverse_unit: f64,
    p: f64,
) -> f64 {
    sum_of(z, |x| {
        let x = if x < ceiling { x } else { ceiling };
        (((x - top) + offset) * inverse_unit).abs().powf(p)
    })
}

/// `min(z_j, ceiling) − ceiling`.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn distances_below(z: &[f64], ceiling: f64, d: &mut [f64]) {
    for (&x, d) in z.iter().zip(d) {
        *d = if x < ceiling { x - ceiling } else { 0.0 };
    }
}

/// `exp(β d_j)` for `d_j <= 0`.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn exp_scaled(d: &[f64], beta: f64, w: &mut [f64]) {
    let rate = beta * LOG2_E;
    for (d, w) in d.iter().zip(w) {
        *w = exp2_of_non_positive(*d * rate);
    }
}

/// `Σ w_j d_j^k` for `k = 0, 1, 2, 3`; then squares every weight, which doubles its exponent.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn moments_then_square(w: &mut [f64], d: &[f64]) -> [f64; 4] {
    // As many accumulators as elements in a block: with no sum inside the loop, the compiler
    // vectorises it as it stands.
    let (mut zeroth, mut first, mut second, mut third) =
        ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
    let mut add = |w: &mut [f64; BLOCK], d: &[f64; BLOCK]| {
        for i in 0..BLOCK {
            let wd = w[i] * d[i];
            let wdd = wd * d[i];
            zeroth[i] += w[i];
            first[i] += wd;
            second[i] += wdd;
            third[i] += wdd * d[i];
            w[i] *= w[i];
        }
    };
    let (chunks, rest) = w.as_chunks_mut::<BLOCK>();
    let (d_chunks, d_rest) = d.as_chunks::<BLOCK>();
    for (w, d) in chunks.iter_mut().zip(d_chunks) {
        add(w, d);
    }
    if !rest.is_empty() {
        let (mut last, mut last_d) = ([0.0; BLOCK], [0.0; BLOCK]);
        last[..rest.len()].copy_from_slice(rest);
        last_d[..rest.len()].copy_from_slice(d_rest);
        add(&mut last, &last_d);
        rest.copy_from_slice(&last[..rest.len()]);
    }
    [zeroth, first, second, third].map(|sums| {
        let mut lanes = [0.0; LANES];
        accumulate(&mut lanes, &sums);
        total(&lanes)
    })
}

/// Moves the weights above a threshold to the front, with what belongs to them; returns their count.
pub(super) fn keep_above(w: &mut [f64], d: &mut [f64], threshold: f64) -> usize {
    let mut kept = 0;
    for i in 0..w.len() {
        let weight = w[i];
        w[kept] = weight;
        d[kept] = d[i];
        kept += usize::from(weight > threshold);
    }
    kept
}

/// How many whole powers [`power_sums`] adds up.
pub(super) const POWERS: usize = 10;

/// `Σ |((min(z_j, ceiling) − top) + offset) · inverse_unit|^p` for `p = 1, 2, …, POWERS`, by multiplication.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn power_sums(
    z: &[f64],
    top: f64,
    ceiling: f64,
    offset: f64,
    inverse_unit: f64,
) -> [f64; POWERS] {
    const WIDTH: usize = 4;
    let mut sums = [[0.0; WIDTH]; POWERS];
    let (chunks, rest) = z.as_chunks::<WIDTH>();
    for chunk in chunks {
        let mut x = [0.0; WIDTH];
        for i in 0..WIDTH {
            let capped = if chunk[i] < ceiling { chunk[i] } else { ceiling };
            x[i] = (((capped - top) + offset) * inverse_unit).abs();
        }
        let mut power = x;
        for sum in &mut sums {
            for i in 0..WIDTH {
                sum[i] += power[i];
                power[i] *= x[i];
            }
        }
    }
    for &z in rest {
        let capped = if z < ceiling { z } else { ceiling };
        let x = (((capped - top) + offset) * inverse_unit).abs();
        let mut power = x;
        for sum in &mut sums {
            sum[0] += power;
            power *= x;
        }
    }
    sums.map(|lanes| lanes.iter().sum())
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
        assert_eq!(exp2_of_non_positive(-1e300), 2.0 * f64::MIN_POSITIVE);
        assert_eq!(exp2_of_non_positive(f64::NEG_INFINITY), 2.0 * f64::MIN_POSITIVE);
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
            #[expect(clippy::cast_possible_truncation)]
            let narrow: Vec<f32> = z.iter().map(|&x| x as f32).collect();
            let exact: Vec<f64> = narrow.iter().map(|&x| f64::from(x)).collect();
            let mut wide = vec![0.0; z.len()];
            assert_eq!(widen_and_top_two(&narrow, &mut wide), top_two(&exact));
            assert_eq!(wide, exact);
            let (sum_below, smallest) = sum_below_and_smallest(&z, first);
            assert_eq!(smallest, sorted[sorted.len() - 1]);
            close(sum_below, z.iter().map(|x| x - first).sum());
            let d: Vec<f64> = z.iter().map(|x| x.min(3.0) - 3.0).collect();
            let w: Vec<f64> = d.iter().map(|d| (0.7 * d).exp()).collect();
            close(sum_exp_below(&z, 3.0, 0.7), w.iter().sum());
            let (sum, moment) = sum_exp_and_moment_below(&z, 3.0, 0.7);
            close(sum, w.iter().sum());
            close(moment, d.iter().zip(&w).map(|(d, w)| d * w).sum());
            let (sum, squares) = sum_exp_and_square_below(&z, 3.0, 0.7);
            close(sum, w.iter().sum());
            close(squares, w.iter().map(|w| w * w).sum());
            close(
                sum_exp_deviation_below(&z, 3.0, 0.7, 0.3),
                w.iter().map(|w| (w - 0.3).powi(2)).sum(),
            );
            for p in 1..12 {
                let plain = z.iter().map(|x| ((x.min(3.0) + 0.5) / 6.0).abs().powi(p)).sum();
                close(
                    power_sum_whole(&z, first, 3.0, first + 0.5, 1.0 / 6.0, p.unsigned_abs()),
                    plain,
                );
                close(power_sum_real(&z, first, 3.0, first + 0.5, 1.0 / 6.0, f64::from(p)), plain);
                if let Some(sum) = power_sums(&z, first, 3.0, first + 0.5, 1.0 / 6.0)
                    .get(usize::try_from(p - 1).expect("small"))
                {
                    close(*sum, plain);
                }
            }
            let (mut own_d, mut own_w) = (vec![0.0; z.len()], vec![0.0; z.len()]);
            distances_below(&z, 3.0, &mut own_d);
            exp_scaled(&own_d, 0.7, &mut own_w);
            assert_eq!(own_d, d);
            for power in [1.0, 2.0, 4.0] {
                let sums = moments_then_square(&mut own_w, &own_d);
                let plain =
                    |k: i32| d.iter().zip(&w).map(|(d, w)| d.powi(k) * w.powf(power)).sum::<f64>();
                close(sums[0], plain(0));
                close(sums[1], plain(1));
                close(sums[2], plain(2));
                close(sums[3], plain(3));
            }
        }
    }
}
