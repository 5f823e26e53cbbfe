//! The page of `abstain monitor`: what is watched, and how the stream went.

use super::table::PageTable;
use super::{Detail, PageError, Tile, Verdict, render};
use crate::figure::{Axis, Figure, Layer, Panel, RuleAt};
use crate::findings;
use crate::words::{count, percent, rows};
use abstain_lab::{History, WatchResult};
use serde::Serialize;

const TEMPLATE: &str = include_str!("assets/monitor.html");
const SCRIPT: &str = include_str!("assets/monitor.js");

#[derive(Serialize)]
struct Head<'a> {
    kind: &'static str,
    title: &'a str,
    subtitle: String,
    verdict: Verdict,
    numbers: Vec<Tile>,
    table: PageTable,
    figures: Vec<Drawing>,
    panels: Vec<PanelHead<'a>>,
    evidence: PageTable,
    details: &'a [Detail],
}

#[derive(Serialize)]
struct Drawing {
    svg: String,
    caption: String,
}

/// What stands above and below a chart.
#[derive(Serialize)]
struct PanelHead<'a> {
    title: &'a str,
    caption: &'a str,
}

#[derive(Serialize)]
struct Data<'a> {
    kind: &'static str,
    report: &'a WatchResult,
    history: &'a History,
    panels: Vec<PanelData<'a>>,
}

/// A panel of a figure, for the script.
#[derive(Serialize)]
struct PanelData<'a> {
    title: &'a str,
    x: AxisData<'a>,
    y: AxisData<'a>,
    lines: Vec<LineData<'a>>,
    rules: Vec<RuleData<'a>>,
}

#[derive(Serialize)]
struct AxisData<'a> {
    label: &'a str,
    percent: bool,
    range: Option<(f64, f64)>,
}

#[derive(Serialize)]
struct LineData<'a> {
    label: &'a str,
    points: &'a [(f64, f64)],
    band: Option<&'a [(f64, f64)]>,
}

#[derive(Serialize)]
struct RuleData<'a> {
    label: &'a str,
    x: Option<f64>,
    y: Option<f64>,
}

impl<'a> PanelData<'a> {
    fn new(figure: &'a Figure, panel: &'a Panel) -> Self {
        let axis = |axis: &'a Axis| AxisData {
            label: &axis.label,
            percent: axis.percent,
            range: axis.range,
        };
        let (mut lines, mut rules) = (Vec::new(), Vec::new());
        for layer in &panel.layers {
            match layer {
                Layer::Line { label, points, band, .. } => lines.push(LineData {
                    label: label.as_deref().unwrap_or_default(),
                    points,
                    band: band.as_deref(),
                }),
                Layer::Rule { label, at, .. } => {
                    let (x, y) = match *at {
                        RuleAt::X(x) => (Some(x), None),
                        RuleAt::Y(y) => (None, Some(y)),
                        RuleAt::Diagonal => continue,
                    };
                    rules.push(RuleData { label: label.as_deref().unwrap_or_default(), x, y });
                }
                _ => {}
            }
        }
        let title = title_of(figure, panel);
        PanelData { title, x: axis(&panel.x), y: axis(&panel.y), lines, rules }
    }
}

fn title_of<'a>(figure: &'a Figure, panel: &'a Panel) -> &'a str {
    panel.title.as_deref().unwrap_or(&figure.caption)
}

/// The page of a stream.
pub fn monitor(
    title: &str,
    result: &WatchResult,
    history: &History,
    details: &[Detail],
) -> Result<String, PageError> {
    let report = &result.report;
    let shown = findings::monitor(result);
    let mut numbers = vec![Tile::new(rows(report.records), "rows watched")];
    if let Some(share) = report.coverage.share {
        let note =
            report.coverage.certified.map(|was| format!("{} of the certifying rows", percent(was)));
        numbers.push(Tile::new(percent(share), "of them accepted").noted(note));
    }
    if let Some(risk) = &report.risk {
        let labels = rows(risk.test.observations);
        let (low, high) = risk.interval;
        let tile = match risk.mean {
            Some(mean) if report.max_loss == 1.0 => {
                Tile::new(percent(mean), "of the accepted are wrong").noted(Some(format!(
                    "between {} and {}, by {labels} labels",
                    percent(low),
                    percent(high)
                )))
            }
            Some(mean) => Tile::new(crate::words::significant(mean), "mean loss of the accepted")
                .noted(Some(format!("by {labels} labels"))),
            None => Tile::new("no", "labels of accepted rows"),
        };
        numbers.push(tile);
    }
    numbers.push(match report.alarms.len() {
        0 => Tile::new("no", "alarm"),
        alarms => Tile::new(count(alarms), if alarms == 1 { "alarm" } else { "alarms" }),
    });
    let figures = findings::monitor_figures(report, history);
    let drawn = figures.iter().map(|figure| {
        let svg = figure.svg().map_err(|error| PageError::Page(error.to_string()))?;
        Ok(Drawing { svg, caption: figure.caption.clone() })
    });
    let panels = || figures.iter().flat_map(|of| of.panels.iter().map(move |panel| (of, panel)));
    let heads = panels().map(|(figure, panel)| PanelHead {
        title: title_of(figure, panel),
        caption: if panel.title.is_some() { &figure.caption } else { "" },
    });
    let subtitle = shown.about.first().map_or(String::new(), |about| about.text.clone());
    let head = Head {
        kind: "monitor",
        title,
        subtitle,
        verdict: Verdict::new(shown.findings),
        numbers,
        table: PageTable::new(&shown.sheet.unwrap_or_default()),
        figures: drawn.collect::<Result<Vec<_>, PageError>>()?,
        panels: heads.collect(),
        evidence: PageTable::new(&findings::monitor_evidence(report)),
        details,
    };
    let panels = panels().map(|(figure, panel)| PanelData::new(figure, panel)).collect();
    render(TEMPLATE, SCRIPT, &head, &Data { kind: "monitor", report: result, history, panels })
}
