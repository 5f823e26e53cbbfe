//! Fingerprints of rows and labels, the same whatever format and order they came in.

use crate::error::{Error, ErrorKind};
use abstain::{Labels, Logits};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

/// What the text of a [`Fingerprint`] begins with. Texts of the first scheme, an [`OrderedFingerprint`],
/// have no such prefix.
const SCHEME: &str = "sum-sha256";

/// A fingerprint of rows that does not depend on their order: the sum modulo 2²⁵⁶ of the SHA-256 of each
/// row, and the number of rows.
///
/// The hash of a row is that of its numbers as little-endian float64, and of its label as little-endian
/// uint32. A sum, unlike an exclusive or, tells how often a row occurs. Fingerprints of parts add up.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    rows: u64,
    /// The hashes of rows with their labels, if they have labels.
    labelled: Sum,
    /// Those of the rows alone.
    alone: Sum,
}

/// A number below 2²⁵⁶, the lowest part first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Sum([u64; 4]);

impl Sum {
    /// A hash, read as a number of big-endian bytes.
    fn of(hash: Sha256) -> Self {
        let bytes: [u8; 32] = hash.finalize().into();
        let mut parts = [0; 4];
        for (part, bytes) in parts.iter_mut().rev().zip(bytes.as_chunks().0) {
            *part = u64::from_be_bytes(*bytes);
        }
        Sum(parts)
    }

    fn add(&mut self, other: Sum) {
        let mut carry = false;
        for (here, there) in self.0.iter_mut().zip(other.0) {
            let (sum, first) = here.overflowing_add(there);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*here, carry) = (sum, first || second);
        }
    }
}

/// Rows that a thread hashes before it takes others.
const ROWS_AT_ONCE: usize = 32;

impl Fingerprint {
    /// Adds rows, with their labels if they have labels.
    pub fn update(&mut self, logits: &Logits<'_>, labels: Option<&Labels>) {
        let label = |row: usize| labels.map(|labels| labels.values()[row]);
        let part = (0..logits.rows())
            .into_par_iter()
            .with_min_len(ROWS_AT_ONCE)
            .fold(
                || (Fingerprint::default(), vec![0.0; logits.classes()]),
                |(mut part, mut numbers), row| {
                    logits.copy_row(row, &mut numbers);
                    part.push(&mut numbers, label(row));
                    (part, numbers)
                },
            )
            .map(|(part, _)| part)
            .reduce(Fingerprint::default, |mut part, other| {
                part.merge(&other);
                part
            });
        self.merge(&part);
    }

    /// The fingerprint of columns of numbers, each row of which is one of all of them.
    pub fn of_columns<const N: usize>(columns: [&[f64]; N]) -> Self {
        let mut fingerprint = Fingerprint::default();
        for row in 0..columns.first().map_or(0, |column| column.len()) {
            fingerprint.push(&mut columns.map(|column| column[row]), None);
        }
        fingerprint
    }

    /// Adds a row, whose numbers may be changed.
    fn push(&mut self, numbers: &mut [f64], label: Option<u32>) {
        let mut hash = Sha256::new();
        add(&mut hash, numbers);
        self.rows += 1;
        if let Some(label) = label {
            self.labelled.add(Sum::of(hash.clone().chain_update(label.to_le_bytes())));
        }
        self.alone.add(Sum::of(hash));
    }

    /// Adds other rows.
    pub fn merge(&mut self, other: &Fingerprint) {
        self.rows += other.rows;
        self.labelled.add(other.labelled);
        self.alone.add(other.alone);
    }

    /// The text of the rows with their labels.
    pub fn with_labels(&self) -> String {
        self.text(self.labelled)
    }

    /// The text of the rows without labels.
    pub fn without_labels(&self) -> String {
        self.text(self.alone)
    }

    fn text(&self, Sum([a, b, c, d]): Sum) -> String {
        format!("{SCHEME}:{}:{d:016x}{c:016x}{b:016x}{a:016x}", self.rows)
    }
}

/// The fingerprint of the first scheme, which artifacts may still hold: the SHA-256 of the numbers of all
/// rows as little-endian float64, row by row, and then of the labels as little-endian uint32. It depends on
/// the order of the rows.
#[derive(Default)]
pub struct OrderedFingerprint {
    hash: Sha256,
    row: Vec<f64>,
    labels: Vec<u8>,
}

