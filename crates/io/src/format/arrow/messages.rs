//! The messages of an Arrow file or stream: where they are, and that they are whole.
//!
//! Places and sizes are checked here against the file before anything is read, because the crate takes
//! as much memory as a message says that it needs.

use super::read::{Batches, Origin};
use crate::error::{ErrorKind, Result};
use crate::format::Format;
use crate::format::guard::guarded;
use crate::source::read_exact_at;
use arrow_array::RecordBatch;
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, CompressionType, MessageHeader, MetadataVersion};
use arrow_schema::{ArrowError, SchemaRef};
use std::fs::File;
use std::io;
use std::sync::Arc;

const MAGIC: &[u8] = b"ARROW1";
/// Before the metadata of every message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The most bytes of a buffer, unpacked.
const LARGEST_BUFFER: u64 = 1 << 33;

/// How messages follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The places of all messages are written at the end.
    File,
    /// One after the other.
    Stream,
}

impl Kind {
    /// The kind of a file that begins with these bytes.
    pub(super) fn of(head: &[u8]) -> Option<Kind> {
        if head.starts_with(MAGIC) {
            return Some(Kind::File);
        }
        let (mark, length) = head.split_at_checked(4)?;
        let length = i32::from_le_bytes(*length.first_chunk()?);
        // A schema has at least some bytes.
        (mark == CONTINUATION && length > 8).then_some(Kind::Stream)
    }
}

pub(super) fn malformed(problem: impl std::fmt::Display) -> ErrorKind {
    ErrorKind::malformed(Format::Arrow, problem)
}

fn cut_short() -> ErrorKind {
    io::Error::from(io::ErrorKind::UnexpectedEof).into()
}

/// Calls the arrow crates, which panic on some broken files.
fn sound<T>(call: impl FnOnce() -> std::result::Result<T, ArrowError>) -> Result<T> {
    match guarded(call).map_err(malformed)? {
        Ok(value) => Ok(value),
        Err(ArrowError::NotYetImplemented(problem)) => {
            let instead = "write it with other types or with zstd or lz4".into();
            Err(ErrorKind::Unsupported { problem, instead })
        }
        Err(error) => Err(malformed(error)),
    }
}

/// A message whose place is inside of the file.
#[derive(Debug, Clone, Copy)]
struct Message {
    block: Block,
    is_dictionary: bool,
}

/// Where the messages of a file are.
pub(super) struct Messages {
    file: Arc<File>,
    version: MetadataVersion,
    schema: SchemaRef,
    /// In the order in which they are read.
    all: Vec<Message>,
    rows: u64,
}

/// What precedes the metadata of a message, and its length.
fn prefix(bytes: [u8; 8]) -> Result<u64> {
    let (mark, length) = bytes.split_at(4);
    if mark != CONTINUATION {
        return Err(malformed("a message begins without its mark"));
    }
    let length = length.first_chunk().map_or(-1, |bytes| i32::from_le_bytes(*bytes));
    u64::try_from(length).map_err(|_| malformed("a message has a negative length"))
}

fn bytes_at(file: &File, offset: u64, length: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).map_err(malformed)?];
    read_exact_at(file, &mut bytes, offset)?;
    Ok(bytes)
}

fn eight_at(file: &File, offset: u64, end: u64) -> Result<[u8; 8]> {
    let mut bytes = [0; 8];
    if offset.checked_add(8).is_none_or(|behind| behind > end) {
        return Err(cut_short());
    }
    read_exact_at(file, &mut bytes, offset)?;
    Ok(bytes)
}

fn schema_of(schema: arrow_ipc::Schema<'_>) -> Result<SchemaRef> {
    if schema.endianness() != arrow_ipc::Endianness::Little {
        let problem = "its numbers have the byte order of another machine".into();
        let instead = "write it on a little-endian machine".into();
        return Err(ErrorKind::Unsupported { problem, instead });
    }
    sound(|| try_fb_to_schema(schema)).map(Arc::new)
}

fn message_of(metadata: &[u8]) -> Result<arrow_ipc::Message<'_>> {
    let parsed = guarded(|| arrow_ipc::root_as_message(metadata)).map_err(malformed)?;
    parsed.map_err(|_| malformed("a message cannot be understood"))
}

