//! The use case *threshold*: a threshold without a guarantee.

use crate::error::LabError;
use crate::target::Target;
use crate::tune::AtTarget;
use abstain::{Artifact, Encoding, Error, Losses, RcCurve, Threshold};

/// A threshold that needs no rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GivenThreshold {
    /// A confidence, on the rank scale.
    Confidence(f64),
    /// A value of the paper's formula, such as a probability.
    Value(f64),
}

/// The artifact with a threshold that is given as a number.
pub fn set_threshold(artifact: &Artifact, given: GivenThreshold) -> Result<Artifact, LabError> {
    let at = match given {
        GivenThreshold::Confidence(at) => at,
        GivenThreshold::Value(value) => confidence_of(artifact, value)?,
    };
    if at.is_nan() {
        return Err(Error::Parameter { name: "threshold", value: at, wanted: "a number" }.into());
    }
    let mut artifact = artifact.clone();
    artifact.threshold = Some(Threshold::Given { at });
    Ok(artifact)
}

/// The confidence whose value this is.
fn confidence_of(artifact: &Artifact, value: f64) -> Result<f64, LabError> {
    let estimator = &artifact.estimator;
    // The log-odds of a probability of being right do not depend on the number of classes.
    let known = artifact.classes.or(estimator.is_probability().then_some(2));
    let at = estimator.confidence_of(value, known.ok_or(LabError::ClassesUnknown)?);
    if at.is_finite() {
        return Ok(at);
    }
    let wanted = "one that a row can have";
    Err(Error::Parameter { name: "value", value, wanted }.into())
}

/// The artifact with the threshold that accepts a share of some rows, or a little more where
/// confidences tie. It needs no labels.
pub fn cover(
    artifact: &Artifact,
    coverage: f64,
    confidences: &[f64],
    classes: usize,
    encoding: Encoding,
) -> Result<Artifact, LabError> {
    check_classes(artifact, classes)?;
    let threshold = coverage_threshold(confidences, coverage)?;
    let mut artifact = artifact.clone();
    artifact.threshold = Some(threshold);
    learn(&mut artifact, classes, encoding);
    Ok(artifact)
}

/// The threshold that accepts a share of some rows, or a little more where confidences tie.
pub(crate) fn coverage_threshold(
    confidences: &[f64],
    coverage: f64,
) -> Result<Threshold, LabError> {
    if !(coverage > 0.0 && coverage <= 1.0) {
        let (name, wanted) = ("coverage", "above 0 and at most 1");
        return Err(Error::Parameter { name, value: coverage, wanted }.into());
    }
    let rows = confidences.len();
    // Coverage does not depend on the losses.
    let curve = RcCurve::new(confidences, &Losses::new(vec![0.0; rows])?)?;
    let knot = curve.narrowest_covering(coverage);
    let (at, accepted) = (knot.threshold, knot.accepted);
    Ok(Threshold::Coverage { at, coverage, rows, accepted })
}

/// A threshold that met a target on some rows, without a guarantee.
pub(crate) fn target_threshold(
    target: Target,
    found: AtTarget,
    rows: usize,
    loss: String,
) -> Threshold {
    let AtTarget { threshold: at, accepted, selective_risk } = found;
    Threshold::Risk { at, risk: target.risk(), loss, rows, accepted, selective_risk }
}

/// Refuses rows of another number of classes than the artifact's.
pub fn check_classes(artifact: &Artifact, classes: usize) -> Result<(), LabError> {
    match artifact.classes {
        Some(expected) if expected != classes => {
            Err(LabError::OtherClasses { found: classes, expected })
        }
        _ => Ok(()),
    }
}

/// Refuses rows without the extra column that an estimator needs, and one that it has no term for.
pub fn check_extra(artifact: &Artifact, given: bool) -> Result<(), LabError> {
    match (artifact.estimator.needs_extra(), given) {
        (true, false) => Err(abstain::Error::ExtraMissing.into()),
        (false, true) => Err(LabError::ExtraNotUsed),
        _ => Ok(()),
    }
}

/// Records in a bare estimator what its rows are.
pub(crate) fn learn(artifact: &mut Artifact, classes: usize, encoding: Encoding) {
    (artifact.classes, artifact.input) = (Some(classes), encoding);
}
