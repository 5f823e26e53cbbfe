//! The loops over classes, each written once over [`Lanes`] and [`Element`]. [`super::simd`] compiles
//! them for each instruction set.
//!
//! Every sum runs in a fixed number of lanes and every fused multiply-add is written as such, so that
//! the result does not depend on the instruction set.
// What is inlined takes on the instruction set of the version that it is inlined into.
#![allow(clippy::inline_always)]

use super::simd::{Element, LANES, Lanes, announce, exp2_of_non_positive};
use super::table::Stretches;
use super::{AT_ONCE, Extent, NO_DEVIATION, Scaled, TailTable, log_root, log_share};
use crate::elementary::{exp, ln};
use crate::estimator::resolved;
use crate::score::{Score, max_logit, softmax};
use std::f64::consts::LOG2_E;

/// Numbers that are compared at once: two AVX-512 registers in single precision, so that a comparison
/// need not wait for the last one.
const WIDTH: usize = 32;

/// What the first look at a row finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Survey {
    /// The largest value.
    pub(crate) top: f64,
    /// The second largest; `-inf` for a single value.
    pub(crate) second: f64,
    /// The smallest.
    pub(crate) smallest: f64,
    /// The largest magnitude; infinite or NaN if one of the values is.
    pub(crate) magnitude: f64,
}

/// The two largest values, the smallest and the largest magnitude of some lanes or numbers.
#[derive(Clone, Copy)]
struct Seen<X: Element> {
    first: X,
    second: X,
    smallest: X,
    magnitude: X::Magnitude,
}

impl<X: Element> Seen<X> {
    const NOTHING: Self = Seen {
        first: X::NEG_INFINITY,
        second: X::NEG_INFINITY,
        smallest: X::INFINITY,
        magnitude: X::NO_MAGNITUDE,
    };

    #[inline(always)]
    fn and(self, x: X) -> Self {
        let smaller = if x < self.first { x } else { self.first };
        Seen {
            first: if x > self.first { x } else { self.first },
            second: if smaller > self.second { smaller } else { self.second },
            smallest: if x < self.smallest { x } else { self.smallest },
            magnitude: self.magnitude.max(x.magnitude()),
        }
    }
}

/// What was seen in each of [`WIDTH`] lanes.
struct SeenInLanes<X: Element> {
    first: [X; WIDTH],
    second: [X; WIDTH],
    smallest: [X; WIDTH],
    magnitude: [X::Magnitude; WIDTH],
}

impl<X: Element> SeenInLanes<X> {
    const NOTHING: Self = SeenInLanes {
        first: [X::NEG_INFINITY; WIDTH],
        second: [X::NEG_INFINITY; WIDTH],
        smallest: [X::INFINITY; WIDTH],
        magnitude: [X::NO_MAGNITUDE; WIDTH],
    };

    /// Takes in a number in each lane: one of `high` for the largest two, one of `low` for the others.
    #[inline(always)]
    fn take(&mut self, high: &[X; WIDTH], low: &[X; WIDTH]) {
        let SeenInLanes { first, second, smallest, magnitude } = self;
        for i in 0..WIDTH {
            let smaller = if high[i] < first[i] { high[i] } else { first[i] };
            first[i] = if high[i] > first[i] { high[i] } else { first[i] };
            second[i] = if smaller > second[i] { smaller } else { second[i] };
            smallest[i] = if low[i] < smallest[i] { low[i] } else { smallest[i] };
            magnitude[i] = magnitude[i].max(low[i].magnitude());
        }
    }

    /// Takes in fewer numbers than lanes.
    #[inline(always)]
    fn take_rest(&mut self, rest: &[X]) {
        let Some(&filler) = rest.first() else { return };
        // A number that is there twice would be the second of itself.
        let (mut high, mut low) = ([X::NEG_INFINITY; WIDTH], [filler; WIDTH]);
        for ((high, low), &x) in high.iter_mut().zip(&mut low).zip(rest) {
            (*high, *low) = (x, x);
        }
        self.take(&high, &low);
    }

