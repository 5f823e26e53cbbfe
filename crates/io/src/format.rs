//! The formats that are read, and how a file's format is told.

use crate::error::{ErrorKind, Result};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A format of logits and labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// numpy's array file.
    Npy,
    /// numpy's archive of named arrays.
    Npz,
    /// Named tensors, as Hugging Face keeps them.
    Safetensors,
    /// What `torch.save` writes: one tensor, or a dictionary of them.
    Torch,
    /// Columns: a list a row, or one column a class.
    Parquet,
    /// Text, one row a line; commas, tabs, semicolons or spaces between the values.
    Csv,
}

struct Info {
    format: Format,
    name: &'static str,
    extensions: &'static [&'static str],
}

/// To add a format: its line here, its reader beside the others, its arm in `reader.rs`.
const FORMATS: [Info; 6] = [
    Info { format: Format::Npy, name: "npy", extensions: &["npy"] },
    Info { format: Format::Npz, name: "npz", extensions: &["npz"] },
    Info { format: Format::Safetensors, name: "safetensors", extensions: &["safetensors"] },
    Info { format: Format::Torch, name: "pt", extensions: &["pt", "pth"] },
    Info { format: Format::Parquet, name: "parquet", extensions: &["parquet", "pq"] },
    Info { format: Format::Csv, name: "csv", extensions: &["csv", "tsv", "txt"] },
];

impl Format {
    /// Every format.
    pub const ALL: [Format; 6] = {
        let mut all = [Format::Npy; 6];
        let mut i = 0;
        while i < all.len() {
            all[i] = FORMATS[i].format;
            i += 1;
        }
        all
    };

    /// Its name, which is also its usual extension.
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|info| info.format == self).map_or("", |info| info.name)
    }

    /// The names of all formats, for messages.
    pub fn names() -> String {
        FORMATS.map(|info| info.name).join(", ")
    }

    /// The format that a name asks for, `.gz` left aside.
    pub fn of_path(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let (_, extension) = name.rsplit_once('.')?;
        let info = FORMATS.iter().find(|info| info.extensions.contains(&extension))?;
        Some(info.format)
    }

    /// The format of some data by what was said, the name, or the first bytes; in that order.
    pub(crate) fn decide(said: Option<Format>, path: &Path, head: &[u8]) -> Result<Format> {
        if let Some(said) = said {
            return Ok(said);
        }
        let looks = Looks::of(head);
        match (Format::of_path(path), looks) {
            (Some(named), looks) if looks.may_be(named) => Ok(named),
            (Some(named), looks) => Err(ErrorKind::OtherKind { named, looks: looks.to_string() }),
            (None, Looks::Npy) => Ok(Format::Npy),
            (None, Looks::Zip) => Ok(Format::Npz),
            (None, Looks::Parquet) => Ok(Format::Parquet),
            (None, Looks::Safetensors) => Ok(Format::Safetensors),
            (None, Looks::Text) => Ok(Format::Csv),
            (None, Looks::Pickle | Looks::Hdf5) => Err(ErrorKind::Unsupported {
                problem: format!("it looks like {looks}"),
                instead: "save the arrays with numpy.save or numpy.savez".into(),
            }),
            (None, Looks::Other) => Err(ErrorKind::UnknownFormat),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let text = text.to_ascii_lowercase();
        let known = FORMATS.iter().find(|i| i.name == text || i.extensions.contains(&&text[..]));
        known.map(|info| info.format).ok_or_else(|| format!("one of {}", Format::names()))
    }
}

/// What the first bytes of some data look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looks {
    Npy,
    Zip,
    Parquet,
    Safetensors,
    Hdf5,
    Pickle,
    Text,
    Other,
}

impl Looks {
    fn of(head: &[u8]) -> Looks {
        let starts = |magic: &[u8]| head.starts_with(magic);
        if starts(b"\x93NUMPY") {
            Looks::Npy
        } else if starts(b"PK\x03\x04") || starts(b"PK\x05\x06") {
            Looks::Zip
        } else if starts(b"PAR1") {
            Looks::Parquet
        } else if starts(b"\x89HDF") {
            Looks::Hdf5
        } else if head.len() > 8 && head[8] == b'{' && head[5..8] == [0; 3] {
            Looks::Safetensors
        } else if head.len() > 1 && head[0] == 0x80 && (2..=5).contains(&head[1]) {
            Looks::Pickle
        } else if !head.contains(&0)
            && std::str::from_utf8(head).map_or_else(|e| e.error_len().is_none(), |_| true)
        {
            Looks::Text
        } else {
            Looks::Other
        }
    }

    /// Whether a file of this format may look so. Damage is for its reader to describe.
    fn may_be(self, format: Format) -> bool {
        match self {
            Looks::Npy => format == Format::Npy,
            Looks::Zip => matches!(format, Format::Npz | Format::Torch),
            Looks::Parquet => format == Format::Parquet,
            Looks::Safetensors => format == Format::Safetensors,
            // PyTorch before 1.6; its reader says so.
            Looks::Pickle => format == Format::Torch,
            Looks::Text => format == Format::Csv,
            Looks::Hdf5 => false,
            Looks::Other => format != Format::Csv,
        }
    }
}

impl fmt::Display for Looks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Looks::Npy => "npy",
            Looks::Zip => "a zip archive (npz or pt)",
            Looks::Parquet => "parquet",
            Looks::Safetensors => "safetensors",
            Looks::Hdf5 => "HDF5, which is not read",
            Looks::Pickle => "a Python pickle, which is never loaded",
            Looks::Text => "text",
            Looks::Other => "something else",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions_are_read() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
            let path = format!("some.folder/logits.{}", format.name());
            assert_eq!(Format::of_path(Path::new(&path)), Some(format));
            assert_eq!(Format::of_path(Path::new(&(path + ".gz"))), Some(format));
        }
        assert_eq!("TSV".parse(), Ok(Format::Csv));
        assert!("hdf5".parse::<Format>().is_err());
        assert_eq!(Format::of_path(Path::new("logits")), None);
        assert_eq!(Format::of_path(Path::new("-")), None);
    }

    #[test]
    fn contents_decide_where_names_do_not() {
        let decide = |path: &str, head: &[u8]| Format::decide(None, Path::new(path), head);
        assert_eq!(decide("-", b"\x93NUMPY\x01\x00").ok(), Some(Format::Npy));
        assert_eq!(decide("-", b"1.5,2.5\n").ok(), Some(Format::Csv));
        assert_eq!(decide("-", b"\x40\0\0\0\0\0\0\0{\"a\"").ok(), Some(Format::Safetensors));
        assert_eq!(decide("x.pt", b"PK\x03\x04").ok(), Some(Format::Torch));
        assert!(matches!(decide("-", b"\0\x01\x02"), Err(ErrorKind::UnknownFormat)));
        assert!(matches!(decide("x.npy", b"PK\x03\x04"), Err(ErrorKind::OtherKind { .. })));
        assert!(matches!(decide("x.csv", b"PAR1"), Err(ErrorKind::OtherKind { .. })));
    }
}
