//! Logits as one list for each row or as one column for each class, and single columns.

use super::messages::{Messages, malformed};
use super::values::{Leaf, LeafType, Number, Part, leaves};
use crate::column::Column;
use crate::error::{ErrorKind, ExpectedShape, Result};
use crate::features::{features, names_of_numbers};
use crate::layout::Field;
use crate::matrix::Matrix;
use crate::source::Opened;
use crate::table::{Selection, Table};
use abstain::logits::Values;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use half::f16;
use std::io;
use std::sync::Arc;

/// A table and its columns.
pub(crate) struct ArrowTable {
    origin: Box<dyn Origin>,
    leaves: Vec<Leaf>,
    fields: Vec<Field>,
}

/// Where batches come from.
pub(crate) trait Origin: Send {
    fn schema(&self) -> &SchemaRef;

    fn rows(&self) -> u64;

    /// Some columns of all batches, in the order of the schema.
    fn batches(self: Box<Self>, columns: Vec<usize>) -> Result<Box<dyn Batches>>;
}

/// Batches, one after the other.
pub(crate) trait Batches: Send {
    /// The next batch that has rows.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>>;
}

/// Record batches of one schema.
#[derive(Debug)]
pub(crate) struct MemoryTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    rows: u64,
}

impl MemoryTable {
    pub(crate) fn new(schema: SchemaRef, mut batches: Vec<RecordBatch>) -> Self {
        batches.retain(|batch| batch.num_rows() > 0);
        let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        MemoryTable { schema, batches, rows }
    }

    pub(crate) fn open(self: &Arc<Self>) -> Box<dyn Table> {
        Box::new(ArrowTable::new(Box::new(Arc::clone(self))))
    }
}

pub(super) fn open_table(opened: Opened) -> Result<Box<dyn Table>> {
    let messages = Messages::open(opened.into_file()?)?;
    Ok(Box::new(ArrowTable::new(Box::new(messages))))
}

impl ArrowTable {
    pub(crate) fn new(origin: Box<dyn Origin>) -> Self {
        let leaves = leaves(origin.schema());
        let fields = leaves.iter().map(Leaf::field).collect();
        ArrowTable { origin, leaves, fields }
    }

    /// A place in some columns, of which only these are unpacked.
    fn cursor(self, picked: &[usize], kept: &[usize]) -> Result<Cursor> {
        let leaf = |&i: &usize| self.leaves[i].clone();
        let mut leaves: Vec<Leaf> = picked.iter().map(leaf).collect();
        let mut kept: Vec<Leaf> = kept.iter().map(leaf).collect();
        let mut columns: Vec<usize> = leaves.iter().chain(&kept).map(|leaf| leaf.column).collect();
        columns.sort_unstable();
        columns.dedup();
        for leaf in leaves.iter_mut().chain(&mut kept) {
            leaf.column = columns.partition_point(|&column| column < leaf.column);
        }
        let (rows, batches) = (self.origin.rows(), self.origin.batches(columns)?);
        Ok(Cursor { batches, leaves, kept, rows, batch: None, at: 0, row: 0 })
    }
}

impl Table for ArrowTable {
    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn allow_gaps(&mut self, index: usize) {
        self.leaves[index].gaps = true;
    }

    fn names_of_numbers(&self, index: usize) -> Option<Vec<String>> {
        let Leaf { name, kind: LeafType::Integer, is_list: false, .. } = &self.leaves[index] else {
            return None;
        };
        names_of_numbers(&features(self.origin.schema().metadata().get("huggingface")?), name)
    }

    fn matrix(self: Box<Self>, what: &Selection<'_>) -> Result<Box<dyn Matrix>> {
        let mut cursor = (*self).cursor(what.columns, what.kept)?;
        // A missing number of a row is an error.
        cursor.leaves.iter_mut().for_each(|leaf| leaf.gaps = false);
        if let Some(leaf) = cursor.leaves.iter().find(|leaf| !leaf.kind.is_number()) {
            let problem = format!("column '{}' does not hold numbers", leaf.name);
            let instead = "choose or write a column of numbers".into();
            return Err(ErrorKind::Unsupported { problem, instead });
        }
        Ok(Box::new(ArrowMatrix::new(cursor, what.one_number)?))
    }

