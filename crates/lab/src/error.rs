//! What can go wrong in a use case.

use crate::monitor::RecordError;
use crate::split::Holdout;
use abstain::certify::Infeasible;
use abstain::monitor::SelectedBy;
use abstain::{Encoding, Error, rows::PassError};
use abstain_io::ErrorKind;
use std::path::PathBuf;

/// What can go wrong in a use case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] abstain_io::Error),
    /// Rows, or the numbers of a request, are not what they should be.
    #[error(transparent)]
    Rows(#[from] abstain::Error),
    /// Rows that come from elsewhere cannot be read.
    #[error(transparent)]
    Source(Box<dyn std::error::Error + Send + Sync>),
    /// A hold-out leaves no tuning rows or no test rows.
    #[error("{rows} row(s) cannot be split into tuning and test rows (hold-out: {holdout})")]
    CannotSplit {
        /// The rows of the set.
        rows: usize,
        /// The requested hold-out.
        holdout: Holdout,
    },
    /// Too few rows to measure each of them by an estimator that has not seen it.
    #[error("{rows} row(s) are too few to tune and measure")]
    TooFewToCrossFit {
        /// The rows of the set.
        rows: usize,
    },
    /// Nothing was kept from tuning that could certify.
    #[error("every row tuned the estimator; a certificate needs rows that did not")]
    NoCertifyingRows,
    /// The accuracy of all rows is the same for every estimator.
    #[error("the accuracy of all rows is the same for every estimator")]
    ConstantObjective,
    /// A certificate without a target.
    #[error("delta needs a target accuracy or a target risk")]
    DeltaWithoutTarget,
    /// An extra column that the estimator has no term for.
    #[error("the estimator has no term for an extra column")]
    ExtraNotUsed,
    /// An extra column, with a second set of rows.
    #[error("the extra column belongs to one set of rows")]
    ExtraOfOneSet,
    /// One loss per row, with a second set of rows.
    #[error("losses per row belong to one set of rows")]
    LossOfOneSet,
    /// Tuning rows and test rows are given, and are to be split as well.
    #[error("with test rows there is nothing to split: leave out the hold-out and the splits")]
    SplitWithTest,
    /// The test rows are the tuning rows.
    #[error("the test rows are the rows that the estimator is tuned on")]
    TestRowsTuned,
    /// The certifying rows are the rows that tuned the estimator.
    #[error("the estimator was tuned on these rows")]
    CertifyingRowsTuned,
    /// Many of the certifying rows are rows that tuned the estimator, in another order or rounded.
    #[error(
        "the estimator was tuned on these rows, or on many of them, in another order or rounded"
    )]
    CertifyingRowsShared,
    /// The estimator was made for another classifier.
    #[error("the estimator is for the model {expected}, not for {given}")]
    OtherModel {
        /// The classifier of the estimator.
        expected: String,
        /// The classifier of these rows.
        given: String,
    },
    /// There is nothing to tune in a confidence.
    #[error("a confidence without logits has nothing that could be tuned")]
    NothingToTune,
    /// A use case that needs logits, with the artifact of a bare confidence.
    #[error("the estimator is a confidence that is computed elsewhere, and has no logits")]
    NoLogits,
    /// The certifying rows are the unlabelled rows that gave the estimator its scale.
    #[error("rows that gave the estimator its scale cannot certify it, even without their labels")]
    CertifyingRowsScaled,
    /// The estimator was tuned on rows in another encoding.
    #[error("the estimator was tuned on {tuned}, not on {given}")]
    OtherEncoding {
        /// The encoding of the estimator.
        tuned: Encoding,
        /// That of these rows.
        given: Encoding,
    },
    /// The estimator was tuned with another floor under probabilities.
    #[error("the estimator was tuned with a floor of {tuned:e}")]
    OtherFloor {
        /// The floor of the estimator.
        tuned: f64,
    },
    /// The estimator was made for a loss that has to be given again.
    #[error("the estimator was made for other losses ({loss})")]
    LossNeeded {
        /// The text in the artifact.
        loss: String,
    },
    /// Rows of another classifier than the estimator's.
    #[error("{found} classes, but the estimator was tuned on {expected}")]
    OtherClasses {
        /// The classes of the rows.
        found: usize,
        /// Those of the estimator.
        expected: usize,
    },
    /// Test rows, or rows of the deployment, of another classifier than the tuning rows.
    #[error("{found} classes, but the tuning rows have {expected}")]
    OtherRowClasses {
        /// The classes of these rows.
        found: usize,
        /// Those of the tuning rows.
        expected: usize,
    },
    /// Names of classes in an order that nothing states, where another one fits far better.
    #[error(
        "the classes are taken in the sorted order of their names, in which predictions agree with the \
         labels in {:.1} % of the rows; in another order they would in {:.1} %",
        100.0 * accuracy,
        100.0 * reordered
    )]
    OtherOrder {
        /// The names in the order that fits.
        names: Vec<String>,
        /// How often predictions agree with the labels in the sorted order.
        accuracy: f64,
        /// How often they would in that order.
        reordered: f64,
    },
    /// Confidences that came with predictions, which are not those of the rows.
    #[error(
        "the predictions beside the confidences of '{name}' are others than those of the logits in \
         {different} of {rows} rows"
    )]
    OtherPredictions {
        /// The name of the confidences.
        name: String,
        /// In how many rows they differ.
        different: usize,
        /// How many rows there are.
        rows: usize,
    },
    /// Two contenders of one name.
    #[error("the name '{name}' is taken")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Only losses of 0 and 1 can be certified.
    #[error("only losses of 0 and 1 can be certified")]
    GradedLoss,
    /// A requirement on what a threshold accepts, without one.
    #[error("there is no threshold whose answers could be checked")]
    GateWithoutThreshold,
    /// A target is to be checked, but the threshold has none.
    #[error("the threshold has no target that could be violated")]
    GateWithoutTarget,
    /// A target is to be checked on rows with weights, where its limits would not be exact.
    #[error("whether a target is violated can be checked on rows of equal weight only")]
    GateWithWeights,
    /// A certificate on rows with weights, without the largest weight of the population.
    #[error(
        "a certificate on rows with weights needs the largest weight that any row of the population \
         can have; the largest of these rows is {largest}, and others may weigh more"
    )]
    MaxWeightNeeded {
        /// The largest weight of these rows.
        largest: f64,
    },
    /// The largest weight of the population, where no rows have weights or nothing is certified.
    #[error("the largest weight is for certificates on rows with weights")]
    MaxWeightNotUsed,
    /// Rows that belong together count as one row drawn at random, and rows with weights as many.
    #[error("a certificate takes weights of rows, or groups of rows that count as one, not both")]
    GroupsWithWeights,
    /// A bare confidence is its only value.
    #[error("a confidence that is computed elsewhere has no other value")]
    NoOtherValue,
    /// A value of the paper's formula depends on the number of classes.
    #[error("the value depends on the number of classes, which is not known")]
    ClassesUnknown,
    /// Records or labels that have no identifiers.
    #[error("{}: labels belong to records by their ids, and there is no column of ids", path.display())]
    NoIds {
        /// The file.
        path: PathBuf,
    },
    /// A file of labels without labels.
    #[error("{}: there is no column of labels, correct flags or losses", path.display())]
    NoOutcomes {
        /// The file.
        path: PathBuf,
    },
    /// A file of records that does not begin with those that were counted.
    #[error("{}: it does not begin with the {rows} records that were counted before", path.display())]
    RecordsReplaced {
        /// The file.
        path: PathBuf,
        /// How many were counted.
        rows: u64,
    },
    /// A record or a label that is not valid.
    #[error("{0}")]
    Record(Box<RecordError>),
    /// A state that cannot be read.
    #[error("this is not the state of a monitor: {problem}")]
    State {
        /// What is wrong with it.
        problem: String,
    },
    /// A state of another version.
    #[error("the state has version {found}, which this program does not read")]
    StateVersion {
        /// Its version.
        found: u32,
    },
    /// A state of another artifact.
    #[error("the state is of another estimator or threshold")]
    OtherArtifactWatched,
    /// A state of other settings.
    #[error("the state was made with other settings: {}", differences(.0))]
    OtherSettingsWatched(Vec<SettingDiffers>),
    /// Rows that were not accepted are said to have labels, and none has one.
    #[error("none of the {labels} labels is of one of the {abstained} rows that were not accepted")]
    NoAbstainedLabels {
        /// How many labels there are.
        labels: u64,
        /// How many rows were not accepted.
        abstained: u64,
    },
    /// Parts of a stream in which the same rows have labels.
    #[error("{labels} label(s) were counted in both parts of the stream")]
    LabelledTwice {
        /// How many.
        labels: usize,
    },
    /// A valid request without a solution.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A rise of the risk, and no target that it could be above.
    #[error("there is no target risk")]
    NoTargetRisk,
    /// Propensities, and nothing that says how small they can be.
    #[error("the smallest propensity of the sample is not known")]
    MinPropensityMissing,
    /// A smallest propensity without propensities.
    #[error("there is a smallest propensity, but no propensities")]
    PropensitiesMissing,
}

