//! What a monitor has found, and what to do about it.

use super::{Finding, Findings, Tone};
use crate::sheet::{Align, Cell, Group, Heading, Sheet};
use crate::words::{count, percent, rows as number, significant, target_percent};
use abstain::monitor::{
    MonitorReport, NamedAlarm, RiskReport, SelectedBy, SelectionReport, TestReport,
};
use abstain_lab::{RecordProblem, RecordProblemKind, WatchResult};
use std::f64::consts::LN_10;

/// The tests of a stream, its alarms, and what they mean.
pub fn monitor(result: &WatchResult) -> Findings {
    let report = &result.report;
    let accepted = match report.coverage.share {
        Some(share) => format!("{} accepted ({})", number(report.accepted), percent(share)),
        None => "none accepted".to_string(),
    };
    let from = result.first.as_ref().and_then(|first| first.time.as_ref());
    let times = match from.zip(result.last_time.as_ref()) {
        Some((first, last)) => format!(" from {first} to {last}"),
        None => String::new(),
    };
    let about = format!(
        "{} rows{times}, {accepted}, {} labels. New: {} rows, {} labels.",
        number(report.records),
        number(report.labels),
        number(result.new_records),
        number(result.new_labels),
    );
    let mut findings = alarms(result);
    if findings.is_empty() {
        findings.push(no_alarm(report));
    }
    findings.extend(selection(report));
    findings.extend(risk_now(report));
    findings.extend(certified(report));
    findings.extend(estimates(report));
    findings.extend(result.problems.iter().map(problem));
    Findings {
        about: vec![Finding::new(Tone::Neutral, about)],
        sheet: Some(sheet(result)),
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

fn sheet(result: &WatchResult) -> Sheet {
    let report = &result.report;
    let alarm = |test: &TestReport| match test.alarm {
        Some(alarm) => Cell::text(place(result, alarm.row)),
        None => Cell::text("no"),
    };
    let range = |(low, high): (f64, f64), text: &dyn Fn(f64) -> String| {
        format!("{} to {}", text(low), text(high))
    };
    let risk_row = |name: String, risk: &RiskReport, now: String| {
        let text = |value: f64| risk_text(report, value);
        let all = match risk.mean {
            Some(mean) => format!("{} ({})", text(mean), range(risk.interval, &text)),
            None => "no labels".into(),
        };
        vec![
            Cell::text(name),
            Cell::text(now),
            Cell::text(all),
            Cell::text(format!("at most {}", target_text(report, risk.target))),
            alarm(&risk.test),
        ]
    };
    let now = result.now.as_ref();
    let risk_now = now.and_then(|now| now.risk.zip(now.risk_interval)).map(|(mean, interval)| {
        let text = |value: f64| risk_text(report, value);
        format!("{} ({})", text(mean), range(interval, &text))
    });
    let mut rows = Vec::new();
    rows.extend(report.risk.iter().map(|risk| {
        risk_row("risk of accepted rows".into(), risk, risk_now.clone().unwrap_or_default())
    }));
    let coverage = &report.coverage;
    let share = coverage.share.map_or("no rows".to_string(), |share| {
        format!("{} ({})", percent(share), range(coverage.interval, &percent))
    });
    let share_now = now.map_or(String::new(), |now| {
        format!("{} ({})", percent(now.coverage), range(now.coverage_interval, &percent))
    });
    let allowed =
        coverage.allowed.map_or("not known".to_string(), |allowed| range(allowed, &percent));
    rows.push(vec![
        Cell::text("coverage"),
        Cell::text(share_now),
        Cell::text(share),
        Cell::text(allowed),
        strongest(report).map_or(Cell::text("not tested"), alarm),
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
                Cell::text(""),
                Cell::text(rank),
                Cell::text(reference),
                alarm(&shift.test),
            ]);
        }
    }
    let groups = report.groups.iter().filter_map(|group| {
        Some(risk_row(format!("risk of '{}'", group.group), group.risk.as_ref()?, String::new()))
    });
    rows.extend(groups);
    let names = ["what is watched", "now", "since the start", "expected", "alarm"];
    Sheet {
        name: "tests".into(),
        caption: "What is watched".into(),
        header: vec![names.map(Heading::new).into()],
        align: vec![Align::Left; names.len()],
        groups: vec![Group { label: None, rows }],
        notes: notes(result),
    }
}

