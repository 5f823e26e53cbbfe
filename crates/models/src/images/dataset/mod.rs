//! Labelled images in the layouts that people have: one file for each.
//!
//! A dataset is a list of items, each with its name, its place and what its label says. Opening one
//! reads names and labels; images are read later, a piece at a time.

mod array;
mod flat;
mod folder;
mod labels;
mod parquet;
mod shards;

pub use labels::{ClassOrder, LabelError, resolve};

use crate::images::Pixels;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Images with their labels.
#[derive(Debug)]
pub struct Dataset {
    /// Where it is.
    pub path: PathBuf,
    /// The layout that it has.
    pub layout: DatasetLayout,
    /// Its images, in the order of the rows.
    pub items: Vec<Item>,
    /// The names of the classes in the order of their numbers, where the dataset states them.
    pub class_names: Option<Vec<String>>,
    /// Files that are not read, because their names are not those of images.
    pub ignored: usize,
    /// Folders of classes without an image.
    pub empty_folders: Vec<String>,
    source: Source,
}

/// An image of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its name, unique within the dataset.
    pub name: String,
    /// What its label says.
    pub label: Option<Label>,
    place: Place,
}

/// A label as the dataset has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// The name of a folder, or a text of a table.
    Name(String),
    /// The number of a class.
    Number(i64),
}

/// How a dataset is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatasetLayout {
    /// A folder for each class.
    ClassFolders,
    /// Images in one folder.
    Flat,
    /// Tar archives.
    Tar,
    /// Parquet files with encoded images.
    Parquet,
    /// A numpy array of pixels.
    Array,
}

/// Where the bytes of an image are.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    File(PathBuf),
    /// A part of one of the files of the source.
    Slice {
        file: usize,
        offset: u64,
        length: u64,
    },
    /// The next row of the files of the source.
    Row,
}

/// What items refer to.
#[derive(Debug)]
enum Source {
    Files(Vec<PathBuf>),
    Parquet(parquet::Files),
    Array(array::Array),
}

/// What can be said of a dataset beyond its path.
#[derive(Debug, Clone, Default)]
pub struct DatasetOptions {
    /// A table of image names and labels, or the labels of an array in its order.
    pub labels: Option<PathBuf>,
    /// The column of the images in Parquet files.
    pub image_name: Option<String>,
    /// The column of the labels in Parquet files.
    pub label_name: Option<String>,
    /// Whether labels are not needed.
    pub without_labels: bool,
}

/// Why images cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// A file or folder cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that is not understood.
    #[error("{}: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A file of labels or an array that cannot be read.
    #[error(transparent)]
    File(#[from] abstain_io::Error),
    /// There is no image.
    #[error("{}: no image is there (files named .{})", .0.display(), EXTENSIONS.join(", ."))]
    NoImages(PathBuf),
    /// Images lie both in the folder and in its subfolders.
    #[error("{}: some images are in the folder itself ({flat}) and others in its subfolders ({nested})", path.display())]
    Mixed {
        /// The folder.
        path: PathBuf,
        /// An image in the folder.
        flat: String,
        /// An image in a subfolder.
        nested: String,
    },
    /// The kind of file is not known.
    #[error("{}: neither a folder, an image, a tar archive, a Parquet file nor a numpy array", .0.display())]
    UnknownKind(PathBuf),
    /// Several columns may be meant.
    #[error("{}: several columns may hold the {what}: {}", path.display(), names.join(", "))]
    Ambiguous {
        /// The file.
        path: PathBuf,
        /// What was looked for.
        what: &'static str,
        /// The columns.
        names: Vec<String>,
    },
    /// A column is missing.
    #[error("{}: no column holds the {what}; there are {}", path.display(), names.join(", "))]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// What was looked for.
        what: &'static str,
        /// The columns.
        names: Vec<String>,
    },
    /// Two images have the same name.
    #[error("{}: two images are called {name}", path.display())]
    SameName {
        /// The dataset.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// The labels are not those of the images.
    #[error("{}: {problem}", path.display())]
    Labels {
        /// The file of labels.
        path: PathBuf,
        /// What does not fit.
        problem: String,
    },
}

