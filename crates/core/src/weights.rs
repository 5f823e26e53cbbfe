//! How much each row counts.
//!
//! A weight is a frequency: a row of weight 3 counts as three rows of the same confidence and loss,
//! and a row of weight 0 is ignored. Between whole numbers every metric is continued by its formula;
//! the harmonic numbers in AURC become `H(x) = ψ(x + 1) + γ`.
//!
//! The scale of the weights is therefore a number of rows. Most metrics do not depend on it. AURC,
//! E-AURC, NAURC and `PartialAURC` do, as they depend on the number of rows: they are means over the
//! row counts `1, 2, …, n`. A convention that ignores the scale could not give a row of weight 2
//! the meaning of two rows. Weights that say only how rows compare, such as those of importance
//! sampling, should be scaled to sum to the number of rows; where several sum to 1 or less, these
//! metrics are undefined ([`crate::Undefined::LessThanARow`]).

use crate::error::Error;
use crate::random::Random;

/// The weights of the rows, one a row: 0, or a number between 1e-100 and 1e100.
///
/// ```
/// use abstain::{Losses, Metric, RcCurve, Weights};
///
/// let losses = Losses::new(vec![0.0, 1.0, 0.0])?;
/// let weights = Weights::new(vec![2.0, 1.0, 1.0])?;
/// let weighted = RcCurve::weighted(&[0.9, 0.8, 0.7], &losses, &weights)?;
///
/// let losses = Losses::new(vec![0.0, 0.0, 1.0, 0.0])?;
/// let repeated = RcCurve::new(&[0.9, 0.9, 0.8, 0.7], &losses)?;
/// assert_eq!(Metric::AUROC.evaluate(&weighted), Metric::AUROC.evaluate(&repeated));
/// # Ok::<(), abstain::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    values: Vec<f64>,
}

impl Weights {
    /// Weights, of which one at least is not 0.
    pub fn new(values: Vec<f64>) -> Result<Self, Error> {
        // Products of two weights neither overflow nor vanish.
        let valid = |x: f64| x == 0.0 || (1e-100..=1e100).contains(&x);
        if let Some(row) = values.iter().position(|&x| !valid(x)) {
            return Err(Error::InvalidWeight { row, value: values[row] });
        }
        match values.len() {
            0 => Err(Error::NoRows),
            rows if values.iter().all(|&x| x == 0.0) => Err(Error::ZeroWeights { rows }),
            _ => Ok(Weights { values }),
        }
    }

    /// The weights.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many rows of equal weight say as much as these do (Kish, 1965).
    pub fn effective_rows(&self) -> f64 {
        let sum: f64 = self.values.iter().sum();
        let squares: f64 = self.values.iter().map(|weight| weight * weight).sum();
        sum * sum / squares
    }

    /// Rows of equal weight: each row is kept with the probability of its weight over the largest that
    /// any row of the population can have. If rows are drawn independently, the kept ones are drawn
    /// independently from the population in which a row counts by its weight, whatever the weights depend
    /// on, so that what is exact for rows of equal weight is exact for the kept ones.
    ///
    /// `largest` must not be taken from these rows: the largest weight among few rows is below that of the
    /// population.
    pub fn sample(&self, largest: f64, seed: u64) -> Result<Vec<usize>, Error> {
        if !(largest > 0.0 && largest.is_finite()) {
            let (name, wanted) = ("the largest weight", "a number above 0");
            return Err(Error::Parameter { name, value: largest, wanted });
        }
        if let Some(row) = self.values.iter().position(|&weight| weight > largest) {
            return Err(Error::WeightAbove { row, value: self.values[row], largest });
        }
        let mut random = Random::new(seed);
        // One number is drawn for each row, so that a row does not depend on the weights of others.
        let kept = |&row: &usize| random.share() * largest < self.values[row];
        Ok((0..self.values.len()).filter(kept).collect())
    }

    /// Refuses weights of another number of rows.
    pub(crate) fn check_rows(&self, expected: usize) -> Result<(), Error> {
        let found = self.values.len();
        if found == expected {
            return Ok(());
        }
        Err(Error::Length { what: "weights", found, expected })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_weights_are_refused_with_their_place() {
        for bad in [-1.0, f64::INFINITY, f64::NAN, 1e-101, 1e101] {
            let error = Weights::new(vec![1.0, bad]).unwrap_err();
            assert!(
                matches!(error, Error::InvalidWeight { row: 1, value } if value.to_bits() == bad.to_bits())
            );
        }
        let negative = Weights::new(vec![1.0, -1.5]).unwrap_err().to_string();
        assert_eq!(negative, "row 1: weight -1.5e0 is neither 0 nor between 1e-100 and 1e100");
        assert_eq!(Weights::new(vec![]), Err(Error::NoRows));
        assert_eq!(Weights::new(vec![0.0, -0.0]), Err(Error::ZeroWeights { rows: 2 }));
    }

    #[test]
    fn rows_are_kept_in_proportion_to_their_weights() {
        let rows = 100_000;
        let weights: Vec<f64> = (0..rows).map(|row| [0.0, 0.5, 1.0, 2.0][row % 4]).collect();
        let weights = Weights::new(weights).expect("weights");
        let kept = weights.sample(2.0, 7).expect("a sample");
        for (remainder, share) in [(0, 0.0), (1, 0.25), (2, 0.5), (3, 1.0)] {
            let found = kept.iter().filter(|row| **row % 4 == remainder).count() as f64;
            assert!((found / (rows / 4) as f64 - share).abs() < 0.01, "{remainder}: {found}");
        }
        assert_eq!(weights.sample(2.0, 7).expect("a sample"), kept);
        assert_ne!(weights.sample(2.0, 8).expect("a sample"), kept);
        // Half of the rows that a bound of half the size keeps.
        let fewer = weights.sample(4.0, 7).expect("a sample");
        let ratio = fewer.len() as f64 / kept.len() as f64;
        assert!(fewer.iter().all(|row| kept.binary_search(row).is_ok()));
        assert!((ratio - 0.5).abs() < 0.01, "{ratio}");
    }

    #[test]
    fn weights_above_the_largest_are_refused_with_their_place() {
        let weights = Weights::new(vec![1.0, 2.5]).expect("weights");
        let above = weights.sample(2.0, 0).unwrap_err().to_string();
        assert_eq!(above, "row 1: weight 2.5 is above the largest one, 2");
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(weights.sample(bad, 0), Err(Error::Parameter { .. })));
        }
    }
}
