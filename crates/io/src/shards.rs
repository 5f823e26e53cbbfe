//! Several files as one set: a pattern such as `part-*.parquet`, or a folder.

use crate::error::{ErrorKind, Result};
use crate::format::Format;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

/// The files of a pattern or a folder, in the order of the numbers in their names; nothing if the path
/// is that of one file.
pub(crate) fn files_of(path: &Path) -> Result<Option<Vec<PathBuf>>> {
    if path.is_dir() {
        return files_in(path).map(Some);
    }
    let Some(text) = path.to_str().filter(|text| text.contains(['*', '?', '['])) else {
        return Ok(None);
    };
    if path.exists() {
        return Ok(None);
    }
    let pattern = |error: glob::PatternError| ErrorKind::NotAlike { problem: error.to_string() };
    let mut files: Vec<PathBuf> =
        glob::glob(text).map_err(pattern)?.flatten().filter(|file| file.is_file()).collect();
    if files.is_empty() {
        return Err(ErrorKind::NoFiles);
    }
    files.sort_by(|a, b| in_order(a, b));
    Ok(Some(files))
}

/// The files of a folder that can be read, all of one format and of one kind by their names.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        // Hidden files and marks such as _SUCCESS are not data.
        let hidden = name.is_none_or(|name| name.starts_with(['.', '_']));
        if path.is_file() && !hidden && Format::of_path(&path).is_some() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(ErrorKind::NoFiles);
    }
    files.sort_by(|a, b| in_order(a, b));
    let kind = |path: &PathBuf| (Format::of_path(path), stem(path));
    match files.iter().find(|file| kind(file) != kind(&files[0])) {
        Some(other) => Err(ErrorKind::NotAlike {
            problem: format!(
                "the folder has {} and {}; choose with a pattern such as '{}*'",
                shown(&files[0]),
                shown(other),
                folder.join(stem(&files[0])).display(),
            ),
        }),
        None => Ok(files),
    }
}

fn shown(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The name up to its first digit: files of one set have it in common.
fn stem(path: &Path) -> String {
    let name = shown(path);
    let end = name.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(name.len());
    name[..end].to_string()
}

/// Compares names as people count: `part-2` comes before `part-10`.
fn in_order(a: &Path, b: &Path) -> Ordering {
    let (a, b) = (a.to_string_lossy(), b.to_string_lossy());
    natural(&a).cmp(&natural(&b)).then_with(|| a.cmp(&b))
}

/// A name as texts and numbers in turn.
fn natural(name: &str) -> Vec<(String, u128)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (before, behind) = rest.split_at(text);
        let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let (number, after) = behind.split_at(digits);
        parts.push((before.to_string(), number.parse().unwrap_or(0)));
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_follow_each_other_by_their_numbers() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["part-10.npy", "part-2.npy", "part-1.npy", ".hidden.npy", "_SUCCESS", "a.log"]
        {
            std::fs::write(folder.path().join(name), "x").expect("written");
        }
        let names = |files: Vec<PathBuf>| files.iter().map(|file| shown(file)).collect::<Vec<_>>();
        let expected = ["part-1.npy", "part-2.npy", "part-10.npy"];
        let found = files_of(folder.path()).expect("read").expect("a folder");
        assert_eq!(names(found), expected);
        let pattern = folder.path().join("part-*.npy");
        assert_eq!(names(files_of(&pattern).expect("read").expect("a pattern")), expected);
        let none = folder.path().join("other-*.npy");
        assert!(matches!(files_of(&none), Err(ErrorKind::NoFiles)));
        assert!(files_of(&folder.path().join("part-1.npy")).expect("read").is_none());
    }

    #[test]
    fn folders_of_several_kinds_of_files_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["logits_0.npy", "labels_0.npy"] {
            std::fs::write(folder.path().join(name), "x").expect("written");
        }
        let error = files_of(folder.path()).unwrap_err().to_string();
        assert!(error.contains("labels_0.npy and logits_0.npy"), "{error}");
        assert!(files_of(&folder.path().join("logits_*")).is_ok());
    }
}
