//! The findings of a tuning result.

use super::artifact::counted_once;
use super::{Finding, Findings, Tone, tuning_figure};
use crate::sheet::{Align, Cell, Group, Heading, Mark, Sheet, Value};
use crate::words::{
    count, estimator, parameters, percent, signed, significant, target, target_percent,
};
use abstain::certify::{Certificate, Instead};
use abstain::metric::Direction::{Higher, Lower};
use abstain::{Estimator, Interval, Method};
use abstain_lab::{AtTarget, FewRows, MethodLine, MetricValue, Reason, Target, TuneReport};
use std::fmt::Write as _;

/// The methods, the curves of baseline and choice, and which estimator to use.
pub fn tuning(report: &TuneReport) -> Findings {
    let verdict_tone = match report.choice.reason {
        Reason::Confirmed => Tone::Good,
        _ => Tone::Neutral,
    };
    let mut findings = vec![
        Finding::new(verdict_tone, verdict(report)),
        Finding::new(Tone::Plain, reason(report)),
    ];
    if let Some(text) = certified(report) {
        let tone = if report.certificate.is_some() { Tone::Good } else { Tone::Bad };
        findings.push(Finding::new(tone, text));
    }
    findings.extend(few_rows(report).map(|text| Finding::new(Tone::Bad, text)));
    if report.splits > 1 {
        let text = format!(
            "The table and the coverages at the target are means over {} random splits; everything \
             else is measured on the first split.",
            report.splits
        );
        findings.push(Finding::new(Tone::Plain, text));
    }
    Findings {
        about: vec![Finding::new(Tone::Plain, heading(report))],
        sheet: Some(sheet(report)),
        figure: Some(tuning_figure(report)),
        findings,
    }
}

/// The rows and the classifier in one line.
pub(crate) fn heading(report: &TuneReport) -> String {
    let splits = match report.splits {
        1 => String::new(),
        splits => format!("; mean ± standard deviation over {splits} random splits"),
    };
    format!(
        "{}; {} classes; {}{splits}",
        rows(report),
        count(report.classes),
        quality(report.accuracy, report.zero_one),
    )
}

/// Which rows tuned, and which were measured.
fn rows(report: &TuneReport) -> String {
    let TuneReport { rows, tuning_rows, test_rows, .. } = report;
    let compared = match report.compared_rows {
        all if all == *test_rows => String::new(),
        some => format!(" (methods are compared on {} of them, drawn at random)", count(some)),
    };
    match report.folds {
        Some(folds) if tuning_rows < rows => format!(
            "{} of {} rows, drawn at random, in {folds} folds: each is measured by estimators that have \
             not seen it",
            count(*tuning_rows),
            count(*rows),
        ),
        Some(folds) => format!(
            "{} rows in {folds} folds: each is measured by estimators that have not seen it",
            count(*tuning_rows),
        ),
        None if *tuning_rows == 0 => {
            format!("{} rows{compared}; nothing is tuned", count(*test_rows))
        }
        None => {
            let (tuning, test) = (count(*tuning_rows), count(*test_rows));
            format!("{tuning} tuning rows, {test} test rows{compared}")
        }
    }
}

/// What measured the methods.
pub(super) fn measured_on(report: &TuneReport) -> &'static str {
    if report.folds.is_some() { "out of fold" } else { "on the test rows" }
}

/// How good the classifier is without abstaining.
pub(super) fn quality(accuracy: f64, zero_one: bool) -> String {
    if zero_one {
        format!("accuracy {accuracy:.3}")
    } else {
        format!("mean loss {:.3}", 1.0 - accuracy)
    }
}

/// The line of the estimator that is recommended.
pub(crate) fn chosen(report: &TuneReport) -> &MethodLine {
    &report.methods[report.chosen()]
}

fn line(report: &TuneReport, method: Method) -> Option<&MethodLine> {
    report.methods.iter().find(|line| line.method == method)
}

/// The number that is shown: the mean over splits where there are several.
pub(crate) fn value(metric: &MetricValue) -> Option<f64> {
    metric.spread.map(|spread| spread.mean).or(metric.interval.map(|interval| interval.estimate))
}

