//! Rows, wherever they come from, with labels or without.
//!
//! Everything that is measured is measured in *passes*: a [`RowSource`] hands out its rows in chunks,
//! once per pass, and whoever needs several things of the rows collects them in the same pass. Files,
//! arrays, members of a zoo and embedded data implement it.

use crate::encoding::Encoding;
use crate::error::Error;
use crate::labels::Labels;
use crate::logits::Logits;
use crate::loss::Loss;
use crate::losses::Losses;
use crate::stop;
use std::ops::Range;

/// Some consecutive rows of a source.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    /// The row of the source that the chunk begins with.
    pub first: usize,
    /// The logits.
    pub logits: &'a Logits<'a>,
    /// The labels and what the predictions cost, if the source has labels.
    pub labelled: Option<Labelled<'a>>,
}

/// The labels of some rows, and what the predictions cost.
#[derive(Clone, Copy)]
pub struct Labelled<'a> {
    /// The labels.
    pub labels: &'a Labels,
    /// What the predictions cost.
    pub losses: &'a Losses,
}

impl<'a> Chunk<'a> {
    /// The rows of the source that it holds.
    pub fn range(&self) -> Range<usize> {
        self.first..self.first + self.logits.rows()
    }

    /// Hands rows to what a pass does with each chunk, with the losses of the predictions if there are
    /// labels.
    pub fn hand_out(
        first: usize,
        logits: &Logits<'_>,
        labels: Option<&Labels>,
        loss: &Loss,
        each: &mut EachChunk<'_>,
    ) -> Result<(), Error> {
        let Some(labels) = labels else { return each(&Chunk { first, logits, labelled: None }) };
        let losses = &loss.of(logits, labels, first)?;
        each(&Chunk { first, logits, labelled: Some(Labelled { labels, losses }) })
    }

    /// The labels and losses, where they are needed.
    pub fn labelled(&self) -> Result<Labelled<'a>, Error> {
        self.labelled.ok_or(Error::NoLabels)
    }
}

/// What a pass does with each chunk.
pub type EachChunk<'a> = dyn FnMut(&Chunk<'_>) -> Result<(), Error> + 'a;

/// What can go wrong in a pass.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// Rows are not what they should be.
    #[error(transparent)]
    Rows(#[from] Error),
    /// The source cannot be read; a file's error has the file, the row and the value.
    #[error(transparent)]
    Source(Box<dyn std::error::Error + Send + Sync>),
}

impl PassError {
    /// An error of the source.
    pub fn source(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        PassError::Source(Box::new(error))
    }
}

/// Rows that can be read as often as needed.
pub trait RowSource {
    /// How many classes the rows have.
    fn classes(&self) -> usize;

    /// What the numbers are, with the floor that applies to all rows.
    fn encoding(&self) -> Encoding;

    /// What an error costs.
    fn loss(&self) -> &Loss;

    /// The labels of all rows, if they have labels.
    fn labels(&self) -> Option<&Labels>;

    /// Reads all rows once, in order.
    fn pass(&mut self, each: &mut EachChunk<'_>) -> Result<(), PassError>;

    /// How many rows there are, if that is known before they are read.
    fn rows(&self) -> Option<usize> {
        self.labels().map(Labels::len)
    }

    /// Whether each row comes with a further number ([`Logits::with_extra`]).
    fn has_extra(&self) -> bool {
        false
    }

    /// The names of the classes, where they are known.
    fn class_names(&self) -> Option<&[String]> {
        None
    }

    /// Whether the names of the classes, and with them the numbers of the labels, are in an order that
    /// nothing states: that of the alphabet.
    fn has_guessed_order(&self) -> bool {
        false
    }

    /// The group of each row, where rows are grouped.
    fn groups(&self) -> Option<&[String]> {
        None
    }

    /// What rows belong together by, where that is known: those with equal texts stay on one side of every
    /// split and fold, and count as one row of a certificate.
    fn fold_groups(&self) -> Option<&[String]> {
        None
    }
}

/// Rows in memory.
pub struct MemoryRows<'a> {
    logits: Logits<'a>,
    encoding: Encoding,
    labels: Option<Labels>,
    loss: Loss,
    class_names: Option<Vec<String>>,
    guessed_order: bool,
    groups: Option<Vec<String>>,
    fold_groups: Option<Vec<String>>,
    on_progress: Option<&'a dyn Fn(usize, usize)>,
}

