//! Columns of Arrow, and their values as numbers and text.

use super::messages::malformed;
use crate::column::Column;
use crate::error::{ErrorKind, Result};
use crate::layout::{Field, FieldKind};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Fields, Schema};
use half::f16;
use std::ops::Range;

/// The types of columns, as far as they matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeafType {
    Half,
    Float,
    Double,
    Integer,
    Unsigned,
    Bool,
    Text,
    /// Dates, decimals, bytes, structures in lists, and so on.
    Other,
}

impl LeafType {
    fn of(kind: &DataType) -> Self {
        match kind {
            DataType::Float16 => LeafType::Half,
            DataType::Float32 => LeafType::Float,
            DataType::Float64 => LeafType::Double,
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
                LeafType::Integer
            }
            DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
                LeafType::Unsigned
            }
            DataType::Boolean => LeafType::Bool,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => LeafType::Text,
            DataType::Dictionary(_, values) if LeafType::of(values) == LeafType::Text => {
                LeafType::Text
            }
            _ => LeafType::Other,
        }
    }

    pub(super) fn is_number(self) -> bool {
        !matches!(self, LeafType::Bool | LeafType::Text | LeafType::Other)
    }
}

/// A column, or a field of a structure.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    /// Fields of structures have dotted names.
    pub(super) name: String,
    pub(super) kind: LeafType,
    pub(super) is_list: bool,
    /// The column that it is in.
    pub(super) column: usize,
    /// Its place in structures.
    path: Vec<usize>,
    /// Whether values may be missing.
    pub(super) gaps: bool,
}

impl Leaf {
    pub(super) fn field(&self) -> Field {
        let kind = match self.kind {
            LeafType::Half | LeafType::Float | LeafType::Double => FieldKind::Float,
            LeafType::Integer | LeafType::Unsigned => FieldKind::Integer,
            LeafType::Bool => FieldKind::Bool,
            LeafType::Text => FieldKind::Text,
            LeafType::Other => FieldKind::Other,
        };
        Field { name: self.name.clone(), kind, depth: usize::from(self.is_list) }
    }
}

/// The columns of a schema.
pub(super) fn leaves(schema: &Schema) -> Vec<Leaf> {
    let mut found = Vec::new();
    for (column, field) in schema.fields().iter().enumerate() {
        add_leaves(field.name().clone(), field.data_type(), column, &[], &mut found);
    }
    found
}

fn add_leaves(name: String, kind: &DataType, column: usize, path: &[usize], out: &mut Vec<Leaf>) {
    let (kind, is_list) = match kind {
        DataType::Struct(fields) => return add_fields(&name, fields, column, path, out),
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _) => (LeafType::of(element.data_type()), true),
        other => (LeafType::of(other), false),
    };
    out.push(Leaf { name, kind, is_list, column, path: path.to_vec(), gaps: false });
}

fn add_fields(name: &str, fields: &Fields, column: usize, path: &[usize], out: &mut Vec<Leaf>) {
    for (index, field) in fields.iter().enumerate() {
        let path: Vec<usize> = path.iter().copied().chain([index]).collect();
        add_leaves(format!("{name}.{}", field.name()), field.data_type(), column, &path, out);
    }
}

/// A type that numbers come out as.
pub(super) trait Number: Copy + Default {
    /// Adds the numbers of an array in which none are missing.
    fn extend(array: &dyn Array, out: &mut Vec<Self>) -> Result<()>;
}

