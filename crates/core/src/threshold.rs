//! A threshold, and what it rests on.

use crate::artifact::extended;
use crate::certify::Certificate;
use crate::estimator::least_resolved;
use crate::monitor::AnytimeCertificate;
use serde::{Deserialize, Serialize};

/// A threshold and what it rests on. Rows with a confidence of at least `at` are accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "basis", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Threshold {
    /// A guarantee.
    Certified {
        /// The threshold.
        #[serde(with = "extended")]
        at: f64,
        /// What is guaranteed, and the evidence.
        certificate: Certificate,
        /// What an error costs: "zero-one" or "top-5".
        loss: String,
        /// What the guarantee takes for granted.
        assumptions: String,
        /// The SHA-256 of the rows it rests on.
        data: Option<String>,
    },
    /// A guarantee that holds at whatever time it was looked for, by labels of a stream.
    Anytime {
        /// The threshold.
        #[serde(with = "extended")]
        at: f64,
        /// What is guaranteed, and the evidence.
        certificate: AnytimeCertificate,
        /// What an error costs, as in [`crate::Tuning::loss`].
        loss: String,
        /// What the guarantee takes for granted.
        assumptions: String,
    },
    /// The largest coverage at which the selective risk of some rows was no higher than requested.
    /// No guarantee.
    Risk {
        /// The threshold.
        #[serde(with = "extended")]
        at: f64,
        /// The requested selective risk.
        risk: f64,
        /// What an error costs, as in [`crate::Tuning::loss`].
        loss: String,
        /// The rows it was chosen on.
        rows: usize,
        /// Those above the threshold.
        accepted: usize,
        /// The selective risk among them.
        selective_risk: f64,
        /// The share of the weight of the rows that is accepted, if they have weights. The selective
        /// risk is then weighted, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weighted_coverage: Option<f64>,
    },
    /// The smallest coverage of some rows that was no lower than requested. No guarantee.
    Coverage {
        /// The threshold.
        #[serde(with = "extended")]
        at: f64,
        /// The requested coverage.
        coverage: f64,
        /// The rows it was chosen on.
        rows: usize,
        /// Those above the threshold.
        accepted: usize,
        /// The share of the weight of the rows that is accepted, if they have weights.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weighted_coverage: Option<f64>,
    },
    /// The lowest cost of errors and abstentions on some rows. No guarantee.
    Cost {
        /// The threshold; infinite where it is best to accept nothing.
        #[serde(with = "extended")]
        at: f64,
        /// What a loss of 1 costs on an accepted row.
        cost_error: f64,
        /// What an abstention costs.
        cost_abstain: f64,
        /// What an error is, as in [`crate::Tuning::loss`].
        loss: String,
        /// The rows it was chosen on.
        rows: usize,
        /// Those above the threshold.
        accepted: usize,
        /// The selective risk among them; none if there are none.
        selective_risk: Option<f64>,
        /// The share of the weight of the rows that is accepted, if they have weights. The selective
        /// risk is then weighted, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weighted_coverage: Option<f64>,
    },
    /// A number that the user gives.
    Given {
        /// The threshold.
        #[serde(with = "extended")]
        at: f64,
    },
}

impl Threshold {
    /// What every certificate takes for granted.
    pub const ASSUMPTIONS: &'static str = "the rows it rests on were drawn independently from the \
        population it is used on, and did not serve to tune the estimator";

    /// A certified threshold.
    pub fn certified(certificate: Certificate, loss: String, data: Option<String>) -> Self {
        let (at, assumptions) = (certificate.threshold, Self::ASSUMPTIONS.to_string());
        Threshold::Certified { at, certificate, loss, assumptions, data }
    }

    /// What a certificate of a stream takes for granted.
    pub const ASSUMPTIONS_OF_A_STREAM: &'static str = "since the tests started, rows were drawn independently \
        from the population it is used on, and which of them have a label depends neither on their \
        confidence nor on whether their answers are right, other than by the stated propensities";

    /// A threshold that was certified while labels arrived.
    pub fn anytime(certificate: AnytimeCertificate, loss: String) -> Self {
        let assumptions = Self::ASSUMPTIONS_OF_A_STREAM.to_string();
        Threshold::Anytime { at: certificate.threshold, certificate, loss, assumptions }
    }

    /// What an error costs, if that decided it.
    pub fn loss(&self) -> Option<&str> {
        match self {
            Threshold::Certified { loss, .. }
            | Threshold::Anytime { loss, .. }
            | Threshold::Risk { loss, .. }
            | Threshold::Cost { loss, .. } => Some(loss),
            Threshold::Coverage { .. } | Threshold::Given { .. } => None,
        }
    }

