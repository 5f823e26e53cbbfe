//! npy: an array of numpy.

use super::{Definition, Format, Reader};
use crate::array::{Array, Bytes};
use crate::dtype::Dtype;
use crate::error::{ErrorKind, Result};
use crate::source::{FileSection, Opened, ReadCounter, Stream};
use flate2::read::DeflateDecoder;
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, TypeStr};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;

#[cfg(test)]
pub(super) mod tests;

pub(super) const FORMAT: Definition = Definition {
    name: "npy",
    extensions: &["npy"],
    recognises: |head| head.starts_with(MAGIC),
    reader: Reader::Arrays(arrays),
    #[cfg(test)]
    samples: tests::samples,
};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that numpy reads by default.
const LONGEST_HEADER: usize = 10_000;

/// The longest record that is read; those with numbers in them are far shorter.
const LONGEST_RECORD: usize = 1 << 20;

/// The arrays of a file: one, or one for each field of a structured array.
fn arrays(opened: Opened) -> Result<Vec<Array>> {
    match opened {
        Opened::File(file, _) => {
            let size = file.metadata()?.len();
            let whole = Member { file: Arc::new(file), start: 0, size, packed: None };
            whole.arrays(String::new(), Format::Npy)
        }
        Opened::Stream(mut stream) => {
            let (header, _) = read_header(&mut stream, Format::Npy)?;
            let by_columns = header.order() == Order::Fortran && header.shape().len() > 1;
            if by_columns || matches!(header.dtype(), DType::Record(_)) {
                // These are read out of order: from a copy, then.
                let mut start = Vec::new();
                write_header(&header, &mut start)?;
                let whole: Stream = Box::new(Cursor::new(start).chain(stream));
                let copy = Opened::Stream(whole).into_file()?;
                return arrays(Opened::File(copy, ReadCounter::default()));
            }
            let mut stream = Some(stream);
            arrays_of(&header, String::new(), |_, _| {
                let none = || ErrorKind::malformed(Format::Npy, "it has no plain numbers");
                Ok(Bytes::Stream(stream.take().ok_or_else(none)?))
            })
        }
    }
}

/// An npy file: a whole file, or a member of an archive, plain or compressed.
#[derive(Clone)]
pub(super) struct Member {
    pub(super) file: Arc<File>,
    pub(super) start: u64,
    pub(super) size: u64,
    pub(super) packed: Option<Packed>,
}

/// What the directory of an archive says of a compressed member.
#[derive(Clone, Copy)]
pub(super) struct Packed {
    pub(super) checksum: u32,
    /// Its size unpacked.
    pub(super) size: u64,
}

impl Member {
    /// Its contents from a place on.
    fn open(&self, skipped: u64) -> Result<Stream> {
        let section = FileSection::new(Arc::clone(&self.file), self.start, self.size);
        let mut stream: Stream = match self.packed {
            None => Box::new(BufReader::new(section)),
            Some(Packed { checksum, size }) => Box::new(Checked {
                inner: DeflateDecoder::new(BufReader::new(section)),
                crc: crc32fast::Hasher::new(),
                expected: checksum,
                left: size,
            }),
        };
        io::copy(&mut (&mut stream).take(skipped), &mut io::sink())?;
        Ok(stream)
    }

    /// Its arrays. What has to be unpacked or picked out is, once it is read.
    pub(super) fn arrays(&self, name: String, format: Format) -> Result<Vec<Array>> {
        let (header, length) = read_header(&mut self.open(0)?, format)?;
        let records = header.len();
        arrays_of(&header, name, |field, expected| {
            let member = self.clone();
            let columns = header.order() == Order::Fortran && header.shape().len() > 1;
            Ok(match (field, self.packed) {
                (Some(field), _) => {
                    Bytes::Later(Box::new(move || field.gather(&mut member.open(length)?, records)))
                }
                (None, None) => {
                    let found = self.size.saturating_sub(length);
                    if found < expected {
                        return Err(ErrorKind::Truncated { expected, found: Some(found) });
                    }
                    Bytes::File { file: member.file, offset: self.start + length }
                }
                (None, Some(_)) if columns => Bytes::Later(Box::new(move || {
                    let unpacked = Opened::Stream(member.open(length)?).into_file()?;
                    Ok(Bytes::File { file: Arc::new(unpacked), offset: 0 })
                })),
                (None, Some(_)) => {
                    Bytes::Later(Box::new(move || Ok(Bytes::Stream(member.open(length)?))))
                }
            })
        })
    }
}

