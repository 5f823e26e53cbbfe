//! pt: what `torch.save` writes. Finds the tensors in it; nothing in the file is run.
//!
//! Since 1.6 `torch.save` writes a zip file. In it `NAME/data.pkl` is a pickle of what was saved,
//! where each tensor refers to a storage, and `NAME/data/KEY` is the storage of that key, which is
//! not compressed: so the numbers of a tensor lie at an offset in the file.

mod pickle;
#[cfg(test)]
mod tests;

use super::{Definition, Format, Reader, npz};
use crate::array::{Array, Bytes};
use crate::dtype::Dtype;
use crate::error::{ErrorKind, Result};
use pickle::{Items, Pickle, Value, shown};
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::sync::Arc;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

pub(super) const FORMAT: Definition = Definition {
    name: "pt",
    extensions: &["pt", "pth"],
    // Before version 1.6 they were pickles, which the reader refuses by that name.
    recognises: |head| npz::is_zip(head) || is_pickle(head),
    reader: Reader::Arrays(|opened| arrays(&opened.into_file()?)),
    #[cfg(test)]
    samples: tests::samples,
};

/// The longest pickle that is read: it holds no numbers, only some 200 bytes a tensor.
const MAX_PICKLE: u64 = 64 << 20;
/// How deep dictionaries and lists may lie in each other.
const MAX_DEPTH: usize = 64;
const MAX_DIMENSIONS: usize = 64;
/// What listing the tensors may cost. A pickle can use one list many times, in a list that is used
/// many times, …: a file of a few bytes may list more tensors than there is memory for.
const MAX_COST: usize = 64 << 20;
/// The cost of a tensor or a collection beyond its name, in items that are neither.
const NODE_COST: usize = 64;
/// The number that files of before 1.6 begin with, as a pickle has it.
const OLD_MAGIC: &[u8] = &[0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];

/// Whether a file begins as a pickle does.
pub(super) fn is_pickle(head: &[u8]) -> bool {
    matches!(head, [0x80, 2..=5, ..])
}

/// Whether a zip archive was written by PyTorch.
pub(super) fn is_torch(file: &File) -> bool {
    let Ok(file) = file.try_clone() else { return false };
    let Ok(archive) = ZipArchive::new(BufReader::new(file)) else { return false };
    archive.file_names_raw().any(|name| name.ends_with(b"/data.pkl"))
}

/// The tensors of a file as arrays.
pub(super) fn arrays(file: &File) -> Result<Vec<Array>> {
    let tensors = tensors(file)?;
    if tensors.is_empty() {
        return Err(malformed("there is no tensor in it"));
    }
    let file = Arc::new(file.try_clone()?);
    let array = |Tensor { name, dtype, shape, fortran, offset, big_endian }| Array {
        name,
        dtype,
        big_endian,
        shape,
        fortran,
        bytes: Bytes::File { file: Arc::clone(&file), offset },
    };
    Ok(tensors.into_iter().map(array).collect())
}

/// A tensor in a file and where its numbers lie.
#[derive(Debug, Clone, PartialEq)]
struct Tensor {
    /// Its key; with dots if it lies in dictionaries within dictionaries; the number of an item of
    /// a list; nothing if the file is one tensor.
    name: String,
    dtype: Dtype,
    shape: Vec<u64>,
    /// Whether its columns, not its rows, lie one after the other: a transposed matrix.
    fortran: bool,
    /// Where in the file its first number lies.
    offset: u64,
    big_endian: bool,
}

