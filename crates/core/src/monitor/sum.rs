//! Sums that do not depend on the order of their terms.

use serde::{Deserialize, Serialize};

/// Steps of a sum in a unit: a term is off by less than 1e-9, and some 8e9 terms of size 1 fit.
const STEPS: f64 = (1_u64 << 30) as f64;

/// A sum in steps of 2⁻³⁰. Adding whole numbers is associative, so that a sum over parts is that over the
/// whole, to the last bit. It stops at the largest number of its type, which no stream reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Sum(i64);

impl Sum {
    /// A term, rounded to the nearest step.
    pub(super) fn nearest(term: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "conversions of floats saturate")]
        let steps = (term * STEPS).round() as i64;
        Sum(steps)
    }

    /// A term, rounded down: a logarithm of wealth is then never too large.
    pub(super) fn below(term: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "conversions of floats saturate")]
        let steps = (term * STEPS).floor() as i64;
        Sum(steps)
    }

    pub(super) fn add(&mut self, other: Sum) {
        self.0 = self.0.saturating_add(other.0);
    }

    pub(super) fn value(self) -> f64 {
        self.0 as f64 / STEPS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_do_not_depend_on_the_order() {
        let terms: Vec<f64> = (0..1000).map(|i| f64::from(i * 7919 % 1009) / 997.0 - 0.4).collect();
        let total = |terms: &mut dyn Iterator<Item = &f64>| {
            let mut sum = Sum::default();
            terms.for_each(|&term| sum.add(Sum::below(term)));
            sum
        };
        let forwards = total(&mut terms.iter());
        assert_eq!(forwards, total(&mut terms.iter().rev()));
        let exact: f64 = terms.iter().sum();
        assert!(forwards.value() <= exact && exact - forwards.value() < 1e-6);
    }

    #[test]
    fn whole_numbers_are_exact_and_extremes_saturate() {
        let mut sum = Sum::default();
        (0..1000).for_each(|_| sum.add(Sum::nearest(1.0)));
        assert_eq!(sum.value().to_bits(), 1000.0_f64.to_bits());
        sum.add(Sum::nearest(f64::INFINITY));
        sum.add(Sum::nearest(1.0));
        assert!(sum.value() > 8e9);
    }
}
