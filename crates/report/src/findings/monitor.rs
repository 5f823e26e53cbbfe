//! What a monitor has found, and what to do about it.

use super::{Finding, Findings, Tone};
use crate::sheet::{Align, Cell, Group, Heading, Sheet};
use crate::words::{count, percent, rows as number, significant, target_percent};
use abstain::monitor::{MonitorReport, NamedAlarm, RiskReport, TestReport};
use abstain_lab::{RecordProblem, RecordProblemKind, WatchResult};
use std::f64::consts::LN_10;

/// The tests of a stream, its alarms, and what they mean.
pub fn monitor(result: &WatchResult) -> Findings {
    let report = &result.report;
    let accepted = match report.coverage.share {
        Some(share) => format!("{} accepted ({})", number(report.accepted), percent(share)),
        None => "none accepted".to_string(),
    };
    let about = format!(
        "{} rows, {accepted}, {} labels. New: {} rows, {} labels.",
        number(report.records),
        number(report.labels),
        number(result.new_records),
        number(result.new_labels),
    );
    // What costs most comes first: wrong answers, then a shift that may cause them.
    let mut alarms: Vec<&NamedAlarm> = report.alarms.iter().collect();
    alarms.sort_by_key(|raised| (raised.test != "risk", raised.group.is_some()));
    let mut findings: Vec<Finding> = alarms.iter().map(|raised| alarm(report, raised)).collect();
    if findings.is_empty() {
        findings.push(no_alarm(report));
    }
    findings.extend(risk_now(report));
    findings.extend(certified(report));
    findings.extend(estimates(report));
    findings.extend(result.problems.iter().map(problem));
    Findings {
        about: vec![Finding::new(Tone::Neutral, about)],
        sheet: Some(sheet(report)),
        figure: None,
        findings,
    }
}

/// A risk: in per cent, unless losses are on another scale.
fn risk_text(report: &MonitorReport, risk: f64) -> String {
    if report.max_loss == 1.0 { percent(risk) } else { significant(risk) }
}

fn target_text(report: &MonitorReport, risk: f64) -> String {
    if report.max_loss == 1.0 { target_percent(risk) } else { significant(risk) }
}

/// An e-value, which may be astronomically large.
fn e_value(log: f64) -> String {
    if log.abs() < 9.0 {
        return significant(log.exp());
    }
    let tens = log / LN_10;
    format!("{:.1}e{}", 10.0_f64.powf(tens - tens.floor()), tens.floor())
}

