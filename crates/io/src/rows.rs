//! Rows in files, as a row source.

use crate::column::Column;
use crate::error::{Error, ErrorKind};
use crate::labels::{Classes, LabelKind, RawLabels};
use crate::layout::{Field, Numbering, Quantity, identifies, normalised};
use crate::reader::{
    ColumnRequest, ExtraColumn, Known, LogitsReader, Missing, OpenLogits, OpenTable, ReadOptions,
    read_raw_labels,
};
use crate::source::Source;
use abstain::rows::EachChunk;
use abstain::{
    CostMatrix, Encoding, Labels, Logits, Loss, Losses, RowSource,
    rows::{Chunk, PassError},
};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// What an error costs, as a user names it: `zero-one`, `top-5`, or a file of costs or losses.
#[derive(Debug, Clone, PartialEq)]
pub enum LossArgument {
    /// A loss that needs no numbers.
    Named(Loss),
    /// A file of one loss per row, or of a matrix of costs.
    File(PathBuf),
}

impl Default for LossArgument {
    fn default() -> Self {
        LossArgument::Named(Loss::ZeroOne)
    }
}

impl FromStr for LossArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(loss) => Ok(LossArgument::Named(loss)),
            Err(_) if text.starts_with("top-") => {
                Err("top-K needs a number, as in top-5: the 5 largest logits count as right".into())
            }
            Err(_) => Ok(LossArgument::File(text.into())),
        }
    }
}

impl fmt::Display for LossArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LossArgument::Named(loss) => loss.fmt(f),
            LossArgument::File(path) => path.display().fmt(f),
        }
    }
}

impl LossArgument {
    /// The file that it names.
    pub fn file(&self) -> Option<&Path> {
        match self {
            LossArgument::Named(_) => None,
            LossArgument::File(path) => Some(path),
        }
    }

    /// The loss, read from its file if it has one.
    pub fn read(&self, classes: usize) -> Result<Loss, Error> {
        match self {
            LossArgument::Named(loss) => Ok(loss.clone()),
            LossArgument::File(path) => read_loss(path, classes),
        }
    }
}

/// One loss per row, or a square matrix of costs.
fn read_loss(path: &Path, classes: usize) -> Result<Loss, Error> {
    let source = Source::to_read_again(path)?;
    let values = |error: abstain::Error| ErrorKind::from(error).of(path);
    match read_losses(&source, None) {
        Ok(losses) => Ok(Loss::PerRow(losses)),
        Err(Error { kind, .. })
            if matches!(*kind, ErrorKind::Shape { .. } | ErrorKind::Ambiguous { .. }) =>
        {
            // Infinite costs are refused by the matrix, which names their classes.
            let masked = ReadOptions { encoding: Encoding::Masked, ..ReadOptions::default() };
            let mut reader = LogitsReader::open(&source, &masked)?.trusting_columns();
            let mut costs = Vec::new();
            let mut row = vec![0.0; reader.classes()];
            while let Some((_, chunk)) = reader.next_chunk()? {
                for index in 0..chunk.rows() {
                    chunk.copy_row(index, &mut row);
                    costs.extend_from_slice(&row);
                }
            }
            Ok(Loss::Costs(CostMatrix::new(costs, classes).map_err(values)?))
        }
        Err(error) => Err(error),
    }
}

/// One loss per row. A column of correct flags is refused: read as losses it would turn everything
/// round.
pub fn read_losses(source: &Source, name: Option<&str>) -> Result<Losses, Error> {
    let table = OpenTable::open(source, None)?;
    check_losses(table.fields(), name).map_err(|kind| kind.of(source.path()))?;
    let mut columns = table.columns(&[ColumnRequest { what: Quantity::Losses, name }])?;
    let column = columns.pop().unwrap_or(Err(ErrorKind::NoRows.of(source.path())));
    losses_of(column?).map_err(|kind| kind.of(source.path()))
}

