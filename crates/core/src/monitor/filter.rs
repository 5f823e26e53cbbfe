//! A bet that waits: it follows how likely each of some risks is now, and bets only while the expected
//! risk is above the target. A long good time costs it nothing.

use super::restarts::RICH;
use serde::{Deserialize, Serialize};

/// The good state has this part of the target as its mean, the bad ones these odds ratios.
const GOOD: f64 = 0.6;
const BAD: [f64; 5] = [1.4, 2.2, 3.5, 5.6, 9.0];
const STATES: usize = BAD.len() + 1;

/// The probability of the good state at the start, and after a change of state.
const GOOD_AT_START: f64 = 0.5;
const GOOD_AFTER_A_CHANGE: f64 = 0.1;

/// After `n` observations the state changes with probability `HAZARD / (n + FIRST / target)`.
const HAZARD: f64 = 0.3;
const FIRST: f64 = 60.0;

/// The wealth of the bet, from 1, and the probability of each state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Filter {
    wealth: f64,
    states: Vec<f64>,
}

fn mean_of(state: usize, target: f64) -> f64 {
    match state {
        0 => GOOD * target,
        bad => {
            let odds = BAD[bad - 1];
            target * odds / (1.0 - target + target * odds)
        }
    }
}

fn shared(good: f64, state: usize) -> f64 {
    if state == 0 { good } else { (1.0 - good) / BAD.len() as f64 }
}

impl Filter {
    pub(super) fn new() -> Self {
        Filter { wealth: 1.0, states: (0..STATES).map(|s| shared(GOOD_AT_START, s)).collect() }
    }

    pub(super) fn wealth(&self) -> f64 {
        self.wealth
    }

    /// One observation, the `n`th from 0.
    pub(super) fn observe(&mut self, n: u64, target: f64, x: f64, weight: f64) {
        let change = HAZARD / (n as f64 + FIRST / target);
        let mut mean = 0.0;
        for (state, probability) in self.states.iter_mut().enumerate() {
            *probability += change * (shared(GOOD_AFTER_A_CHANGE, state) - *probability);
            mean += *probability * mean_of(state, target);
        }
        // The bet whose factor is the likelihood ratio of the expected mean; it is below 1 / target.
        let bet = ((mean - target) / (target * (1.0 - target))).max(0.0);
        self.wealth = (self.wealth * (1.0 + bet * weight * (x - target))).min(RICH);
        let mut sum = 0.0;
        for (state, probability) in self.states.iter_mut().enumerate() {
            let mean = mean_of(state, target);
            let likelihood = match (x, weight) {
                (0.0, 1.0) => 1.0 - mean,
                (1.0, 1.0) => mean,
                (x, weight) => (weight * (x * mean.ln() + (1.0 - x) * (-mean).ln_1p())).exp(),
            };
            *probability *= likelihood;
            sum += *probability;
        }
        self.states.iter_mut().for_each(|probability| *probability /= sum);
    }

    /// Puts the wealth of another stream beside it: an average of e-processes is one.
    pub(super) fn merge(&mut self, other: &Filter, share_of_other: f64) {
        let average = |mine: &mut f64, other: f64| *mine += (other - *mine) * share_of_other;
        average(&mut self.wealth, other.wealth);
        self.states.iter_mut().zip(&other.states).for_each(|(mine, &other)| average(mine, other));
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let states = self.states.iter().all(|share| (0.0..=1.0).contains(share));
        let sum: f64 = self.states.iter().sum();
        if self.states.len() != STATES || !states || (sum - 1.0).abs() > 1e-6 {
            return Err("the probabilities of the states are not valid".into());
        }
        if !(0.0..=RICH).contains(&self.wealth) {
            return Err(format!("a wealth of {}", self.wealth));
        }
        Ok(())
    }
}
