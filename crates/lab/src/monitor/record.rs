//! What a stream is made of: records of scored rows, and labels that come beside them or later.

use super::state::Hash;
use abstain::{Artifact, Threshold};
use abstain_io::Role;
use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

/// A row that was scored.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredRecord<'a> {
    /// What tells it apart.
    pub id: Option<&'a str>,
    /// Its confidence.
    pub confidence: f64,
    /// The predicted class.
    pub prediction: Option<ClassValue<'a>>,
    /// The group that it belongs to.
    pub group: Option<&'a str>,
    /// Whether it was accepted, which must be what the threshold says.
    pub accept: Option<bool>,
    /// When it was scored: a number, or a text whose order is that of time.
    pub time: Option<&'a str>,
    /// Its number in the stream, from 0, where a part of it is seen; by default the rows so far.
    pub row: Option<u64>,
    /// What is known of its answer already. It is not remembered by the identifier: another label of the
    /// row that comes later counts, too.
    pub label: Option<Label<'a>>,
}

impl ScoredRecord<'_> {
    /// A row of which nothing else is known.
    pub fn new(confidence: f64) -> Self {
        ScoredRecord {
            id: None,
            confidence,
            prediction: None,
            group: None,
            accept: None,
            time: None,
            row: None,
            label: None,
        }
    }
}

/// A label of a row that was counted before.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelRecord<'a> {
    /// The row that it belongs to.
    pub key: RowKey<'a>,
    /// What is known of the answer.
    pub label: Label<'a>,
}

/// What a label calls its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowKey<'a> {
    /// By its identifier. A label of it counts once.
    Id(Cow<'a, str>),
    /// By its number in the stream, from 0. A label of it counts once.
    Row(u64),
}

impl fmt::Display for RowKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowKey::Id(id) => id.fmt(f),
            RowKey::Row(row) => row.fmt(f),
        }
    }
}

/// What a label needs of the row that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedRow<'a> {
    /// Its number in the stream, from 0.
    pub row: u64,
    /// Its confidence.
    pub confidence: f64,
    /// The predicted class.
    pub prediction: Option<ClassValue<'a>>,
    /// The group that it belongs to.
    pub group: Option<Cow<'a, str>>,
    /// When it was scored.
    pub time: Option<Cow<'a, str>>,
}

/// What is found where rows that were counted are looked up.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup<'a> {
    /// No row.
    Unknown,
    /// The row.
    One(CountedRow<'a>),
    /// Several rows of one identifier.
    Several,
}

/// What is known of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Label<'a> {
    /// How good it was.
    pub outcome: Outcome<'a>,
    /// With which probability the row was chosen for a label; `None` if all rows had the same.
    pub propensity: Option<Propensity>,
}

impl Label<'_> {
    /// What the answer cost, and how much the label counts.
    pub(super) fn cost(
        &self,
        artifact: &Artifact,
        prediction: Option<&ClassValue<'_>>,
        max_loss: f64,
    ) -> Result<Cost, RecordErrorKind> {
        let loss = self.outcome.loss(artifact, prediction)?;
        if !(0.0..=1.0).contains(&(loss / max_loss)) {
            return Err(RecordErrorKind::Loss { loss, max_loss });
        }
        let weight = self.propensity.map_or(1.0, Propensity::weight);
        Ok(Cost { loss, weight, sampled: self.propensity.is_some() })
    }
}

/// What an answer cost, the weight of its label, and whether a propensity is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    pub loss: f64,
    pub weight: f64,
    pub sampled: bool,
}

/// How good an answer was.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<'a> {
    /// What it cost.
    Loss(f64),
    /// Whether it was right: a loss of 0 or 1.
    Correct(bool),
    /// The class of the row, to be compared with the prediction.
    Label(ClassValue<'a>),
}

impl Outcome<'_> {
    /// What an answer cost.
    pub(super) fn loss(
        &self,
        artifact: &Artifact,
        prediction: Option<&ClassValue<'_>>,
    ) -> Result<f64, RecordErrorKind> {
        let label = match self {
            Outcome::Loss(loss) => return Ok(*loss),
            Outcome::Correct(right) => return Ok(if *right { 0.0 } else { 1.0 }),
            Outcome::Label(label) => label,
        };
        let prediction = prediction.ok_or(RecordErrorKind::NoPrediction)?;
        let class = label.class(artifact).map_err(|_| RecordErrorKind::NoClass {
            label: label.to_string(),
            classes: artifact.classes,
        })?;
        let wrong = match (class, predicted(artifact, prediction)?) {
            (Some(label), Some(prediction)) => label != prediction,
            (None, None) => label != prediction,
            _ => {
                let (label, prediction) = (label.to_string(), prediction.to_string());
                return Err(RecordErrorKind::NotNamedAlike { label, prediction });
            }
        };
        Ok(if wrong { 1.0 } else { 0.0 })
    }

    /// By which a label that comes twice is recognised.
    pub(super) fn hash(&self) -> Hash {
        match self {
            Outcome::Loss(loss) => Hash::of(&format!("loss {loss}")),
            Outcome::Correct(right) => Hash::of(if *right { "loss 0" } else { "loss 1" }),
            Outcome::Label(label) => Hash::of(&format!("label {label}")),
        }
    }

    pub(super) fn into_owned(self) -> Outcome<'static> {
        match self {
            Outcome::Loss(loss) => Outcome::Loss(loss),
            Outcome::Correct(right) => Outcome::Correct(right),
            Outcome::Label(label) => Outcome::Label(label.into_owned()),
        }
    }
}

