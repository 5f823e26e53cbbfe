//! Logistic regression with a ridge penalty of each coefficient, by Newton's method.

use crate::error::Error;
use crate::row::{BATCH, dots, sigmoid_each, softplus_each};
use crate::stop;
use rayon::prelude::*;

/// Rows that one task adds up: few enough that their columns stay in the fastest cache. The sums do
/// not depend on the number of threads.
const ROWS_PER_TASK: usize = 512;

/// A fit.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    /// The intercept, then a coefficient for each column.
    pub(super) coefficients: Vec<f64>,
    /// `Σ ln(1 + exp(∓f)) + ½ Σ_k ridge_k β_k²` there.
    pub(super) objective: f64,
    /// `ln det` of the second derivatives there, penalty included.
    pub(super) log_determinant: f64,
}

/// The coefficients that minimise `Σ ln(1 + exp(∓ (β_0 + x·β))) + ½ Σ_k ridge_k β_k²`, where the sign is
/// minus for right rows. `ridge` and `start` begin with the intercept's. The objective is strictly
/// convex if every ridge is positive.
pub(super) fn fit(
    columns: &[&[f64]],
    right: &[bool],
    ridge: &[f64],
    start: Vec<f64>,
) -> Result<Fit, Error> {
    let mut beta = start;
    let mut at = Sums::at(&beta, columns, right, ridge);
    for _ in 0..100 {
        stop::check()?;
        let step = solve(&at.hessian, &at.gradient);
        // Halve the step until it helps: a full Newton step may overshoot far from the optimum.
        let mut length = 1.0;
        let (next, next_at) = loop {
            let next: Vec<f64> = beta.iter().zip(&step).map(|(b, s)| b - length * s).collect();
            let next_at = Sums::at(&next, columns, right, ridge);
            if next_at.objective <= at.objective || length < 1e-10 {
                break (next, next_at);
            }
            length *= 0.5;
        };
        let moved = beta.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        (beta, at) = (next, next_at);
        if moved < 1e-10 {
            break;
        }
    }
    let log_determinant = pivots(at.hessian.clone()).iter().map(|pivot| pivot.ln()).sum();
    Ok(Fit { coefficients: beta, objective: at.objective, log_determinant })
}

/// The objective with its derivatives.
struct Sums {
    objective: f64,
    gradient: Vec<f64>,
    hessian: Vec<Vec<f64>>,
}

impl Sums {
    fn at(beta: &[f64], columns: &[&[f64]], right: &[bool], ridge: &[f64]) -> Self {
        let tasks: Vec<Sums> = (0..right.len().div_ceil(ROWS_PER_TASK))
            .into_par_iter()
            .map(|task| {
                let rows = task * ROWS_PER_TASK..((task + 1) * ROWS_PER_TASK).min(right.len());
                let columns: Vec<&[f64]> = columns.iter().map(|c| &c[rows.clone()]).collect();
                Sums::over(beta, &columns, &right[rows])
            })
            .collect();
        let size = beta.len();
        let mut sums = Sums {
            objective: (0..size).map(|k| 0.5 * ridge[k] * beta[k] * beta[k]).sum(),
            gradient: (0..size).map(|k| ridge[k] * beta[k]).collect(),
            hessian: vec![vec![0.0; size]; size],
        };
        for task in tasks {
            sums.objective += task.objective;
            for i in 0..size {
                sums.gradient[i] += task.gradient[i];
                for j in 0..=i {
                    sums.hessian[i][j] += task.hessian[i][j];
                }
            }
        }
        for (i, ridge) in ridge.iter().enumerate() {
            sums.hessian[i][i] += ridge;
            for j in 0..i {
                sums.hessian[j][i] = sums.hessian[i][j];
            }
        }
        sums
    }