impl Messages {
    pub(super) fn open(file: File) -> Result<Self> {
        let length = file.metadata()?.len();
        let head = bytes_at(&file, 0, length.min(8))?;
        match Kind::of(&head) {
            Some(Kind::File) => Messages::of_file(file, length),
            Some(Kind::Stream) => Messages::of_stream(file, length),
            None if CONTINUATION.starts_with(&head) || head.starts_with(&CONTINUATION) => {
                Err(cut_short())
            }
            None => Err(malformed("it does not begin with ARROW1 or a message")),
        }
    }

    /// A file with a footer, which says where everything is.
    fn of_file(file: File, length: u64) -> Result<Self> {
        const TAIL: u64 = 4 + MAGIC.len() as u64;
        // The magic, with two zeros behind it, and the end.
        let end = length.checked_sub(TAIL).filter(|&end| end >= 8).ok_or_else(cut_short)?;
        let tail = bytes_at(&file, end, TAIL)?;
        let (size, magic) = tail.split_at(4);
        if magic != MAGIC {
            return Err(cut_short());
        }
        let size = size.first_chunk().map_or(-1, |bytes| i32::from_le_bytes(*bytes));
        let start = u64::try_from(size).ok().and_then(|size| end.checked_sub(size));
        let start = start.ok_or_else(|| malformed("its footer is longer than the file"))?;
        let bytes = bytes_at(&file, start, end - start)?;
        let footer = guarded(|| arrow_ipc::root_as_footer(&bytes)).map_err(malformed)?;
        let footer = footer.map_err(|_| malformed("its footer cannot be understood"))?;
        let schema = footer.schema().ok_or_else(|| malformed("its footer has no schema"))?;
        let mut messages = Messages {
            version: footer.version(),
            schema: schema_of(schema)?,
            file: Arc::new(file),
            all: Vec::new(),
            rows: 0,
        };
        for (blocks, is_dictionary) in
            [(footer.dictionaries(), true), (footer.recordBatches(), false)]
        {
            for block in blocks.iter().flatten() {
                messages.push_block(*block, is_dictionary, start)?;
            }
        }
        messages.checked()
    }

    /// Adds a message of a footer.
    fn push_block(&mut self, block: Block, is_dictionary: bool, end: u64) -> Result<()> {
        let outside = || malformed("a message is outside of the file");
        let offset = u64::try_from(block.offset()).map_err(|_| outside())?;
        let inside = prefix(eight_at(&self.file, offset, end)?)?;
        match self.push_message(offset, inside, end)? {
            Some(message) if message.is_dictionary == is_dictionary => Ok(()),
            _ => Err(malformed("its footer contradicts a message")),
        }
    }

    /// Adds the message whose metadata has this length; nothing if it is a schema.
    fn push_message(&mut self, offset: u64, metadata: u64, end: u64) -> Result<Option<Message>> {
        let inside = |size: u64| size.checked_add(offset).is_some_and(|behind| behind <= end);
        if !inside(metadata + 8) {
            return Err(cut_short());
        }
        let bytes = bytes_at(&self.file, offset + 8, metadata)?;
        let message = message_of(&bytes)?;
        let body = u64::try_from(message.bodyLength())
            .map_err(|_| malformed("a message has a negative length"))?;
        if !body.checked_add(metadata + 8).is_some_and(inside) {
            return Err(cut_short());
        }
        let is_dictionary = match message.header_type() {
            MessageHeader::DictionaryBatch => true,
            MessageHeader::RecordBatch => {
                let rows = message.header_as_record_batch().map_or(-1, |batch| batch.length());
                let sum = u64::try_from(rows).ok().and_then(|rows| self.rows.checked_add(rows));
                self.rows =
                    sum.ok_or_else(|| malformed("the sizes of its batches make no sense"))?;
                false
            }
            MessageHeader::Schema => return Ok(None),
            other => return Err(malformed(format_args!("a message is a {other:?}"))),
        };
        let place = i64::try_from(offset).ok().zip(i32::try_from(metadata + 8).ok());
        let (offset, metadata) = place.ok_or_else(|| malformed("a message is too large"))?;
        let block = Block::new(offset, metadata, message.bodyLength());
        let message = Message { block, is_dictionary };
        self.all.push(message);
        Ok(Some(message))
    }

