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
//!   - Without one and with few distinct confidences, such as scores in steps of 5, a sequence would end
//!     at its first tie. There a boundary looks at every count from a fifth of the rows on, with a sequence
//!     beside it, and another at the counts below.
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
//!   walk. So `d(m)` may be as large as `P[W(m) ≤ d(m) or W(k) ≤ c(k) for some k > m] ≤ δ` allows. Inside a
//!   tie the sequence is tested, too, with the rows of the tie in random order, as the lemma has them. The
//!   certificate then holds with probability 1 − δ over the rows and this order.
//! * *Several sequences.* Those that meet the same first bad threshold have the sum of their shares
//!   there, and the shares of all sum to δ. A start inside a tie is tested with the rows of the tie in
//!   random order; the following tests are those at the ends of ties. There a sequence
//!   meets a bad threshold with at least as many errors as the walk, because the rows from the last change
//!   of sign to that threshold are riskier than α.
//! * *The choice by the number of distinct confidences.* It does not look at losses, but it is not
//!   independent of them: where errors are rare values, many distinct confidences mean many errors. So it is
//!   paid for. The number of distinct confidences lies close to its mean, which is fixed. Between what
//!   counts as few ties and what counts as many there is a gap that is wider than the range of that number,
//!   but for a thousandth of δ; in the gap, a threshold must be certified by both. Thus for any population
//!   all certificates are those of one of the two, or fewer.
//!
//! The pilot decides which counts are looked at. It is independent of the rows, so that all of this holds
//! for any pilot.

mod binomial;
mod boundary;
mod infeasible;
mod order;
mod pilot;
#[cfg(test)]
mod tests;

use crate::curve::{Knot, RcCurve};
use crate::error::{Error, Undefined};
use crate::method::nearest;
use crate::text::json_as_text;
use binomial::{EXACT_ROWS, smallest_certifiable, tail_of_rates};
use boundary::{Boundary, STEPS, STEPS_BETWEEN_TIES};
use order::Order;
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

    /// Limits of the share of the population above the threshold, which hold with probability `level`. The
    /// threshold was chosen on these rows, so that they hold for all thresholds at once: by the inequality
    /// of Dvoretzky, Kiefer and Wolfowitz, with Massart's constant.
    pub fn coverage_limits(&self, level: f64) -> (f64, f64) {
        let margin = ((2.0 / (1.0 - level)).ln() / (2.0 * self.rows as f64)).sqrt();
        let coverage = self.coverage();
        ((coverage - margin).max(0.0), (coverage + margin).min(1.0))
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
    /// Boundaries at counts that a pilot or the number of rows chose, each with a share of δ.
    Boundaries(Vec<Boundary>),
    /// What both of two plans certify.
    Both(Box<(Plan, Plan)>),
    /// A binary search, with a boundary that allows it to end anywhere.
    Search { boundary: Boundary, steps: usize, share: f64 },
}

/// How many confidences are equal, as far as it decides how a certificate is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ties {
    Few,
    Some,
    Many,
}

/// The share of δ that pays for the choice of a plan by the number of distinct confidences.
const FOR_TIES: f64 = 1e-3;

