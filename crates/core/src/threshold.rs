//! A threshold, and what it rests on.

use crate::artifact::extended;
use crate::certify::Certificate;
use crate::estimator::least_resolved;
use crate::monitor::AnytimeCertificate;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

/// Whether a confidence reaches a threshold: the only comparison of the two.
#[inline]
pub(crate) fn reaches(confidence: f64, at: f64) -> bool {
    confidence >= at
}

/// A threshold and what it rests on. Rows with a confidence of at least `at` are accepted.
///
/// ```
/// use abstain::Threshold;
///
/// let threshold = Threshold::given(0.5);
/// assert!(threshold.accepts(0.5) && !threshold.accepts(0.4) && !threshold.accepts(f64::NAN));
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Threshold {
    /// The threshold itself, on the scale of [`crate::Estimator::confidences`]; infinite where it is
    /// best to accept nothing.
    #[serde(with = "extended")]
    pub at: f64,
    /// What it rests on.
    #[serde(flatten)]
    pub basis: Basis,
}

/// What a threshold rests on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "basis", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Basis {
    /// A guarantee.
    Certified {
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
        /// What is guaranteed, and the evidence.
        certificate: AnytimeCertificate,
        /// What an error costs, as in [`crate::artifact::Tuning::loss`].
        loss: String,
        /// What the guarantee takes for granted.
        assumptions: String,
    },
    /// The largest coverage at which the selective risk of some rows was no higher than requested.
    /// No guarantee.
    Risk {
        /// The requested selective risk.
        risk: f64,
        /// What an error costs, as in [`crate::artifact::Tuning::loss`].
        loss: String,
        /// The rows it was chosen on.
        rows: usize,
        /// Those above the threshold.
        accepted: usize,
        /// The selective risk among them.
        selective_risk: f64,
        /// The share of the weight of the rows that is accepted, if they have weights. The selective
        /// risk is then weighted, too.
        #[serde(default)]
        weighted_coverage: Option<f64>,
    },
    /// The smallest coverage of some rows that was no lower than requested. No guarantee.
    Coverage {
        /// The requested coverage.
        coverage: f64,
        /// The rows it was chosen on.
        rows: usize,
        /// Those above the threshold.
        accepted: usize,
        /// The share of the weight of the rows that is accepted, if they have weights.
        #[serde(default)]
        weighted_coverage: Option<f64>,
    },
    /// The lowest cost of errors and abstentions on some rows. No guarantee.
    Cost {
        /// What a loss of 1 costs on an accepted row.
        cost_error: f64,
        /// What an abstention costs.
        cost_abstain: f64,
        /// What an error is, as in [`crate::artifact::Tuning::loss`].
        loss: String,
        /// The rows it was chosen on.
        rows: usize,
        /// Those above the threshold.
        accepted: usize,
        /// The selective risk among them; none if there are none.
        selective_risk: Option<f64>,
        /// The share of the weight of the rows that is accepted, if they have weights. The selective
        /// risk is then weighted, too.
        #[serde(default)]
        weighted_coverage: Option<f64>,
    },
    /// A number that the user gives. The braces make serde refuse unknown fields here, too.
    Given {},
}

impl Threshold {
    /// What every certificate takes for granted.
    pub const ASSUMPTIONS: &'static str = "the rows it rests on were drawn independently from the \
        population it is used on, and did not serve to tune the estimator";

    /// A number that the user gives.
    pub fn given(at: f64) -> Self {
        Threshold { at, basis: Basis::Given {} }
    }

    /// A certified threshold.
    pub fn certified(certificate: Certificate, loss: String, data: Option<String>) -> Self {
        let assumptions = Self::ASSUMPTIONS.to_string();
        let at = certificate.threshold;
        Threshold { at, basis: Basis::Certified { certificate, loss, assumptions, data } }
    }

    /// What a certificate of a stream takes for granted.
    pub const ASSUMPTIONS_OF_A_STREAM: &'static str = "since the tests started, rows were drawn independently \
        from the population it is used on, and which of them have a label depends neither on their \
        confidence nor on whether their answers are right, other than by the stated propensities";

    /// A threshold that was certified while labels arrived.
    pub fn anytime(certificate: AnytimeCertificate, loss: String) -> Self {
        let assumptions = Self::ASSUMPTIONS_OF_A_STREAM.to_string();
        let at = certificate.threshold;
        Threshold { at, basis: Basis::Anytime { certificate, loss, assumptions } }
    }

    /// Whether it accepts rows of this confidence. NaN is never accepted.
    #[inline]
    pub fn accepts(&self, confidence: f64) -> bool {
        reaches(confidence, self.at)
    }

    /// The same for confidences that are not rounded, such as those of a graph of operators: the least
    /// number that rounding brings to the threshold.
    pub fn at_unrounded(&self) -> f64 {
        if self.at.is_infinite() { self.at } else { least_resolved(self.at) }
    }

    /// What an error costs, if that decided it.
    pub fn loss(&self) -> Option<&str> {
        match &self.basis {
            Basis::Certified { loss, .. }
            | Basis::Anytime { loss, .. }
            | Basis::Risk { loss, .. }
            | Basis::Cost { loss, .. } => Some(loss),
            Basis::Coverage { .. } | Basis::Given {} => None,
        }
    }

