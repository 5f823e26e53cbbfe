//! Logits as one list for each row or as one column for each class, and single columns.

use super::choose::{is_index, logit_columns, no_numbers};
use super::cursor::{ColumnType, Cursor, Leaf, Number, STEP, leaves, malformed, names_of, open};
use crate::array::Numbers;
use crate::error::{ErrorKind, ExpectedShape, Result};
use crate::matrix::Matrix;
use crate::selection::Selection;
use crate::source::Opened;
use abstain::Values;
use half::f16;
use parquet::file::reader::FileReader;
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
                out[columns.clone()].iter_mut().zip(column).for_each(|(out, &value)| *out = value);
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

/// The logits of a file, chunk by chunk.
pub(super) struct ParquetMatrix {
    cursor: Cursor,
    classes: usize,
    chunks: Chunks,
    failed: bool,
}

pub(super) fn logits(opened: Opened, selection: &Selection<'_>) -> Result<Box<dyn Matrix>> {
    Ok(Box::new(ParquetMatrix::open(opened.into_file()?, selection)?))
}

impl ParquetMatrix {
    /// While the matrix is read, nobody else may move the file's position, as a clone of it would.
    pub(super) fn open(file: File, selection: &Selection<'_>) -> Result<Self> {
        let file = open(file)?;
        let rows = file.metadata().file_metadata().num_rows();
        let chosen = logit_columns(&leaves(&file), selection, rows)?;
        let only = |kind| chosen.iter().all(|leaf| leaf.kind == kind);
        let mut chunks = if only(ColumnType::Half) {
            Chunks::Half(Chunk::default())
        } else if only(ColumnType::Float) {
            Chunks::Float(Chunk::default())
        } else {
            Chunks::Double(Chunk::default())
        };
        let mut cursor = Cursor::new(file, chosen)?;
        let classes = match &mut chunks {
            _ if cursor.leaves[0].depth == 0 => cursor.leaves.len(),
            Chunks::Half(chunk) => chunk.classes(&mut cursor)?,
            Chunks::Float(chunk) => chunk.classes(&mut cursor)?,
            Chunks::Double(chunk) => chunk.classes(&mut cursor)?,
        };
        Ok(ParquetMatrix { cursor, classes, chunks, failed: false })
    }
}

impl Matrix for ParquetMatrix {
    fn classes(&self) -> usize {
        self.classes
    }

    fn rows(&self) -> Option<u64> {
        Some(self.cursor.rows)
    }

    fn next_chunk(&mut self, rows: usize) -> Result<Option<Values<'_>>> {
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
        let values: Values<'_> = match &self.chunks {
            Chunks::Half(chunk) => (&chunk.values).into(),
            Chunks::Float(chunk) => (&chunk.values).into(),
            Chunks::Double(chunk) => (&chunk.values).into(),
        };
        Ok((!values.is_empty()).then_some(values))
    }
}

/// A whole column: the one of the requested name, the first of the usual names, or the only one.
pub(super) fn column(opened: Opened, selection: &Selection<'_>) -> Result<Numbers> {
    let file = open(opened.into_file()?)?;
    let leaf = choose_column(&leaves(&file), selection)?;
    let mut cursor = Cursor::new(file, vec![leaf.clone()])?;
    if leaf.kind.is_float() {
        return Ok(Numbers::Floats(whole(&mut cursor)?));
    }
    let values: Vec<i64> = whole(&mut cursor)?;
    if leaf.kind == ColumnType::Unsigned && values.iter().any(|&value| value < 0) {
        // Beyond i64 no number is a label; it keeps its size, and is refused with it.
        let size = |value: i64| value.cast_unsigned() as f64;
        return Ok(Numbers::Floats(values.into_iter().map(size).collect()));
    }
    Ok(Numbers::Integers(values))
}

fn choose_column(all: &[Leaf], selection: &Selection<'_>) -> Result<Leaf> {
    let leaf = if let Some(name) = selection.name {
        let found = all.iter().find(|leaf| leaf.name == name);
        found.ok_or_else(|| selection.missing(name, names_of(all)))?
    } else {
        let named = |name: &&str| all.iter().find(|leaf| leaf.name.eq_ignore_ascii_case(name));
        let mut columns = all.iter().filter(|leaf| !is_index(leaf));
        let only = match (columns.next(), columns.next()) {
            (Some(leaf), None) if leaf.depth == 0 && leaf.kind != ColumnType::Other => Some(leaf),
            _ => None,
        };
        let found = selection.usual.iter().find_map(named).or(only);
        found.ok_or_else(|| selection.ambiguous(names_of(all)))?
    };
    if leaf.kind == ColumnType::Other || leaf.depth > 0 {
        return Err(no_numbers(leaf));
    }
    Ok(leaf.clone())
}

/// All rows of a cursor's only column.
fn whole<T: Number>(cursor: &mut Cursor) -> Result<Vec<T>> {
    let mut chunk = Chunk::default();
    let mut all = Vec::new();
    loop {
        // In pieces, so that a wrong number of rows cannot take all memory.
        chunk.fill(cursor, 1, STEP)?;
        if chunk.values.is_empty() {
            return Ok(all);
        }
        all.extend_from_slice(&chunk.values);
    }
}
