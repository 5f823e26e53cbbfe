//! A zoo: the logits of many models on the same labelled rows, and on further sets of rows.
//!
//! It is a folder with `labels.npy` (or labels in another format) and one file of logits per model, or
//! a manifest, `zoo.toml`. All problems are found when it is opened, before any work is done; only the
//! numbers in arrays are checked later, when their model is read.

mod check;
mod extend;
mod manifest;
mod problem;
mod read;

pub use check::is_name;
pub use extend::{NewModel, NewSet, can_extend, extend};
pub use problem::{Named, SetProblem, ZooError, ZooProblem};
pub use read::Member;

use abstain::{Encoding, Labels};
use check::Checker;
use manifest::Manifest;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Many models on the same rows.
#[derive(Debug, Clone)]
pub struct Zoo {
    /// Its title.
    pub title: String,
    /// Its models.
    pub models: Vec<Model>,
    /// Further sets of rows, such as shifted ones.
    pub sets: Vec<FurtherSet>,
    /// The number of classes of every model.
    pub classes: usize,
    labels: Labels,
    labels_path: PathBuf,
}

/// A model of a zoo.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Its name, which is also that of its records.
    pub name: String,
    /// Its title in tables and figures.
    pub title: String,
    /// Its file on the rows of the zoo.
    pub logits: PathBuf,
    /// What the numbers are.
    pub encoding: Encoding,
}

/// A further set of rows.
#[derive(Debug, Clone)]
pub struct FurtherSet {
    /// Its name.
    pub name: String,
    /// Its title in tables and figures.
    pub title: String,
    /// The corruption that its rows went through, if any.
    pub corruption: Option<Corruption>,
    /// Whether its rows are those of the zoo, changed: then tuning rows must not measure.
    pub aligned: bool,
    labels: Labels,
    labels_path: PathBuf,
    /// The files of the models that have it, in the order of the models.
    files: Vec<(String, PathBuf)>,
}

/// A corruption of a certain severity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Corruption {
    /// Its kind, such as noise.
    pub group: String,
    /// How severe it is, from 1.
    pub severity: u32,
}

impl FurtherSet {
    /// Whether a model has it.
    pub fn has(&self, model: &Model) -> bool {
        self.files.iter().any(|(name, _)| *name == model.name)
    }
}

impl Zoo {
    /// Opens a folder or a manifest and checks all of it: every file exists and holds logits, rows and
    /// classes agree, labels are classes.
    pub fn open(path: &Path) -> Result<Zoo, ZooError> {
        let fail = |problems: Vec<ZooProblem>| ZooError { path: path.to_path_buf(), problems };
        let (folder, manifest) = Manifest::find(path).map_err(|problem| fail(vec![problem]))?;
        Checker::new(folder).zoo(path, &manifest).map_err(fail)
    }

    /// The number of rows of every model.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// Whether a model has a further set.
    pub fn has_further_rows(&self) -> bool {
        self.sets.iter().any(|set| self.models.iter().any(|model| set.has(model)))
    }

    /// Only these models, in the order of the zoo. The error is the first name that is not a model.
    pub fn only(mut self, names: &[String]) -> Result<Zoo, String> {
        self.find_all(names)?;
        self.models.retain(|model| names.contains(&model.name));
        Ok(self)
    }

    /// Checks names of models. The error is the first name that is not a model.
    pub fn find_all(&self, names: &[String]) -> Result<(), String> {
        let has = |name: &&String| self.models.iter().any(|model| model.name == **name);
        match names.iter().find(|name| !has(name)) {
            Some(unknown) => Err(unknown.clone()),
            None => Ok(()),
        }
    }
}
