//! Arrays of numpy that are written a piece at a time, and continued after an interruption.

use crate::error::{Error, ErrorKind};
use crate::output::AtomicFile;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The header of an array, of a length that does not depend on its rows: `descr` is the type of its
/// elements in the words of numpy, and `others` are the dimensions after the first.
pub(crate) fn npy_header(descr: &str, rows: u64, others: &[usize]) -> Vec<u8> {
    let others: Vec<String> = others.iter().map(|extent| format!(" {extent},")).collect();
    let others = others.concat();
    let mut text =
        format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({rows},{others}), }}");
    let before = 10;
    // Room for the number of rows, which is written last; data are aligned to 64 bytes.
    let fixed = before + text.len() - rows.to_string().len();
    let length = (fixed + 21).next_multiple_of(64).max(256);
    text += &" ".repeat(length - before - 1 - text.len());
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    let length = u16::try_from(length - before).unwrap_or(u16::MAX);
    header.extend_from_slice(&length.to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}

/// Writes whole numbers as an array of one dimension.
pub fn write_integers(path: &Path, values: &[i64]) -> Result<(), Error> {
    let mut bytes = npy_header("'<i8'", values.len() as u64, &[]);
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    AtomicFile::write_whole(path, &bytes)
}

/// Rows of single-precision numbers that are added to a file `.NAME.partial` beside the real one,
/// which it becomes at the end. Unlike an [`AtomicFile`] it outlives the program: a later one may
/// continue it.
pub struct GrowingArray {
    path: PathBuf,
    partial: PathBuf,
    out: BufWriter<File>,
    columns: usize,
    rows: u64,
}

impl GrowingArray {
    /// Continues after so many rows, of which a partial file must have at least as many; begins anew
    /// if that is 0.
    pub fn continue_at(path: &Path, columns: usize, rows: u64) -> Result<Self, Error> {
        let partial = partial_path(path);
        let open = || -> io::Result<BufWriter<File>> {
            let header = npy_header(FLOATS, 0, &[columns]);
            let end = end_of(columns, rows);
            let mut file = OpenOptions::new()
                .create(rows == 0)
                .write(true)
                .truncate(rows == 0)
                .open(&partial)?;
            if rows == 0 {
                file.write_all(&header)?;
            } else if file.metadata()?.len() < end {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            // What was written after the last record of progress is written again.
            file.set_len(end)?;
            file.seek(SeekFrom::Start(end))?;
            Ok(BufWriter::with_capacity(1 << 18, file))
        };
        let out = open().map_err(|error| ErrorKind::from(error).of(&partial))?;
        Ok(GrowingArray { path: path.to_path_buf(), partial, out, columns, rows })
    }

    /// Whether a partial file has so many rows.
    pub fn can_continue(path: &Path, columns: usize, rows: u64) -> bool {
        let length = fs::metadata(partial_path(path)).map(|metadata| metadata.len());
        rows == 0 || length.is_ok_and(|length| length >= end_of(columns, rows))
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds rows.
    ///
    /// # Panics
    ///
    /// If these are not whole rows.
    pub fn push(&mut self, values: &[f32]) -> Result<(), Error> {
        assert!(values.len().is_multiple_of(self.columns), "whole rows");
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.out.write_all(&bytes).map_err(|error| ErrorKind::from(error).of(&self.partial))?;
        self.rows += (values.len() / self.columns) as u64;
        Ok(())
    }

    /// Puts on the disk what was added, so that a record of progress may rely on it.
    pub fn sync(&mut self) -> Result<(), Error> {
        let sync = |out: &mut BufWriter<File>| {
            out.flush()?;
            out.get_ref().sync_data()
        };
        sync(&mut self.out).map_err(|error| ErrorKind::from(error).of(&self.partial))
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> Result<(), Error> {
        let header = npy_header(FLOATS, self.rows, &[self.columns]);
        let mut finish = || -> io::Result<()> {
            self.out.seek(SeekFrom::Start(0))?;
            self.out.write_all(&header)?;
            self.out.flush()?;
            self.out.get_ref().sync_all()?;
            fs::rename(&self.partial, &self.path)
        };
        finish().map_err(|error| ErrorKind::from(error).of(&self.path))
    }
}

const FLOATS: &str = "'<f4'";

/// Where so many rows end.
fn end_of(columns: usize, rows: u64) -> u64 {
    let header = npy_header(FLOATS, 0, &[columns]).len() as u64;
    header.saturating_add(rows.saturating_mul(columns as u64 * 4))
}

fn partial_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.partial"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use npyz::NpyFile;

    #[test]
    fn an_interrupted_array_continues_to_the_same_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let (whole, parts) = (folder.path().join("whole.npy"), folder.path().join("parts.npy"));
        let values: Vec<f32> = (0..30).map(|i| i as f32 / 7.0).collect();
        let mut array = GrowingArray::continue_at(&whole, 3, 0).expect("created");
        array.push(&values).expect("pushed");
        array.finish().expect("finished");
        let mut array = GrowingArray::continue_at(&parts, 3, 0).expect("created");
        array.push(&values[..15]).expect("pushed");
        array.sync().expect("synced");
        drop(array);
        assert!(!parts.exists());
        let mut array = GrowingArray::continue_at(&parts, 3, 4).expect("continued");
        array.push(&values[12..]).expect("pushed");
        array.finish().expect("finished");
        let bytes = fs::read(&parts).expect("read");
        assert_eq!(bytes, fs::read(&whole).expect("read"));
        let read = NpyFile::new(&bytes[..]).expect("npy");
        assert_eq!(read.shape(), [10, 3]);
        assert_eq!(read.into_vec::<f32>().expect("floats"), values);
        let missing = GrowingArray::continue_at(&folder.path().join("other.npy"), 3, 4);
        assert!(missing.is_err());
    }

    #[test]
    fn whole_numbers_are_an_array_of_one_dimension() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("labels.npy");
        write_integers(&path, &[3, -1, 7]).expect("written");
        let bytes = fs::read(&path).expect("read");
        let read = NpyFile::new(&bytes[..]).expect("npy");
        assert_eq!(read.into_vec::<i64>().expect("integers"), [3, -1, 7]);
    }
}
