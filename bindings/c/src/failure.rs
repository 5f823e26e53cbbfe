//! Errors of the interface: code, place and words.

use abstain::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

/// What went wrong in a call.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An argument is wrong.
    Argument(String),
    /// A file cannot be read.
    Unreadable { path: PathBuf, error: io::Error },
    /// A file, or a text in memory, is no artifact.
    Artifact { path: Option<PathBuf>, problem: String },
    /// Rows of another length than the estimator takes.
    Columns {
        found: usize,
        /// Any number from 2 on if none.
        expected: Option<usize>,
    },
    /// Rows that cannot be scored.
    Rows(Error),
    /// No probability of a row is above the floor.
    Floor { row: usize, floor: f64 },
    /// Acceptance without a threshold.
    NoThreshold,
    /// The artifact is for another classifier.
    OtherModel { expected: String, given: String },
    /// A bug.
    Panic(String),
}

/// The codes of `abstain.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Code {
    Ok = 0,
    InvalidArgument = 1,
    CannotRead = 2,
    InvalidArtifact = 3,
    WrongColumns = 4,
    InvalidRow = 5,
    NoThreshold = 6,
    OtherModel = 7,
    Internal = 8,
}

/// Where in the rows something is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Place {
    pub(crate) row: Option<usize>,
    pub(crate) column: Option<usize>,
    pub(crate) value: Option<f64>,
}

impl Failure {
    pub(crate) fn argument(problem: impl Into<String>) -> Self {
        Failure::Argument(problem.into())
    }

    pub(crate) fn code(&self) -> Code {
        match self {
            Failure::Argument(_) => Code::InvalidArgument,
            Failure::Unreadable { .. } => Code::CannotRead,
            Failure::Artifact { .. } => Code::InvalidArtifact,
            Failure::Columns { .. } => Code::WrongColumns,
            Failure::Floor { .. } => Code::InvalidRow,
            Failure::Rows(error) => code_of(error),
            Failure::NoThreshold => Code::NoThreshold,
            Failure::OtherModel { .. } => Code::OtherModel,
            Failure::Panic(_) => Code::Internal,
        }
    }

    pub(crate) fn place(&self) -> Place {
        match *self {
            Failure::Rows(ref error) => place_of(error),
            Failure::Floor { row, .. } => Place { row: Some(row), ..Place::default() },
            _ => Place::default(),
        }
    }

    fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Failure::Unreadable { error, .. } => match error.kind() {
                ErrorKind::NotFound => "check the path, which is relative to the working directory",
                ErrorKind::PermissionDenied => "check the permissions of the file and its folders",
                _ => return None,
            },
            Failure::Artifact { .. } => ARTIFACT,
            Failure::Columns { .. } => {
                "pass abstain_columns() numbers in each row, or tune an estimator on rows of this \
                 classifier"
            }
            Failure::Floor { .. } => "score rows of the classifier that the artifact is for",
            Failure::Rows(error) => return hint_of(error),
            Failure::NoThreshold => {
                "set one with `abstain certify` or `abstain threshold`, or pass NULL as accepts"
            }
            Failure::OtherModel { .. } => "load the artifact of this classifier",
            Failure::Panic(_) => "this is a bug in abstain: please report it",
            Failure::Argument(_) => return None,
        })
    }
}

const ARTIFACT: &str = "write one with `abstain tune`, copy it again, or update the library";

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Argument(problem) => f.write_str(problem),
            Failure::Unreadable { path, error } => write!(f, "{}: {error}", path.display()),
            Failure::Artifact { path, problem } => {
                match path {
                    Some(path) => write!(f, "{}: ", path.display()),
                    None => f.write_str("artifact in memory: "),
                }?;
                write!(f, "not an estimator that this version can read: {problem}")
            }
            Failure::Columns { found, expected: Some(expected) } => {
                write!(f, "rows of {found} columns where the estimator takes {expected}")
            }
            Failure::Columns { found, expected: None } => {
                write!(f, "rows of {found} columns where the estimator takes 2 at least")
            }
            Failure::Floor { row, floor } => {
                write!(f, "row {row}: no probability is above the floor of the artifact, {floor:?}")
            }
            Failure::Rows(error) => write!(f, "{error}"),
            Failure::NoThreshold => {
                f.write_str("the artifact has no threshold, so no row is accepted or not")
            }
            Failure::OtherModel { expected, given } => {
                write!(f, "the artifact is for the model {expected}, not for {given}")
            }
            Failure::Panic(message) => write!(f, "internal error: {message}"),
        }?;
        self.hint().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

fn code_of(error: &Error) -> Code {
    match error {
        // Not in the range that docs/artifact.md allows.
        Error::Parameter { .. } => Code::InvalidArtifact,
        error if place_of(error).row.is_some() => Code::InvalidRow,
        // All else is checked before.
        _ => Code::Internal,
    }
}

fn place_of(error: &Error) -> Place {
    let at = |row, column, value| Place { row: Some(row), column, value };
    match *error {
        Error::NotFinite { row, column, value }
        | Error::TooLarge { row, column, value }
        | Error::NotAProbability { row, column, value, .. } => at(row, Some(column), Some(value)),
        Error::ProbabilitySum { row, sum, .. } => at(row, None, Some(sum)),
        Error::Extra { row, value } => at(row, None, Some(value)),
        Error::AllMasked { row } => at(row, None, None),
        Error::InvalidConfidence { row } => at(row, Some(0), Some(f64::NAN)),
        _ => Place::default(),
    }
}

fn hint_of(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::NotFinite { value: f64::NEG_INFINITY, .. } => {
            "if -inf marks classes that were ruled out, tune with --masked; or drop the row"
        }
        Error::NotFinite { .. }
        | Error::TooLarge { .. }
        | Error::AllMasked { .. }
        | Error::InvalidConfidence { .. } => {
            "the output of the classifier is broken there: drop the row"
        }
        Error::NotAProbability { .. } | Error::ProbabilitySum { .. } => {
            "the artifact is for probabilities: are these logits?"
        }
        Error::Extra { .. } => "correct the number, or drop the row",
        Error::Parameter { .. } => "the artifact is wrong: write it again with `abstain tune`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_rows_have_their_place_and_a_hint() {
        let failure = Failure::Rows(Error::NotFinite { row: 3, column: 1, value: f64::INFINITY });
        assert_eq!(failure.code(), Code::InvalidRow);
        let place = Place { row: Some(3), column: Some(1), value: Some(f64::INFINITY) };
        assert_eq!(failure.place(), place);
        let text = "row 3, column 1: logit inf is not a finite number; \
                    the output of the classifier is broken there: drop the row";
        assert_eq!(failure.to_string(), text);
    }

    #[test]
    fn masked_classes_of_an_estimator_without_masks_have_a_separate_hint() {
        let failure =
            Failure::Rows(Error::NotFinite { row: 0, column: 0, value: f64::NEG_INFINITY });
        assert!(failure.to_string().contains("--masked"), "{failure}");
    }
}
