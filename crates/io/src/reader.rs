//! Logits and columns of any format.

use crate::column::Column;
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::labels::{RawLabels, one_hot};
use crate::layout::{
    self, ClassColumns, ClassRequest, Field, FieldKind, Numbering, Quantity, class_columns,
};
use crate::matrix::Matrix;
use crate::source::Source;
use crate::table::{Picked, Table};
use abstain::{Encoding, Logits, ProbabilityRange, Values};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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
    /// The names of the classes, in the order of their numbers.
    pub class_names: Option<Vec<String>>,
    /// The number of the first class in the labels; by default 0, or as the columns are numbered.
    pub first_label: Option<i64>,
    /// What the numbers are.
    pub encoding: Encoding,
    /// One further number of each row.
    pub extra: Option<ExtraColumn>,
    /// Columns of the file of the logits that are never classes, and whose values are passed on.
    pub keep: Vec<String>,
    /// Whether each row is passed on as soon as it is there.
    pub row_by_row: bool,
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
        let column = read_column(&source, None, Quantity::Extra, self.name.as_deref())?;
        column.into_floats().map_err(|kind| kind.of(&self.path))
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
    columns: ClassColumns,
    kept: Vec<(String, FieldKind)>,
    encoding: Encoding,
    extra: Option<(ExtraColumn, Vec<f64>)>,
    next: usize,
    chunk: usize,
}

impl<'a> LogitsReader<'a> {
    /// Opens a file, or all files of a pattern or folder. Probabilities without a floor are read through
    /// once to find theirs; standard input must then be a source that can be read again.
    pub fn open(source: &'a Source, options: &ReadOptions) -> std::result::Result<Self, Error> {
        Self::open_seeing(source, options, None)
    }

    /// The same, where the labels are text: those that occur decide which columns are classes.
    pub(crate) fn open_seeing(
        source: &'a Source,
        options: &ReadOptions,
        seen: Option<&BTreeSet<String>>,
    ) -> std::result::Result<Self, Error> {
        let (columns, matrix) = open_matrix(source, options, seen)?;
        let (numbers, encoding) = (matrix.classes(), options.encoding);
        let wrong = match (encoding.is_one_number(), numbers) {
            (true, 1) | (false, 2..) => None,
            (true, found) => Some(abstain::Error::NotOneNumber { found }),
            (false, classes) => Some(abstain::Error::TooFewClasses { classes }),
        };
        if let Some(error) = wrong {
            return Err(ErrorKind::from(error).of(source.path()));
        }
        let chunk = if options.row_by_row { 1 } else { (NUMBERS_A_CHUNK / numbers).max(1) };
        let extra = match &options.extra {
            Some(extra) => Some((extra.clone(), extra.read()?)),
            None => None,
        };
        let kept = kept_columns(source, options)?;
        let mut reader =
            LogitsReader { source, matrix, columns, kept, encoding, extra, next: 0, chunk };
        if let Some(rows) = reader.rows() {
            check_extra(reader.extra.as_ref(), rows, source.path())?;
        }
        if encoding.needs_floor() {
            let floor = reader.smallest_probability()?;
            reader.matrix = open_matrix(source, options, seen)?.1;
            reader.next = 0;
            reader.encoding = encoding.with_floor(Some(floor));
        }
        Ok(reader)
    }