/// The tensors in a file, which may be none; what else is in it is passed over. Moves the position
/// of the file.
fn tensors(file: &File) -> Result<Vec<Tensor>> {
    let mut start = Vec::new();
    (&mut &*file).rewind()?;
    file.take(32).read_to_end(&mut start)?;
    if start.windows(OLD_MAGIC.len()).any(|window| window == OLD_MAGIC) {
        return Err(ErrorKind::Unsupported {
            problem: "the file has the old PyTorch format of before version 1.6".into(),
            instead: "load it and save it again with torch.save of a current PyTorch, or as .npy"
                .into(),
        });
    }
    let mut archive = Archive::open(file, &start)?;
    let pickle = archive.read("data.pkl", MAX_PICKLE)?.unwrap_or_default();
    let pickle = Pickle::read(&pickle)?;
    let big_endian = match archive.read("byteorder", 16)?.as_deref() {
        None | Some(b"little") => false,
        Some(b"big") => true,
        Some(_) => return Err(malformed("its byte order is neither little nor big")),
    };
    let mut finder = Finder { pickle: &pickle, archive, big_endian, cost: 0, found: Vec::new() };
    finder.visit(pickle.root, String::new(), 0)?;
    Ok(finder.found)
}

fn malformed(problem: impl std::fmt::Display) -> ErrorKind {
    ErrorKind::malformed(Format::Torch, problem)
}

fn unsupported(problem: impl Into<String>, instead: &str) -> ErrorKind {
    ErrorKind::Unsupported { problem: problem.into(), instead: instead.into() }
}

/// What is wrong with a zip file.
fn broken(error: ZipError) -> ErrorKind {
    match error {
        // Only errors of the system have a number: others are about what is in the file.
        ZipError::Io(error) if error.raw_os_error().is_some() => error.into(),
        ZipError::InvalidArchive(problem) => malformed(problem),
        ZipError::UnsupportedArchive(problem) => {
            unsupported(format!("the zip file: {problem}"), "save it again with torch.save")
        }
        other => malformed(other),
    }
}

struct Archive {
    zip: ZipArchive<BufReader<File>>,
    /// What all names in it begin with, with the slash. Bytes: their encoding is not certain.
    prefix: Vec<u8>,
    /// Bytes of the whole file.
    size: u64,
}

impl Archive {
    fn open(file: &File, start: &[u8]) -> Result<Self> {
        if is_pickle(start) {
            let instead = "save the tensor alone: torch.save(logits, path)";
            return Err(unsupported("it is a Python pickle, which is never loaded", instead));
        }
        if !npz::is_zip(start) {
            return Err(malformed("it is not a zip file"));
        }
        let zip =
            ZipArchive::new(BufReader::new(file.try_clone()?)).map_err(|error| match error {
                ZipError::InvalidArchive(problem) => malformed(format!(
                    "the directory at its end is missing or damaged ({problem}); is it all there?"
                )),
                other => broken(other),
            })?;
        // The pickle lies in the top folder, next to the folder of the storages.
        let folder = |name: &[u8], end: &str| {
            let folder = name.strip_suffix(end.as_bytes())?;
            (folder.iter().position(|&byte| byte == b'/')? + 1 == folder.len())
                .then(|| folder.to_vec())
        };
        if zip.file_names_raw().any(|name| folder(name, "constants.pkl").is_some()) {
            let instead = "save the tensor alone: torch.save(logits, path)";
            return Err(unsupported("the file is a TorchScript program, not a tensor", instead));
        }
        let mut folders = zip.file_names_raw().filter_map(|name| folder(name, "data.pkl"));
        let prefix = folders.next().ok_or_else(|| malformed("there is no data.pkl in it"))?;
        if folders.next().is_some() {
            return Err(malformed("there are several data.pkl in it"));
        }
        drop(folders);
        Ok(Archive { zip, prefix, size: file.metadata()?.len() })
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.zip.index_for_name_raw(&[&self.prefix, name.as_bytes()].concat())
    }

