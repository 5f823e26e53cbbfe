//! Logits as one list for each row or as one column for each class, and single columns.

use super::cursor::{ColumnType, Cursor, Leaf, Number, STEP, leaves, malformed, open};
use crate::column::Column;
use crate::error::{ErrorKind, ExpectedShape, Result};
use crate::layout::{Field, FieldKind};
use crate::matrix::Matrix;
use crate::source::Opened;
use crate::table::{Picked, Table};
use abstain::logits::Values;
use half::f16;
use parquet::file::reader::SerializedFileReader;
use std::fs::File;

/// Columns that are woven into rows at a time: 16 floats are one cache line of a row.
const BLOCK: usize = 16;

/// A buffer for rows, which is reused.
#[derive(Default)]
struct Chunk<T> {
    values: Vec<T>,
    /// Some columns, one after another, before they are woven into rows.
    block: Vec<T>,
}

impl<T: Number> Chunk<T> {
    /// The length of the first list.
    fn classes(&mut self, cursor: &mut Cursor) -> Result<usize> {
        cursor.advance::<T>()?;
        let (_, values) = cursor.read(0, 1, &mut self.values)?;
        let (found, leaf) = (cursor.levels.definition.len(), &cursor.leaves[0]);
        if values != found || values == 0 {
            return Err(match cursor.uneven(found) {
                ErrorKind::Ragged { .. } => ErrorKind::Shape {
                    name: format!("'{}' ", leaf.name),
                    found: vec![cursor.rows, 0],
                    expected: ExpectedShape::RowsByClasses,
                },
                null => null,
            });
        }
        cursor.rewind();
        Ok(values)
    }

    /// Reads at most `rows` rows, over as many row groups as it takes.
    fn fill(&mut self, cursor: &mut Cursor, classes: usize, rows: usize) -> Result<()> {
        self.values.clear();
        let mut wanted = rows;
        while wanted > 0 && cursor.advance::<T>()? {
            let rows = usize::try_from(cursor.left).map_or(wanted, |left| left.min(wanted));
            if cursor.leaves[0].depth > 0 {
                cursor.lists(rows, classes, &mut self.values)?;
            } else {
                self.weave(cursor, rows)?;
                cursor.row += rows as u64;
            }
            cursor.left -= rows as u64;
            wanted -= rows;
        }
        Ok(())
    }

    /// Adds rows of all columns, of which each has one class.
    fn weave(&mut self, cursor: &mut Cursor, rows: usize) -> Result<()> {
        let (start, classes) = (self.values.len(), cursor.leaves.len());
        for first in (0..classes).step_by(BLOCK) {
            let columns = first..classes.min(first + BLOCK);
            self.block.clear();
            for column in columns.clone() {
                cursor.flat(column, rows, &mut self.block)?;
            }
            // Not sooner, because only now it is sure that there are as many rows as promised.
            self.values.resize(start + rows * classes, T::default());
            for (row, out) in self.values[start..].chunks_exact_mut(classes).enumerate() {
                let column = self.block[row..].iter().step_by(rows);
                out[columns.clone()]
                    .iter_mut()
                    .zip(column)
                    .for_each(|(out, value)| out.clone_from(value));
            }
        }
        Ok(())
    }
}

enum Chunks {
    Half(Chunk<f16>),
    Float(Chunk<f32>),
    Double(Chunk<f64>),
}

/// A file and its columns.
pub(super) struct ParquetTable {
    file: SerializedFileReader<File>,
    /// The same file, for columns that are read beside the logits. Both are read in turns, and each
    /// reading seeks first.
    again: File,
    leaves: Vec<Leaf>,
    fields: Vec<Field>,
}

pub(super) fn open_table(opened: Opened) -> Result<Box<dyn Table>> {
    Ok(Box::new(ParquetTable::open(opened.into_file()?)?))
}

fn field_of(leaf: &Leaf) -> Field {
    let kind = match leaf.kind {
        kind if kind.is_float() => FieldKind::Float,
        kind if kind.is_integer() => FieldKind::Integer,
        ColumnType::Bool => FieldKind::Bool,
        ColumnType::Text => FieldKind::Text,
        _ => FieldKind::Other,
    };
    // Lists of lists are no logits.
    let kind = if leaf.depth > 1 { FieldKind::Other } else { kind };
    Field { name: leaf.name.clone(), kind, depth: usize::from(leaf.depth > 0) }
}

impl ParquetTable {
    /// While the table is read, nobody else may move the file's position, as a clone of it would.
    pub(super) fn open(file: File) -> Result<Self> {
        let again = file.try_clone()?;
        let file = open(file)?;
        let leaves = leaves(&file);
        let fields = leaves.iter().map(field_of).collect();
        Ok(ParquetTable { file, again, leaves, fields })
    }
}

impl Table for ParquetTable {
    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn matrix(self: Box<Self>, what: &Picked<'_>) -> Result<Box<dyn Matrix>> {
        let ParquetTable { file, again, leaves, .. } = *self;
        let chosen: Vec<Leaf> = what.columns.iter().map(|&i| leaves[i].clone()).collect();
        if let Some(leaf) = chosen.iter().find(|leaf| !is_number(leaf)) {
            return Err(no_numbers(leaf));
        }
        let mut kept = Vec::new();
        for &index in what.kept {
            let cursor = Cursor::new(open(again.try_clone()?)?, vec![leaves[index].clone()])?;
            kept.push(cursor);
        }
        Ok(Box::new(ParquetMatrix::new(Cursor::new(file, chosen)?, kept, what.one_number)?))
    }

