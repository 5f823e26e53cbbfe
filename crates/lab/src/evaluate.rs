//! The use case *evaluate*: measure confidences on labelled rows against a baseline.

use crate::breakdown::{Breakdown, BrokenDownBy};
use crate::certify::DEFAULT_DELTA;
use crate::error::LabError;
use crate::gate::{Gate, GateVerdict};
use crate::known::Seen;
use crate::rows::{Answers, Select, Wanted, collect};
use crate::target::Target;
use crate::threshold::{accepted_by, check_classes};
use crate::tune::Problem;
use crate::warning::{self, Warning};
use abstain::calibration::{DEFAULT_BINS, Reliability};
use abstain::certify::{Certificate, upper_bound};
use abstain::metric::Direction;
use abstain::{
    Artifact, Compared, Error, Estimator, Interval, Intervals, Losses, Metric, RcCurve, RowSource,
    Threshold, Weights,
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

impl FromStr for Measure {
    type Err = Error;

    /// Reads `ECE`, `NLL` or the text of a metric.
    fn from_str(text: &str) -> Result<Self, Error> {
        match text.trim().to_ascii_uppercase().as_str() {
            "ECE" => Ok(Measure::Ece),
            "NLL" => Ok(Measure::Nll),
            _ => text.parse().map(Measure::Metric),
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

/// A confidence to be measured.
#[derive(Debug, Clone)]
pub struct Contender {
    /// Its name.
    pub name: String,
    /// The estimator, unless the confidences come from elsewhere.
    pub estimator: Option<Estimator>,
    /// Its confidences.
    pub confidences: Vec<f64>,
}

impl Contender {
    /// An estimator and its confidences.
    pub fn new(estimator: &Estimator, confidences: Vec<f64>) -> Self {
        Contender {
            // A stack has too many parameters for the head of a column.
            name: match estimator {
                Estimator::Stack(stack) => stack.name().into(),
                other => other.to_string(),
            },
            estimator: Some(estimator.clone()),
            confidences,
        }
    }

    /// Confidences that come from elsewhere.
    pub fn of_column(name: impl Into<String>, confidences: Vec<f64>) -> Self {
        Contender { name: name.into(), estimator: None, confidences }
    }

    /// The confidences as probabilities of being right, if they are meant as such.
    fn probabilities(&self) -> Option<Vec<f64>> {
        self.estimator.as_ref()?.probabilities(&self.confidences)
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
    /// One column of confidences, which has nothing to be compared with.
    pub fn alone(contender: Contender) -> Self {
        Contenders { compared: Vec::new(), baseline: contender, of_artifact: 0, threshold: None }
    }

    /// The estimators that are measured with an artifact: its estimator, and MSP, the baseline.
    fn estimators(artifact: &Artifact) -> Vec<Estimator> {
        let mut estimators = vec![artifact.estimator.clone(), Estimator::MSP];
        estimators.dedup();
        estimators
    }

    /// An artifact's estimator, other columns, and MSP, the baseline.
    fn of_artifact(
        artifact: &Artifact,
        columns: Vec<Vec<f64>>,
        others: Vec<Contender>,
    ) -> Result<Self, LabError> {
        let estimators = Self::estimators(artifact);
        let mut contenders: Vec<Contender> = (estimators.iter().zip(columns))
            .map(|(estimator, column)| Contender::new(estimator, column))
            .collect();
        let baseline = contenders.pop().ok_or(Error::NoRows)?;
        let expected = baseline.confidences.len();
        if let Some(other) = others.iter().find(|other| other.confidences.len() != expected) {
            let found = other.confidences.len();
            return Err(Error::Length { what: "confidences", found, expected }.into());
        }
        for other in others {
            let taken = |contender: &Contender| contender.name == other.name;
            if contenders.iter().chain([&baseline]).any(taken) {
                return Err(LabError::NameTaken { name: other.name });
            }
            contenders.push(other);
        }
        let of_artifact = if artifact.estimator == Estimator::MSP { contenders.len() } else { 0 };
        let threshold = artifact.one_threshold()?.map(|threshold| threshold.at);
        Ok(Contenders { compared: contenders, baseline, of_artifact, threshold })
    }

    /// The confidences of the artifact's estimator.
    fn of_the_artifact(&self) -> &[f64] {
        self.all().nth(self.of_artifact).map_or(&[], |contender| &contender.confidences)
    }

    /// What looks wrong with the confidences of the artifact's estimator.
    fn warning(&self) -> Option<Warning> {
        warning::of_confidences(self.of_the_artifact())
    }

    /// What the threshold accepts in each class and group.
    fn breakdown(&self, losses: &Losses, by: BrokenDownBy<'_>) -> Option<Breakdown> {
        let rule = self.threshold.map(|at| Threshold::given(at).into());
        Breakdown::new(self.of_the_artifact(), losses, rule.as_ref(), by)
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
    /// The number of classes, where there are logits.
    pub classes: Option<usize>,
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

/// Measures an artifact's estimator, other columns of confidences, and MSP on labelled rows, which
/// are read once. `on_step` is called from time to time with the number of steps that are done and
/// that of all.
pub fn evaluate<S: RowSource>(
    name: &str,
    artifact: &Artifact,
    source: &mut S,
    others: Vec<Contender>,
    request: &EvaluateRequest,
    on_step: &mut dyn FnMut(usize, usize),
) -> Result<EvaluateResult, LabError>
where
    LabError: From<S::Error>,
{
    request.check()?;
    let classes = source.classes();
    check_classes(artifact, classes)?;
    let of_artifact = Target::of_artifact(artifact);
    let promised = of_artifact.or(request.target);
    request.gate.check_possible(artifact.rule.is_some(), promised)?;
    let estimators = Contenders::estimators(artifact);
    let confidences = Some((&estimators[..], Select::All));
    let nll = if request.names(Measure::Nll) { &estimators[..] } else { &[] };
    let predictions = true;
    let wanted = Wanted { confidences, nll, predictions, fingerprint: true, ..Wanted::default() };
    let mut collected = collect(source, &wanted)?;
    let nll = std::mem::take(&mut collected.nll);
    let seen = Seen::by(artifact, &collected);
    let mut warnings =
        warning::of_rows(&collected, source.labels(), classes, source.encoding(), Some(artifact));
    if seen == Some(Seen::Tuned) {
        // That they tuned is said for all of them.
        warnings.retain(|warning| !matches!(warning, Warning::SharedRows { .. }));
    }
    let fingerprint = collected.fingerprint.take();
    let predictions = std::mem::take(&mut collected.predictions);
    let (columns, losses) = collected.into_confidences()?;
    let contenders = Contenders::of_artifact(artifact, columns, others)?;
    let target = request.target.or(of_artifact);
    let request = EvaluateRequest { target, ..request.clone() };
    let mut report = measure(name, &contenders, &losses, None, &request, on_step)?;
    report.verdict = request.gate.judge(&report, &contenders, &losses, promised)?;
    if let Some(threshold) = &report.threshold {
        let rows = report.rows as f64;
        warnings.extend(warning::of_coverage(artifact, threshold.coverage, rows));
    }
    warnings.extend(warning::of_certificate(artifact, fingerprint.as_ref()));
    warnings.extend(contenders.warning());
    report.warnings = warnings;
    report.nll = contenders.nll_of_all(&nll);
    let class_names = source.class_names().or(artifact.class_names.as_deref());
    let predicted = Some(&predictions[..]);
    let groups = source.groups();
    let by = BrokenDownBy { predictions: predicted, class_names, groups, weights: None };
    report.breakdown = contenders.breakdown(&losses, by);
    let known = Known::of(artifact);
    Ok(EvaluateResult {
        report,
        contenders,
        losses,
        answers: Some(Answers { labels: source.labels().clone(), predictions }),
        classes: Some(classes),
        estimator: Some(artifact.estimator.clone()),
        known,
        seen,
        problem: Problem::of_estimator(&artifact.estimator, classes),
        delta: seen.is_none().then_some(known.delta()),
        fingerprint,
        loss: source.loss().to_string(),
        intervals: request.intervals(),
        weights: None,
    })
}

/// Confidences that were computed elsewhere, and what the predictions cost.
#[derive(Debug, Clone)]
pub struct BareRows {
    /// The confidences, with their name.
    pub contender: Contender,
    /// What the predictions cost.
    pub losses: Losses,
    /// The labels and predictions, where they are known.
    pub answers: Option<Answers>,
    /// The names of the classes.
    pub class_names: Option<Vec<String>>,
    /// The group of each row.
    pub groups: Option<Vec<String>>,
    /// The weight of each row.
    pub weights: Option<Weights>,
    /// Where flags say which predictions are right, and predictions and labels are there too: the share of
    /// the rows in which they disagree.
    pub disagreement: Option<f64>,
}

/// Measures one column of confidences under given losses, without logits; with the artifact of a bare
/// confidence, also at its threshold.
pub fn evaluate_confidences(
    rows: BareRows,
    artifact: Option<&Artifact>,
    request: &EvaluateRequest,
    on_step: &mut dyn FnMut(usize, usize),
) -> Result<EvaluateResult, LabError> {
    request.check()?;
    if request.gate.target && rows.weights.is_some() {
        return Err(LabError::GateWithWeights);
    }
    rows.check()?;
    let fingerprint = rows.fingerprint();
    let suspicions = warning::of_bare(&rows);
    let BareRows { contender, losses, answers, class_names, groups, weights, .. } = rows;
    let promised = artifact.and_then(Target::of_artifact).or(request.target);
    let has_threshold = artifact.is_some_and(|artifact| artifact.rule.is_some());
    request.gate.check_possible(has_threshold, promised)?;
    let name = contender.name.clone();
    let threshold = artifact.map(Artifact::one_threshold).transpose()?.flatten();
    let threshold = threshold.map(|threshold| threshold.at);
    let contenders = Contenders { threshold, ..Contenders::alone(contender) };
    let target = request.target.or(artifact.and_then(Target::of_artifact));
    let request = EvaluateRequest { target, ..request.clone() };
    let mut report = measure(&name, &contenders, &losses, weights.as_ref(), &request, on_step)?;
    report.verdict = request.gate.judge(&report, &contenders, &losses, promised)?;
    let of_coverage = artifact.zip(report.threshold.as_ref()).and_then(|(artifact, threshold)| {
        let rows = weights.as_ref().map_or(report.rows as f64, Weights::effective_rows);
        warning::of_coverage(artifact, threshold.coverage, rows)
    });
    let of_certificate =
        artifact.and_then(|artifact| warning::of_certificate(artifact, Some(&fingerprint)));
    report.warnings = of_coverage.into_iter().chain(of_certificate).chain(suspicions).collect();
    let by = BrokenDownBy {
        predictions: answers.as_ref().map(|answers| &answers.predictions[..]),
        class_names: class_names.as_deref(),
        groups: groups.as_deref(),
        weights: weights.as_ref(),
    };
    report.breakdown = contenders.breakdown(&losses, by);
    let loss = losses.text();
    let known = artifact.map(Known::of).unwrap_or_default();
    Ok(EvaluateResult {
        report,
        contenders,
        losses,
        classes: answers.as_ref().map(Answers::classes_seen),
        answers,
        estimator: None,
        known,
        seen: None,
        problem: None,
        delta: Some(known.delta()),
        fingerprint: Some(fingerprint),
        loss: loss.into(),
        intervals: intervals_for(&request, weights.as_ref()),
        weights,
    })
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
    #[serde(serialize_with = "abstain::extended::serialize")]
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
