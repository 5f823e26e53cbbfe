//! The page of `abstain monitor`: what is watched, and how the stream went.

use super::table::PageTable;
use super::{Detail, PageError, Tile, Verdict, render};
use crate::findings;
use crate::words::{count, percent, rows};
use abstain_lab::{History, WatchResult};
use serde::Serialize;

const TEMPLATE: &str = include_str!("assets/monitor.html");

#[derive(Serialize)]
struct Head<'a> {
    kind: &'static str,
    title: &'a str,
    subtitle: String,
    verdict: Verdict,
    numbers: Vec<Tile>,
    table: PageTable,
    figures: Vec<Drawing>,
    details: &'a [Detail],
}

#[derive(Serialize)]
struct Drawing {
    svg: String,
    caption: String,
}

#[derive(Serialize)]
struct Data<'a> {
    kind: &'static str,
    report: &'a WatchResult,
    history: &'a History,
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
    let subtitle = shown.about.first().map_or(String::new(), |about| about.text.clone());
    let head = Head {
        kind: "monitor",
        title,
        subtitle,
        verdict: Verdict::new(shown.findings),
        numbers,
        table: PageTable::new(&shown.sheet.unwrap_or_default()),
        figures: drawn.collect::<Result<Vec<_>, PageError>>()?,
        details,
    };
    render(TEMPLATE, "", &head, &Data { kind: "monitor", report: result, history })
}