/// Refuses a column of correct flags in the place of losses.
pub(crate) fn check_losses(fields: &[Field], name: Option<&str>) -> Result<(), ErrorKind> {
    let is_correct = |name: &str| Quantity::Correct.has_name(name);
    let named = name.filter(|name| is_correct(name)).map(str::to_string);
    let found = || fields.iter().map(|field| &field.name).find(|name| is_correct(name)).cloned();
    let none = name.is_none() && !fields.iter().any(|field| Quantity::Losses.has_name(&field.name));
    match named.or_else(|| if none { found() } else { None }) {
        Some(name) => Err(ErrorKind::CorrectForLosses { name }),
        None => Ok(()),
    }
}

pub(crate) fn losses_of(column: Column) -> Result<Losses, ErrorKind> {
    Ok(Losses::new(column.into_floats()?)?)
}

/// Labels of a file without logits, of classifiers with that many classes.
pub fn read_labels(
    source: &Source,
    options: &ReadOptions,
    classes: usize,
) -> Result<Labels, Error> {
    let raw = read_raw_labels(source, options.format, options.labels_name.as_deref())?;
    let resolve = || match raw.gaps().first() {
        // There are no rows that could be left out.
        Some(&row) => Err(ErrorKind::Null { row: row as u64, column: "of the labels".into() }),
        None => Classes::unnamed(classes, options).resolve(raw),
    };
    Ok(resolve().map_err(|kind| kind.of(source.path()))?.labels)
}

/// Where labelled rows are.
#[derive(Debug)]
pub struct RowFiles {
    /// The logits.
    pub logits: Source,
    /// The labels; in the file of the logits if there is none.
    pub labels: Option<Source>,
    /// How to read both.
    pub options: ReadOptions,
    /// What an error costs.
    pub loss: LossArgument,
    /// The column of the groups of the rows, in the file of the logits or in that of the labels.
    pub group: Option<String>,
    /// The column that rows belong together by: see [`RowSource::fold_groups`].
    pub fold_group: Option<String>,
}

/// How a file was understood.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Reading {
    /// The file, pattern or folder.
    pub file: PathBuf,
    /// How many rows it has, if that is known before they are read.
    pub rows: Option<u64>,
    /// How many classes they have.
    pub classes: usize,
    /// What the numbers are.
    pub encoding: String,
    /// The columns that are the classes, in their order, or the array of the logits. Columns without
    /// names are not listed.
    pub columns: Vec<String>,
    /// Other columns of numbers, which are not used.
    pub unused: Vec<String>,
    /// How the labels were understood.
    pub labels: Option<LabelKind>,
    /// Rows that are left out because they have no label.
    pub unlabelled: u64,
    /// Labels of rows that are not there, by their identifiers.
    pub strangers: u64,
    /// The name of class 1, of two classes whose names are known: the one that a single number is of.
    pub positive: Option<String>,
}

impl Reading {
    /// How a reader understands a file.
    pub fn of(reader: &LogitsReader<'_>, path: &Path) -> Self {
        let columns = reader.columns();
        Reading {
            file: path.to_path_buf(),
            rows: reader.rows(),
            classes: reader.classes(),
            encoding: reader.encoding().to_string(),
            columns: columns.names.iter().filter(|name| !name.is_empty()).cloned().collect(),
            unused: columns.others.clone(),
            labels: None,
            unlabelled: 0,
            strangers: 0,
            positive: second_of_two(columns.class_names.as_deref()),
        }
    }
}

/// The second of two names.
fn second_of_two(names: Option<&[String]>) -> Option<String> {
    match names {
        Some([_, second]) => Some(second.clone()),
        _ => None,
    }
}

/// Called with the rows that a pass has done, and all rows.
type OnProgress<'a> = Box<dyn Fn(usize, usize) + 'a>;

