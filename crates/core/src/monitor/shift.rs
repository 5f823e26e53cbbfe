//! A conformal test martingale: whether later rows are of the distribution of the certifying rows, without
//! a label.
//!
//! Each row falls into a bin of the ranks of the certifying rows ([`Ranks`]). While all rows are
//! exchangeable, the bins are drawn from Pólya's urn: bin `b` has the probability `(aᵦ + cᵦ) / (n + 1 + t)`
//! after `t` rows, `cᵦ` of them in it. That is exact for any distribution, ties included, and takes into
//! account that the certifying rows are themselves a sample. A bet is another distribution of the bins;
//! its wealth is the product of the ratios. Bets: tilts of the reference (rows less sure, surer, nearer
//! the middle, farther from it), what the stream itself shows from the start on, and what it shows lately.

use super::reference::Ranks;
use super::restarts::{RICH, Restarts};
use super::{Alarm, MOST_ROWS, MOST_STREAMS, latest_start, log_of_mean, log_of_sum};
use crate::random::Random;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

/// Tilts of the places of bins from −1 to 1, and of the squares of the places.
const TOWARDS_AN_END: [f64; 6] = [-4.0, -1.5, -0.5, 0.5, 1.5, 4.0];
const TOWARDS_THE_MIDDLE: [f64; 4] = [-3.0, -1.0, 1.0, 3.0];

/// As how many rows the reference counts in what the stream shows.
const PRIOR: f64 = 16.0;

/// Over how many rows what the stream shows lately is forgotten.
const MEMORY: f64 = 500.0;

/// The share of the first wealth that is kept for later starts. After `n` rows, the share
/// `HAZARD / (n + FIRST)` of the reserve is bet at the next one.
const RESERVE: f64 = 0.25;
const HAZARD: f64 = 0.5;
const FIRST: f64 = 50.0;

/// Whether the bins have an order that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Order {
    /// They do, as confidences.
    Ordered,
    /// They do not, as classes: nothing is tilted.
    Nominal,
}

/// A test of "these numbers are of the distribution of the reference", looked at after every row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShiftTest {
    order: Order,
    level: f64,
    seed: u64,
    ranks: Ranks,
    counts: Vec<u64>,
    /// What the stream shows lately: counts of the bins, in which old rows fade.
    recent: Vec<f64>,
    /// The logarithm of the wealth of each bet from the start on.
    bets: Vec<f64>,
    restarts: Restarts,
    /// Since when each bet but that on what the stream shows from the start on would have gained most.
    #[serde(default)]
    starts: Vec<Start>,
    streams: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alarm: Option<Alarm>,
    #[serde(skip)]
    table: Table,
}

/// What a bet has gained since it was last at its lowest, and the row after which that was.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "(f64, u64)", into = "(f64, u64)")]
struct Start {
    gain: f64,
    row: u64,
}

impl From<(f64, u64)> for Start {
    fn from((gain, row): (f64, u64)) -> Self {
        Start { gain, row }
    }
}

impl From<Start> for (f64, u64) {
    fn from(Start { gain, row }: Start) -> Self {
        (gain, row)
    }
}

impl Start {
    fn observe(&mut self, row: u64, log_factor: f64) {
        if self.gain <= 0.0 {
            *self = Start { gain: 0.0, row };
        }
        self.gain = (self.gain + log_factor).min(RICH);
    }
}

/// What follows from the ranks.
#[derive(Debug, Clone, PartialEq, Default)]
struct Table {
    /// The parameter of each bin, and their sum.
    parameters: Vec<f64>,
    sum: f64,
    /// By how much each tilt raises the probability of each bin of the reference, bin after bin, and the
    /// logarithms.
    tilts: Vec<f64>,
    log_tilts: Vec<f64>,
}

impl Table {
    fn new(ranks: &Ranks, order: Order) -> Self {
        let parameters = ranks.parameters();
        let sum: f64 = parameters.iter().sum();
        let mut before = 0.0;
        let places: Vec<f64> = parameters
            .iter()
            .map(|parameter| {
                before += parameter;
                2.0 * (before - parameter / 2.0) / sum - 1.0
            })
            .collect();
        let tilted = |x: f64| {
            let ends = TOWARDS_AN_END.into_iter().map(move |tilt| (tilt * x).exp());
            let square = (3.0 * x * x - 1.0) / 2.0;
            ends.chain(TOWARDS_THE_MIDDLE.into_iter().map(move |tilt| (-tilt * square).exp()))
        };
        let mut tilts: Vec<f64> = match order {
            Order::Ordered => places.into_iter().flat_map(tilted).collect(),
            Order::Nominal => Vec::new(),
        };
        let count = tilts.len() / parameters.len();
        for tilt in 0..count {
            let each = || (tilt..tilts.len()).step_by(count);
            let mean: f64 = each().zip(&parameters).map(|(i, a)| tilts[i] * a / sum).sum();
            for i in each() {
                tilts[i] /= mean;
            }
        }
        let log_tilts = tilts.iter().map(|tilt| tilt.ln()).collect();
        Table { parameters, sum, tilts, log_tilts }
    }

