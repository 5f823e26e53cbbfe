//! A folder: one subfolder for each class, images alone, or shards.

use super::{
    Dataset, DatasetError, DatasetLayout, DatasetOptions, Item, Label, Place, Result, Source,
    extension, io_error, is_image, parquet, shards,
};
use std::fs;
use std::path::{Path, PathBuf};

/// How deep folders are searched.
const DEEPEST: usize = 16;

pub(super) fn open(path: &Path, options: &DatasetOptions) -> Result<Dataset> {
    let mut files = Files::default();
    files.collect(path, path, 0)?;
    let of = |wanted: &str| -> Vec<PathBuf> {
        let named = |file: &&(String, PathBuf)| extension(&file.1).as_deref() == Some(wanted);
        files.others.iter().filter(named).map(|(_, path)| path.clone()).collect()
    };
    if files.images.is_empty() {
        let (tar, parquet) = (of("tar"), of("parquet"));
        return match (tar.is_empty(), parquet.is_empty()) {
            (false, true) => shards::open(path, tar),
            (true, false) => parquet::open(path, parquet, options),
            _ => Err(DatasetError::NoImages(path.to_path_buf())),
        };
    }
    let flat = files.images.iter().find(|(name, _)| !name.contains('/'));
    let nested = files.images.iter().find(|(name, _)| name.contains('/'));
    if let (Some(flat), Some(nested)) = (flat, nested) {
        return Err(DatasetError::Mixed {
            path: path.to_path_buf(),
            flat: flat.0.clone(),
            nested: nested.0.clone(),
        });
    }
    let layout = if flat.is_some() { DatasetLayout::Flat } else { DatasetLayout::ClassFolders };
    let item = |(name, path): (String, PathBuf)| {
        let class = name.split_once('/').map(|(class, _)| Label::Name(class.to_string()));
        Item { name, label: class, place: Place::File(path) }
    };
    let has_images = |folder: &String| {
        files
            .images
            .iter()
            .any(|(name, _)| name.split_once('/').is_some_and(|(top, _)| top == folder))
    };
    let empty_folders =
        files.folders.iter().filter(|folder| !has_images(folder)).cloned().collect();
    Ok(Dataset {
        path: path.to_path_buf(),
        layout,
        empty_folders,
        items: files.images.into_iter().map(item).collect(),
        class_names: None,
        ignored: files.others.len(),
        source: Source::Files(Vec::new()),
    })
}

/// A single image.
pub(super) fn of_image(path: &Path) -> Result<Dataset> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| super::malformed(path, "the name is not UTF-8"))?.to_string();
    Ok(Dataset {
        path: path.to_path_buf(),
        layout: DatasetLayout::Flat,
        items: vec![Item { name, label: None, place: Place::File(path.to_path_buf()) }],
        class_names: None,
        ignored: 0,
        empty_folders: Vec::new(),
        source: Source::Files(Vec::new()),
    })
}

/// The files below a folder, by the order of their names within each folder.
#[derive(Default)]
struct Files {
    images: Vec<(String, PathBuf)>,
    others: Vec<(String, PathBuf)>,
    /// The folders right below the root.
    folders: Vec<String>,
}

impl Files {
    fn collect(&mut self, root: &Path, folder: &Path, depth: usize) -> Result<()> {
        let entries = fs::read_dir(folder).map_err(io_error(folder))?;
        let mut paths: Vec<PathBuf> = Vec::new();
        for entry in entries {
            paths.push(entry.map_err(io_error(folder))?.path());
        }
        paths.sort();
        for path in paths {
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
                continue;
            }
            let name = match path.strip_prefix(root).ok().and_then(Path::to_str) {
                Some(name) => name.replace('\\', "/"),
                None => return Err(super::malformed(&path, "the name is not UTF-8")),
            };
            // Links to folders are followed, but not without end.
            if path.is_dir() {
                if depth == 0 {
                    self.folders.push(name);
                }
                if depth < DEEPEST {
                    self.collect(root, &path, depth + 1)?;
                }
            } else if is_image(&path) {
                self.images.push((name, path));
            } else {
                self.others.push((name, path));
            }
        }
        Ok(())
    }
}
