//! One row of logits: every loop over classes is here or in [`loops`].
//!
//! After a row is read, nothing outside this module walks over its classes. Scores, families, losses
//! and the log-likelihood are closed formulas over a few statistics of a [`Row`]; the few families that
//! need every class get sums over [`Others`].
//!
//! Two choices keep the statistics exact where it matters:
//!
//! * **Differences from the largest logit come first.** Adding a constant to a row then changes
//!   nothing, and centred logits do not lose digits to a large common offset.
//! * **The top class is left out of the sum of exponentials.** [`Statistics::log_tail`] is
//!   `ln Σ_{j≠1} exp(u_j − u_2)`, relative to the runner-up, so that a row whose maximum softmax
//!   probability is 1 − 1e-30 still differs from one at 1 − 1e-20.

// What is inlined takes on the instruction set of the version that it is inlined into.
#![allow(clippy::inline_always)]

mod influence;
mod loops;
mod others;
mod scaled;
mod simd;
mod table;

pub use influence::{Influences, Weighing};
pub(crate) use loops::Survey;
pub(crate) use others::Others;
pub(crate) use scaled::{BATCH, Scaled};
pub use simd::Instructions;
pub(crate) use simd::{Slice, dots, ln_each, sigmoid_each, softplus_each};
pub(crate) use table::TailTable;

use crate::elementary::{exp, exp_m1, ln, ln_1p};
use crate::score::{max_logit, negative_entropy};
use crate::transform::{Centring, Exponent, Finite, Norm, Transform};

/// Below this the largest deviation counts as zero: its reciprocal must stay finite.
const NO_DEVIATION: f64 = 1e-150;

/// The statistics of a transformed row `u`, whose classes are sorted `u_1 >= u_2 >= …`.
pub(crate) trait Statistics {
    /// The number of classes, masked ones included.
    fn classes(&self) -> f64;
    /// `u_1`.
    fn top(&self) -> f64;
    /// `u_1 − u_2`; infinite if only one class is not masked.
    fn gap(&self) -> f64;
    /// What one unit of the logits is worth: `1 / scale`.
    fn beta(&self) -> f64;
    /// `−ln |u_1|` under a p-norm (`p > 0`) alone, with `τ` left out: all digits of a `u_1` near 1.
    fn log_share(&self) -> Option<f64>;
    /// `ln Σ_{j≠1} exp(order · (u_j − u_2))`; `-inf` if only one class is not masked.
    fn log_tail(&self, order: f64) -> f64;
    /// The mean of `u_j − u_2` over `j ≠ 1` under the weights `exp(u_j − u_2)`: never positive.
    fn tail_mean(&self) -> f64;
    /// [`Statistics::log_tail`] of order 1 and [`Statistics::tail_mean`], at once.
    fn tail(&self) -> (f64, f64) {
        (self.log_tail(1.0), self.tail_mean())
    }
    /// [`Statistics::log_tail`] of orders 1 and 2, at once.
    fn log_tails(&self) -> (f64, f64) {
        (self.log_tail(1.0), self.log_tail(2.0))
    }
    /// The mean and the variance of `exp(u_j − u_2)` over the `C − 1` classes `j ≠ 1` (both
    /// divided by `C − 1`).
    fn tail_moments(&self) -> (f64, f64);
}

/// [`Statistics::tail_moments`] from the logarithms of the sums of the exponentials and of their squares.
#[inline(always)]
pub(crate) fn tail_moments_of(classes: f64, (log_tail, of_squares): (f64, f64)) -> (f64, f64) {
    // E[w²] / E[w]² − 1 by exp_m1, which keeps what little there is between nearly equal weights.
    let count = classes - 1.0;
    let mean = exp(log_tail) / count;
    let excess = exp_m1(of_squares - 2.0 * log_tail + ln(count));
    (mean, (mean * mean * excess).max(0.0))
}

/// A row of which transforms can be taken: the logits themselves, or what a profile keeps of them.
pub(crate) trait RowView {
    /// The row under a transform.
    type Transformed<'b>: Statistics
    where
        Self: 'b;

    /// The row under a positive affine map. A profile finds the norm in its `column`.
    fn transformed(&self, transform: &Transform, column: usize) -> Self::Transformed<'_>;

