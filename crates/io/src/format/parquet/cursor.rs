//! Columns of a Parquet file, decoded from where they are stored.
//!
//! Parquet stores a list as its elements one after another, each with two levels: the repetition
//! level is 0 where a row begins, and the definition level tells a value from a null and from an
//! empty list.

use crate::error::{ErrorKind, Result};
use crate::format::Format;
use crate::format::guard::guarded;
use half::f16;
use parquet::basic::{Compression, ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetStatisticsPolicy;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use parquet::schema::types::ColumnDescriptor;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// List elements decoded at a time: their levels should stay in the processor's cache.
pub(super) const STEP: usize = 1 << 16;

/// The types of columns, as far as they matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnType {
    Half,
    Float,
    Double,
    Signed,
    Unsigned,
    Bool,
    Text,
    /// Dates, decimals, bytes and structures.
    Other,
}

impl ColumnType {
    fn of(column: &ColumnDescriptor) -> Self {
        match (column.physical_type(), column.logical_type_ref(), column.converted_type()) {
            (Type::FLOAT, ..) => ColumnType::Float,
            (Type::DOUBLE, ..) => ColumnType::Double,
            (Type::BOOLEAN, ..) => ColumnType::Bool,
            (Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16), _) => ColumnType::Half,
            (Type::INT32 | Type::INT64, Some(LogicalType::Integer(integer)), _) => {
                if integer.is_signed { ColumnType::Signed } else { ColumnType::Unsigned }
            }
            (Type::INT32 | Type::INT64, None, converted) => match converted {
                ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64 => ColumnType::Signed,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64 => ColumnType::Unsigned,
                _ => ColumnType::Other,
            },
            (Type::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum), _)
            | (Type::BYTE_ARRAY, _, ConvertedType::UTF8 | ConvertedType::ENUM) => ColumnType::Text,
            _ => ColumnType::Other,
        }
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self, ColumnType::Half | ColumnType::Float | ColumnType::Double)
    }

    pub(super) fn is_integer(self) -> bool {
        matches!(self, ColumnType::Signed | ColumnType::Unsigned)
    }
}

/// A column, as it is stored.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    index: usize,
    pub(super) name: String,
    pub(super) kind: ColumnType,
    /// How deep the lists are nested: 0 is one value per row.
    pub(super) depth: i16,
    /// The definition level of a value that is there.
    full: i16,
    /// The lowest definition level of an element, null or not; one less is an empty list.
    element: i16,
}

/// The columns of a file. A list has the name of the whole column, a field of a structure a dotted
/// one.
pub(super) fn leaves(file: &SerializedFileReader<File>) -> Vec<Leaf> {
    let schema = file.metadata().file_metadata().schema_descr();
    let root = |index| schema.get_column_root_idx(index);
    let leaf = |(index, column): (usize, &std::sync::Arc<ColumnDescriptor>)| {
        let neighbours = [index.checked_sub(1), Some(index + 1)].into_iter().flatten();
        let alone =
            neighbours.filter(|&n| n < schema.num_columns()).all(|n| root(n) != root(index));
        let depth = column.max_rep_level();
        let (name, kind) = match depth {
            0 => (column.path().string(), ColumnType::of(column)),
            _ if alone => (schema.get_column_root(index).name().into(), ColumnType::of(column)),
            // A map, or a list of structures.
            _ => (column.path().string(), ColumnType::Other),
        };
        let (full, element) = (column.max_def_level(), column.repeated_ancestor_def_level());
        Leaf { index, name, kind, depth, full, element }
    };
    schema.columns().iter().enumerate().map(leaf).collect()
}

pub(super) fn malformed(problem: impl std::fmt::Display) -> ErrorKind {
    ErrorKind::malformed(Format::Parquet, problem)
}

