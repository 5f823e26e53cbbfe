//! Copies among rows: which rows are equal although their numbers have too many digits for chance, and which
//! rows therefore belong together.
//!
//! # When equal rows are copies
//!
//! Two independent rows can be equal where their numbers are coarse: probabilities of two decimals, one-hot
//! rows, whole numbers, saturated rows of a sure classifier. So each row has a *detail*, a lower estimate of
//! how many binary digits say which row it is. A number counts as many as it needs in binary or in decimal,
//! whichever are fewer, at most [`SINGLE`], and less [`COMMON`], since numbers crowd where rows are alike.
//! Equal numbers of a row count once. The one with the most digits does not count: probabilities sum to 1,
//! logits have an arbitrary offset, and of two classes one decides the other.
//!
//! Equal rows are copies if their detail is at least twice the binary logarithm of the number of rows, and
//! [`SURE`] more: then fewer than one pair in 2^[`SURE`] sets would be equal by chance. Where a share of
//! [`MANY`] of such rows are copies, all equal rows are: the set was repeated. Rows of two classes
//! hardly ever have so much: there, and of bare confidences, equal rows say nothing.

use crate::random::Random;
use std::collections::HashMap;

/// The binary digits of single precision, in which nearly all classifiers compute. Double precision says no
/// more about such a row.
const SINGLE: f64 = 24.0;

/// The digits of a number that most rows may have in common.
const COMMON: f64 = 3.0;

/// How unlikely a pair of equal rows must be: one in so many powers of two.
const SURE: f64 = 7.0;

/// The share of copies among rows of many digits from which on all equal rows are copies.
const MANY: f64 = 0.05;

/// The low bits of a key, which hold the detail.
const DETAIL: u64 = 63;

/// The key of a row: the upper bits of the hash of its numbers, and its detail. Equal rows have equal keys.
pub(crate) fn key_of(row: &[f64], hash: u64) -> u64 {
    (hash & !DETAIL) | detail_of(row)
}

/// The detail of a row, 63 at most.
fn detail_of(row: &[f64]) -> u64 {
    let (mut seen, mut sum, mut largest) = ([0.0; 8], 0.0, 0.0_f64);
    let mut count = 0;
    for &number in row {
        let size = number.abs();
        if !size.is_finite() || seen[..count].contains(&size) {
            continue;
        }
        let digits = (digits_of(size) - COMMON).max(0.0);
        if digits > 0.0 {
            seen[count] = size;
            count += 1;
            sum += digits;
            largest = largest.max(digits);
        }
        if sum - largest >= DETAIL as f64 || count == seen.len() {
            break;
        }
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 63")]
    let detail = (sum - largest).min(DETAIL as f64) as u64;
    detail
}

/// The binary digits that a number needs: in binary without the zeros behind them, or as a whole number of
/// decimal places.
fn digits_of(size: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    if size == 0.0 {
        return 0.0;
    }
    let binary = 53.0 - f64::from((size.to_bits() & MANTISSA | (1 << 52)).trailing_zeros());
    let mut fewest = binary.min(SINGLE);
    // The rounding of the type that the number fits into.
    #[expect(clippy::cast_possible_truncation, reason = "what is lost is looked at")]
    let single = f64::from(size as f32) == size;
    let rounding = if single { f64::from(f32::EPSILON) / 2.0 } else { 4.0 * f64::EPSILON };
    let mut unit = 1.0;
    for _ in 0..8 {
        let scaled = size * unit;
        let whole = scaled.round();
        if whole > 0.0 && (scaled - whole).abs() <= scaled * rounding {
            fewest = fewest.min((whole + 1.0).log2());
            break;
        }
        unit *= 10.0;
    }
    fewest
}

/// Which rows belong together: copies of each other, or rows of one group. They stay on one side of every
/// split and fold, and count as one row of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clusters {
    /// The cluster of each row, numbered in the order of their first rows.
    of_row: Vec<usize>,
    count: usize,
}

impl Clusters {
    /// Clusters by names or numbers: rows of equal ones belong together.
    pub fn by<T: Eq + std::hash::Hash>(names: impl IntoIterator<Item = T>) -> Self {
        let mut numbers = HashMap::new();
        let of_row: Vec<usize> = names
            .into_iter()
            .map(|name| {
                let next = numbers.len();
                *numbers.entry(name).or_insert(next)
            })
            .collect();
        Clusters { of_row, count: numbers.len() }
    }

