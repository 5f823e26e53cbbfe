//! Thresholds with a guarantee: with probability 1 − δ over the rows, the selective risk of the
//! population above the threshold is at most the target.
//!
//! The rows must be drawn independently from the population that the threshold is for, and must not
//! have served to tune the estimator; if several estimators were compared on them, say how many
//! ([`Certifier::tried`]), and each is given its share of δ.
//!
//! All procedures count errors among the surest rows, with exact binomial tails and thresholds between
//! ties only:
//!
//! * **Fixed sequence** (Angelopoulos et al., *Learn then Test*), the default: from some number of rows
//!   towards more coverage, for as long as the hypothesis "the risk is above the target" is rejected.
//!   - With a [`Pilot`] the sequence starts at half of the count that other rows promise. From there to
//!     that count, every threshold may also be certified by itself, whatever became of the sequence.
//!     All of them share δ, as one boundary for the errors at every count.
//!   - Without one it starts from the smallest count that could be certified at all, and again from
//!     twice, four and eight times that count, each with its share of δ. A sequence that comes to the
//!     next start takes its share along (the fallback procedure of Wiens, 2003).
//! * **SGR** (Geifman & El-Yaniv, 2017): a binary search over the thresholds, each step with an equal
//!   share of δ, or less where that would not hold for all thresholds at once.
//!
//! # Why they hold
//!
//! Let α be the target, and order the population from the surest to the least sure, ties in random order.
//! Let `E(t)` be the share of errors above the place `t` less α times the share of everything above it: a
//! threshold is bad if `E > 0`. `N(t)` and `S(t)` are the number of sampled rows above `t` and of errors
//! among them.
//!
//! **Lemma.** There is a walk `W(0), W(1), …` of independent steps, each 1 with probability α and else 0,
//! with `S(t) ≥ W(N(t))` at every bad `t`. It does not depend on how many rows fall between any two of
//! the places where `E` changes its sign.
//!
//! *Proof.* `E` is continuous and 0 at both ends of any interval on which it keeps its sign, so that the
//! share of errors in such an interval is α. Compare the rows with others that fall into the same
//! intervals, but are errors with probability α wherever they are: their errors in order are the walk. In
//! each interval as many are errors. Where `E > 0`, there are more errors above each place of the interval
//! than α times the rows, and fewer right rows; so the two samples can be drawn together such that each
//! error is above its counterpart and each right row is below its own. Then the first `k` rows hold at
//! least as many errors as the first `k` counterparts, for all `k` at once. (If there were fewer, there
//! would be more right rows up to the `k`-th place, and so up to there more right rows among the
//! counterparts: it is beyond their `k`-th place. But up to there are also fewer errors than among them,
//! though the errors lie above their counterparts.) At the end of the population `E` need not be 0: if it
//! is positive, some right counterparts belong to errors, which changes nothing; if it is negative, no
//! threshold of that interval is bad. ∎
//!
//! A row at the threshold counts like any other: the lemma is about all places at once, those of rows
//! included.
//!
//! * *A boundary for every count.* If the walk comes down to a boundary `c(k)` for any `k` with
//!   probability δ at most, then so do the errors at any bad threshold. That is exact for any population,
//!   with ties and with a risk that rises and falls. It also proves SGR.
//! * *One sequence beside it.* Let `m` be the count of rows above the first change of sign after the
//!   start, or the start itself if that is bad already. The sequence does not pass a bad threshold without
//!   `W(m) ≤ d(m)`, all thresholds between the start and there are good, and `m` does not depend on the
//!   walk. So `d(m)` may be as large as `P[W(m) ≤ d(m) or W(k) ≤ c(k) for some k > m] ≤ δ` allows. In a tie
//!   the errors are taken to come first, so that the sequence holds in any order.
//! * *Several sequences.* Those that meet the same first bad threshold have the sum of their shares
//!   there, and the shares of all sum to δ. Where a start lies inside a tie, it is tested with the errors
//!   of the tie taken to come first; the following tests are those at the ends of ties. There a sequence
//!   meets a bad threshold with at least as many errors as the walk, because the rows from the last change
//!   of sign to that threshold are riskier than α.
//!
//! The pilot decides which counts are looked at. It is independent of the rows, so that all of this holds
//! for any pilot.

