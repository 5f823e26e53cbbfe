//! Use cases of a bare confidence: one number for each row that was computed elsewhere, and what each
//! prediction cost. There are no logits, so there is nothing to tune.

use crate::breakdown::{Breakdown, BrokenDownBy};
use crate::certify::{CertifyRequest, CertifyResult};
use crate::error::LabError;
use crate::evaluate::BareRows;
use crate::threshold::{Costs, coverage_threshold};
use crate::warning;
use abstain::{Artifact, Encoding, Estimator, Losses, RcCurve, Threshold};

/// The artifact of a bare confidence, without a threshold.
pub fn confidence_artifact() -> Artifact {
    let mut artifact = Artifact::new(Estimator::Extra);
    artifact.input = Encoding::Confidence;
    artifact
}

/// A threshold on a bare confidence that meets a target, with a guarantee if one is requested. `data` is
/// the fingerprint of the rows, where there is one.
pub fn certify_confidences(
    confidences: &[f64],
    losses: &Losses,
    request: &CertifyRequest,
    data: Option<String>,
) -> Result<Threshold, LabError> {
    request.check()?;
    let curve = RcCurve::new(confidences, losses)?;
    request.threshold(&curve, 1, losses.text().into(), data, None)
}

/// A threshold on a bare confidence that accepts a share of some rows.
pub fn cover_confidences(confidences: &[f64], coverage: f64) -> Result<Threshold, LabError> {
    coverage_threshold(confidences, coverage)
}

/// A threshold on a bare confidence at which errors and abstentions cost least on some rows.
pub fn minimise_cost_of_confidences(
    confidences: &[f64],
    losses: &Losses,
    costs: &Costs,
) -> Result<Threshold, LabError> {
    costs.threshold(&RcCurve::new(confidences, losses)?, losses.text().into())
}

/// The artifact of a bare confidence with a threshold that meets a target on some rows.
pub fn certify_bare(
    artifact: &Artifact,
    request: &CertifyRequest,
    rows: &BareRows,
) -> Result<CertifyResult, LabError> {
    let confidences = &rows.contender.confidences;
    let threshold = certify_confidences(confidences, &rows.losses, request, None)?;
    let by = BrokenDownBy {
        predictions: rows.answers.as_ref().map(|answers| &answers.predictions[..]),
        class_names: rows.class_names.as_deref(),
        groups: rows.groups.as_deref(),
    };
    let breakdown = Breakdown::new(confidences, &rows.losses, Some(threshold.at()), by);
    let warnings = warning::of_confidences(confidences).into_iter().collect();
    let mut artifact = artifact.clone();
    artifact.threshold = Some(threshold);
    Ok(CertifyResult { artifact, tried: request.tried, warnings, breakdown })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;

    #[test]
    fn certificates_of_bare_confidences_are_those_of_curves() {
        let confidences: Vec<f64> = (0..500).map(|i| f64::from(i * 7919 % 500)).collect();
        let wrong = |c: &f64| if *c < 50.0 { 1.0 } else { 0.0 };
        let losses = Losses::new(confidences.iter().map(wrong).collect()).expect("losses");
        let request = CertifyRequest {
            delta: Some(0.05),
            ..CertifyRequest::uncertified(Target::Accuracy(0.95))
        };
        let found = certify_confidences(&confidences, &losses, &request, None).expect("certified");
        let Threshold::Certified { certificate, loss, .. } = found else { panic!("{found:?}") };
        assert_eq!((certificate.rows, &loss[..]), (500, "zero-one"));
        assert!(certificate.accepted > 400 && certificate.check().is_ok());
        let covered = cover_confidences(&confidences, 0.5).expect("covered");
        assert!(matches!(covered, Threshold::Coverage { accepted: 250, .. }));
        assert!(cover_confidences(&[], 0.5).is_err());
    }
}
