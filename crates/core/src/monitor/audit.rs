//! Which rows to have labelled, given a budget, and what so many labels can show.
//!
//! Rows are chosen independently of each other, each with a known probability (its propensity) that depends
//! on its confidence alone. Accepted and abstained rows share the budget. Within each, propensities are
//! proportional to the standard deviation of the losses that the certifying rows had at that confidence,
//! which makes the weighted mean loss most precise, but nowhere below a quarter of the largest: what the
//! certifying rows did not show is found, too.

use super::MonitorSettings;
use super::mean::{MeanTest, Starts};
use super::reference::Reference;
use super::thresholds::first_level;
use crate::artifact::{Artifact, extended};
use crate::error::Error;
use crate::random::Random;
use crate::threshold::reaches;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The smallest propensity over the largest, of accepted rows and of others.
const FLOOR: f64 = 0.25;

/// The streams that are simulated, and the labels of each at most.
const STREAMS: usize = 200;
const MOST_LABELS: u64 = 100_000;

/// Rows of similar confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Stratum {
    /// Where their confidences begin.
    #[serde(with = "extended")]
    pub from: f64,
    /// Whether they are accepted.
    pub accepted: bool,
    /// How many there are.
    pub rows: u64,
    /// The mean loss of the certifying rows there, shrunk towards ½; ½ if it is not known.
    pub risk: f64,
    /// The probability with which each is chosen.
    pub propensity: f64,
}

/// Rows by their confidence, to be counted before they are chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Strata(Vec<Stratum>);

/// Which rows to choose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AuditPlan {
    /// From the least sure rows to the surest.
    pub strata: Vec<Stratum>,
    /// The smallest propensity of any row.
    pub min_propensity: f64,
    /// The seed of the choice.
    pub seed: u64,
}

impl Strata {
    /// The strata of an artifact: the bins of its [`Reference`], cut at its threshold.
    pub fn new(artifact: &Artifact) -> Result<Self, Error> {
        let at = artifact.one_threshold()?.ok_or(Error::NoThreshold)?.at;
        let reference = artifact.reference.as_ref();
        let edges = reference.map_or(&[][..], |reference| &reference.confidences.edges);
        let mut starts: Vec<f64> = [f64::NEG_INFINITY].into_iter().collect();
        starts.extend(edges.iter().map(|edge| edge.at));
        starts.push(at);
        starts.sort_unstable_by(f64::total_cmp);
        starts.dedup();
        let stratum = |from: f64| Stratum {
            from,
            accepted: reaches(from, at),
            rows: 0,
            risk: reference.map_or(0.5, |reference| risk_at(reference, from)),
            propensity: 0.0,
        };
        Ok(Strata(starts.into_iter().map(stratum).collect()))
    }

    /// Counts a row.
    pub fn count(&mut self, confidence: f64) {
        let index = place(&self.0, confidence);
        self.0[index].rows += 1;
    }

    /// Propensities whose expected number of chosen rows is the budget, or all rows if there are fewer.
    /// `abstained` is the share of the budget for rows that are not accepted.
    pub fn plan(mut self, budget: f64, abstained: f64, seed: u64) -> Result<AuditPlan, Error> {
        if !(budget > 0.0 && budget.is_finite()) {
            let wanted = "a finite number above 0";
            return Err(Error::Parameter { name: "budget", value: budget, wanted });
        }
        if !(0.0..=1.0).contains(&abstained) {
            let wanted = "a number from 0 to 1";
            return Err(Error::Parameter { name: "abstained", value: abstained, wanted });
        }
        let rows = |strata: &[Stratum], accepted: bool| -> f64 {
            strata.iter().filter(|s| s.accepted == accepted).map(|s| s.rows as f64).sum()
        };
        let (accepted, others) = (rows(&self.0, true), rows(&self.0, false));
        if accepted + others == 0.0 {
            return Err(Error::NoRows);
        }
        // What one part cannot use is for the other.
        let for_others = (budget * abstained).max(budget - accepted).min(others).min(budget);
        let for_accepted = (budget - for_others).min(accepted);
        for (wanted, budget) in [(true, for_accepted), (false, for_others)] {
            let part: Vec<&mut Stratum> =
                self.0.iter_mut().filter(|stratum| stratum.accepted == wanted).collect();
            allocate(part, budget);
        }
        let used = |stratum: &&Stratum| stratum.rows > 0 && stratum.propensity > 0.0;
        let propensities = self.0.iter().filter(used).map(|stratum| stratum.propensity);
        let min_propensity = propensities.fold(1.0, f64::min);
        Ok(AuditPlan { strata: self.0, min_propensity, seed })
    }
}