impl OrderedFingerprint {
    /// Whether a text is one of this scheme.
    pub fn is_text_of(text: &str) -> bool {
        !text.contains(':')
    }

    /// Adds the next rows.
    pub fn update(&mut self, logits: &Logits<'_>, labels: Option<&Labels>) {
        self.row.resize(logits.classes(), 0.0);
        for row in 0..logits.rows() {
            logits.copy_row(row, &mut self.row);
            add(&mut self.hash, &mut self.row);
        }
        for label in labels.iter().flat_map(|labels| labels.values()) {
            self.labels.extend(label.to_le_bytes());
        }
    }

    /// The hash of the rows without labels, in hexadecimal.
    pub fn without_labels(&self) -> String {
        hexadecimal(self.hash.clone())
    }

    /// The hash of the rows and then of their labels.
    pub fn with_labels(&self) -> String {
        hexadecimal(self.hash.clone().chain_update(&self.labels))
    }
}

/// The SHA-256 of bare confidences and what the predictions cost, which is their fingerprint of the first
/// scheme: the confidences and then the losses, as little-endian float64.
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

    /// The rows of a set, some of which are equal.
    fn rows() -> (Vec<f64>, Vec<u32>) {
        let values = (0..300_u32).map(|i| f64::from(i / 3 % 40) + f64::from(i % 3) / 7.0).collect();
        (values, (0..100).map(|row| row % 3).collect())
    }

    fn of(values: &[f64], labels: &[u32]) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        let labels = Labels::new(labels, 3).expect("labels");
        fingerprint.update(&Logits::new(values, 3).expect("logits"), Some(&labels));
        fingerprint
    }

    #[test]
    fn fingerprints_are_sums_of_the_hashes_of_rows() {
        let (values, labels) = ([1.5, -2.0, 0.25], [2_u32]);
        let mut hash = Sha256::new();
        for x in values {
            hash.update(f64::to_le_bytes(x));
        }
        let alone = hexadecimal(hash.clone());
        hash.update(2_u32.to_le_bytes());
        let one = of(&values, &labels);
        assert_eq!(one.without_labels(), format!("sum-sha256:1:{alone}"));
        assert_eq!(one.with_labels(), format!("sum-sha256:1:{}", hexadecimal(hash)));
        // 2²⁵⁶ − 1 and 1 more.
        let mut sum = Sum([u64::MAX; 4]);
        sum.add(Sum([1, 0, 0, 0]));
        assert_eq!(sum, Sum::default());
    }

    #[test]
    fn fingerprints_do_not_depend_on_order_or_parts() {
        let (values, labels) = rows();
        let whole = of(&values, &labels);
        for parts in [1_usize, 2, 7] {
            let mut merged = Fingerprint::default();
            for part in 0..parts {
                let rows = part * 100 / parts..(part + 1) * 100 / parts;
                let part = of(&values[3 * rows.start..3 * rows.end], &labels[rows]);
                let json = serde_json::to_string(&part).expect("serialises");
                merged.merge(&serde_json::from_str(&json).expect("reads"));
            }
            assert_eq!(merged, whole);
        }
        let order = abstain::internal::permutation(100, 1);
        let shuffled: Vec<f64> =
            order.iter().flat_map(|&row| &values[3 * row..3 * row + 3]).copied().collect();
        let of_order: Vec<u32> = order.iter().map(|&row| labels[row]).collect();
        assert_eq!(of(&shuffled, &of_order), whole);
        // But on which label belongs to which row, and on how often a row occurs.
        assert_ne!(of(&shuffled, &labels), whole);
        let (twice, once) = ([1.0, 2.0, 3.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 4.0, 5.0, 6.0]);
        assert_ne!(of(&twice, &[0, 0]), of(&once, &[0, 0]));
    }

    #[test]
    fn the_two_schemes_are_told_apart() {
        let (values, labels) = rows();
        let fingerprint = of(&values, &labels);
        let mut ordered = OrderedFingerprint::default();
        let of_rows = Labels::new(&labels, 3).expect("labels");
        ordered.update(&Logits::new(values, 3).expect("logits"), Some(&of_rows));
        for (text, old) in [
            (fingerprint.with_labels(), false),
            (fingerprint.without_labels(), false),
            (ordered.with_labels(), true),
            (ordered.without_labels(), true),
        ] {
            assert_eq!(OrderedFingerprint::is_text_of(&text), old, "{text}");
        }
    }

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