/// A class as records and labels hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClassValue<'a> {
    /// Its number, from 0.
    Number(i64),
    /// Its name or its number.
    Text(Cow<'a, str>),
}

impl ClassValue<'_> {
    /// The class; `None` if it is a name that the artifact does not know, and an error if it is no class.
    fn class(&self, artifact: &Artifact) -> Result<Option<u32>, i64> {
        let number = match self {
            ClassValue::Number(number) => *number,
            ClassValue::Text(text) => match class_of(artifact, text) {
                Some(class) => class.into(),
                None => return Ok(None),
            },
        };
        let class = u32::try_from(number).map_err(|_| number)?;
        match artifact.classes {
            Some(classes) if class as usize >= classes => Err(number),
            _ => Ok(Some(class)),
        }
    }

    pub(super) fn into_owned(self) -> ClassValue<'static> {
        match self {
            ClassValue::Number(number) => ClassValue::Number(number),
            ClassValue::Text(text) => ClassValue::Text(text.into_owned().into()),
        }
    }
}

impl fmt::Display for ClassValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClassValue::Number(number) => number.fmt(f),
            ClassValue::Text(text) => text.fmt(f),
        }
    }
}

/// The predicted class; `None` if it is a name that the artifact does not know.
pub(super) fn predicted(
    artifact: &Artifact,
    prediction: &ClassValue<'_>,
) -> Result<Option<u32>, RecordErrorKind> {
    let classes = artifact.classes;
    prediction.class(artifact).map_err(|class| RecordErrorKind::Prediction { class, classes })
}

/// The number of a class by its name or number, as labels and predictions hold it.
fn class_of(artifact: &Artifact, text: &str) -> Option<u32> {
    abstain_io::class_of(text, artifact.class_names.as_deref().unwrap_or_default())
}

/// The probability with which a row was chosen for a label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Propensity {
    propensity: f64,
    smallest: f64,
}

impl Propensity {
    /// Of a row, and the smallest with which any row could be chosen.
    pub fn new(propensity: f64, smallest: f64) -> Result<Self, RecordErrorKind> {
        if !(smallest > 0.0 && smallest <= 1.0) {
            return Err(RecordErrorKind::MinPropensity { smallest });
        }
        if !(propensity >= smallest && propensity <= 1.0) {
            return Err(RecordErrorKind::Propensity { propensity, smallest });
        }
        Ok(Propensity { propensity, smallest })
    }

    fn weight(self) -> f64 {
        self.smallest / self.propensity
    }
}

/// Refuses a record whose acceptance is not that of the threshold.
pub(crate) fn check_acceptance(
    record: &ScoredRecord<'_>,
    threshold: &Threshold,
) -> Result<(), RecordErrorKind> {
    let (confidence, at) = (record.confidence, threshold.at);
    let Some(accepted) = record.accept else { return Ok(()) };
    // Confidences that were rounded may be on the other side.
    if accepted == threshold.accepts(confidence)
        || (confidence - at).abs() <= 1e-6 * at.abs().max(1.0)
    {
        return Ok(());
    }
    Err(RecordErrorKind::OtherAcceptance { confidence, accepted, threshold: at })
}

/// A record or a label that is not valid. It was not counted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{place}: {kind}")]
#[non_exhaustive]
pub struct RecordError {
    /// Where it is.
    pub place: RecordPlace,
    /// What is wrong with it.
    pub kind: RecordErrorKind,
}

impl RecordError {
    /// What is wrong with a record, and where it is.
    pub fn new(place: RecordPlace, kind: RecordErrorKind) -> Self {
        RecordError { place, kind }
    }
}

