//! What a page draws of a set of rows: the operating points of each estimator, bands, histograms,
//! classes, errors. All of it is counted here; a page looks it up.
//!
//! A page is mailed around, so that its size must not grow with the rows: curves are kept at some
//! thousand thresholds, classes at fewer. Every one of them is a threshold of the rows, with exact
//! counts; the cheapest and the widest are among them.

mod classes;
mod compared;
mod histogram;
mod positions;
mod surface;
mod tuned;

pub use classes::ByClass;
pub use histogram::Histogram;
pub use positions::Positions;
pub use surface::Surface;

use crate::rows::Answers;
use crate::target::Target;
use crate::tune::Curve;
use abstain::calibration::{DEFAULT_BINS, Reliability};
use abstain::certify::{bound_everywhere, upper_bound};
use abstain::{
    Error, Estimator, Intervals, Losses, Metric, RcCurve, curve::Knot, metric::MetricKind,
};
use serde::{Serialize, Serializer};

/// Evenly spaced thresholds of an estimator that a page is about, at most and at least, those of all
/// such estimators on a page, and those of one of the others.
const POSITIONS: usize = 1000;
const FEWEST_POSITIONS: usize = 50;
const ALL_POSITIONS: usize = 8000;
const OTHER_POSITIONS: usize = 150;

/// Coverages at which a band is computed, at most, at least, and in all.
const BAND: usize = 100;
const FEWEST_BAND: usize = 20;
const ALL_BANDS: usize = 2000;

/// The most confident errors that are listed, at most, at least, and in all.
const ERRORS: usize = 50;
const FEWEST_ERRORS: usize = 10;
const ALL_ERRORS: usize = 1500;

/// What each of so many gets.
fn shared(all: usize, among: usize, fewest: usize, most: usize) -> usize {
    (all / among.max(1)).clamp(fewest, most)
}

/// The rows that are drawn.
#[derive(Debug, Clone, Copy)]
pub struct DrawnRows<'a> {
    /// Their losses.
    pub losses: &'a Losses,
    /// The number of classes, where there are logits.
    pub classes: Option<usize>,
    /// The labels and predictions of the whole source, where they are known.
    pub answers: Option<&'a Answers>,
    /// Which rows of the source these are; `None` for all of them.
    pub index: Option<&'a [usize]>,
}

impl DrawnRows<'_> {
    /// Where a row is in the source.
    fn source(&self, row: usize) -> usize {
        self.index.map_or(row, |index| index[row])
    }

    /// The label of a row.
    fn label(&self, row: usize) -> Option<usize> {
        Some(self.answers?.labels.values()[self.source(row)] as usize)
    }
}

/// An estimator that is drawn.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// What it is called.
    pub name: String,
    /// The estimator, unless the confidences come from elsewhere.
    pub estimator: Option<&'a Estimator>,
    /// Its confidences on the rows.
    pub confidences: &'a [f64],
    /// What tuning tried.
    pub surface: Option<Surface>,
    /// Whether the page is about it: it is then drawn in full.
    pub lead: bool,
    /// Thresholds that must be among its positions.
    pub thresholds: Vec<f64>,
}

/// How to draw.
#[derive(Debug, Clone, Copy)]
pub struct Painter {
    /// How often bounds may fail; nothing if there are to be none, as on rows that tuned the estimator.
    pub delta: Option<f64>,
    /// What the accepted rows must meet: its threshold is among the positions.
    pub target: Target,
    /// How bands are made.
    pub intervals: Intervals,
    /// How many pictures share the page.
    pub pictures: usize,
}

/// What is drawn of a set of rows.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Picture {
    /// The rows.
    pub rows: usize,
    /// The classes.
    pub classes: Option<usize>,
    /// The subjects.
    pub methods: Vec<MethodPicture>,
    /// The curve of a confidence that sorts the rows by their loss.
    pub oracle: Curve,
}

/// What is drawn of an estimator.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MethodPicture {
    /// What it is called.
    pub name: String,
    /// The operating points.
    pub positions: Positions,
    /// The band of the selective risk.
    pub band: Option<Band>,
    /// The confidences of right and wrong rows.
    pub histogram: Histogram,
    /// Confidence against accuracy, of probabilities.
    pub reliability: Option<ReliabilityPicture>,
    /// What tuning tried.
    pub surface: Option<Surface>,
    /// The classes.
    pub by_class: Option<ByClass>,
    /// The wrong rows that it is surest of.
    pub errors: Vec<ConfidentError>,
}

