//! The use case *evaluate*: measure confidences on labelled rows against a baseline.

use crate::breakdown::Breakdown;
use crate::certify::DEFAULT_DELTA;
use crate::error::LabError;
use crate::gate::{Gate, GateVerdict};
use crate::known::Seen;
use crate::measured::{Contender, MeasuredRows, Rows};
use crate::rows::Answers;
use crate::target::Target;
use crate::threshold::accepted_by;
use crate::tune::Problem;
use crate::warning::{self, Warning};
use abstain::calibration::{DEFAULT_BINS, Reliability};
use abstain::certify::{Certificate, upper_bound};
use abstain::metric::Direction;
use abstain::{
    Artifact, Error, Estimator, Interval, Intervals, Losses, Metric, RcCurve, Weights,
    interval::Compared,
};
use abstain_io::Reading;
use serde::Serialize;
use std::str::FromStr;

/// What can be measured: a metric of the risk-coverage curve, or how well a confidence is calibrated.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Measure {
    /// A metric of the curve.
    Metric(Metric),
    /// The expected calibration error of confidences that are probabilities.
    Ece,
    /// The negative log-likelihood of the labels.
    Nll,
}

impl Measure {
    /// Those that are no metrics of the curve: the name, the meaning and the measure. Of each, lower is
    /// better.
    pub const OTHERS: [(&'static str, &'static str, Measure); 2] = [
        ("ECE", "expected calibration error of confidences that are probabilities", Measure::Ece),
        ("NLL", "negative log-likelihood of the labels", Measure::Nll),
    ];
}

impl FromStr for Measure {
    type Err = Error;

    /// Reads `ECE`, `NLL` or the text of a metric.
    fn from_str(text: &str) -> Result<Self, Error> {
        let other = |(name, ..): &&(&str, &str, Measure)| text.trim().eq_ignore_ascii_case(name);
        match Measure::OTHERS.iter().find(other) {
            Some(&(_, _, measure)) => Ok(measure),
            None => text.parse().map(Measure::Metric),
        }
    }
}

/// What is measured, and how.
#[derive(Debug, Clone, Default)]
pub struct EvaluateRequest {
    /// The metrics; the usual ones of every kind by default.
    pub metrics: Option<Vec<Measure>>,
    /// What the accepted rows must meet; by default the target of the artifact's threshold, or a
    /// usual one of the classifier's accuracy.
    pub target: Option<Target>,
    /// The replicates of a bootstrap, which misses what these rows miss; by default intervals are
    /// closed forms.
    pub replicates: Option<usize>,
    /// The seed of the replicates.
    pub seed: u64,
    /// What is required of the result.
    pub gate: Gate,
}

impl EvaluateRequest {
    /// Checks everything that does not depend on rows.
    pub fn check(&self) -> Result<(), LabError> {
        if let Some(target) = self.target {
            target.check()?;
        }
        Ok(())
    }

    /// The metrics of the curve, if any are requested by name.
    fn curve_metrics(&self) -> Option<Vec<Metric>> {
        let metric = |measure: &Measure| match measure {
            Measure::Metric(metric) => Some(*metric),
            _ => None,
        };
        self.metrics.as_ref().map(|measures| measures.iter().filter_map(metric).collect())
    }

    /// Whether a measure is requested by name.
    fn names(&self, measure: Measure) -> bool {
        self.metrics.as_ref().is_some_and(|measures| measures.contains(&measure))
    }

    fn intervals(&self) -> Intervals {
        let (replicates, seed) = (self.replicates, self.seed);
        Intervals { replicates, seed, ..Intervals::default() }
    }
}

/// Confidences on the same rows: some that are compared, and the baseline they are compared with.
#[derive(Debug, Clone)]
pub struct Contenders {
    /// Those that are compared.
    pub compared: Vec<Contender>,
    /// The baseline.
    pub baseline: Contender,
    /// The index of the artifact's estimator in [`Contenders::all`].
    pub of_artifact: usize,
    /// The artifact's threshold.
    pub threshold: Option<f64>,
}

