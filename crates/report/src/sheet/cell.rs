//! Cells: values, how they are shown, and which is best.

use crate::words;
use abstain::Interval;
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
/// Numbers that round to zero have no sign, those from a million on are scientific, and those
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
        /// The lower end of the interval.
        low: f64,
        /// The upper end.
        high: f64,
        /// The decimals of all three.
        digits: usize,
    },
}

impl Value {
    /// The number with all its digits, if it is one.
    pub(crate) fn exact(&self) -> Option<f64> {
        match *self {
            Value::Missing | Value::Text(_) => None,
            Value::Count(count) => Some(count as f64),
            Value::Number { value, .. }
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
    let zero = !text.contains(|c| ('1'..='9').contains(&c));
    Some(if zero { text.trim_start_matches('-').to_string() } else { text })
}

/// What a row's first cell says about the whole row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The row is the chosen one: `▸` in a terminal, bold in Markdown and LaTeX.
    Chosen,
    /// Which direction is better in this row: an arrow, except in CSV.
    Better(Direction),
}

/// One cell of a row: a value and how it is shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// The value.
    pub value: Value,
    /// Whether numbers are shown in per cent; CSV has the share itself.
    pub percent: bool,
    /// Whether positive numbers are shown with their sign.
    pub signed: bool,
    /// Whether it is shown in bold, as the best of its kind.
    pub best: bool,
    /// A note after it, such as "F" or "p* = 5"; in CSV a column `X (note)`.
    pub note: Option<String>,
    /// What it says about its row, if it is the first of the row.
    pub mark: Option<Mark>,
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

    /// An estimate and its interval with so many decimals.
    pub fn interval(interval: &Interval, digits: usize) -> Self {
        let Interval { estimate: value, low, high, .. } = *interval;
        Value::Interval { value, low, high, digits }.into()
    }

    /// The same with a note after it.
    #[must_use]
    pub fn noted(self, note: impl Into<String>) -> Self {
        Cell { note: Some(note.into()), ..self }
    }

    /// The same in per cent; the decimals are those of the percentage.
    #[must_use]
    pub fn percent(self) -> Self {
        Cell { percent: true, ..self }
    }

    /// The same with the signs of positive numbers.
    #[must_use]
    pub fn signed(self) -> Self {
        Cell { signed: true, ..self }
    }

    /// The same with a mark for its row.
    #[must_use]
    pub fn marked(self, mark: Option<Mark>) -> Self {
        Cell { mark, ..self }
    }

    pub(super) fn is_chosen(&self) -> bool {
        self.mark == Some(Mark::Chosen)
    }

    /// The value itself, as it is shown; nothing if it is missing.
    pub(crate) fn main(&self) -> Option<String> {
        let text = match &self.value {
            Value::Missing => None,
            Value::Text(text) => Some(super::plain(text)),
            Value::Count(count) => Some(words::count(*count)),
            Value::Number { value, digits }
            | Value::Spread { mean: value, digits, .. }
            | Value::Interval { value, digits, .. } => self.decimals(*value, *digits),
        };
        let unit = if self.is_percentage() && self.tail().is_none() { " %" } else { "" };
        let arrow = match self.mark {
            Some(Mark::Better(direction)) => super::arrow(direction),
            _ => "",
        };
        text.map(|text| text + unit + arrow)
    }

    /// What is shown after the value, smaller where that is possible.
    pub(super) fn tail(&self) -> Option<String> {
        self.rounded()?;
        let unit = if self.percent { " %" } else { "" };
        match self.value {
            Value::Spread { std, digits, .. } => {
                let std = decimals(self.scale() * std, digits)?;
                Some(format!("±{std}{unit}"))
            }
            Value::Interval { low, high, digits, .. } if low.is_finite() || high.is_finite() => {
                let end = |value| self.decimals(value, digits).unwrap_or(MISSING.into());
                Some(format!("[{}, {}]{unit}", end(low), end(high)))
            }
            _ => None,
        }
    }

    /// The note as one line, if there is anything to see.
    pub(super) fn shown_note(&self) -> Option<String> {
        self.note.as_deref().map(super::plain).filter(|note| !note.is_empty())
    }

