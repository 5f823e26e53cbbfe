//! Labelled rows, wherever they come from.
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
    /// The labels.
    pub labels: &'a Labels,
    /// What the predictions cost.
    pub losses: &'a Losses,
}

impl Chunk<'_> {
    /// The rows of the source that it holds.
    pub fn range(&self) -> Range<usize> {
        self.first..self.first + self.logits.rows()
    }
}

/// What a pass does with each chunk.
pub type EachChunk<'a> = dyn FnMut(&Chunk<'_>) -> Result<(), Error> + 'a;

/// Labelled rows that can be read as often as needed.
pub trait RowSource {
    /// What can go wrong in a pass.
    type Error;

    /// How many classes the rows have.
    fn classes(&self) -> usize;

    /// What the numbers are, with the floor that applies to all rows.
    fn encoding(&self) -> Encoding;

    /// What an error costs.
    fn loss(&self) -> &Loss;

    /// The labels of all rows.
    fn labels(&self) -> &Labels;

    /// Reads all rows once, in order.
    fn pass(&mut self, each: &mut EachChunk<'_>) -> Result<(), Self::Error>;

    /// How many rows there are.
    fn rows(&self) -> usize {
        self.labels().len()
    }

    /// Whether each row comes with a further number ([`Logits::with_extra`]).
    fn has_extra(&self) -> bool {
        false
    }

    /// The names of the classes, where they are known.
    fn class_names(&self) -> Option<&[String]> {
        None
    }

    /// The group of each row, where rows are grouped.
    fn groups(&self) -> Option<&[String]> {
        None
    }
}

/// Rows in memory.
pub struct MemoryRows<'a> {
    logits: Logits<'a>,
    encoding: Encoding,
    labels: Labels,
    loss: Loss,
    class_names: Option<Vec<String>>,
    groups: Option<Vec<String>>,
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
        let encoding = encoding.with_floor(logits.floor());
        let (class_names, groups) = (None, None);
        Ok(MemoryRows { logits, encoding, labels, loss, class_names, groups, on_progress: None })
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

    /// The same rows, grouped.
    #[must_use]
    pub fn with_groups(self, groups: Option<Vec<String>>) -> Self {
        MemoryRows { groups, ..self }
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
    type Error = Error;

    fn classes(&self) -> usize {
        self.logits.classes()
    }

    fn encoding(&self) -> Encoding {
        self.encoding
    }

    fn loss(&self) -> &Loss {
        &self.loss
    }

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn has_extra(&self) -> bool {
        self.logits.has_extra()
    }

    fn class_names(&self) -> Option<&[String]> {
        self.class_names.as_deref()
    }

    fn groups(&self) -> Option<&[String]> {
        self.groups.as_deref()
    }

    fn pass(&mut self, each: &mut EachChunk<'_>) -> Result<(), Error> {
        let rows = self.logits.rows();
        chunks(rows, self.logits.classes(), |range| {
            if let Some(on_progress) = self.on_progress {
                on_progress(range.start, rows);
            }
            let first = range.start;
            let (logits, labels) = (self.logits.part(range.clone()), self.labels.part(range));
            let losses = self.loss.of(&logits, &labels, first)?;
            each(&Chunk { first, logits: &logits, labels: &labels, losses: &losses })
        })
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
                assert_eq!(chunk.labels.values()[0] as usize, next % classes);
                next = chunk.range().end;
                losses.extend_from_slice(chunk.losses.values());
                count += 1;
                Ok(())
            })
            .expect("a pass");
        assert_eq!((next, source.rows()), (rows, rows));
        assert!(count > 1);
        assert_eq!(losses, expected.values());
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
