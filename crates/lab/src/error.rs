//! What can go wrong in a bench.

use crate::zoo::ZooError;
use std::path::PathBuf;

/// What can go wrong in a bench.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// The zoo is not sound.
    #[error(transparent)]
    Zoo(#[from] ZooError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] abstain_io::Error),
    /// Rows are not what they should be.
    #[error(transparent)]
    Rows(#[from] abstain::Error),
    /// A hold-out leaves no rows to measure on, or takes none.
    #[error("the hold-out must leave rows to measure on, and have some of its own")]
    TooFewRows,
    /// A file is not what it was when the zoo was opened.
    #[error("{}: the file changed while it was worked on", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}