/// With many ties, the boundary sets out at this share of the rows; counts below it have a boundary with this
/// share of δ.
const EARLY: (f64, f64) = (0.2, 0.15);

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

    /// The same without a pilot, where the number of ties decides.
    fn share_without_pilot(&self) -> f64 {
        self.share() * (1.0 - FOR_TIES)
    }

    /// Whether so many of the confidences of so many rows are distinct that a sequence fares best, or so few
    /// that a boundary does. A row changes their number by one at most, so that it is within half of `apart`
    /// of its mean but for the share of δ that pays for this (McDiarmid): no population has few ties in one
    /// sample and many in another.
    fn ties(&self, rows: usize, distinct: usize) -> Ties {
        let few = rows - rows / 20;
        let apart = (-2.0 * rows as f64 * (self.share() * FOR_TIES).ln()).sqrt();
        if distinct >= few || rows > EXACT_ROWS {
            Ties::Few
        } else if distinct as f64 + apart <= few as f64 {
            Ties::Many
        } else {
            Ties::Some
        }
    }

    /// The starts of sequences, and the share of δ that each has. A sequence that would start beyond
    /// the rows is not paid for: that depends on their number alone.
    fn starts(&self, rows: usize) -> (Vec<usize>, f64) {
        let of = |starts: usize| {
            let share = self.share_without_pilot() / starts as f64;
            let first = smallest_certifiable(self.risk, share);
            ((0..starts).map(|k| first.saturating_mul(1 << k)).collect::<Vec<_>>(), share)
        };
        let fits =
            |(counts, _): &(Vec<usize>, f64)| counts.last().is_some_and(|&last| last <= rows);
        (2..=self.starts).rev().map(of).find(fits).unwrap_or_else(|| of(1))
    }

    /// The boundaries that look at every count of so many rows.
    fn boundaries(&self, rows: usize) -> Vec<Boundary> {
        let (delta, size) = (self.share_without_pilot(), (rows, STEPS_BETWEEN_TIES));
        let smallest = smallest_certifiable(self.risk, delta);
        let (from, share) = EARLY;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row count")]
        let from = ((rows as f64 * from) as usize).max(smallest).min(rows);
        let late = |delta| Boundary::new(self.risk, delta, &(from..=rows), size);
        let early = smallest_certifiable(self.risk, delta * share);
        if early >= from {
            return vec![late(delta)];
        }
        let counts = early..=from - 1;
        let early = Boundary::without_sequence(self.risk, delta * share, &counts, size);
        vec![early, late(delta * (1.0 - share))]
    }

    /// The share of δ of a step of a binary search, and the number of steps.
    fn steps(&self, rows: usize) -> (f64, usize) {
        let steps = (rows as f64).log2().ceil().max(1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let whole = steps as usize;
        (self.share() / steps, whole)
    }

    /// The fewest rows that can be certified where there are so many.
    fn smallest(&self, rows: usize, ties: Ties) -> usize {
        let level = match (self.procedure, &self.pilot) {
            (Procedure::FixedSequence, Some(_)) => self.share(),
            (Procedure::FixedSequence, None) => match ties {
                Ties::Many => self.share_without_pilot(),
                Ties::Few | Ties::Some => self.starts(rows).1,
            },
            (Procedure::Sgr, _) => self.steps(rows).0,
        };
        smallest_certifiable(self.risk, level)
    }

    /// How to look at so many rows: nothing here depends on their losses.
    fn plan(&self, rows: usize, ties: Ties) -> Plan {
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
                let boundary = Boundary::new(self.risk, self.share(), &counts, (rows, STEPS));
                Plan::Boundaries(vec![boundary])
            }
            (Procedure::FixedSequence, _) => {
                let starts = || {
                    let (counts, share) = self.starts(rows);
                    Plan::Starts { counts, share }
                };
                let boundaries = || Plan::Boundaries(self.boundaries(rows));
                match ties {
                    Ties::Few => starts(),
                    Ties::Some => Plan::Both(Box::new((starts(), boundaries()))),
                    Ties::Many => boundaries(),
                }
            }
        }
    }

    /// The widest threshold that the procedure certifies, given how many rows each threshold accepts,
    /// from the strictest on, and the errors among them.
    fn find(&self, knots: &[(usize, usize)]) -> Option<usize> {
        let rows = knots.last()?.0;
        let ties = self.ties(rows, knots.len());
        if rows < self.smallest(rows, ties) {
            return None;
        }
        self.plan(rows, ties).find(self.risk, knots)
    }

    fn certificate(&self, curve: &RcCurve, knot: &Knot) -> Certificate {
        let pilot = self.pilot.as_ref().filter(|_| self.procedure == Procedure::FixedSequence);
        let ties = self.ties(curve.rows(), curve.knots().count());
        Certificate {
            threshold: knot.threshold,
            risk: self.risk,
            delta: self.delta,
            procedure: self.procedure,
            tried: self.tried,
            starts: if pilot.is_some() || ties == Ties::Many { 1 } else { self.starts },
            pilot: pilot.map(|pilot| pilot.rows),
            rows: curve.rows(),
            accepted: knot.accepted,
            errors: knot.errors(),
        }
    }

    fn what_is_missing(&self, knots: &[(usize, usize)]) -> Reason {
        let rows = knots.last().map_or(0, |knot| knot.0);
        let ties = self.ties(rows, knots.len());
        let smallest = self.smallest(rows, ties);
        if rows < smallest {
            return Reason::TooFewRows { rows, needed: smallest };
        }
        let enough = knots.iter().filter(|knot| knot.0 >= smallest);
        let lowest = enough.map(|&(n, k)| k as f64 / n as f64).fold(f64::INFINITY, f64::min);
        let needed = self.needed(knots, rows, ties);
        if lowest >= self.risk {
            return Reason::OutOfReach { lowest, enough: smallest, needed };
        }
        Reason::NotSure { lowest, rows, needed }
    }

    /// How many rows it would take until some threshold is certified at the share of δ that a single one may
    /// count on. The lowest rates of a sample are lower than those of the next one: each is taken to be half
    /// an error and a quarter of a standard error higher. Nothing if none is below the target then, or if it takes too many rows.
    fn needed(&self, knots: &[(usize, usize)], rows: usize, ties: Ties) -> Option<usize> {
        let level = match (self.procedure, ties) {
            (Procedure::Sgr, _) => self.steps(rows).0,
            (Procedure::FixedSequence, Ties::Few) => self.share() / 4.0,
            (Procedure::FixedSequence, Ties::Some | Ties::Many) => self.share() / 8.0,
        };
        // Fewer rows say next to nothing of how sure the surest are.
        let rates = knots.iter().filter(|knot| knot.0 >= 20).map(|&(n, k)| {
            let errors = k as f64 + 0.5;
            (n as f64, errors + 0.25 * errors.sqrt())
        });
        let promising = rates.filter(|&(n, k)| k < self.risk * n).collect::<Vec<_>>();
        let mut times = 1.1_f64;
        while rows as f64 * times <= EXACT_ROWS as f64 {
            let certain = |&(n, k): &(f64, f64)| {
                tail_of_rates((k * times).ceil(), (n * times).floor(), self.risk) <= level
            };
            if promising.iter().any(certain) {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a count"
                )]
                let needed = (rows as f64 * times).ceil() as usize;
                return Some(two_digits(needed));
            }
            times *= 1.1;
        }
        None
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
        self.certified(risk, knots).iter().rposition(|&certified| certified)
    }

    /// Which thresholds are certified, all of them at once.
    fn certified(&self, risk: f64, knots: &[(usize, usize)]) -> Vec<bool> {
        let mut certified = vec![false; knots.len()];
        match self {
            Plan::Starts { counts, share } => {
                mark_sequences(risk, knots, counts, *share, &mut certified);
            }
            Plan::Boundaries(boundaries) => {
                for boundary in boundaries {
                    boundary.mark(knots, &mut certified);
                }
            }
            Plan::Both(plans) => {
                let others = plans.1.certified(risk, knots);
                certified = plans.0.certified(risk, knots);
                certified.iter_mut().zip(others).for_each(|(mark, other)| *mark &= other);
            }
            Plan::Search { boundary, steps, share } => {
                let found = search(knots, *steps, |(accepted, errors)| {
                    boundary.alone((accepted, errors))
                        && binomial_tail(errors, accepted, risk) <= *share
                });
                if let Some(found) = found {
                    certified[found] = true;
                }
            }
        }
        certified
    }
}

/// Marks the thresholds that sequences from several starts come to, each with a share of δ that it takes
/// along. A start inside a tie is tested with the rows of the tie in random order.
fn mark_sequences(
    risk: f64,
    knots: &[(usize, usize)],
    starts: &[usize],
    share: f64,
    certified: &mut [bool],
) {
    let mut level = 0.0;
    let (mut before, mut errors_before) = (0, 0);
    let mut order = Order::new(knots);
    for (mark, &(accepted, errors)) in certified.iter_mut().zip(knots) {
        let passed = level > 0.0;
        for &start in starts.iter().filter(|&&start| before < start && start <= accepted) {
            if start == accepted || binomial_tail(order.errors(start), start, risk) <= share {
                level += share;
            }
        }
        if level > 0.0 {
            // More rows without a further error are surer still.
            let as_before = passed && errors == errors_before;
            if as_before || binomial_tail(errors, accepted, risk) <= level {
                *mark = true;
            } else {
                level = 0.0;
            }
        }
        (before, errors_before) = (accepted, errors);
    }
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
