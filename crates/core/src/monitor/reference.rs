//! What the certifying rows looked like: a summary that an artifact carries, against which later rows are
//! compared.

use crate::artifact::extended;
use crate::error::Error;
use crate::random::Random;
use crate::threshold::reaches;
use serde::{Deserialize, Serialize};

/// Bins of a summary. More would find finer changes later than coarse ones.
const BINS: usize = 24;

/// The fewest rows of a bin.
const ROWS_A_BIN: usize = 8;

/// A summary of rows with a guarantee: their ranks, and what estimates of the accuracy need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The ranks of the confidences.
    pub confidences: Ranks,
    /// The ranks of the predicted classes, by their numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictions: Option<Ranks>,
    /// The confidence that as many of the accepted rows are below as are wrong: average thresholded
    /// confidence (Garg et al., 2022) estimates an accuracy by the share of rows that reach it.
    #[serde(default, with = "optional", skip_serializing_if = "Option::is_none")]
    pub right_from: Option<f64>,
    /// The losses of the rows of each bin of the confidences, which say where labels are worth most.
    pub losses: Vec<f64>,
}

/// Some of the order statistics of numbers. Ties are in random order, so that ranks are exact for any
/// distribution.
///
/// With `n` rows the probability of each bin is a part of a Dirichlet distribution whose parameters are
/// the differences of the ranks, whatever the distribution of the numbers: so the bins of later rows of
/// the same distribution are drawn from Pólya's urn, and their probability is known exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranks {
    /// How many numbers there were.
    pub rows: usize,
    /// Where bins begin, in ascending order.
    pub edges: Vec<Edge>,
}

/// A number that begins a bin. In JSON, a list of its three fields.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "Fields", into = "Fields")]
pub struct Edge {
    /// The number.
    pub at: f64,
    /// Its place among equal numbers, from 0 to 1.
    pub tie: f64,
    /// Its rank, from 1.
    pub rank: usize,
}

