//! What can be wrong with a file.

use crate::format::Format;
use crate::layout::Quantity;
use crate::matrix::MOST_CLASSES;
use crate::records::Role;
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
    #[error("the file is cut short: {}{expected} bytes of data are there", at_most(*.found))]
    Truncated {
        /// The bytes that its header promises.
        expected: u64,
        /// Those that are there, if they could be counted.
        found: Option<u64>,
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
    #[error("named as {named}, but it looks like {}", either(.looks))]
    OtherFormat {
        /// The format of its name.
        named: Format,
        /// The formats that begin like it.
        looks: Vec<Format>,
    },
    /// Neither the name nor the first bytes are those of a format.
    #[error("neither its name nor its first bytes are those of a known format")]
    UnknownFormat,
    /// An array of another shape.
    #[error("{name}has the shape ({}), but {expected} is expected", shape(.found))]
    Shape {
        /// The array's name with a space after it, or nothing.
        name: String,
        /// The shape it has.
        found: Vec<u64>,
        /// The shape it should have.
        expected: ExpectedShape,
    },
    /// Nothing in the file has this name.
    #[error("nothing in it is called '{name}'; there {} {}", are(.names), list(.names))]
    NoSuchName {
        /// What was looked for.
        what: Quantity,
        /// The name.
        name: String,
        /// What there is.
        names: Vec<String>,
    },
    /// Several things in the file could be meant.
    #[error("which of {} holds the {what}?", list(.names))]
    Ambiguous {
        /// What was looked for.
        what: Quantity,
        /// What there is.
        names: Vec<String>,
    },
    /// Two columns or arrays have the same name.
    #[error("two columns are called '{name}'")]
    SameName {
        /// The name.
        name: String,
    },
    /// Two columns have the same number.
    #[error("columns '{}' and '{}' have the same number", names[0], names[1])]
    SameNumber {
        /// The columns.
        names: [String; 2],
    },
    /// Numbered columns have a gap.
    #[error("columns {} are numbered, but number {missing} is missing", list(.names))]
    MissingNumber {
        /// The number.
        missing: usize,
        /// The columns, in the order of their numbers.
        names: Vec<String>,
    },
    /// Numbers that are called probabilities, and are to be read as logits.
    #[error("'{name}' says that the numbers are probabilities, not logits")]
    NamedProbabilities {
        /// The name of the array, or of the first column.
        name: String,
    },
    /// A table in which no column may be a class.
    #[error("there are no columns of classes in it; there {} {}", are(.names), list(.names))]
    NoClasses {
        /// The columns.
        names: Vec<String>,
    },
    /// A table with one line for each class of a row.
    #[error(
        "it seems to have one line for each class of a row, in '{row}', '{class}' and '{number}'"
    )]
    LongTable {
        /// The column of the rows.
        row: String,
        /// The column of the classes.
        class: String,
        /// The column of the numbers.
        number: String,
    },
    /// A table in which one column alone may be a class.
    #[error("only '{name}' could be a class, and a classifier has two at least")]
    OneColumn {
        /// The column.
        name: String,
    },
    /// Columns are named by words, and labels are words that are not among them.
    #[error("the label '{label}' is none of the columns {}", list(.names))]
    NoColumnOfLabel {
        /// The label.
        label: String,
        /// The columns.
        names: Vec<String>,
    },
    /// Columns that may be classes, although no label is one of them.
    #[error("no label is {}: are these classes?", list(.names))]
    NeverALabel {
        /// The columns.
        names: Vec<String>,
    },
    /// Columns that may be classes, which the number of different labels does not confirm.
    #[error("{} columns may be classes ({}), but the labels have {seen}", names.len(), list(.names))]
    Unconfirmed {
        /// The columns.
        names: Vec<String>,
        /// One more than the largest label.
        seen: usize,
    },
    /// A column without a certain meaning that counts the rows.
    #[error("column {column} counts the rows: is it an index, and no class?")]
    CountsRows {
        /// The name of the column, or its number.
        column: String,
    },
    /// A column without a certain meaning that has whole numbers only, as no other has.
    #[error("column {column} has whole numbers only, and the others have not: is it a class?")]
    WholeAmongFractions {
        /// The name of the column, or its number.
        column: String,
    },
    /// Text where a number is needed.
    #[error("row {row}: '{text}' is not a number")]
    TextForNumber {
        /// Its row.
        row: u64,
        /// What is there.
        text: String,
    },
    /// A label that is no class.
    #[error("row {row}: the label '{label}' is none of the classes {}", list(.names))]
    UnknownLabel {
        /// Its row.
        row: u64,
        /// The label.
        label: String,
        /// The names of the classes.
        names: Vec<String>,
    },
    /// Labels that are text, of another number than the classes.
    #[error("there are {found} different labels ({}), but {classes} classes", list(.names))]
    LabelCount {
        /// How many there are.
        found: usize,
        /// The labels.
        names: Vec<String>,
        /// How many classes there are.
        classes: usize,
    },
    /// A positive class of more than two classes.
    #[error("there are {classes} classes: a positive one is one of two")]
    PositiveOfMany {
        /// How many classes there are.
        classes: usize,
    },
    /// A positive class that no label names.
    #[error("no label is '{positive}'; there {} {}", are(.names), list(.names))]
    NoSuchPositive {
        /// The name that is given.
        positive: String,
        /// The labels.
        names: Vec<String>,
    },
    /// A positive class that is not the second.
    #[error("the classes are {}: the positive one is the second of them, not '{positive}'", list(.names))]
    OtherPositive {
        /// The name that is given.
        positive: String,
        /// The names of the classes, or their numbers.
        names: Vec<String>,
    },
    /// Labels that may be counted from 0 or from 1.
    #[error("the columns are numbered from 1, and the labels may be counted from 0 or from 1")]
    FirstLabel,
    /// Truth values as labels of more than two classes.
    #[error("the labels are truth values, but there are {classes} classes")]
    BoolLabels {
        /// How many classes there are.
        classes: usize,
    },
    /// Labels of several numbers in each row of which not just one is 1.
    #[error("row {row}: one-hot labels have one 1 and else 0")]
    NotOneHot {
        /// The row.
        row: u64,
    },
    /// One-hot labels of another width than the number of classes.
    #[error("one-hot labels of {found} classes, but there are {classes}")]
    OneHotWidth {
        /// The width.
        found: usize,
        /// How many classes there are.
        classes: usize,
    },
    /// Names of another number than the classes.
    #[error("{found} class names for {classes} classes")]
    ClassNameCount {
        /// How many names there are.
        found: usize,
        /// How many classes there are.
        classes: usize,
    },
    /// Losses are to be read from a column of correct flags.
    #[error("'{name}' is 1 where a prediction is right, and a loss is 1 where it is wrong")]
    CorrectForLosses {
        /// The column.
        name: String,
    },
    /// A flag that is neither 0 nor 1.
    #[error("row {row}: {value} is neither 0 nor 1, as a correct flag is")]
    NotAFlag {
        /// Its row.
        row: u64,
        /// Its value.
        value: f64,
    },
    /// A confidence without anything that says which predictions are right.
    #[error("nothing in it says which predictions are right; there {} {}", are(.names), list(.names))]
    NoOutcome {
        /// The columns.
        names: Vec<String>,
    },
    /// A column that would be two things at once.
    #[error("'{name}' would be {first} and {second} at once")]
    TwoRoles {
        /// The column.
        name: String,
        /// What it is.
        first: &'static str,
        /// What it would be as well.
        second: &'static str,
    },
    /// Predictions and labels that differ in nothing but upper and lower case.
    #[error("'{first}' and '{second}' differ in upper and lower case only: one class, or two?")]
    TwoSpellings {
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
    /// A label that is the number of one class and the name of another.
    #[error("row {row}: the label {label} is the number of a class, and the name of class {place}")]
    NumberOrName {
        /// Its row.
        row: u64,
        /// The label.
        label: i64,
        /// The class of that name.
        place: usize,
    },
    /// Rows of two files whose identifiers differ.
    #[error("row {row}: {column} is '{found}' here and '{expected}' in {}", rows_of.display())]
    OtherRow {
        /// The row.
        row: u64,
        /// The column that both have.
        column: String,
        /// Its value in this file.
        found: String,
        /// That in the other.
        expected: String,
        /// The other file.
        rows_of: PathBuf,
    },
    /// Labels that belong to rows by their identifiers, of which one is there twice.
    #[error("row {row}: {column} '{id}' has a label already")]
    RepeatedId {
        /// The second row.
        row: u64,
        /// The column of identifiers.
        column: String,
        /// The identifier.
        id: String,
    },
    /// A propensity that is not a probability above 0.
    #[error("row {row}: a propensity of {value} is not a probability above 0")]
    NotAPropensity {
        /// Its row.
        row: u64,
        /// Its value.
        value: f64,
    },
    /// A column to keep that has another length than the rows.
    #[error("'{name}' has {found} values for {rows} rows")]
    KeptLength {
        /// The column.
        name: String,
        /// Its values.
        found: u64,
        /// The rows.
        rows: u64,
    },
    /// The file of the labels is a table with the columns of the logits, as where a shell has put
    /// several files in place of one pattern.
    #[error("it has the same columns as {}, logits and labels", other.display())]
    SecondTable {
        /// The file of the logits.
        other: PathBuf,
    },
    /// No file fits a pattern, or a folder has none.
    #[error("no file that can be read fits")]
    NoFiles,
    /// Files of one set that are not alike.
    #[error("the files of a set must be alike: {problem}")]
    NotAlike {
        /// What differs.
        problem: String,
    },
    /// Several columns of records that may have one role.
    #[error("several columns may be {}: {}", role, list(.names))]
    SeveralColumns {
        /// What is looked for.
        role: Role,
        /// The columns.
        names: Vec<String>,
    },
    /// What is wrong with one file of a set.
    #[error("{}: {kind}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        kind: Box<ErrorKind>,
    },
    /// A list in text that was shortened.
    #[error("row {row}: the list is shortened ('...'), so that numbers are missing")]
    ShortenedList {
        /// Its row.
        row: u64,
    },
    /// A field of a table that is not a number.
    #[error("row {row}{}, column {column}: '{text}' is not a number", on_line(*.line))]
    NotANumber {
        /// What was looked for.
        what: Quantity,
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

/// The shape that an array should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpectedShape {
    /// Logits.
    RowsByClasses,
    /// Logits of fewer classes.
    FewerClasses,
    /// Labels and other columns.
    OneNumberPerRow,
    /// Anything whose size can be counted.
    FitsInMemory,
}

impl fmt::Display for ExpectedShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExpectedShape::RowsByClasses => f.write_str("rows × classes"),
            ExpectedShape::FewerClasses => write!(f, "rows × at most {MOST_CLASSES} classes"),
            ExpectedShape::OneNumberPerRow => f.write_str("one number per row"),
            ExpectedShape::FitsInMemory => f.write_str("one that fits into memory"),
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, ErrorKind>;

impl ErrorKind {
    /// The error of a file.
    pub fn of(self, path: &Path) -> Error {
        Error { path: path.to_path_buf(), kind: Box::new(self) }
    }

    /// The error of one file of a set.
    pub(crate) fn in_file(self, path: &Path) -> ErrorKind {
        ErrorKind::InFile { path: path.to_path_buf(), kind: Box::new(self) }
    }

    pub(crate) fn malformed(format: Format, problem: impl fmt::Display) -> Self {
        ErrorKind::Malformed { format, problem: problem.to_string() }
    }
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

fn at_most(found: Option<u64>) -> String {
    found.map_or_else(|| "fewer than ".into(), |found| format!("{found} of "))
}

fn either(formats: &[Format]) -> String {
    formats.iter().map(|format| format.name()).collect::<Vec<_>>().join(" or ")
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
