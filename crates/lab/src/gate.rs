//! Requirements on an evaluation, for pipelines that stop where one is not met.

use crate::error::LabError;
use crate::evaluate::{AtThreshold, Contenders, SetReport};
use crate::target::Target;
use abstain::certify::upper_bound;
use abstain::{Error, Intervals, Losses, Metric, Threshold, Undefined, metric::MetricKind};
use serde::Serialize;

/// How often a limit of a check may be wrong, on each side.
const OUTSIDE: f64 = 0.05;

/// What is required of an evaluation; nothing by default.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gate {
    /// Whether the target of the artifact's threshold must not be violated.
    ///
    /// It is violated where the lower limit of the selective risk, wrong with a probability of at
    /// most 5 %, is above the target. A risk above the target alone may be chance: of thresholds that
    /// meet their target exactly, about half show one.
    pub target: bool,
    /// The least coverage at the artifact's threshold, on these rows.
    pub min_coverage: Option<f64>,
    /// The least accuracy of the accepted rows at the artifact's threshold, or of all rows without
    /// one, on these rows.
    pub min_accuracy: Option<f64>,
}

/// Whether an evaluation meets what is required.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GateVerdict {
    /// Whether every check passed.
    pub passed: bool,
    /// The checks.
    pub checks: Vec<Check>,
}

/// One requirement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Check {
    /// What is required.
    pub check: Requirement,
    /// The value on these rows; `None` if no row is accepted.
    pub value: Option<f64>,
    /// The limits of the population's value, each wrong with a probability of 5 %; none if rows have
    /// weights.
    pub limits: Option<[f64; 2]>,
    /// What the value must not be above, or below.
    pub bound: f64,
    /// Whether it passed.
    pub passed: bool,
}

/// What can be required.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Requirement {
    /// The lower limit of the selective risk is at most the target.
    TargetRisk,
    /// The coverage is large enough.
    MinCoverage,
    /// The accuracy is high enough.
    MinAccuracy,
}

impl Gate {
    /// Whether anything is required.
    pub fn is_open(&self) -> bool {
        *self == Gate::default()
    }

    fn check(&self) -> Result<(), Error> {
        let wanted = "a number above 0 and at most 1";
        for (name, value) in
            [("minimal coverage", self.min_coverage), ("minimal accuracy", self.min_accuracy)]
        {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && *value <= 1.0)) {
                return Err(Error::Parameter { name, value, wanted });
            }
        }
        Ok(())
    }

    /// Whether it can be judged, before anything is measured.
    pub(crate) fn check_possible(
        &self,
        threshold: bool,
        target: Option<Target>,
    ) -> Result<(), LabError> {
        self.check()?;
        if (self.target || self.min_coverage.is_some()) && !threshold {
            return Err(LabError::GateWithoutThreshold);
        }
        if self.target && target.is_none() {
            return Err(LabError::GateWithoutTarget);
        }
        Ok(())
    }

    /// The verdict on a report, if anything is required; `target` is that of the threshold.
    pub(crate) fn judge(
        &self,
        report: &SetReport,
        contenders: &Contenders,
        losses: &Losses,
        target: Option<Target>,
    ) -> Result<Option<GateVerdict>, LabError> {
        if self.is_open() {
            return Ok(None);
        }
        // The limits of shares are exact for rows of equal weight.
        let equal = report.weights.is_none();
        let mut checks = Vec::new();
        if self.target {
            let threshold = report.threshold.as_ref().ok_or(LabError::GateWithoutThreshold)?;
            let target = target.ok_or(LabError::GateWithoutTarget)?;
            checks.push(target_check(threshold, contenders, losses, target)?);
        }
        if let Some(bound) = self.min_coverage {
            let threshold = report.threshold.as_ref().ok_or(LabError::GateWithoutThreshold)?;
            let limits = equal.then(|| limits(threshold.accepted, report.rows));
            let value = threshold.coverage;
            checks.push(at_least(Requirement::MinCoverage, Some(value), limits, bound));
        }
        if let Some(bound) = self.min_accuracy {
            if !report.zero_one {
                return Err(Error::from(Undefined::LossNotZeroOne).into());
            }
            let (value, limits) = if let Some(threshold) = &report.threshold {
                let right = threshold.risk_bounds.map(|[low, high]| [1.0 - high, 1.0 - low]);
                (threshold.selective_risk.map(|risk| 1.0 - risk), right)
            } else {
                let right = losses.values().iter().filter(|loss| **loss == 0.0).count();
                (Some(report.accuracy), equal.then(|| limits(right, report.rows)))
            };
            checks.push(at_least(Requirement::MinAccuracy, value, limits, bound));
        }
        Ok(Some(GateVerdict { passed: checks.iter().all(|check| check.passed), checks }))
    }
}

