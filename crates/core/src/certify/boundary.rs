//! The most errors that certify, at every number of rows at once.
//!
//! With a risk of exactly the target, the errors among the surest rows are a walk that rises by one with
//! that probability at each row, and no population above the target keeps below it (see the
//! [module](super)). So everything is a question about this walk, which a recursion answers exactly:
//! the chance that it ever comes down to a boundary.

use super::binomial::{binomial_tail, smallest_certifiable};
use super::order::Order;
use statrs::function::gamma::ln_gamma;
use std::ops::RangeInclusive;

/// A boundary has at most so many steps; of more rows, only every so manyth count is looked at.
pub(super) const STEPS: usize = 2048;

/// The same where confidences tie: few ends of ties are at a count that is looked at.
pub(super) const STEPS_BETWEEN_TIES: usize = 8192;

/// Sums are good to about nine digits: a boundary spends a little less than δ.
const ROUNDING: f64 = 1e-7;

/// The most errors that certify, for each number of rows in steps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Boundary {
    /// The number of rows from one step to the next.
    step: usize,
    /// The first step that is looked at.
    first: usize,
    /// The most errors that certify whatever is found elsewhere.
    alone: Vec<Option<usize>>,
    /// The most errors with which the sequence that has come so far goes on.
    sequence: Vec<Option<usize>>,
}

impl Boundary {
    /// The boundary that looks at some counts of all rows, alone at one level there, the highest that
    /// keeps to δ.
    pub(super) fn new(
        risk: f64,
        delta: f64,
        counts: &RangeInclusive<usize>,
        (rows, steps): (usize, usize),
    ) -> Self {
        let spent = delta * (1.0 - ROUNDING);
        let walk = Walk::new(risk, spent, counts, (rows, steps));
        let alone = walk.highest(spent);
        walk.boundary(alone, spent)
    }

    /// The same without a sequence.
    pub(super) fn without_sequence(
        risk: f64,
        delta: f64,
        counts: &RangeInclusive<usize>,
        (rows, steps): (usize, usize),
    ) -> Self {
        let spent = delta * (1.0 - ROUNDING);
        let walk = Walk::new(risk, spent, counts, (rows, steps));
        walk.only(walk.highest(spent))
    }

    /// The same at a given level, or less if that does not keep to δ, and without a sequence.
    pub(super) fn at_level(risk: f64, delta: f64, level: f64, rows: usize) -> Self {
        let counts = smallest_certifiable(risk, level).min(rows)..=rows;
        let walk = Walk::new(risk, level, &counts, (rows, STEPS));
        let mut level = level;
        while walk.chance(&walk.alone(level)) > delta * (1.0 - ROUNDING) {
            level *= 0.9;
        }
        walk.only(walk.alone(level))
    }

    /// Whether so many errors among so many rows certify by themselves.
    pub(super) fn alone(&self, (accepted, errors): (usize, usize)) -> bool {
        let Some(step) = (accepted / self.step).checked_sub(self.first) else { return false };
        let last = self.alone.len() - 1;
        // Beyond the last step the walk has only risen since. A sequence beside it allows for counts up to
        // the next step only.
        let looked_at = step <= last || self.step == 1 || !self.has_sequence();
        looked_at && Some(errors) <= self.alone[step.min(last)]
    }

    fn has_sequence(&self) -> bool {
        self.sequence.iter().any(Option::is_some)
    }

    /// Marks the thresholds that are certified, given how many rows each accepts and the errors among them.
    pub(super) fn mark(&self, knots: &[(usize, usize)], certified: &mut [bool]) {
        for (mark, &knot) in certified.iter_mut().zip(knots) {
            *mark |= self.alone(knot);
        }
        self.mark_sequence(knots, certified);
    }

    /// Marks those that the sequence comes to, with the rows of ties in random order.
    fn mark_sequence(&self, knots: &[(usize, usize)], certified: &mut [bool]) {
        let Some(start) = self.sequence.iter().position(Option::is_some) else { return };
        let mut order = Order::new(knots);
        let mut step = start;
        for (mark, &(accepted, _)) in certified.iter_mut().zip(knots) {
            while let Some(allowed) = self.sequence.get(step)
                && (self.first + step) * self.step <= accepted
            {
                let count = (self.first + step) * self.step;
                if Some(order.errors(count)) > *allowed {
                    return;
                }
                *mark |= count == accepted;
                step += 1;
            }
        }
    }
}