impl Contenders {
    /// The estimators that are measured with an artifact: its estimator, and MSP, the baseline.
    fn estimators(artifact: Option<&Artifact>) -> Vec<Estimator> {
        let of_artifact = artifact.map(|artifact| artifact.estimator.clone());
        let mut estimators: Vec<Estimator> =
            of_artifact.into_iter().chain([Estimator::MSP]).collect();
        estimators.dedup();
        estimators
    }

    /// Columns of which the last is the baseline, and others of the same rows that are compared with it, too.
    /// The first column is that of the artifact.
    fn new(
        mut columns: Vec<Contender>,
        others: Vec<Contender>,
        artifact: Option<&Artifact>,
    ) -> Result<Self, LabError> {
        let baseline = columns.pop().ok_or(Error::NoRows)?;
        let expected = baseline.confidences.len();
        if let Some(other) = others.iter().find(|other| other.confidences.len() != expected) {
            let found = other.confidences.len();
            return Err(Error::Length { what: "confidences", found, expected }.into());
        }
        let alone = columns.is_empty();
        for other in others {
            let taken = |contender: &Contender| contender.name == other.name;
            if columns.iter().chain([&baseline]).any(taken) {
                return Err(LabError::NameTaken { name: other.name });
            }
            columns.push(other);
        }
        let of_artifact = if alone { columns.len() } else { 0 };
        let threshold = artifact.map(Artifact::one_threshold).transpose()?.flatten();
        let threshold = threshold.map(|threshold| threshold.at);
        Ok(Contenders { compared: columns, baseline, of_artifact, threshold })
    }

    /// The confidences of the artifact's estimator.
    fn of_the_artifact(&self) -> &[f64] {
        self.all().nth(self.of_artifact).map_or(&[], |contender| &contender.confidences)
    }

    /// The negative log-likelihoods of the estimators that were measured, one for each contender: the
    /// artifact's estimator, other columns, which have none, and the baseline.
    fn nll_of_all(&self, of_estimators: &[Option<f64>]) -> Vec<Option<f64>> {
        let (Some(first), Some(last)) = (of_estimators.first(), of_estimators.last()) else {
            return Vec::new();
        };
        let count = self.compared.len();
        let of = |index: usize| match index {
            index if index == count => *last,
            0 if of_estimators.len() > 1 => *first,
            _ => None,
        };
        (0..=count).map(of).collect()
    }

    /// Those that are compared, and then the baseline.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Contender> + Clone {
        self.compared.iter().chain([&self.baseline])
    }
}

/// The metrics of a request that names none.
fn usual_metrics(target: Target, zero_one: bool) -> Result<Vec<Metric>, Error> {
    let mut metrics = Vec::new();
    for name in ["Accuracy", "NAURC", "AURC", "E-AURC", "AUROC", "AUGRC"] {
        metrics.push(name.parse()?);
    }
    // There is an accuracy only where errors are counted.
    let risk = target.risk();
    metrics.push(if zero_one { target.metric()? } else { Target::Risk(risk).metric()? });
    for name in ["RiskAtCoverage@0.8", "RiskAtCoverage@0.5", "PartialAURC@0.2..0.8"] {
        metrics.push(name.parse()?);
    }
    Ok(metrics)
}

/// What was measured on a set, and the rows behind it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EvaluateResult {
    /// What was measured.
    pub report: SetReport,
    /// The confidences.
    pub contenders: Contenders,
    /// The losses.
    pub losses: Losses,
    /// The labels and predictions, where they are known.
    pub answers: Option<Answers>,
    /// The number of classes, where they are known.
    pub classes: Option<usize>,
    /// The names of the classes: those of the rows, else those of the artifact.
    pub class_names: Option<Vec<String>>,
    /// The artifact's estimator, unless only confidences were measured.
    pub estimator: Option<Estimator>,
    /// What the artifact says about it.
    pub known: Known,
    /// Whether the artifact has seen these rows.
    pub seen: Option<Seen>,
    /// Why the artifact's estimator cannot be used on these rows.
    pub problem: Option<Problem>,
    /// The probability with which bounds may fail; `None` on rows that tuned the estimator.
    pub delta: Option<f64>,
    /// The SHA-256 of rows and labels.
    pub fingerprint: Option<String>,
    /// The text of the loss.
    pub loss: String,
    /// How intervals were made.
    pub intervals: Intervals,
    /// The weights of the rows, if they have some.
    pub weights: Option<Weights>,
}