/// Rows in files: labels are in memory, logits are read in each pass.
pub struct FileRows<'a> {
    logits: Source,
    labels_path: PathBuf,
    options: ReadOptions,
    classes: usize,
    labels: Option<Labels>,
    /// The rows of the file that have labels, if not all have.
    labelled: Option<Vec<usize>>,
    /// How many rows there are, without those that have no label, if that is known before they are read.
    rows: Option<usize>,
    known: Known,
    class_names: Option<Vec<String>>,
    groups: Option<Vec<String>>,
    fold_groups: Option<Vec<String>>,
    reading: Reading,
    loss: Loss,
    /// The file of the losses, for messages.
    loss_path: Option<PathBuf>,
    /// The logits as they were opened, for the first pass.
    open: Option<OpenLogits>,
    passes: usize,
    on_progress: Option<OnProgress<'a>>,
}

impl<'a> FileRows<'a> {
    /// Opens the files and reads everything but the logits. (Probabilities without a floor are read
    /// through once to find theirs.)
    pub fn open(files: RowFiles) -> Result<Self, Error> {
        let RowFiles { mut logits, mut labels, mut options, loss, group, fold_group } = files;
        if logits.is_standard_input() && labels.as_ref().is_some_and(Source::is_standard_input) {
            return Err(ErrorKind::StandardInputTwice.of(logits.path()));
        }
        logits.keep_streams()?;
        if let Some(labels) = &mut labels {
            labels.keep_streams()?;
        }
        let named = [group.as_deref(), fold_group.as_deref()];
        let found = SideColumns::read(&logits, labels.as_ref(), &options, named)?;
        let SideColumns { raw, groups: [groups, fold_groups], extra, table, joined } = found;
        let labels_path = labels.as_ref().unwrap_or(&logits).path().to_path_buf();
        let JoinedLabels { raw, labelled, rows: expected, strangers } =
            join(raw, joined, options.missing).map_err(|kind| kind.of(&labels_path))?;
        let reserved = group.iter().chain(&fold_group).cloned().collect();
        let known = Known { seen: raw.texts(), reserved, extra };
        let reader = LogitsReader::open_knowing(&logits, &options, &known, table)?;
        let (classes, rows) = (reader.classes(), reader.rows());
        // Found once, the floor need not be searched for in every pass.
        options.encoding = reader.encoding();
        let resolve = || Classes::of(&reader, &options).resolve(raw);
        let resolved = resolve().map_err(|kind| kind.of(&labels_path))?;
        let reading = Reading {
            labels: Some(resolved.kind),
            rows: Some(resolved.labels.len() as u64),
            unlabelled: (expected - resolved.labels.len()) as u64,
            strangers,
            positive: second_of_two(resolved.class_names.as_deref()),
            ..Reading::of(&reader, logits.path())
        };
        let open = reader.into_open();
        let (loss_path, mut loss) = (loss.file().map(Path::to_path_buf), loss.read(classes)?);
        // Text does not state its rows: there, the labels do.
        let all = rows.unwrap_or(expected as u64);
        let count =
            |what, found: usize, path: &Path| check_count(what, found, all, path, logits.path());
        count("labels", expected, &labels_path)?;
        if let Loss::PerRow(losses) = &loss {
            let path = loss_path.as_ref().unwrap_or(&labels_path);
            count("losses", losses.values().len(), path)?;
            if let Some(labelled) = &labelled {
                loss = Loss::PerRow(losses.select(labelled));
            }
        }
        let of_labelled = |name: Option<String>, texts: Option<Vec<String>>| {
            let found = texts.as_ref().map_or(all, |texts| texts.len() as u64);
            if let Some(name) = name.filter(|_| found != all) {
                return Err(ErrorKind::KeptLength { name, found, rows: all }.of(logits.path()));
            }
            Ok(match (texts, &labelled) {
                (Some(texts), Some(rows)) => {
                    Some(rows.iter().map(|&row| texts[row].clone()).collect())
                }
                (texts, _) => texts,
            })
        };
        let (groups, fold_groups) =
            (of_labelled(group, groups)?, of_labelled(fold_group, fold_groups)?);
        Ok(FileRows {
            logits,
            labels_path,
            options,
            classes,
            rows: Some(resolved.labels.len()),
            labels: Some(resolved.labels),
            labelled,
            known,
            class_names: resolved.class_names,
            groups,
            fold_groups,
            reading,
            loss,
            loss_path,
            open: Some(open),
            passes: 0,
            on_progress: None,
        })
    }

