//! How numbers are written: with decimal points or commas, in groups of thousands, in per cent, or as numpy
//! and PyTorch print them.

use crate::error::{ErrorKind, Result};

/// What a comma inside a number of a file means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Comma {
    /// Numbers have none.
    #[default]
    None,
    /// It is the decimal point, as in `0,5`; points are between thousands.
    Decimal,
    /// It is between thousands, as in `1,234.5`.
    Thousands,
}

impl Comma {
    /// What the first cells of a file show. Refuses numbers such as `1,234`, which are two things, where no
    /// other number tells which.
    pub(super) fn of<'a>(cells: impl Iterator<Item = &'a [u8]>) -> Result<Self> {
        let (mut decimal, mut thousands, mut either) = (false, false, false);
        for cell in cells.filter_map(|cell| std::str::from_utf8(cell).ok()) {
            let cell = cell.strip_suffix('%').unwrap_or(cell).trim_end();
            if !cell.contains(',') {
                continue;
            }
            match (decimal_comma(cell).is_some(), in_thousands(cell).is_some()) {
                (true, true) => either = true,
                (true, false) => decimal = true,
                (false, true) => thousands = true,
                (false, false) => {}
            }
        }
        match (decimal, thousands, either) {
            (true, false, _) => Ok(Comma::Decimal),
            (false, true, _) => Ok(Comma::Thousands),
            (false, false, false) => Ok(Comma::None),
            _ => Err(ErrorKind::Unsupported {
                problem: "commas in its numbers may be decimal points or between thousands".into(),
                instead: "write them with points, and without thousands, as in 1234.5".into(),
            }),
        }
    }

    /// The number in a cell.
    pub(super) fn number(self, cell: &[u8]) -> Option<f64> {
        let text = std::str::from_utf8(cell).ok()?;
        if let Ok(number) = text.parse() {
            // 1.234 would be 1234 beside decimal commas.
            return (self != Comma::Decimal || !text.contains('.')).then_some(number);
        }
        if let Some(share) = text.strip_suffix('%') {
            return Some(self.number(share.trim_end().as_bytes())? / 100.0);
        }
        if let Some(inside) = printed(text) {
            return inside.parse().ok();
        }
        match self {
            Comma::None => None,
            Comma::Decimal => decimal_comma(text),
            Comma::Thousands => in_thousands(text),
        }
    }
}

/// What numpy and PyTorch write around a number: `np.float64(0.5)`, `tensor(0.5)`.
fn printed(text: &str) -> Option<&str> {
    let (name, inside) = text.strip_suffix(')')?.split_once('(')?;
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric());
    let known = name == "tensor"
        || ["np.", "numpy."].iter().any(|start| name.strip_prefix(start).is_some_and(plain));
    known.then_some(inside)
}

/// A number with a decimal comma, and perhaps points between thousands.
fn decimal_comma(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once(',')?;
    if fraction.contains([',', '.']) {
        return None;
    }
    let whole = if whole.contains('.') { without_groups(whole, '.')? } else { whole.to_string() };
    format!("{whole}.{fraction}").parse().ok()
}

/// A number with commas between thousands.
fn in_thousands(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if fraction.contains(',') {
        return None;
    }
    format!("{}.{fraction}", without_groups(whole, ',')?).parse().ok()
}

/// Digits in groups of three, joined; no number begins with a group of zeros.
fn without_groups(text: &str, separator: char) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let mut groups = digits.split(separator);
    let first = groups.next()?;
    let are_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let sound = (1..=3).contains(&first.len()) && are_digits(first) && !first.starts_with('0');
    let mut joined = format!("{sign}{first}");
    for group in groups {
        if group.len() != 3 || !are_digits(group) {
            return None;
        }
        joined += group;
    }
    sound.then_some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comma(cells: &[&str]) -> Result<Comma> {
        Comma::of(cells.iter().map(|cell| cell.as_bytes()))
    }

    #[test]
    fn commas_are_what_some_number_shows() {
        for cells in [&["0,5"][..], &["1,5", "1,234"], &["1.234,5"], &["12,34%"], &["1234,567"]] {
            assert_eq!(comma(cells).expect("certain"), Comma::Decimal, "{cells:?}");
        }
        for cells in [&["1,234.5"][..], &["1,234,567", "2,000"], &["-1,234.0"]] {
            assert_eq!(comma(cells).expect("certain"), Comma::Thousands, "{cells:?}");
        }
        assert_eq!(comma(&["tench, Tinca tinca", "1.5"]).expect("no numbers"), Comma::None);
        for cells in [&["1,234"][..], &["0,5", "1,234.5"]] {
            assert!(comma(cells).is_err(), "{cells:?}");
        }
    }

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let of = |comma: Comma, cell: &str| comma.number(cell.as_bytes());
        assert_eq!(of(Comma::Decimal, "-1.234,5"), Some(-1234.5));
        assert_eq!(of(Comma::Decimal, "1,5e-3"), Some(0.0015));
        assert_eq!(of(Comma::Decimal, "7"), Some(7.0));
        assert_eq!(of(Comma::Decimal, "1.234"), None, "two things");
        assert_eq!(of(Comma::Thousands, "1,234.5"), Some(1234.5));
        assert_eq!(of(Comma::Thousands, "12,34"), None);
        assert_eq!(of(Comma::None, "87.5%"), Some(0.875));
        assert_eq!(of(Comma::Decimal, "87,5 %"), Some(0.875));
        assert_eq!(of(Comma::None, "np.float64(0.5)"), Some(0.5));
        assert_eq!(of(Comma::None, "tensor(-2.)"), Some(-2.0));
        for cell in ["", "%", "a(1)", "np.float64(x)", "1,5", "np.(1"] {
            assert_eq!(of(Comma::None, cell), None, "{cell}");
        }
    }
}
