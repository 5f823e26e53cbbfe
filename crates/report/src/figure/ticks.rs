//! Where an axis is marked, and with which words.

use super::axis::Span;
use std::fmt::Write;

/// The marks of an axis, as shares of its length.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Ticks {
    /// Marks with a label.
    pub(super) major: Vec<(f64, String)>,
    /// Marks without one.
    pub(super) minor: Vec<f64>,
}

/// At most about `most` marks at round numbers.
pub(super) fn ticks(span: &Span, most: usize, percent: bool) -> Ticks {
    let most = most.max(2);
    if span.log { decades(span, most, percent) } else { linear(span, most, percent) }
}

fn linear(span: &Span, most: usize, percent: bool) -> Ticks {
    let unit = if percent { 100.0 } else { 1.0 };
    let (low, high) = (span.low * unit, span.high * unit);
    let step = round_step((high - low) / most as f64);
    let values = multiples(low, high, step);
    let label = labels(&values, step, percent);
    let places = values.iter().filter_map(|value| span.place(value / unit));
    Ticks { major: places.zip(label).collect(), minor: Vec::new() }
}

/// The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0].into_iter().find(|factor| factor * power >= least * 0.999);
    factor.unwrap_or(10.0) * power
}

/// The multiples of the step from `low` to `high`.
fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    let slack = step * 1e-6;
    let first = ((low - slack) / step).ceil();
    let values = (0..=100).map(|index| (first + f64::from(index)) * step);
    // -0 would be shown with its sign.
    values.take_while(|value| *value <= high + slack).map(|value| value + 0.0).collect()
}

/// Numbers that are a step apart, all with as many digits as the step needs.
fn labels(values: &[f64], step: f64, percent: bool) -> Vec<String> {
    let largest = values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let unit = if percent { " %" } else { "" };
    if largest >= 1e6 || (largest > 0.0 && step < 1e-4) {
        let exponent = largest.log10().floor();
        let power = 10f64.powf(exponent);
        return values
            .iter()
            .map(|value| match *value {
                0.0 => format!("0{unit}"),
                value => {
                    let factor = fixed(value / power, decimals(step / power));
                    format!("{factor}×{}{unit}", power_of_ten(exponent))
                }
            })
            .collect();
    }
    let digits = decimals(step);
    values.iter().map(|value| fixed(*value, digits) + unit).collect()
}

/// How many decimals tell multiples of the step apart.
fn decimals(step: f64) -> usize {
    // Up to 12, since smaller steps cannot be distinguished.
    (0..12)
        .find(|digits| {
            let scaled = step * 10f64.powi(*digits);
            (scaled - scaled.round()).abs() < 1e-4 * scaled.max(1e-9)
        })
        .and_then(|digits| usize::try_from(digits).ok())
        .unwrap_or(12)
}

/// A number with a real minus and commas between thousands.
fn fixed(value: f64, digits: usize) -> String {
    let text = format!("{:.digits$}", value.abs());
    let (whole, rest) = text.split_once('.').map_or((&text[..], ""), |(whole, rest)| (whole, rest));
    let mut out = String::new();
    if value < 0.0 && text.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) {
        out.push('−');
    }
    for (index, digit) in whole.chars().enumerate() {
        let left = whole.len() - index;
        if index > 0 && left.is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if !rest.is_empty() {
        let _ = write!(out, ".{rest}");
    }
    out
}

