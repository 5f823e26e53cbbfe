//! What is known of a run: its settings, and how far it has come.

use super::{Context, LogitsError, LogitsRequest, Skipped, Target, create_folder, path_of};
use crate::images::corrupt::Corruption;
use crate::images::dataset::{Dataset, size_and_time};
use crate::images::pass::Variant;
use crate::images::preprocess::Preprocess;
use abstain::Encoding;
use abstain_io::{AtomicFile, GrowingArray, hash_of_file};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::Path;

/// What the logits depend on: a run with others begins anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Settings {
    /// The SHA-256 of the model, with the sizes and times of the files beside it that have its numbers.
    model: String,
    /// The output that has the logits, and what it is.
    output: String,
    encoding: Option<Encoding>,
    runtime: String,
    preprocess: Preprocess,
    orient: bool,
    batch: usize,
    /// The SHA-256 of the names and labels of the images, and of the sizes and times of their files.
    images: String,
    /// What is done to the images, and the seed of that.
    corruption: Option<(String, u8, u64)>,
}

impl Settings {
    /// The settings of a run over the images as they are.
    pub(super) fn new(
        request: &LogitsRequest<'_>,
        model: &str,
        dataset: &Dataset,
    ) -> Result<Self, LogitsError> {
        Ok(Settings {
            model: model.to_string(),
            output: request.classifier.logits().unwrap_or_default().to_string(),
            encoding: request.encoding,
            runtime: request.runtime.to_string(),
            preprocess: request.classifier.preprocess().clone(),
            orient: request.orient,
            batch: request.classifier.batch().unwrap_or(request.batch),
            images: dataset.fingerprint()?,
            corruption: None,
        })
    }

    /// The same with a corruption.
    pub(super) fn of(&self, variant: Variant, seed: u64) -> Self {
        let named =
            |(corruption, severity): (Corruption, u8)| (corruption.to_string(), severity, seed);
        Settings { corruption: variant.map(named), ..self.clone() }
    }
}

/// What identifies a model: its hash, and the files beside it if it has numbers there.
pub(super) fn fingerprint(request: &LogitsRequest<'_>) -> Result<String, LogitsError> {
    let mut text = hash_of_file(request.model)?;
    for file in &request.classifier.summary().external_files {
        let path = request.model.with_file_name(file);
        let _ = write!(text, " {file} {}", size_and_time(&path)?);
    }
    Ok(text)
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
    pub(super) fn new(settings: Settings) -> Self {
        Record {
            written_by: concat!("abstain ", env!("CARGO_PKG_VERSION")).into(),
            settings,
            done: 0,
            rows: 0,
            classes: 0,
            right: 0,
            oriented: 0,
            skipped: Vec::new(),
            finished: false,
        }
    }

    /// The record of an earlier run.
    pub(super) fn read(request: &LogitsRequest<'_>, target: &Target) -> Option<Self> {
        let text = std::fs::read(path_of(request.folder, request.name, target, "json")).ok();
        text.and_then(|text| serde_json::from_slice(&text).ok())
    }

    /// Whether the rows are there: a record is worth no more than its file.
    pub(super) fn is_backed_by(&self, array: &Path) -> bool {
        if self.finished {
            array.is_file()
        } else {
            GrowingArray::can_continue(array, self.classes, self.rows)
        }
    }

    /// The settings in which it differs, by name.
    pub(super) fn differs_in(&self, settings: &Settings) -> Vec<String> {
        let of = |settings: &Settings| serde_json::to_value(settings).unwrap_or_default();
        let (before, now) = (of(&self.settings), of(settings));
        let fields = now.as_object().into_iter().flatten();
        fields
            .filter(|(name, value)| before.get(name) != Some(value))
            .map(|(n, _)| n.clone())
            .collect()
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
