//! The manifest of a zoo: `zoo.toml`, or what a folder without one amounts to.

use super::problem::ZooProblem;
use crate::Format;
use abstain::Encoding;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::path::{Path, PathBuf};

/// The name of a manifest in its folder.
pub(super) const NAME: &str = "zoo.toml";

/// A zoo as its file describes it; paths are relative to the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    pub(super) labels: String,
    /// The encoding of models without one; `kind` in older manifests.
    #[serde(
        default,
        alias = "kind",
        deserialize_with = "encoding",
        serialize_with = "encoding_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) encoding: Option<Encoding>,
    #[serde(default, rename = "model")]
    pub(super) models: Vec<ModelEntry>,
    #[serde(default, rename = "set")]
    pub(super) sets: Vec<SetEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelEntry {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    pub(super) logits: String,
    #[serde(
        default,
        alias = "kind",
        deserialize_with = "encoding",
        serialize_with = "encoding_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) encoding: Option<Encoding>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetEntry {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) severity: Option<u32>,
    pub(super) aligned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) labels: Option<String>,
    /// Contains `{model}`.
    pub(super) logits: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) models: Option<Vec<String>>,
}

/// An encoding by its text.
fn encoding<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Encoding>, D::Error> {
    let text = String::deserialize(reader)?;
    text.parse().map(Some).map_err(serde::de::Error::custom)
}

#[expect(clippy::ref_option, reason = "as serde calls it")]
fn encoding_text<S: Serializer>(value: &Option<Encoding>, writer: S) -> Result<S::Ok, S::Error> {
    writer.collect_str(&value.unwrap_or_default())
}

impl Manifest {
    /// The manifest at a path with its folder, or what a folder without a manifest amounts to.
    pub(super) fn find(path: &Path) -> Result<(PathBuf, Manifest), ZooProblem> {
        if path.is_dir() && !path.join(NAME).exists() {
            return Ok((path.to_path_buf(), Manifest::of_folder(path)?));
        }
        let file = if path.is_dir() { path.join(NAME) } else { path.to_path_buf() };
        let text = std::fs::read_to_string(&file).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => ZooProblem::NotFound,
            _ => error.into(),
        })?;
        let manifest = toml::from_str(&text).map_err(|error| ZooProblem::Manifest {
            line: error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count()),
            message: error.message().replace('\n', "; "),
        })?;
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        Ok((folder, manifest))
    }

    /// `labels.*` are the labels, and every other file of a known format is a model.
    fn of_folder(folder: &Path) -> Result<Manifest, ZooProblem> {
        let mut names: Vec<String> = std::fs::read_dir(folder)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_file() && Format::of_path(path).is_some())
            .filter_map(|path| Some(path.file_name()?.to_str()?.to_string()))
            .collect();
        names.sort();
        let labels: Vec<&String> = names.iter().filter(|name| stem(name) == "labels").collect();
        let labels = match labels[..] {
            [] => return Err(ZooProblem::NoLabels),
            [one] => one.clone(),
            [first, second, ..] => {
                return Err(ZooProblem::TwoLabels { first: first.clone(), second: second.clone() });
            }
        };
        let models = names.iter().filter(|name| stem(name) != "labels" && !name.starts_with('.'));
        let model = |name: &String| ModelEntry {
            name: stem(name).to_string(),
            title: None,
            logits: name.clone(),
            encoding: None,
        };
        Ok(Manifest {
            title: None,
            labels,
            encoding: None,
            models: models.map(model).collect(),
            sets: Vec::new(),
        })
    }
}

/// The name of a file without its ending.
fn stem(name: &str) -> &str {
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    plain.rsplit_once('.').map_or(plain, |(stem, _)| stem)
}
