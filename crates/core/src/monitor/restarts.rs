//! Bets that begin again: wealth for changes that are yet to come.

use serde::{Deserialize, Serialize};

/// The share of the first wealth that is kept for later starts.
const RESERVE: f64 = 0.25;

/// After `n` observations, the share `HAZARD / (n + FIRST)` of the reserve is bet at the next one: the
/// odds of a change fall as the stream grows, and the reserve never ends.
const HAZARD: f64 = 0.5;
const FIRST: f64 = 50.0;

/// Wealth beyond this has alarmed long ago; more would overflow.
const RICH: f64 = 1e100;

/// Several bets, each of which begins anew at every observation with a part of a reserve.
///
/// The wealth of a bet is `Aₜ = (Aₜ₋₁ + γₜ) · factorₜ`: the sum over all starts of what was bet then, times
/// the factors since. With the reserve it is one e-process that starts at [`RESERVE`]: no multiple of it
/// is paid for the number of starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Restarts {
    wealth: Vec<f64>,
    reserve: f64,
}

impl Restarts {
    pub(super) fn new(bets: usize) -> Self {
        Restarts { wealth: vec![0.0; bets], reserve: RESERVE }
    }

    /// One observation, the `n`th from 0, with the factor of each bet.
    pub(super) fn step(&mut self, n: u64, factors: impl Iterator<Item = f64>) {
        let bet = self.reserve * HAZARD / (n as f64 + FIRST);
        self.reserve -= bet;
        let each = bet / self.wealth.len() as f64;
        for (wealth, factor) in self.wealth.iter_mut().zip(factors) {
            *wealth = ((*wealth + each) * factor).min(RICH);
        }
    }

    /// All wealth, the reserve included.
    pub(super) fn total(&self) -> f64 {
        self.reserve + self.wealth.iter().sum::<f64>()
    }

    /// The logarithm of the wealth together with that of bets from the start on, whose first wealth is all
    /// but the reserve.
    pub(super) fn log_with(&self, log_start: f64) -> f64 {
        let (start, later) = (log_start + (1.0 - RESERVE).ln(), self.total().ln());
        let high = start.max(later);
        high + ((start - high).exp() + (later - high).exp()).ln()
    }

    /// Puts the wealth of another stream beside it: an average of e-processes is one.
    pub(super) fn merge(&mut self, other: &Restarts, share_of_other: f64) {
        let average = |mine: &mut f64, other: f64| *mine += (other - *mine) * share_of_other;
        average(&mut self.reserve, other.reserve);
        self.wealth.iter_mut().zip(&other.wealth).for_each(|(mine, &other)| average(mine, other));
    }

    pub(super) fn check(&self, bets: usize) -> Result<(), String> {
        let valid = |x: &f64| (0.0..=RICH).contains(x);
        if self.wealth.len() != bets || !self.wealth.iter().all(valid) || !valid(&self.reserve) {
            return Err("the wealth of the restarts is not valid".into());
        }
        Ok(())
    }
}
