//! The logarithm of a tail sum as a function of the scale, for all scales at once.
//!
//! Scales are measured by the row itself: `x = β (z_2 − z_C)`, the distance from the runner-up to the
//! smallest logit after the transform. Below `x = 2^-4` all terms are nearly equal; the nodes go on until
//! only terms at the runner-up's height are left, wherever that is.

use super::loops::OCTAVES;
use super::{BATCH, Row, Slice, loops, simd};
use crate::elementary::ROUNDER;
use std::f64::consts::LN_2;
use std::sync::Arc;

/// Nodes in each octave from `x = 1` on; below it, where `L` is nearly linear in `β`, there is one.
const PER_OCTAVE: usize = 5;

/// Octaves below `x = 1`.
const COARSE: usize = 4;

/// The first node from `x = 1` on.
const FIRST_FINE: u32 = 4;

/// A weight that even a million equals, times the cube of its deviation, cannot make visible.
const VANISHED: f64 = 1e-24;

/// Octaves from `x = 1` on, if the sum has not settled before: the squares of the weights of even the
/// closest logits have vanished by then.
const FINE: usize = 600;

/// The distance of nodes in `s = ln x`, from `x = 1` on.
const STEP: f64 = LN_2 / PER_OCTAVE as f64;

/// `L(s) = ln Σ_{j≠1} exp(β (z_j − z_2))` with its first three derivatives in `s`, at every node.
///
/// Beyond the last node the function has settled; below the first it is a polynomial in `β` that ends at
/// `L = ln(n − 1)` for `β = 0`.
#[derive(Debug, Clone)]
pub(crate) struct TailTable {
    /// `ln (z_2 − z_C)`; `-inf` if all but the top class are equal, and `L` a constant.
    log_spread: f64,
    /// `L` at `β = 0`: the logarithm of the number of terms.
    log_count: f64,
    /// At each node the first four coefficients of Taylor's series in steps between nodes; none if
    /// only one class is not masked. Shared by the profiles that are selections of others.
    nodes: Arc<[[f64; 4]]>,
}