/// The side of the coverage that there is more evidence for.
fn strongest(report: &MonitorReport) -> Option<&TestReport> {
    let tests = [report.coverage.high.as_ref(), report.coverage.low.as_ref()].into_iter().flatten();
    tests.max_by(|a, b| {
        (a.alarm.is_some(), a.log_e_value)
            .partial_cmp(&(b.alarm.is_some(), b.log_e_value))
            .unwrap_or(std::cmp::Ordering::Equal)
    })
}

/// The evidence of each test, for those who want to know how near an alarm is.
pub fn monitor_evidence(report: &MonitorReport) -> Sheet {
    let row = |name: String, test: &TestReport| {
        let raised = match test.alarm {
            Some(alarm) => format!("{} at row {}", e_value(alarm.log_e_value), number(alarm.row)),
            None => "no".into(),
        };
        vec![
            Cell::text(name),
            Cell::text(number(test.observations)),
            Cell::text(e_value(test.log_e_value)),
            Cell::text(significant(1.0 / test.level)),
            Cell::text(raised),
        ]
    };
    let mut rows = Vec::new();
    rows.extend(report.risk.iter().map(|risk| row("risk of accepted rows".into(), &risk.test)));
    rows.extend(strongest(report).map(|test| row("coverage".into(), test)));
    rows.extend(report.confidences.iter().map(|shift| row("confidences".into(), &shift.test)));
    rows.extend(
        report.predictions.iter().map(|shift| row("predicted classes".into(), &shift.test)),
    );
    let groups = report.groups.iter().filter_map(|group| {
        Some(row(format!("risk of '{}'", group.group), &group.risk.as_ref()?.test))
    });
    rows.extend(groups);
    let names = ["test", "observed", "e-value", "alarm from", "alarm"];
    let mut notes = vec![
        "An e-value is evidence against what is expected. Where it reaches the second number there is an \
         alarm, which stays."
            .to_string(),
    ];
    if !report.groups.is_empty() {
        notes.push(
            "Groups share the probability of a false alarm, so they need larger e-values.".into(),
        );
    }
    Sheet {
        name: "evidence".into(),
        caption: "Evidence of each test".into(),
        header: vec![names.map(Heading::new).into()],
        align: vec![Align::Left, Align::Right, Align::Right, Align::Right, Align::Left],
        groups: vec![Group { label: None, rows }],
        notes,
    }
}

fn notes(result: &WatchResult) -> Vec<String> {
    let report = &result.report;
    let alpha = target_percent(report.alpha);
    let mut notes = Vec::new();
    if let Some(now) = &result.now {
        let rows = match now.days {
            Some(days) => {
                let days = significant(days);
                format!("about the last {days} days, the last {} rows", number(now.rows))
            }
            None => format!("the last {} rows", number(now.rows)),
        };
        let labels = match now.labels {
            0 => String::new(),
            labels => format!("; of the risk, the {} labels that came last", number(labels)),
        };
        notes.push(format!("Now: {rows}{labels}."));
    }
    notes.push(format!(
        "An alarm stays. However often one looks, a false alarm of the risk has a probability of at most {alpha}, \
         and so has any false alarm of the other tests. Limits in brackets hold at all times at once, with a \
         probability of {}.",
        target_percent(1.0 - report.alpha),
    ));
    if report.ungrouped > 0 {
        notes.push(format!(
            "{} rows of further groups are not tested by group.",
            number(report.ungrouped)
        ));
    }
    notes
}