/// What is known of the estimator that was measured, from its artifact.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Known {
    /// The certificate of its threshold.
    pub certificate: Option<Certificate>,
    /// Whether the first of the contenders, the estimator, was tuned.
    pub tuned: bool,
}

impl Known {
    /// What an artifact says about its estimator.
    pub fn of(artifact: &Artifact) -> Self {
        Known {
            certificate: artifact.threshold().and_then(|t| t.certificate().copied()),
            // MSP is the baseline and is not tuned.
            tuned: artifact.tuning.is_some() && artifact.estimator != Estimator::MSP,
        }
    }

    /// The probability with which bounds may fail: as the certificate's, if there is one.
    pub fn delta(&self) -> f64 {
        self.certificate.map_or(DEFAULT_DELTA, |certificate| certificate.delta)
    }
}

/// Measures confidences on rows with labels: of rows that are read, those of an artifact's estimator, of
/// other columns and of MSP, the baseline; of rows that were measured, their columns, and others. `on_step`
/// is called from time to time with the number of steps that are done and that of all.
pub fn evaluate<'a>(
    name: &str,
    artifact: Option<&Artifact>,
    rows: impl Into<Rows<'a>>,
    others: Vec<Contender>,
    request: &EvaluateRequest,
    on_step: &mut dyn FnMut(usize, usize),
) -> Result<EvaluateResult, LabError> {
    request.check()?;
    let rows: Rows<'_> = rows.into();
    if request.gate.target && rows.have_weights() {
        return Err(LabError::GateWithWeights);
    }
    rows.check_labels()?;
    if let Some(artifact) = artifact {
        rows.check_classes(artifact)?;
    }
    let of_artifact = artifact.and_then(Target::of_artifact);
    let promised = of_artifact.or(request.target);
    let has_threshold = artifact.is_some_and(|artifact| artifact.rule.is_some());
    request.gate.check_possible(has_threshold, promised)?;
    let estimators = Contenders::estimators(artifact);
    let mut rows = rows.measure(artifact, &estimators, request.names(Measure::Nll))?;
    let of_artifact_names = artifact.and_then(|artifact| artifact.class_names.as_deref());
    let names = rows.class_names.as_deref().or(of_artifact_names).unwrap_or_default();
    for other in &others {
        other.check_predictions(rows.answers.as_ref(), names)?;
    }
    let columns = std::mem::take(&mut rows.columns);
    let contenders = Contenders::new(columns, others, artifact)?;
    let request = EvaluateRequest { target: request.target.or(of_artifact), ..request.clone() };
    let losses = rows.losses()?;
    let mut report = measure(name, &contenders, losses, rows.weights.as_ref(), &request, on_step)?;
    report.verdict = request.gate.judge(&report, &contenders, losses, promised)?;
    let estimator = artifact.filter(|_| rows.logits.is_some()).map(|found| found.estimator.clone());
    let seen = artifact.and_then(|artifact| rows.seen_by(artifact));
    report.warnings = warnings(&rows, artifact, &report, &contenders, seen);
    if let Some(logits) = &rows.logits {
        report.nll = contenders.nll_of_all(&logits.nll);
    }
    if rows.class_names.is_none() {
        rows.class_names = artifact.and_then(|artifact| artifact.class_names.clone());
    }
    report.breakdown = rows.breakdown(contenders.of_the_artifact(), contenders.threshold);
    let copied = rows.logits.as_ref().is_some_and(|logits| logits.copies.is_some());
    let known = artifact.map(Known::of).unwrap_or_default();
    let problem = estimator.as_ref().zip(rows.classes());
    Ok(EvaluateResult {
        report,
        contenders,
        classes: rows.classes(),
        problem: problem.and_then(|(estimator, classes)| Problem::of_estimator(estimator, classes)),
        estimator,
        known,
        seen,
        // Bounds count independent rows.
        delta: (seen.is_none() && !copied).then_some(known.delta()),
        fingerprint: rows.fingerprints.labelled,
        loss: rows.loss,
        intervals: intervals_for(&request, rows.weights.as_ref()),
        losses: rows.losses.ok_or(Error::NoLabels)?,
        answers: rows.answers,
        class_names: rows.class_names,
        weights: rows.weights,
    })
}