impl TailTable {
    /// The bytes it takes beside the struct itself.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<[f64; 4]>()
    }

    /// All of its numbers.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        [self.log_spread, self.log_count].iter().chain(self.nodes.as_flattened()).copied().collect()
    }

    /// The table of such numbers.
    pub(crate) fn of_numbers(numbers: &[f64]) -> Option<Self> {
        let (&[log_spread, log_count], nodes) = numbers.split_first_chunk()?;
        let (nodes, rest) = nodes.as_chunks();
        rest.is_empty().then(|| TailTable { log_spread, log_count, nodes: nodes.into() })
    }

    pub(crate) fn new(row: &Row<'_>) -> Self {
        let n = row.z.len();
        let log_count = (n as f64 - 1.0).ln();
        if n == 1 {
            return TailTable { log_spread: 0.0, log_count, nodes: Arc::new([]) };
        }
        let spread = row.second - row.smallest;
        if spread < super::NO_DEVIATION {
            let nodes = Arc::new([[log_count, 0.0, 0.0, 0.0]]);
            return TailTable { log_spread: f64::NEG_INFINITY, log_count, nodes };
        }
        let distances = Distances::new(row, spread);
        let mut coarse_nodes = Vec::with_capacity(COARSE);
        let mut fine_nodes = [(); PER_OCTAVE].map(|()| Vec::with_capacity(2 * OCTAVES));
        // Once the sum has come down to the runner-up and its equals, nothing changes any more.
        let ties = distances.ties();
        for (base, fine_nodes) in fine_nodes.iter_mut().enumerate() {
            // Only the first base has nodes below x = 1.
            let coarse = if base == 0 { COARSE } else { 0 };
            let exponent = base as f64 / PER_OCTAVE as f64 - coarse as f64;
            let mut x = exponent.exp2();
            let octaves = COARSE - coarse..COARSE + FINE;
            'base: for first in octaves.clone().step_by(OCTAVES) {
                let octave_sums = distances.moments(x);
                for (octave, [sum, first, second, third]) in (first..).zip(octave_sums) {
                    // The top class, capped at the runner-up, counts as 1 and deviates by 0.
                    let sum = sum - 1.0;
                    if sum <= ties * (1.0 + 1e-15) || !octaves.contains(&octave) {
                        fine_nodes.push([ties.ln(), 0.0, 0.0, 0.0]);
                        break 'base;
                    }
                    let step = if octave < COARSE { LN_2 } else { STEP };
                    // Derivatives in x are the cumulants of the d_j under their weights; in s = ln x
                    // they mix.
                    let mean = first / sum;
                    let variance = (second / sum - mean * mean).max(0.0);
                    let skew = third / sum - mean * (3.0 * variance + mean * mean);
                    let (one, two, three) = (x * mean, x.powi(2) * variance, x.powi(3) * skew);
                    let node = [
                        sum.ln(),
                        one * step,
                        (one + two) * (step * step / 2.0),
                        (one + 3.0 * two + three) * (step * step * step / 6.0),
                    ];
                    if octave < COARSE {
                        coarse_nodes.push(node);
                    } else {
                        fine_nodes.push(node);
                    }
                    x *= 2.0;
                }
            }
        }
        let octaves = fine_nodes.iter().map(Vec::len).max().unwrap_or(0);
        let settled = [ties.ln(), 0.0, 0.0, 0.0];
        let mut nodes = coarse_nodes;
        nodes.reserve_exact(octaves * PER_OCTAVE + 1);
        for octave in 0..octaves {
            nodes.extend(
                fine_nodes.iter().map(|nodes| nodes.get(octave).copied().unwrap_or(settled)),
            );
        }
        nodes.push(settled);
        TailTable { log_spread: spread.ln(), log_count, nodes: nodes.into() }
    }

    /// `L` at a `β`, of which the logarithm is given, and `dL/d(ln β)`: the mean of `β (z_j − z_2)` under
    /// the weights.
    pub(crate) fn at(&self, log_beta: f64) -> (f64, f64) {
        let position = self.position(log_beta);
        if !self.is_inside(position) {
            return self.beyond(position);
        }
        let node = self.node(position);
        let (left, mut right) = (self.nodes[node as usize], self.nodes[node as usize + 1]);
        if node + 1 == FIRST_FINE {
            in_steps(&mut right, PER_OCTAVE as f64);
        }
        let (value, slope) = interpolated(&left, &right, position - f64::from(node));
        (value, slope / Self::step(node))
    }

    /// The same at several `β` at once; the slopes on request.
    pub(crate) fn at_each(
        &self,
        log_betas: &[f64; BATCH],
        values: &mut [f64; BATCH],
        mut slopes: Option<&mut [f64; BATCH]>,
    ) {
        let beyond = if self.nodes.len() < 2 {
            true
        } else {
            simd::interpolate(self, log_betas, values, slopes.as_deref_mut())
        };
        // What is known without nodes is rare.
        if beyond {
            for k in 0..BATCH {
                let position = self.position(log_betas[k]);
                if !self.is_inside(position) {
                    let (value, slope) = self.beyond(position);
                    values[k] = value;
                    if let Some(slopes) = &mut slopes {
                        slopes[k] = slope;
                    }
                }
            }
        }
    }

    /// The values and the slopes of several tables at one `β`, of which the logarithm is given.
    pub(crate) fn of_each(
        tables: &[&TailTable; BATCH],
        log_beta: f64,
        values: &mut [f64; BATCH],
        slopes: &mut [f64; BATCH],
    ) {
        let mut stretches = Stretches::default();
        let mut ends = [&[0.0; 8]; BATCH];
        let mut outside = false;
        for (k, table) in tables.iter().enumerate() {
            let position = table.position(log_beta);
            if table.is_inside(position) {
                let node = table.node(position);
                stretches.put(k, position, node);
                ends[k] = table.ends(node);
            } else {
                outside = true;
            }
        }
        simd::interpolate_ends(&ends, &stretches, values, slopes);
        if outside {
            for (k, table) in tables.iter().enumerate() {
                let position = table.position(log_beta);
                if !table.is_inside(position) {
                    (values[k], slopes[k]) = table.beyond(position);
                }
            }
        }
    }

    /// The nodes on the left of several `β`, and whether there is none for some.
    #[inline(always)]
    pub(super) fn stretches(&self, log_betas: &[f64; BATCH]) -> (Stretches, bool) {
        let mut stretches = Stretches::default();
        let mut outside = false;
        for (k, &log_beta) in log_betas.iter().enumerate() {
            let position = self.position(log_beta);
            outside |= !self.is_inside(position);
            stretches.put(k, position, self.node(position));
        }
        (stretches, outside)
    }

    /// The numbers of a node, then those of the next.
    #[inline(always)]
    pub(super) fn ends(&self, node: u32) -> &[f64; 8] {
        let numbers = self.nodes.as_flattened();
        numbers[4 * node as usize..].first_chunk().unwrap_or(&[0.0; 8])
    }

    /// Where a `β`, of which the logarithm is given, is among the nodes.
    #[inline(always)]
    fn position(&self, log_beta: f64) -> f64 {
        let octaves = (log_beta + self.log_spread) * (1.0 / LN_2);
        let per_octave = if octaves < 0.0 { 1.0 } else { PER_OCTAVE as f64 };
        COARSE as f64 + octaves * per_octave
    }

    /// Whether a position has nodes on both sides. Without nodes, or one alone, there is none.
    #[inline(always)]
    fn is_inside(&self, position: f64) -> bool {
        position >= 0.0 && position < self.nodes.len() as f64 - 1.0
    }

    /// The node on the left of a position, or the nearest that has another on its right. At a node itself
    /// it may be the one before, which gives the same.
    #[inline(always)]
    fn node(&self, position: f64) -> u32 {
        let last = self.nodes.len() as f64 - 2.0;
        let position = if position < last { position } else { last };
        let position = if position > 0.0 { position } else { 0.0 };
        // Rounded down by an addition: a conversion with its checks would not be vectorised.
        #[expect(clippy::cast_possible_truncation, reason = "the low bits are the node")]
        let node = ((position - 0.5) + ROUNDER).to_bits() as u32;
        node
    }

    /// The distance from a node to the next.
    #[inline(always)]
    fn step(node: u32) -> f64 {
        if node < FIRST_FINE { LN_2 } else { STEP }
    }

    /// The value and the slope before the first node and after the last.
    #[cold]
    fn beyond(&self, position: f64) -> (f64, f64) {
        if self.log_spread == f64::NEG_INFINITY || self.nodes.is_empty() {
            return (self.nodes.last().map_or(f64::NEG_INFINITY, |last| last[0]), 0.0);
        }
        if position >= 0.0 {
            // Settled: the slope is 0.
            let last = &self.nodes[self.nodes.len() - 1];
            return (last[0], last[1] / STEP);
        }
        // In β itself: Taylor's series to the third order, from that in s, and a fourth term that
        // makes it end where L is known.
        let [value, one, two, three] = self.nodes[0];
        let slope = one / LN_2;
        let bend = 2.0 * two / (LN_2 * LN_2) - slope;
        let twist = 6.0 * three / (LN_2 * LN_2 * LN_2) - 3.0 * bend - slope;
        let last = self.log_count - (value - slope + bend / 2.0 - twist / 6.0);
        let x = position.exp2() - 1.0;
        let at = value + x * (slope + x * (bend / 2.0 + x * (twist / 6.0 + x * last)));
        let derivative = slope + x * (bend + x * (twist / 2.0 + x * 4.0 * last));
        (at, (1.0 + x) * derivative)
    }
}

