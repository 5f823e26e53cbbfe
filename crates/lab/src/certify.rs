//! The use case *certify*: a threshold with a guarantee, on rows that did not tune the estimator.

use crate::copies::{self, CountedOnce, Repeats};
use crate::error::{LabError, Refusal};
use crate::known::{KnownRows, Seen};
use crate::measured::{MeasuredRows, Rows};
use crate::target::{AT_LEAST_1, FewRows, Target, check_delta};
use crate::threshold::{Chosen, FoundThreshold, Judged, learn};
use crate::warning::{self, Warning};
use abstain::certify::{Certificate, Certifier, Infeasible, Pilot, Procedure};
use abstain::monitor::Reference;
use abstain::{Artifact, Error, Losses, RcCurve, Threshold, Undefined, Weights, threshold::Basis};
use serde::Serialize;

/// The probability with which a certificate may fail, if no other is requested.
pub const DEFAULT_DELTA: f64 = 0.05;

/// A threshold that meets a target, with a guarantee or without.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CertifyRequest {
    /// What the accepted rows must meet.
    pub target: Target,
    /// The probability with which the guarantee may fail; without it there is none.
    pub delta: Option<f64>,
    /// How to certify.
    pub procedure: Procedure,
    /// How many estimators were compared on the certifying rows, this one included.
    pub tried: usize,
    /// Of rows with weights, the largest weight that any row of the population can have: rows of equal
    /// weight are sampled by it.
    pub max_weight: Option<f64>,
    /// What equal rows count as.
    pub repeats: Repeats,
    /// The seed of what is drawn at random: rows by their weights, and one of those that belong together.
    /// Like the target, it must be chosen before the rows are looked at.
    pub seed: u64,
}

/// Rows of equal weight, sampled from rows with weights: each is kept with the probability of its weight
/// over the largest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sampled {
    /// The rows with weights.
    pub rows: usize,
    /// Those that were kept.
    pub kept: usize,
    /// The largest weight of the population.
    pub max_weight: f64,
    /// The seed.
    pub seed: u64,
}

impl CertifyRequest {
    /// A target without a guarantee.
    pub fn uncertified(target: Target) -> Self {
        let procedure = Procedure::default();
        CertifyRequest {
            target,
            delta: None,
            procedure,
            tried: 1,
            max_weight: None,
            repeats: Repeats::default(),
            seed: 0,
        }
    }

    /// Checks everything that does not depend on rows.
    pub fn check(&self) -> Result<(), LabError> {
        self.target.check()?;
        if self.tried == 0 {
            return Err(Error::Parameter { name: "tried", value: 0.0, wanted: AT_LEAST_1 }.into());
        }
        if self.max_weight.is_some() && self.delta.is_none() {
            return Err(LabError::MaxWeightNotUsed);
        }
        if let Some(delta) = self.delta {
            check_delta(delta)?;
            // Only losses of 0 and 1 can be certified.
            let (name, value) = ("risk", self.target.risk());
            if !(value > 0.0 && value < 1.0) {
                let wanted = "a number between 0 and 1, both excluded";
                return Err(Error::Parameter { name, value, wanted }.into());
            }
        }
        Ok(())
    }

    /// The threshold on rows on which that many estimators were compared; a certificate is one of rows of
    /// equal weight.
    pub(crate) fn threshold(
        &self,
        rows: Judged<'_>,
        compared: usize,
        fingerprint: Option<String>,
        pilot: Option<&Pilot>,
    ) -> Result<Threshold, LabError> {
        let Some(delta) = self.delta else { return Chosen::Target(self.target).on(rows) };
        let certifier = Certifier {
            procedure: self.procedure,
            tried: self.tried.max(compared),
            pilot: pilot.cloned(),
            ..self.target.certifier(delta)
        };
        let certified = certify_curve(&certifier, &RcCurve::new(rows.confidences, rows.losses)?)?;
        let certificate = certified.map_err(Refusal::NotCertified)?;
        Ok(Threshold::certified(certificate, rows.loss.to_string(), fingerprint))
    }

    /// How many estimators were compared on rows that are to certify; rows that tuned the estimator are
    /// refused.
    fn compared(&self, artifact: &Artifact, rows: &MeasuredRows) -> Result<usize, LabError> {
        if self.delta.is_none() {
            // Without a guarantee there is nothing that the rows could break.
            return Ok(1);
        }
        let sketch = rows.logits.as_ref().map(|logits| &logits.sketch);
        let has = |known: KnownRows<'_>| sketch.is_some_and(|sketch| known.are_among(sketch));
        match rows.seen_by(artifact) {
            Some(Seen::Tuned) => Err(LabError::CertifyingRowsTuned),
            _ if has(KnownRows::tuned(artifact)) => Err(LabError::CertifyingRowsShared),
            Some(Seen::Compared) => Ok(2),
            None if has(KnownRows::measured(artifact)) => Ok(2),
            None => Ok(1),
        }
    }

