//! What an artifact knows of rows: their encoding, their loss, and whether it has seen them.

use crate::error::LabError;
use crate::rows::Fingerprints;
use crate::target::Target;
use crate::warning::Warning;
use abstain::internal::{RowSketch, RowSketches, Shared};
use abstain::{Artifact, Encoding, Loss, RowSource, Rule, Threshold, artifact::ModelInfo};

/// Whether an artifact has seen some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seen {
    /// Some of them tuned the estimator.
    ///
    /// Rows whose logits alone made the label-free rule, or gave a stack its scale, count as well: given
    /// the logits the losses are no longer binomial, so that a certificate on them would not be exact.
    Tuned,
    /// The estimator was compared with MSP on them.
    Compared,
}

impl Seen {
    /// Whether an artifact has seen rows, by their fingerprints.
    pub(crate) fn by(artifact: &Artifact, rows: &Fingerprints) -> Option<Self> {
        let tuning = artifact.tuning.as_ref()?;
        let known = |text: &Option<String>| text.as_ref().is_some_and(|text| rows.contain(text));
        if known(&tuning.data) || known(&tuning.unlabelled) {
            return Some(Seen::Tuned);
        }
        let measured = tuning.measured.as_ref().is_some_and(|measured| known(&measured.data));
        measured.then_some(Seen::Compared)
    }
}

/// Rows that are known by sketches.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KnownRows<'a> {
    exact: Option<&'a RowSketch>,
    rounded: Option<&'a RowSketch>,
}

impl<'a> KnownRows<'a> {
    /// Those of two sketches.
    pub(crate) fn of_sketches(sketches: &'a RowSketches) -> Self {
        KnownRows { exact: Some(&sketches.exact), rounded: Some(&sketches.rounded) }
    }

    /// Those that tuned an artifact.
    pub(crate) fn tuned(artifact: &'a Artifact) -> Self {
        artifact.tuning.as_ref().map_or(KnownRows::default(), |tuning| KnownRows {
            exact: tuning.sketch.as_ref(),
            rounded: tuning.rounded.as_ref(),
        })
    }

    /// Those on which an artifact was compared with MSP.
    pub(crate) fn measured(artifact: &'a Artifact) -> Self {
        let measured = artifact.tuning.as_ref().and_then(|tuning| tuning.measured.as_ref());
        KnownRows { exact: None, rounded: measured.and_then(|measured| measured.rounded.as_ref()) }
    }

    /// What they have in common with some rows, by each sketch.
    fn shared(self, rows: &RowSketches) -> impl Iterator<Item = Shared> {
        let exact = self.exact.map(|known| known.shared(&rows.exact));
        let rounded = self.rounded.map(|known| known.shared(&rows.rounded));
        exact.into_iter().chain(rounded)
    }

    /// Whether a substantial part of them is among some rows, or of the rows among them: certain enough to
    /// refuse a certificate.
    pub(crate) fn are_among(self, rows: &RowSketches) -> bool {
        self.shared(rows).any(|shared| shared.is_substantial())
    }

    /// Whether some of them are among the rows; a few rows may be alike wherever they come from.
    pub(crate) fn warning(self, rows: &RowSketches) -> Option<Warning> {
        let many = |shared: &Shared| shared.is_evidence() && shared.found * 33 >= shared.compared;
        let most = self.shared(rows).filter(many).max_by_key(|shared| shared.found)?;
        Some(Warning::SharedRows { found: most.found, compared: most.compared })
    }
}

/// The encoding to read rows in for an artifact: the given one, which must agree with that of the
/// rows it was tuned on, or else that one.
pub fn encoding_for(artifact: &Artifact, given: Option<Encoding>) -> Result<Encoding, LabError> {
    use Encoding::{BinaryLogit, Confidence, Logits, Masked};
    let tuned = artifact.input;
    let Some(given) = given else { return Ok(tuned) };
    // A bare estimator does not know what its rows are.
    let bare = artifact.classes.is_none() && artifact.tuning.is_none();
    match (tuned, given) {
        (Logits, given) if bare => Ok(given),
        // Of a binary classifier, both probabilities are the same rows as that of the positive class.
        (tuned, given) if tuned.is_probabilities() && given.is_probabilities() => {
            match (tuned.floor(), given.floor()) {
                (Some(tuned), Some(floor)) if tuned != floor => Err(LabError::OtherFloor { tuned }),
                (floor, _) => Ok(given.with_floor(floor).or_tolerance_of(tuned)),
            }
        }
        (Masked, Masked)
        | (Logits, Logits | Masked)
        | (BinaryLogit, BinaryLogit)
        | (Confidence, Confidence) => Ok(given),
        _ => Err(LabError::OtherEncoding { tuned, given }),
    }
}