/// The walk of errors at the target, in steps of some rows.
struct Walk {
    risk: f64,
    step: usize,
    first: usize,
    last: usize,
    /// The chance of 0, 1, … errors in one step; of more than the last it holds as well.
    rises: Vec<f64>,
    /// Farther above the boundary than this, the chance to meet it is taken to be what it is here.
    width: usize,
    /// How unlikely few errors are, for each step from the first to the last row.
    tails: Vec<Tails>,
}

/// The chance that the walk meets the boundary later, by the number of errors now.
struct Chances {
    /// The number of errors that the first entry is for.
    from: usize,
    values: Vec<f64>,
    /// The chance beyond the last entry, or a little more.
    beyond: f64,
}

impl Walk {
    /// The walk for levels of at most `level`.
    fn new(
        risk: f64,
        level: f64,
        counts: &RangeInclusive<usize>,
        (rows, steps): (usize, usize),
    ) -> Self {
        let step = rows.div_ceil(steps).max(1);
        let first = counts.start().div_ceil(step);
        let last = (counts.end() / step).max(first);
        let mut rises = Vec::new();
        for k in 0..=step {
            let chance = chance_of(k, step, risk);
            rises.push(chance);
            if k as f64 > step as f64 * risk && chance < 1e-18 {
                break;
            }
        }
        // What is left counts as fewer errors than it is, which brings the walk nearer to the boundary.
        let left = 1.0 - rises.iter().sum::<f64>();
        if let Some(most) = rises.last_mut() {
            *most += left.max(0.0);
        }
        let deviation = ((last * step) as f64 * risk * (1.0 - risk)).sqrt();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let width = (10.0 * deviation) as usize + 20;
        let tails = Tails::of(risk, level, first * step, step, rows.max(last * step));
        Walk { risk, step, first, last, rises, width, tails }
    }

    fn count(&self, step: usize) -> usize {
        step * self.step
    }

    /// The most errors at each step that are as unlikely as a level.
    fn alone(&self, level: f64) -> Vec<Option<usize>> {
        self.tails[..=self.last - self.first].iter().map(|tails| tails.most(level)).collect()
    }

