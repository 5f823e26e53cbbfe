//! A zoo: the logits of many models on the same labelled rows, and on further sets of rows.
//!
//! A folder with `labels.npy` (or labels in another format) and one file of logits a model, or a
//! manifest, `zoo.toml`. What is wrong with it is found when it is opened, all at once, before any work is
//! done; only the numbers of arrays are looked at when their model is read.

mod manifest;
mod read;

pub use manifest::Kind;

use abstain::Labels;
use abstain_io::{Format, LogitsReader, ReadOptions, Source, read_labels};
use manifest::{Manifest, NAME};
use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// Many models on the same rows.
#[derive(Debug, Clone)]
pub struct Zoo {
    /// What it is called.
    pub title: String,
    /// Its models.
    pub models: Vec<Model>,
    /// Further sets of rows, such as shifted ones.
    pub sets: Vec<FurtherSet>,
    /// The classes of every model.
    pub classes: usize,
    labels: Labels,
    labels_path: PathBuf,
}

/// A model of a zoo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its name, which is also that of its files in the results.
    pub name: String,
    /// What it is called in tables and figures.
    pub title: String,
    logits: PathBuf,
    pub(crate) kind: Kind,
}

/// A further set of rows.
#[derive(Debug, Clone)]
pub struct FurtherSet {
    /// Its name.
    pub name: String,
    /// What it is called in tables and figures.
    pub title: String,
    /// What it is one of, such as a kind of corruption.
    pub group: Option<String>,
    /// How severe it is within its group.
    pub severity: Option<u32>,
    /// Whether its rows are those of the zoo, changed: then those that tuned must not measure.
    pub aligned: bool,
    labels: Labels,
    labels_path: PathBuf,
    /// The files of the models that have it, in the order of the models.
    files: Vec<(String, PathBuf)>,
}

impl FurtherSet {
    /// Whether a model has it.
    pub fn has(&self, model: &Model) -> bool {
        self.files.iter().any(|(name, _)| *name == model.name)
    }
}

/// Everything that is wrong with a zoo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZooError {
    /// The folder or manifest.
    pub path: PathBuf,
    /// The problems; there is at least one.
    pub problems: Vec<String>,
}

impl fmt::Display for ZooError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.problems[..] {
            [one] => write!(f, "{path}: {one}"),
            many => {
                write!(f, "{path}: {} problems", many.len())?;
                many.iter().try_for_each(|problem| write!(f, "\n  - {problem}"))
            }
        }
    }
}

impl std::error::Error for ZooError {}

impl Zoo {
    /// Opens a folder or a manifest and checks all of it: every file is there and is one of logits,
    /// rows and classes agree, labels are classes.
    pub fn open(path: &Path) -> Result<Zoo, ZooError> {
        let fail = |problems: Vec<String>| ZooError { path: path.to_path_buf(), problems };
        let (folder, manifest) = find(path).map_err(|problem| fail(vec![problem]))?;
        let mut checked = Checked { folder, problems: Vec::new() };
        let zoo = checked.zoo(path, &manifest);
        match zoo {
            Some(zoo) if checked.problems.is_empty() => Ok(zoo),
            _ => Err(fail(checked.problems)),
        }
    }

    /// How many rows every model has.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// Only these models, in the order of the zoo; the first name that is none of its models is the
    /// error.
    pub fn only(mut self, names: &[String]) -> Result<Zoo, String> {
        for name in names {
            if !self.models.iter().any(|model| model.name == *name) {
                return Err(name.clone());
            }
        }
        self.models.retain(|model| names.contains(&model.name));
        Ok(self)
    }
}

/// The manifest at a path, or that which a folder without one amounts to.
fn find(path: &Path) -> Result<(PathBuf, Manifest), String> {
    if path.is_dir() && !path.join(NAME).exists() {
        return Ok((path.to_path_buf(), of_folder(path)?));
    }
    let file = if path.is_dir() { path.join(NAME) } else { path.to_path_buf() };
    let text = std::fs::read_to_string(&file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("no such file; a zoo is a folder of logits with labels.npy, or a {NAME}")
        }
        _ => error.to_string(),
    })?;
    let manifest = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        format!("line {line}: {}", error.message().replace('\n', "; "))
    })?;
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    Ok((folder, manifest))
}

