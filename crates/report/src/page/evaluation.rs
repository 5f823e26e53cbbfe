//! The page of `abstain eval`: one set of rows, or several compared.

use super::model::{AcceptedBy, BASELINE, Mark, SetHead, SetView, Terms, level, page, ranking};
use super::table::PageTable;
use super::{About, Detail, PageError, Tile, Verdict};
use crate::findings::sentences::evaluation_notes;
use crate::findings::{self, Finding, Tone, baseline, compared, over_sets};
use crate::words::{count, percent, target};
use abstain::{Interval, Intervals, metric::MetricKind};
use abstain_lab::picture::{Number, Picture};
use abstain_lab::{EvaluateResult, SetReport};

/// The page of estimators on some sets of rows; the first set is the reference for the others.
#[derive(Debug, Clone, Default)]
pub struct EvalPage {
    /// The sets, the reference first.
    pub sets: Vec<EvaluatedSet>,
    /// The title; the name of the first set if there is none.
    pub title: Option<String>,
    /// The names of the classes, if they have any.
    pub class_names: Option<Vec<String>>,
    /// Details that only the caller knows, such as the program and its command.
    pub provenance: Vec<Detail>,
}

/// A set of rows that was measured.
#[derive(Debug, Clone)]
pub struct EvaluatedSet {
    /// The result.
    pub result: EvaluateResult,
    /// The files it was read from, with their SHA-256.
    pub files: Vec<Detail>,
}

impl From<EvaluateResult> for EvaluatedSet {
    fn from(result: EvaluateResult) -> Self {
        EvaluatedSet { result, files: Vec::new() }
    }
}

impl EvalPage {
    /// The page as HTML; nothing without a set.
    pub fn html(self) -> Result<String, PageError> {
        let Some(first) = self.sets.first().map(|set| &set.result) else {
            return Ok(String::new());
        };
        if self.sets.iter().any(|set| set.result.weights.is_some()) {
            return Err(PageError::Weights);
        }
        let known = first.known;
        let over_all = over_sets(self.sets.iter().map(|set| &set.result.report), known);
        let report = &first.report;
        let subtitle = format!("{} rows, {}", count(report.rows), findings::level(report));
        let terms = Terms {
            kind: "eval",
            delta: known.delta(),
            target: report.target,
            zero_one: report.zero_one,
        };
        let about = self.about(first)?;
        let mut pictures: Vec<Picture> = Vec::new();
        for set in &self.sets {
            pictures.push(set.result.picture(self.sets.len(), pictures.first())?);
        }
        let names = self.class_names;
        let sets = self.sets.into_iter().zip(pictures);
        let (heads, views): (Vec<SetHead>, Vec<SetView>) =
            sets.map(|(set, picture)| shown(&set.result, names.as_deref(), picture)).unzip();
        page(&about, &subtitle, terms, over_all, &heads, &views)
    }

    /// The details of every page of `eval`, then those of the caller.
    fn about(&self, first: &EvaluateResult) -> Result<About, PageError> {
        let mut details = Vec::new();
        let estimator = first.estimator.as_ref();
        details.extend(estimator.map(|name| Detail::new("Estimator", name.to_string())));
        for EvaluatedSet { result, files } in &self.sets {
            let term = match self.sets.len() {
                1 => "Rows and labels".to_string(),
                _ => format!("{}: rows and labels", result.report.name),
            };
            details.extend(result.fingerprint.as_ref().map(|hash| Detail::new(term, hash)));
            details.extend(files.clone());
        }
        details.extend([
            Detail::new("Loss", first.loss.clone()),
            Detail::new("Intervals", intervals(first.intervals)),
        ]);
        details.extend(self.provenance.clone());
        let reports: Vec<&SetReport> = self.sets.iter().map(|set| &set.result.report).collect();
        Ok(About {
            title: self.title.clone().unwrap_or_else(|| first.report.name.clone()),
            loss: About::unusual_loss(&first.loss),
            class_names: self.class_names.clone(),
            details,
            report: serde_json::to_value(reports)?,
        })
    }
}

