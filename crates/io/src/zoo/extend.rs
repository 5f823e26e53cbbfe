//! A zoo that grows by a model at a time.

use super::manifest::{Manifest, ModelEntry, NAME, SetEntry};
use super::problem::{ZooError, ZooProblem};
use crate::AtomicFile;
use abstain::Encoding;
use std::path::Path;

/// A model to add to a zoo, with the sets that it was run on. Paths are relative to the folder.
#[derive(Debug, Clone, PartialEq)]
pub struct NewModel {
    /// Its name.
    pub name: String,
    /// Its file on the rows of the zoo.
    pub logits: String,
    /// What its numbers are.
    pub encoding: Encoding,
    /// The further sets that it has.
    pub sets: Vec<NewSet>,
    /// Whether it is not the model that the zoo has under that name: its other sets are dropped.
    pub replaces: bool,
}

/// A set of a model that is added to a zoo.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSet {
    /// Its name.
    pub name: String,
    /// The corruption and its severity.
    pub corruption: Option<(String, u32)>,
    /// Its labels; nothing if its rows are those of the zoo, changed.
    pub labels: Option<String>,
    /// The files of its models, with `{model}` in place of their names.
    pub logits: String,
}

/// The first line of a manifest that is extended here, and what it was before.
const MARK: &str = "# Written by `abstain logits` or `abstain.collect`, which add models to it.\n";
const MARKS: [&str; 3] = [
    MARK,
    "# Written by `abstain logits`, which adds models to it.\n",
    "# Written by abstain.collect.\n",
];

/// Whether a folder has no manifest, or one that can be extended.
pub fn can_extend(folder: &Path) -> Result<(), ZooError> {
    read(&folder.join(NAME)).map(drop)
}

