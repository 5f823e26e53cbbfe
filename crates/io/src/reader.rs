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
use crate::table::{Selection, Table};
use abstain::{
    Encoding, Logits,
    logits::{ProbabilityRange, Values},
};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    /// The second of two classes, whose probability or logit one number is: labels that are names have no
    /// order of their classes.
    pub positive: Option<String>,
    /// The number of the first class in the labels; by default 0, or as the columns are numbered.
    pub first_label: Option<i64>,
    /// The name or pattern of the logits, or of the confidences, in earlier files: of use where a file has
    /// such columns.
    pub earlier_logits: Option<String>,
    /// The same of the labels.
    pub earlier_labels: Option<String>,
    /// Whether numbers that are confidences are uncertainties, of which the negative is taken.
    pub negate: bool,
    /// What is done with rows that have no label.
    pub missing: Missing,
    /// What is done with rows that cannot be scored.
    pub bad_rows: BadRows,
    /// What the numbers are.
    pub encoding: Encoding,
    /// One further number of each row.
    pub extra: Option<ExtraColumn>,
    /// Columns of the file of the logits that are never classes, and whose values are passed on.
    pub keep: Vec<String>,
    /// Whether each row is passed on as soon as it is there.
    pub row_by_row: bool,
}

/// What is done with rows that have no label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// They are left out.
    #[default]
    Skip,
    /// They are an error.
    Refuse,
}

/// What is done with rows that cannot be scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BadRows {
    /// They are an error.
    #[default]
    Refuse,
    /// They are passed on as such.
    Keep,
}

/// Rows of a piece that cannot be scored: their places in it, and what is wrong with each. In their places
/// are rows that say nothing.
pub type BadRowsOf = Vec<(usize, ErrorKind)>;

impl ReadOptions {
    /// The name of the labels in a table: that which is given, or that of earlier files, if it is there.
    pub(crate) fn labels_in<'a>(&'a self, fields: &[Field]) -> Option<&'a str> {
        let is_there = |name: &&str| match name.strip_suffix('*') {
            Some(prefix) => fields.iter().any(|field| field.name.starts_with(prefix)),
            None => fields.iter().any(|field| field.name == **name),
        };
        let earlier = || self.earlier_labels.as_deref().filter(is_there);
        self.labels_name.as_deref().or_else(earlier)
    }
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
    fn read(&self) -> std::result::Result<Arc<[f64]>, Error> {
        let source = Source::new(&self.path);
        self.numbers(read_column(&source, None, Quantity::Extra, self.name.as_deref())?)
    }

    pub(crate) fn request(&self) -> ColumnRequest<'_> {
        ColumnRequest { what: Quantity::Extra, name: self.name.as_deref() }
    }

    pub(crate) fn numbers(&self, column: Column) -> std::result::Result<Arc<[f64]>, Error> {
        column.into_floats().map(Arc::from).map_err(|kind| kind.of(&self.path))
    }

    /// Puts the numbers of some rows beside them.
    fn beside<'a>(
        &self,
        logits: Logits<'a>,
        numbers: &'a [f64],
        first: usize,
    ) -> std::result::Result<Logits<'a>, Error> {
        let part = numbers.get(first..first + logits.rows()).unwrap_or(&[]);
        let error = |error: abstain::Error| in_rows_of_file(error, first).of(&self.path);
        logits.with_extra(part).map_err(error)
    }
}

/// What is known of rows before their logits are opened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// The labels that occur, where they are text: they decide which columns are classes.
    pub(crate) seen: Option<BTreeSet<String>>,
    /// Further columns that are never classes.
    pub(crate) reserved: Vec<String>,
    /// The numbers of the extra column, if they have been read.
    pub(crate) extra: Option<Arc<[f64]>>,
}

/// Logits that are open, apart from where they are.
pub(crate) struct OpenLogits {
    matrix: Box<dyn Matrix>,
    columns: ClassColumns,
    kept: Vec<(String, FieldKind)>,
    encoding: Encoding,
    extra: Option<(ExtraColumn, Arc<[f64]>)>,
    chunk: usize,
    negate: bool,
    keep_bad_rows: bool,
}

/// Logits that are read some rows at a time.
pub struct LogitsReader<'a> {
    source: &'a Source,
    open: OpenLogits,
    next: usize,
}