/// A row with what is known of it.
fn place(result: &WatchResult, row: u64) -> String {
    let known = result.place(row);
    let id = known.and_then(|place| place.id.as_ref()).map(|id| format!("id {id}"));
    let time = known.and_then(|place| {
        let time = place.time.as_ref()?;
        Some(if place.later { format!("after {time}") } else { time.clone() })
    });
    let beside: Vec<String> = [id, time].into_iter().flatten().collect();
    let row = format!("row {}", number(row));
    if beside.is_empty() { row } else { format!("{row} ({})", beside.join(", ")) }
}

/// Whether an alarm is one of a shift, which needs no labels.
fn is_shift(raised: &NamedAlarm) -> bool {
    raised.test != "risk"
}

/// What stands, one headline for each cause: what costs most first, wrong answers, then a shift that may
/// cause them.
fn alarms(result: &WatchResult) -> Vec<Finding> {
    let report = &result.report;
    let mut risks: Vec<&NamedAlarm> = report.alarms.iter().filter(|one| !is_shift(one)).collect();
    risks.sort_by_key(|raised| raised.group.is_some());
    let mut findings: Vec<Finding> = risks
        .into_iter()
        .map(|raised| Finding::new(Tone::Bad, risk_alarm(result, raised)))
        .collect();
    findings.extend(shift_alarms(result));
    findings
}

fn risk_alarm(result: &WatchResult, raised: &NamedAlarm) -> String {
    let report = &result.report;
    let at = place(result, raised.alarm.row);
    if let Some(group) = &raised.group {
        return format!(
            "ALARM at {at}: in the group '{group}' more accepted answers are wrong than promised. \
             Treat its answers as abstentions until it has a separate threshold."
        );
    }
    let target = report.risk.as_ref().map_or(0.0, |risk| risk.target);
    let since = report.risk.as_ref().and_then(|risk| risk.since_change);
    let lately = since.map_or(String::new(), |since| {
        format!(
            " Since {} it is {}, by {} labels.",
            place(result, since.row),
            risk_text(report, since.mean),
            number(since.observations)
        )
    });
    format!(
        "ALARM at {at}: the risk among accepted answers is above the {} that were promised.{lately} Do not rely \
         on accepted answers: raise the threshold to one that is certified anew, or tune and certify on new \
         rows.",
        target_text(report, target)
    )
}

/// The alarms without labels have one cause: inputs are others.
fn shift_alarms(result: &WatchResult) -> Vec<Finding> {
    let report = &result.report;
    let raised: Vec<&NamedAlarm> = report.alarms.iter().filter(|one| is_shift(one)).collect();
    let Some(first) = raised.first() else { return Vec::new() };
    let since = |alarm: &NamedAlarm| alarm.alarm.change.unwrap_or(alarm.alarm.row);
    let again = raised.iter().find(|one| one.test == "changed-again");
    let again = again.map_or(String::new(), |again| {
        format!(" They changed once more at about {}.", place(result, since(again)))
    });
    let headline = format!(
        "ALARM: inputs changed at about {}: act.{again} The certificate is about other inputs; whether accuracy \
         suffers, only labels of rows since then tell (`abstain audit`). Until they do, do not trust the \
         probabilities of being right that scores state: after a shift they are too high.",
        place(result, since(first))
    );
    let seen = raised.iter().map(|one| {
        let what = match one.test {
            "coverage-high" => "more is accepted than of the certifying rows",
            "coverage-low" => "less is accepted than of the certifying rows",
            "confidences" => "confidences are not distributed as those of the certifying rows",
            "predictions" => "classes are not predicted as often as on the certifying rows",
            _ => "confidences are not distributed as those after the alarm",
        };
        format!("{what}, at {}", place(result, one.alarm.row))
    });
    let tests = format!("Seen in: {}.", seen.collect::<Vec<_>>().join("; "));
    vec![Finding::new(Tone::Bad, headline), Finding::new(Tone::Plain, tests)]
}