    /// Opens a file of logits whose labels are in memory, under the 0/1 loss.
    pub fn with_labels(
        logits: Source,
        options: ReadOptions,
        labels: Labels,
        labels_path: PathBuf,
    ) -> Result<Self, Error> {
        let (rows, labels, class_names) = (Some(labels.len()), Some(labels), None);
        let unlabelled = FileRows::unlabelled(logits, options)?;
        Ok(FileRows { labels_path, labels, rows, class_names, ..unlabelled })
    }

    /// Opens a file of logits without labels.
    pub fn unlabelled(mut logits: Source, mut options: ReadOptions) -> Result<Self, Error> {
        logits.keep_streams()?;
        let reader = LogitsReader::open(&logits, &options)?;
        let (classes, reading) = (reader.classes(), Reading::of(&reader, logits.path()));
        let class_names = reader.columns().class_names.clone().or(options.class_names.clone());
        options.encoding = reader.encoding();
        let open = Some(reader.into_open());
        Ok(FileRows {
            labels_path: logits.path().to_path_buf(),
            rows: reading.rows.and_then(|rows| usize::try_from(rows).ok()),
            logits,
            options,
            classes,
            labels: None,
            labelled: None,
            known: Known::default(),
            class_names,
            groups: None,
            fold_groups: None,
            reading,
            loss: Loss::ZeroOne,
            loss_path: None,
            open,
            passes: 0,
            on_progress: None,
        })
    }

    /// Calls a function with the rows that a pass has done, and all rows.
    #[must_use]
    pub fn on_progress(self, on_progress: impl Fn(usize, usize) + 'a) -> Self {
        FileRows { on_progress: Some(Box::new(on_progress)), ..self }
    }

    /// The file of the logits.
    pub fn path(&self) -> &Path {
        self.logits.path()
    }

    /// How the files were understood.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// How often the logits have been read.
    pub fn passes(&self) -> usize {
        self.passes
    }

    fn check_lengths(&self, rows: u64) -> Result<(), Error> {
        let skipped = usize::try_from(self.reading.unlabelled).unwrap_or(usize::MAX);
        if let Some(labels) = &self.labels {
            let found = labels.len() + skipped;
            check_count("labels", found, rows, &self.labels_path, self.path())?;
        }
        match &self.loss {
            Loss::PerRow(losses) => {
                let path = self.loss_path.as_ref().unwrap_or(&self.labels_path);
                let found = losses.values().len() + skipped;
                check_count("losses", found, rows, path, self.path())
            }
            _ => Ok(()),
        }
    }
}

fn check_count(
    what: &'static str,
    found: usize,
    rows: u64,
    path: &Path,
    rows_of: &Path,
) -> Result<(), Error> {
    let (found, rows_of) = (found as u64, rows_of.to_path_buf());
    if found == rows {
        return Ok(());
    }
    Err(ErrorKind::RowCount { what, found, rows_of, expected: rows }.of(path))
}

/// The labels of the rows that have some.
pub(crate) struct JoinedLabels {
    pub(crate) raw: RawLabels,
    /// The rows of the file that have labels, if not all have.
    pub(crate) labelled: Option<Vec<usize>>,
    /// How many rows there are in the file.
    pub(crate) rows: usize,
    /// Labels of rows that are not there.
    strangers: u64,
}

