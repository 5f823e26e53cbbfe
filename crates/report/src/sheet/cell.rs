//! What stands in a cell, and which cell is best.

use crate::words;
use abstain::metric::Direction;
use std::fmt::Write;

/// What stands for a value that is not there.
pub(super) const MISSING: &str = "—";

/// From here on fixed decimals would only fill the page.
const HUGE: f64 = 1e6;

/// More decimals than a number has would be invented.
const MOST_DIGITS: usize = 17;

/// A value and how many decimals of it are shown.
///
/// Numbers that round to nothing have no sign, those from a million on are scientific, and those
/// that are not finite are missing. CSV has all digits, so that reading gives the same number.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// A dash; in CSV an empty field.
    #[default]
    Missing,
    /// Words.
    Text(String),
    /// A whole number, with commas between the thousands; in CSV without.
    Count(usize),
    /// A number.
    Number {
        /// The number.
        value: f64,
        /// Its decimals.
        digits: usize,
    },
    /// A share in per cent; in CSV the share itself.
    Share {
        /// The share, 1 for all.
        value: f64,
        /// The decimals of the percentage.
        digits: usize,
    },
    /// A mean and its standard deviation; in CSV columns `X` and `X (std)`. A standard deviation
    /// that is not finite, as that of a single run, is left out.
    Spread {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        std: f64,
        /// The decimals of both.
        digits: usize,
    },
    /// An estimate and its interval; in CSV columns `X`, `X (low)` and `X (high)`.
    Interval {
        /// The estimate.
        value: f64,
        /// Where the interval begins.
        low: f64,
        /// Where it ends.
        high: f64,
        /// The decimals of all three.
        digits: usize,
    },
}

impl Value {
    /// The value itself, as it is shown; nothing if it is missing.
    pub(crate) fn main(&self) -> Option<String> {
        match self {
            Value::Missing => None,
            Value::Text(text) => Some(super::plain(text)),
            Value::Count(count) => Some(words::count(*count)),
            Value::Share { value, digits } => {
                decimals(100.0 * value, *digits).map(|text| text + " %")
            }
            Value::Number { value, digits }
            | Value::Spread { mean: value, digits, .. }
            | Value::Interval { value, digits, .. } => decimals(*value, *digits),
        }
    }

    /// What is shown after it, smaller where that can be.
    pub(super) fn tail(&self) -> Option<String> {
        self.number()?;
        match *self {
            Value::Spread { std, digits, .. } => Some(format!("±{}", decimals(std, digits)?)),
            Value::Interval { low, high, digits, .. } if low.is_finite() || high.is_finite() => {
                let end = |value| decimals(value, digits).unwrap_or(MISSING.into());
                Some(format!("[{}, {}]", end(low), end(high)))
            }
            _ => None,
        }
    }

    /// The number that is shown, rounded as it is shown.
    fn number(&self) -> Option<f64> {
        let shown = match *self {
            Value::Missing | Value::Text(_) => None,
            Value::Count(count) => return Some(count as f64),
            Value::Share { value, digits } => decimals(100.0 * value, digits),
            Value::Number { value, digits }
            | Value::Spread { mean: value, digits, .. }
            | Value::Interval { value, digits, .. } => decimals(value, digits),
        };
        shown?.parse().ok()
    }

    /// The number with all its digits, if it is one.
    pub(crate) fn exact(&self) -> Option<f64> {
        match *self {
            Value::Missing | Value::Text(_) => None,
            Value::Count(count) => Some(count as f64),
            Value::Number { value, .. }
            | Value::Share { value, .. }
            | Value::Spread { mean: value, .. }
            | Value::Interval { value, .. } => Some(value).filter(|value| value.is_finite()),
        }
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self, Value::Text(_))
    }
}

/// A number with fixed decimals.
fn decimals(value: f64, digits: usize) -> Option<String> {
    let digits = digits.min(MOST_DIGITS);
    if !value.is_finite() {
        return None;
    }
    if value.abs() >= HUGE {
        return Some(format!("{value:.digits$e}"));
    }
    let text = format!("{value:.digits$}");
    let nothing = !text.contains(|c| ('1'..='9').contains(&c));
    Some(if nothing { text.trim_start_matches('-').to_string() } else { text })
}

