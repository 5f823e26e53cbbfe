//! Fitting a stack: ridge-penalised logistic regression by Newton's method.

use crate::error::{Error, Undefined};
use crate::estimator::Estimator;
use crate::profile::Profiles;
use crate::stack::{Stack, Term, standardise};
use crate::stop;

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
    /// chosen by measurement (DESIGN.md), for fewer scores say too little and more overfit.
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
        for (estimator, own) in self.scores.iter().zip(&confidences) {
            let (mean, deviation) = mean_and_deviation(own);
            // A constant score, as a p-norm of two classes, has nothing to say.
            if deviation > 1e-9 * (1.0 + mean.abs()) {
                columns.push(own.iter().map(|&x| standardise(x, mean, deviation)).collect());
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
                crate::score::softmax::softplus(if right[row] { -f } else { f })
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
            let p = crate::score::softmax::sigmoid(f);
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
        // Halve the step until it helps: Newton's own may overshoot far from the optimum.
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
            for (own, pivot) in below[0].iter_mut().zip(&above[i]).skip(i) {
                *own -= factor * pivot;
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
