//! What `abstain eval` found on a set.

use crate::table::{Align, Table};
use crate::words::{BAD, GOOD, QUIET, STRONG, at_least, count, percent, styled, target_percent};
use abstain::metric::Direction;
use abstain::{Interval, MetricKind};
use abstain_lab::{EvaluateResult, Known, MetricLine, Seen, SetReport, Verdict};
use std::fmt::Write;

/// What else is to be known of a set that was measured.
pub fn evaluation_notes(result: &EvaluateResult) -> Vec<String> {
    let seen = result.seen.map(|seen| match seen {
        Seen::Tuned => "the estimator was tuned on some of these rows".to_string(),
        _ => "the estimator was chosen, and its threshold found, on these rows".to_string(),
    });
    let name = result.contenders.all().next().map_or("", |contender| &contender.name);
    let problem = result.problem.as_ref().map(|problem| format!("{name} {problem}"));
    seen.into_iter().chain(problem).collect()
}

/// The metrics of a set, and what they say of the estimator.
pub fn evaluation(report: &SetReport, known: Known) -> String {
    let mut text = String::new();
    let title = format!("{}: {} rows, {}", report.name, count(report.rows), level(report));
    let _ = writeln!(text, "{}", styled(STRONG, &title));
    let _ = write!(text, "{}", table(report));
    for line in &report.metrics {
        if let Some(why) = &line.undefined {
            let _ = writeln!(text, " {}", styled(QUIET, &format!("{} is {why}.", line.metric)));
        }
    }
    for (index, verdict) in report.verdicts.iter().enumerate() {
        let style = match verdict {
            Verdict::Better => GOOD,
            Verdict::Worse => BAD,
            _ => STRONG,
        };
        let tuned = known.tuned == Some(index);
        let _ = writeln!(text, "{}", styled(style, &sentence(report, index, *verdict, tuned)));
    }
    if let Some((style, sentence)) = threshold(report, known.promised) {
        let _ = writeln!(text, "{}", styled(style, &sentence));
    }
    text
}

/// How good the classifier itself is.
pub(crate) fn level(report: &SetReport) -> String {
    if report.zero_one {
        format!("accuracy {:.3}", report.accuracy)
    } else {
        format!("mean loss {:.3}", 1.0 - report.accuracy)
    }
}

/// Several sets side by side, one line a set.
pub fn summary(reports: &[SetReport]) -> String {
    let mut table = Table::new(&[
        ("set", Align::Left),
        ("rows", Align::Right),
        ("classifier", Align::Left),
        ("against the baseline", Align::Left),
    ]);
    for report in reports {
        let word = match report.verdicts.first() {
            Some(Verdict::Better) => "better",
            Some(Verdict::Worse) => "WORSE",
            Some(Verdict::Unclear) => "cannot be told",
            Some(_) => "the same",
            None => "",
        };
        table.row([report.name.clone(), count(report.rows), level(report), word.to_string()]);
    }
    table.to_string()
}

fn table(report: &SetReport) -> Table {
    let others = report.contenders.len() - 1;
    let baseline = &report.contenders[others];
    let differences: Vec<String> = match others {
        1 => vec![format!("difference to {baseline}")],
        _ => report.contenders[..others].iter().map(|own| format!("{own} − {baseline}")).collect(),
    };
    let mut columns = vec![("metric", Align::Left)];
    columns.extend(report.contenders.iter().map(|name| (&name[..], Align::Right)));
    columns.extend(differences.iter().map(|name| (&name[..], Align::Right)));
    let mut table = Table::new(&columns);
    for line in &report.metrics {
        let direction = match line.metric.better() {
            Direction::Lower => "↓",
            Direction::Higher => "↑",
        };
        let mut cells = vec![format!("{} {direction}", line.metric)];
        cells.extend(line.values.iter().map(|value| cell(line, value.as_ref(), false)));
        for own in &line.differences[..others] {
            // Accuracy is the same whatever the confidence.
            let moves = line.metric.kind() != MetricKind::Accuracy;
            cells.push(if moves { cell(line, own.as_ref(), true) } else { String::new() });
        }
        table.row(cells);
    }
    if report.ece.iter().any(Option::is_some) {
        let mut cells = vec!["ECE ↓".to_string()];
        cells.extend(report.ece.iter().map(|own| own.map_or("—".into(), |x| format!("{x:.4}"))));
        cells.extend((0..others).map(|_| String::new()));
        table.row(cells);
    }
    table
}

fn cell(line: &MetricLine, value: Option<&Interval>, signed: bool) -> String {
    let Some(Interval { estimate, low, high, .. }) = value else { return "—".into() };
    let shares = matches!(line.metric.kind(), MetricKind::Sac | MetricKind::CoverageAtRisk);
    match (shares, signed) {
        (true, true) => {
            format!("{:+.1} [{:+.1}, {:+.1}] %", 100.0 * estimate, 100.0 * low, 100.0 * high)
        }
        (true, false) => {
            format!("{:.1} [{:.1}, {:.1}] %", 100.0 * estimate, 100.0 * low, 100.0 * high)
        }
        (false, true) => format!("{estimate:+.4} [{low:+.4}, {high:+.4}]"),
        (false, false) => format!("{estimate:.4} [{low:.4}, {high:.4}]"),
    }
}

pub(crate) fn sentence(report: &SetReport, index: usize, verdict: Verdict, tuned: bool) -> String {
    let name = &report.contenders[index];
    let baseline = &report.contenders[report.contenders.len() - 1];
    match verdict {
        Verdict::Better => format!("{name} is better than {baseline} here."),
        Verdict::Worse if tuned => format!(
            "{name} is WORSE than {baseline} here: these rows are not like those it was tuned on. \
             Use {baseline} for them, or tune on some of them."
        ),
        Verdict::Worse => format!("{name} is WORSE than {baseline} here."),
        Verdict::Unclear => {
            format!("Whether {name} is better than {baseline} here cannot be told.")
        }
        _ => format!("{name} ranks as {baseline} here."),
    }
}

pub(crate) fn threshold(
    report: &SetReport,
    promised: Option<f64>,
) -> Option<(anstyle::Style, String)> {
    let own = report.threshold.as_ref()?;
    let Some(risk) = own.selective_risk else {
        return Some((BAD, "At its threshold it answers none of these inputs.".into()));
    };
    let mut text = format!(
        "At its threshold it answers {} of the inputs, {} of them rightly",
        percent(own.coverage),
        percent(1.0 - risk)
    );
    let Some([least, most]) = own.risk_bounds else {
        let text = format!(
            "At its threshold it answers {} of the inputs, with a mean loss of {risk:.4}.",
            percent(own.coverage)
        );
        return Some((STRONG, text));
    };
    let _ = write!(text, " (95 % bound: at least {})", at_least(1.0 - most));
    Some(match promised {
        None => (STRONG, text + "."),
        Some(promised) => {
            let wanted = target_percent(1.0 - promised);
            if risk <= promised {
                (GOOD, format!("{text}, in line with the {wanted} that was certified."))
            } else if least <= promised {
                let few = "so few answers may miss it by chance";
                (STRONG, format!("{text}. That is below the {wanted} that was certified; {few}."))
            } else {
                let elsewhere = "these rows are not like those that it was certified on";
                (
                    BAD,
                    format!(
                        "{text}. That is LESS than the {wanted} that was certified: {elsewhere}."
                    ),
                )
            }
        }
    })
}
