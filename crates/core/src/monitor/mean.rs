//! A sequential test that a mean is at most a target, and a confidence sequence of a running mean.
//!
//! **The test.** Observations lie in [0, 1]. A bet with the odds ratio `r` multiplies its wealth by
//! `1 + λ v (x − target)` at an observation `x` of weight `v` in (0, 1], with `λ = (r − 1) / (1 − target +
//! target r)`: for `v = 1` and `x` of 0 or 1 that is the likelihood ratio of a mean whose odds are `r`
//! times those of the target. While the mean of each observation, given those before it, is at most the
//! target, no bet grows on average. By Ville's inequality the wealth ever reaches `1/α` with probability
//! at most α, however often one looks. A test that starts always has three parts, whose wealth adds up:
//! bets from the start on, bets from every later observation on ([`Restarts`]), and one that waits until a
//! rise is likely ([`Filter`]). The shares, odds and hazards were chosen by simulation; see
//! docs/decisions/monitoring.md.
//!
//! **Weights.** Where rows are observed with known propensities `π`, an observed one counts with `v =
//! π_min / π`. Then `E[v (x − target)]` over rows and sampling is `π_min (mean − target)`, and the same
//! inequality holds.
//!
//! **The confidence sequence.** For `x` in [0, 1] with the mean `μ`, `E exp(θ x) ≤ 1 − μ + μ exp(θ)`, whose
//! logarithm is concave in `μ`. So `exp(θ Σ v x − Σ v · ln(1 − m + m exp(θ)))` at the running mean `m` is
//! bounded by a supermartingale (for weights because zᵛ ≤ 1 + v (z − 1)) even if the mean changes from row to row: the limits hold for the average
//! of the means so far, at all times at once.

use super::filter::Filter;
use super::restarts::Restarts;
use super::sum::Sum;
use super::{Alarm, MOST_ROWS, MOST_STREAMS, latest_start, log_of_mean, log_of_sum};
use serde::{Deserialize, Serialize};

/// The odds ratios of the bets: from means just above the target to many times it.
const ODDS: [f64; 4] = [1.35, 2.2, 3.6, 6.0];

/// The first wealth of the bets from the start on, of those from later on, and of the one that waits.
const FROM_THE_START: f64 = 0.3;
const FROM_LATER: f64 = 0.1;
const WAITING: f64 = 0.6;

/// After `n` observations the share `HAZARD / (n + FIRST / target)` of the reserve is bet at the next.
const HAZARD: f64 = 0.7;
const FIRST: f64 = 30.0;

/// Whether some of the wealth is kept for later starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Starts {
    /// All wealth is bet from the first observation on.
    Once,
    /// A part is kept, so that a change is found after a long time without one.
    Always,
}

/// A test of "the mean is at most the target", looked at after every observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeanTest {
    /// The largest mean that is allowed.
    target: f64,
    /// The largest probability of a false alarm.
    level: f64,
    observations: u64,
    /// The largest row that was observed.
    last_row: u64,
    /// Σ v and Σ v x.
    weight: Sum,
    total: Sum,
    /// The logarithm of the wealth of each bet from the start on.
    bets: Vec<Sum>,
    /// Bets from later observations on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restarts: Option<Restarts>,
    /// The bet that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    filter: Option<Filter>,
    /// Since when each bet would have gained most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    recent: Vec<Recent>,
    /// The streams that were merged into this one.
    streams: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alarm: Option<Alarm>,
    /// The factors of 0 and of 1.
    #[serde(skip)]
    known: Known,
}

/// The factors of 0 and of 1, once they were needed. They follow from the target.
#[derive(Debug, Clone, Copy, Default)]
struct Known(Option<[Factors; 2]>);

impl PartialEq for Known {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What each bet multiplies its wealth by, and the logarithms.
type Factors = ([f64; ODDS.len()], [f64; ODDS.len()]);

/// Observations since a bet was last at its lowest: the likeliest time of a change.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "(f64, u64, u64, f64, f64)", into = "(f64, u64, u64, f64, f64)")]
struct Recent {
    gain: f64,
    row: u64,
    observations: u64,
    total: f64,
    weight: f64,
}

impl From<(f64, u64, u64, f64, f64)> for Recent {
    fn from((gain, row, observations, total, weight): (f64, u64, u64, f64, f64)) -> Self {
        Recent { gain, row, observations, total, weight }
    }
}

impl From<Recent> for (f64, u64, u64, f64, f64) {
    fn from(recent: Recent) -> Self {
        let Recent { gain, row, observations, total, weight } = recent;
        (gain, row, observations, total, weight)
    }
}

/// The observations since the likeliest time of a change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SinceChange {
    /// The row of the first of them.
    pub row: u64,
    /// How many there are.
    pub observations: u64,
    /// Their mean.
    pub mean: f64,
}

