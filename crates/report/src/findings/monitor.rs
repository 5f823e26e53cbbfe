//! What a monitor has found, and what to do about it.

use super::{Finding, Findings, Tone};
use crate::figure::{Axis, Dash, Figure, Layer, Legend, Panel, RuleAt, Style};
use crate::sheet::{Align, Cell, Group, Heading, Sheet};
use crate::words::{count, percent, significant, target_percent};
use abstain::monitor::{MonitorReport, NamedAlarm, RiskReport, TestReport};
use abstain_lab::{
    AuditResult, History, Needed, RecordProblem, RecordProblemKind, RowPoint, WatchResult,
};
use std::f64::consts::LN_10;

/// The largest power of ten of an e-value that is drawn: beyond, there is nothing left to see.
const DRAWN_TENS: f64 = 8.0;

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

fn number(value: u64) -> String {
    count(usize::try_from(value).unwrap_or(usize::MAX))
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
        Some(alarm) => Cell::text(format!("row {}", number(alarm.row))),
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
    let mut all = vec![Group { label: None, rows }];
    let groups: Vec<Vec<Cell>> = groups.collect();
    if !groups.is_empty() {
        all.push(Group { label: Some("groups".into()), rows: groups });
    }
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
    let names = ["what is watched", "observed", "now", "expected", "e-value", "alarm"];
    Sheet {
        name: "tests".into(),
        caption: "What is watched".into(),
        header: vec![names.map(Heading::new).into()],
        align: vec![Align::Left, Align::Right, Align::Left, Align::Left, Align::Right, Align::Left],
        groups: all,
        notes,
    }
}