    /// Rows of equal weight that certify in place of rows with weights.
    fn sample(
        &self,
        rows: &MeasuredRows,
        weights: &Weights,
    ) -> Result<(MeasuredRows, Sampled), LabError> {
        if !rows.losses()?.is_zero_one() {
            return Err(LabError::GradedLoss);
        }
        let largest = weights.values().iter().copied().fold(0.0, f64::max);
        let max_weight = self.max_weight.ok_or(LabError::MaxWeightNeeded { largest })?;
        let sample = rows.sample(max_weight, self.seed)?;
        let (rows, kept) = (weights.values().len(), sample.confidences().len());
        Ok((sample, Sampled { rows, kept, max_weight, seed: self.seed }))
    }
}

/// What the rows of a certified threshold look like; nothing of others, which may have tuned.
pub(crate) fn reference_of(
    artifact: &Artifact,
    confidences: &[f64],
    losses: &Losses,
    predictions: Option<&[usize]>,
) -> Result<Option<Reference>, Error> {
    let certificate = artifact.threshold().and_then(Threshold::certificate);
    let reference = |certificate: &Certificate| {
        Reference::new(confidences, losses.values(), predictions, certificate.threshold, 0)
    };
    certificate.map(reference).transpose()
}

/// Certifies a threshold on a curve, or says what is missing.
pub(crate) fn certify_curve(
    certifier: &Certifier,
    curve: &RcCurve,
) -> Result<Result<Certificate, Infeasible>, LabError> {
    certifier.certify(curve).map_err(|error| match error {
        Error::Undefined(Undefined::LossNotZeroOne) => LabError::GradedLoss,
        other => other.into(),
    })
}

