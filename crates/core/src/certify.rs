//! Thresholds with a guarantee: with probability 1 − δ over the rows, the selective risk of the
//! population above the threshold is at most the target.
//!
//! The rows must be drawn independently from the population that the threshold is for, and must not
//! have served to tune the estimator; if several estimators were compared on them, say how many
//! ([`Certifier::tried`]), and each is given its share of δ.
//!
//! Two procedures, both with exact binomial tails and thresholds between ties only:
//!
//! * **Fixed sequence** (Angelopoulos et al., *Learn then Test*): from the smallest row count that could
//!   be certified at all towards more coverage, for as long as the hypothesis "the risk is above the
//!   target" is rejected at level δ; and once more from twice, four and eight times that count, each
//!   with its share of δ. The default: it keeps more coverage.
//! * **SGR** (Geifman & El-Yaniv, 2017): a binary search over the thresholds, each step with an equal
//!   share of δ.

use crate::curve::{Knot, RcCurve};
use crate::error::{Error, Undefined};
use crate::method::nearest;
use crate::text::json_as_text;
use serde::{Deserialize, Serialize};
use statrs::function::beta;
use std::fmt;
use std::str::FromStr;

/// A procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Procedure {
    /// Fixed-sequence testing.
    #[default]
    FixedSequence,
    /// Selection with guaranteed risk.
    Sgr,
}

impl Procedure {
    /// Every procedure.
    pub const ALL: &'static [Procedure] = &[Procedure::FixedSequence, Procedure::Sgr];

    /// The names of the procedures.
    pub const NAMES: &'static [&'static str] =
        &[Procedure::FixedSequence.name(), Procedure::Sgr.name()];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Procedure::FixedSequence => "fixed-sequence",
            Procedure::Sgr => "sgr",
        }
    }
}

impl fmt::Display for Procedure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Procedure {
    type Err = Error;

    /// Reads a name, whatever its case.
    fn from_str(name: &str) -> Result<Self, Error> {
        let wanted = name.trim();
        let known = Self::ALL.iter().find(|known| known.name().eq_ignore_ascii_case(wanted));
        known.copied().ok_or_else(|| {
            let suggestion = nearest(name, Self::NAMES.iter().map(ToString::to_string));
            Error::UnknownName { what: "procedure", name: name.into(), suggestion }
        })
    }
}

json_as_text!(Procedure);

/// In simulations four starts keep up to twice the coverage of one where there are errors among the
/// surest rows, about the same where there are none, and less where the target is barely reachable.
const DEFAULT_STARTS: usize = 4;

/// What to certify.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certifier {
    /// The largest selective risk allowed, such as 0.05.
    pub risk: f64,
    /// How often the guarantee may fail, such as 0.05.
    pub delta: f64,
    /// The procedure.
    pub procedure: Procedure,
    /// How many estimators were tried on these very rows, this one included; 1 if they are fresh.
    pub tried: usize,
    /// From how many row counts the fixed sequence sets out, each twice the one before and each with
    /// an equal share of δ. One error among the surest rows ends a sequence; another may go on.
    pub starts: usize,
}

/// A certified threshold and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Rows with a confidence of at least this are accepted.
    #[serde(with = "crate::artifact::extended")]
    pub threshold: f64,
    /// The largest selective risk allowed.
    pub risk: f64,
    /// How often the guarantee may fail.
    pub delta: f64,
    /// The procedure.
    pub procedure: Procedure,
    /// How many estimators share `delta`.
    pub tried: usize,
    /// From how many row counts the fixed sequence set out.
    pub starts: usize,
    /// The rows it was certified on.
    pub rows: usize,
    /// Those above the threshold.
    pub accepted: usize,
    /// The errors among them.
    pub errors: usize,
}

impl Certificate {
    /// Checks that its numbers are consistent, as far as they show it.
    pub fn check(&self) -> Result<(), String> {
        let share = |x: f64| x > 0.0 && x < 1.0;
        if !share(self.risk) || !share(self.delta) || self.tried == 0 || self.starts == 0 {
            return Err("the certificate's risk, delta, tried or starts are out of range".into());
        }
        let Certificate { rows, accepted, errors, .. } = *self;
        if errors > accepted || accepted > rows {
            let counts = format!("{errors} errors in {accepted} accepted of {rows} rows");
            return Err(format!("the certificate counts {counts}"));
        }
        // Every procedure rejects at its share of delta or less.
        if binomial_tail(errors, accepted, self.risk) > self.delta / self.tried as f64 {
            let counts = format!("{errors} errors in {accepted} rows");
            return Err(format!("{counts} do not certify a risk of {}", self.risk));
        }
        Ok(())
    }

