//! The curve together with the place of every row on it.

use super::order::MANY;
use super::{Entry, RcCurve, Sorter, check, descending_key};
use crate::error::Error;
use crate::losses::Losses;
use rayon::prelude::*;

/// A curve, and which of its groups of equal confidence each row belongs to. One sort makes both.
#[derive(Debug, Clone)]
pub(crate) struct Ranking {
    pub(crate) curve: RcCurve,
    /// The group of each row; 0 is the surest.
    pub(crate) groups: Vec<u32>,
}

impl Ranking {
    pub(crate) fn new(confidences: &[f64], losses: &Losses) -> Result<Self, Error> {
        check(confidences, losses)?;
        let Ok(rows) = u32::try_from(confidences.len()) else {
            let (value, wanted) = (confidences.len() as f64, "below 2^32");
            return Err(Error::Parameter { name: "the number of rows", value, wanted });
        };
        let values = losses.values();
        let mut groups = vec![0; confidences.len()];
        let mut last = None;
        let mut group = 0;
        let mut place = |key: u64, row: usize| {
            group += u32::from(last.replace(key).is_some_and(|last| last != key));
            groups[row] = group;
            Entry { key, loss: values[row] }
        };
        let sorted: Vec<Entry> = if confidences.len() > MANY {
            let keys = confidences.iter().map(|&confidence| descending_key(confidence));
            let mut order: Vec<(u64, u32)> = keys.zip(0..rows).collect();
            order.par_sort_unstable();
            // In the same memory.
            order.into_iter().map(|(key, row)| place(key, row as usize)).collect()
        } else {
            let mut sorter = Sorter::default();
            sorter.sort(confidences);
            sorter.rows().map(|row| place(descending_key(confidences[row]), row)).collect()
        };
        if sorted.is_empty() {
            return Err(Error::NoRows);
        }
        let curve = RcCurve::of_sorted(sorted, losses.is_zero_one());
        Ok(Ranking { curve, groups })
    }

    /// The ranking of rows by their loss, the smallest first: that of the ideal confidence.
    pub(crate) fn ideal(losses: &Losses) -> Result<Self, Error> {
        let confidences: Vec<f64> = losses.values().iter().map(|loss| -loss).collect();
        Ranking::new(&confidences, losses)
    }

    /// The group of each row.
    pub(crate) fn groups(&self) -> impl Iterator<Item = usize> {
        self.groups.iter().map(|&group| group as usize)
    }

    /// Whether another confidence ranks the same rows in the same way.
    pub(crate) fn is_same(&self, other: &Ranking) -> bool {
        self.groups == other.groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_those_of_the_curve() {
        let losses = Losses::new(vec![0.0, 2.0, 0.5, 0.0, 1.0]).expect("losses");
        let confidences = [0.5, 0.9, 0.5, -0.0, 0.0];
        let ranking = Ranking::new(&confidences, &losses).expect("valid");
        assert_eq!(ranking.groups().collect::<Vec<_>>(), [1, 0, 1, 2, 2]);
        assert_eq!(ranking.curve, RcCurve::new(&confidences, &losses).expect("valid"));
        assert!(
            ranking.is_same(&Ranking::new(&[7.0, 8.0, 7.0, 1.0, 1.0], &losses).expect("valid"))
        );
        assert!(!ranking.is_same(&Ranking::ideal(&losses).expect("valid")));
        let nan = Ranking::new(&[0.5, f64::NAN, 0.5, 0.0, 0.0], &losses).unwrap_err();
        assert_eq!(nan, Error::InvalidConfidence { row: 1 });
    }
}
