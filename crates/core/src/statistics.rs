//! Statistics over many models: average positive gain and correlations.

use crate::error::{Error, Undefined};

/// The average positive gain: the mean over models of `baseline − method` where that is larger
/// than `epsilon`, and of 0 elsewhere. Both are a metric of which lower is better, such as NAURC,
/// one number a model.
pub fn average_positive_gain(baseline: &[f64], method: &[f64], epsilon: f64) -> Result<f64, Error> {
    check_pairs(baseline, method)?;
    if !(epsilon >= 0.0 && epsilon.is_finite()) {
        let wanted = "a finite number from 0";
        return Err(Error::Parameter { name: "epsilon", value: epsilon, wanted });
    }
    let gains = baseline.iter().zip(method).map(|(b, m)| b - m);
    let sum: f64 = gains.map(|gain| if gain > epsilon { gain } else { 0.0 }).sum();
    if !sum.is_finite() {
        return Err(Undefined::NotFinite.into());
    }
    Ok(sum / baseline.len() as f64)
}

/// Pearson's correlation coefficient. Undefined for fewer than two points or a constant variable.
pub fn pearson(x: &[f64], y: &[f64]) -> Result<f64, Error> {
    check_pairs(x, y)?;
    if x.len() < 2 {
        return Err(Undefined::TooFewPoints.into());
    }
    let constant = |v: &[f64]| v.iter().all(|&value| value == v[0]);
    if constant(x) || constant(y) {
        return Err(Undefined::Constant.into());
    }
    let (x, y) = (centred(x), centred(y));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    Ok((dot(&x, &y) / (dot(&x, &x) * dot(&y, &y)).sqrt()).clamp(-1.0, 1.0))
}

/// Spearman's rank correlation: Pearson's of the ranks, equal values sharing their mean rank.
pub fn spearman(x: &[f64], y: &[f64]) -> Result<f64, Error> {
    check_pairs(x, y)?;
    pearson(&mid_ranks(x), &mid_ranks(y))
}

fn check_pairs(x: &[f64], y: &[f64]) -> Result<(), Error> {
    if x.len() != y.len() {
        let (found, expected) = (y.len(), x.len());
        return Err(Error::Length { what: "the second variable", found, expected });
    }
    if x.is_empty() {
        return Err(Error::NoRows);
    }
    if x.iter().chain(y).any(|value| !value.is_finite()) {
        return Err(Undefined::NotFinite.into());
    }
    Ok(())
}

/// Deviations from the mean, the largest of them scaled to 1 so that no square overflows.
fn centred(v: &[f64]) -> Vec<f64> {
    let magnitude = |v: &[f64]| v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let scale = magnitude(v);
    let mean = v.iter().map(|x| x / scale).sum::<f64>() / v.len() as f64;
    let deviations: Vec<f64> = v.iter().map(|x| x / scale - mean).collect();
    let largest = magnitude(&deviations);
    deviations.iter().map(|x| x / largest).collect()
}

fn mid_ranks(v: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..v.len()).collect();
    order.sort_by(|&a, &b| v[a].total_cmp(&v[b]));
    let mut ranks = vec![0.0; v.len()];
    let mut start = 0;
    for group in order.chunk_by(|&a, &b| v[a] == v[b]) {
        let mean = start as f64 + (group.len() - 1) as f64 / 2.0;
        for &i in group {
            ranks[i] = mean;
        }
        start += group.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes() {
        let x = [1.0, 2.0, 3.0];
        assert_eq!(spearman(&x, &[1e-300, 1.0, 1e300]), Ok(1.0));
        assert_eq!(spearman(&x, &[3.0, 2.0, -1.0]), Ok(-1.0));
        assert!((pearson(&[1e200, 2e200, 3e200], &x).expect("defined") - 1.0).abs() < 1e-15);
        let undefined = |u| Err(Error::Undefined(u));
        assert_eq!(pearson(&[1.0], &[1.0]), undefined(Undefined::TooFewPoints));
        assert_eq!(pearson(&x, &[1.0; 3]), undefined(Undefined::Constant));
        assert_eq!(pearson(&x, &[1.0, f64::NAN, 2.0]), undefined(Undefined::NotFinite));
        assert_eq!(spearman(&[], &[]), Err(Error::NoRows));
        assert!(matches!(spearman(&x, &[1.0]), Err(Error::Length { .. })));
    }

    #[test]
    fn gains_at_or_below_epsilon_do_not_count() {
        let gain = average_positive_gain(&[0.5, 0.3, 0.2], &[0.25, 0.3, 0.4], 0.01);
        assert_eq!(gain, Ok(0.25 / 3.0));
        assert_eq!(average_positive_gain(&[0.5], &[0.25], 0.25), Ok(0.0));
        assert!(average_positive_gain(&[0.5], &[0.25], f64::NAN).is_err());
        assert!(average_positive_gain(&[0.5], &[0.25], -1.0).is_err());
        assert!(average_positive_gain(&[1e308; 2], &[-1e308; 2], 0.0).is_err());
    }
}
