//! What tuning reports: plain data, which is also what `--json` prints.

use crate::breakdown::Breakdown;
use crate::copies::CountedOnce;
use crate::statistics::Spread;
use crate::target::Target;
use crate::warning::Warning;
use abstain::certify::{Certificate, Infeasible};
use abstain::{
    Error, Estimator, Interval, Method, Metric, Objective, RcCurve, Tuned, Undefined, curve::Knot,
};
use serde::{Serialize, Serializer};
use std::fmt;

/// Points of a curve in a report: enough for any picture.
const POINTS: usize = 512;

/// What tuning found.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TuneReport {
    /// The rows of the source.
    pub rows: usize,
    /// The number of tuning rows.
    pub tuning_rows: usize,
    /// The number of rows that were measured: the test rows, or the tuning rows themselves where they
    /// were cross-fitted. Threshold, certificate and accuracy are those of all of them.
    pub test_rows: usize,
    /// On how many of them, drawn at random, the methods were compared.
    pub compared_rows: usize,
    /// In how many folds the rows were cross-fitted, if they were: each is measured by estimators that
    /// were tuned on the other folds.
    pub folds: Option<usize>,
    /// The number of classes.
    pub classes: usize,
    /// The accuracy on the measured rows, or one minus the mean loss if losses are graded.
    pub accuracy: f64,
    /// Whether every loss is 0 or 1.
    pub zero_one: bool,
    /// How many splits the table is averaged over.
    pub splits: usize,
    /// The seed of everything random.
    pub seed: u64,
    /// What the accepted rows must meet.
    pub target: Target,
    /// The objective of tuning.
    pub objective: Objective,
    /// The baseline first, then the methods in the order of the request.
    pub methods: Vec<MethodLine>,
    /// The recommendation.
    pub choice: Choice,
    /// The risk-coverage curve of the baseline on the test rows.
    pub before: Curve,
    /// That of the chosen estimator.
    pub after: Curve,
    /// The threshold of largest coverage that meets the target on the test rows.
    pub at_target: Option<AtTarget>,
    /// The rows that certify, if that was requested and some of the test rows belong together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<CountedOnce>,
    /// The certified threshold, if one was requested and exists.
    pub certificate: Option<Certificate>,
    /// Why there is none, if one was requested.
    pub infeasible: Option<NotCertified>,
    /// What the certified threshold, or that of the target, accepts in each predicted class and group of
    /// the measured rows. Nothing without a threshold, or if losses are graded.
    pub breakdown: Option<Breakdown>,
    /// What looks wrong with the rows.
    pub warnings: Vec<Warning>,
}

impl TuneReport {
    /// The line of a method.
    pub fn line(&self, method: Method) -> Option<&MethodLine> {
        self.methods.iter().find(|line| line.method == method)
    }

    /// The index of the baseline in `methods`.
    pub const BASELINE: usize = 0;

    /// The index in `methods` of the line whose estimator is recommended.
    pub fn chosen(&self) -> usize {
        self.choice.index(self.methods.iter().map(|line| line.method))
    }
}

/// A threshold that meets the target on the rows it was found on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtTarget {
    /// The threshold.
    #[serde(serialize_with = "abstain::artifact::extended::serialize")]
    pub threshold: f64,
    /// The accepted rows.
    pub accepted: usize,
    /// Their selective risk.
    pub selective_risk: f64,
}

impl AtTarget {
    pub(crate) fn new(target: Target, curve: &RcCurve) -> Option<Self> {
        target.widest(curve).map(|knot: Knot| AtTarget {
            threshold: knot.threshold,
            accepted: knot.accepted,
            selective_risk: knot.selective_risk(),
        })
    }
}

/// Why nothing could be certified; in JSON, its text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NotCertified(pub Infeasible);