    fn bins(&self) -> usize {
        self.parameters.len()
    }

    fn tilts(&self) -> usize {
        self.tilts.len() / self.bins()
    }
}

/// The logarithm of the probability of a sequence with these counts, drawn from Pólya's urn.
fn log_urn(parameters: impl Iterator<Item = f64>, counts: &[u64]) -> f64 {
    let (mut sum, mut rows, mut log) = (0.0, 0.0, 0.0);
    for (parameter, &count) in parameters.zip(counts) {
        let count = count as f64;
        log += ln_gamma(parameter + count) - ln_gamma(parameter);
        sum += parameter;
        rows += count;
    }
    log + ln_gamma(sum) - ln_gamma(sum + rows)
}

impl ShiftTest {
    pub(super) fn new(ranks: Ranks, order: Order, level: f64, seed: u64) -> Self {
        let table = Table::new(&ranks, order);
        let (bins, tilts) = (table.bins(), table.tilts());
        ShiftTest {
            order,
            level,
            seed,
            counts: vec![0; bins],
            recent: vec![0.0; bins],
            // The last is what the stream shows.
            bets: vec![0.0; tilts + 1],
            // The last two are what it shows from the start on and lately.
            restarts: Restarts::new(tilts + 2, RESERVE),
            starts: vec![Start::default(); tilts + 1],
            streams: 1,
            alarm: None,
            table,
            ranks,
        }
    }

    /// The largest probability of a false alarm.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// The rows so far.
    pub fn observations(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The rows of each bin so far.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The bins.
    pub fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// The alarm, which is never taken back.
    pub fn alarm(&self) -> Option<Alarm> {
        self.alarm
    }

    /// The mean rank of the rows so far, from 0 to 1, where the reference has ½.
    pub fn mean_rank(&self) -> Option<f64> {
        let rows = self.observations();
        let mut before = 0.0;
        let places = self.table.parameters.iter().map(|parameter| {
            before += parameter;
            (before - parameter / 2.0) / self.table.sum
        });
        let sum: f64 = places.zip(&self.counts).map(|(place, &count)| place * count as f64).sum();
        (rows > 0).then(|| sum / rows as f64)
    }

    /// Observes a number at a row of the stream, whose number puts it in order among equal ones. Returns whether this raises the alarm.
    pub fn observe(&mut self, row: u64, number: f64) -> bool {
        let (seed, rows) = (self.seed, self.observations());
        #[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
        let bin = self.ranks.bin(number, || Random::of_task(seed, row as usize).share());
        let (tilts, parameter) = (self.table.tilts(), self.table.parameters[bin]);
        let (n, count) = (rows as f64, self.counts[bin] as f64);
        let expected = (parameter + count) / (self.table.sum + n);
        let reference = parameter / self.table.sum;
        let tilted = reference / expected;
        let shown = (PRIOR * reference + count) / (PRIOR + n) / expected;
        let known: f64 = self.recent.iter().sum();
        let lately = (PRIOR * reference + self.recent[bin]) / (PRIOR + known) / expected;
        let tilts = bin * tilts..(bin + 1) * tilts;
        let (log_tilted, log_tilts) = (tilted.ln(), &self.table.log_tilts[tilts.clone()]);
        let logs = log_tilts.iter().map(|log| log + log_tilted).chain([shown.ln()]);
        self.bets.iter_mut().zip(logs).for_each(|(bet, log)| *bet += log);
        let recent = log_tilts.iter().map(|log| log + log_tilted).chain([lately.ln()]);
        self.starts.iter_mut().zip(recent).for_each(|(start, log)| start.observe(row, log));
        let factors = self.table.tilts[tilts].iter().map(|tilt| tilt * tilted);
        self.restarts.step(HAZARD / (n + FIRST), factors.chain([shown, lately]));
        self.counts[bin] += 1;
        self.recent.iter_mut().for_each(|count| *count *= 1.0 - 1.0 / MEMORY);
        self.recent[bin] += 1.0;
        self.look(row)
    }

    fn look(&mut self, row: u64) -> bool {
        let richest = self.bets.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let needed = 1.0 / self.level - self.restarts.total();
        // The mean of the bets is at most the richest, whose exponential is rarely needed.
        if self.alarm.is_some() || (needed > 0.0 && richest < needed.ln()) {
            return false;
        }
        let log_e_value = self.log_e_value();
        let raised = log_e_value >= -self.level.ln();
        if raised {
            let observations = self.observations();
            self.alarm =
                Some(Alarm { row, observations, log_e_value, change: self.since_change() });
        }
        raised
    }

    /// The row since which a change is likeliest, if anything speaks for one.
    fn since_change(&self) -> Option<u64> {
        latest_start(self.starts.iter().map(|start| (start.gain, start.row)))
    }

    /// The natural logarithm of the wealth: the evidence of a change.
    pub fn log_e_value(&self) -> f64 {
        log_of_sum((1.0 - RESERVE).ln() + self.wealth_from_the_start(), self.restarts.total().ln())
    }

    /// The logarithm of the wealth of the bets from the start on, which depends on the rows alone, not on
    /// their order.
    pub(super) fn wealth_from_the_start(&self) -> f64 {
        // Half of it is on what the stream shows, which finds any change, given time.
        let (shown, tilts) = self.bets.split_last().unwrap_or((&0.0, &[]));
        match tilts {
            [] => *shown,
            tilts => log_of_mean([log_of_mean(tilts.iter().copied()), *shown].into_iter()),
        }
    }

    /// Adds the rows of another part of the stream. Alarms of both stay.
    pub(super) fn merge(&mut self, other: &ShiftTest) -> Result<(), String> {
        if (&self.ranks, self.order, self.level) != (&other.ranks, other.order, other.level) {
            return Err("tests of different references or levels".into());
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, other)| *mine += other);
        self.recent.iter_mut().zip(&other.recent).for_each(|(mine, other)| *mine += other);
        self.streams += other.streams;
        self.restarts.merge(&other.restarts, f64::from(other.streams) / f64::from(self.streams));
        self.bets = self.bets_of_counts();
        for (mine, other) in self.starts.iter_mut().zip(&other.starts) {
            if other.gain > mine.gain {
                *mine = *other;
            }
        }
        self.alarm = Alarm::earlier(self.alarm, other.alarm);
        self.look(self.observations());
        Ok(())
    }