/// A number that may be infinite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Number(#[serde(serialize_with = "abstain::artifact::extended::serialize")] pub f64);

/// A sum of losses. Mostly it is a count, and then written as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossSum(pub f64);

impl Serialize for LossSum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0 < 1e15 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            let count = self.0 as u64;
            return serializer.serialize_u64(count);
        }
        serializer.serialize_f64(self.0)
    }
}

/// The intervals of the selective risk at some coverages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Band {
    /// Ascending.
    pub coverage: Vec<f64>,
    /// From this selective risk …
    pub low: Vec<f64>,
    /// … to this.
    pub high: Vec<f64>,
}

/// A reliability diagram.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReliabilityPicture {
    /// The expected calibration error.
    pub ece: f64,
    /// The bins.
    pub bins: Vec<BinPicture>,
}

/// The rows whose confidence falls into one interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BinPicture {
    /// From here …
    pub lower: f64,
    /// … to here.
    pub upper: f64,
    /// How many rows.
    pub rows: usize,
    /// Their mean confidence.
    pub confidence: Option<f64>,
    /// The share of them that is right.
    pub accuracy: Option<f64>,
}

/// A wrong row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ConfidentError {
    /// Its place in the file, from 0.
    pub row: usize,
    /// Its label.
    pub label: Option<usize>,
    /// What was predicted.
    pub predicted: Option<usize>,
    /// How sure of it the estimator is.
    pub confidence: Number,
    /// The same on the paper's scale.
    pub value: Option<Number>,
}