    fn columns(self: Box<Self>, indices: &[usize]) -> Result<Vec<Result<Column>>> {
        let mut cursor = (*self).cursor(indices, &[])?;
        let mut columns: Vec<Result<Option<Column>>> = indices.iter().map(|_| Ok(None)).collect();
        while columns.iter().any(Result::is_ok)
            && let Some(rows) = cursor.advance()?
        {
            for (column, leaf) in columns.iter_mut().zip(&cursor.leaves) {
                let Ok(all) = column else { continue };
                match cursor.part(leaf, rows).and_then(|part| part.column()) {
                    Ok(more) => more.add_to(all),
                    Err(error) => *column = Err(error),
                }
            }
            cursor.pass(rows);
        }
        Ok(columns.into_iter().map(|column| column?.ok_or(ErrorKind::NoRows)).collect())
    }
}

impl Origin for Arc<MemoryTable> {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn batches(self: Box<Self>, columns: Vec<usize>) -> Result<Box<dyn Batches>> {
        Ok(Box::new(MemoryBatches { table: *self, columns, next: 0 }))
    }
}

struct MemoryBatches {
    table: Arc<MemoryTable>,
    columns: Vec<usize>,
    next: usize,
}

impl Batches for MemoryBatches {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.table.batches.get(self.next) else { return Ok(None) };
        self.next += 1;
        batch.project(&self.columns).map(Some).map_err(malformed)
    }
}

/// A place in some columns of a table.
struct Cursor {
    batches: Box<dyn Batches>,
    leaves: Vec<Leaf>,
    kept: Vec<Leaf>,
    /// All rows.
    rows: u64,
    batch: Option<RecordBatch>,
    /// The row that comes next, in the batch and in the file.
    at: usize,
    row: u64,
}

impl Cursor {
    /// How many rows of a batch are left; it is the next one if none are left in this one.
    fn advance(&mut self) -> Result<Option<usize>> {
        if let Some(batch) = &self.batch
            && self.at < batch.num_rows()
        {
            return Ok(Some(batch.num_rows() - self.at));
        }
        // The memory of one is free before that of the next is taken.
        (self.batch, self.at) = (None, 0);
        self.batch = self.batches.next_batch()?;
        Ok(self.batch.as_ref().map(RecordBatch::num_rows))
    }

    fn pass(&mut self, rows: usize) {
        self.at += rows;
        self.row += rows as u64;
    }

    /// The next rows of a column.
    fn part<'a>(&self, leaf: &'a Leaf, rows: usize) -> Result<Part<'a>> {
        let batch = self.batch.as_ref().ok_or(ErrorKind::NoRows)?;
        Part::new(batch, leaf, self.at..self.at + rows, self.row)
    }
}

/// Rows of numbers of one type.
struct Chunk<T> {
    values: Vec<T>,
    /// One column, before it is woven into rows.
    column: Vec<T>,
}

impl<T> Default for Chunk<T> {
    fn default() -> Self {
        Chunk { values: Vec::new(), column: Vec::new() }
    }
}

impl<T: Number> Chunk<T> {
    /// Reads at most `rows` rows, over as many batches as it takes, and columns beside them.
    fn fill(
        &mut self,
        cursor: &mut Cursor,
        classes: usize,
        rows: usize,
    ) -> Result<Vec<Option<Column>>> {
        self.values.clear();
        let mut kept: Vec<Option<Column>> = vec![None; cursor.kept.len()];
        let mut wanted = rows;
        while wanted > 0
            && let Some(left) = cursor.advance()?
        {
            let rows = left.min(wanted);
            if cursor.leaves[0].is_list {
                cursor.part(&cursor.leaves[0], rows)?.lists(classes, &mut self.values)?;
            } else {
                self.weave(cursor, rows)?;
            }
            for (all, leaf) in kept.iter_mut().zip(&cursor.kept) {
                cursor.part(leaf, rows)?.column()?.add_to(all);
            }
            cursor.pass(rows);
            wanted -= rows;
        }
        Ok(kept)
    }

