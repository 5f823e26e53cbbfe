//! How a stream went, in figures.

use crate::figure::{Axis, Dash, Figure, Layer, Legend, Panel, RuleAt, Style};
use abstain::monitor::{MonitorReport, RiskReport, TestReport};
use abstain_lab::{History, RowPoint};
use std::f64::consts::LN_10;

/// The largest power of ten of an e-value that is drawn: beyond, there is nothing left to see.
const DRAWN_TENS: f64 = 8.0;

/// Points that stand for less than this part of all rows are too noisy to be joined.
const SHORTEST: u64 = 200;

type Points = Vec<(f64, f64)>;

/// How a stream went: coverage, risk, evidence, and risk by group.
pub fn monitor_figures(report: &MonitorReport, history: &History) -> Vec<Figure> {
    let mut panels = vec![coverage(report, history)];
    panels.extend(report.risk.as_ref().map(|risk| risk_so_far(report, risk, history)));
    panels.push(evidence_of_change(report, history));
    panels.extend(report.risk.as_ref().map(|risk| evidence_of_risk(risk, history)));
    let stream = Figure {
        name: "monitor".into(),
        caption: "The stream so far. Bands are limits that hold at all times at once. Above the dashed line \
                  of the e-values there is an alarm, which stays; what is above 10^8 is drawn there."
            .into(),
        panels,
        columns: 2,
        legend: Legend::Each,
    };
    let groups = report.risk.as_ref().filter(|_| !report.groups.is_empty());
    let groups = groups.map(|risk| by_group(report, risk, history));
    std::iter::once(stream).chain(groups).collect()
}

fn line(label: &str, points: Points, band: Option<Points>, index: usize) -> Layer {
    let style = Style::series(index).unmarked();
    Layer::Line { label: Some(label.into()), points, band, style }
}

fn rule(label: &str, at: RuleAt, dash: Dash) -> Layer {
    Layer::Rule { label: Some(label.into()), at, style: Style::rule(dash) }
}

fn risk_axis(report: &MonitorReport) -> Axis {
    Axis { percent: report.max_loss == 1.0, ..Axis::new("Mean loss") }
}

fn coverage(report: &MonitorReport, history: &History) -> Panel {
    let running = history
        .rows
        .iter()
        .map(|point| (point.row as f64, point.accepted as f64 / point.row.max(1) as f64));
    let local = history
        .rows
        .windows(2)
        .filter(|pair| pair[1].row - pair[0].row > report.records / SHORTEST)
        .map(|pair| {
            let rows = (pair[1].row - pair[0].row).max(1) as f64;
            (pair[1].row as f64, (pair[1].accepted - pair[0].accepted) as f64 / rows)
        });
    let band = history.rows.iter().map(|point| point.interval).collect();
    let mut layers = vec![
        line("between points", local.collect(), None, 5),
        line("so far", running.collect(), Some(band), 0),
    ];
    let certified = report.coverage.certified;
    layers.extend(certified.map(|share| rule("certifying rows", RuleAt::Y(share), Dash::Dashed)));
    let raised = report.alarms.iter().find(|alarm| alarm.test.starts_with("coverage"));
    layers
        .extend(raised.map(|alarm| rule("alarm", RuleAt::X(alarm.alarm.row as f64), Dash::Dotted)));
    Panel {
        title: Some("Coverage".into()),
        x: Axis::new("Row"),
        y: Axis { percent: true, ..Axis::new("Share accepted") },
        layers,
        ..Panel::default()
    }
}