/// Reads a header; returns it, and the number of bytes before the data.
fn read_header(reader: &mut impl Read, format: Format) -> Result<(NpyHeader, u64)> {
    let damaged = |problem: &dyn std::fmt::Display| ErrorKind::malformed(format, problem);
    let mut bytes = vec![0; 10];
    read_whole(reader, &mut bytes, format)?;
    if !bytes.starts_with(MAGIC) {
        return Err(damaged(&"it does not begin as one"));
    }
    let length = if bytes[6] == 1 {
        usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))
    } else {
        bytes.resize(12, 0);
        read_whole(reader, &mut bytes[10..], format)?;
        u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize
    };
    if length > LONGEST_HEADER {
        return Err(damaged(&format_args!("its header has {length} bytes")));
    }
    let before = bytes.len();
    bytes.resize(before + length, 0);
    read_whole(reader, &mut bytes[before..], format)?;
    // Brackets in brackets would take the parser's stack.
    let nested = |c: &u8| matches!(c, b'(' | b'[' | b'{');
    if bytes[before..].iter().filter(|c| nested(c)).count() > 64 {
        return Err(damaged(&"its header is too deeply nested"));
    }
    let header = NpyHeader::from_reader(&bytes[..]).map_err(|error| damaged(&error))?;
    Ok((header, bytes.len() as u64))
}

fn read_whole(reader: &mut impl Read, out: &mut [u8], format: Format) -> Result<()> {
    reader.read_exact(out).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => ErrorKind::malformed(format, "the header is cut short"),
        _ => error.into(),
    })
}

