//! Measure estimators on a set of rows against MSP, or against the first of them.

use crate::target::Target;
use abstain::calibration::{DEFAULT_BINS, Reliability};
use abstain::certify::upper_bound;
use abstain::metric::Direction;
use abstain::{Bootstrap, Error, Estimator, Interval, Losses, Metric, RcCurve};
use serde::Serialize;

/// A confidence to be measured.
#[derive(Debug, Clone)]
pub struct Contender {
    /// What it is called.
    pub name: String,
    /// The estimator, unless these are confidences of someone's own.
    pub estimator: Option<Estimator>,
    /// Its confidences.
    pub confidences: Vec<f64>,
    /// The same as probabilities of being right, if they are meant as such.
    pub probabilities: Option<Vec<f64>>,
}

impl Contender {
    /// An estimator and its confidences on rows of that many classes.
    pub fn new(estimator: &Estimator, confidences: Vec<f64>, classes: usize) -> Self {
        let value = |&confidence: &f64| estimator.value(confidence, classes);
        Contender {
            // A stack has too many numbers for the head of a column.
            name: match estimator {
                Estimator::Stack(_) => "Stack".into(),
                other => other.to_string(),
            },
            estimator: Some(estimator.clone()),
            probabilities: estimator
                .is_probability()
                .then(|| confidences.iter().map(value).collect()),
            confidences,
        }
    }
}

/// The metrics of those who have not said theirs.
pub fn usual_metrics(target: Target, zero_one: bool) -> Result<Vec<Metric>, Error> {
    let mut metrics = Vec::new();
    for name in ["Accuracy", "NAURC", "AURC", "E-AURC", "AUROC", "AUGRC"] {
        metrics.push(name.parse()?);
    }
    // An accuracy is there only where errors are counted.
    let risk = target.risk();
    metrics.push(if zero_one { target.metric()? } else { Target::Risk(risk).metric()? });
    for name in ["RiskAtCoverage@0.8", "RiskAtCoverage@0.5", "PartialAURC@0.2..0.8"] {
        metrics.push(name.parse()?);
    }
    Ok(metrics)
}

/// What is asked of confidences.
#[derive(Debug, Clone)]
pub struct Asked {
    /// These metrics.
    pub metrics: Vec<Metric>,
    /// What the answers that are kept should meet.
    pub target: Target,
    /// A threshold: whose, and where.
    pub threshold: Option<(usize, f64)>,
    /// How intervals are made.
    pub bootstrap: Bootstrap,
}

/// What came of it on one set.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SetReport {
    /// The set.
    pub name: String,
    /// Its rows.
    pub rows: usize,
    /// Its accuracy, or one minus the mean loss.
    pub accuracy: f64,
    /// What is asked of the answers that are kept.
    pub target: Target,
    /// The contenders, the baseline last if there are several.
    pub contenders: Vec<String>,
    /// Their metrics: one line a metric, one value a contender.
    pub metrics: Vec<MetricLine>,
    /// The expected calibration error of each contender, where it has one.
    pub ece: Vec<Option<f64>>,
    /// Whether every loss is 0 or 1.
    pub zero_one: bool,
    /// How each contender compares to the baseline, which is the last and has no verdict.
    pub verdicts: Vec<Verdict>,
    /// How the threshold of one of them does here.
    pub threshold: Option<AtThreshold>,
}

/// A metric of every contender.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MetricLine {
    /// The metric.
    pub metric: Metric,
    /// Its value for each contender; nothing where it is undefined.
    pub values: Vec<Option<Interval>>,
    /// Its value less the baseline's.
    pub differences: Vec<Option<Interval>>,
    /// Why it is undefined, where it is.
    pub undefined: Option<String>,
}

/// How an estimator compares to the baseline by NAURC, at 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// Surely better.
    Better,
    /// Surely worse.
    Worse,
    /// Neither can be told.
    Unclear,
    /// It ranks as the baseline does.
    Same,
}

/// What a threshold lets through.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtThreshold {
    /// Which of the contenders it belongs to.
    pub whose: usize,
    /// The threshold.
    #[serde(serialize_with = "abstain::extended::serialize")]
    pub at: f64,
    /// The rows above it.
    pub accepted: usize,
    /// Their share.
    pub coverage: f64,
    /// The selective risk among them; nothing if there are none.
    pub selective_risk: Option<f64>,
    /// Between these lies the risk of the population, each of them wrong in 5 % of all cases; for
    /// losses of 0 and 1.
    pub risk_bounds: Option<[f64; 2]>,
}

/// Measures some confidences on the same rows. With several, the last is the baseline. A threshold
/// is that of one of them. `progress` is told of the replicates that are done.
pub fn evaluate(
    name: &str,
    contenders: &[Contender],
    losses: &Losses,
    asked: &Asked,
    progress: &mut dyn FnMut(usize),
) -> Result<SetReport, Error> {
    let Asked { metrics, target, threshold, bootstrap } = asked;
    let (target, threshold) = (*target, *threshold);
    if contenders.is_empty() || threshold.is_some_and(|(whose, _)| whose >= contenders.len()) {
        return Err(Error::NoRows);
    }
    // The baseline comes first where differences are taken, and last where people read.
    let columns: Vec<&[f64]> = contenders.iter().rev().map(|own| &own.confidences[..]).collect();
    let mut with_naurc = metrics.clone();
    with_naurc.push(Metric::NAURC);
    let mut compared = bootstrap.compare(&with_naurc, &columns, losses, progress)?;
    compared.reverse();
    let others = compared.len().saturating_sub(1);
    let verdicts =
        compared[..others].iter().map(|own| verdict(own[metrics.len()].difference.ok())).collect();
    let lines = metrics.iter().enumerate().map(|(index, &metric)| MetricLine {
        metric,
        values: compared.iter().map(|own| own[index].value.ok()).collect(),
        differences: compared.iter().map(|own| own[index].difference.ok()).collect(),
        undefined: compared.iter().find_map(|own| own[index].value.err()).map(|e| e.to_string()),
    });
    let ece = |own: &Contender| {
        let probabilities = own.probabilities.as_ref()?;
        Some(Reliability::new(probabilities, losses, DEFAULT_BINS).ok()?.ece())
    };
    let rows = losses.values().len();
    Ok(SetReport {
        name: name.to_string(),
        rows,
        accuracy: 1.0 - losses.values().iter().sum::<f64>() / rows as f64,
        target,
        contenders: contenders.iter().map(|own| own.name.clone()).collect(),
        metrics: lines.collect(),
        ece: contenders.iter().map(ece).collect(),
        zero_one: losses.is_zero_one(),
        verdicts,
        threshold: match threshold {
            Some((whose, at)) => {
                Some(AtThreshold::new(whose, at, &contenders[whose].confidences, losses)?)
            }
            None => None,
        },
    })
}

/// NAURC: lower is better.
fn verdict(difference: Option<Interval>) -> Verdict {
    debug_assert_eq!(Metric::NAURC.better(), Direction::Lower);
    match difference {
        Some(own) if own.high < 0.0 => Verdict::Better,
        Some(own) if own.low > 0.0 => Verdict::Worse,
        Some(own) if own.low == 0.0 && own.high == 0.0 => Verdict::Same,
        Some(_) | None => Verdict::Unclear,
    }
}

impl AtThreshold {
    /// What a threshold does on some rows.
    fn new(whose: usize, at: f64, confidences: &[f64], losses: &Losses) -> Result<Self, Error> {
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
