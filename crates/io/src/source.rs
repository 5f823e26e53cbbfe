//! Where bytes come from: a file, or standard input; plain or gzipped; to be read once or again.

use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
#[cfg(feature = "arrow")]
use crate::format::MemoryTable;
use crate::shards::files_of;
use abstain::Encoding;
use flate2::read::MultiGzDecoder;
use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that come one after the other.
pub(crate) type Stream = Box<dyn Read + Send>;

/// A file to read; `-` is standard input.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    /// A copy of standard input, if it is to be read more than once.
    copy: Option<File>,
    /// The contents, if they are in memory.
    bytes: Option<SharedBytes>,
    /// A table in memory.
    #[cfg(feature = "arrow")]
    batches: Option<Arc<MemoryTable>>,
    /// Whether a stream is opened as soon as its first line is there.
    line_by_line: bool,
    /// Whether a line that is still being written is left out.
    whole_lines: bool,
    counter: ReadCounter,
}

/// How often a source was opened, and how many bytes were read from it as a stream. Formats that have an
/// index are read in place, and of those only the opening of a file is counted.
#[derive(Debug, Clone, Default)]
pub struct ReadCounter {
    opens: Arc<AtomicU64>,
    bytes: Arc<AtomicU64>,
}

impl ReadCounter {
    /// How often the source was opened.
    pub fn opens(&self) -> u64 {
        self.opens.load(Ordering::Relaxed)
    }

    /// How many bytes were read.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// A stream whose bytes are counted.
struct Counted<R> {
    inner: R,
    counter: ReadCounter,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(out)?;
        self.counter.add_bytes(bytes);
        Ok(bytes)
    }
}

/// Bytes in memory that several readers share.
#[derive(Clone)]
struct SharedBytes(Arc<dyn AsRef<[u8]> + Send + Sync>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.as_ref().len())
    }
}

/// What a source is opened as, before its bytes are counted.
enum Raw {
    File(File),
    Stream(Stream),
}

/// An opened source: a file where one may seek, or a stream.
pub(crate) enum Opened {
    File(File, ReadCounter),
    Stream(Stream),
}

