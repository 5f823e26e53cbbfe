//! What a search tried, and what came of it.

use super::Number;
use abstain::metric::Direction;
use abstain::{Estimator, Objective, Tuned};
use serde::Serialize;

/// Every point of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Surface {
    /// What was optimised.
    pub objective: String,
    /// Whether the best is the lowest.
    pub lower_is_better: bool,
    /// The names of the numbers.
    pub parameters: Vec<&'static str>,
    /// Each point: its numbers, and last the objective, where it is defined.
    pub points: Vec<Vec<Option<Number>>>,
    /// The best point, whether or not it was given up for MSP.
    pub best: Vec<Number>,
    /// MSP's objective.
    pub baseline: Option<f64>,
}

impl Surface {
    /// Of a method that has temperatures or exponents to choose.
    pub fn new(tuned: &Tuned) -> Option<Self> {
        if tuned.surface.len() < 2 {
            return None;
        }
        let parameters = tuned.method.parameters();
        let numbers = |estimator: &Estimator| -> Option<Vec<Number>> {
            parameters.iter().map(|name| number(estimator, name).map(Number)).collect()
        };
        let point = |candidate: &abstain::internal::Candidate| -> Option<Vec<Option<Number>>> {
            let mut point: Vec<_> = numbers(&candidate.estimator)?.into_iter().map(Some).collect();
            point.push(candidate.value.map(Number));
            Some(point)
        };
        Some(Surface {
            objective: tuned.objective.to_string(),
            lower_is_better: match tuned.objective {
                Objective::Metric(metric) => metric.better() == Direction::Lower,
                Objective::Nll => true,
            },
            points: tuned.surface.iter().map(point).collect::<Option<_>>()?,
            best: numbers(&tuned.best.estimator)?,
            baseline: tuned.baseline,
            parameters: parameters.to_vec(),
        })
    }
}

/// A number of a transform, also where the transform is none for that number: a temperature of 1, or no
/// shift. The families of other papers have no such numbers.
fn number(estimator: &Estimator, name: &str) -> Option<f64> {
    let Estimator::Scored { transform, .. } = estimator else { return None };
    match name {
        "T" | "tau" => Some(transform.temperature.get()),
        "p" => transform.norm.map(|norm| norm.p.get()),
        "gamma" => transform.norm.map(|norm| norm.gamma.get()),
        _ => None,
    }
}