    /// The wealth of the bets from the start on depends on the counts alone, not on their order.
    fn bets_of_counts(&self) -> Vec<f64> {
        let Table { parameters, sum, log_tilts, .. } = &self.table;
        let expected = log_urn(parameters.iter().copied(), &self.counts);
        let tilts = self.table.tilts();
        let tilted = (0..tilts).map(|tilt| {
            let bins = log_tilts.iter().skip(tilt).step_by(tilts).zip(parameters).zip(&self.counts);
            let log: f64 = bins
                .map(|((log_tilt, parameter), &count)| {
                    count as f64 * (log_tilt + (parameter / sum).ln())
                })
                .sum();
            log - expected
        });
        let shown = log_urn(parameters.iter().map(|a| PRIOR * a / sum), &self.counts) - expected;
        tilted.chain([shown]).collect()
    }

    /// Makes what is not stored, and checks what is.
    pub(super) fn restore(&mut self) -> Result<(), String> {
        self.ranks.check()?;
        self.table = Table::new(&self.ranks, self.order);
        let (bins, tilts) = (self.table.bins(), self.table.tilts());
        // States of earlier versions have none.
        if self.starts.is_empty() {
            self.starts = vec![Start::default(); tilts + 1];
        }
        let starts =
            self.starts.iter().all(|start| start.gain.is_finite() && start.row <= MOST_ROWS);
        if self.starts.len() != tilts + 1 || !starts {
            return Err("the starts of the bets are not valid".into());
        }
        let lengths = [self.counts.len(), self.recent.len(), self.bets.len() + bins];
        if lengths != [bins, bins, tilts + 1 + bins] {
            return Err("counts of another number of bins than the reference".into());
        }
        let most = MOST_ROWS / bins as u64;
        if !(1..=MOST_STREAMS).contains(&self.streams)
            || self.counts.iter().any(|&count| count > most)
        {
            return Err("a count is out of range".into());
        }
        let finite = |x: &f64| x.is_finite();
        let numbers = self.recent.iter().chain(&self.bets).all(finite)
            && self.recent.iter().all(|count| *count >= 0.0);
        if !(numbers && self.level > 0.0 && self.level < 1.0) {
            return Err("a level or a wealth is out of range".into());
        }
        self.restarts.check(tilts + 2)
    }
}
