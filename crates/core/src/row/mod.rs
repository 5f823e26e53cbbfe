//! One row of logits: every loop over classes is here or in [`simd`].
//!
//! Nothing outside this module walks over the classes of a row. Scores, families, losses and the
//! log-likelihood ask a [`Row`] for a handful of statistics and are closed formulas over them.
//!
//! Two choices keep the statistics exact where it matters:
//!
//! * **Differences from the largest logit come first.** Adding a constant to a row then changes
//!   nothing, and centred logits do not lose digits to a large common offset.
//! * **The top class is left out of the sum of exponentials.** [`Statistics::log_tail`] is
//!   `ln Σ_{j≠1} exp(u_j − u_2)`, relative to the runner-up, so that a row whose maximum softmax
//!   probability is 1 − 1e-30 still differs from one at 1 − 1e-20.

mod simd;

use crate::transform::{Centring, Norm, Transform};

/// Below this the largest deviation counts as zero: its reciprocal must stay finite.
const NO_DEVIATION: f64 = 1e-150;

/// The root of the power sum is kept below this, so that products with it stay finite.
const LARGEST_ROOT: f64 = 1e150;

/// What a score may ask of a transformed row `u`, whose classes are sorted `u_1 >= u_2 >= …`.
pub(crate) trait Statistics {
    /// The number of classes, masked ones included.
    fn classes(&self) -> f64;
    /// `u_1`.
    fn top(&self) -> f64;
    /// `u_1 − u_2`; infinite if only one class is not masked.
    fn gap(&self) -> f64;
    /// `ln Σ_{j≠1} exp(order · (u_j − u_2))`; `-inf` if only one class is not masked.
    fn log_tail(&self, order: f64) -> f64;
    /// The mean of `u_j − u_2` over `j ≠ 1` under the weights `exp(u_j − u_2)`: never positive.
    fn tail_mean(&self) -> f64;
    /// The mean and the variance of `exp(u_j − u_2)` over the `C − 1` classes `j ≠ 1` (both
    /// divided by `C − 1`).
    fn tail_moments(&self) -> (f64, f64);
}

/// A row of finite logits, in f64, with its two largest values found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    /// All classes in their order; `-inf` where masked.
    all: &'a [f64],
    /// The classes that are not masked.
    z: &'a [f64],
    top: f64,
    second: f64,
}

impl<'a> Row<'a> {
    /// A row without masked classes.
    pub(crate) fn new(z: &'a [f64]) -> Self {
        Row::masked(z, z)
    }

    /// `all` is the row as given and `z` its unmasked part.
    pub(crate) fn masked(all: &'a [f64], z: &'a [f64]) -> Self {
        let (top, second) = simd::top_two(z);
        Row { all, z, top, second }
    }

    /// A row in single precision without masked classes, widened into the buffer.
    pub(crate) fn widened(narrow: &[f32], buffer: &'a mut [f64]) -> Self {
        let (top, second) = simd::widen_and_top_two(narrow, buffer);
        Row { all: buffer, z: buffer, top, second }
    }

    /// The class with the largest logit; the first of them if several tie, as in numpy.
    pub(crate) fn prediction(&self) -> usize {
        self.all.iter().position(|&x| x == self.top).unwrap_or(0)
    }

    /// How many classes come before `label` when sorted by logit, ties in class order: 0 if
    /// `label` is the prediction.
    pub(crate) fn rank_of(&self, label: usize) -> usize {
        let own = self.all[label];
        let before = self.all[..label].iter().filter(|&&x| x >= own).count();
        before + self.all[label + 1..].iter().filter(|&&x| x > own).count()
    }

    /// `u_1 − u_label`; infinite if the label is masked.
    pub(crate) fn distance_to(&self, label: usize, transformed: &Transformed<'_>) -> f64 {
        let difference = self.top - self.all[label];
        if difference == 0.0 { 0.0 } else { difference * transformed.beta }
    }

    /// The row under a positive affine map.
    pub(crate) fn transformed(&self, transform: &Transform) -> Transformed<'a> {
        let tau = transform.temperature.get();
        let difference = self.top - self.second;
        let Some(norm) = &transform.norm else {
            let gap = difference / tau;
            return Transformed { row: *self, top: self.top / tau, gap, beta: 1.0 / tau };
        };
        let Deviations { top, largest, root } = self.deviations(norm);
        // Dividing by the largest deviation before the root makes mathematical ties exact: with
        // two classes, or with p = ∞, `top / largest` is the same number for every row.
        let ratio = root * tau;
        Transformed {
            row: *self,
            top: top / largest / ratio,
            gap: difference / largest / ratio,
            beta: 1.0 / (largest * ratio),
        }
    }

    /// The deviations `z − Γ(z) + γ`: that of the top class, and the p-norm of all of them as
    /// `largest · root`.
    fn deviations(&self, norm: &Norm) -> Deviations {
        let gamma = norm.gamma.get();
        if self.z.len() == 2 && norm.centring == Centring::Mean && gamma == 0.0 {
            // Exactly ± half of the difference, where the general path would round.
            let half = 0.5 * (self.top - self.second);
            return Deviations::new(half, half, norm.p.get(), |_| 2.0);
        }
        let (sum_below, smallest) = simd::sum_below_and_smallest(self.z, self.top);
        let top = gamma
            + match norm.centring {
                Centring::Mean => -sum_below / self.z.len() as f64,
                Centring::Min => self.top - smallest,
                Centring::None => self.top,
            };
        // All deviations lie between that of the smallest and that of the largest logit.
        let largest = top.abs().max(((smallest - self.top) + top).abs());
        Deviations::new(top, largest, norm.p.get(), |p| {
            let inverse = 1.0 / largest;
            if p.fract() == 0.0 && p <= 64.0 {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                simd::power_sum_whole(self.z, self.top, top, inverse, p as u32)
            } else {
                simd::power_sum_real(self.z, self.top, top, inverse, p)
            }
        })
    }
}

