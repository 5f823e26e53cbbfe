//! From what an experiment found to the artifact that is deployed.

use crate::target::Target;
use crate::tune::{Experiment, TuneReport};
use abstain::{Artifact, Estimator, Input, Measured, Method, Threshold, Tuning};

/// What an artifact says of the rows that it came from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Origin {
    /// What the numbers of the rows are.
    pub input: Input,
    /// What an error costs, in a word.
    pub loss: String,
    /// The name of the search space.
    pub space: String,
    /// The SHA-256 of all rows of the set that was tuned on.
    pub tuned_on: Option<String>,
    /// That of the set that was measured on.
    pub measured_on: Option<String>,
}

impl Experiment {
    /// The estimator that was chosen, with its threshold if one was asked for and there is one.
    pub fn artifact(&self, found: &TuneReport, origin: &Origin) -> Artifact {
        let line = |method: Method| found.methods.iter().find(|own| own.method == method);
        let naurc = |method: Method| line(method)?.naurc.interval.map(|own| own.estimate);
        let choice = &found.choice;
        let is_msp = choice.estimator == Estimator::MSP;
        let mut artifact = Artifact::new(choice.estimator.clone());
        artifact.classes = Some(found.classes);
        artifact.input = origin.input;
        artifact.tuning = Some(Tuning {
            method: choice.method,
            fell_back: is_msp && choice.method != Method::MSP,
            objective: found.objective,
            value: choice.tuned_value,
            baseline: choice.tuned_baseline,
            loss: origin.loss.clone(),
            space: origin.space.clone(),
            fallback: self.tuner.fallback,
            seed: found.seed,
            rows: found.tuning_rows,
            data: origin.tuned_on.clone(),
            measured: Some(Measured {
                rows: found.test_rows,
                naurc: naurc(if is_msp { Method::MSP } else { choice.method }),
                baseline: naurc(Method::MSP),
                data: origin.measured_on.clone(),
            }),
        });
        artifact.threshold = self.threshold(found, origin);
        artifact
    }

    /// The certified threshold, or the one that met the target on the test rows if it was asked for.
    fn threshold(&self, found: &TuneReport, origin: &Origin) -> Option<Threshold> {
        let loss = origin.loss.clone();
        if let Some(certificate) = found.certificate {
            return Some(Threshold::certified(certificate, loss, origin.measured_on.clone()));
        }
        if self.delta.is_some() {
            // Who asks for a certificate does not want less.
            return None;
        }
        let (target, own) = (self.target?, found.at_target.as_ref()?);
        Some(Threshold::Risk {
            at: own.threshold,
            risk: target.risk(),
            loss,
            rows: found.test_rows,
            accepted: own.accepted,
            selective_risk: own.selective_risk,
        })
    }

    /// Why a threshold that was asked for is not there.
    pub fn refusal(&self, found: &TuneReport) -> Option<String> {
        match &found.infeasible {
            Some(why) => Some(format!("no threshold can be certified: {}", why.0)),
            None if self.target.is_some() && self.delta.is_none() && found.at_target.is_none() => {
                Some("no threshold reaches the target on the test rows".into())
            }
            None => None,
        }
    }
}

/// The rows that an estimator is to be certified on are those that tuned it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TunedOnThem;

/// How many estimators were compared on the very rows with this SHA-256, as far as an artifact knows.
pub fn tried_on(artifact: &Artifact, data: Option<&str>) -> Result<usize, TunedOnThem> {
    let Some((data, tuning)) = data.zip(artifact.tuning.as_ref()) else { return Ok(1) };
    if tuning.data.as_deref() == Some(data) {
        return Err(TunedOnThem);
    }
    let measured = tuning.measured.as_ref().and_then(|own| own.data.as_deref());
    // Tuning chose between two of them on these very rows.
    Ok(if measured == Some(data) { 2 } else { 1 })
}

/// What must be said of rows with this SHA-256 where an artifact is measured on them.
pub fn seen_before(artifact: &Artifact, data: Option<&str>) -> Option<&'static str> {
    match tried_on(artifact, data) {
        Err(TunedOnThem) => Some("the estimator was tuned on some of these very rows"),
        Ok(1) => None,
        Ok(_) => Some("the estimator was chosen, and its threshold found, on these very rows"),
    }
}

impl Target {
    /// What the threshold of an artifact was asked to meet.
    pub fn of_artifact(artifact: &Artifact) -> Option<Self> {
        match artifact.threshold.as_ref()? {
            Threshold::Certified { certificate, .. } => Some(Target::of_risk(certificate.risk)),
            Threshold::Risk { risk, .. } => Some(Target::of_risk(*risk)),
            _ => None,
        }
    }
}
