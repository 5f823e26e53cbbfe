//! What is known of a run: its settings, and how far it has come.

use super::{Context, LogitsError, LogitsRequest, Skipped, Target, create_folder, path_of};
use crate::dataset::Dataset;
use crate::preprocess::Preprocess;
use abstain_io::{AtomicFile, hash_of_file};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What the logits depend on: a run with others begins anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Settings {
    /// The SHA-256 of the model.
    model: String,
    runtime: String,
    preprocess: Preprocess,
    orient: bool,
    batch: usize,
    /// The SHA-256 of the names and labels of the images.
    images: String,
    seed: u64,
}

impl Settings {
    pub(super) fn new(request: &LogitsRequest<'_>, dataset: &Dataset) -> Result<Self, LogitsError> {
        let mut hash = Sha256::new();
        for item in &dataset.items {
            hash.update(format!("{}\0{:?}\0", item.name, item.label));
        }
        Ok(Settings {
            model: hash_of_file(request.model)?,
            runtime: request.runtime.to_string(),
            preprocess: request.classifier.preprocess().clone(),
            orient: request.orient,
            batch: request.classifier.batch().unwrap_or(request.batch),
            images: hash
                .finalize()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<Vec<_>>()
                .concat(),
            seed: request.seed,
        })
    }
}

/// A run of a model over a set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    written_by: String,
    settings: Settings,
    /// Images that are done.
    pub(super) done: u64,
    /// Rows that are in the file.
    pub(super) rows: u64,
    pub(super) classes: usize,
    /// Right predictions.
    pub(super) right: u64,
    /// Images that state an orientation.
    pub(super) oriented: u64,
    pub(super) skipped: Vec<Skipped>,
    /// Whether the file is complete.
    pub(super) finished: bool,
}

impl Record {
    pub(super) fn new(settings: &Settings) -> Self {
        Record {
            written_by: concat!("abstain ", env!("CARGO_PKG_VERSION")).into(),
            settings: settings.clone(),
            done: 0,
            rows: 0,
            classes: 0,
            right: 0,
            oriented: 0,
            skipped: Vec::new(),
            finished: false,
        }
    }

    /// The record of an earlier run with these settings, or a new one.
    pub(super) fn read(request: &LogitsRequest<'_>, target: &Target, settings: &Settings) -> Self {
        let text = std::fs::read(path_of(request.folder, request.name, target, "json")).ok();
        let record: Option<Record> = text.and_then(|text| serde_json::from_slice(&text).ok());
        record
            .filter(|record| record.settings == *settings)
            .unwrap_or_else(|| Record::new(settings))
    }

    pub(super) fn write(&self, context: &Context, target: &Target) -> Result<(), LogitsError> {
        let path = path_of(&context.folder, &context.name, target, "json");
        if let Some(folder) = path.parent() {
            create_folder(folder)?;
        }
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        Ok(AtomicFile::write_whole(&path, &text)?)
    }

    pub(super) fn accuracy(&self) -> f64 {
        self.right as f64 / self.rows as f64
    }
}