/// What a bet multiplies its wealth by at an observation.
fn factor(odds: f64, target: f64, x: f64, weight: f64) -> f64 {
    let bet = (odds - 1.0) / (1.0 - target + target * odds);
    1.0 + bet * weight * (x - target)
}

impl MeanTest {
    pub(super) fn new(target: f64, level: f64, starts: Starts) -> Self {
        let always = starts == Starts::Always;
        MeanTest {
            target,
            level,
            observations: 0,
            last_row: 0,
            weight: Sum::default(),
            total: Sum::default(),
            bets: vec![Sum::default(); ODDS.len()],
            restarts: always.then(|| Restarts::new(ODDS.len(), FROM_LATER)),
            filter: always.then(Filter::new),
            recent: if always { vec![Recent::default(); ODDS.len()] } else { Vec::new() },
            streams: 1,
            alarm: None,
            known: Known::default(),
        }
    }

    /// The largest mean that is allowed.
    pub fn target(&self) -> f64 {
        self.target
    }

    /// The largest probability of a false alarm.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// The observations so far.
    pub fn observations(&self) -> u64 {
        self.observations
    }

    /// The sum of their weights.
    pub fn weight(&self) -> f64 {
        self.weight.value()
    }

    /// Their mean, by their weights.
    pub fn mean(&self) -> Option<f64> {
        (self.observations > 0).then(|| self.total.value() / self.weight.value())
    }

    /// Observes a number from 0 to 1 with a weight from 0 to 1 at a row of the stream. Returns whether this
    /// raises the alarm.
    pub fn observe(&mut self, row: u64, x: f64, weight: f64) -> bool {
        let (factors, logs) = self.factors(x, weight);
        self.bets.iter_mut().zip(logs).for_each(|(bet, log)| bet.add(Sum::below(log)));
        if let Some(restarts) = &mut self.restarts {
            let share = HAZARD / (self.observations as f64 + FIRST / self.target);
            restarts.step(share, factors.into_iter());
        }
        if let Some(filter) = &mut self.filter {
            filter.observe(self.observations, self.target, x, weight);
        }
        for (recent, log) in self.recent.iter_mut().zip(logs) {
            recent.observe(row, x, weight, log);
        }
        self.observations += 1;
        self.last_row = self.last_row.max(row);
        self.weight.add(Sum::nearest(weight));
        self.total.add(Sum::nearest(weight * x));
        self.look(row)
    }

    /// What each bet multiplies its wealth by, and the logarithms.
    fn factors(&mut self, x: f64, weight: f64) -> Factors {
        let target = self.target;
        let compute = |x: f64, weight: f64| {
            let factors = ODDS.map(|odds| factor(odds, target, x, weight));
            (factors, factors.map(f64::ln))
        };
        // Almost all observations are 0 or 1 and count fully.
        if weight != 1.0 || (x != 0.0 && x != 1.0) {
            return compute(x, weight);
        }
        let known = self.known.0.get_or_insert_with(|| [compute(0.0, 1.0), compute(1.0, 1.0)]);
        known[usize::from(x == 1.0)]
    }

    /// Raises the alarm if the evidence suffices and it was not raised before.
    fn look(&mut self, row: u64) -> bool {
        if self.alarm.is_some() {
            return false;
        }
        let richest = self.bets.iter().map(|bet| bet.value()).fold(f64::NEG_INFINITY, f64::max);
        // The mean of the bets is at most the richest, whose exponential is rarely needed.
        let needed = 1.0 / self.level - self.later().unwrap_or(0.0);
        if needed > 0.0 && richest < needed.ln() {
            return false;
        }
        let log_e_value = self.log_e_value();
        let raised = log_e_value >= -self.level.ln();
        if raised {
            let observations = self.observations;
            let change = latest_start(self.recent.iter().map(|recent| (recent.gain, recent.row)));
            self.alarm = Some(Alarm { row, observations, log_e_value, change });
        }
        raised
    }

    /// The natural logarithm of the wealth: the evidence against the target. Below 1/α it may fall again.
    pub fn log_e_value(&self) -> f64 {
        match self.later() {
            None => self.wealth_from_the_start(),
            Some(later) => {
                log_of_sum(FROM_THE_START.ln() + self.wealth_from_the_start(), later.ln())
            }
        }
    }

    /// The wealth of the bets that are not from the start on.
    fn later(&self) -> Option<f64> {
        let (restarts, filter) = (self.restarts.as_ref()?, self.filter.as_ref()?);
        Some(restarts.total() + WAITING * filter.wealth())
    }