impl Source {
    /// A file, or standard input, which can be read once.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Source {
            path: path.into(),
            copy: None,
            bytes: None,
            #[cfg(feature = "arrow")]
            batches: None,
            line_by_line: false,
            whole_lines: false,
            counter: ReadCounter::default(),
        }
    }

    /// Counts what is read from it, in all files of a set together.
    pub fn counter(&self) -> ReadCounter {
        self.counter.clone()
    }

    /// The contents of a file that are in memory; the name is for messages and for its extension.
    pub fn bytes(
        name: impl Into<PathBuf>,
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Self {
        Source { bytes: Some(SharedBytes(Arc::new(bytes))), ..Source::new(name) }
    }

    /// A table in memory; the name is for messages.
    #[cfg(feature = "arrow")]
    pub fn batches(
        name: impl Into<PathBuf>,
        schema: arrow_schema::SchemaRef,
        batches: Vec<arrow_array::RecordBatch>,
    ) -> Self {
        let table = MemoryTable::new(schema, batches);
        Source { batches: Some(Arc::new(table)), ..Source::new(name) }
    }

    /// The table in memory, which is opened.
    #[cfg(feature = "arrow")]
    pub(crate) fn open_batches(&self) -> Option<&Arc<MemoryTable>> {
        let batches = self.batches.as_ref()?;
        self.counter.opens.fetch_add(1, Ordering::Relaxed);
        Some(batches)
    }

    /// Whether it is read from memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        #[cfg(feature = "arrow")]
        if self.batches.is_some() {
            return true;
        }
        self.bytes.is_some()
    }

    /// The same, but what can be read only once (standard input, a pipe) is copied to a temporary
    /// file first.
    pub fn to_read_again(path: impl Into<PathBuf>) -> std::result::Result<Self, Error> {
        let mut source = Source::new(path);
        source.keep_streams()?;
        Ok(source)
    }

    /// Logits in an encoding: probabilities whose floor has to be found are read twice.
    pub fn of_logits(
        path: impl Into<PathBuf>,
        encoding: Encoding,
    ) -> std::result::Result<Self, Error> {
        if encoding.needs_floor() { Source::to_read_again(path) } else { Ok(Source::new(path)) }
    }

    /// The same, but it is opened as soon as its first line is there.
    #[must_use]
    pub fn line_by_line(self) -> Self {
        Source { line_by_line: true, ..self }
    }

    /// The same, but of a text file that others append to, only lines that end are read, and none that comes
    /// later.
    #[must_use]
    pub fn whole_lines(self) -> Self {
        Source { whole_lines: true, ..self }
    }

    /// The files of a pattern or a folder; nothing if it is one file or stream.
    pub(crate) fn parts(&self) -> Result<Option<Vec<Source>>> {
        if self.is_in_memory() || self.copy.is_some() || self.is_standard_input() {
            return Ok(None);
        }
        let files = files_of(&self.path)?;
        // Only the last of them can still be written.
        let part = |(place, path): (usize, PathBuf), count: usize| Source {
            whole_lines: self.whole_lines && place + 1 == count,
            counter: self.counter(),
            ..Source::new(path)
        };
        Ok(files.map(|files| {
            let count = files.len();
            files.into_iter().enumerate().map(|file| part(file, count)).collect()
        }))
    }

    /// Copies what can be read only once to a temporary file.
    pub(crate) fn keep_streams(&mut self) -> std::result::Result<(), Error> {
        if self.is_in_memory() || self.copy.is_some() {
            return Ok(());
        }
        let copy = || {
            if self.parts()?.is_some() {
                return Ok(None);
            }
            match self.open_uncounted()? {
                Raw::File(_) => Ok(None),
                Raw::Stream(stream) => spool(stream).map(Some),
            }
        };
        self.copy = copy().map_err(|kind: ErrorKind| kind.of(&self.path))?;
        Ok(())
    }

    /// Its path, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_standard_input(&self) -> bool {
        self.path.as_os_str() == "-" && !self.is_in_memory()
    }

    /// Opens it as it is.
    pub(crate) fn open_raw(&self) -> Result<Opened> {
        self.counter.opens.fetch_add(1, Ordering::Relaxed);
        let counter = self.counter();
        Ok(match self.open_uncounted()? {
            Raw::File(file) => Opened::File(file, counter),
            Raw::Stream(inner) => Opened::Stream(Box::new(Counted { inner, counter })),
        })
    }

    fn open_uncounted(&self) -> Result<Raw> {
        if let Some(bytes) = &self.bytes {
            return Ok(Raw::Stream(Box::new(Cursor::new(bytes.clone()))));
        }
        match &self.copy {
            Some(copy) => {
                let mut copy = copy.try_clone()?;
                copy.rewind()?;
                Ok(Raw::File(copy))
            }
            None if self.is_standard_input() => Ok(Raw::Stream(Box::new(io::stdin()))),
            None => open_file(&self.path),
        }
    }

    /// Opens it, unpacked, and detects its format.
    pub(crate) fn open(&self, requested: Option<Format>) -> Result<(Format, Opened)> {
        let mut head = Vec::new();
        let mut opened = peek(self.open_raw()?, &mut head, self.line_by_line)?;
        if head.is_empty() {
            return Err(ErrorKind::Empty);
        }
        if head.starts_with(&[0x1f, 0x8b]) {
            let packed = io::BufReader::new(opened.into_stream());
            let unpacked: Stream = Box::new(MultiGzDecoder::new(packed));
            opened = peek(Opened::Stream(unpacked), &mut head, false)?;
        }
        let format = Format::detect(requested, &self.path, &head)?;
        if self.whole_lines
            && format.has_a_line_per_row(&self.path)
            && let Opened::File(file, counter) = opened
        {
            let inner = whole_lines(file)?;
            opened = Opened::Stream(Box::new(Counted { inner, counter }));
        }
        Ok((format, opened))
    }
}

