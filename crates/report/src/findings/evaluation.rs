//! The findings of an evaluation on one or several sets of rows.

use super::tuning::quality;
use super::{Finding, Findings, Tone};
use crate::sheet::{Align, Cell, Group, Heading, Mark, Sheet, Value};
use crate::words::{at_least, count, percent, short, target_percent};
use abstain::metric::Direction;
use abstain::{Interval, metric::MetricKind};
use abstain_lab::{AtThreshold, Check, Known, MetricLine, Requirement, SetReport, Verdict};
use std::ops::Range;

/// The contender that the others are compared with.
pub(crate) fn baseline(report: &SetReport) -> usize {
    report.contenders.len() - 1
}

/// The contenders that are compared with the baseline.
pub(crate) fn compared(report: &SetReport) -> Range<usize> {
    0..baseline(report)
}

/// How good the classifier is without abstaining.
pub(crate) fn level(report: &SetReport) -> String {
    quality(report.accuracy, report.zero_one)
}

/// The metrics of a set of rows, and what they say about the estimators.
pub fn evaluation(report: &SetReport, known: Known) -> Findings {
    let title = format!("{}: {} rows, {}", report.name, count(report.rows), level(report));
    let mut findings: Vec<Finding> =
        compared(report).map(|contender| comparison(report, contender, known)).collect();
    findings.extend(at_threshold(report, known));
    findings.extend(
        report
            .verdict
            .iter()
            .flat_map(|verdict| verdict.checks.iter().map(|check| requirement(report, check))),
    );
    Findings {
        about: vec![Finding::new(Tone::Neutral, title)],
        sheet: Some(sheet(report)),
        figure: None,
        findings,
    }
}

/// Several sets of rows compared, one row a set.
pub fn summary(reports: &[SetReport], known: Known) -> Findings {
    let row = |report: &SetReport| {
        let verdict = match report.verdicts.first() {
            Some(Verdict::Better) => "better",
            Some(Verdict::Worse) => "WORSE",
            Some(Verdict::Unclear) => "not clear",
            Some(_) => "the same",
            None => "",
        };
        vec![
            Cell::text(&report.name),
            Cell::count(report.rows),
            Cell::text(level(report)),
            Cell::text(verdict),
        ]
    };
    let names = ["set", "rows", "classifier", "against the baseline"];
    let sheet = Sheet {
        name: "sets".into(),
        caption: "The sets of rows".into(),
        header: vec![names.map(Heading::new).into()],
        align: vec![Align::Left, Align::Right, Align::Left, Align::Left],
        groups: vec![Group { label: None, rows: reports.iter().map(row).collect() }],
        notes: Vec::new(),
    };
    let findings = over_sets(reports.iter(), known).into_iter().collect();
    Findings { sheet: Some(sheet), findings, ..Findings::default() }
}

/// The metrics of all contenders, and the differences to the baseline.
fn sheet(report: &SetReport) -> Sheet {
    let name = &report.contenders[baseline(report)];
    let mut header = vec![Heading::new("metric")];
    header.extend(report.contenders.iter().map(Heading::new));
    header.extend(compared(report).map(|contender| {
        Heading::new(match compared(report).len() {
            1 => format!("difference to {name}"),
            _ => format!("{} − {name}", report.contenders[contender]),
        })
    }));
    let mut rows: Vec<Vec<Cell>> =
        report.metrics.iter().map(|line| metric_row(report, line)).collect();
    for (name, values) in [("ECE", &report.ece), ("NLL", &report.nll)] {
        if values.iter().any(Option::is_some) {
            let cell = |value: &Option<f64>| {
                value.map_or(Value::Missing.into(), |value| Cell::number(value, 4))
            };
            let mut row = vec![metric_name(name, Direction::Lower)];
            row.extend(values.iter().map(cell));
            row.extend(compared(report).map(|_| Cell::text("")));
            rows.push(row);
        }
    }
    let undefined =
        |line: &MetricLine| line.undefined.as_ref().map(|why| format!("{} is {why}.", line.metric));
    let weighted = report.weights.map(|weights| {
        format!(
            "Rows count by their weights, which sum to {}; they say as much as {} rows of equal weight. \
             Intervals are those of a bootstrap of the rows with their weights.",
            short(weights.sum, 3),
            short(weights.effective_rows, 1)
        )
    });
    Sheet {
        name: "metrics".into(),
        caption: format!("Metrics on {}, with 95 % intervals", report.name),
        header: vec![header],
        align: vec![Align::Left],
        groups: vec![Group { label: None, rows }],
        notes: weighted.into_iter().chain(report.metrics.iter().filter_map(undefined)).collect(),
    }
}

