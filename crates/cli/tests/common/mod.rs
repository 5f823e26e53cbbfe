//! A folder to work in, files to work on, and the program itself.

#![allow(dead_code, reason = "each test file uses a part of it")]

#[allow(unused_imports, reason = "as above")]
pub(crate) use abstain_kit::{Lcg, classifier, npy, npy_f32, npy_f64, npy_labels};
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

/// Text, one row a line.
pub(crate) fn csv(values: &[f64], classes: usize) -> String {
    let line = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    values.chunks(classes).map(line).collect()
}