    fn columns(self: Box<Self>, indices: &[usize]) -> Result<Vec<Result<Column>>> {
        let ParquetTable { file, again, leaves, .. } = *self;
        let mut opened = Some(file);
        // They lie apart in the file, so each is read by itself.
        let column = |&index: &usize| {
            let file = match opened.take() {
                Some(file) => file,
                None => open(again.try_clone()?)?,
            };
            next_values(&mut Cursor::new(file, vec![leaves[index].clone()])?, usize::MAX)
        };
        Ok(indices.iter().map(column).collect())
    }
}

fn is_number(leaf: &Leaf) -> bool {
    (leaf.kind.is_float() || leaf.kind.is_integer()) && leaf.depth <= 1
}

/// The error of a column that does not hold numbers.
fn no_numbers(leaf: &Leaf) -> ErrorKind {
    let what = if leaf.depth > 1 { "holds lists of lists" } else { "does not hold numbers" };
    let problem = format!("column '{}' {what}", leaf.name);
    ErrorKind::Unsupported { problem, instead: "choose or write a column of numbers".into() }
}

/// The next rows of a cursor's only column, all that are left at most.
fn next_values(cursor: &mut Cursor, rows: usize) -> Result<Column> {
    let leaf = cursor.leaves[0].clone();
    if leaf.depth > 0 {
        let problem = format!("column '{}' holds lists", leaf.name);
        let instead = "choose or write a column of one value in each row".into();
        return Err(ErrorKind::Unsupported { problem, instead });
    }
    Ok(match leaf.kind {
        kind if kind.is_float() => Column::Floats(values(cursor, rows)?),
        ColumnType::Text => Column::Texts(values(cursor, rows)?),
        ColumnType::Bool => {
            let values: Vec<i64> = values(cursor, rows)?;
            Column::Bools(values.into_iter().map(|value| value != 0).collect())
        }
        ColumnType::Unsigned => {
            let values: Vec<i64> = values(cursor, rows)?;
            let values: Vec<u64> = values.into_iter().map(i64::cast_unsigned).collect();
            Column::of_unsigned(&values)
        }
        ColumnType::Signed => Column::Integers(values(cursor, rows)?),
        _ => {
            let problem = format!("column '{}' holds neither numbers nor text", leaf.name);
            let instead = "choose or write a column of numbers or text".into();
            return Err(ErrorKind::Unsupported { problem, instead });
        }
    })
}

fn values<T: Number>(cursor: &mut Cursor, rows: usize) -> Result<Vec<T>> {
    let mut chunk = Chunk::default();
    let mut all = Vec::new();
    while all.len() < rows {
        // In pieces, so that a wrong number of rows cannot take all memory.
        chunk.fill(cursor, 1, STEP.min(rows - all.len()))?;
        if chunk.values.is_empty() {
            break;
        }
        all.append(&mut chunk.values);
    }
    Ok(all)
}

/// The logits of a file, chunk by chunk.
pub(super) struct ParquetMatrix {
    cursor: Cursor,
    classes: usize,
    chunks: Chunks,
    /// Columns beside the logits, and their values in the rows that came last.
    kept: Vec<Cursor>,
    kept_values: Vec<Column>,
    failed: bool,
}

impl ParquetMatrix {
    fn new(mut cursor: Cursor, kept: Vec<Cursor>, one_number: bool) -> Result<Self> {
        let chosen = &cursor.leaves;
        let only = |kind| chosen.iter().all(|leaf| leaf.kind == kind);
        let mut chunks = if only(ColumnType::Half) {
            Chunks::Half(Chunk::default())
        } else if only(ColumnType::Float) {
            Chunks::Float(Chunk::default())
        } else {
            Chunks::Double(Chunk::default())
        };
        if let [leaf] = &chosen[..]
            && leaf.depth == 0
            && !one_number
        {
            return Err(ErrorKind::Shape {
                name: format!("'{}' ", leaf.name),
                found: vec![cursor.rows],
                expected: ExpectedShape::RowsByClasses,
            });
        }
        let classes = match &mut chunks {
            _ if cursor.leaves[0].depth == 0 => cursor.leaves.len(),
            Chunks::Half(chunk) => chunk.classes(&mut cursor)?,
            Chunks::Float(chunk) => chunk.classes(&mut cursor)?,
            Chunks::Double(chunk) => chunk.classes(&mut cursor)?,
        };
        let kept_values = Vec::new();
        Ok(ParquetMatrix { cursor, classes, chunks, kept, kept_values, failed: false })
    }
}

impl Matrix for ParquetMatrix {
    fn classes(&self) -> usize {
        self.classes
    }

    fn rows(&self) -> Option<u64> {
        Some(self.cursor.rows)
    }

    fn values(&mut self) -> Values<'_> {
        match &self.chunks {
            Chunks::Half(chunk) => (&chunk.values).into(),
            Chunks::Float(chunk) => (&chunk.values).into(),
            Chunks::Double(chunk) => (&chunk.values).into(),
        }
    }

    fn fill(&mut self, rows: usize) -> Result<usize> {
        if self.failed {
            return Err(malformed("what comes before could not be read"));
        }
        let (cursor, classes, rows) = (&mut self.cursor, self.classes, rows.max(1));
        let filled = match &mut self.chunks {
            Chunks::Half(chunk) => chunk.fill(cursor, classes, rows),
            Chunks::Float(chunk) => chunk.fill(cursor, classes, rows),
            Chunks::Double(chunk) => chunk.fill(cursor, classes, rows),
        };
        self.failed = filled.is_err();
        filled?;
        let rows = self.values().len() / classes;
        self.kept_values.clear();
        for cursor in &mut self.kept {
            self.kept_values.push(next_values(cursor, rows)?);
        }
        Ok(rows)
    }

    fn kept(&mut self) -> Vec<Column> {
        std::mem::take(&mut self.kept_values)
    }
}
