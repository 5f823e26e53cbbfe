//! The use case *certify*: a threshold with a guarantee, on rows that did not tune the estimator.

use crate::breakdown::{Breakdown, BrokenDownBy};
use crate::error::{LabError, Refusal};
use crate::known::Seen;
use crate::rows::{Select, Wanted, collect};
use crate::target::{AT_LEAST_1, Target, check_delta};
use crate::threshold::{check_classes, learn, target_threshold};
use crate::tune::AtTarget;
use crate::warning::{self, Warning};
use abstain::certify::{Certificate, Certifier, Infeasible, Pilot, Procedure};
use abstain::monitor::Reference;
use abstain::{Artifact, Error, Losses, RcCurve, RowSource, Threshold, Undefined};
use serde::Serialize;

/// The probability with which a certificate may fail, if no other is requested.
pub const DEFAULT_DELTA: f64 = 0.05;

/// A threshold that meets a target, with a guarantee or without.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CertifyRequest {
    /// What the accepted rows must meet.
    pub target: Target,
    /// The probability with which the guarantee may fail; without it there is none.
    pub delta: Option<f64>,
    /// How to certify.
    pub procedure: Procedure,
    /// How many estimators were compared on the certifying rows, this one included.
    pub tried: usize,
    /// Of rows with weights, the largest weight that any row of the population can have: rows of equal
    /// weight are sampled by it.
    pub max_weight: Option<f64>,
    /// The seed of that sample. Like the target, it must be chosen before the rows are looked at.
    pub seed: u64,
}

/// Rows of equal weight, sampled from rows with weights: each is kept with the probability of its weight
/// over the largest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sampled {
    /// The rows with weights.
    pub rows: usize,
    /// Those that were kept.
    pub kept: usize,
    /// The largest weight of the population.
    pub max_weight: f64,
    /// The seed.
    pub seed: u64,
}

/// An artifact with its certified threshold.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CertifyResult {
    /// The artifact.
    pub artifact: Artifact,
    /// How many estimators share δ: more than requested if the artifact shows that more were compared.
    pub tried: usize,
    /// What looks wrong with the rows.
    pub warnings: Vec<Warning>,
    /// What the threshold accepts in each predicted class and group.
    pub breakdown: Option<Breakdown>,
    /// The rows that certify, where those that were given have weights.
    pub sampled: Option<Sampled>,
}

impl CertifyRequest {
    /// A target without a guarantee.
    pub fn uncertified(target: Target) -> Self {
        let procedure = Procedure::default();
        CertifyRequest { target, delta: None, procedure, tried: 1, max_weight: None, seed: 0 }
    }

    /// Checks everything that does not depend on rows.
    pub fn check(&self) -> Result<(), LabError> {
        self.target.check()?;
        if self.tried == 0 {
            return Err(Error::Parameter { name: "tried", value: 0.0, wanted: AT_LEAST_1 }.into());
        }
        if self.max_weight.is_some() && self.delta.is_none() {
            return Err(LabError::MaxWeightNotUsed);
        }
        if let Some(delta) = self.delta {
            check_delta(delta)?;
            // Only losses of 0 and 1 can be certified.
            let (name, value) = ("risk", self.target.risk());
            if !(value > 0.0 && value < 1.0) {
                let wanted = "a number between 0 and 1, both excluded";
                return Err(Error::Parameter { name, value, wanted }.into());
            }
        }
        Ok(())
    }

    /// The threshold on rows on which that many estimators were compared.
    pub(crate) fn threshold(
        &self,
        curve: &RcCurve,
        compared: usize,
        loss: String,
        fingerprint: Option<String>,
        pilot: Option<&Pilot>,
    ) -> Result<Threshold, LabError> {
        let Some(delta) = self.delta else {
            let found = AtTarget::new(self.target, curve).ok_or(Refusal::TargetNotReached)?;
            return Ok(target_threshold(self.target, found, curve.rows(), loss));
        };
        let tried = self.tried.max(compared);
        let certifier = Certifier {
            procedure: self.procedure,
            tried,
            pilot: pilot.cloned(),
            ..self.target.certifier(delta)
        };
        let certified = certify_curve(&certifier, curve)?;
        let certificate = certified.map_err(Refusal::NotCertified)?;
        Ok(Threshold::certified(certificate, loss, fingerprint))
    }
}

