//! Which rows tune and which rows measure.

use abstain::internal::{Clusters, permutation};
use std::fmt;
use std::str::FromStr;

/// How many rows to tune on.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holdout {
    /// Half of them, at most 5,000: more hardly tune better, and measuring wants the rest.
    #[default]
    Usual,
    /// So few that the others, which certify, keep the most coverage.
    BeforeCertifying,
    /// So many.
    Rows(usize),
    /// This share of them.
    Share(f64),
}

impl FromStr for Holdout {
    type Err = String;

    /// A share such as 0.1, or a number of rows such as 5000.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "a share between 0 and 1, or a number of rows".to_string();
        match text.parse::<f64>() {
            Ok(share) if share > 0.0 && share < 1.0 => Ok(Holdout::Share(share)),
            _ => match text.parse() {
                Ok(rows) if rows > 0 => Ok(Holdout::Rows(rows)),
                _ => Err(wrong()),
            },
        }
    }
}

impl fmt::Display for Holdout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holdout::Usual => f.write_str("half of the rows, at most 5000"),
            Holdout::BeforeCertifying => f.write_str("what is best for a certificate"),
            Holdout::Rows(rows) => rows.fmt(f),
            Holdout::Share(share) => share.fmt(f),
        }
    }
}

/// How many of some rows tune where the others certify: an eighth of up to 1,000 rows, of which a
/// certificate needs nearly all, and a quarter from 4,000 on (docs/decisions/certificates.md).
fn rows_before_certifying(rows: usize) -> usize {
    (rows / 8 + rows.saturating_sub(1000) / 6).min(1000)
}

/// The rows of one split, each half in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Those to tune on.
    pub tuning: Vec<usize>,
    /// Those to measure on.
    pub test: Vec<usize>,
}

impl Split {
    /// A random split of so many rows; nothing if either half would be empty. Rows of a cluster stay
    /// together: the same share of the clusters tunes, whatever their sizes.
    pub fn random(
        rows: usize,
        clusters: Option<&Clusters>,
        holdout: Holdout,
        seed: u64,
    ) -> Option<Self> {
        let tuning = match holdout {
            Holdout::Usual => (rows / 2).min(5000),
            Holdout::BeforeCertifying => rows_before_certifying(rows),
            Holdout::Rows(tuning) => tuning,
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            Holdout::Share(share) => (share * rows as f64).round() as usize,
        };
        if tuning == 0 || tuning >= rows {
            return None;
        }
        let Some(clusters) = clusters else {
            let (tuning, test) = parts(rows, tuning, seed);
            return Some(Split { tuning, test });
        };
        let count = clusters.count();
        if count < 2 {
            return None;
        }
        // Drawn by their number alone: by their sizes, large clusters would rather tune than certify.
        let (tuning, test) = parts(count, (tuning * count / rows).clamp(1, count - 1), seed);
        Some(Split { tuning: clusters.rows_in(&tuning), test: clusters.rows_in(&test) })
    }
}

/// The numbers below `count` in two random parts, the first of so many, in ascending order.
fn parts(count: usize, first: usize, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut one = permutation(count, seed);
    let mut other = one.split_off(first);
    one.sort_unstable();
    other.sort_unstable();
    (one, other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_cluster_are_in_one_half() {
        let clusters = Clusters::by((0..1000).map(|row| row % 100));
        let split = Split::random(1000, Some(&clusters), Holdout::BeforeCertifying, 4);
        let split = split.expect("two halves");
        assert_eq!((split.tuning.len(), split.test.len()), (120, 880));
        let of = |rows: &[usize]| rows.iter().map(|row| row % 100).collect::<Vec<_>>();
        assert!(of(&split.tuning).iter().all(|cluster| !of(&split.test).contains(cluster)));
        let one = Clusters::by([0; 5]);
        assert_eq!(Split::random(5, Some(&one), Holdout::Usual, 0), None);
    }

    #[test]
    fn halves_are_whole_and_apart() {
        for (rows, holdout, expected) in [
            (10, Holdout::Usual, 5),
            (50_000, Holdout::Usual, 5000),
            (10, Holdout::Rows(3), 3),
            (1000, Holdout::Share(0.1), 100),
            (200, Holdout::BeforeCertifying, 25),
            (1000, Holdout::BeforeCertifying, 125),
            (2000, Holdout::BeforeCertifying, 416),
            (4000, Holdout::BeforeCertifying, 1000),
            (50_000, Holdout::BeforeCertifying, 1000),
        ] {
            let split = Split::random(rows, None, holdout, 1).expect("two halves");
            assert_eq!(split.tuning.len(), expected);
            let mut all = [&split.tuning[..], &split.test[..]].concat();
            all.sort_unstable();
            assert_eq!(all, (0..rows).collect::<Vec<_>>());
        }
        assert_eq!(Split::random(1, None, Holdout::Usual, 0), None);
        assert_eq!(Split::random(5, None, Holdout::Rows(5), 0), None);
        assert_ne!(
            Split::random(99, None, Holdout::Usual, 0),
            Split::random(99, None, Holdout::Usual, 1)
        );
    }

    #[test]
    fn shares_and_counts_are_told_apart() {
        assert_eq!("0.1".parse(), Ok(Holdout::Share(0.1)));
        assert_eq!("5000".parse(), Ok(Holdout::Rows(5000)));
        assert_eq!("1".parse(), Ok(Holdout::Rows(1)));
        for wrong in ["0", "-1", "1.5", "x", "nan"] {
            assert!(wrong.parse::<Holdout>().is_err(), "{wrong}");
        }
    }
}