    /// MaxLogit under a norm. A profile has recorded it in its `column`, unless the norm is centred.
    fn max_logit(&self, norm: &Norm, column: usize) -> f64 {
        let transform = Transform { norm: Some(*norm), ..Transform::RAW };
        max_logit::confidence(&self.transformed(&transform, column))
    }

    /// A confidence that takes a look at every class. A profile finds it in its `column`.
    fn recorded(&self, column: usize, confidence: impl Fn(&Others<'_>) -> f64) -> f64;

    /// The predicted class.
    fn prediction(&self) -> usize;

    /// The number that was given beside the row; NaN if there is none.
    fn extra(&self) -> f64;

    /// `ln H` of the row's softmax probabilities.
    fn log_entropy(&self) -> f64 {
        negative_entropy::log_entropy(&self.transformed(&Transform::RAW, 0))
    }
}

impl Slice<'_> {
    /// The number of classes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Slice::Single(z) => z.len(),
            Slice::Double(z) => z.len(),
        }
    }

    /// The logit of a class.
    fn at(&self, class: usize) -> f64 {
        match self {
            Slice::Single(z) => z[class].into(),
            Slice::Double(z) => z[class],
        }
    }

    /// All logits, in double precision.
    pub(crate) fn to_vec(self) -> Vec<f64> {
        match self {
            Slice::Single(z) => z.iter().map(|&x| x.into()).collect(),
            Slice::Double(z) => z.to_vec(),
        }
    }

    /// The largest and the smallest logits, and whether all are finite.
    pub(crate) fn survey(self) -> Survey {
        simd::survey(self)
    }
}

/// A row of finite logits with its largest and smallest values found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    /// All classes in their order; `-inf` where masked.
    all: Slice<'a>,
    /// The classes that are not masked.
    z: Slice<'a>,
    top: f64,
    second: f64,
    smallest: f64,
    /// The number that was given beside the row; NaN if there is none.
    extra: f64,
}

impl<'a> Row<'a> {
    /// A row without masked classes.
    pub(crate) fn new(z: Slice<'a>) -> Self {
        Row::masked(z, z)
    }

    /// `all` is the row as given and `z` its unmasked part.
    pub(crate) fn masked(all: Slice<'a>, z: Slice<'a>) -> Self {
        let Survey { top, second, smallest, .. } = z.survey();
        Row { all, z, top, second, smallest, extra: f64::NAN }
    }

    /// A row without masked classes that was surveyed before.
    pub(crate) fn surveyed(z: Slice<'a>, survey: &Survey) -> Self {
        let &Survey { top, second, smallest, .. } = survey;
        Row { all: z, z, top, second, smallest, extra: f64::NAN }
    }

    /// The row with a number beside it.
    pub(crate) fn with_extra(self, extra: f64) -> Self {
        Row { extra, ..self }
    }

    /// The class with the largest logit; the first of them if several tie, as in numpy.
    pub(crate) fn prediction(&self) -> usize {
        simd::position(self.all, self.top)
    }

    /// How many classes come before `label` when sorted by logit, ties in class order: 0 if
    /// `label` is the prediction.
    pub(crate) fn rank_of(&self, label: usize) -> usize {
        simd::rank(self.all, label)
    }

    /// `z_1 − z_label`; infinite if the label is masked.
    pub(crate) fn distance_to(&self, label: usize) -> f64 {
        self.top - self.all.at(label)
    }

    /// The largest logit.
    pub(crate) fn top(&self) -> f64 {
        self.top
    }

    /// The second largest logit; `-inf` if only one class is not masked.
    pub(crate) fn second(&self) -> f64 {
        self.second
    }