/// Where a record or a label is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordPlace {
    /// In a file, by its row from 0.
    File {
        /// The file.
        path: PathBuf,
        /// Its row.
        row: u64,
    },
    /// In a file of labels, by its identifier.
    Id {
        /// The file.
        path: PathBuf,
        /// Its identifier.
        id: String,
    },
    /// Among those of a call, counted from 0.
    Row(usize),
}

impl fmt::Display for RecordPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordPlace::File { path, row } => write!(f, "{}: row {row}", path.display()),
            RecordPlace::Id { path, id } => write!(f, "{}: id {id}", path.display()),
            RecordPlace::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// What is wrong with a record or a label.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordErrorKind {
    /// The confidence is NaN.
    #[error("the confidence is NaN")]
    Confidence,
    /// A prediction that is no class.
    #[error("the prediction {class} is no class: {}", counted(*classes))]
    Prediction {
        /// Its number.
        class: i64,
        /// How many classes there are, if that is known.
        classes: Option<usize>,
    },
    /// A loss that is negative or above the largest.
    #[error("the loss {loss} is not from 0 to {max_loss}")]
    Loss {
        /// The loss.
        loss: f64,
        /// The largest.
        max_loss: f64,
    },
    /// A propensity that is below the smallest or above 1.
    #[error("the propensity {propensity} is not from the smallest, {smallest}, to 1")]
    Propensity {
        /// The propensity.
        propensity: f64,
        /// The smallest.
        smallest: f64,
    },
    /// A smallest propensity that is no probability, or 0.
    #[error("the smallest propensity {smallest} is not above 0 and at most 1")]
    MinPropensity {
        /// The smallest propensity.
        smallest: f64,
    },
    /// The number of a row is negative.
    #[error("the row {row} is not counted from 0")]
    NegativeRow {
        /// The number.
        row: i64,
    },
    /// A label of a row that was not counted.
    #[error("the row {row} is not a row of the stream, which has {rows} so far")]
    NotCounted {
        /// The number of the row.
        row: u64,
        /// How many there are.
        rows: u64,
    },
    /// A text is no number.
    #[error("{role} '{text}' is not a number")]
    NotANumber {
        /// What it should be.
        role: Role,
        /// The text.
        text: String,
    },
    /// A text is no truth value.
    #[error("'{text}' is neither true nor false")]
    NotAFlag {
        /// The text.
        text: String,
    },
    /// The acceptance is not that of the threshold.
    #[error(
        "the confidence {confidence} {}, but the threshold is {threshold}: these are scores of another \
         estimator or threshold",
        if *accepted { "was accepted" } else { "was not accepted" }
    )]
    OtherAcceptance {
        /// The confidence.
        confidence: f64,
        /// Whether it was accepted.
        accepted: bool,
        /// The threshold in use.
        threshold: f64,
    },
    /// A flag says otherwise than label and prediction.
    #[error("the flag '{flag}' contradicts the label '{label}' and the prediction '{prediction}'")]
    FlagContradicts {
        /// The flag.
        flag: String,
        /// The label.
        label: String,
        /// The prediction.
        prediction: String,
    },
    /// A label of a record without a prediction.
    #[error("there is a label, but the record has no prediction to compare it with")]
    NoPrediction,
    /// A label that is no class.
    #[error("the label '{label}' is no class: {}", counted(*classes))]
    NoClass {
        /// The label.
        label: String,
        /// How many classes there are, if that is known.
        classes: Option<usize>,
    },
    /// One of label and prediction is a class, the other is not known.
    #[error("the label '{label}' and the prediction '{prediction}' are not named alike")]
    NotNamedAlike {
        /// The label.
        label: String,
        /// The prediction.
        prediction: String,
    },
    /// Labels of a sample beside labels of none.
    #[error("some labels have a propensity and others have none")]
    SomePropensities,
    /// A propensity, and nothing that says how small it can be.
    #[error("the smallest propensity of the sample is not known")]
    NoMinPropensity,
    /// A record or a label that nothing tells apart.
    #[error("it has no id")]
    NoId,
}

impl RecordErrorKind {
    /// The number that is not valid.
    pub fn value(&self) -> Option<f64> {
        match *self {
            RecordErrorKind::Prediction { class, .. } => Some(class as f64),
            RecordErrorKind::NegativeRow { row } => Some(row as f64),
            RecordErrorKind::NotCounted { row, .. } => Some(row as f64),
            RecordErrorKind::Loss { loss: value, .. }
            | RecordErrorKind::Propensity { propensity: value, .. }
            | RecordErrorKind::MinPropensity { smallest: value } => Some(value),
            _ => None,
        }
    }
}

/// Which classes there are.
fn counted(classes: Option<usize>) -> String {
    match classes {
        Some(classes) => format!("there are {classes}, counted from 0"),
        None => "they are counted from 0".into(),
    }
}