/// How intervals were made.
fn intervals(how: Intervals) -> String {
    match how.replicates {
        None => "closed forms".into(),
        Some(replicates) => {
            format!("{} bootstrap replicates, seed {}", count(replicates), how.seed)
        }
    }
}

/// What is read and what is drawn of a set.
fn shown(
    result: &EvaluateResult,
    class_names: Option<&[String]>,
    picture: Picture,
) -> (SetHead, SetView) {
    let report = &result.report;
    let shown = findings::evaluation(report, result.known);
    let mut sentences = shown.findings;
    if sentences.is_empty() {
        sentences = shown.about;
    }
    sentences.splice(0..0, findings::of_classes(&report.warnings, class_names));
    let notes = evaluation_notes(result).into_iter();
    sentences.extend(notes.map(|note| Finding::new(Tone::Plain, note)));
    let head = SetHead {
        name: report.name.clone(),
        verdict: Verdict::new(sentences),
        numbers: numbers(report),
        table: PageTable::new(&shown.sheet.unwrap_or_default()),
        accepted: AcceptedBy::all(report.breakdown.as_ref()),
    };
    // The page is about the first contender.
    let choice = drawn_at(report, 0);
    // The names of contenders have their parameters.
    let no_detail = |_: &str| String::new();
    let view = SetView::new(&head, picture, no_detail, choice, marks(report));
    (head, view)
}

/// Where a picture draws a contender: the baseline first, then the others in their order.
fn drawn_at(report: &SetReport, contender: usize) -> usize {
    if contender == baseline(report) { BASELINE } else { BASELINE + 1 + contender }
}

/// The estimator's threshold as an operating point.
fn marks(report: &SetReport) -> Vec<Mark> {
    let threshold = report.threshold.iter().filter(|threshold| threshold.accepted > 0);
    let mark = |threshold: &abstain_lab::AtThreshold| Mark {
        name: "the estimator's threshold",
        method: drawn_at(report, threshold.whose),
        accepted: threshold.accepted,
        threshold: Number(threshold.at),
        note: None,
    };
    threshold.map(mark).collect()
}

/// The three most telling numbers of a set.
fn numbers(report: &SetReport) -> Vec<Tile> {
    let name = &report.contenders[0];
    let mut tiles = vec![level(report.accuracy, report.zero_one)];
    if let Some(threshold) = &report.threshold
        && let Some(risk) = threshold.selective_risk
    {
        let quality = if report.zero_one {
            format!("{} of them correctly", percent(1.0 - risk))
        } else {
            format!("with a mean loss of {risk:.4}")
        };
        let whose = &report.contenders[threshold.whose];
        let label = format!("of the inputs are answered at the threshold of {whose}, {quality}");
        tiles.push(Tile::new(percent(threshold.coverage), label));
    }
    if let Some((coverage, before)) = metric(report, &[MetricKind::Sac, MetricKind::CoverageAtRisk])
    {
        let goal = target(report.target);
        let label = format!("of the inputs could be answered at {goal} by {name}");
        let baseline = &report.contenders[baseline(report)];
        let note = before.map(|before| format!("{baseline}: {}", percent(before)));
        tiles.push(Tile::new(percent(coverage), label).noted(note));
    }
    if let Some((auroc, before)) = metric(report, &[MetricKind::Auroc]) {
        tiles.push(ranking(auroc, before));
    }
    tiles.push(Tile::new(count(report.rows), "rows were measured"));
    tiles.truncate(3);
    tiles
}

/// The first of some metrics that was measured: of the first contender, and of the baseline if that
/// is another one.
fn metric(report: &SetReport, wanted: &[MetricKind]) -> Option<(f64, Option<f64>)> {
    let line = report.metrics.iter().find(|line| wanted.contains(&line.metric.kind()))?;
    let estimate = |value: &Option<Interval>| value.map(|interval| interval.estimate);
    let of_baseline = line.values.get(baseline(report)).and_then(estimate);
    let first = line.values.first().and_then(estimate)?;
    Some((first, of_baseline.filter(|_| !compared(report).is_empty())))
}
