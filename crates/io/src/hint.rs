//! What may help against an error, as a kind: whoever shows it finds the words, since only the
//! program knows its flags and Python its keywords.

use crate::error::{Error, ErrorKind, ExpectedShape};
use crate::layout::Quantity;
use crate::records::Role;
use abstain::Error as ValueError;
use std::io;

/// What may help against an error.
///
/// The enum is exhaustive on purpose: a new kind does not compile until every program that shows
/// hints has words for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// The disk is full; an earlier file of the name is unchanged.
    EarlierFileUnchanged,
    /// The file is incomplete: copy it or write it again.
    CopyAgain,
    /// Write the file in another way, which these words describe. They are about the program that
    /// wrote the file, and the same wherever they are shown.
    WriteInstead(String),
    /// Name the format.
    NameTheFormat,
    /// Name the array or columns of the logits.
    NameTheLogits,
    /// Name the array or column of the labels.
    NameTheLabels,
    /// Write this quantity to a file that holds nothing else, or under a usual name.
    WriteAlone(Quantity),
    /// Name the column of this quantity.
    NameTheColumn(Quantity),
    /// Name the column of records of this role.
    NameTheRole(Role),
    /// State that the numbers are probabilities.
    StateProbabilities,
    /// If the column is the only number of a binary classifier, or a confidence, state it.
    StateOneNumber,
    /// Name the classes, or the columns of the logits.
    NameTheClasses,
    /// Labels are one number or name in each row, or one-hot.
    LabelsAreOneNumber,
    /// Name the classes in their order.
    GiveClassNames,
    /// State how the first class is numbered in the labels.
    GiveFirstLabel,
    /// Read correct flags as such.
    GiveAsCorrect,
    /// Give correct flags, losses, or predictions and labels.
    GiveTheOutcome,
    /// Name a different column for each thing.
    NameEachColumn,
    /// Write a class in one way.
    SpellAlike,
    /// Bring the rows of both files into the same order.
    SortAlike,
    /// A pattern must be quoted, so that the shell does not replace it.
    QuoteThePattern,
    /// Write lists as columns or in a format that has lists.
    WriteListsWhole,
    /// Choose the columns of the logits: one that was taken for logits is not of numbers.
    ChooseLogitColumns,
    /// The files of logits and labels may have been swapped.
    LabelsForLogits,
    /// The rows have several numbers: they are not those of a binary classifier that gives one.
    NotOneNumber,
    /// Labels are classes, counted from 0.
    LabelsCountFromZero,
    /// The labels may be counted from 1.
    LabelsCountFromOne,
    /// If `-inf` marks classes that were ruled out, read the rows as masked logits.
    ReadAsMasked,
    /// The classifier's output is broken in this row: drop it.
    DropTheRow,
    /// If these are logits, do not read them as probabilities; if they are rounded, raise the
    /// tolerance.
    NotProbabilities,
    /// Lower the floor of the probabilities.
    LowerTheFloor,
    /// A loss for each row, or a square matrix of costs, is needed.
    LossPerRow,
    /// A line of names may have been read as a label, or a row as names.
    NamesForLabels,
    /// The files must come from the same run, row for row.
    SameRun,
    /// Give the labels in a separate file, or name their array.
    GiveTheLabels,
    /// Give one of two inputs as a file.
    GiveOneAsFile,
}

impl Error {
    /// What may help against it, if that is known.
    pub fn hint(&self) -> Option<Hint> {
        self.kind.hint()
    }
}

