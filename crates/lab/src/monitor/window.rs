//! What a stream is like now: the last of its rows and labels.

use super::history::History;
use super::places::Places;
use super::time::seconds;
use abstain::monitor::{MonitorReport, running_interval};
use serde::Serialize;

/// How long ago "now" begins, in days; without times, how many rows ago.
const DAYS: f64 = 7.0;
const ROWS: u64 = 1000;

/// How many labels ago it begins for these, which come late.
const LABELS: u64 = 200;

/// The last rows and labels of a stream.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Window {
    /// Over how many days the rows are, at least, if they have times.
    pub days: Option<f64>,
    /// The rows.
    pub rows: u64,
    /// The share of them that is accepted, and limits of it.
    pub coverage: f64,
    /// The limits hold at all times at once for one beginning of the window.
    pub coverage_interval: (f64, f64),
    /// The last labels of accepted rows.
    pub labels: u64,
    /// Their mean loss, by their weights.
    pub risk: Option<f64>,
    /// Limits of the risk.
    pub risk_interval: Option<(f64, f64)>,
}

/// The last rows and labels, if there are more than these.
pub(super) fn window(
    report: &MonitorReport,
    history: &History,
    places: &Places,
    last_time: Option<&str>,
) -> Option<Window> {
    let week_ago = last_time.and_then(seconds).map(|now| now - DAYS * 86_400.0);
    let of_week = week_ago.and_then(|ago| places.last_before(ago));
    let begin = of_week.unwrap_or_else(|| report.records.saturating_sub(ROWS));
    let from = history.rows.iter().rfind(|point| point.row <= begin)?;
    let rows = report.records.checked_sub(from.row).filter(|rows| *rows > 0)?;
    let accepted = report.accepted.checked_sub(from.accepted)?;
    let risk = report.risk.as_ref();
    let known = risk.map_or(0, |risk| risk.test.observations);
    let first = history.labels.iter().rfind(|point| point.labels + LABELS <= known);
    let risk = risk.zip(first).and_then(|(risk, first)| {
        let weight = risk.weight - first.weight;
        let loss = (risk.mean? * risk.weight - first.mean * first.weight).max(0.0);
        (weight > 0.0).then_some((first, weight, loss))
    });
    let limits = |(_, weight, loss): (_, f64, f64)| {
        let scale = report.max_loss;
        let (low, high) = running_interval(weight, (loss / scale).min(weight), report.alpha);
        (low * scale, high * scale)
    };
    Some(Window {
        days: of_week.map(|_| DAYS),
        rows,
        coverage: accepted as f64 / rows as f64,
        coverage_interval: running_interval(rows as f64, accepted as f64, report.alpha),
        labels: risk.map_or(0, |(first, ..)| known - first.labels),
        risk: risk.map(|(_, weight, loss)| loss / weight),
        risk_interval: risk.map(limits),
    })
}
