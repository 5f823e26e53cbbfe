use crate::error::ErrorKind;
use crate::format::tests::{LABELS, ROWS, Sample, named, put, rows, single};
use crate::{Column, LogitsReader, Quantity, ReadOptions, Source, read_column};
use arrow_array::builder::{Float32Builder, ListBuilder};
use arrow_array::types::{Float32Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Float64Array, Int64Array,
    LargeListArray, ListArray, RecordBatch, StringArray, StructArray,
};
use arrow_buffer::NullBuffer;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use std::path::PathBuf;
use std::sync::Arc;

const LIST: &[u8] = include_bytes!("../../../fixtures/list.arrow");
const COLUMNS: &[u8] = include_bytes!("../../../fixtures/columns.feather");
const NESTED: &[u8] = include_bytes!("../../../fixtures/nested.arrow");
/// The logits of all three; those of the columns are a third of it.
const VALUES: [[f64; 4]; 3] =
    [[1.5, -0.25, 0.0, 2.0], [0.125, 3.0, -1.0, 0.5], [-2.0, 1.0, 4.0, 0.75]];

/// Lists as a packed file, and columns in a stream of two batches.
pub(super) fn samples() -> Vec<Sample> {
    let labels: ArrayRef = Arc::new(Int64Array::from(LABELS.map(i64::from).to_vec()));
    let lists = ROWS.map(|row| Some(row.map(|x| Some(single(x)))));
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(lists));
    let lists = batch([("logits", lists), ("label", Arc::clone(&labels))]);
    let column = |class: usize| -> ArrayRef {
        Arc::new(Float64Array::from(ROWS.map(|row| row[class]).to_vec()))
    };
    let columns = batch([
        ("l0", column(0)),
        ("l1", column(1)),
        ("l2", column(2)),
        ("l3", column(3)),
        ("label", labels),
    ]);
    let packed = file(&[lists], Some(CompressionType::LZ4_FRAME));
    vec![Sample::both(packed), Sample::both(stream(&[columns.slice(0, 2), columns.slice(2, 3)]))]
}

fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
        .unwrap()
}

fn file(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        FileWriter::try_new_with_options(&mut bytes, &batches[0].schema(), options).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    bytes
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn put(&self, bytes: &[u8]) -> PathBuf {
        put(self.0.path(), "x.arrow", bytes)
    }

    fn refused(&self, bytes: &[u8], name: Option<&str>) -> String {
        rows(&self.put(bytes), &named(name, None)).unwrap_err().kind.to_string()
    }

    fn column(&self, bytes: &[u8], name: &str) -> Result<Column, String> {
        let source = Source::new(self.put(bytes));
        let found = read_column(&source, None, Quantity::Column, Some(name));
        found.map_err(|error| error.kind.to_string())
    }
}

fn texts(values: [&str; 3]) -> Column {
    Column::Texts(values.map(String::from).to_vec())
}

#[test]
fn files_of_pyarrow_are_read() {
    let folder = Folder::new();
    let of = |bytes: &[u8], name| rows(&folder.put(bytes), &named(name, None)).unwrap();
    assert_eq!(of(LIST, None), VALUES);
    assert_eq!(of(COLUMNS, None), VALUES.map(|row| row.map(|x| x / 3.0)));
    for name in ["out.logits", "big", "view"] {
        assert_eq!(of(NESTED, Some(name)), VALUES, "{name}");
    }
    for bytes in [LIST, COLUMNS] {
        assert_eq!(folder.column(bytes, "label").unwrap(), Column::Integers(vec![3, 1, 2]));
    }
    let animals = texts(["ant", "bee", "cat"]);
    assert_eq!(folder.column(COLUMNS, "name").unwrap(), animals);
    assert_eq!(folder.column(NESTED, "id").unwrap(), animals);
    assert_eq!(folder.column(NESTED, "out.who").unwrap(), texts(["x", "y", "z"]));
    let bools = Column::Bools(vec![true, false, true]);
    assert_eq!(folder.column(NESTED, "true_label").unwrap(), bools);
    // Beyond i64 a number keeps its size, to be refused as a label with it.
    let large = Column::Floats(vec![1.0, 2.0, 9223372036854775808.0]);
    assert_eq!(folder.column(NESTED, "u").unwrap(), large);
    let error = folder.column(NESTED, "when").unwrap_err();
    assert_eq!(error, "column 'when' holds neither numbers nor text");
    assert_eq!(folder.column(NESTED, "big").unwrap_err(), "column 'big' holds lists");
    let error = folder.refused(NESTED, Some("id"));
    assert_eq!(error, "column 'id' does not hold numbers");
    // Several lists: they must be named.
    assert_eq!(
        folder.refused(NESTED, None),
        "which of 'out.logits', 'big', 'view' holds the logits?"
    );
}