/// The stratum of a confidence.
fn place(strata: &[Stratum], confidence: f64) -> usize {
    strata.partition_point(|stratum| stratum.from <= confidence).saturating_sub(1)
}

/// The mean loss of the certifying rows of the bin that begins at or before a confidence, as if there were
/// two more, one of them wrong.
fn risk_at(reference: &Reference, from: f64) -> f64 {
    let ranks = &reference.confidences;
    let bin = ranks.edges.partition_point(|edge| edge.at <= from);
    let rows = ranks.parameters().get(bin).copied().unwrap_or(0.0);
    let loss = reference.losses.get(bin).copied().unwrap_or(0.0);
    ((loss + 1.0) / (rows + 2.0)).clamp(0.0, 1.0)
}

/// Propensities proportional to standard deviations, but not below the floor and not above 1.
fn allocate(mut strata: Vec<&mut Stratum>, budget: f64) {
    let deviation = |stratum: &Stratum| (stratum.risk * (1.0 - stratum.risk)).max(0.0).sqrt();
    let with_rows = strata.iter().filter(|stratum| stratum.rows > 0);
    let largest = with_rows.map(|stratum| deviation(stratum)).fold(0.0, f64::max);
    let share = |stratum: &Stratum| match largest {
        0.0 => 1.0,
        largest => (deviation(stratum) / largest).max(FLOOR),
    };
    let expected = |factor: f64| -> f64 {
        strata.iter().map(|s| s.rows as f64 * (factor * share(s)).min(1.0)).sum()
    };
    // At 1 / FLOOR every row is chosen.
    let (mut low, mut high) = (0.0, 1.0 / FLOOR);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if expected(middle) < budget { low = middle } else { high = middle }
    }
    let propensities: Vec<f64> = strata.iter().map(|s| (high * share(s)).min(1.0)).collect();
    for (stratum, propensity) in strata.iter_mut().zip(propensities) {
        stratum.propensity = if budget > 0.0 { propensity } else { 0.0 };
    }
}

/// How many labels it takes, in the median and in nine of ten cases; `None` if more than
/// can be simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LabelsNeeded {
    /// In half of the cases.
    pub median: Option<u64>,
    /// In nine of ten.
    pub ninety: Option<u64>,
}

impl AuditPlan {
    /// The propensity of a row if it is chosen, by a number that no other row has, such as a hash of its id:
    /// rows of different audits are then chosen independently, also with one seed.
    pub fn choose(&self, row: u64, confidence: f64) -> Option<f64> {
        let propensity = self.strata[place(&self.strata, confidence)].propensity;
        #[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
        let share = Random::of_task(self.seed, row as usize).share();
        (share < propensity).then_some(propensity)
    }

    /// The rows that are chosen on average.
    pub fn expected(&self) -> f64 {
        self.strata.iter().map(|stratum| stratum.rows as f64 * stratum.propensity).sum()
    }

    /// The labels of accepted rows, chosen by this plan, until the alarm at a risk above the target.
    pub fn labels_to_notice(
        &self,
        risk: f64,
        target: f64,
        settings: &MonitorSettings,
    ) -> LabelsNeeded {
        let make = || MeanTest::new(target, settings.alpha, Starts::Always);
        self.simulate(risk, settings.seed, make, |test, row, loss, weight| {
            test.observe(row, loss, weight)
        })
    }

    /// The labels of accepted rows, chosen by this plan, until the threshold in use is certified anew at a
    /// risk below the target.
    pub fn labels_to_confirm(
        &self,
        risk: f64,
        target: f64,
        settings: &MonitorSettings,
    ) -> LabelsNeeded {
        let make = || MeanTest::new(1.0 - target, first_level(settings.delta), Starts::Once);
        self.simulate(risk, settings.seed, make, |test, row, loss, weight| {
            test.observe(row, 1.0 - loss, weight)
        })
    }

