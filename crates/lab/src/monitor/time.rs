//! Times as records have them: numbers, or dates with or without a time and an offset.

/// The seconds of a time since 1970: a number (of seconds, or of thousandths, millionths or billionths where
/// it is too large for these), or a date such as `2026-11-17`,
/// `2026-11-17 12:00:05.5`, `2026-11-17T12:00Z` or `2026-11-17T13:00+01:00`. Without an offset it is UTC.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        // Seconds of the years until 5138 are below the first of these.
        let units = [(1e17, 1e9), (1e14, 1e6), (1e11, 1e3)];
        let unit = units.into_iter().find(|(least, _)| number.abs() >= *least);
        return number.is_finite().then(|| number / unit.map_or(1.0, |(_, unit)| unit));
    }
    let (date, rest) = text.split_at_checked(10)?;
    let mut parts = date.splitn(3, '-').map(whole);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let midnight = days(year, month, day) as f64 * 86_400.0;
    if rest.is_empty() {
        return Some(midnight);
    }
    let rest = rest.strip_prefix(['T', 't', ' '])?.trim();
    let (clock, offset) = match rest.find(['Z', 'z', '+', '-']) {
        None => (rest, 0.0),
        Some(at) if rest[at..].eq_ignore_ascii_case("z") => (&rest[..at], 0.0),
        Some(at) => (&rest[..at], offset(&rest[at..])?),
    };
    let mut parts = clock.trim().splitn(3, ':');
    let (hour, minute) = (whole(parts.next()?)?, whole(parts.next()?)?);
    let second: f64 = parts.next().map_or(Some(0.0), |text| text.replace(',', ".").parse().ok())?;
    if hour > 24 || minute > 59 || !(0.0..61.0).contains(&second) {
        return None;
    }
    Some(midnight + hour as f64 * 3600.0 + minute as f64 * 60.0 + second - offset)
}

/// A whole number without a sign.
fn whole(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// The seconds of an offset such as `+01:00`, `-0530` or `+1`.
fn offset(text: &str) -> Option<f64> {
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let digits = text[1..].replace(':', "");
    let (hours, minutes) = match digits.len() {
        1 | 2 => (digits.as_str(), "0"),
        4 => digits.split_at(2),
        _ => return None,
    };
    Some(sign * (whole(hours)? as f64 * 3600.0 + whole(minutes)? as f64 * 60.0))
}

/// The days from 1970-01-01 to a day of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March have their leap day at the end.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Whether a time is earlier than another: texts that are no times by letters.
pub(super) fn before(time: &str, last: &str) -> bool {
    match (seconds(time), seconds(last)) {
        (Some(time), Some(last)) => time < last,
        _ => time < last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_as_times() {
        for (text, expected) in [
            ("1970-01-01", 0.0),
            ("2026-11-17", 1_794_873_600.0),
            ("2026-11-17T12:00Z", 1_794_916_800.0),
            ("2026-11-17 13:00:00.5+01:00", 1_794_916_800.5),
            ("2000-02-29T23:59:59Z", 951_868_799.0),
            ("1700000000", 1_700_000_000.0),
            ("1700000000500", 1_700_000_000.5),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        // In the order of letters both would be the other way round.
        assert!(before("2026-11-17T12:30+01:00", "2026-11-17T12:00Z"));
        assert!(before("2026-11-17T09:00", "2026-11-17 10:00"));
        assert!(!before("2026-11-17T23:30-05:00", "2026-11-18T01:00Z"));
        for text in ["Tuesday", "2026-13-01", "2026-11-17T1200", "2026-11-17Tx", "ä026-11-17", ""]
        {
            assert_eq!(seconds(text), None, "{text}");
        }
        assert!(before("a", "b"));
    }
}
