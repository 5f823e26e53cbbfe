//! Artifacts as files of JSON.

use crate::error::{Error, ErrorKind};
use crate::output::AtomicFile;
use crate::source::Source;
use abstain::Artifact;
use std::io::{Read, Write};
use std::path::Path;

/// The most bytes that are read: no artifact has more, but a file of logits given by mistake has.
const LARGEST: u64 = 1 << 24;

/// Reads an artifact.
pub fn read_artifact(path: &Path) -> Result<Artifact, Error> {
    let read = || {
        let source = Source::new(path);
        let mut text = Vec::new();
        source.open_raw()?.into_stream().take(LARGEST).read_to_end(&mut text)?;
        if text.is_empty() {
            return Err(ErrorKind::Empty);
        }
        let text = String::from_utf8(text)
            .map_err(|_| ErrorKind::Artifact { problem: "it is not text".into() })?;
        parse_artifact(&text)
    };
    read().map_err(|kind| kind.of(path))
}

/// Reads an artifact from its text, of any version, or a bare estimator as in
/// `{"method": "MaxLogit-pNorm", "p": 5}`.
pub fn parse_artifact(text: &str) -> Result<Artifact, ErrorKind> {
    Artifact::from_json(text).map_err(|error| ErrorKind::Artifact { problem: error.to_string() })
}

/// Writes an artifact, whole or not at all.
pub fn write_artifact(artifact: &Artifact, path: &Path) -> Result<(), Error> {
    let mut file = AtomicFile::create(path)?;
    let write = |file: &mut AtomicFile| {
        serde_json::to_writer_pretty(&mut *file, artifact)?;
        file.write_all(b"\n")
    };
    if let Err(error) = write(&mut file) {
        return Err(file.error(error));
    }
    file.finish()
}
