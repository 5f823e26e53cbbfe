//! A folder to work in, files to work on, and the program itself.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A separate folder for each test; commands run inside it, so that messages hold no paths of the
/// machine.
pub(crate) struct Folder {
    inner: tempfile::TempDir,
}

/// What a command printed, and its exit code.
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn program() -> PathBuf {
    assert_cmd::cargo::cargo_bin!("abstain").to_path_buf()
}

impl Folder {
    pub(crate) fn new() -> Self {
        Folder { inner: tempfile::tempdir().expect("a folder") }
    }

    /// A folder with the rows of a made-up classifier: `logits.npy`, `labels.npy`.
    pub(crate) fn with_rows(rows: usize, classes: usize, seed: u64) -> Self {
        let folder = Folder::new();
        folder.rows("", rows, classes, seed);
        folder
    }

    /// Writes the rows of a made-up classifier as `{prefix}logits.npy` and `{prefix}labels.npy`.
    pub(crate) fn rows(&self, prefix: &str, rows: usize, classes: usize, seed: u64) {
        let (logits, labels) = classifier(rows, classes, seed);
        self.put(&format!("{prefix}logits.npy"), &npy_f32(&logits, classes));
        self.put(&format!("{prefix}labels.npy"), &npy_labels(&labels));
    }

    pub(crate) fn path(&self) -> &Path {
        self.inner.path()
    }

    pub(crate) fn put(&self, name: &str, data: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, data).expect("written");
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).expect("a file of text")
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).expect("valid JSON")
    }

    /// All names in the folder, hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("a folder");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("an entry").file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        outcome(&self.command(arguments).output().expect("it runs"))
    }

    /// Runs what must succeed, and returns standard output.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {}", outcome.err);
        outcome.out
    }

    pub(crate) fn ok_json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.ok(arguments)).expect("valid JSON")
    }
}

pub(crate) fn outcome(output: &Output) -> Outcome {
    Outcome {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Numbers that look random and are always the same.
pub(crate) struct Lcg(u64);

impl Lcg {
    pub(crate) fn new(seed: u64) -> Self {
        Lcg(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    /// Between 0 and 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

/// Logits and labels of a classifier whose MSP is broken: the scale of a row says nothing of how
/// sure it is.
pub(crate) fn classifier(rows: usize, classes: usize, seed: u64) -> (Vec<f32>, Vec<u32>) {
    let mut random = Lcg::new(seed);
    let (mut logits, mut labels) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let label = row * 7 % classes;
        let (signal, scale) = (4.0 * random.next(), 0.3 + 4.0 * random.next());
        for class in 0..classes {
            let signal_of_class = if class == label { signal } else { 0.0 };
            #[expect(clippy::cast_possible_truncation, reason = "the type of the file")]
            logits.push((scale * (signal_of_class + 0.7 * random.normal())) as f32);
        }
        labels.push(u32::try_from(label).expect("small"));
    }
    (logits, labels)
}

/// An npy file.
pub(crate) fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    while (text.len() + 11) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend_from_slice(&u16::try_from(text.len()).expect("short").to_le_bytes());
    file.extend_from_slice(text.as_bytes());
    file.extend_from_slice(data);
    file
}

pub(crate) fn npy_f32(values: &[f32], classes: usize) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    npy("'<f4'", &format!("({}, {classes})", values.len() / classes), &data)
}

pub(crate) fn npy_f64(values: &[f64], shape: &str) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    npy("'<f8'", shape, &data)
}

pub(crate) fn npy_labels(labels: &[u32]) -> Vec<u8> {
    let data: Vec<u8> = labels.iter().flat_map(|&x| i64::from(x).to_le_bytes()).collect();
    npy("'<i8'", &format!("({},)", labels.len()), &data)
}

/// Text, one row a line.
pub(crate) fn csv(values: &[f64], classes: usize) -> String {
    let line = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    values.chunks(classes).map(line).collect()
}