fn alarm(report: &MonitorReport, raised: &NamedAlarm) -> Finding {
    let row = number(raised.alarm.row);
    let text = match (raised.test, &raised.group) {
        ("risk", None) => {
            let target = report.risk.as_ref().map_or(0.0, |risk| risk.target);
            let since = report.risk.as_ref().and_then(|risk| risk.since_change);
            let lately = since.map_or(String::new(), |since| {
                format!(
                    " Since row {}, {} of {} labels were wrong.",
                    number(since.row),
                    risk_text(report, since.mean),
                    number(since.observations)
                )
            });
            format!(
                "ALARM at row {row}: more accepted answers are wrong than the {} that were promised.{lately} \
                 Do not rely on accepted answers: raise the threshold to one that is certified anew, or tune \
                 and certify on new rows.",
                target_text(report, target)
            )
        }
        ("risk", Some(group)) => format!(
            "ALARM at row {row}: in the group '{group}' more accepted answers are wrong than promised. \
             Treat its answers as abstentions until it has a threshold of its own."
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
         most {}, at any time with a probability of {}. -o FILE writes it.",
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
            "label(s) have ids that no record has; they count once a record has them"
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

/// How a stream went: coverage, risk, evidence, and risk by group.
pub fn monitor_figures(report: &MonitorReport, history: &History) -> Vec<Figure> {
    let axis = || Axis::new("Row");
    let line = |label: &str,
                points: Vec<(f64, f64)>,
                band: Option<Vec<(f64, f64)>>,
                index: usize| Layer::Line {
        label: Some(label.into()),
        points,
        band,
        style: Style::series(index).unmarked(),
    };
    let rule = |label: &str, at: f64| Layer::Rule {
        label: Some(label.into()),
        at: RuleAt::Y(at),
        style: Style::rule(Dash::Dashed),
    };
    let alarms = |tests: &[&str]| -> Vec<Layer> {
        let raised = report.alarms.iter().filter(|alarm| alarm.group.is_none());
        raised
            .filter(|alarm| tests.contains(&alarm.test))
            .take(1)
            .map(|alarm| Layer::Rule {
                label: Some("alarm".into()),
                at: RuleAt::X(alarm.alarm.row as f64),
                style: Style::rule(Dash::Dotted),
            })
            .collect()
    };
    let percent_axis = |label: &str| Axis { percent: true, ..Axis::new(label) };
    let mut panels = Vec::new();
    let running: Vec<(f64, f64)> = history
        .rows
        .iter()
        .map(|point| (point.row as f64, point.accepted as f64 / point.row.max(1) as f64))
        .collect();
    let local: Vec<(f64, f64)> = history
        .rows
        .windows(2)
        // The last point may stand for a few rows only.
        .filter(|pair| pair[1].row - pair[0].row > report.records / 200)
        .map(|pair| {
            let rows = (pair[1].row - pair[0].row).max(1) as f64;
            (pair[1].row as f64, (pair[1].accepted - pair[0].accepted) as f64 / rows)
        })
        .collect();
    let band = history.rows.iter().map(|point| point.interval).collect();
    let mut layers =
        vec![line("between points", local, None, 5), line("so far", running, Some(band), 0)];
    layers.extend(report.coverage.certified.map(|share| rule("certifying rows", share)));
    layers.extend(alarms(&["coverage-high", "coverage-low"]));
    panels.push(Panel {
        title: Some("Coverage".into()),
        x: axis(),
        y: percent_axis("Share accepted"),
        layers,
        ..Panel::default()
    });
    let risk_axis =
        |label: &str| if report.max_loss == 1.0 { percent_axis(label) } else { Axis::new(label) };
    if let Some(risk) = &report.risk {
        let points = history.labels.iter().map(|point| (point.labels as f64, point.mean)).collect();
        let band = history.labels.iter().map(|point| point.interval).collect();
        let local: Vec<(f64, f64)> = history
            .labels
            .windows(2)
            .filter(|pair| pair[1].labels - pair[0].labels > risk.test.observations / 200)
            .map(|pair| {
                let loss = pair[1].mean * pair[1].weight - pair[0].mean * pair[0].weight;
                let weight = (pair[1].weight - pair[0].weight).max(f64::MIN_POSITIVE);
                (pair[1].labels as f64, (loss / weight).max(0.0))
            })
            .collect();
        // The first labels leave everything open; they do not set the scale.
        let steady =
            history.labels.iter().filter(|point| point.labels * 10 >= risk.test.observations);
        let highest = steady.map(|point| point.interval.1).fold(2.0 * risk.target, f64::max);
        let highest =
            local.iter().map(|point| point.1).fold(highest, f64::max).min(report.max_loss);
        let layers = vec![
            line("between points", local, None, 5),
            line("so far", points, Some(band), 0),
            rule("target", risk.target),
        ];
        panels.push(Panel {
            title: Some("Risk of accepted rows".into()),
            x: Axis::new("Label of an accepted row"),
            y: Axis { range: Some((0.0, highest)), ..risk_axis("Mean loss") },
            layers,
            ..Panel::default()
        });
    }
    // Evidence is drawn by powers of ten, as a multiple of what raises the alarm: on a linear axis only the
    // last points would be seen.
    let tens = |log: f64, level: f64| ((log + level.ln()) / LN_10).min(DRAWN_TENS);
    let evidence_axis = || Axis::new("E-value over that of an alarm (10^y)");
    let needed = rule("alarm", 0.0);
    let level_of = |test: Option<TestReport>| test.map_or(1.0, |test| test.level);
    let evidence = |pick: &dyn Fn(&RowPoint) -> Option<f64>, test: Option<TestReport>| {
        let point = |point: &RowPoint| Some((point.row as f64, tens(pick(point)?, level_of(test))));
        history.rows.iter().filter_map(point).collect::<Vec<(f64, f64)>>()
    };
    let (confidences, predictions) = (report.confidences, report.predictions);
    let coverage = report.coverage.low.or(report.coverage.high);
    let series = [
        ("confidences", evidence(&|point| point.confidences, confidences.map(|shift| shift.test))),
        (
            "predicted classes",
            evidence(&|point| point.predictions, predictions.map(|shift| shift.test)),
        ),
        ("coverage", evidence(&|point| point.coverage, coverage)),
    ];
    let mut layers: Vec<Layer> = series
        .into_iter()
        .enumerate()
        .filter(|(_, (_, points))| !points.is_empty())
        .map(|(index, (name, points))| line(name, points, None, index))
        .collect();
    layers.push(needed.clone());
    panels.push(Panel {
        title: Some("Evidence of a change, without labels".into()),
        x: axis(),
        y: evidence_axis(),
        layers,
        ..Panel::default()
    });
    if let Some(risk) = &report.risk {
        let points = history
            .labels
            .iter()
            .map(|point| (point.labels as f64, tens(point.log_e_value, risk.test.level)))
            .collect();
        panels.push(Panel {
            title: Some("Evidence of a risk above the target".into()),
            x: Axis::new("Label of an accepted row"),
            y: evidence_axis(),
            layers: vec![line("risk", points, None, 0), needed],
            ..Panel::default()
        });
    }
    let mut figures = vec![Figure {
        name: "monitor".into(),
        caption: "The stream so far. Bands are limits that hold at all times at once. Above the dashed line \
                  of the e-values there is an alarm, which stays; what is above 10^8 is drawn there."
            .into(),
        panels,
        columns: 2,
        legend: Legend::Each,
    }];
    if let Some(risk) = report.risk.as_ref().filter(|_| !report.groups.is_empty()) {
        let names = report.groups.iter().map(|group| &group.group);
        let mut layers: Vec<Layer> = names
            .enumerate()
            .map(|(index, name)| {
                let points = history
                    .labels
                    .iter()
                    .filter_map(|point| Some((point.labels as f64, *point.groups.get(name)?)));
                line(name, points.collect(), None, index)
            })
            .collect();
        layers.push(rule("target", risk.target));
        figures.push(Figure {
            name: "groups".into(),
            caption: "The risk of accepted rows in each group, so far.".into(),
            panels: vec![Panel {
                x: Axis::new("Label of an accepted row"),
                y: risk_axis("Mean loss"),
                layers,
                ..Panel::default()
            }],
            columns: 1,
            legend: Legend::Each,
        });
    }
    figures
}

/// The rows to have labelled, in words.
pub fn audit(result: &AuditResult) -> Findings {
    let chosen = result.chosen.len();
    let about = format!(
        "{} of {} rows chosen: {} accepted, {} abstained from. Expected: {}.",
        count(chosen),
        number(result.rows),
        number(result.accepted),
        number(chosen as u64 - result.accepted),
        count(rounded(result.plan.expected())),
    );
    let row = |stratum: &abstain::monitor::Stratum| {
        vec![
            Cell::text(match stratum.from {
                from if from == f64::NEG_INFINITY => "any".to_string(),
                from => significant(from),
            }),
            Cell::text(if stratum.accepted { "accepted" } else { "abstained" }),
            Cell::text(number(stratum.rows)),
            Cell::text(percent(stratum.risk)),
            Cell::text(percent(stratum.propensity)),
        ]
    };
    let names = ["confidence from", "answer", "rows", "risk, assumed", "propensity"];
    let strata = result.plan.strata.iter().filter(|stratum| stratum.rows > 0);
    let sheet = Sheet {
        name: "strata".into(),
        caption: "How rows are chosen".into(),
        header: vec![names.map(Heading::new).into()],
        align: vec![Align::Right, Align::Left, Align::Right, Align::Right, Align::Right],
        groups: vec![Group { label: None, rows: strata.map(row).collect() }],
        notes: vec![
            "The assumed risk is that of the certifying rows, as if there were two more, one of them wrong. \
             Each row is chosen by itself with its propensity, so their number varies."
                .into(),
        ],
    };
    let labels = |needed: &Needed| match (needed.labels.median, needed.labels.ninety) {
        (Some(median), Some(ninety)) => {
            format!(
                "{} labels of accepted rows in the median, {} in nine of ten cases",
                number(median),
                number(ninety)
            )
        }
        (Some(median), None) => format!("{} labels of accepted rows in the median", number(median)),
        _ => "more labels than can be simulated".to_string(),
    };
    let mut findings = Vec::new();
    if let (Some(confirm), Some(target)) = (&result.confirm, result.target_risk) {
        findings.push(Finding::new(
            Tone::Neutral,
            format!(
                "To confirm the threshold at a risk of at most {}, if it is {} as on the certifying rows: {}.",
                target_percent(target),
                percent(confirm.risk),
                labels(confirm)
            ),
        ));
    }
    findings.extend(result.notice.iter().map(|needed| {
        Finding::new(
            Tone::Neutral,
            format!("To notice a risk of {}: {}.", target_percent(needed.risk), labels(needed)),
        )
    }));
    Findings {
        about: vec![Finding::new(Tone::Neutral, about)],
        sheet: Some(sheet),
        figure: None,
        findings,
    }
}

fn rounded(value: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of rows")]
    let rounded = value.round() as usize;
    rounded
}

/// The numbers of a monitor in the text format of Prometheus.
pub fn prometheus(report: &MonitorReport) -> String {
    let mut text = String::new();
    let mut metric = |name: &str, kind: &str, help: &str, values: &[(String, f64)]| {
        if values.is_empty() {
            return;
        }
        text += &format!("# HELP abstain_{name} {help}\n# TYPE abstain_{name} {kind}\n");
        for (labels, value) in values {
            let value = match *value {
                value if value == f64::INFINITY => "+Inf".to_string(),
                value if value == f64::NEG_INFINITY => "-Inf".to_string(),
                value => value.to_string(),
            };
            text += &format!("abstain_{name}{labels} {value}\n");
        }
    };
    let plain = |value: f64| vec![(String::new(), value)];
    metric("records_total", "counter", "Rows that were watched.", &plain(report.records as f64));
    metric("accepted_total", "counter", "Rows that were accepted.", &plain(report.accepted as f64));
    metric("labels_total", "counter", "Labels that were counted.", &plain(report.labels as f64));
    metric(
        "threshold",
        "gauge",
        "The confidence from which on rows are accepted.",
        &plain(report.threshold),
    );
    let group = |name: &str| format!("{{group=\"{}\"}}", escaped(name));
    let limits = |(low, high): (f64, f64)| {
        vec![("{limit=\"low\"}".to_string(), low), ("{limit=\"high\"}".to_string(), high)]
    };
    if let Some(share) = report.coverage.share {
        metric("coverage", "gauge", "The share of rows that was accepted.", &plain(share));
        let help = "Limits of the running coverage that hold at all times at once.";
        metric("coverage_limit", "gauge", help, &limits(report.coverage.interval));
    }
    if let Some(risk) = &report.risk {
        metric("risk_target", "gauge", "The largest risk that was promised.", &plain(risk.target));
        let help = "Limits of the running risk of accepted rows that hold at all times at once.";
        metric("risk_limit", "gauge", help, &limits(risk.interval));
        let whole = risk.mean.map(|mean| ("{group=\"\"}".to_string(), mean));
        let groups = report
            .groups
            .iter()
            .filter_map(|known| Some((group(&known.group), known.risk.as_ref()?.mean?)));
        let help =
            "The mean loss of accepted rows with a label; of all groups where the group is empty.";
        metric("risk", "gauge", help, &whole.into_iter().chain(groups).collect::<Vec<_>>());
    }
    let coverage = &report.coverage;
    let tests = [
        ("risk", report.risk.as_ref().map(|risk| risk.test)),
        ("coverage-high", coverage.high),
        ("coverage-low", coverage.low),
        ("confidences", report.confidences.map(|shift| shift.test)),
        ("predictions", report.predictions.map(|shift| shift.test)),
    ];
    let known: Vec<(&str, TestReport)> =
        tests.into_iter().filter_map(|(name, test)| Some((name, test?))).collect();
    let of = |name: &str| format!("{{test=\"{name}\",group=\"\"}}");
    let of_group = |name: &str| format!("{{test=\"risk\",group=\"{}\"}}", escaped(name));
    let evidence = known.iter().map(|(name, test)| (of(name), test.log_e_value));
    metric(
        "log_e_value",
        "gauge",
        "The natural logarithm of the evidence of a test.",
        &evidence.collect::<Vec<_>>(),
    );
    let flag = |raised: bool| if raised { 1.0 } else { 0.0 };
    let alarms = known.iter().map(|(name, test)| (of(name), flag(test.alarm.is_some())));
    let groups = report.groups.iter().filter_map(|group| {
        let test = group.risk.as_ref()?.test;
        Some((of_group(&group.group), flag(test.alarm.is_some())))
    });
    let help = "1 where an alarm was raised, which is never taken back.";
    metric("alarm", "gauge", help, &alarms.chain(groups).collect::<Vec<_>>());
    text
}

/// The value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