impl ErrorKind {
    /// What may help against it, if that is known.
    pub fn hint(&self) -> Option<Hint> {
        Some(match self {
            ErrorKind::Io(error) if error.kind() == io::ErrorKind::StorageFull => {
                Hint::EarlierFileUnchanged
            }
            ErrorKind::Truncated { .. } => Hint::CopyAgain,
            ErrorKind::Unsupported { instead, .. } => Hint::WriteInstead(instead.clone()),
            ErrorKind::OtherFormat { .. } | ErrorKind::UnknownFormat => Hint::NameTheFormat,
            ErrorKind::Shape { expected, found, .. } => return for_shape(*expected, found.len()),
            ErrorKind::Ambiguous { what, .. } => match what {
                Quantity::Logits => Hint::NameTheLogits,
                Quantity::Labels => Hint::NameTheLabels,
                Quantity::Losses | Quantity::Extra | Quantity::Column => Hint::WriteAlone(*what),
                what => Hint::NameTheColumn(*what),
            },
            ErrorKind::NoSuchName { what, .. } => match what {
                Quantity::Logits => Hint::NameTheLogits,
                Quantity::Labels => Hint::NameTheLabels,
                _ => return None,
            },
            ErrorKind::SameName { .. }
            | ErrorKind::SameNumber { .. }
            | ErrorKind::MissingNumber { .. }
            | ErrorKind::CountsRows { .. }
            | ErrorKind::WholeAmongFractions { .. }
            | ErrorKind::NoClasses { .. } => Hint::NameTheLogits,
            ErrorKind::NamedProbabilities { .. } => Hint::StateProbabilities,
            ErrorKind::OneColumn { .. } => Hint::StateOneNumber,
            ErrorKind::NeverALabel { .. }
            | ErrorKind::Unconfirmed { .. }
            | ErrorKind::BoolLabels { .. }
            | ErrorKind::OneHotWidth { .. }
            | ErrorKind::NoColumnOfLabel { .. } => Hint::NameTheClasses,
            ErrorKind::UnknownLabel { .. }
            | ErrorKind::LabelCount { .. }
            | ErrorKind::ClassNameCount { .. } => Hint::GiveClassNames,
            ErrorKind::FirstLabel | ErrorKind::NumberOrName { .. } => Hint::GiveFirstLabel,
            ErrorKind::NotOneHot { .. } => Hint::LabelsAreOneNumber,
            ErrorKind::CorrectForLosses { .. } => Hint::GiveAsCorrect,
            ErrorKind::NoOutcome { .. } => Hint::GiveTheOutcome,
            ErrorKind::TwoRoles { .. } => Hint::NameEachColumn,
            ErrorKind::SeveralColumns { role, .. } => Hint::NameTheRole(*role),
            ErrorKind::TwoSpellings { .. } => Hint::SpellAlike,
            ErrorKind::OtherRow { .. } => Hint::SortAlike,
            ErrorKind::SecondTable { .. } => Hint::QuoteThePattern,
            ErrorKind::ShortenedList { .. } => Hint::WriteListsWhole,
            ErrorKind::InFile { kind, .. } => return kind.hint(),
            ErrorKind::NotANumber { what: Quantity::Logits, .. } => Hint::ChooseLogitColumns,
            ErrorKind::NotANumber { what: Quantity::Labels, .. } | ErrorKind::NotWhole { .. } => {
                Hint::LabelsCountFromZero
            }
            ErrorKind::RowCount { what: "losses", .. } => Hint::LossPerRow,
            ErrorKind::RowCount { what: "labels", found, expected, .. }
                if expected.checked_add(1) == Some(*found) =>
            {
                Hint::NamesForLabels
            }
            ErrorKind::RowCount { .. } => Hint::SameRun,
            ErrorKind::NoLabels => Hint::GiveTheLabels,
            ErrorKind::StandardInputTwice => Hint::GiveOneAsFile,
            ErrorKind::Values(error) => return for_values(error),
            _ => return None,
        })
    }
}

fn for_shape(expected: ExpectedShape, dimensions: usize) -> Option<Hint> {
    match (expected, dimensions) {
        (ExpectedShape::RowsByClasses, 1) => Some(Hint::LabelsForLogits),
        _ => None,
    }
}

fn for_values(error: &ValueError) -> Option<Hint> {
    Some(match error {
        ValueError::NotFinite { value, .. } if *value == f64::NEG_INFINITY => Hint::ReadAsMasked,
        ValueError::NotFinite { .. } => Hint::DropTheRow,
        ValueError::NotAProbability { .. } | ValueError::ProbabilitySum { .. } => {
            Hint::NotProbabilities
        }
        ValueError::LabelOutOfRange { label, classes, .. } if *label == *classes as i128 => {
            Hint::LabelsCountFromOne
        }
        ValueError::NotOneNumber { .. } => Hint::NotOneNumber,
        ValueError::LabelOutOfRange { .. } => Hint::LabelsCountFromZero,
        ValueError::Parameter { name: "floor", value, .. } if *value > 0.0 && *value < 1.0 => {
            Hint::LowerTheFloor
        }
        _ => return None,
    })
}
