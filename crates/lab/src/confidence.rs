//! Use cases of a bare confidence: one number for each row that was computed elsewhere, and what each
//! prediction cost. There are no logits, so there is nothing to tune.

use crate::certify::CertifyRequest;
use crate::error::LabError;
use crate::threshold::{Costs, coverage_threshold};
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