/// Brings labels into the order of the rows, and leaves out rows without one. Where the labels belong to the
/// rows by identifiers, `joined` is the place of the label of each row.
pub(crate) fn join(
    raw: RawLabels,
    joined: Option<Vec<Option<usize>>>,
    missing: Missing,
) -> Result<JoinedLabels, ErrorKind> {
    let gaps = raw.gaps();
    if gaps.is_empty() && joined.is_none() {
        let rows = raw.len();
        return Ok(JoinedLabels { raw, labelled: None, rows, strangers: 0 });
    }
    let count = raw.len();
    let places = joined.unwrap_or_else(|| (0..count).map(Some).collect());
    let is_there = |place: &usize| gaps.binary_search(place).is_err();
    let (mut labelled, mut of_rows) = (Vec::new(), Vec::new());
    for (row, place) in places.iter().enumerate() {
        if let Some(place) = place.filter(is_there) {
            labelled.push(row);
            of_rows.push(place);
        }
    }
    let rows = places.len();
    let unlabelled = (0..rows).find(|row| labelled.binary_search(row).is_err());
    if let Some(row) = unlabelled.filter(|_| missing == Missing::Refuse || labelled.is_empty()) {
        return Err(ErrorKind::Null { row: row as u64, column: "of the labels".into() });
    }
    let mut used: Vec<usize> = places.into_iter().flatten().collect();
    used.sort_unstable();
    used.dedup();
    let strangers = (count - used.len()) as u64;
    let labelled = (labelled.len() < rows).then_some(labelled);
    Ok(JoinedLabels { raw: raw.select(&of_rows), labelled, rows, strangers })
}

impl FileRows<'_> {
    /// Reads all rows once; errors name the file.
    fn read(&mut self, each: &mut EachChunk<'_>) -> Result<(), Error> {
        self.passes += 1;

        let mut reader = match self.open.take() {
            Some(open) => LogitsReader::of(&self.logits, open),
            None => LogitsReader::open_knowing(&self.logits, &self.options, &self.known, None)?,
        };
        let values = |error: abstain::Error| ErrorKind::from(error).of(self.logits.path());
        let mut rows = 0;
        while let Some((first, logits)) = reader.next_chunk()? {
            if let (Some(on_progress), Some(all)) = (&self.on_progress, self.rows) {
                on_progress(first.min(all), all);
            }
            rows = first + logits.rows();
            let mut hand_out = |first: usize, logits: &Logits<'_>| {
                let end = first + logits.rows();
                if self.labels.as_ref().is_some_and(|labels| end > labels.len()) {
                    // Text does not state its rows beforehand: count them all for the message below.
                    return Ok(());
                }
                let labels = self.labels.as_ref().map(|labels| labels.part(first..end));
                Chunk::hand_out(first, logits, labels.as_ref(), &self.loss, each).map_err(values)
            };
            let Some(labelled) = &self.labelled else {
                hand_out(first, &logits)?;
                continue;
            };
            let before = |row: usize| labelled.partition_point(|&other| other < row);
            let here = before(first)..before(rows);
            if !here.is_empty() {
                let local: Vec<usize> =
                    labelled[here.clone()].iter().map(|row| row - first).collect();
                hand_out(here.start, &logits.select(&local))?;
            }
        }
        if let (Some(on_progress), Some(all)) = (&self.on_progress, self.rows) {
            on_progress(all, all);
        }
        self.check_lengths(rows as u64)
    }
}

impl RowSource for FileRows<'_> {
    fn classes(&self) -> usize {
        self.classes
    }

    fn encoding(&self) -> Encoding {
        self.options.encoding
    }

    fn loss(&self) -> &Loss {
        &self.loss
    }

    fn labels(&self) -> Option<&Labels> {
        self.labels.as_ref()
    }

    fn rows(&self) -> Option<usize> {
        self.rows
    }

    fn has_extra(&self) -> bool {
        self.options.extra.is_some()
    }

    fn class_names(&self) -> Option<&[String]> {
        self.class_names.as_deref()
    }

    fn has_guessed_order(&self) -> bool {
        self.reading.labels == Some(LabelKind::SortedNames)
    }

    fn groups(&self) -> Option<&[String]> {
        self.groups.as_deref()
    }

    fn fold_groups(&self) -> Option<&[String]> {
        self.fold_groups.as_deref()
    }

    fn pass(&mut self, each: &mut EachChunk<'_>) -> Result<(), PassError> {
        self.read(each).map_err(PassError::source)
    }
}

