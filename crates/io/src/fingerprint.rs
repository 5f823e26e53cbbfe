//! A fingerprint of rows and labels, the same whatever format they came in.

use abstain::{Labels, Logits};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The SHA-256 of rows and labels: the numbers of all rows as little-endian float64, row by row,
/// then the labels as little-endian uint32.
#[derive(Default)]
pub struct Fingerprint {
    hash: Sha256,
    row: Vec<f64>,
}

impl Fingerprint {
    /// Takes in the next rows.
    pub fn update(&mut self, logits: &Logits<'_>) {
        self.row.resize(logits.classes(), 0.0);
        for row in 0..logits.rows() {
            logits.copy_row(row, &mut self.row);
            if cfg!(target_endian = "big") {
                self.row.iter_mut().for_each(|x| *x = f64::from_bits(x.to_bits().swap_bytes()));
            }
            self.hash.update(bytemuck::cast_slice(&self.row));
        }
    }

    /// Takes in the labels, and ends.
    pub fn finish(mut self, labels: &Labels) -> String {
        for label in labels.values() {
            self.hash.update(label.to_le_bytes());
        }
        let mut text = String::new();
        for byte in self.hash.finalize() {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}
