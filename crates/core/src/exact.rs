//! Sums without rounding, and numbers that are written as their bits: what parts of some rows have
//! learned is merged and stored without losing anything.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::Write;

/// A sum that is rounded once, when it is read: it depends neither on the order of the numbers nor on how
/// they were divided into parts.
///
/// The numbers that it holds do not overlap, the smallest first (Shewchuk, 1997).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactSum {
    parts: Numbers,
    /// Whether −∞ and ∞ are among the numbers; NaN counts as both.
    infinite: [bool; 2],
}

impl ExactSum {
    /// Adds a number.
    pub fn add(&mut self, number: f64) {
        if !number.is_finite() {
            self.infinite[0] |= number != f64::INFINITY;
            self.infinite[1] |= number != f64::NEG_INFINITY;
            return;
        }
        let (mut sum, mut kept) = (number, 0);
        let parts = &mut self.parts.0;
        for index in 0..parts.len() {
            let (large, small) = larger_first(sum, parts[index]);
            sum = large + small;
            let rest = small - (sum - large);
            if rest != 0.0 {
                parts[kept] = rest;
                kept += 1;
            }
        }
        parts.truncate(kept);
        if sum.is_finite() {
            parts.push(sum);
        } else {
            self.add(sum);
        }
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &ExactSum) {
        for &part in &other.parts.0 {
            self.add(part);
        }
        for (here, there) in self.infinite.iter_mut().zip(other.infinite) {
            *here |= there;
        }
    }

    /// The number nearest to the sum.
    pub fn value(&self) -> f64 {
        match self.infinite {
            [true, true] => return f64::NAN,
            [true, false] => return f64::NEG_INFINITY,
            [false, true] => return f64::INFINITY,
            [false, false] => {}
        }
        let mut parts = self.parts.0.iter().rev().copied();
        let (mut sum, mut rest) = (parts.next().unwrap_or(0.0), 0.0);
        for part in parts.by_ref() {
            let before = sum;
            sum += part;
            rest = part - (sum - before);
            if rest != 0.0 {
                break;
            }
        }
        // Half-way between two numbers, the next part says which of them is nearer.
        if let Some(next) = parts.next()
            && rest.is_sign_negative() == next.is_sign_negative()
        {
            let twice = 2.0 * rest;
            if (sum + twice) - sum == twice {
                sum += twice;
            }
        }
        sum
    }
}

fn larger_first(a: f64, b: f64) -> (f64, f64) {
    if a.abs() < b.abs() { (b, a) } else { (a, b) }
}

/// Numbers that are written as their bits, in hexadecimal: exact, infinities included.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Numbers(pub Vec<f64>);

/// The digits of a number.
const DIGITS: usize = 16;

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(DIGITS * self.0.len());
        for number in &self.0 {
            let _ = write!(text, "{:016x}", number.to_bits());
        }
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = |digits: &[u8]| {
            let digits = std::str::from_utf8(digits).ok().filter(|text| text.len() == DIGITS)?;
            u64::from_str_radix(digits, 16).ok().map(f64::from_bits)
        };
        let numbers: Option<Vec<f64>> = text.as_bytes().chunks(DIGITS).map(number).collect();
        numbers.map(Numbers).ok_or_else(|| D::Error::custom("numbers are 16 digits each"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(numbers: &[f64]) -> ExactSum {
        let mut sum = ExactSum::default();
        for &number in numbers {
            sum.add(number);
        }
        sum
    }

    #[test]
    fn sums_are_rounded_once() {
        assert_eq!(sum(&[]).value(), 0.0);
        assert_eq!(sum(&[0.1; 10]).value(), 1.0);
        assert_eq!(sum(&[1e100, 1.0, -1e100]).value(), 1.0);
        // Half-way between 1 and the next number, and then a little more or less.
        let half = f64::EPSILON / 2.0;
        assert_eq!(sum(&[1.0, half]).value(), 1.0);
        assert_eq!(sum(&[1.0, half, 1e-40]).value(), 1.0 + f64::EPSILON);
        assert_eq!(sum(&[1.0, half, -1e-40]).value(), 1.0);
        assert_eq!(sum(&[1.0, f64::NEG_INFINITY]).value(), f64::NEG_INFINITY);
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).value().is_nan());
        assert!(sum(&[f64::NAN]).value().is_nan());
        assert_eq!(sum(&[f64::MAX, f64::MAX]).value(), f64::INFINITY);
    }

    #[test]
    fn sums_do_not_depend_on_order_or_parts() {
        let mut seed = 7_u64;
        let mut numbers: Vec<f64> = (0..3000)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let exponent = i32::try_from(seed >> 60).expect("small");
                ((seed >> 20) as f64 - 8e12) * 10_f64.powi(exponent - 20)
            })
            .collect();
        let whole = sum(&numbers).value();
        for parts in [1, 2, 7] {
            let mut merged = ExactSum::default();
            for part in numbers.chunks(numbers.len().div_ceil(parts)) {
                let json = serde_json::to_string(&sum(part)).expect("serialises");
                merged.merge(&serde_json::from_str(&json).expect("reads"));
            }
            assert_eq!(merged.value().to_bits(), whole.to_bits());
        }
        numbers.sort_by(f64::total_cmp);
        assert_eq!(sum(&numbers).value().to_bits(), whole.to_bits());
    }

    #[test]
    fn numbers_read_back() {
        let numbers = Numbers(vec![0.1, -0.0, f64::NEG_INFINITY, f64::MIN_POSITIVE, 1e300]);
        let json = serde_json::to_string(&numbers).expect("serialises");
        let read: Numbers = serde_json::from_str(&json).expect("reads");
        assert_eq!(read.0.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), {
            numbers.0.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        });
        for wrong in ["\"00\"", "\"000000000000000g\"", "1"] {
            assert!(serde_json::from_str::<Numbers>(wrong).is_err(), "{wrong}");
        }
    }
}
