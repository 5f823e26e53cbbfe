//! Writing files so that no one sees half of one.

use crate::error::{Error, ErrorKind};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::{NamedTempFile, TempPath};

/// The temporary files that exist now, so that an interrupted program can remove them.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files of all writes under way. For the end of an interrupted program.
pub fn remove_temporary_files() {
    for path in TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// A file under a temporary name in the folder of its real one, which it takes when it is finished.
/// Dropped before that, it is removed, and an earlier file of the name is unchanged.
///
/// Devices and pipes, which have no earlier contents to preserve, are written to directly.
pub struct AtomicFile {
    path: PathBuf,
    out: Option<BufWriter<File>>,
    /// The temporary name and the real one, symbolic links followed.
    names: Option<(TempPath, PathBuf)>,
}

impl AtomicFile {
    /// Begins to write a file.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let fail = |error: io::Error| ErrorKind::from(error).of(path);
        let existing = fs::metadata(path).ok();
        if existing.as_ref().is_some_and(fs::Metadata::is_dir) || path.file_name().is_none() {
            return Err(fail(io::ErrorKind::IsADirectory.into()));
        }
        if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            let file = OpenOptions::new().write(true).open(path).map_err(fail)?;
            let out = Some(BufWriter::new(file));
            return Ok(AtomicFile { path: path.to_path_buf(), out, names: None });
        }
        // A link goes on pointing to the file, which is replaced where it is.
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let folder = match real.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let temporary = temporary_in(&folder, &name, existing.as_ref()).map_err(fail)?;
        let (file, temporary) = temporary.into_parts();
        if let Ok(mut all) = TEMPORARY.lock() {
            all.push(temporary.to_path_buf());
        }
        let out = Some(BufWriter::with_capacity(1 << 18, file));
        Ok(AtomicFile { path: path.to_path_buf(), out, names: Some((temporary, real)) })
    }

    /// Writes a file with these contents.
    pub fn write_whole(path: &Path, contents: &[u8]) -> Result<(), Error> {
        let mut file = AtomicFile::create(path)?;
        file.write_all(contents).map_err(|error| file.error(error))?;
        file.finish()
    }

    /// Puts the file in its place.
    pub fn finish(mut self) -> Result<(), Error> {
        let place = |this: &mut Self| -> io::Result<()> {
            let Some(out) = this.out.take() else { return Ok(()) };
            let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            let Some((temporary, real)) = this.names.take() else { return Ok(()) };
            // On the disk before it has the name: a machine that stops keeps the old or the new.
            file.sync_all()?;
            drop(file);
            let before = temporary.to_path_buf();
            let placed = temporary.persist(real).map_err(|error| error.error);
            forget(&before);
            placed
        };
        place(&mut self).map_err(|error| ErrorKind::from(error).of(&self.path))
    }

    /// The error of a write to this file.
    pub fn error(&self, error: io::Error) -> Error {
        ErrorKind::from(error).of(&self.path)
    }

    fn inner(&mut self) -> io::Result<&mut BufWriter<File>> {
        self.out.as_mut().ok_or_else(|| io::Error::other("the file is finished"))
    }
}

fn temporary_in(
    folder: &Path,
    name: &str,
    existing: Option<&fs::Metadata>,
) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    // Names have 255 bytes at most, and the temporary one is longer.
    let short: String = name.chars().take(50).collect();
    let prefix = format!(".{short}.");
    builder.prefix(&prefix).suffix(".tmp");
    // Readable as any new file, not for the owner alone as temporary files are.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = existing.map_or(0o666, |metadata| metadata.permissions().mode() & 0o777);
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = existing;
    builder.tempfile_in(folder)
}

fn forget(path: &Path) {
    if let Ok(mut all) = TEMPORARY.lock() {
        all.retain(|other| other != path);
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some((temporary, _)) = self.names.take() {
            // What was not flushed is discarded.
            if let Some(out) = self.out.take() {
                let _ = out.into_parts();
            }
            forget(&temporary);
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner()?.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner()?.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
        let mut names: Vec<_> =
            names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out");
        fs::write(&path, "old").expect("written");
        let mut file = AtomicFile::create(&path).expect("created");
        file.write_all(b"half").expect("written");
        file.flush().expect("flushed");
        assert_eq!(fs::read_to_string(&path).expect("read"), "old");
        assert_eq!(files(folder.path()).len(), 2);
        drop(file);
        assert_eq!(files(folder.path()), ["out"]);
        assert_eq!(fs::read_to_string(&path).expect("read"), "old");
        let mut file = AtomicFile::create(&path).expect("created");
        file.write_all(b"new").expect("written");
        file.finish().expect("finished");
        assert_eq!(fs::read_to_string(&path).expect("read"), "new");
        assert_eq!(files(folder.path()), ["out"]);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_are_preserved() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").expect("written");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("set");
        symlink(&real, &link).expect("linked");
        let mut file = AtomicFile::create(&link).expect("created");
        file.write_all(b"new").expect("written");
        file.finish().expect("finished");
        assert_eq!(fs::read_to_string(&real).expect("read"), "new");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::metadata(&real).expect("there").permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_path_that_cannot_be_written_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let message = |path: &Path| match AtomicFile::create(path) {
            Ok(_) => panic!("{} was created", path.display()),
            Err(error) => error.kind.to_string(),
        };
        assert_eq!(message(folder.path()), "this is a folder, not a file");
        assert_eq!(message(&folder.path().join("no/file")), "no such file or folder");
    }
}
