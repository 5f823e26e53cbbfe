//! Checking a manifest against its files.

use super::manifest::{self, Manifest};
use super::problem::{Named, SetProblem, ZooProblem};
use super::{Corruption, FurtherSet, Model, Zoo};
use crate::{LogitsReader, ReadOptions, Source, read_labels};
use abstain::{Encoding, Labels};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Collects the problems of a zoo.
pub(super) struct Checker {
    folder: PathBuf,
    problems: Vec<ZooProblem>,
}

/// The shape of a file of logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    rows: usize,
    classes: usize,
}

/// What every file is compared with.
struct Expected<'a> {
    /// The first model whose file can be read.
    model: &'a str,
    classes: usize,
    labels: &'a Labels,
    labels_path: &'a Path,
}

impl Checker {
    pub(super) fn new(folder: PathBuf) -> Self {
        Checker { folder, problems: Vec::new() }
    }

    /// The zoo, or all of its problems.
    pub(super) fn zoo(mut self, path: &Path, manifest: &Manifest) -> Result<Zoo, Vec<ZooProblem>> {
        let zoo = self.check(path, manifest);
        match zoo {
            Some(zoo) if self.problems.is_empty() => Ok(zoo),
            _ => Err(self.problems),
        }
    }

    fn check(&mut self, path: &Path, manifest: &Manifest) -> Option<Zoo> {
        if manifest.models.is_empty() {
            self.problems.push(ZooProblem::NoModel);
        }
        self.names(Named::Model, manifest.models.iter().map(|model| &model.name[..]));
        self.names(Named::Set, manifest.sets.iter().map(|set| &set.name[..]));
        let models: Vec<Model> = manifest
            .models
            .iter()
            .map(|entry| Model {
                name: entry.name.clone(),
                title: title_or_name(entry.title.as_ref(), &entry.name),
                logits: self.folder.join(&entry.logits),
                encoding: entry.encoding.or(manifest.encoding).unwrap_or_default(),
            })
            .collect();
        let shapes: Vec<Option<Shape>> =
            models.iter().map(|model| self.shape(&model.logits, model.encoding)).collect();
        let (first, shape) =
            models.iter().zip(&shapes).find_map(|(model, shape)| Some((model, (*shape)?)))?;
        let classes = shape.classes;
        let labels_path = self.folder.join(&manifest.labels);
        let labels = self.labels(&labels_path, classes);
        for (model, shape) in models.iter().zip(&shapes) {
            let Some(shape) = shape else { continue };
            self.classes(&model.logits, shape.classes, &first.name, classes);
            if let Some(labels) = &labels {
                self.rows(&model.logits, shape.rows, &labels_path, labels);
            }
        }
        let labels = labels?;
        let expected =
            Expected { model: &first.name, classes, labels: &labels, labels_path: &labels_path };
        let sets: Vec<FurtherSet> =
            manifest.sets.iter().filter_map(|entry| self.set(entry, &models, &expected)).collect();
        let title = manifest.title.clone().unwrap_or_else(|| {
            let folder = self.folder.canonicalize().ok();
            let name = folder.as_ref().and_then(|path| path.file_name()?.to_str());
            name.map_or_else(|| path.display().to_string(), str::to_string)
        });
        Some(Zoo { title, models, sets, classes, labels, labels_path })
    }

