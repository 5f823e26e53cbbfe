//! One value for each row: labels, losses, confidences, groups.

use crate::dtype::Dtype;
use crate::error::ErrorKind;
use crate::layout::FieldKind;
use abstain::half::{bf16, f16};
use bytemuck::Pod;

/// One value for each row.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Any numbers.
    Floats(Vec<f64>),
    /// Truth values.
    Bools(Vec<bool>),
    /// Text.
    Texts(Vec<String>),
}

/// A column of a text file that is being read, a value at a time.
pub(crate) enum GrowingColumn {
    Numbers(Vec<f64>),
    Bools(Vec<bool>),
    Texts(Vec<String>),
}

impl GrowingColumn {
    /// A column of a kind, as the first row shows it.
    pub(crate) fn new(kind: FieldKind) -> Self {
        match kind {
            FieldKind::Text => GrowingColumn::Texts(Vec::new()),
            FieldKind::Bool => GrowingColumn::Bools(Vec::new()),
            _ => GrowingColumn::Numbers(Vec::new()),
        }
    }

    /// Adds a missing value.
    pub(crate) fn push_gap(&mut self) {
        match self {
            GrowingColumn::Numbers(values) => values.push(f64::NAN),
            GrowingColumn::Texts(values) => values.push(String::new()),
            GrowingColumn::Bools(values) => {
                let mut texts = Column::Bools(std::mem::take(values)).into_texts();
                texts.push(String::new());
                *self = GrowingColumn::Texts(texts);
            }
        }
    }

    /// Makes a column text if all of its values so far are missing: the first row did not show what it holds.
    pub(crate) fn reconsider(&mut self) {
        if let GrowingColumn::Numbers(values) = self
            && !values.is_empty()
            && values.iter().all(|value| value.is_nan())
        {
            *self = GrowingColumn::Texts(vec![String::new(); values.len()]);
        }
    }

    /// The column, which must have rows.
    pub(crate) fn finish(self) -> Result<Column, ErrorKind> {
        let column = match self {
            GrowingColumn::Numbers(values) => Column::of_numbers(values),
            GrowingColumn::Bools(values) => Column::Bools(values),
            GrowingColumn::Texts(values) => Column::Texts(values),
        };
        if column.is_empty() { Err(ErrorKind::NoRows) } else { Ok(column) }
    }
}

impl Column {
    pub(crate) fn from_bytes(bytes: &[u8], dtype: Dtype) -> Self {
        // The bytes may not be aligned: each number is assembled from them.
        fn each<T: Pod, U>(bytes: &[u8], convert: impl Fn(T) -> U) -> Vec<U> {
            bytes
                .chunks_exact(size_of::<T>())
                .map(|b| convert(bytemuck::pod_read_unaligned(b)))
                .collect()
        }
        match dtype {
            Dtype::F16 => Column::Floats(each(bytes, f16::to_f64)),
            Dtype::BF16 => Column::Floats(each(bytes, bf16::to_f64)),
            Dtype::F32 => Column::Floats(each(bytes, |x: f32| f64::from(x))),
            Dtype::F64 => Column::Floats(each(bytes, |x: f64| x)),
            Dtype::I8 => Column::Integers(each(bytes, |x: i8| i64::from(x))),
            Dtype::I16 => Column::Integers(each(bytes, |x: i16| i64::from(x))),
            Dtype::I32 => Column::Integers(each(bytes, |x: i32| i64::from(x))),
            Dtype::I64 => Column::Integers(each(bytes, |x: i64| x)),
            Dtype::U8 => Column::Integers(each(bytes, |x: u8| i64::from(x))),
            Dtype::Bool => Column::Bools(each(bytes, |x: u8| x != 0)),
            Dtype::U16 => Column::Integers(each(bytes, |x: u16| i64::from(x))),
            Dtype::U32 => Column::Integers(each(bytes, |x: u32| i64::from(x))),
            Dtype::U64 => Column::of_unsigned(&each(bytes, |x: u64| x)),
            Dtype::Unicode(_) | Dtype::Bytes(_) => Column::Texts(
                bytes.chunks_exact(dtype.size().max(1)).map(|text| text_of(text, dtype)).collect(),
            ),
        }
    }

    /// Beyond i64 no number is a label; it keeps its size, and is refused with it.
    pub(crate) fn of_unsigned(values: &[u64]) -> Self {
        let integers: Result<Vec<i64>, _> = values.iter().map(|&x| i64::try_from(x)).collect();
        integers.map_or_else(
            |_| Column::Floats(values.iter().map(|&x| x as f64).collect()),
            Column::Integers,
        )
    }