/// Several sets that are measured under one request. All have the target of the first, or they could not be
/// compared.
#[derive(Debug, Clone)]
pub struct Sets<'a> {
    artifact: Option<&'a Artifact>,
    request: EvaluateRequest,
}

impl<'a> Sets<'a> {
    /// No sets yet.
    pub fn new(artifact: Option<&'a Artifact>, request: EvaluateRequest) -> Self {
        Sets { artifact, request }
    }

    /// Measures the next set, as [`evaluate`] does.
    pub fn measure<'r>(
        &mut self,
        name: &str,
        rows: impl Into<Rows<'r>>,
        others: Vec<Contender>,
        on_step: &mut dyn FnMut(usize, usize),
    ) -> Result<EvaluateResult, LabError> {
        let result = evaluate(name, self.artifact, rows, others, &self.request, on_step)?;
        self.request.target = Some(result.report.target);
        Ok(result)
    }
}

/// What looks wrong with the rows of an evaluation.
fn warnings(
    rows: &MeasuredRows,
    artifact: Option<&Artifact>,
    report: &SetReport,
    contenders: &Contenders,
    seen: Option<Seen>,
) -> Vec<Warning> {
    let mut warnings = rows.warnings_of_logits(artifact);
    if seen == Some(Seen::Tuned) {
        // That they tuned is said for all of them.
        warnings.retain(|warning| !matches!(warning, Warning::SharedRows { .. }));
    }
    if let (Some(artifact), Some(threshold)) = (artifact, &report.threshold) {
        let count = rows.weights.as_ref().map_or(report.rows as f64, Weights::effective_rows);
        warnings.extend(warning::of_coverage(artifact, threshold.coverage, count));
    }
    warnings.extend(
        artifact.and_then(|artifact| warning::of_certificate(artifact, &rows.fingerprints)),
    );
    warnings.extend(rows.warnings_of(contenders.of_the_artifact()));
    warnings
}

/// What was measured on one set.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SetReport {
    /// The set.
    pub name: String,
    /// How it was read, if it is from files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Reading>,
    /// Its rows.
    pub rows: usize,
    /// What they weigh, if they have weights: everything but counts of rows is then weighted, and the
    /// intervals are those of a bootstrap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<WeightFacts>,
    /// Its accuracy, or one minus the mean loss.
    pub accuracy: f64,
    /// What the accepted rows must meet.
    pub target: Target,
    /// The contenders; the baseline is the last.
    pub contenders: Vec<String>,
    /// Their metrics: one line a metric, one value a contender.
    pub metrics: Vec<MetricLine>,
    /// The expected calibration error of each contender, where it has one.
    pub ece: Vec<Option<f64>>,
    /// The negative log-likelihood of the labels under each contender that has one, if it is requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nll: Vec<Option<f64>>,
    /// Whether every loss is 0 or 1.
    pub zero_one: bool,
    /// How each contender but the baseline compares to it.
    pub verdicts: Vec<Verdict>,
    /// What the threshold of one of them accepts here.
    pub threshold: Option<AtThreshold>,
    /// The same by predicted class and by group; without a threshold, of all rows. Nothing if losses are
    /// graded.
    pub breakdown: Option<Breakdown>,
    /// What looks wrong with the rows.
    pub warnings: Vec<Warning>,
    /// Whether the requirements are met, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<GateVerdict>,
}