/// Calls the `parquet` crate, which panics on some broken files: where a page needs a dictionary
/// that is not there, for instance, or levels are longer than their page.
fn sound<T>(call: impl FnOnce() -> parquet::errors::Result<T>) -> Result<T> {
    match guarded(call).map_err(malformed)? {
        Ok(value) => Ok(value),
        Err(ParquetError::External(error)) => Err(match error.downcast::<io::Error>() {
            // Decompressors report broken data as an io::Error, too, but without a number.
            Ok(error) if error.raw_os_error().is_some() => ErrorKind::Io(*error),
            Ok(error) => malformed(error),
            Err(error) => malformed(error),
        }),
        Err(ParquetError::General(problem) | ParquetError::EOF(problem)) => Err(malformed(problem)),
        Err(ParquetError::NYI(problem)) => {
            let instead = "write it with another encoding or compression".into();
            Err(ErrorKind::Unsupported { problem, instead })
        }
        Err(error) => Err(malformed(error)),
    }
}

pub(super) fn open(file: File) -> Result<SerializedFileReader<File>> {
    let (mut head, mut tail) = ([0; 4], [0; 4]);
    let mut bytes = &file;
    let length = bytes.seek(SeekFrom::End(0))?;
    bytes.rewind()?;
    if length >= 4 {
        bytes.read_exact(&mut head)?;
        bytes.seek(SeekFrom::End(-4))?;
        bytes.read_exact(&mut tail)?;
    }
    match (&head, &tail) {
        (b"PAR1", b"PAR1") => {}
        // What is where is written at the end.
        (b"PAR1", _) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        (b"PARE", _) => {
            let (problem, instead) = ("the file is encrypted", "decrypt it first");
            return Err(ErrorKind::Unsupported {
                problem: problem.into(),
                instead: instead.into(),
            });
        }
        _ => return Err(malformed("it does not begin with PAR1")),
    }
    let options = ReadOptionsBuilder::new()
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .build();
    sound(|| SerializedFileReader::new_with_options(file, options))
}

/// The levels of what was read last.
#[derive(Default)]
pub(super) struct Levels {
    pub(super) definition: Vec<i16>,
    repetition: Vec<i16>,
}

/// Rows and non-null values that were read.
pub(super) type Counts = (usize, usize);

/// Reads at most `rows` rows as they are stored, behind what `out` has.
fn decode<D: DataType>(
    reader: &mut ColumnReaderImpl<D>,
    rows: usize,
    levels: &mut Levels,
    out: &mut Vec<D::T>,
) -> Result<Counts> {
    levels.definition.clear();
    levels.repetition.clear();
    let Levels { definition, repetition } = levels;
    let read = || reader.read_records(rows, Some(definition), Some(repetition), out);
    sound(read).map(|(rows, values, _)| (rows, values))
}

/// The same, converted.
fn convert<D: DataType, T>(
    reader: &mut ColumnReaderImpl<D>,
    rows: usize,
    levels: &mut Levels,
    out: &mut Vec<T>,
    number: impl Fn(&D::T) -> T,
) -> Result<Counts> {
    let mut stored = Vec::new();
    let counts = decode(reader, rows, levels, &mut stored)?;
    out.extend(stored.iter().map(number));
    Ok(counts)
}

/// A type that numbers come out as.
pub(super) trait Number: Clone + Default {
    fn read(
        reader: &mut ColumnReader,
        kind: ColumnType,
        rows: usize,
        levels: &mut Levels,
        out: &mut Vec<Self>,
    ) -> Result<Counts>;
}

/// The two bytes of a Float16; the schema says that there are two.
fn half_of(stored: &FixedLenByteArray) -> f16 {
    stored.data().try_into().map_or(f16::NAN, f16::from_le_bytes)
}