impl<'a> LogitsReader<'a> {
    /// Opens a file, or all files of a pattern or folder. Probabilities without a floor are read through
    /// once to find theirs; standard input must then be a source that can be read again.
    pub fn open(source: &'a Source, options: &ReadOptions) -> std::result::Result<Self, Error> {
        Self::open_knowing(source, options, &Known::default(), None)
    }

    /// The same with what is known of the rows. A table of the source that is open is not opened again.
    pub(crate) fn open_knowing(
        source: &'a Source,
        options: &ReadOptions,
        known: &Known,
        table: Option<OpenTable>,
    ) -> std::result::Result<Self, Error> {
        let found = open_matrix(source, options, known, table)?;
        let (numbers, encoding) = (found.matrix.classes(), options.encoding);
        let wrong = match (encoding.is_one_number(), numbers) {
            (true, 1) | (false, 2..) => None,
            (true, found) => Some(abstain::Error::NotOneNumber { found }),
            (false, classes) => Some(abstain::Error::TooFewClasses { classes }),
        };
        if let Some(error) = wrong {
            return Err(ErrorKind::from(error).of(source.path()));
        }
        let chunk = if options.row_by_row { 1 } else { (NUMBERS_A_CHUNK / numbers).max(1) };
        let extra = match (&options.extra, &known.extra) {
            (Some(column), Some(numbers)) => Some((column.clone(), Arc::clone(numbers))),
            (Some(column), None) => Some((column.clone(), column.read()?)),
            (None, _) => None,
        };
        let MatrixOf { columns, matrix, kept } = found;
        let open = OpenLogits {
            matrix,
            columns,
            kept,
            encoding,
            extra,
            chunk,
            negate: options.negate,
            keep_bad_rows: options.bad_rows == BadRows::Keep,
        };
        let mut reader = LogitsReader::of(source, open);
        if let Some(rows) = reader.rows() {
            check_extra(reader.open.extra.as_ref(), rows, source.path())?;
        }
        if encoding.needs_floor() {
            let floor = reader.smallest_probability()?;
            reader.open.matrix = open_matrix(source, options, known, None)?.matrix;
            reader.open.encoding = encoding.with_floor(Some(floor));
        }
        Ok(reader)
    }

    /// Logits that were opened before, of which none has been read.
    pub(crate) fn of(source: &'a Source, open: OpenLogits) -> Self {
        LogitsReader { source, open, next: 0 }
    }

    pub(crate) fn into_open(self) -> OpenLogits {
        self.open
    }