impl SetReport {
    /// The name of the baseline.
    pub fn baseline(&self) -> &str {
        self.contenders.last().map_or("", |name| name)
    }

    /// The names of the contenders that are compared with the baseline, and the verdicts.
    pub fn compared(&self) -> impl Iterator<Item = (&str, Verdict)> {
        self.contenders.iter().map(String::as_str).zip(self.verdicts.iter().copied())
    }
}

/// What rows weigh.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WeightFacts {
    /// The sum of the weights: how many rows they count as.
    pub sum: f64,
    /// How many rows of equal weight say as much.
    pub effective_rows: f64,
}

impl WeightFacts {
    fn of(weights: &Weights) -> Self {
        let effective_rows = weights.effective_rows();
        WeightFacts { sum: weights.values().iter().sum(), effective_rows }
    }
}

/// A metric of every contender.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MetricLine {
    /// The metric.
    pub metric: Metric,
    /// Its value for each contender; `None` where it is undefined.
    pub values: Vec<Option<Interval>>,
    /// Its value less the baseline's.
    pub differences: Vec<Option<Interval>>,
    /// Why it is undefined, where it is.
    pub undefined: Option<String>,
}

/// How a contender compares to the baseline by NAURC, at 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// Better, with confidence.
    Better,
    /// Worse, with confidence.
    Worse,
    /// Neither can be concluded.
    Unclear,
    /// It ranks as the baseline does.
    Same,
}

/// What a threshold accepts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtThreshold {
    /// Which of the contenders it belongs to.
    pub whose: usize,
    /// The threshold.
    #[serde(serialize_with = "abstain::artifact::extended::serialize")]
    pub at: f64,
    /// The accepted rows.
    pub accepted: usize,
    /// Their share.
    pub coverage: f64,
    /// Their selective risk; `None` if there are none.
    pub selective_risk: Option<f64>,
    /// Lower and upper bound of the population's risk, each wrong with a probability of 5 %; for
    /// losses of 0 and 1 and rows of equal weight.
    pub risk_bounds: Option<[f64; 2]>,
}

/// How the intervals of rows are made, which may have weights.
fn intervals_for(request: &EvaluateRequest, weights: Option<&Weights>) -> Intervals {
    let intervals = request.intervals();
    if weights.is_some() { intervals.of_weighted() } else { intervals }
}

/// The mean of losses, by weight if rows have weights.
fn mean_loss(losses: &Losses, weights: Option<&Weights>) -> f64 {
    let losses = losses.values();
    match weights.map(Weights::values) {
        None => losses.iter().sum::<f64>() / losses.len() as f64,
        Some(weights) => {
            let sum: f64 = losses.iter().zip(weights).map(|(loss, weight)| weight * loss).sum();
            sum / weights.iter().sum::<f64>()
        }
    }
}