/// What is read beside the logits, each file of it once.
struct SideColumns {
    raw: RawLabels,
    /// The columns of groups that were named.
    groups: [Option<Vec<String>>; 2],
    extra: Option<Arc<[f64]>>,
    /// The table of the logits, if nothing has been read from it.
    table: Option<OpenTable>,
    /// The place of the label of each row, where labels are in another order.
    joined: Option<Vec<Option<usize>>>,
}

impl SideColumns {
    fn read(
        logits: &Source,
        labels: Option<&Source>,
        options: &ReadOptions,
        groups: [Option<&str>; 2],
    ) -> Result<Self, Error> {
        let table = OpenTable::open(logits, options.format);
        let extra = options.extra.as_ref().filter(|extra| extra.path == logits.path());
        let mut requests: Vec<ColumnRequest<'_>> =
            groups.into_iter().flatten().map(ColumnRequest::named).collect();
        requests.extend(extra.map(ExtraColumn::request));
        let mut joined = None;
        let (raw, columns, table) = match labels {
            None => {
                let wrong = |error| instead_of_labels(error, logits, options);
                let table = table?;
                let name = options.labels_in(table.fields());
                let (raw, columns) = table.labels(logits, name, &requests).map_err(wrong)?;
                (raw.map_err(wrong)?, columns, None)
            }
            Some(labels) => {
                let of_labels = OpenTable::open(labels, None)?;
                let name = options.labels_in(of_labels.fields());
                let id = match &table {
                    Ok(table) => shared_id((logits, table), (labels, &of_labels))?,
                    Err(_) => None,
                };
                let of_id = id.as_ref().map(|id| ColumnRequest::named(&id.of_labels));
                let (raw, mut found) = of_labels.labels(labels, name, of_id.as_slice())?;
                requests.extend(id.as_ref().map(|id| ColumnRequest::named(&id.of_rows)));
                let (mut columns, table) = match table {
                    Ok(table) if requests.is_empty() => (Vec::new(), Some(table)),
                    Ok(table) => (table.columns(&requests)?, None),
                    // The reader of the logits describes what is wrong.
                    Err(_) => (Vec::new(), None),
                };
                if let Some(id) = &id
                    && let (Some(expected), Some(found)) = (columns.pop(), found.pop())
                {
                    joined = places_by_id(&id.of_rows, (logits, expected?), (labels, found?))?;
                }
                if let Err(Error { kind, .. }) = &raw
                    && matches!(**kind, ErrorKind::NotOneHot { .. })
                {
                    // Where the two files are swapped, what is wrong with the logits is said first.
                    LogitsReader::open(logits, options)?;
                }
                (raw?, columns, table)
            }
        };
        let mut columns = columns.into_iter();
        let mut texts = |name: Option<&str>| -> Result<Option<Vec<String>>, Error> {
            let column = name.and_then(|_| columns.next()).transpose()?;
            Ok(column.map(Column::into_texts))
        };
        let groups = [texts(groups[0])?, texts(groups[1])?];
        let extra = match (extra, columns.next()) {
            (Some(extra), Some(column)) => Some(extra.numbers(column?)?),
            _ => None,
        };
        Ok(SideColumns { raw, groups, extra, table, joined })
    }
}

