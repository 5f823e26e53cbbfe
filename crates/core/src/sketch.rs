//! Sketches of rows, by which a set is recognised in another order, in part, among other rows, rounded or
//! with another offset.
//!
//! # What survives
//!
//! A row has a hash of its numbers, which any change changes, and a *rounded* hash, which mostly survives
//! half precision, rounding to three decimals, a constant that is added to all logits, and a temperature. It
//! is that of the deviations of the logits from their mean, in steps of a share of the largest one; of
//! probabilities, that of their multiples of 1/40. On real logits 91 % to all of the rows keep it. Two
//! classes have one deviation, which says nothing; of three, chance explains as much from some hundred rows
//! on; and sure rows of probabilities are all alike. Such rows are recognised if they are unchanged.
//!
//! # Chance
//!
//! Rows can have the same hash by chance, as where probabilities have two decimals. How often says the set
//! itself, by Good and Turing's estimate: if `f1` hashes occur once and `f2` twice, a further row has a
//! given one of the former with probability `2 f2 / (f1 n)`. So only hashes that occur once are looked for,
//! and finding them is evidence if far more are found than that.

use crate::logits::Logits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What recognises a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowMark {
    /// A hash of the numbers, the same for all number types and machines.
    pub hash: u64,
    /// By which copies are found: see [`crate::internal::Clusters::of_copies`].
    pub key: u64,
    /// A hash that mostly survives rounding.
    pub rounded: u64,
}

impl Logits<'_> {
    /// What recognises each row.
    pub fn row_marks(&self) -> Vec<RowMark> {
        let probabilities = self.floor().is_some();
        self.map_values(|_, row| {
            let hash = hash_of(row.iter().map(|number| number + 0.0), row.len());
            RowMark {
                hash,
                key: crate::copies::key_of(row, hash),
                rounded: if probabilities { of_probabilities(row) } else { of_logits(row) },
            }
        })
    }
}

/// The rounded hash of probabilities.
fn of_probabilities(row: &[f64]) -> u64 {
    const STEPS: f64 = 40.0;
    let steps =
        row.iter().map(|p| (p * STEPS).round()).enumerate().filter(|(_, steps)| *steps > 0.0);
    hash_of(steps.flat_map(|(class, steps)| [class as f64, steps]), row.len())
}

/// The rounded hash of logits: with few classes of all of them, with many of those far above the mean.
fn of_logits(row: &[f64]) -> u64 {
    let (steps, least) = match row.len() {
        ..=3 => (256.0, f64::NEG_INFINITY),
        4 => (128.0, f64::NEG_INFINITY),
        5..=16 => (64.0, f64::NEG_INFINITY),
        _ => (16.0, 4.0),
    };
    // Masked classes have no deviation.
    let finite = || row.iter().copied().enumerate().filter(|(_, logit)| logit.is_finite());
    let mean = finite().map(|(_, logit)| logit).sum::<f64>() / finite().count().max(1) as f64;
    let largest = finite().map(|(_, logit)| logit - mean).fold(0.0, f64::max);
    let unit = if largest > 0.0 { largest / steps } else { 1.0 };
    let deviations = finite().map(|(class, logit)| (class, ((logit - mean) / unit).round()));
    let far = deviations.filter(|(_, deviation)| *deviation >= least);
    hash_of(far.flat_map(|(class, deviation)| [class as f64, deviation + 0.0]), row.len())
}

/// The hash of some numbers: each as the bits of a double, zero without its sign.
fn hash_of(numbers: impl Iterator<Item = f64>, classes: usize) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = classes as u64;
    for number in numbers {
        hash = (hash ^ number.to_bits()).wrapping_mul(ODD);
        hash ^= hash >> 29;
    }
    // The last numbers reach all bits.
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// A sample of the hashes of rows: those with the smallest hashes are the same ones wherever they are found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct RowSketch {
    /// The rows of the set.
    pub rows: usize,
    smallest: BTreeMap<u64, Seen>,
}

/// How often a hash was seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Seen {
    /// Three stands for more; 0 if it is not known, as in sketches of earlier versions.
    count: u8,
    /// The smallest hashes of different rows that have it, if only those are counted.
    rows: Vec<u64>,
}

/// How many times a hash is counted at most.
const MOST: usize = 3;

impl Seen {
    fn add(&mut self, other: &Seen) {
        if other.rows.is_empty() {
            #[expect(clippy::cast_possible_truncation, reason = "at most 3")]
            let count = usize::from(self.count).saturating_add(other.count.into()).min(MOST) as u8;
            self.count = count;
            return;
        }
        self.rows.extend(&other.rows);
        self.rows.sort_unstable();
        self.rows.dedup();
        self.rows.truncate(MOST);
        self.count = u8::try_from(self.rows.len()).unwrap_or(u8::MAX);
    }
}