/// `labels.*` are the labels and every other file of a known format is a model.
fn of_folder(folder: &Path) -> Result<Manifest, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && Format::of_path(path).is_some())
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_string()))
        .collect();
    names.sort();
    let stem = |name: &str| {
        let plain = name.strip_suffix(".gz").unwrap_or(name);
        plain.rsplit_once('.').map_or(plain, |(stem, _)| stem).to_string()
    };
    let labels: Vec<&String> = names.iter().filter(|name| stem(name) == "labels").collect();
    let labels = match labels[..] {
        [] => return Err(format!("neither labels.npy nor {NAME} is in this folder")),
        [one] => one.clone(),
        [one, other, ..] => return Err(format!("both {one} and {other} are in this folder")),
    };
    let of_model = |name: &&String| stem(name) != "labels" && !name.starts_with('.');
    let model = |name: &String| manifest::ModelEntry {
        name: stem(name),
        title: None,
        logits: name.clone(),
        kind: None,
    };
    Ok(Manifest {
        title: None,
        labels,
        kind: Kind::default(),
        models: names.iter().filter(of_model).map(model).collect(),
        sets: Vec::new(),
    })
}

/// A title, or the name where none is said.
fn said(title: Option<&String>, name: &str) -> String {
    let title = title.map(|title| title.trim()).filter(|title| !title.is_empty());
    title.unwrap_or(name).to_string()
}

/// What is found wrong on the way.
struct Checked {
    folder: PathBuf,
    problems: Vec<String>,
}

/// What a file of logits says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    rows: usize,
    classes: usize,
}

impl Checked {
    fn zoo(&mut self, path: &Path, manifest: &Manifest) -> Option<Zoo> {
        if manifest.models.is_empty() {
            self.problems.push("there is no model".into());
        }
        self.names("model", manifest.models.iter().map(|model| &model.name[..]));
        self.names("set", manifest.sets.iter().map(|set| &set.name[..]));
        let models: Vec<Model> = manifest
            .models
            .iter()
            .map(|entry| Model {
                name: entry.name.clone(),
                title: said(entry.title.as_ref(), &entry.name),
                logits: self.folder.join(&entry.logits),
                kind: entry.kind.unwrap_or(manifest.kind),
            })
            .collect();
        let shapes: Vec<Option<Shape>> =
            models.iter().map(|model| self.shape(&model.logits, model.kind)).collect();
        let labels_path = self.folder.join(&manifest.labels);
        // The first file that can be read is what the others are held against.
        let first = shapes
            .iter()
            .zip(&models)
            .find_map(|(shape, model)| Some((*shape, model)).filter(|own| own.0.is_some()));
        let (Some(shape), model) = first? else { return None };
        let labels = self.labels(&labels_path, shape.classes);
        for (own, other) in shapes.iter().zip(&models) {
            let own = own.unwrap_or(shape);
            let found = other.logits.display();
            if own.classes != shape.classes {
                let (name, expected) = (&model.name, shape.classes);
                let problem = format!("{found}: {} classes, {name} has {expected}", own.classes);
                self.problems.push(problem);
            }
            if let Some(labels) = &labels
                && own.rows != labels.len()
            {
                let (rows, labels, path) = (own.rows, labels.len(), labels_path.display());
                self.problems.push(format!("{found}: {rows} rows, {path} has {labels} labels"));
            }
        }
        let labels = labels?;
        let sets: Vec<FurtherSet> = manifest
            .sets
            .iter()
            .filter_map(|entry| {
                let base = (&labels, &labels_path);
                self.set(entry, &models, shape.classes, base)
            })
            .collect();
        let title = manifest.title.clone().unwrap_or_else(|| {
            let name = self.folder.canonicalize().ok();
            let name = name.as_ref().and_then(|path| path.file_name()?.to_str());
            name.map_or_else(|| path.display().to_string(), str::to_string)
        });
        Some(Zoo { title, models, sets, classes: shape.classes, labels, labels_path })
    }

