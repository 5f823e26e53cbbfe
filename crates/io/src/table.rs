//! Tables: what formats have in common once a file is open. A table says which fields it has; which of
//! them are read is decided by the layout.

use crate::array::Array;
use crate::column::Column;
use crate::error::{ErrorKind, Result};
use crate::layout::Field;
use crate::matrix::{ArrayMatrix, Matrix};
use abstain::logits::Values;

/// An open file of named columns or arrays.
pub(crate) trait Table: Send {
    /// Its columns or arrays.
    fn fields(&self) -> &[Field];

    /// Whether the fields are arrays, of which one of two dimensions holds all classes.
    fn are_arrays(&self) -> bool {
        false
    }

    /// The names that the numbers in a field stand for, where the file states them.
    fn names_of_numbers(&self, _index: usize) -> Option<Vec<String>> {
        None
    }

    /// Whether values are text, so that one may be missing, and columns may be kept beside no numbers.
    fn is_text(&self) -> bool {
        false
    }

    /// Leaves gaps in a column, where values are missing: NaN among numbers, nothing among texts. Else a
    /// missing value is an error.
    fn allow_gaps(&mut self, index: usize) {
        let _ = index;
    }

    /// The rows of some columns side by side, or of one list, and other columns to keep beside them.
    fn matrix(self: Box<Self>, what: &Selection<'_>) -> Result<Box<dyn Matrix>>;

    /// All values of some columns of one value in each row, in one reading. What is wrong with one column
    /// does not hide the others.
    fn columns(self: Box<Self>, indices: &[usize]) -> Result<Vec<Result<Column>>>;
}

/// The columns that are read as a matrix.
pub(crate) struct Selection<'a> {
    /// Columns of numbers, or one of lists.
    pub(crate) columns: &'a [usize],
    /// Whether a row is one number.
    pub(crate) one_number: bool,
    /// Columns whose values are kept beside the rows.
    pub(crate) kept: &'a [usize],
}

/// The arrays of a file.
pub(crate) struct ArrayTable {
    arrays: Vec<Array>,
    fields: Vec<Field>,
}

impl ArrayTable {
    pub(crate) fn new(arrays: Vec<Array>) -> Self {
        let fields = arrays.iter().map(Array::field).collect();
        ArrayTable { arrays, fields }
    }
}

impl Table for ArrayTable {
    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn are_arrays(&self) -> bool {
        true
    }

    fn matrix(mut self: Box<Self>, what: &Selection<'_>) -> Result<Box<dyn Matrix>> {
        let mut taken: Vec<Option<Array>> = self.arrays.drain(..).map(Some).collect();
        let mut take = |index: usize| taken[index].take().ok_or(ErrorKind::NoRows);
        let matrix = ArrayMatrix::new(take(what.columns[0])?.opened()?, what.one_number)?;
        if what.kept.is_empty() {
            return Ok(Box::new(matrix));
        }
        let mut columns = Vec::new();
        for &index in what.kept {
            let column = take(index)?.opened()?.into_column()?;
            let rows = matrix.rows().unwrap_or_default();
            if column.len() as u64 != rows {
                let name = self.fields[index].name.clone();
                return Err(ErrorKind::KeptLength { name, found: column.len() as u64, rows });
            }
            columns.push(column);
        }
        Ok(Box::new(WithColumns { matrix: Box::new(matrix), columns, range: 0..0 }))
    }

    fn columns(mut self: Box<Self>, indices: &[usize]) -> Result<Vec<Result<Column>>> {
        let mut arrays: Vec<Option<Array>> = self.arrays.drain(..).map(Some).collect();
        let mut columns: Vec<Result<Column>> = Vec::new();
        for (place, &index) in indices.iter().enumerate() {
            let known = indices[..place].iter().position(|&other| other == index);
            columns.push(match (arrays[index].take(), known.map(|known| &columns[known])) {
                (Some(array), _) => array.opened().and_then(Array::into_column),
                (None, Some(Ok(column))) => Ok(column.clone()),
                (None, _) => Err(ErrorKind::NoRows),
            });
        }
        Ok(columns)
    }
}

/// A matrix with whole columns beside it.
struct WithColumns {
    matrix: Box<dyn Matrix>,
    columns: Vec<Column>,
    /// The rows that came last.
    range: std::ops::Range<usize>,
}

impl Matrix for WithColumns {
    fn classes(&self) -> usize {
        self.matrix.classes()
    }

    fn rows(&self) -> Option<u64> {
        self.matrix.rows()
    }

    fn fill(&mut self, rows: usize) -> Result<usize> {
        let rows = self.matrix.fill(rows)?;
        self.range = self.range.end..self.range.end + rows;
        Ok(rows)
    }

    fn values(&mut self) -> Values<'_> {
        self.matrix.values()
    }

    fn kept(&mut self) -> Vec<Column> {
        let range = self.range.clone();
        let part = |column: &Column| match column {
            Column::Integers(values) => Column::Integers(values[range.clone()].to_vec()),
            Column::Floats(values) => Column::Floats(values[range.clone()].to_vec()),
            Column::Bools(values) => Column::Bools(values[range.clone()].to_vec()),
            Column::Texts(values) => Column::Texts(values[range.clone()].to_vec()),
        };
        self.columns.iter().map(part).collect()
    }
}
