//! The use case *score*: prediction, confidence and acceptance of rows.

use crate::error::LabError;
use crate::threshold::{GivenThreshold, set_threshold};
use crate::warning::{self, Warning, unlabelled_warnings};
use abstain::{Answer, Artifact, Encoding, Error, Logits, RowFacts};

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
    /// What some of the rows look like.
    pub facts: RowFacts,
}

/// What was scored so far, which shows whether the rows are like those of the artifact.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScoreSummary {
    rows: usize,
    accepted: usize,
    facts: RowFacts,
    /// The smallest and the largest confidence.
    range: Option<(f64, f64)>,
}

impl ScoreSummary {
    /// Adds scored rows.
    pub fn push(&mut self, scored: &Scored) {
        self.facts.merge(scored.facts);
        self.push_answers(&scored.answers);
    }

    /// Adds answers of rows without logits.
    pub fn push_answers(&mut self, answers: &[Answer]) {
        self.rows += answers.len();
        for answer in answers {
            self.accepted += usize::from(answer.accept == Some(true));
            let (low, high) = self.range.unwrap_or((answer.confidence, answer.confidence));
            self.range = Some((low.min(answer.confidence), high.max(answer.confidence)));
        }
    }

    /// The rows so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// What looks wrong with the rows for an artifact.
    pub fn warnings(&self, artifact: &Artifact, encoding: Encoding) -> Vec<Warning> {
        let constant = self.rows > 1 && self.range.is_some_and(|(low, high)| low == high);
        let mut warnings = unlabelled_warnings(artifact, encoding, &self.facts, &[]);
        warnings.extend(constant.then_some(Warning::ConstantConfidence));
        let rows = self.rows as f64;
        warnings.extend(warning::of_coverage(artifact, self.accepted as f64 / rows, rows));
        warnings
    }
}

/// Rows of a piece whose facts are collected.
const ROWS_LOOKED_AT: usize = 4;

impl Scorer {
    /// A scorer; another threshold replaces the rule of the artifact, and `values` adds the values of the
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
        if let Some(rule) = &artifact.rule {
            rule.check_rows(artifact.input != Encoding::Confidence, false)?;
        }
        Ok(Scorer { artifact, values })
    }

    /// Whether rows are accepted or not, which needs a rule.
    pub fn accepts(&self) -> bool {
        self.artifact.rule.is_some()
    }

    /// Scores some rows.
    pub fn score(&self, logits: &Logits<'_>) -> Result<Scored, Error> {
        let answers = self.artifact.answers(logits)?;
        let estimator = &self.artifact.estimator;
        let value = |answer: &Answer| estimator.value(answer.confidence, logits.classes());
        let values = if self.values { answers.iter().map(value).collect() } else { Vec::new() };
        Ok(Scored { answers, values, facts: RowFacts::of(logits, ROWS_LOOKED_AT) })
    }

    /// The answers to rows of a bare confidence; no classes are predicted.
    pub fn accept(&self, confidences: &[f64]) -> Vec<Answer> {
        let rule = self.artifact.rule.as_ref();
        let answer = |&confidence: &f64| Answer {
            prediction: 0,
            confidence,
            accept: rule.map(|rule| rule.decide(confidence, None, None).is_accept()),
        };
        confidences.iter().map(answer).collect()
    }

    /// The artifact, with the threshold that is used.
    pub fn artifact(&self) -> &Artifact {
        &self.artifact
    }
}
