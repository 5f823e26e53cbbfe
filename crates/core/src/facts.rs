//! Facts about rows that tell whether they are what they are taken for: whether logits look like
//! probabilities, and how large they are.

use crate::exact::ExactSum;
use crate::logits::Logits;
use serde::{Deserialize, Serialize};

/// How far a row of probabilities may be from a sum of 1.
const ROUNDING: f64 = 1e-2;

/// What some rows look like. Facts of different rows can be merged.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowFacts {
    /// The rows that were looked at.
    rows: usize,
    /// Those whose numbers lie in [0, 1], and those of them that sum to 1.
    unit: usize,
    simplex: usize,
    /// Those whose numbers lie in [0, 100] and sum to 100.
    percent: usize,
    /// The rows that are not constant, and the sum of the logarithms of their scales.
    scaled: usize,
    log_scale: ExactSum,
}

/// Of the rows of a set, the first so many are looked at, and then every so many-th.
const LOOKED_AT: usize = 1024;
const EVERY: usize = 16;

impl RowFacts {
    /// The facts of some rows, at most about so many, evenly spaced.
    pub fn of(logits: &Logits<'_>, at_most: usize) -> Self {
        let mut facts = RowFacts::default();
        let mut row = vec![0.0; logits.classes()];
        let step = logits.rows().div_ceil(at_most.max(1)).max(1);
        for index in (0..logits.rows()).step_by(step) {
            logits.copy_row(index, &mut row);
            facts.push(&row);
        }
        facts
    }

    /// The facts of a chunk of a set that begins with row `first`. Which rows are looked at depends on their
    /// places in the set alone, and not on how it is divided.
    pub fn of_chunk(logits: &Logits<'_>, first: usize) -> Self {
        let mut facts = RowFacts::default();
        let mut row = vec![0.0; logits.classes()];
        for index in 0..logits.rows() {
            let place = first + index;
            if place < LOOKED_AT || place.is_multiple_of(EVERY) {
                logits.copy_row(index, &mut row);
                facts.push(&row);
            }
        }
        facts
    }

    fn push(&mut self, row: &[f64]) {
        self.rows += 1;
        let inside = row.iter().all(|x| (-ROUNDING..=1.0 + ROUNDING).contains(x));
        let sum: f64 = row.iter().sum();
        self.unit += usize::from(inside);
        self.simplex += usize::from(inside && (sum - 1.0).abs() <= ROUNDING);
        let percentages = row.iter().all(|x| (0.0..=100.0 + ROUNDING).contains(x));
        self.percent += usize::from(percentages && (sum - 100.0).abs() <= 100.0 * ROUNDING);
        // Masked classes have no size.
        let finite = || row.iter().copied().filter(|x| x.is_finite());
        let count = finite().count().max(1) as f64;
        let mean = finite().sum::<f64>() / count;
        let scale = (finite().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count).sqrt();
        if scale > 0.0 && scale.is_finite() {
            self.scaled += 1;
            self.log_scale.add(scale.ln());
        }
    }

    /// Adds the facts of other rows.
    pub fn merge(&mut self, other: &RowFacts) {
        self.rows += other.rows;
        self.unit += other.unit;
        self.simplex += other.simplex;
        self.percent += other.percent;
        self.scaled += other.scaled;
        self.log_scale.merge(&other.log_scale);
    }

    /// Whether every row that was looked at is one of probabilities. Few rows may be so by chance.
    pub fn look_like_probabilities(&self) -> bool {
        self.rows >= 3 && self.simplex == self.rows
    }

    /// Whether every row that was looked at is one of probabilities in per cent.
    pub fn look_like_percentages(&self) -> bool {
        self.rows >= 3 && self.percent == self.rows
    }

    /// Whether all numbers lie between 0 and 1, as those of sigmoids do. Some rows of few classes may be so
    /// by chance.
    pub fn lie_between_zero_and_one(&self) -> bool {
        self.rows >= 20 && self.unit == self.rows
    }

    /// The geometric mean over rows of the standard deviation of the numbers in a row; nothing if all
    /// rows are constant.
    pub fn scale(&self) -> Option<f64> {
        (self.scaled > 0).then(|| (self.log_scale.value() / self.scaled as f64).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_and_sigmoids_are_seen() {
        let facts = |row: [f64; 3], rows: usize| {
            let values = row.repeat(rows);
            RowFacts::of(&Logits::new(values, 3).expect("rows"), 100)
        };
        let percent = facts([70.5, 29.0, 0.5], 3);
        assert!(percent.look_like_percentages() && !percent.look_like_probabilities());
        assert!(!facts([70.5, 19.0, 0.5], 3).look_like_percentages());
        assert!(facts([0.9, 0.8, 0.1], 20).lie_between_zero_and_one());
        assert!(!facts([0.9, 0.8, 0.1], 19).lie_between_zero_and_one());
        assert!(!facts([0.9, 0.8, -0.1], 20).lie_between_zero_and_one());
    }

    #[test]
    fn probabilities_are_recognised() {
        let facts = |values: &[f64]| RowFacts::of(&Logits::new(values, 2).expect("rows"), 100);
        let probabilities = facts(&[0.25, 0.75, 0.5, 0.5, 1.0, 0.0]);
        assert!(probabilities.look_like_probabilities());
        let mut all = probabilities.clone();
        all.merge(&facts(&[2.0, -1.0]));
        assert!(!all.look_like_probabilities());
        assert!(!facts(&[0.25, 0.75]).look_like_probabilities(), "one row may be so by chance");
    }

    #[test]
    fn scales_are_those_of_the_numbers() {
        let facts = |values: &[f64]| RowFacts::of(&Logits::new(values, 2).expect("rows"), 100);
        let scale = facts(&[3.0, -3.0, 5.0, -7.0]).scale().expect("a scale");
        assert!((scale - (3.0_f64 * 6.0).sqrt()).abs() < 1e-12);
        assert_eq!(facts(&[1.0, 1.0]).scale(), None);
        // A masked class has no size.
        let masked = Logits::masked(&[3.0, -3.0, f64::NEG_INFINITY][..], 3).expect("a row");
        assert!((RowFacts::of(&masked, 9).scale().expect("a scale") - 3.0).abs() < 1e-12);
    }
}
