//! What can go wrong with a bench or a study.

use crate::study::{NotMeasured, Unsuited};
use abstain_lab::LabError;
use std::path::PathBuf;

/// What can go wrong with a bench or a study.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PaperError {
    /// A file, the rows, or the numbers of a request are not what they should be.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A model that the zoo does not have.
    #[error("no model is called '{name}'")]
    UnknownModel {
        /// The name.
        name: String,
        /// The names of the models.
        known: Vec<String>,
    },
    /// A study that does not exist.
    #[error("no study is called '{name}'")]
    UnknownStudy {
        /// The name.
        name: String,
    },
    /// A hold-out leaves no tuning rows or no test rows.
    #[error("the hold-out needs at least one tuning row and one test row")]
    TooFewRows,
    /// A file is not what it was when the zoo was opened.
    #[error("{}: the file changed while it was being read", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The zoo has nothing for the study to show.
    #[error(transparent)]
    Unsuited(#[from] Unsuited),
    /// A study needs a part that was not measured.
    #[error(transparent)]
    NotMeasured(#[from] NotMeasured),
    /// A file in the folder of results was not written by a bench or a study.
    #[error("{}: the page of results would replace this file", page.display())]
    ForeignPage {
        /// The file.
        page: PathBuf,
    },
    /// A fault of the results themselves, whatever the rows.
    #[error("the results cannot be written: {0}")]
    Output(String),
}

impl From<abstain_io::Error> for PaperError {
    fn from(error: abstain_io::Error) -> Self {
        PaperError::Lab(error.into())
    }
}

impl From<abstain::Error> for PaperError {
    fn from(error: abstain::Error) -> Self {
        PaperError::Lab(error.into())
    }
}

impl PaperError {
    pub(crate) fn of_output(error: impl std::fmt::Display) -> Self {
        PaperError::Output(error.to_string())
    }
}