#[test]
fn kept_columns_go_along_with_their_rows() {
    let folder = Folder::new();
    let source = Source::new(folder.put(NESTED));
    let keep = vec!["id".to_string(), "out.who".to_string()];
    for row_by_row in [false, true] {
        let options = ReadOptions { keep: keep.clone(), row_by_row, ..named(Some("big"), None) };
        let mut reader = LogitsReader::open(&source, &options).unwrap();
        assert_eq!(reader.rows(), Some(3));
        let mut all: Vec<Vec<String>> = vec![Vec::new(); 2];
        while let Some((_, logits, kept, _)) = reader.next_with_kept().unwrap() {
            for (all, part) in all.iter_mut().zip(kept) {
                assert_eq!(part.len(), logits.rows());
                all.extend(part.into_texts());
            }
        }
        assert_eq!(all, [["ant", "bee", "cat"], ["x", "y", "z"]]);
    }
}

#[test]
fn missing_values_are_refused_with_row_and_column() {
    let folder = Folder::new();
    let numbers = |values: Vec<Option<f64>>| -> ArrayRef { Arc::new(Float64Array::from(values)) };
    let whole = numbers(vec![Some(1.0), Some(2.0)]);
    let part = batch([("a", Arc::clone(&whole)), ("b", numbers(vec![Some(3.0), None]))]);
    let sound = batch([("a", Arc::clone(&whole)), ("b", Arc::clone(&whole))]);
    for bytes in [file(&[sound.clone(), part.clone()], None), stream(&[sound, part])] {
        let error = folder.refused(&bytes, None);
        assert_eq!(error, "row 3, column b: the value is missing");
        let error = folder.column(&bytes, "b").unwrap_err();
        assert_eq!(error, "row 3, column b: the value is missing");
    }
    let mut lists = ListBuilder::new(Float32Builder::new());
    lists.append_value([Some(1.0), Some(2.0)]);
    lists.append_value([Some(1.0), None]);
    let elements = file(&[batch([("x", Arc::new(lists.finish()))])], None);
    assert_eq!(folder.refused(&elements, None), "row 1, column x[1]: the value is missing");
    lists.append_value([Some(1.0), Some(2.0)]);
    lists.append_null();
    let missing = file(&[batch([("x", Arc::new(lists.finish()))])], None);
    assert_eq!(folder.refused(&missing, None), "row 1, column x: the value is missing");
    // A structure that is missing has no fields.
    let fields = [("x", whole)].map(|(name, array)| {
        (Arc::new(arrow_schema::Field::new(name, array.data_type().clone(), true)), array)
    });
    let (fields, arrays): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    let nulls = NullBuffer::from(vec![false, true]);
    let outer = StructArray::new(fields.into(), arrays, Some(nulls));
    let missing = file(&[batch([("s", Arc::new(outer))])], None);
    let error = folder.column(&missing, "s.x").unwrap_err();
    assert_eq!(error, "row 0, column s.x: the value is missing");
    let words: DictionaryArray<Int32Type> = [Some("a"), None].into_iter().collect();
    let missing = file(&[batch([("w", Arc::new(words))])], None);
    assert_eq!(folder.column(&missing, "w").unwrap_err(), "row 1, column w: the value is missing");
}

