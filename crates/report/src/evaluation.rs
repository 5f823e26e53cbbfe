//! What `abstain eval` found on a set.

use crate::table::{Align, Table};
use crate::words::{BAD, GOOD, QUIET, STRONG, count, percent, styled, target_percent};
use abstain::metric::Direction;
use abstain::{Interval, MetricKind};
use abstain_lab::{MetricLine, SetReport, Verdict};
use std::fmt::Write;

/// The metrics of a set, and what they say of the estimator. `promised` is the risk that its
/// certificate promises.
pub fn evaluation(report: &SetReport, promised: Option<f64>) -> String {
    let mut text = String::new();
    let title =
        format!("{}: {} rows, accuracy {:.3}", report.name, count(report.rows), report.accuracy);
    let _ = writeln!(text, "{}", styled(STRONG, &title));
    let _ = write!(text, "{}", table(report));
    for line in &report.metrics {
        if let Some(why) = &line.undefined {
            let _ = writeln!(text, " {}", styled(QUIET, &format!("{} is {why}.", line.metric)));
        }
    }
    if let Some(verdict) = verdict(report) {
        let style = match report.verdict {
            Verdict::Better => GOOD,
            Verdict::Worse => BAD,
            Verdict::Unclear | Verdict::Same => STRONG,
        };
        let _ = writeln!(text, "{}", styled(style, &verdict));
    }
    if let Some((style, sentence)) = threshold(report, promised) {
        let _ = writeln!(text, "{}", styled(style, &sentence));
    }
    text
}

/// Several sets side by side, one line a set.
pub fn summary(reports: &[SetReport]) -> String {
    let mut table = Table::new(&[
        ("set", Align::Left),
        ("rows", Align::Right),
        ("accuracy", Align::Right),
        ("against the baseline", Align::Left),
    ]);
    for report in reports {
        let word = match report.verdict {
            Verdict::Better => "better",
            Verdict::Worse => "WORSE",
            Verdict::Unclear => "cannot be told",
            Verdict::Same => "the same",
        };
        table.row([
            report.name.clone(),
            count(report.rows),
            format!("{:.3}", report.accuracy),
            word.to_string(),
        ]);
    }
    table.to_string()
}

fn table(report: &SetReport) -> Table {
    let several = report.contenders.len() > 1;
    let baseline = report.contenders.last().cloned().unwrap_or_default();
    let difference = format!("difference to {baseline}");
    let mut columns = vec![("metric", Align::Left)];
    columns.extend(report.contenders.iter().map(|name| (&name[..], Align::Right)));
    if several {
        columns.push((&difference, Align::Right));
    }
    let mut table = Table::new(&columns);
    for line in &report.metrics {
        let direction = match line.metric.better() {
            Direction::Lower => "↓",
            Direction::Higher => "↑",
        };
        let mut cells = vec![format!("{} {direction}", line.metric)];
        cells.extend(line.values.iter().map(|value| cell(line, value.as_ref(), false)));
        if several {
            // Accuracy is the same whatever the confidence.
            let moves = line.metric.kind() != MetricKind::Accuracy;
            let own = line.differences.first().and_then(Option::as_ref).filter(|_| moves);
            cells.push(if moves { cell(line, own, true) } else { String::new() });
        }
        table.row(cells);
    }
    if report.ece.iter().any(Option::is_some) {
        let mut cells = vec!["ECE ↓".to_string()];
        cells.extend(report.ece.iter().map(|own| own.map_or("—".into(), |x| format!("{x:.4}"))));
        if several {
            cells.push(String::new());
        }
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

fn verdict(report: &SetReport) -> Option<String> {
    let (name, baseline) = (report.contenders.first()?, report.contenders.last()?);
    if report.contenders.len() < 2 {
        return None;
    }
    Some(match report.verdict {
        Verdict::Better => format!("{name} is better than {baseline} here."),
        Verdict::Worse => format!(
            "{name} is WORSE than {baseline} here: these rows are not like those it was tuned on. \
             Use {baseline} for them, or tune on some of them."
        ),
        Verdict::Unclear => {
            format!("Whether {name} is better than {baseline} here cannot be told.")
        }
        Verdict::Same => format!("{name} ranks as {baseline} here."),
    })
}

fn threshold(report: &SetReport, promised: Option<f64>) -> Option<(anstyle::Style, String)> {
    let own = report.threshold.as_ref()?;
    let Some(risk) = own.selective_risk else {
        return Some((BAD, "At its threshold it answers none of these inputs.".into()));
    };
    let mut text = format!(
        "At its threshold it answers {} of the inputs, {} of them rightly",
        percent(own.coverage),
        percent(1.0 - risk)
    );
    if let Some(bound) = own.risk_bound {
        let _ = write!(text, " (at least {} at 95 %)", percent(1.0 - bound));
    }
    Some(match promised {
        Some(promised) if risk > promised => {
            let wanted = target_percent(1.0 - promised);
            (BAD, format!("{text}. That is LESS than the {wanted} that was certified elsewhere."))
        }
        Some(promised) => {
            (GOOD, format!("{text}, as certified ({}).", target_percent(1.0 - promised)))
        }
        None => (STRONG, text + "."),
    })
}