/// What two sets of rows have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shared {
    /// Hashes of the first set that were looked for.
    pub compared: usize,
    /// Those that were found in the other.
    pub found: usize,
    /// How many of them chance explains at most.
    pub by_chance: f64,
    /// The share of the other set that they are.
    pub share: f64,
}

impl Shared {
    /// Whether so many have nothing to do with chance.
    pub fn is_evidence(&self) -> bool {
        const FEWEST: usize = 8;
        self.found >= FEWEST && self.found as f64 > self.by_chance + 4.0 * self.by_chance.sqrt()
    }

    /// Whether, beyond that, a tenth of either set is in the other.
    pub fn is_substantial(&self) -> bool {
        const TENTH: f64 = 0.1;
        let of_first = self.found as f64 / self.compared.max(1) as f64;
        self.is_evidence() && (of_first >= TENTH || self.share >= TENTH)
    }
}

impl RowSketch {
    /// How many hashes are kept.
    pub const SIZE: usize = 256;

    /// Adds rows by their hashes.
    pub fn extend(&mut self, hashes: impl IntoIterator<Item = u64>) {
        for hash in hashes {
            self.rows += 1;
            self.add(hash, &Seen { count: 1, rows: Vec::new() });
        }
    }

    /// Adds rows by their rounded hashes; copies count once.
    pub fn extend_rounded(&mut self, marks: &[RowMark]) {
        for mark in marks {
            self.rows += 1;
            self.add(mark.rounded, &Seen { count: 1, rows: vec![mark.hash] });
        }
    }

    fn add(&mut self, hash: u64, seen: &Seen) {
        let full = self.smallest.len() >= Self::SIZE;
        if full && self.smallest.last_key_value().is_some_and(|(largest, _)| hash > *largest) {
            return;
        }
        self.smallest.entry(hash).or_default().add(seen);
        if self.smallest.len() > Self::SIZE {
            self.smallest.pop_last();
        }
    }

    /// Adds the rows of another sketch.
    pub fn merge(&mut self, other: &RowSketch) {
        self.rows += other.rows;
        other.smallest.iter().for_each(|(hash, seen)| self.add(*hash, seen));
    }

    /// The same with nothing but what it takes to compare it.
    #[must_use]
    pub fn finished(mut self) -> Self {
        self.smallest.values_mut().for_each(|seen| seen.rows.clear());
        self
    }

    /// Whether a hash occurs once.
    fn is_single(&self, seen: &Seen) -> bool {
        match seen.count {
            // Not known: assumed where nearly all rows are different.
            0 => self.distinct() > 0.9,
            count => count == 1,
        }
    }

    /// The share of different rows, estimated where there are many.
    fn distinct(&self) -> f64 {
        let different = match self.smallest.last_key_value() {
            Some((&largest, _)) if self.smallest.len() >= Self::SIZE => {
                (Self::SIZE - 1) as f64 / (largest as f64 / u64::MAX as f64)
            }
            _ => self.smallest.len() as f64,
        };
        (different / self.rows.max(1) as f64).min(1.0)
    }

    /// The probability that one of as many further rows has a given hash that occurs once, at most.
    fn chance(&self) -> f64 {
        let once = self.smallest.values().filter(|seen| self.is_single(seen)).count();
        let twice = self.smallest.values().filter(|seen| seen.count == 2).count() as f64;
        // What three standard deviations add to a count, and to none.
        2.0 * (twice + 3.0 * twice.sqrt() + 3.0) / once.max(1) as f64
    }

    /// What a set of rows has in common with the rows of this sketch.
    pub fn shared(&self, other: &RowSketch) -> Shared {
        // Below the smaller of the largest hashes, both sketches hold every row of their sets.
        let end = |sketch: &RowSketch| match sketch.smallest.last_key_value() {
            Some((largest, _)) if sketch.smallest.len() >= Self::SIZE => *largest,
            _ => u64::MAX,
        };
        let limit = end(self).min(end(other));
        let here = || {
            let here = self.smallest.range(..=limit);
            here.filter(|(_, seen)| self.is_single(seen)).map(|(hash, _)| hash)
        };
        let compared = here().count();
        let found = here().filter(|hash| other.smallest.contains_key(hash)).count();
        // The larger set knows more of chance.
        let chance = if other.rows >= self.rows { other.chance() } else { self.chance() };
        let there = other.smallest.range(..=limit).count();
        Shared {
            compared,
            found,
            by_chance: compared as f64 * chance.min(1.0),
            share: found as f64 / there.max(1) as f64,
        }
    }
}