    /// The copies among rows, by their keys ([`crate::internal::RowMark`]); every other row is alone.
    pub fn of_copies(keys: &[u64]) -> Self {
        let least = 2.0 * (keys.len().max(1) as f64).log2() + SURE;
        let copied = |key: u64| (key & DETAIL) as f64 >= least.min(DETAIL as f64);
        let mut sorted: Vec<u64> = keys.iter().copied().filter(|&key| copied(key)).collect();
        sorted.sort_unstable();
        if sorted.windows(2).all(|pair| pair[0] != pair[1]) {
            // Most sets have no copies: sorting takes much less memory than a table of all rows.
            return Clusters { of_row: (0..keys.len()).collect(), count: keys.len() };
        }
        let detailed = sorted.len();
        sorted.dedup();
        // Where that many are copies, rows of few digits that are equal are copies as well: to count each of
        // these would favour some rows over others.
        let all = (detailed - sorted.len()) as f64 >= MANY * detailed as f64;
        drop(sorted);
        Clusters::by(keys.iter().enumerate().map(|(row, &key)| {
            // A row that may be equal to another by chance is named by its place.
            if all || copied(key) { (true, key) } else { (false, row as u64) }
        }))
    }

    /// The clusters in which rows are together that are so in either.
    ///
    /// # Panics
    ///
    /// If they are of another number of rows.
    #[must_use]
    pub fn joined(&self, other: &Clusters) -> Self {
        assert_eq!(self.of_row.len(), other.of_row.len(), "clusters of the same rows");
        // Each cluster of the others joins those of its rows.
        let mut parents: Vec<usize> = (0..self.count).collect();
        let mut first: Vec<Option<usize>> = vec![None; other.count];
        for (&here, &there) in self.of_row.iter().zip(&other.of_row) {
            let root = root_of(&mut parents, here);
            match first[there] {
                None => first[there] = Some(root),
                Some(known) => {
                    let known = root_of(&mut parents, known);
                    parents[root.max(known)] = root.min(known);
                }
            }
        }
        Clusters::by(self.of_row.iter().map(|&cluster| root_of(&mut parents, cluster)))
    }

    /// How many clusters there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The cluster of each row.
    pub fn assignment(&self) -> &[usize] {
        &self.of_row
    }

    /// Whether every row is alone.
    pub fn are_single(&self) -> bool {
        self.count == self.of_row.len()
    }

    /// Those of some rows.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Clusters::by(rows.iter().map(|&row| self.of_row[row]))
    }

    /// The rows of some clusters, in ascending order.
    pub fn rows_in(&self, clusters: &[usize]) -> Vec<usize> {
        let mut chosen = vec![false; self.count];
        for &cluster in clusters {
            chosen[cluster] = true;
        }
        (0..self.of_row.len()).filter(|&row| chosen[self.of_row[row]]).collect()
    }

    /// One row of each cluster, drawn at random, in ascending order.
    pub fn one_of_each(&self, seed: u64) -> Vec<usize> {
        let mut random = Random::new(seed);
        let (mut drawn, mut sizes) = (vec![0; self.count], vec![0; self.count]);
        for (row, &cluster) in self.of_row.iter().enumerate() {
            // The k-th row of a cluster takes the place of the one before with probability 1/k.
            sizes[cluster] += 1;
            if sizes[cluster] == 1 || random.below(sizes[cluster]) == 0 {
                drawn[cluster] = row;
            }
        }
        drawn.sort_unstable();
        drawn
    }
}

