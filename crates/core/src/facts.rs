//! Facts about rows that tell whether they are what they are taken for: whether logits look like
//! probabilities, how large they are, and which rows two sets have in common.

use crate::exact::ExactSum;
use crate::logits::Logits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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

/// A sample of the hashes of rows, by which a set is recognised in another order, in part, or among
/// other rows: the rows with the smallest hashes are the same ones wherever they are found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowSketch {
    /// The rows of the set.
    pub rows: usize,
    /// The smallest hashes of different rows, in hexadecimal.
    #[serde(with = "hexadecimal")]
    smallest: BTreeSet<u64>,
}

/// How many rows of a set are rows of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shared {
    /// Hashes of the other set that were compared.
    pub compared: usize,
    /// Those that were found.
    pub found: usize,
    /// Whether the rows are part of the other set: of those that can be recognised, all are in it.
    pub subset: bool,
    /// Whether the other set is part of these rows.
    pub superset: bool,
}

impl RowSketch {
    /// How many hashes are kept.
    pub const SIZE: usize = 256;

    /// Adds rows by their hashes.
    pub fn extend(&mut self, hashes: &[u64]) {
        self.rows += hashes.len();
        for &hash in hashes {
            if self.smallest.len() < Self::SIZE || Some(&hash) < self.smallest.last() {
                self.smallest.insert(hash);
                if self.smallest.len() > Self::SIZE {
                    self.smallest.pop_last();
                }
            }
        }
    }

    /// Adds the rows of another sketch.
    pub fn merge(&mut self, other: &RowSketch) {
        let rows = self.rows + other.rows;
        self.extend(&other.smallest.iter().copied().collect::<Vec<u64>>());
        self.rows = rows;
    }

    /// The share of different rows, estimated where there are many.
    pub fn distinct(&self) -> f64 {
        let different = match self.smallest.last() {
            Some(&largest) if self.smallest.len() >= Self::SIZE => {
                (Self::SIZE - 1) as f64 / (largest as f64 / u64::MAX as f64)
            }
            _ => self.smallest.len() as f64,
        };
        (different / self.rows.max(1) as f64).min(1.0)
    }

    /// What a set of rows has in common with the rows of this sketch.
    pub fn shared(&self, other: &RowSketch) -> Shared {
        // Below the smaller of the largest hashes, both sketches hold every row of their sets.
        let full = |sketch: &RowSketch| sketch.smallest.len() >= Self::SIZE;
        let end = |sketch: &RowSketch| {
            if full(sketch) { sketch.smallest.last().copied() } else { None }
        };
        let limit = [end(self), end(other)].into_iter().flatten().min().unwrap_or(u64::MAX);
        let below = |sketch: &RowSketch| sketch.smallest.range(..=limit).count();
        let found = self.smallest.range(..=limit).filter(|h| other.smallest.contains(h)).count();
        Shared {
            compared: below(self),
            found,
            subset: found > 0 && found == below(other),
            superset: found > 0 && found == below(self),
        }
    }
}

mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::collections::BTreeSet;

    pub(super) fn serialize<S: Serializer>(
        hashes: &BTreeSet<u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(hashes.iter().map(|hash| format!("{hash:016x}")))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeSet<u64>, D::Error> {
        let texts: Vec<String> = Vec::deserialize(deserializer)?;
        if texts.len() > super::RowSketch::SIZE {
            return Err(serde::de::Error::custom("a sketch of too many rows"));
        }
        let hash = |text: &String| u64::from_str_radix(text, 16).map_err(serde::de::Error::custom);
        texts.iter().map(hash).collect()
    }
}

impl Logits<'_> {
    /// A hash of the numbers of each row, the same for all number types and machines.
    pub fn row_hashes(&self) -> Vec<u64> {
        self.map_values(|_, row| hash_of_row(row))
    }
}

/// The hash of a row: every number as the bits of a double, zero without its sign.
pub(crate) fn hash_of_row(row: &[f64]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = row.len() as u64;
    for &number in row {
        hash = (hash ^ (number + 0.0).to_bits()).wrapping_mul(ODD);
        hash ^= hash >> 29;
    }
    // The last numbers reach all bits.
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
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

    fn sketch(rows: std::ops::Range<u32>) -> RowSketch {
        let values: Vec<f64> = rows.flat_map(|i| [f64::from(i), f64::from(i).sin(), 1.0]).collect();
        let mut sketch = RowSketch::default();
        let logits = Logits::new(values, 3).expect("rows");
        sketch.extend(&logits.row_hashes());
        sketch
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

    #[test]
    fn parts_and_wholes_are_recognised_whatever_the_order() {
        let (all, part, other) = (sketch(0..5000), sketch(1000..3000), sketch(5000..9000));
        assert!(all.shared(&part).subset && !all.shared(&part).superset);
        assert!(part.shared(&all).superset && !part.shared(&all).subset);
        let same = all.shared(&all);
        assert!(same.subset && same.superset && same.found == RowSketch::SIZE);
        assert_eq!(all.shared(&other).found, 0);
        assert!(!all.shared(&other).subset);
        // Half of the rows in common.
        let half = all.shared(&sketch(2500..7500));
        let share = half.found as f64 / half.compared as f64;
        assert!((0.4..0.6).contains(&share), "{share}");
        assert!(all.distinct() > 0.8);
        let mut repeated = RowSketch::default();
        let row = Logits::new(&[1.0, 2.0][..], 2).expect("a row").row_hashes();
        (0..10).for_each(|_| repeated.extend(&row));
        assert!((repeated.distinct() - 0.1).abs() < 1e-12);
        // Few rows are all compared.
        let few = sketch(0..10).shared(&sketch(5..15));
        assert_eq!((few.found, few.compared), (5, 10));
    }

    #[test]
    fn hashes_do_not_depend_on_the_number_type() {
        let single = Logits::new(&[1.5_f32, -0.25, 0.0][..], 3).expect("a row").row_hashes();
        let double = Logits::new(&[1.5_f64, -0.25, -0.0][..], 3).expect("a row").row_hashes();
        assert_eq!(single, double);
        // Written down: artifacts hold such hashes.
        assert_eq!(single, [hash_of_row(&[1.5, -0.25, 0.0])]);
        assert_ne!(single, Logits::new(&[-0.25, 1.5, 0.0][..], 3).expect("a row").row_hashes());
    }

    #[test]
    fn sketches_read_back() {
        let sketch = sketch(0..1000);
        let json = serde_json::to_string(&sketch).expect("serialises");
        assert_eq!(serde_json::from_str::<RowSketch>(&json).expect("reads"), sketch);
        let many = format!("{{\"rows\":1,\"smallest\":[{}]}}", vec!["\"00\""; 257].join(","));
        assert!(serde_json::from_str::<RowSketch>(&many).is_err());
    }
}