/// Sketches of rows by both of their hashes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RowSketches {
    /// By the hashes of their numbers.
    pub exact: RowSketch,
    /// By their rounded hashes.
    pub rounded: RowSketch,
}

impl RowSketches {
    /// Adds rows.
    pub fn extend(&mut self, marks: &[RowMark]) {
        self.exact.extend(marks.iter().map(|mark| mark.hash));
        self.rounded.extend_rounded(marks);
    }

    /// Adds the rows of other sketches.
    pub fn merge(&mut self, other: &RowSketches) {
        self.exact.merge(&other.exact);
        self.rounded.merge(&other.rounded);
    }
}

/// A sketch as it is stored: hashes in hexadecimal.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    rows: usize,
    smallest: Vec<String>,
    /// How often each was seen; missing in earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counts: Vec<u8>,
    /// The rows that have each, while rows are added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    of_rows: Vec<Vec<u64>>,
}

impl From<RowSketch> for Stored {
    fn from(sketch: RowSketch) -> Self {
        let RowSketch { rows, smallest } = sketch;
        let known = smallest.values().any(|seen| seen.count > 0);
        let adding = smallest.values().any(|seen| !seen.rows.is_empty());
        Stored {
            rows,
            counts: smallest.values().filter(|_| known).map(|seen| seen.count).collect(),
            of_rows: smallest.values().filter(|_| adding).map(|seen| seen.rows.clone()).collect(),
            smallest: smallest.keys().map(|hash| format!("{hash:016x}")).collect(),
        }
    }
}