    /// The share of rows above the threshold.
    pub fn coverage(&self) -> f64 {
        self.accepted as f64 / self.rows as f64
    }
}

/// Why no threshold can be certified, and what is missing.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Infeasible {
    /// Too few rows to certify this target even without any error among them.
    TooFewRows {
        /// How many there are.
        rows: usize,
        /// How many it takes at least.
        needed: usize,
    },
    /// Even on these rows no threshold that accepts enough of them comes below the target.
    OutOfReach {
        /// The lowest selective risk of a threshold that accepts enough rows.
        lowest: f64,
        /// How many rows a certificate takes at least.
        enough: usize,
    },
    /// Some threshold is below the target on these rows, but they are too few to be sure.
    NotSure {
        /// The lowest selective risk of a threshold that accepts enough rows.
        lowest: f64,
        /// About how many rows it would take if the rates stayed as they are; a million and more if
        /// that is not enough.
        needed: usize,
    },
}

impl std::fmt::Display for Infeasible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Infeasible::TooFewRows { rows, needed } => write!(
                f,
                "{rows} rows cannot certify this target even without errors; it takes {needed} at least"
            ),
            Infeasible::OutOfReach { lowest, enough } => write!(
                f,
                "it takes {enough} answers at least, and among as many the selective risk of these rows is \
                 {lowest:.4} or more"
            ),
            Infeasible::NotSure { lowest, needed } => write!(
                f,
                "the selective risk comes down to {lowest:.4} on these rows, but they are too few to be sure; \
                 about {needed} would do"
            ),
        }
    }
}

impl std::error::Error for Infeasible {}

/// `P[Bin(n, p) <= k]`: exact up to a million rows; beyond, where the exact evaluation loses its digits,
/// Chernoff's bound on it, which is never too small.
pub fn binomial_tail(k: usize, n: usize, p: f64) -> f64 {
    if k >= n || p <= 0.0 {
        return 1.0;
    }
    if p >= 1.0 {
        return 0.0;
    }
    if n > EXACT_ROWS {
        let share = k as f64 / n as f64;
        if share >= p {
            return 1.0;
        }
        let divergence = if k == 0 { 0.0 } else { share * (share / p).ln() }
            + (1.0 - share) * ((1.0 - share) / (1.0 - p)).ln();
        return (-(n as f64) * divergence).exp();
    }
    beta::checked_beta_reg((n - k) as f64, k as f64 + 1.0, 1.0 - p).unwrap_or(1.0).clamp(0.0, 1.0)
}

/// Up to here `statrs` evaluates a binomial tail to eight digits or more.
const EXACT_ROWS: usize = 1_000_000;