impl<'a> MemoryRows<'a> {
    /// Numbers in their encoding, with labels, under a loss.
    pub fn new(
        logits: Logits<'a>,
        encoding: Encoding,
        labels: Labels,
        loss: Loss,
    ) -> Result<Self, Error> {
        labels.check_against(&logits)?;
        loss.check(logits.rows(), logits.classes())?;
        Ok(MemoryRows { labels: Some(labels), loss, ..MemoryRows::unlabelled(logits, encoding) })
    }

    /// Numbers in their encoding, without labels.
    pub fn unlabelled(logits: Logits<'a>, encoding: Encoding) -> Self {
        let encoding = encoding.with_floor(logits.floor());
        MemoryRows {
            logits,
            encoding,
            labels: None,
            loss: Loss::ZeroOne,
            class_names: None,
            guessed_order: false,
            groups: None,
            fold_groups: None,
            on_progress: None,
        }
    }

    /// Logits and labels under the 0/1 loss.
    pub fn zero_one(logits: Logits<'a>, labels: Labels) -> Result<Self, Error> {
        MemoryRows::new(logits, Encoding::Logits, labels, Loss::ZeroOne)
    }

    /// Calls a function with the rows that a pass has done, and all rows.
    #[must_use]
    pub fn on_progress(self, on_progress: &'a dyn Fn(usize, usize)) -> Self {
        MemoryRows { on_progress: Some(on_progress), ..self }
    }

    /// The same rows with the names of their classes.
    #[must_use]
    pub fn with_class_names(self, class_names: Option<Vec<String>>) -> Self {
        MemoryRows { class_names, ..self }
    }

    /// The same rows with names of their classes whose order nothing states.
    #[must_use]
    pub fn with_guessed_names(self, class_names: Vec<String>) -> Self {
        MemoryRows { class_names: Some(class_names), guessed_order: true, ..self }
    }

    /// The same rows, grouped.
    #[must_use]
    pub fn with_groups(self, groups: Option<Vec<String>>) -> Self {
        MemoryRows { groups, ..self }
    }

    /// The same rows with what they belong together by ([`RowSource::fold_groups`]).
    #[must_use]
    pub fn with_fold_groups(self, fold_groups: Option<Vec<String>>) -> Self {
        MemoryRows { fold_groups, ..self }
    }

    /// The logits.
    pub fn logits(&self) -> &Logits<'a> {
        &self.logits
    }
}

/// Numbers of a chunk: a few megabytes, which stay in the cache while they are worked on.
const NUMBERS_PER_CHUNK: usize = 1 << 20;

/// Rows of a chunk at most: a row of few classes can still take a millisecond to profile, and work
/// can be stopped only between chunks.
const ROWS_PER_CHUNK: usize = 4096;

/// The rows of each chunk where all of them are in memory; [`stop::check`] is called between chunks.
pub fn chunks(
    rows: usize,
    classes: usize,
    mut each: impl FnMut(Range<usize>) -> Result<(), Error>,
) -> Result<(), Error> {
    let at_once = (NUMBERS_PER_CHUNK / classes).clamp(64, ROWS_PER_CHUNK);
    for first in (0..rows).step_by(at_once) {
        stop::check()?;
        each(first..(first + at_once).min(rows))?;
    }
    Ok(())
}

