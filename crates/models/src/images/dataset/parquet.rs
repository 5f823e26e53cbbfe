//! Parquet files with encoded images, as HuggingFace stores them: a column of structures with the
//! fields `bytes` and `path`, and a column of class numbers whose names are in the metadata.

use super::{
    Dataset, DatasetError, DatasetLayout, DatasetOptions, Item, Label, Place, Raw, Result, Source,
    io_error, malformed,
};
use abstain_io::{features, guarded, names_of_numbers};
use parquet::basic::Type;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::SchemaDescriptor;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The files, in the order of their names.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) files: Vec<PathBuf>,
    /// The column of the bytes of the images.
    image: usize,
}

/// The columns that are used.
struct Columns {
    image: usize,
    name: Option<usize>,
    label: Option<usize>,
    class_names: Option<Vec<String>>,
}

pub(super) fn open(
    path: &Path,
    mut files: Vec<PathBuf>,
    options: &DatasetOptions,
) -> Result<Dataset> {
    files.sort();
    let mut items: Vec<Item> = Vec::new();
    let mut first: Option<Columns> = None;
    for file in &files {
        let reader = open_file(file)?;
        let columns = Columns::of(file, &reader, options)?;
        if let Some(first) = &first
            && (first.image, &first.class_names) != (columns.image, &columns.class_names)
        {
            return Err(malformed(
                file,
                "its columns or class names differ from those of the first file",
            ));
        }
        columns.index(file, &reader, &mut items)?;
        first.get_or_insert(columns);
    }
    let Some(columns) = first else { return Err(DatasetError::NoImages(path.to_path_buf())) };
    if super::check_names(path, &items).is_err() {
        for (row, item) in items.iter_mut().enumerate() {
            item.name = format!("{row}:{}", item.name);
        }
    }
    Ok(Dataset {
        path: path.to_path_buf(),
        layout: DatasetLayout::Parquet,
        items,
        class_names: columns.class_names,
        ignored: 0,
        empty_folders: Vec::new(),
        source: Source::Parquet(Files { files, image: columns.image }),
    })
}

fn open_file(path: &Path) -> Result<SerializedFileReader<File>> {
    let file = File::open(path).map_err(io_error(path))?;
    sound(path, || SerializedFileReader::new(file))
}

/// Calls the `parquet` crate, which panics on some broken files.
fn sound<T>(path: &Path, call: impl FnOnce() -> parquet::errors::Result<T>) -> Result<T> {
    let problem = |text: String| malformed(path, format!("not a sound Parquet file: {text}"));
    guarded(call).map_err(problem)?.map_err(|error| problem(error.to_string()))
}

