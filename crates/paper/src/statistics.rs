//! Tests of which method beats which, over models and over rows. Correlations and average gains over
//! models are in [`abstain::statistics`].

use statrs::distribution::{ContinuousCDF, Normal};

/// The p-value of the two-sided sign test. Ties are left out beforehand; without wins and losses it
/// is 1.
pub(crate) fn sign_test(wins: usize, losses: usize) -> f64 {
    let n = wins + losses;
    if n == 0 {
        return 1.0;
    }
    (2.0 * abstain::certify::binomial_tail(wins.min(losses), n, 0.5)).min(1.0)
}

/// The two-sided p-value of a difference by its standard error, under a normal distribution.
///
/// The standard error comes from the bootstrap. Counting its replicates could not resolve p-values below
/// one in their number, which corrections for many models need.
pub(crate) fn normal_test(difference: f64, standard_error: f64) -> f64 {
    if difference == 0.0 {
        return 1.0;
    }
    if standard_error <= 0.0 {
        return 0.0;
    }
    let tail = Normal::standard().cdf(-(difference / standard_error).abs());
    (2.0 * tail).min(1.0)
}

/// Holm's correction: p-values that may be compared with the level as if there were only one.
pub(crate) fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max((p.len() - rank) as f64 * p[index]).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }

    /// Values of scipy: `binomtest`, `norm.sf`; Holm's correction by hand.
    #[test]
    fn p_values_equal_those_of_scipy() {
        close(sign_test(2, 12), 0.012939453125);
        close(sign_test(7, 7), 1.0);
        // `statrs` is precise to ten digits.
        assert!((normal_test(-0.02, 0.01) / 0.04550026389635839 - 1.0).abs() < 1e-9);
        for (found, expected) in
            holm(&[0.01, 0.04, 0.03, 0.005]).iter().zip([0.03, 0.06, 0.06, 0.02])
        {
            close(*found, expected);
        }
    }

    #[test]
    fn undefined_cases_have_their_values() {
        assert_eq!(sign_test(0, 0), 1.0);
        assert_eq!((normal_test(0.0, 0.0), normal_test(1.0, 0.0)), (1.0, 0.0));
        assert!(holm(&[]).is_empty());
    }
}