/// The same with a short table: the baseline, the chosen method and the best three of the others; of methods
/// that all rank alike, the baseline alone.
pub fn tuning_in_short(report: &TuneReport) -> Findings {
    let mut short = tuning(report);
    let choice = chosen(report).method;
    let listed: Vec<&MethodLine> =
        report.methods.iter().filter(|line| line.stands_alone()).collect();
    let Some(sheet) = &mut short.sheet else { return short };
    if rank_alike(&listed) {
        let others = listed.len() - 1;
        sheet.keep(|row| row[0].shown() == Method::MSP.to_string());
        let text = match others {
            1 => "The other method ranks these rows as MSP does.".into(),
            others => format!("All {} other methods rank these rows as MSP does.", count(others)),
        };
        sheet.notes.insert(0, text);
        return short;
    }
    let mut others = 0;
    sheet.keep(|row| {
        let method = row[0].shown();
        let named = [Method::MSP, choice].iter().any(|kept| method == kept.to_string());
        others += usize::from(!named);
        named || others <= BEST
    });
    let left = others.saturating_sub(BEST);
    if left > 0 {
        let methods = if left == 1 { "method is" } else { "methods are" };
        sheet.notes.insert(0, format!("{} more {methods} not shown.", count(left)));
    }
    short
}

/// How many methods a short table shows beside the baseline and the chosen one.
const BEST: usize = 3;

/// Whether several methods have the same ranking as the baseline, as far as its quality shows it.
fn rank_alike(lines: &[&MethodLine]) -> bool {
    let of = |line: &MethodLine| [&line.naurc, &line.auroc, &line.coverage].map(value);
    let same = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-9,
        (a, b) => a.is_none() && b.is_none(),
    };
    let [first, others @ ..] = lines else { return false };
    !others.is_empty()
        && others.iter().all(|line| of(line).into_iter().zip(of(first)).all(|(a, b)| same(a, b)))
}

/// The methods: the baseline, to which all others are compared, then the best first.
fn sheet(report: &TuneReport) -> Sheet {
    let coverage = match report.target {
        Target::Accuracy(accuracy) => format!("coverage at {}", target_percent(accuracy)),
        Target::Risk(risk) => format!("coverage at risk {}", significant(risk)),
    };
    let several = report.splits > 1;
    let choice = chosen(report).method;
    let mut lines: Vec<&MethodLine> =
        report.methods.iter().filter(|line| line.stands_alone()).collect();
    let naurc = |line: &MethodLine| value(&line.naurc).unwrap_or(f64::INFINITY);
    lines.sort_by(|a, b| {
        let is_other = |line: &MethodLine| line.method != Method::MSP;
        is_other(a).cmp(&is_other(b)).then(naurc(a).total_cmp(&naurc(b)))
    });
    Sheet {
        name: "methods".into(),
        caption: if several {
            format!("Methods on the test rows of {} random splits, mean ± std", report.splits)
        } else {
            format!("Methods {}; the gain with its 95 % interval", measured_on(report))
        },
        header: vec![vec![
            Heading::new("method"),
            Heading::new("tuned to"),
            Heading::new("NAURC").better(Lower),
            Heading::new(if several { "gain over MSP" } else { "gain over MSP [95 %]" })
                .better(Higher),
            Heading::new("AURC").better(Lower),
            Heading::new("AUROC").better(Higher),
            Heading::new(coverage).better(Higher),
        ]],
        align: vec![Align::Left, Align::Left],
        groups: vec![Group {
            label: None,
            rows: lines.into_iter().map(|line| row(line, line.method == choice)).collect(),
        }],
        notes: notes(report),
    }
}

fn row(line: &MethodLine, is_chosen: bool) -> Vec<Cell> {
    let gain = match line.method {
        Method::MSP => Cell::text(""),
        _ => with_interval(&line.gain, 3).signed(),
    };
    vec![
        Cell::text(line.method.to_string()).marked(is_chosen.then_some(Mark::Chosen)),
        Cell::text(line.estimator.as_ref().map_or(String::new(), parameters)),
        number(&line.naurc, 4),
        gain,
        number(&line.aurc, 4),
        number(&line.auroc, 4),
        number(&line.coverage, 1).percent(),
    ]
}

