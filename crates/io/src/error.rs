//! What can be wrong with a file.

use crate::format::Format;
use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};

/// A file that could not be used, and why.
#[derive(Debug)]
pub struct Error {
    /// The file; `-` is standard input or output.
    pub path: PathBuf,
    /// What is wrong with it. Boxed, because results are passed around a lot and errors are rare.
    pub kind: Box<ErrorKind>,
}

/// What is wrong with a file. Rows and columns count from 0, as in numpy; lines of text from 1, as
/// in editors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused.
    #[error("{}", describe(.0))]
    Io(#[from] io::Error),
    /// There is nothing in the file.
    #[error("the file is empty")]
    Empty,
    /// The file ends before its data do.
    #[error("the file is cut short: {found} of {expected} bytes of data are there")]
    Truncated {
        /// The bytes that its header promises.
        expected: u64,
        /// Those that are there.
        found: u64,
    },
    /// Not a sound file of its format.
    #[error("not a sound {format} file: {problem}")]
    Malformed {
        /// The format it was read as.
        format: Format,
        /// What is wrong.
        problem: String,
    },
    /// A sound file with something in it that is not read.
    #[error("{problem}")]
    Unsupported {
        /// What is not read.
        problem: String,
        /// What to do instead.
        instead: String,
    },
    /// The contents are of another format than the name says.
    #[error("named as {named}, but it looks like {looks}")]
    OtherKind {
        /// What its name says.
        named: Format,
        /// What its first bytes say.
        looks: String,
    },
    /// The format can be told neither from the name nor from the first bytes.
    #[error("the format cannot be told from the name or the first bytes")]
    UnknownFormat,
    /// An array of another shape.
    #[error("{name}has the shape ({}), but {wanted} is wanted", shape(.found))]
    Shape {
        /// The array's name with a space after it, or nothing.
        name: String,
        /// The shape it has.
        found: Vec<u64>,
        /// The shape it should have.
        wanted: &'static str,
    },
    /// Nothing in the file has this name.
    #[error("nothing in it is called '{name}'; there {} {}", are(.names), list(.names))]
    NoSuchName {
        /// The name.
        name: String,
        /// What there is.
        names: Vec<String>,
    },
    /// Several things in the file could be meant.
    #[error("which of {} holds the {what}?", list(.names))]
    Ambiguous {
        /// What was looked for, such as "logits".
        what: &'static str,
        /// What there is.
        names: Vec<String>,
    },
    /// A field of a table is not a number.
    #[error("row {row}{}, column {column}: '{text}' is not a number", on_line(*.line))]
    NotANumber {
        /// What was looked for, such as "logits".
        what: &'static str,
        /// Its row.
        row: u64,
        /// Its line in the file, if it has lines.
        line: Option<u64>,
        /// The name of its column, or its number.
        column: String,
        /// What is there.
        text: String,
    },
    /// A row of another length than those before it.
    #[error("row {row}{}: {found} values where {expected} were expected", on_line(*.line))]
    Ragged {
        /// The row.
        row: u64,
        /// Its line in the file, if it has lines.
        line: Option<u64>,
        /// Its length.
        found: u64,
        /// The length it should have.
        expected: u64,
    },
    /// A value is missing (null).
    #[error("row {row}, column {column}: the value is missing")]
    Null {
        /// Its row.
        row: u64,
        /// The name of its column.
        column: String,
    },
    /// A label that is not a whole number.
    #[error("row {row}: label {value} is not a whole number")]
    NotWhole {
        /// Its row.
        row: u64,
        /// Its value.
        value: f64,
    },
    /// There are no rows.
    #[error("there are no rows")]
    NoRows,
    /// Values that are not what they should be.
    #[error(transparent)]
    Values(#[from] abstain::Error),
    /// Labels or losses that are not one per row.
    #[error("{found} {what} for the {expected} rows of {}", rows_of.display())]
    RowCount {
        /// What there is one of per row: "labels", "losses" or "confidences".
        what: &'static str,
        /// How many there are.
        found: u64,
        /// The file of the rows.
        rows_of: PathBuf,
        /// How many rows it has.
        expected: u64,
    },
    /// A file of logits that was expected to hold the labels too.
    #[error("there are logits but no labels in it")]
    NoLabels,
    /// Standard input was named for two things at once.
    #[error("logits and labels cannot both come from standard input")]
    StandardInputTwice,
    /// An artifact that cannot be used.
    #[error("not an estimator that this version can read: {problem}")]
    Artifact {
        /// What is wrong.
        problem: String,
    },
}

pub(crate) type Result<T> = std::result::Result<T, ErrorKind>;

impl ErrorKind {
    /// The error of a file.
    pub fn of(self, path: &Path) -> Error {
        Error { path: path.to_path_buf(), kind: Box::new(self) }
    }

    pub(crate) fn malformed(format: Format, problem: impl fmt::Display) -> Self {
        ErrorKind::Malformed { format, problem: problem.to_string() }
    }

    /// What to do about it, if that can be said.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            ErrorKind::Io(error) if error.kind() == io::ErrorKind::StorageFull => {
                "an earlier file of that name is as it was".into()
            }
            ErrorKind::Truncated { .. } => "copy it again, or write it again".into(),
            ErrorKind::Unsupported { instead, .. } => instead.clone(),
            ErrorKind::OtherKind { .. } | ErrorKind::UnknownFormat => {
                format!("say what it is with --format ({})", Format::names())
            }
            ErrorKind::Shape { wanted, found, .. } if found.len() == 1 && wanted.contains('×') => {
                "is this the file of the labels? The logits come first".into()
            }
            ErrorKind::Shape { found, wanted, .. }
                if found.len() == 2 && *wanted == "one number a row" =>
            {
                "of one-hot labels take the argmax".into()
            }
            ErrorKind::Ambiguous { what: "logits", .. } => {
                "choose with --logits-name, as in 'logit_*' or 'cat,dog'".into()
            }
            ErrorKind::Ambiguous { what: "labels", .. } => "choose with --labels-name".into(),
            ErrorKind::Ambiguous { what, .. } => {
                format!("write the {what} alone, or under a usual name, to a file of their own")
            }
            ErrorKind::NoSuchName { .. } => "choose with --logits-name or --labels-name".into(),
            ErrorKind::NotANumber { what: "labels", .. } => {
                "labels are classes, counted from 0".into()
            }
            ErrorKind::NotANumber { what: "logits", .. } => {
                "choose the columns of the logits with --logits-name, as in 'logit_*'".into()
            }
            ErrorKind::NotWhole { .. } => "labels are classes, counted from 0".into(),
            ErrorKind::RowCount { what: "losses", .. } => {
                "one loss per row, or a square matrix of classes × classes".into()
            }
            ErrorKind::RowCount { what: "labels", found, expected, .. }
                if expected.checked_add(1) == Some(*found) =>
            {
                "was a line of names taken for a label, or a row for names?".into()
            }
            ErrorKind::RowCount { .. } => {
                "both files must come from the same run, row for row".into()
            }
            ErrorKind::NoLabels => {
                "give the file of the labels after that of the logits, or their --labels-name".into()
            }
            ErrorKind::StandardInputTwice => "give one of them as a file".into(),
            ErrorKind::Values(error) => return hint_for(error),
            _ => return None,
        })
    }
}

