//! What an error costs: the rule that turns predictions and labels into losses.

use crate::error::Error;
use crate::labels::Labels;
use crate::logits::Logits;
use crate::losses::{CostMatrix, Losses};
use std::fmt;
use std::str::FromStr;

/// What an error costs.
///
/// Its text is `zero-one`, `top-5`, `costs` or `per-row`; the first two are read back, the others
/// need their numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Loss {
    /// 1 where the prediction is not the label.
    #[default]
    ZeroOne,
    /// 1 where the label is not among the `k` largest logits.
    TopK(usize),
    /// A cost for each pair of label and prediction.
    Costs(CostMatrix),
    /// One loss for each row of one particular set.
    PerRow(Losses),
}

impl Loss {
    /// The losses of a chunk of rows that begins at row `first` of its set.
    pub fn of(&self, logits: &Logits<'_>, labels: &Labels, first: usize) -> Result<Losses, Error> {
        match self {
            Loss::ZeroOne => Losses::zero_one(logits, labels),
            Loss::TopK(k) => Losses::top_k(logits, labels, *k),
            Loss::Costs(costs) => Losses::cost(logits, labels, costs),
            Loss::PerRow(losses) => {
                let (found, end) = (losses.values().len(), first + logits.rows());
                match losses.values().get(first..end) {
                    Some(part) => Ok(Losses::of_valid(part.to_vec())),
                    None => Err(Error::Length { what: "losses", found, expected: end }),
                }
            }
        }
    }

    /// Checks that it fits a set of that many rows and classes.
    pub fn check(&self, rows: usize, classes: usize) -> Result<(), Error> {
        match self {
            Loss::Costs(costs) if costs.classes() != classes => {
                let (found, expected) = (costs.classes(), classes);
                Err(Error::Length { what: "the cost matrix", found, expected })
            }
            Loss::PerRow(losses) if losses.values().len() != rows => {
                let (found, expected) = (losses.values().len(), rows);
                Err(Error::Length { what: "losses", found, expected })
            }
            _ => Ok(()),
        }
    }

    /// Whether it is for one particular set of rows, and cannot be used on another.
    pub fn is_per_row(&self) -> bool {
        matches!(self, Loss::PerRow(_))
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::ZeroOne => f.write_str("zero-one"),
            Loss::TopK(k) => write!(f, "top-{k}"),
            Loss::Costs(_) => f.write_str("costs"),
            Loss::PerRow(_) => f.write_str("per-row"),
        }
    }
}

impl FromStr for Loss {
    type Err = Error;

    /// Reads `zero-one` and `top-k`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let unknown =
            || Error::UnknownName { what: "loss", name: text.to_string(), suggestion: None };
        match text.strip_prefix("top-") {
            Some(k) => k.parse().map(Loss::TopK).map_err(|_| unknown()),
            None if text == "zero-one" => Ok(Loss::ZeroOne),
            None => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_without_numbers_read_back() {
        for loss in [Loss::ZeroOne, Loss::TopK(5)] {
            assert_eq!(loss.to_string().parse::<Loss>(), Ok(loss));
        }
        for text in ["costs", "per-row", "top-", "top-x", "Zero-One", ""] {
            assert!(text.parse::<Loss>().is_err(), "{text}");
        }
    }

    #[test]
    fn losses_per_row_follow_the_chunk() {
        let loss = Loss::PerRow(Losses::new(vec![0.5, 1.0, 2.0]).expect("valid"));
        let logits = Logits::new(&[1.0, 0.0, 0.0, 1.0][..], 2).expect("two rows");
        let labels = Labels::new(&[0, 0], 2).expect("two labels");
        assert_eq!(loss.of(&logits, &labels, 1).expect("losses").values(), [1.0, 2.0]);
        assert!(matches!(loss.of(&logits, &labels, 2), Err(Error::Length { found: 3, .. })));
        assert!(loss.check(3, 2).is_ok() && loss.check(4, 2).is_err());
        let costs = Loss::Costs(CostMatrix::new(vec![0.0, 1.0, 1.0, 0.0], 2).expect("2 × 2"));
        assert!(costs.check(9, 2).is_ok() && costs.check(9, 3).is_err());
    }
}
