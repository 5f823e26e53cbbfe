//! What the accepted rows must meet.

use abstain::certify::{Certifier, upper_bound};
use abstain::{Error, Losses, Metric, RcCurve, curve::Count, metric::MetricKind};
use serde::{Deserialize, Serialize};

/// What the accepted rows must meet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// At least this accuracy.
    Accuracy(f64),
    /// At most this selective risk.
    Risk(f64),
}

/// Targets that are proposed where none is requested.
const USUAL: [f64; 8] = [0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999];

const BETWEEN: &str = "between 0 and 1, both excluded";
pub(crate) const AT_LEAST_1: &str = "at least 1";

/// Checks the probability with which a certificate may fail. One that fails more often than not is no
/// certificate; more likely the probability with which it holds is meant.
pub(crate) fn check_delta(value: f64) -> Result<(), Error> {
    let wanted = match value {
        _ if value > 0.0 && value <= 0.5 => return Ok(()),
        _ if value > 0.5 && value < 1.0 => {
            "at most 0.5: it is the probability with which the guarantee may fail, such as 0.05"
        }
        _ => BETWEEN,
    };
    Err(Error::Parameter { name: "delta", value, wanted })
}

/// Accepted rows that are too few to show a target: even without an error among them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FewRows {
    /// The accepted rows.
    pub accepted: usize,
    /// The errors among them.
    pub errors: usize,
    /// The selective risk that is allowed.
    pub risk: f64,
    /// The selective risk may be as high as this.
    pub bound: f64,
    /// With this confidence.
    pub level: f64,
}

impl FewRows {
    /// What rows that meet a target do not show; nothing if they are enough. Losses are 0 or 1.
    pub fn of(target: Target, accepted: usize, selective_risk: f64) -> Option<Self> {
        const LEVEL: f64 = 0.95;
        let risk = target.risk();
        if upper_bound(0, accepted, 1.0 - LEVEL) <= risk {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let errors = (selective_risk * accepted as f64).round() as usize;
        let bound = upper_bound(errors, accepted, 1.0 - LEVEL);
        Some(FewRows { accepted, errors, risk, bound, level: LEVEL })
    }
}

impl Target {
    /// The first usual accuracy at which at most a third of the errors per row are left.
    fn usual(accuracy: f64) -> Self {
        let enough = |target: &&f64| 1.0 - **target <= (1.0 - accuracy) / 3.0;
        Target::Accuracy(USUAL.iter().find(enough).copied().unwrap_or(0.999))
    }

    /// The same where errors are not just counted: a third of the mean loss, rounded to one digit.
    fn usual_risk(mean_loss: f64) -> Self {
        let third = (mean_loss / 3.0).max(1e-9);
        let unit = 10.0_f64.powf(third.log10().floor());
        // By way of the decimal, so that 0.3 is 0.3.
        let risk: f64 = format!("{:.0e}", (third / unit).round() * unit).parse().unwrap_or(third);
        Target::Risk(risk)
    }

    /// The one of the two that is given, the accuracy first.
    pub fn of(accuracy: Option<f64>, risk: Option<f64>) -> Option<Self> {
        accuracy.map(Target::Accuracy).or(risk.map(Target::Risk))
    }

    /// An accuracy lies between 0 and 1; a risk is positive, and above 1 where losses can be.
    pub fn check(self) -> Result<(), Error> {
        let (name, value, valid, wanted) = match self {
            Target::Accuracy(value) => {
                ("target accuracy", value, value > 0.0 && value < 1.0, BETWEEN)
            }
            Target::Risk(value) => {
                ("target risk", value, value > 0.0 && value.is_finite(), "a number above 0")
            }
        };
        if valid { Ok(()) } else { Err(Error::Parameter { name, value, wanted }) }
    }

    /// The selective risk that it allows.
    pub fn risk(self) -> f64 {
        match self {
            // An accuracy of 0.98 is a risk of 0.02, as the certifier has it, to the last decimal.
            Target::Accuracy(accuracy) => Certifier::accuracy(accuracy, 0.5).risk,
            Target::Risk(risk) => risk,
        }
    }

    /// The usual target of rows with these losses.
    pub fn usual_for(losses: &Losses) -> Self {
        let mean = losses.values().iter().sum::<f64>() / losses.values().len() as f64;
        Target::usual_for_mean(mean, losses.is_zero_one())
    }

    /// The usual target of rows with this mean loss.
    pub(crate) fn usual_for_mean(mean: f64, zero_one: bool) -> Self {
        // There is an accuracy only where errors are counted.
        if zero_one { Target::usual(1.0 - mean) } else { Target::usual_risk(mean) }
    }

    /// A risk, as an accuracy where that is a decimal.
    pub fn of_risk(risk: f64) -> Self {
        let accuracy = ((1.0 - risk) * 1e12).round() / 1e12;
        if accuracy > 0.0 { Target::Accuracy(accuracy) } else { Target::Risk(risk) }
    }

    /// The metric of the coverage at the target.
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

    /// The threshold of largest coverage that meets it on these rows.
    pub fn widest<C: Count>(self, curve: &RcCurve<C>) -> Option<abstain::curve::Knot<C>> {
        match self {
            Target::Accuracy(accuracy) => curve.widest_within_accuracy(accuracy),
            Target::Risk(risk) => curve.widest_within_risk(risk),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_that_is_a_confidence_is_refused() {
        for delta in [0.05, 0.5] {
            assert_eq!(check_delta(delta), Ok(()));
        }
        let error = check_delta(0.95).unwrap_err().to_string();
        assert!(error.contains("the probability with which the guarantee may fail"), "{error}");
        for delta in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(check_delta(delta).is_err());
        }
    }

    #[test]
    fn few_rows_do_not_show_a_target() {
        let few = FewRows::of(Target::Accuracy(0.9999), 35, 0.0).expect("too few");
        assert_eq!((few.accepted, few.errors, few.risk), (35, 0, 0.0001));
        assert!((few.bound - 0.082).abs() < 0.001, "{few:?}");
        assert_eq!(FewRows::of(Target::Accuracy(0.95), 59, 0.0), None);
        assert_eq!(FewRows::of(Target::Risk(0.05), 200, 0.05), None, "enough to show it");
    }

    #[test]
    fn usual_targets_leave_a_third_of_the_errors() {
        for (accuracy, target) in [(0.775, 0.95), (0.936, 0.98), (0.3, 0.8), (1.0, 0.999)] {
            assert_eq!(Target::usual(accuracy), Target::Accuracy(target), "{accuracy}");
        }
        assert_eq!(Target::usual_risk(1.0), Target::Risk(0.3));
        assert_eq!(Target::usual_risk(0.0), Target::Risk(1e-9));
        assert_eq!(Target::of_risk(0.05), Target::Accuracy(0.95));
        assert_eq!((Target::Accuracy(0.98).risk(), Target::Risk(0.3).risk()), (0.02, 0.3));
        assert_eq!(Target::of(None, Some(0.1)), Some(Target::Risk(0.1)));
        let graded = Losses::new(vec![0.5, 2.5]).expect("losses");
        assert_eq!(Target::usual_for(&graded), Target::Risk(0.5));
    }
}