    /// Names become names of files, and people type them.
    fn names<'a>(&mut self, named: Named, names: impl Iterator<Item = &'a str>) {
        let mut seen = HashSet::new();
        for name in names {
            if !is_name(name) {
                self.problems.push(ZooProblem::Name { named, name: name.to_string() });
            }
            // Some file systems do not distinguish A from a.
            if !seen.insert(name.to_lowercase()) {
                self.problems.push(ZooProblem::SameName { named, name: name.to_string() });
            }
        }
    }

    /// Opens a file of logits. Text is read to its end, because it does not declare its rows.
    fn shape(&mut self, path: &Path, encoding: Encoding) -> Option<Shape> {
        let of_file = || -> Result<Shape, crate::Error> {
            let source = Source::new(path);
            // The floor is not needed yet, and finding it would take a pass.
            let encoding =
                if encoding.needs_floor() { encoding.with_floor(Some(1e-30)) } else { encoding };
            let options = ReadOptions { encoding, ..ReadOptions::default() };
            let mut reader = LogitsReader::open(&source, &options)?;
            let classes = reader.classes();
            if let Some(rows) = reader.rows() {
                return Ok(Shape { rows: usize::try_from(rows).unwrap_or(usize::MAX), classes });
            }
            let mut rows = 0;
            while let Some((first, chunk)) = reader.next_chunk()? {
                rows = first + chunk.rows();
            }
            Ok(Shape { rows, classes })
        };
        self.or_problem(of_file())
    }

    fn labels(&mut self, path: &Path, classes: usize) -> Option<Labels> {
        let labels = read_labels(&Source::new(path), &ReadOptions::default(), classes);
        self.or_problem(labels)
    }

    fn or_problem<T>(&mut self, result: Result<T, crate::Error>) -> Option<T> {
        result.map_err(|error| self.problems.push(error.into())).ok()
    }

    fn classes(&mut self, path: &Path, classes: usize, model: &str, expected: usize) {
        if classes != expected {
            let (path, model) = (path.to_path_buf(), model.to_string());
            self.problems.push(ZooProblem::Classes { path, classes, model, expected });
        }
    }

    fn rows(&mut self, path: &Path, rows: usize, labels_path: &Path, labels: &Labels) {
        if rows != labels.len() {
            let (path, labels_path) = (path.to_path_buf(), labels_path.to_path_buf());
            let count = labels.len();
            self.problems.push(ZooProblem::Rows { path, rows, labels: labels_path, count });
        }
    }

    fn set(
        &mut self,
        entry: &manifest::SetEntry,
        models: &[Model],
        expected: &Expected<'_>,
    ) -> Option<FurtherSet> {
        let before = self.problems.len();
        let set_labels = entry.labels.as_ref().map(|path| self.folder.join(path));
        let labels = match &set_labels {
            Some(path) => self.labels(path, expected.classes),
            None => Some(expected.labels.clone()),
        };
        let problems = entry_problems(entry, models, labels.as_ref(), expected.labels);
        let name = &entry.name;
        self.problems.extend(
            problems.into_iter().map(|problem| ZooProblem::Set { set: name.clone(), problem }),
        );
        let labels_path = set_labels.unwrap_or_else(|| expected.labels_path.to_path_buf());
        let has =
            |model: &&Model| entry.models.as_ref().is_none_or(|names| names.contains(&model.name));
        let mut files = Vec::new();
        for model in models.iter().filter(has) {
            let path = self.folder.join(entry.logits.replace("{model}", &model.name));
            if let Some(shape) = self.shape(&path, model.encoding) {
                self.classes(&path, shape.classes, expected.model, expected.classes);
                if let Some(labels) = &labels {
                    self.rows(&path, shape.rows, &labels_path, labels);
                }
            }
            files.push((model.name.clone(), path));
        }
        let labels = labels.filter(|_| self.problems.len() == before)?;
        Some(FurtherSet {
            name: name.clone(),
            title: title_or_name(entry.title.as_ref(), name),
            corruption: entry
                .group
                .clone()
                .zip(entry.severity)
                .map(|(group, severity)| Corruption { group, severity }),
            aligned: entry.aligned,
            labels,
            labels_path,
            files,
        })
    }
}

/// Whether a text can be the name of a model or a set: a name of a file that people can type.
pub fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.+@".contains(c);
    !name.is_empty() && !name.starts_with('.') && name.chars().all(allowed)
}

/// What is wrong with the entry of a set by itself.
fn entry_problems(
    entry: &manifest::SetEntry,
    models: &[Model],
    labels: Option<&Labels>,
    zoo_labels: &Labels,
) -> Vec<SetProblem> {
    let mut problems = Vec::new();
    if !entry.logits.contains("{model}") {
        problems.push(SetProblem::NoPlaceholder(entry.logits.clone()));
    }
    if entry.group.is_some() != entry.severity.is_some() {
        problems.push(SetProblem::HalfCorruption);
    }
    if entry.severity == Some(0) {
        problems.push(SetProblem::SeverityZero);
    }
    if entry.name.parse::<u32>().is_ok() {
        problems.push(SetProblem::NumberAsName);
    }
    if entry.labels.is_none() && !entry.aligned {
        problems.push(SetProblem::NoLabels);
    }
    let unknown = |name: &&String| !models.iter().any(|model| model.name == **name);
    let unknown = entry.models.iter().flatten().filter(unknown);
    problems.extend(unknown.map(|name| SetProblem::UnknownModel(name.clone())));
    if let Some(labels) = labels
        && entry.aligned
        && labels.len() != zoo_labels.len()
    {
        let (rows, expected) = (labels.len(), zoo_labels.len());
        problems.push(SetProblem::NotAligned { rows, expected });
    }
    problems
}

/// The title, or the name where there is none.
fn title_or_name(title: Option<&String>, name: &str) -> String {
    let title = title.map(|title| title.trim()).filter(|title| !title.is_empty());
    title.unwrap_or(name).to_string()
}