/// The distances `d_j = (min(z_j, z_2) − z_2) / (z_2 − z_C)` of a row, the nearest zones first: what has
/// vanished at some scale is at the end. In units of the spread no product of them can overflow.
struct Distances {
    d: Vec<f64>,
    /// The magnitude that the distances of a zone exceed, and where it ends; the farthest first.
    zones: Vec<(f64, usize)>,
}

/// The nearest of the distances in a zone, as a part of the farthest: nearer ones are in the next.
const ZONE: f64 = 0.7;

/// A zone of so few is not split.
const FEW: usize = 16;

impl Distances {
    fn new(row: &Row<'_>, spread: f64) -> Self {
        let (mut d, mut scratch) = (Vec::new(), Vec::new());
        simd::distances_below(row.z, row.second, &mut d);
        for d in &mut d {
            *d /= spread;
        }
        let mut zones = Vec::with_capacity(FEW);
        let (mut end, mut farthest) = (d.len(), 1.0);
        while end > FEW {
            let limit = ZONE * farthest;
            let nearer = loops::split_off_below(&mut d[..end], -limit, &mut scratch);
            zones.push((limit, end));
            end = nearer;
            farthest = Slice::Double(&d[..end]).survey().magnitude;
            if farthest < super::NO_DEVIATION {
                break;
            }
        }
        zones.push((0.0, end));
        Distances { d, zones }
    }