impl TryFrom<Stored> for RowSketch {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let Stored { rows, smallest, counts, of_rows } = stored;
        let fits = |length: usize| length == 0 || length == smallest.len();
        if smallest.len() > Self::SIZE || !fits(counts.len()) || !fits(of_rows.len()) {
            return Err("a sketch of too many rows".into());
        }
        let mut sketch = RowSketch { rows, smallest: BTreeMap::new() };
        for (index, text) in smallest.iter().enumerate() {
            let hash = u64::from_str_radix(text, 16).map_err(|error| error.to_string())?;
            let count = counts.get(index).copied().unwrap_or(0);
            let rows = of_rows.get(index).cloned().unwrap_or_default();
            sketch.smallest.insert(hash, Seen { count, rows });
        }
        Ok(sketch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn marks(values: Vec<f64>, classes: usize) -> Vec<RowMark> {
        Logits::new(values, classes).expect("rows").row_marks()
    }

    fn exact(marks: &[RowMark]) -> RowSketch {
        let mut sketch = RowSketch::default();
        sketch.extend(marks.iter().map(|mark| mark.hash));
        sketch
    }

    fn rounded(marks: &[RowMark]) -> RowSketch {
        let mut sketch = RowSketch::default();
        sketch.extend_rounded(marks);
        sketch
    }

    /// Rows of a classifier, so many numbers from so many on.
    fn rows(range: std::ops::Range<usize>, classes: usize) -> Vec<f64> {
        let mut values = Vec::new();
        for row in range {
            let mut random = Random::of_task(5, row);
            let top = random.below(classes);
            for class in 0..classes {
                let sum: f64 = (0..12).map(|_| random.share()).sum::<f64>() - 6.0;
                values.push(1.5 * sum + if class == top { 6.0 } else { 0.0 });
            }
        }
        values
    }

    fn sketch(range: std::ops::Range<usize>) -> RowSketch {
        exact(&marks(rows(range, 3), 3))
    }

    #[test]
    fn parts_and_wholes_are_recognised_whatever_the_order() {
        let (all, part, other) = (sketch(0..5000), sketch(1000..3000), sketch(5000..9000));
        for shared in [all.shared(&part), part.shared(&all), all.shared(&all)] {
            assert!(shared.is_substantial(), "{shared:?}");
        }
        assert_eq!(part.shared(&all).found, part.shared(&all).compared);
        assert_eq!(all.shared(&all).found, RowSketch::SIZE);
        assert_eq!(all.shared(&other).found, 0);
        assert!(!all.shared(&other).is_evidence());
        // Half of the rows in common.
        let half = all.shared(&sketch(2500..7500));
        let share = half.found as f64 / half.compared as f64;
        assert!((0.4..0.6).contains(&share) && (0.4..0.6).contains(&half.share), "{half:?}");
        // Few rows are all compared.
        let few = sketch(0..40).shared(&sketch(20..60));
        assert_eq!((few.found, few.compared), (20, 40));
        assert!(few.is_substantial());
        // A few of many are not substantial.
        let few = sketch(0..5000).shared(&sketch(4700..9700));
        assert!(few.found > 0 && !few.is_substantial(), "{few:?}");
    }

    #[test]
    fn rounding_offsets_and_temperatures_leave_most_rounded_hashes() {
        for classes in [4, 10, 50, 1000] {
            let count = if classes > 100 { 200 } else { 1000 };
            let (here, there) = (rows(0..count, classes), rows(count..2 * count, classes));
            let known = rounded(&marks(here.clone(), classes));
            let half = |x: f64| half::f16::from_f64(x).to_f64();
            let changed: [(&str, &dyn Fn(f64) -> f64); 4] = [
                ("half precision", &half),
                ("three decimals", &|x| (x * 1000.0).round() / 1000.0),
                ("an offset", &|x| x + 17.25),
                ("a temperature", &|x| x / 1.7),
            ];
            for (what, change) in changed {
                let values: Vec<f64> = here.iter().map(|&x| change(x)).collect();
                let shared = known.shared(&rounded(&marks(values.clone(), classes)));
                let share = shared.found as f64 / shared.compared as f64;
                assert!(share > 0.75 && shared.is_substantial(), "{classes}, {what}: {shared:?}");
                let unchanged = exact(&marks(here.clone(), classes));
                assert_eq!(unchanged.shared(&exact(&marks(values, classes))).found, 0, "{what}");
            }
            let shared = known.shared(&rounded(&marks(there, classes)));
            assert!(!shared.is_evidence(), "{classes}: {shared:?}");
        }
    }

    #[test]
    fn coarse_rows_are_not_recognised() {
        let mut random = Random::new(8);
        for (count, decimals) in [(100, 100.0), (1000, 100.0), (300, 1000.0), (5000, 1000.0)] {
            let mut set = || -> Vec<RowMark> {
                let number = |share: f64| (share * decimals).round() / decimals;
                let shares = (0..count).map(|_| number(random.share()));
                marks(shares.flat_map(|p| [1.0 - p, p]).collect(), 2)
            };
            let (here, there) = (set(), set());
            let shared = exact(&here).shared(&exact(&there));
            assert!(!shared.is_evidence(), "{count} of {decimals}: {shared:?}");
            assert!(!rounded(&here).shared(&rounded(&there)).is_evidence());
        }
    }

    #[test]
    fn copies_do_not_hide_a_set() {
        let once = marks(rows(0..300, 10), 10);
        let twice = once.repeat(2);
        assert!(rounded(&twice).shared(&rounded(&once)).is_substantial());
        assert_eq!(rounded(&twice).rows, 600);
    }

    #[test]
    fn merged_parts_are_the_whole() {
        let marks = marks(rows(0..900, 3).repeat(2), 3);
        for sketch in [exact, rounded] {
            let whole = sketch(&marks);
            for parts in [2, 7] {
                let mut merged = RowSketch::default();
                for part in marks.chunks(marks.len() / parts) {
                    let json = serde_json::to_string(&sketch(part)).expect("serialises");
                    merged.merge(&serde_json::from_str(&json).expect("reads"));
                }
                assert_eq!(merged, whole);
            }
        }
    }

    #[test]
    fn hashes_do_not_depend_on_the_number_type() {
        let single = Logits::new(&[1.5_f32, -0.25, 0.0][..], 3).expect("a row").row_marks();
        let double = Logits::new(&[1.5_f64, -0.25, -0.0][..], 3).expect("a row").row_marks();
        assert_eq!(single, double);
        assert_ne!(single, Logits::new(&[-0.25, 1.5, 0.0][..], 3).expect("a row").row_marks());
        // Written down: artifacts hold such hashes.
        let expected = (320_479_733_777_260_276, 10_018_394_460_037_114_381);
        assert_eq!((single[0].hash, single[0].rounded), expected);
    }

    #[test]
    fn sketches_read_back_and_earlier_ones_do() {
        let sketch = sketch(0..1000);
        let json = serde_json::to_string(&sketch).expect("serialises");
        assert_eq!(serde_json::from_str::<RowSketch>(&json).expect("reads"), sketch);
        let many = format!("{{\"rows\":1,\"smallest\":[{}]}}", vec!["\"00\""; 257].join(","));
        assert!(serde_json::from_str::<RowSketch>(&many).is_err());
        // Without counts, as they were written before.
        let mut value = serde_json::to_value(&sketch).expect("serialises");
        value.as_object_mut().expect("an object").remove("counts");
        let earlier: RowSketch = serde_json::from_value(value.clone()).expect("reads");
        assert_eq!(serde_json::to_value(&earlier).expect("serialises"), value);
        assert!(earlier.shared(&sketch).is_substantial());
    }
}
