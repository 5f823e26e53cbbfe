//! Means over splits. Correlations and average gains over models are in [`abstain::statistics`].

use serde::{Deserialize, Serialize};

/// Mean and population standard deviation over splits, as the paper's tables have them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub std: f64,
}

impl Spread {
    /// Of some values; `None` without values.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        if values.iter().all(|value| *value == values[0]) {
            // Exactly 0, where a sum would round.
            return Some(Spread { mean: values[0], std: 0.0 });
        }
        let mean = mean(values);
        let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        Some(Spread { mean, std: (square / values.len() as f64).sqrt() })
    }

    /// Of values that may be undefined: if one is, so is the mean.
    pub fn of_all(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        Spread::of(&values.into_iter().collect::<Option<Vec<f64>>>()?)
    }
}

/// The mean; NaN without values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_defined_where_all_values_are() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of_all([Some(1.0), None]), None);
        assert_eq!(Spread::of_all([Some(1.0), Some(3.0)]), Some(Spread { mean: 2.0, std: 1.0 }));
    }
}
