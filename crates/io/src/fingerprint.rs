//! A fingerprint of rows and labels, the same whatever format they came in.

use crate::error::{Error, ErrorKind};
use abstain::{Labels, Logits};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

/// The SHA-256 of rows and labels: the numbers of all rows as little-endian float64, row by row,
/// then the labels as little-endian uint32.
#[derive(Default)]
pub struct Fingerprint {
    hash: Sha256,
    row: Vec<f64>,
}

impl Fingerprint {
    /// Adds the next rows.
    pub fn update(&mut self, logits: &Logits<'_>) {
        self.row.resize(logits.classes(), 0.0);
        for row in 0..logits.rows() {
            logits.copy_row(row, &mut self.row);
            add(&mut self.hash, &mut self.row);
        }
    }

    /// The hash of the rows so far without labels, in hexadecimal.
    pub fn of_rows(&self) -> String {
        hexadecimal(self.hash.clone())
    }

    /// Adds the labels, and returns the hash in hexadecimal.
    pub fn finish(mut self, labels: &Labels) -> String {
        for label in labels.values() {
            self.hash.update(label.to_le_bytes());
        }
        hexadecimal(self.hash)
    }
}

/// The SHA-256 of bare confidences and what the predictions cost: the confidences and then the losses,
/// as little-endian float64.
pub fn hash_of_confidences(confidences: &[f64], losses: &[f64]) -> String {
    let mut hash = Sha256::new();
    for column in [confidences, losses] {
        add(&mut hash, &mut column.to_vec());
    }
    hexadecimal(hash)
}

/// Adds numbers as little-endian float64, for which they may be changed.
fn add(hash: &mut Sha256, numbers: &mut [f64]) {
    if cfg!(target_endian = "big") {
        for x in numbers.iter_mut() {
            *x = f64::from_bits(x.to_bits().swap_bytes());
        }
    }
    hash.update(bytemuck::cast_slice(numbers));
}

/// The SHA-256 of the bytes of a file.
pub fn hash_of_file(path: &Path) -> Result<String, Error> {
    let fail = |error: std::io::Error| ErrorKind::from(error).of(path);
    let mut file = std::fs::File::open(path).map_err(fail)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(fail)? {
            0 => return Ok(hexadecimal(hash)),
            bytes => hash.update(&buffer[..bytes]),
        }
    }
}

/// The SHA-256 of some bytes.
pub fn hash_of(bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(bytes);
    hexadecimal(hash)
}

/// A hash in hexadecimal.
pub fn hexadecimal(hash: Sha256) -> String {
    let mut text = String::new();
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_sha_256() -> Result<(), Box<dyn std::error::Error>> {
        // The example of the standard, FIPS 180.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash_of(b"abc"), expected);
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc")?;
        assert_eq!(hash_of_file(&path)?, expected);
        assert!(hash_of_file(&folder.path().join("none")).is_err());
        Ok(())
    }
}
