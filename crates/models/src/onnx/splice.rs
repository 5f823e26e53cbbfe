//! Changes to a file in a few places, with everything else copied byte for byte.

use super::wire::Span;
use abstain_io::hexadecimal;
use sha2::{Digest, Sha256};
use std::io::{self, Read, Write};

/// A part of a file that is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    /// What is left out; empty to insert only.
    pub(crate) at: Span,
    /// What is written in its place.
    pub(crate) insert: Vec<u8>,
}

/// Copies a file with changes, which are in the order of their places and do not overlap. Returns
/// the length and the SHA-256 of the file before.
pub(crate) fn copy_with(
    mut from: impl Read,
    to: &mut impl Write,
    edits: &[Edit],
) -> io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let mut place = 0;
    for edit in edits {
        place += copy(&mut from, Some(to), edit.at.start - place, &mut hash)?;
        place += copy(&mut from, None::<&mut io::Sink>, edit.at.len(), &mut hash)?;
        to.write_all(&edit.insert)?;
    }
    place += copy(&mut from, Some(to), u64::MAX, &mut hash)?;
    Ok((place, hexadecimal(hash)))
}

/// Takes so many bytes, or all if there are fewer, and writes them unless they are left out.
fn copy(
    from: &mut impl Read,
    mut to: Option<&mut impl Write>,
    bytes: u64,
    hash: &mut Sha256,
) -> io::Result<u64> {
    let mut buffer = vec![0; 1 << 18];
    let mut left = bytes;
    while left > 0 {
        let wanted = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let count = match from.read(&mut buffer[..wanted]) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(&buffer[..count]);
        if let Some(to) = &mut to {
            to.write_all(&buffer[..count])?;
        }
        left -= count as u64;
    }
    Ok(bytes - left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_replaced_and_the_whole_is_hashed() {
        let edit = |start, end, insert: &str| Edit {
            at: Span { start, end },
            insert: insert.as_bytes().to_vec(),
        };
        let edits = [edit(0, 0, ">"), edit(2, 4, ""), edit(5, 5, "--"), edit(6, 7, "G")];
        let mut out = Vec::new();
        let (length, hash) = copy_with(&b"abcdefgh"[..], &mut out, &edits).expect("copied");
        assert_eq!(out, b">abe--fGh");
        assert_eq!((length, hash), (8, abstain_io::hash_of(b"abcdefgh")));
    }
}
