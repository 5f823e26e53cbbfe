//! Which estimator to recommend.

use super::report::{Choice, MethodLine, Reason, TuneReport};
use super::request::TuneRequest;
use super::run::Attempt;
use abstain::{Error, Estimator, Fallback, Interval, Method, Objective, Profiles, Tuned, Tuner};

/// What a choice is made from.
pub(super) struct Candidates<'a> {
    pub(super) request: &'a TuneRequest,
    pub(super) attempts: &'a [Attempt],
    pub(super) lines: &'a [MethodLine],
    /// By how much each is better than MSP in the deciding metric.
    pub(super) gains: &'a [Option<Interval>],
    pub(super) tuning: &'a Profiles,
}

impl Candidates<'_> {
    /// The recommended method if it was requested, else the one that is best on the tuning rows; MSP
    /// if that one fell back, or if the test rows do not confirm it.
    pub(super) fn choose(&self) -> Result<Choice, Error> {
        let Some(candidate) = self.candidate()? else {
            return self.msp(Method::MSP, Reason::OnlyMsp, None);
        };
        let method = candidate.method;
        if candidate.fell_back {
            return self.msp(method, Reason::FellBack, None);
        }
        let index = self.lines.iter().position(|line| line.method == method);
        let gain = index.and_then(|index| self.gains[index]);
        let coverage = |index: usize| {
            self.lines[index].kept.interval.map_or(0.0, |interval| interval.estimate)
        };
        let worse = index.is_some_and(|i| coverage(i) < coverage(TuneReport::BASELINE));
        let reason = match self.request.tuner.fallback {
            // These rules are requested for what they are: nothing is added to them.
            Fallback::None | Fallback::Paper => Reason::AsRequested,
            _ if gain.is_none_or(|gain| gain.low <= 0.0) => {
                return self.msp(method, Reason::NotConfirmed, gain);
            }
            // A requested target is where the most rows must be accepted.
            _ if self.request.target.is_some() && worse => {
                return self.msp(method, Reason::WorseAtTarget, gain);
            }
            _ => Reason::Confirmed,
        };
        self.choice(method, candidate.estimator.clone(), reason, gain)
    }

    fn candidate(&self) -> Result<Option<&Tuned>, Error> {
        let sound: Vec<&Tuned> = self
            .attempts
            .iter()
            .filter(|(method, _)| *method != Method::MSP)
            .filter_map(|(_, tuned)| tuned.as_ref().ok())
            .collect();
        if let Some(recommended) = sound.iter().find(|t| t.method == Tuner::RECOMMENDED) {
            return Ok(Some(recommended));
        }
        let mut best: Option<(&Tuned, f64)> = None;
        for &tuned in sound.iter().filter(|tuned| !tuned.fell_back) {
            let Some(cost) = self.cost(&tuned.estimator)? else { continue };
            if best.is_none_or(|(_, least)| cost < least) {
                best = Some((tuned, cost));
            }
        }
        Ok(best.map(|(tuned, _)| tuned).or(sound.first().copied()))
    }

    fn objective(&self) -> Objective {
        self.request.tuner.objective
    }

    /// The objective on the tuning rows, if it is defined.
    fn value(&self, estimator: &Estimator) -> Result<Option<f64>, Error> {
        let values = self.objective().evaluate(self.tuning, std::slice::from_ref(estimator))?;
        Ok(values[0].ok())
    }

    /// The same where lower is better.
    fn cost(&self, estimator: &Estimator) -> Result<Option<f64>, Error> {
        Ok(self.value(estimator)?.map(|value| self.objective().cost(value)))
    }

    fn msp(&self, method: Method, reason: Reason, gain: Option<Interval>) -> Result<Choice, Error> {
        self.choice(method, Estimator::MSP, reason, gain)
    }

    fn choice(
        &self,
        method: Method,
        estimator: Estimator,
        reason: Reason,
        gain: Option<Interval>,
    ) -> Result<Choice, Error> {
        let (tuned_value, tuned_baseline) = (self.value(&estimator)?, self.value(&Estimator::MSP)?);
        Ok(Choice {
            method,
            estimator,
            reason,
            decided_by: self.request.deciding_metric(),
            decided_at: self.request.target,
            gain,
            tuned_value,
            tuned_baseline,
        })
    }
}