impl RowSource for MemoryRows<'_> {
    fn classes(&self) -> usize {
        self.logits.classes()
    }

    fn encoding(&self) -> Encoding {
        self.encoding
    }

    fn loss(&self) -> &Loss {
        &self.loss
    }

    fn labels(&self) -> Option<&Labels> {
        self.labels.as_ref()
    }

    fn rows(&self) -> Option<usize> {
        Some(self.logits.rows())
    }

    fn has_extra(&self) -> bool {
        self.logits.has_extra()
    }

    fn class_names(&self) -> Option<&[String]> {
        self.class_names.as_deref()
    }

    fn has_guessed_order(&self) -> bool {
        self.guessed_order
    }

    fn groups(&self) -> Option<&[String]> {
        self.groups.as_deref()
    }

    fn fold_groups(&self) -> Option<&[String]> {
        self.fold_groups.as_deref()
    }

    fn pass(&mut self, each: &mut EachChunk<'_>) -> Result<(), PassError> {
        let rows = self.logits.rows();
        let done = chunks(rows, self.logits.classes(), |range| {
            if let Some(on_progress) = self.on_progress {
                on_progress(range.start, rows);
            }
            let first = range.start;
            let logits = self.logits.part(range.clone());
            let labels = self.labels.as_ref().map(|labels| labels.part(range));
            Chunk::hand_out(first, &logits, labels.as_ref(), &self.loss, each)
        });
        Ok(done?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_yields_every_row_once_in_order() {
        let classes = 3;
        let rows = 10_000;
        let values: Vec<f32> = (0..rows * classes).map(|i| (i % 7) as f32).collect();
        let labels: Vec<usize> = (0..rows).map(|i| i % classes).collect();
        let logits = Logits::new(values, classes).expect("valid");
        let labels = Labels::new(&labels, classes).expect("valid");
        let expected = Losses::zero_one(&logits, &labels).expect("valid");
        let mut source = MemoryRows::zero_one(logits, labels).expect("valid");
        let (mut next, mut losses, mut count) = (0, Vec::new(), 0);
        source
            .pass(&mut |chunk| {
                assert_eq!(chunk.first, next);
                let labelled = chunk.labelled()?;
                assert_eq!(labelled.labels.values()[0] as usize, next % classes);
                next = chunk.range().end;
                losses.extend_from_slice(labelled.losses.values());
                count += 1;
                Ok(())
            })
            .expect("a pass");
        assert_eq!((next, source.rows()), (rows, Some(rows)));
        assert!(count > 1);
        assert_eq!(losses, expected.values());
    }

    #[test]
    fn rows_without_labels_say_so_where_labels_are_needed() {
        let logits = Logits::new(&[1.0, 0.0, 0.0, 1.0][..], 2).expect("two rows");
        let mut source = MemoryRows::unlabelled(logits, Encoding::Logits);
        assert_eq!((source.rows(), source.labels()), (Some(2), None));
        let mut rows = 0;
        let counted = source.pass(&mut |chunk| {
            rows += chunk.logits.rows();
            Ok(())
        });
        assert!(counted.is_ok() && rows == 2);
        let refused = source.pass(&mut |chunk| chunk.labelled().map(|_| ()));
        assert!(matches!(refused, Err(PassError::Rows(Error::NoLabels))));
    }

    #[test]
    fn labels_and_losses_of_another_length_are_refused() {
        let logits = || Logits::new(&[1.0, 0.0, 0.0, 1.0][..], 2).expect("two rows");
        let short = Labels::new(&[0], 2).expect("one label");
        assert!(matches!(
            MemoryRows::zero_one(logits(), short),
            Err(Error::Length { what: "labels", found: 1, expected: 2 })
        ));
        let labels = Labels::new(&[0, 1], 2).expect("two labels");
        let loss = Loss::PerRow(Losses::new(vec![1.0]).expect("one loss"));
        assert!(MemoryRows::new(logits(), Encoding::Logits, labels, loss).is_err());
    }
}