fn metric_name(name: impl Into<String>, better: Direction) -> Cell {
    Cell::text(name).marked(Some(Mark::Better(better)))
}

fn metric_row(report: &SetReport, line: &MetricLine) -> Vec<Cell> {
    let kind = line.metric.kind();
    let cell = |interval: &Option<Interval>| match interval {
        None => Value::Missing.into(),
        Some(interval) if matches!(kind, MetricKind::Sac | MetricKind::CoverageAtRisk) => {
            Cell::interval(interval, 1).percent()
        }
        Some(interval) => Cell::interval(interval, 4),
    };
    let mut row = vec![metric_name(line.metric.to_string(), line.metric.better())];
    row.extend(line.values.iter().map(cell));
    row.extend(line.differences[compared(report)].iter().map(|difference| match kind {
        // Accuracy is the same whatever the confidence.
        MetricKind::Accuracy => Cell::text(""),
        _ => cell(difference).signed(),
    }));
    row
}

/// How a contender compares with the baseline.
fn comparison(report: &SetReport, contender: usize, known: Known) -> Finding {
    let (name, baseline) = (&report.contenders[contender], &report.contenders[baseline(report)]);
    let tuned = known.tuned && contender == 0;
    match report.verdicts[contender] {
        Verdict::Better => {
            Finding::new(Tone::Good, format!("{name} is better than {baseline} here."))
        }
        Verdict::Worse if tuned => {
            let text = format!(
                "{name} is WORSE than {baseline} here: these rows differ from the tuning rows. Use \
                 {baseline} for them, or tune on rows like them."
            );
            Finding::new(Tone::Bad, text)
        }
        Verdict::Worse => Finding::new(Tone::Bad, format!("{name} is WORSE than {baseline} here.")),
        Verdict::Unclear => {
            let text = format!("These rows do not show whether {name} is better than {baseline}.");
            Finding::new(Tone::Neutral, text)
        }
        _ => Finding::new(Tone::Neutral, format!("{name} ranks as {baseline} here.")),
    }
}

/// Fewer answers than this are called few.
const FEW_ANSWERS: f64 = 200.0;

/// What the threshold does, and whether that agrees with its certificate.
fn at_threshold(report: &SetReport, known: Known) -> Option<Finding> {
    let AtThreshold { whose, coverage, selective_risk, risk_bounds, .. } = report.threshold?;
    let name = &report.contenders[whose];
    let Some(risk) = selective_risk else {
        let text = format!("At its threshold {name} answers none of these inputs.");
        return Some(Finding::new(Tone::Bad, text));
    };
    let answers = format!("At its threshold {name} answers {} of the inputs", percent(coverage));
    let Some([least, most]) = risk_bounds else {
        // Counted errors have bounds, unless they are weighted.
        let text = if report.zero_one {
            let correct = percent(1.0 - risk);
            format!("{answers}, {correct} of them correctly, by weight (without a bound).")
        } else {
            format!("{answers}, with a mean loss of {risk:.4}.")
        };
        return Some(Finding::new(Tone::Neutral, text));
    };
    let text = format!(
        "{answers}, {} of them correctly (95 % bound: at least {})",
        percent(1.0 - risk),
        at_least(1.0 - most)
    );
    let Some(certificate) = known.certificate else {
        return Some(Finding::new(Tone::Neutral, text + "."));
    };
    let certified = format!("the {} that was certified", target_percent(1.0 - certificate.risk));
    let (tone, text) = if risk <= certificate.risk {
        (Tone::Good, format!("{text}, in line with {certified}."))
    } else if least <= certificate.risk {
        let few = report.rows as f64 * coverage < FEW_ANSWERS;
        let chance =
            if few { "with so few answers this may be chance" } else { "this may be chance" };
        (Tone::Neutral, format!("{text}. That is below {certified}; {chance}."))
    } else {
        let shift = "these rows differ from the certifying rows";
        (Tone::Bad, format!("{text}. That is LESS than {certified}: {shift}."))
    };
    Some(Finding::new(tone, text))
}

