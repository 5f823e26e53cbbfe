//! Arrays of numbers that lie in a file as they would lie in memory. A format only says where;
//! everything else happens here.

use crate::column::Column;
use crate::dtype::Dtype;
use crate::error::{ErrorKind, ExpectedShape, Result};
use crate::layout::{Field, FieldKind};
use crate::source::{FileSection, Stream};
use rayon::prelude::*;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;

/// An array and where its numbers are.
pub(crate) struct Array {
    /// Its name, or nothing if it is the only one.
    pub(crate) name: String,
    pub(crate) dtype: Dtype,
    pub(crate) big_endian: bool,
    pub(crate) shape: Vec<u64>,
    /// Whether columns, not rows, lie together.
    pub(crate) fortran: bool,
    pub(crate) bytes: Bytes,
}

/// Where the bytes of an array come from.
pub(crate) enum Bytes {
    /// From this offset of a file on.
    File { file: Arc<File>, offset: u64 },
    /// From a stream, which can be read once.
    Stream(Stream),
    /// From where this function says, which is called only for the array that is read.
    Later(Box<dyn FnOnce() -> Result<Bytes> + Send>),
    /// Text of any length instead, which this function reads.
    #[cfg(feature = "hdf5")]
    Texts(Box<dyn FnOnce() -> Result<Vec<String>> + Send>),
}

impl Array {
    /// Opens it, if that was left for later.
    pub(crate) fn opened(mut self) -> Result<Array> {
        if let Bytes::Later(open) = self.bytes {
            self.bytes = open()?;
        }
        Ok(self)
    }

    /// How the layout sees it: one value in each row, or a list.
    pub(crate) fn field(&self) -> Field {
        let depth = match self.shape[..] {
            [_] | [_, 1] => 0,
            _ => 1,
        };
        let kind = match self.dtype {
            Dtype::F16 | Dtype::BF16 | Dtype::F32 | Dtype::F64 => FieldKind::Float,
            Dtype::Bool => FieldKind::Bool,
            Dtype::Unicode(_) | Dtype::Bytes(_) => FieldKind::Text,
            _ => FieldKind::Integer,
        };
        Field { name: self.name.clone(), kind, depth }
    }

    /// Its name as the start of a sentence.
    fn called(&self) -> String {
        if self.name.is_empty() { String::new() } else { format!("'{}' ", self.name) }
    }

    pub(crate) fn wrong_shape(&self, expected: ExpectedShape) -> ErrorKind {
        ErrorKind::Shape { name: self.called(), found: self.shape.clone(), expected }
    }

    /// How many bytes there should be.
    pub(crate) fn size(&self) -> Result<u64> {
        let numbers = self.shape.iter().try_fold(1_u64, |all, &n| all.checked_mul(n));
        let bytes = numbers.and_then(|n| n.checked_mul(self.dtype.size() as u64));
        bytes.ok_or_else(|| self.wrong_shape(ExpectedShape::FitsInMemory))
    }

    /// Refuses a file that is shorter than the array, before any work.
    pub(crate) fn check_length(&self) -> Result<()> {
        let expected = self.size()?;
        if let Bytes::File { file, offset } = &self.bytes {
            let found = file.metadata()?.len().saturating_sub(*offset);
            if found < expected {
                return Err(ErrorKind::Truncated { expected, found: Some(found) });
            }
        }
        Ok(())
    }

    /// All of its numbers, which should be one for each row.
    pub(crate) fn into_column(mut self) -> Result<Column> {
        match self.shape[..] {
            [_] | [_, 1] => {}
            _ => return Err(self.wrong_shape(ExpectedShape::OneNumberPerRow)),
        }
        #[cfg(feature = "hdf5")]
        if let Bytes::Texts(read) = self.bytes {
            let texts = read()?;
            return if texts.is_empty() {
                Err(ErrorKind::NoRows)
            } else {
                Ok(Column::Texts(texts))
            };
        }
        self.check_length()?;
        let size = self.size()?;
        if size == 0 {
            return Err(ErrorKind::NoRows);
        }
        let mut bytes = Vec::new();
        self.bytes.read_to(&mut bytes, size)?;
        to_native(&mut bytes, self.dtype, self.big_endian);
        Ok(Column::from_bytes(&bytes, self.dtype))
    }
}

impl Bytes {
    /// Reads the next bytes and appends them; memory grows with what is really there, not with what
    /// a header promises.
    fn read_to(&mut self, out: &mut Vec<u8>, size: u64) -> Result<()> {
        let found = match self {
            Bytes::File { file, offset } => {
                let mut section = FileSection::new(Arc::clone(file), *offset, size);
                section.read_to_end(out)?
            }
            Bytes::Stream(stream) => stream.take(size).read_to_end(out)?,
            Bytes::Later(_) => 0,
            #[cfg(feature = "hdf5")]
            Bytes::Texts(_) => 0,
        };
        if (found as u64) < size {
            return Err(ErrorKind::Truncated { expected: size, found: Some(found as u64) });
        }
        self.end()
    }

    /// Reads past the last number: compressed streams have their checksum there.
    pub(crate) fn end(&mut self) -> Result<()> {
        if let Bytes::Stream(stream) = self {
            let _ = stream.read(&mut [0])?;
        }
        Ok(())
    }
}

/// Reverses the bytes of each number if the file has another byte order than this machine.
pub(crate) fn to_native(bytes: &mut [u8], dtype: Dtype, big_endian: bool) {
    if big_endian != cfg!(target_endian = "big") && dtype.unit() > 1 {
        bytes.par_chunks_exact_mut(dtype.unit()).for_each(<[u8]>::reverse);
    }
}