/// What kind of problem an error is: the exit code of the program, the exception of the Python package and
/// the status of a service follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// The request or its rows are not what they should be.
    Invalid,
    /// A valid request without a solution.
    Refused,
    /// Something that was not requested went wrong: a disk is full, or work was interrupted.
    Internal,
}

impl LabError {
    /// What kind of problem it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            LabError::Refused(_) => ErrorClass::Refused,
            LabError::File(error) if matches!(*error.kind, ErrorKind::Io(_)) => {
                ErrorClass::Internal
            }
            LabError::Source(_) | LabError::Rows(Error::Stopped) => ErrorClass::Internal,
            _ => ErrorClass::Invalid,
        }
    }
}

impl From<PassError> for LabError {
    fn from(error: PassError) -> Self {
        match error {
            PassError::Rows(error) => LabError::Rows(error),
            PassError::Source(error) => match error.downcast::<abstain_io::Error>() {
                Ok(error) => LabError::File(*error),
                Err(error) => LabError::Source(error),
            },
        }
    }
}

impl From<RecordError> for LabError {
    fn from(error: RecordError) -> Self {
        LabError::Record(Box::new(error))
    }
}

/// A setting that is not that of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingDiffers {
    /// Which one: the name of a field of [`MonitorSettings`](abstain::monitor::MonitorSettings), or `group`.
    pub name: &'static str,
    /// What it is in the state; `None` if it was not given.
    pub stored: Option<String>,
    /// What it is now.
    pub now: Option<String>,
}