fn write_header(header: &NpyHeader, out: &mut Vec<u8>) -> Result<()> {
    let shape: Vec<String> = header.shape().iter().map(|n| format!("{n},")).collect();
    let order = if header.order() == Order::Fortran { "True" } else { "False" };
    let text = format!(
        "{{'descr': {}, 'fortran_order': {order}, 'shape': ({}), }}\n",
        header.dtype().descr(),
        shape.concat()
    );
    let length = u16::try_from(text.len())
        .map_err(|_| ErrorKind::malformed(Format::Npy, "its header is too long"))?;
    out.extend_from_slice(b"\x93NUMPY\x01\x00");
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// The array that a header describes, or one for each field of its records. `bytes` gets the field
/// and how many bytes there should be.
fn arrays_of(
    header: &NpyHeader,
    name: String,
    mut bytes: impl FnMut(Option<Field>, u64) -> Result<Bytes>,
) -> Result<Vec<Array>> {
    let shape = header.shape().to_vec();
    let fortran = header.order() == Order::Fortran && shape.len() > 1;
    let mut array = |name, plain: &TypeStr, field: Option<Field>, fortran| -> Result<Array> {
        let (dtype, big_endian) = number_type(plain)?;
        let none = Bytes::Stream(Box::new(io::empty()));
        let mut array =
            Array { name, dtype, big_endian, shape: shape.clone(), fortran, bytes: none };
        array.bytes = bytes(field, array.size()?)?;
        Ok(array)
    };
    match header.dtype() {
        DType::Plain(plain) => Ok(vec![array(name, &plain, None, fortran)?]),
        DType::Record(fields) => {
            let widths: Option<Vec<usize>> =
                fields.iter().map(|field| field.dtype.num_bytes()).collect();
            let size = widths
                .iter()
                .flatten()
                .try_fold(0_usize, |all, &width| all.checked_add(width))
                .filter(|&size| size <= LONGEST_RECORD);
            let (Some(widths), Some(size)) = (widths, size) else {
                return Err(ErrorKind::malformed(Format::Npy, "its records are too large"));
            };
            let mut start = 0;
            let mut all = Vec::new();
            for (field, width) in fields.iter().zip(widths) {
                let place = Field { start, width, size };
                start += width;
                // Texts and the like are passed over.
                if let DType::Plain(plain) = &field.dtype
                    && number_type(plain).is_ok()
                {
                    all.push(array(field.name.clone(), plain, Some(place), false)?);
                }
            }
            Ok(all)
        }
        DType::Array(..) => Err(ErrorKind::malformed(Format::Npy, "it is an array of arrays")),
    }
}

/// Characters of a text at most: a header can promise anything.
const LONGEST_TEXT: u64 = 1 << 16;

fn text_size(size: u64) -> u32 {
    u32::try_from(size).unwrap_or(0)
}

fn number_type(plain: &TypeStr) -> Result<(Dtype, bool)> {
    let dtype = match (plain.type_char(), plain.size_field()) {
        (TypeChar::Float, 2) => Dtype::F16,
        (TypeChar::Float, 4) => Dtype::F32,
        (TypeChar::Float, 8) => Dtype::F64,
        (TypeChar::Int, 1) => Dtype::I8,
        (TypeChar::Int, 2) => Dtype::I16,
        (TypeChar::Int, 4) => Dtype::I32,
        (TypeChar::Int, 8) => Dtype::I64,
        (TypeChar::Uint, 1) => Dtype::U8,
        (TypeChar::Uint, 2) => Dtype::U16,
        (TypeChar::Uint, 4) => Dtype::U32,
        (TypeChar::Uint, 8) => Dtype::U64,
        (TypeChar::Bool, _) => Dtype::Bool,
        (TypeChar::UnicodeStr, size @ 1..=LONGEST_TEXT) => Dtype::Unicode(text_size(size)),
        (TypeChar::ByteStr, size @ 1..=LONGEST_TEXT) => Dtype::Bytes(text_size(size)),
        (TypeChar::Object, _) => {
            return Err(ErrorKind::Unsupported {
                problem: "it holds pickled Python objects, which are never loaded".into(),
                instead:
                    "save plain numbers, or labels as text: numpy.save(path, array.astype(str))"
                        .into(),
            });
        }
        (TypeChar::RawData, 2) => {
            return Err(ErrorKind::Unsupported {
                problem: format!("numbers of the type {plain} have no meaning in numpy"),
                instead: "bfloat16? Save them as float32: array.astype('float32')".into(),
            });
        }
        _ => {
            return Err(ErrorKind::Unsupported {
                problem: format!("numbers of the type {plain} are not read"),
                instead: "save them as float32, or labels as int64".into(),
            });
        }
    };
    Ok((dtype, plain.endianness() == Endianness::Big))
}

/// A field of a record: where it starts, how long it is, and how long the record is.
struct Field {
    start: usize,
    width: usize,
    size: usize,
}

impl Field {
    /// The field of every record, one after the other.
    fn gather(&self, reader: &mut impl Read, records: u64) -> Result<Bytes> {
        let mut out = Vec::new();
        let mut record = vec![0; self.size];
        for found in 0..records {
            if reader.read_exact(&mut record).is_err() {
                let size = self.size as u64;
                let expected = records.saturating_mul(size);
                return Err(ErrorKind::Truncated { expected, found: Some(found * size) });
            }
            out.extend_from_slice(&record[self.start..self.start + self.width]);
        }
        Ok(Bytes::Stream(Box::new(Cursor::new(out))))
    }
}

/// Unpacked data whose checksum is compared as soon as the last of them is read.
struct Checked<R> {
    inner: R,
    crc: crc32fast::Hasher,
    expected: u32,
    left: u64,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(out)?;
        self.crc.update(&out[..n]);
        self.left = self.left.saturating_sub(n as u64);
        if self.left == 0 && self.crc.clone().finalize() != self.expected {
            return Err(io::Error::other("the checksum is wrong: the file is damaged"));
        }
        Ok(n)
    }
}
