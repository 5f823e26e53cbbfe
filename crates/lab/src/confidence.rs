//! Use cases of a bare confidence: one number for each row that was computed elsewhere, and what each
//! prediction cost. There are no logits, so there is nothing to tune.

use crate::breakdown::{Breakdown, BrokenDownBy};
use crate::certify::{CertifyRequest, CertifyResult, Sampled, reference_of};
use crate::error::{LabError, Refusal};
use crate::evaluate::{BareRows, Contender};
use crate::rows::Answers;
use crate::threshold::{Costs, accepted_by, check_coverage, coverage_threshold};
use crate::warning;
use abstain::{
    Artifact, Basis, Encoding, Error, Estimator, Knot, Losses, RcCurve, Threshold, Weights,
};
use abstain_io::hash_of_confidences;
use std::borrow::Cow;

/// The artifact of a bare confidence, without a threshold.
pub fn confidence_artifact() -> Artifact {
    let mut artifact = Artifact::new(Estimator::Extra);
    artifact.input = Encoding::Confidence;
    artifact
}

impl BareRows {
    /// Rows of which nothing else is known.
    pub fn new(contender: Contender, losses: Losses) -> Self {
        BareRows {
            contender,
            losses,
            answers: None,
            class_names: None,
            groups: None,
            weights: None,
            disagreement: None,
        }
    }

    /// The SHA-256 of the confidences and losses.
    pub fn fingerprint(&self) -> String {
        hash_of_confidences(&self.contender.confidences, self.losses.values())
    }

    /// Refuses columns of different lengths.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let expected = self.contender.confidences.len();
        let columns = [
            ("losses", Some(self.losses.values().len())),
            ("groups", self.groups.as_ref().map(Vec::len)),
            ("weights", self.weights.as_ref().map(|weights| weights.values().len())),
        ];
        for (what, found) in columns {
            if let Some(found) = found.filter(|found| *found != expected) {
                return Err(Error::Length { what, found, expected });
            }
        }
        Ok(())
    }

    /// Some of the rows, without their weights.
    fn select(&self, rows: &[usize]) -> Self {
        let of = |texts: &Vec<String>| rows.iter().map(|&row| texts[row].clone()).collect();
        let mut contender = self.contender.clone();
        contender.confidences = rows.iter().map(|&row| contender.confidences[row]).collect();
        BareRows {
            contender,
            losses: self.losses.select(rows),
            answers: self.answers.as_ref().map(|answers| Answers {
                labels: answers.labels.select(rows),
                predictions: rows.iter().map(|&row| answers.predictions[row]).collect(),
            }),
            class_names: self.class_names.clone(),
            groups: self.groups.as_ref().map(of),
            weights: None,
            disagreement: self.disagreement,
        }
    }

    /// What a threshold accepts in each predicted class and group.
    fn breakdown(&self, at: f64) -> Option<Breakdown> {
        let by = BrokenDownBy {
            predictions: self.answers.as_ref().map(|answers| &answers.predictions[..]),
            class_names: self.class_names.as_deref(),
            groups: self.groups.as_deref(),
            weights: self.weights.as_ref(),
        };
        Breakdown::new(
            &self.contender.confidences,
            &self.losses,
            Some(&Threshold::given(at).into()),
            by,
        )
    }

    /// Rows of equal weight, sampled by the weights.
    fn sample(
        &self,
        weights: &Weights,
        fingerprint: &str,
        request: &CertifyRequest,
    ) -> Result<Self, LabError> {
        if !self.losses.is_zero_one() {
            return Err(LabError::GradedLoss);
        }
        let largest = weights.values().iter().copied().fold(0.0, f64::max);
        let max_weight = request.max_weight.ok_or(LabError::MaxWeightNeeded { largest })?;
        // Other rows get other random numbers, also with the same seed: a certificate holds over the draw
        // of the rows and of the numbers, and numbers that never change would not be drawn.
        let of_weights = hash_of_confidences(weights.values(), &self.contender.confidences);
        let number = |hash: &str| u64::from_str_radix(&hash[..16], 16).unwrap_or(0);
        let seed = request.seed ^ number(fingerprint) ^ number(&of_weights);
        let kept = weights.sample(max_weight, seed)?;
        match kept.len() {
            0 => Err(Refusal::NoRowKept { rows: weights.values().len() }.into()),
            _ => Ok(self.select(&kept)),
        }
    }
}

/// What a knot of a weighted curve accepts: rows by their number, and their share by weight.
struct AtKnot {
    at: f64,
    accepted: usize,
    weighted_coverage: Option<f64>,
}

impl AtKnot {
    fn new(knot: Option<&Knot<f64>>, curve: &RcCurve<f64>, confidences: &[f64]) -> Self {
        let at = knot.map_or(f64::INFINITY, |knot| knot.threshold);
        AtKnot {
            at,
            accepted: knot.map_or(0, |_| accepted_by(at, confidences)),
            weighted_coverage: Some(knot.map_or(0.0, |knot| knot.accepted / curve.rows())),
        }
    }
}