/// Refuses an artifact that was made for another classifier than the given one. An artifact that does not
/// name its classifier serves any.
pub fn check_model(artifact: &Artifact, given: Option<&ModelInfo>) -> Result<(), LabError> {
    match (&artifact.model, given) {
        (Some(expected), Some(given)) if !expected.agrees_with(given) => {
            Err(LabError::OtherModel { expected: expected.to_string(), given: given.to_string() })
        }
        _ => Ok(()),
    }
}

/// The encoding to read a further set in: all sets have the floor of the first, which is part of the
/// estimator.
pub fn encoding_beside(first: &dyn RowSource, given: Encoding) -> Encoding {
    given.with_floor(first.encoding().floor())
}

/// Refuses losses per row where there are several sets of rows: they belong to one.
pub fn check_loss(loss: &Loss, sets: usize) -> Result<(), LabError> {
    if loss.is_per_row() && sets > 1 { Err(LabError::LossOfOneSet) } else { Ok(()) }
}

/// The text of the loss that an artifact was made for.
pub(crate) fn loss_of(artifact: &Artifact) -> Option<&str> {
    let of_threshold = artifact.rule.iter().flat_map(Rule::thresholds).find_map(Threshold::loss);
    of_threshold.or(artifact.tuning.as_ref().map(|tuning| &tuning.loss[..]))
}

/// The loss to use with an artifact where none is given: that of its threshold or its tuning, if it
/// needs no numbers.
pub fn loss_for(artifact: &Artifact) -> Result<Loss, LabError> {
    match loss_of(artifact) {
        None => Ok(Loss::ZeroOne),
        Some(text) => text.parse().map_err(|_| LabError::LossNeeded { loss: text.to_string() }),
    }
}

impl Target {
    /// The target that the threshold of an artifact meets.
    pub fn of_artifact(artifact: &Artifact) -> Option<Self> {
        artifact.threshold()?.target_risk().map(Target::of_risk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abstain::{Estimator, threshold::Basis};

    #[test]
    fn encodings_must_agree_with_the_artifact() {
        let probabilities = |floor| Encoding::Probabilities { floor, tolerance: None };
        let mut artifact = Artifact::new(Estimator::MSP);
        assert_eq!(encoding_for(&artifact, None).expect("any"), Encoding::Logits);
        let given = Some(probabilities(None));
        assert_eq!(encoding_for(&artifact, given).expect("any"), probabilities(None));
        artifact.classes = Some(3);
        assert!(matches!(encoding_for(&artifact, given), Err(LabError::OtherEncoding { .. })));
        let masked = Some(Encoding::Masked);
        assert_eq!(encoding_for(&artifact, masked).expect("logits"), Encoding::Masked);
        artifact.input = probabilities(Some(0.01));
        assert_eq!(encoding_for(&artifact, None).expect("tuned"), artifact.input);
        assert_eq!(encoding_for(&artifact, given).expect("tuned"), artifact.input);
        let other = encoding_for(&artifact, Some(probabilities(Some(0.02))));
        assert!(matches!(other, Err(LabError::OtherFloor { .. })));
        assert!(encoding_for(&artifact, Some(Encoding::Logits)).is_err());
    }

    #[test]
    fn losses_without_numbers_follow_the_artifact() {
        let mut artifact = Artifact::new(Estimator::MSP);
        assert_eq!(loss_for(&artifact).expect("the default"), Loss::ZeroOne);
        let threshold = |loss: &str| Threshold {
            at: 0.0,
            basis: Basis::Risk {
                risk: 0.1,
                loss: loss.into(),
                rows: 1,
                accepted: 1,
                selective_risk: 0.0,
                weighted_coverage: None,
            },
        };
        artifact.rule = Some(threshold("top-5").into());
        assert_eq!(loss_for(&artifact).expect("a name"), Loss::TopK(5));
        artifact.rule = Some(threshold("costs").into());
        assert!(matches!(loss_for(&artifact), Err(LabError::LossNeeded { .. })));
    }
}