pub(crate) type Result<T> = std::result::Result<T, DatasetError>;

/// The names of images end in one of these, as in torchvision.
const EXTENSIONS: [&str; 9] = ["jpg", "jpeg", "png", "ppm", "bmp", "pgm", "tif", "tiff", "webp"];

/// The bytes of an image, or where they are.
#[derive(Debug)]
pub(crate) enum Raw {
    File(PathBuf),
    Slice {
        path: PathBuf,
        offset: u64,
        length: u64,
    },
    Bytes(Vec<u8>),
    Pixels(Pixels),
    /// There is none, and why.
    Missing(String),
}

impl Raw {
    /// The bytes, or why there are none. A file that cannot be read is an error, because it may be a
    /// sound image. Called by many threads at once.
    pub(crate) fn bytes(self) -> Result<std::result::Result<Encoded, String>> {
        let read = |path: &Path, range: Option<(u64, u64)>| -> io::Result<Vec<u8>> {
            let mut file = File::open(path)?;
            let mut bytes = Vec::new();
            match range {
                None => file.read_to_end(&mut bytes)?,
                Some((offset, length)) => {
                    file.seek(SeekFrom::Start(offset))?;
                    file.take(length).read_to_end(&mut bytes)?
                }
            };
            Ok(bytes)
        };
        Ok(match self {
            Raw::File(path) => Ok(Encoded::Bytes(read(&path, None).map_err(io_error(&path))?)),
            Raw::Slice { path, offset, length } => {
                let bytes = read(&path, Some((offset, length))).map_err(io_error(&path))?;
                Ok(Encoded::Bytes(bytes))
            }
            Raw::Bytes(bytes) => Ok(Encoded::Bytes(bytes)),
            Raw::Pixels(pixels) => Ok(Encoded::Pixels(pixels)),
            Raw::Missing(why) => Err(why),
        })
    }
}

/// An image that was read.
pub(crate) enum Encoded {
    Bytes(Vec<u8>),
    Pixels(Pixels),
}

impl Dataset {
    /// The images at a path.
    pub fn open(path: &Path, options: &DatasetOptions) -> Result<Self> {
        let metadata = std::fs::metadata(path)
            .map_err(|source| DatasetError::Io { path: path.to_path_buf(), source })?;
        let dataset = if metadata.is_dir() {
            folder::open(path, options)?
        } else {
            match extension(path).as_deref() {
                Some("tar") => shards::open(path, vec![path.to_path_buf()])?,
                Some("parquet") => parquet::open(path, vec![path.to_path_buf()], options)?,
                Some("npy") => array::open(path, options)?,
                _ if is_image(path) => folder::of_image(path)?,
                Some("gz" | "tgz" | "zip") => {
                    let problem = "compressed archives are not read; unpack it, or use a plain tar";
                    return Err(malformed(path, problem));
                }
                _ => return Err(DatasetError::UnknownKind(path.to_path_buf())),
            }
        };
        if dataset.items.is_empty() {
            return Err(DatasetError::NoImages(path.to_path_buf()));
        }
        dataset.with_table(options)
    }

    /// Takes the labels of a table, where one is given.
    fn with_table(mut self, options: &DatasetOptions) -> Result<Self> {
        let Some(table) = &options.labels else { return Ok(self) };
        if self.layout != DatasetLayout::Array {
            flat::label(&mut self.items, table)?;
        }
        Ok(self)
    }

    /// The SHA-256 of the names and labels of its images, and of the sizes and times of their files.
    pub(crate) fn fingerprint(&self) -> Result<String> {
        let mut hash = Sha256::new();
        let mut file = |path: &Path| -> Result<()> {
            hash.update(size_and_time(path)?);
            Ok(())
        };
        match &self.source {
            Source::Files(files) => files.iter().try_for_each(|path| file(path))?,
            Source::Parquet(parquet) => parquet.files.iter().try_for_each(|path| file(path))?,
            Source::Array(_) => file(&self.path)?,
        }
        for item in &self.items {
            if let Place::File(path) = &item.place {
                file(path)?;
            }
        }
        for item in &self.items {
            hash.update(format!("{}\0{:?}\0", item.name, item.label));
        }
        Ok(abstain_io::hexadecimal(hash))
    }