    /// The same, whatever the numbers of its columns say.
    pub(crate) fn trusting_columns(mut self) -> Self {
        self.columns.numbering = Numbering::Array;
        self
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

    /// The columns that are read.
    pub fn columns(&self) -> &ClassColumns {
        &self.columns
    }

    /// The columns to keep, and what they hold; numbers in text are text.
    pub fn kept(&self) -> &[(String, FieldKind)] {
        &self.kept
    }

    /// The next rows, checked, and the number of the first of them; nothing at the end.
    pub fn next_chunk(&mut self) -> std::result::Result<Option<(usize, Logits<'_>)>, Error> {
        Ok(self.next_with_kept()?.map(|(first, logits, _)| (first, logits)))
    }

    /// The same with the values of the columns to keep.
    pub fn next_with_kept(
        &mut self,
    ) -> std::result::Result<Option<(usize, Logits<'_>, Vec<Column>)>, Error> {
        let (first, encoding, numbers) = (self.next, self.encoding, self.matrix.classes());
        let path = self.source.path();
        let rows = self.matrix.fill(self.chunk).map_err(|kind| kind.of(path))?;
        if rows == 0 {
            if first == 0 {
                return Err(ErrorKind::NoRows.of(path));
            }
            check_extra(self.extra.as_ref(), first as u64, path)?;
            return Ok(None);
        }
        let kept = self.matrix.kept();
        let values = self.matrix.values();
        let mut logits =
            encoding.logits(values, numbers).map_err(|error| of_rows(error, first).of(path))?;
        if first == 0 {
            check_columns(&self.columns, encoding, &logits).map_err(|kind| kind.of(path))?;
        }
        self.next += rows;
        if let Some((column, numbers)) = &self.extra {
            logits = column.beside(logits, numbers, first)?;
        }
        Ok(Some((first, logits, kept)))
    }

    /// Applies a function to all rows in pieces, and passes its results to `done` in row order.
    ///
    /// Where the file allows it every core fetches the pieces that it works on, small enough to stay
    /// in its cache.
    pub fn map_pieces<T: Send, E: From<Error> + Send>(
        mut self,
        work: impl Fn(&Logits<'_>) -> std::result::Result<T, E> + Sync,
        mut done: impl FnMut(T, Vec<Column>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (encoding, path) = (self.encoding, self.source.path());
        let Some(direct) = self.matrix.direct() else {
            while let Some((_, logits, kept)) = self.next_with_kept()? {
                done(work(&logits)?, kept)?;
            }
            return Ok(());
        };
        let (numbers, extra) = (self.matrix.classes(), &self.extra);
        let rows = usize::try_from(direct.rows()).unwrap_or(usize::MAX);
        let piece = (NUMBERS_A_PIECE / numbers).max(1);
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
                            .logits(values, numbers)
                            .map_err(|error| of_rows(error, first).of(path))?;
                        if let Some((column, numbers)) = extra {
                            logits = column.beside(logits, numbers, first)?;
                        }
                        work(&logits)
                    },
                )
                .collect();
            for result in results {
                done(result?, Vec::new())?;
            }
        }
        Ok(())
    }