/// A threshold on a bare confidence that accepts a share of some rows, which may have weights.
pub fn cover_confidences(
    confidences: &[f64],
    weights: Option<&Weights>,
    coverage: f64,
) -> Result<Threshold, LabError> {
    let Some(weights) = weights else { return coverage_threshold(confidences, coverage) };
    check_coverage(coverage)?;
    let rows = confidences.len();
    // Coverage does not depend on the losses.
    let curve = RcCurve::weighted(confidences, &Losses::new(vec![0.0; rows])?, weights)?;
    let knot = curve.narrowest_covering(coverage);
    let AtKnot { at, accepted, weighted_coverage } = AtKnot::new(Some(&knot), &curve, confidences);
    Ok(Threshold { at, basis: Basis::Coverage { coverage, rows, accepted, weighted_coverage } })
}

/// A threshold on a bare confidence at which errors and abstentions cost least on some rows.
pub fn minimise_cost_of_confidences(rows: &BareRows, costs: &Costs) -> Result<Threshold, LabError> {
    rows.check()?;
    let (confidences, losses) = (&rows.contender.confidences, &rows.losses);
    let loss = losses.text().to_string();
    let Some(weights) = &rows.weights else {
        return costs.threshold(&RcCurve::new(confidences, losses)?, loss);
    };
    let curve = RcCurve::weighted(confidences, losses, weights)?;
    let knot = costs.cheapest(&curve, |weight| weight)?;
    let found = AtKnot::new(knot.as_ref(), &curve, confidences);
    let (count, accepted) = (confidences.len(), found.accepted);
    Ok(costs.at_knot(knot, count, accepted, loss, found.weighted_coverage))
}

/// The artifact of a bare confidence with a threshold that meets a target on some rows, with a guarantee
/// if one is requested.
///
/// A certificate counts errors among rows of equal weight. Rows with weights are sampled first, so that it
/// is exact for the population in which a row counts by its weight.
pub fn certify_bare(
    artifact: &Artifact,
    request: &CertifyRequest,
    rows: &BareRows,
) -> Result<CertifyResult, LabError> {
    request.check()?;
    rows.check()?;
    let fingerprint = rows.fingerprint();
    let mut warnings = warning::of_bare(rows);
    if request.delta.is_some() {
        warnings.extend(warning::of_certificate(artifact, Some(&fingerprint)));
    }
    let loss = rows.losses.text().to_string();
    let (threshold, certifying, sampled) = match (&rows.weights, request.delta) {
        (None, _) if request.max_weight.is_some() => return Err(LabError::MaxWeightNotUsed),
        (None, _) => {
            let curve = RcCurve::new(&rows.contender.confidences, &rows.losses)?;
            let threshold = request.threshold(&curve, 1, loss, Some(fingerprint), None)?;
            (threshold, Cow::Borrowed(rows), None)
        }
        (Some(weights), None) => {
            let threshold = meeting_target(request, rows, weights, loss)?;
            (threshold, Cow::Borrowed(rows), None)
        }
        (Some(weights), Some(_)) => {
            let kept = rows.sample(weights, &fingerprint, request)?;
            let curve = RcCurve::new(&kept.contender.confidences, &kept.losses)?;
            let mut threshold = request.threshold(&curve, 1, loss, Some(fingerprint), None)?;
            let max_weight = request.max_weight.unwrap_or(f64::INFINITY);
            if let Basis::Certified { assumptions, .. } = &mut threshold.basis {
                *assumptions = format!(
                    "{assumptions}; that a row stands for as much of that population as its weight says, \
                     and that no weight in it is above {max_weight}"
                );
            }
            let (all, count) = (rows.losses.values().len(), kept.losses.values().len());
            let sampled = Sampled { rows: all, kept: count, max_weight, seed: request.seed };
            (threshold, Cow::Owned(kept), Some(sampled))
        }
    };
    let breakdown = certifying.breakdown(threshold.at);
    let mut artifact = artifact.clone();
    artifact.rule = Some(threshold.into());
    let (confidences, losses) = (&certifying.contender.confidences, &certifying.losses);
    // Classes of a table of confidences have no numbers that stay.
    artifact.reference = reference_of(&artifact, confidences, losses, None)?;
    Ok(CertifyResult { artifact, tried: request.tried, warnings, breakdown, sampled })
}

