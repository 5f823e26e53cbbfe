//! Stack: a logistic regression that predicts from several scores of a row whether it is right.
//!
//! - **Definition**: `b + Σ_k w_k clip((g_k − m_k) / s_k, ±5)`, the log-odds of being right, where `g_k`
//!   are scores of the row and `m_k`, `s_k` their mean and standard deviation on the rows it was
//!   fitted on.
//! - **Range and direction**: the value is a probability of being right; higher is surer.
//! - **Invariances**: those that all of its scores share.
//! - **Undefined when**: never. Infinite scores are clipped like all others.
//! - **Rank scale**: the log-odds.
//! - **Fit**: logistic regression with a ridge penalty, by Newton's method.
//! - **Cost**: that of its scores.

use crate::error::{Error, Undefined};
use crate::estimator::Estimator;
use crate::profile::{Column, Profiles};
use crate::row::RowView;
use crate::score::softmax;
use crate::stop;
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
    /// Its name.
    pub const NAME: &'static str = "Stack";

    /// One sentence on what it is.
    pub const SUMMARY: &'static str =
        "logistic regression of being right on several scores of the row";

    /// What it computes, in words.
    pub const FORMULA: &'static str =
        "the chance of being right, by a logistic regression on scores of the row";

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
            return Err(Error::Syntax { text: Self::NAME.into(), problem });
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

    pub(crate) fn columns(&self) -> Vec<Column> {
        self.terms.iter().flat_map(|term| term.estimator.columns()).collect()
    }

    pub(crate) fn confidence<R: RowView>(&self, row: &R, mut columns: &[usize]) -> f64 {
        let mut sum = self.intercept;
        for term in &self.terms {
            sum += term.weight * term.standardised(term.estimator.confidence(row, columns));
            columns = columns.get(term.estimator.columns().len()..).unwrap_or(&[]);
        }
        sum
    }
}

/// What a stack is made of.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct StackRecipe {
    /// The scores.
    pub scores: Vec<Estimator>,
    /// The inverse strength of the ridge penalty, as scikit-learn's `C`.
    pub c: f64,
}

impl Default for StackRecipe {
    /// MSP, the margin of the logits, and MaxLogit-pNorm at a small and a large `p`, with `C = 1`:
    /// chosen by measurement (docs/decisions/method-and-fallback.md), for fewer scores say too
    /// little and more overfit.
    fn default() -> Self {
        let scores = ["MSP", "LogitsMargin", "MaxLogit-pNorm(p=2)", "MaxLogit-pNorm(p=6)"];
        StackRecipe { scores: scores.iter().filter_map(|s| s.parse().ok()).collect(), c: 1.0 }
    }
}

impl StackRecipe {
    /// Fits the stack on the rows of a profile, whose losses count as right where they are 0.
    pub fn fit(&self, profiles: &Profiles) -> Result<Stack, Error> {
        if !(self.c > 0.0 && self.c <= 1e12) {
            let wanted = "a positive number up to 1e12";
            return Err(Error::Parameter { name: "C", value: self.c, wanted });
        }
        let confidences = profiles.confidences(&self.scores)?;
        let mut terms = Vec::new();
        let mut columns = Vec::new();
        for (estimator, confidences) in self.scores.iter().zip(&confidences) {
            let (mean, deviation) = mean_and_deviation(confidences);
            // A constant score, as a p-norm of two classes, does not help to tell rows apart.
            if deviation > 1e-9 * (1.0 + mean.abs()) {
                columns
                    .push(confidences.iter().map(|&x| standardise(x, mean, deviation)).collect());
                let weight = 0.0;
                terms.push(Term { estimator: estimator.clone(), mean, deviation, weight });
            }
        }
        if terms.is_empty() {
            return Err(Undefined::Constant.into());
        }
        let right: Vec<bool> = profiles.losses().values().iter().map(|&loss| loss == 0.0).collect();
        let solution = logistic_ridge(&columns, &right, self.c)?;
        for (term, weight) in terms.iter_mut().zip(&solution[1..]) {
            term.weight = *weight;
        }
        Stack::new(solution[0], terms)
    }
}

/// Of the finite values: infinite ones are clipped when they are standardised.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().filter(|x| x.is_finite());
    let n = finite().count().max(1) as f64;
    let mean = finite().sum::<f64>() / n;
    let variance = finite().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

