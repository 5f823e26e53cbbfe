//! The use case *threshold*: a threshold without a guarantee.

use crate::error::LabError;
use crate::rows::{Select, Wanted, collect};
use crate::target::Target;
use crate::tune::AtTarget;
use abstain::{
    Artifact, Basis, Count, Encoding, Error, Knot, Losses, RcCurve, RowSource, Threshold,
};

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
    artifact.rule = Some(threshold.into());
    learn(&mut artifact, classes, encoding);
    Ok(artifact)
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

    /// The threshold of the lowest cost on a curve; of equal costs, that of the fewest answers.
    pub(crate) fn threshold(&self, curve: &RcCurve, loss: String) -> Result<Threshold, LabError> {
        let knot = self.cheapest(curve, |rows| rows as f64)?;
        let accepted = knot.map_or(0, |knot| knot.accepted);
        Ok(self.at_knot(knot, curve.rows(), accepted, loss, None))
    }

    /// The knot of the lowest cost on a curve; none if it is best to accept nothing.
    pub(crate) fn cheapest<C: Count>(
        &self,
        curve: &RcCurve<C>,
        number: fn(C) -> f64,
    ) -> Result<Option<Knot<C>>, LabError> {
        self.check()?;
        let rows = number(curve.rows());
        let cost =
            |accepted: f64, loss: f64| self.error * loss + self.abstention * (rows - accepted);
        let (mut least, mut cheapest) = (cost(0.0, 0.0), None);
        for knot in curve.knots() {
            let found = cost(number(knot.accepted), knot.loss);
            if found < least {
                (least, cheapest) = (found, Some(knot));
            }
        }
        Ok(cheapest)
    }

    /// The threshold at a knot that accepts so many rows.
    pub(crate) fn at_knot<C: Count>(
        &self,
        knot: Option<Knot<C>>,
        rows: usize,
        accepted: usize,
        loss: String,
        weighted_coverage: Option<f64>,
    ) -> Threshold {
        let at = knot.as_ref().map_or(f64::INFINITY, |knot| knot.threshold);
        let basis = Basis::Cost {
            cost_error: self.error,
            cost_abstain: self.abstention,
            loss,
            rows,
            accepted,
            selective_risk: knot.map(|knot| knot.selective_risk()),
            weighted_coverage,
        };
        Threshold { at, basis }
    }
}

/// The artifact with the threshold at which errors and abstentions cost least on labelled rows.
pub fn minimise_cost<S: RowSource>(
    artifact: &Artifact,
    costs: &Costs,
    source: &mut S,
) -> Result<Artifact, LabError>
where
    LabError: From<S::Error>,
{
    costs.check()?;
    check_classes(artifact, source.classes())?;
    let estimators = [artifact.estimator.clone()];
    let confidences = Some((&estimators[..], Select::All));
    let collected = collect(source, &Wanted { confidences, ..Wanted::default() })?;
    let (columns, losses) = collected.into_confidences()?;
    let curve = RcCurve::new(&columns[0], &losses)?;
    let mut artifact = artifact.clone();
    artifact.rule = Some(costs.threshold(&curve, source.loss().to_string())?.into());
    learn(&mut artifact, source.classes(), source.encoding());
    Ok(artifact)
}

/// The threshold that accepts a share of some rows, or a little more where confidences tie.
pub(crate) fn coverage_threshold(
    confidences: &[f64],
    coverage: f64,
) -> Result<Threshold, LabError> {
    check_coverage(coverage)?;
    let rows = confidences.len();
    // Coverage does not depend on the losses.
    let curve = RcCurve::new(confidences, &Losses::new(vec![0.0; rows])?)?;
    let knot = curve.narrowest_covering(coverage);
    let (at, accepted) = (knot.threshold, knot.accepted);
    let basis = Basis::Coverage { coverage, rows, accepted, weighted_coverage: None };
    Ok(Threshold { at, basis })
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

/// A threshold that met a target on some rows, without a guarantee.
pub(crate) fn target_threshold(
    target: Target,
    found: AtTarget,
    rows: usize,
    loss: String,
) -> Threshold {
    let AtTarget { threshold: at, accepted, selective_risk } = found;
    let (risk, weighted_coverage) = (target.risk(), None);
    let basis = Basis::Risk { risk, loss, rows, accepted, selective_risk, weighted_coverage };
    Threshold { at, basis }
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
            let curve = RcCurve::new(&confidences, &Losses::new(losses.clone()).expect("losses"));
            let found = costs.threshold(&curve.expect("a curve"), "per-row".into());
            let Ok(Threshold { at, basis: Basis::Cost { accepted, selective_risk, .. } }) = found
            else {
                panic!("{found:?}")
            };
            let all = confidences.iter().copied().chain([f64::INFINITY]);
            let least = all
                .clone()
                .map(|at| cost_of(at, &confidences, &losses, costs))
                .fold(f64::INFINITY, f64::min);
            assert_eq!(cost_of(at, &confidences, &losses, costs), least);
            // The fewest answers at that cost.
            let highest = all
                .filter(|&at| cost_of(at, &confidences, &losses, costs) == least)
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
