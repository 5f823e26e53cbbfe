//! Labelled rows in files, as a row source.

use crate::error::{Error, ErrorKind};
use crate::reader::{LogitsReader, ReadOptions, read_labels, read_numbers};
use crate::source::Source;
use abstain::rows::EachChunk;
use abstain::{Chunk, CostMatrix, Encoding, Labels, Loss, Losses, RowSource};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

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
    match read_numbers(&source, None, "losses", None, &["loss", "losses"]) {
        Ok(numbers) => Ok(Loss::PerRow(Losses::new(numbers.into_floats()).map_err(values)?)),
        Err(Error { kind, .. }) if matches!(*kind, ErrorKind::Shape { .. }) => {
            // Infinite costs are refused by the matrix, which names their classes.
            let masked = ReadOptions { encoding: Encoding::Masked, ..ReadOptions::default() };
            let mut reader = LogitsReader::open(&source, &masked)?;
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
}

/// Called with the rows that a pass has done, and all rows.
type OnProgress<'a> = Box<dyn Fn(usize, usize) + 'a>;

/// Labelled rows in files: labels are in memory, logits are read in each pass.
pub struct FileRows<'a> {
    logits: Source,
    labels_path: PathBuf,
    options: ReadOptions,
    classes: usize,
    labels: Labels,
    loss: Loss,
    /// The file of the losses, for messages.
    loss_path: Option<PathBuf>,
    passes: usize,
    on_progress: Option<OnProgress<'a>>,
}

impl<'a> FileRows<'a> {
    /// Opens the files and reads everything but the logits. (Probabilities without a floor are read
    /// through once to find theirs.)
    pub fn open(files: RowFiles) -> Result<Self, Error> {
        let RowFiles { mut logits, labels, mut options, loss } = files;
        if logits.is_standard_input() && labels.as_ref().is_some_and(Source::is_standard_input) {
            return Err(ErrorKind::StandardInputTwice.of(logits.path()));
        }
        logits.keep_streams()?;
        let reader = LogitsReader::open(&logits, &options)?;
        let (classes, rows) = (reader.classes(), reader.rows());
        // Found once, the floor need not be searched for in every pass.
        options.encoding = reader.encoding();
        drop(reader);
        let labels_path = labels.as_ref().unwrap_or(&logits).path().to_path_buf();
        let labels = match &labels {
            Some(labels) => {
                let apart = ReadOptions { format: None, ..options.clone() };
                read_labels(labels, &apart, classes)?
            }
            None => labels_in(&logits, &options, classes)?,
        };
        let (loss_path, loss) = (loss.file().map(Path::to_path_buf), loss.read(classes)?);
        let rows_of_file = FileRows {
            logits,
            labels_path,
            options,
            classes,
            labels,
            loss,
            loss_path,
            passes: 0,
            on_progress: None,
        };
        // Text does not state its rows: there, the labels do.
        rows_of_file.check_lengths(rows.unwrap_or(rows_of_file.labels.len() as u64))?;
        Ok(rows_of_file)
    }

    /// Opens a file of logits whose labels are in memory, under the 0/1 loss.
    pub fn with_labels(
        mut logits: Source,
        mut options: ReadOptions,
        labels: Labels,
        labels_path: PathBuf,
    ) -> Result<Self, Error> {
        logits.keep_streams()?;
        let reader = LogitsReader::open(&logits, &options)?;
        let classes = reader.classes();
        options.encoding = reader.encoding();
        drop(reader);
        Ok(FileRows {
            logits,
            labels_path,
            options,
            classes,
            labels,
            loss: Loss::ZeroOne,
            loss_path: None,
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

    /// How often the logits have been read.
    pub fn passes(&self) -> usize {
        self.passes
    }

    fn check_lengths(&self, rows: u64) -> Result<(), Error> {
        let count = |what, found: usize, path: &Path| {
            let (found, rows_of) = (found as u64, self.path().to_path_buf());
            if found == rows {
                return Ok(());
            }
            Err(ErrorKind::RowCount { what, found, rows_of, expected: rows }.of(path))
        };
        count("labels", self.labels.len(), &self.labels_path)?;
        match &self.loss {
            Loss::PerRow(losses) => {
                let path = self.loss_path.as_ref().unwrap_or(&self.labels_path);
                count("losses", losses.values().len(), path)
            }
            _ => Ok(()),
        }
    }
}

impl RowSource for FileRows<'_> {
    type Error = Error;

    fn classes(&self) -> usize {
        self.classes
    }

    fn encoding(&self) -> Encoding {
        self.options.encoding
    }

    fn loss(&self) -> &Loss {
        &self.loss
    }

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn has_extra(&self) -> bool {
        self.options.extra.is_some()
    }

    fn pass(&mut self, each: &mut EachChunk<'_>) -> Result<(), Error> {
        self.passes += 1;
        let mut reader = LogitsReader::open(&self.logits, &self.options)?;
        let all = self.labels.len();
        let values = |error: abstain::Error| ErrorKind::from(error).of(self.logits.path());
        let mut rows = 0;
        while let Some((first, logits)) = reader.next_chunk()? {
            if let Some(on_progress) = &self.on_progress {
                on_progress(first.min(all), all);
            }
            rows = first + logits.rows();
            if rows > all {
                // Text does not state its rows beforehand: count them all for the message below.
                continue;
            }
            let labels = self.labels.part(first..rows);
            let losses = self.loss.of(&logits, &labels, first).map_err(values)?;
            let chunk = Chunk { first, logits: &logits, labels: &labels, losses: &losses };
            each(&chunk).map_err(values)?;
        }
        if let Some(on_progress) = &self.on_progress {
            on_progress(all, all);
        }
        self.check_lengths(rows as u64)
    }
}

/// The labels in the file of the logits.
fn labels_in(source: &Source, options: &ReadOptions, classes: usize) -> Result<Labels, Error> {
    read_labels(source, options, classes).map_err(|error| match *error.kind {
        ErrorKind::Shape { .. } | ErrorKind::Ambiguous { .. } => {
            ErrorKind::NoLabels.of(source.path())
        }
        _ => error,
    })
}