    /// The same, whatever the numbers of its columns say.
    pub(crate) fn trusting_columns(mut self) -> Self {
        self.open.columns.numbering = Numbering::Array;
        self
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// How many rows there are, if the file states it beforehand.
    pub fn rows(&self) -> Option<u64> {
        self.open.matrix.rows()
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.open.encoding.classes(self.open.matrix.classes())
    }

    /// What the numbers are, with the floor that was found.
    pub fn encoding(&self) -> Encoding {
        self.open.encoding
    }

    /// The columns that are read.
    pub fn columns(&self) -> &ClassColumns {
        &self.open.columns
    }

    /// The columns to keep, and what they hold; numbers in text are text.
    pub fn kept(&self) -> &[(String, FieldKind)] {
        &self.open.kept
    }

    /// The next rows, checked, and the number of the first of them; nothing at the end.
    pub fn next_chunk(&mut self) -> std::result::Result<Option<(usize, Logits<'_>)>, Error> {
        Ok(self.next_with_kept()?.map(|(first, logits, ..)| (first, logits)))
    }

    /// The same with the values of the columns to keep, and with the rows that cannot be scored.
    #[expect(clippy::type_complexity, reason = "what a chunk has, once")]
    pub(crate) fn next_with_kept(
        &mut self,
    ) -> std::result::Result<Option<(usize, Logits<'_>, Vec<Column>, BadRowsOf)>, Error> {
        let (first, encoding, numbers) =
            (self.next, self.open.encoding, self.open.matrix.classes());
        let path = self.source.path();
        let rows = self.open.matrix.fill(self.open.chunk).map_err(|kind| kind.of(path))?;
        if rows == 0 {
            if first == 0 {
                return Err(ErrorKind::NoRows.of(path));
            }
            check_extra(self.open.extra.as_ref(), first as u64, path)?;
            return Ok(None);
        }
        let kept = self.open.matrix.kept();
        let values = self.open.matrix.values();
        let keep = self.open.keep_bad_rows;
        let (mut logits, bad) =
            checked(encoding, values, numbers, first, keep).map_err(|kind| kind.of(path))?;
        if first == 0 && bad.is_empty() {
            check_columns(&self.open.columns, encoding, &logits).map_err(|kind| kind.of(path))?;
        }
        self.next += rows;
        if let Some((column, numbers)) = &self.open.extra {
            logits = column.beside(logits, numbers, first)?;
        }
        Ok(Some((first, logits, kept, bad)))
    }

    /// Applies a function to all rows in pieces, and passes its results to `done` in row order.
    ///
    /// Where the file allows it every core fetches the pieces that it works on, small enough to stay
    /// in its cache.
    pub fn map_pieces<T: Send, E: From<Error> + Send>(
        mut self,
        work: impl Fn(&Logits<'_>) -> std::result::Result<T, E> + Sync,
        mut done: impl FnMut(T, Vec<Column>, BadRowsOf) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (encoding, path) = (self.open.encoding, self.source.path());
        let keep = self.open.keep_bad_rows;
        let Some(direct) = self.open.matrix.direct() else {
            while let Some((_, logits, kept, bad)) = self.next_with_kept()? {
                done(work(&logits)?, kept, bad)?;
            }
            return Ok(());
        };
        let (numbers, extra) = (self.open.matrix.classes(), &self.open.extra);
        let rows = usize::try_from(direct.rows()).unwrap_or(usize::MAX);
        let piece = (NUMBERS_A_PIECE / numbers).max(1);
        for wave in (0..rows).step_by(piece * PIECES_A_WAVE) {
            let end = (wave + piece * PIECES_A_WAVE).min(rows);
            let starts: Vec<usize> = (wave..end).step_by(piece).collect();
            let results: Vec<std::result::Result<(T, BadRowsOf), E>> = starts
                .par_iter()
                .map_init(
                    || direct.buffer(),
                    |buffer, &first| {
                        let values = direct
                            .fetch(first as u64, piece.min(end - first), buffer)
                            .map_err(|kind| kind.of(path))?;
                        let (mut logits, bad) = checked(encoding, values, numbers, first, keep)
                            .map_err(|kind| kind.of(path))?;
                        if let Some((column, numbers)) = extra {
                            logits = column.beside(logits, numbers, first)?;
                        }
                        Ok((work(&logits)?, bad))
                    },
                )
                .collect();
            for result in results {
                let (result, bad) = result?;
                done(result, Vec::new(), bad)?;
            }
        }
        Ok(())
    }

    /// Calls a function with the numbers of rows that are one number each, such as confidences, and with
    /// the values of the columns to keep.
    pub fn each_number<E: From<Error>>(
        mut self,
        mut each: impl FnMut(&[f64], Vec<Column>, BadRowsOf) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let path = self.source.path();
        let mut buffer = Vec::new();
        loop {
            let rows = self.open.matrix.fill(self.open.chunk).map_err(|kind| kind.of(path))?;
            if rows == 0 {
                let none = self.next == 0;
                return if none { Err(ErrorKind::NoRows.of(path).into()) } else { Ok(()) };
            }
            let kept = self.open.matrix.kept();
            buffer.resize(rows, 0.0);
            self.open.matrix.values().copy_to(&mut buffer);
            if self.open.negate {
                for number in &mut buffer {
                    *number = -*number;
                }
            }
            let mut bad: BadRowsOf = Vec::new();
            for (place, number) in buffer.iter_mut().enumerate().filter(|(_, x)| x.is_nan()) {
                let row = self.next + place;
                bad.push((place, abstain::Error::InvalidConfidence { row }.into()));
                *number = f64::NEG_INFINITY;
            }
            if !self.open.keep_bad_rows && !bad.is_empty() {
                return Err(bad.swap_remove(0).1.of(path).into());
            }
            self.next += rows;
            each(&buffer, kept, bad)?;
        }
    }

    fn smallest_probability(&mut self) -> std::result::Result<f64, Error> {
        let (numbers, path) = (self.open.matrix.classes(), self.source.path());
        let mut range = ProbabilityRange::default();
        let mut first = 0;
        while let Some(values) =
            self.open.matrix.next_chunk(self.open.chunk).map_err(|kind| kind.of(path))?
        {
            let rows = values.len() / numbers;
            self.open
                .encoding
                .extend_range(&mut range, values, numbers)
                .map_err(|error| in_rows_of_file(error, first).of(path))?;
            first += rows;
        }
        Ok(range.floor())
    }
}

/// The rows of a chunk that begins at `first`. Where bad rows are kept, rows that say nothing are in the
/// places of those that cannot be scored.
fn checked(
    encoding: Encoding,
    values: Values<'_>,
    numbers: usize,
    first: usize,
    keep: bool,
) -> Result<(Logits<'_>, BadRowsOf)> {
    let error = match encoding.logits(values.clone(), numbers) {
        Ok(logits) => return Ok((logits, Vec::new())),
        Err(error) if !keep => return Err(in_rows_of_file(error, first)),
        Err(error) => error,
    };
    let rows = values.len() / numbers;
    let wrong = |row: usize| {
        let alone = values.part(row * numbers..(row + 1) * numbers);
        encoding
            .logits(alone, numbers)
            .err()
            .map(|error| (row, in_rows_of_file(error, first + row)))
    };
    let bad: BadRowsOf = (0..rows).filter_map(wrong).collect();
    if bad.is_empty() {
        // Nothing is wrong with single rows.
        return Err(in_rows_of_file(error, first));
    }
    let nothing = match encoding {
        Encoding::Probabilities { .. } => 1.0 / numbers as f32,
        Encoding::BinaryProbability { .. } => 0.5,
        _ => 0.0,
    };
    let mut values = values;
    let places: Vec<usize> = bad.iter().map(|(row, _)| *row).collect();
    values.fill_rows(&places, numbers, nothing);
    let logits = encoding.logits(values, numbers).map_err(|error| in_rows_of_file(error, first))?;
    Ok((logits, bad))
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
    extra: Option<&(ExtraColumn, Arc<[f64]>)>,
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
fn in_rows_of_file(error: abstain::Error, first: usize) -> ErrorKind {
    ErrorKind::from(error.of_chunk(first))
}

pub(crate) fn open_table(source: &Source, format: Option<Format>) -> Result<Box<dyn Table>> {
    #[cfg(feature = "arrow")]
    if let Some(table) = source.open_batches() {
        return Ok(table.open());
    }
    let (format, opened) = source.open(format)?;
    format.table(opened)
}

/// The columns of a table that are read as logits, the matrix of them, and the columns beside it.
pub(crate) struct MatrixOf {
    pub(crate) columns: ClassColumns,
    pub(crate) matrix: Box<dyn Matrix>,
    pub(crate) kept: Vec<(String, FieldKind)>,
}

fn matrix_of(mut table: Box<dyn Table>, options: &ReadOptions, known: &Known) -> Result<MatrixOf> {
    if options.bad_rows == BadRows::Keep {
        let columns = columns_of(table.fields(), table.are_arrays(), options, known)?.columns;
        for column in columns {
            table.allow_gaps(column);
        }
    }
    let fields = table.fields();
    let columns = columns_of(fields, table.are_arrays(), options, known)?;
    let kept = |name: &String| layout::named(fields, Quantity::Column, name);
    let indices = options.keep.iter().map(kept).collect::<Result<Vec<usize>>>()?;
    let kept = indices.iter().map(|&i| (fields[i].name.clone(), fields[i].kind)).collect();
    let one_number = options.encoding.is_one_number();
    let matrix =
        table.matrix(&Selection { columns: &columns.columns, one_number, kept: &indices })?;
    Ok(MatrixOf { columns, matrix, kept })
}

/// Which fields hold the numbers of an encoding.
pub(crate) fn columns_of(
    fields: &[Field],
    arrays: bool,
    options: &ReadOptions,
    known: &Known,
) -> Result<ClassColumns> {
    let extra = options.extra.as_ref().and_then(|extra| extra.name.as_deref());
    let labels = options.labels_in(fields);
    let mut reserved: Vec<&str> = labels.into_iter().chain(extra).collect();
    reserved.extend(options.keep.iter().chain(&known.reserved).map(String::as_str));
    if let Some(prefix) = labels.and_then(|name| name.strip_suffix('*')) {
        let names = fields.iter().map(|field| field.name.as_str());
        reserved.extend(names.filter(|name| name.starts_with(prefix)));
    }
    let name = options.logits_name.as_deref();
    let earlier = options.earlier_logits.as_deref().filter(|_| name.is_none());
    let what = match options.encoding {
        Encoding::BinaryProbability { .. } => Quantity::BinaryProbabilities,
        Encoding::BinaryLogit => Quantity::BinaryLogits,
        Encoding::Confidence => Quantity::Confidences,
        Encoding::Logits | Encoding::Masked | Encoding::Probabilities { .. } => {
            let request = ClassRequest {
                name,
                class_names: options.class_names.as_deref(),
                seen: known.seen.as_ref(),
                probabilities: options.encoding.is_probabilities(),
                reserved: &reserved,
                arrays,
            };
            let alike = earlier.map(|_| ClassRequest { name: earlier, ..request });
            let alike = alike.and_then(|request| class_columns(fields, &request).ok());
            return alike.map_or_else(|| class_columns(fields, &request), Ok);
        }
    };
    // Where columns have names, one of another name is not the one that the estimator is for.
    let named = !arrays && fields.iter().any(|field| !field.name.is_empty());
    let name = name.or(earlier.filter(|_| named));
    let index = match fields {
        // Its shape may be wrong, which its reader describes.
        [_] if arrays && name.is_none() => 0,
        _ => layout::column(fields, what, name, &reserved, arrays)?,
    };
    Ok(ClassColumns::one(index, fields))
}

pub(crate) fn open_matrix(
    source: &Source,
    options: &ReadOptions,
    known: &Known,
    table: Option<OpenTable>,
) -> std::result::Result<MatrixOf, Error> {
    let all = || -> Result<MatrixOf> {
        let Some(parts) = source.parts()? else {
            let table = match table {
                Some(table) => table.first,
                None => open_table(source, options.format)?,
            };
            let mut found = matrix_of(table, options, known)?;
            if source.is_standard_input() {
                found.kept.iter_mut().for_each(|(_, kind)| *kind = FieldKind::Text);
            }
            return Ok(found);
        };
        drop(table);
        let mut all: Option<MatrixOf> = None;
        let mut rows = Some(0_u64);
        for part in &parts {
            let inside = |kind: ErrorKind| kind.in_file(part.path());
            let found = open_table(part, options.format)
                .and_then(|table| matrix_of(table, options, known))
                .map_err(inside)?;
            rows = rows.zip(found.matrix.rows()).and_then(|(all, more)| all.checked_add(more));
            let (names, classes) = (found.columns.names.clone(), found.matrix.classes());
            let first = all.get_or_insert(found);
            if names != first.columns.names || classes != first.matrix.classes() {
                let problem = format!("{} has other columns", part.path().display());
                return Err(ErrorKind::NotAlike { problem });
            }
        }
        let MatrixOf { columns, matrix, kept } = all.ok_or(ErrorKind::NoFiles)?;
        let (options, known) = (options.clone(), known.clone());
        let reopen = Box::new(move |source: &Source| {
            let table = open_table(source, options.format)?;
            matrix_of(table, &options, &known).map(|found| found.matrix)
        });
        let classes = matrix.classes();
        let matrix = Sharded { parts, next: 0, current: None, classes, rows, reopen };
        Ok(MatrixOf { columns, matrix: Box::new(matrix), kept })
    };
    all().map_err(|kind: ErrorKind| kind.of(source.path()))
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

/// A column to read: what it is for, and the name that is requested for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnRequest<'a> {
    pub(crate) what: Quantity,
    pub(crate) name: Option<&'a str>,
}

impl<'a> ColumnRequest<'a> {
    /// A column that is always named, such as that of the groups.
    pub(crate) fn named(name: &'a str) -> Self {
        ColumnRequest { what: Quantity::Column, name: Some(name) }
    }
}

/// The table of a source, open; of a set of files, that of the first.
pub(crate) struct OpenTable {
    path: PathBuf,
    format: Option<Format>,
    first: Box<dyn Table>,
    /// The further files of a set.
    others: Vec<Source>,
    /// The first file of a set, for messages.
    first_part: Option<PathBuf>,
}

/// The columns that were requested, each of them or what is wrong with it.
pub(crate) type RequestedColumns = Vec<std::result::Result<Column, Error>>;

impl OpenTable {
    pub(crate) fn open(
        source: &Source,
        format: Option<Format>,
    ) -> std::result::Result<Self, Error> {
        let path = source.path().to_path_buf();
        let open = || -> Result<Self> {
            let mut parts = source.parts()?.unwrap_or_default().into_iter();
            let first = parts.next();
            let table = open_table(first.as_ref().unwrap_or(source), format);
            let first_part = first.map(|part| part.path().to_path_buf());
            Ok(OpenTable {
                path: path.clone(),
                format,
                first: table?,
                others: parts.collect(),
                first_part,
            })
        };
        open().map_err(|kind| kind.of(&path))
    }

    pub(crate) fn fields(&self) -> &[Field] {
        self.first.fields()
    }

    /// The place of a column in the first file.
    pub(crate) fn place(&self, request: ColumnRequest<'_>) -> std::result::Result<usize, Error> {
        place(&*self.first, request).map_err(|kind| kind.of(&self.path))
    }

    /// Some columns of all files, each of which is read once.
    pub(crate) fn columns(
        self,
        requests: &[ColumnRequest<'_>],
    ) -> std::result::Result<RequestedColumns, Error> {
        let OpenTable { path, format, first, others, first_part } = self;
        let inside = |kind: ErrorKind, part: Option<&Path>| match part {
            Some(part) => kind.in_file(part).of(&path),
            None => kind.of(&path),
        };
        let of_part = |table: Result<Box<dyn Table>>, part: Option<&Path>| {
            let columns = table.and_then(|table| columns_in(table, requests));
            let columns = columns.map_err(|kind| inside(kind, part))?.into_iter();
            let columns = columns.map(|column| column.map_err(|kind| inside(kind, part)));
            Ok(columns.collect::<RequestedColumns>())
        };
        let mut all = of_part(Ok(first), first_part.as_deref())?;
        for part in &others {
            if all.iter().all(std::result::Result::is_err) {
                break;
            }
            let more = of_part(open_table(part, format), Some(part.path()))?;
            for (all, more) in all.iter_mut().zip(more) {
                match (&mut *all, more) {
                    (Ok(all), Ok(more)) => all.append(more),
                    (Ok(_), Err(error)) => *all = Err(error),
                    (Err(_), _) => {}
                }
            }
        }
        Ok(all)
    }

    /// The labels, and other columns. Labels may be one-hot rows.
    pub(crate) fn labels(
        self,
        source: &Source,
        name: Option<&str>,
        others: &[ColumnRequest<'_>],
    ) -> std::result::Result<(std::result::Result<RawLabels, Error>, RequestedColumns), Error> {
        let labels = ColumnRequest { what: Quantity::Labels, name };
        if let Some(pattern) = name.filter(|name| name.ends_with('*')) {
            let format = self.format;
            let found = self.one_hot_columns(pattern);
            let others = match others {
                [] => Vec::new(),
                _ => OpenTable::open(source, format)?.columns(others)?,
            };
            return Ok((found, others));
        }
        match self.place(labels) {
            Ok(index) if self.fields()[index].depth > 0 => {
                let format = self.format;
                let found = self.one_hot(labels);
                let others = match others {
                    [] => Vec::new(),
                    _ => OpenTable::open(source, format)?.columns(others)?,
                };
                Ok((found, others))
            }
            found => {
                let requests: Vec<ColumnRequest<'_>> =
                    [labels].into_iter().chain(others.iter().copied()).collect();
                let names = found.ok().and_then(|index| self.first.names_of_numbers(index));
                let mut columns = self.columns(&requests)?.into_iter();
                let labels = columns.next().unwrap_or(Err(ErrorKind::NoRows.of(source.path())));
                let raw = |column| match (column, names) {
                    (Column::Integers(labels), Some(names)) => RawLabels::Named(labels, names),
                    (column, _) => RawLabels::Column(column),
                };
                Ok((labels.map(raw), columns.collect()))
            }
        }
    }

    /// Labels of one column for each class, of which one is 1: numbered columns are classes by their numbers,
    /// others by what the pattern leaves of their names.
    fn one_hot_columns(self, pattern: &str) -> std::result::Result<RawLabels, Error> {
        let read = |table: Box<dyn Table>| -> Result<RawLabels> {
            let request = ClassRequest { name: Some(pattern), ..ClassRequest::default() };
            let found = class_columns(table.fields(), &request)?;
            let picked = Selection { columns: &found.columns, one_number: false, kept: &[] };
            let labels = one_hot(&mut *table.matrix(&picked)?)?;
            Ok(match found.class_names {
                Some(names) => labels.named(&names),
                None => labels,
            })
        };
        self.of_all(read)
    }

    /// One-hot labels of all files.
    fn one_hot(self, labels: ColumnRequest<'_>) -> std::result::Result<RawLabels, Error> {
        let read = |table: Box<dyn Table>| -> Result<RawLabels> {
            let index = place(&*table, labels)?;
            let picked = Selection { columns: &[index], one_number: false, kept: &[] };
            one_hot(&mut *table.matrix(&picked)?)
        };
        self.of_all(read)
    }

    /// The labels of all files, one after the other.
    fn of_all(
        self,
        read: impl Fn(Box<dyn Table>) -> Result<RawLabels>,
    ) -> std::result::Result<RawLabels, Error> {
        let OpenTable { path, format, first, others, .. } = self;
        let all = || -> Result<RawLabels> {
            let mut all = read(first)?;
            for part in &others {
                let more = open_table(part, format).and_then(&read);
                all.append(more.map_err(|kind| kind.in_file(part.path()))?)?;
            }
            Ok(all)
        };
        all().map_err(|kind| kind.of(&path))
    }
}

fn place(table: &dyn Table, ColumnRequest { what, name }: ColumnRequest<'_>) -> Result<usize> {
    layout::column(table.fields(), what, name, &[], table.are_arrays())
}

/// Some columns of a table, in one reading.
fn columns_in(
    mut table: Box<dyn Table>,
    requests: &[ColumnRequest<'_>],
) -> Result<Vec<Result<Column>>> {
    let places: Vec<Result<usize>> =
        requests.iter().map(|&request| place(&*table, request)).collect();
    for (place, request) in places.iter().zip(requests) {
        if let (Ok(index), Quantity::Labels) = (place, request.what) {
            table.allow_gaps(*index);
        }
    }
    let indices: Vec<usize> = places.iter().flatten().copied().collect();
    let mut columns = match table.columns(&indices) {
        Ok(columns) => columns.into_iter(),
        // A column that is not there is said before what is wrong with the table.
        Err(kind) => return Err(places.into_iter().find_map(Result::err).unwrap_or(kind)),
    };
    let found = |(place, &ColumnRequest { what, .. }): (Result<usize>, &ColumnRequest<'_>)| {
        place?;
        // A format does not know what a column is read for, which decides the hint.
        columns.next().unwrap_or(Err(ErrorKind::NoRows)).map_err(|kind| match kind {
            ErrorKind::NotANumber { row, line, column, text, .. } => {
                ErrorKind::NotANumber { what, row, line, column, text }
            }
            other => other,
        })
    };
    Ok(places.into_iter().zip(requests).map(found).collect())
}

/// The labels of a file that holds nothing else, or those beside the logits.
pub(crate) fn read_raw_labels(
    source: &Source,
    format: Option<Format>,
    name: Option<&str>,
) -> std::result::Result<RawLabels, Error> {
    OpenTable::open(source, format)?.labels(source, name, &[])?.0
}

/// A column: the one of the requested name, the one of a usual name, or the only one.
pub fn read_column(
    source: &Source,
    format: Option<Format>,
    what: Quantity,
    name: Option<&str>,
) -> std::result::Result<Column, Error> {
    let mut columns = OpenTable::open(source, format)?.columns(&[ColumnRequest { what, name }])?;
    columns.pop().unwrap_or(Err(ErrorKind::NoRows.of(source.path())))
}

/// The columns or arrays of a file, or of the first file of a set.
pub fn read_fields(
    source: &Source,
    format: Option<Format>,
) -> std::result::Result<Vec<Field>, Error> {
    Ok(OpenTable::open(source, format)?.fields().to_vec())
}
