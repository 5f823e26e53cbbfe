//! Text in UTF-16, as spreadsheets save it, as UTF-8.

use std::io::{self, Read};

/// Whether bytes begin with the mark of UTF-16, and whether the first byte of a unit is its high one.
pub(super) fn marked(head: &[u8]) -> Option<bool> {
    match head {
        [0xff, 0xfe, ..] => Some(false),
        [0xfe, 0xff, ..] => Some(true),
        _ => None,
    }
}

/// A stream of UTF-16 as UTF-8, without its mark.
pub(super) struct Utf16<R> {
    inner: R,
    big_endian: bool,
    /// Bytes that are decoded, and how many of them were passed on.
    ready: (Vec<u8>, usize),
    /// A unit that waits for its second half.
    high: Option<u16>,
    ended: bool,
}

impl<R: Read> Utf16<R> {
    /// The text after the mark, which is read.
    pub(super) fn new(mut inner: R, big_endian: bool) -> io::Result<Self> {
        inner.read_exact(&mut [0; 2])?;
        Ok(Utf16 { inner, big_endian, ready: (Vec::new(), 0), high: None, ended: false })
    }

    fn decode(&mut self) -> io::Result<()> {
        let mut bytes = vec![0; 1 << 13];
        let mut filled = 0;
        while filled < bytes.len() && !self.ended {
            match self.inner.read(&mut bytes[filled..])? {
                0 => self.ended = true,
                more => filled += more,
            }
        }
        if !filled.is_multiple_of(2) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "half a unit of UTF-16"));
        }
        let of_bytes = if self.big_endian { u16::from_be_bytes } else { u16::from_le_bytes };
        let unit = |pair: &[u8]| of_bytes([pair[0], pair[1]]);
        let mut units: Vec<u16> = self.high.take().into_iter().collect();
        units.extend(bytes[..filled].chunks_exact(2).map(unit));
        // The second half of the last character may come with the next bytes.
        if !self.ended && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.high = units.pop();
        }
        let text: String = char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect();
        self.ready = (text.into_bytes(), 0);
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.ready.1 == self.ready.0.len() && !self.ended {
            self.decode()?;
        }
        let left = &self.ready.0[self.ready.1..];
        let count = left.len().min(out.len());
        out[..count].copy_from_slice(&left[..count]);
        self.ready.1 += count;
        Ok(count)
    }
}