    /// All classes in their order.
    pub(crate) fn all(&self) -> Slice<'a> {
        self.all
    }

    /// The row divided by a scale of which only the reciprocal is known.
    pub(crate) fn scaled(&self, beta: f64) -> Transformed<'a> {
        let gap = (self.top - self.second) * beta;
        Transformed { row: *self, top: self.top * beta, gap, beta, log_share: None }
    }

    /// The row under a positive affine map.
    pub(crate) fn transformed(&self, transform: &Transform) -> Transformed<'a> {
        let tau = transform.temperature.get();
        let difference = self.top - self.second;
        let Some(norm) = &transform.norm else {
            let gap = difference / tau;
            let (top, beta) = (self.top / tau, 1.0 / tau);
            return Transformed { row: *self, top, gap, beta, log_share: None };
        };
        let deviations = self.deviations(norm, self.sum_below());
        let Deviations { top, largest, log_root } = deviations;
        // Dividing by the largest deviation before the root makes mathematical ties exact: with
        // two classes, or with p = ∞, `top / largest` is the same number for every row.
        let ratio = exp(-log_root) / tau;
        Transformed {
            row: *self,
            top: top / largest * ratio,
            gap: difference / largest * ratio,
            beta: ratio / largest,
            log_share: (norm.p.get() > 0.0).then(|| deviations.log_share()),
        }
    }

    /// The deviations `z − Γ(z) + γ`: that of the top class, and the p-norm of all of them as
    /// `largest · exp(log_root)`.
    fn deviations(&self, norm: &Norm, sum_below: f64) -> Deviations {
        if self.z.len() == 2 && norm.centring == Centring::Mean && norm.gamma == Finite::ZERO {
            // Exactly ± half of the difference, where the general path would round.
            let half = 0.5 * (self.top - self.second);
            return Extent { top: half, second: half, largest: half }
                .deviations(norm.p.get(), |_| 1.0);
        }
        let extent = self.extent(norm, sum_below);
        let p = norm.p.get();
        extent.deviations(p, |second| {
            let sum = match whole(p, 64.0) {
                Some(p) => simd::power_sum_whole(self.z, self.deviation(&extent), p),
                None => simd::power_sum_real(self.z, self.deviation(&extent), p),
            };
            sum - power_of(second, p)
        })
    }

    /// `Σ (z_j − z_1)`.
    fn sum_below(&self) -> f64 {
        simd::sum_below(self.z, self.top)
    }

    /// The deviation of a class in units of the largest.
    fn deviation(&self, extent: &Extent) -> loops::Deviation {
        let inverse_unit = 1.0 / extent.largest.max(NO_DEVIATION);
        loops::Deviation { top: self.top, ceiling: self.second, offset: extent.top, inverse_unit }
    }

    /// How far the row deviates.
    fn extent(&self, norm: &Norm, sum_below: f64) -> Extent {
        let smallest = self.smallest;
        let top = norm.gamma.get()
            + match norm.centring {
                Centring::Mean => -sum_below / self.z.len() as f64,
                Centring::Min => self.top - smallest,
                Centring::None => self.top,
            };
        // All deviations lie between that of the smallest and that of the largest logit.
        let largest = top.abs().max(((smallest - self.top) + top).abs());
        Extent { top, second: (self.second - self.top) + top, largest }
    }
}

/// The deviations of the top class and of the second, and the largest of all in magnitude.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Extent {
    top: f64,
    second: f64,
    largest: f64,
}

impl Extent {
    /// The deviation of the second class in units of the largest.
    fn second_in_units(&self) -> f64 {
        (self.second * (1.0 / self.largest)).abs()
    }

    /// A sum over all classes but the top one; a class that is alone has no second.
    fn rest(&self, sum: f64) -> f64 {
        if self.second == f64::NEG_INFINITY { 0.0 } else { sum.max(0.0) }
    }