macro_rules! number {
    ($number:ty: $($kind:ident => $type:ty, $convert:expr;)*) => {
        impl Number for $number {
            fn extend(array: &dyn Array, out: &mut Vec<Self>) -> Result<()> {
                match array.data_type() {
                    $(DataType::$kind => {
                        out.extend(array.as_primitive::<$type>().values().iter().map($convert));
                    })*
                    _ => return Err(malformed("a batch has another type than the schema")),
                }
                Ok(())
            }
        }
    };
}
number!(f16: Float16 => Float16Type, |&x| x;);
number!(f32: Float32 => Float32Type, |&x| x;);
number!(f64:
    Float16 => Float16Type, |x| x.to_f64();
    Float32 => Float32Type, |&x| f64::from(x);
    Float64 => Float64Type, |&x| x;
    Int8 => Int8Type, |&x| f64::from(x);
    Int16 => Int16Type, |&x| f64::from(x);
    Int32 => Int32Type, |&x| f64::from(x);
    Int64 => Int64Type, |&x| x as f64;
    UInt8 => UInt8Type, |&x| f64::from(x);
    UInt16 => UInt16Type, |&x| f64::from(x);
    UInt32 => UInt32Type, |&x| f64::from(x);
    UInt64 => UInt64Type, |&x| x as f64;
);
number!(i64:
    Int8 => Int8Type, |&x| i64::from(x);
    Int16 => Int16Type, |&x| i64::from(x);
    Int32 => Int32Type, |&x| i64::from(x);
    Int64 => Int64Type, |&x| x;
);
number!(u64:
    UInt8 => UInt8Type, |&x| u64::from(x);
    UInt16 => UInt16Type, |&x| u64::from(x);
    UInt32 => UInt32Type, |&x| u64::from(x);
    UInt64 => UInt64Type, |&x| x;
);

/// Some rows of a column.
pub(super) struct Part<'a> {
    leaf: &'a Leaf,
    array: ArrayRef,
    /// The first of the rows in the file.
    row: u64,
}

/// The first place at which a value is missing.
fn first_missing(nulls: Option<&NullBuffer>) -> Option<usize> {
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0)?;
    (0..nulls.len()).find(|&place| nulls.is_null(place))
}

impl<'a> Part<'a> {
    /// The rows of a batch, of which the first has this number in the file. None of them, and no
    /// structure around them, may be missing.
    pub(super) fn new(
        batch: &RecordBatch,
        leaf: &'a Leaf,
        rows: Range<usize>,
        row: u64,
    ) -> Result<Self> {
        let slice = |array: &ArrayRef| array.slice(rows.start, rows.len());
        let present = |array: &ArrayRef| match first_missing(array.logical_nulls().as_ref()) {
            Some(place) => {
                Err(ErrorKind::Null { row: row + place as u64, column: leaf.name.clone() })
            }
            None => Ok(()),
        };
        let mut whole = batch.column(leaf.column).clone();
        for &index in &leaf.path {
            present(&slice(&whole))?;
            let inner = whole.as_struct_opt().map(|whole| whole.column(index).clone());
            whole = inner.ok_or_else(|| malformed("a batch has another type than the schema"))?;
        }
        let array = slice(&whole);
        if !leaf.gaps {
            present(&array)?;
        }
        Ok(Part { leaf, array, row })
    }

    /// Adds the numbers of a column of one number in each row.
    pub(super) fn numbers<T: Number>(&self, out: &mut Vec<T>) -> Result<()> {
        T::extend(&self.array, out)
    }

    /// The elements of lists, and where those of a row are.
    #[expect(clippy::type_complexity, reason = "the kinds of lists differ in nothing else")]
    fn elements(&self) -> Result<(&ArrayRef, Box<dyn Fn(usize) -> Option<Range<usize>> + '_>)> {
        fn range<T: TryInto<usize> + Copy>(start: T, size: T) -> Option<Range<usize>> {
            let (start, size) = (start.try_into().ok()?, size.try_into().ok()?);
            Some(start..start.checked_add(size)?)
        }
        Ok(match self.array.data_type() {
            DataType::List(_) => {
                let (list, offsets) =
                    (self.array.as_list::<i32>(), self.array.as_list::<i32>().value_offsets());
                (list.values(), Box::new(|i| range(offsets[i], offsets[i + 1] - offsets[i])))
            }
            DataType::LargeList(_) => {
                let (list, offsets) =
                    (self.array.as_list::<i64>(), self.array.as_list::<i64>().value_offsets());
                (list.values(), Box::new(|i| range(offsets[i], offsets[i + 1] - offsets[i])))
            }
            DataType::ListView(_) => {
                let list = self.array.as_list_view::<i32>();
                (list.values(), Box::new(|i| range(list.value_offset(i), list.value_size(i))))
            }
            DataType::LargeListView(_) => {
                let list = self.array.as_list_view::<i64>();
                (list.values(), Box::new(|i| range(list.value_offset(i), list.value_size(i))))
            }
            DataType::FixedSizeList(_, _) => {
                let list = self.array.as_fixed_size_list();
                let size = usize::try_from(list.value_length()).unwrap_or(0);
                (list.values(), Box::new(move |i| range(i * size, size)))
            }
            _ => return Err(malformed("a batch has another type than the schema")),
        })
    }