/// The largest risk with which `k` errors in `n` rows are still as likely as `delta`: the exact
/// (Clopper–Pearson) upper bound.
pub fn upper_bound(k: usize, n: usize, delta: f64) -> f64 {
    // The tail falls as the risk rises.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle == low || middle == high {
            break;
        }
        if binomial_tail(k, n, middle) > delta {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// An upper bound on the selective risk of the population above a threshold that was chosen after looking:
/// those of all thresholds of so many estimators on these rows hold at once with probability 1 − δ.
///
/// A threshold is the confidence of some row. To all other rows it is a fixed number, so that the errors
/// among those of them that reach it are binomial, with ties as without: the exact bound of one row less,
/// and a union bound over the rows and the estimators. That row counts as right, which can only raise the
/// bound.
pub fn bound_everywhere(knot: &Knot, delta: f64, rows: usize, estimators: usize) -> f64 {
    let others = knot.accepted - 1;
    let level = delta / (rows.max(1) as f64 * estimators.max(1) as f64);
    upper_bound(knot.errors().min(others), others, level)
}

impl Certifier {
    /// Certifies a selective risk with probability 1 − δ, by the fixed sequence, on fresh rows.
    pub fn risk(risk: f64, delta: f64) -> Self {
        Certifier { risk, delta, procedure: Procedure::default(), tried: 1, starts: DEFAULT_STARTS }
    }

    /// Certifies a selective accuracy.
    pub fn accuracy(accuracy: f64, delta: f64) -> Self {
        // 1 − 0.98 is 0.020000000000000018: the decimal that was meant is the one without the tail.
        Certifier::risk(((1.0 - accuracy) * 1e12).round() / 1e12, delta)
    }

    /// The widest threshold that can be certified on the rows of a curve, or why there is none.
    pub fn certify(&self, curve: &RcCurve) -> Result<Result<Certificate, Infeasible>, Error> {
        for (name, value) in [("risk", self.risk), ("delta", self.delta)] {
            if !(value > 0.0 && value < 1.0) {
                let wanted = "a number between 0 and 1, both excluded";
                return Err(Error::Parameter { name, value, wanted });
            }
        }
        if self.tried == 0 {
            return Err(Error::Parameter { name: "tried", value: 0.0, wanted: "at least 1" });
        }
        if !(1..=32).contains(&self.starts) {
            let value = self.starts as f64;
            return Err(Error::Parameter { name: "starts", value, wanted: "between 1 and 32" });
        }
        if !curve.is_zero_one() {
            return Err(Undefined::LossNotZeroOne.into());
        }
        let knots: Vec<(usize, usize)> =
            curve.knots().map(|knot| (knot.accepted, knot.errors())).collect();
        let smallest = self.smallest(curve.rows());
        if curve.rows() < smallest {
            let rows = curve.rows();
            return Ok(Err(Infeasible::TooFewRows { rows, needed: smallest }));
        }
        let found = self.find(&knots);
        let certified = found.and_then(|index| curve.knots().nth(index));
        Ok(certified
            .map(|knot| self.certificate(curve, &knot))
            .ok_or_else(|| self.what_is_missing(&knots, smallest)))
    }

    /// The δ of a single test where there are so many rows, and how many sequences share it. A
    /// sequence that would start beyond the rows is not paid for: that depends on their number alone.
    fn level(&self, rows: usize) -> (f64, usize) {
        let delta = self.delta / self.tried as f64;
        match self.procedure {
            Procedure::Sgr => (delta / (rows as f64).log2().ceil().max(1.0), 1),
            Procedure::FixedSequence => {
                let fits = |&starts: &usize| {
                    let first = smallest_certifiable(self.risk, delta / starts as f64);
                    first.saturating_mul(1 << (starts - 1)) <= rows
                };
                let starts = (1..=self.starts).rev().find(fits).unwrap_or(1);
                (delta / starts as f64, starts)
            }
        }
    }

    /// The fewest rows that can be certified where there are so many.
    fn smallest(&self, rows: usize) -> usize {
        smallest_certifiable(self.risk, self.level(rows).0)
    }

    /// The widest threshold that the procedure certifies, given how many rows each threshold accepts,
    /// from the strictest on, and the errors among them.
    fn find(&self, knots: &[(usize, usize)]) -> Option<usize> {
        let rows = knots.last()?.0;
        let (delta, starts) = self.level(rows);
        match self.procedure {
            Procedure::FixedSequence => {
                let smallest = smallest_certifiable(self.risk, delta);
                let from = |start: usize| {
                    let first = knots.partition_point(|knot| knot.0 < start);
                    let rejected =
                        |&(n, k): &(usize, usize)| binomial_tail(k, n, self.risk) <= delta;
                    let length = knots[first..].iter().take_while(|knot| rejected(knot)).count();
                    (first + length).checked_sub(1).filter(|_| length > 0)
                };
                (0..starts).filter_map(|k| from(smallest.saturating_mul(1 << k))).max()
            }
            Procedure::Sgr => {
                // Thresholds are numbered from the strictest; a wider one is tried after a success.
                let (mut low, mut high, mut best) = (0, knots.len() - 1, None);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a count"
                )]
                let steps = (rows as f64).log2().ceil().max(1.0) as usize;
                for _ in 0..steps {
                    let middle = usize::midpoint(low, high + 1).min(knots.len() - 1);
                    let (n, k) = knots[middle];
                    // The upper bound is at most the target exactly if the tail at the target is
                    // at most δ.
                    if binomial_tail(k, n, self.risk) <= delta {
                        best = best.max(Some(middle));
                        low = middle;
                    } else {
                        high = middle.saturating_sub(1).max(low);
                    }
                }
                best
            }
        }
    }

    fn certificate(&self, curve: &RcCurve, knot: &Knot) -> Certificate {
        Certificate {
            threshold: knot.threshold,
            risk: self.risk,
            delta: self.delta,
            procedure: self.procedure,
            tried: self.tried,
            starts: self.starts,
            rows: curve.rows(),
            accepted: knot.accepted,
            errors: knot.errors(),
        }
    }

    fn what_is_missing(&self, knots: &[(usize, usize)], smallest: usize) -> Infeasible {
        let risk = |&(n, k): &(usize, usize)| k as f64 / n as f64;
        let enough = knots.iter().filter(|knot| knot.0 >= smallest).map(risk);
        let lowest = enough.fold(f64::INFINITY, f64::min);
        if lowest >= self.risk {
            return Infeasible::OutOfReach { lowest, enough: smallest };
        }
        // The same rates on more and more rows, until the procedure itself is convinced.
        let rows = knots.last().map_or(0, |knot| knot.0);
        let mut times = 1.0_f64;
        loop {
            times *= 1.1;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            let scaled = |count: usize| (count as f64 * times).ceil() as usize;
            let more: Vec<_> = knots.iter().map(|&(n, k)| (scaled(n), scaled(k))).collect();
            if self.find(&more).is_some() || scaled(rows) > EXACT_ROWS {
                return Infeasible::NotSure { lowest, needed: scaled(rows) };
            }
        }
    }
}

