//! Calibration: how far a confidence that is read as a probability is from being one.

use crate::curve::Count;
use crate::error::{Error, Undefined};
use crate::estimator::Estimator;
use crate::labels::Labels;
use crate::logits::Logits;
use crate::losses::Losses;
use crate::score::softmax;
use crate::transform::Transform;
use crate::weights::Weights;

/// The bins of the paper's ECE.
pub const DEFAULT_BINS: usize = 15;

/// The mean negative log-likelihood of the labels, `−ln σ_label(u)`, under a transform.
///
/// Undefined if a label is a masked class, whose likelihood is zero.
pub fn nll(logits: &Logits<'_>, labels: &Labels, transform: &Transform) -> Result<f64, Error> {
    let rows = log_losses(logits, labels, transform)?;
    Ok(rows.iter().sum::<f64>() / rows.len() as f64)
}

fn log_losses(
    logits: &Logits<'_>,
    labels: &Labels,
    transform: &Transform,
) -> Result<Vec<f64>, Error> {
    labels.check_against(logits)?;
    let rows = logits.map_rows(|i, row| {
        softmax::log_loss(&row.transformed(transform), row.distance_to(labels.at(i)))
    });
    match rows.iter().position(|x| x.is_infinite()) {
        Some(row) => Err(Undefined::MaskedLabel { row }.into()),
        None => Ok(rows),
    }
}

impl Estimator {
    /// The negative log-likelihood of each label under the softmax that the estimator is a score of;
    /// nothing if it is not one.
    pub fn log_losses_of(
        &self,
        logits: &Logits<'_>,
        labels: &Labels,
    ) -> Option<Result<Vec<f64>, Error>> {
        match self {
            Estimator::Scored { transform, .. } => Some(log_losses(logits, labels, transform)),
            _ => None,
        }
    }
}

/// The rows whose confidence falls into one interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin<C = usize> {
    /// The confidence is above this (or, in the first bin, equal to it) …
    pub lower: f64,
    /// … and at most this.
    pub upper: f64,
    /// How many rows there are; their weight if they have one.
    pub rows: C,
    confidence: f64,
    right: f64,
}

impl<C: Count> Bin<C> {
    /// Their mean confidence, if there are any.
    pub fn confidence(&self) -> Option<f64> {
        (self.rows > C::ZERO).then(|| self.confidence / self.rows.to_f64())
    }

    /// The share of them that is right, if there are any.
    pub fn accuracy(&self) -> Option<f64> {
        (self.rows > C::ZERO).then(|| self.right / self.rows.to_f64())
    }
}

/// Confidence against accuracy in bins of equal width: what a reliability diagram shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Reliability<C = usize> {
    bins: Vec<Bin<C>>,
}

impl Reliability {
    /// Bins probabilities, such as [`crate::Estimator::values`] of MSP, against 0/1 losses.
    pub fn new(probabilities: &[f64], losses: &Losses, bins: usize) -> Result<Self, Error> {
        Self::fill(probabilities, losses, std::iter::repeat(1), bins)
    }
}

impl Reliability<f64> {
    /// The same of rows with weights. Rows of weight 0 are checked, but otherwise ignored.
    pub fn weighted(
        probabilities: &[f64],
        losses: &Losses,
        weights: &Weights,
        bins: usize,
    ) -> Result<Self, Error> {
        weights.check_rows(losses.values().len())?;
        Self::fill(probabilities, losses, weights.values().iter().copied(), bins)
    }
}

impl<C: Count> Reliability<C> {
    fn fill(
        probabilities: &[f64],
        losses: &Losses,
        counts: impl Iterator<Item = C>,
        bins: usize,
    ) -> Result<Self, Error> {
        let losses = losses.values();
        if probabilities.len() != losses.len() {
            let (found, expected) = (probabilities.len(), losses.len());
            return Err(Error::Length { what: "probabilities", found, expected });
        }
        if !(1..=1_000_000).contains(&bins) {
            let (value, wanted) = (bins as f64, "between 1 and 1000000");
            return Err(Error::Parameter { name: "bins", value, wanted });
        }
        let edge = |m: usize| m as f64 / bins as f64;
        let bin = |m| {
            let (lower, upper) = (edge(m), edge(m + 1));
            Bin { lower, upper, rows: C::ZERO, confidence: 0.0, right: 0.0 }
        };
        let mut filled: Vec<Bin<C>> = (0..bins).map(bin).collect();
        let rows = probabilities.iter().zip(losses).zip(counts).enumerate();
        for (row, ((&value, &loss), count)) in rows {
            if !(0.0..=1.0).contains(&value) {
                return Err(Undefined::NotAProbability { row, value }.into());
            }
            if loss != 0.0 && loss != 1.0 && count > C::ZERO {
                return Err(Undefined::LossNotZeroOne.into());
            }
            // The first bin whose upper edge reaches the value: it may be off by one from the
            // product because edges and product round differently.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bin")]
            let near = ((value * bins as f64) as usize).min(bins - 1);
            let index = (near.saturating_sub(1)..bins).find(|&m| value <= edge(m + 1));
            let bin = &mut filled[index.unwrap_or(bins - 1)];
            bin.rows += count;
            bin.confidence += count.to_f64() * value;
            bin.right += count.to_f64() * (1.0 - loss);
        }
        Ok(Reliability { bins: filled })
    }