mod binomial;
mod boundary;
mod pilot;

use crate::curve::{Knot, RcCurve};
use crate::error::{Error, Undefined};
use crate::method::nearest;
use crate::text::json_as_text;
use binomial::{EXACT_ROWS, smallest_certifiable};
use boundary::Boundary;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

pub use binomial::{binomial_tail, bound_everywhere, upper_bound};
pub use pilot::Pilot;

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

/// Without a pilot: in simulations four starts keep up to twice the coverage of one where there are errors
/// among the surest rows, about the same where there are none, and less where the target is barely
/// reachable.
const DEFAULT_STARTS: usize = 4;

/// What to certify.
#[derive(Debug, Clone, PartialEq)]
pub struct Certifier {
    /// The largest selective risk allowed, such as 0.05.
    pub risk: f64,
    /// How often the guarantee may fail, such as 0.05.
    pub delta: f64,
    /// The procedure.
    pub procedure: Procedure,
    /// How many estimators were tried on these very rows, this one included; 1 if they are fresh.
    pub tried: usize,
    /// Without a pilot, from how many row counts the fixed sequence sets out, each twice the one before
    /// and each with an equal share of δ. One error among the surest rows ends a sequence; another may
    /// go on.
    pub starts: usize,
    /// What other rows, such as those that tuned the estimator, say of where a certificate may be found.
    /// It must not depend on the certifying rows.
    pub pilot: Option<Pilot>,
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
    /// The rows of the pilot that chose where, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pilot: Option<usize>,
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

/// Why no threshold can be certified, and what could have been.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Infeasible {
    /// What is missing.
    #[serde(flatten)]
    pub reason: Reason,
    /// The lowest risk that the same procedure certifies on these rows. It was found by looking at them,
    /// so that it is advice on what to request of the next rows, and no certificate.
    pub instead: Option<Instead>,
}

/// What is missing for a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
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
        /// About how many rows it would take if the surest rows, which are below the target but too few,
        /// stayed as sure; nothing if not even they are below it.
        needed: Option<usize>,
    },
    /// Some threshold is below the target on these rows, but they are too few to be sure.
    NotSure {
        /// The lowest selective risk of a threshold that accepts enough rows.
        lowest: f64,
        /// How many rows there are.
        rows: usize,
        /// About how many rows it would take if the rates stayed as they are; a million and more if
        /// that is not enough.
        needed: usize,
    },
}

