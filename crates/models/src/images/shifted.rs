//! Shifted images: the folders of ImageNet-C, and any other folder of the same classes.

use crate::images::dataset::{Dataset, DatasetError, DatasetOptions};
use std::path::{Path, PathBuf};

/// A further set of images.
#[derive(Debug)]
pub struct Shifted {
    /// Its name.
    pub name: String,
    /// The corruption and its severity.
    pub corruption: Option<(String, u32)>,
    /// Its images.
    pub dataset: Dataset,
}

/// The sets at a path. The layout of ImageNet-C is `corruption/severity/class/image`, or the same
/// within a folder for each group of corruptions; every other folder is one set, whose name is that of
/// the folder unless another is given. The names of corruptions begin with a name that is given.
pub fn find_shifted(
    path: &Path,
    name: Option<&str>,
    options: &DatasetOptions,
) -> Result<Vec<Shifted>, DatasetError> {
    let mut found = Vec::new();
    find(path, 0, &mut found)?;
    if found.is_empty() {
        let folder = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let stem = folder.file_stem().map(|name| name.to_string_lossy().into_owned());
        let name = name.map(str::to_string).or(stem).unwrap_or_else(|| "shifted".into());
        let dataset = Dataset::open(path, options)?;
        return Ok(vec![Shifted { name: plain(&name), corruption: None, dataset }]);
    }
    let set = |(corruption, severity, path): (String, u32, PathBuf)| {
        let corruption = corruption.replace('_', "-");
        let corruption = match name {
            Some(name) => plain(&format!("{name}-{corruption}")),
            None => plain(&corruption),
        };
        Ok(Shifted {
            name: format!("{corruption}-{severity}"),
            corruption: Some((corruption, severity)),
            dataset: Dataset::open(&path, options)?,
        })
    };
    found.into_iter().map(set).collect()
}

/// How deep corruptions may lie.
const DEEPEST: usize = 2;

fn find(
    path: &Path,
    depth: usize,
    found: &mut Vec<(String, u32, PathBuf)>,
) -> Result<(), DatasetError> {
    let folders = folders(path)?;
    let severity = |name: &str| matches!(name, "1" | "2" | "3" | "4" | "5");
    // Severities are folders of folders: five classes of these names hold images.
    let all = !folders.is_empty() && folders.iter().all(|(name, _)| severity(name));
    if all
        && folders.iter().all(|(_, path)| self::folders(path).is_ok_and(|inner| !inner.is_empty()))
    {
        let corruption = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let corruption = corruption.file_name().map(|name| name.to_string_lossy().into_owned());
        for (name, path) in folders {
            let severity = name.parse().unwrap_or(1);
            found.push((corruption.clone().unwrap_or_default(), severity, path));
        }
        return Ok(());
    }
    if depth < DEEPEST {
        for (_, path) in folders {
            find(&path, depth + 1, found)?;
        }
    }
    Ok(())
}

/// The folders in a folder, by name.
fn folders(path: &Path) -> Result<Vec<(String, PathBuf)>, DatasetError> {
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let io = |source| DatasetError::Io { path: path.to_path_buf(), source };
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(path).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.is_dir() {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            folders.push((name.unwrap_or_default(), path));
        }
    }
    folders.sort();
    Ok(folders)
}

/// A name of a set: other characters than letters, digits and a few signs become hyphens.
fn plain(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.+@".contains(c);
    let name: String = name.chars().map(|c| if allowed(c) { c } else { '-' }).collect();
    let name = name.trim_start_matches('.').to_string();
    // A bare number would be taken for a severity.
    if name.is_empty() || name.parse::<u32>().is_ok() { format!("set-{name}") } else { name }
}
