//! The use case *threshold*: a threshold without a guarantee.

use crate::breakdown::Breakdown;
use crate::certify::Sampled;
use crate::copies::CountedOnce;
use crate::error::{LabError, Refusal};
use crate::measured::{MeasuredRows, Rows};
use crate::target::Target;
use crate::warning::{Warning, unlabelled_warnings};
use abstain::{
    Artifact, Encoding, Error, Estimator, Losses, RcCurve, Threshold, Weights,
    curve::{Count, Knot},
    threshold::Basis,
};
use abstain_io::Reading;
use serde::Serialize;
use std::borrow::Cow;

/// A threshold that was found on some rows, and what is known of these.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FoundThreshold {
    /// The artifact with the threshold.
    pub artifact: Artifact,
    /// How the rows were read, if they are from a file of logits.
    pub input: Option<Reading>,
    /// What looks wrong with them.
    pub warnings: Vec<Warning>,
    /// What is accepted in each predicted class and group.
    pub breakdown: Option<Breakdown>,
    /// The rows that certify, where those that were given have weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
    /// The rows that certify, where some of those that were given belong together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<CountedOnce>,
    /// How many estimators share the δ of a certificate: more than requested if the artifact shows that more
    /// were compared.
    #[serde(skip)]
    pub tried: usize,
}

impl FoundThreshold {
    /// A threshold of which nothing else is known, such as one that needs no rows.
    pub fn new(artifact: Artifact) -> Self {
        FoundThreshold {
            artifact,
            input: None,
            warnings: Vec::new(),
            breakdown: None,
            sampled: None,
            counted: None,
            tried: 1,
        }
    }

    /// The same with how the rows were read.
    #[must_use]
    pub fn with_input(self, input: Reading) -> Self {
        FoundThreshold { input: Some(input), ..self }
    }
}

/// The artifact of a bare confidence, without a threshold.
pub fn confidence_artifact() -> Artifact {
    let mut artifact = Artifact::new(Estimator::Extra);
    artifact.input = Encoding::Confidence;
    artifact
}

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
    artifact.rule = Some(Threshold::given(at).into());
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

/// What an error costs, and what an abstention does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// What a loss of 1 costs on an accepted row.
    pub error: f64,
    /// What an abstention costs.
    pub abstention: f64,
}

impl Costs {
    /// Both are positive, or nothing would be left to weigh.
    pub fn check(&self) -> Result<(), LabError> {
        for (name, value) in [("cost_error", self.error), ("cost_abstain", self.abstention)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::Parameter { name, value, wanted: "a number above 0" }.into());
            }
        }
        Ok(())
    }
}

/// Confidences of rows, and what the predictions cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged<'a> {
    pub(crate) confidences: &'a [f64],
    pub(crate) losses: &'a Losses,
    pub(crate) weights: Option<&'a Weights>,
    /// The text of the loss.
    pub(crate) loss: &'a str,
}

/// How a threshold without a guarantee is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Chosen {
    /// It accepts a share of the rows, or a little more where confidences tie.
    Coverage(f64),
    /// It accepts the most rows that meet a target.
    Target(Target),
    /// Errors and abstentions cost least.
    Costs(Costs),
}

impl Chosen {
    fn check(self) -> Result<(), LabError> {
        match self {
            Chosen::Coverage(coverage) => Ok(check_coverage(coverage)?),
            Chosen::Target(target) => Ok(target.check()?),
            Chosen::Costs(costs) => costs.check(),
        }
    }

    fn knot<C: Count>(self, curve: &RcCurve<C>) -> Option<Knot<C>> {
        match self {
            Chosen::Coverage(coverage) => Some(curve.narrowest_covering(coverage)),
            Chosen::Target(target) => target.widest(curve),
            Chosen::Costs(Costs { error, abstention }) => curve.cheapest(error, abstention),
        }
    }

    /// The threshold on some rows, which may have weights.
    pub(crate) fn on(self, rows: Judged<'_>) -> Result<Threshold, LabError> {
        self.check()?;
        let Judged { confidences, losses, weights, loss } = rows;
        // Where a knot is, its selective risk, the rows it accepts, and their share by weight.
        let (knot, accepted, weighted_coverage) = match weights {
            None => {
                let knot = self.knot(&RcCurve::new(confidences, losses)?);
                let place = knot.map(|knot| (knot.threshold, knot.selective_risk()));
                (place, knot.map_or(0, |knot| knot.accepted), None)
            }
            Some(weights) => {
                let curve = RcCurve::weighted(confidences, losses, weights)?;
                let knot = self.knot(&curve);
                let place = knot.map(|knot| (knot.threshold, knot.selective_risk()));
                let share = knot.map_or(0.0, |knot| knot.accepted / curve.rows());
                let accepted = place.map_or(0, |(at, _)| accepted_by(at, confidences));
                (place, accepted, Some(share))
            }
        };
        let (loss, rows) = (loss.to_string(), confidences.len());
        let basis = match (self, knot) {
            (Chosen::Coverage(coverage), _) => {
                Basis::Coverage { coverage, rows, accepted, weighted_coverage }
            }
            (Chosen::Target(target), Some((_, selective_risk))) => {
                let risk = target.risk();
                Basis::Risk { risk, loss, rows, accepted, selective_risk, weighted_coverage }
            }
            (Chosen::Target(_), None) => return Err(Refusal::TargetNotReached.into()),
            (Chosen::Costs(costs), _) => Basis::Cost {
                cost_error: costs.error,
                cost_abstain: costs.abstention,
                loss,
                rows,
                accepted,
                selective_risk: knot.map(|(_, selective_risk)| selective_risk),
                weighted_coverage,
            },
        };
        Ok(Threshold { at: knot.map_or(f64::INFINITY, |(at, _)| at), basis })
    }
}

