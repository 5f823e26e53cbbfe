//! How much each class of a row weighs in a confidence, next to the runner-up: `A_j / A_2`.
//!
//! With the logits of a row in descending order, MSP under a temperature is a function of the sum of
//! `A_j = exp(z_j / T)`, MaxLogit-pNorm of the sum of `A_j = |z_j − μ|^p`. Where the smallest logits
//! are the least reliable ones, an estimator does well to let them weigh little.
//!
//! Reference: the paper's appendix on logit normalisation.

use crate::exact::ExactSum;
use crate::logits::Logits;
use crate::transform::{Exponent, Temperature};
use serde::{Deserialize, Serialize};

/// What makes a logit weigh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weighing {
    /// `exp(z_j / T)`, as in MSP under a temperature.
    Exponential(Temperature),
    /// `|z_j − μ|^p`, as in MaxLogit-pNorm.
    Power(Exponent),
}

/// The geometric mean of `A_j / A_2` over rows, for every `j`. The plain mean would be that of the few
/// rows whose runner-up lies near the mean of the row and weighs next to nothing.
///
/// Influences of different rows can be merged.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Influences {
    rows: usize,
    /// For each weighing the sums of the logarithms.
    sums: Vec<Vec<ExactSum>>,
}

/// A deviation that is a smaller part of the row's largest one than this counts as this part.
const SMALLEST_PART: f64 = 1e-9;

impl Influences {
    /// Adds rows, which need not be kept, under the same weighings as all others. Rows of which fewer than
    /// two classes were not ruled out have no runner-up and do not count.
    pub fn push(&mut self, weighings: &[Weighing], logits: &Logits<'_>) {
        self.sums.resize(weighings.len(), vec![ExactSum::default(); logits.classes()]);
        let rows = logits.map_rows(|_, row| {
            let mut sorted = row.all().to_vec();
            sorted.sort_unstable_by(|a, b| b.total_cmp(a));
            sorted.get(1).filter(|second| second.is_finite())?;
            Some(weighings.iter().map(|weighing| weighing.log_ratios(&sorted)).collect::<Vec<_>>())
        });
        for row in rows.into_iter().flatten() {
            self.rows += 1;
            for (sums, ratios) in self.sums.iter_mut().zip(row) {
                sums.iter_mut().zip(ratios).for_each(|(sum, ratio)| sum.add(ratio));
            }
        }
    }

    /// Adds those of other rows, under the same weighings.
    pub fn merge(&mut self, other: &Influences) {
        self.rows += other.rows;
        let classes = other.sums.first().map_or(0, Vec::len);
        self.sums.resize(other.sums.len().max(self.sums.len()), vec![ExactSum::default(); classes]);
        for (here, there) in self.sums.iter_mut().zip(&other.sums) {
            here.iter_mut().zip(there).for_each(|(here, there)| here.merge(there));
        }
    }

    /// The means for each weighing, largest logit first; empty where no row counts.
    pub fn means(&self) -> Vec<Vec<f64>> {
        let mean = |sums: &Vec<ExactSum>| match self.rows {
            0 => Vec::new(),
            rows => sums.iter().map(|sum| (sum.value() / rows as f64).exp()).collect(),
        };
        self.sums.iter().map(mean).collect()
    }
}

impl Weighing {
    /// `ln(A_j / A_2)` of a row in descending order; `-inf` for classes that were ruled out.
    fn log_ratios(self, sorted: &[f64]) -> Vec<f64> {
        match self {
            Weighing::Exponential(t) => sorted.iter().map(|z| (z - sorted[1]) / t.get()).collect(),
            Weighing::Power(p) => {
                let finite = || sorted.iter().filter(|z| z.is_finite());
                let mean = finite().sum::<f64>() / finite().count() as f64;
                let largest = finite().map(|z| (z - mean).abs()).fold(f64::MIN_POSITIVE, f64::max);
                let log = |z: f64| ((z - mean).abs() / largest).max(SMALLEST_PART).ln();
                let ratio = |z: &f64| {
                    if z.is_finite() {
                        p.get() * (log(*z) - log(sorted[1]))
                    } else {
                        f64::NEG_INFINITY
                    }
                };
                sorted.iter().map(ratio).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn ratios_are_the_formulas() -> Result<(), Error> {
        let weighings =
            [Weighing::Exponential(Temperature::new(0.5)?), Weighing::Power(Exponent::new(3.0)?)];
        let mut influences = Influences::default();
        assert!(influences.means().iter().all(Vec::is_empty));
        // In any order, and in two portions; the mean of (6, 3, 1, -2) is 2.
        influences.push(&weighings, &Logits::new(vec![3.0, -2.0, 6.0, 1.0], 4)?);
        influences.push(&weighings, &Logits::new(vec![1.0, 6.0, 3.0, -2.0], 4)?);
        let means = influences.means();
        for (found, z) in means[0].iter().zip([6.0_f64, 3.0, 1.0, -2.0]) {
            assert!((found - (2.0 * (z - 3.0)).exp()).abs() < 1e-12 * found, "{found}");
        }
        for (found, expected) in means[1].iter().zip([64.0, 1.0, 1.0, 64.0]) {
            assert!((found - expected).abs() < 1e-12 * expected, "{found}");
        }
        Ok(())
    }

    #[test]
    fn hard_rows_have_an_answer() -> Result<(), Error> {
        let weighings = [Weighing::Exponential(Temperature::ONE), Weighing::Power(Exponent::ONE)];
        let mut influences = Influences::default();
        // All but one are ruled out: no runner-up.
        influences
            .push(&weighings, &Logits::masked(vec![1.0, f64::NEG_INFINITY, f64::NEG_INFINITY], 3)?);
        assert!(influences.means().iter().all(Vec::is_empty));
        // The second lies on the mean, and weighs as little as anything can.
        influences.push(&weighings, &Logits::new(vec![1.0, 0.0, -1.0], 3)?);
        let means = influences.means();
        assert!((means[1][0] / 1e9 - 1.0).abs() < 1e-9 && means[1][1] == 1.0, "{means:?}");
        // A class that was ruled out weighs nothing in the mean either.
        influences.push(&weighings, &Logits::masked(vec![2.0, 1.0, f64::NEG_INFINITY], 3)?);
        assert_eq!(influences.means()[0][2], 0.0);
        Ok(())
    }
}