fn number(metric: &MetricValue, digits: usize) -> Cell {
    match (metric.spread, metric.interval) {
        (Some(spread), _) => Cell::spread(spread.mean, spread.std, digits),
        (None, Some(interval)) => Cell::number(interval.estimate, digits),
        (None, None) => Value::Missing.into(),
    }
}

fn with_interval(metric: &MetricValue, digits: usize) -> Cell {
    match (metric.spread, metric.interval) {
        (None, Some(interval)) => Cell::interval(&interval, digits),
        _ => number(metric, digits),
    }
}

/// What the table leaves out, and what its numbers are.
fn notes(report: &TuneReport) -> Vec<String> {
    let mut notes = Vec::new();
    let fell_back: Vec<String> = report
        .methods
        .iter()
        .filter(|line| line.fell_back && line.problem.is_none())
        .map(|line| line.method.to_string())
        .collect();
    if !fell_back.is_empty() {
        let methods = fell_back.join(", ");
        notes.push(format!("Fell back to MSP: {methods}."));
    }
    for line in &report.methods {
        if let Some(problem) = &line.problem {
            notes.push(format!("{}: {problem}.", line.method));
        }
    }
    if is_msp(report) && a_method_that_was_not_tested_is_better(report) {
        notes.push(format!(
            "Only {} was a candidate: the best of many on the same rows would look better than it is; \
             request another method by name.",
            report.choice.method
        ));
    }
    notes.push(
        "NAURC is 0 for an ideal confidence and 1 for a random one; gain = NAURC(MSP) − \
         NAURC(method)."
            .into(),
    );
    notes
}

fn is_msp(report: &TuneReport) -> bool {
    report.choice.estimator == Estimator::MSP
}

fn a_method_that_was_not_tested_is_better(report: &TuneReport) -> bool {
    let mut others = report
        .methods
        .iter()
        .filter(|line| line.stands_alone() && line.method != report.choice.method);
    others.any(|line| line.gain.interval.is_some_and(|gain| gain.low > 0.0))
}

/// One sentence: which estimator to use, and what it gains.
pub fn verdict(report: &TuneReport) -> String {
    let goal = target(report.target);
    let coverage = |method| line(report, method).and_then(|line| value(&line.coverage));
    let before = coverage(Method::MSP);
    if is_msp(report) {
        return match before {
            Some(0.0) => format!("Keep MSP: no threshold reaches {goal}."),
            Some(before) => {
                format!("Keep MSP: at {goal} it answers {} of the inputs.", percent(before))
            }
            None => "Keep MSP.".into(),
        };
    }
    let name = estimator(&report.choice.estimator);
    let (Some(before), Some(after)) = (before, coverage(report.choice.method)) else {
        return format!("Use {name}.");
    };
    let [before_text, after_text] = [before, after].map(percent);
    if after > before && after_text != before_text {
        return format!(
            "Use {name}: at {goal} it answers {after_text} of the inputs instead of {before_text}."
        );
    }
    let at_target = if before.max(after) > 0.0 {
        format!("at {goal} it answers {after_text} of the inputs, MSP {before_text}")
    } else {
        format!("no threshold reaches {goal}")
    };
    let naurc = |method| {
        line(report, method).map_or_else(String::new, |line| number(&line.naurc, 3).shown())
    };
    let (after, before) = (naurc(report.choice.method), naurc(Method::MSP));
    let verb = match report.choice.reason {
        Reason::AsRequested => "Using",
        _ => "Use",
    };
    format!("{verb} {name}: its NAURC is {after}, MSP's {before}; {at_target}.")
}