/// What the rows of a certified threshold look like; nothing of others, which may have tuned.
pub(crate) fn reference_of(
    artifact: &Artifact,
    confidences: &[f64],
    losses: &Losses,
    predictions: Option<&[usize]>,
) -> Result<Option<Reference>, Error> {
    let certificate = artifact.threshold().and_then(Threshold::certificate);
    let reference = |certificate: &Certificate| {
        Reference::new(confidences, losses.values(), predictions, certificate.threshold, 0)
    };
    certificate.map(reference).transpose()
}

/// Certifies a threshold on a curve, or says what is missing.
pub(crate) fn certify_curve(
    certifier: &Certifier,
    curve: &RcCurve,
) -> Result<Result<Certificate, Infeasible>, LabError> {
    certifier.certify(curve).map_err(|error| match error {
        Error::Undefined(Undefined::LossNotZeroOne) => LabError::GradedLoss,
        other => other.into(),
    })
}

/// The artifact with a threshold that meets a target on labelled rows, with a guarantee if one is
/// requested. Rows that tuned the estimator guarantee nothing and are refused.
pub fn certify<S: RowSource>(
    artifact: &Artifact,
    request: &CertifyRequest,
    source: &mut S,
) -> Result<CertifyResult, LabError>
where
    LabError: From<S::Error>,
{
    request.check()?;
    if request.max_weight.is_some() {
        return Err(LabError::MaxWeightNotUsed);
    }
    check_classes(artifact, source.classes())?;
    let estimators = [artifact.estimator.clone()];
    let confidences = Some((&estimators[..], Select::All));
    let wanted = Wanted { confidences, predictions: true, fingerprint: true, ..Wanted::default() };
    let mut collected = collect(source, &wanted)?;
    let tuned = artifact.tuning.as_ref().and_then(|tuning| tuning.sketch.as_ref());
    let compared = match Seen::by(artifact, &collected) {
        // Without a guarantee there is nothing that the rows could break.
        _ if request.delta.is_none() => 1,
        None if warning::are_tuning_rows(tuned, &collected.sketch) => {
            return Err(LabError::CertifyingRowsShared);
        }
        None => 1,
        Some(Seen::Compared) => 2,
        Some(Seen::Tuned) => return Err(LabError::CertifyingRowsTuned),
    };
    let (classes, encoding) = (source.classes(), source.encoding());
    let mut warnings =
        warning::of_rows(&collected, source.labels(), classes, encoding, Some(artifact));
    let predictions = std::mem::take(&mut collected.predictions);
    let fingerprint = collected.fingerprint.take();
    if request.delta.is_some() {
        warnings.extend(warning::of_certificate(artifact, fingerprint.as_ref()));
    }
    let (columns, losses) = collected.into_confidences()?;
    warnings.extend(warning::of_confidences(&columns[0]));
    let curve = RcCurve::new(&columns[0], &losses)?;
    let loss = source.loss().to_string();
    let mut artifact = artifact.clone();
    // Rows that tuned the estimator are none of those that certify it: they may say where to look.
    let pilot = artifact.tuning.as_ref().and_then(|tuning| tuning.pilot.as_ref());
    let threshold = request.threshold(&curve, compared, loss, fingerprint, pilot)?;
    artifact.rule = Some(threshold.into());
    learn(&mut artifact, classes, encoding);
    if artifact.class_names.is_none() {
        artifact.class_names = source.class_names().map(<[String]>::to_vec);
    }
    let by = BrokenDownBy {
        predictions: Some(&predictions),
        class_names: artifact.class_names.as_deref(),
        groups: source.groups(),
        weights: None,
    };
    let breakdown = Breakdown::new(&columns[0], &losses, artifact.rule.as_ref(), by);
    artifact.reference = reference_of(&artifact, &columns[0], &losses, Some(&predictions))?;
    let tried = request.tried.max(compared);
    Ok(CertifyResult { artifact, tried, warnings, breakdown, sampled: None })
}
