//! Which estimator to recommend.

use super::report::{Choice, Reason};
use super::request::TuneRequest;
use super::run::{Fitted, TuningRows};
use abstain::certify::Pilot;
use abstain::{
    Error, Estimator, Fallback, Method, Objective, RcCurve, Tuned, Tuner, internal::Profiles,
};

/// What a choice is made from: tuning rows alone.
pub(super) struct Candidates<'a> {
    pub(super) request: &'a TuneRequest,
    pub(super) fitted: &'a [Fitted],
    pub(super) tuning: &'a Profiles,
}

fn out_of_fold(rows: Option<&TuningRows>) -> Option<&[f64]> {
    rows.map(|rows| &rows.out_of_fold[..])
}

impl Candidates<'_> {
    /// The recommended method if it was requested, else the one that is best on the tuning rows; MSP
    /// if that one fell back. And what the tuning rows say of it, if they were cross-fitted.
    pub(super) fn choose(&self) -> Result<(Choice, Option<Pilot>), Error> {
        let choice = self.decide()?;
        let method = match &choice.estimator {
            msp if *msp == Estimator::MSP => Method::MSP,
            _ => choice.method,
        };
        let of_method = self.fitted.iter().find(|(other, _)| *other == method);
        let confidences =
            of_method.and_then(|(_, fitted)| out_of_fold(fitted.as_ref().ok()?.1.as_ref()));
        let pilot = match confidences {
            Some(confidences) => Pilot::of(&RcCurve::new(confidences, &self.tuning.losses())?),
            None => None,
        };
        Ok((choice, pilot))
    }

    fn decide(&self) -> Result<Choice, Error> {
        let Some(candidate) = self.candidate()? else {
            return self.choice(Method::MSP, Estimator::MSP, Reason::OnlyMsp);
        };
        let vetoes = matches!(self.request.tuner.fallback, Fallback::Veto(_));
        if vetoes && candidate.method != Tuner::RECOMMENDED && !self.beats_msp(candidate)? {
            // The best of several that are no better than MSP.
            return self.choice(candidate.method, Estimator::MSP, Reason::Vetoed);
        }
        let reason = match self.request.tuner.fallback {
            _ if candidate.fell_back && vetoes => Reason::Vetoed,
            _ if candidate.fell_back => Reason::FellBack,
            _ if candidate.estimator.method() == Method::LabelFree => Reason::LabelFree,
            // These rules are requested for what they are: nothing is added to them.
            Fallback::None | Fallback::Paper => Reason::AsRequested,
            _ => Reason::NotRefuted,
        };
        self.choice(candidate.method, candidate.estimator.clone(), reason)
    }

    fn candidate(&self) -> Result<Option<&Tuned>, Error> {
        let sound: Vec<(&Tuned, Option<&[f64]>)> = self
            .fitted
            .iter()
            .filter(|(method, _)| *method != Method::MSP)
            .filter_map(|(_, fitted)| fitted.as_ref().ok())
            .map(|(tuned, rows)| (tuned, out_of_fold(rows.as_ref())))
            .collect();
        if let Some((tuned, _)) = sound.iter().find(|(t, _)| t.method == Tuner::RECOMMENDED) {
            return Ok(Some(tuned));
        }
        let mut best: Option<(&Tuned, f64)> = None;
        for &(tuned, out_of_fold) in sound.iter().filter(|(tuned, _)| !tuned.fell_back) {
            let Some(cost) = self.cost(&tuned.estimator, out_of_fold)? else { continue };
            if best.is_none_or(|(_, least)| cost < least) {
                best = Some((tuned, cost));
            }
        }
        Ok(best.map(|(tuned, _)| tuned).or(sound.first().map(|(tuned, _)| *tuned)))
    }

    fn beats_msp(&self, candidate: &Tuned) -> Result<bool, Error> {
        let cost = |method: Method| -> Result<Option<f64>, Error> {
            let fitted = self.fitted.iter().find(|(other, _)| *other == method);
            match fitted.and_then(|(_, fitted)| fitted.as_ref().ok()) {
                Some((tuned, rows)) => self.cost(&tuned.estimator, out_of_fold(rows.as_ref())),
                None => Ok(None),
            }
        };
        Ok(match (cost(candidate.method)?, cost(Method::MSP)?) {
            (Some(candidate), Some(msp)) => candidate < msp,
            _ => false,
        })
    }

    fn objective(&self) -> Objective {
        self.request.tuner.objective
    }

    /// The objective on the tuning rows, if it is defined.
    fn value(&self, estimator: &Estimator) -> Result<Option<f64>, Error> {
        let values = self.objective().evaluate(self.tuning, std::slice::from_ref(estimator))?;
        Ok(values[0].ok())
    }

    /// The same where lower is better, and out of fold where the rows were cross-fitted.
    fn cost(
        &self,
        estimator: &Estimator,
        out_of_fold: Option<&[f64]>,
    ) -> Result<Option<f64>, Error> {
        let value = match (self.objective(), out_of_fold) {
            (Objective::Metric(metric), Some(confidences)) => {
                metric.evaluate(&RcCurve::new(confidences, &self.tuning.losses())?).ok()
            }
            _ => self.value(estimator)?,
        };
        Ok(value.map(|value| self.objective().cost(value)))
    }

    fn choice(
        &self,
        method: Method,
        estimator: Estimator,
        reason: Reason,
    ) -> Result<Choice, Error> {
        let (tuned_value, tuned_baseline) = (self.value(&estimator)?, self.value(&Estimator::MSP)?);
        Ok(Choice {
            method,
            estimator,
            reason,
            decided_by: self.request.deciding_metric(),
            gain: None,
            tuned_value,
            tuned_baseline,
        })
    }
}