/// The exact limits of a share.
fn limits(hits: usize, rows: usize) -> [f64; 2] {
    [1.0 - upper_bound(rows - hits, rows, OUTSIDE), upper_bound(hits, rows, OUTSIDE)]
}

fn at_least(check: Requirement, value: Option<f64>, limits: Option<[f64; 2]>, bound: f64) -> Check {
    // A decimal that is met up to rounding is met.
    let passed = value.is_some_and(|value| value >= bound - 1e-12);
    Check { check, value, limits, bound, passed }
}

/// Where nothing is accepted, nothing is violated.
fn target_check(
    threshold: &AtThreshold,
    contenders: &Contenders,
    losses: &Losses,
    target: Target,
) -> Result<Check, LabError> {
    let limits = match threshold.risk_bounds {
        None if threshold.accepted > 0 => {
            let contender = contenders.all().nth(threshold.whose).ok_or(Error::NoRows)?;
            let threshold = Threshold::given(threshold.at);
            let accepted: Vec<usize> = (0..losses.values().len())
                .filter(|&row| threshold.accepts(contender.confidences[row]))
                .collect();
            // The mean loss of rows that are all accepted.
            let mean = Metric::new(MetricKind::RiskAtCoverage, &[1.0])?;
            let intervals = Intervals { level: 1.0 - 2.0 * OUTSIDE, ..Intervals::default() };
            let alike = vec![0.0; accepted.len()];
            let found = intervals.intervals(&[mean], &alike, &losses.select(&accepted))?;
            found.first().and_then(|found| found.ok()).map(|found| [found.low, found.high])
        }
        exact => exact,
    };
    let bound = target.risk();
    Ok(Check {
        check: Requirement::TargetRisk,
        value: threshold.selective_risk,
        limits,
        bound,
        passed: limits.is_none_or(|[low, _]| low <= bound),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{EvaluateRequest, evaluate};
    use crate::measured::{Contender, MeasuredRows};
    use abstain::{Artifact, Estimator, Labels, Logits, MemoryRows, threshold::Basis};

    /// Two classes; the first rows are the surest, and those named are wrong.
    fn judged(
        gate: Gate,
        rows: u32,
        wrong: &[u32],
        artifact: &Artifact,
    ) -> Result<GateVerdict, LabError> {
        let values: Vec<f64> = (0..rows).flat_map(|i| [f64::from(rows - i) / 10.0, 0.0]).collect();
        let labels: Vec<u32> = (0..rows).map(|i| u32::from(wrong.contains(&i))).collect();
        let labels = Labels::new(&labels, 2).expect("labels");
        let logits = Logits::new(values, 2).expect("logits");
        let mut source = MemoryRows::zero_one(logits, labels).expect("rows");
        let request = EvaluateRequest { gate, ..EvaluateRequest::default() };
        let (others, artifact) = (Vec::new(), Some(artifact));
        let result = evaluate("rows", artifact, &mut source, others, &request, &mut |_, _| {})?;
        Ok(result.report.verdict.expect("something is required"))
    }

    /// MSP with a threshold that accepts the rows whose logit is at least so much.
    fn artifact(at: f64) -> Artifact {
        let mut artifact = Artifact::new(Estimator::MSP);
        let basis = Basis::Risk {
            risk: 0.1,
            loss: "zero-one".into(),
            rows: 100,
            accepted: 50,
            selective_risk: 0.1,
            weighted_coverage: None,
        };
        artifact.rule = Some(Threshold { at, basis }.into());
        artifact
    }

    /// Six errors in twenty rows are more than 10 % by chance in 1.1 % of the cases, four in 13 %.
    #[test]
    fn a_target_is_violated_where_chance_does_not_explain_it() {
        let gate = Gate { target: true, ..Gate::default() };
        let accepts_all = artifact(0.0);
        let few = judged(gate, 20, &[3, 5, 7, 9], &accepts_all).expect("judged");
        assert!(few.passed, "{few:?}");
        assert!(few.checks[0].value > Some(0.1));
        let many = judged(gate, 20, &[3, 5, 7, 9, 11, 13], &accepts_all).expect("judged");
        assert!(!many.passed, "{many:?}");
        // No answer is a wrong one.
        let none = judged(gate, 20, &[3, 5, 7, 9, 11, 13], &artifact(1e6)).expect("judged");
        assert_eq!((none.passed, none.checks[0].value), (true, None));
    }

    #[test]
    fn no_answers_are_neither_many_nor_accurate() {
        for gate in [
            Gate { min_coverage: Some(0.01), ..Gate::default() },
            Gate { min_accuracy: Some(0.01), ..Gate::default() },
        ] {
            assert!(!judged(gate, 20, &[], &artifact(1e6)).expect("judged").passed);
            assert!(judged(gate, 20, &[], &artifact(0.0)).expect("judged").passed);
        }
    }

    #[test]
    fn graded_losses_have_a_target_but_no_accuracy() {
        let losses = |large: usize| {
            let values = (0..40).map(|i| if i < large { 2.0 } else { 0.0 }).collect();
            Losses::new(values).expect("losses")
        };
        let column = Contender::of_column("mine", vec![1.0; 40]);
        let contenders = Contenders {
            compared: Vec::new(),
            baseline: column.clone(),
            of_artifact: 0,
            threshold: Some(0.5),
        };
        let check = |losses: &Losses| {
            let threshold = AtThreshold {
                whose: 0,
                at: 0.5,
                accepted: 40,
                coverage: 1.0,
                selective_risk: Some(losses.values().iter().sum::<f64>() / 40.0),
                risk_bounds: None,
            };
            target_check(&threshold, &contenders, losses, Target::Risk(0.5)).expect("a check")
        };
        // A mean of 0.6 of fifteen losses may be chance, one of 1.5 may not.
        assert!(check(&losses(12)).passed && !check(&losses(30)).passed);
        let gate = Gate { min_accuracy: Some(0.5), ..Gate::default() };
        let request = EvaluateRequest { gate, ..EvaluateRequest::default() };
        let rows = MeasuredRows::new(column, Some(losses(12)));
        let error = evaluate("mine", None, rows, Vec::new(), &request, &mut |_, _| {});
        assert!(matches!(error, Err(LabError::Rows(Error::Undefined(Undefined::LossNotZeroOne)))));
    }

    #[test]
    fn what_cannot_be_checked_is_refused_before_measuring() {
        let target = Gate { target: true, ..Gate::default() };
        let coverage = Gate { min_coverage: Some(0.5), ..Gate::default() };
        let without = Artifact::new(Estimator::MSP);
        for gate in [target, coverage] {
            let error = judged(gate, 20, &[], &without).unwrap_err();
            assert!(matches!(error, LabError::GateWithoutThreshold));
        }
        let mut by_hand = Artifact::new(Estimator::MSP);
        by_hand.rule = Some(Threshold::given(0.5).into());
        let error = judged(target, 20, &[], &by_hand).unwrap_err();
        assert!(matches!(error, LabError::GateWithoutTarget));
        let wrong = Gate { min_coverage: Some(1.5), ..Gate::default() };
        assert!(matches!(
            judged(wrong, 20, &[], &by_hand),
            Err(LabError::Rows(Error::Parameter { .. }))
        ));
        let all = Gate { min_accuracy: Some(0.9), ..Gate::default() };
        assert!(judged(all, 20, &[1], &without).expect("of all rows").passed);
    }
}
