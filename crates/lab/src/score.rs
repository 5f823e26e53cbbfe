//! The use case *score*: prediction, confidence and acceptance of rows.

use crate::error::LabError;
use crate::threshold::{GivenThreshold, set_threshold};
use abstain::{Answer, Artifact, Error, Logits};

/// Scores rows with an artifact.
#[derive(Debug, Clone)]
pub struct Scorer {
    artifact: Artifact,
    values: bool,
}

/// Some rows, scored.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The prediction of each row, its confidence, and whether it is accepted.
    pub answers: Vec<Answer>,
    /// The confidences on the scale of the paper's formula, if they were requested.
    pub values: Vec<f64>,
}

impl Scorer {
    /// A scorer; another threshold replaces the artifact's, and `values` adds the values of the
    /// paper's formula.
    pub fn new(
        artifact: &Artifact,
        threshold: Option<f64>,
        values: bool,
    ) -> Result<Self, LabError> {
        let artifact = match threshold {
            Some(at) => set_threshold(artifact, GivenThreshold::Confidence(at))?,
            None => artifact.clone(),
        };
        Ok(Scorer { artifact, values })
    }

    /// Whether rows are accepted or not, which needs a threshold.
    pub fn accepts(&self) -> bool {
        self.artifact.threshold.is_some()
    }

    /// Scores some rows.
    pub fn score(&self, logits: &Logits<'_>) -> Result<Scored, Error> {
        let answers = self.artifact.answers(logits)?;
        let estimator = &self.artifact.estimator;
        let value = |answer: &Answer| estimator.value(answer.confidence, logits.classes());
        let values = if self.values { answers.iter().map(value).collect() } else { Vec::new() };
        Ok(Scored { answers, values })
    }
}