fn root_of(parents: &mut [usize], mut cluster: usize) -> usize {
    while parents[cluster] != cluster {
        parents[cluster] = parents[parents[cluster]];
        cluster = parents[cluster];
    }
    cluster
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logits::Logits;

    fn copies(values: Vec<f64>, classes: usize) -> usize {
        let logits = Logits::new(values, classes).expect("rows");
        let keys: Vec<u64> = logits.row_marks().iter().map(|mark| mark.key).collect();
        logits.rows() - Clusters::of_copies(&keys).count()
    }

    /// Numbers that look random, from 0 on and below 1.
    fn random(count: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..count).map(|_| random.share()).collect()
    }

    #[test]
    fn equal_rows_of_many_digits_are_copies() {
        for classes in [3, 10, 100] {
            let once: Vec<f64> = random(500 * classes, 1).iter().map(|x| 9.0 * x - 3.0).collect();
            assert_eq!(copies(once.clone(), classes), 0, "{classes}");
            assert_eq!(copies([&once[..], &once[..]].concat(), classes), 500, "{classes}");
            let tenfold = once[..50 * classes].repeat(10);
            assert_eq!(copies(tenfold, classes), 450, "{classes}");
            // A few numbers of single precision look like short decimals.
            #[expect(clippy::cast_possible_truncation, reason = "rounded on purpose")]
            let single: Vec<f64> = once.iter().map(|x| f64::from(*x as f32)).collect();
            let found = copies([&single[..], &single[..]].concat(), classes);
            assert!((495..=500).contains(&found), "{classes}: {found}");
        }
        // Half precision and three decimals of many classes.
        let once: Vec<f64> = random(500 * 20, 2).iter().map(|x| 20.0 * x - 8.0).collect();
        let half = |x: &f64| half::f16::from_f64(*x).to_f64();
        let rounded = |x: &f64| (x * 1000.0).round() / 1000.0;
        for twice in [once.iter().map(half).collect::<Vec<_>>(), once.iter().map(rounded).collect()]
        {
            assert_eq!(copies(twice.repeat(2), 20), 500);
        }
    }

    #[test]
    fn equal_rows_of_coarse_numbers_say_nothing() {
        let rows = 400;
        let coarse = |classes: usize, step: f64| -> Vec<f64> {
            let round = |x: &f64| (x / step).round() * step;
            random(rows * classes, 3).iter().map(round).collect()
        };
        for (name, values, classes) in [
            ("two decimals of two classes", coarse(2, 0.01), 2),
            ("one decimal of three classes", coarse(3, 0.1), 3),
            ("whole numbers", coarse(10, 1.0), 10),
            ("one-hot rows", [1.0, 0.0, 0.0, 0.0, 1.0, 0.0].repeat(rows / 2), 3),
            ("saturated rows", [1.0, 1.2e-38, 1.2e-38, 1.2e-38].repeat(rows), 4),
            ("sure rows of two classes", [12.345_678_9, -12.345_678_9].repeat(rows), 2),
            ("four decimals of a sure row", [0.9997, 0.0001, 0.0001, 0.0001].repeat(rows), 4),
        ] {
            assert_eq!(copies(values, classes), 0, "{name}");
        }
        assert_eq!((digits_of(0.25), digits_of(3.0)), (1.0, 2.0));
        assert!((digits_of(0.37) - 38_f64.log2()).abs() < 1e-12);
        assert!((digits_of(f64::from(0.37_f32)) - 38_f64.log2()).abs() < 1e-12);
        assert!(digits_of(std::f64::consts::PI) > 20.0);
    }

    #[test]
    fn clusters_join_what_is_together_in_either() {
        let a = Clusters::by([0, 1, 2, 3, 0, 4]);
        let b = Clusters::by(["x", "y", "y", "z", "w", "z"]);
        let joined = a.joined(&b);
        assert_eq!(joined.assignment(), [0, 1, 1, 2, 0, 2]);
        assert_eq!((joined.count(), joined.are_single()), (3, false));
        assert_eq!(joined.select(&[1, 3, 5]).assignment(), [0, 1, 1]);
        assert_eq!(b.joined(&a), joined);
        // A chain of them.
        let chain = Clusters::by([0, 0, 1, 1, 2]).joined(&Clusters::by([0, 1, 1, 2, 2]));
        assert_eq!(chain.count(), 1);
    }

    #[test]
    fn where_many_rows_are_copies_so_are_equal_rows_of_few_digits() {
        // Sure rows have few digits, and unsure ones many.
        let rows: Vec<f64> = random(1000 * 10, 4)
            .chunks(10)
            .enumerate()
            .flat_map(|(row, values)| {
                let digits = if row % 2 == 0 { 100.0 } else { 1e6 };
                values.iter().map(move |x| (9.0 * x * digits).round() / digits).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(copies(rows.clone(), 10), 0);
        assert_eq!(copies([&rows[..], &rows[..]].concat(), 10), 1000);
        // A few copies say nothing of the others.
        let few = [&rows[..], &rows[..20 * 10]].concat();
        assert!(copies(few, 10) <= 20);
    }

    #[test]
    fn every_row_of_a_cluster_is_drawn_equally_often() {
        let clusters = Clusters::by([0, 1, 1, 1, 0, 2]);
        let mut drawn = [0; 6];
        for seed in 0..3000 {
            let rows = clusters.one_of_each(seed);
            assert_eq!((rows.len(), rows.is_sorted()), (3, true));
            for row in rows {
                drawn[row] += 1;
            }
        }
        assert_eq!(drawn[5], 3000);
        assert!((1300..1700).contains(&drawn[0]), "{drawn:?}");
        for row in [1, 2, 3] {
            assert!((850..1150).contains(&drawn[row]), "{drawn:?}");
        }
    }
}
