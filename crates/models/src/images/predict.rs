//! The use case *predict*: images to decisions.

use crate::images::classifier::{Classifier, ClassifierError, Outputs};
use crate::images::corrupt::CorruptError;
use crate::images::dataset::{Dataset, DatasetError};
use crate::images::logits::Skipped;
use crate::images::pass::{Batch, Pass, PassError};
use crate::images::runtime::Values;
use crate::onnx::Decision;
use abstain::{Answer, Artifact, Encoding};
use abstain_lab::{LabError, Scorer};
use std::collections::HashSet;

/// What decides, and on which images.
pub struct PredictRequest<'a> {
    /// The classifier.
    pub classifier: &'a mut Classifier,
    /// The artifact; nothing if the model carries one.
    pub artifact: Option<&'a Artifact>,
    /// The images.
    pub dataset: &'a Dataset,
    /// Images of a batch.
    pub batch: usize,
    /// How many threads prepare images.
    pub threads: usize,
    /// Whether the orientation of EXIF data is applied.
    pub orient: bool,
}

/// Decisions on some images.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// The names of the images.
    pub images: Vec<String>,
    /// Their answers.
    pub answers: Vec<Answer>,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PredictSummary {
    /// Images with an answer.
    pub rows: u64,
    /// Those that are accepted; nothing without a threshold.
    pub accepted: Option<u64>,
    /// Images that cannot be decoded.
    pub skipped: Vec<Skipped>,
    /// Images whose EXIF data state an orientation.
    pub oriented: u64,
}

/// Why there are no decisions.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// The images.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The model.
    #[error(transparent)]
    Classifier(#[from] ClassifierError),
    /// A corruption.
    #[error(transparent)]
    Corrupt(#[from] CorruptError),
    /// The estimator or its rows.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A row of logits that is invalid.
    #[error("the output{} is invalid: {problem}", if image.is_empty() { String::new() } else { format!(" for {image}") })]
    Row {
        /// The image.
        image: String,
        /// What is wrong.
        problem: Box<abstain::Error>,
    },
    /// The machine.
    #[error("{0}")]
    Threads(String),
    /// Neither the model nor the request has an estimator.
    #[error("the model carries no estimator")]
    NoEstimator,
    /// Another estimator needs logits.
    #[error("the model gives decisions, but no logits that another estimator could use")]
    NoLogits,
    /// The estimator is for logits, and the model gives probabilities.
    #[error("the estimator is for logits, but the outputs of the model look like probabilities")]
    LooksLikeProbabilities,
    /// The model does not give what was promised.
    #[error("the model's output '{0}' is missing or of another type")]
    Decision(&'static str),
    /// Where results go.
    #[error(transparent)]
    Output(#[from] abstain_io::Error),
}

impl From<PassError> for PredictError {
    fn from(error: PassError) -> Self {
        match error {
            PassError::Dataset(error) => error.into(),
            PassError::Classifier(error) => error.into(),
            PassError::Corrupt(error) => error.into(),
            PassError::Threads(problem) => PredictError::Threads(problem),
        }
    }
}

/// Decides on images; `on_rows` gets the answers in the order of the images.
pub fn predict(
    request: &mut PredictRequest<'_>,
    mut on_rows: impl FnMut(Predicted) -> Result<(), PredictError>,
) -> Result<PredictSummary, PredictError> {
    let selective = request.classifier.summary().selective.clone();
    let decider = match (request.artifact, selective) {
        // A selective model need not give its logits.
        (Some(_), _) if !request.classifier.gives_logits() => return Err(PredictError::NoLogits),
        (Some(artifact), _) => Decider::Artifact(Box::new(Scorer::new(artifact, None, false)?)),
        (None, Some(selective)) => {
            let given = Decision::ALL.into_iter().filter(|one| one.is_of(&selective.artifact));
            Decider::Model(given.collect())
        }
        (None, None) => return Err(PredictError::NoEstimator),
    };
    let mut summary =
        PredictSummary { accepted: decider.accepts().then_some(0), ..Default::default() };
    let without = HashSet::new();
    let pass = Pass {
        dataset: request.dataset,
        without: &without,
        start: 0,
        batch: request.classifier.batch().unwrap_or(request.batch),
        orient: request.orient,
        variants: &[None],
        seed: 0,
        threads: request.threads,
    };
    let name = |&item: &usize| request.dataset.items[item].name.clone();
    pass.run(request.classifier, |batch: Batch| -> Result<(), PredictError> {
        let broken = batch
            .broken
            .iter()
            .map(|(item, reason)| Skipped { image: name(item), reason: reason.clone() });
        summary.skipped.extend(broken);
        summary.oriented += batch.oriented as u64;
        let Some(outputs) = batch.outputs.first() else { return Ok(()) };
        let images: Vec<String> = batch.rows.iter().map(name).collect();
        let answers = decider.answers(outputs, &images)?;
        summary.rows += answers.len() as u64;
        if let Some(accepted) = &mut summary.accepted {
            *accepted += answers.iter().filter(|answer| answer.accept == Some(true)).count() as u64;
        }
        on_rows(Predicted { images, answers })
    })?;
    Ok(summary)
}

/// What decides.
enum Decider {
    /// The artifact, on the logits.
    Artifact(Box<Scorer>),
    /// The model itself, by these outputs.
    Model(Vec<Decision>),
}

impl Decider {
    fn accepts(&self) -> bool {
        match self {
            Decider::Artifact(scorer) => scorer.accepts(),
            Decider::Model(decisions) => decisions.contains(&Decision::Accept),
        }
    }

    fn answers(&self, outputs: &Outputs, images: &[String]) -> Result<Vec<Answer>, PredictError> {
        match self {
            Decider::Artifact(scorer) => {
                let encoding = scorer.artifact().input;
                if encoding == Encoding::Logits && outputs.look_like_probabilities() {
                    return Err(PredictError::LooksLikeProbabilities);
                }
                let invalid = |problem: abstain::Error| PredictError::Row {
                    image: problem
                        .row()
                        .and_then(|row| images.get(row))
                        .cloned()
                        .unwrap_or_default(),
                    problem: Box::new(problem),
                };
                let rows =
                    encoding.logits(&outputs.logits[..], outputs.classes).map_err(invalid)?;
                Ok(scorer.score(&rows).map_err(invalid)?.answers)
            }
            Decider::Model(decisions) => {
                let of = |wanted: Decision| {
                    let at = decisions.iter().position(|&one| one == wanted);
                    at.and_then(|at| outputs.decisions.get(at))
                };
                let missing = |decision: Decision| PredictError::Decision(decision.name());
                let Some(Values::Integers(predictions)) = of(Decision::Prediction) else {
                    return Err(missing(Decision::Prediction));
                };
                let Some(Values::Floats(confidences)) = of(Decision::Confidence) else {
                    return Err(missing(Decision::Confidence));
                };
                let accepts = match of(Decision::Accept) {
                    Some(Values::Integers(accepts)) => Some(accepts),
                    _ if self.accepts() => return Err(missing(Decision::Accept)),
                    _ => None,
                };
                let answer = |row: usize| Answer {
                    prediction: u32::try_from(predictions[row]).unwrap_or_default(),
                    confidence: f64::from(confidences[row]),
                    accept: accepts.map(|accepts| accepts[row] != 0),
                };
                Ok((0..images.len()).map(answer).collect())
            }
        }
    }
}
