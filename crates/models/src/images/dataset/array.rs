//! A numpy array of pixels.

use super::{
    Dataset, DatasetError, DatasetLayout, DatasetOptions, Item, Label, Place, Result, Source,
    io_error, malformed,
};
use crate::images::Pixels;
use abstain_io::{ReadOptions, Source as FileSource, read_labels};
use npyz::{DType, NpyHeader, TypeChar};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Images of one size in a file.
#[derive(Debug)]
pub(super) struct Array {
    path: PathBuf,
    offset: u64,
    height: usize,
    width: usize,
    order: Order,
}

/// The dimensions after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Grey,
    ChannelsLast,
    ChannelsFirst,
}

/// More classes than labels can have; they are compared with the model's later.
const ANY_CLASSES: usize = 1 << 24;
/// The longest side.
const LARGEST_SIDE: u64 = 1 << 16;

pub(super) fn open(path: &Path, options: &DatasetOptions) -> Result<Dataset> {
    let mut file = BufReader::new(File::open(path).map_err(io_error(path))?);
    let header = NpyHeader::from_reader(&mut file)
        .map_err(|error| malformed(path, format!("not a sound npy file: {error}")))?;
    let bytes = matches!(header.dtype(), DType::Plain(kind) if kind.type_char() == TypeChar::Uint && kind.num_bytes() == Some(1));
    if !bytes {
        let dtype = header.dtype().descr();
        let problem = format!("its numbers are {dtype}; pixels are uint8, from 0 to 255");
        return Err(malformed(path, problem));
    }
    if header.order() == npyz::Order::Fortran {
        let problem = "it is in Fortran order; save it with numpy.ascontiguousarray";
        return Err(malformed(path, problem));
    }
    let (order, height, width) = match *header.shape() {
        [_, height, width] => (Order::Grey, height, width),
        [_, height, width, 3] if height != 3 => (Order::ChannelsLast, height, width),
        [_, 3, height, width] if width != 3 => (Order::ChannelsFirst, height, width),
        ref shape => {
            let problem = format!(
                "its shape is {shape:?}; images are (N, height, width, 3), (N, 3, height, width) or (N, height, width)"
            );
            return Err(malformed(path, problem));
        }
    };
    let side =
        |side: u64| usize::try_from(side).ok().filter(|_| (1..=LARGEST_SIDE).contains(&side));
    let (Some(height), Some(width)) = (side(height), side(width)) else {
        return Err(malformed(path, format!("its images are {height} x {width}")));
    };
    let offset = file.stream_position().map_err(io_error(path))?;
    let length = file.seek(SeekFrom::End(0)).map_err(io_error(path))?;
    let array = Array { path: path.to_path_buf(), offset, height, width, order };
    let images = header.shape()[0];
    let expected = images.checked_mul(array.bytes() as u64).and_then(|all| all.checked_add(offset));
    if expected.is_none_or(|expected| expected > length) {
        return Err(malformed(path, "the file is cut short"));
    }
    let labels = match &options.labels {
        None => None,
        Some(path) => {
            let labels = read_labels(&FileSource::new(path), &ReadOptions::default(), ANY_CLASSES)?;
            if labels.len() as u64 != images {
                let problem = format!("it has {} labels for {images} images", labels.len());
                return Err(DatasetError::Labels { path: path.clone(), problem });
            }
            Some(labels)
        }
    };
    let images = usize::try_from(images).map_err(|_| malformed(path, "too many images"))?;
    let item = |index: usize| {
        let label = labels.as_ref().map(|labels| labels.values()[index]);
        let label = label.map(|label| Label::Number(i64::from(label)));
        Item { name: index.to_string(), label, place: Place::Row }
    };
    Ok(Dataset {
        path: path.to_path_buf(),
        layout: DatasetLayout::Array,
        items: (0..images).map(item).collect(),
        class_names: None,
        ignored: 0,
        empty_folders: Vec::new(),
        source: Source::Array(array),
    })
}

impl Array {
    fn bytes(&self) -> usize {
        self.height * self.width * if self.order == Order::Grey { 1 } else { 3 }
    }

    pub(super) fn image(&self, index: usize) -> Result<Pixels> {
        let mut bytes = vec![0; self.bytes()];
        let at = self.offset + index as u64 * bytes.len() as u64;
        let mut file = File::open(&self.path).map_err(io_error(&self.path))?;
        let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(io_error(&self.path))?;
        let area = self.height * self.width;
        let rgb = match self.order {
            Order::ChannelsLast => bytes,
            Order::Grey => bytes.iter().flat_map(|&value| [value; 3]).collect(),
            Order::ChannelsFirst => (0..area)
                .flat_map(|at| [bytes[at], bytes[area + at], bytes[2 * area + at]])
                .collect(),
        };
        Ok(Pixels { width: self.width, height: self.height, rgb })
    }
}