impl Serialize for NotCertified {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A method, tuned and measured.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MethodLine {
    /// The method.
    pub method: Method,
    /// The tuned estimator, unless tuning failed.
    pub estimator: Option<Estimator>,
    /// Whether it fell back to MSP.
    pub fell_back: bool,
    /// Why it could not be used.
    pub problem: Option<Problem>,
    /// NAURC on the test rows.
    pub naurc: MetricValue,
    /// AURC.
    pub aurc: MetricValue,
    /// AUROC.
    pub auroc: MetricValue,
    /// The coverage at the target.
    #[serde(rename = "kept")]
    pub coverage: MetricValue,
    /// NAURC(MSP) − NAURC(method). Where the rows were cross-fitted, the estimate is that of the
    /// estimators of the folds, and the interval that of `estimator`, which is tuned on all rows.
    pub gain: MetricValue,
}

impl MethodLine {
    /// Whether it differs from MSP: it was tuned and did not fall back.
    pub fn stands_alone(&self) -> bool {
        self.method == Method::MSP || (!self.fell_back && self.problem.is_none())
    }
}

/// Why a method cannot be used; in JSON, its text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// Tuning failed.
    Failed(Error),
    /// It gives all rows the same confidence.
    Constant {
        /// The number of classes for which it does.
        classes: usize,
    },
}

impl Problem {
    pub(super) fn of(tuned: &Result<Tuned, Error>, classes: usize) -> Option<Self> {
        match tuned {
            Err(error) => Some(Problem::Failed(error.clone())),
            Ok(tuned) => Problem::of_estimator(&tuned.best.estimator, classes),
        }
    }

    /// What is wrong with an estimator on rows of that many classes.
    pub fn of_estimator(estimator: &Estimator, classes: usize) -> Option<Self> {
        estimator.is_constant(classes).then_some(Problem::Constant { classes })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Failed(error) => error.fmt(f),
            Problem::Constant { classes } => {
                write!(f, "gives all rows of {classes} classes the same confidence")
            }
        }
    }
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A metric on the test rows of the first split, with its interval; over several splits, also its
/// mean and standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Default)]
pub struct MetricValue {
    /// On the first split; `None` where it is undefined.
    pub interval: Option<Interval>,
    /// Over the splits.
    pub spread: Option<Spread>,
}

impl From<Result<Interval, Undefined>> for MetricValue {
    fn from(interval: Result<Interval, Undefined>) -> Self {
        MetricValue { interval: interval.ok(), spread: None }
    }
}

/// The recommendation, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// The candidate method.
    pub method: Method,
    /// The estimator to use: the candidate's, or MSP.
    pub estimator: Estimator,
    /// Why.
    pub reason: Reason,
    /// The metric that decided.
    pub decided_by: Metric,
    /// By how much the candidate is better than MSP in that metric on the measured rows.
    pub gain: Option<Interval>,
    /// The objective of the estimator on the tuning rows.
    pub tuned_value: Option<f64>,
    /// MSP's.
    pub tuned_baseline: Option<f64>,
}

impl Choice {
    /// The index of the method whose estimator it is.
    pub(super) fn index(&self, mut methods: impl Iterator<Item = Method>) -> usize {
        if self.estimator == Estimator::MSP {
            return TuneReport::BASELINE;
        }
        methods.position(|method| method == self.method).unwrap_or(TuneReport::BASELINE)
    }

    /// Adds what the measured rows say; the choice itself stays as it is.
    pub(super) fn measured(&mut self, gain: Option<Interval>) {
        self.gain = gain;
        if self.reason == Reason::NotRefuted && gain.is_some_and(|gain| gain.low > 0.0) {
            self.reason = Reason::Confirmed;
        }
    }
}

/// Why an estimator was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// Better than MSP on rows that did not tune it, with confidence.
    Confirmed,
    /// Nothing speaks for MSP, but the rows are too few to confirm that it is better.
    NotRefuted,
    /// MSP is better by more than the standard errors of the veto: MSP.
    Vetoed,
    /// Not better than MSP on the tuning rows by the requested rule: MSP.
    FellBack,
    /// All tuning rows are right, or all wrong: the rule that needs no labels.
    LabelFree,
    /// Requested without confirmation.
    #[serde(rename = "as-asked")]
    AsRequested,
    /// There was no other candidate.
    OnlyMsp,
}

/// A risk-coverage curve, thinned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// Ascending.
    pub coverage: Vec<f64>,
    /// The selective risk at each coverage.
    pub selective_risk: Vec<f64>,
}

impl Curve {
    pub(super) fn of(curve: &RcCurve) -> Self {
        let points = curve.thinned_points(POINTS);
        Curve {
            coverage: points.iter().map(|point| point.coverage).collect(),
            selective_risk: points.iter().map(|point| point.selective_risk).collect(),
        }
    }
}
