//! How much each class of a row weighs in a confidence, next to the runner-up: `A_j / A_2`.
//!
//! With the logits of a row in descending order, MSP under a temperature is a function of the sum of
//! `A_j = exp(z_j / T)`, MaxLogit-pNorm of the sum of `A_j = |z_j − μ|^p`. Where the smallest logits
//! are the least reliable ones, an estimator does well to let them weigh little.
//!
//! Reference: the paper's appendix on logit normalisation.

use crate::logits::Logits;
use crate::transform::{Exponent, Temperature};

/// What makes a logit weigh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weighing {
    /// `exp(z_j / T)`, as in MSP under a temperature.
    Exponential(Temperature),
    /// `|z_j − μ|^p`, as in MaxLogit-pNorm.
    Power(Exponent),
}

/// The mean of `A_j / A_2` over rows, for every `j`.
#[derive(Debug, Clone)]
pub struct Influences {
    weighings: Vec<Weighing>,
    /// For each weighing the rows that had a runner-up with a weight, and the sums of their ratios.
    sums: Vec<(usize, Vec<f64>)>,
}

impl Influences {
    /// Nothing yet, of rows with so many classes.
    pub fn new(weighings: &[Weighing], classes: usize) -> Self {
        let sums = vec![(0, vec![0.0; classes]); weighings.len()];
        Influences { weighings: weighings.to_vec(), sums }
    }

    /// Adds rows, which need not be kept. Classes that were ruled out weigh nothing.
    pub fn push(&mut self, logits: &Logits<'_>) {
        let weighings = &self.weighings;
        let rows = logits.map_rows(|_, row| {
            let mut sorted = row.all().to_vec();
            sorted.sort_unstable_by(|a, b| b.total_cmp(a));
            weighings.iter().map(|weighing| weighing.ratios(&sorted)).collect::<Vec<_>>()
        });
        // In the order of the rows, whatever the threads.
        for row in rows {
            for ((count, sums), ratios) in self.sums.iter_mut().zip(row) {
                if let Some(ratios) = ratios {
                    *count += 1;
                    sums.iter_mut().zip(ratios).for_each(|(sum, ratio)| *sum += ratio);
                }
            }
        }
    }

    /// The means for each weighing, largest logit first; empty where no row had any.
    pub fn means(&self) -> Vec<Vec<f64>> {
        let mean = |(count, sums): &(usize, Vec<f64>)| match count {
            0 => Vec::new(),
            count => sums.iter().map(|sum| sum / *count as f64).collect(),
        };
        self.sums.iter().map(mean).collect()
    }
}

impl Weighing {
    /// `A_j / A_2` of a row in descending order; nothing if the runner-up weighs nothing.
    fn ratios(self, sorted: &[f64]) -> Option<Vec<f64>> {
        let second = *sorted.get(1).filter(|second| second.is_finite())?;
        match self {
            Weighing::Exponential(t) => {
                Some(sorted.iter().map(|z| ((z - second) / t.get()).exp()).collect())
            }
            Weighing::Power(p) => {
                let finite = || sorted.iter().filter(|z| z.is_finite());
                let mean = finite().sum::<f64>() / finite().count() as f64;
                let unit = (second - mean).abs();
                let ratio = |z: &f64| {
                    if z.is_finite() { ((z - mean).abs() / unit).powf(p.get()) } else { 0.0 }
                };
                (unit > 0.0).then(|| sorted.iter().map(ratio).collect())
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
        let mut influences = Influences::new(&weighings, 4);
        assert!(influences.means().iter().all(Vec::is_empty));
        // In any order, and in two portions; the mean of (6, 3, 1, -2) is 2.
        influences.push(&Logits::new(vec![3.0, -2.0, 6.0, 1.0], 4)?);
        influences.push(&Logits::new(vec![1.0, 6.0, 3.0, -2.0], 4)?);
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
    fn rows_without_a_runner_up_do_not_count() -> Result<(), Error> {
        let weighings = [Weighing::Exponential(Temperature::ONE), Weighing::Power(Exponent::ONE)];
        let mut influences = Influences::new(&weighings, 3);
        // The second lies on the mean; then all but one are ruled out.
        influences.push(&Logits::new(vec![1.0, 0.0, -1.0], 3)?);
        influences.push(&Logits::masked(vec![1.0, f64::NEG_INFINITY, f64::NEG_INFINITY], 3)?);
        let means = influences.means();
        assert_eq!(means[0].len(), 3);
        assert!(means[1].is_empty());
        Ok(())
    }
}
