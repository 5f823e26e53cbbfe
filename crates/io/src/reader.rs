//! Logits and columns of any format, behind one door.

use crate::array::{self, Array, Numbers};
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::matrix::Matrix;
use crate::source::{Opened, Source};
use crate::{csv, npy, safetensors, torch};
use abstain::{Encoding, Labels, Logits, ProbabilityRange, Values};
use rayon::prelude::*;
use std::sync::Arc;

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

/// How to read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    /// The format, if the name does not say it.
    pub format: Option<Format>,
    /// The name of the array, tensor or column of the logits; `logit_*` for one column a class.
    pub logits_name: Option<String>,
    /// The name of the array, tensor or column of the labels.
    pub labels_name: Option<String>,
    /// What the numbers are.
    pub encoding: Encoding,
}

/// Logits that are read some rows at a time.
pub struct LogitsReader<'a> {
    source: &'a Source,
    kind: Kind,
    encoding: Encoding,
    next: usize,
    chunk: usize,
}

enum Kind {
    Array(Matrix),
    Csv(csv::Matrix),
    #[cfg(feature = "parquet")]
    Parquet(Box<crate::parquet::Matrix>),
}

impl<'a> LogitsReader<'a> {
    /// Opens a file. Probabilities without a floor are read through once to find theirs; standard
    /// input must then be a source that can be read again.
    pub fn open(source: &'a Source, options: &ReadOptions) -> std::result::Result<Self, Error> {
        let kind = Kind::open(source, options).map_err(|kind| kind.of(source.path()))?;
        let classes = kind.classes();
        if classes < 2 {
            let error = abstain::Error::TooFewClasses { classes };
            return Err(ErrorKind::from(error).of(source.path()));
        }
        let chunk = (NUMBERS_A_CHUNK / classes).max(1);
        let mut reader = LogitsReader { source, kind, encoding: options.encoding, next: 0, chunk };
        if let Encoding::Probabilities { floor: None, tolerance } = options.encoding {
            let floor = reader.smallest_probability(tolerance)?;
            reader.kind = Kind::open(source, options).map_err(|kind| kind.of(source.path()))?;
            reader.next = 0;
            reader.encoding = Encoding::Probabilities { floor: Some(floor), tolerance };
        }
        Ok(reader)
    }

    /// How many rows there are, if the file says so beforehand.
    pub fn rows(&self) -> Option<u64> {
        match &self.kind {
            Kind::Array(matrix) => Some(matrix.rows()),
            Kind::Csv(_) => None,
            #[cfg(feature = "parquet")]
            Kind::Parquet(matrix) => Some(matrix.rows()),
        }
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.kind.classes()
    }

    /// What the numbers are, with the floor that was found.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The next rows, checked, and the number of the first of them; nothing at the end.
    pub fn next_chunk(&mut self) -> std::result::Result<Option<(usize, Logits<'_>)>, Error> {
        let (first, encoding, classes) = (self.next, self.encoding, self.kind.classes());
        let path = self.source.path();
        let Some(values) = self.kind.next_chunk(self.chunk).map_err(|kind| kind.of(path))? else {
            if first == 0 {
                return Err(ErrorKind::NoRows.of(path));
            }
            return Ok(None);
        };
        let logits =
            encoding.logits(values, classes).map_err(|error| of_rows(error, first).of(path))?;
        self.next += logits.rows();
        Ok(Some((first, logits)))
    }

