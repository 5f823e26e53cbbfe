//! Folds of a cross-fit.

use crate::copies::Clusters;
use crate::error::Error;
use crate::random::Random;

/// A fold for each row. Right and wrong rows are dealt out separately, so that every fold has its share
/// of errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    of_row: Vec<usize>,
    count: usize,
}

impl Folds {
    /// How many folds there are unless it is said: more would cost time and change little.
    pub const DEFAULT: usize = 5;

    /// Checks a number of folds.
    pub fn check(count: usize) -> Result<(), Error> {
        if (2..=1000).contains(&count) {
            return Ok(());
        }
        let (value, wanted) = (count as f64, "from 2 to 1000");
        Err(Error::Parameter { name: "folds", value, wanted })
    }

    /// Folds of rows that are right or wrong, those of a cluster in one; fewer than `count` if there are
    /// not two rows, or clusters, for each.
    pub fn new(
        right: &[bool],
        clusters: Option<&Clusters>,
        count: usize,
        seed: u64,
    ) -> Result<Self, Error> {
        Self::check(count)?;
        let apart = clusters.map_or(right.len(), Clusters::count);
        let count = count.min(apart / 2);
        if count < 2 {
            let (value, wanted) = (apart as f64, "at least 4 for a cross-fit");
            return Err(Error::Parameter { name: "the number of rows", value, wanted });
        }
        let mut of_row = vec![0; right.len()];
        // Dealt out in turn: the folds differ by one row at most, and by one error at most.
        let order = Random::new(seed).permutation(right.len());
        let wrong = order.iter().filter(|&&row| !right[row]);
        let dealt = wrong.chain(order.iter().filter(|&&row| right[row]));
        // The first row of a cluster decides for the others.
        let mut of_cluster = vec![None; apart];
        let mut turn = 0;
        for &row in dealt {
            let cluster = clusters.map_or(row, |clusters| clusters.assignment()[row]);
            of_row[row] = *of_cluster[cluster].get_or_insert_with(|| {
                turn += 1;
                (turn - 1) % count
            });
        }
        Ok(Folds { of_row, count })
    }

    /// How many folds there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The fold of each row.
    pub fn assignment(&self) -> &[usize] {
        &self.of_row
    }

    /// The rows outside of a fold.
    pub(crate) fn outside(&self, fold: usize) -> Vec<usize> {
        (0..self.of_row.len()).filter(|&row| self.of_row[row] != fold).collect()
    }

    /// How often each row counts outside of a fold: once or not at all.
    pub(crate) fn counts_outside(&self, fold: usize) -> Vec<u32> {
        self.of_row.iter().map(|&of_row| u32::from(of_row != fold)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fold_has_its_share_of_rows_and_errors() {
        let right: Vec<bool> = (0..103).map(|i| i % 9 != 0).collect();
        let folds = Folds::new(&right, None, 5, 7).expect("folds");
        let share = |wanted: bool| -> Vec<usize> {
            let of = |fold| {
                let rows = folds.assignment().iter().zip(&right);
                rows.filter(|(of_row, right)| **of_row == fold && **right == wanted).count()
            };
            (0..5).map(of).collect()
        };
        assert_eq!(share(false).iter().sum::<usize>(), 12);
        for (wrong, right) in share(false).into_iter().zip(share(true)) {
            assert!((2..=3).contains(&wrong) && (20..=21).contains(&(wrong + right)));
        }
        assert_eq!(
            folds.outside(2).len(),
            103 - folds.counts_outside(2).iter().filter(|&&c| c == 0).count()
        );
        assert_ne!(folds, Folds::new(&right, None, 5, 8).expect("folds"));
    }

    #[test]
    fn few_rows_make_few_folds() {
        assert_eq!(Folds::new(&[true; 7], None, 5, 0).expect("folds").count(), 3);
        for (rows, count) in [(3, 5), (0, 5), (9, 1), (9, 2000)] {
            assert!(Folds::new(&vec![true; rows], None, count, 0).is_err(), "{rows} {count}");
        }
    }

    #[test]
    fn rows_of_a_cluster_are_in_one_fold() {
        let right: Vec<bool> = (0..120).map(|i| i % 7 != 0).collect();
        let clusters = Clusters::by((0..120).map(|i| i % 31));
        let folds = Folds::new(&right, Some(&clusters), 5, 3).expect("folds");
        for (row, fold) in folds.assignment().iter().enumerate() {
            assert_eq!(*fold, folds.assignment()[row % 31], "{row}");
        }
        assert!((0..5).all(|fold| folds.assignment().contains(&fold)));
        // Alone, rows are dealt out as if there were no clusters.
        let alone = Clusters::by(0..120);
        let expected = Folds::new(&right, None, 5, 3).expect("folds");
        assert_eq!(Folds::new(&right, Some(&alone), 5, 3).expect("folds"), expected);
        let few = Clusters::by((0..120).map(|i| i % 3));
        assert!(Folds::new(&right, Some(&few), 5, 3).is_err());
    }
}
