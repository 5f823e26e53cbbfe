//! Logits and columns of any format.

use crate::array::Numbers;
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::matrix::Matrix;
use crate::selection::{Quantity, SCORE_COLUMNS, Selection};
use crate::source::Source;
use abstain::{Encoding, Labels, Logits, ProbabilityRange};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// The names under which logits are looked for in files of several arrays or columns.
const LOGITS_NAMES: [&str; 6] = ["logits", "logit", "outputs", "output", "probs", "probabilities"];
const PROBABILITIES_NAMES: [&str; 9] =
    ["probs", "probabilities", "prob", "proba", "softmax", "outputs", "output", "logits", "logit"];
/// The names of labels.
const LABELS_NAMES: [&str; 7] = ["labels", "label", "targets", "target", "y_true", "y", "class"];

/// Numbers of a chunk: a few megabytes, which stay in the cache while they are worked on.
const NUMBERS_A_CHUNK: usize = 1 << 20;

/// Numbers of a piece that one core works on, and pieces that are under way at a time.
const NUMBERS_A_PIECE: usize = 1 << 16;
const PIECES_A_WAVE: usize = 128;

/// How to read rows and labels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    /// The format; by default it follows from the name or the first bytes.
    pub format: Option<Format>,
    /// The name of the array, tensor or column of the logits; `logit_*` for one column per class.
    pub logits_name: Option<String>,
    /// The name of the array, tensor or column of the labels.
    pub labels_name: Option<String>,
    /// What the numbers are.
    pub encoding: Encoding,
    /// One further number of each row.
    pub extra: Option<ExtraColumn>,
}

/// Where one further number of each row is: a term that a stack may have beside its scores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtraColumn {
    /// The file.
    pub path: PathBuf,
    /// The name of the array or column in it.
    pub name: Option<String>,
}

impl ExtraColumn {
    fn read(&self) -> std::result::Result<Vec<f64>, Error> {
        let source = Source::new(&self.path);
        let usual = ["extra"];
        let numbers = read_numbers(&source, None, "extra column", self.name.as_deref(), &usual)?;
        Ok(numbers.into_floats())
    }

    /// Puts the numbers of some rows beside them.
    fn beside<'a>(
        &self,
        logits: Logits<'a>,
        numbers: &'a [f64],
        first: usize,
    ) -> std::result::Result<Logits<'a>, Error> {
        let part = numbers.get(first..first + logits.rows()).unwrap_or(&[]);
        let error = |error: abstain::Error| of_rows(error, first).of(&self.path);
        logits.with_extra(part).map_err(error)
    }
}

/// Logits that are read some rows at a time.
pub struct LogitsReader<'a> {
    source: &'a Source,
    matrix: Box<dyn Matrix>,
    encoding: Encoding,
    extra: Option<(ExtraColumn, Vec<f64>)>,
    next: usize,
    chunk: usize,
}

impl<'a> LogitsReader<'a> {
    /// Opens a file. Probabilities without a floor are read through once to find theirs; standard
    /// input must then be a source that can be read again.
    pub fn open(source: &'a Source, options: &ReadOptions) -> std::result::Result<Self, Error> {
        let matrix = open_matrix(source, options)?;
        let (numbers, encoding) = (matrix.classes(), options.encoding);
        let wrong = match (encoding.is_one_number(), numbers) {
            (true, 1) | (false, 2..) => None,
            (true, found) => Some(abstain::Error::NotOneNumber { found }),
            (false, classes) => Some(abstain::Error::TooFewClasses { classes }),
        };
        if let Some(error) = wrong {
            return Err(ErrorKind::from(error).of(source.path()));
        }
        let chunk = (NUMBERS_A_CHUNK / numbers).max(1);
        let extra = match &options.extra {
            Some(extra) => Some((extra.clone(), extra.read()?)),
            None => None,
        };
        let mut reader = LogitsReader { source, matrix, encoding, extra, next: 0, chunk };
        if let Some(rows) = reader.rows() {
            check_extra(reader.extra.as_ref(), rows, source.path())?;
        }
        if encoding.needs_floor() {
            let floor = reader.smallest_probability()?;
            reader.matrix = open_matrix(source, options)?;
            reader.next = 0;
            reader.encoding = encoding.with_floor(Some(floor));
        }
        Ok(reader)
    }

    /// How many rows there are, if the file states it beforehand.
    pub fn rows(&self) -> Option<u64> {
        self.matrix.rows()
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.encoding.classes(self.matrix.classes())
    }

    /// What the numbers are, with the floor that was found.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The next rows, checked, and the number of the first of them; nothing at the end.
    pub fn next_chunk(&mut self) -> std::result::Result<Option<(usize, Logits<'_>)>, Error> {
        let (first, encoding, classes) = (self.next, self.encoding, self.matrix.classes());
        let path = self.source.path();
        let Some(values) = self.matrix.next_chunk(self.chunk).map_err(|kind| kind.of(path))? else {
            if first == 0 {
                return Err(ErrorKind::NoRows.of(path));
            }
            check_extra(self.extra.as_ref(), first as u64, path)?;
            return Ok(None);
        };
        let mut logits =
            encoding.logits(values, classes).map_err(|error| of_rows(error, first).of(path))?;
        self.next += logits.rows();
        if let Some((column, numbers)) = &self.extra {
            logits = column.beside(logits, numbers, first)?;
        }
        Ok(Some((first, logits)))
    }

