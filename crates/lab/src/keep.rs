//! Finished work, kept in files: a run that was stopped goes on where it was.

use crate::LabError;
use crate::measure::Part;
use abstain_io::AtomicFile;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder of finished work; without one nothing is kept.
#[derive(Debug, Clone)]
pub(crate) struct Keep {
    folder: Option<PathBuf>,
}

/// What a file holds: the work, and what it was done from.
#[derive(Serialize, Deserialize)]
struct Record<T> {
    key: String,
    result: T,
}

impl Keep {
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        Keep { folder: folder.map(|folder| folder.join("models")) }
    }

    fn path(&self, model: &str, part: Part) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{model}.{}.json", part.name())))
    }

    /// What was kept, unless it was done from something else. What cannot be read is done again.
    pub(crate) fn load<T: DeserializeOwned>(
        &self,
        model: &str,
        part: Part,
        key: &str,
    ) -> Option<T> {
        let text = std::fs::read(self.path(model, part)?).ok()?;
        let record: Record<T> = serde_json::from_slice(&text).ok()?;
        (record.key == key).then_some(record.result)
    }

    /// Keeps finished work.
    pub(crate) fn store<T: Serialize>(
        &self,
        model: &str,
        part: Part,
        key: &str,
        result: &T,
    ) -> Result<(), LabError> {
        let Some(path) = self.path(model, part) else { return Ok(()) };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| abstain_io::ErrorKind::from(error).of(folder))?;
        }
        let mut text = serde_json::to_vec(&Record { key: key.to_string(), result })
            .map_err(|error| abstain_io::ErrorKind::from(std::io::Error::from(error)).of(&path))?;
        text.push(b'\n');
        let mut file = AtomicFile::create(&path)?;
        file.write_all(&text).map_err(|error| file.error(error))?;
        Ok(file.finish()?)
    }
}
