use crate::format::tests::{LABELS, ROWS, Sample, gzip, labels, put, rows, single};
use crate::{Quantity, ReadOptions, Source, read_column};
use abstain_kit::{Order, npy, npy_in_order};
use half::f16;

pub(in crate::format) fn samples() -> Vec<Sample> {
    let by_columns = npy_in_order("'<f8'", "(5, 4)", Order::Fortran, &columns(f64::to_le_bytes));
    [f32_npy(), by_columns]
        .map(|logits| Sample { logits, labels: labels_npy(), open_ended: false })
        .into()
}

/// The bytes of all rows, number by number.
pub(in crate::format) fn bytes<const N: usize>(convert: impl Fn(f64) -> [u8; N]) -> Vec<u8> {
    ROWS.iter().flatten().flat_map(|&x| convert(x)).collect()
}

/// The same in single precision.
pub(in crate::format) fn f32_bytes() -> Vec<u8> {
    bytes(|x| single(x).to_le_bytes())
}

/// The same, column by column.
pub(in crate::format) fn columns<const N: usize>(convert: impl Fn(f64) -> [u8; N]) -> Vec<u8> {
    (0..4).flat_map(|c| ROWS.map(|row| row[c])).flat_map(convert).collect()
}

pub(in crate::format) fn f32_npy() -> Vec<u8> {
    npy("'<f4'", "(5, 4)", &f32_bytes())
}

pub(in crate::format) fn labels_npy() -> Vec<u8> {
    let data: Vec<u8> = LABELS.iter().flat_map(|&x| i64::from(x).to_le_bytes()).collect();
    npy("'<i8'", "(5,)", &data)
}

#[test]
fn logits_are_read_from_any_float_type_and_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let by_columns = npy_in_order("'<f8'", "(5, 4)", Order::Fortran, &columns(f64::to_le_bytes));
    for (name, data) in [
        ("f2.npy", npy("'<f2'", "(5, 4)", &bytes(|x| f16::from_f64(x).to_le_bytes()))),
        ("f8.npy", npy("'<f8'", "(5, 4)", &bytes(f64::to_le_bytes))),
        ("big-endian.npy", npy("'>f4'", "(5, 4)", &bytes(|x| single(x).to_be_bytes()))),
        ("packed-without-its-extension.npy", gzip(&by_columns)),
    ] {
        let path = put(folder.path(), name, &data);
        assert_eq!(rows(&path, &ReadOptions::default()).expect("read"), ROWS, "{name}");
    }
}

#[test]
fn labels_are_read_from_any_integer_type() {
    fn data<const N: usize>(convert: impl Fn(u8) -> [u8; N]) -> Vec<u8> {
        LABELS.iter().flat_map(|&x| convert(x)).collect()
    }
    let folder = tempfile::tempdir().expect("a folder");
    for (descr, shape, data) in [
        ("'<i8'", "(5,)", data(|x| i64::from(x).to_le_bytes())),
        ("'>i8'", "(5,)", data(|x| i64::from(x).to_be_bytes())),
        ("'<i4'", "(5,)", data(|x| i32::from(x).to_le_bytes())),
        ("'<i2'", "(5,)", data(|x| i16::from(x).to_le_bytes())),
        ("'|i1'", "(5,)", LABELS.to_vec()),
        ("'|u1'", "(5,)", LABELS.to_vec()),
        ("'<u2'", "(5,)", data(|x| u16::from(x).to_le_bytes())),
        ("'<u4'", "(5,)", data(|x| u32::from(x).to_le_bytes())),
        ("'<u8'", "(5,)", data(|x| u64::from(x).to_le_bytes())),
        ("'<f4'", "(5,)", data(|x| f32::from(x).to_le_bytes())),
        ("'|u1'", "(5, 1)", LABELS.to_vec()),
    ] {
        let path = put(folder.path(), "labels.npy", &npy(descr, shape, &data));
        let found = labels(&path, &ReadOptions::default()).expect("read");
        assert_eq!(found, LABELS.map(u32::from), "{descr} {shape}");
    }
}

#[test]
fn whole_numbers_and_structured_arrays_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = npy("'<i4'", "(2, 3)", &[5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0].repeat(2));
    let path = put(folder.path(), "votes.npy", &whole);
    assert_eq!(rows(&path, &ReadOptions::default()).expect("read"), [[5.0, 1.0, 0.0]; 2]);
    let mut data = Vec::new();
    for (i, label) in LABELS.iter().enumerate() {
        data.extend_from_slice(&u32::from(*label).to_le_bytes());
        data.extend_from_slice(&(i as f64 / 2.0).to_le_bytes());
        data.push(u8::from(i > 2));
    }
    let descr = "[('prediction', '<u4'), ('confidence', '<f8'), ('accept', '|b1')]";
    let path = put(folder.path(), "scores.npy", &npy(descr, "(5,)", &data));
    let column = |name| {
        let source = Source::new(&path);
        let column = read_column(&source, None, Quantity::Column, Some(name));
        column.expect("read").into_floats().expect("numbers")
    };
    assert_eq!(column("confidence"), [0.0, 0.5, 1.0, 1.5, 2.0]);
    assert_eq!(column("prediction"), LABELS.map(f64::from));
    assert_eq!(column("accept"), [0.0, 0.0, 0.0, 1.0, 1.0]);
}

/// Records of absurd length are refused, not made room for.
#[test]
fn records_that_are_too_large_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let descr = "[('t', '|S999999999999999'), ('a', '<f4')]";
    let path = put(folder.path(), "record.npy", &npy(descr, "(3,)", &[0; 64]));
    let error = labels(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("its records are too large"), "{error}");
}