struct Deviations {
    top: f64,
    largest: f64,
    root: f64,
}

impl Deviations {
    /// `power_sum(p)` is `Σ |deviation / largest|^p` for a finite `p > 0`.
    fn new(top: f64, largest: f64, p: f64, power_sum: impl Fn(f64) -> f64) -> Self {
        if p == 0.0 {
            // The count of non-zeros is the same for every row after centring: centred only.
            Deviations { top, largest: 1.0, root: 1.0 }
        } else if largest < NO_DEVIATION {
            // The zero vector has no direction and stays the zero vector.
            Deviations { top: 0.0, largest: 1.0, root: 1.0 }
        } else if p == f64::INFINITY {
            Deviations { top, largest, root: 1.0 }
        } else {
            Deviations { top, largest, root: power_sum(p).powf(1.0 / p).min(LARGEST_ROOT) }
        }
    }
}

/// A row under the map `u = (z − shift) / scale`; `beta` is `1 / scale`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transformed<'a> {
    row: Row<'a>,
    top: f64,
    gap: f64,
    beta: f64,
}

impl Transformed<'_> {
    /// `Σ_{j≠1} exp(order · (u_j − u_2))`. The top class is capped at the runner-up, counts as
    /// exactly 1 and is taken off again: no branch inside the loop.
    fn tail_sum(&self, order: f64) -> f64 {
        simd::sum_exp_below(self.row.z, self.row.second, order * self.beta) - 1.0
    }

    fn is_alone(&self) -> bool {
        self.row.z.len() == 1
    }
}

impl Statistics for Transformed<'_> {
    fn classes(&self) -> f64 {
        self.row.all.len() as f64
    }

    fn top(&self) -> f64 {
        self.top
    }

    fn gap(&self) -> f64 {
        self.gap
    }

    fn log_tail(&self, order: f64) -> f64 {
        if self.is_alone() { f64::NEG_INFINITY } else { self.tail_sum(order).ln() }
    }

    fn tail_mean(&self) -> f64 {
        if self.is_alone() {
            return 0.0;
        }
        let moment = simd::sum_exp_moment_below(self.row.z, self.row.second, self.beta);
        self.beta * moment / self.tail_sum(1.0)
    }

    fn tail_moments(&self) -> (f64, f64) {
        if self.is_alone() {
            return (0.0, 0.0);
        }
        let count = self.classes() - 1.0;
        let masked = (self.row.all.len() - self.row.z.len()) as f64;
        let mean = self.tail_sum(1.0) / count;
        let sum = simd::sum_exp_deviation_below(self.row.z, self.row.second, self.beta, mean)
            - (1.0 - mean).powi(2)
            + masked * mean * mean;
        (mean, sum.max(0.0) / count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::{Exponent, Finite, Temperature};

    fn pnorm(centring: Centring, gamma: f64, p: f64) -> Transform {
        let (gamma, p) = (Finite::new(gamma).expect("finite"), Exponent::new(p).expect("p >= 0"));
        Transform { norm: Some(Norm { centring, gamma, p }), temperature: Temperature::ONE }
    }

    #[test]
    fn a_hand_computed_row() {
        let z = [3.0, 0.0, 0.0, 1.0];
        let row = Row::new(&z);
        assert_eq!(row.prediction(), 0);
        assert_eq!((0..4).map(|k| row.rank_of(k)).collect::<Vec<_>>(), [0, 2, 3, 1]);

        // Centred: 2, −1, −1, 0; its norms are 4 (p = 1), √6 (p = 2) and 2 (p = ∞).
        let top = |centring, gamma, p| row.transformed(&pnorm(centring, gamma, p)).top();
        assert_eq!(top(Centring::Mean, 0.0, 0.0), 2.0);
        assert_eq!(top(Centring::Mean, 0.0, 1.0), 0.5);
        assert!((top(Centring::Mean, 0.0, 2.0) - 2.0 / 6.0_f64.sqrt()).abs() < 1e-15);
        assert_eq!(top(Centring::Mean, 0.0, f64::INFINITY), 1.0);
        assert_eq!(top(Centring::None, 0.0, 1.0), 0.75);
        assert_eq!(top(Centring::Min, 1.0, 1.0), 0.5);

        // Tail relative to the runner-up (1): exp(−1), exp(−1), 1.
        let raw = row.transformed(&Transform::RAW);
        assert!((raw.log_tail(1.0) - (1.0 + 2.0 / 1.0_f64.exp()).ln()).abs() < 1e-15);
        assert_eq!(raw.gap(), 2.0);
    }

    #[test]
    fn two_classes_have_one_and_the_same_normalised_row() {
        let mut seen = std::collections::BTreeSet::new();
        for i in 1..1000 {
            let z = [0.1 * f64::from(i), -0.37];
            let u = Row::new(&z).transformed(&pnorm(Centring::Mean, 0.0, 3.0));
            seen.insert((u.top().to_bits(), u.gap().to_bits()));
        }
        assert_eq!(seen.len(), 1);
    }

    #[test]
    fn constant_rows_become_the_zero_vector() {
        let z = [7.25; 5];
        let u = Row::new(&z).transformed(&pnorm(Centring::Mean, 0.0, 4.0));
        assert_eq!((u.top(), u.gap()), (0.0, 0.0));
    }
}