fn risk_so_far(report: &MonitorReport, risk: &RiskReport, history: &History) -> Panel {
    let points = history.labels.iter().map(|point| (point.labels as f64, point.mean));
    let band = history.labels.iter().map(|point| point.interval).collect();
    let all = risk.test.observations;
    let local: Points = history
        .labels
        .windows(2)
        .filter(|pair| pair[1].labels - pair[0].labels > all / SHORTEST)
        .map(|pair| {
            let loss = pair[1].mean * pair[1].weight - pair[0].mean * pair[0].weight;
            let weight = (pair[1].weight - pair[0].weight).max(f64::MIN_POSITIVE);
            (pair[1].labels as f64, (loss / weight).max(0.0))
        })
        .collect();
    // The first labels leave everything open; they do not set the scale.
    let steady = history.labels.iter().filter(|point| point.labels * 10 >= all);
    let highest = steady.map(|point| point.interval.1).fold(2.0 * risk.target, f64::max);
    let highest = local.iter().map(|point| point.1).fold(highest, f64::max).min(report.max_loss);
    Panel {
        title: Some("Risk of accepted rows".into()),
        x: Axis::new("Label of an accepted row"),
        y: Axis { range: Some((0.0, highest)), ..risk_axis(report) },
        layers: vec![
            line("between points", local, None, 5),
            line("so far", points.collect(), Some(band), 0),
            rule("target", RuleAt::Y(risk.target), Dash::Dashed),
        ],
        ..Panel::default()
    }
}

/// Evidence as a multiple of what raises the alarm, in powers of ten: on a linear axis only the last points
/// would be seen.
fn tens(log_e_value: f64, level: f64) -> f64 {
    ((log_e_value + level.ln()) / LN_10).min(DRAWN_TENS)
}

fn evidence_panel(title: &str, x: &str, mut layers: Vec<Layer>) -> Panel {
    layers.push(rule("alarm", RuleAt::Y(0.0), Dash::Dashed));
    Panel {
        title: Some(title.into()),
        x: Axis::new(x),
        y: Axis::new("E-value over that of an alarm (10^y)"),
        layers,
        ..Panel::default()
    }
}

fn evidence_of_change(report: &MonitorReport, history: &History) -> Panel {
    let evidence = |pick: &dyn Fn(&RowPoint) -> Option<f64>, test: Option<TestReport>| -> Points {
        let level = test.map_or(1.0, |test| test.level);
        let point = |point: &RowPoint| Some((point.row as f64, tens(pick(point)?, level)));
        history.rows.iter().filter_map(point).collect()
    };
    let confidences = report.confidences.map(|shift| shift.test);
    let predictions = report.predictions.map(|shift| shift.test);
    let coverage = report.coverage.low.or(report.coverage.high);
    let series = [
        ("confidences", evidence(&|point| point.confidences, confidences)),
        ("predicted classes", evidence(&|point| point.predictions, predictions)),
        ("coverage", evidence(&|point| point.coverage, coverage)),
    ];
    let drawn = series.into_iter().enumerate().filter(|(_, (_, points))| !points.is_empty());
    let layers = drawn.map(|(index, (name, points))| line(name, points, None, index)).collect();
    evidence_panel("Evidence of a change, without labels", "Row", layers)
}

fn evidence_of_risk(risk: &RiskReport, history: &History) -> Panel {
    let points = history
        .labels
        .iter()
        .map(|point| (point.labels as f64, tens(point.log_e_value, risk.test.level)));
    let layers = vec![line("risk", points.collect(), None, 0)];
    evidence_panel("Evidence of a risk above the target", "Label of an accepted row", layers)
}

fn by_group(report: &MonitorReport, risk: &RiskReport, history: &History) -> Figure {
    let of_group = |(index, name): (usize, &String)| {
        let points = history
            .labels
            .iter()
            .filter_map(|point| Some((point.labels as f64, *point.groups.get(name)?)));
        line(name, points.collect(), None, index)
    };
    let names = report.groups.iter().map(|group| &group.group);
    let mut layers: Vec<Layer> = names.enumerate().map(of_group).collect();
    layers.push(rule("target", RuleAt::Y(risk.target), Dash::Dashed));
    Figure {
        name: "groups".into(),
        caption: "The risk of accepted rows in each group, so far.".into(),
        panels: vec![Panel {
            x: Axis::new("Label of an accepted row"),
            y: risk_axis(report),
            layers,
            ..Panel::default()
        }],
        columns: 1,
        legend: Legend::Each,
    }
}