    /// A stream, which ends with an empty message.
    fn of_stream(file: File, length: u64) -> Result<Self> {
        let metadata = prefix(eight_at(&file, 0, length)?)?;
        if metadata + 8 > length {
            return Err(cut_short());
        }
        let bytes = bytes_at(&file, 8, metadata)?;
        let first = message_of(&bytes)?;
        let schema = first.header_as_schema();
        let schema = schema.ok_or_else(|| malformed("it does not begin with a schema"))?;
        let mut messages = Messages {
            version: first.version(),
            schema: schema_of(schema)?,
            file: Arc::new(file),
            all: Vec::new(),
            rows: 0,
        };
        let mut offset = metadata + 8;
        loop {
            let metadata = prefix(eight_at(&messages.file, offset, length)?)?;
            if metadata == 0 {
                break;
            }
            let Some(message) = messages.push_message(offset, metadata, length)? else {
                return Err(malformed("it has two schemas"));
            };
            offset += metadata + 8 + message.block.bodyLength().cast_unsigned();
        }
        if offset + 8 != length {
            return Err(malformed("there is something behind its end"));
        }
        messages.checked()
    }

    fn checked(self) -> Result<Self> {
        if self.rows == 0 { Err(ErrorKind::NoRows) } else { Ok(self) }
    }
}

impl Origin for Messages {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn batches(self: Box<Self>, columns: Vec<usize>) -> Result<Box<dyn Batches>> {
        let decoder = FileDecoder::new(self.schema, self.version).with_projection(columns);
        Ok(Box::new(FileBatches { file: self.file, decoder, all: self.all, next: 0 }))
    }
}

/// The record batches of a file, one at a time.
struct FileBatches {
    file: Arc<File>,
    decoder: FileDecoder,
    all: Vec<Message>,
    next: usize,
}

impl Batches for FileBatches {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(&Message { block, is_dictionary }) = self.all.get(self.next) {
            self.next += 1;
            let bytes = self.bytes_of(&block)?;
            if is_dictionary {
                sound(|| self.decoder.read_dictionary(&block, &bytes))?;
                continue;
            }
            let batch = sound(|| self.decoder.read_record_batch(&block, &bytes))?;
            if let Some(batch) = batch
                && batch.num_rows() > 0
            {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}

impl FileBatches {
    /// The bytes of a message, if what is packed in it has a sensible size.
    fn bytes_of(&self, block: &Block) -> Result<Buffer> {
        let metadata = usize::try_from(block.metaDataLength()).map_err(malformed)?;
        let body = usize::try_from(block.bodyLength()).map_err(malformed)?;
        let mut bytes = MutableBuffer::try_from_len_zeroed(metadata + body).map_err(malformed)?;
        let offset = u64::try_from(block.offset()).map_err(malformed)?;
        read_exact_at(&self.file, bytes.as_slice_mut(), offset)?;
        let bytes = Buffer::from(bytes);
        let (head, body) = bytes.as_slice().split_at(metadata);
        let message = message_of(head.get(8..).unwrap_or_default())?;
        let dictionary = message.header_as_dictionary_batch().and_then(|batch| batch.data());
        if let Some(batch) = message.header_as_record_batch().or(dictionary) {
            check_sizes(batch, body)?;
        }
        Ok(bytes)
    }
}

/// Refuses packed buffers that say to be larger than they can be: the crate takes the memory at once.
fn check_sizes(batch: arrow_ipc::RecordBatch<'_>, body: &[u8]) -> Result<()> {
    let Some(compression) = batch.compression() else { return Ok(()) };
    // How much smaller packed bytes are at best.
    let ratio = if compression.codec() == CompressionType::LZ4_FRAME { 256 } else { 1 << 15 };
    for buffer in batch.buffers().iter().flatten() {
        let place =
            usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let range = place.and_then(|(start, size)| Some(start..start.checked_add(size)?));
        let stored = range.and_then(|range| body.get(range));
        let stored = stored.ok_or_else(|| malformed("a buffer is outside of its message"))?;
        let Some(size) = stored.first_chunk() else { continue };
        // -1 says that the bytes are not packed.
        let size = u64::try_from(i64::from_le_bytes(*size)).unwrap_or(0);
        if size > LARGEST_BUFFER.min(stored.len() as u64 * ratio) {
            return Err(malformed(format_args!("a buffer of {size} bytes is promised")));
        }
    }
    Ok(())
}