    /// The share that it accepts of the rows it was found on, by their weights if they have some.
    pub fn coverage(&self) -> Option<f64> {
        let share = |accepted: usize, rows: usize| accepted as f64 / rows as f64;
        match *self {
            Threshold::Certified { certificate, .. } => {
                Some(share(certificate.accepted, certificate.rows))
            }
            Threshold::Anytime { certificate, .. } => (certificate.rows > 0)
                .then(|| certificate.accepted as f64 / certificate.rows as f64),
            Threshold::Risk { rows, accepted, weighted_coverage, .. }
            | Threshold::Coverage { rows, accepted, weighted_coverage, .. }
            | Threshold::Cost { rows, accepted, weighted_coverage, .. } => {
                Some(weighted_coverage.unwrap_or(share(accepted, rows)))
            }
            Threshold::Given { .. } => None,
        }
    }

    /// The threshold itself, on the scale of [`crate::Estimator::confidences`].
    pub fn at(&self) -> f64 {
        match *self {
            Threshold::Certified { at, .. }
            | Threshold::Anytime { at, .. }
            | Threshold::Risk { at, .. }
            | Threshold::Coverage { at, .. }
            | Threshold::Cost { at, .. }
            | Threshold::Given { at } => at,
        }
    }

    /// The same for confidences that are not rounded, such as those of a graph of operators: the least
    /// number that rounding brings to the threshold.
    pub fn at_unrounded(&self) -> f64 {
        let at = self.at();
        if at.is_infinite() { at } else { least_resolved(at) }
    }

    /// The largest risk among accepted rows that it was chosen for.
    pub fn target_risk(&self) -> Option<f64> {
        match self {
            Threshold::Certified { certificate, .. } => Some(certificate.risk),
            Threshold::Anytime { certificate, .. } => Some(certificate.risk),
            Threshold::Risk { risk, .. } => Some(*risk),
            Threshold::Coverage { .. } | Threshold::Cost { .. } | Threshold::Given { .. } => None,
        }
    }

    /// How many estimators were compared on the rows that it was found on.
    pub fn tried(&self) -> usize {
        match self {
            Threshold::Certified { certificate, .. } => certificate.tried,
            _ => 1,
        }
    }

    /// The rows that it was found on.
    pub fn rows(&self) -> Option<u64> {
        match self {
            Threshold::Certified { certificate, .. } => Some(certificate.rows as u64),
            Threshold::Anytime { certificate, .. } => Some(certificate.rows),
            Threshold::Risk { rows, .. }
            | Threshold::Coverage { rows, .. }
            | Threshold::Cost { rows, .. } => Some(*rows as u64),
            Threshold::Given { .. } => None,
        }
    }

    /// Checks what its numbers say of each other.
    pub(crate) fn check(&self) -> Result<(), String> {
        let same = |at: f64, certified: f64| {
            if at == certified {
                return Ok(());
            }
            Err(format!("the threshold {at} is not the certificate's {certified}"))
        };
        match self {
            threshold if threshold.at().is_nan() => Err("the threshold is NaN".into()),
            Threshold::Certified { at, certificate, .. } => {
                same(*at, certificate.threshold)?;
                certificate.check()
            }
            Threshold::Anytime { at, certificate, .. } => {
                same(*at, certificate.threshold)?;
                certificate.check()
            }
            Threshold::Risk { weighted_coverage: Some(share), .. }
            | Threshold::Coverage { weighted_coverage: Some(share), .. }
            | Threshold::Cost { weighted_coverage: Some(share), .. }
                if !(0.0..=1.0).contains(share) =>
            {
                Err(format!("the threshold accepts {share} of the weight"))
            }
            Threshold::Risk { rows, accepted, .. } | Threshold::Cost { rows, accepted, .. }
                if accepted > rows =>
            {
                Err(format!("the threshold accepts {accepted} of {rows} rows"))
            }
            Threshold::Cost { cost_error, cost_abstain, .. }
                if !(*cost_error > 0.0 && *cost_abstain > 0.0) =>
            {
                Err(format!("costs of {cost_error} and {cost_abstain}"))
            }
            Threshold::Coverage { rows, accepted, coverage, .. }
                if accepted > rows || !(0.0..=1.0).contains(coverage) =>
            {
                Err(format!("the threshold accepts {accepted} of {rows} rows for {coverage}"))
            }
            _ => Ok(()),
        }
    }
}