/// Intercept and weights that minimise `½ |w|² + C Σ ln(1 + exp(∓ (b + x·w)))`.
///
/// The objective is strictly convex in the weights, and in the intercept as soon as there are right
/// and wrong rows; a tiny ridge on the intercept covers the rest.
fn logistic_ridge(columns: &[Vec<f64>], right: &[bool], c: f64) -> Result<Vec<f64>, Error> {
    const INTERCEPT_RIDGE: f64 = 1e-6;
    let size = columns.len() + 1;
    let at = |column: usize, row: usize| if column == 0 { 1.0 } else { columns[column - 1][row] };
    let ridge = |k: usize| if k == 0 { INTERCEPT_RIDGE } else { 1.0 };
    let objective = |beta: &[f64]| -> f64 {
        let penalty: f64 = beta.iter().enumerate().map(|(k, b)| 0.5 * ridge(k) * b * b).sum();
        let loss: f64 = (0..right.len())
            .map(|row| {
                let f: f64 = beta.iter().enumerate().map(|(k, b)| b * at(k, row)).sum();
                softmax::softplus(if right[row] { -f } else { f })
            })
            .sum();
        penalty + c * loss
    };
    let mut beta = vec![0.0; size];
    let mut value = objective(&beta);
    for _ in 0..100 {
        stop::check()?;
        let mut gradient: Vec<f64> = (0..size).map(|k| ridge(k) * beta[k]).collect();
        let mut hessian = vec![vec![0.0; size]; size];
        (0..size).for_each(|k| hessian[k][k] = ridge(k));
        for (row, &right) in right.iter().enumerate() {
            let x: Vec<f64> = (0..size).map(|k| at(k, row)).collect();
            let f: f64 = beta.iter().zip(&x).map(|(b, x)| b * x).sum();
            let p = softmax::sigmoid(f);
            let residual = c * (p - f64::from(u8::from(right)));
            let weight = c * p * (1.0 - p);
            for i in 0..size {
                gradient[i] += residual * x[i];
                for j in 0..size {
                    hessian[i][j] += weight * x[i] * x[j];
                }
            }
        }
        let step = solve(hessian, gradient.clone());
        // Halve the step until it helps: a full Newton step may overshoot far from the optimum.
        let mut length = 1.0;
        let (next, next_value) = loop {
            let next: Vec<f64> = beta.iter().zip(&step).map(|(b, s)| b - length * s).collect();
            let next_value = objective(&next);
            if next_value <= value || length < 1e-10 {
                break (next, next_value);
            }
            length *= 0.5;
        };
        let moved = beta.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        (beta, value) = (next, next_value);
        if moved < 1e-12 {
            break;
        }
    }
    Ok(beta)
}

/// Solves a small symmetric positive definite system by elimination.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        for j in i + 1..n {
            let factor = a[j][i] / a[i][i];
            let (above, below) = a.split_at_mut(j);
            for (entry, pivot) in below[0].iter_mut().zip(&above[i]).skip(i) {
                *entry -= factor * pivot;
            }
            b[j] -= factor * b[i];
        }
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| a[i][k] * b[k]).sum();
        b[i] = (b[i] - known) / a[i][i];
    }
    b
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

    /// Figures of scikit-learn 1.9.1: `LogisticRegression(C=0.3, tol=1e-14, max_iter=100000)`.
    #[test]
    fn the_fit_is_scikit_learns() {
        let columns = vec![
            vec![0.5, -1.2, 2.0, 0.3, -0.7, 1.1, -2.0, 0.9],
            vec![1.0, 0.2, -0.5, 0.8, -1.5, 0.1, 0.4, -0.9],
        ];
        let right = [true, false, true, true, false, true, false, false];
        let found = logistic_ridge(&columns, &right, 0.3).expect("a fit");
        let wanted = [-0.05685049802185768, 0.5701209560261675, 0.378403625938147];
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < 2e-6, "{found} {wanted}");
        }
    }

    #[test]
    fn rows_of_one_kind_give_a_finite_fit() {
        let columns = vec![vec![0.1, 0.2, 0.3]];
        let all_right = logistic_ridge(&columns, &[true; 3], 0.3).expect("a fit");
        assert!(all_right.iter().all(|b| b.is_finite()) && all_right[0] > 1.0, "{all_right:?}");
        let nothing = logistic_ridge(&[], &[true, false], 0.3).expect("a fit");
        assert!(nothing[0].abs() < 1e-12);
    }
}