/// The fewest rows that can certify a risk at all: without an error among them.
fn smallest_certifiable(risk: f64, delta: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row count")]
    let mut rows = ((delta.ln() / (-risk).ln_1p()).floor() as usize).max(1);
    // Decided by the very test that is used later.
    while binomial_tail(0, rows, risk) > delta {
        rows += 1;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::losses::Losses;

    #[test]
    fn procedures_read_back() {
        for (&procedure, &name) in Procedure::ALL.iter().zip(Procedure::NAMES) {
            assert_eq!(procedure.to_string(), name);
            assert_eq!(name.to_uppercase().parse(), Ok(procedure));
            let json = serde_json::to_string(&procedure).expect("serialises");
            assert_eq!(json, format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<Procedure>(&json).expect("reads"), procedure);
        }
        let error = "fixed-sequense".parse::<Procedure>().unwrap_err().to_string();
        assert!(error.contains("did you mean 'fixed-sequence'?"), "{error}");
    }

    #[test]
    fn tails_are_exact() {
        // By hand: (1 − p)^n, and (1 − p)^n + n p (1 − p)^(n−1).
        assert!((binomial_tail(0, 59, 0.05) - 0.95_f64.powi(59)).abs() < 1e-12);
        let one = 0.95_f64.powi(10) + 10.0 * 0.05 * 0.95_f64.powi(9);
        assert!((binomial_tail(1, 10, 0.05) - one).abs() < 1e-12);
        assert_eq!(binomial_tail(10, 10, 0.3), 1.0);
        assert_eq!(binomial_tail(3, 10, 0.0), 1.0);
        assert_eq!(binomial_tail(3, 10, 1.0), 0.0);
        // Integer counts: the published code of SGR, which truncates a float, gives 0.0593 here.
        assert!((upper_bound(1, 49, 0.05) - 0.0932).abs() < 5e-5);
        assert!((upper_bound(0, 59, 0.05) - 0.0495).abs() < 5e-5);
        assert_eq!(upper_bound(7, 7, 0.05), 1.0);
        assert_eq!(smallest_certifiable(0.05, 0.05), 59);
        assert_eq!(smallest_certifiable(0.5, 0.5), 1);
        assert!((upper_bound(10, 20, 0.9) - 0.3848).abs() < 5e-5);
        // Beyond a million rows a bound that is never too small: the truth is near one half here.
        assert!(binomial_tail(100_000_000, 1_000_000_000, 0.1) >= 0.5);
        assert!(binomial_tail(90_000_000, 1_000_000_000, 0.1) < 1e-300);
        let (exact, bound) =
            (binomial_tail(49_500, 1_000_000, 0.05), binomial_tail(49_501, 1_000_001, 0.05));
        assert!(bound > exact && bound < 20.0 * exact, "{exact} {bound}");
    }

    fn curve(errors_at: &[usize], n: usize) -> RcCurve {
        let confidences: Vec<f64> = (0..n).map(|i| -(i as f64)).collect();
        let losses = (0..n).map(|i| if errors_at.contains(&i) { 1.0 } else { 0.0 }).collect();
        RcCurve::new(&confidences, &Losses::new(losses).expect("losses")).expect("a curve")
    }

    #[test]
    fn certificates_stop_where_the_evidence_does() {
        let good = curve(&[150, 160, 170, 180, 190, 191, 192, 193, 194, 195], 200);
        for procedure in [Procedure::FixedSequence, Procedure::Sgr] {
            let certifier = Certifier { procedure, ..Certifier::risk(0.05, 0.05) };
            let found = certifier.certify(&good).expect("valid").expect("feasible");
            assert!((59..=190).contains(&found.accepted), "{procedure:?}: {found:?}");
            let p = binomial_tail(found.errors, found.accepted, 0.05);
            assert!(p <= 0.05, "{procedure:?}: {p}");
            assert_eq!(found.threshold, -((found.accepted - 1) as f64));
        }
        // Shared among ten estimators, the same rows certify less.
        let alone = Certifier::risk(0.05, 0.05).certify(&good).expect("valid").expect("feasible");
        let shared = Certifier { tried: 10, ..Certifier::risk(0.05, 0.05) };
        let shared = shared.certify(&good).expect("valid").expect("feasible");
        assert!(shared.accepted < alone.accepted);
        assert_eq!(Certifier::accuracy(0.98, 0.1).risk, 0.02);
    }

    #[test]
    fn infeasible_targets_say_what_is_missing() {
        let certify = |curve: &RcCurve| {
            let one = Certifier { starts: 1, ..Certifier::risk(0.05, 0.05) };
            one.certify(curve).expect("valid").unwrap_err()
        };
        assert_eq!(certify(&curve(&[], 50)), Infeasible::TooFewRows { rows: 50, needed: 59 });
        let all_wrong: Vec<usize> = (0..100).collect();
        let out_of_reach = Infeasible::OutOfReach { lowest: 1.0, enough: 59 };
        assert_eq!(certify(&curve(&all_wrong, 100)), out_of_reach);
        let Infeasible::NotSure { lowest, needed } = certify(&curve(&[3, 30], 80)) else {
            panic!("two errors in eighty rows are below the target");
        };
        assert_eq!(lowest, 0.025);
        assert!((1000..3000).contains(&needed), "{needed}");
        // With four starts as with one: those beyond the rows are not paid for.
        for n in [59, 65, 100, 200] {
            assert!(
                Certifier::risk(0.05, 0.05).certify(&curve(&[], n)).expect("valid").is_ok(),
                "{n}"
            );
        }
        // SGR needs more rows than there are.
        let sgr = Certifier { procedure: Procedure::Sgr, ..Certifier::risk(0.05, 0.05) };
        let missing = sgr.certify(&curve(&[], 80)).expect("valid").unwrap_err();
        assert!(matches!(missing, Infeasible::TooFewRows { rows: 80, needed: 97 }), "{missing:?}");
        let text = certify(&curve(&[], 50)).to_string();
        assert_eq!(
            text,
            "50 rows cannot certify this target even without errors; it takes 59 at least"
        );
    }

    #[test]
    fn bad_targets_and_graded_losses_are_refused() {
        let good = curve(&[], 100);
        for (risk, delta) in [(0.0, 0.1), (1.0, 0.1), (0.1, 0.0), (f64::NAN, 0.1), (0.1, 1.0)] {
            let error = Certifier::risk(risk, delta).certify(&good).unwrap_err();
            assert!(matches!(error, Error::Parameter { .. }));
        }
        let none = Certifier { tried: 0, ..Certifier::risk(0.1, 0.1) };
        assert!(none.certify(&good).is_err());
        for starts in [0, 33] {
            assert!(Certifier { starts, ..Certifier::risk(0.1, 0.1) }.certify(&good).is_err());
        }
        let graded = Losses::new(vec![0.5, 0.0]).expect("losses");
        let graded = RcCurve::new(&[1.0, 2.0], &graded).expect("a curve");
        let error = Certifier::risk(0.1, 0.1).certify(&graded).unwrap_err();
        assert_eq!(error, Error::Undefined(Undefined::LossNotZeroOne));
    }
}
