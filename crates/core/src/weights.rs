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
        if values.iter().all(|&x| x == 0.0) {
            return Err(Error::NoRows);
        }
        Ok(Weights { values })
    }

    /// The weights.
    pub fn values(&self) -> &[f64] {
        &self.values
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
        assert_eq!(Weights::new(vec![0.0, -0.0]), Err(Error::NoRows));
    }
}