    /// A small file in the archive.
    fn read(&mut self, name: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        let Some(index) = self.index(name) else { return Ok(None) };
        // PyTorch may leave out the checksums, so those of stored files say nothing.
        let raw = self.zip.by_index_raw(index).map_err(broken)?;
        let plain = raw.compression() == CompressionMethod::Stored && !raw.encrypted();
        drop(raw);
        let mut bytes = Vec::new();
        let entry = if plain { self.zip.by_index_raw(index) } else { self.zip.by_index(index) };
        let read = entry.map_err(broken)?.take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|error| broken(ZipError::Io(error)))?;
        if bytes.len() as u64 > limit {
            let instead = "save the tensor alone: torch.save(logits, path)";
            return Err(unsupported(format!("{name} in it has more than {limit} bytes"), instead));
        }
        Ok(Some(bytes))
    }

    /// Where a storage lies in the file, and its bytes.
    fn storage(&mut self, key: &str) -> Result<(u64, u64)> {
        let missing = || malformed(format!("there is no data/{} in it", shown(key)));
        let index = self.index(&format!("data/{key}")).ok_or_else(missing)?;
        let entry = self.zip.by_index_raw(index).map_err(broken)?;
        if entry.compression() != CompressionMethod::Stored || entry.encrypted() {
            let instead = "save it again with torch.save, which does neither";
            return Err(unsupported("the numbers in it are compressed or encrypted", instead));
        }
        let (start, size) = (entry.data_start().ok_or_else(missing)?, entry.compressed_size());
        match start.checked_add(size) {
            Some(end) if end <= self.size => Ok((start, size)),
            end => {
                let expected = end.unwrap_or(u64::MAX);
                Err(ErrorKind::Truncated { expected, found: Some(self.size) })
            }
        }
    }
}

struct Finder<'a> {
    pickle: &'a Pickle<'a>,
    archive: Archive,
    big_endian: bool,
    cost: usize,
    found: Vec<Tensor>,
}

impl<'a> Finder<'a> {
    fn visit(&mut self, value: Value<'a>, name: String, depth: usize) -> Result<()> {
        let (items, step) = match value {
            Value::Tensor(items) => {
                let tensor = self.tensor(items, name)?;
                self.found.push(tensor);
                return Ok(());
            }
            Value::Tuple(items) | Value::List(items) => (self.pickle.items(items), 1),
            Value::Dict(items) => (self.pickle.items(items), 2),
            _ => return Ok(()),
        };
        if depth == MAX_DEPTH {
            return Err(malformed(format!("collections lie in each other {MAX_DEPTH} deep")));
        }
        for (number, item) in items.chunks_exact(step).enumerate() {
            let (key, value) = (item[0], item[step - 1]);
            self.pay(1)?;
            if matches!(value, Value::Tensor(_) | Value::Tuple(_) | Value::List(_) | Value::Dict(_))
            {
                let key = match key {
                    Value::Text(text) if step == 2 => text.to_string(),
                    Value::Int(int) if step == 2 => int.to_string(),
                    _ => number.to_string(),
                };
                self.pay(NODE_COST + name.len() + key.len())?;
                let dotted = if depth == 0 { key } else { format!("{name}.{key}") };
                self.visit(value, dotted, depth + 1)?;
            }
        }
        Ok(())
    }