/// The error of a file that was expected to hold the labels: what is wrong with the logits is said first.
fn instead_of_labels(error: Error, logits: &Source, options: &ReadOptions) -> Error {
    match *error.kind {
        ErrorKind::Shape { .. }
        | ErrorKind::NotOneHot { .. }
        | ErrorKind::Ambiguous { what: Quantity::Labels, .. } => {
            match LogitsReader::open(logits, options) {
                Ok(_) if is_choice_of_labels(&error.kind) => error,
                // Columns that are classes only if labels say so are not known to be any.
                Ok(reader)
                    if matches!(
                        reader.columns().numbering,
                        Numbering::Words { certain: false } | Numbering::Positions
                    ) && matches!(*error.kind, ErrorKind::Ambiguous { .. }) =>
                {
                    error
                }
                Ok(_) => ErrorKind::NoLabels.of(logits.path()),
                Err(other) => other,
            }
        }
        _ => error,
    }
}

/// Whether several columns of usual names may be the labels.
fn is_choice_of_labels(kind: &ErrorKind) -> bool {
    match kind {
        ErrorKind::Ambiguous { names, .. } => {
            names.iter().filter(|name| Quantity::Labels.has_name(name)).count() > 1
        }
        _ => false,
    }
}

/// The place of the label of each row, by the identifiers of both files; nothing where both have the same
/// rows in the same order. Refuses labels of other rows, and identifiers of several labels.
pub(crate) fn places_by_id(
    name: &str,
    (logits, expected): (&Source, Column),
    (labels, found): (&Source, Column),
) -> Result<Option<Vec<Option<usize>>>, Error> {
    let (expected, found) = (expected.into_texts(), found.into_texts());
    let same = |(a, b): (&String, &String)| a.trim() == b.trim();
    if expected.len() == found.len() && expected.iter().zip(&found).all(same) {
        return Ok(None);
    }
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (row, id) in found.iter().enumerate() {
        if places.insert(id.trim(), row).is_some() {
            let (column, id) = (name.to_string(), id.clone());
            return Err(ErrorKind::RepeatedId { row: row as u64, column, id }.of(labels.path()));
        }
    }
    let joined: Vec<Option<usize>> =
        expected.iter().map(|id| places.get(id.trim()).copied()).collect();
    if joined.iter().any(Option::is_some) {
        return Ok(Some(joined));
    }
    let [first, other] = [&found, &expected].map(|ids| ids.first().cloned().unwrap_or_default());
    Err(ErrorKind::OtherRow {
        row: 0,
        column: name.to_string(),
        found: first,
        expected: other,
        rows_of: logits.path().to_path_buf(),
    }
    .of(labels.path()))
}

/// The columns that identify the rows in two files; their names are the same but for case and separators.
pub(crate) struct SharedId {
    pub(crate) of_rows: String,
    pub(crate) of_labels: String,
}

/// The columns that identify the rows in both files. Refuses a file of labels that is a whole table like
/// that of the logits: a shell that replaces a pattern by its files gives two of a set, and the labels of
/// one would be taken for the other.
pub(crate) fn shared_id(
    (logits, first): (&Source, &OpenTable),
    (labels, second): (&Source, &OpenTable),
) -> Result<Option<SharedId>, Error> {
    if logits.is_standard_input() || labels.is_standard_input() || logits.path() == labels.path() {
        return Ok(None);
    }
    let (first, second) = (first.fields(), second.fields());
    if first.len() > 1 && first == second {
        let other = logits.path().to_path_buf();
        return Err(ErrorKind::SecondTable { other }.of(labels.path()));
    }
    let bare = |name: &str| normalised(name).replace('_', "");
    let mut names = first.iter().map(|field| &field.name).filter(|name| identifies(name));
    let shared = |name: &String| {
        // One of exactly this name comes first.
        let same = second.iter().find(|field| field.name == *name);
        let alike = || second.iter().find(|field| bare(&field.name) == bare(name));
        let of_labels = same.or_else(alike)?.name.clone();
        Some(SharedId { of_rows: name.clone(), of_labels })
    };
    Ok(names.find_map(shared))
}
