//! The temperature of most likelihood.

use crate::error::Error;
use crate::profile::Profiles;
use crate::row::{BATCH, sigmoid_each};
use crate::stop;
use crate::transform::Temperature;
use rayon::prelude::*;

/// The root is bracketed this closely before it is bisected: far above what rounding does to the sum over
/// the rows, so that its sign outside of the bracket is certain.
const CLOSE: f64 = 1e-10;

/// The temperature at which some rows of a profile are most likely.
///
/// The derivative of the negative log-likelihood in `β = 1/T` is the mean of
/// `(z_1 − z_label) − q (g − m)`, with `q = 1 − σ_1`, `g` the gap to the second logit and `m` the mean of the
/// others below it. It rises with `β`, so that its root is found by bisection, to the last bit of what the
/// profile holds (exact logits up to 24 classes, nine digits beyond).
pub(super) fn temperature(profiles: &Profiles, rows: &[usize]) -> Result<Temperature, Error> {
    let gap = |&i: &usize| profiles.row(i).gap();
    let gaps: Vec<f64> = rows.iter().map(gap).filter(|gap| gap.is_finite()).collect();
    let scale = gaps.iter().sum::<f64>() / gaps.len() as f64;
    if gaps.is_empty() || scale < 1e-50 {
        // Rows that leave nothing to choose between are as likely at any temperature.
        return Ok(Temperature::ONE);
    }
    let slope = |log_beta: f64| -> f64 {
        let beta = log_beta.exp();
        let each = |some: &[usize]| {
            let (log_tails, tail_means) = profiles.tails_of(some, beta);
            let gap = |k: usize| some.get(k).map_or(0.0, |&i| profiles.row(i).gap() * beta);
            let gaps: [f64; BATCH] = std::array::from_fn(gap);
            let mut rests: [f64; BATCH] = std::array::from_fn(|k| log_tails[k] - gaps[k]);
            sigmoid_each(&mut rests);
            let of_row = move |(k, &i): (usize, &usize)| {
                let distance = profiles.row(i).label_distance();
                if !distance.is_finite() || gaps[k] == f64::INFINITY {
                    // A masked label has no likelihood at any temperature, and a class that is alone
                    // the same at all.
                    return 0.0;
                }
                distance - rests[k] * (gaps[k] - tail_means[k]) / beta
            };
            some.iter().enumerate().map(of_row).collect::<Vec<f64>>()
        };
        // Added up in the order of the rows, whatever the threads.
        let some = rows.par_chunks(BATCH).with_min_len(32);
        some.flat_map_iter(each).collect::<Vec<f64>>().iter().sum()
    };
    let (low, high) = (-(1e4 * scale).ln(), -(1e-4 * scale).ln());
    Temperature::new((-root(slope, low, high)?).exp())
}

/// The root of a rising function, or the end of the range beyond which it lies: what bisection finds, to
/// the last bit, with half of the evaluations.
fn root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> Result<f64, Error> {
    let (at_low, at_high) = (f(low), f(high));
    if at_high <= 0.0 {
        return Ok(high);
    }
    if at_low >= 0.0 {
        return Ok(low);
    }
    let (below, above) = bracket(&f, (low, at_low), (high, at_high))?;
    while low < high {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        let negative = if middle <= below {
            true
        } else if middle >= above {
            false
        } else {
            stop::check()?;
            f(middle) < 0.0
        };
        if negative {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(f64::midpoint(low, high))
}

/// Two points close to each other on either side of a root, by inverse quadratic interpolation where it
/// can be trusted and by halving elsewhere (Chandrupatla, 1997).
fn bracket(f: impl Fn(f64) -> f64, low: (f64, f64), high: (f64, f64)) -> Result<(f64, f64), Error> {
    // The last point, the one on the other side of the root, and the one before the last.
    let (mut last, mut other, mut share) = (high, low, 0.5);
    while (last.0 - other.0).abs() > CLOSE {
        stop::check()?;
        let x = last.0 + share * (other.0 - last.0);
        let point = (x, f(x));
        let before = if (point.1 < 0.0) == (last.1 < 0.0) {
            last
        } else {
            std::mem::replace(&mut other, last)
        };
        last = point;
        let width = (other.0 - last.0).abs();
        let (xi, phi) =
            ((last.0 - other.0) / (before.0 - other.0), (last.1 - other.1) / (before.1 - other.1));
        let trusted = phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi;
        share = if trusted {
            last.1 / (other.1 - last.1) * before.1 / (other.1 - before.1)
                + (before.0 - last.0) / (other.0 - last.0) * last.1 / (before.1 - last.1) * other.1
                    / (before.1 - other.1)
        } else {
            0.5
        };
        // A step at least, so that the root is passed and the bracket closes from both sides.
        let step = (0.4 * CLOSE / width).min(0.5);
        share = share.clamp(step, 1.0 - step);
    }
    Ok((last.0.min(other.0), last.0.max(other.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn bisected(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
        if f(high) <= 0.0 {
            low = high;
        } else if f(low) >= 0.0 {
            high = low;
        }
        while low < high {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            if f(middle) < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    }

    #[test]
    fn the_root_is_that_of_plain_bisection() {
        let functions: [fn(f64) -> f64; 7] = [
            |x| x - 0.3,
            |x| x.exp() - 5.0,
            |x| (x - 1.0).powi(3),
            |x| (3.0 * (x + 7.5)).tanh() + 1e-9 * x,
            |x| 1.0 / (1.0 + (-4.0 * x).exp()) - 0.999,
            |x| x - 20.0,
            |x| x + 20.0,
        ];
        for (k, f) in functions.into_iter().enumerate() {
            let calls = Cell::new(0);
            let counted = |x| {
                calls.set(calls.get() + 1);
                f(x)
            };
            let found = root(counted, -9.2, 9.3).expect("not stopped");
            assert_eq!(found.to_bits(), bisected(f, -9.2, 9.3).to_bits(), "{k}");
            // A triple root is flat, where only halving helps.
            assert!(calls.get() <= 45 || k == 2, "{k}: {}", calls.get());
        }
    }
}
