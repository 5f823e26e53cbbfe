//! Sums of powers of the deviations of a row, and the norms that they make.
// What is inlined takes on the instruction set of the version that it is inlined into.
#![allow(clippy::inline_always)]

use super::{sums, total};
use crate::elementary::exp;
use crate::row::simd::{Element, LANES, Lanes};
use crate::row::{BATCH, Extent, NO_DEVIATION, log_root, log_share};
use crate::score::max_logit;

/// `|((min(x, ceiling) − top) + offset) · inverse_unit|` as a function of `x`.
#[derive(Debug, Clone, Copy)]
pub(in crate::row) struct Deviation {
    pub(in crate::row) top: f64,
    pub(in crate::row) ceiling: f64,
    pub(in crate::row) offset: f64,
    pub(in crate::row) inverse_unit: f64,
}

/// The same in lanes.
#[derive(Clone, Copy)]
struct DeviationLanes<L> {
    top: L,
    ceiling: L,
    offset: L,
    inverse_unit: L,
}

impl<L: Lanes> DeviationLanes<L> {
    #[inline(always)]
    fn new(deviation: Deviation) -> Self {
        DeviationLanes {
            top: L::splat(deviation.top),
            ceiling: L::splat(deviation.ceiling),
            offset: L::splat(deviation.offset),
            inverse_unit: L::splat(deviation.inverse_unit),
        }
    }

    #[inline(always)]
    fn of(&self, x: L) -> L {
        x.min(self.ceiling).sub(self.top).add(self.offset).mul(self.inverse_unit).abs()
    }
}

/// The sum of the deviations to a whole power `p >= 1`, by repeated squaring.
#[inline(always)]
pub(in crate::row) fn power_sum_whole<L: Lanes, X: Element>(
    z: &[X],
    deviation: Deviation,
    p: u32,
) -> f64 {
    let deviation = DeviationLanes::<L>::new(deviation);
    match p {
        1 => power_sum_known::<L, X, 1>(z, deviation),
        2 => power_sum_known::<L, X, 2>(z, deviation),
        3 => power_sum_known::<L, X, 3>(z, deviation),
        4 => power_sum_known::<L, X, 4>(z, deviation),
        5 => power_sum_known::<L, X, 5>(z, deviation),
        6 => power_sum_known::<L, X, 6>(z, deviation),
        7 => power_sum_known::<L, X, 7>(z, deviation),
        8 => power_sum_known::<L, X, 8>(z, deviation),
        9 => power_sum_known::<L, X, 9>(z, deviation),
        10 => power_sum_known::<L, X, 10>(z, deviation),
        _ => power_sum(z, deviation, p),
    }
}

/// A power that is known when this is compiled is a few multiplications inside the loop.
#[inline(always)]
fn power_sum_known<L: Lanes, X: Element, const P: u32>(
    z: &[X],
    deviation: DeviationLanes<L>,
) -> f64 {
    power_sum(z, deviation, P)
}

#[inline(always)]
fn power_sum<L: Lanes, X: Element>(z: &[X], deviation: DeviationLanes<L>, p: u32) -> f64 {
    let [sum] = sums(
        z,
        #[inline(always)]
        |x| [power(deviation.of(x), p)],
    );
    sum
}

/// `x^p` by repeated squaring.
#[inline(always)]
fn power<L: Lanes>(x: L, p: u32) -> L {
    let (mut square, mut power, mut bits) = (x, L::splat(1.0), p);
    while bits > 0 {
        if bits & 1 == 1 {
            power = power.mul(square);
        }
        bits >>= 1;
        square = square.mul(square);
    }
    power
}

/// [`power`] of one number, to the same bits.
pub(in crate::row) fn whole_power(x: f64, p: u32) -> f64 {
    power([x; LANES], p)[0]
}

