//! Certificates that may be looked for at any time: one sequential test for each of some thresholds.
//!
//! For each threshold, a test of "the risk among the rows that reach it is at least the target" rejects at
//! a share of δ, whenever the evidence suffices, and is never taken back. Thresholds form sequences from
//! high to low that start at several of them, each sequence with an equal share of δ: one is certified
//! where all of its sequence before it, and it, are. A false certificate needs a false rejection of the
//! first bad threshold of its sequence, so that all together fail with probability at most δ.
//!
//! After a change, old rows prove nothing. Then the tests start again, with half of what is left of δ.

use super::mean::{MeanTest, Starts};
use super::reference::Ranks;
use super::{Alarm, MOST_ROWS, MOST_STREAMS};
use crate::artifact::extended;
use crate::threshold::reaches;
use serde::{Deserialize, Serialize};

/// How many thresholds are tested, at most, besides the one in use.
const THRESHOLDS: usize = 11;

/// With it.
pub(super) const MOST: usize = THRESHOLDS + 1;

/// Sequences that share δ.
const SEQUENCES: usize = 4;

/// Tests of several thresholds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThresholdTests {
    /// The largest selective risk allowed.
    risk: f64,
    /// The probability with which any certificate may fail.
    delta: f64,
    /// How often the tests have started again, and at which row last.
    restarted: u32,
    since: u64,
    /// Rows since then.
    records: u64,
    /// From the highest threshold to the lowest.
    tests: Vec<ThresholdTest>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThresholdTest {
    #[serde(with = "extended")]
    at: f64,
    /// Rows that reach this threshold and not the one before.
    records: u64,
    /// Whether answers of these rows are right more often than one minus the target.
    test: MeanTest,
}

/// A threshold that was certified while labels arrived.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AnytimeCertificate {
    /// Rows with a confidence of at least this are accepted.
    #[serde(with = "extended")]
    pub threshold: f64,
    /// The largest selective risk allowed.
    pub risk: f64,
    /// How often any certificate of the stream may fail.
    pub delta: f64,
    /// The rows since the tests started.
    pub rows: u64,
    /// Those that reach the threshold.
    pub accepted: u64,
    /// Those of them with a label.
    pub labels: u64,
    /// The selective risk among them, by their weights.
    pub selective_risk: f64,
    /// The row of the stream at which the tests started.
    pub since: u64,
    /// When this threshold was certified.
    pub alarm: Alarm,
}

impl AnytimeCertificate {
    /// Checks that its numbers are consistent, as far as they show it.
    pub fn check(&self) -> Result<(), String> {
        let finite = |x: f64| x >= 0.0 && x.is_finite();
        let delta = self.delta > 0.0 && self.delta < 1.0;
        if !delta || self.risk <= 0.0 || !finite(self.risk) || !finite(self.selective_risk) {
            return Err("the certificate's risk or delta is out of range".into());
        }
        if self.threshold.is_nan() || self.accepted > self.rows {
            let AnytimeCertificate { rows, accepted, threshold, .. } = self;
            return Err(format!(
                "the certificate accepts {accepted} of {rows} rows at {threshold}"
            ));
        }
        // No evidence that certifies is below its share of delta.
        if self.alarm.log_e_value < -first_level(self.delta).ln() {
            return Err(format!("an e-value of exp({}) is too small", self.alarm.log_e_value));
        }
        Ok(())
    }
}

impl ThresholdTests {
    /// Tests of the beginnings of some bins of the confidences of a reference from a lowest one on, and of the
    /// threshold in use.
    pub(super) fn new(risk: f64, delta: f64, at: f64, lowest: f64, ranks: Option<&Ranks>) -> Self {
        let edges: Vec<f64> = ranks.map_or(Vec::new(), |ranks| {
            let step = ranks.edges.len().div_ceil(THRESHOLDS);
            ranks.edges.iter().step_by(step.max(1)).map(|edge| edge.at).collect()
        });
        let mut thresholds = edges;
        thresholds.retain(|threshold| *threshold >= lowest);
        thresholds.push(at);
        thresholds.sort_unstable_by(|a, b| b.total_cmp(a));
        thresholds.dedup();
        let test = |at: f64| ThresholdTest {
            at,
            records: 0,
            test: MeanTest::new(1.0 - risk, level(delta, 0), Starts::Once),
        };
        let tests = thresholds.into_iter().map(test).collect();
        ThresholdTests { risk, delta, restarted: 0, since: 0, records: 0, tests }
    }