/// The manifest that is there.
fn read(path: &Path) -> Result<Option<Manifest>, ZooError> {
    let fail = |problem| ZooError { path: path.to_path_buf(), problems: vec![problem] };
    match std::fs::read_to_string(path) {
        Ok(text) if !MARKS.iter().any(|mark| text.starts_with(mark)) => {
            Err(fail(ZooProblem::NotOurs))
        }
        Ok(_) => Ok(Some(Manifest::find(path).map_err(fail)?.1)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(fail(error.into())),
    }
}

/// Adds a model to the manifest of a folder, or begins one. A model of the same name is replaced.
pub fn extend(folder: &Path, title: &str, labels: &str, model: NewModel) -> Result<(), ZooError> {
    let path = folder.join(NAME);
    let fail = |problem| ZooError { path: path.clone(), problems: vec![problem] };
    let mut manifest = read(&path)?.unwrap_or_else(|| Manifest {
        title: Some(title.to_string()),
        labels: labels.to_string(),
        encoding: None,
        models: Vec::new(),
        sets: Vec::new(),
    });
    let NewModel { name, logits, encoding, sets, replaces } = model;
    manifest.models.retain(|entry| entry.name != name);
    if replaces {
        for set in &mut manifest.sets {
            set.models.get_or_insert_default().retain(|model| *model != name);
        }
        manifest.sets.retain(|set| set.models.as_ref().is_none_or(|models| !models.is_empty()));
    }
    let encoding = (encoding != Encoding::default()).then_some(encoding);
    manifest.models.push(ModelEntry { name: name.clone(), title: None, logits, encoding });
    for set in sets {
        let known = manifest.sets.iter().position(|entry| entry.name == set.name);
        let mut models: Vec<String> = known
            .map(|index| manifest.sets.remove(index))
            .and_then(|entry| entry.models)
            .unwrap_or_default();
        if !models.contains(&name) {
            models.push(name.clone());
        }
        let (group, severity) = set.corruption.unzip();
        let entry = SetEntry {
            name: set.name,
            title: None,
            group,
            severity,
            aligned: set.labels.is_none(),
            labels: set.labels,
            logits: set.logits,
            models: Some(models),
        };
        manifest.sets.insert(known.unwrap_or(manifest.sets.len()), entry);
    }
    let text = toml::to_string(&manifest)
        .map_err(|error| fail(ZooProblem::Manifest { line: 1, message: error.to_string() }))?;
    AtomicFile::write_whole(&path, format!("{MARK}{text}").as_bytes())
        .map_err(|error| fail(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zoo::Zoo;
    use crate::{GrowingArray, write_integers};

    fn write(path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        let mut array = GrowingArray::continue_at(path, 3, 0).expect("created");
        array.push(&[1.0, 2.0, 0.5, 0.1, 0.2, 0.9]).expect("pushed");
        array.finish().expect("finished");
    }

    fn model(name: &str) -> NewModel {
        let set = |severity| NewSet {
            name: format!("fog-{severity}"),
            corruption: Some(("fog".into(), severity)),
            labels: None,
            logits: format!("sets/fog-{severity}/{{model}}.npy"),
        };
        NewModel {
            name: name.into(),
            logits: format!("{name}.npy"),
            encoding: Encoding::default(),
            sets: vec![set(1), set(2)],
            replaces: false,
        }
    }

    #[test]
    fn models_are_added_one_after_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        write_integers(&at("labels.npy"), &[1, 2]).expect("written");
        for name in ["first", "second"] {
            write(&at(&format!("{name}.npy")));
            for severity in [1, 2] {
                write(&at(&format!("sets/fog-{severity}/{name}.npy")));
            }
            extend(folder.path(), "Photos", "labels.npy", model(name)).expect("extended");
            extend(folder.path(), "Photos", "labels.npy", model(name)).expect("again");
        }
        let zoo = Zoo::open(folder.path()).expect("a zoo");
        let names: Vec<&str> = zoo.models.iter().map(|model| &model.name[..]).collect();
        assert_eq!((zoo.title.as_str(), names), ("Photos", vec!["first", "second"]));
        let sets: Vec<(&str, usize)> =
            zoo.sets.iter().map(|set| (&set.name[..], set.files.len())).collect();
        assert_eq!(sets, [("fog-1", 2), ("fog-2", 2)]);
    }

    #[test]
    fn a_model_that_is_replaced_keeps_no_sets_of_the_one_before() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["first", "second"] {
            extend(folder.path(), "Photos", "labels.npy", model(name)).expect("extended");
        }
        let all = model("first").sets;
        let renewed = NewModel { sets: all[..1].to_vec(), replaces: true, ..model("first") };
        extend(folder.path(), "Photos", "labels.npy", renewed).expect("extended");
        let manifest = read(&folder.path().join(NAME)).expect("read").expect("a manifest");
        let sets: Vec<_> = manifest.sets.iter().map(|set| set.models.clone()).collect();
        let names = |names: &[&str]| Some(names.iter().map(ToString::to_string).collect());
        assert_eq!(sets, [names(&["second", "first"]), names(&["second"])]);
        let alone = NewModel { sets: Vec::new(), replaces: true, ..model("second") };
        extend(folder.path(), "Photos", "labels.npy", alone).expect("extended");
        let manifest = read(&folder.path().join(NAME)).expect("read").expect("a manifest");
        assert_eq!(manifest.sets.len(), 1);
    }

    #[test]
    fn manifests_of_earlier_versions_are_continued() {
        for mark in MARKS {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join(NAME);
            let model_of = "[[model]]\nname = \"old\"\nlogits = \"logits/old.npy\"\n";
            std::fs::write(&path, format!("{mark}labels = \"labels.npy\"\n{model_of}"))
                .expect("written");
            extend(folder.path(), "x", "labels.npy", model("m")).expect("extended");
            let manifest = read(&path).expect("read").expect("a manifest");
            let names: Vec<&str> = manifest.models.iter().map(|model| &model.name[..]).collect();
            assert_eq!(names, ["old", "m"]);
        }
    }

    #[test]
    fn a_manifest_of_someone_else_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(NAME);
        std::fs::write(&path, "labels = \"labels.npy\"\n").expect("written");
        let error = extend(folder.path(), "x", "labels.npy", model("m")).expect_err("refused");
        assert!(matches!(error.problems[..], [ZooProblem::NotOurs]));
        assert_eq!(std::fs::read_to_string(&path).expect("read"), "labels = \"labels.npy\"\n");
    }
}
