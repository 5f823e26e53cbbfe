//! Bets that begin again: wealth for changes that are yet to come.

use serde::{Deserialize, Serialize};

/// Wealth beyond this has alarmed long ago; more would overflow.
pub(super) const RICH: f64 = 1e100;

/// Several bets, each of which begins anew at every observation with a part of a reserve.
///
/// The wealth of a bet is `Aₜ = (Aₜ₋₁ + γₜ) · factorₜ`: the sum over all starts of what was bet then, times
/// the factors since. With the reserve it is one e-process: no multiple of it is paid for the number of
/// starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Restarts {
    wealth: Vec<f64>,
    reserve: f64,
}

impl Restarts {
    pub(super) fn new(bets: usize, reserve: f64) -> Self {
        Restarts { wealth: vec![0.0; bets], reserve }
    }

    /// One observation, with the share of the reserve that is bet on it and the factor of each bet.
    pub(super) fn step(&mut self, share: f64, factors: impl Iterator<Item = f64>) {
        let bet = self.reserve * share;
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
