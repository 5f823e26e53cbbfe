//! What an error costs: one non-negative number a row.

use crate::error::Error;
use crate::labels::Labels;
use crate::logits::Logits;

/// The losses of the predictions, one a row.
///
/// Transforms never move the prediction, so the losses of a classifier are computed once and
/// serve every estimator.
#[derive(Debug, Clone, PartialEq)]
pub struct Losses {
    values: Vec<f64>,
}

impl Losses {
    /// The 0/1 loss: 1 where the prediction is not the label.
    pub fn zero_one(logits: &Logits<'_>, labels: &Labels) -> Result<Self, Error> {
        Self::top_k(logits, labels, 1)
    }

    /// The top-k error: 1 where the label is not among the `k` largest logits (ties go to the
    /// lower class).
    pub fn top_k(logits: &Logits<'_>, labels: &Labels, k: usize) -> Result<Self, Error> {
        labels.check_against(logits)?;
        if k == 0 || k >= logits.classes() {
            let wanted = "at least 1 and less than the number of classes";
            return Err(Error::Parameter { name: "k", value: k as f64, wanted });
        }
        let loss = |wrong| if wrong { 1.0 } else { 0.0 };
        let values = logits.map_rows(|i, row| loss(row.rank_of(labels.at(i)) >= k));
        Ok(Losses { values })
    }

    /// The cost of predicting one class where another is true.
    pub fn cost(logits: &Logits<'_>, labels: &Labels, costs: &CostMatrix) -> Result<Self, Error> {
        labels.check_against(logits)?;
        if costs.classes != logits.classes() {
            let (found, expected) = (costs.classes, logits.classes());
            return Err(Error::Length { what: "the cost matrix", found, expected });
        }
        let cost = |i: usize, prediction| costs.values[labels.at(i) * costs.classes + prediction];
        Ok(Losses { values: logits.map_rows(|i, row| cost(i, row.prediction())) })
    }

    /// The 0/1 loss of predictions that are known as such.
    pub fn of_predictions(predictions: &Labels, labels: &Labels) -> Result<Self, Error> {
        let (found, expected) = (predictions.len(), labels.len());
        if found != expected {
            return Err(Error::Length { what: "predictions", found, expected });
        }
        let pairs = predictions.values().iter().zip(labels.values());
        Ok(Losses { values: pairs.map(|(a, b)| if a == b { 0.0 } else { 1.0 }).collect() })
    }

    /// Given losses: any finite numbers from 0.
    pub fn new(values: Vec<f64>) -> Result<Self, Error> {
        if values.is_empty() {
            return Err(Error::NoRows);
        }
        match values.iter().position(|&x| !valid(x)) {
            Some(row) => Err(Error::InvalidLoss { row, value: values[row] }),
            None => Ok(Losses { values }),
        }
    }

    /// Losses that were checked before.
    pub(crate) fn of_valid(values: Vec<f64>) -> Self {
        Losses { values }
    }

    /// The losses of some rows, in the order given.
    ///
    /// # Panics
    ///
    /// If a row is out of range.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Losses { values: rows.iter().map(|&i| self.values[i]).collect() }
    }

    /// The losses.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The text of the [`crate::Loss`] that losses from elsewhere have.
    pub fn text(&self) -> &'static str {
        if self.is_zero_one() { "zero-one" } else { "per-row" }
    }

    /// Whether every loss is 0 or 1.
    pub fn is_zero_one(&self) -> bool {
        self.values.iter().all(|&x| x == 0.0 || x == 1.0)
    }
}

/// Whether a number can be a loss: its sums over 2^32 rows stay finite.
pub(crate) fn valid(loss: f64) -> bool {
    (0.0..=1e100).contains(&loss)
}

/// What each kind of error costs: a row a true class, a column a predicted one.
#[derive(Debug, Clone, PartialEq)]
pub struct CostMatrix {
    values: Vec<f64>,
    classes: usize,
}

impl CostMatrix {
    /// `classes × classes` costs in row-major order; `values[label * classes + prediction]`.
    pub fn new(values: Vec<f64>, classes: usize) -> Result<Self, Error> {
        if classes < 2 {
            return Err(Error::TooFewClasses { classes });
        }
        if Some(values.len()) != classes.checked_mul(classes) {
            return Err(Error::CostMatrix { values: values.len(), classes });
        }
        match values.iter().position(|&x| !valid(x)) {
            Some(i) => Err(Error::InvalidCost {
                label: i / classes,
                prediction: i % classes,
                value: values[i],
            }),
            None => Ok(CostMatrix { values, classes }),
        }
    }

    /// How many classes it is for.
    pub fn classes(&self) -> usize {
        self.classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_loss_on_a_small_case() {
        let logits = Logits::new(&[3.0, 2.0, 1.0, 0.0, 0.0, 5.0, 1.0, 1.0, 0.0][..], 3);
        let logits = logits.expect("three rows");
        let labels = Labels::new(&[1, 2, 1], 3).expect("three labels");
        let values = |losses: Result<Losses, Error>| losses.expect("valid").values().to_vec();
        assert_eq!(values(Losses::zero_one(&logits, &labels)), [1.0, 0.0, 1.0]);
        assert_eq!(values(Losses::top_k(&logits, &labels, 2)), [0.0, 0.0, 0.0]);
        let costs = CostMatrix::new(vec![0., 1., 2., 7., 0., 1., 1., 1., 0.], 3).expect("3 × 3");
        assert_eq!(values(Losses::cost(&logits, &labels, &costs)), [7.0, 0.0, 7.0]);

        let short = Labels::new(&[1], 3).expect("one label");
        let error = Losses::zero_one(&logits, &short).unwrap_err();
        assert_eq!(error, Error::Length { what: "labels", found: 1, expected: 3 });
        let wide = Labels::new(&[1, 9, 1], 10).expect("labels of ten classes");
        let error = Losses::zero_one(&logits, &wide).unwrap_err();
        assert_eq!(error, Error::LabelOutOfRange { row: 1, label: 9, classes: 3 });
        for k in [0, 3, 4] {
            assert!(matches!(Losses::top_k(&logits, &labels, k), Err(Error::Parameter { .. })));
        }
        let small = CostMatrix::new(vec![0., 1., 1., 0.], 2).expect("2 × 2");
        assert!(matches!(Losses::cost(&logits, &labels, &small), Err(Error::Length { .. })));
    }

    #[test]
    fn negative_infinite_and_nan_losses_and_costs_are_refused() {
        for bad in [-0.5, f64::INFINITY, f64::NAN] {
            let error = Losses::new(vec![0.0, bad]).unwrap_err();
            assert!(matches!(error, Error::InvalidLoss { row: 1, .. }));
            let error = CostMatrix::new(vec![0.0, 1.0, bad, 0.0], 2).unwrap_err();
            assert!(matches!(error, Error::InvalidCost { label: 1, prediction: 0, .. }));
        }
        assert_eq!(Losses::new(vec![]).unwrap_err(), Error::NoRows);
        assert!(matches!(CostMatrix::new(vec![0.0; 3], 2), Err(Error::CostMatrix { .. })));
        assert!(Losses::new(vec![0.0, 1.0]).expect("valid").is_zero_one());
        assert!(!Losses::new(vec![0.0, 0.5]).expect("valid").is_zero_one());
    }
}
