//! Stack: a logistic regression that predicts from several scores of a row whether it is right.
//!
//! - **Definition**: `b + Σ_k w_k clip((g_k − m_k) / s_k, ±5)`, the log-odds of being right, where `g_k`
//!   are scores of the row and `m_k`, `s_k` their mean and standard deviation on the rows it was
//!   fitted on.
//! - **Range and direction**: the value is a probability of being right; higher is surer.
//! - **Invariances**: those that all of its scores share.
//! - **Undefined when**: never. Infinite scores are clipped like all others.
//! - **Rank scale**: the log-odds.
//! - **Cost**: that of its scores.

use crate::error::Error;
use crate::estimator::Estimator;
use crate::row::RowView;
use crate::transform::Norm;
use serde::{Deserialize, Serialize};

/// Standardised scores are clipped here, so that one wild row cannot decide.
pub const CLIP: f64 = 5.0;

/// One score of a stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// The score; its confidence on the rank scale is used.
    pub estimator: Estimator,
    /// Its mean on the rows that the stack was fitted on.
    pub mean: f64,
    /// Its standard deviation there; positive.
    pub deviation: f64,
    /// Its weight.
    pub weight: f64,
}

impl Term {
    /// A confidence, standardised and clipped.
    pub(crate) fn standardised(&self, confidence: f64) -> f64 {
        standardise(confidence, self.mean, self.deviation)
    }
}

pub(crate) fn standardise(confidence: f64, mean: f64, deviation: f64) -> f64 {
    ((confidence - mean) / deviation).clamp(-CLIP, CLIP)
}

/// A fitted stack.
#[derive(Debug, Clone, PartialEq)]
pub struct Stack {
    pub(crate) intercept: f64,
    pub(crate) terms: Vec<Term>,
}

impl From<Stack> for Estimator {
    fn from(stack: Stack) -> Self {
        Estimator::Stack(stack)
    }
}

impl Stack {
    /// A stack of terms; none of them may be a stack itself.
    pub fn new(intercept: f64, terms: Vec<Term>) -> Result<Self, Error> {
        if terms.is_empty() {
            return Err(Error::Parameter { name: "terms", value: 0.0, wanted: "at least 1" });
        }
        let valid = |x: f64| x.abs() <= 1e100;
        let numbers = |t: &Term| [t.mean, t.weight, t.deviation];
        let mut all = terms.iter().flat_map(numbers).chain([intercept]);
        if let Some(value) = all.find(|&x| !valid(x)) {
            let wanted = "a number between -1e100 and 1e100";
            return Err(Error::Parameter { name: "a number of the stack", value, wanted });
        }
        if let Some(term) = terms.iter().find(|t| t.deviation < 1e-100) {
            let (value, wanted) = (term.deviation, "at least 1e-100");
            return Err(Error::Parameter { name: "a deviation of the stack", value, wanted });
        }
        if terms.iter().any(|term| matches!(term.estimator, Estimator::Stack(_))) {
            let problem = "a term of a stack is a stack itself".to_string();
            return Err(Error::Syntax { text: "Stack".into(), problem });
        }
        Ok(Stack { intercept, terms })
    }

    /// The intercept.
    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    /// The terms.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    pub(crate) fn norms(&self) -> Vec<Norm> {
        self.terms.iter().flat_map(|term| term.estimator.norms()).collect()
    }

    pub(crate) fn confidence<R: RowView>(&self, row: &R, mut columns: &[usize]) -> f64 {
        let mut sum = self.intercept;
        for term in &self.terms {
            sum += term.weight * term.standardised(term.estimator.confidence(row, columns));
            columns = columns.get(term.estimator.norms().len()..).unwrap_or(&[]);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logits::Logits;

    fn term(text: &str, mean: f64, deviation: f64, weight: f64) -> Term {
        Term { estimator: text.parse().expect("valid"), mean, deviation, weight }
    }

    /// By hand: margins of 2, 0 and 100, of which the last is clipped; MaxLogit of 3, 1 and 100.
    #[test]
    fn the_sum_of_standardised_and_clipped_scores() {
        let logits = Logits::new(&[3.0, 1.0, 1.0, 1.0, 100.0, 0.0], 2).expect("valid");
        let terms = vec![term("LogitsMargin", 1.0, 2.0, 3.0), term("MaxLogit", 1.0, 4.0, -1.0)];
        let stack = Estimator::from(Stack::new(0.25, terms).expect("valid"));
        let wanted = [0.25 + 1.5 - 0.5, 0.25 - 1.5, 0.25 + 3.0 * 5.0 - 5.0];
        assert_eq!(stack.confidences(&logits), wanted);
        let value = stack.values(&logits)[0];
        assert!((value - 1.0 / (1.0 + (-1.25_f64).exp())).abs() < 1e-15);
    }

    #[test]
    fn bad_stacks_are_refused() {
        let refuse = |b, terms| Stack::new(b, terms).unwrap_err();
        let number = |error| matches!(error, Error::Parameter { .. });
        assert!(number(refuse(0.0, vec![])));
        assert!(number(refuse(f64::NAN, vec![term("MSP", 0.0, 1.0, 1.0)])));
        assert!(number(refuse(0.0, vec![term("MSP", f64::INFINITY, 1.0, 1.0)])));
        assert!(number(refuse(0.0, vec![term("MSP", 0.0, 0.0, 1.0)])));
        let inner =
            Estimator::from(Stack::new(0.0, vec![term("MSP", 0.0, 1.0, 1.0)]).expect("valid"));
        let nested = Term { estimator: inner, ..term("MSP", 0.0, 1.0, 1.0) };
        assert!(matches!(refuse(0.0, vec![nested]), Error::Syntax { .. }));
        assert!("Stack".parse::<Estimator>().is_err());
    }
}
