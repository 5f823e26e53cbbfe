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
mod infeasible;
mod pilot;
#[cfg(test)]
mod tests;

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
pub use infeasible::{Infeasible, Instead, Reason};
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