    /// The logarithm of the wealth of the bets from the start on, which depends on the observations alone,
    /// not on their order.
    pub(super) fn wealth_from_the_start(&self) -> f64 {
        log_of_mean(self.bets.iter().map(|bet| bet.value()))
    }

    /// The alarm, which is never taken back.
    pub fn alarm(&self) -> Option<Alarm> {
        self.alarm
    }

    /// The observations since the likeliest time of a rise above the target, if anything speaks for one.
    pub fn since_change(&self) -> Option<SinceChange> {
        let best = self.recent.iter().max_by(|a, b| a.gain.total_cmp(&b.gain))?;
        (best.gain > 0.0).then(|| SinceChange {
            row: best.row,
            observations: best.observations,
            mean: best.total / best.weight,
        })
    }

    /// Limits of the running mean, which hold at all times at once with probability `1 − outside`.
    pub fn interval(&self, outside: f64) -> (f64, f64) {
        running_interval(self.weight.value(), self.total.value(), outside)
    }

    /// Adds the observations of another part of the stream. Alarms of both stay.
    pub(super) fn merge(&mut self, other: &MeanTest) -> Result<(), String> {
        if (self.target, self.level) != (other.target, other.level)
            || self.restarts.is_some() != other.restarts.is_some()
        {
            return Err("tests of different targets or levels".into());
        }
        self.observations += other.observations;
        self.last_row = self.last_row.max(other.last_row);
        self.weight.add(other.weight);
        self.total.add(other.total);
        self.bets.iter_mut().zip(&other.bets).for_each(|(mine, other)| mine.add(*other));
        self.streams += other.streams;
        if let (Some(mine), Some(others)) = (&mut self.restarts, &other.restarts) {
            mine.merge(others, f64::from(other.streams) / f64::from(self.streams));
        }
        if let (Some(mine), Some(others)) = (&mut self.filter, &other.filter) {
            mine.merge(others, f64::from(other.streams) / f64::from(self.streams));
        }
        for (mine, other) in self.recent.iter_mut().zip(&other.recent) {
            if other.gain > mine.gain {
                *mine = *other;
            }
        }
        self.alarm = Alarm::earlier(self.alarm, other.alarm);
        self.look(self.last_row);
        Ok(())
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let share = |x: f64| x > 0.0 && x < 1.0;
        let streams = (1..=MOST_STREAMS).contains(&self.streams);
        if !share(self.target) || !share(self.level) || !streams || self.observations > MOST_ROWS {
            return Err("a target, a level or a count is out of range".into());
        }
        if self.recent.iter().any(|recent| recent.observations > MOST_ROWS) {
            return Err("a count is out of range".into());
        }
        let recent = self.recent.len();
        if self.bets.len() != ODDS.len() || (recent != 0 && recent != ODDS.len()) {
            return Err(format!("{} bets where {} are known", self.bets.len(), ODDS.len()));
        }
        if self.restarts.is_some() != self.filter.is_some() {
            return Err("some of the bets are missing".into());
        }
        self.filter.as_ref().map_or(Ok(()), Filter::check)?;
        self.restarts.as_ref().map_or(Ok(()), |restarts| restarts.check(ODDS.len()))
    }
}

impl Recent {
    fn observe(&mut self, row: u64, x: f64, weight: f64, log_factor: f64) {
        let gain = self.gain + log_factor;
        if gain <= 0.0 {
            *self = Recent::default();
            return;
        }
        if self.observations == 0 {
            self.row = row;
        }
        self.gain = gain;
        self.observations += 1;
        self.total += weight * x;
        self.weight += weight;
    }
}

/// The tilts of the confidence sequence: from those that are best for ten observations to those for
/// millions.
const TILTS: [f64; 13] = [
    8.0,
    4.0,
    2.0,
    1.0,
    0.5,
    0.25,
    0.125,
    0.0625,
    0.03125,
    0.015_625,
    0.007_812_5,
    0.003_906_25,
    0.001_953_125,
];

/// The natural logarithm of the evidence that a running mean is above `mean`, from the weight of the
/// observations and their weighted sum.
pub(super) fn log_evidence_above(mean: f64, weight: f64, total: f64) -> f64 {
    log_of_mean(TILTS.iter().map(|tilt| {
        let expected = (mean * tilt.exp_m1()).ln_1p();
        tilt * total - weight * expected
    }))
}

/// The interval of a running mean from the weight of the observations and their weighted sum: each limit
/// fails, at any time, with probability `outside / 2`.
pub fn running_interval(weight: f64, total: f64, outside: f64) -> (f64, f64) {
    let enough = -(outside / 2.0).ln();
    let low = |total: f64| {
        // The evidence that the mean is above a number falls as the number rises.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if log_evidence_above(middle, weight, total) >= enough {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    (low(total), 1.0 - low(weight - total))
}