    fn simulate(
        &self,
        risk: f64,
        seed: u64,
        make: impl Fn() -> MeanTest + Sync,
        step: impl Fn(&mut MeanTest, u64, f64, f64) -> bool + Sync,
    ) -> LabelsNeeded {
        // Of accepted strata: the share of the labels, the weight of each, and the risk, which is scaled so
        // that the mean over all rows is as requested.
        let accepted = || self.strata.iter().filter(|s| s.accepted && s.rows > 0);
        let rows: f64 = accepted().map(|s| s.rows as f64).sum();
        let mean: f64 = accepted().map(|s| s.risk * s.rows as f64).sum::<f64>() / rows;
        let labels: f64 = accepted().map(|s| s.rows as f64 * s.propensity).sum();
        let none = LabelsNeeded { median: None, ninety: None };
        if !(labels > 0.0 && mean > 0.0) {
            return none;
        }
        let mut cumulated = 0.0;
        let strata: Vec<(f64, f64, f64)> = accepted()
            .map(|s| {
                cumulated += s.rows as f64 * s.propensity / labels;
                let weight =
                    if s.propensity > 0.0 { self.min_propensity / s.propensity } else { 1.0 };
                (cumulated, weight.min(1.0), (s.risk * risk / mean).min(1.0))
            })
            .collect();
        let stream = |stream: usize| -> Option<u64> {
            let mut random = Random::of_task(seed, stream);
            let mut test = make();
            (0..MOST_LABELS).find(|&row| {
                let share = random.share();
                let index = strata.partition_point(|s| s.0 <= share).min(strata.len() - 1);
                let (_, weight, risk) = strata[index];
                let loss = if random.share() < risk { 1.0 } else { 0.0 };
                step(&mut test, row, loss, weight)
            })
        };
        let mut found: Vec<u64> = (0..STREAMS)
            .into_par_iter()
            .map(|i| stream(i).map_or(u64::MAX, |row| row + 1))
            .collect();
        found.sort_unstable();
        let at =
            |share: usize| Some(found[STREAMS * share / 100]).filter(|labels| *labels < u64::MAX);
        LabelsNeeded { median: at(50), ninety: at(90) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Threshold;

    fn strata(reference: bool) -> Strata {
        let random = &mut Random::new(1);
        let confidences: Vec<f64> = (0..2000).map(|_| random.share()).collect();
        let losses: Vec<f64> = confidences
            .iter()
            .map(|confidence| if random.share() < 0.5 * (1.0 - confidence) { 1.0 } else { 0.0 })
            .collect();
        let mut artifact = Artifact::new(crate::Estimator::MSP);
        artifact.rule = Some(Threshold::given(0.6).into());
        if reference {
            let summary = Reference::new(&confidences, &losses, None, 0.6, 0);
            artifact.reference = Some(summary.expect("a reference"));
        }
        let mut strata = Strata::new(&artifact).expect("a threshold");
        (0..10_000).for_each(|_| strata.count(random.share()));
        strata
    }

    #[test]
    fn budgets_are_met_and_propensities_have_a_floor() {
        for (reference, budget, abstained) in [
            (true, 500.0, 0.25),
            (false, 500.0, 0.25),
            (true, 9000.0, 0.5),
            (true, 1e6, 0.1),
            (true, 100.0, 0.0),
        ] {
            let plan = strata(reference).plan(budget, abstained, 3).expect("a plan");
            assert!(
                (plan.expected() - budget.min(10_000.0)).abs() < 1.0,
                "{} of {budget}",
                plan.expected()
            );
            let accepted: Vec<f64> =
                plan.strata.iter().filter(|s| s.accepted).map(|s| s.propensity).collect();
            let largest = accepted.iter().copied().fold(0.0, f64::max);
            assert!(accepted.iter().all(|p| *p >= 0.99 * FLOOR * largest && *p <= 1.0));
            assert!(plan.min_propensity <= accepted.iter().copied().fold(1.0, f64::min));
        }
        assert!(strata(true).plan(0.0, 0.2, 0).is_err() && strata(true).plan(5.0, 1.2, 0).is_err());
    }

    /// The mean loss of chosen rows, by their weights, is that of all.
    #[test]
    fn chosen_rows_stand_for_all() {
        let plan = strata(true).plan(3000.0, 0.3, 5).expect("a plan");
        let random = &mut Random::new(9);
        let (mut all, mut rows, mut chosen, mut weight) = (0.0, 0.0, 0.0, 0.0);
        for row in 0..200_000 {
            let confidence = random.share();
            let loss = if random.share() < 0.5 * (1.0 - confidence) { 1.0 } else { 0.0 };
            (all, rows) = (all + loss, rows + 1.0);
            if let Some(propensity) = plan.choose(row, confidence) {
                (chosen, weight) = (chosen + loss / propensity, weight + 1.0 / propensity);
            }
        }
        assert!((all / rows - chosen / weight).abs() < 0.01, "{} {}", all / rows, chosen / weight);
    }

    #[test]
    fn larger_rises_are_noticed_sooner_and_safer_thresholds_confirmed_sooner() {
        let plan = strata(true).plan(1000.0, 0.2, 5).expect("a plan");
        let settings = MonitorSettings::default();
        let notice =
            |risk: f64| plan.labels_to_notice(risk, 0.1, &settings).median.expect("noticed");
        assert!(notice(0.4) < notice(0.2) && notice(0.2) < notice(0.15));
        let confirm = |risk: f64| plan.labels_to_confirm(risk, 0.1, &settings).median;
        assert!(confirm(0.02) < confirm(0.05) && confirm(0.02).is_some());
        assert_eq!(confirm(0.2), None);
    }
}
