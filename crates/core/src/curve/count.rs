//! What rows are counted in: whole rows, or weights.

use super::weighted::Sums;
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Sub};

/// What the rows of a curve are counted in: `usize`, or `f64` where rows have weights.
///
/// A weight counts as that many rows, so that every formula is the same for both, and each is
/// compiled for both.
pub trait Count:
    Copy + Debug + PartialOrd + Add<Output = Self> + AddAssign + Sub<Output = Self> + Internals
{
}

impl Count for usize {}
impl Count for f64 {}

/// What only this crate may call. It also keeps others from implementing [`Count`].
pub trait Internals: Sized {
    const ZERO: Self;

    /// What a curve stores of each group beside the knots.
    type Sums: Clone + Debug + Default + PartialEq;

    fn to_f64(self) -> f64;

    /// The count of whole rows.
    fn from_rows(rows: usize) -> Self;

    /// `Σ 1/k` over the `width` row counts after `after`.
    fn sum_of_reciprocals(after: Self, width: Self) -> f64;

    /// The row counts of a group that are among `counts`, and how many they are if any.
    fn overlap(rows_before: Self, rows: Self, counts: &Counts<Self>) -> (Counts<Self>, Self);

    /// Whether a group is a single row, and `width` of its row counts are all of them.
    fn is_single(rows: Self, width: Self) -> bool;

    /// The largest row count that is at most a share of all rows.
    fn up_to(share: f64, rows: Self) -> Self;

    /// Rows, loss and right rows of a group, where they are stored.
    fn stored(sums: &Self::Sums, group: usize) -> Option<(Self, f64, f64)>;

    /// The number of right rows, where it is stored.
    fn stored_right(sums: &Self::Sums) -> Option<f64>;

    /// Whether there are several rows that together count as no more than one.
    fn is_less_than_a_row(rows: Self, sums: &Self::Sums) -> bool;
}

/// The row counts `k` with `after < k <= to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counts<C> {
    pub(crate) after: C,
    pub(crate) to: C,
}

impl<C: Count> Counts<C> {
    pub(crate) fn is_empty(&self) -> bool {
        self.after >= self.to
    }

    /// How many they are.
    pub(crate) fn width(&self) -> C {
        self.to - self.after
    }
}

impl Internals for usize {
    const ZERO: Self = 0;
    type Sums = ();

    #[inline]
    fn to_f64(self) -> f64 {
        self as f64
    }

    #[inline]
    fn from_rows(rows: usize) -> Self {
        rows
    }

    #[inline]
    fn sum_of_reciprocals(after: Self, width: Self) -> f64 {
        (after + 1..=after + width).map(|k| 1.0 / k as f64).sum()
    }

    #[inline]
    fn overlap(rows_before: Self, rows: Self, counts: &Counts<Self>) -> (Counts<Self>, Self) {
        let after = rows_before.max(counts.after);
        let to = (rows_before + rows).min(counts.to);
        (Counts { after, to }, to.wrapping_sub(after))
    }

    #[inline]
    fn is_single(rows: Self, _width: Self) -> bool {
        rows == 1
    }

    #[inline]
    fn up_to(share: f64, rows: Self) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row count")]
        let count = (share * rows as f64 * (1.0 + super::ROUNDING)).floor() as usize;
        count.min(rows)
    }

    #[inline]
    fn stored((): &Self::Sums, _group: usize) -> Option<(Self, f64, f64)> {
        None
    }

    #[inline]
    fn stored_right((): &Self::Sums) -> Option<f64> {
        None
    }

    #[inline]
    fn is_less_than_a_row(_rows: Self, (): &Self::Sums) -> bool {
        false
    }
}

impl Internals for f64 {
    const ZERO: Self = 0.0;
    type Sums = Sums;

    #[inline]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline]
    fn from_rows(rows: usize) -> Self {
        rows as f64
    }

    #[inline]
    fn sum_of_reciprocals(after: Self, width: Self) -> f64 {
        harmonic_difference(after, width)
    }

    #[inline]
    fn overlap(rows_before: Self, rows: Self, counts: &Counts<Self>) -> (Counts<Self>, Self) {
        let end = rows_before + rows;
        if counts.after <= rows_before && counts.to >= end {
            // Not the difference of the ends, which rounds a light group away.
            let to = end.max(rows_before.next_up());
            return (Counts { after: rows_before, to }, rows);
        }
        let (after, to) = (rows_before.max(counts.after), end.min(counts.to));
        (Counts { after, to }, to - after)
    }