    /// Names become names of files, and people type them.
    fn names<'a>(&mut self, what: &str, names: impl Iterator<Item = &'a str>) {
        let mut seen = HashSet::new();
        for name in names {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+@".contains(c);
            if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
                let wanted = "letters, digits, - _ . + @, not beginning with a dot";
                self.problems
                    .push(format!("the name of a {what}, {name:?}, is not made of {wanted}"));
            }
            // Some file systems take A and a for the same.
            if !seen.insert(name.to_lowercase()) {
                self.problems.push(format!("two {what}s are called '{name}'"));
            }
        }
    }

    /// Opens a file of logits; text is read through, since it does not say how many rows it has.
    fn shape(&mut self, path: &Path, kind: Kind) -> Option<Shape> {
        let of_file = || -> Result<Shape, abstain_io::Error> {
            let source = Source::new(path);
            // A floor is not looked for yet.
            let encoding = match kind {
                Kind::Probabilities => {
                    abstain::Encoding::Probabilities { floor: Some(1e-30), tolerance: None }
                }
                other => other.encoding(),
            };
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

    fn or_problem<T>(&mut self, result: Result<T, abstain_io::Error>) -> Option<T> {
        result.map_err(|error| self.problems.push(error.to_string())).ok()
    }

    fn set(
        &mut self,
        entry: &manifest::SetEntry,
        models: &[Model],
        classes: usize,
        (base, base_path): (&Labels, &PathBuf),
    ) -> Option<FurtherSet> {
        let before = self.problems.len();
        let name = &entry.name;
        if !entry.logits.contains("{model}") {
            let path = &entry.logits;
            self.problems.push(format!("set '{name}': '{path}' does not say {{model}} anywhere"));
        }
        if entry.group.is_some() != entry.severity.is_some() {
            let problem = format!("set '{name}': a group has a severity, and a severity a group");
            self.problems.push(problem);
        }
        if entry.severity == Some(0) {
            self.problems.push(format!("set '{name}': severity 0 is the zoo's own rows"));
        }
        if name.parse::<u32>().is_ok() {
            self.problems.push(format!("set '{name}': a number would be taken for a severity"));
        }
        let own_labels = entry.labels.as_ref().map(|path| self.folder.join(path));
        if own_labels.is_none() && !entry.aligned {
            let problem =
                format!("set '{name}': rows that are not aligned have labels of their own");
            self.problems.push(problem);
        }
        for other in entry.models.iter().flatten() {
            if !models.iter().any(|model| model.name == *other) {
                self.problems.push(format!("set '{name}': no model is called '{other}'"));
            }
        }
        let labels = match &own_labels {
            Some(path) => self.labels(path, classes),
            None => Some(base.clone()),
        };
        let labels_path = own_labels.unwrap_or_else(|| base_path.clone());
        if let Some(labels) = &labels
            && entry.aligned
            && labels.len() != base.len()
        {
            let (found, expected) = (labels.len(), base.len());
            let problem = format!("set '{name}': {found} rows, aligned ones would be {expected}");
            self.problems.push(problem);
        }
        let has =
            |model: &&Model| entry.models.as_ref().is_none_or(|own| own.contains(&model.name));
        let mut files = Vec::new();
        for model in models.iter().filter(has) {
            let path = self.folder.join(entry.logits.replace("{model}", &model.name));
            if let Some(shape) = self.shape(&path, model.kind) {
                let found = path.display();
                if shape.classes != classes {
                    let own = shape.classes;
                    self.problems
                        .push(format!("{found}: {own} classes, the models have {classes}"));
                }
                if let Some(labels) = labels.as_ref().filter(|labels| labels.len() != shape.rows) {
                    let (own, of) = (labels.len(), labels_path.display());
                    let problem = format!("{found}: {} rows, {of} has {own} labels", shape.rows);
                    self.problems.push(problem);
                }
            }
            files.push((model.name.clone(), path));
        }
        let labels = labels.filter(|_| self.problems.len() == before)?;
        Some(FurtherSet {
            name: name.clone(),
            title: said(entry.title.as_ref(), name),
            group: entry.group.clone(),
            severity: entry.severity,
            aligned: entry.aligned,
            labels,
            labels_path,
            files,
        })
    }
}
