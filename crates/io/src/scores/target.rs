//! Where scores go: a file, standard output or a pipe.

use crate::error::{Error, ErrorKind};
use crate::output::AtomicFile;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

/// Where scores go.
pub(super) enum Target {
    File(AtomicFile),
    /// Standard output, for formats that are written from front to back.
    Stdout(BufWriter<io::Stdout>),
    /// A temporary file on its way to standard output or a pipe, for formats that are not.
    Spooled {
        file: BufWriter<File>,
        to: Option<AtomicFile>,
    },
}

impl Target {
    pub(super) fn open(path: &Path, seeks: bool) -> Result<Self, Error> {
        let stdout = path.as_os_str() == "-";
        let pipe = !stdout && std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        if (stdout || pipe) && seeks {
            let file = tempfile::tempfile().map_err(|error| ErrorKind::from(error).of(path))?;
            let to = if stdout { None } else { Some(AtomicFile::create(path)?) };
            return Ok(Target::Spooled { file: BufWriter::new(file), to });
        }
        Ok(if stdout {
            Target::Stdout(BufWriter::with_capacity(1 << 16, io::stdout()))
        } else {
            Target::File(AtomicFile::create(path)?)
        })
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        let fail = |error: io::Error| ErrorKind::from(error).of(Path::new("standard output"));
        match self {
            Target::File(file) => file.finish(),
            Target::Stdout(mut out) => out.flush().map_err(fail),
            Target::Spooled { file, mut to } => {
                let copy = || {
                    let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                    file.rewind()?;
                    match &mut to {
                        Some(to) => io::copy(&mut file, to),
                        None => io::copy(&mut file, &mut io::stdout().lock()),
                    }
                };
                copy().map_err(fail)?;
                to.map_or(Ok(()), AtomicFile::finish)
            }
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::File(out) => out.write(bytes),
            Target::Stdout(out) => out.write(bytes),
            Target::Spooled { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::File(out) => out.flush(),
            Target::Stdout(out) => out.flush(),
            Target::Spooled { file, .. } => file.flush(),
        }
    }
}

impl Seek for Target {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        match self {
            Target::File(out) => out.seek(to),
            Target::Stdout(_) => Err(io::ErrorKind::NotSeekable.into()),
            Target::Spooled { file, .. } => file.seek(to),
        }
    }
}
