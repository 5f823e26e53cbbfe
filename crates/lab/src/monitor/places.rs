//! What some rows of a stream are called: their identifiers and times, beside their numbers.

use serde::{Deserialize, Serialize};

/// The most rows that are remembered for their times.
const ROWS: usize = 64;

/// The most rows at which alarms were raised.
const ALARMS: usize = 64;

/// A row, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RowPlace {
    /// Its number in the stream, from 0.
    pub row: u64,
    /// Its identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Whether the time is that of some row before it: this row is not remembered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub later: bool,
}

impl RowPlace {
    pub(super) fn new(row: u64, id: Option<&str>, time: Option<&str>) -> Self {
        let (id, time) = (id.map(str::to_string), time.map(str::to_string));
        RowPlace { row, id, time, later: false }
    }
}

/// Some rows of a stream: the first, some of the others, and those that raised alarms.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Places {
    some: Vec<RowPlace>,
    alarms: Vec<RowPlace>,
}

impl Places {
    pub(super) fn is_empty(&self) -> bool {
        self.some.is_empty() && self.alarms.is_empty()
    }

    /// Remembers some of the rows, the fewer the more there are.
    pub(super) fn see(&mut self, row: u64, id: Option<&str>, time: Option<&str>) {
        if id.is_none() && time.is_none() {
            return;
        }
        let step = row / (ROWS as u64 / 2);
        if self.some.last().is_some_and(|last| row < last.row.saturating_add(step.max(1))) {
            return;
        }
        self.some.push(RowPlace::new(row, id, time));
        if self.some.len() > ROWS {
            // The first stays.
            let mut kept = false;
            self.some.retain(|_| {
                kept = !kept;
                kept
            });
        }
    }

    /// Remembers a row that raised an alarm.
    pub(super) fn alarm(&mut self, place: RowPlace) {
        if self.alarms.len() < ALARMS && (place.id.is_some() || place.time.is_some()) {
            self.alarms.push(place);
        }
    }

    /// What is known of a row; of the last one before it that is remembered, its time.
    pub(super) fn of(&self, row: u64) -> Option<RowPlace> {
        if let Some(place) = self.alarms.iter().chain(&self.some).find(|place| place.row == row) {
            return Some(place.clone());
        }
        let before = self.some.iter().chain(&self.alarms).filter(|place| place.row < row);
        let time = before.max_by_key(|place| place.row)?.time.clone();
        time.is_some().then_some(RowPlace { row, id: None, time, later: true })
    }

    /// The first row.
    pub(super) fn first(&self) -> Option<&RowPlace> {
        self.some.first()
    }

    /// The last row of which the time is at or before some seconds since 1970.
    pub(super) fn last_before(&self, seconds: f64) -> Option<u64> {
        let time = |place: &&RowPlace| place.time.as_deref().and_then(super::time::seconds);
        let before = self.some.iter().filter(|place| time(place).is_some_and(|at| at <= seconds));
        before.map(|place| place.row).max()
    }
}