#[derive(Serialize, Deserialize)]
struct Fields(#[serde(with = "extended")] f64, f64, usize);

impl From<Fields> for Edge {
    fn from(Fields(at, tie, rank): Fields) -> Self {
        Edge { at, tie, rank }
    }
}

impl From<Edge> for Fields {
    fn from(Edge { at, tie, rank }: Edge) -> Self {
        Fields(at, tie, rank)
    }
}

impl Ranks {
    /// The ranks of some numbers, none of them NaN. The seed puts equal ones in order.
    pub fn new(numbers: &[f64], seed: u64) -> Result<Self, Error> {
        if numbers.is_empty() {
            return Err(Error::NoRows);
        }
        if let Some(row) = numbers.iter().position(|number| number.is_nan()) {
            return Err(Error::InvalidConfidence { row });
        }
        let mut random = Random::new(seed);
        let mut sorted: Vec<(f64, f64)> =
            // Zeros of both signs are one number.
            numbers.iter().map(|&number| (number + 0.0, place(&mut random))).collect();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let rows = numbers.len();
        let bins = BINS.min((rows + 1) / ROWS_A_BIN).max(2);
        let rank = |bin: usize| (bin * (rows + 1) / bins).clamp(1, rows);
        let mut ranks: Vec<usize> = (1..bins).map(rank).collect();
        ranks.dedup();
        let edge = |rank: usize| Edge { at: sorted[rank - 1].0, tie: sorted[rank - 1].1, rank };
        Ok(Ranks { rows, edges: ranks.into_iter().map(edge).collect() })
    }

    /// The bin of a number; `tie` is its random place among equal ones, used only where it equals an edge.
    pub fn bin(&self, number: f64, tie: impl FnOnce() -> f64) -> usize {
        let below = self.edges.partition_point(|edge| edge.at < number);
        let ties = self.edges[below..].iter().take_while(|edge| edge.at == number).count();
        if ties == 0 {
            return below;
        }
        let tie = tie();
        below + self.edges[below..below + ties].partition_point(|edge| edge.tie <= tie)
    }

    /// The parameter of each bin: differences of ranks, which sum to the rows and one.
    pub fn parameters(&self) -> Vec<f64> {
        let ends = self.edges.iter().map(|edge| edge.rank).chain([self.rows + 1]);
        let starts = [0].into_iter().chain(self.edges.iter().map(|edge| edge.rank));
        ends.zip(starts).map(|(end, start)| (end - start) as f64).collect()
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let rising = self.edges.windows(2).all(|pair| {
            let (a, b) = (pair[0], pair[1]);
            a.rank < b.rank && (a.at < b.at || (a.at == b.at && a.tie <= b.tie))
        });
        let inside = |edge: &Edge| {
            (1..=self.rows).contains(&edge.rank)
                && (0.0..=1.0).contains(&edge.tie)
                && !edge.at.is_nan()
        };
        if self.edges.is_empty() || !rising || !self.edges.iter().all(inside) {
            return Err(format!("ranks of {} rows that do not rise", self.rows));
        }
        Ok(())
    }
}

impl Reference {
    /// The summary of rows that certified a threshold: their confidences, losses and, if they are known,
    /// predicted classes.
    pub fn new(
        confidences: &[f64],
        losses: &[f64],
        predictions: Option<&[usize]>,
        at: f64,
        seed: u64,
    ) -> Result<Self, Error> {
        for (what, found) in
            [("losses", Some(losses.len())), ("predictions", predictions.map(<[usize]>::len))]
        {
            if let Some(found) = found.filter(|found| *found != confidences.len()) {
                return Err(Error::Length { what, found, expected: confidences.len() });
            }
        }
        let ranks = Ranks::new(confidences, seed)?;
        let mut sums = vec![0.0; ranks.edges.len() + 1];
        let mut random = Random::new(seed ^ 1);
        for (&confidence, &loss) in confidences.iter().zip(losses) {
            sums[ranks.bin(confidence, || random.share())] += loss;
        }
        let predictions = match predictions {
            None => None,
            Some(classes) => {
                let numbers: Vec<f64> = classes.iter().map(|&class| class as f64).collect();
                Some(Ranks::new(&numbers, seed ^ 2)?)
            }
        };
        let right_from = right_from(confidences, losses, at);
        Ok(Reference { confidences: ranks, predictions, right_from, losses: sums })
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        self.confidences.check()?;
        self.predictions.as_ref().map_or(Ok(()), Ranks::check)?;
        let bins = self.confidences.edges.len() + 1;
        let valid = self.losses.iter().all(|loss| loss.is_finite() && *loss >= 0.0);
        if self.losses.len() != bins || !valid {
            return Err(format!("losses of {} bins of {bins}", self.losses.len()));
        }
        match self.right_from {
            Some(from) if from.is_nan() => Err("the confidence of right rows is NaN".into()),
            _ => Ok(()),
        }
    }
}

/// A random place among equal numbers, in steps that take few digits.
fn place(random: &mut Random) -> f64 {
    (random.share() * f64::from(1 << 20)).floor() / f64::from(1 << 20)
}

/// The confidence that as many accepted rows are below as are wrong; nothing without accepted rows or with
/// losses other than 0 and 1.
fn right_from(confidences: &[f64], losses: &[f64], at: f64) -> Option<f64> {
    let rows =
        || confidences.iter().zip(losses).filter(|(confidence, _)| reaches(**confidence, at));
    if rows().any(|(_, &loss)| loss != 0.0 && loss != 1.0) {
        return None;
    }
    let mut accepted: Vec<f64> = rows().map(|(&confidence, _)| confidence).collect();
    let errors = rows().filter(|(_, loss)| **loss == 1.0).count();
    accepted.sort_unstable_by(f64::total_cmp);
    match accepted.get(errors) {
        Some(&from) => Some(from),
        // All of them are wrong: no row reaches it.
        None if errors > 0 => Some(f64::INFINITY),
        None => None,
    }
}

/// [`extended`] for a number that may be absent.
pub(super) mod optional {
    use super::extended;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Number(#[serde(with = "extended")] f64);

    #[expect(clippy::ref_option, reason = "serde passes the field as it is")]
    pub(in crate::monitor) fn serialize<S: Serializer>(
        x: &Option<f64>,
        s: S,
    ) -> Result<S::Ok, S::Error> {
        x.map(Number).serialize(s)
    }

    pub(in crate::monitor) fn deserialize<'de, D: Deserializer<'de>>(
        d: D,
    ) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Number>::deserialize(d)?.map(|number| number.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_split_ties_and_hold_all_rows() {
        let numbers: Vec<f64> = (0..1000).map(|i| f64::from(i % 7)).collect();
        let ranks = Ranks::new(&numbers, 3).expect("ranks");
        assert_eq!(ranks.check(), Ok(()));
        let total: f64 = ranks.parameters().iter().sum();
        assert_eq!(total.to_bits(), 1001.0_f64.to_bits());
        assert_eq!(ranks.bin(-1.0, || 0.5), 0);
        assert_eq!(ranks.bin(7.0, || 0.5), ranks.edges.len());
        assert!(ranks.bin(3.0, || 0.0) < ranks.bin(3.0, || 1.0));
    }

    #[test]
    fn few_rows_and_infinities_have_ranks() {
        for numbers in [vec![1.0], vec![f64::NEG_INFINITY, f64::INFINITY], vec![2.0; 5]] {
            let ranks = Ranks::new(&numbers, 0).expect("ranks");
            assert_eq!(ranks.check(), Ok(()), "{numbers:?}");
        }
        assert!(Ranks::new(&[], 0).is_err() && Ranks::new(&[f64::NAN], 0).is_err());
    }

    #[test]
    fn as_many_accepted_rows_are_below_as_are_wrong() {
        let confidences: Vec<f64> = (0..100).map(f64::from).collect();
        let losses: Vec<f64> = (0..100).map(|i| if i % 10 == 0 { 1.0 } else { 0.0 }).collect();
        assert_eq!(right_from(&confidences, &losses, 50.0), Some(55.0));
        assert_eq!(right_from(&confidences, &[1.0; 100], 50.0), Some(f64::INFINITY));
        assert_eq!(right_from(&confidences, &[0.5; 100], 50.0), None);
        assert_eq!(right_from(&confidences, &losses, f64::INFINITY), None);
    }
}
