//! Records: the finished work on a model, stored in files so that an interrupted run continues.

use super::MeasuredPart;
use crate::PaperError;
use abstain_io::AtomicFile;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A folder of records; without one nothing is stored.
#[derive(Debug, Clone)]
pub(crate) struct Records {
    folder: Option<PathBuf>,
}

/// The work of one part on one model, and what it was made from.
#[derive(Serialize, Deserialize)]
pub(crate) struct Record<T> {
    /// The hash of everything it depends on but the rows.
    pub(crate) settings: String,
    /// The fingerprints of the rows.
    pub(crate) rows: Vec<String>,
    /// The result.
    pub(crate) result: T,
}

impl<T> Record<T> {
    /// The result, if it was made from these rows.
    pub(crate) fn made_from(self, rows: &[String]) -> Option<T> {
        (self.rows == rows).then_some(self.result)
    }
}

impl Records {
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        Records { folder: folder.map(|folder| folder.join("models")) }
    }

    fn path(&self, model: &str, part: MeasuredPart) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{model}.{}.json", part.name())))
    }

    /// A record made with these settings. One that cannot be read is as good as none.
    pub(crate) fn load<T: DeserializeOwned>(
        &self,
        model: &str,
        part: MeasuredPart,
        settings: &str,
    ) -> Option<Record<T>> {
        let text = std::fs::read(self.path(model, part)?).ok()?;
        let record: Record<T> = serde_json::from_slice(&text).ok()?;
        (record.settings == settings).then_some(record)
    }

    /// Stores a record in place of an older one.
    pub(crate) fn store<T: Serialize>(
        &self,
        model: &str,
        part: MeasuredPart,
        record: &Record<T>,
    ) -> Result<(), PaperError> {
        let Some(path) = self.path(model, part) else { return Ok(()) };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| abstain_io::ErrorKind::from(error).of(folder))?;
        }
        let mut text = serde_json::to_vec(record)
            .map_err(|error| abstain_io::ErrorKind::from(std::io::Error::from(error)).of(&path))?;
        text.push(b'\n');
        Ok(AtomicFile::write_whole(&path, &text)?)
    }
}