impl Columns {
    fn of(
        path: &Path,
        reader: &SerializedFileReader<File>,
        options: &DatasetOptions,
    ) -> Result<Self> {
        let metadata = reader.metadata().file_metadata();
        let schema = metadata.schema_descr();
        let described = metadata.key_value_metadata().and_then(|pairs| {
            pairs.iter().find(|pair| pair.key == "huggingface")?.value.as_deref()
        });
        let features = features(described.unwrap_or_default());
        let kind = |name: &str| features.get(name)?.get("_type")?.as_str().map(str::to_string);
        let roots: Vec<String> = {
            let root = schema.root_schema().get_fields().iter();
            root.map(|field| field.name().to_string()).collect()
        };
        let one = |what: &'static str, given: Option<&String>, fits: &dyn Fn(&str) -> bool| {
            if let Some(name) = given {
                return if roots.contains(name) {
                    Ok(Some(name.clone()))
                } else {
                    Err(DatasetError::NoColumn {
                        path: path.to_path_buf(),
                        what,
                        names: roots.clone(),
                    })
                };
            }
            let fitting: Vec<&String> = roots.iter().filter(|name| fits(name)).collect();
            match fitting[..] {
                [] => Ok(None),
                [name] => Ok(Some(name.clone())),
                _ => Err(DatasetError::Ambiguous {
                    path: path.to_path_buf(),
                    what,
                    names: fitting.into_iter().cloned().collect(),
                }),
            }
        };
        let bytes_of = |name: &str| {
            leaf(schema, &[name, "bytes"]).or_else(|| leaf(schema, &[name])).filter(|&index| {
                let column = schema.column(index);
                column.physical_type() == Type::BYTE_ARRAY && column.max_rep_level() == 0
            })
        };
        let is_image = |name: &str| {
            let named = ["image", "img", "jpg", "png"].contains(&name);
            kind(name).as_deref() == Some("Image")
                || leaf(schema, &[name, "bytes"]).is_some()
                || (named && bytes_of(name).is_some())
        };
        let no_image = || DatasetError::NoColumn {
            path: path.to_path_buf(),
            what: "images",
            names: roots.clone(),
        };
        let image_name =
            one("images", options.image_name.as_ref(), &is_image)?.ok_or_else(no_image)?;
        let image = bytes_of(&image_name).ok_or_else(no_image)?;
        let is_number = |name: &str| {
            leaf(schema, &[name]).is_some_and(|index| {
                let column = schema.column(index);
                matches!(column.physical_type(), Type::INT32 | Type::INT64)
                    && column.max_rep_level() == 0
            })
        };
        let states = roots.iter().any(|name| kind(name).as_deref() == Some("ClassLabel"));
        let is_label = |name: &str| {
            if states {
                kind(name).as_deref() == Some("ClassLabel") && is_number(name)
            } else {
                ["label", "labels", "class", "target", "fine_label"].contains(&name)
                    && is_number(name)
            }
        };
        let label = if options.without_labels {
            None
        } else {
            one("labels", options.label_name.as_ref(), &is_label)?
        };
        let class_names = label.as_ref().and_then(|name| names_of_numbers(&features, name));
        let label = match label {
            None => None,
            Some(name) if is_number(&name) => leaf(schema, &[&name]),
            Some(name) => {
                return Err(malformed(
                    path,
                    format!("the labels in '{name}' are not whole numbers"),
                ));
            }
        };
        let name = leaf(schema, &[&image_name, "path"])
            .filter(|&index| schema.column(index).physical_type() == Type::BYTE_ARRAY);
        Ok(Columns { image, name, label, class_names })
    }

    /// Adds the names and labels of a file.
    fn index(
        &self,
        path: &Path,
        reader: &SerializedFileReader<File>,
        items: &mut Vec<Item>,
    ) -> Result<()> {
        let bytes = std::fs::metadata(path).map_err(io_error(path))?.len();
        for group in 0..reader.num_row_groups() {
            let group = sound(path, || reader.get_row_group(group))?;
            let rows = u64::try_from(group.metadata().num_rows()).unwrap_or(0);
            // An image is a byte at least.
            if rows > bytes {
                let problem = format!("it claims to have {rows} rows in {bytes} bytes");
                return Err(malformed(path, problem));
            }
            let rows = usize::try_from(rows).unwrap_or(usize::MAX);
            let names = match self.name {
                Some(column) => texts(path, &*group, column, rows)?,
                None => vec![None; rows],
            };
            let labels = match self.label {
                Some(column) => numbers(path, &*group, column, rows)?,
                None => vec![None; rows],
            };
            for (name, label) in names.into_iter().zip(labels) {
                let name = name.filter(|name| !name.is_empty());
                let name = name.unwrap_or_else(|| items.len().to_string());
                let label = label.map(Label::Number);
                items.push(Item { name, label, place: Place::Row });
            }
        }
        Ok(())
    }
}

fn leaf(schema: &SchemaDescriptor, path: &[&str]) -> Option<usize> {
    schema.columns().iter().position(|column| column.path().parts() == path)
}

/// The values of a column of a row group, nothing where there is none.
fn values<T: DataType>(
    path: &Path,
    reader: &mut ColumnReaderImpl<T>,
    full: i16,
    rows: usize,
) -> Result<Vec<Option<T::T>>> {
    let (mut levels, mut found) = (Vec::new(), Vec::new());
    let (records, ..) = sound(path, || {
        reader.read_records(rows, (full > 0).then_some(&mut levels), None, &mut found)
    })?;
    if records != rows {
        return Err(malformed(path, format!("{rows} rows are expected, and {records} are there")));
    }
    let mut found = found.into_iter();
    if full == 0 {
        return Ok(found.map(Some).collect());
    }
    Ok(levels.iter().map(|&level| if level == full { found.next() } else { None }).collect())
}

