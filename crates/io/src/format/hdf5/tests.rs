use crate::format::tests::{LABELS, ROWS, Sample, named, put, rows};
use crate::{Column, Quantity, ReadOptions, Source, read_column, read_fields};
use std::path::PathBuf;

const PLAIN: &[u8] = include_bytes!("../../../fixtures/plain.h5");
const CHUNKED: &[u8] = include_bytes!("../../../fixtures/chunked.h5");
const KINDS: &[u8] = include_bytes!("../../../fixtures/kinds.h5");

/// A file of two arrays, and one of chunks in a group.
pub(super) fn samples() -> Vec<Sample> {
    vec![Sample::both(PLAIN.to_vec()), Sample::both(CHUNKED.to_vec())]
}

fn kinds(folder: &tempfile::TempDir) -> PathBuf {
    put(folder.path(), "kinds.h5", KINDS)
}

#[test]
fn every_kind_of_numbers_and_chunks_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = kinds(&folder);
    for name in ["half", "big", "bf16", "unlimited"] {
        assert_eq!(rows(&path, &named(Some(name), None)).expect(name), ROWS, "{name}");
    }
    let path = put(folder.path(), "chunked.h5", CHUNKED);
    let options = named(Some("eval/logits"), Some("eval/y"));
    assert_eq!(rows(&path, &options).unwrap(), ROWS);
    let source = Source::new(&path);
    let labels = read_column(&source, None, Quantity::Labels, Some("eval/y")).unwrap();
    assert_eq!(labels, Column::Integers(LABELS.map(i64::from).to_vec()));
}

#[test]
fn text_and_truth_values_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source::new(kinds(&folder));
    let column = |name| read_column(&source, None, Quantity::Labels, Some(name)).unwrap();
    let names = Column::Texts(["ant", "bee", "cat", "ant", "bee"].map(String::from).to_vec());
    assert_eq!(column("fixed"), names);
    assert_eq!(column("var"), names);
    assert_eq!(column("bool"), Column::Bools(vec![true, false, true, true, false]));
    // One number alone is no array.
    let fields = read_fields(&source, None).unwrap();
    assert!(!fields.iter().any(|field| field.name == "scalar"));
}

#[test]
fn what_is_not_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = kinds(&folder);
    let refused = |name| rows(&path, &named(Some(name), None)).unwrap_err().kind.to_string();
    assert!(refused("lzf").contains("filter"), "{}", refused("lzf"));
    // The rest would be zeros.
    assert!(refused("partly").contains("never written"), "{}", refused("partly"));
    assert!(refused("cube").contains("(2 × 2 × 2)"), "{}", refused("cube"));
    assert!(refused("fixed").contains("(5)"), "{}", refused("fixed"));
    let cut = put(folder.path(), "cut.h5", &PLAIN[..PLAIN.len() - 1]);
    let error = rows(&cut, &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("cut short: 2167 of 2168"), "{error}");
}
