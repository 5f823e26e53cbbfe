//! Whether a stream changes once more after an alarm of a shift.
//!
//! An alarm stays, so that the test that raised it finds no second change. The first rows after it become a
//! reference of what the stream is now, and the same test compares later rows with them. Each such test has
//! half of the level of the one before.

use super::Alarm;
use super::reference::Ranks;
use super::shift::{Order, ShiftTest};
use serde::{Deserialize, Serialize};

/// Rows after an alarm that later ones are compared with.
const ROWS: usize = 300;

/// A test for a further change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Again {
    /// The level of the next test.
    level: f64,
    seed: u64,
    /// The rows since the last alarm, until there are enough of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    first: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    test: Option<ShiftTest>,
    /// All rows, and how many changes they showed.
    rows: u64,
    changes: u32,
    /// The last of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alarm: Option<Alarm>,
}

impl Again {
    /// `level`: all tests together raise a false alarm with this probability at most.
    pub(super) fn new(level: f64, seed: u64) -> Self {
        let (first, level) = (Vec::new(), level / 2.0);
        Again { level, seed, first, test: None, rows: 0, changes: 0, alarm: None }
    }

    /// The rows since the first alarm.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// How many changes were found.
    pub(super) fn changes(&self) -> u64 {
        self.changes.into()
    }

    /// The last change that was found.
    pub(super) fn alarm(&self) -> Option<Alarm> {
        self.alarm
    }

    /// Observes a confidence, which is not NaN, and returns the alarm that it raises.
    pub(super) fn observe(&mut self, row: u64, confidence: f64) -> Option<Alarm> {
        self.rows += 1;
        let Some(test) = &mut self.test else {
            // JSON has no infinities; a number beyond all others has the same rank.
            self.first.push(confidence.clamp(f64::MIN, f64::MAX));
            if self.first.len() >= ROWS
                && let Ok(ranks) = Ranks::new(&std::mem::take(&mut self.first), self.seed)
            {
                self.test = Some(ShiftTest::new(ranks, Order::Ordered, self.level, self.seed));
            }
            return None;
        };
        if !test.observe(row, confidence.clamp(f64::MIN, f64::MAX)) {
            return None;
        }
        self.alarm = test.alarm();
        self.changes = self.changes.saturating_add(1);
        self.level /= 2.0;
        self.test = None;
        self.alarm
    }

    pub(super) fn restore(&mut self) -> Result<(), String> {
        if !(self.level > 0.0 && self.level < 1.0) || self.first.iter().any(|x| !x.is_finite()) {
            return Err("a test for a further change is not valid".into());
        }
        self.test.as_mut().map_or(Ok(()), ShiftTest::restore)
    }
}