/// The artifact with the threshold that accepts a share of some rows, or a little more where confidences
/// tie. It needs no labels.
pub fn cover<'a>(
    artifact: &Artifact,
    coverage: f64,
    rows: impl Into<Rows<'a>>,
) -> Result<FoundThreshold, LabError> {
    find(artifact, Chosen::Coverage(coverage), rows.into())
}

/// The artifact with the threshold at which errors and abstentions cost least on labelled rows.
pub fn minimise_cost<'a>(
    artifact: &Artifact,
    costs: &Costs,
    rows: impl Into<Rows<'a>>,
) -> Result<FoundThreshold, LabError> {
    find(artifact, Chosen::Costs(*costs), rows.into())
}

fn find(artifact: &Artifact, chosen: Chosen, rows: Rows<'_>) -> Result<FoundThreshold, LabError> {
    chosen.check()?;
    if !matches!(chosen, Chosen::Coverage(_)) {
        rows.check_labels()?;
    }
    rows.check_classes(artifact)?;
    let rows = rows.measure(Some(artifact), std::slice::from_ref(&artifact.estimator), false)?;
    let losses = match (chosen, &rows.losses) {
        // Coverage does not depend on the losses.
        (Chosen::Coverage(_), None) => {
            Cow::Owned(Losses::new(vec![0.0; rows.confidences().len()])?)
        }
        _ => Cow::Borrowed(rows.losses()?),
    };
    let mut found = FoundThreshold::new(artifact.clone());
    found.artifact.rule = Some(chosen.on(rows.judged(&losses))?.into());
    if let (Chosen::Coverage(_), Some(logits)) = (chosen, &rows.logits) {
        let confidences = rows.confidences();
        found.warnings = unlabelled_warnings(artifact, logits.encoding, &logits.facts, confidences);
    }
    learn(&mut found.artifact, &rows);
    Ok(found)
}

/// How many rows a threshold accepts.
pub(crate) fn accepted_by(at: f64, confidences: &[f64]) -> usize {
    let threshold = Threshold::given(at);
    confidences.iter().filter(|confidence| threshold.accepts(**confidence)).count()
}

pub(crate) fn check_coverage(coverage: f64) -> Result<(), Error> {
    if coverage > 0.0 && coverage <= 1.0 {
        return Ok(());
    }
    let (name, wanted) = ("coverage", "above 0 and at most 1");
    Err(Error::Parameter { name, value: coverage, wanted })
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
pub(crate) fn learn(artifact: &mut Artifact, rows: &MeasuredRows) {
    if let Some(logits) = &rows.logits {
        (artifact.classes, artifact.input) = (Some(logits.classes), logits.encoding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost of accepting what is at or above a threshold, row by row.
    fn cost_of(at: f64, confidences: &[f64], losses: &[f64], costs: Costs) -> f64 {
        let rows = confidences.iter().zip(losses);
        rows.map(|(c, loss)| if *c >= at { costs.error * loss } else { costs.abstention }).sum()
    }

    #[test]
    fn the_cost_of_a_threshold_is_the_lowest_of_all() {
        let mut seed = 1_u32;
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from((seed >> 8) % below)
        };
        for case in 0..200 {
            let rows = 1 + case % 30;
            // Few values, so that confidences tie; losses in halves, so that sums are exact.
            let confidences: Vec<f64> = (0..rows).map(|_| next(12)).collect();
            let losses: Vec<f64> = (0..rows).map(|_| next(3) / 2.0).collect();
            let costs = Costs { error: 1.0 + next(8), abstention: f64::midpoint(1.0, next(8)) };
            let of_rows = Losses::new(losses.clone()).expect("losses");
            let (confidences, loss) = (&confidences[..], "per-row");
            let judged = Judged { confidences, losses: &of_rows, weights: None, loss };
            let found = Chosen::Costs(costs).on(judged);
            let Ok(Threshold { at, basis: Basis::Cost { accepted, selective_risk, .. } }) = found
            else {
                panic!("{found:?}")
            };
            let all = confidences.iter().copied().chain([f64::INFINITY]);
            let least = all
                .clone()
                .map(|at| cost_of(at, confidences, &losses, costs))
                .fold(f64::INFINITY, f64::min);
            assert_eq!(cost_of(at, confidences, &losses, costs), least);
            // The fewest answers at that cost.
            let highest = all
                .filter(|&at| cost_of(at, confidences, &losses, costs) == least)
                .fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(at, highest);
            assert_eq!(accepted, confidences.iter().filter(|c| **c >= at).count());
            // Where the cost is lowest, an answer costs no more than an abstention on average.
            assert!(selective_risk.unwrap_or(0.0) <= costs.abstention / costs.error);
        }
    }

    #[test]
    fn costs_that_weigh_nothing_are_refused() {
        for (error, abstention) in [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (1.0, f64::NAN)] {
            assert!(Costs { error, abstention }.check().is_err(), "{error} {abstention}");
        }
    }
}
