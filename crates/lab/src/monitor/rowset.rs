//! A set of rows of a stream, in little memory where rows that follow each other are in it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rows as ranges: the first of each, and the one behind its last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>")]
pub(super) struct RowSet(BTreeMap<u64, u64>);

impl RowSet {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, row: u64) -> bool {
        self.0.range(..=row).next_back().is_some_and(|(_, &end)| row < end)
    }

    /// Adds a row that is not in it.
    pub(super) fn insert(&mut self, row: u64) {
        let end = self.0.remove(&(row + 1)).unwrap_or(row + 1);
        match self.0.range_mut(..row).next_back() {
            Some((_, before)) if *before == row => *before = end,
            _ => {
                self.0.insert(row, end);
            }
        }
    }

    /// Adds the rows of another part of a stream. Parts that number their rows alike do not say which row
    /// is which: then nothing is known of any.
    pub(super) fn merge(&mut self, other: &RowSet) {
        let meet = |(&start, &end): (&u64, &u64)| {
            self.contains(start) || self.0.range(start..end).next().is_some()
        };
        if other.0.iter().any(meet) {
            self.0.clear();
        } else {
            self.0.extend(&other.0);
        }
    }
}

impl From<RowSet> for Vec<(u64, u64)> {
    fn from(rows: RowSet) -> Self {
        rows.0.into_iter().collect()
    }
}

impl TryFrom<Vec<(u64, u64)>> for RowSet {
    type Error = &'static str;

    fn try_from(ranges: Vec<(u64, u64)>) -> Result<Self, Self::Error> {
        let rise = ranges.iter().all(|(start, end)| start < end);
        let apart = ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0);
        if rise && apart {
            Ok(RowSet(ranges.into_iter().collect()))
        } else {
            Err("rows that overlap")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn rows_are_in_it_whatever_their_order() {
        let (mut found, mut expected) = (RowSet::default(), BTreeSet::new());
        let mut state = 1_u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let row = state >> 56;
            assert_eq!(found.contains(row), !expected.insert(row), "{row}");
            if !found.contains(row) {
                found.insert(row);
            }
        }
        let ranges: Vec<(u64, u64)> = found.clone().into();
        assert_eq!(ranges.iter().map(|(start, end)| end - start).sum::<u64>(), 256);
        assert_eq!(ranges, [(0, 256)]);
        assert_eq!(RowSet::try_from(ranges), Ok(found));
        assert!(RowSet::try_from(vec![(0, 3), (2, 4)]).is_err());
    }

    #[test]
    fn parts_that_number_rows_alike_are_forgotten() {
        let part = |rows: &[u64]| {
            let mut set = RowSet::default();
            for &row in rows {
                set.insert(row);
            }
            set
        };
        let mut apart = part(&[0, 2, 4]);
        apart.merge(&part(&[1, 5]));
        assert!([0, 1, 2, 4, 5].into_iter().all(|row| apart.contains(row)));
        assert!(!apart.contains(3) && !apart.contains(6));
        apart.merge(&part(&[5]));
        assert!(apart.is_empty());
    }
}
