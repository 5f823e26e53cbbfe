//! The page of `abstain eval`: one set of rows, or several compared.

use super::model::{BASELINE, Mark, SetHead, SetView, Terms, level, page, ranking};
use super::table::PageTable;
use super::{About, DEFAULT_DELTA, Detail, PageError, Tile, Verdict};
use crate::findings::{self, Finding, Known, Tone, baseline, compared, over_sets};
use crate::words::{count, percent, target};
use abstain::{Bootstrap, Estimator, Interval, MetricKind};
use abstain_lab::SetReport;
use abstain_lab::picture::{Number, Painter, Picture};

/// The page of estimators on some sets of rows; the first set is the reference for the others.
///
/// The caller evaluates each set, draws it with [`EvalPage::painter`], and adds both with what else
/// it knows.
#[derive(Debug, Clone, Default)]
pub struct EvalPage {
    /// The sets, the reference first.
    pub sets: Vec<EvaluatedSet>,
    /// What is known about the estimator.
    pub known: Known,
    /// The estimator, unless only confidences were measured.
    pub estimator: Option<Estimator>,
    /// The loss.
    pub loss: String,
    /// How intervals and bands were made.
    pub bootstrap: Bootstrap,
    /// The title, mostly the name of the first set.
    pub title: String,
    /// The names of the classes, if they have any.
    pub class_names: Option<Vec<String>>,
    /// Details that only the caller knows, such as the program and its command.
    pub provenance: Vec<Detail>,
}

/// A set of rows that was measured.
#[derive(Debug, Clone)]
pub struct EvaluatedSet {
    /// The result.
    pub report: SetReport,
    /// What is drawn of it: the baseline first, then the others in the order of the report.
    pub picture: Picture,
    /// Further findings, such as that the estimator was tuned on these rows.
    pub notes: Vec<String>,
    /// What was read, and its SHA-256.
    pub details: Vec<Detail>,
}

impl EvalPage {
    /// How a set is drawn on a page of so many sets. Rows that the estimator was tuned on have no
    /// bounds.
    pub fn painter(
        known: Known,
        bootstrap: Bootstrap,
        report: &SetReport,
        sets: usize,
        has_bounds: bool,
    ) -> Painter {
        let delta = has_bounds.then(|| delta(known));
        Painter { delta, target: report.target, bootstrap, pictures: sets }
    }

    /// The page as HTML; nothing without a set.
    pub fn html(self) -> Result<String, PageError> {
        let Some(first) = self.sets.first().map(|set| &set.report) else {
            return Ok(String::new());
        };
        let over_all = over_sets(self.sets.iter().map(|set| &set.report), self.known);
        let subtitle = format!("{} rows, {}", count(first.rows), findings::level(first));
        let terms = Terms {
            kind: "eval",
            delta: delta(self.known),
            target: first.target,
            zero_one: first.zero_one,
        };
        let about = self.about()?;
        let known = self.known;
        let (heads, views): (Vec<SetHead>, Vec<SetView>) =
            self.sets.into_iter().map(|set| set.shown(known)).unzip();
        page(&about, &subtitle, terms, over_all, &heads, &views)
    }

    /// The details of every page of `eval`, then those of the caller.
    fn about(&self) -> Result<About, PageError> {
        let estimator = self.estimator.as_ref();
        let mut details = Vec::new();
        details.extend(estimator.map(|name| Detail::new("Estimator", name.to_string())));
        details.extend(self.sets.iter().flat_map(|set| set.details.clone()));
        details.extend([
            Detail::new("Loss", self.loss.clone()),
            Detail::new("Seed", self.bootstrap.seed.to_string()),
            Detail::new("Bootstrap replicates", self.bootstrap.replicates.to_string()),
        ]);
        details.extend(self.provenance.clone());
        let reports: Vec<&SetReport> = self.sets.iter().map(|set| &set.report).collect();
        Ok(About {
            title: self.title.clone(),
            loss: About::unusual_loss(&self.loss),
            class_names: self.class_names.clone(),
            details,
            report: serde_json::to_value(reports)?,
        })
    }
}

/// How often a bound may fail: as often as the certificate, if there is one.
fn delta(known: Known) -> f64 {
    known.certificate.map_or(DEFAULT_DELTA, |certificate| certificate.delta)
}

impl EvaluatedSet {
    /// What is read and what is drawn of the set.
    fn shown(self, known: Known) -> (SetHead, SetView) {
        let EvaluatedSet { report, picture, notes, .. } = self;
        let shown = findings::evaluation(&report, known);
        let mut sentences = shown.findings;
        if sentences.is_empty() {
            sentences = shown.about;
        }
        sentences.extend(notes.into_iter().map(|note| Finding::new(Tone::Plain, note)));
        let head = SetHead {
            name: report.name.clone(),
            verdict: Verdict::new(sentences),
            numbers: numbers(&report),
            table: PageTable::new(&shown.sheet.unwrap_or_default()),
        };
        // The page is about the first contender.
        let choice = drawn_at(&report, 0);
        // The names of contenders have their parameters.
        let no_detail = |_: &str| String::new();
        let view = SetView::new(&head, picture, no_detail, choice, marks(&report));
        (head, view)
    }
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