/// Labels that are not of a random part of the rows.
fn selection(report: &MonitorReport) -> Vec<Finding> {
    let Some(selection) = report.selection.as_ref() else { return Vec::new() };
    let of = if report.lacks_abstained_labels { "rows" } else { "accepted rows" };
    let mut findings: Vec<Finding> = selection
        .found
        .iter()
        .map(|found| {
            let shares = format!("{} of the labels but {} of the {of}", percent(found.of_labels), percent(found.of_rows));
            let seen = match found.by {
                SelectedBy::Confidences => {
                    let from = found.confidence.map_or(String::new(), significant);
                    format!("{shares} have a confidence of at least {from}")
                }
                SelectedBy::Predictions => match found.class {
                    Some(class) => format!("{shares} are predicted as class {class}"),
                    None => format!("{shares} are predicted as some of the classes"),
                },
                SelectedBy::Groups => {
                    format!("{shares} are of the group '{}'", found.group.as_deref().unwrap_or(""))
                }
                _ => {
                    let row = number(found.row.unwrap_or(0));
                    let text = format!(
                        "Labels are of other times than rows: {shares} are from row {row} on. What labels say is \
                         about the times that they are of."
                    );
                    return Finding::new(Tone::Plain, text);
                }
            };
            let text = format!(
                "Labels are not of a random part of the {of}: {seen}. Nothing is confirmed or certified by \
                 them. Have a random part labelled, or give propensities (`abstain audit` does both); then \
                 `--restart-certification` counts only rows from then on. Where labels are random, this is said \
                 with a probability of at most {}.",
                target_percent(selection.level)
            );
            Finding::new(Tone::Bad, text)
        })
        .collect();
    if selection.unfilled > 0 {
        let text = format!(
            "{} rows that were chosen to be labelled have no label yet. Until they have, nothing is confirmed \
             or certified: those that were labelled first may be the easy ones.",
            number(selection.unfilled)
        );
        findings.push(Finding::new(Tone::Plain, text));
    }
    if selection.found_before && selection.against().next().is_none() {
        let text = "Labels before the last restart were not of a random part of the rows, so that nothing is \
                    confirmed of the risk since the start.";
        findings.push(Finding::new(Tone::Plain, text));
    }
    findings
}

fn no_alarm(report: &MonitorReport) -> Finding {
    if report.records == 0 {
        return Finding::new(Tone::Neutral, "No rows yet.");
    }
    let mut selected = report.selection.iter().flat_map(SelectionReport::against);
    if selected.next().is_some() {
        return Finding::new(
            Tone::Plain,
            "No alarm, but labels do not stand for the accepted rows.",
        );
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
    let selection = report.selection.as_ref();
    let random = selection.is_none_or(SelectionReport::may_stand_for_rows);
    // Labels of rows before a shift confirm nothing of those since.
    if risk.interval.1 > risk.target || !random || report.changed_since.is_some() {
        return None;
    }
    let at_times =
        |found: &SelectionReport| found.found.iter().any(|found| found.by == SelectedBy::Times);
    let rows = if selection.is_some_and(at_times) {
        "the risk among accepted rows of the times that labels are of"
    } else {
        "the risk among accepted rows since the start"
    };
    let high = risk_text(report, risk.interval.1);
    let text =
        format!("Confirmed by labels: {rows} is at most {high}, below the target of {target}.");
    Some(Finding::new(Tone::Good, text))
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
    let parts_text = parts.join(", ");
    let text = match report.changed_since {
        None => format!(
            "Estimated without labels, and without a guarantee: the accuracy of accepted rows since the start is \
             {parts_text}."
        ),
        Some(_) => format!(
            "What scores say of the accuracy of accepted rows, {parts_text}, is not to be trusted: inputs have \
             changed, and after a shift it is mostly too high."
        ),
    };
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