#[test]
fn lists_of_other_lengths_are_refused() {
    let folder = Folder::new();
    let lists = |lengths: &[usize]| -> ArrayRef {
        let lists = lengths.iter().map(|&n| Some(vec![Some(0.5); n]));
        Arc::new(LargeListArray::from_iter_primitive::<Float32Type, _, _>(lists))
    };
    let of = |lengths: &[usize]| {
        let batches = [batch([("x", lists(&[2, 2]))]), batch([("x", lists(lengths))])];
        folder.refused(&stream(&batches), None)
    };
    assert_eq!(of(&[2, 3]), "row 3: 3 values where 2 were expected");
    // Two rows whose lengths add up.
    assert_eq!(of(&[1, 3]), "row 2: 1 values where 2 were expected");
    assert_eq!(of(&[2, 0]), "row 3: 0 values where 2 were expected");
    let empty = folder.refused(&file(&[batch([("x", lists(&[0, 0]))])], None), None);
    assert_eq!(empty, "'x' has the shape (2 × 0), but rows × classes is expected");
    let one = batch([("x", Arc::new(Float64Array::from(vec![0.5, 1.5])))]);
    let error = folder.refused(&file(&[one], None), Some("x"));
    assert_eq!(error, "'x' has the shape (2), but rows × classes is expected");
}

#[test]
fn lists_that_do_not_follow_each_other_are_read() {
    // A slice of lists, whose elements begin before and end behind it.
    let folder = Folder::new();
    let element =
        Arc::new(arrow_schema::Field::new_list_field(arrow_schema::DataType::Float64, true));
    let values: ArrayRef = Arc::new(Float64Array::from_iter_values((0..8).map(f64::from)));
    let lists = FixedSizeListArray::new(element, 2, values, None);
    let sliced = batch([("x", Arc::new(lists.slice(1, 2)))]);
    let found = rows(&folder.put(&file(&[sliced], None)), &ReadOptions::default()).unwrap();
    assert_eq!(found, [[2.0, 3.0], [4.0, 5.0]]);
}

#[test]
fn dictionaries_may_be_replaced_and_labels_be_text_or_bools() {
    let folder = Folder::new();
    let words = |words: [&str; 2]| -> ArrayRef {
        Arc::new(words.into_iter().collect::<DictionaryArray<Int32Type>>())
    };
    let bytes = stream(&[batch([("w", words(["b", "a"]))]), batch([("w", words(["c", "b"]))])]);
    let found = folder.column(&bytes, "w").unwrap();
    assert_eq!(found, Column::Texts(["b", "a", "c", "b"].map(String::from).to_vec()));
    let plain = batch([
        ("t", Arc::new(StringArray::from(vec!["x", "y"])) as ArrayRef),
        ("b", Arc::new(BooleanArray::from(vec![true, false]))),
    ]);
    let bytes = file(&[plain], Some(CompressionType::ZSTD));
    assert_eq!(folder.column(&bytes, "t").unwrap(), Column::Texts(vec!["x".into(), "y".into()]));
    assert_eq!(folder.column(&bytes, "b").unwrap(), Column::Bools(vec![true, false]));
}

#[test]
fn a_stream_without_its_end_is_cut_short() {
    let folder = Folder::new();
    assert_eq!(folder.refused(&LIST[..LIST.len() - 8], None), "the file is cut short");
    let longer = [LIST, b"more"].concat();
    assert!(folder.refused(&longer, None).contains("there is something behind its end"));
    let twice = [LIST, LIST].concat();
    assert!(folder.refused(&twice, None).contains("there is something behind its end"));
}

#[test]
fn sizes_that_no_packed_buffer_has_are_refused() {
    // The size of a packed buffer is its first eight bytes.
    let folder = Folder::new();
    let constant: ArrayRef = Arc::new(Float64Array::from(vec![0.5; 4096]));
    let batch = batch([("a", Arc::clone(&constant)), ("b", constant)]);
    let codecs = [
        (CompressionType::LZ4_FRAME, [0x04, 0x22, 0x4d, 0x18]),
        (CompressionType::ZSTD, [0x28, 0xb5, 0x2f, 0xfd]),
    ];
    for (codec, magic) in codecs {
        let mut bytes = file(std::slice::from_ref(&batch), Some(codec));
        let packed = [&(4096_i64 * 8).to_le_bytes()[..], &magic].concat();
        let at = bytes.windows(packed.len()).position(|part| part == packed).unwrap();
        bytes[at + 5] = 1;
        let error = folder.refused(&bytes, None);
        assert!(error.ends_with("a buffer of 1099511660544 bytes is promised"), "{error}");
    }
}

#[test]
fn older_kinds_of_files_are_refused_by_name() {
    let folder = Folder::new();
    let path = put(folder.0.path(), "x.feather", b"FEA1 whatever");
    let error = rows(&path, &ReadOptions::default()).unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("Feather of version 1"), "{error}");
}