/// The sum of the deviations to any real power `p > 0`.
#[inline(always)]
pub(in crate::row) fn power_sum_real<L: Lanes, X: Element>(
    z: &[X],
    deviation: Deviation,
    p: f64,
) -> f64 {
    let deviation = DeviationLanes::<L>::new(deviation);
    let [sum] = sums(
        z,
        #[inline(always)]
        |x: L| {
            let mut chunk = [0.0; LANES];
            deviation.of(x).store(&mut chunk);
            [L::of_double(&chunk.map(|x| x.powf(p)))]
        },
    );
    sum
}

/// How many whole powers [`power_sums`] adds up.
pub(in crate::row) const POWERS: usize = 10;

/// The sums of the deviations to the powers `1, 2, …, POWERS`, by multiplication.
#[inline(always)]
pub(in crate::row) fn power_sums<L: Lanes, X: Element>(
    z: &[X],
    deviation: Deviation,
) -> [f64; POWERS] {
    let deviation = DeviationLanes::<L>::new(deviation);
    let mut sums = [L::splat(0.0); POWERS];
    let (chunks, rest) = z.as_chunks::<LANES>();
    for chunk in chunks {
        let x = deviation.of(X::load(chunk));
        let mut power = x;
        for sum in &mut sums {
            *sum = sum.add(power);
            power = power.mul(x);
        }
    }
    if let Some(&filler) = rest.first() {
        let mut chunk = [filler; LANES];
        for (to, &from) in chunk.iter_mut().zip(rest) {
            *to = from;
        }
        // Powers of zero add nothing.
        let x = deviation.of(X::load(&chunk)).first(rest.len());
        let mut power = x;
        for sum in &mut sums {
            *sum = sum.add(power);
            power = power.mul(x);
        }
    }
    let mut out = [0.0; POWERS];
    for (out, sum) in out.iter_mut().zip(sums) {
        *out = total(sum);
    }
    out
}

/// MaxLogit under the norms with whole p from 1 on, from the sums of the powers of the deviations without
/// the top class.
#[inline(always)]
pub(in crate::row) fn max_logits_of<L: Lanes>(
    extent: &Extent,
    rests: &[f64; POWERS],
) -> [f64; BATCH] {
    let &Extent { top, largest, .. } = extent;
    let mut out = [0.0; BATCH];
    if largest < NO_DEVIATION {
        return out;
    }
    let log_roots = log_roots_of(extent, rests);
    for (out, &log_root) in out.iter_mut().zip(&log_roots) {
        *out = max_logit::normalised(top, log_share(top, largest, log_root));
    }
    out
}

/// The norms with whole p from 1 on, and `−ln |u_1|` under each.
#[inline(always)]
pub(in crate::row) fn norms_of<L: Lanes>(
    extent: &Extent,
    rests: &[f64; POWERS],
) -> [(f64, f64); BATCH] {
    let &Extent { top, largest, .. } = extent;
    let mut out = [(1.0, f64::INFINITY); BATCH];
    if largest < NO_DEVIATION {
        return out;
    }
    let log_roots = log_roots_of(extent, rests);
    for (out, &log_root) in out.iter_mut().zip(&log_roots) {
        *out = (largest * exp(log_root), log_share(top, largest, log_root));
    }
    out
}

/// The logarithm of the norm with each whole p, in units of the largest deviation.
#[inline(always)]
fn log_roots_of(extent: &Extent, rests: &[f64; POWERS]) -> [f64; BATCH] {
    let (mut sums, mut powers, mut exponents) = ([1.0; BATCH], [1.0; BATCH], [1.0; BATCH]);
    for (k, &rest) in rests.iter().enumerate() {
        (sums[k], exponents[k]) = (rest, (k + 1) as f64);
    }
    if extent.top != extent.largest {
        let share = (extent.top / extent.largest).abs();
        for (power, p) in powers.iter_mut().zip(1..) {
            *power = whole_power(share, p);
        }
    }
    std::array::from_fn(|k| log_root(extent, sums[k], powers[k], exponents[k]))
}