    /// All of it in one line.
    pub(crate) fn shown(&self) -> String {
        let mut text = self.main().unwrap_or(MISSING.into());
        if let Some(tail) = self.tail() {
            let _ = write!(text, " {tail}");
        }
        if let Some(note) = self.shown_note() {
            let _ = write!(text, " ({note})");
        }
        text
    }

    /// The number that is shown, rounded as it is shown.
    fn rounded(&self) -> Option<f64> {
        match self.value {
            Value::Missing | Value::Text(_) => None,
            Value::Count(count) => Some(count as f64),
            Value::Number { value, digits }
            | Value::Spread { mean: value, digits, .. }
            | Value::Interval { value, digits, .. } => self.decimals(value, digits)?.parse().ok(),
        }
    }

    fn is_percentage(&self) -> bool {
        self.percent && self.value.exact().is_some()
    }

    fn scale(&self) -> f64 {
        if self.percent { 100.0 } else { 1.0 }
    }

    /// A number of this cell with fixed decimals, on the scale and with the sign it is shown with.
    fn decimals(&self, value: f64, digits: usize) -> Option<String> {
        let text = decimals(self.scale() * value, digits)?;
        let positive = value > 0.0 && text.contains(|c| ('1'..='9').contains(&c));
        Some(if self.signed && positive { format!("+{text}") } else { text })
    }
}

impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        Cell { value, ..Cell::default() }
    }
}

/// Marks the best of these cells, and only it.
///
/// The numbers are compared as they are shown, so that all that look alike are best together.
/// Missing values, words and numbers that are not finite never are.
pub fn mark_best<'a>(cells: impl IntoIterator<Item = &'a mut Cell>, better: Direction) {
    let cells: Vec<&mut Cell> = cells.into_iter().collect();
    let numbers = cells.iter().filter_map(|cell| cell.rounded());
    let best = match better {
        Direction::Lower => numbers.reduce(f64::min),
        Direction::Higher => numbers.reduce(f64::max),
    };
    for cell in cells {
        cell.best = best.is_some() && cell.rounded() == best;
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
        let tail = |cell: Cell| cell.tail();
        assert_eq!(tail(Cell::spread(0.5, 0.003, 3)).as_deref(), Some("±0.003"));
        assert_eq!(tail(Cell::spread(0.5, f64::NAN, 3)), None);
        assert_eq!(tail(Cell::spread(f64::NAN, 0.5, 3)), None);
        let interval =
            |low, high| Cell::from(Value::Interval { value: -0.5, low, high, digits: 1 }).tail();
        assert_eq!(interval(-1.0, -0.01).as_deref(), Some("[-1.0, 0.0]"));
        assert_eq!(interval(-1.0, f64::INFINITY).as_deref(), Some("[-1.0, —]"));
        assert_eq!(interval(f64::NEG_INFINITY, f64::INFINITY), None);
    }

    #[test]
    fn percentages_and_signs_are_shown_and_zero_has_no_sign() {
        let shown = |cell: Cell| cell.shown();
        assert_eq!(shown(Cell::number(0.56452, 1).percent()), "56.5 %");
        assert_eq!(shown(Cell::spread(0.578, 0.01, 1).percent()), "57.8 ±1.0 %");
        assert_eq!(shown(Cell::number(f64::NAN, 1).percent()), MISSING);
        let interval =
            |value, low, high| Cell::from(Value::Interval { value, low, high, digits: 3 });
        assert_eq!(shown(interval(0.0, -0.003, 0.0031).signed()), "0.000 [-0.003, +0.003]");
        let share = interval(0.0123, -0.01, 0.0004).signed().percent();
        assert_eq!(shown(share), "+1.230 [-1.000, +0.040] %");
        assert_eq!(shown(Cell::spread(0.013, 0.005, 3).signed()), "+0.013 ±0.005");
        let better = Cell::text("NAURC").marked(Some(Mark::Better(Direction::Lower)));
        assert_eq!(shown(better), "NAURC ↓");
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