/// A risk that could have been certified.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Instead {
    /// The selective risk.
    pub risk: f64,
    /// The share of rows above the threshold.
    pub coverage: f64,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::TooFewRows { rows, needed } => write!(
                f,
                "{} rows cannot certify this target even without errors; it takes {} at least",
                grouped(*rows),
                grouped(*needed)
            ),
            Reason::OutOfReach { lowest, enough, needed } => {
                write!(
                    f,
                    "it takes {} answers at least, and among as many the selective risk of these rows \
                     is {lowest:.4} or more",
                    grouped(*enough)
                )?;
                match needed {
                    Some(needed) => {
                        let needed = grouped(*needed);
                        write!(f, "; about {needed} rows would do if the surest stay as sure")
                    }
                    None => Ok(()),
                }
            }
            Reason::NotSure { lowest, rows, needed } => write!(
                f,
                "the selective risk comes down to {lowest:.4} on these rows, but they are too few to be sure; \
                 about {} would do, {} more",
                grouped(*needed),
                grouped(needed.saturating_sub(*rows))
            ),
        }
    }
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reason)?;
        if let Some(Instead { risk, coverage }) = self.instead {
            write!(
                f,
                " (a risk of {risk}, that is an accuracy of {}, could have been certified at a coverage of \
                 {coverage:.3}: advice for the next rows, not a certificate)",
                complement(risk)
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Infeasible {}

/// 1 − 0.98 is 0.020000000000000018: the decimal that was meant is the one without the tail.
fn complement(share: f64) -> f64 {
    ((1.0 - share) * 1e12).round() / 1e12
}

/// How a certificate is looked for on some number of rows.
enum Plan {
    /// Sequences from some counts on, each with a share of δ.
    Starts { counts: Vec<usize>, share: f64 },
    /// A boundary at counts that a pilot chose.
    Boundary(Boundary),
    /// A binary search, with a boundary that allows it to end anywhere.
    Search { boundary: Boundary, steps: usize, share: f64 },
}

impl Certifier {
    /// Certifies a selective risk with probability 1 − δ, by the fixed sequence, on fresh rows.
    pub fn risk(risk: f64, delta: f64) -> Self {
        let (procedure, tried, starts) = (Procedure::default(), 1, DEFAULT_STARTS);
        Certifier { risk, delta, procedure, tried, starts, pilot: None }
    }

    /// Certifies a selective accuracy.
    pub fn accuracy(accuracy: f64, delta: f64) -> Self {
        Certifier::risk(complement(accuracy), delta)
    }

    /// The widest threshold that can be certified on the rows of a curve, or why there is none.
    pub fn certify(&self, curve: &RcCurve) -> Result<Result<Certificate, Infeasible>, Error> {
        if let Some(certificate) = self.widest(curve)? {
            return Ok(Ok(certificate));
        }
        let knots = counts(curve);
        let reason = self.what_is_missing(&knots);
        Ok(Err(Infeasible { reason, instead: self.instead(&knots) }))
    }

    /// The same without the reason, which takes longer to find than a threshold.
    pub fn widest(&self, curve: &RcCurve) -> Result<Option<Certificate>, Error> {
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
        let found = self.find(&counts(curve)).and_then(|index| curve.knots().nth(index));
        Ok(found.map(|knot| self.certificate(curve, &knot)))
    }

    /// The δ of one estimator.
    fn share(&self) -> f64 {
        self.delta / self.tried as f64
    }

    /// The starts of sequences, and the share of δ that each has. A sequence that would start beyond
    /// the rows is not paid for: that depends on their number alone.
    fn starts(&self, rows: usize) -> (Vec<usize>, f64) {
        let of = |starts: usize| {
            let share = self.share() / starts as f64;
            let first = smallest_certifiable(self.risk, share);
            ((0..starts).map(|k| first.saturating_mul(1 << k)).collect::<Vec<_>>(), share)
        };
        let fits =
            |(counts, _): &(Vec<usize>, f64)| counts.last().is_some_and(|&last| last <= rows);
        (2..=self.starts).rev().map(of).find(fits).unwrap_or_else(|| of(1))
    }

    /// The share of δ of a step of a binary search, and the number of steps.
    fn steps(&self, rows: usize) -> (f64, usize) {
        let steps = (rows as f64).log2().ceil().max(1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let whole = steps as usize;
        (self.share() / steps, whole)
    }

    /// The fewest rows that can be certified where there are so many.
    fn smallest(&self, rows: usize) -> usize {
        let level = match (self.procedure, &self.pilot) {
            (Procedure::FixedSequence, Some(_)) => self.share(),
            (Procedure::FixedSequence, None) => self.starts(rows).1,
            (Procedure::Sgr, _) => self.steps(rows).0,
        };
        smallest_certifiable(self.risk, level)
    }

    /// How to look at so many rows: nothing here depends on what they are.
    fn plan(&self, rows: usize) -> Plan {
        match (self.procedure, &self.pilot) {
            (Procedure::Sgr, _) => {
                let (level, steps) = self.steps(rows);
                let boundary = Boundary::at_level(self.risk, self.share(), level, rows);
                Plan::Search { boundary, steps, share: self.share() }
            }
            // Where exact tails end, so do boundaries; with as many rows, little is lost.
            (Procedure::FixedSequence, Some(pilot)) if rows <= EXACT_ROWS => {
                let smallest = smallest_certifiable(self.risk, self.share());
                let place = pilot.place(self.risk, self.share(), rows).max(smallest);
                // Half the way: early enough to be passed, and late enough to leave δ for the rest.
                let counts = (place / 2).max(smallest)..=place;
                Plan::Boundary(Boundary::new(self.risk, self.share(), &counts, rows))
            }
            (Procedure::FixedSequence, _) => {
                let (counts, share) = self.starts(rows);
                Plan::Starts { counts, share }
            }
        }
    }

    /// The widest threshold that the procedure certifies, given how many rows each threshold accepts,
    /// from the strictest on, and the errors among them.
    fn find(&self, knots: &[(usize, usize)]) -> Option<usize> {
        let rows = knots.last()?.0;
        if rows < self.smallest(rows) { None } else { self.plan(rows).find(self.risk, knots) }
    }

    fn certificate(&self, curve: &RcCurve, knot: &Knot) -> Certificate {
        let pilot = self.pilot.as_ref().filter(|_| self.procedure == Procedure::FixedSequence);
        Certificate {
            threshold: knot.threshold,
            risk: self.risk,
            delta: self.delta,
            procedure: self.procedure,
            tried: self.tried,
            starts: if pilot.is_some() { 1 } else { self.starts },
            pilot: pilot.map(|pilot| pilot.rows),
            rows: curve.rows(),
            accepted: knot.accepted,
            errors: knot.errors(),
        }
    }

    fn what_is_missing(&self, knots: &[(usize, usize)]) -> Reason {
        let rows = knots.last().map_or(0, |knot| knot.0);
        let smallest = self.smallest(rows);
        if rows < smallest {
            return Reason::TooFewRows { rows, needed: smallest };
        }
        let enough = knots.iter().filter(|knot| knot.0 >= smallest);
        let lowest = enough.map(|&(n, k)| k as f64 / n as f64).fold(f64::INFINITY, f64::min);
        if lowest >= self.risk {
            // Fewer rows say next to nothing of how sure the surest are.
            let surest = knots.iter().filter(|knot| knot.0 >= 20).copied().collect::<Vec<_>>();
            let below = surest.iter().any(|&(n, k)| (k as f64) < self.risk * n as f64);
            let needed = below.then(|| self.needed(&surest, rows)).filter(|&n| n <= EXACT_ROWS);
            return Reason::OutOfReach { lowest, enough: smallest, needed };
        }
        Reason::NotSure { lowest, rows, needed: self.needed(knots, rows) }
    }

    /// How many rows it would take if the rates stayed as they are, until the most promising threshold is
    /// certified at the share of δ that a single one may count on.
    fn needed(&self, knots: &[(usize, usize)], rows: usize) -> usize {
        let level = match self.procedure {
            Procedure::FixedSequence => self.share() / 4.0,
            Procedure::Sgr => self.steps(rows).0,
        };
        // Chernoff: a tail falls like the exponential of this.
        let evidence = |&(n, k): &(usize, usize)| {
            let share = k as f64 / n as f64;
            let wrong = if k == 0 { 0.0 } else { share * (share / self.risk).ln() };
            n as f64 * (wrong + (1.0 - share) * ((1.0 - share) / (1.0 - self.risk)).ln())
        };
        let below = knots.iter().filter(|&&(n, k)| (k as f64) < self.risk * n as f64);
        let best = below.max_by(|a, b| evidence(a).total_cmp(&evidence(b)));
        let (n, k) = best.copied().unwrap_or((rows, 0));
        let mut times = 1.0_f64;
        loop {
            times *= 1.1;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            let scaled = |count: usize| (count as f64 * times).ceil() as usize;
            let certain = binomial_tail(scaled(k), scaled(n), self.risk) <= level;
            if certain || scaled(rows) > EXACT_ROWS {
                return two_digits(scaled(rows));
            }
        }
    }

    /// The lowest risk that could have been certified, to the next thousandth, or more finely where the
    /// target is finer.
    fn instead(&self, knots: &[(usize, usize)]) -> Option<Instead> {
        let rows = knots.last()?.0;
        let digits = (2.0 - self.risk.log10().ceil()).clamp(3.0, 12.0);
        let unit = 10.0_f64.powf(digits);
        let at = |risk: f64| {
            let certifier = Certifier { risk, ..self.clone() };
            let index = certifier.find(knots)?;
            Some(Instead { risk, coverage: knots[index].0 as f64 / rows as f64 })
        };
        // Most targets are missed by little: from the target on, in steps that double.
        let mut low = (self.risk * unit).floor();
        let mut step = 1.0;
        let (mut high, mut found) = loop {
            let next = (low + step).min(unit - 1.0);
            if let Some(found) = at(next / unit) {
                break (next, found);
            }
            if next >= unit - 1.0 {
                return None;
            }
            (low, step) = (next, 2.0 * step);
        };
        while high - low > 1.0 {
            let middle = f64::midpoint(low, high).floor();
            if let Some(better) = at(middle / unit) {
                (high, found) = (middle, better);
            } else {
                low = middle;
            }
        }
        Some(found)
    }
}

/// The next number of two significant digits: an estimate has no more.
fn two_digits(count: usize) -> usize {
    let unit = 10_usize.pow(count.max(1).ilog10().saturating_sub(1));
    count.div_ceil(unit) * unit
}

/// A count with a comma after every three digits.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let place = |(index, digit): (usize, char)| {
        let comma = index > 0 && (digits.len() - index).is_multiple_of(3);
        comma.then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(place).collect()
}

/// How many rows each threshold accepts, from the strictest on, and the errors among them.
fn counts(curve: &RcCurve) -> Vec<(usize, usize)> {
    curve.knots().map(|knot| (knot.accepted, knot.errors())).collect()
}

impl Plan {
    /// The widest threshold that is certified.
    fn find(&self, risk: f64, knots: &[(usize, usize)]) -> Option<usize> {
        match self {
            Plan::Starts { counts, share } => sequences(risk, knots, counts, *share),
            Plan::Boundary(boundary) => boundary.find(knots),
            Plan::Search { boundary, steps, share } => {
                search(knots, *steps, |(accepted, errors)| {
                    boundary.alone((accepted, errors))
                        && binomial_tail(errors, accepted, risk) <= *share
                })
            }
        }
    }
}

/// How far sequences from several starts come, each with a share of δ that it takes along.
fn sequences(risk: f64, knots: &[(usize, usize)], starts: &[usize], share: f64) -> Option<usize> {
    let (mut level, mut certified) = (0.0, None);
    let (mut before, mut errors_before) = (0, 0);
    for (index, &(accepted, errors)) in knots.iter().enumerate() {
        let passed = level > 0.0;
        for &start in starts.iter().filter(|&&start| before < start && start <= accepted) {
            // A start inside a tie has to pass with the errors of the tie first.
            let worst = errors_before + (errors - errors_before).min(start - before);
            if start == accepted || binomial_tail(worst, start, risk) <= share {
                level += share;
            }
        }
        if level > 0.0 {
            // More rows without a further error are surer still.
            let as_before = passed && errors == errors_before;
            if as_before || binomial_tail(errors, accepted, risk) <= level {
                certified = Some(index);
            } else {
                level = 0.0;
            }
        }
        (before, errors_before) = (accepted, errors);
    }
    certified
}

/// The widest threshold that a binary search finds. Thresholds are numbered from the strictest; a wider
/// one is tried after a success.
fn search(
    knots: &[(usize, usize)],
    steps: usize,
    certified: impl Fn((usize, usize)) -> bool,
) -> Option<usize> {
    let (mut low, mut high, mut best) = (0, knots.len() - 1, None);
    for _ in 0..steps {
        let middle = usize::midpoint(low, high + 1).min(knots.len() - 1);
        if certified(knots[middle]) {
            best = best.max(Some(middle));
            low = middle;
        } else {
            high = middle.saturating_sub(1).max(low);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::losses::Losses;
    use crate::random::Random;

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
        let few = certify(&curve(&[], 50));
        assert_eq!(few.reason, Reason::TooFewRows { rows: 50, needed: 59 });
        let all_wrong: Vec<usize> = (0..100).collect();
        let out_of_reach = Reason::OutOfReach { lowest: 1.0, enough: 59, needed: None };
        let nothing = Infeasible { reason: out_of_reach, instead: None };
        assert_eq!(certify(&curve(&all_wrong, 100)), nothing);
        let unsure = certify(&curve(&[3, 30], 80));
        let Reason::NotSure { lowest, rows: 80, needed } = unsure.reason else {
            panic!("two errors in eighty rows are below the target");
        };
        assert_eq!(lowest, 0.025);
        assert!((200..600).contains(&needed), "{needed}");
        // The 30 surest rows are right, but no 59 of them are.
        let beyond: Vec<usize> = (30..100).collect();
        let Reason::OutOfReach { enough: 59, needed: Some(needed), .. } =
            certify(&curve(&beyond, 100)).reason
        else {
            panic!("the surest rows are below the target");
        };
        assert!((200..400).contains(&needed), "{needed}");
        // With four starts as with one: those beyond the rows are not paid for.
        for n in [59, 65, 100, 200] {
            assert!(
                Certifier::risk(0.05, 0.05).certify(&curve(&[], n)).expect("valid").is_ok(),
                "{n}"
            );
        }
        // SGR needs more rows than there are.
        let sgr = Certifier { procedure: Procedure::Sgr, ..Certifier::risk(0.05, 0.05) };
        let missing = sgr.certify(&curve(&[], 80)).expect("valid").unwrap_err().reason;
        assert!(matches!(missing, Reason::TooFewRows { rows: 80, needed: 97 }), "{missing:?}");
        assert_eq!(
            few.to_string(),
            "50 rows cannot certify this target even without errors; it takes 59 at least (a risk of \
             0.059, that is an accuracy of 0.941, could have been certified at a coverage of 1.000: \
             advice for the next rows, not a certificate)"
        );
        let json = serde_json::to_string(&few).expect("serialises");
        assert_eq!(
            json,
            "{\"reason\":\"too-few-rows\",\"rows\":50,\"needed\":59,\
             \"instead\":{\"risk\":0.059,\"coverage\":1.0}}"
        );
    }

    /// What could have been certified is just that: the same procedure certifies it, and nothing below.
    #[test]
    fn advice_is_the_lowest_risk_that_the_rows_certify() {
        let rows = curve(&[3, 30, 70, 71, 72, 90, 100, 101, 110], 120);
        let pilot = Pilot::of(&curve(&[10, 40, 60, 75, 80, 88, 91, 95], 100));
        for pilot in [None, pilot] {
            for procedure in Procedure::ALL.iter().copied() {
                let certifier =
                    Certifier { procedure, pilot: pilot.clone(), ..Certifier::risk(0.04, 0.1) };
                let missing = certifier.certify(&rows).expect("valid").unwrap_err();
                let Instead { risk, coverage } = missing.instead.expect("most rows are right");
                let found = Certifier { risk, ..certifier.clone() }.certify(&rows);
                assert_eq!(found.expect("valid").expect("feasible").coverage(), coverage);
                let lower = Certifier { risk: risk - 0.001, ..certifier };
                assert!(lower.certify(&rows).expect("valid").is_err(), "{procedure} {risk}");
            }
        }
    }

    /// Where the boundary of a pilot and that of nobody differ, both are tails of at most δ.
    #[test]
    fn pilots_choose_where_to_look() {
        let wrong = |n: usize| (n * 6 / 10..n).step_by(4).collect::<Vec<_>>();
        let (other, rows) = (curve(&wrong(300), 300), curve(&wrong(1000), 1000));
        let pilot = Pilot::of(&other).expect("zeros and ones");
        assert_eq!((pilot.rows, pilot.check()), (300, Ok(())));
        assert!((60..=64).contains(&pilot.accepted.len()), "{}", pilot.accepted.len());
        assert_eq!((pilot.accepted.last(), pilot.errors.last()), (Some(&300), Some(&30)));
        let place = pilot.place(0.05, 0.1, 1000);
        assert!((650..800).contains(&place), "{place}");
        let with = Certifier { pilot: Some(pilot.clone()), ..Certifier::risk(0.05, 0.1) };
        let found = with.certify(&rows).expect("valid").expect("feasible");
        let blind = Certifier::risk(0.05, 0.1).certify(&rows).expect("valid").expect("feasible");
        assert_eq!((found.pilot, found.starts, blind.pilot, blind.starts), (Some(300), 1, None, 4));
        assert!(found.accepted >= blind.accepted - 20, "{found:?} {blind:?}");
        assert_eq!((found.check(), blind.check()), (Ok(()), Ok(())));
        // Nonsense is harmless.
        let silly = Pilot { rows: 10, accepted: vec![1, 10], errors: vec![1, 10] };
        let silly = Certifier { pilot: Some(silly), ..Certifier::risk(0.05, 0.1) };
        assert!(silly.certify(&rows).expect("valid").is_ok());
        for (accepted, errors) in [
            (vec![], vec![]),
            (vec![5], vec![]),
            (vec![5, 4], vec![0, 0]),
            (vec![5, 8], vec![2, 1]),
            (vec![5, 8], vec![0, 4]),
            (vec![5], vec![6]),
            (vec![11], vec![6]),
        ] {
            let pilot = Pilot { rows: 10, accepted, errors };
            assert!(pilot.check().is_err(), "{pilot:?}");
        }
        let graded = Losses::new(vec![0.5, 0.0]).expect("losses");
        assert_eq!(Pilot::of(&RcCurve::new(&[1.0, 2.0], &graded).expect("a curve")), None);
    }

    #[test]
    fn a_sequence_takes_its_share_of_delta_along() {
        // Nine errors at 500 rows are unlikely enough for all of δ, not for a quarter of it. The
        // sequence from the first start has passed all the others by then.
        let errors: Vec<usize> = (0..11).map(|i| 330 + 12 * i).collect();
        let rows = curve(&errors, 480);
        let all = Certifier { starts: 1, ..Certifier::risk(0.05, 0.1) };
        let four = Certifier::risk(0.05, 0.1);
        let (all, four) = (all.certify(&rows), four.certify(&rows));
        let accepted = |found: Result<Result<Certificate, Infeasible>, Error>| {
            found.expect("valid").expect("feasible").accepted
        };
        assert_eq!(accepted(all), accepted(four));
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

    fn uniform(random: &mut Random) -> f64 {
        random.below(1 << 53) as f64 / (1_u64 << 53) as f64
    }

    /// The share of samples on which a bad threshold is certified.
    ///
    /// The population has equal parts from the surest to the least sure, each with a chance of an error;
    /// the rows of a part tie, if there are ties.
    fn broken(certifier: &Certifier, parts: &[f64], rows: usize, ties: bool, runs: usize) -> f64 {
        let mut excess = vec![0.0];
        for part in parts {
            excess.push(excess[excess.len() - 1] + part - certifier.risk);
        }
        let plan = certifier.plan(rows);
        let mut random = Random::new(1);
        let broken = (0..runs).filter(|_| {
            let mut sample: Vec<(usize, f64, bool)> = (0..rows)
                .map(|_| {
                    let (part, place) = (random.below(parts.len()), uniform(&mut random));
                    (part, if ties { 1.0 } else { place }, uniform(&mut random) < parts[part])
                })
                .collect();
            sample.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let (mut knots, mut places) = (Vec::new(), Vec::new());
            let mut errors = 0;
            for (index, &(part, place, wrong)) in sample.iter().enumerate() {
                errors += usize::from(wrong);
                if sample.get(index + 1).is_none_or(|next| (next.0, next.1) != (part, place)) {
                    knots.push((index + 1, errors));
                    places.push((part, place));
                }
            }
            plan.find(certifier.risk, &knots).is_some_and(|index| {
                let (part, place) = places[index];
                excess[part] + (excess[part + 1] - excess[part]) * place > 1e-9
            })
        });
        broken.count() as f64 / runs as f64
    }

    /// Populations that were made to break certificates: all thresholds bad, by next to nothing; errors
    /// among the surest, so that the least sure accepted rows are less risky than the rest; parts that
    /// are bad and good in turn; a step from good to bad; a part of one row in many.
    #[test]
    fn certificates_hold_in_contrived_cases() {
        let (risk, delta, rows, runs) = (0.1, 0.1, 150, 2500);
        let allowed = delta + 3.0 * (delta * (1.0 - delta) / runs as f64).sqrt();
        let comb =
            |bad: f64, n: usize| (0..n).map(|i| if i % 2 == 0 { bad } else { 0.0 }).collect();
        let mut errors_first = vec![0.0; 30];
        errors_first[..15].fill(0.2001);
        let mut step = vec![0.02; 30];
        step[15..].fill(0.2);
        let mut rare = vec![0.101; 150];
        for i in (0..150).step_by(3) {
            rare[i] = 0.0;
            rare[i + 1] = 0.21;
        }
        let mut late = vec![0.1; 40];
        (late[0], late[39]) = (0.14, 0.07);
        let cases: [(&str, Vec<f64>); 7] = [
            ("flat", vec![0.1 + 1e-6; 20]),
            ("errors first", errors_first),
            ("comb", comb(0.2002, 30)),
            ("fine comb", comb(0.2002, 300)),
            ("step", step),
            ("rare", rare),
            ("late", late),
        ];
        let pilots = [
            Pilot { rows: 100, accepted: vec![40, 60, 100], errors: vec![0, 2, 10] },
            Pilot { rows: 100, accepted: vec![90, 100], errors: vec![2, 6] },
        ];
        let mut certifiers = vec![
            Certifier::risk(risk, delta),
            Certifier { starts: 1, ..Certifier::risk(risk, delta) },
            Certifier { procedure: Procedure::Sgr, ..Certifier::risk(risk, delta) },
        ];
        for pilot in pilots {
            certifiers.push(Certifier { pilot: Some(pilot), ..Certifier::risk(risk, delta) });
        }
        let mut most: f64 = 0.0;
        for (name, parts) in &cases {
            for ties in [false, true] {
                let shares: Vec<f64> =
                    certifiers.iter().map(|c| broken(c, parts, rows, ties, runs)).collect();
                println!("{name}, ties: {ties}: {shares:.4?}");
                assert!(shares.iter().all(|&share| share <= allowed), "{name}: {shares:?}");
                most = shares.iter().copied().fold(most, f64::max);
            }
        }
        // And the boundary spends nearly all of δ: a promise kept by certifying nothing is worth nothing.
        assert!(most > 0.8 * delta, "{most}");
    }

    /// With more rows than steps, the boundary looks at every so manyth count and still holds.
    #[test]
    fn boundaries_in_steps_hold() {
        let pilot = Pilot { rows: 100, accepted: vec![50, 70, 100], errors: vec![1, 4, 12] };
        let certifier = Certifier { pilot: Some(pilot), ..Certifier::risk(0.1, 0.1) };
        let share = broken(&certifier, &[0.1 + 1e-6; 20], 5000, false, 1500);
        assert!((0.06..=0.1 + 0.0233).contains(&share), "{share}");
    }
}