    /// Calls a function with the numbers of rows that are one number each, such as confidences, and with
    /// the values of the columns to keep.
    pub fn each_number<E: From<Error>>(
        mut self,
        mut each: impl FnMut(&[f64], Vec<Column>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let path = self.source.path();
        let mut buffer = Vec::new();
        loop {
            let rows = self.matrix.fill(self.chunk).map_err(|kind| kind.of(path))?;
            if rows == 0 {
                let none = self.next == 0;
                return if none { Err(ErrorKind::NoRows.of(path).into()) } else { Ok(()) };
            }
            let kept = self.matrix.kept();
            buffer.resize(rows, 0.0);
            self.matrix.values().copy_to(&mut buffer);
            if let Some(row) = buffer.iter().position(|number| number.is_nan()) {
                let row = self.next + row;
                return Err(ErrorKind::from(abstain::Error::InvalidConfidence { row })
                    .of(path)
                    .into());
            }
            self.next += rows;
            each(&buffer, kept)?;
        }
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

/// Refuses columns whose names do not say that they are classes, and whose numbers say that one is not.
fn check_columns(columns: &ClassColumns, encoding: Encoding, logits: &Logits<'_>) -> Result<()> {
    let uncertain =
        matches!(columns.numbering, Numbering::Positions | Numbering::Words { certain: false });
    // Sums of probabilities are checked, and may be 0 or 1 in all rows of a class.
    if !uncertain || encoding.is_one_number() || logits.rows() < 3 {
        return Ok(());
    }
    let classes = logits.classes();
    let (mut counts, mut whole) = (vec![true; classes], vec![true; classes]);
    let (mut first, mut row) = (vec![0.0; classes], vec![0.0; classes]);
    logits.copy_row(0, &mut first);
    for index in 0..logits.rows() {
        logits.copy_row(index, &mut row);
        for class in 0..classes {
            counts[class] &= row[class] == first[class] + index as f64;
            whole[class] &= row[class].fract() == 0.0;
        }
    }
    let column = |class: usize| match columns.names[class].as_str() {
        "" => class.to_string(),
        name => format!("'{name}'"),
    };
    if let Some(class) = (0..classes).find(|&class| counts[class] && whole[class]) {
        return Err(ErrorKind::CountsRows { column: column(class) });
    }
    let fractions = whole.iter().any(|whole| !whole) && !encoding.is_probabilities();
    match (0..classes).find(|&class| whole[class]) {
        Some(class) if fractions && logits.rows() >= 5 => {
            Err(ErrorKind::WholeAmongFractions { column: column(class) })
        }
        _ => Ok(()),
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

pub(crate) fn open_table(source: &Source, format: Option<Format>) -> Result<Box<dyn Table>> {
    let (format, opened) = source.open(format)?;
    format.table(opened)
}

/// The columns of a table that are read as logits, and the matrix of them.
fn matrix_of(
    table: Box<dyn Table>,
    options: &ReadOptions,
    seen: Option<&BTreeSet<String>>,
) -> Result<(ClassColumns, Box<dyn Matrix>)> {
    let fields = table.fields();
    let columns = columns_of(fields, table.are_arrays(), options, seen)?;
    let kept = |name: &String| layout::named(fields, Quantity::Column, name);
    let kept = options.keep.iter().map(kept).collect::<Result<Vec<usize>>>()?;
    let one_number = options.encoding.is_one_number();
    let matrix = table.matrix(&Picked { columns: &columns.columns, one_number, kept: &kept })?;
    Ok((columns, matrix))
}

/// Which fields hold the numbers of an encoding.
pub(crate) fn columns_of(
    fields: &[Field],
    arrays: bool,
    options: &ReadOptions,
    seen: Option<&BTreeSet<String>>,
) -> Result<ClassColumns> {
    let extra = options.extra.as_ref().and_then(|extra| extra.name.as_deref());
    let mut reserved: Vec<&str> = options.labels_name.as_deref().into_iter().chain(extra).collect();
    reserved.extend(options.keep.iter().map(String::as_str));
    let name = options.logits_name.as_deref();
    let what = match options.encoding {
        Encoding::BinaryProbability { .. } => Quantity::BinaryProbabilities,
        Encoding::BinaryLogit => Quantity::BinaryLogits,
        Encoding::Confidence => Quantity::Confidences,
        Encoding::Logits | Encoding::Masked | Encoding::Probabilities { .. } => {
            return class_columns(
                fields,
                &ClassRequest {
                    name,
                    class_names: options.class_names.as_deref(),
                    seen,
                    probabilities: options.encoding.is_probabilities(),
                    reserved: &reserved,
                    arrays,
                },
            );
        }
    };
    let index = match fields {
        // Its shape may be wrong, which its reader describes.
        [_] if arrays && name.is_none() => 0,
        _ => layout::column(fields, what, name, &reserved, arrays)?,
    };
    Ok(ClassColumns::one(index, fields))
}

/// The fields of a table in memory that hold the numbers of an encoding. `labels` are those that occur,
/// where they are text: they decide which columns are classes.
pub fn place_logits(
    fields: &[Field],
    options: &ReadOptions,
    labels: Option<&BTreeSet<String>>,
) -> std::result::Result<ClassColumns, ErrorKind> {
    columns_of(fields, false, options, labels)
}

/// The field of a table in memory that holds the labels.
pub fn place_labels(
    fields: &[Field],
    options: &ReadOptions,
) -> std::result::Result<usize, ErrorKind> {
    layout::column(fields, Quantity::Labels, options.labels_name.as_deref(), &[], false)
}

fn open_matrix(
    source: &Source,
    options: &ReadOptions,
    seen: Option<&BTreeSet<String>>,
) -> std::result::Result<(ClassColumns, Box<dyn Matrix>), Error> {
    let open = |source: &Source| matrix_of(open_table(source, options.format)?, options, seen);
    let all = || -> Result<(ClassColumns, Box<dyn Matrix>)> {
        let Some(parts) = source.parts()? else { return open(source) };
        let mut described: Option<(ClassColumns, usize)> = None;
        let mut rows = Some(0_u64);
        for part in &parts {
            let inside = |kind: ErrorKind| kind.in_file(part.path());
            let (columns, matrix) = open(part).map_err(inside)?;
            rows = rows.zip(matrix.rows()).and_then(|(all, more)| all.checked_add(more));
            let (first, classes) =
                described.get_or_insert_with(|| (columns.clone(), matrix.classes()));
            if columns.names != first.names || matrix.classes() != *classes {
                let problem = format!("{} has other columns", part.path().display());
                return Err(ErrorKind::NotAlike { problem });
            }
        }
        let (columns, classes) = described.ok_or(ErrorKind::NoFiles)?;
        let again = (options.clone(), seen.cloned());
        let open = move |source: &Source| {
            matrix_of(open_table(source, again.0.format)?, &again.0, again.1.as_ref())
        };
        let reopen = Box::new(move |source: &Source| open(source).map(|(_, matrix)| matrix));
        let matrix = Sharded { parts, next: 0, current: None, classes, rows, reopen };
        Ok((columns, Box::new(matrix)))
    };
    all().map_err(|kind: ErrorKind| kind.of(source.path()))
}

/// The columns to keep, and what they hold.
fn kept_columns(
    source: &Source,
    options: &ReadOptions,
) -> std::result::Result<Vec<(String, FieldKind)>, Error> {
    if options.keep.is_empty() || source.is_standard_input() {
        return Ok(options.keep.iter().map(|name| (name.clone(), FieldKind::Text)).collect());
    }
    let fields = read_fields(source, options.format)?;
    let kept = |name: &String| {
        let index = layout::named(&fields, Quantity::Column, name)?;
        Ok((fields[index].name.clone(), fields[index].kind))
    };
    let kept: Result<Vec<(String, FieldKind)>> = options.keep.iter().map(kept).collect();
    kept.map_err(|kind| kind.of(source.path()))
}

/// Opens the matrix of a file of a set.
type Reopen = Box<dyn Fn(&Source) -> Result<Box<dyn Matrix>> + Send>;

/// The rows of several files, one after the other.
struct Sharded {
    parts: Vec<Source>,
    next: usize,
    current: Option<Box<dyn Matrix>>,
    classes: usize,
    rows: Option<u64>,
    reopen: Reopen,
}

impl Matrix for Sharded {
    fn classes(&self) -> usize {
        self.classes
    }

    fn rows(&self) -> Option<u64> {
        self.rows
    }

    fn fill(&mut self, rows: usize) -> Result<usize> {
        loop {
            if let Some(current) = &mut self.current {
                let path = self.parts[self.next - 1].path();
                let rows = current.fill(rows).map_err(|kind| kind.in_file(path))?;
                if rows > 0 {
                    return Ok(rows);
                }
            }
            let Some(part) = self.parts.get(self.next) else { return Ok(0) };
            self.current = Some((self.reopen)(part).map_err(|kind| kind.in_file(part.path()))?);
            self.next += 1;
        }
    }

    fn values(&mut self) -> Values<'_> {
        match &mut self.current {
            Some(current) => current.values(),
            None => Values::from(&[] as &[f64]),
        }
    }

    fn kept(&mut self) -> Vec<Column> {
        self.current.as_mut().map(|current| current.kept()).unwrap_or_default()
    }
}

/// Reads one value for each row from every file of a source.
fn read_all(
    source: &Source,
    read: impl Fn(&Source) -> Result<Column>,
) -> std::result::Result<Column, Error> {
    let all = || -> Result<Column> {
        let Some(parts) = source.parts()? else { return read(source) };
        let mut all: Option<Column> = None;
        for part in &parts {
            let column = read(part).map_err(|kind| kind.in_file(part.path()))?;
            column.add_to(&mut all);
        }
        all.ok_or(ErrorKind::NoFiles)
    };
    all().map_err(|kind| kind.of(source.path()))
}

/// The labels: of a file that holds nothing else, or those beside the logits.
pub(crate) fn read_raw_labels(
    source: &Source,
    format: Option<Format>,
    name: Option<&str>,
) -> std::result::Result<RawLabels, Error> {
    let open = |source: &Source| -> Result<(Box<dyn Table>, usize)> {
        let table = open_table(source, format)?;
        let arrays = table.are_arrays();
        let index = layout::column(table.fields(), Quantity::Labels, name, &[], arrays)?;
        Ok((table, index))
    };
    let first = source.parts().map_err(|kind| kind.of(source.path()))?;
    let first = first.as_ref().and_then(|parts| parts.first()).unwrap_or(source);
    let one_hot_first = || -> Result<Option<RawLabels>> {
        let (table, index) = open(first)?;
        if table.fields()[index].depth == 0 {
            return Ok(None);
        }
        let picked = Picked { columns: &[index], one_number: false, kept: &[] };
        one_hot(&mut *table.matrix(&picked)?).map(Some)
    };
    if !source.is_standard_input()
        && let Some(labels) = one_hot_first().map_err(|kind| kind.of(source.path()))?
    {
        return Ok(labels);
    }
    let column = read_all(source, |source| {
        let (table, index) = open(source)?;
        table.column(index)
    })?;
    Ok(RawLabels::Column(column))
}

/// A column: the one of the requested name, the one of a usual name, or the only one.
pub fn read_column(
    source: &Source,
    format: Option<Format>,
    what: Quantity,
    name: Option<&str>,
) -> std::result::Result<Column, Error> {
    read_all(source, |source| {
        let table = open_table(source, format)?;
        let index = layout::column(table.fields(), what, name, &[], table.are_arrays())?;
        // A format does not know what a column is read for, which decides the hint.
        table.column(index).map_err(|kind| match kind {
            ErrorKind::NotANumber { row, line, column, text, .. } => {
                ErrorKind::NotANumber { what, row, line, column, text }
            }
            other => other,
        })
    })
}

/// The columns or arrays of a file, or of the first file of a set.
pub fn read_fields(
    source: &Source,
    format: Option<Format>,
) -> std::result::Result<Vec<Field>, Error> {
    let fields = || -> Result<Vec<Field>> {
        let parts = source.parts()?;
        let first = parts.as_ref().and_then(|parts| parts.first()).unwrap_or(source);
        Ok(open_table(first, format)?.fields().to_vec())
    };
    fields().map_err(|kind| kind.of(source.path()))
}