/// A place in a row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// What stands there.
    pub value: Value,
    /// Whether it is shown in bold, as the best of its kind.
    pub best: bool,
    /// A mark after it, such as "F" or "p* = 5"; in CSV a column `X (note)`.
    pub note: Option<String>,
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Value::Text(text.into()).into()
    }

    /// A whole number.
    pub fn count(count: usize) -> Self {
        Value::Count(count).into()
    }

    /// A number with so many decimals.
    pub fn number(value: f64, digits: usize) -> Self {
        Value::Number { value, digits }.into()
    }

    /// A mean and its standard deviation with so many decimals.
    pub fn spread(mean: f64, std: f64, digits: usize) -> Self {
        Value::Spread { mean, std, digits }.into()
    }

    /// The mark as one line, if there is anything to see.
    pub(super) fn mark(&self) -> Option<String> {
        self.note.as_deref().map(super::plain).filter(|note| !note.is_empty())
    }

    /// All of it in one line.
    pub(crate) fn shown(&self) -> String {
        let mut text = self.value.main().unwrap_or(MISSING.into());
        if let Some(tail) = self.value.tail() {
            let _ = write!(text, " {tail}");
        }
        if let Some(mark) = self.mark() {
            let _ = write!(text, " ({mark})");
        }
        text
    }

    /// The same with a mark after it.
    #[must_use]
    pub fn noted(self, note: impl Into<String>) -> Self {
        Cell { note: Some(note.into()), ..self }
    }
}

impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        Cell { value, best: false, note: None }
    }
}

/// Marks the best of these cells, and only it.
///
/// The numbers are compared as they are shown, so that all that look alike are best together.
/// Missing values, words and numbers that are not finite never are.
pub fn mark_best<'a>(cells: impl IntoIterator<Item = &'a mut Cell>, better: Direction) {
    let cells: Vec<&mut Cell> = cells.into_iter().collect();
    let numbers = cells.iter().filter_map(|cell| cell.value.number());
    let best = match better {
        Direction::Lower => numbers.reduce(f64::min),
        Direction::Higher => numbers.reduce(f64::max),
    };
    for cell in cells {
        cell.best = best.is_some() && cell.value.number() == best;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_fixed_and_never_a_negative_nothing() {
        let shown = |value, digits| decimals(value, digits).unwrap_or(MISSING.into());
        assert_eq!(shown(0.17344, 4), "0.1734");
        assert_eq!(shown(-0.00004, 3), "0.000");
        assert_eq!(shown(-0.0, 0), "0");
        assert_eq!(shown(-0.0006, 3), "-0.001");
        assert_eq!(shown(999999.0, 1), "999999.0");
        assert_eq!(shown(-1234567.0, 2), "-1.23e6");
        assert_eq!(shown(f64::MAX, 1), "1.8e308");
        assert_eq!(shown(0.5, usize::MAX), "0.50000000000000000");
        assert_eq!([shown(f64::NAN, 2), shown(f64::INFINITY, 2)], [MISSING, MISSING]);
    }

    #[test]
    fn tails_need_a_value_before_them() {
        let tail = |cell: Cell| cell.value.tail();
        assert_eq!(tail(Cell::spread(0.5, 0.003, 3)).as_deref(), Some("±0.003"));
        assert_eq!(tail(Cell::spread(0.5, f64::NAN, 3)), None);
        assert_eq!(tail(Cell::spread(f64::NAN, 0.5, 3)), None);
        let interval = |low, high| Value::Interval { value: -0.5, low, high, digits: 1 }.tail();
        assert_eq!(interval(-1.0, -0.01).as_deref(), Some("[-1.0, 0.0]"));
        assert_eq!(interval(-1.0, f64::INFINITY).as_deref(), Some("[-1.0, —]"));
        assert_eq!(interval(f64::NEG_INFINITY, f64::INFINITY), None);
    }

    #[test]
    fn what_looks_alike_is_best_together() {
        let mut cells = [
            Cell::spread(0.17341, 0.5, 4),
            Cell::spread(0.17339, 0.1, 4),
            Cell::number(0.1735, 4),
            Cell::number(f64::NAN, 4),
            Cell::number(f64::NEG_INFINITY, 4),
            Cell::text("0.1"),
            Cell { best: true, ..Cell::default() },
        ];
        let mut best = |better| -> Vec<usize> {
            mark_best(&mut cells, better);
            (0..cells.len()).filter(|i| cells[*i].best).collect()
        };
        assert_eq!(best(Direction::Lower), [0, 1]);
        assert_eq!(best(Direction::Higher), [2]);
        let mut nothing = [Cell::default(), Cell::number(f64::NAN, 1)];
        mark_best(&mut nothing, Direction::Lower);
        assert!(nothing.iter().all(|cell| !cell.best));
    }

    #[test]
    fn zeros_of_both_signs_look_alike() {
        let mut cells = [Cell::number(-0.0001, 2), Cell::number(0.0001, 2), Cell::count(0)];
        mark_best(&mut cells, Direction::Higher);
        assert!(cells.iter().all(|cell| cell.best));
    }
}