    /// `rest` gives `Σ_{j≠1} |deviation / largest|^p` for a finite `p > 0`; it is handed that of the
    /// second class, which its sum counts in place of the top one and has to take off again.
    fn deviations(&self, p: f64, rest: impl Fn(f64) -> f64) -> Deviations {
        let &Extent { top, largest, .. } = self;
        if p == 0.0 {
            // The count of non-zeros is the same for every row after centring: centred only.
            Deviations { top, largest: 1.0, log_root: 0.0 }
        } else if largest < NO_DEVIATION {
            // The zero vector has no direction and stays the zero vector.
            Deviations { top: 0.0, largest: 1.0, log_root: 0.0 }
        } else if p == f64::INFINITY {
            Deviations { top, largest, log_root: 0.0 }
        } else {
            let rest = self.rest(rest(self.second_in_units()));
            let power = if top == largest { 1.0 } else { power_of((top / largest).abs(), p) };
            Deviations { top, largest, log_root: log_root(self, rest, power, p) }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Deviations {
    top: f64,
    largest: f64,
    log_root: f64,
}

impl Deviations {
    /// `−ln |top / norm|`.
    fn log_share(&self) -> f64 {
        log_share(self.top, self.largest, self.log_root)
    }

    /// MaxLogit of the normalised row.
    fn max_logit(&self) -> f64 {
        max_logit::normalised(self.top, self.log_share())
    }

    fn norm_and_log_share(&self) -> (f64, f64) {
        (self.largest * exp(self.log_root), self.log_share())
    }
}

/// The logarithm of a norm in units of the largest deviation, from the sum of the powers of all
/// deviations but the top one's, and the power of that.
#[inline(always)]
fn log_root(extent: &Extent, rest: f64, power: f64, p: f64) -> f64 {
    // Where the top class deviates most it counts 1, and the logarithm is close to 0.
    let log_sum = if extent.top == extent.largest { ln_1p(rest) } else { ln(rest + power) };
    log_sum / p
}

/// `−ln |top / norm|`.
#[inline(always)]
fn log_share(top: f64, largest: f64, log_root: f64) -> f64 {
    log_root - ln((top / largest).abs())
}

/// A deviation to a power.
fn power_of(deviation: f64, p: f64) -> f64 {
    match whole(p, 64.0) {
        Some(p) => loops::whole_power(deviation, p),
        None => deviation.powf(p),
    }
}

/// The exponent as a whole number, if it is one from 1 to some limit.
fn whole(p: f64, limit: f64) -> Option<u32> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number")]
    ((1.0..=limit).contains(&p) && p.fract() == 0.0).then_some(p as u32)
}

/// A row under many norms: those that differ in p alone share one pass.
pub(crate) struct ManyNorms<'a, 'b> {
    row: &'a Row<'b>,
    sum_below: f64,
    /// The last norm, how far the row deviates under it, and each sum without the top class.
    last: Option<(Norm, Extent, [f64; loops::POWERS])>,
}

impl<'a, 'b> ManyNorms<'a, 'b> {
    pub(crate) fn new(row: &'a Row<'b>) -> Self {
        ManyNorms { row, sum_below: row.sum_below(), last: None }
    }

    /// The deviation of the top class under each centring, in the order of [`Centring::ALL`].
    pub(crate) fn top_deviations(&self) -> [f64; 3] {
        let norm = |centring| Norm { centring, gamma: Finite::ZERO, p: Exponent::ONE };
        Centring::ALL.map(|centring| self.row.extent(&norm(centring), self.sum_below).top)
    }

    /// Each of some norms, 1 where the vector is zero, and `−ln |u_1|` under it.
    pub(crate) fn norms(&mut self, norms: &[Norm]) -> Vec<(f64, f64)> {
        self.each(norms.iter(), simd::norms_of, Deviations::norm_and_log_share).collect()
    }

    /// MaxLogit under each of some norms, whose `p` is not 0.
    pub(crate) fn max_logits<'c>(
        &mut self,
        norms: impl Iterator<Item = &'c Norm>,
    ) -> impl Iterator<Item = f64> {
        self.each(norms, simd::max_logits_of, Deviations::max_logit)
    }

    /// What is wanted of each norm: of all whole powers together, and of others one by one.
    fn each<'c, T: Copy>(
        &mut self,
        norms: impl Iterator<Item = &'c Norm>,
        together: impl Fn(&Extent, &[f64; loops::POWERS]) -> [T; BATCH],
        one: impl Fn(&Deviations) -> T,
    ) -> impl Iterator<Item = T> {
        let mut known: Option<(Extent, [T; BATCH])> = None;
        norms.map(move |norm| {
            let Some((extent, p, rests)) = self.of(norm) else {
                return one(&self.row.deviations(norm, self.sum_below));
            };
            match &known {
                Some((of, found)) if of == extent => found[p as usize - 1],
                _ => {
                    let found = together(extent, rests);
                    known = Some((*extent, found));
                    found[p as usize - 1]
                }
            }
        })
    }

    /// The extent, p and the sums for a norm with a whole p; nothing for others.
    fn of(&mut self, norm: &Norm) -> Option<(&Extent, u32, &[f64; loops::POWERS])> {
        let p = whole(norm.p.get(), loops::POWERS as f64)?;
        let same = |known: &Norm| known.centring == norm.centring && known.gamma == norm.gamma;
        if !self.last.as_ref().is_some_and(|(known, ..)| same(known)) {
            let extent = self.row.extent(norm, self.sum_below);
            let deviation = self.row.deviation(&extent);
            let second = extent.second_in_units();
            let mut rests = simd::power_sums(self.row.z, deviation);
            for (rest, p) in rests.iter_mut().zip(1..) {
                *rest = extent.rest(*rest - loops::whole_power(second, p));
            }
            self.last = Some((*norm, extent, rests));
        }
        self.last.as_ref().map(|(_, extent, rests)| (extent, p, rests))
    }
}

