//! The logarithm of a tail sum as a function of the scale, for all scales at once.
//!
//! Scales are measured by the row itself: `x = β (z_2 − z_C)`, the distance from the runner-up to the
//! smallest logit after the transform. Below `x = 2^-6` all terms are nearly equal, and beyond `2^14`
//! only terms at the runner-up's height are left, whatever the row.

use super::{Row, simd};
use std::f64::consts::LN_2;

/// Nodes in each octave.
const PER_OCTAVE: usize = 8;

/// The first node is at `x = 2^FIRST_OCTAVE`.
const FIRST_OCTAVE: f64 = -6.0;

/// Octaves that the nodes span.
const OCTAVES: usize = 20;

const NODES: usize = OCTAVES * PER_OCTAVE;

/// The distance of nodes in `s = ln x`.
const STEP: f64 = LN_2 / PER_OCTAVE as f64;

/// `L(s) = ln Σ_{j≠1} exp(β (z_j − z_2))` with its first two derivatives in `s`, at every node.
///
/// Beyond the last node the function keeps its value; below the first it is continued by its
/// curvature in `β`.
#[derive(Debug, Clone)]
pub(crate) struct TailTable {
    /// `ln (z_2 − z_C)`; `-inf` if all but the top class are equal, and `L` a constant.
    log_spread: f64,
    /// Values, slopes and curvatures, node by node; as many nodes as the row needs, and none if
    /// only one class is not masked.
    nodes: Vec<[f64; 3]>,
}

impl TailTable {
    /// The largest size of a table's nodes.
    pub(crate) const BYTES: usize = NODES * size_of::<[f64; 3]>();

    pub(crate) fn new(row: &Row<'_>) -> Self {
        let n = row.z.len();
        if n == 1 {
            return TailTable { log_spread: 0.0, nodes: Vec::new() };
        }
        let (_, smallest) = simd::sum_below_and_smallest(row.z, row.top);
        let spread = row.second - smallest;
        if spread < super::NO_DEVIATION {
            let value = (n as f64 - 1.0).ln();
            return TailTable { log_spread: f64::NEG_INFINITY, nodes: vec![[value, 0.0, 0.0]] };
        }
        let (mut d, mut w) = (vec![0.0; n], vec![0.0; n]);
        let mut nodes = vec![[0.0; 3]; NODES];
        // Once the sum has come down to the runner-up and its equals, nothing changes any more.
        let ties = row.z.iter().filter(|&&x| x >= row.second).count() as f64 - 1.0;
        let mut needed = 0;
        for base in 0..PER_OCTAVE {
            let beta = (FIRST_OCTAVE + base as f64 / PER_OCTAVE as f64).exp2() / spread;
            simd::exp_below(row.z, row.second, beta, &mut d, &mut w);
            let mut beta = beta;
            for octave in 0..OCTAVES {
                let index = octave * PER_OCTAVE + base;
                let [sum, first, second] = simd::moments_then_square(&mut w, &d);
                // The top class, capped at the runner-up, counts as 1 and deviates by 0.
                let sum = sum - 1.0;
                let mean = first / sum;
                let variance = (second / sum - mean * mean).max(0.0);
                let slope = beta * mean;
                nodes[index] = [sum.ln(), slope, slope + beta * beta * variance];
                if sum <= ties * (1.0 + 1e-15) {
                    let rest = (index..NODES).step_by(PER_OCTAVE);
                    rest.for_each(|i| nodes[i] = [ties.ln(), 0.0, 0.0]);
                    needed = needed.max(index + 1);
                    break;
                }
                needed = needed.max(index + 1);
                beta *= 2.0;
            }
        }
        nodes.truncate(needed);
        nodes.shrink_to_fit();
        TailTable { log_spread: spread.ln(), nodes }
    }

    /// `L` and `dL/d(ln β)` at a `β`: the second is the mean of `β (z_j − z_2)` under the weights.
    pub(crate) fn at(&self, beta: f64) -> (f64, f64) {
        let Some(last) = self.nodes.last() else {
            return (f64::NEG_INFINITY, 0.0);
        };
        if self.log_spread == f64::NEG_INFINITY {
            return (last[0], 0.0);
        }
        let s = beta.ln() + self.log_spread;
        let position = (s - FIRST_OCTAVE * LN_2) / STEP;
        if position >= (self.nodes.len() - 1) as f64 {
            return (last[0], last[1]);
        }
        if position < 0.0 {
            // In β itself: L = L_0 + L'(β − β_0) + L''(β − β_0)²/2, exact to the third order.
            let [value, slope, curvature] = self.nodes[0];
            let x = s.exp() / FIRST_OCTAVE.exp2() - 1.0;
            let bend = curvature - slope;
            return (value + x * (slope + 0.5 * x * bend), (1.0 + x) * (slope + x * bend));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a node")]
        let index = position as usize;
        let t = position - index as f64;
        let [a, da, dda] = self.nodes[index];
        let [b, db, ddb] = self.nodes[index + 1];
        quintic(t, [a, da * STEP, dda * STEP * STEP], [b, db * STEP, ddb * STEP * STEP])
    }
}

/// The polynomial of degree five with these values, slopes and curvatures at 0 and 1: its value at
/// `t`, and its slope there in units of the argument outside (divided by the step).
fn quintic(t: f64, [a, da, dda]: [f64; 3], [b, db, ddb]: [f64; 3]) -> (f64, f64) {
    // In powers of t: c_0 = a, c_1 = a', c_2 = a''/2; the others make up what is missing at 1.
    let c2 = 0.5 * dda;
    let value = b - a - da - c2;
    let slope = db - da - dda;
    let bend = 0.5 * (ddb - dda);
    let c3 = 10.0 * value - 4.0 * slope + bend;
    let c4 = -15.0 * value + 7.0 * slope - 2.0 * bend;
    let c5 = 6.0 * value - 3.0 * slope + bend;
    let at = a + t * (da + t * (c2 + t * (c3 + t * (c4 + t * c5))));
    let slope_at = da + t * (dda + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5)));
    (at, slope_at / STEP)
}