/// Why that estimator was chosen.
fn reason(report: &TuneReport) -> String {
    let choice = &report.choice;
    let (method, metric) = (choice.method, choice.decided_by);
    if report.zero_one && (report.accuracy == 1.0 || report.accuracy == 0.0) {
        let kind = if report.accuracy == 1.0 { "right" } else { "wrong" };
        let rest = match choice.reason {
            Reason::LabelFree => "the weights come from the logits alone",
            _ => "there is nothing to compare",
        };
        return format!("All rows are {kind}: {rest}.");
    }
    let gain = choice.gain.as_ref().map_or_else(|| "undefined".into(), bounds);
    let unseen = "measured on rows that it was not tuned on";
    // A gain that is significant, but rounds to nothing.
    let tiny = choice.gain.as_ref().is_some_and(|gain| gain.estimate.abs() < 0.0005);
    match choice.reason {
        Reason::Confirmed if !tiny => {
            format!(
                "It ranks wrong answers below right ones better than MSP: {metric} {gain}, {unseen}."
            )
        }
        Reason::Confirmed | Reason::NotRefuted => format!(
            "Here it ranks about as well as MSP: a gain in {metric} of {gain}, {unseen}. MSP is used where \
             it is clearly better."
        ),
        Reason::Vetoed if report.classes == 2 => {
            "With two classes every score of the stack ranks as MSP.".into()
        }
        Reason::Vetoed => {
            format!("{method} ranks no better than MSP on rows that it was not tuned on.")
        }
        Reason::FellBack => {
            format!("{method} fell back to MSP: it was no better on the tuning rows.")
        }
        Reason::LabelFree => "All tuning rows are right, or all wrong: its weights come from the \
                              logits alone."
            .into(),
        Reason::AsRequested => {
            format!("No gain over MSP was required; the gain in {metric} is {gain}.")
        }
        _ => "No other method could be compared with MSP.".into(),
    }
}

/// "+0.061, 95 % interval +0.022 to +0.102".
fn bounds(gain: &Interval) -> String {
    let [gain, low, high] = [gain.estimate, gain.low, gain.high].map(|number| signed(number, 3));
    format!("{gain}, 95 % interval {low} to {high}")
}

/// Says how little the accepted rows show, where even no error among them would not show the target.
/// Nothing where a certificate was requested: it says more.
pub fn few_rows(report: &TuneReport) -> Option<String> {
    if !report.zero_one || report.certificate.is_some() || report.infeasible.is_some() {
        return None;
    }
    let AtTarget { accepted, selective_risk, .. } = report.at_target?;
    let found = FewRows::of(report.target, accepted, selective_risk)?;
    Some(format!("{}.", too_few(&found, report.target)))
}

/// What so few rows show of a target.
pub(super) fn too_few(found: &FewRows, requested: Target) -> String {
    let FewRows { accepted, errors, bound, level, .. } = *found;
    let (rows, sure) = (counted(accepted, "row"), target_percent(level));
    let (errors, goal) = (counted(errors, "error"), target(requested));
    let true_value = match requested {
        Target::Accuracy(_) => {
            format!("the true accuracy may be as low as {}", percent(1.0 - bound))
        }
        Target::Risk(_) => format!("the true risk may be as high as {}", percent(bound)),
    };
    format!("{rows} cannot show {goal}: with {errors} among them {true_value} ({sure} confidence)")
}

/// "no error", "1 error", "2 errors".
fn counted(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}"),
        1 => format!("1 {what}"),
        more => format!("{} {what}s", count(more)),
    }
}

/// "95 % interval 39.7 % to 47.1 %".
pub(crate) fn coverage_limits(certificate: &Certificate) -> String {
    let (low, high) = certificate.coverage_limits(0.95);
    format!("95 % interval {} to {}", percent(low), percent(high))
}

/// What is certified, or why nothing is; nothing if no certificate was requested.
pub fn certified(report: &TuneReport) -> Option<String> {
    let goal = target(report.target);
    if let Some(certificate) = &report.certificate {
        let counted = report.counted.as_ref().map(counted_once);
        return Some(format!(
            "Certified with probability {}: {goal} or better on {} of the inputs ({}; errors: {} in {} \
             answers).{}{}",
            target_percent(1.0 - certificate.delta),
            percent(certificate.coverage()),
            coverage_limits(certificate),
            count(certificate.errors),
            count(certificate.accepted),
            if counted.is_some() { " " } else { "" },
            counted.unwrap_or_default(),
        ));
    }
    let refusal = report.infeasible.as_ref()?.0;
    let mut text = format!("No threshold for {goal} can be certified: {}.", refusal.reason);
    if let Some(Instead { risk, coverage }) = refusal.instead {
        let instead = match report.target {
            Target::Accuracy(_) => Target::of_risk(risk),
            Target::Risk(_) => Target::Risk(risk),
        };
        let _ = write!(
            text,
            " These rows could have certified {} on {} of the inputs: a target for the next rows and \
             not a certificate, because it was found by looking.",
            target(instead),
            percent(coverage)
        );
    }
    Some(text)
}
