//! Scores as files: one row for each row of logits, in the columns `prediction`, `confidence` and,
//! if requested, `value` and `accept`.
//!
//! To add a format, write its file with a constant `FORMAT` and add its line to the registry below.

mod target;
#[cfg(test)]
mod tests;

use crate::column::Column;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::FieldKind;
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
    create: Create,
}

/// Begins a file of some columns.
type Create = fn(Target, &[ScoreColumn]) -> Result<Box<dyn Encoder>>;

/// A file of scores that is being written.
trait Encoder {
    /// Writes some rows: the values of each column.
    fn write(&mut self, columns: &[Column]) -> Result<()>;

    /// Passes on what was written so far.
    fn flush(&mut self) -> Result<()>;

    /// Writes what comes after the last row.
    fn finish(self: Box<Self>) -> Result<Target>;
}

/// A column of a file of scores.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ScoreColumn {
    name: String,
    kind: ScoreKind,
}

/// What a column of a file of scores holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScoreKind {
    Integer,
    Float,
    Bool,
    /// Text, and the characters that it has at most if that is known.
    Text(Option<usize>),
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

/// How predictions are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PredictionColumn {
    /// The number of the class.
    #[default]
    Numbers,
    /// The name of the class.
    Names(Vec<String>),
    /// Not at all, where only confidences are known.
    None,
}

/// Which columns are written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoreColumns {
    /// How predictions are written.
    pub predictions: PredictionColumn,
    /// Whether the column `value` is written.
    pub value: bool,
    /// Whether the column `accept` is written.
    pub accept: bool,
    /// Columns of the input that come first, with what they hold.
    pub kept: Vec<(String, FieldKind)>,
}

impl ScoreColumns {
    /// All columns, in the order of the file.
    fn all(&self) -> Vec<ScoreColumn> {
        let column = |name: &str, kind| ScoreColumn { name: name.to_string(), kind };
        let kept = |(name, kind): &(String, FieldKind)| {
            let kind = match kind {
                FieldKind::Integer => ScoreKind::Integer,
                FieldKind::Float => ScoreKind::Float,
                _ => ScoreKind::Text(None),
            };
            column(name, kind)
        };
        let mut all: Vec<ScoreColumn> = self.kept.iter().map(kept).collect();
        match &self.predictions {
            PredictionColumn::Numbers => all.push(column("prediction", ScoreKind::Integer)),
            PredictionColumn::Names(names) => {
                let longest = names.iter().map(|name| name.chars().count()).max();
                all.push(column("prediction", ScoreKind::Text(longest)));
            }
            PredictionColumn::None => {}
        }
        all.push(column("confidence", ScoreKind::Float));
        if self.value {
            all.push(column("value", ScoreKind::Float));
        }
        if self.accept {
            all.push(column("accept", ScoreKind::Bool));
        }
        all
    }

    /// The values of some rows, column by column.
    fn values(&self, answers: &[Answer], values: &[f64], kept: Vec<Column>) -> Option<Vec<Column>> {
        let rows = answers.len();
        let mut all: Vec<Column> = Vec::new();
        if kept.len() != self.kept.len() {
            return None;
        }
        for (column, (_, kind)) in kept.into_iter().zip(&self.kept) {
            all.push(match (kind, column) {
                (FieldKind::Integer, column @ Column::Integers(_))
                | (FieldKind::Float, column @ Column::Floats(_)) => column,
                (FieldKind::Integer | FieldKind::Float, _) => return None,
                (_, column) => Column::Texts(column.into_texts()),
            });
        }
        let prediction = |answer: &Answer| match answer.prediction {
            Answer::NO_CLASS => -1,
            class => i64::from(class),
        };
        match &self.predictions {
            PredictionColumn::Numbers => {
                all.push(Column::Integers(answers.iter().map(prediction).collect()));
            }
            PredictionColumn::Names(names) => {
                let name = |answer: &Answer| match answer.prediction {
                    Answer::NO_CLASS => Some(String::new()),
                    class => names.get(class as usize).cloned(),
                };
                all.push(Column::Texts(answers.iter().map(name).collect::<Option<_>>()?));
            }
            PredictionColumn::None => {}
        }
        all.push(Column::Floats(answers.iter().map(|answer| answer.confidence).collect()));
        if self.value {
            all.push(Column::Floats(values.to_vec()));
        }
        if self.accept {
            let accept: Option<Vec<bool>> = answers.iter().map(|answer| answer.accept).collect();
            all.push(Column::Bools(accept?));
        }
        all.iter().all(|column| column.len() == rows).then_some(all)
    }
}

