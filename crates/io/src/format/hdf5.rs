//! HDF5, as h5py writes it. Datasets of numbers are arrays; of those with chunks, one row of chunks is
//! in memory at a time.

mod stream;
#[cfg(test)]
mod tests;

use super::guard::guarded;
use super::{Definition, Format, Reader};
use crate::array::{Array, Bytes};
use crate::dtype::Dtype;
use crate::error::{ErrorKind, Result};
use crate::source::Opened;
use hdf5_reader::error::Error;
use hdf5_reader::group::Group;
use hdf5_reader::storage::FileStorage;
use hdf5_reader::{ByteOrder, Dataset, Datatype, Hdf5File, OpenOptions, VarLenKind};
use std::io;
use std::sync::Arc;

pub(super) const FORMAT: Definition = Definition {
    name: "h5",
    extensions: &["h5", "hdf5"],
    recognises: |head| head.starts_with(b"\x89HDF\r\n\x1a\n"),
    reader: Reader::Arrays(arrays),
    #[cfg(test)]
    samples: tests::samples,
};

/// Bytes that are unpacked or read at once at most, whatever a file says.
const MOST_BYTES: usize = 1 << 28;
/// Groups in groups at most.
const DEEPEST: usize = 16;

fn malformed(problem: impl std::fmt::Display) -> ErrorKind {
    ErrorKind::malformed(Format::Hdf5, problem)
}

fn cut_short() -> ErrorKind {
    io::Error::from(io::ErrorKind::UnexpectedEof).into()
}

/// Calls the crate, which does not panic as far as we know.
fn sound<T>(call: impl FnOnce() -> std::result::Result<T, Error>) -> Result<T> {
    guarded(call).map_err(malformed)?.map_err(|error| match innermost(error) {
        Error::Io(error) => ErrorKind::Io(error),
        Error::UnexpectedEof { .. } => cut_short(),
        Error::UnsupportedFilter(filter) => ErrorKind::Unsupported {
            problem: format!("its numbers are packed by a filter that is not read ({filter})"),
            instead: "write it with compression='gzip' or without".into(),
        },
        other => malformed(other),
    })
}

/// The error inside of one that adds where it happened.
fn innermost(error: Error) -> Error {
    match error {
        Error::Context { source, .. } => innermost(*source),
        other => other,
    }
}

/// The arrays of a file.
fn arrays(opened: Opened) -> Result<Vec<Array>> {
    let file = opened.into_file()?;
    let length = file.metadata()?.len();
    let options = OpenOptions::default()
        .with_max_chunk_bytes(MOST_BYTES)
        .with_max_read_bytes(MOST_BYTES)
        .with_chunk_cache_bytes(0);
    let file = sound(|| {
        let storage = Arc::new(FileStorage::from_file(file)?);
        Hdf5File::from_storage_with_options(storage, options)
    })?;
    let superblock = file.superblock();
    if superblock.base_address == 0 && superblock.eof_address > length {
        return Err(ErrorKind::Truncated { expected: superblock.eof_address, found: Some(length) });
    }
    let mut found = Vec::new();
    let root = sound(|| file.root_group())?;
    collect(&root, "", 0, &mut found)?;
    let arrays: Vec<Option<Array>> = found
        .into_iter()
        .map(|(name, dataset)| array(name, dataset, length))
        .collect::<Result<_>>()?;
    let arrays: Vec<Array> = arrays.into_iter().flatten().collect();
    if arrays.is_empty() {
        return Err(malformed("there is no dataset of numbers or text in it"));
    }
    Ok(arrays)
}

/// The datasets of a group and the groups in it, with their paths.
fn collect(
    group: &Group,
    path: &str,
    depth: usize,
    out: &mut Vec<(String, Dataset)>,
) -> Result<()> {
    let (groups, datasets) = sound(|| group.members())?;
    for dataset in datasets {
        let name = dataset.name();
        // Its columns are spread over several datasets, which do not say which is which.
        if name.starts_with("block") && name.ends_with("_values") {
            return Err(ErrorKind::Unsupported {
                problem: "it is a table of pandas (HDFStore)".into(),
                instead: "write it with DataFrame.to_parquet or to_csv".into(),
            });
        }
        out.push((format!("{path}{name}"), dataset));
    }
    if depth == DEEPEST {
        return if groups.is_empty() { Ok(()) } else { Err(malformed("its groups are too deep")) };
    }
    for inner in groups {
        collect(&inner, &format!("{path}{}/", inner.name()), depth + 1, out)?;
    }
    Ok(())
}

