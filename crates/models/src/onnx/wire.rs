//! The encoding of protocol buffers, read lazily: a file of any size is walked field by field, and
//! only the fields that are needed are brought into memory.

use std::io::{self, Read, Seek, SeekFrom};

/// The bytes that are read at once: enough for the small fields between two tensors.
const WINDOW: usize = 1 << 13;

/// The longest text or small message that is brought into memory.
pub(crate) const LARGEST: u64 = 1 << 26;

/// Why bytes are no message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    /// They could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// They are no fields of protocol buffers.
    #[error("byte {at} begins no field of a model")]
    Malformed { at: u64 },
    /// A field ends after the message that it is in.
    #[error("the field at byte {at} is cut short")]
    Truncated { at: u64 },
    /// A field that should be small is not.
    #[error("the field at byte {at} is of {bytes} bytes, too many for a name or a description")]
    TooLarge { at: u64, bytes: u64 },
    /// A text is not UTF-8.
    #[error("the text at byte {at} is not UTF-8")]
    Text { at: u64 },
    /// A small message is not what it should be.
    #[error("the message at byte {at} is not sound")]
    Message { at: u64 },
    /// Graphs are nested too deeply.
    #[error("its graphs are nested too deeply")]
    Depth,
}

/// A part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Span {
    pub(crate) fn len(self) -> u64 {
        self.end - self.start
    }
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    /// A whole number.
    Varint(u64),
    /// Text, bytes, a message or packed numbers.
    Bytes(Span),
    /// Four or eight bytes.
    Fixed,
}

/// A field of a message, and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) number: u64,
    /// The field with its tag.
    pub(crate) whole: Span,
    pub(crate) payload: Payload,
}

impl Field {
    /// The bytes of a text or message.
    pub(crate) fn body(&self) -> Result<Span, WireError> {
        match self.payload {
            Payload::Bytes(span) => Ok(span),
            _ => Err(WireError::Malformed { at: self.whole.start }),
        }
    }

    /// A whole number, which protocol buffers encode as the two's complement of 64 bits.
    pub(crate) fn integer(&self) -> Result<i64, WireError> {
        match self.payload {
            Payload::Varint(value) => Ok(value.cast_signed()),
            _ => Err(WireError::Malformed { at: self.whole.start }),
        }
    }
}

/// A file of protocol buffers.
pub(crate) struct Document<R> {
    reader: R,
    length: u64,
    window: Vec<u8>,
    window_start: u64,
}

impl<R: Read + Seek> Document<R> {
    pub(crate) fn new(mut reader: R) -> io::Result<Self> {
        let length = reader.seek(SeekFrom::End(0))?;
        Ok(Document { reader, length, window: Vec::new(), window_start: 0 })
    }

    /// The whole file.
    pub(crate) fn whole(&self) -> Span {
        Span { start: 0, end: self.length }
    }

    /// The field at a place of a message, which then moves behind it; nothing at the end.
    pub(crate) fn next(&mut self, at: &mut u64, end: u64) -> Result<Option<Field>, WireError> {
        if *at >= end {
            return Ok(None);
        }
        let start = *at;
        let mut place = start;
        let tag = self.varint(&mut place, start, end)?;
        let (number, kind) = (tag >> 3, tag & 7);
        if number == 0 || number > u64::from(u32::MAX >> 3) {
            return Err(WireError::Malformed { at: start });
        }
        let skip = |place: &mut u64, bytes: u64| {
            let body = Span { start: *place, end: place.saturating_add(bytes) };
            *place = body.end;
            if body.end > end { Err(WireError::Truncated { at: start }) } else { Ok(body) }
        };
        let payload = match kind {
            0 => Payload::Varint(self.varint(&mut place, start, end)?),
            1 => skip(&mut place, 8).map(|_| Payload::Fixed)?,
            2 => {
                let bytes = self.varint(&mut place, start, end)?;
                Payload::Bytes(skip(&mut place, bytes)?)
            }
            5 => skip(&mut place, 4).map(|_| Payload::Fixed)?,
            // Groups are not part of ONNX.
            _ => return Err(WireError::Malformed { at: start }),
        };
        *at = place;
        Ok(Some(Field { number, whole: Span { start, end: place }, payload }))
    }

    /// The bytes of a small field.
    pub(crate) fn bytes(&mut self, span: Span) -> Result<Vec<u8>, WireError> {
        let (at, bytes) = (span.start, span.len());
        if bytes > LARGEST {
            return Err(WireError::TooLarge { at, bytes });
        }
        let mut place = span.start;
        let mut out = Vec::new();
        while place < span.end {
            let window = self.at(place)?;
            let wanted = usize::try_from(span.end - place).unwrap_or(usize::MAX);
            let piece = &window[..window.len().min(wanted)];
            if piece.is_empty() {
                return Err(WireError::Truncated { at });
            }
            out.extend_from_slice(piece);
            place += piece.len() as u64;
        }
        Ok(out)
    }

    /// A small field of text.
    pub(crate) fn text(&mut self, field: &Field) -> Result<String, WireError> {
        let span = field.body()?;
        String::from_utf8(self.bytes(span)?).map_err(|_| WireError::Text { at: span.start })
    }

    /// A small field that is a message.
    pub(crate) fn message<M: prost::Message + Default>(
        &mut self,
        field: &Field,
    ) -> Result<M, WireError> {
        let span = field.body()?;
        let bytes = self.bytes(span)?;
        M::decode(&*bytes).map_err(|_| WireError::Message { at: span.start })
    }

