//! Tar archives: `class/name.jpg`, or WebDataset's `key.jpg` beside `key.cls`.

use super::{
    Dataset, DatasetLayout, Item, Label, Place, Result, Source, io_error, is_image, malformed,
};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The longest file of a label.
const LONGEST_LABEL: u64 = 64;

pub(super) fn open(path: &Path, mut files: Vec<PathBuf>) -> Result<Dataset> {
    files.sort();
    let mut items = Vec::new();
    let mut ignored = 0;
    for (file, shard) in files.iter().enumerate() {
        ignored += index(file, shard, files.len() > 1, &mut items)?;
    }
    super::check_names(path, &items)?;
    Ok(Dataset {
        path: path.to_path_buf(),
        layout: DatasetLayout::Tar,
        items,
        class_names: None,
        ignored,
        empty_folders: Vec::new(),
        source: Source::Files(files),
    })
}

/// Adds the images of an archive, in its order; returns how many files are something else.
fn index(file: usize, path: &Path, named: bool, items: &mut Vec<Item>) -> Result<usize> {
    let damaged =
        |error: std::io::Error| malformed(path, format!("not a sound tar archive: {error}"));
    let opened = File::open(path).map_err(io_error(path))?;
    let bytes = opened.metadata().map_err(io_error(path))?.len();
    // An archive ends with blocks of zeros.
    let mut end = [0; 512];
    let mut bytes_of = &opened;
    let read = bytes_of
        .seek(SeekFrom::End(-512))
        .and_then(|_| bytes_of.read_exact(&mut end))
        .and_then(|()| bytes_of.seek(SeekFrom::Start(0)));
    if read.is_err() || end != [0; 512] {
        return Err(malformed(path, "not a tar archive, or one that is cut short: it has no end"));
    }
    let mut archive = tar::Archive::new(BufReader::new(opened));
    let first = items.len();
    let mut classes: HashMap<String, i64> = HashMap::new();
    let mut ignored = 0;
    for entry in archive.entries_with_seek().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let kind = entry.header().entry_type();
        if !kind.is_file() {
            ignored += usize::from(!kind.is_dir() && !kind.is_pax_global_extensions());
            continue;
        }
        let name = entry.path().map_err(damaged)?.to_str().map(str::to_string);
        let name = name.ok_or_else(|| malformed(path, "a name in the archive is not UTF-8"))?;
        let name = name.trim_start_matches("./").to_string();
        let (offset, length) = (entry.raw_file_position(), entry.size());
        if offset.saturating_add(length) > bytes {
            return Err(malformed(path, format!("the archive is cut short within {name}")));
        }
        let hidden = name.split('/').any(|part| part.starts_with('.'));
        if is_image(Path::new(&name)) && !hidden {
            // Deeper folders belong to their class, as in a folder.
            let label = name.split_once('/').map(|(class, _)| Label::Name(class.to_string()));
            items.push(Item { name, label, place: Place::Slice { file, offset, length } });
        } else if let Some(key) = name.strip_suffix(".cls") {
            let mut text = String::new();
            let read = entry.by_ref().take(LONGEST_LABEL).read_to_string(&mut text);
            let number = read.ok().and_then(|_| text.trim().parse().ok());
            let number = number
                .ok_or_else(|| malformed(path, format!("{name} is not the number of a class")))?;
            classes.insert(key.to_string(), number);
        } else {
            ignored += 1;
        }
    }
    let shard = path.file_name().map(|name| name.to_string_lossy().into_owned());
    // WebDataset's key ends at the first dot of the file name.
    let key = |name: &str| {
        let folders = name.rfind('/').map_or(0, |at| at + 1);
        name[folders..].find('.').map_or(name.len(), |at| folders + at)
    };
    let mut labelled: HashSet<&str> = HashSet::new();
    for item in &items[first..] {
        let key = &item.name[..key(&item.name)];
        if classes.contains_key(key) && !labelled.insert(key) {
            return Err(malformed(path, format!("two images belong to {key}.cls")));
        }
    }
    for item in &mut items[first..] {
        if let Some(&number) = classes.get(&item.name[..key(&item.name)]) {
            item.label = Some(Label::Number(number));
        }
        if let (true, Some(shard)) = (named, &shard) {
            item.name = format!("{shard}/{}", item.name);
        }
    }
    Ok(ignored)
}