/// A threshold that meets a target on rows with weights, without a guarantee.
fn meeting_target(
    request: &CertifyRequest,
    rows: &BareRows,
    weights: &Weights,
    loss: String,
) -> Result<Threshold, LabError> {
    let confidences = &rows.contender.confidences;
    let curve = RcCurve::weighted(confidences, &rows.losses, weights)?;
    let knot = request.target.widest(&curve).ok_or(Refusal::TargetNotReached)?;
    let AtKnot { at, accepted, weighted_coverage } = AtKnot::new(Some(&knot), &curve, confidences);
    let basis = Basis::Risk {
        risk: request.target.risk(),
        loss,
        rows: confidences.len(),
        accepted,
        selective_risk: knot.selective_risk(),
        weighted_coverage,
    };
    Ok(Threshold { at, basis })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;

    /// Confidences, flags that are 1 where a prediction is wrong, and weights.
    fn bare(confidences: Vec<f64>, losses: Vec<f64>, weights: Option<Vec<f64>>) -> BareRows {
        let losses = Losses::new(losses).expect("losses");
        let rows = BareRows::new(Contender::of_column("mine", confidences), losses);
        let weights = weights.map(|weights| Weights::new(weights).expect("weights"));
        BareRows { weights, ..rows }
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
        let found = certify_bare(&confidence_artifact(), &certified(0.95), &rows);
        let found = found.expect("certified");
        let basis = found.artifact.threshold().map(|threshold| &threshold.basis);
        let Some(Basis::Certified { certificate, loss, data, .. }) = basis else {
            panic!("{found:?}")
        };
        assert_eq!((certificate.rows, &loss[..]), (500, "zero-one"));
        assert!(certificate.accepted > 400 && certificate.check().is_ok());
        assert_eq!(*data, Some(rows.fingerprint()));
        let confidences = &rows.contender.confidences;
        let covered = cover_confidences(confidences, None, 0.5).expect("covered");
        assert!(matches!(covered.basis, Basis::Coverage { accepted: 250, .. }));
        assert!(cover_confidences(&[], None, 0.5).is_err());
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
        let find = |rows: &BareRows| {
            let target = certify_bare(&confidence_artifact(), &request, rows).expect("a threshold");
            let confidences = &rows.contender.confidences;
            [
                target.artifact.threshold().expect("a threshold").clone(),
                cover_confidences(confidences, rows.weights.as_ref(), 0.3).expect("a threshold"),
                minimise_cost_of_confidences(rows, &costs).expect("a threshold"),
            ]
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
        let error = certify_bare(&artifact, &certified(0.9), &rows).unwrap_err();
        assert!(matches!(error, LabError::MaxWeightNeeded { largest: 2.0 }), "{error}");
        let with = |max_weight, seed| CertifyRequest {
            max_weight: Some(max_weight),
            seed,
            ..certified(0.9)
        };
        let error = certify_bare(&artifact, &with(1.5, 0), &rows).unwrap_err();
        assert_eq!(error.to_string(), "row 0: weight 2 is above the largest one, 1.5");
        let found = certify_bare(&artifact, &with(4.0, 1), &rows).expect("certified");
        let sampled = found.sampled.expect("a sample");
        assert!((100..150).contains(&sampled.kept) && sampled.rows == 400, "{sampled:?}");
        let basis = found.artifact.threshold().map(|threshold| &threshold.basis);
        let Some(Basis::Certified { certificate, assumptions, .. }) = basis else {
            panic!("not certified")
        };
        assert_eq!(certificate.rows, sampled.kept);
        assert!(assumptions.contains("no weight in it is above 4"), "{assumptions}");
        let without = BareRows { weights: None, ..rows.clone() };
        let error = certify_bare(&artifact, &with(4.0, 1), &without).unwrap_err();
        assert!(matches!(error, LabError::MaxWeightNotUsed));
        let uncertified = CertifyRequest { delta: None, ..with(4.0, 1) };
        assert!(matches!(uncertified.check(), Err(LabError::MaxWeightNotUsed)));
        // Only losses of 0 and 1 can be certified, even if all others are left out of the sample.
        let mut graded = losses;
        graded[399] = 0.5;
        let graded = BareRows { losses: Losses::new(graded).expect("losses"), ..rows };
        let error = certify_bare(&artifact, &with(4.0, 1), &graded).unwrap_err();
        assert!(matches!(error, LabError::GradedLoss));
    }

    #[test]
    fn a_second_certificate_on_the_same_rows_is_noticed() {
        let confidences: Vec<f64> = (0..500).map(f64::from).collect();
        let losses = confidences.iter().map(|c| if *c < 50.0 { 1.0 } else { 0.0 }).collect();
        let rows = bare(confidences, losses, None);
        let first = certify_bare(&confidence_artifact(), &certified(0.95), &rows).expect("first");
        assert!(first.warnings.is_empty());
        let again = certify_bare(&first.artifact, &certified(0.9), &rows).expect("again");
        assert_eq!(again.warnings, [warning::Warning::CertifyingRows]);
        let mut other = rows.clone();
        other.contender.confidences[0] = 0.5;
        let other = certify_bare(&first.artifact, &certified(0.9), &other).expect("other rows");
        assert!(other.warnings.is_empty());
    }
}