    /// The most errors at each step at one level, the highest with which the walk comes down to them with a
    /// chance of δ at most.
    fn highest(&self, delta: f64) -> Vec<Option<usize>> {
        let keeps_to_it = |share: f64| self.chance(&self.alone(delta * share)) <= delta;
        // The share of δ at a single count: rarely less than a quarter.
        let (mut low, mut high) = (1.0_f64, 1.0_f64);
        while !keeps_to_it(low) {
            (low, high) = (low / 2.0, low);
        }
        while high / low > 1.01 {
            let middle = (low * high).sqrt();
            if keeps_to_it(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.alone(delta * low)
    }

    /// The boundary without a sequence.
    fn only(&self, alone: Vec<Option<usize>>) -> Boundary {
        let sequence = vec![None; alone.len()];
        Boundary { step: self.step, first: self.first, alone, sequence }
    }

    /// The chance that the walk is ever at a boundary.
    fn chance(&self, alone: &[Option<usize>]) -> f64 {
        let mut chance = 0.0;
        self.backwards(alone, |step, later| {
            if step == self.first {
                chance = self.now_or_later(step, alone[0], later);
            }
        });
        chance
    }

    /// Visits the steps from the last to the first, with the chance to meet the boundary after each.
    fn backwards(&self, alone: &[Option<usize>], mut visit: impl FnMut(usize, &Chances)) {
        let most = alone.last().copied().flatten();
        let mut later = Chances { from: 0, values: Vec::new(), beyond: 0.0 };
        for step in (self.first..=self.last).rev() {
            let now = alone[step - self.first];
            if step < self.last {
                let next = alone[step - self.first + 1];
                later = self.before(&later, now, next, most);
            } else {
                // After the last step there is nothing to meet.
                later.from = now.map_or(0, |now| now + 1);
            }
            visit(step, &later);
        }
    }

    /// The chances after a step, from those after the next.
    fn before(
        &self,
        next: &Chances,
        now: Option<usize>,
        at_next: Option<usize>,
        most: Option<usize>,
    ) -> Chances {
        let from = now.map_or(0, |now| now + 1);
        // With more errors than the boundary ever allows there is no way back.
        let end = most.map_or(from, |most| most + 1).max(from);
        let cut = end.min(from + self.width);
        let chance_at = |errors: usize| {
            if Some(errors) <= at_next { 1.0 } else { next.at(errors, most) }
        };
        let reach: Vec<f64> = (from..cut + self.rises.len()).map(chance_at).collect();
        let values: Vec<f64> = (0..cut - from)
            .map(|w| self.rises.iter().zip(&reach[w..]).map(|(p, later)| p * later).sum())
            .collect();
        // The more errors, the smaller the chance.
        let beyond = if cut < end { values.last().copied().unwrap_or(0.0) } else { 0.0 };
        Chances { from, values, beyond }
    }

    /// The chance to be at the boundary at a step or to meet it later.
    fn now_or_later(&self, step: usize, now: Option<usize>, later: &Chances) -> f64 {
        let count = self.count(step);
        let mut chance = now.map_or(0.0, |now| binomial_tail(now, count, self.risk));
        for (value, p) in later.values.iter().zip(self.errors_from(count, later.from)) {
            chance += value * p;
        }
        chance + later.beyond
    }

    /// The chances of so many errors among so many rows, and of one more, and so on.
    fn errors_from(&self, count: usize, from: usize) -> impl Iterator<Item = f64> {
        let (n, odds) = (count as f64, self.risk / (1.0 - self.risk));
        let first = (chance_of(from, count, self.risk), from as f64);
        let next = move |&(p, k): &(f64, f64)| Some((p * (n - k) / (k + 1.0) * odds, k + 1.0));
        std::iter::successors(Some(first), next).map(|(p, _)| p)
    }

    /// The boundary with what is left of δ given to a sequence: at each step, the most errors with which
    /// the walk is there, was at the boundary since the step before, or meets it later, in no more than δ.
    fn boundary(&self, alone: Vec<Option<usize>>, delta: f64) -> Boundary {
        let mut sequence = Vec::with_capacity(alone.len());
        self.backwards(&alone, |step, later| {
            let now = alone[step - self.first];
            let before = (step > self.first).then(|| alone[step - 1 - self.first]).flatten();
            let chance = self.now_or_later(step, now, later);
            sequence.push(self.allowed(step, now, before, chance, later, delta));
        });
        sequence.reverse();
        // After the last count of the boundary, the sequence has all of δ.
        let mut rest = self.tails[alone.len()..].iter().map(|tails| tails.most(delta));
        if let Some(last) = alone.last().copied().flatten()
            && rest.next().is_some()
        {
            // Counts up to the step after it are still looked at.
            let (step, nothing) =
                (self.last + 1, Chances { from: last + 1, values: Vec::new(), beyond: 0.0 });
            let chance = binomial_tail(last, self.count(step), self.risk);
            sequence.push(self.allowed(step, Some(last), Some(last), chance, &nothing, delta));
        }
        sequence.extend(rest);
        Boundary { step: self.step, first: self.first, alone, sequence }
    }

    /// The most errors of a sequence at a step. `chance` is that of being at the boundary there, or later.
    fn allowed(
        &self,
        step: usize,
        now: Option<usize>,
        before: Option<usize>,
        mut chance: f64,
        later: &Chances,
        delta: f64,
    ) -> Option<usize> {
        let value = |index: usize| later.values.get(index).copied().unwrap_or(later.beyond);
        // Counts between two steps are looked at with the limit of the step before. If the risk comes
        // above the target between the two, such a count is bad and that step is not.
        let between = self.risen(step, before, later.from);
        for (index, p) in between.iter().enumerate() {
            chance += p * (1.0 - value(index));
        }
        let mut allowed = now;
        for (index, p) in self.errors_from(self.count(step), later.from).enumerate() {
            let counted = between.get(index).copied().unwrap_or(0.0);
            chance += (p - counted).max(0.0) * (1.0 - value(index));
            if chance > delta || index > self.count(step) {
                break;
            }
            allowed = Some(later.from + index);
        }
        allowed
    }

    /// The chance to have been at a limit one step ago, and to be at `from` errors now, or one more, and so
    /// on. There is nothing between steps of one row.
    fn risen(&self, step: usize, before: Option<usize>, from: usize) -> Vec<f64> {
        let Some(before) = before.filter(|_| self.step > 1) else { return Vec::new() };
        let end = before + self.rises.len();
        let lowest = from.saturating_sub(self.rises.len() - 1);
        let pmf: Vec<f64> = self
            .errors_from(self.count(step - 1), lowest)
            .take((before + 1).saturating_sub(lowest))
            .collect();
        (from..end)
            .map(|errors| {
                let of = |(index, p): (usize, &f64)| {
                    p * self.rises.get(errors - lowest - index).copied().unwrap_or(0.0)
                };
                // No more errors now than one step ago: the step cannot lower them.
                pmf.iter().enumerate().take_while(|(i, _)| lowest + i <= errors).map(of).sum()
            })
            .collect()
    }
}

/// The chance of so many errors among so many rows.
fn chance_of(errors: usize, rows: usize, risk: f64) -> f64 {
    if errors > rows {
        return 0.0;
    }
    let (k, n) = (errors as f64, rows as f64);
    let ways = ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
    (ways + k * risk.ln() + (n - k) * (-risk).ln_1p()).exp()
}

/// How unlikely few errors among some rows are.
struct Tails {
    /// The most errors that are unlikely enough.
    errors: usize,
    /// The chance of no more than so many, and of no more than one less, and so on while that is worth a
    /// look; nothing if no number of errors is unlikely enough.
    chances: Vec<f64>,
}

impl Tails {
    /// Those of every so manyth count, from the first to all rows, for levels of at most `level`.
    fn of(risk: f64, level: f64, first: usize, step: usize, rows: usize) -> Vec<Tails> {
        let odds = risk / (1.0 - risk);
        // The chance of just `errors` among n rows, and of no more; first those of no error.
        let (mut errors, mut chance, mut tail) = (0_usize, 1.0, 1.0);
        let mut all = Vec::with_capacity((rows - first) / step + 1);
        for n in 1..=rows {
            let rest = (n - errors) as f64;
            tail -= risk * chance;
            chance *= n as f64 * (1.0 - risk) / rest;
            let next = chance * rest / (errors + 1) as f64 * odds;
            if tail <= level && tail + next <= level {
                (errors, chance, tail) = (errors + 1, next, tail + next);
            }
            if n >= first && (n - first).is_multiple_of(step) {
                let (mut chances, mut chance, mut tail) = (Vec::new(), chance, tail);
                for k in (0..=errors).rev() {
                    if tail > level || tail < level * 1e-4 {
                        break;
                    }
                    chances.push(tail);
                    tail -= chance;
                    chance *= k as f64 / ((n - k + 1) as f64 * odds);
                }
                all.push(Tails { errors, chances });
            }
        }
        all
    }

    /// The most errors that are as unlikely as a level.
    fn most(&self, level: f64) -> Option<usize> {
        self.chances.iter().position(|&tail| tail <= level).map(|less| self.errors - less)
    }
}

impl Chances {
    fn at(&self, errors: usize, most: Option<usize>) -> f64 {
        if Some(errors) > most {
            return 0.0;
        }
        self.values.get(errors - self.from).copied().unwrap_or(self.beyond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The risk comes above the target between two steps, for good: the chance that the walk passes as the
    /// sequence at the next step, or is at a limit at any count from there on.
    #[test]
    fn counts_between_steps_are_paid_for() {
        let (risk, delta, runs) = (0.05, 0.1, 20_000);
        let boundary = Boundary::new(risk, delta, &(1000..=2000), (1_000_000, STEPS));
        let (step, first) = (boundary.step, boundary.first);
        assert!(step > 400 && boundary.alone.len() > 1, "{step}");
        let mut random = Random::new(1);
        let last = first + boundary.alone.len();
        let walks: Vec<Vec<usize>> = (0..runs)
            .map(|_| {
                let mut errors = 0;
                let mut rise = || {
                    errors += (0..step).filter(|_| random.below(20) == 0).count();
                    errors
                };
                (0..=last).map(|count| if count == 0 { 0 } else { rise() }).collect()
            })
            .collect();
        for changes in first..last {
            let broken = walks.iter().filter(|walk| {
                let next = changes + 1;
                let passes = Some(walk[next]) <= boundary.sequence[next - first];
                // Just after the change: as many errors as at the step before.
                let between = boundary.alone((changes * step + 1, walk[changes]));
                let later = (next..last).any(|k| boundary.alone((k * step, walk[k])));
                passes || between || later
            });
            let share = broken.count() as f64 / f64::from(runs);
            let allowed = delta + 3.0 * (delta * (1.0 - delta) / f64::from(runs)).sqrt();
            assert!(share <= allowed, "{changes}: {share}");
            assert!(share > 0.5 * delta, "{changes}: {share}");
        }
    }
}