    /// A number of seven bits a byte, least significant first.
    fn varint(&mut self, place: &mut u64, start: u64, end: u64) -> Result<u64, WireError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            if *place >= end {
                return Err(WireError::Truncated { at: start });
            }
            let Some(&byte) = self.at(*place)?.first() else {
                return Err(WireError::Truncated { at: start });
            };
            *place += 1;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(WireError::Malformed { at: start })
    }

    /// Some bytes from a place on; none at the end of the file.
    fn at(&mut self, place: u64) -> io::Result<&[u8]> {
        let known = self.window_start..self.window_start + self.window.len() as u64;
        if !known.contains(&place) {
            self.reader.seek(SeekFrom::Start(place))?;
            self.window.clear();
            self.window_start = place;
            (&mut self.reader).take(WINDOW as u64).read_to_end(&mut self.window)?;
        }
        let from = usize::try_from(place - self.window_start).unwrap_or(usize::MAX);
        Ok(self.window.get(from..).unwrap_or_default())
    }
}

/// The bytes of a tag and a length, which precede a message of that many bytes.
pub(crate) fn header(number: u32, length: u64) -> Vec<u8> {
    let mut out = Vec::new();
    prost::encoding::encode_varint(u64::from(number) << 3 | 2, &mut out);
    prost::encoding::encode_varint(length, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn document(bytes: &[u8]) -> Document<Cursor<&[u8]>> {
        Document::new(Cursor::new(bytes)).expect("in memory")
    }

    fn fields(bytes: &[u8]) -> Result<Vec<Field>, WireError> {
        let mut document = document(bytes);
        let Span { start: mut at, end } = document.whole();
        let mut found = Vec::new();
        while let Some(field) = document.next(&mut at, end)? {
            found.push(field);
        }
        Ok(found)
    }

    #[test]
    fn fields_of_every_kind_have_their_places() {
        // Field 1 is the number 300, 2 four bytes, 3 the text "ab", 4 eight bytes.
        let bytes = b"\x08\xac\x02\x15abcd\x1a\x02ab\x21abcdefgh";
        let found = fields(bytes).expect("sound");
        let payloads: Vec<_> = found.iter().map(|field| (field.number, field.payload)).collect();
        let text = Span { start: 10, end: 12 };
        let wanted = [
            (1, Payload::Varint(300)),
            (2, Payload::Fixed),
            (3, Payload::Bytes(text)),
            (4, Payload::Fixed),
        ];
        assert_eq!(payloads, wanted);
        let ends: Vec<_> = found.iter().map(|field| field.whole.end).collect();
        assert_eq!(ends, [3, 8, 12, 21]);
        assert_eq!(document(bytes).text(&found[2]).expect("text"), "ab");
    }

    #[test]
    fn numbers_are_of_64_bits() {
        let minus_one = fields(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").expect("sound");
        assert_eq!(minus_one[0].integer().expect("a number"), -1);
        assert!(fields(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02").is_err());
        assert!(fields(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00").is_err());
    }

    #[test]
    fn what_is_cut_short_or_no_field_is_refused() {
        for bytes in [&b"\x08"[..], b"\x08\x80", b"\x1a\x05ab", b"\x15abc", b"\x21abc"] {
            assert!(matches!(fields(bytes), Err(WireError::Truncated { at: 0 })), "{bytes:?}");
        }
        // A group, an unknown kind, and the number 0.
        for bytes in [&b"\x0b"[..], b"\x0f", b"\x00\x00"] {
            assert!(matches!(fields(bytes), Err(WireError::Malformed { at: 0 })), "{bytes:?}");
        }
        // A length of almost 2^64.
        let endless = b"\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        assert!(matches!(fields(endless), Err(WireError::Truncated { at: 0 })));
    }

    /// A file of any size that holds one field of bytes, all zero, between two numbers.
    struct Huge {
        head: Vec<u8>,
        body: u64,
        tail: Vec<u8>,
        place: u64,
        read: u64,
    }

    impl Read for Huge {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let tail_start = self.head.len() as u64 + self.body;
            let end = tail_start + self.tail.len() as u64;
            let wanted = usize::try_from(end.saturating_sub(self.place)).unwrap_or(usize::MAX);
            let count = buffer.len().min(wanted);
            for byte in &mut buffer[..count] {
                let index = |start: u64| usize::try_from(self.place - start).unwrap_or(usize::MAX);
                *byte = match self.place {
                    place if place < self.head.len() as u64 => self.head[index(0)],
                    place if place < tail_start => 0,
                    _ => self.tail[index(tail_start)],
                };
                self.place += 1;
            }
            self.read += count as u64;
            Ok(count)
        }
    }

    impl Seek for Huge {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.place = match to {
                SeekFrom::Start(place) => place,
                SeekFrom::End(_) => self.head.len() as u64 + self.body + self.tail.len() as u64,
                SeekFrom::Current(_) => return Err(io::ErrorKind::Unsupported.into()),
            };
            Ok(self.place)
        }
    }

    #[test]
    fn a_field_of_many_gigabytes_is_passed_over() {
        let body = 5 << 30;
        let mut head = b"\x08\x07".to_vec();
        head.extend(header(3, body));
        let huge = Huge { head, body, tail: b"\x08\x09".to_vec(), place: 0, read: 0 };
        let mut document = Document::new(huge).expect("made");
        let Span { start: mut at, end } = document.whole();
        let mut numbers = Vec::new();
        while let Some(field) = document.next(&mut at, end).expect("sound") {
            match field.payload {
                Payload::Varint(number) => numbers.push(number),
                Payload::Bytes(span) => {
                    assert_eq!(span.len(), body);
                    assert!(matches!(document.bytes(span), Err(WireError::TooLarge { .. })));
                }
                Payload::Fixed => panic!("there is none"),
            }
        }
        assert_eq!(numbers, [7, 9]);
        assert!(document.reader.read < 1 << 16, "{} bytes were read", document.reader.read);
    }
}
