//! What rows that do not certify say of where a certificate may be found.

use super::binomial::tail_of_rates;
use crate::curve::RcCurve;
use serde::{Deserialize, Serialize};

/// The risk-coverage curve of other rows, in short: how many errors there are among the surest.
///
/// The rows that tuned an estimator are independent of those that certify it. So they may decide where
/// the errors are looked at and how δ is spent, at no cost. A poor pilot certifies less; no pilot can
/// break a certificate.
///
/// ```
/// use abstain::certify::{Certifier, Pilot};
/// use abstain::{Losses, RcCurve};
///
/// let curve = |n: i32| {
///     let confidences: Vec<f64> = (0..n).map(f64::from).collect();
///     let losses = (0..n).map(|i| f64::from(u8::from(i < n / 10))).collect();
///     RcCurve::new(&confidences, &Losses::new(losses)?)
/// };
/// let certifier = Certifier { pilot: Pilot::of(&curve(400)?), ..Certifier::accuracy(0.95, 0.1) };
/// let certificate = certifier.certify(&curve(1000)?)?.expect("nine tenths are right");
/// assert!(certificate.coverage() > 0.9);
/// # Ok::<(), abstain::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pilot {
    /// How many rows there were.
    pub rows: usize,
    /// Numbers of rows above some thresholds, rising.
    pub accepted: Vec<usize>,
    /// The errors among as many.
    pub errors: Vec<usize>,
}

/// As many thresholds are kept: a coverage is then known to within one and a half percent.
const THRESHOLDS: usize = 64;

impl Pilot {
    /// The pilot of a curve; nothing if its losses are not 0 or 1, which cannot be certified.
    pub fn of(curve: &RcCurve) -> Option<Self> {
        if !curve.is_zero_one() {
            return None;
        }
        let rows = curve.rows();
        let mut pilot = Pilot { rows, accepted: Vec::new(), errors: Vec::new() };
        let mut last = 0;
        for knot in curve.knots() {
            // The widest threshold in each of the equal parts of the rows.
            let part = (knot.accepted * THRESHOLDS).div_ceil(rows);
            if part == last {
                pilot.accepted.pop();
                pilot.errors.pop();
            }
            pilot.accepted.push(knot.accepted);
            pilot.errors.push(knot.errors());
            last = part;
        }
        Some(pilot)
    }

    /// Checks that its numbers are those of some rows.
    pub fn check(&self) -> Result<(), String> {
        let Pilot { rows, accepted, errors } = self;
        let counts = || accepted.iter().zip(errors);
        let rising = |((n, k), (m, l)): ((&usize, &usize), (&usize, &usize))| {
            n < m && k <= l && l - k <= m - n
        };
        let sound = !accepted.is_empty()
            && accepted.len() == errors.len()
            && counts().all(|(n, k)| k <= n && n <= rows)
            && counts().zip(counts().skip(1)).all(rising);
        if !sound {
            return Err("the pilot does not count rows and errors".into());
        }
        Ok(())
    }

    /// About how many of so many rows may be certified: the largest count whose expected errors would be,
    /// or else the one that comes nearest to it.
    pub(super) fn place(&self, risk: f64, delta: f64, rows: usize) -> usize {
        let scale = rows as f64 / self.rows as f64;
        let (mut nearest, mut place) = (f64::INFINITY, 0.0);
        for (&accepted, &errors) in self.accepted.iter().zip(&self.errors) {
            // Half an error more: a pilot without errors does not promise that there will be none.
            let (accepted, errors) = (accepted as f64 * scale, (errors as f64 + 0.5) * scale);
            let tail = tail_of_rates(errors, accepted, risk);
            if tail <= delta || tail < nearest {
                place = accepted;
            }
            // Below delta all are equally good, and the last is the widest.
            nearest = nearest.min(tail.max(delta));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row count")]
        let place = place.round() as usize;
        place.min(rows)
    }
}