/// A row under the map `u = (z − shift) / scale`; `beta` is `1 / scale`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transformed<'a> {
    row: Row<'a>,
    top: f64,
    gap: f64,
    beta: f64,
    log_share: Option<f64>,
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

impl RowView for Row<'_> {
    type Transformed<'b>
        = Transformed<'b>
    where
        Self: 'b;

    fn transformed(&self, transform: &Transform, _column: usize) -> Transformed<'_> {
        Row::transformed(self, transform)
    }

    fn max_logit(&self, norm: &Norm, _column: usize) -> f64 {
        let deviations = self.deviations(norm, self.sum_below());
        if norm.p.get() == 0.0 { deviations.top } else { deviations.max_logit() }
    }

    fn recorded(&self, _column: usize, confidence: impl Fn(&Others<'_>) -> f64) -> f64 {
        confidence(&Others::new(self))
    }

    fn prediction(&self) -> usize {
        Row::prediction(self)
    }

    fn extra(&self) -> f64 {
        self.extra
    }
}

impl Statistics for Transformed<'_> {
    fn beta(&self) -> f64 {
        self.beta
    }

    fn log_share(&self) -> Option<f64> {
        self.log_share
    }

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
        self.tail().1
    }

    fn tail(&self) -> (f64, f64) {
        if self.is_alone() {
            return (f64::NEG_INFINITY, 0.0);
        }
        // The top class counts 1 in the sum, as in `tail_sum`, and 0 in the moment.
        let (sum, moment) = simd::sum_exp_and_moment_below(self.row.z, self.row.second, self.beta);
        ((sum - 1.0).ln(), self.beta * moment / (sum - 1.0))
    }

    fn log_tails(&self) -> (f64, f64) {
        if self.is_alone() {
            return (f64::NEG_INFINITY, f64::NEG_INFINITY);
        }
        let (sum, squares) = simd::sum_exp_and_square_below(self.row.z, self.row.second, self.beta);
        ((sum - 1.0).ln(), (squares - 1.0).ln())
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
        let row = Row::new(Slice::Double(&z));
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
            let u = Row::new(Slice::Double(&z)).transformed(&pnorm(Centring::Mean, 0.0, 3.0));
            seen.insert((u.top().to_bits(), u.gap().to_bits()));
        }
        assert_eq!(seen.len(), 1);
    }

    #[test]
    fn many_norms_are_the_norms_one_by_one() {
        let bulk: Vec<f64> = (0..200).map(|i| f64::from(i * 7919 % 101) * 0.05).collect();
        let mut outlier = bulk.clone();
        outlier[17] = -90.0;
        for z in [bulk, outlier, vec![7.25; 40], vec![3.0, 0.5, -1.0]] {
            let row = Row::new(Slice::Double(&z));
            let mut norms = Vec::new();
            for centring in Centring::ALL {
                for (gamma, p) in (1..13_u32).map(|p| (0.0, p)).chain([(1.5, 2), (-0.5, 9)]) {
                    norms.extend(pnorm(centring, gamma, p.into()).norm);
                }
            }
            let mut many = ManyNorms::new(&row);
            let max_logits: Vec<f64> = many.max_logits(norms.iter()).collect();
            let found = many.norms(&norms);
            for ((norm, max_logit), (size, share)) in norms.iter().zip(max_logits).zip(found) {
                let close = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-13 * b.abs();
                let (exact_size, exact_share) =
                    row.deviations(norm, row.sum_below()).norm_and_log_share();
                assert!(close(size, exact_size), "{norm:?}: {size} {exact_size}");
                assert!(close(share, exact_share), "{norm:?}: {share} {exact_share}");
                let exact = RowView::max_logit(&row, norm, 0);
                assert!(close(max_logit, exact), "{norm:?}: {max_logit} {exact}");
            }
        }
    }

    #[test]
    fn constant_rows_become_the_zero_vector() {
        let z = [7.25; 5];
        let u = Row::new(Slice::Double(&z)).transformed(&pnorm(Centring::Mean, 0.0, 4.0));
        assert_eq!((u.top(), u.gap()), (0.0, 0.0));
    }
}