    /// Numbers of text, which does not tell whole ones from others.
    pub(crate) fn of_numbers(values: Vec<f64>) -> Self {
        let whole = values.iter().all(|value| value.fract() == 0.0);
        // Whole numbers that doubles do not hold exactly stay what they are.
        match Column::Floats(values.clone()).into_integers() {
            Ok(integers) if whole => Column::Integers(integers),
            _ => Column::Floats(values),
        }
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        match self {
            Column::Integers(values) => values.len(),
            Column::Floats(values) => values.len(),
            Column::Bools(values) => values.len(),
            Column::Texts(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As floating-point numbers; truth values are 1 and 0.
    pub fn into_floats(self) -> Result<Vec<f64>, ErrorKind> {
        match self {
            Column::Integers(values) => Ok(values.into_iter().map(|x| x as f64).collect()),
            Column::Floats(values) => Ok(values),
            Column::Bools(values) => {
                Ok(values.into_iter().map(|x| if x { 1.0 } else { 0.0 }).collect())
            }
            Column::Texts(values) => Err(text_for_number(&values)),
        }
    }

    /// As whole numbers; 3.0 is one, as tables with gaps are often saved.
    pub fn into_integers(self) -> Result<Vec<i64>, ErrorKind> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self {
            Column::Integers(values) => Ok(values),
            Column::Bools(values) => Ok(values.into_iter().map(i64::from).collect()),
            Column::Texts(values) => Err(text_for_number(&values)),
            Column::Floats(values) => {
                let whole = |(row, &value): (usize, &f64)| {
                    if value.fract() == 0.0 && value.abs() <= EXACT {
                        #[expect(clippy::cast_possible_truncation, reason = "whole, and small")]
                        let integer = value as i64;
                        Ok(integer)
                    } else {
                        Err(ErrorKind::NotWhole { row: row as u64, value })
                    }
                };
                values.iter().enumerate().map(whole).collect()
            }
        }
    }

    /// As text, the way it reads in a table; truth values as Python writes them.
    pub fn into_texts(self) -> Vec<String> {
        match self {
            Column::Integers(values) => values.iter().map(ToString::to_string).collect(),
            Column::Floats(values) => values.iter().map(ToString::to_string).collect(),
            Column::Bools(values) => values
                .iter()
                .map(|&value| if value { "True".to_string() } else { "False".to_string() })
                .collect(),
            Column::Texts(values) => values,
        }
    }

    /// The rows in which a value is missing.
    pub(crate) fn gaps(&self) -> Vec<usize> {
        let is_gap = |row: &usize| match self {
            Column::Floats(values) => values[*row].is_nan(),
            Column::Texts(values) => values[*row].trim().is_empty(),
            Column::Integers(_) | Column::Bools(_) => false,
        };
        (0..self.len()).filter(is_gap).collect()
    }

    /// The values of some rows.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        fn pick<T: Clone>(values: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|&row| values[row].clone()).collect()
        }
        match self {
            Column::Integers(values) => Column::Integers(pick(values, rows)),
            // Whole numbers with gaps are floating-point numbers.
            Column::Floats(values) => Column::of_numbers(pick(values, rows)),
            Column::Bools(values) => Column::Bools(pick(values, rows)),
            Column::Texts(values) => Column::Texts(pick(values, rows)),
        }
    }

    /// Leaves gaps in some rows.
    #[cfg(feature = "arrow")]
    pub(crate) fn with_gaps(self, is_gap: impl Fn(usize) -> bool) -> Self {
        let gaps = |values: &mut Vec<f64>| {
            let places = values.iter_mut().enumerate().filter(|(row, _)| is_gap(*row));
            places.for_each(|(_, value)| *value = f64::NAN);
        };
        match self {
            Column::Integers(values) => {
                let mut values: Vec<f64> = values.into_iter().map(|x| x as f64).collect();
                gaps(&mut values);
                Column::Floats(values)
            }
            Column::Floats(mut values) => {
                gaps(&mut values);
                Column::Floats(values)
            }
            column => {
                let mut texts = column.into_texts();
                let places = texts.iter_mut().enumerate().filter(|(row, _)| is_gap(*row));
                places.for_each(|(_, text)| text.clear());
                Column::Texts(texts)
            }
        }
    }

    /// Adds the values to those that came before, if there are any.
    #[cfg(feature = "arrow")]
    pub(crate) fn add_to(self, all: &mut Option<Column>) {
        match all {
            Some(all) => all.append(self),
            None => *all = Some(self),
        }
    }

    /// Adds the values of the next file of a set.
    pub(crate) fn append(&mut self, other: Column) {
        match (&mut *self, other) {
            (Column::Integers(all), Column::Integers(more)) => all.extend(more),
            (Column::Floats(all), Column::Floats(more)) => all.extend(more),
            (Column::Bools(all), Column::Bools(more)) => all.extend(more),
            (all, other) => {
                let first = std::mem::replace(all, Column::Texts(Vec::new()));
                let numbers =
                    |column: &Column| matches!(column, Column::Integers(_) | Column::Floats(_));
                *all = if numbers(&first) && numbers(&other) {
                    let mut values = first.into_floats().unwrap_or_default();
                    values.extend(other.into_floats().unwrap_or_default());
                    Column::Floats(values)
                } else {
                    let mut values = first.into_texts();
                    values.extend(other.into_texts());
                    Column::Texts(values)
                };
            }
        }
    }
}

/// Text of a fixed size, which ends with zeros.
fn text_of(bytes: &[u8], dtype: Dtype) -> String {
    let text: String = match dtype {
        Dtype::Unicode(_) => bytes
            .chunks_exact(4)
            .map(|b| char::from_u32(bytemuck::pod_read_unaligned(b)).unwrap_or('\u{fffd}'))
            .collect(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    };
    text.trim_end_matches('\0').to_string()
}

fn text_for_number(values: &[String]) -> ErrorKind {
    let text = values.first().cloned().unwrap_or_default();
    ErrorKind::TextForNumber { row: 0, text }
}
