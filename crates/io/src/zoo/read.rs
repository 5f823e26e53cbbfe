//! The rows of a zoo as row sources.

use super::{FurtherSet, Model, Zoo};
use crate::{FileRows, ReadOptions, Source};
use abstain::{Encoding, Labels};
use std::path::{Path, PathBuf};

/// The rows of one model, in the zoo or on a further set.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// The file of logits.
    pub path: &'a Path,
    /// What the numbers are.
    pub encoding: Encoding,
    labels: &'a Labels,
    labels_path: &'a PathBuf,
}

impl Member<'_> {
    /// Opens the file. Probabilities without a floor are read once to find theirs.
    pub fn open(&self) -> Result<FileRows<'static>, crate::Error> {
        let options = ReadOptions { encoding: self.encoding, ..ReadOptions::default() };
        let labels = self.labels.clone();
        FileRows::with_labels(Source::new(self.path), options, labels, self.labels_path.clone())
    }
}

impl Zoo {
    /// The rows of a model.
    pub fn member<'a>(&'a self, model: &'a Model) -> Member<'a> {
        let (labels, labels_path) = (&self.labels, &self.labels_path);
        Member { path: &model.logits, encoding: model.encoding, labels, labels_path }
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
    pub fn member<'a>(&'a self, model: &Model) -> Option<Member<'a>> {
        let (_, path) = self.files.iter().find(|(name, _)| *name == model.name)?;
        let (labels, labels_path) = (&self.labels, &self.labels_path);
        Some(Member { path, encoding: model.encoding, labels, labels_path })
    }
}
