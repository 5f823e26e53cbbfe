//! The logarithm of a tail sum as a function of the scale, for all scales at once.
//!
//! Scales are measured by the row itself: `x = β (z_2 − z_C)`, the distance from the runner-up to the
//! smallest logit after the transform. Below `x = 2^-6` all terms are nearly equal, and beyond `2^14`
//! only terms at the runner-up's height are left, whatever the row.

use super::{Row, simd};
use std::f64::consts::LN_2;

/// Nodes in each octave.
const PER_OCTAVE: usize = 6;

/// The first node is at `x = 2^FIRST_OCTAVE`.
const FIRST_OCTAVE: f64 = -6.0;

/// Octaves that the nodes span.
const OCTAVES: usize = 20;

const NODES: usize = OCTAVES * PER_OCTAVE;

/// The distance of nodes in `s = ln x`.
const STEP: f64 = LN_2 / PER_OCTAVE as f64;

/// `L(s) = ln Σ_{j≠1} exp(β (z_j − z_2))` with its first three derivatives in `s`, at every node.
///
/// Beyond the last node the function keeps its value; below the first it is continued by its
/// curvature in `β`.
#[derive(Debug, Clone)]
pub(crate) struct TailTable {
    /// `ln (z_2 − z_C)`; `-inf` if all but the top class are equal, and `L` a constant.
    log_spread: f64,
    /// The value and three derivatives of each node; as many nodes as the row needs, and none if
    /// only one class is not masked.
    nodes: Vec<[f64; 4]>,
}

impl TailTable {
    /// The largest size of a table's nodes.
    pub(crate) const BYTES: usize = NODES * size_of::<[f64; 4]>();

    pub(crate) fn new(row: &Row<'_>) -> Self {
        let n = row.z.len();
        if n == 1 {
            return TailTable { log_spread: 0.0, nodes: Vec::new() };
        }
        let (_, smallest) = simd::sum_below_and_smallest(row.z, row.top);
        let spread = row.second - smallest;
        if spread < super::NO_DEVIATION {
            let value = (n as f64 - 1.0).ln();
            return TailTable { log_spread: f64::NEG_INFINITY, nodes: vec![[value, 0.0, 0.0, 0.0]] };
        }
        let (mut d, mut w) = (vec![0.0; n], vec![0.0; n]);
        let mut nodes = vec![[0.0; 4]; NODES];
        // Once the sum has come down to the runner-up and its equals, nothing changes any more.
        let ties = row.z.iter().filter(|&&x| x >= row.second).count() as f64 - 1.0;
        let mut needed = 0;
        for base in 0..PER_OCTAVE {
            let beta = (FIRST_OCTAVE + base as f64 / PER_OCTAVE as f64).exp2() / spread;
            simd::exp_below(row.z, row.second, beta, &mut d, &mut w);
            let mut beta = beta;
            for octave in 0..OCTAVES {
                let index = octave * PER_OCTAVE + base;
                let [sum, first, second, third] = simd::moments_then_square(&mut w, &d);
                // The top class, capped at the runner-up, counts as 1 and deviates by 0.
                let sum = sum - 1.0;
                // Derivatives in β are the cumulants of the d_j under their weights; in s = ln β
                // they mix.
                let mean = first / sum;
                let variance = (second / sum - mean * mean).max(0.0);
                let skew = third / sum - mean * (3.0 * variance + mean * mean);
                let (one, two, three) = (beta * mean, beta.powi(2) * variance, beta.powi(3) * skew);
                nodes[index] = [sum.ln(), one, one + two, one + 3.0 * two + three];
                if sum <= ties * (1.0 + 1e-15) {
                    let rest = (index..NODES).step_by(PER_OCTAVE);
                    rest.for_each(|i| nodes[i] = [ties.ln(), 0.0, 0.0, 0.0]);
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
            let [value, slope, curvature, _] = self.nodes[0];
            let x = s.exp() / FIRST_OCTAVE.exp2() - 1.0;
            let bend = curvature - slope;
            return (value + x * (slope + 0.5 * x * bend), (1.0 + x) * (slope + x * bend));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a node")]
        let index = position as usize;
        let t = position - index as f64;
        let in_steps = |[value, one, two, three]: [f64; 4]| {
            [value, one * STEP, two * STEP.powi(2), three * STEP.powi(3)]
        };
        let (value, slope) = septic(t, in_steps(self.nodes[index]), in_steps(self.nodes[index + 1]));
        (value, slope / STEP)
    }
}

/// The polynomial of degree seven with these values and first three derivatives at 0 and at 1: its
/// value and its slope at `t`.
fn septic(t: f64, left: [f64; 4], right: [f64; 4]) -> (f64, f64) {
    // The first four coefficients are the left side's; the others, of t^4 and beyond, make up what
    // is missing at 1 in value and derivatives.
    let [c0, c1, c2, c3] = [left[0], left[1], left[2] / 2.0, left[3] / 6.0];
    let v = right[0] - (c0 + c1 + c2 + c3);
    let s = right[1] - (c1 + 2.0 * c2 + 3.0 * c3);
    let k = right[2] - (2.0 * c2 + 6.0 * c3);
    let j = right[3] - 6.0 * c3;
    let c4 = 35.0 * v - 15.0 * s + 2.5 * k - j / 6.0;
    let c5 = -84.0 * v + 39.0 * s - 7.0 * k + 0.5 * j;
    let c6 = 70.0 * v - 34.0 * s + 6.5 * k - 0.5 * j;
    let c7 = -20.0 * v + 10.0 * s - 2.0 * k + j / 6.0;
    let value =
        c0 + t * (c1 + t * (c2 + t * (c3 + t * (c4 + t * (c5 + t * (c6 + t * c7))))));
    let slope = c1
        + t * (2.0 * c2
            + t * (3.0 * c3 + t * (4.0 * c4 + t * (5.0 * c5 + t * (6.0 * c6 + t * 7.0 * c7)))));
    (value, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_of_degree_seven_is_met_exactly() {
        let c = [0.3, -1.2, 0.7, 2.0, -0.4, 1.1, -0.9, 0.5];
        let at = |t: f64, order: u32| -> f64 {
            let falling = |k: u32| (0..order).map(|i| f64::from(k) - f64::from(i)).product::<f64>();
            let term = |(k, c): (u32, &f64)| {
                if k < order { 0.0 } else { c * falling(k) * t.powi((k - order) as i32) }
            };
            (0_u32..).zip(&c).map(term).sum()
        };
        let side = |t: f64| [at(t, 0), at(t, 1), at(t, 2), at(t, 3)];
        for t in [0.0, 0.2, 0.5, 0.9, 1.0] {
            let (value, slope) = septic(t, side(0.0), side(1.0));
            assert!((value - at(t, 0)).abs() < 1e-13, "{t}");
            assert!((slope - at(t, 1)).abs() < 1e-12, "{t}");
        }
    }
}