/// The artifact with a threshold that meets a target on labelled rows, with a guarantee if one is
/// requested. Rows that tuned the estimator guarantee nothing and are refused.
///
/// A certificate counts errors among rows of equal weight. Rows with weights are sampled first, so that it
/// is exact for the population in which a row counts by its weight.
pub fn certify<'a>(
    artifact: &Artifact,
    request: &CertifyRequest,
    rows: impl Into<Rows<'a>>,
) -> Result<FoundThreshold, LabError> {
    request.check()?;
    let rows: Rows<'_> = rows.into();
    if request.max_weight.is_some() && !rows.have_weights() {
        return Err(LabError::MaxWeightNotUsed);
    }
    rows.check_labels()?;
    rows.check_classes(artifact)?;
    let mut rows =
        rows.measure(Some(artifact), std::slice::from_ref(&artifact.estimator), false)?;
    let compared = request.compared(artifact, &rows)?;
    let mut found = FoundThreshold::new(artifact.clone());
    found.tried = request.tried.max(compared);
    found.warnings = rows.warnings_of_logits(Some(artifact));
    warning::heed(&mut found.warnings, request.repeats);
    if request.delta.is_some() {
        found.warnings.extend(warning::of_certificate(artifact, &rows.fingerprints));
    }
    found.warnings.extend(rows.warnings_of(rows.confidences()));
    let fingerprint = rows.fingerprints.labelled.take();
    if let (Some(clusters), Some(_)) = (rows.clusters(request.repeats), request.delta) {
        if rows.weights.is_some() {
            return Err(LabError::GroupsWithWeights);
        }
        let (confidences, losses) = (rows.confidences(), rows.losses()?.values());
        let once = copies::one_of_each(&clusters, confidences, losses, request.seed);
        let (all, counted, seed) = (confidences.len(), once.len(), request.seed);
        rows = rows.select(&once);
        found.counted = Some(CountedOnce { rows: all, counted, seed });
    }
    if let (Some(weights), Some(_)) = (&rows.weights, request.delta) {
        let (sample, sampled) = request.sample(&rows, weights)?;
        (rows, found.sampled) = (sample, Some(sampled));
    }
    // Rows that tuned the estimator are none of those that certify it: they may say where to look.
    let pilot = artifact.tuning.as_ref().and_then(|tuning| tuning.pilot.as_ref());
    let losses = rows.losses()?;
    let mut threshold = request.threshold(rows.judged(losses), compared, fingerprint, pilot)?;
    if let (Some(Sampled { max_weight, .. }), Basis::Certified { assumptions, .. }) =
        (&found.sampled, &mut threshold.basis)
    {
        *assumptions = format!(
            "{assumptions}; that a row stands for as much of that population as its weight says, \
             and that no weight in it is above {max_weight}"
        );
    }
    if let (Basis::Risk { accepted, selective_risk, weighted_coverage: None, .. }, true) =
        (&threshold.basis, losses.is_zero_one())
    {
        let few = FewRows::of(request.target, *accepted, *selective_risk);
        found.warnings.extend(few.map(Warning::FewAccepted));
    }
    let at = Some(threshold.at);
    found.artifact.rule = Some(threshold.into());
    learn(&mut found.artifact, &rows);
    // Classes of a table of confidences have no numbers that stay, and their names are not learned.
    let answers = rows.answers.as_ref().filter(|_| rows.logits.is_some());
    let predictions = answers.map(|answers| &answers.predictions[..]);
    let confidences = rows.confidences();
    found.artifact.reference = reference_of(&found.artifact, confidences, losses, predictions)?;
    if rows.logits.is_some() {
        let names = &mut found.artifact.class_names;
        *names = names.take().or(rows.class_names.take());
        rows.class_names.clone_from(names);
    }
    found.breakdown = rows.breakdown(rows.confidences(), at);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::Contender;
    use crate::threshold::{Costs, confidence_artifact, cover, minimise_cost};

    /// Confidences, flags that are 1 where a prediction is wrong, and weights.
    fn bare(confidences: Vec<f64>, losses: Vec<f64>, weights: Option<Vec<f64>>) -> MeasuredRows {
        let losses = Losses::new(losses).expect("losses");
        let rows = MeasuredRows::new(Contender::of_column("mine", confidences), Some(losses));
        let weights = weights.map(|weights| Weights::new(weights).expect("weights"));
        MeasuredRows { weights, ..rows }
    }

    fn certified(target: f64) -> CertifyRequest {
        CertifyRequest {
            delta: Some(0.05),
            ..CertifyRequest::uncertified(Target::Accuracy(target))
        }
    }

    #[test]
    fn certificates_of_bare_confidences_are_those_of_curves() {
        let confidences: Vec<f64> = (0..500).map(|i| f64::from(i * 7919 % 500)).collect();
        let losses = confidences.iter().map(|c| if *c < 50.0 { 1.0 } else { 0.0 }).collect();
        let rows = bare(confidences, losses, None);
        let found = certify(&confidence_artifact(), &certified(0.95), rows.clone());
        let found = found.expect("certified");
        let basis = found.artifact.threshold().map(|threshold| &threshold.basis);
        let Some(Basis::Certified { certificate, loss, data, .. }) = basis else {
            panic!("{found:?}")
        };
        assert_eq!((certificate.rows, &loss[..]), (500, "zero-one"));
        assert!(certificate.accepted > 400 && certificate.check().is_ok());
        let columns = [rows.confidences(), rows.losses().expect("losses").values()];
        assert_eq!(*data, Some(abstain_io::Fingerprint::of_columns(columns).without_labels()));
        // Coverage needs no losses.
        let unlabelled = MeasuredRows { losses: None, ..rows };
        let artifact = confidence_artifact();
        let covered = cover(&artifact, 0.5, unlabelled.clone()).expect("covered").artifact;
        let basis = &covered.threshold().expect("a threshold").basis;
        assert!(matches!(basis, Basis::Coverage { accepted: 250, .. }));
        let none = MeasuredRows::new(Contender::of_column("none", Vec::new()), None);
        assert!(cover(&artifact, 0.5, none).is_err());
        let refused = certify(&artifact, &certified(0.95), unlabelled).unwrap_err();
        assert!(matches!(refused, LabError::Rows(Error::NoLabels)), "{refused}");
    }

    /// A weight is a number of rows: thresholds on weighted rows are those on repeated rows.
    #[test]
    fn thresholds_of_weighted_rows_are_those_of_repeated_rows() {
        let confidences: Vec<f64> = (0..300).map(|i| f64::from(i * 7919 % 101)).collect();
        let wrong = |i: i32| if i * 37 % 11 < 3 { 1.0 } else { 0.0 };
        let losses: Vec<f64> = (0..300).map(wrong).collect();
        let weights: Vec<u8> = (0..300).map(|i| [0, 1, 5][i % 3]).collect();
        let repeat = |values: &[f64]| -> Vec<f64> {
            let each = values.iter().zip(&weights);
            each.flat_map(|(&x, &weight)| std::iter::repeat_n(x, weight.into())).collect()
        };
        let repeated = bare(repeat(&confidences), repeat(&losses), None);
        let as_floats = weights.iter().map(|&weight| f64::from(weight)).collect();
        let ignored = bare(confidences.clone(), losses.clone(), None);
        let weighted = bare(confidences, losses, Some(as_floats));
        let request = CertifyRequest::uncertified(Target::Accuracy(0.75));
        let costs = Costs { error: 3.0, abstention: 1.0 };
        let artifact = confidence_artifact();
        let find = |rows: &MeasuredRows| {
            let found = [
                certify(&artifact, &request, rows.clone()),
                cover(&artifact, 0.3, rows.clone()),
                minimise_cost(&artifact, &costs, rows.clone()),
            ];
            found.map(|found| {
                found.expect("found").artifact.threshold().cloned().expect("a threshold")
            })
        };
        let (found, expected, other) = (find(&weighted), find(&repeated), find(&ignored));
        for ((found, expected), other) in found.iter().zip(&expected).zip(&other) {
            assert_eq!(found.at, expected.at);
            assert_ne!(found.at, other.at, "the weights are ignored");
            let (share, of) = (found.coverage().expect("a share"), expected.coverage());
            assert!((share - of.expect("a share")).abs() < 1e-12, "{found:?} {expected:?}");
        }
    }

    #[test]
    fn certificates_of_weighted_rows_need_the_largest_weight() {
        let rows = 400;
        let confidences: Vec<f64> = (0..rows).map(f64::from).collect();
        let losses: Vec<f64> = (0..rows).map(|i| if i < 20 { 1.0 } else { 0.0 }).collect();
        let weights: Vec<f64> = (0..rows).map(|i| if i % 2 == 0 { 2.0 } else { 0.5 }).collect();
        let rows = bare(confidences, losses.clone(), Some(weights));
        let artifact = confidence_artifact();
        let error = certify(&artifact, &certified(0.9), rows.clone()).unwrap_err();
        assert!(matches!(error, LabError::MaxWeightNeeded { largest: 2.0 }), "{error}");
        let with = |max_weight, seed| CertifyRequest {
            max_weight: Some(max_weight),
            seed,
            ..certified(0.9)
        };
        let error = certify(&artifact, &with(1.5, 0), rows.clone()).unwrap_err();
        assert_eq!(error.to_string(), "row 0: weight 2 is above the largest one, 1.5");
        let found = certify(&artifact, &with(4.0, 1), rows.clone()).expect("certified");
        let sampled = found.sampled.expect("a sample");
        assert!((100..150).contains(&sampled.kept) && sampled.rows == 400, "{sampled:?}");
        let basis = found.artifact.threshold().map(|threshold| threshold.basis.clone());
        let Some(Basis::Certified { certificate, assumptions, .. }) = basis else {
            panic!("not certified")
        };
        assert_eq!(certificate.rows, sampled.kept);
        assert!(assumptions.contains("no weight in it is above 4"), "{assumptions}");
        let without = MeasuredRows { weights: None, ..rows.clone() };
        let error = certify(&artifact, &with(4.0, 1), without.clone()).unwrap_err();
        assert!(matches!(error, LabError::MaxWeightNotUsed));
        let uncertified = CertifyRequest { delta: None, ..with(4.0, 1) };
        assert!(matches!(uncertified.check(), Err(LabError::MaxWeightNotUsed)));
        // Only losses of 0 and 1 can be certified, even if all others are left out of the sample.
        let mut graded = losses;
        graded[399] = 0.5;
        let graded = MeasuredRows { losses: Losses::new(graded).ok(), ..rows };
        let error = certify(&artifact, &with(4.0, 1), graded.clone()).unwrap_err();
        assert!(matches!(error, LabError::GradedLoss));
    }

    #[test]
    fn a_threshold_that_rests_on_few_rows_says_so() {
        let confidences: Vec<f64> = (0..500).map(f64::from).collect();
        let losses = confidences.iter().map(|c| if *c < 465.0 { 1.0 } else { 0.0 }).collect();
        let rows = bare(confidences, losses, None);
        let request = |accuracy| CertifyRequest::uncertified(Target::Accuracy(accuracy));
        let find = |accuracy| certify(&confidence_artifact(), &request(accuracy), rows.clone());
        let found = find(0.9999).expect("met on these rows");
        let [Warning::FewAccepted(few)] = found.warnings[..] else { panic!("{found:?}") };
        assert_eq!((few.accepted, few.errors), (35, 0));
        assert!(find(0.9).expect("met").warnings.is_empty());
    }

    #[test]
    fn a_second_certificate_on_the_same_rows_is_noticed() {
        let confidences: Vec<f64> = (0..500).map(f64::from).collect();
        let losses = confidences.iter().map(|c| if *c < 50.0 { 1.0 } else { 0.0 }).collect();
        let rows = bare(confidences, losses, None);
        let first = certify(&confidence_artifact(), &certified(0.95), rows.clone()).expect("first");
        assert!(first.warnings.is_empty());
        let again = certify(&first.artifact, &certified(0.9), rows.clone()).expect("again");
        assert_eq!(again.warnings, [Warning::CertifyingRows]);
        let mut other = rows.clone();
        other.columns[0].confidences[0] = 0.5;
        let other = certify(&first.artifact, &certified(0.9), other.clone()).expect("other rows");
        assert!(other.warnings.is_empty());
    }
}
