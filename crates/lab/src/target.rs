//! What is asked of the answers that are kept.

use abstain::certify::Certifier;
use abstain::{Error, Metric, MetricKind, RcCurve};
use serde::Serialize;

/// What is asked of the answers that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// At least this accuracy.
    Accuracy(f64),
    /// At most this selective risk.
    Risk(f64),
}

/// The accuracies that people ask for.
const USUAL: [f64; 8] = [0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999];

impl Target {
    /// A target for those who have not said theirs: the first usual accuracy at which at most a
    /// third of the errors per answer are left.
    pub fn usual(accuracy: f64) -> Self {
        let enough = |target: &&f64| 1.0 - **target <= (1.0 - accuracy) / 3.0;
        Target::Accuracy(USUAL.iter().find(enough).copied().unwrap_or(0.999))
    }

    /// The metric of how much is kept.
    pub fn metric(self) -> Result<Metric, Error> {
        match self {
            Target::Accuracy(accuracy) => Metric::new(MetricKind::Sac, &[accuracy]),
            Target::Risk(risk) => Metric::new(MetricKind::CoverageAtRisk, &[risk]),
        }
    }

    /// The certifier of a threshold.
    pub fn certifier(self, delta: f64) -> Certifier {
        match self {
            Target::Accuracy(accuracy) => Certifier::accuracy(accuracy, delta),
            Target::Risk(risk) => Certifier::risk(risk, delta),
        }
    }

    /// The widest threshold that meets it on these rows: where it is and how many it accepts.
    pub fn widest(self, curve: &RcCurve) -> Option<abstain::Knot> {
        match self {
            Target::Accuracy(accuracy) => curve.widest_within_accuracy(accuracy),
            Target::Risk(risk) => curve.widest_within_risk(risk),
        }
    }
}