macro_rules! number {
    ($number:ty: $($reader:ident($kind:pat) => $how:ident $(, $convert:expr)?;)*) => {
        impl Number for $number {
            fn read(
                reader: &mut ColumnReader,
                kind: ColumnType,
                rows: usize,
                levels: &mut Levels,
                out: &mut Vec<Self>,
            ) -> Result<Counts> {
                match (reader, kind) {
                    $((ColumnReader::$reader(reader), $kind) => {
                        $how(reader, rows, levels, out $(, $convert)?)
                    })*
                    _ => Err(malformed("a row group has another type than the schema")),
                }
            }
        }
    };
}
number!(f16: FixedLenByteArrayColumnReader(ColumnType::Half) => convert, half_of;);
number!(f32: FloatColumnReader(_) => decode;);
number!(f64:
    DoubleColumnReader(_) => decode;
    FloatColumnReader(_) => convert, |&x| f64::from(x);
    FixedLenByteArrayColumnReader(ColumnType::Half) => convert, |x| half_of(x).to_f64();
    Int32ColumnReader(ColumnType::Unsigned) => convert, |&x| f64::from(x.cast_unsigned());
    Int32ColumnReader(_) => convert, |&x| f64::from(x);
    Int64ColumnReader(ColumnType::Unsigned) => convert, |&x| x.cast_unsigned() as f64;
    Int64ColumnReader(_) => convert, |&x| x as f64;
);
number!(i64:
    Int64ColumnReader(_) => decode;
    Int32ColumnReader(ColumnType::Unsigned) => convert, |&x| i64::from(x.cast_unsigned());
    Int32ColumnReader(_) => convert, |&x| i64::from(x);
    BoolColumnReader(_) => convert, |&x| i64::from(x);
);

number!(String:
    ByteArrayColumnReader(_) => convert, |x| String::from_utf8_lossy(x.data()).into_owned();
);

/// A place in some columns of a file, which are read side by side.
pub(super) struct Cursor {
    file: SerializedFileReader<File>,
    pub(super) leaves: Vec<Leaf>,
    /// All rows.
    pub(super) rows: u64,
    /// The row group that comes next.
    group: usize,
    /// Readers of the columns in the row group before it.
    readers: Vec<ColumnReader>,
    /// Rows of it that are not read yet.
    pub(super) left: u64,
    /// The row that comes next, over all row groups.
    pub(super) row: u64,
    pub(super) levels: Levels,
}

impl Cursor {
    pub(super) fn new(file: SerializedFileReader<File>, leaves: Vec<Leaf>) -> Result<Self> {
        let metadata = file.metadata();
        let mut rows = 0_u64;
        for group in metadata.row_groups() {
            let more = u64::try_from(group.num_rows()).ok();
            let sum = more.and_then(|more| rows.checked_add(more));
            rows = sum.ok_or_else(|| malformed("the sizes of its row groups make no sense"))?;
        }
        let promised = metadata.file_metadata().num_rows();
        if u64::try_from(promised) != Ok(rows) {
            let problem = format!("{promised} rows are promised, but its row groups have {rows}");
            return Err(malformed(problem));
        }
        if rows == 0 {
            return Err(ErrorKind::NoRows);
        }
        let (readers, levels) = (Vec::new(), Levels::default());
        Ok(Cursor { file, leaves, rows, group: 0, readers, left: 0, row: 0, levels })
    }

    /// Back to the first row.
    pub(super) fn rewind(&mut self) {
        (self.group, self.left, self.row) = (0, 0, 0);
        self.readers.clear();
    }

    /// Opens the next row group if no rows are left in this one; false at the end of the file.
    pub(super) fn advance<T: Number>(&mut self) -> Result<bool> {
        while self.left == 0 {
            for (reader, leaf) in self.readers.iter_mut().zip(&self.leaves) {
                let (rows, _) = T::read(reader, leaf.kind, 1, &mut self.levels, &mut Vec::new())?;
                if rows > 0 {
                    let problem = format!("row group {} is longer than promised", self.group - 1);
                    return Err(malformed(problem));
                }
            }
            self.readers.clear();
            if self.group == self.file.num_row_groups() {
                return Ok(false);
            }
            self.open_group()?;
        }
        Ok(true)
    }