    /// All lanes, by halves: one lane after the other would take longer than the loop.
    #[inline(always)]
    fn together(self) -> Seen<X> {
        let SeenInLanes { mut first, mut second, mut smallest, mut magnitude } = self;
        let mut half = WIDTH / 2;
        while half > 0 {
            for i in 0..half {
                let (a, b) = (first[i], first[i + half]);
                let (lower, higher) = if a < b { (a, b) } else { (b, a) };
                let (c, d) = (second[i], second[i + half]);
                let others = if c > d { c } else { d };
                first[i] = higher;
                second[i] = if lower > others { lower } else { others };
                let (a, b) = (smallest[i], smallest[i + half]);
                smallest[i] = if a < b { a } else { b };
                magnitude[i] = magnitude[i].max(magnitude[i + half]);
            }
            half /= 2;
        }
        Seen { first: first[0], second: second[0], smallest: smallest[0], magnitude: magnitude[0] }
    }
}

/// The largest and the smallest values, and whether all are finite.
#[inline(always)]
pub(super) fn survey<L: Lanes, X: Element>(z: &[X]) -> Survey {
    let (chunks, rest) = z.as_chunks::<WIDTH>();
    let seen = if chunks.is_empty() {
        rest.iter().fold(Seen::NOTHING, |seen, &x| seen.and(x))
    } else {
        let mut lanes = SeenInLanes::NOTHING;
        for chunk in chunks {
            lanes.take(chunk, chunk);
        }
        lanes.take_rest(rest);
        lanes.together()
    };
    Survey {
        top: seen.first.into(),
        second: seen.second.into(),
        smallest: seen.smallest.into(),
        magnitude: X::of_magnitude(seen.magnitude),
    }
}

/// The first place of a value; 0 if it is not there.
#[inline(always)]
pub(super) fn position<L: Lanes, X: Element>(z: &[X], value: f64) -> usize {
    let value = X::of(value);
    let (chunks, rest) = z.as_chunks::<WIDTH>();
    for (k, chunk) in chunks.iter().enumerate() {
        // Counting has no early end, which would keep the loop from being vectorised.
        if chunk.iter().filter(|&&x| x == value).count() > 0 {
            return k * WIDTH + chunk.iter().position(|&x| x == value).unwrap_or(0);
        }
    }
    rest.iter().position(|&x| x == value).map_or(0, |i| chunks.len() * WIDTH + i)
}

/// How many values come before that of `label` when sorted, ties in class order.
#[inline(always)]
pub(super) fn rank<L: Lanes, X: Element>(z: &[X], label: usize) -> usize {
    let value = z[label];
    let before = z[..label].iter().filter(|&&x| x >= value).count();
    before + z[label + 1..].iter().filter(|&&x| x > value).count()
}

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