    /// The first row that counts.
    pub fn since(&self) -> u64 {
        self.since
    }

    pub(super) fn record(&mut self, confidence: f64) {
        self.records += 1;
        let first = self.tests.partition_point(|test| !reaches(confidence, test.at));
        if let Some(test) = self.tests.get_mut(first) {
            test.records += 1;
        }
    }

    pub(super) fn observe(&mut self, row: u64, confidence: f64, loss: f64, weight: f64) {
        if row < self.since {
            return;
        }
        let first = self.tests.partition_point(|test| !reaches(confidence, test.at));
        for test in &mut self.tests[first..] {
            test.test.observe(row, 1.0 - loss, weight);
        }
    }

    /// Forgets all evidence: rows before this one prove nothing any more.
    pub(super) fn restart(&mut self, row: u64) {
        self.restarted += 1;
        (self.since, self.records) = (self.since.max(row), 0);
        for test in &mut self.tests {
            let target = test.test.target();
            test.records = 0;
            test.test = MeanTest::new(target, level(self.delta, self.restarted), Starts::Once);
        }
    }

    /// Rows before this one are of another distribution. Where no label was counted since the last restart,
    /// nothing is spent.
    pub(super) fn restart_since(&mut self, row: u64) {
        if row <= self.since {
            return;
        }
        match self.labels() {
            0 => self.since = row,
            _ => self.restart(row),
        }
    }

    /// The labels since the last restart of rows that reach the lowest threshold.
    pub(super) fn labels(&self) -> u64 {
        self.tests.last().map_or(0, |test| test.test.observations())
    }

    /// All thresholds that are certified now, from the highest to the lowest.
    pub fn certified(&self) -> Vec<AnytimeCertificate> {
        let mut accepted = 0;
        let mut intact = false;
        let mut found = Vec::new();
        for (place, test) in self.tests.iter().enumerate() {
            accepted += test.records;
            let Some(alarm) = test.test.alarm() else {
                intact = false;
                continue;
            };
            intact |= starts_at(place, self.tests.len());
            if intact {
                found.push(AnytimeCertificate {
                    threshold: test.at,
                    risk: self.risk,
                    delta: self.delta,
                    rows: self.records,
                    accepted,
                    labels: test.test.observations(),
                    selective_risk: 1.0 - test.test.mean().unwrap_or(0.0),
                    since: self.since,
                    alarm,
                });
            }
        }
        found
    }

    pub(super) fn merge(&mut self, other: &ThresholdTests) -> Result<(), String> {
        let thresholds =
            |tests: &ThresholdTests| tests.tests.iter().map(|t| t.at).collect::<Vec<_>>();
        if (self.risk, self.delta) != (other.risk, other.delta)
            || thresholds(self) != thresholds(other)
        {
            return Err("tests of different thresholds".into());
        }
        // Rows before the last restart of either prove nothing.
        match (self.restarted, self.since).cmp(&(other.restarted, other.since)) {
            std::cmp::Ordering::Greater => return Ok(()),
            std::cmp::Ordering::Less => {
                *self = other.clone();
                return Ok(());
            }
            std::cmp::Ordering::Equal => {}
        }
        self.records += other.records;
        for (mine, other) in self.tests.iter_mut().zip(&other.tests) {
            mine.records += other.records;
            mine.test.merge(&other.test)?;
        }
        Ok(())
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if !(self.delta > 0.0 && self.delta < 1.0) || self.tests.is_empty() {
            return Err("delta is out of range, or there is no threshold".into());
        }
        let counts = self.tests.iter().map(|test| test.records).chain([self.records, self.since]);
        if counts.into_iter().any(|count| count > MOST_ROWS) || self.restarted > MOST_STREAMS {
            return Err("a count is out of range".into());
        }
        if !self.tests.windows(2).all(|pair| pair[0].at > pair[1].at) {
            return Err("thresholds that do not fall".into());
        }
        self.tests.iter().try_for_each(|test| test.test.check())
    }
}

/// The level of each test until the first restart.
pub(super) fn first_level(delta: f64) -> f64 {
    level(delta, 0)
}

/// Whether a sequence starts at a place of so many.
fn starts_at(place: usize, places: usize) -> bool {
    (0..SEQUENCES).any(|sequence| sequence * places / SEQUENCES == place)
}

/// The level of each test after so many restarts: sequences share δ evenly, and each restart takes half of
/// what is left.
fn level(delta: f64, restarted: u32) -> f64 {
    delta * 0.5_f64.powi(restarted.min(500).cast_signed() + 1) / SEQUENCES as f64
}