fn texts(
    path: &Path,
    group: &dyn RowGroupReader,
    column: usize,
    rows: usize,
) -> Result<Vec<Option<String>>> {
    let full = group.metadata().column(column).column_descr().max_def_level();
    match sound(path, || group.get_column_reader(column))? {
        ColumnReader::ByteArrayColumnReader(mut reader) => {
            let values = values::<ByteArrayType>(path, &mut reader, full, rows)?;
            let text = |value: ByteArray| String::from_utf8_lossy(value.data()).into_owned();
            Ok(values.into_iter().map(|value| value.map(text)).collect())
        }
        _ => Ok(vec![None; rows]),
    }
}

fn numbers(
    path: &Path,
    group: &dyn RowGroupReader,
    column: usize,
    rows: usize,
) -> Result<Vec<Option<i64>>> {
    let full = group.metadata().column(column).column_descr().max_def_level();
    match sound(path, || group.get_column_reader(column))? {
        ColumnReader::Int64ColumnReader(mut reader) => {
            values::<Int64Type>(path, &mut reader, full, rows)
        }
        ColumnReader::Int32ColumnReader(mut reader) => {
            let values = values::<Int32Type>(path, &mut reader, full, rows)?;
            Ok(values.into_iter().map(|value| value.map(i64::from)).collect())
        }
        _ => Ok(vec![None; rows]),
    }
}

impl Files {
    /// The images from a row on.
    pub(super) fn rows(&self, start: usize) -> Result<Rows<'_>> {
        let mut rows =
            Rows { files: self, file: 0, group: 0, open: None, column: None, skip: start };
        rows.advance()?;
        Ok(rows)
    }
}

/// Reads the images one after another.
pub(super) struct Rows<'a> {
    files: &'a Files,
    file: usize,
    group: usize,
    open: Option<SerializedFileReader<File>>,
    column: Option<Cursor>,
    /// Rows that are not wanted.
    skip: usize,
}

/// A column of a row group.
struct Cursor {
    reader: ColumnReaderImpl<ByteArrayType>,
    full: i16,
    left: usize,
}

impl Rows<'_> {
    /// Goes to the next row group that has rows; nothing is open after the last one.
    fn advance(&mut self) -> Result<()> {
        self.column = None;
        while let Some(path) = self.files.files.get(self.file) {
            let file = match self.open.take() {
                Some(file) => file,
                None => open_file(path)?,
            };
            if self.group == file.num_row_groups() {
                (self.file, self.group) = (self.file + 1, 0);
                continue;
            }
            let group = sound(path, || file.get_row_group(self.group))?;
            self.group += 1;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            let image = self.files.image;
            let full = group.metadata().column(image).column_descr().max_def_level();
            let reader = sound(path, || group.get_column_reader(image))?;
            drop(group);
            self.open = Some(file);
            if self.skip >= rows {
                self.skip -= rows;
                continue;
            }
            let ColumnReader::ByteArrayColumnReader(mut reader) = reader else {
                return Err(malformed(path, "the images are not bytes"));
            };
            let skipped = std::mem::take(&mut self.skip);
            sound(path, || reader.skip_records(skipped))?;
            self.column = Some(Cursor { reader, full, left: rows - skipped });
            return Ok(());
        }
        Ok(())
    }

    pub(super) fn read(&mut self, count: usize) -> Result<Vec<Raw>> {
        let mut images = Vec::with_capacity(count);
        while images.len() < count {
            let Some(cursor) = &mut self.column else { break };
            let rows = cursor.left.min(count - images.len());
            let path = &self.files.files[self.file];
            let found = values::<ByteArrayType>(path, &mut cursor.reader, cursor.full, rows)?;
            images.extend(found.into_iter().map(|value| match value {
                Some(bytes) => Raw::Bytes(bytes.data().to_vec()),
                None => Raw::Missing("the row has no image".into()),
            }));
            cursor.left -= rows;
            if cursor.left == 0 {
                self.advance()?;
            }
        }
        Ok(images)
    }
}