/// Whether a requirement is met.
fn requirement(report: &SetReport, check: &Check) -> Finding {
    let Check { check, value, limits, bound, passed, .. } = *check;
    let found = match (check, value, limits) {
        (Requirement::TargetRisk, Some(value), Some([least, _])) if report.zero_one => format!(
            "{} of the answers are wrong (95 % bound: at least {}); {} are allowed",
            percent(value),
            at_least(least),
            target_percent(bound)
        ),
        (Requirement::TargetRisk, Some(value), Some([least, _])) => format!(
            "the answers have a mean loss of {value:.4} (95 % bound: at least {least:.4}); {bound} is allowed"
        ),
        (Requirement::MinCoverage, Some(value), _) => {
            format!(
                "{} of the inputs are answered; {} are required",
                percent(value),
                target_percent(bound)
            )
        }
        (Requirement::MinAccuracy, Some(value), _) => {
            let what = if report.threshold.is_some() { "answers" } else { "predictions" };
            let (value, bound) = (percent(value), target_percent(bound));
            format!("{value} of the {what} are correct; {bound} are required")
        }
        _ => "no input is answered".into(),
    };
    if passed {
        Finding::new(Tone::Good, format!("Requirement met: {found}."))
    } else {
        Finding::new(Tone::Bad, format!("Requirement NOT met: {found}."))
    }
}

/// The estimator on all sets in one sentence: whoever reads no further must not miss the bad one.
pub(crate) fn over_sets<'a>(
    reports: impl Iterator<Item = &'a SetReport>,
    known: Known,
) -> Option<Finding> {
    let reports: Vec<&SetReport> = reports.collect();
    let first = reports.first().filter(|_| reports.len() > 1)?;
    let on = |is: &dyn Fn(&SetReport) -> bool| -> Vec<&str> {
        reports.iter().filter(|report| is(report)).map(|report| &report.name[..]).collect()
    };
    let verdict = |wanted: &[Verdict]| {
        on(&|report| report.verdicts.first().is_some_and(|verdict| wanted.contains(verdict)))
    };
    let worse = verdict(&[Verdict::Worse]);
    let better = verdict(&[Verdict::Better]);
    let fails =
        on(&|report| at_threshold(report, known).is_some_and(|finding| finding.tone == Tone::Bad));
    let tone = match (worse.is_empty() && fails.is_empty(), better.is_empty()) {
        (false, _) => Tone::Bad,
        (true, false) => Tone::Good,
        (true, true) => Tone::Neutral,
    };
    let groups = [
        ("WORSE on", worse),
        ("better on", better),
        ("not clearly different on", verdict(&[Verdict::Unclear, Verdict::Same])),
        ("its threshold fails on", fails),
    ];
    let parts: Vec<String> = groups
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(words, names)| match names.len() {
            all if all == reports.len() => format!("{words} all {all} sets"),
            few if few <= 3 => format!("{words} {}", names.join(", ")),
            many => format!("{words} {many} of {} sets", reports.len()),
        })
        .collect();
    let name = &first.contenders[0];
    let subject = if compared(first).is_empty() {
        name.clone()
    } else {
        format!("{name} against {}", first.contenders[baseline(first)])
    };
    (!parts.is_empty()).then(|| Finding::new(tone, format!("{subject}: {}.", parts.join("; "))))
}