    /// Applies a function to all rows in pieces and hands the results on in the order of the rows.
    ///
    /// Where the file allows it every core fetches its own pieces, small enough to stay in its
    /// cache while it works on them.
    pub fn map_pieces<T: Send, E: From<Error> + Send>(
        mut self,
        work: impl Fn(&Logits<'_>) -> std::result::Result<T, E> + Sync,
        mut done: impl FnMut(T) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (encoding, path) = (self.encoding, self.source.path());
        let direct = match &self.kind {
            Kind::Array(matrix) => matrix.direct().map(|direct| (direct, matrix.rows())),
            _ => None,
        };
        let Some((direct, rows)) = direct else {
            while let Some((_, logits)) = self.next_chunk()? {
                done(work(&logits)?)?;
            }
            return Ok(());
        };
        let classes = self.kind.classes();
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
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
                        let logits = encoding
                            .logits(values, classes)
                            .map_err(|error| of_rows(error, first).of(path))?;
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

    fn smallest_probability(&mut self, tolerance: Option<f64>) -> std::result::Result<f64, Error> {
        let (classes, path) = (self.kind.classes(), self.source.path());
        let mut range = ProbabilityRange::default();
        let mut first = 0;
        while let Some(values) = self.kind.next_chunk(self.chunk).map_err(|kind| kind.of(path))? {
            let rows = values.len() / classes;
            range
                .extend(values, classes, tolerance)
                .map_err(|error| of_rows(error, first).of(path))?;
            first += rows;
        }
        Ok(range.floor())
    }
}

/// The error of rows that begin at `first`.
fn of_rows(error: abstain::Error, first: usize) -> ErrorKind {
    ErrorKind::from(error.of_chunk(first))
}

impl Kind {
    fn open(source: &Source, options: &ReadOptions) -> Result<Self> {
        let (format, opened) = source.open(options.format)?;
        let wanted = options.logits_name.as_deref();
        let usual = match options.encoding {
            Encoding::Probabilities { .. } => &PROBABILITIES_NAMES[..],
            Encoding::Logits | Encoding::Masked => &LOGITS_NAMES[..],
        };
        let labels = match &options.labels_name {
            Some(name) => vec![name.as_str()],
            None => LABELS_NAMES.to_vec(),
        };
        Ok(match format {
            Format::Csv => Kind::Csv(csv::Matrix::open(opened.into_stream(), wanted, &labels)?),
            Format::Parquet => open_parquet(opened, wanted, usual, &labels)?,
            _ => {
                let arrays = arrays(format, opened)?;
                let own = Array::choose(arrays, "logits", wanted, usual, 2)?;
                Kind::Array(Matrix::new(own)?)
            }
        })
    }

    fn classes(&self) -> usize {
        match self {
            Kind::Array(matrix) => matrix.classes(),
            Kind::Csv(matrix) => matrix.classes(),
            #[cfg(feature = "parquet")]
            Kind::Parquet(matrix) => matrix.classes(),
        }
    }

    fn next_chunk(&mut self, rows: usize) -> Result<Option<Values<'_>>> {
        match self {
            Kind::Array(matrix) => matrix.next_chunk(rows),
            Kind::Csv(matrix) => matrix.next_chunk(rows),
            #[cfg(feature = "parquet")]
            Kind::Parquet(matrix) => matrix.next_chunk(rows),
        }
    }
}

#[cfg(feature = "parquet")]
fn open_parquet(
    opened: Opened,
    wanted: Option<&str>,
    usual: &[&str],
    labels: &[&str],
) -> Result<Kind> {
    let not = [labels, &crate::columns::NOT_LOGITS[..]].concat();
    let matrix = crate::parquet::Matrix::open(opened.into_file()?, wanted, usual, &not)?;
    Ok(Kind::Parquet(Box::new(matrix)))
}

#[cfg(not(feature = "parquet"))]
fn open_parquet(_: Opened, _: Option<&str>, _: &[&str], _: &[&str]) -> Result<Kind> {
    Err(without_parquet())
}

#[cfg(not(feature = "parquet"))]
fn without_parquet() -> ErrorKind {
    ErrorKind::Unsupported {
        problem: "this program was built without Parquet".into(),
        instead: "build it with the feature 'parquet'".into(),
    }
}

/// The arrays of a file of numbers that lie as in memory.
fn arrays(format: Format, opened: Opened) -> Result<Vec<Array>> {
    match format {
        Format::Npy => npy::npy(opened),
        Format::Safetensors => safetensors::arrays(&opened.into_file()?),
        Format::Torch => torch_arrays(&opened.into_file()?),
        Format::Npz | Format::Csv | Format::Parquet => {
            let file = opened.into_file()?;
            // Both are zip archives, and from standard input they come without a name.
            if npy::is_torch(&file) { torch_arrays(&file) } else { npy::npz(&file) }
        }
    }
}

fn torch_arrays(file: &std::fs::File) -> Result<Vec<Array>> {
    let tensors = torch::tensors(file)?;
    let file = Arc::new(file.try_clone()?);
    let mut all = Vec::new();
    for tensor in tensors {
        all.push(Array {
            name: tensor.name,
            dtype: tensor.dtype,
            big_endian: tensor.big_endian,
            shape: tensor.shape,
            fortran: tensor.fortran,
            bytes: array::Bytes::File { file: Arc::clone(&file), offset: tensor.offset },
        });
    }
    if all.is_empty() {
        return Err(ErrorKind::malformed(Format::Torch, "there is no tensor in it"));
    }
    Ok(all)
}

/// The labels of a file: of a file of their own, or beside the logits.
pub fn read_labels(
    source: &Source,
    options: &ReadOptions,
    classes: usize,
) -> std::result::Result<Labels, Error> {
    let read = || -> Result<Labels> {
        let numbers = numbers(
            source,
            options.format,
            "labels",
            options.labels_name.as_deref(),
            &LABELS_NAMES,
        )?;
        if let Numbers::Floats(values) = &numbers
            && let Some(row) = values.iter().position(|x| x.fract() == 0.0 && x.abs() > 1e15)
        {
            // Too large to be told from its neighbours, and far from any class.
            #[expect(clippy::cast_possible_truncation, reason = "whole")]
            let label = values[row] as i128;
            return Err(abstain::Error::LabelOutOfRange { row, label, classes }.into());
        }
        Ok(Labels::new(&numbers.into_integers()?, classes)?)
    };
    read().map_err(|kind| kind.of(source.path()))
}

/// A column of numbers: the one that is asked for, the first of the usual names, or the only one.
pub fn read_numbers(
    source: &Source,
    format: Option<Format>,
    what: &'static str,
    wanted: Option<&str>,
    usual: &[&str],
) -> std::result::Result<Numbers, Error> {
    numbers(source, format, what, wanted, usual).map_err(|kind| kind.of(source.path()))
}

fn numbers(
    source: &Source,
    format: Option<Format>,
    what: &'static str,
    wanted: Option<&str>,
    usual: &[&str],
) -> Result<Numbers> {
    let (format, opened) = source.open(format)?;
    match format {
        Format::Csv => csv::column(opened.into_stream(), what, wanted, usual),
        #[cfg(feature = "parquet")]
        Format::Parquet => {
            use crate::parquet::{Column, column, names};
            let file = opened.into_file()?;
            match column(&file, wanted, usual)? {
                Some(Column::Integers(values)) => Ok(Numbers::Integers(values)),
                Some(Column::Floats(values)) => Ok(Numbers::Floats(values)),
                None => Err(ErrorKind::Ambiguous { what, names: names(&file)? }),
            }
        }
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(without_parquet()),
        _ => Array::choose(arrays(format, opened)?, what, wanted, usual, 1)?.into_numbers(),
    }
}
