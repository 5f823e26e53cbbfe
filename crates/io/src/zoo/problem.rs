//! What can be wrong with a zoo.

use super::manifest::NAME;
use std::fmt;
use std::path::PathBuf;

/// Everything that is wrong with a zoo.
#[derive(Debug)]
pub struct ZooError {
    /// The folder or manifest.
    pub path: PathBuf,
    /// The problems; there is at least one.
    pub problems: Vec<ZooProblem>,
}

impl fmt::Display for ZooError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.problems[..] {
            [one] => write!(f, "{path}: {one}"),
            many => {
                write!(f, "{path}: {} problems", many.len())?;
                many.iter().try_for_each(|problem| write!(f, "\n  - {problem}"))
            }
        }
    }
}

impl std::error::Error for ZooError {}

/// A model or a set: what a name belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// A model.
    Model,
    /// A further set.
    Set,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Named::Model => "model",
            Named::Set => "set",
        })
    }
}

/// One thing that is wrong with a zoo.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ZooProblem {
    /// There is nothing at the path.
    #[error("no such file; a zoo is a folder of logits with labels.npy, or a {NAME}")]
    NotFound,
    /// The folder or the manifest cannot be read.
    #[error(transparent)]
    Unreadable(#[from] std::io::Error),
    /// The manifest is not one that models are added to.
    #[error("it was not written by `abstain logits`, and models are not added to it")]
    NotOurs,
    /// The manifest is not valid.
    #[error("line {line}: {message}")]
    Manifest {
        /// The line, from 1.
        line: usize,
        /// What the parser reports.
        message: String,
    },
    /// A folder has neither labels nor a manifest.
    #[error("neither labels.npy nor {NAME} is in this folder")]
    NoLabels,
    /// A folder has two files of labels.
    #[error("both {first} and {second} are in this folder")]
    TwoLabels {
        /// One of them.
        first: String,
        /// Another.
        second: String,
    },
    /// There is no model.
    #[error("there is no model")]
    NoModel,
    /// A name has characters that are not allowed.
    #[error(
        "the name of a {named}, {name:?}, is not made of letters, digits, - _ . + @, not beginning \
         with a dot"
    )]
    Name {
        /// What it is the name of.
        named: Named,
        /// The name.
        name: String,
    },
    /// A name is used twice.
    #[error("two {named}s are called '{name}'")]
    SameName {
        /// What it is the name of.
        named: Named,
        /// The name.
        name: String,
    },
    /// A file of logits or labels cannot be read.
    #[error(transparent)]
    File(#[from] crate::Error),
    /// A file has another number of classes than the first model.
    #[error("{}: {classes} classes, {model} has {expected}", path.display())]
    Classes {
        /// The file.
        path: PathBuf,
        /// Its classes.
        classes: usize,
        /// The first model.
        model: String,
        /// The classes of that.
        expected: usize,
    },
    /// A file has another number of rows than there are labels.
    #[error("{}: {rows} rows, {} has {count} labels", path.display(), labels.display())]
    Rows {
        /// The file.
        path: PathBuf,
        /// Its rows.
        rows: usize,
        /// The file of labels.
        labels: PathBuf,
        /// The number of labels.
        count: usize,
    },
    /// An entry of a set is not valid.
    #[error("set '{set}': {problem}")]
    Set {
        /// The name of the set.
        set: String,
        /// The problem.
        problem: SetProblem,
    },
}

/// One thing that is wrong with the entry of a set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetProblem {
    /// The path of the logits is the same for all models.
    #[error("'{0}' does not contain {{model}}")]
    NoPlaceholder(String),
    /// Only one of group and severity is there.
    #[error("group and severity go together, but only one of them is there")]
    HalfCorruption,
    /// Severity 0 stands for the rows of the zoo.
    #[error("severity 0 stands for the rows of the zoo")]
    SeverityZero,
    /// The name would be confused with a severity.
    #[error("a name that is a number could be confused with a severity")]
    NumberAsName,
    /// Rows that are not aligned have no labels.
    #[error("rows that are not aligned need labels")]
    NoLabels,
    /// A model does not exist.
    #[error("no model is called '{0}'")]
    UnknownModel(String),
    /// Aligned rows are not as many as those of the zoo.
    #[error("{rows} rows, but aligned rows must be {expected}")]
    NotAligned {
        /// The labels of the set.
        rows: usize,
        /// The rows of the zoo.
        expected: usize,
    },
}
