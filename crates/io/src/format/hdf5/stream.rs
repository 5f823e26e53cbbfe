//! The numbers of a dataset as bytes, row after row.

use super::{MOST_BYTES, malformed, sound};
use crate::dtype::Dtype;
use crate::error::{ErrorKind, Result};
use crate::source::Stream;
use hdf5_reader::error::Error;
use hdf5_reader::{
    ByteOrder, Dataset, DatasetChunkIterator, Datatype, H5Type, SliceInfo, SliceInfoElem,
};
use std::io::{self, Read};

/// Bytes that are read at a time, if there are no chunks.
const PIECE: u64 = 1 << 22;

/// The bytes of a dataset of one or two dimensions.
pub(super) fn open(dataset: &Dataset, name: &str, shape: &[u64], dtype: Dtype) -> Result<Stream> {
    let (rows, columns) = match *shape {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        // Its shape is wrong, which its matrix describes.
        _ => return Ok(Box::new(io::empty())),
    };
    let size = dtype.size() as u64;
    let too_large = || malformed(format_args!("'{name}' has rows or chunks that are too large"));
    let fits = |bytes: Option<u64>| bytes.filter(|&b| b <= MOST_BYTES as u64).ok_or_else(too_large);
    let row_bytes = fits(columns.checked_mul(size))?;
    let Some(chunk) = dataset.chunks() else {
        let step = (PIECE / row_bytes.max(1)).max(1);
        let dataset = dataset.clone();
        let pieces = Pieces { dataset, rows, columns, step, size: dtype.size(), next: 0 };
        return Ok(Box::new(Joined { parts: pieces, bytes: Vec::new(), at: 0 }));
    };
    let sizes: Vec<u64> = chunk.iter().map(|&n| u64::from(n)).take(shape.len()).collect();
    let (chunk_rows, chunk_columns) = match sizes[..] {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        _ => return Err(malformed(format_args!("'{name}' has chunks of another shape"))),
    };
    if chunk_rows == 0 || chunk_columns == 0 {
        return Err(too_large());
    }
    fits(chunk_rows.min(rows).checked_mul(row_bytes))?;
    let chunks = sound(|| dataset.iter_chunks())?;
    let (rows, columns) = ((rows, chunk_rows), (columns, chunk_columns));
    let bands = Bands { chunks, name: name.into(), rows, columns, size: dtype.size(), next: 0 };
    Ok(Box::new(Joined { parts: bands, bytes: Vec::new(), at: 0 }))
}

/// Whole rows that come some at a time.
trait Parts {
    /// Fills a buffer with the next rows; with nothing at the end.
    fn next_part(&mut self, out: &mut Vec<u8>) -> Result<()>;
}

/// The bytes of all rows.
struct Joined<P> {
    parts: P,
    bytes: Vec<u8>,
    at: usize,
}

impl<P: Parts> Read for Joined<P> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.bytes.len() {
            self.at = 0;
            self.bytes.clear();
            self.parts.next_part(&mut self.bytes).map_err(|kind| match kind {
                ErrorKind::Io(error) => error,
                other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
            })?;
        }
        let count = (&self.bytes[self.at..]).read(out)?;
        self.at += count;
        Ok(count)
    }
}

/// A number as it is stored.
#[derive(Clone)]
#[repr(transparent)]
struct Raw<const N: usize>([u8; N]);

impl<const N: usize> H5Type for Raw<N> {
    fn hdf5_type() -> Datatype {
        let byte_order = ByteOrder::LittleEndian;
        Datatype::FixedPoint { size: u8::try_from(N).unwrap_or(0), signed: false, byte_order }
    }

    fn from_bytes(bytes: &[u8], _: &Datatype) -> hdf5_reader::error::Result<Self> {
        let bytes =
            bytes.first_chunk().ok_or_else(|| Error::InvalidData("a short number".into()))?;
        Ok(Raw(*bytes))
    }

    fn element_size(_: &Datatype) -> usize {
        N
    }
}

/// A dataset that lies in the file as it would in memory.
struct Pieces {
    dataset: Dataset,
    rows: u64,
    columns: u64,
    /// Rows that are read at a time.
    step: u64,
    /// Bytes of a number.
    size: usize,
    next: u64,
}

impl Pieces {
    fn read<const N: usize>(&self, selection: &SliceInfo, out: &mut Vec<u8>) -> Result<()> {
        let numbers = sound(|| self.dataset.read_slice::<Raw<N>>(selection))?;
        out.extend(numbers.iter().flat_map(|number| number.0));
        Ok(())
    }
}

impl Parts for Pieces {
    fn next_part(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if self.next == self.rows || self.columns == 0 {
            return Ok(());
        }
        let end = self.rows.min(self.next + self.step);
        let all = |start, end| SliceInfoElem::Slice { start, end, step: 1 };
        let mut selections = vec![all(self.next, end)];
        if self.dataset.ndim() == 2 {
            selections.push(all(0, self.columns));
        }
        let selection = SliceInfo { selections };
        match self.size {
            1 => self.read::<1>(&selection, out)?,
            2 => self.read::<2>(&selection, out)?,
            4 => self.read::<4>(&selection, out)?,
            _ => self.read::<8>(&selection, out)?,
        }
        if out.len() as u64 != (end - self.next) * self.columns * self.size as u64 {
            return Err(malformed("a dataset is shorter than its shape"));
        }
        self.next = end;
        Ok(())
    }
}

/// A dataset of chunks, of which those side by side are put together.
struct Bands {
    chunks: DatasetChunkIterator,
    name: String,
    /// All of them, and those of a chunk.
    rows: (u64, u64),
    columns: (u64, u64),
    /// Bytes of a number.
    size: usize,
    /// The row that comes next.
    next: u64,
}

impl Parts for Bands {
    fn next_part(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let ((rows, high), (columns, wide)) = (self.rows, self.columns);
        if self.next >= rows || columns == 0 {
            return Ok(());
        }
        let bytes = |numbers: u64| usize::try_from(numbers).unwrap_or(usize::MAX) * self.size;
        let here = high.min(rows - self.next);
        for left in (0..columns).step_by(usize::try_from(wide).unwrap_or(usize::MAX)) {
            let chunk = sound(|| self.chunks.next().transpose())?;
            // What was never written would be read as zeros.
            let chunk = chunk.filter(|chunk| {
                chunk.offsets().first() == Some(&self.next)
                    && chunk.offsets().get(1).is_none_or(|&at| at == left || columns == 1)
            });
            let chunk = chunk.ok_or_else(|| {
                malformed(format_args!("'{}' has parts that were never written", self.name))
            })?;
            let width = bytes(wide.min(columns - left));
            let lines = chunk.bytes().chunks_exact(bytes(wide));
            if (lines.len() as u64) < here {
                return Err(malformed(format_args!(
                    "'{}' has a chunk that is too short",
                    self.name
                )));
            }
            // Not sooner: a shape may promise anything.
            out.resize(bytes(here * columns), 0);
            for (line, row) in lines.zip(out.chunks_exact_mut(bytes(columns))) {
                row[bytes(left)..bytes(left) + width].copy_from_slice(&line[..width]);
            }
        }
        self.next += here;
        Ok(())
    }
}
