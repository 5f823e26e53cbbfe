//! How a stream went, in a fixed number of points: the more rows, the more of them a point stands for.

use abstain::monitor::MonitorReport;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The most points of a series.
const POINTS: usize = 128;

/// How a stream went.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// By rows.
    pub rows: Vec<RowPoint>,
    /// By labels.
    pub labels: Vec<LabelPoint>,
}

/// Some rows of a stream, and what was known after them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowPoint {
    /// All rows until then.
    pub row: u64,
    /// Those of them that were accepted.
    pub accepted: u64,
    /// The limits of the running coverage.
    pub interval: (f64, f64),
    /// The natural logarithm of the evidence against the coverage of the certifying rows.
    pub coverage: Option<f64>,
    /// The same of their confidences.
    pub confidences: Option<f64>,
    /// The same of their predicted classes.
    pub predictions: Option<f64>,
}

/// Some labels of a stream, and what was known after them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelPoint {
    /// The row of the last label.
    pub row: u64,
    /// All labels of accepted rows until then.
    pub labels: u64,
    /// Their mean loss, by their weights.
    pub mean: f64,
    /// The sum of their weights.
    pub weight: f64,
    /// The limits of the running risk.
    pub interval: (f64, f64),
    /// The natural logarithm of the evidence against the target.
    pub log_e_value: f64,
    /// The mean loss in each group.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, f64>,
}

impl History {
    /// Whether a point is due after so many rows.
    pub(super) fn rows_are_due(&self, rows: u64) -> bool {
        let last = self.rows.last().map_or(0, |point| point.row);
        rows - last >= step(rows, self.rows.len())
    }

    /// Whether a point is due after so many labels of accepted rows.
    pub(super) fn labels_are_due(&self, labels: u64) -> bool {
        let last = self.labels.last().map_or(0, |point| point.labels);
        labels > last && labels - last >= step(labels, self.labels.len())
    }

    pub(super) fn push_rows(&mut self, report: &MonitorReport) {
        let coverage = &report.coverage;
        let of_tests = [&coverage.high, &coverage.low].into_iter().flatten();
        self.rows.retain(|point| point.row != report.records);
        self.rows.push(RowPoint {
            row: report.records,
            accepted: report.accepted,
            interval: coverage.interval,
            coverage: of_tests.map(|test| test.log_e_value).reduce(f64::max),
            confidences: report.confidences.map(|shift| shift.test.log_e_value),
            predictions: report.predictions.map(|shift| shift.test.log_e_value),
        });
        thin(&mut self.rows);
    }

    pub(super) fn push_labels(&mut self, report: &MonitorReport, row: u64) {
        let Some(risk) = &report.risk else { return };
        let Some(mean) = risk.mean else { return };
        let mean_of = |group: &abstain::monitor::GroupReport| {
            Some((group.group.clone(), group.risk.and_then(|risk| risk.mean)?))
        };
        let labels = risk.test.observations;
        self.labels.retain(|point| point.labels != labels);
        self.labels.push(LabelPoint {
            row,
            labels,
            mean,
            weight: risk.weight,
            interval: risk.interval,
            log_e_value: risk.test.log_e_value,
            groups: report.groups.iter().filter_map(mean_of).collect(),
        });
        thin(&mut self.labels);
    }
}

/// After how many more rows the next point is due.
fn step(rows: u64, points: usize) -> u64 {
    // Half of the points are left for what is to come.
    (rows / (points.max(POINTS / 2) as u64)).max(1)
}

/// Drops every second point where there are too many, but the last.
fn thin<T>(points: &mut Vec<T>) {
    if points.len() > POINTS {
        let mut kept = points.len().is_multiple_of(2);
        points.retain(|_| {
            kept = !kept;
            kept
        });
    }
}