    /// Adds rows of all columns, of which each has one class.
    fn weave(&mut self, cursor: &Cursor, rows: usize) -> Result<()> {
        let (start, classes) = (self.values.len(), cursor.leaves.len());
        self.values.resize(start + rows * classes, T::default());
        for (class, leaf) in cursor.leaves.iter().enumerate() {
            self.column.clear();
            cursor.part(leaf, rows)?.numbers(&mut self.column)?;
            let out = self.values[start + class..].iter_mut().step_by(classes);
            out.zip(&self.column).for_each(|(out, value)| *out = *value);
        }
        Ok(())
    }
}

enum Chunks {
    Half(Chunk<f16>),
    Float(Chunk<f32>),
    Double(Chunk<f64>),
}

/// The logits of a file, chunk by chunk.
struct ArrowMatrix {
    cursor: Cursor,
    classes: usize,
    chunks: Chunks,
    kept: Vec<Column>,
    failed: bool,
}

impl ArrowMatrix {
    fn new(mut cursor: Cursor, one_number: bool) -> Result<Self> {
        let only = |kind| cursor.leaves.iter().all(|leaf| leaf.kind == kind);
        let chunks = if only(LeafType::Half) {
            Chunks::Half(Chunk::default())
        } else if only(LeafType::Float) {
            Chunks::Float(Chunk::default())
        } else {
            Chunks::Double(Chunk::default())
        };
        let shape = |leaf: &Leaf, found| {
            let (name, expected) = (format!("'{}' ", leaf.name), ExpectedShape::RowsByClasses);
            ErrorKind::Shape { name, found, expected }
        };
        let classes = match &cursor.leaves[..] {
            [leaf] if !leaf.is_list && !one_number => return Err(shape(leaf, vec![cursor.rows])),
            [leaf] if leaf.is_list => {
                cursor.advance()?.ok_or(ErrorKind::NoRows)?;
                match cursor.part(&cursor.leaves[0], 1)?.list_length()? {
                    0 => return Err(shape(&cursor.leaves[0], vec![cursor.rows, 0])),
                    classes => classes,
                }
            }
            leaves => leaves.len(),
        };
        Ok(ArrowMatrix { cursor, classes, chunks, kept: Vec::new(), failed: false })
    }
}

impl Matrix for ArrowMatrix {
    fn classes(&self) -> usize {
        self.classes
    }

    fn rows(&self) -> Option<u64> {
        Some(self.cursor.rows)
    }

    fn fill(&mut self, rows: usize) -> Result<usize> {
        if self.failed {
            return Err(ErrorKind::Io(io::Error::other("what comes before could not be read")));
        }
        let (cursor, classes, rows) = (&mut self.cursor, self.classes, rows.max(1));
        let filled = match &mut self.chunks {
            Chunks::Half(chunk) => chunk.fill(cursor, classes, rows),
            Chunks::Float(chunk) => chunk.fill(cursor, classes, rows),
            Chunks::Double(chunk) => chunk.fill(cursor, classes, rows),
        };
        self.failed = filled.is_err();
        self.kept = filled?.into_iter().flatten().collect();
        Ok(self.values().len() / classes)
    }

    fn values(&mut self) -> Values<'_> {
        match &self.chunks {
            Chunks::Half(chunk) => (&chunk.values).into(),
            Chunks::Float(chunk) => (&chunk.values).into(),
            Chunks::Double(chunk) => (&chunk.values).into(),
        }
    }

    fn kept(&mut self) -> Vec<Column> {
        std::mem::take(&mut self.kept)
    }
}
