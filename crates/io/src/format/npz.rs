//! npz: a zip archive of npy files.

use super::npy::{Member, Packed};
use super::{Definition, Format, Reader, torch};
use crate::array::Array;
use crate::error::{ErrorKind, Result};
use crate::source::Opened;
use std::io::BufReader;
use std::sync::Arc;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

#[cfg(test)]
mod tests;

pub(super) const FORMAT: Definition = Definition {
    name: "npz",
    extensions: &["npz"],
    recognises: is_zip,
    reader: Reader::Arrays(arrays),
    #[cfg(test)]
    samples: tests::samples,
};

/// Whether a file begins as zip archives do, empty ones included.
pub(super) fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// The arrays of a file.
fn arrays(opened: Opened) -> Result<Vec<Array>> {
    let file = opened.into_file()?;
    // Both are zip archives, which a name distinguishes; from standard input there is none.
    if torch::is_torch(&file) {
        return torch::arrays(&file);
    }
    let damaged = |error: ZipError| match error {
        ZipError::InvalidArchive(problem) => {
            let problem = format!("the directory at its end is missing or damaged ({problem})");
            ErrorKind::malformed(Format::Npz, problem)
        }
        other => ErrorKind::malformed(Format::Npz, other),
    };
    let mut archive = ZipArchive::new(BufReader::new(file.try_clone()?)).map_err(damaged)?;
    let shared = Arc::new(file);
    let mut all = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(damaged)?;
        let name = entry.name().map_err(damaged)?.into_owned();
        let Some(name) = name.strip_suffix(".npy").map(str::to_string) else { continue };
        if entry.encrypted() {
            return Err(ErrorKind::Unsupported {
                problem: format!("'{name}' is encrypted"),
                instead: "write it without a password".into(),
            });
        }
        let packed = match entry.compression() {
            CompressionMethod::Stored => None,
            CompressionMethod::Deflated => {
                Some(Packed { checksum: entry.crc32(), size: entry.size() })
            }
            other => {
                return Err(ErrorKind::Unsupported {
                    problem: format!(
                        "'{name}' is compressed by {other}, which numpy does not write"
                    ),
                    instead: "write it with numpy.savez_compressed".into(),
                });
            }
        };
        let (start, size) = (entry.data_start().unwrap_or(0), entry.compressed_size());
        let member = Member { file: Arc::clone(&shared), start, size, packed };
        all.extend(member.arrays(name, Format::Npz)?);
    }
    if all.is_empty() {
        return Err(ErrorKind::malformed(Format::Npz, "there is no array in it"));
    }
    Ok(all)
}
