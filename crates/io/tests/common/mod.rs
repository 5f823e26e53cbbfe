//! Files to read, put together by hand.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The rows of every file: exact in all number types.
pub(crate) const ROWS: [[f64; 4]; 5] = [
    [1.5, -0.25, 0.0, 2.0],
    [0.125, 3.0, -1.0, 0.5],
    [-2.0, 1.0, 4.0, 0.75],
    [8.0, 8.0, 7.5, -6.0],
    [0.0, -1.0, -2.0, -3.0],
];

pub(crate) const LABELS: [u8; 5] = [3, 1, 0, 1, 0];

/// An npy file.
pub(crate) fn npy(descr: &str, shape: &str, fortran: bool, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    while (text.len() + 11) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend_from_slice(&u16::try_from(text.len()).expect("short").to_le_bytes());
    file.extend_from_slice(text.as_bytes());
    file.extend_from_slice(data);
    file
}

/// The bytes of all rows, number by number.
pub(crate) fn bytes<const N: usize>(convert: impl Fn(f64) -> [u8; N]) -> Vec<u8> {
    ROWS.iter().flatten().flat_map(|&x| convert(x)).collect()
}

/// The same, column by column.
pub(crate) fn columns<const N: usize>(convert: impl Fn(f64) -> [u8; N]) -> Vec<u8> {
    (0..4).flat_map(|c| ROWS.map(|row| row[c])).flat_map(convert).collect()
}

pub(crate) fn f32_npy() -> Vec<u8> {
    npy("'<f4'", "(5, 4)", false, &bytes(|x| (x as f32).to_le_bytes()))
}

pub(crate) fn labels_npy() -> Vec<u8> {
    let data: Vec<u8> = LABELS.iter().flat_map(|&x| i64::from(x).to_le_bytes()).collect();
    npy("'<i8'", "(5,)", false, &data)
}

/// A zip archive of named files.
pub(crate) fn archive(files: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, data) in files {
        let options = SimpleFileOptions::default().compression_method(method);
        zip.start_file(*name, options).expect("started");
        zip.write_all(data).expect("written");
    }
    zip.finish().expect("finished").into_inner()
}

pub(crate) fn npz(method: CompressionMethod) -> Vec<u8> {
    archive(&[("logits.npy", f32_npy()), ("labels.npy", labels_npy())], method)
}

pub(crate) fn gzip(data: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(data).expect("packed");
    packed.finish().expect("packed")
}

/// A safetensors file of named tensors: type, shape and bytes.
pub(crate) fn safetensors(tensors: &[(&str, &str, &str, Vec<u8>)]) -> Vec<u8> {
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for (name, dtype, shape, own) in tensors {
        let start = data.len();
        data.extend_from_slice(own);
        let end = data.len();
        entries.push(format!(
            r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{start},{end}]}}"#
        ));
    }
    let mut header = format!("{{{}}}", entries.join(","));
    while header.len() % 8 != 0 {
        header.push(' ');
    }
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(&data);
    file
}

/// Text, with a line of names or without.
pub(crate) fn text(delimiter: &str, names: Option<&str>) -> Vec<u8> {
    let mut text = names.map_or(String::new(), |names| format!("{names}\n"));
    for row in ROWS {
        let row: Vec<String> = row.iter().map(f64::to_string).collect();
        text += &row.join(delimiter);
        text.push('\n');
    }
    text.into_bytes()
}

/// Puts a file into a folder.
pub(crate) fn put(folder: &Path, name: &str, data: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, data).expect("written");
    path
}