    /// Whether a file is one of its images, or has them.
    pub fn has_file(&self, path: &Path) -> bool {
        let Ok(path) = path.canonicalize() else { return false };
        let is_it = |file: &Path| {
            file.file_name() == path.file_name() && file.canonicalize().is_ok_and(|it| it == path)
        };
        let is_item = |item: &Item| matches!(&item.place, Place::File(file) if is_it(file));
        let is_source = match &self.source {
            Source::Files(files) => files.iter().any(|file| is_it(file)),
            Source::Parquet(parquet) => parquet.files.iter().any(|file| is_it(file)),
            Source::Array(_) => is_it(&self.path),
        };
        is_source || self.items.iter().any(is_item)
    }

    /// Whether its images can be read in any order.
    pub(crate) fn can_be_reordered(&self) -> bool {
        self.items.iter().all(|item| item.place != Place::Row)
    }

    /// Some of its images, in another order.
    pub(crate) fn reordered(&self, order: &[usize]) -> Dataset {
        let source = match &self.source {
            Source::Files(files) => Source::Files(files.clone()),
            _ => Source::Files(Vec::new()),
        };
        Dataset {
            path: self.path.clone(),
            layout: self.layout,
            items: order.iter().map(|&index| self.items[index].clone()).collect(),
            class_names: self.class_names.clone(),
            ignored: self.ignored,
            empty_folders: Vec::new(),
            source,
        }
    }

    /// A reader that begins at an item.
    pub(crate) fn reader(&self, start: usize) -> Result<Reader<'_>> {
        let rows = match &self.source {
            Source::Parquet(files) => Some(files.rows(start)?),
            _ => None,
        };
        Ok(Reader { dataset: self, rows })
    }
}

/// Reads images a piece at a time.
pub(crate) struct Reader<'a> {
    dataset: &'a Dataset,
    rows: Option<parquet::Rows<'a>>,
}

impl Reader<'_> {
    /// The images of these items, which follow the last ones that were read.
    pub(crate) fn read(&mut self, range: Range<usize>) -> Result<Vec<Raw>> {
        if let Some(rows) = &mut self.rows {
            return rows.read(range.len());
        }
        let raw = |index: usize| -> Result<Raw> {
            Ok(match (&self.dataset.items[index].place, &self.dataset.source) {
                (Place::File(path), _) => Raw::File(path.clone()),
                (&Place::Slice { file, offset, length }, Source::Files(files)) => {
                    Raw::Slice { path: files[file].clone(), offset, length }
                }
                (_, Source::Array(array)) => Raw::Pixels(array.image(index)?),
                _ => Raw::Missing("the image has no place".into()),
            })
        };
        range.map(raw).collect()
    }
}

/// The size of a file and when it was changed, by which another one is recognised.
pub(crate) fn size_and_time(path: &Path) -> Result<String> {
    let metadata = std::fs::metadata(path).map_err(io_error(path))?;
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(format!("{} {};", metadata.len(), changed.map_or(0, |since| since.as_nanos())))
}

fn malformed(path: &Path, problem: impl Into<String>) -> DatasetError {
    DatasetError::Malformed { path: path.to_path_buf(), problem: problem.into() }
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> DatasetError + '_ {
    move |source| DatasetError::Io { path: path.to_path_buf(), source }
}

/// The extension of a name in lower case.
fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

fn is_image(path: &Path) -> bool {
    extension(path).is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}

/// Refuses two images of the same name, of which a table of rows could not tell which is which.
fn check_names(path: &Path, items: &[Item]) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    match items.iter().find(|item| !seen.insert(&item.name)) {
        Some(item) => {
            Err(DatasetError::SameName { path: path.to_path_buf(), name: item.name.clone() })
        }
        None => Ok(()),
    }
}