    /// The bins, from the lowest confidence to the highest.
    pub fn bins(&self) -> &[Bin<C>] {
        &self.bins
    }

    /// The expected calibration error: the mean distance of accuracy and confidence over the bins,
    /// weighted by their rows.
    pub fn ece(&self) -> f64 {
        let rows = self.bins.iter().fold(C::ZERO, |rows, bin| rows + bin.rows).to_f64();
        let gap: f64 = self.bins.iter().map(|bin| (bin.right - bin.confidence).abs()).sum();
        gap / rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the plain formula, under a temperature above and below 1 and under a p-norm.
    #[test]
    fn the_likelihood_under_transforms() {
        let rows = [[1.0, 2.5, -0.5], [0.2, 0.1, 3.0]];
        let logits = Logits::new(rows.concat(), 3).expect("valid");
        let labels = Labels::new(&[0, 2], 3).expect("valid");
        let plain = |scale: [f64; 2]| {
            let each = rows.iter().zip([0, 2]).zip(scale).map(|((row, label), scale)| {
                let sum: f64 = row.iter().map(|z| (z / scale).exp()).sum();
                sum.ln() - row[label] / scale
            });
            each.sum::<f64>() / 2.0
        };
        for t in [0.3, 1.0, 2.5] {
            let transform = Transform::temperature(t).expect("positive");
            let found = nll(&logits, &labels, &transform).expect("defined");
            assert!((found - plain([t; 2])).abs() < 1e-14, "{t}");
        }
        let norm = |row: [f64; 3]| {
            let mean = row.iter().sum::<f64>() / 3.0;
            row.iter().map(|z| (z - mean).powi(2)).sum::<f64>().sqrt()
        };
        let transform = Transform::pnorm(2.0).expect("valid");
        let found = nll(&logits, &labels, &transform).expect("defined");
        assert!((found - plain(rows.map(norm))).abs() < 1e-14);
    }

    fn reliability(probabilities: &[f64], losses: &[f64], bins: usize) -> Reliability {
        let losses = Losses::new(losses.to_vec()).expect("losses");
        Reliability::new(probabilities, &losses, bins).expect("valid")
    }

    #[test]
    fn edges_belong_to_the_bin_below() {
        for bins in 1..60 {
            for m in 0..=bins {
                let value = f64::from(m) / f64::from(bins);
                let reliability = reliability(&[value], &[0.0], bins.try_into().expect("small"));
                let bin = reliability.bins().iter().position(|bin| bin.rows == 1);
                let wanted = usize::try_from((m - 1).max(0)).expect("small");
                assert_eq!(bin, Some(wanted), "{m}/{bins}");
            }
        }
    }

    #[test]
    fn a_hand_computed_error() {
        // Bins (0, ½] and (½, 1]: |1 − 0.4| and |1 − (0.8 + 0.9)|, over three rows.
        let reliability = reliability(&[0.4, 0.8, 0.9], &[0.0, 0.0, 1.0], 2);
        assert!((reliability.ece() - 1.3 / 3.0).abs() < 1e-15);
        assert_eq!(reliability.bins()[0].accuracy(), Some(1.0));
        assert_eq!(reliability.bins()[1].rows, 2);
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        let losses = Losses::new(vec![0.0, 1.0]).expect("losses");
        let refuse = |values: &[f64], bins| Reliability::new(values, &losses, bins).unwrap_err();
        let place = Undefined::NotAProbability { row: 1, value: 1.5 };
        assert_eq!(refuse(&[0.5, 1.5], 15), Error::Undefined(place));
        assert!(matches!(refuse(&[0.5, f64::NAN], 15), Error::Undefined(_)));
        assert!(matches!(refuse(&[0.5], 15), Error::Length { .. }));
        assert!(matches!(refuse(&[0.5, 0.5], 0), Error::Parameter { .. }));
        assert!(matches!(refuse(&[0.5, 0.5], usize::MAX), Error::Parameter { .. }));
        let graded = Losses::new(vec![0.0, 0.5]).expect("losses");
        let error = Reliability::new(&[0.5, 0.5], &graded, 15).unwrap_err();
        assert_eq!(error, Error::Undefined(Undefined::LossNotZeroOne));
    }

    #[test]
    fn the_likelihood_of_a_masked_label_is_zero() {
        let logits = Logits::masked(&[0.0, f64::NEG_INFINITY, 0.0, 1.0][..], 2).expect("masked");
        let labels = Labels::new(&[1, 0], 2).expect("labels");
        let error = nll(&logits, &labels, &Transform::RAW).unwrap_err();
        assert_eq!(error, Error::Undefined(Undefined::MaskedLabel { row: 0 }));
        assert_eq!(error.to_string(), "undefined: the label of row 0 is masked");
    }
}
