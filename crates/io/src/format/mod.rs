//! The formats that rows are read from.
//!
//! To add one, write its file with a constant `FORMAT` and add its line to the registry below.
//! Recognition, names, help and the tests in `tests.rs` follow: its samples are read back, cut short
//! at every byte and damaged at random.

use crate::array::Array;
use crate::error::{ErrorKind, Result};
use crate::registry::formats;
use crate::source::Opened;
use crate::table::{ArrayTable, Table};
use std::path::Path;

#[cfg(feature = "arrow")]
pub(crate) use arrow::MemoryTable;
pub use guard::{guarded, quiet_guarded_panics};

mod guard;
#[cfg(test)]
mod tests;

/// Whether files of a format begin like these bytes: up to 64 KB, without gzip.
type Recognises = fn(&[u8]) -> bool;

/// A format: its names, how its files begin, and how they are read.
pub(crate) struct Definition {
    /// Its name, which is also the first of its extensions.
    name: &'static str,
    extensions: &'static [&'static str],
    recognises: Recognises,
    reader: Reader,
    /// Small files, for the tests that every format has to pass.
    #[cfg(test)]
    samples: fn() -> Vec<tests::Sample>,
}

/// How the numbers of a format are found.
enum Reader {
    /// Named arrays that lie in the file as they would in memory. The function only says where;
    /// reading them, by several threads at once, is the same for all such formats.
    Arrays(fn(Opened) -> Result<Vec<Array>>),
    /// Anything else.
    Table(fn(Opened) -> Result<Box<dyn Table>>),
}

formats! {
    /// A format of logits and labels. Of those that recognise a file without an extension the first
    /// is taken, which is why text comes last.
    Format: Definition {
        Npy => npy, "An array of numpy.";
        Npz => npz, "An archive of named numpy arrays, compressed or not.";
        Safetensors => safetensors, "Named tensors, as Hugging Face stores them.";
        Torch => torch, "What `torch.save` writes: a tensor, or tensors in dictionaries and lists.";
        #[cfg(feature = "parquet")]
        Parquet => parquet, "Columns: a list for each row, or one column for each class.";
        #[cfg(feature = "arrow")]
        Arrow => arrow, "Arrow IPC, also called Feather, as a file or a stream: lists, or one column for each class.";
        #[cfg(feature = "hdf5")]
        Hdf5 => hdf5, "HDF5, as h5py writes it: datasets are arrays, in groups or not.";
        Json => json, "JSON: records on lines or in an array, rows, or an object of arrays.";
        Csv => csv, "Text with one row on each line; commas, tabs, semicolons or spaces between values.";
    }
}

/// Common formats that are not read and how they begin, so that they are refused by name.
const NOT_READ: &[(&str, Recognises)] = &[
    #[cfg(not(feature = "hdf5"))]
    ("HDF5, which this program was built without", |head| head.starts_with(b"\x89HDF")),
    ("a Python pickle, which is never loaded", torch::is_pickle),
    ("Feather of version 1, which is not read", |head| head.starts_with(b"FEA1")),
    #[cfg(not(feature = "arrow"))]
    ("Arrow, which this program was built without", |head| head.starts_with(b"ARROW1")),
    #[cfg(not(feature = "parquet"))]
    ("Parquet, which this program was built without", |head| head.starts_with(b"PAR1")),
];

impl Format {
    /// The format that the extension of a path names, `.gz` left aside.
    pub fn of_path(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let (_, extension) = name.rsplit_once('.')?;
        Format::of_extension(extension)
    }

    /// Whether a file that others append to ends with a line for each row.
    pub(crate) fn has_a_line_per_row(self, path: &Path) -> bool {
        // An array or an object of JSON may end without one.
        let is_whole =
            || path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        self == Format::Csv || (self == Format::Json && !is_whole())
    }

    /// The format of a file: the requested one, else that of its name unless its first bytes
    /// contradict it, else that of its first bytes.
    pub(crate) fn detect(requested: Option<Format>, path: &Path, head: &[u8]) -> Result<Format> {
        if let Some(requested) = requested {
            return Ok(requested);
        }
        let named = Format::of_path(path);
        let looks: Vec<Format> =
            Format::ALL.iter().copied().filter(|format| format.recognises(head)).collect();
        if let Some(named) = named
            && looks.contains(&named)
        {
            return Ok(named);
        }
        if let Some((what, _)) = NOT_READ.iter().find(|(_, begins)| begins(head)) {
            return Err(ErrorKind::Unsupported {
                problem: format!("it looks like {what}"),
                instead: "save the arrays with numpy.save or numpy.savez".into(),
            });
        }
        match (named, &looks[..]) {
            // Damage is for the reader to describe.
            (Some(named), []) => Ok(named),
            (Some(named), _) => Err(ErrorKind::OtherFormat { named, looks }),
            (None, [first, ..]) => Ok(*first),
            (None, []) => Err(ErrorKind::UnknownFormat),
        }
    }

    fn recognises(self, head: &[u8]) -> bool {
        (self.definition().recognises)(head)
    }

    /// Opens a file of this format as a table.
    pub(crate) fn table(self, opened: Opened) -> Result<Box<dyn Table>> {
        match self.definition().reader {
            Reader::Arrays(arrays) => Ok(Box::new(ArrayTable::new(arrays(opened)?))),
            Reader::Table(table) => table(opened),
        }
    }
}