    /// The rows that it was found on, and how many of them it accepts.
    fn counts(&self) -> Option<(u64, u64)> {
        match &self.basis {
            Basis::Certified { certificate, .. } => {
                Some((certificate.rows as u64, certificate.accepted as u64))
            }
            Basis::Anytime { certificate, .. } => Some((certificate.rows, certificate.accepted)),
            Basis::Risk { rows, accepted, .. }
            | Basis::Coverage { rows, accepted, .. }
            | Basis::Cost { rows, accepted, .. } => Some((*rows as u64, *accepted as u64)),
            Basis::Given {} => None,
        }
    }

    /// The rows that it was found on.
    pub fn rows(&self) -> Option<u64> {
        self.counts().map(|(rows, _)| rows)
    }

    /// The share of the weight of the rows that is accepted, if they have weights.
    pub fn weighted_coverage(&self) -> Option<f64> {
        match self.basis {
            Basis::Risk { weighted_coverage, .. }
            | Basis::Coverage { weighted_coverage, .. }
            | Basis::Cost { weighted_coverage, .. } => weighted_coverage,
            Basis::Certified { .. } | Basis::Anytime { .. } | Basis::Given {} => None,
        }
    }

    /// The share that it accepts of the rows it was found on, by their weights if they have some.
    pub fn coverage(&self) -> Option<f64> {
        let share = |(rows, accepted)| (rows > 0).then(|| accepted as f64 / rows as f64);
        self.weighted_coverage().or_else(|| self.counts().and_then(share))
    }

    /// The largest risk among accepted rows that it was chosen for.
    pub fn target_risk(&self) -> Option<f64> {
        match &self.basis {
            Basis::Certified { certificate, .. } => Some(certificate.risk),
            Basis::Anytime { certificate, .. } => Some(certificate.risk),
            Basis::Risk { risk, .. } => Some(*risk),
            Basis::Coverage { .. } | Basis::Cost { .. } | Basis::Given {} => None,
        }
    }

    /// The certificate, if it was certified on rows that were fixed beforehand.
    pub fn certificate(&self) -> Option<&Certificate> {
        match &self.basis {
            Basis::Certified { certificate, .. } => Some(certificate),
            _ => None,
        }
    }

    /// How many estimators were compared on the rows that it was found on.
    pub fn tried(&self) -> usize {
        self.certificate().map_or(1, |certificate| certificate.tried)
    }

    /// Checks what its numbers say of each other.
    pub(crate) fn check(&self) -> Result<(), String> {
        let at = self.at;
        let same = |certified: f64| {
            if at == certified {
                return Ok(());
            }
            Err(format!("the threshold {at} is not the certificate's {certified}"))
        };
        if at.is_nan() {
            return Err("the threshold is NaN".into());
        }
        if let Some(share) = self.weighted_coverage().filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(format!("the threshold accepts {share} of the weight"));
        }
        match &self.basis {
            Basis::Certified { certificate, .. } => {
                same(certificate.threshold)?;
                certificate.check()
            }
            Basis::Anytime { certificate, .. } => {
                same(certificate.threshold)?;
                certificate.check()
            }
            Basis::Risk { rows, accepted, .. } | Basis::Cost { rows, accepted, .. }
                if accepted > rows =>
            {
                Err(format!("the threshold accepts {accepted} of {rows} rows"))
            }
            Basis::Cost { cost_error, cost_abstain, .. }
                if !(*cost_error > 0.0 && *cost_abstain > 0.0) =>
            {
                Err(format!("costs of {cost_error} and {cost_abstain}"))
            }
            Basis::Coverage { rows, accepted, coverage, .. }
                if accepted > rows || !(0.0..=1.0).contains(coverage) =>
            {
                Err(format!("the threshold accepts {accepted} of {rows} rows for {coverage}"))
            }
            _ => Ok(()),
        }
    }
}

impl Serialize for Threshold {
    /// By hand, so that `basis` comes first and `at` second: hashes in the states of monitors depend on
    /// the order.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct At(#[serde(with = "extended")] f64);
        let mut map = serializer.serialize_map(None)?;
        macro_rules! entries {
            ($basis:literal $(, $field:ident)*) => {{
                map.serialize_entry("basis", $basis)?;
                map.serialize_entry("at", &At(self.at))?;
                $(map.serialize_entry(stringify!($field), $field)?;)*
            }};
        }
        match &self.basis {
            Basis::Certified { certificate, loss, assumptions, data } => {
                entries!("certified", certificate, loss, assumptions, data);
            }
            Basis::Anytime { certificate, loss, assumptions } => {
                entries!("anytime", certificate, loss, assumptions);
            }
            Basis::Risk { risk, loss, rows, accepted, selective_risk, weighted_coverage: _ } => {
                entries!("risk", risk, loss, rows, accepted, selective_risk);
            }
            Basis::Coverage { coverage, rows, accepted, weighted_coverage: _ } => {
                entries!("coverage", coverage, rows, accepted);
            }
            Basis::Cost {
                cost_error,
                cost_abstain,
                loss,
                rows,
                accepted,
                selective_risk,
                weighted_coverage: _,
            } => {
                entries!("cost", cost_error, cost_abstain, loss, rows, accepted, selective_risk);
            }
            Basis::Given {} => entries!("given"),
        }
        if let Some(share) = self.weighted_coverage() {
            map.serialize_entry("weighted_coverage", &share)?;
        }
        map.end()
    }
}
