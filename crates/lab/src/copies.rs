//! Rows that belong together: copies of each other, and rows of one group.

use abstain::internal::Clusters;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What equal rows count as, where their numbers have too many digits for chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeats {
    /// Copies of one row: they stay on one side of every split and fold, and certify as one row.
    #[default]
    Once,
    /// Rows of different inputs: each counts.
    Keep,
}

impl Repeats {
    /// The names that are read.
    pub const NAMES: [&'static str; 2] = ["once", "keep"];
}

impl FromStr for Repeats {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "once" => Ok(Repeats::Once),
            "keep" => Ok(Repeats::Keep),
            _ => Err(format!("one of {}", Self::NAMES.join(", "))),
        }
    }
}

impl fmt::Display for Repeats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Repeats::Once => "once",
            Repeats::Keep => "keep",
        })
    }
}

/// How many rows are equal to an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Copies {
    /// All rows.
    pub rows: usize,
    /// Those that are no copy of an earlier one.
    pub distinct: usize,
}

impl Copies {
    /// The copies among rows, by their keys; nothing if there are none.
    pub fn of(keys: &[u64]) -> Option<Self> {
        let (rows, distinct) = (keys.len(), Clusters::of_copies(keys).count());
        (distinct < rows).then_some(Copies { rows, distinct })
    }
}

/// Which rows belong together, by their keys and by groups; nothing if all are alone.
pub(crate) fn clusters(
    keys: &[u64],
    groups: Option<&[String]>,
    repeats: Repeats,
) -> Option<Clusters> {
    let copies = (repeats == Repeats::Once && !keys.is_empty()).then(|| Clusters::of_copies(keys));
    let groups = groups.map(Clusters::by);
    let clusters = match (copies, groups) {
        (Some(copies), Some(groups)) => copies.joined(&groups),
        (copies, groups) => copies.or(groups)?,
    };
    Some(clusters).filter(|clusters| !clusters.are_single())
}

/// Rows that certify where some belong together: one of each, drawn at random.
///
/// The random numbers depend on the losses as well as on the seed, so that they are drawn with the rows.
pub(crate) fn one_of_each(
    clusters: &Clusters,
    confidences: &[f64],
    losses: &[f64],
    seed: u64,
) -> Vec<usize> {
    let hash = abstain_io::hash_of_confidences(confidences, losses);
    clusters.one_of_each(seed ^ u64::from_str_radix(&hash[..16], 16).unwrap_or(0))
}

/// How many rows certify, where some belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CountedOnce {
    /// The rows.
    pub rows: usize,
    /// Those that certify: one of each group of rows that belong together.
    pub counted: usize,
    /// The seed by which they were drawn.
    pub seed: u64,
}
