//! Rows of numbers that are read some at a time, always into the same memory.

use crate::array::{Array, Bytes, to_native};
use crate::column::Column;
use crate::dtype::Dtype;
use crate::error::{ErrorKind, ExpectedShape, Result};
use crate::source::read_exact_at;
use abstain::half::{bf16, f16};
use abstain::logits::Values;
use rayon::prelude::*;
use std::fs::File;
use std::io::Read;

/// The most classes that are read: a header can promise anything, and memory is for what classifiers
/// really have.
pub(crate) const MOST_CLASSES: u64 = 1 << 24;

/// Bytes that a core fetches at a time.
const BYTES_A_TASK: usize = 1 << 19;

/// Rows × classes of numbers in a file, of any format.
pub(crate) trait Matrix: Send {
    fn classes(&self) -> usize;

    /// How many rows there are, if the file states it beforehand.
    fn rows(&self) -> Option<u64>;

    /// Reads the next rows, at most this many, and returns how many there were; 0 at the end.
    fn fill(&mut self, rows: usize) -> Result<usize>;

    /// The rows that were read last.
    fn values(&mut self) -> Values<'_>;

    /// The next rows, at most this many; nothing at the end.
    fn next_chunk(&mut self, rows: usize) -> Result<Option<Values<'_>>> {
        if self.fill(rows)? == 0 { Ok(None) } else { Ok(Some(self.values())) }
    }

    /// The values of the kept columns in the rows that came last.
    fn kept(&mut self) -> Vec<Column> {
        Vec::new()
    }

    /// The same rows, to be fetched in any order by several threads at once, if the file allows it.
    fn direct(&self) -> Option<Direct<'_>> {
        None
    }
}

/// The rows of an array.
pub(crate) struct ArrayMatrix {
    array: Array,
    rows: u64,
    classes: usize,
    next: u64,
    buffer: Buffer,
    /// Columns that are being transposed.
    scratch: Vec<u8>,
}

/// Memory for some rows, which is allocated once and reused.
pub(crate) enum Buffer {
    F16(Vec<f16>),
    BF16(Vec<bf16>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// Whole numbers, such as votes or one-hot rows: their bytes, and the numbers that they are.
    Whole(Vec<u8>, Vec<f64>),
}

impl Buffer {
    fn new(dtype: Dtype) -> Self {
        match dtype {
            Dtype::F16 => Buffer::F16(Vec::new()),
            Dtype::BF16 => Buffer::BF16(Vec::new()),
            Dtype::F32 => Buffer::F32(Vec::new()),
            Dtype::F64 => Buffer::F64(Vec::new()),
            _ => Buffer::Whole(Vec::new(), Vec::new()),
        }
    }

    /// Room for this many numbers of a type.
    fn bytes(&mut self, numbers: usize, dtype: Dtype) -> &mut [u8] {
        fn room<T: bytemuck::Pod>(buffer: &mut Vec<T>, numbers: usize) -> &mut [u8] {
            buffer.resize(numbers, T::zeroed());
            bytemuck::cast_slice_mut(buffer)
        }
        match self {
            Buffer::F16(buffer) => room(buffer, numbers),
            Buffer::BF16(buffer) => room(buffer, numbers),
            Buffer::F32(buffer) => room(buffer, numbers),
            Buffer::F64(buffer) => room(buffer, numbers),
            Buffer::Whole(buffer, _) => room(buffer, numbers * dtype.size()),
        }
    }

    /// The numbers that were read.
    fn values(&mut self, dtype: Dtype) -> Values<'_> {
        match self {
            Buffer::F16(buffer) => Values::from(&*buffer),
            Buffer::BF16(buffer) => Values::from(&*buffer),
            Buffer::F32(buffer) => Values::from(&*buffer),
            Buffer::F64(buffer) => Values::from(&*buffer),
            Buffer::Whole(bytes, numbers) => {
                *numbers = Column::from_bytes(bytes, dtype).into_floats().unwrap_or_default();
                Values::from(&*numbers)
            }
        }
    }
}