/// What to do about values that were refused.
fn hint_for(error: &abstain::Error) -> Option<String> {
    use abstain::Error as Values;
    Some(match error {
        Values::NotFinite { value, .. } if *value == f64::NEG_INFINITY => {
            "if -inf marks classes that were ruled out, say --masked".into()
        }
        Values::NotFinite { .. } => "the network's output is broken there; drop the row".into(),
        Values::NotAProbability { .. } | Values::ProbabilitySum { .. } => {
            "if these are logits, leave out --probs; if they are rounded, raise --tolerance".into()
        }
        Values::LabelOutOfRange { label, classes, .. } if *label == *classes as i128 => {
            "labels count from 0; are these counted from 1?".into()
        }
        Values::LabelOutOfRange { .. } => "labels are classes, counted from 0".into(),
        Values::Parameter { name: "floor", value, .. } if *value > 0.0 && *value < 1.0 => {
            "choose a lower --floor".into()
        }
        _ => return None,
    })
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.to_str() {
            Some("-") => write!(f, "standard input: {}", self.kind),
            _ => write!(f, "{}: {}", self.path.display(), self.kind),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.kind {
            ErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// The operating system's message without its number.
fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::StorageFull => "no space left on the disk".into(),
        io::ErrorKind::IsADirectory => "this is a folder, not a file".into(),
        io::ErrorKind::UnexpectedEof => "the file is cut short".into(),
        _ => error.to_string(),
    }
}

fn shape(sizes: &[u64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    sizes.join(" × ")
}

fn are(names: &[String]) -> &'static str {
    if names.len() > 1 { "are" } else { "is" }
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 8;
    if names.is_empty() {
        return "nothing".into();
    }
    if names.len() == 1 && names[0].is_empty() {
        return "one array, without a name".into();
    }
    let mut text =
        names.iter().take(SHOWN).map(|n| format!("'{n}'")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        let _ = write!(text, " and {} more", names.len() - SHOWN);
    }
    text
}

fn on_line(line: Option<u64>) -> String {
    line.map_or(String::new(), |line| format!(" (line {line})"))
}