    /// Without the penalty, and of the symmetric derivatives the lower half alone.
    fn over(beta: &[f64], columns: &[&[f64]], right: &[bool]) -> Self {
        let mut f = vec![beta[0]; right.len()];
        for (column, b) in columns.iter().zip(&beta[1..]) {
            f.iter_mut().zip(*column).for_each(|(f, x)| *f += b * x);
        }
        let (mut objective, mut residuals, mut weights) = (0.0, f.clone(), f);
        let chunks = residuals.chunks_mut(BATCH).zip(weights.chunks_mut(BATCH));
        for ((residuals, weights), right) in chunks.zip(right.chunks(BATCH)) {
            let (mut p, mut costs) = ([0.0; BATCH], [0.0; BATCH]);
            for (k, (&f, &right)) in weights.iter().zip(right).enumerate() {
                (p[k], costs[k]) = (f, if right { -f } else { f });
            }
            sigmoid_each(&mut p);
            softplus_each(&mut costs);
            for (k, &right) in right.iter().enumerate() {
                objective += costs[k];
                residuals[k] = p[k] - f64::from(u8::from(right));
                weights[k] = p[k] * (1.0 - p[k]);
            }
        }
        let ones = vec![1.0; right.len()];
        let columns: Vec<&[f64]> = [&ones[..]].into_iter().chain(columns.iter().copied()).collect();
        let products = |column: &[f64], others: &[&[f64]]| {
            let mut products = vec![0.0; others.len()];
            dots(column, others, &mut products);
            products
        };
        let row = |i: usize| {
            let weighted: Vec<f64> = columns[i].iter().zip(&weights).map(|(x, w)| x * w).collect();
            products(&weighted, &columns[..=i])
        };
        Sums {
            objective,
            gradient: products(&residuals, &columns),
            hessian: (0..columns.len()).map(row).collect(),
        }
    }
}

/// Solves a small symmetric positive definite system by elimination.
fn solve(a: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    eliminate(&mut a, &mut b);
    for i in (0..b.len()).rev() {
        let known: f64 = (i + 1..b.len()).map(|k| a[i][k] * b[k]).sum();
        b[i] = (b[i] - known) / a[i][i];
    }
    b
}

/// The pivots of an elimination, whose product is the determinant.
fn pivots(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let mut nothing = vec![0.0; a.len()];
    eliminate(&mut a, &mut nothing);
    (0..a.len()).map(|i| a[i][i]).collect()
}

fn eliminate(a: &mut [Vec<f64>], b: &mut [f64]) {
    for i in 0..b.len() {
        for j in i + 1..b.len() {
            let factor = a[j][i] / a[i][i];
            let (above, below) = a.split_at_mut(j);
            for (entry, pivot) in below[0].iter_mut().zip(&above[i]).skip(i) {
                *entry -= factor * pivot;
            }
            b[j] -= factor * b[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of scikit-learn 1.9.1: `LogisticRegression(C=0.3, tol=1e-14, max_iter=100000)`.
    #[test]
    fn the_fit_is_scikit_learns() {
        let columns: [&[f64]; 2] = [
            &[0.5, -1.2, 2.0, 0.3, -0.7, 1.1, -2.0, 0.9],
            &[1.0, 0.2, -0.5, 0.8, -1.5, 0.1, 0.4, -0.9],
        ];
        let right = [true, false, true, true, false, true, false, false];
        let ridge = [1e-12, 1.0 / 0.3, 1.0 / 0.3];
        let found = fit(&columns, &right, &ridge, vec![0.0; 3]).expect("a fit");
        let wanted = [-0.05685049802185768, 0.5701209560261675, 0.378403625938147];
        for (found, wanted) in found.coefficients.iter().zip(wanted) {
            assert!((found - wanted).abs() < 2e-6, "{found} {wanted}");
        }
    }

    #[test]
    fn rows_of_one_kind_give_a_finite_fit() {
        let column: &[f64] = &[0.1, 0.2, 0.3];
        let all_right = fit(&[column], &[true; 3], &[1e-6, 1.0], vec![0.0; 2]).expect("a fit");
        let coefficients = &all_right.coefficients;
        assert!(coefficients.iter().all(|b| b.is_finite()) && coefficients[0] > 1.0);
        let nothing = fit(&[], &[true, false], &[1e-6], vec![1.0]).expect("a fit");
        assert!(nothing.coefficients[0].abs() < 1e-9);
        // Two rows at p = ½: the second derivative is ½.
        assert!((nothing.log_determinant - (0.5_f64 + 1e-6).ln()).abs() < 1e-9);
        assert!((nothing.objective - 2.0 * 2.0_f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn many_rows_are_added_up_as_few() {
        let column: Vec<f64> = (0..3000).map(|i| f64::from(i * 37 % 101) / 50.0 - 1.0).collect();
        let right: Vec<bool> = (0..3000).map(|i| i * 53 % 10 < 7).collect();
        let beta = [0.3, -0.2];
        let parts = Sums::at(&beta, &[&column], &right, &[0.0; 2]);
        let whole = Sums::over(&beta, &[&column], &right);
        assert!((parts.objective - whole.objective).abs() < 1e-9);
        for i in 0..2 {
            assert!((parts.gradient[i] - whole.gradient[i]).abs() < 1e-9);
            assert!((parts.hessian[1][i] - whole.hessian[1][i]).abs() < 1e-9);
        }
    }
}