    /// The length of the first list.
    pub(super) fn list_length(&self) -> Result<usize> {
        let (_, place) = self.elements()?;
        Ok(place(0).map_or(0, |place| place.len()))
    }

    /// Adds the numbers of lists of the same length.
    pub(super) fn lists<T: Number>(&self, classes: usize, out: &mut Vec<T>) -> Result<()> {
        let (elements, place) = self.elements()?;
        let outside = || malformed("a list is outside of its elements");
        // Lists that follow each other are read at once.
        let mut run: Range<usize> = 0..0;
        let mut first = 0;
        for index in 0..self.array.len() {
            let next = place(index).filter(|next| next.end <= elements.len());
            let next = next.ok_or_else(outside)?;
            if next.len() != classes {
                let (row, found) = (self.row + index as u64, next.len() as u64);
                return Err(ErrorKind::Ragged { row, line: None, found, expected: classes as u64 });
            }
            if next.start != run.end || run.is_empty() {
                self.run(elements, &run, first, classes, out)?;
                (run, first) = (next, index);
            } else {
                run.end = next.end;
            }
        }
        self.run(elements, &run, first, classes, out)
    }

    /// Adds some elements, which begin with those of a row.
    fn run<T: Number>(
        &self,
        elements: &ArrayRef,
        run: &Range<usize>,
        first: usize,
        classes: usize,
        out: &mut Vec<T>,
    ) -> Result<()> {
        let elements = elements.slice(run.start, run.len());
        if let Some(place) = first_missing(elements.nulls()) {
            let row = self.row + (first + place / classes) as u64;
            let column = format!("{}[{}]", self.leaf.name, place % classes);
            return Err(ErrorKind::Null { row, column });
        }
        T::extend(&elements, out)
    }

    /// The values, one in each row.
    pub(super) fn column(&self) -> Result<Column> {
        fn all<T: Number>(array: &dyn Array) -> Result<Vec<T>> {
            let mut values = Vec::with_capacity(array.len());
            T::extend(array, &mut values)?;
            Ok(values)
        }
        let (name, array) = (&self.leaf.name, &self.array);
        if self.leaf.is_list {
            let problem = format!("column '{name}' holds lists");
            let instead = "choose or write a column of one value in each row".into();
            return Err(ErrorKind::Unsupported { problem, instead });
        }
        let column = match self.leaf.kind {
            LeafType::Half | LeafType::Float | LeafType::Double => Column::Floats(all(array)?),
            LeafType::Integer => Column::Integers(all(array)?),
            LeafType::Unsigned => Column::of_unsigned(&all(array)?),
            LeafType::Bool => {
                let bools = array.as_boolean_opt();
                let bools =
                    bools.ok_or_else(|| malformed("a batch has another type than the schema"))?;
                Column::Bools(bools.values().iter().collect())
            }
            LeafType::Text => Column::Texts(texts(array)?),
            LeafType::Other => {
                let problem = format!("column '{name}' holds neither numbers nor text");
                let instead = "choose or write a column of numbers or text".into();
                return Err(ErrorKind::Unsupported { problem, instead });
            }
        };
        // What an array has in the places of missing values is anything.
        Ok(match array.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
            Some(nulls) => column.with_gaps(|place| nulls.is_null(place)),
            None => column,
        })
    }
}

/// The texts of an array; one that is missing, which only an unused entry of a dictionary can be, is
/// empty.
fn texts(array: &dyn Array) -> Result<Vec<String>> {
    let text = |text: Option<&str>| text.unwrap_or_default().to_string();
    Ok(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().map(text).collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(text).collect(),
        DataType::Utf8View => array.as_string_view().iter().map(text).collect(),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let words = texts(dictionary.values())?;
            if words.is_empty() && !array.is_empty() {
                return Err(malformed("a dictionary is missing"));
            }
            let keys = if words.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
            let found: Option<Vec<String>> =
                keys.into_iter().map(|key| words.get(key).cloned()).collect();
            found.ok_or_else(|| malformed("a key is outside of its dictionary"))?
        }
        _ => return Err(malformed("a batch has another type than the schema")),
    })
}
