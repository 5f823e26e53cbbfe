//! The loops over classes, each written once over [`Lanes`] and [`Element`]. [`super::simd`] compiles
//! them for each instruction set.
//!
//! Every sum runs in a fixed number of lanes and every fused multiply-add is written as such, so that
//! the result does not depend on the instruction set.
// What is inlined takes on the instruction set of the version that it is inlined into.
#![allow(clippy::inline_always)]

mod norms;
mod survey;

use super::simd::{Element, LANES, Lanes, announce, exp2_of_non_positive};
use super::table::Stretches;
use super::{BATCH, Scaled, TailTable};
use crate::elementary::ln;
use crate::estimator::resolved;
use crate::score::{Score, softmax};
pub(super) use norms::{
    Deviation, POWERS, max_logits_of, norms_of, power_sum_real, power_sum_whole, power_sums,
    whole_power,
};
use std::f64::consts::LOG2_E;
pub(crate) use survey::Survey;
pub(super) use survey::{position, rank, survey};

/// Sums of functions of every element, side by side. As many sums as the latency of an addition
/// takes turns.
#[inline(always)]
fn sums<L: Lanes, X: Element, const N: usize>(z: &[X], f: impl Fn(L) -> [L; N]) -> [f64; N] {
    sums_with(z, announce, f)
}

/// [`sums`], with something to do before each block.
#[inline(always)]
fn sums_with<L: Lanes, X: Element, const N: usize>(
    z: &[X],
    before: impl Fn(&[[X; LANES]]),
    f: impl Fn(L) -> [L; N],
) -> [f64; N] {
    const TURNS: usize = 4;
    let mut sums = [[L::splat(0.0); N]; TURNS];
    let (chunks, rest) = z.as_chunks::<LANES>();
    let (blocks, chunks) = chunks.as_chunks::<TURNS>();
    for block in blocks {
        before(block);
        for (sums, chunk) in sums.iter_mut().zip(block) {
            let values = f(X::load(chunk));
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = sum.add(value);
            }
        }
    }
    for (sums, chunk) in sums.iter_mut().zip(chunks) {
        let values = f(X::load(chunk));
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = sum.add(value);
        }
    }
    if let Some(&filler) = rest.first() {
        let mut chunk = [filler; LANES];
        for (to, &from) in chunk.iter_mut().zip(rest) {
            *to = from;
        }
        let values = f(X::load(&chunk));
        for (sum, value) in sums[TURNS - 1].iter_mut().zip(values) {
            *sum = sum.add(value.first(rest.len()));
        }
    }
    let [a, b, c, d] = sums;
    let mut out = [0.0; N];
    for (k, out) in out.iter_mut().enumerate() {
        *out = total(a[k].add(b[k]).add(c[k].add(d[k])));
    }
    out
}