/// Writes scores as they come.
pub struct ScoreWriter {
    path: PathBuf,
    encoder: Box<dyn Encoder>,
    columns: ScoreColumns,
    line_buffered: bool,
}

impl ScoreWriter {
    /// Begins to write; `-` is standard output.
    pub fn create(
        path: &Path,
        format: ScoreFormat,
        columns: ScoreColumns,
    ) -> std::result::Result<Self, Error> {
        let all = columns.all();
        let mut names: Vec<&String> = all.iter().map(|column| &column.name).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ErrorKind::SameName { name: pair[0].clone() }.of(path));
        }
        let Definition { seeks, create, .. } = format.definition();
        let encoder = create(Target::open(path, *seeks)?, &all).map_err(|kind| kind.of(path))?;
        let name = if path.as_os_str() == "-" { Path::new("standard output") } else { path };
        Ok(ScoreWriter { path: name.to_path_buf(), encoder, columns, line_buffered: false })
    }

    /// Passes rows on as soon as they are written.
    #[must_use]
    pub fn line_buffered(self, line_buffered: bool) -> Self {
        ScoreWriter { line_buffered, ..self }
    }

    /// Writes some rows. `values` are used if the file was created with that column, and `kept` are the
    /// values of the columns of the input.
    pub fn write(
        &mut self,
        answers: &[Answer],
        values: &[f64],
        kept: Vec<Column>,
    ) -> std::result::Result<(), Error> {
        let write = || -> Result<()> {
            let Some(columns) = self.columns.values(answers, values, kept) else {
                return Err(io::Error::other("some rows lack a column that the file has").into());
            };
            self.encoder.write(&columns)?;
            if self.line_buffered { self.encoder.flush() } else { Ok(()) }
        };
        write().map_err(|kind: ErrorKind| kind.of(&self.path))
    }

    /// Puts the file in its place.
    pub fn finish(self) -> std::result::Result<(), Error> {
        self.encoder.finish().map_err(|kind| kind.of(&self.path))?.finish()
    }
}

/// Writes a table of columns in a format of scores; all columns have the same number of rows.
pub fn write_table(
    path: &Path,
    format: ScoreFormat,
    columns: Vec<(&str, Column)>,
) -> std::result::Result<(), Error> {
    let described = |(name, column): &(&str, Column)| ScoreColumn {
        name: (*name).to_string(),
        kind: match column {
            Column::Integers(_) => ScoreKind::Integer,
            Column::Floats(_) => ScoreKind::Float,
            Column::Bools(_) => ScoreKind::Bool,
            Column::Texts(texts) => {
                ScoreKind::Text(texts.iter().map(|text| text.chars().count()).max())
            }
        },
    };
    let all: Vec<ScoreColumn> = columns.iter().map(described).collect();
    let values: Vec<Column> = columns.into_iter().map(|(_, column)| column).collect();
    let Definition { seeks, create, .. } = format.definition();
    let target = Target::open(path, *seeks)?;
    let write = || -> Result<Target> {
        let mut encoder = create(target, &all)?;
        encoder.write(&values)?;
        encoder.finish()
    };
    write().map_err(|kind| kind.of(path))?.finish()
}