impl Painter {
    /// Draws some estimators on the same rows.
    pub fn picture(
        &self,
        subjects: &[Subject<'_>],
        rows: &DrawnRows<'_>,
    ) -> Result<Picture, Error> {
        let losses = rows.losses;
        let leads: Vec<usize> = (0..subjects.len()).filter(|&i| subjects[i].lead).collect();
        let mut bands = self.bands(subjects, &leads, losses)?.into_iter();
        let mut methods = Vec::new();
        for subject in subjects {
            let band = if subject.lead { bands.next() } else { None };
            methods.push(self.method(subject, band, subjects.len(), leads.len(), rows)?);
        }
        Ok(Picture {
            rows: losses.values().len(),
            classes: rows.classes,
            methods,
            oracle: oracle(losses)?,
        })
    }

    /// The intervals of the selective risk at evenly spaced coverages.
    fn bands(
        &self,
        subjects: &[Subject<'_>],
        leads: &[usize],
        losses: &Losses,
    ) -> Result<Vec<Band>, Error> {
        let count = shared(ALL_BANDS, leads.len() * self.pictures, FEWEST_BAND, BAND);
        let coverages: Vec<f64> = (1..=count).map(|i| i as f64 / count as f64).collect();
        let metrics = coverages
            .iter()
            .map(|&coverage| Metric::new(MetricKind::RiskAtCoverage, &[coverage]))
            .collect::<Result<Vec<_>, _>>()?;
        let band = |&lead: &usize| {
            let intervals =
                self.intervals.intervals(&metrics, subjects[lead].confidences, losses)?;
            let mut band = Band { coverage: vec![], low: vec![], high: vec![] };
            for (&coverage, interval) in coverages.iter().zip(intervals) {
                if let Ok(interval) = interval {
                    band.coverage.push(coverage);
                    band.low.push(interval.low);
                    band.high.push(interval.high);
                }
            }
            Ok(band)
        };
        leads.iter().map(band).collect()
    }

    fn method(
        &self,
        subject: &Subject<'_>,
        band: Option<Band>,
        subjects: usize,
        leads: usize,
        rows: &DrawnRows<'_>,
    ) -> Result<MethodPicture, Error> {
        let losses = rows.losses;
        let curve = RcCurve::new(subject.confidences, losses)?;
        let in_all = leads * self.pictures.max(1);
        let even = if subject.lead {
            shared(ALL_POSITIONS, in_all, FEWEST_POSITIONS, POSITIONS)
        } else {
            OTHER_POSITIONS
        };
        // A probability is the same whatever the number of classes.
        let value_of = |confidence: f64| {
            let classes = rows.classes.unwrap_or(2);
            subject.estimator.map(|estimator| Number(estimator.value(confidence, classes)))
        };
        let knots = positions::offered(&curve, even, self.target, &subject.thresholds);
        let probabilities =
            subject.estimator.and_then(|estimator| estimator.probabilities(subject.confidences));
        Ok(MethodPicture {
            name: subject.name.clone(),
            positions: self.positions(&curve, &knots, subject.lead.then_some(&value_of), subjects),
            band,
            histogram: Histogram::new(subject.confidences, losses),
            reliability: probabilities.and_then(|values| reliability(&values, losses)),
            surface: subject.surface.clone(),
            by_class: if subject.lead {
                ByClass::new(&curve, subject.confidences, rows, in_all)
            } else {
                None
            },
            errors: errors(subject.confidences, rows, &value_of)
                .take(shared(ALL_ERRORS, subjects * self.pictures, FEWEST_ERRORS, ERRORS))
                .collect(),
        })
    }

    fn positions(
        &self,
        curve: &RcCurve,
        knots: &[Knot],
        value_of: Option<&dyn Fn(f64) -> Option<Number>>,
        subjects: usize,
    ) -> Positions {
        let delta = self.delta.filter(|_| curve.is_zero_one());
        let everywhere = |knot: &Knot| Some(bound_everywhere(knot, delta?, curve.rows(), subjects));
        let alone = |knot: &Knot| Some(upper_bound(knot.errors(), knot.accepted, delta?));
        Positions {
            accepted: knots.iter().map(|knot| knot.accepted).collect(),
            loss: knots.iter().map(|knot| LossSum(knot.loss)).collect(),
            threshold: knots.iter().map(|knot| Number(knot.threshold)).collect(),
            value: value_of.and_then(|of| knots.iter().map(|knot| of(knot.threshold)).collect()),
            bound: knots.iter().map(everywhere).collect(),
            alone: value_of.and_then(|_| knots.iter().map(alone).collect()),
        }
    }
}

/// The curve of the rows sorted by their losses.
fn oracle(losses: &Losses) -> Result<Curve, Error> {
    let values = losses.values();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut confidences = vec![0.0; values.len()];
    for (rank, &row) in order.iter().enumerate() {
        confidences[row] = -(rank as f64);
    }
    let curve = RcCurve::new(&confidences, losses)?;
    let count = OTHER_POSITIONS.min(values.len());
    let even = (1..=count).map(|i| curve.narrowest_covering(i as f64 / count as f64));
    let knots: Vec<Knot> = even.collect();
    Ok(Curve {
        coverage: knots.iter().map(|knot| knot.accepted as f64 / values.len() as f64).collect(),
        selective_risk: knots.iter().map(Knot::selective_risk).collect(),
    })
}

fn reliability(probabilities: &[f64], losses: &Losses) -> Option<ReliabilityPicture> {
    let found = Reliability::new(probabilities, losses, DEFAULT_BINS).ok()?;
    let bins = found.bins().iter().map(|bin| BinPicture {
        lower: bin.lower,
        upper: bin.upper,
        rows: bin.rows,
        confidence: bin.confidence(),
        accuracy: bin.accuracy(),
    });
    Some(ReliabilityPicture { ece: found.ece(), bins: bins.collect() })
}

/// The wrong rows, surest first.
fn errors<'a>(
    confidences: &'a [f64],
    rows: &'a DrawnRows<'_>,
    value_of: &'a dyn Fn(f64) -> Option<Number>,
) -> impl Iterator<Item = ConfidentError> + 'a {
    let losses = rows.losses.values();
    let mut wrong: Vec<usize> = (0..losses.len()).filter(|&row| losses[row] > 0.0).collect();
    // Of equally sure ones, the first in the file.
    wrong.sort_by(|&a, &b| confidences[b].total_cmp(&confidences[a]));
    let line = move |row: usize| ConfidentError {
        row: rows.source(row),
        label: rows.label(row),
        predicted: rows.answers.map(|answers| answers.predictions[rows.source(row)]),
        confidence: Number(confidences[row]),
        value: value_of(confidences[row]),
    };
    wrong.into_iter().map(line)
}
