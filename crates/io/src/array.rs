//! Arrays of numbers that lie in a file as they would lie in memory. A format only says where;
//! everything else happens here.

use crate::dtype::Dtype;
use crate::error::{ErrorKind, ExpectedShape, Result};
use crate::selection::Selection;
use crate::source::{FileSection, Stream};
use abstain::half::{bf16, f16};
use bytemuck::Pod;
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
}

impl Array {
    /// The array to read: that of the requested name, else the first of the usual names, else the
    /// only one with this many dimensions.
    pub(crate) fn choose(
        arrays: Vec<Array>,
        selection: &Selection<'_>,
        dimensions: usize,
    ) -> Result<Array> {
        let names = || arrays.iter().map(|array| array.name.clone()).collect::<Vec<_>>();
        let position = if let Some(name) = selection.name {
            let found = arrays.iter().position(|array| array.name == name);
            found.ok_or_else(|| selection.missing(name, names()))?
        } else if let [_] = arrays[..] {
            0
        } else {
            let usual = selection
                .usual
                .iter()
                .find_map(|name| arrays.iter().position(|a| a.name.eq_ignore_ascii_case(name)));
            let fitting: Vec<usize> =
                (0..arrays.len()).filter(|&i| arrays[i].shape.len() == dimensions).collect();
            match (usual, &fitting[..]) {
                (Some(found), _) => found,
                (None, &[only]) => only,
                _ => return Err(selection.ambiguous(names())),
            }
        };
        let mut arrays = arrays;
        let mut chosen = arrays.swap_remove(position);
        if let Bytes::Later(open) = chosen.bytes {
            chosen.bytes = open()?;
        }
        Ok(chosen)
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
    pub(crate) fn into_numbers(mut self) -> Result<Numbers> {
        match self.shape[..] {
            [_] | [_, 1] => {}
            _ => return Err(self.wrong_shape(ExpectedShape::OneNumberPerRow)),
        }
        self.check_length()?;
        let size = self.size()?;
        if size == 0 {
            return Err(ErrorKind::NoRows);
        }
        let mut bytes = Vec::new();
        self.bytes.read_to(&mut bytes, size)?;
        to_native(&mut bytes, self.dtype, self.big_endian);
        Ok(Numbers::from_bytes(&bytes, self.dtype))
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

/// Numbers of labels, losses or confidences.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Any numbers.
    Floats(Vec<f64>),
}

impl Numbers {
    pub(crate) fn from_bytes(bytes: &[u8], dtype: Dtype) -> Self {
        // The bytes may not be aligned: each number is assembled from them.
        fn each<T: Pod, U>(bytes: &[u8], convert: impl Fn(T) -> U) -> Vec<U> {
            bytes
                .chunks_exact(size_of::<T>())
                .map(|b| convert(bytemuck::pod_read_unaligned(b)))
                .collect()
        }
        match dtype {
            Dtype::F16 => Numbers::Floats(each(bytes, f16::to_f64)),
            Dtype::BF16 => Numbers::Floats(each(bytes, bf16::to_f64)),
            Dtype::F32 => Numbers::Floats(each(bytes, |x: f32| f64::from(x))),
            Dtype::F64 => Numbers::Floats(each(bytes, |x: f64| x)),
            Dtype::I8 => Numbers::Integers(each(bytes, |x: i8| i64::from(x))),
            Dtype::I16 => Numbers::Integers(each(bytes, |x: i16| i64::from(x))),
            Dtype::I32 => Numbers::Integers(each(bytes, |x: i32| i64::from(x))),
            Dtype::I64 => Numbers::Integers(each(bytes, |x: i64| x)),
            Dtype::U8 | Dtype::Bool => Numbers::Integers(each(bytes, |x: u8| i64::from(x))),
            Dtype::U16 => Numbers::Integers(each(bytes, |x: u16| i64::from(x))),
            Dtype::U32 => Numbers::Integers(each(bytes, |x: u32| i64::from(x))),
            Dtype::U64 => {
                let values: Vec<u64> = each(bytes, |x: u64| x);
                let integers: std::result::Result<Vec<i64>, _> =
                    values.iter().map(|&x| i64::try_from(x)).collect();
                // Beyond i64 no number is a label; it keeps its size, and is refused with it.
                integers.map_or_else(
                    |_| Numbers::Floats(values.iter().map(|&x| x as f64).collect()),
                    Numbers::Integers,
                )
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Numbers::Integers(values) => values.len(),
            Numbers::Floats(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As floating-point numbers.
    pub fn into_floats(self) -> Vec<f64> {
        match self {
            Numbers::Integers(values) => values.into_iter().map(|x| x as f64).collect(),
            Numbers::Floats(values) => values,
        }
    }

    /// As whole numbers; 3.0 is one, as tables with gaps are often saved.
    pub fn into_integers(self) -> std::result::Result<Vec<i64>, ErrorKind> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self {
            Numbers::Integers(values) => Ok(values),
            Numbers::Floats(values) => {
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
}

/// Reverses the bytes of each number if the file has another byte order than this machine.
pub(crate) fn to_native(bytes: &mut [u8], dtype: Dtype, big_endian: bool) {
    if big_endian != cfg!(target_endian = "big") && dtype.size() > 1 {
        bytes.par_chunks_exact_mut(dtype.size()).for_each(<[u8]>::reverse);
    }
}