    #[inline]
    fn is_single(rows: Self, width: Self) -> bool {
        rows == 1.0 && width == 1.0
    }

    /// Whole rows, but all of the weight at the end.
    #[inline]
    fn up_to(share: f64, rows: Self) -> Self {
        let count = share * rows * (1.0 + super::ROUNDING);
        if count >= rows { rows } else { count.floor() }
    }

    #[inline]
    fn stored(sums: &Self::Sums, group: usize) -> Option<(Self, f64, f64)> {
        sums.groups.get(group).map(|sum| (sum.weight, sum.loss, sum.right))
    }

    #[inline]
    fn stored_right(sums: &Self::Sums) -> Option<f64> {
        Some(sums.right)
    }

    #[inline]
    fn is_less_than_a_row(rows: Self, sums: &Self::Sums) -> bool {
        sums.rows > 1 && rows <= 1.0 + 1e-9
    }
}

/// `H(after + width) − H(after)`, where `H(x) = ψ(x + 1) + γ` continues the harmonic numbers
/// `1 + 1/2 + … + 1/x` to all `x` from 0.
///
/// Every term is a difference in closed form, so that a small one keeps its digits.
fn harmonic_difference(after: f64, width: f64) -> f64 {
    /// `ψ(x) = ln x − 1/2x − Σ c_j x^−2j`, which is exact to double precision from here on.
    const LARGE: f64 = 16.0;
    const SERIES: [f64; 6] =
        [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0];
    let (mut low, mut high) = (after + 1.0, after + width + 1.0);
    let mut sum = 0.0;
    // ψ(x) = ψ(x + 1) − 1/x.
    while low < LARGE {
        sum += width / (low * high);
        low += 1.0;
        high += 1.0;
    }
    let reciprocals = (1.0 / low, 1.0 / high);
    let difference = width / (low * high);
    let squares = (reciprocals.0 * reciprocals.0, reciprocals.1 * reciprocals.1);
    // The divided difference of the series, by Horner's rule.
    let (mut value, mut slope) = (0.0, 0.0);
    for coefficient in SERIES.iter().rev() {
        slope = slope * squares.1 + value;
        value = value * squares.0 + coefficient;
    }
    slope = slope * squares.1 + value;
    let series = slope * (reciprocals.0 + reciprocals.1) * difference;
    sum + (width / low).ln_1p() + 0.5 * difference + series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 4e-15 * b.abs()
    }

    #[test]
    fn harmonic_differences_of_whole_numbers_are_sums_of_reciprocals() {
        for after in [0_usize, 1, 2, 9, 15, 16, 17, 1000, 1_000_000] {
            for width in [1_usize, 2, 3, 10, 100, 1000] {
                let found = harmonic_difference(after as f64, width as f64);
                let sum = usize::sum_of_reciprocals(after, width);
                assert!(near(found, sum), "{after} {width}: {found} {sum}");
            }
        }
    }

    #[test]
    fn harmonic_differences_between_whole_numbers_have_known_values() {
        // H(1/2) = 2 − 2 ln 2; H(1/4) = 4 − π/2 − 3 ln 2 (Gauss); H(x + 1) = H(x) + 1/(x + 1).
        let half = 2.0 - 2.0 * 2.0_f64.ln();
        let quarter = 4.0 - std::f64::consts::FRAC_PI_2 - 3.0 * 2.0_f64.ln();
        assert!(near(harmonic_difference(0.0, 0.5), half));
        assert!(near(harmonic_difference(0.0, 0.25), quarter));
        assert!(near(harmonic_difference(0.25, 0.25), half - quarter));
        assert!(near(harmonic_difference(0.5, 2.0), 1.0 / 1.5 + 1.0 / 2.5));
        // The slope at 0 is ζ(2), and far away it is that of the logarithm: no digit is lost.
        let zeta = std::f64::consts::PI.powi(2) / 6.0;
        assert!(near(harmonic_difference(0.0, 1e-17) * 1e17, zeta));
        assert!(near(harmonic_difference(1e12, 1e-3), 1e-15 * (1.0 - 0.5e-12)));
    }

    #[test]
    fn harmonic_differences_add_up() {
        let (mut at, mut sum) = (0.3, 0.0);
        for step in 1..200_u32 {
            let width = f64::from(step % 7) * 0.37 + 0.01;
            sum += harmonic_difference(at, width);
            at += width;
        }
        assert!((sum - harmonic_difference(0.3, at - 0.3)).abs() < 1e-13);
    }
}