    /// How many classes are at the runner-up's height, without the top one, which is capped there.
    fn ties(&self) -> f64 {
        self.d.iter().filter(|&&d| d == 0.0).count() as f64 - 1.0
    }

    /// How many classes from the first on may still be visible at a scale: terms that have vanished
    /// beside the runner-up's 1 stay away, since squares only shrink.
    fn active(&self, x: f64) -> usize {
        let visible = self.zones.iter().find(|(limit, _)| x * limit <= -VANISHED.ln());
        visible.map_or(0, |&(_, end)| end)
    }

    /// `Σ w_j d_j^k` with `w_j = exp(x d_j)`, for `k = 0, 1, 2, 3`, at an `x` and in the octaves above.
    fn moments(&self, mut x: f64) -> [[f64; 4]; OCTAVES] {
        let (first, mut active) = (x, [0; OCTAVES]);
        for active in &mut active {
            *active = self.active(x);
            x *= 2.0;
        }
        simd::moments(&self.d, first, &active)
    }
}

/// Places in several stretches between nodes.
#[derive(Debug, Default)]
pub(super) struct Stretches {
    /// The node on the left.
    pub(super) nodes: [u32; BATCH],
    /// How far it is from there, in steps.
    t: [f64; BATCH],
    step: [f64; BATCH],
    /// How many steps of the node on the right one on the left is.
    ratio: [f64; BATCH],
}

impl Stretches {
    /// A position after a node.
    #[inline(always)]
    fn put(&mut self, k: usize, position: f64, node: u32) {
        self.nodes[k] = node;
        self.t[k] = position - f64::from(node);
        self.step[k] = TailTable::step(node);
        // The first node of the fine ones is seen in coarse steps.
        self.ratio[k] = if node + 1 == FIRST_FINE { PER_OCTAVE as f64 } else { 1.0 };
    }

    /// The value and the slope, in steps, at one of them.
    #[inline(always)]
    fn at(&self, ends: &[[f64; BATCH]; 8], k: usize) -> (f64, f64) {
        let left = [ends[0][k], ends[1][k], ends[2][k], ends[3][k]];
        let mut right = [ends[4][k], ends[5][k], ends[6][k], ends[7][k]];
        in_steps(&mut right, self.ratio[k]);
        interpolated(&left, &right, self.t[k])
    }

    /// The value and the slope at each of them, from the coefficients on the left and on the right.
    #[inline(always)]
    pub(super) fn interpolate(
        &self,
        ends: &[[f64; BATCH]; 8],
        values: &mut [f64; BATCH],
        slopes: Option<&mut [f64; BATCH]>,
    ) {
        let Some(slopes) = slopes else {
            for (k, value) in values.iter_mut().enumerate() {
                *value = self.at(ends, k).0;
            }
            return;
        };
        for k in 0..BATCH {
            let (value, slope) = self.at(ends, k);
            (values[k], slopes[k]) = (value, slope / self.step[k]);
        }
    }
}