/// A dataset as an array; nothing if it is one number, or of another type.
fn array(name: String, dataset: Dataset, length: u64) -> Result<Option<Array>> {
    let shape = dataset.shape().to_vec();
    let Some((dtype, big_endian)) = dtype(&dataset)? else { return Ok(None) };
    if shape.is_empty() {
        return Ok(None);
    }
    let chunks = dataset.chunks();
    let mut array = Array {
        name,
        dtype,
        big_endian,
        shape,
        fortran: false,
        bytes: Bytes::Stream(Box::new(io::empty())),
    };
    let size = array.size()?;
    // What was never written is read as zeros, however much that is.
    if chunks.is_none() && size > length {
        return Err(ErrorKind::Truncated { expected: size, found: Some(length) });
    }
    let (shape, name) = (array.shape.clone(), array.name.clone());
    array.bytes = match dtype {
        dtype if dtype.is_text() => {
            Bytes::Texts(Box::new(move || sound(|| dataset.read_strings())))
        }
        dtype => Bytes::Later(Box::new(move || {
            stream::open(&dataset, &name, &shape, dtype).map(Bytes::Stream)
        })),
    };
    Ok(Some(array))
}

/// The type of the numbers, or of text; nothing if it is another.
fn dtype(dataset: &Dataset) -> Result<Option<(Dtype, bool)>> {
    let big = |order: &ByteOrder| *order == ByteOrder::BigEndian;
    Ok(Some(match dataset.dtype() {
        Datatype::FixedPoint { size, signed, byte_order } => {
            let dtype = match (size, signed) {
                (1, true) => Dtype::I8,
                (2, true) => Dtype::I16,
                (4, true) => Dtype::I32,
                (8, true) => Dtype::I64,
                (1, false) => Dtype::U8,
                (2, false) => Dtype::U16,
                (4, false) => Dtype::U32,
                (8, false) => Dtype::U64,
                _ => return Ok(None),
            };
            (dtype, big(byte_order))
        }
        Datatype::FloatingPoint { byte_order, .. } => match float(dataset)? {
            Some(dtype) => (dtype, big(byte_order)),
            None => return Ok(None),
        },
        Datatype::Enum { base, members }
            if matches!(**base, Datatype::FixedPoint { size: 1, .. }) =>
        {
            let is = |name: &str, value| {
                members.iter().any(|member| member.name == name && member.value == [value])
            };
            if members.len() != 2 || !is("FALSE", 0) || !is("TRUE", 1) {
                return Ok(None);
            }
            (Dtype::Bool, false)
        }
        Datatype::String { .. } | Datatype::VarLen { kind: VarLenKind::String, .. }
            if dataset.ndim() == 1 =>
        {
            (Dtype::Bytes(1), false)
        }
        _ => return Ok(None),
    }))
}

/// The type of floating-point numbers by the bits of their parts: those of the same size differ.
fn float(dataset: &Dataset) -> Result<Option<Dtype>> {
    let message = sound(|| dataset.raw_datatype())?;
    // Behind class and flags: the size, the first bit, the bits, where the exponent is and its bits,
    // where the mantissa is and its bits, the bias.
    let Some(parts) = message.get(4..20) else { return Ok(None) };
    let half = |at: usize| u16::from_le_bytes([parts[at], parts[at + 1]]);
    let exponent_and_mantissa = (parts[8], parts[9], parts[10], parts[11]);
    Ok(match (half(0), half(4), half(6), exponent_and_mantissa) {
        (2, 0, 16, (10, 5, 0, 10)) => Some(Dtype::F16),
        (2, 0, 16, (7, 8, 0, 7)) => Some(Dtype::BF16),
        (4, 0, 32, (23, 8, 0, 23)) => Some(Dtype::F32),
        (8, 0, 64, (52, 11, 0, 52)) => Some(Dtype::F64),
        _ => None,
    })
}