/// `|((min(x, ceiling) − top) + offset) · inverse_unit|` as a function of `x`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deviation {
    pub(super) top: f64,
    pub(super) ceiling: f64,
    pub(super) offset: f64,
    pub(super) inverse_unit: f64,
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
pub(super) fn power_sum_whole<L: Lanes, X: Element>(z: &[X], deviation: Deviation, p: u32) -> f64 {
    let deviation = DeviationLanes::<L>::new(deviation);
    // A power that is known when this is compiled is a few multiplications inside the loop.
    let [sum] = match p {
        1 => sums(
            z,
            #[inline(always)]
            |x| [power(deviation.of(x), 1)],
        ),
        2 => sums(
            z,
            #[inline(always)]
            |x| [power(deviation.of(x), 2)],
        ),
        3 => sums(
            z,
            #[inline(always)]
            |x| [power(deviation.of(x), 3)],
        ),
        4 => sums(
            z,
            #[inline(always)]
            |x| [power(deviation.of(x), 4)],
        ),
        5 => sums(
            z,
            #[inline(always)]
            |x| [power(deviation.of(x), 5)],
        ),
        6 => sums(
            z,
            #[inline(always)]
            |x| [power(deviation.of(x), 6)],
        ),
        7 => sums(
            z,
            #[inline(always)]
            |x| [power(deviation.of(x), 7)],
        ),
        8 => sums(
            z,
            #[inline(always)]
            |x| [power(deviation.of(x), 8)],
        ),
        9 => sums(
            z,
            #[inline(always)]
            |x| [power(deviation.of(x), 9)],
        ),
        10 => sums(
            z,
            #[inline(always)]
            |x| [power(deviation.of(x), 10)],
        ),
        _ => sums(
            z,
            #[inline(always)]
            |x| [power(deviation.of(x), p)],
        ),
    };
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
pub(super) fn whole_power(x: f64, p: u32) -> f64 {
    power([x; LANES], p)[0]
}

/// The sum of the deviations to any real power `p > 0`.
#[inline(always)]
pub(super) fn power_sum_real<L: Lanes, X: Element>(z: &[X], deviation: Deviation, p: f64) -> f64 {
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
pub(super) const POWERS: usize = 10;

/// The sums of the deviations to the powers `1, 2, …, POWERS`, by multiplication.
#[inline(always)]
pub(super) fn power_sums<L: Lanes, X: Element>(z: &[X], deviation: Deviation) -> [f64; POWERS] {
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
pub(super) fn confidences_at_scales<L: Lanes>(score: Score, row: &Scaled) -> [f64; AT_ONCE] {
    let mut out: [f64; AT_ONCE] = score.confidences(
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
    log_betas: &[f64; AT_ONCE],
    values: &mut [f64; AT_ONCE],
    slopes: Option<&mut [f64; AT_ONCE]>,
) -> bool {
    let (stretches, outside) = table.stretches(log_betas);
    let mut ends = [&[0.0; 8]; AT_ONCE];
    for (ends, &node) in ends.iter_mut().zip(&stretches.nodes) {
        *ends = table.ends(node);
    }
    stretches.interpolate(&transposed::<L>(&ends), values, slopes);
    outside
}

/// The values and the slopes in several stretches, of which the ends are given.
#[inline(always)]
pub(super) fn interpolate_ends<L: Lanes>(
    ends: &[&[f64; 8]; AT_ONCE],
    stretches: &Stretches,
    values: &mut [f64; AT_ONCE],
    slopes: &mut [f64; AT_ONCE],
) {
    stretches.interpolate(&transposed::<L>(ends), values, Some(slopes));
}

/// The first numbers of all, then the second ones, and so on.
#[inline(always)]
fn transposed<L: Lanes>(all: &[&[f64; 8]; AT_ONCE]) -> [[f64; AT_ONCE]; 8] {
    let mut out = [[0.0; AT_ONCE]; 8];
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
pub(super) fn softplus_each<L: Lanes>(x: &mut [f64; AT_ONCE]) {
    for x in x {
        *x = softmax::softplus(*x);
    }
}

/// `1 / (1 + e^−x)` of several numbers.
#[inline(always)]
pub(super) fn sigmoid_each<L: Lanes>(x: &mut [f64; AT_ONCE]) {
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
pub(super) fn ln_each<L: Lanes>(x: &mut [f64; AT_ONCE]) {
    for x in x {
        *x = ln(*x);
    }
}

/// MaxLogit under the norms with whole p from 1 on, from the sums of the powers of the deviations without
/// the top class.
#[inline(always)]
pub(super) fn max_logits_of<L: Lanes>(extent: &Extent, rests: &[f64; POWERS]) -> [f64; AT_ONCE] {
    let &Extent { top, largest, .. } = extent;
    let mut out = [0.0; AT_ONCE];
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
pub(super) fn norms_of<L: Lanes>(extent: &Extent, rests: &[f64; POWERS]) -> [(f64, f64); AT_ONCE] {
    let &Extent { top, largest, .. } = extent;
    let mut out = [(1.0, f64::INFINITY); AT_ONCE];
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
fn log_roots_of(extent: &Extent, rests: &[f64; POWERS]) -> [f64; AT_ONCE] {
    let (mut sums, mut powers, mut exponents) = ([1.0; AT_ONCE], [1.0; AT_ONCE], [1.0; AT_ONCE]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::simd::{self, Instructions, Slice};

    #[test]
    fn exp2_agrees_with_the_standard_library() {
        let exp2 = |x: f64| exp2_of_non_positive([x; LANES])[0];
        let mut worst: f64 = 0.0;
        for i in 0..2_000_000 {
            let x = -f64::from(i) * 5e-4;
            worst = worst.max((exp2(x) / x.exp2() - 1.0).abs());
        }
        assert!(worst < 4.5e-16, "relative error {worst:e}");
        assert_eq!(exp2(0.0), 1.0);
        assert_eq!(exp2(-1.0), 0.5);
        assert_eq!(exp2(-1e300), 2.0 * f64::MIN_POSITIVE);
        assert_eq!(exp2(f64::NEG_INFINITY), 2.0 * f64::MIN_POSITIVE);
    }

    /// Lengths around the sizes of lanes and blocks, so that every remainder is met.
    fn lengths() -> impl Iterator<Item = i32> {
        (1..80).chain([127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1001])
    }

    fn row(n: i32) -> (Vec<f64>, Vec<f32>) {
        let z: Vec<f64> = (0..n).map(|i| f64::from((i * 7919) % 101) * 0.1 - 4.0).collect();
        #[expect(clippy::cast_possible_truncation)]
        let single = z.iter().map(|&x| x as f32).collect();
        (z, single)
    }

    fn deviation(top: f64) -> Deviation {
        Deviation { top, ceiling: 3.0, offset: top + 0.5, inverse_unit: 1.0 / 6.0 }
    }

    #[test]
    fn loops_agree_with_their_plain_forms_at_every_length() {
        for n in lengths() {
            let (z, _) = row(n);
            let slice = Slice::Double(&z);
            let close = |a: f64, b: f64| assert!((a - b).abs() <= 2e-13 * b.abs(), "{n}: {a} {b}");
            let mut sorted = z.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let survey = simd::survey(slice);
            let first = sorted[0];
            assert_eq!(survey.top, first);
            assert_eq!(survey.second, sorted.get(1).copied().unwrap_or(f64::NEG_INFINITY));
            assert_eq!(survey.smallest, sorted[sorted.len() - 1]);
            assert_eq!(survey.magnitude, z.iter().fold(0.0, |m, x| x.abs().max(m)));
            let place = z.iter().position(|&x| x == first).expect("the largest is there");
            assert_eq!(simd::position(slice, first), place);
            for label in 0..z.len() {
                let plain = z
                    .iter()
                    .enumerate()
                    .filter(|&(j, &x)| x > z[label] || (x == z[label] && j < label));
                assert_eq!(simd::rank(slice, label), plain.count());
            }
            close(simd::sum_below(slice, first), z.iter().map(|x| x - first).sum());
            let d: Vec<f64> = z.iter().map(|x| x.min(3.0) - 3.0).collect();
            let w: Vec<f64> = d.iter().map(|d| (0.7 * d).exp()).collect();
            close(simd::sum_exp_below(slice, 3.0, 0.7), w.iter().sum());
            let (sum, moment) = simd::sum_exp_and_moment_below(slice, 3.0, 0.7);
            close(sum, w.iter().sum());
            close(moment, d.iter().zip(&w).map(|(d, w)| d * w).sum());
            let (sum, squares) = simd::sum_exp_and_square_below(slice, 3.0, 0.7);
            close(sum, w.iter().sum());
            close(squares, w.iter().map(|w| w * w).sum());
            close(
                simd::sum_exp_deviation_below(slice, 3.0, 0.7, 0.3),
                w.iter().map(|w| (w - 0.3).powi(2)).sum(),
            );
            let powers = simd::power_sums(slice, deviation(first));
            for p in 1..12_u16 {
                let plain = z.iter().map(|x| ((x.min(3.0) + 0.5) / 6.0).abs().powi(p.into())).sum();
                close(simd::power_sum_whole(slice, deviation(first), p.into()), plain);
                close(simd::power_sum_real(slice, deviation(first), p.into()), plain);
                if let Some(&sum) = powers.get(usize::from(p) - 1) {
                    close(sum, plain);
                }
            }
            let mut found = Vec::new();
            simd::distances_below(slice, 3.0, &mut found);
            assert_eq!(found, d);
            let sums = simd::moments(&d, 0.7, &[d.len(); OCTAVES]);
            for (octave, sums) in (0..).zip(sums) {
                let power = 2_f64.powi(octave);
                let plain =
                    |k: i32| d.iter().zip(&w).map(|(d, w)| d.powi(k) * w.powf(power)).sum::<f64>();
                for (k, sum) in (0..).zip(sums) {
                    // Each squaring doubles the relative error.
                    let (a, b) = (sum, plain(k));
                    assert!((a - b).abs() <= 1e-13 * power * b.abs(), "{n}, {octave}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn numbers_that_are_not_finite_are_seen_wherever_they_are() {
        for n in [1, 7, 8, 31, 32, 33, 64, 65, 100] {
            for bad in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                for place in 0..n {
                    let mut single = vec![0.5_f32; n];
                    single[place] = bad;
                    let double: Vec<f64> = single.iter().map(|&x| x.into()).collect();
                    for slice in [Slice::Single(&single), Slice::Double(&double)] {
                        assert!(!simd::survey(slice).magnitude.is_finite(), "{n} {bad} {place}");
                    }
                }
            }
        }
    }

    /// A column with six others that are made of it.
    fn products(column: &[f64]) -> [f64; 6] {
        let others: [Vec<f64>; 6] = std::array::from_fn(|k| {
            column.iter().zip(0..).map(|(x, i)| x.sin() + f64::from(i % 5) * k as f64).collect()
        });
        let mut products = [0.0; 6];
        simd::dots(column, &others.each_ref().map(|other| &other[..]), &mut products);
        for (other, product) in others.iter().zip(products) {
            let plain: f64 = column.iter().zip(other).map(|(a, b)| a * b).sum();
            assert!((plain - product).abs() <= 1e-9 * plain.abs().max(1.0), "{plain} {product}");
        }
        products
    }

    /// All results of all loops, as bits.
    fn bits(slice: Slice<'_>) -> Vec<u64> {
        let survey = simd::survey(slice);
        let top = survey.top;
        let mut out = vec![survey.second, survey.smallest, survey.magnitude, top];
        out.push(simd::sum_below(slice, top));
        for (ceiling, beta) in [(3.0, 0.7), (top, 1.0), (survey.smallest, 30.0), (top, 1e-3)] {
            out.push(simd::sum_exp_below(slice, ceiling, beta));
            let (a, b) = simd::sum_exp_and_moment_below(slice, ceiling, beta);
            let (c, d) = simd::sum_exp_and_square_below(slice, ceiling, beta);
            out.extend([a, b, c, d, simd::sum_exp_deviation_below(slice, ceiling, beta, 0.3)]);
            let mut distances = Vec::new();
            simd::distances_below(slice, ceiling, &mut distances);
            let active =
                std::array::from_fn(|octave| distances.len() * (OCTAVES - octave) / OCTAVES);
            out.extend(simd::moments(&distances, beta, &active).concat());
            out.extend(products(&distances));
        }
        for p in 1..12_u16 {
            out.push(simd::power_sum_whole(slice, deviation(top), p.into()));
            out.push(simd::power_sum_real(slice, deviation(top), f64::from(p) + 0.5));
        }
        out.extend(simd::power_sums(slice, deviation(top)));
        let mut out: Vec<u64> = out.into_iter().map(f64::to_bits).collect();
        out.push(simd::position(slice, top) as u64);
        out.push(simd::rank(slice, simd::position(slice, survey.smallest)) as u64);
        out
    }

    /// Other tests may run meanwhile: nothing depends on the instructions, as this one shows.
    #[test]
    fn all_instruction_sets_and_precisions_give_the_same_bits() {
        for n in lengths() {
            let (_, mut single) = row(n);
            // Zeros of both signs, numbers that are not normal, and some whose exponentials vanish.
            let hard = [-0.0, 0.0, 1e-40, -1e-45, -3e3, -1e30];
            for (x, hard) in single.iter_mut().skip(3).step_by(7).zip(hard) {
                *x = hard;
            }
            let double: Vec<f64> = single.iter().map(|&x| x.into()).collect();
            let mut found = Vec::new();
            for set in Instructions::ALL {
                if set.limit() == set {
                    found.push((set, bits(Slice::Single(&single)), bits(Slice::Double(&double))));
                }
            }
            Instructions::Avx512.limit();
            for (set, of_single, of_double) in &found {
                assert_eq!(of_single, &found[0].1, "{n}: {set:?}");
                assert_eq!(of_double, &found[0].1, "{n}: {set:?}");
            }
        }
    }
}