fn sheet(report: &MonitorReport) -> Sheet {
    let alarm = |test: &TestReport| match test.alarm {
        Some(alarm) => {
            Cell::text(format!("row {}, at {}", number(alarm.row), e_value(alarm.log_e_value)))
        }
        None => Cell::text("no"),
    };
    let evidence = |test: &TestReport| {
        Cell::text(format!("{} of {}", e_value(test.log_e_value), significant(1.0 / test.level)))
    };
    let observed = |test: &TestReport| Cell::text(number(test.observations));
    let range = |(low, high): (f64, f64), text: &dyn Fn(f64) -> String| {
        format!("{} to {}", text(low), text(high))
    };
    let risk_row = |name: String, risk: &RiskReport| {
        let text = |value: f64| risk_text(report, value);
        let now = match risk.mean {
            Some(mean) => format!("{} ({})", text(mean), range(risk.interval, &text)),
            None => "no labels".into(),
        };
        vec![
            Cell::text(name),
            observed(&risk.test),
            Cell::text(now),
            Cell::text(format!("at most {}", target_text(report, risk.target))),
            evidence(&risk.test),
            alarm(&risk.test),
        ]
    };
    let mut rows = Vec::new();
    rows.extend(report.risk.iter().map(|risk| risk_row("risk of accepted rows".into(), risk)));
    let coverage = &report.coverage;
    let tests = [coverage.high.as_ref(), coverage.low.as_ref()].into_iter().flatten();
    let strongest = tests.max_by(|a, b| {
        (a.alarm.is_some(), a.log_e_value)
            .partial_cmp(&(b.alarm.is_some(), b.log_e_value))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let share = coverage.share.map_or("no rows".to_string(), |share| {
        format!("{} ({})", percent(share), range(coverage.interval, &percent))
    });
    let allowed =
        coverage.allowed.map_or("not known".to_string(), |allowed| range(allowed, &percent));
    rows.push(vec![
        Cell::text("coverage"),
        Cell::text(number(report.records)),
        Cell::text(share),
        Cell::text(allowed),
        strongest.map_or(Cell::text(""), evidence),
        strongest.map_or(Cell::text("not tested"), alarm),
    ]);
    for (name, shift) in
        [("confidences", &report.confidences), ("predicted classes", &report.predictions)]
    {
        if let Some(shift) = shift {
            let rank = shift
                .mean_rank
                .map_or("no rows".to_string(), |rank| format!("mean rank {}", significant(rank)));
            let reference = format!("as {} rows", count(shift.reference_rows));
            rows.push(vec![
                Cell::text(name),
                observed(&shift.test),
                Cell::text(rank),
                Cell::text(reference),
                evidence(&shift.test),
                alarm(&shift.test),
            ]);
        }
    }
    let groups = report.groups.iter().filter_map(|group| {
        Some(risk_row(format!("risk of '{}'", group.group), group.risk.as_ref()?))
    });
    rows.extend(groups);
    let names = ["what is watched", "observed", "now", "expected", "e-value", "alarm"];
    Sheet {
        name: "tests".into(),
        caption: "What is watched".into(),
        header: vec![names.map(Heading::new).into()],
        align: vec![Align::Left, Align::Right, Align::Left, Align::Left, Align::Right, Align::Left],
        groups: vec![Group { label: None, rows }],
        notes: notes(report),
    }
}

fn notes(report: &MonitorReport) -> Vec<String> {
    let alpha = target_percent(report.alpha);
    let mut notes = vec![format!(
        "An e-value is evidence against what is expected; where it reaches the second number there is an alarm, \
         which stays. However often one looks, a false alarm of the risk has a probability of at most {alpha}, and \
         so has any false alarm of the other tests. Limits in brackets hold at all times at once, with a \
         probability of {}.",
        target_percent(1.0 - report.alpha),
    )];
    if !report.groups.is_empty() {
        notes.push(
            "Groups share the probability of a false alarm, so they need larger e-values.".into(),
        );
    }
    if report.ungrouped > 0 {
        notes.push(format!(
            "{} rows of further groups are not tested by group.",
            number(report.ungrouped)
        ));
    }
    notes
}

fn alarm(report: &MonitorReport, raised: &NamedAlarm) -> Finding {
    let row = number(raised.alarm.row);
    let text = match (raised.test, &raised.group) {
        ("risk", None) => {
            let target = report.risk.as_ref().map_or(0.0, |risk| risk.target);
            let since = report.risk.as_ref().and_then(|risk| risk.since_change);
            let lately = since.map_or(String::new(), |since| {
                format!(
                    " Since row {} the risk is {}, by {} labels.",
                    number(since.row),
                    risk_text(report, since.mean),
                    number(since.observations)
                )
            });
            format!(
                "ALARM at row {row}: the risk among accepted answers is above the {} that were promised.{lately} \
                 Do not rely on accepted answers: raise the threshold to one that is certified anew, or tune \
                 and certify on new rows.",
                target_text(report, target)
            )
        }
        ("risk", Some(group)) => format!(
            "ALARM at row {row}: in the group '{group}' more accepted answers are wrong than promised. \
             Treat its answers as abstentions until it has a separate threshold."
        ),
        ("coverage-high", _) => format!(
            "ALARM at row {row}: more is accepted than of the certifying rows. The classifier is surer than \
             before, which need not mean better: have accepted rows labelled (`abstain audit`)."
        ),
        ("coverage-low", _) => format!(
            "ALARM at row {row}: less is accepted than of the certifying rows. Inputs have become harder or \
             different; more work goes to whoever handles abstentions."
        ),
        ("confidences", _) => format!(
            "ALARM at row {row}: confidences are not distributed as those of the certifying rows. The \
             certificate is about other inputs; whether accuracy suffers, only labels tell \
             (`abstain audit`)."
        ),
        _ => format!(
            "ALARM at row {row}: classes are not predicted as often as on the certifying rows. Inputs have \
             changed; whether accuracy suffers, only labels tell (`abstain audit`)."
        ),
    };
    Finding::new(Tone::Bad, text)
}

fn no_alarm(report: &MonitorReport) -> Finding {
    if report.records == 0 {
        return Finding::new(Tone::Neutral, "No rows yet.");
    }
    Finding::new(Tone::Good, "No alarm: nothing contradicts what was promised.")
}

/// What labels say now.
fn risk_now(report: &MonitorReport) -> Option<Finding> {
    let Some(risk) = &report.risk else {
        let text =
            "The risk is not watched: the threshold has no target. Give one with --target-risk.";
        return Some(Finding::new(Tone::Plain, text));
    };
    let target = target_text(report, risk.target);
    if risk.mean.is_none() {
        let text = format!(
            "No label of an accepted row has come, so nothing is known of the risk, which was to be at most \
             {target}. `abstain audit` chooses rows to have labelled."
        );
        return Some(Finding::new(Tone::Plain, text));
    }
    if risk.interval.1 <= risk.target {
        let text = format!(
            "Confirmed by labels: the risk among accepted rows so far is at most {}, below the target of \
             {target}.",
            risk_text(report, risk.interval.1)
        );
        return Some(Finding::new(Tone::Good, text));
    }
    None
}

fn certified(report: &MonitorReport) -> Option<Finding> {
    let lowest = report.certified.last()?;
    // Where labels of rows came later than the rows, none was counted since the tests started.
    let accepts = match lowest.rows {
        0 => String::new(),
        rows => format!(", which accepts {}", percent(lowest.accepted as f64 / rows as f64)),
    };
    let compared = match lowest.threshold.total_cmp(&report.threshold) {
        std::cmp::Ordering::Less => "lower than the one in use",
        std::cmp::Ordering::Equal => "the one in use",
        std::cmp::Ordering::Greater => "higher than the one in use",
    };
    let text = format!(
        "Certified anew by {} labels since row {}: the threshold {} ({compared}){accepts}, at a risk of at \
         most {}, at any time with a probability of {}.",
        number(lowest.labels),
        number(lowest.since),
        significant(lowest.threshold),
        target_text(report, lowest.risk),
        target_percent(1.0 - lowest.delta),
    );
    Some(Finding::new(Tone::Good, text))
}

fn estimates(report: &MonitorReport) -> Option<Finding> {
    let estimates = &report.estimates;
    let mut parts = Vec::new();
    if let Some(share) = estimates.thresholded_confidence {
        parts.push(format!("{} by average thresholded confidence", percent(share)));
    }
    if let Some(mean) = estimates.probability {
        parts.push(format!("{} by the probabilities of the stack", percent(mean)));
    }
    let text = format!(
        "Estimated without labels, and without a guarantee: the accuracy of accepted rows is {}.",
        parts.join(", ")
    );
    (!parts.is_empty()).then(|| Finding::new(Tone::Plain, text))
}

/// What is wrong with records or labels, and what was done with them.
fn problem(problem: &RecordProblem) -> Finding {
    let RecordProblem { kind, count: found, examples, .. } = problem;
    let what = match kind {
        RecordProblemKind::UnknownId => {
            "label(s) have ids that no record of these files has; they count once one has them"
        }
        RecordProblemKind::RepeatedId => {
            "label(s) have ids that several records have; they do not count"
        }
        RecordProblemKind::LabelRepeated => "label(s) came twice; they count once",
        RecordProblemKind::LabelChanged => {
            "label(s) differ from those counted before; the first ones stay"
        }
        RecordProblemKind::TimeBackwards => {
            "record(s) are earlier than the one before; the order of the file is what counts"
        }
        _ => {
            return Finding::new(
                Tone::Bad,
                "Not one label equals its prediction: they may be numbered or spelt in another way.",
            );
        }
    };
    Finding::new(Tone::Neutral, format!("{} {what}: {}.", number(*found), examples.join(", ")))
}
