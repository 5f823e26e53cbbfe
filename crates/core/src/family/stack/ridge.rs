//! The stack of the first edition: a logistic regression on some scores with one ridge penalty.

use super::logistic;
use super::{Clip, Stack};
use crate::error::{Error, Undefined};
use crate::estimator::Estimator;
use crate::profile::Profiles;

/// Some scores and the strength of the penalty.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Ridge {
    /// The scores.
    pub scores: Vec<Estimator>,
    /// The inverse strength of the ridge penalty, as scikit-learn's `C`.
    pub c: f64,
}

impl Default for Ridge {
    /// MSP, the margin of the logits, and MaxLogit-pNorm at a small and a large `p`, with `C = 1`.
    fn default() -> Self {
        let scores = ["MSP", "LogitsMargin", "MaxLogit-pNorm(p=2)", "MaxLogit-pNorm(p=6)"];
        Ridge { scores: scores.iter().filter_map(|s| s.parse().ok()).collect(), c: 1.0 }
    }
}

impl Ridge {
    /// Fits the stack on the rows of a profile, whose losses count as right where they are 0.
    pub fn fit(&self, profiles: &Profiles) -> Result<Stack, Error> {
        if !(self.c > 0.0 && self.c <= 1e12) {
            let wanted = "a positive number up to 1e12";
            return Err(Error::Parameter { name: "C", value: self.c, wanted });
        }
        let (mut terms, columns) = super::standardised_terms(&self.scores, profiles, Clip::HARD)?;
        let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
        let mut ridge = vec![1.0 / self.c; 1 + terms.len()];
        // The objective is convex in the intercept as soon as there are right and wrong rows; a tiny
        // ridge covers the rest.
        ridge[0] = 1e-6 / self.c;
        let start = vec![0.0; ridge.len()];
        let fit = logistic::fit(&columns, &profiles.right(), &ridge, start)?;
        if terms.is_empty() {
            return Err(Undefined::Constant.into());
        }
        for (term, weight) in terms.iter_mut().zip(&fit.coefficients[1..]) {
            term.weight = *weight;
        }
        Stack::new(true, Clip::HARD, fit.coefficients[0], terms)
    }
}