impl ArrayMatrix {
    /// Rows × classes, or one number for each row if that is what is expected.
    pub(crate) fn new(array: Array, one_number: bool) -> Result<Self> {
        let (rows, classes) = match array.shape[..] {
            [rows, classes] => (rows, classes),
            [rows] if one_number => (rows, 1),
            _ => return Err(array.wrong_shape(ExpectedShape::RowsByClasses)),
        };
        if array.dtype.is_text() {
            return Err(ErrorKind::Unsupported {
                problem: "it holds text, not numbers".into(),
                instead: "give the file of the logits; labels may be text".into(),
            });
        }
        if rows == 0 {
            return Err(ErrorKind::NoRows);
        }
        array.check_length()?;
        if classes > MOST_CLASSES {
            return Err(array.wrong_shape(ExpectedShape::FewerClasses));
        }
        let classes = usize::try_from(classes).unwrap_or(0);
        let buffer = Buffer::new(array.dtype);
        Ok(ArrayMatrix { array, rows, classes, next: 0, buffer, scratch: Vec::new() })
    }
}

impl Matrix for ArrayMatrix {
    fn classes(&self) -> usize {
        self.classes
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn direct(&self) -> Option<Direct<'_>> {
        match &self.array.bytes {
            Bytes::File { file, offset } if !self.array.fortran => {
                let Array { dtype, big_endian, .. } = self.array;
                let (offset, classes) = (*offset, self.classes);
                Some(Direct { file, offset, dtype, big_endian, rows: self.rows, classes })
            }
            _ => None,
        }
    }

    fn values(&mut self) -> Values<'_> {
        self.buffer.values(self.array.dtype)
    }

    fn fill(&mut self, rows: usize) -> Result<usize> {
        let rows = usize::try_from(self.rows - self.next).unwrap_or(usize::MAX).min(rows);
        if rows == 0 {
            return Ok(0);
        }
        let Array { dtype, big_endian, fortran, .. } = self.array;
        let out = self.buffer.bytes(rows * self.classes, dtype);
        let width = dtype.size();
        let row = (self.classes * width) as u64;
        match &mut self.array.bytes {
            Bytes::Later(_) => return Err(ErrorKind::NoRows),
            #[cfg(feature = "hdf5")]
            Bytes::Texts(_) => return Err(ErrorKind::NoRows),
            Bytes::Stream(stream) => {
                stream.read_exact(out).map_err(|error| cut_short(error, self.rows * row))?;
            }
            Bytes::File { file, offset } if !fortran => {
                let start = *offset + self.next * row;
                // Every core copies its part: one alone is slower than the arithmetic that follows.
                out.par_chunks_mut(BYTES_A_TASK).enumerate().try_for_each(|(i, part)| {
                    read_exact_at(file, part, start + (i * BYTES_A_TASK) as u64)
                })?;
            }
            Bytes::File { file, offset } => {
                self.scratch.resize(out.len(), 0);
                let fetch = |(column, part): (usize, &mut [u8])| {
                    let before = column as u64 * self.rows + self.next;
                    read_exact_at(file, part, *offset + before * width as u64)
                };
                self.scratch.par_chunks_mut(rows * width).enumerate().try_for_each(fetch)?;
                let columns = &*self.scratch;
                out.par_chunks_mut(self.classes * width).enumerate().for_each(|(i, row)| {
                    for (column, number) in row.chunks_exact_mut(width).enumerate() {
                        let at = (column * rows + i) * width;
                        number.copy_from_slice(&columns[at..at + width]);
                    }
                });
            }
        }
        to_native(out, dtype, big_endian);
        self.next += rows as u64;
        if self.next == self.rows {
            self.array.bytes.end()?;
        }
        Ok(rows)
    }
}

/// Rows that lie together in a file.
pub(crate) struct Direct<'a> {
    file: &'a File,
    offset: u64,
    dtype: Dtype,
    big_endian: bool,
    rows: u64,
    classes: usize,
}

impl Direct<'_> {
    /// How many rows there are.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Memory for [`Direct::fetch`].
    pub(crate) fn buffer(&self) -> Buffer {
        Buffer::new(self.dtype)
    }

    /// Reads some rows.
    pub(crate) fn fetch<'b>(
        &self,
        first: u64,
        rows: usize,
        buffer: &'b mut Buffer,
    ) -> Result<Values<'b>> {
        let out = buffer.bytes(rows * self.classes, self.dtype);
        let row = (self.classes * self.dtype.size()) as u64;
        read_exact_at(self.file, out, self.offset + first * row)?;
        to_native(out, self.dtype, self.big_endian);
        Ok(buffer.values(self.dtype))
    }
}

fn cut_short(error: std::io::Error, expected: u64) -> ErrorKind {
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        // How much there was is lost in the stream.
        ErrorKind::Truncated { expected, found: None }
    } else {
        error.into()
    }
}