    fn pay(&mut self, cost: usize) -> Result<()> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > MAX_COST {
            return Err(malformed("the same collections lie in it too often"));
        }
        Ok(())
    }

    fn tensor(&mut self, arguments: Items, name: String) -> Result<Tensor> {
        let arguments = self.pickle.items(arguments);
        let [Value::Storage(storage), Value::Int(first), size, strides, rest @ ..] = arguments
        else {
            return Err(malformed("a tensor without storage, offset, size and strides"));
        };
        let [Value::Text("storage"), class, Value::Text(key), ..] = self.pickle.items(*storage)
        else {
            return Err(malformed("a tensor's storage is not one"));
        };
        // After the gradient and the hooks a newer kind of tensor has its type, whose storage has
        // none. What comes last may say that its numbers must be negated or conjugated.
        let (class, special) = match rest.get(2) {
            Some(class @ Value::Global(_)) => (class, rest.get(3)),
            special => (class, special),
        };
        if let Some(Value::Dict(items)) = special
            && !self.pickle.items(*items).is_empty()
        {
            let problem = format!("the tensor '{}' is a special view of another", shown(&name));
            return Err(unsupported(problem, "call .resolve_neg().clone() before torch.save"));
        }
        self.pay(key.len())?;
        let class = self.pickle.global(*class).unwrap_or_default();
        let dtype = dtype(class).ok_or_else(|| {
            let (name, class) = (shown(&name), format!("{}.{}", shown(class.0), shown(class.1)));
            let problem = format!("the tensor '{name}' is of {class}, which is not read");
            unsupported(problem, "convert it before torch.save, as with .float()")
        })?;
        let (shape, strides) = (self.numbers(*size)?, self.numbers(*strides)?);
        let fortran = fortran(&shape, &strides).ok_or_else(|| {
            let problem = format!("the numbers of the tensor '{}' do not adjoin", shown(&name));
            unsupported(problem, "call .contiguous() before torch.save")
        })?;
        let numbers = shape.iter().try_fold(1u64, |product, &size| product.checked_mul(size));
        let bytes = |numbers: u64| numbers.checked_mul(dtype.size() as u64);
        let ends = || {
            let before = bytes(u64::try_from(*first).ok()?)?;
            Some((before, before.checked_add(bytes(numbers?)?)?))
        };
        let (before, end) = ends().ok_or_else(|| malformed("a tensor's size is absurd"))?;
        let (start, found) = self.archive.storage(key)?;
        if end > found {
            return Err(ErrorKind::Truncated { expected: end, found: Some(found) });
        }
        let offset = start + before;
        Ok(Tensor { name, dtype, shape, fortran, offset, big_endian: self.big_endian })
    }

    /// Sizes or strides.
    fn numbers(&self, value: Value<'a>) -> Result<Vec<u64>> {
        let (Value::Tuple(items) | Value::List(items)) = value else {
            return Err(malformed("a tensor's size is not a tuple"));
        };
        let items = self.pickle.items(items);
        if items.len() > MAX_DIMENSIONS {
            return Err(malformed(format!("a tensor has more than {MAX_DIMENSIONS} dimensions")));
        }
        let number = |item: &Value<'_>| match item {
            Value::Int(int) => u64::try_from(*int).ok(),
            _ => None,
        };
        let numbers: Option<Vec<u64>> = items.iter().map(number).collect();
        numbers.ok_or_else(|| malformed("a tensor's sizes and strides are not all whole numbers"))
    }
}

/// Whether the numbers of a tensor lie by columns, if they lie by rows or columns without gaps.
fn fortran(shape: &[u64], strides: &[u64]) -> Option<bool> {
    if shape.len() != strides.len() {
        return None;
    }
    if shape.contains(&0) || adjoin(shape.iter().zip(strides).rev()) {
        return Some(false);
    }
    (shape.len() == 2 && adjoin(shape.iter().zip(strides))).then_some(true)
}

/// Whether axes, the fastest first, have the strides of numbers without gaps.
fn adjoin<'a>(mut axes: impl Iterator<Item = (&'a u64, &'a u64)>) -> bool {
    let all = axes.try_fold(1u64, |expected, (&size, &stride)| {
        // The stride of an axis of one is never used.
        (size == 1 || stride == expected).then(|| expected.saturating_mul(size))
    });
    all.is_some()
}

/// The type of numbers by the class of their storage, or by the name of the type.
fn dtype(class: (&str, &str)) -> Option<Dtype> {
    let ("torch" | "torch.storage", name) = class else { return None };
    Some(match name {
        "HalfStorage" | "float16" => Dtype::F16,
        "BFloat16Storage" | "bfloat16" => Dtype::BF16,
        "FloatStorage" | "float32" => Dtype::F32,
        "DoubleStorage" | "float64" => Dtype::F64,
        "CharStorage" | "int8" => Dtype::I8,
        "ShortStorage" | "int16" => Dtype::I16,
        "IntStorage" | "int32" => Dtype::I32,
        "LongStorage" | "int64" => Dtype::I64,
        "ByteStorage" | "uint8" => Dtype::U8,
        "BoolStorage" | "bool" => Dtype::Bool,
        "uint16" => Dtype::U16,
        "uint32" => Dtype::U32,
        "uint64" => Dtype::U64,
        _ => return None,
    })
}