    /// Applies a function to all rows in pieces, and passes its results to `done` in row order.
    ///
    /// Where the file allows it every core fetches the pieces that it works on, small enough to stay
    /// in its cache.
    pub fn map_pieces<T: Send, E: From<Error> + Send>(
        mut self,
        work: impl Fn(&Logits<'_>) -> std::result::Result<T, E> + Sync,
        mut done: impl FnMut(T) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (encoding, path) = (self.encoding, self.source.path());
        let Some(direct) = self.matrix.direct() else {
            while let Some((_, logits)) = self.next_chunk()? {
                done(work(&logits)?)?;
            }
            return Ok(());
        };
        let (classes, extra) = (self.matrix.classes(), &self.extra);
        let rows = usize::try_from(direct.rows()).unwrap_or(usize::MAX);
        let piece = (NUMBERS_A_PIECE / classes).max(1);
        for wave in (0..rows).step_by(piece * PIECES_A_WAVE) {
            let end = (wave + piece * PIECES_A_WAVE).min(rows);
            let starts: Vec<usize> = (wave..end).step_by(piece).collect();
            let results: Vec<std::result::Result<T, E>> = starts
                .par_iter()
                .map_init(
                    || direct.buffer(),
                    |buffer, &first| {
                        let values = direct
                            .fetch(first as u64, piece.min(end - first), buffer)
                            .map_err(|kind| kind.of(path))?;
                        let mut logits = encoding
                            .logits(values, classes)
                            .map_err(|error| of_rows(error, first).of(path))?;
                        if let Some((column, numbers)) = extra {
                            logits = column.beside(logits, numbers, first)?;
                        }
                        work(&logits)
                    },
                )
                .collect();
            for result in results {
                done(result?)?;
            }
        }
        Ok(())
    }

    fn smallest_probability(&mut self) -> std::result::Result<f64, Error> {
        let (numbers, path) = (self.matrix.classes(), self.source.path());
        let mut range = ProbabilityRange::default();
        let mut first = 0;
        while let Some(values) = self.matrix.next_chunk(self.chunk).map_err(|kind| kind.of(path))? {
            let rows = values.len() / numbers;
            self.encoding
                .extend_range(&mut range, values, numbers)
                .map_err(|error| of_rows(error, first).of(path))?;
            first += rows;
        }
        Ok(range.floor())
    }
}

/// Refuses an extra column of another number of rows than those of a file.
fn check_extra(
    extra: Option<&(ExtraColumn, Vec<f64>)>,
    rows: u64,
    rows_of: &Path,
) -> std::result::Result<(), Error> {
    match extra {
        Some((column, numbers)) if numbers.len() as u64 != rows => {
            let (what, found) = ("numbers in the extra column", numbers.len() as u64);
            let rows_of = rows_of.to_path_buf();
            Err(ErrorKind::RowCount { what, found, rows_of, expected: rows }.of(&column.path))
        }
        _ => Ok(()),
    }
}

/// The error of rows that begin at `first`.
fn of_rows(error: abstain::Error, first: usize) -> ErrorKind {
    ErrorKind::from(error.of_chunk(first))
}

fn open_matrix(
    source: &Source,
    options: &ReadOptions,
) -> std::result::Result<Box<dyn Matrix>, Error> {
    let labels = match &options.labels_name {
        Some(name) => &[name.as_str()][..],
        None => &LABELS_NAMES,
    };
    let extra: Vec<&str> = options.extra.iter().filter_map(|extra| extra.name.as_deref()).collect();
    let selection = Selection {
        what: Quantity::Logits,
        name: options.logits_name.as_deref(),
        usual: if options.encoding.is_probabilities() {
            &PROBABILITIES_NAMES
        } else {
            &LOGITS_NAMES
        },
        except: &[labels, &extra, &SCORE_COLUMNS].concat(),
    };
    let open = || {
        let (format, opened) = source.open(options.format)?;
        format.logits(opened, &selection)
    };
    open().map_err(|kind: ErrorKind| kind.of(source.path()))
}

/// The labels: of a file that holds nothing else, or those beside the logits.
pub fn read_labels(
    source: &Source,
    options: &ReadOptions,
    classes: usize,
) -> std::result::Result<Labels, Error> {
    let selection = Selection {
        what: Quantity::Labels,
        name: options.labels_name.as_deref(),
        usual: &LABELS_NAMES,
        except: &[],
    };
    let read = || -> Result<Labels> {
        let numbers = read_column(source, options.format, &selection)?;
        if let Numbers::Floats(values) = &numbers
            && let Some(row) = values.iter().position(|x| x.fract() == 0.0 && x.abs() > 1e15)
        {
            // Too large to be distinguished from its neighbours, and far from any class.
            #[expect(clippy::cast_possible_truncation, reason = "whole")]
            let label = values[row] as i128;
            return Err(abstain::Error::LabelOutOfRange { row, label, classes }.into());
        }
        Ok(Labels::new(&numbers.into_integers()?, classes)?)
    };
    read().map_err(|kind| kind.of(source.path()))
}

/// A column of numbers: the one of the requested name, the first of the usual names, or the only
/// one. `what` is its name in messages, such as "losses".
pub fn read_numbers(
    source: &Source,
    format: Option<Format>,
    what: &'static str,
    name: Option<&str>,
    usual: &[&str],
) -> std::result::Result<Numbers, Error> {
    let selection = Selection { what: Quantity::Column(what), name, usual, except: &[] };
    read_column(source, format, &selection).map_err(|kind| kind.of(source.path()))
}

fn read_column(
    source: &Source,
    format: Option<Format>,
    selection: &Selection<'_>,
) -> Result<Numbers> {
    let (format, opened) = source.open(format)?;
    format.column(opened, selection)
}