    fn open_group(&mut self) -> Result<()> {
        let group = self.file.metadata().row_group(self.group);
        if group.num_columns() != self.file.metadata().file_metadata().schema_descr().num_columns()
        {
            return Err(malformed(format!("row group {} lacks columns", self.group)));
        }
        for leaf in &self.leaves {
            let chunk = group.column(leaf.index);
            let places = [chunk.data_page_offset(), chunk.compressed_size()];
            if places.into_iter().chain(chunk.dictionary_page_offset()).any(|place| place < 0) {
                return Err(malformed(format!(
                    "column '{}' is before the file's begin",
                    leaf.name
                )));
            }
            let problem = match chunk.compression() {
                Compression::BROTLI(_) => "is compressed with Brotli",
                Compression::LZO => "is compressed with LZO",
                _ if chunk.file_path().is_some() => "is in another file",
                _ => continue,
            };
            let problem = format!("column '{}' {problem}", leaf.name);
            let instead = "write it as one file with zstd or snappy".into();
            return Err(ErrorKind::Unsupported { problem, instead });
        }
        self.left = group.num_rows().try_into().map_err(malformed)?;
        self.readers = sound(|| {
            let group = self.file.get_row_group(self.group)?;
            self.leaves.iter().map(|leaf| group.get_column_reader(leaf.index)).collect()
        })?;
        self.group += 1;
        Ok(())
    }

    /// Reads rows of one of the columns, all of which must be there.
    pub(super) fn read<T: Number>(
        &mut self,
        at: usize,
        rows: usize,
        out: &mut Vec<T>,
    ) -> Result<Counts> {
        let (reader, leaf) = (&mut self.readers[at], &self.leaves[at]);
        let counts = T::read(reader, leaf.kind, rows, &mut self.levels, out)?;
        if counts.0 != rows {
            let (name, group) = (&leaf.name, self.group - 1);
            let problem = format!("row group {group} of column '{name}' is shorter than promised");
            return Err(malformed(problem));
        }
        Ok(counts)
    }

    /// Reads rows of a column with one value a row.
    pub(super) fn flat<T: Number>(
        &mut self,
        at: usize,
        rows: usize,
        out: &mut Vec<T>,
    ) -> Result<()> {
        let (_, values) = self.read(at, rows, out)?;
        if values == rows {
            return Ok(());
        }
        let leaf = &self.leaves[at];
        let null = self.levels.definition.iter().position(|&level| level < leaf.full);
        Err(ErrorKind::Null { row: self.row + null.unwrap_or(0) as u64, column: leaf.name.clone() })
    }

    /// Reads rows of the only column, a list of `classes` values a row.
    pub(super) fn lists<T: Number>(
        &mut self,
        rows: usize,
        classes: usize,
        out: &mut Vec<T>,
    ) -> Result<()> {
        let mut left = rows;
        while left > 0 {
            let rows = left.min((STEP / classes).max(1));
            let (_, values) = self.read(0, rows, out)?;
            // As many zeros as rows, so that nothing but the row's first element has a zero.
            let starts = &self.levels.repetition;
            let even = starts.len() == rows * classes
                && values == starts.len()
                && starts.iter().step_by(classes).all(|&level| level == 0);
            if !even {
                return Err(self.uneven(classes));
            }
            self.row += rows as u64;
            left -= rows;
        }
        Ok(())
    }

    /// What is wrong with lists whose levels were just read.
    pub(super) fn uneven(&self, classes: usize) -> ErrorKind {
        let (leaf, expected) = (&self.leaves[0], classes as u64);
        let ragged = |row, found| ErrorKind::Ragged { row, line: None, found, expected };
        let (mut row, mut found) = (self.row, 0);
        let levels = self.levels.repetition.iter().zip(&self.levels.definition);
        for (at, (&repetition, &definition)) in levels.enumerate() {
            if repetition == 0 && at > 0 {
                if found != expected {
                    return ragged(row, found);
                }
                (row, found) = (row + 1, 0);
            }
            if definition >= leaf.full {
                found += 1;
            } else if definition >= leaf.element {
                return ErrorKind::Null { row, column: format!("{}[{found}]", leaf.name) };
            } else if definition + 1 < leaf.element {
                return ErrorKind::Null { row, column: leaf.name.clone() };
            }
        }
        ragged(row, found)
    }
}