/// Taylor's coefficients in steps that are so many times as long.
#[inline(always)]
fn in_steps(coefficients: &mut [f64; 4], ratio: f64) {
    coefficients[1] *= ratio;
    coefficients[2] *= ratio * ratio;
    coefficients[3] *= ratio * ratio * ratio;
}

/// The value and the slope at `t` of the polynomial of degree seven with these Taylor coefficients at 0
/// and at 1.
#[inline(always)]
fn interpolated(left: &[f64; 4], right: &[f64; 4], t: f64) -> (f64, f64) {
    // The coefficients of t^4 and beyond make up what is missing at 1: the value v, the slope s,
    // and the halved and sixthed derivatives k and j.
    let [c0, c1, c2, c3] = *left;
    let v = right[0] - (c0 + c1 + c2 + c3);
    let s = right[1] - (c1 + 2.0 * c2 + 3.0 * c3);
    let k = right[2] - (c2 + 3.0 * c3);
    let j = right[3] - c3;
    let c4 = 35.0 * v - 15.0 * s + 5.0 * k - j;
    let c5 = -84.0 * v + 39.0 * s - 14.0 * k + 3.0 * j;
    let c6 = 70.0 * v - 34.0 * s + 13.0 * k - 3.0 * j;
    let c7 = -20.0 * v + 10.0 * s - 4.0 * k + j;
    let value = c0 + t * (c1 + t * (c2 + t * (c3 + t * (c4 + t * (c5 + t * (c6 + t * c7))))));
    let slope = c1
        + t * (2.0 * c2
            + t * (3.0 * c3 + t * (4.0 * c4 + t * (5.0 * c5 + t * (6.0 * c6 + t * 7.0 * c7)))));
    (value, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spreads and distances at the ends of what numbers can hold.
    #[test]
    fn tables_of_extreme_rows_are_finite_and_close() {
        let mut rows = vec![
            [1.0, 1e-110, 5e-111].to_vec(),
            [1.0, 5e-324, 0.0, 0.0, -1.0].to_vec(),
            [1.0, 0.0, -0.01, -1e100].to_vec(),
            [5.0, 4.0, 3.0, -1e9].to_vec(),
        ];
        for row in &mut rows {
            let smallest = row[row.len() - 1];
            let middle = f64::midpoint(row[2], smallest);
            row.resize(20, smallest);
            row.resize(60, middle);
            let row = Row::new(Slice::Double(row));
            let table = TailTable::new(&row);
            let spread = row.second - row.smallest;
            for x in [1e-9_f64, 0.03, 0.3, 1.7, 40.0, 1e4, 1e12] {
                let beta = x / spread;
                let direct = simd::sum_exp_below(row.z, row.second, beta) - 1.0;
                let found = table.at(beta.ln()).0;
                assert!((found - direct.ln()).abs() < 1e-6, "{x}: {found} {}", direct.ln());
            }
        }
    }

    #[test]
    fn a_polynomial_of_degree_seven_is_met_exactly() {
        let c = [0.3, -1.2, 0.7, 2.0, -0.4, 1.1, -0.9, 0.5];
        let at = |t: f64, order: u32| -> f64 {
            let falling = |k: u32| (0..order).map(|i| f64::from(k) - f64::from(i)).product::<f64>();
            let term = |(k, c): (u32, &f64)| {
                if k < order { 0.0 } else { c * falling(k) * t.powf(f64::from(k - order)) }
            };
            (0_u32..).zip(&c).map(term).sum()
        };
        let side = |t: f64| [at(t, 0), at(t, 1), at(t, 2) / 2.0, at(t, 3) / 6.0];
        for t in [0.0, 0.2, 0.5, 0.9, 1.0] {
            let (value, slope) = interpolated(&side(0.0), &side(1.0), t);
            assert!((value - at(t, 0)).abs() < 1e-13, "{t}");
            assert!((slope - at(t, 1)).abs() < 1e-12, "{t}");
        }
    }
}