/// The sum of the lanes, in pairs: a chain of additions would wait for each of them.
#[inline(always)]
fn total<L: Lanes>(lanes: L) -> f64 {
    let mut chunk = [0.0; LANES];
    lanes.store(&mut chunk);
    let [a, b, c, d, e, f, g, h] = chunk;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// `Σ (z_j − top)`. Differences first: the sum does not see a constant added to the row.
#[inline(always)]
pub(super) fn sum_below<L: Lanes, X: Element>(z: &[X], top: f64) -> f64 {
    let top = L::splat(top);
    // Another loop over the row follows, which takes longer and announces more evenly.
    let [sum] = sums_with(
        z,
        #[inline(always)]
        |_| (),
        #[inline(always)]
        |x: L| [x.sub(top)],
    );
    sum
}

/// `exp(β (min(x, ceiling) − ceiling))` as a function of `x`.
#[derive(Clone, Copy)]
struct ExpBelow<L> {
    ceiling: L,
    rate: L,
}

impl<L: Lanes> ExpBelow<L> {
    #[inline(always)]
    fn new(ceiling: f64, beta: f64) -> Self {
        ExpBelow { ceiling: L::splat(ceiling), rate: L::splat(beta * LOG2_E) }
    }

    /// The exponential, and the difference.
    #[inline(always)]
    fn of(&self, x: L) -> (L, L) {
        let below = x.sub(self.ceiling).min(L::splat(0.0));
        (exp2_of_non_positive(below.mul(self.rate)), below)
    }
}

/// `Σ exp(β (min(z_j, ceiling) − ceiling))`: every value above the ceiling counts as 1.
#[inline(always)]
pub(super) fn sum_exp_below<L: Lanes, X: Element>(z: &[X], ceiling: f64, beta: f64) -> f64 {
    let exp = ExpBelow::new(ceiling, beta);
    let [sum] = sums(
        z,
        #[inline(always)]
        |x: L| [exp.of(x).0],
    );
    sum
}

/// `Σ exp(β d_j)` and `Σ d_j exp(β d_j)` with `d_j = min(z_j, ceiling) − ceiling`.
#[inline(always)]
pub(super) fn sum_exp_and_moment_below<L: Lanes, X: Element>(
    z: &[X],
    ceiling: f64,
    beta: f64,
) -> (f64, f64) {
    let exp = ExpBelow::new(ceiling, beta);
    let [sum, moment] = sums(
        z,
        #[inline(always)]
        |x: L| {
            let (weight, below) = exp.of(x);
            [weight, below.mul(weight)]
        },
    );
    (sum, moment)
}

/// `Σ exp(β d_j)` and `Σ exp(2β d_j)` with `d_j = min(z_j, ceiling) − ceiling`.
#[inline(always)]
pub(super) fn sum_exp_and_square_below<L: Lanes, X: Element>(
    z: &[X],
    ceiling: f64,
    beta: f64,
) -> (f64, f64) {
    let exp = ExpBelow::new(ceiling, beta);
    let [sum, squares] = sums(
        z,
        #[inline(always)]
        |x: L| {
            let (weight, _) = exp.of(x);
            [weight, weight.mul(weight)]
        },
    );
    (sum, squares)
}

/// `Σ (exp(β d_j) − mean)²` with `d_j = min(z_j, ceiling) − ceiling`.
#[inline(always)]
pub(super) fn sum_exp_deviation_below<L: Lanes, X: Element>(
    z: &[X],
    ceiling: f64,
    beta: f64,
    mean: f64,
) -> f64 {
    let exp = ExpBelow::new(ceiling, beta);
    let mean = L::splat(mean);
    let [sum] = sums(
        z,
        #[inline(always)]
        |x: L| {
            let deviation = exp.of(x).0.sub(mean);
            [deviation.mul(deviation)]
        },
    );
    sum
}

/// `min(z_j, ceiling) − ceiling`.
#[inline(always)]
pub(super) fn distances_below<L: Lanes, X: Element>(z: &[X], ceiling: f64, d: &mut Vec<f64>) {
    d.clear();
    d.extend(z.iter().map(|&x| {
        let x: f64 = x.into();
        if x < ceiling { x - ceiling } else { 0.0 }
    }));
}

/// Moves the numbers below a limit to the end, and returns how many are not; without branches, which no
/// processor could predict.
pub(super) fn split_off_below(d: &mut [f64], limit: f64, below: &mut Vec<f64>) -> usize {
    below.resize(d.len().max(below.len()), 0.0);
    let (mut kept, mut moved) = (0, 0);
    for i in 0..d.len() {
        let x = d[i];
        d[kept] = x;
        below[moved] = x;
        let keep = usize::from(x >= limit);
        kept += keep;
        moved += 1 - keep;
    }
    d[kept..].copy_from_slice(&below[..moved]);
    kept
}

/// Octaves of `β` that [`moments`] goes through: each is the square of the last, which doubles the
/// relative error, so that no more than three digits of sixteen are lost.
pub(super) const OCTAVES: usize = 10;

/// Classes that are taken through all octaves before the next: their numbers stay in the fastest
/// cache.
const BLOCK: usize = 256;

/// `w`, `d`, `d²` and `d³` of some classes, on the lines of the cache: a load from two takes twice as
/// long.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Terms([[f64; LANES]; 4]);

/// `w = exp(β d)` in the first lanes, and the powers of `d`.
#[inline(always)]
fn fill<L: Lanes>(Terms(to): &mut Terms, d: L, rate: L, count: usize) {
    let square = d.mul(d);
    exp2_of_non_positive(d.mul(rate)).first(count).store(&mut to[0]);
    d.store(&mut to[1]);
    square.store(&mut to[2]);
    square.mul(d).store(&mut to[3]);
}

/// `Σ w_j d_j^k` for `k = 0, 1, 2, 3`, with `w_j = exp(β d_j)` and `d_j <= 0`, at `β`, `2β`, `4β` and
/// so on; in each octave over the first `active` classes, and over some of the others, which must be
/// as good as zero.
#[inline(always)]
pub(super) fn moments<L: Lanes>(
    d: &[f64],
    beta: f64,
    active: &[usize; OCTAVES],
) -> [[f64; 4]; OCTAVES] {
    let rate = L::splat(beta * LOG2_E);
    let zero = L::splat(0.0);
    let mut sums = [[zero; 4]; OCTAVES];
    let mut scratch = [Terms([[0.0; LANES]; 4]); BLOCK / LANES];
    let first = active[0].min(d.len());
    for start in (0..first).step_by(BLOCK) {
        let block = &d[start..first.min(start + BLOCK)];
        let (chunks, rest) = block.as_chunks::<LANES>();
        for (to, chunk) in scratch.iter_mut().zip(chunks) {
            fill(to, L::of_double(chunk), rate, LANES);
        }
        if !rest.is_empty() {
            let mut chunk = [0.0; LANES];
            for (to, &from) in chunk.iter_mut().zip(rest) {
                *to = from;
            }
            fill(&mut scratch[chunks.len()], L::of_double(&chunk), rate, rest.len());
        }
        // Two octaves at a time: each number is loaded half as often, and no sum waits for itself.
        let (pairs, _) = sums.as_chunks_mut::<2>();
        for (pair, [near, far]) in pairs.iter_mut().enumerate() {
            let used = active[2 * pair].saturating_sub(start).min(block.len()).div_ceil(LANES);
            if used == 0 {
                break;
            }
            for Terms([w_slot, d, d2, d3]) in &mut scratch[..used] {
                let (d, d2, d3) = (L::of_double(d), L::of_double(d2), L::of_double(d3));
                let w = L::of_double(w_slot);
                let w2 = w.mul(w);
                near[0] = near[0].add(w);
                near[1] = w.mul_add(d, near[1]);
                near[2] = w.mul_add(d2, near[2]);
                near[3] = w.mul_add(d3, near[3]);
                far[0] = far[0].add(w2);
                far[1] = w2.mul_add(d, far[1]);
                far[2] = w2.mul_add(d2, far[2]);
                far[3] = w2.mul_add(d3, far[3]);
                w2.mul(w2).store(w_slot);
            }
        }
    }
    let mut out = [[0.0; 4]; OCTAVES];
    for (out, sums) in out.iter_mut().zip(&sums) {
        for (out, &sum) in out.iter_mut().zip(sums) {
            *out = total(sum);
        }
    }
    out
}

/// The confidence of a row at several scales. Without branches in the formulas, the loop over the scales is
/// vectorised.
#[inline(always)]
pub(super) fn confidences_at_scales<L: Lanes>(score: Score, row: &Scaled) -> [f64; BATCH] {
    let mut out: [f64; BATCH] = score.confidences(
        #[inline(always)]
        |k| row.at(k),
    );
    for confidence in &mut out {
        *confidence = resolved(*confidence);
    }
    out
}

/// The values and the slopes of a table at several scales, of which the logarithms are given, as far as
/// there are nodes around them; and whether there are none around some.
#[inline(always)]
pub(super) fn interpolate<L: Lanes>(
    table: &TailTable,
    log_betas: &[f64; BATCH],
    values: &mut [f64; BATCH],
    slopes: Option<&mut [f64; BATCH]>,
) -> bool {
    let (stretches, outside) = table.stretches(log_betas);
    let mut ends = [&[0.0; 8]; BATCH];
    for (ends, &node) in ends.iter_mut().zip(&stretches.nodes) {
        *ends = table.ends(node);
    }
    stretches.interpolate(&transposed::<L>(&ends), values, slopes);
    outside
}

/// The values and the slopes in several stretches, of which the ends are given.
#[inline(always)]
pub(super) fn interpolate_ends<L: Lanes>(
    ends: &[&[f64; 8]; BATCH],
    stretches: &Stretches,
    values: &mut [f64; BATCH],
    slopes: &mut [f64; BATCH],
) {
    stretches.interpolate(&transposed::<L>(ends), values, Some(slopes));
}

/// The first numbers of all, then the second ones, and so on.
#[inline(always)]
fn transposed<L: Lanes>(all: &[&[f64; 8]; BATCH]) -> [[f64; BATCH]; 8] {
    let mut out = [[0.0; BATCH]; 8];
    let (chunks, _) = all.as_chunks::<LANES>();
    for (first, chunk) in (0..).step_by(LANES).zip(chunks) {
        let columns: [L; LANES] = L::transposed(*chunk);
        for (out, column) in out.iter_mut().zip(columns) {
            let mut part = [0.0; LANES];
            column.store(&mut part);
            out[first..first + LANES].copy_from_slice(&part);
        }
    }
    out
}

/// `ln(1 + e^x)` of several numbers.
#[inline(always)]
pub(super) fn softplus_each<L: Lanes>(x: &mut [f64; BATCH]) {
    for x in x {
        *x = softmax::softplus(*x);
    }
}

/// `1 / (1 + e^−x)` of several numbers.
#[inline(always)]
pub(super) fn sigmoid_each<L: Lanes>(x: &mut [f64; BATCH]) {
    for x in x {
        *x = softmax::sigmoid(*x);
    }
}

/// The products of a column with others, each in eight sums.
#[inline(always)]
pub(super) fn dots<L: Lanes>(column: &[f64], others: &[&[f64]], products: &mut [f64]) {
    // Four at a time: one alone would wait for each of its additions.
    let mut groups = others.chunks_exact(4).zip(products.chunks_exact_mut(4));
    for (others, products) in &mut groups {
        dots_at_once::<L, 4>(column, others, products);
    }
    let done = others.len() / 4 * 4;
    for (other, product) in others[done..].iter().zip(&mut products[done..]) {
        dots_at_once::<L, 1>(column, &[other], std::slice::from_mut(product));
    }
}

#[inline(always)]
fn dots_at_once<L: Lanes, const N: usize>(column: &[f64], others: &[&[f64]], products: &mut [f64]) {
    let (chunks, rest) = column.as_chunks::<LANES>();
    let others: [(&[[f64; LANES]], &[f64]); N] =
        std::array::from_fn(|k| others[k][..column.len()].as_chunks::<LANES>());
    let mut sums = [L::splat(0.0); N];
    for (at, chunk) in chunks.iter().enumerate() {
        let chunk = L::of_double(chunk);
        for k in 0..N {
            sums[k] = sums[k].add(chunk.mul(L::of_double(&others[k].0[at])));
        }
    }
    for k in 0..N {
        let mut lanes = [0.0; LANES];
        sums[k].store(&mut lanes);
        let rest: f64 = rest.iter().zip(others[k].1).map(|(a, b)| a * b).sum();
        products[k] = lanes.iter().sum::<f64>() + rest;
    }
}

/// `ln x` of several numbers.
#[inline(always)]
pub(super) fn ln_each<L: Lanes>(x: &mut [f64; BATCH]) {
    for x in x {
        *x = ln(*x);
    }
}

#[cfg(test)]
mod tests;