impl Source {
    /// Whether it is read in whole lines and its last one has no end.
    pub(crate) fn ends_within_a_line(&self, requested: Option<Format>) -> Result<bool> {
        if let Some(last) = self.parts()?.as_ref().and_then(|parts| parts.last()) {
            return last.ends_within_a_line(requested);
        }
        if !self.whole_lines || self.is_standard_input() || self.is_in_memory() {
            return Ok(false);
        }
        let mut head = Vec::new();
        let Opened::File(mut file, _) = peek(self.open_raw()?, &mut head, false)? else {
            return Ok(false);
        };
        let packed = head.starts_with(&[0x1f, 0x8b]);
        if head.is_empty() || packed {
            return Ok(false);
        }
        let format = Format::detect(requested, &self.path, &head)?;
        if !format.has_a_line_per_row(&self.path) {
            return Ok(false);
        }
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        Ok(last[0] != b'\n')
    }
}

/// The lines of a file that end, as it is now.
fn whole_lines(mut file: File) -> Result<Stream> {
    const STEP: u64 = 1 << 16;
    let mut end = file.metadata()?.len();
    let mut bytes = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(STEP);
        file.seek(SeekFrom::Start(start))?;
        bytes.clear();
        (&mut file).take(end - start).read_to_end(&mut bytes)?;
        if let Some(last) = bytes.iter().rposition(|&byte| byte == b'\n') {
            end = start + last as u64 + 1;
            break;
        }
        end = start;
    }
    file.rewind()?;
    Ok(Box::new(file.take(end)))
}

fn open_file(path: &Path) -> Result<Raw> {
    let file = File::open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    }
    // Pipes such as `<(zcat …)` have a path but no place to seek to.
    Ok(if kind.is_file() { Raw::File(file) } else { Raw::Stream(Box::new(file)) })
}

/// Looks at the first bytes and puts them back.
fn peek(opened: Opened, head: &mut Vec<u8>, line_by_line: bool) -> Result<Opened> {
    // Enough for a line of text after comments.
    const LOOKED_AT: u64 = 1 << 16;
    head.clear();
    match opened {
        Opened::File(mut file, counter) => {
            counter.add_bytes((&mut file).take(LOOKED_AT).read_to_end(head)?);
            file.rewind()?;
            Ok(Opened::File(file, counter))
        }
        Opened::Stream(mut stream) if line_by_line => {
            let mut some = [0; 4096];
            while !head.contains(&b'\n') {
                match stream.read(&mut some)? {
                    0 => break,
                    more => head.extend_from_slice(&some[..more]),
                }
            }
            Ok(Opened::Stream(Box::new(Cursor::new(head.clone()).chain(stream))))
        }
        Opened::Stream(mut stream) => {
            (&mut stream).take(LOOKED_AT).read_to_end(head)?;
            Ok(Opened::Stream(Box::new(Cursor::new(head.clone()).chain(stream))))
        }
    }
}

/// Copies a stream to a temporary file without a name, which is gone when it is closed.
fn spool(mut stream: Stream) -> Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut stream, &mut file)?;
    file.rewind()?;
    Ok(file)
}

impl Opened {
    /// A file where one may seek: the stream's contents if it is a stream.
    pub(crate) fn into_file(self) -> Result<File> {
        match self {
            Opened::File(file, _) => Ok(file),
            Opened::Stream(stream) => spool(stream),
        }
    }

    pub(crate) fn into_stream(self) -> Stream {
        match self {
            Opened::File(inner, counter) => Box::new(Counted { inner, counter }),
            Opened::Stream(stream) => stream,
        }
    }
}

/// Fills a buffer from a place in a file, whatever else reads the same file.
pub(crate) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match read_at(file, buffer, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                buffer = &mut buffer[n..];
                offset += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// A section of a file as a stream, with a position that no other reader of the file moves.
pub(crate) struct FileSection {
    file: Arc<File>,
    next: u64,
    left: u64,
}

impl FileSection {
    pub(crate) fn new(file: Arc<File>, start: u64, size: u64) -> Self {
        FileSection { file, next: start, left: size }
    }
}

impl Read for FileSection {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(out.len());
        let n = read_at(&self.file, &mut out[..wanted], self.next)?;
        self.next += n as u64;
        self.left -= n as u64;
        Ok(n)
    }
}