/// Measures contenders on the same rows.
fn measure(
    name: &str,
    contenders: &Contenders,
    losses: &Losses,
    weights: Option<&Weights>,
    request: &EvaluateRequest,
    on_step: &mut dyn FnMut(usize, usize),
) -> Result<SetReport, Error> {
    let (zero_one, mean) = (losses.is_zero_one(), mean_loss(losses, weights));
    let target = request.target.unwrap_or_else(|| Target::usual_for_mean(mean, zero_one));
    target.check()?;
    let metrics = match request.curve_metrics() {
        Some(metrics) => metrics,
        None => usual_metrics(target, zero_one)?,
    };
    let mut with_naurc = metrics.clone();
    with_naurc.push(Metric::NAURC);
    // Differences are to the first column; reports name the baseline last.
    let columns: Vec<&[f64]> =
        contenders.all().rev().map(|contender| &contender.confidences[..]).collect();
    let intervals = intervals_for(request, weights);
    let steps = intervals.steps(columns.len());
    let mut on_step = |done: usize| on_step(done, steps);
    let mut measured = match weights {
        None => intervals.compare(&with_naurc, &columns, losses, &mut on_step)?,
        Some(weights) => {
            intervals.compare_weighted(&with_naurc, &columns, losses, weights, &mut on_step)?
        }
    };
    measured.reverse();
    let of_metric =
        |index: usize| measured.iter().map(move |metrics: &Vec<Compared>| metrics[index]);
    let lines = metrics.iter().enumerate().map(|(index, &metric)| MetricLine {
        metric,
        values: of_metric(index).map(|compared| compared.value.ok()).collect(),
        differences: of_metric(index).map(|compared| compared.difference.ok()).collect(),
        undefined: of_metric(index).find_map(|c| c.value.err()).map(|why| why.to_string()),
    });
    let naurc = of_metric(metrics.len()).take(contenders.compared.len());
    let verdicts = naurc.map(|compared| verdict(compared.difference.ok())).collect();
    let with_ece = request.metrics.is_none() || request.names(Measure::Ece);
    let ece = |contender: &Contender| {
        let probabilities = with_ece.then(|| contender.probabilities())??;
        Some(match weights {
            None => Reliability::new(&probabilities, losses, DEFAULT_BINS).ok()?.ece(),
            Some(weights) => {
                Reliability::weighted(&probabilities, losses, weights, DEFAULT_BINS).ok()?.ece()
            }
        })
    };
    let rows = losses.values().len();
    let index = contenders.of_artifact;
    let threshold = contenders.threshold.and_then(|at| {
        let contender = contenders.all().nth(index)?;
        Some(AtThreshold::new(index, at, &contender.confidences, losses, weights))
    });
    Ok(SetReport {
        name: name.to_string(),
        input: None,
        rows,
        weights: weights.map(WeightFacts::of),
        accuracy: 1.0 - mean,
        target,
        contenders: contenders.all().map(|contender| contender.name.clone()).collect(),
        metrics: lines.collect(),
        ece: contenders.all().map(ece).collect(),
        nll: Vec::new(),
        zero_one,
        verdicts,
        threshold: threshold.transpose()?,
        breakdown: None,
        warnings: Vec::new(),
        verdict: None,
    })
}

/// NAURC: lower is better.
fn verdict(difference: Option<Interval>) -> Verdict {
    debug_assert_eq!(Metric::NAURC.better(), Direction::Lower);
    match difference {
        Some(interval) if interval.high < 0.0 => Verdict::Better,
        Some(interval) if interval.low > 0.0 => Verdict::Worse,
        Some(interval) if interval.low == 0.0 && interval.high == 0.0 => Verdict::Same,
        Some(_) | None => Verdict::Unclear,
    }
}

impl AtThreshold {
    /// What a threshold accepts of some rows.
    fn new(
        whose: usize,
        at: f64,
        confidences: &[f64],
        losses: &Losses,
        weights: Option<&Weights>,
    ) -> Result<Self, Error> {
        if let Some(weights) = weights {
            let curve = RcCurve::weighted(confidences, losses, weights)?;
            let knot = curve.at_threshold(at);
            return Ok(AtThreshold {
                whose,
                at,
                accepted: accepted_by(at, confidences),
                coverage: knot.map_or(0.0, |knot| knot.accepted / curve.rows()),
                selective_risk: knot.map(|knot| knot.selective_risk()),
                risk_bounds: None,
            });
        }
        let curve = RcCurve::new(confidences, losses)?;
        let knot = curve.at_threshold(at);
        let accepted = knot.map_or(0, |knot| knot.accepted);
        let risk = knot.map(|knot| knot.selective_risk());
        let errors = knot.filter(|_| losses.is_zero_one()).map(|knot| knot.errors());
        Ok(AtThreshold {
            whose,
            at,
            accepted,
            coverage: accepted as f64 / confidences.len() as f64,
            selective_risk: risk,
            risk_bounds: errors.map(|errors| {
                let right = accepted - errors;
                [1.0 - upper_bound(right, accepted, 0.05), upper_bound(errors, accepted, 0.05)]
            }),
        })
    }
}
