//! Scores as files: one row for each row of logits, in the columns `prediction`, `confidence` and,
//! if requested, `value` and `accept`.
//!
//! To add a format, write its file with a constant `FORMAT` and add its line to the registry below.

mod target;
#[cfg(test)]
mod tests;

use crate::error::{Error, ErrorKind, Result};
use crate::registry::formats;
use abstain::Answer;
use std::io;
use std::path::{Path, PathBuf};
use target::Target;

/// A format of scores: its names, and how it is written.
struct Definition {
    /// Its name, which is also the first of its extensions.
    name: &'static str,
    extensions: &'static [&'static str],
    /// Whether something before the last row is written after it, so that a pipe will not do.
    seeks: bool,
    /// Begins a file.
    create: fn(Target, Columns) -> Result<Box<dyn Encoder>>,
}

/// A file of scores that is being written.
trait Encoder {
    /// Writes some rows.
    fn write(&mut self, rows: &Rows<'_>) -> Result<()>;

    /// Writes what comes after the last row.
    fn finish(self: Box<Self>) -> Result<Target>;
}

formats! {
    /// A format of scores.
    ScoreFormat: Definition {
        Npy => npy, "A structured numpy array: `numpy.load(path)[\"confidence\"]`.";
        Csv => csv, "Text with commas and a line of names.";
        Tsv => tsv, "Text with tabs and a line of names.";
        #[cfg(feature = "parquet")]
        Parquet => parquet, "Parquet, compressed with zstd.";
        JsonLines => jsonl, "One JSON object on each line; infinity is the text \"inf\".";
    }
}

impl ScoreFormat {
    /// The format that the extension of a path names.
    pub fn of_path(path: &Path) -> Option<Self> {
        ScoreFormat::of_extension(&path.extension()?.to_str()?.to_ascii_lowercase())
    }
}

/// The columns of scores.
const SCORE_COLUMNS: [&str; 4] = ["prediction", "confidence", "value", "accept"];

/// Which of the optional columns are written.
#[derive(Debug, Clone, Copy)]
struct Columns {
    value: bool,
    accept: bool,
}

impl Columns {
    /// The names of all columns, in the order of the file.
    fn names(self) -> impl Iterator<Item = &'static str> {
        let written = [true, true, self.value, self.accept];
        SCORE_COLUMNS.into_iter().zip(written).filter_map(|(name, written)| written.then_some(name))
    }
}

/// Rows to write.
struct Rows<'a> {
    answers: &'a [Answer],
    /// The column `value`, if it is written.
    values: Option<&'a [f64]>,
    /// Whether the column `accept` is written.
    accept: bool,
}

impl Rows<'_> {
    /// Every row: prediction, confidence, value and decision.
    fn iter(&self) -> impl Iterator<Item = (u32, f64, Option<f64>, Option<bool>)> {
        self.answers.iter().enumerate().map(|(row, answer)| {
            let value = self.values.map(|values| values[row]);
            let accept = self.accept.then_some(answer.accept == Some(true));
            (answer.prediction, answer.confidence, value, accept)
        })
    }
}

/// Writes scores as they come.
pub struct ScoreWriter {
    path: PathBuf,
    encoder: Box<dyn Encoder>,
    columns: Columns,
}

impl ScoreWriter {
    /// Begins to write; `-` is standard output.
    pub fn create(
        path: &Path,
        format: ScoreFormat,
        value: bool,
        accept: bool,
    ) -> std::result::Result<Self, Error> {
        let columns = Columns { value, accept };
        let Definition { seeks, create, .. } = format.definition();
        let encoder = create(Target::open(path, *seeks)?, columns).map_err(|kind| kind.of(path))?;
        let name = if path.as_os_str() == "-" { Path::new("standard output") } else { path };
        Ok(ScoreWriter { path: name.to_path_buf(), encoder, columns })
    }

    /// Writes some rows. `values` are used if the file was created with that column.
    pub fn write(&mut self, answers: &[Answer], values: &[f64]) -> std::result::Result<(), Error> {
        let Columns { value, accept } = self.columns;
        let decided = answers.iter().filter(|answer| answer.accept.is_some()).count();
        let written =
            if (accept && decided != answers.len()) || (value && values.len() != answers.len()) {
                Err(io::Error::other("some rows lack a column that the file has").into())
            } else {
                self.encoder.write(&Rows { answers, values: value.then_some(values), accept })
            };
        written.map_err(|kind: ErrorKind| kind.of(&self.path))
    }

    /// Puts the file in its place.
    pub fn finish(self) -> std::result::Result<(), Error> {
        self.encoder.finish().map_err(|kind| kind.of(&self.path))?.finish()
    }
}