/// 10⁻³ and the like.
fn power_of_ten(exponent: f64) -> String {
    let raise = |character| match character {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    format!("10{}", format!("{:.0}", exponent + 0.0).chars().map(raise).collect::<String>())
}

/// The marks of a logarithmic axis: powers of ten, or round numbers if it spans less than two.
fn decades(span: &Span, most: usize, percent: bool) -> Ticks {
    let slack = 1e-6;
    let (first, last) = ((span.low - slack).ceil(), (span.high + slack).floor());
    let inside = last - first + 1.0;
    if inside < 2.0 {
        return within_decade(span, most, percent);
    }
    let stride = (inside / most as f64).ceil();
    let exponents: Vec<f64> = (0..400)
        .map(|index| first + f64::from(index) * stride)
        .take_while(|e| *e <= last)
        .collect();
    let unit = if percent { 100.0 } else { 1.0 };
    // Small and large powers are hard to count as digits.
    let plain = exponents.iter().all(|exponent| (-3.0..=4.0).contains(exponent));
    let label = |exponent: f64| {
        let value = unit * 10f64.powf(exponent);
        match (plain, percent) {
            (true, true) => format!("{} %", fixed(value, decimals(value))),
            (true, false) => fixed(value, decimals(value)),
            (false, true) => format!("{} %", power_of_ten(exponent + 2.0)),
            (false, false) => power_of_ten(exponent),
        }
    };
    let major = exponents.iter().map(|exponent| (span.share(*exponent), label(*exponent)));
    let minor = if stride > 1.0 {
        let all = (0..400).map(|index| first + f64::from(index)).take_while(|e| *e <= last);
        all.map(|exponent| span.share(exponent)).collect()
    } else {
        minor(span, first - 1.0, last)
    };
    Ticks { major: major.collect(), minor }
}

/// 2, 3, … 9 times the powers of ten, as far as they are on the axis.
fn minor(span: &Span, first: f64, last: f64) -> Vec<f64> {
    let mut places = Vec::new();
    let mut exponent = first;
    while exponent <= last {
        places.extend((2..=9).map(|k| span.share(exponent + f64::from(k).log10())));
        exponent += 1.0;
    }
    places.retain(|share| (0.0..=1.0).contains(share));
    places
}

/// Round numbers on an axis with at most one power of ten.
fn within_decade(span: &Span, most: usize, percent: bool) -> Ticks {
    let unit = if percent { 100.0 } else { 1.0 };
    let (low, high) = (unit * 10f64.powf(span.low), unit * 10f64.powf(span.high));
    let minor = minor(span, span.low.floor(), span.high.floor());
    // 1, 2 and 5 are spread evenly; if fewer than three of them are there, equal steps do better.
    let (exponent, last) = (low.log10().floor(), high.log10().ceil());
    let mut values = Vec::new();
    let mut power = exponent;
    while power <= last {
        values.extend([1.0, 2.0, 5.0].map(|factor| factor * 10f64.powf(power)));
        power += 1.0;
    }
    values.retain(|value| (low * 0.999999..=high * 1.000001).contains(value));
    let step = if (3..=most.max(3)).contains(&values.len()) {
        values[0] / if values[0].log10().fract() == 0.0 { 1.0 } else { 5.0 }
    } else {
        let step = round_step((high - low) / most.min(5) as f64);
        values = multiples(low, high, step);
        step
    };
    values.retain(|value| *value > 0.0);
    let even = values.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() < step * 1e-6);
    let label: Vec<String> = if even {
        labels(&values, step, percent)
    } else {
        values.iter().map(|value| labels(&[*value], *value, percent).concat()).collect()
    };
    let place = |value: &f64| span.share((value / unit).log10());
    Ticks { major: values.iter().map(place).zip(label).collect(), minor }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(low: f64, high: f64, most: usize, percent: bool) -> Vec<String> {
        let span = Span { low, high, log: false };
        ticks(&span, most, percent).major.into_iter().map(|(_, label)| label).collect()
    }

    fn log_words(low: f64, high: f64, most: usize) -> Vec<String> {
        let span = Span { low: low.log10(), high: high.log10(), log: true };
        ticks(&span, most, false).major.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn linear_marks_are_round() {
        assert_eq!(words(0.0, 1.0, 5, false), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(words(-0.013, 0.021, 4, false), ["−0.01", "0.00", "0.01", "0.02"]);
        assert_eq!(words(0.0, 1.0, 4, true), ["0 %", "25 %", "50 %", "75 %", "100 %"]);
        assert_eq!(words(0.0, 50_000.0, 5, false)[1], "10,000");
        assert_eq!(words(0.0, 4e-6, 4, false)[1], "1×10⁻⁶");
        assert_eq!(words(0.0, 5e9, 5, false), ["0", "1×10⁹", "2×10⁹", "3×10⁹", "4×10⁹", "5×10⁹"]);
    }

    #[test]
    fn logarithmic_marks_are_powers_or_round() {
        assert_eq!(log_words(50.0, 20_000.0, 5), ["100", "1,000", "10,000"]);
        assert_eq!(log_words(1e-6, 1.0, 4), ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]);
        assert_eq!(log_words(0.5, 6.0, 6), ["0.5", "1", "2", "5"]);
        assert_eq!(log_words(0.90, 0.99, 6), ["0.90", "0.92", "0.94", "0.96", "0.98"]);
    }
}
