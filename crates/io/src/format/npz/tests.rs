use crate::ReadOptions;
use crate::format::npy::tests::{bytes, f32_bytes, f32_npy, labels_npy};
use crate::format::tests::{LABELS, ROWS, Sample, labels, named, put, rows};
use abstain_kit::npy;
use std::io::{Cursor, Write};
use zip::CompressionMethod::{self, Deflated, Stored};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub(super) fn samples() -> Vec<Sample> {
    vec![Sample::both(npz(Stored)), Sample::both(npz(Deflated))]
}

/// A zip archive of named files.
fn archive(files: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, data) in files {
        let options = SimpleFileOptions::default().compression_method(method);
        zip.start_file(*name, options).expect("started");
        zip.write_all(data).expect("written");
    }
    zip.finish().expect("finished").into_inner()
}

fn npz(method: CompressionMethod) -> Vec<u8> {
    archive(&[("logits.npy", f32_npy()), ("labels.npy", labels_npy())], method)
}

#[test]
fn arrays_are_found_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = npy("'<f4'", "(5, 4)", &bytes(|_| [0; 4]));
    let files = [("mine.npy", f32_npy()), ("other.npy", other), ("truth.npy", labels_npy())];
    let path = put(folder.path(), "named.npz", &archive(&files, Stored));
    let options = named(Some("mine"), Some("truth"));
    assert_eq!(rows(&path, &options).expect("read"), ROWS);
    assert_eq!(labels(&path, &options).expect("read"), LABELS.map(u32::from));
    // The labels are the only array of one dimension; the logits could be either of two.
    assert_eq!(labels(&path, &ReadOptions::default()).expect("read"), LABELS.map(u32::from));
    let error = rows(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("which of 'mine', 'other' holds the logits?"), "{error}");
    // As numpy.savez names what it is given without names.
    let files = [("arr_0.npy", f32_npy()), ("arr_1.npy", labels_npy())];
    let path = put(folder.path(), "savez.npz", &archive(&files, Stored));
    assert_eq!(rows(&path, &ReadOptions::default()).expect("read"), ROWS);
    assert_eq!(labels(&path, &ReadOptions::default()).expect("read"), LABELS.map(u32::from));
    let error = rows(&path, &named(Some("yours"), None)).unwrap_err().to_string();
    assert!(error.contains("nothing in it is called 'yours'; there are 'arr_0'"), "{error}");
}

/// A header may promise more than its member of the archive holds.
#[test]
fn arrays_end_with_their_member_of_an_archive() {
    let folder = tempfile::tempdir().expect("a folder");
    let short = npy("'<f4'", "(10, 4)", &f32_bytes());
    for method in [Stored, Deflated] {
        let files = [("logits.npy", short.clone()), ("other.npy", f32_npy())];
        let path = put(folder.path(), "short.npz", &archive(&files, method));
        assert!(rows(&path, &named(Some("logits"), None)).is_err(), "{method}");
    }
}

/// An archive may hold more arrays than a process may open files.
#[test]
fn an_archive_of_many_arrays_opens_one_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let names: Vec<String> = (0..3000).map(|i| format!("w{i}.npy")).collect();
    let weight = npy("'<f4'", "(1,)", &[0; 4]);
    let mut files: Vec<(&str, Vec<u8>)> =
        names.iter().map(|name| (&name[..], weight.clone())).collect();
    files.push(("logits.npy", f32_npy()));
    let path = put(folder.path(), "many.npz", &archive(&files, Stored));
    assert_eq!(rows(&path, &ReadOptions::default()).expect("read"), ROWS);
}

#[test]
fn damage_inside_compressed_arrays_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let sound = npz(Deflated);
    let mut missed = 0;
    // The compressed numbers lie somewhere in the middle of the archive.
    for at in 40..sound.len() / 2 {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x10;
        let path = put(folder.path(), "damaged.npz", &damaged);
        if rows(&path, &ReadOptions::default()).is_ok_and(|found| found != ROWS) {
            missed += 1;
        }
    }
    assert_eq!(missed, 0, "damaged numbers were taken for sound ones");
}
