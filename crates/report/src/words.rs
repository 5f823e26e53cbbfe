//! Numbers in words.

use abstain::Estimator;
use abstain_lab::Target;

/// A share in per cent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A guaranteed share: never rounded up, and with more digits where all but a few are right.
pub(crate) fn at_least(share: f64) -> String {
    let digits = if share > 0.999 { 3 } else { 1 };
    let scale = 10.0_f64.powi(digits);
    // 0.95 is 94.99999999999999 per cent in binary.
    let floor = (100.0 * share * scale + 1e-9).floor() / scale;
    format!("{floor:.*} %", usize::try_from(digits).unwrap_or(1))
}

/// A requested share, without needless digits.
pub fn target_percent(share: f64) -> String {
    format!("{} %", short(100.0 * share, 4))
}

/// At most so many decimals, without zeros at the end.
pub fn short(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// A difference with its sign; what rounds to zero has none.
pub fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    if text.chars().any(|c| ('1'..='9').contains(&c)) { text } else { text[1..].to_string() }
}

/// A number with three significant digits, however small it is.
pub fn significant(value: f64) -> String {
    if value == 0.0 || (0.001..1e6).contains(&value.abs()) {
        short(value, 3)
    } else {
        format!("{value:.2e}")
    }
}

/// A whole number with commas between the thousands.
pub fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count of rows of a stream with commas between the thousands.
pub(crate) fn rows(value: u64) -> String {
    count(usize::try_from(value).unwrap_or(usize::MAX))
}

/// A requested quality: "95 % accuracy" or "a selective risk of 0.05".
pub(crate) fn target(target: Target) -> String {
    match target {
        Target::Accuracy(accuracy) => format!("{} accuracy", target_percent(accuracy)),
        Target::Risk(risk) => format!("a selective risk of {}", significant(risk)),
    }
}

/// The parameters of an estimator: "p = 2, τ = 0.017".
pub(crate) fn parameters(estimator: &Estimator) -> String {
    if let Estimator::Stack(stack) = estimator {
        let offsets = if stack.class_offsets().is_empty() { "" } else { ", class offsets" };
        return format!("{} scores{offsets}", stack.terms().len());
    }
    let greek = |name: &'static str| match name {
        "tau" => "τ",
        "gamma" => "γ",
        other => other,
    };
    let parameters = estimator.parameters().into_iter();
    let texts = parameters.map(|(name, value)| format!("{} = {}", greek(name), significant(value)));
    texts.collect::<Vec<_>>().join(", ")
}

/// An estimator by name, with its parameters if they fit into a line.
pub(crate) fn estimator(estimator: &Estimator) -> String {
    let name = estimator.method().to_string();
    match parameters(estimator) {
        none if none.is_empty() => name,
        parameters => format!("{name} ({parameters})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_guarantees_rounded_down() {
        assert_eq!(percent(0.56452), "56.5 %");
        let guaranteed = [0.95, 0.75858, 0.9997234, 1.0, 0.0].map(at_least);
        assert_eq!(guaranteed, ["95.0 %", "75.8 %", "99.972 %", "100.000 %", "0.0 %"]);
        assert_eq!(target_percent(0.95), "95 %");
        assert_eq!(target_percent(0.9995), "99.95 %");
        assert_eq!(short(0.5400, 3), "0.54");
        assert_eq!(short(10.0, 0), "10");
        assert_eq!(significant(0.00001234), "1.23e-5");
        assert_eq!(significant(0.0), "0");
        assert_eq!([signed(0.0123, 3), signed(-0.0001, 3)], ["+0.012", "0.000"]);
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(123), "123");
        let estimator: Estimator = "MSP-pNorm(p=2, tau=0.0171)".parse().expect("valid");
        assert_eq!(super::estimator(&estimator), "MSP-pNorm (p = 2, τ = 0.017)");
        assert_eq!(super::estimator(&Estimator::MSP), "MSP");
    }
}