fn differences(settings: &[SettingDiffers]) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".into());
    let each = settings.iter().map(|setting| {
        format!("{} was {} and is {}", setting.name, text(&setting.stored), text(&setting.now))
    });
    each.collect::<Vec<_>>().join(", ")
}

/// A valid request without a solution.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No threshold can be certified.
    #[error("no threshold can be certified: {0}")]
    NotCertified(Infeasible),
    /// No threshold meets the target.
    #[error("no threshold reaches the target on these rows")]
    TargetNotReached,
    /// A sample of the rows by their weights is empty.
    #[error("of {rows} rows, none was kept by its weight; a certificate needs more rows")]
    NoRowKept {
        /// How many there are.
        rows: usize,
    },
    /// The labels of a stream certify no threshold.
    #[error("{}", nothing_certified(*labels, *tested))]
    NothingCertified {
        /// How many there are.
        labels: u64,
        /// Whether there is a target that thresholds are tested for.
        tested: bool,
    },
    /// Labels are of rows from before a shift.
    #[error(
        "no threshold is certified: the stream changed, and of {labels} labels {certifying} are of accepted rows \
         since row {since}; older ones prove nothing"
    )]
    LabelsBeforeShift {
        /// All labels.
        labels: u64,
        /// Those that count.
        certifying: u64,
        /// The row since which they do.
        since: u64,
    },
    /// Some of the rows that were chosen to be labelled have no label.
    #[error(
        "no threshold is certified: {missing} rows that were chosen to be labelled have no label, beside \
         {labels} labels that were counted"
    )]
    LabelsMissing {
        /// The labels.
        labels: u64,
        /// The rows without one.
        missing: u64,
    },
    /// Labels are not of a random part of the rows.
    #[error(
        "no threshold is certified: the labels are not of a random part of the rows, by {}: {:.3} of the labels \
         but {:.3} of the rows are among some of them",
        selected_by(*by), of_labels, of_rows
    )]
    LabelsNotRandom {
        /// What tells the rows apart.
        by: SelectedBy,
        /// The share of the labels that some rows have.
        of_labels: f64,
        /// The share of the rows that they are.
        of_rows: f64,
    },
}

fn selected_by(by: SelectedBy) -> &'static str {
    match by {
        SelectedBy::Confidences => "confidence",
        SelectedBy::Predictions => "predicted class",
        SelectedBy::Groups => "group",
        _ => "time",
    }
}

fn nothing_certified(labels: u64, tested: bool) -> String {
    if tested {
        format!("no threshold is certified by the {labels} labels of the stream so far")
    } else {
        "no threshold can be certified without a target risk".into()
    }
}
