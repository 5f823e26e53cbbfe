//! Reading the rows of a zoo in chunks.

use super::{FurtherSet, Kind, Model, Zoo};
use crate::LabError;
use abstain::{Labels, Logits};
use abstain_io::{Fingerprint, LogitsReader, ReadOptions, Source};
use std::path::Path;

/// The rows of one model, in the zoo or on a further set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member<'a> {
    /// The file of logits.
    pub(crate) path: &'a Path,
    kind: Kind,
    labels: &'a Labels,
}

impl Zoo {
    /// The rows of a model.
    pub(crate) fn member<'a>(&'a self, model: &'a Model) -> Member<'a> {
        Member { path: &model.logits, kind: model.kind, labels: &self.labels }
    }

    /// Every file of the zoo but its manifest; files of labels come up more than once.
    pub fn files(&self) -> Vec<&Path> {
        let mut files: Vec<&Path> = vec![&self.labels_path];
        for model in &self.models {
            files.push(&model.logits);
            for set in &self.sets {
                files.push(&set.labels_path);
                files.extend(set.member(model).map(|member| member.path));
            }
        }
        files
    }
}

impl FurtherSet {
    /// The rows of a model on this set, if it has them.
    pub(crate) fn member<'a>(&'a self, model: &Model) -> Option<Member<'a>> {
        let (_, path) = self.files.iter().find(|(name, _)| *name == model.name)?;
        Some(Member { path, kind: model.kind, labels: &self.labels })
    }
}

impl Member<'_> {
    /// Reads all rows once: calls a function with each chunk of rows and their labels, and returns
    /// the fingerprint of all of them.
    pub(crate) fn pass(
        &self,
        mut each: impl FnMut(&Logits<'_>, &Labels) -> Result<(), LabError>,
    ) -> Result<String, LabError> {
        // Probabilities are read twice, once for their floor.
        let source = Source::to_read_again(self.path)?;
        let options = ReadOptions { encoding: self.kind.encoding(), ..ReadOptions::default() };
        let mut reader = LogitsReader::open(&source, &options)?;
        let mut fingerprint = Fingerprint::default();
        let mut rows = 0;
        while let Some((first, logits)) = reader.next_chunk()? {
            rows = first + logits.rows();
            if rows > self.labels.len() {
                break;
            }
            fingerprint.update(&logits);
            each(&logits, &self.labels.part(first..rows))?;
        }
        if rows != self.labels.len() {
            // It was another file when the zoo was opened.
            return Err(LabError::Changed { path: self.path.to_path_buf() });
        }
        Ok(fingerprint.finish(self.labels))
    }
}
