use super::read::table_of;
use crate::ReadOptions;
use crate::column::Column;
use crate::error::{ErrorKind, Result};
use crate::format::tests::{LABELS, ROWS, Sample, single};
use crate::layout::{self, Quantity};
use crate::matrix::Matrix;
use crate::reader::{Known, columns_of};
use crate::table::{Selection, Table};
use abstain::logits::Values;
use half::f16;
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType};
use parquet::data_type::{FloatType, Int32Type, Int64Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::sync::Arc;

const LIST: &[u8] = include_bytes!("../../../fixtures/list.parquet");
const COLUMNS: &[u8] = include_bytes!("../../../fixtures/columns.parquet");
/// The logits of both; those of the columns are a third of it.
const VALUES: [f64; 12] = [1.5, -0.25, 0.0, 2.0, 0.125, 3.0, -1.0, 0.5, -2.0, 1.0, 4.0, 0.75];

type Group<'a> = SerializedRowGroupWriter<'a, File>;

/// One list for each row, and one column for each class.
pub(super) fn samples() -> Vec<Sample> {
    let labels = LABELS.map(i64::from);
    let list = "message m { repeated float logits; required int64 label; }";
    let list = table(list, 1, |_, out| {
        let values: Vec<f32> = ROWS.iter().flatten().map(|&x| single(x)).collect();
        put::<FloatType>(out, &values, [&[1; 20], &[0, 1, 1, 1].repeat(5)]);
        put::<Int64Type>(out, &labels, [&[]; 2]);
    });
    let columns = "message m { required double l0; required double l1; required double l2;
        required double l3; required int64 label; }";
    let columns = table(columns, 1, |_, out| {
        for class in 0..4 {
            put::<DoubleType>(out, &ROWS.map(|row| row[class]), [&[]; 2]);
        }
        put::<Int64Type>(out, &labels, [&[]; 2]);
    });
    let bytes = |mut file: File| {
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        bytes
    };
    vec![Sample::both(bytes(list)), Sample::both(bytes(columns))]
}

/// A file whose row groups are written one by one.
fn table(schema: &str, groups: usize, fill: impl Fn(usize, &mut Group<'_>)) -> File {
    let schema = parquet::schema::parser::parse_message_type(schema).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .build();
    let file = tempfile::tempfile().unwrap();
    let mut out = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).unwrap();
    for group in 0..groups {
        let mut writer = out.next_row_group().unwrap();
        fill(group, &mut writer);
        writer.close().unwrap();
    }
    out.into_inner().unwrap()
}

/// Writes the next column with its definition and repetition levels.
fn put<D: DataType>(group: &mut Group<'_>, values: &[D::T], levels: [&[i16]; 2]) {
    let mut column = group.next_column().unwrap().unwrap();
    let [definition, repetition] = levels.map(|l| (!l.is_empty()).then_some(l));
    column.typed::<D>().write_batch(values, definition, repetition).unwrap();
    column.close().unwrap();
}

fn from_bytes(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn open(file: &File, name: Option<&str>) -> Result<Box<dyn Matrix>> {
    let table = Box::new(table_of(file.try_clone()?)?);
    let options = ReadOptions { logits_name: name.map(Into::into), ..ReadOptions::default() };
    let columns = columns_of(table.fields(), false, &options, &Known::default())?.columns;
    table.matrix(&Selection { columns: &columns, one_number: false, kept: &[] })
}

fn column(file: &File, name: Option<&str>) -> Result<Column> {
    let table = Box::new(table_of(file.try_clone()?)?);
    let index = layout::column(table.fields(), Quantity::Labels, name, &[], false)?;
    table.columns(&[index])?.remove(0)
}

fn names(file: &File) -> Vec<String> {
    match column(file, Some("no such column")) {
        Err(ErrorKind::NoSuchName { names, .. }) => names,
        other => panic!("{other:?}"),
    }
}

/// All values of a file, read in chunks of so many rows, and the name of their type.
fn read(file: &File, requested: Option<&str>, rows: usize) -> Result<(Vec<f64>, &'static str)> {
    let mut matrix = open(file, requested)?;
    let (mut all, mut kind) = (Vec::new(), "");
    while let Some(values) = matrix.next_chunk(rows)? {
        kind = match values {
            Values::F16(v) => (all.extend(v.iter().map(|x| x.to_f64())), "f16").1,
            Values::F32(v) => (all.extend(v.iter().map(|&x| f64::from(x))), "f32").1,
            Values::F64(v) => (all.extend_from_slice(&v), "f64").1,
            _ => panic!("another type"),
        };
        // No chunk but the last is short.
        let ends = all.len() as u64 == matrix.rows().unwrap() * matrix.classes() as u64;
        assert!(ends || all.len().is_multiple_of(rows * matrix.classes()));
    }
    assert!(matrix.next_chunk(rows)?.is_none());
    assert_eq!(all.len() as u64, matrix.rows().unwrap() * matrix.classes() as u64);
    Ok((all, kind))
}

fn refused(file: &File, requested: Option<&str>) -> String {
    read(file, requested, 7).unwrap_err().to_string()
}

#[test]
fn files_of_pyarrow_are_read() {
    let (list, columns) = (from_bytes(LIST), from_bytes(COLUMNS));
    for rows in [1, 2, 3, 100] {
        assert_eq!(read(&list, None, rows).unwrap(), (VALUES.to_vec(), "f32"));
        let thirds = VALUES.map(|x| x / 3.0).to_vec();
        for requested in [None, Some("logit_*")] {
            assert_eq!(read(&columns, requested, rows).unwrap(), (thirds.clone(), "f64"));
        }
    }
    let labels = Column::Integers(vec![3, 1, 2]);
    assert_eq!(column(&list, None).unwrap(), labels);
    assert_eq!(column(&columns, Some("label")).unwrap(), labels);
    let all = ["logit_0", "logit_1", "logit_2", "logit_3", "label", "name"];
    assert_eq!(names(&columns), all);
    assert_eq!(names(&list), ["logits", "label"]);
}

#[test]
fn lists_are_read_however_they_are_nested_and_grouped() {
    let schemas = [
        (3, "optional group a (LIST) { repeated group list { optional float element; } }"),
        (1, "required group a (LIST) { repeated group list { required float element; } }"),
        (2, "optional group a (LIST) { repeated group list { required float element; } }"),
        (2, "optional group a (LIST) { repeated float element; }"),
        (1, "repeated float a;"),
    ];
    let sizes = [3, 5, 0, 1, 40];
    let values: Vec<f32> = (0..49 * 3_u16).map(f32::from).collect();
    for (full, schema) in schemas {
        let file = table(&format!("message m {{ {schema} }}"), sizes.len(), |group, out| {
            let start: usize = sizes[..group].iter().sum();
            let levels = [&vec![full; sizes[group] * 3], &[0, 1, 1].repeat(sizes[group])];
            let values = &values[3 * start..3 * (start + sizes[group])];
            put::<FloatType>(out, values, levels.map(|l| &l[..]));
        });
        for rows in (1..10).chain([48, 49, 50]) {
            let (found, kind) = read(&file, [None, Some("a")][rows % 2], rows).unwrap();
            assert!(found.iter().zip(&values).all(|(&x, &y)| x == f64::from(y)), "{schema}");
            assert_eq!((found.len(), kind), (values.len(), "f32"));
        }
    }
}

#[test]
fn uneven_lists_are_refused_with_their_row() {
    let schema = "message m { optional group a (LIST) { repeated group list {
        optional double element; } } }";
    let full = [3; 12];
    let even = [0, 1, 0, 1, 0, 1, 0, 1];
    let cases: [(&[i16], &[i16], &str); 7] = [
        (&[3; 4], &[0, 1, 0, 0], "row 9: 1 values where 2 were expected"),
        (&[3; 5], &[0, 1, 0, 1, 1], "row 9: 3 values where 2 were expected"),
        // Two rows whose lengths add up.
        (&[3; 4], &[0, 0, 1, 1], "row 8: 1 values where 2 were expected"),
        (&[3, 3, 1, 3, 3], &[0, 1, 0, 0, 1], "row 9: 0 values where 2 were expected"),
        (&[3, 3, 0, 3, 3], &[0, 1, 0, 0, 1], "row 9, column a: the value is missing"),
        (&[3, 3, 3, 2], &[0, 1, 0, 1], "row 9, column a[1]: the value is missing"),
        (&[0], &[0], "row 8, column a: the value is missing"),
    ];
    for (definition, repetition, problem) in cases {
        let file = table(schema, 3, |group, out| {
            let (definition, repetition) =
                if group < 2 { (&full[..8], &even[..]) } else { (definition, repetition) };
            let values = definition.iter().filter(|&&level| level == 3).count();
            put::<DoubleType>(out, &vec![0.5; values], [definition, repetition]);
        });
        assert_eq!(refused(&file, None), problem);
    }
    let first = |definition: &[i16], repetition: &[i16]| {
        let values = vec![0.5; definition.iter().filter(|&&level| level == 3).count()];
        let levels = [definition, repetition];
        refused(&table(schema, 1, |_, out| put::<DoubleType>(out, &values, levels)), None)
    };
    let shape = "'a' has the shape (2 × 0), but rows × classes is expected";
    assert_eq!(first(&[1, 1], &[0, 0]), shape);
    assert_eq!(first(&[0], &[0]), "row 0, column a: the value is missing");
    assert_eq!(first(&[3, 2], &[0, 1]), "row 0, column a[1]: the value is missing");
    assert_eq!(refused(&table(schema, 0, |_, _| ()), None), "there are no rows");
}

#[test]
fn an_error_is_not_followed_by_rows() {
    let file = table("message m { repeated float a; }", 1, |_, out| {
        put::<FloatType>(out, &[0.0; 4], [&[1; 4], &[0, 1, 0, 0]]);
    });
    let mut matrix = open(&file, None).unwrap();
    assert!(matrix.next_chunk(1).unwrap().is_some());
    assert!(matrix.next_chunk(1).is_err());
    assert!(matrix.next_chunk(1).is_err());
}

#[test]
fn columns_are_woven_into_rows() {
    // More than a block, of several types, over row groups of 3 and 4 rows.
    let columns: Vec<String> = (0..19).map(|i| format!("optional float c{i}_;")).collect();
    let columns = columns.join(" ");
    let schema = format!(
        "message m {{ required int64 id; {columns} required double last; optional float y;
         optional binary name (UTF8); optional int32 cold (UINT_32); }}"
    );
    let number = |row: usize, column: usize| (row * 100 + column) as f32;
    let file = table(&schema, 2, |group, out| {
        let rows = [0..3, 3..7][group].clone();
        let levels: [&[i16]; 2] = [&vec![1; rows.len()], &[]];
        put::<Int64Type>(out, &vec![9; rows.len()], [&[]; 2]);
        for column in 0..19 {
            let values: Vec<f32> = rows.clone().map(|row| number(row, column)).collect();
            put::<FloatType>(out, &values, levels);
        }
        let last: Vec<f64> = rows.clone().map(|row| f64::from(number(row, 19))).collect();
        put::<DoubleType>(out, &last, [&[]; 2]);
        put::<FloatType>(out, &vec![-1.0; rows.len()], levels);
        put::<ByteArrayType>(out, &vec!["x".into(); rows.len()], levels);
        put::<Int32Type>(out, &vec![-1; rows.len()], levels);
    });
    let rows = |columns: usize| {
        let all = (0..7).flat_map(|row| (0..columns).map(move |column| (row, column)));
        all.map(|(row, column)| f64::from(number(row, column))).collect::<Vec<f64>>()
    };
    for chunk in 1..9 {
        assert_eq!(
            read(&file, Some("c0*,c1*,c2*,c3*,c4*,c5*,c6*,c7*,c8*,c9*,last"), chunk).unwrap(),
            (rows(20), "f64")
        );
        let (prefixed, kind) = read(&file, Some("c*"), chunk).unwrap();
        assert_eq!((prefixed.len(), kind), (7 * 20, "f64"));
        assert_eq!(prefixed[6 * 20 + 19], f64::from(u32::MAX));
        let tens: Vec<f64> = read(&file, Some("c1*"), chunk).unwrap().0;
        assert_eq!((tens.len(), tens[10], tens[19]), (70, 101.0, 118.0));
    }
    assert_eq!(read(&file, Some("c1*"), 3).unwrap().1, "f32");
    // With a column of integers among floats they must be named, unless it is numbered as they are.
    assert!(refused(&file, None).contains("holds the logits?"));
    let schema = "message m { required int64 id; required double l0; required int64 l1; }";
    let mixed = table(schema, 1, |_, out| {
        put::<Int64Type>(out, &[7, 8], [&[]; 2]);
        put::<DoubleType>(out, &[0.5, 1.5], [&[]; 2]);
        put::<Int64Type>(out, &[-5, 3], [&[]; 2]);
    });
    assert_eq!(read(&mixed, None, 9).unwrap(), (vec![0.5, -5.0, 1.5, 3.0], "f64"));
    assert_eq!(refused(&file, Some("*")), "column 'name' does not hold numbers");
    let shape = "'c1_' has the shape (7), but rows × classes is expected";
    assert_eq!(refused(&file, Some("c1_")), shape);
    let names = "'id', 'c0_', 'c1_', 'c2_', 'c3_', 'c4_', 'c5_', 'c6_' and 16 more";
    let missing = format!("nothing in it is called 'd*'; there are {names}");
    assert_eq!(refused(&file, Some("d*")), missing);
}

#[test]
fn a_null_is_refused_with_its_column_and_row() {
    let schema = "message m { optional float a; optional float b; optional int32 label; }";
    let file = table(schema, 2, |group, out| {
        put::<FloatType>(out, &[1.0; 3], [&[1; 3], &[]]);
        put::<FloatType>(out, &vec![1.0; 3 - group], [[&[1; 3], &[1, 1, 0]][group], &[]]);
        put::<Int32Type>(out, &vec![1; 2 + group], [[&[1, 0, 1], &[1; 3]][group], &[]]);
    });
    assert_eq!(refused(&file, None), "row 5, column b: the value is missing");
    let error = column(&file, None).unwrap_err();
    assert_eq!(error.to_string(), "row 1, column label: the value is missing");
}

#[test]
fn half_precision_stays_half() {
    let list = "message m { required group a (LIST) { repeated group list {
        required fixed_len_byte_array(2) element (FLOAT16); } } }";
    let halves = |values: &[f32]| -> Vec<_> {
        values.iter().map(|&x| f16::from_f32(x).to_le_bytes().to_vec().into()).collect()
    };
    let values = halves(&[0.5, -2.0, 1024.0, 0.25]);
    let levels: [&[i16]; 2] = [&[1; 4], &[0, 1, 0, 1]];
    let file = table(list, 1, |_, out| put::<FixedLenByteArrayType>(out, &values, levels));
    let requested = vec![0.5, -2.0, 1024.0, 0.25];
    assert_eq!(read(&file, None, 1).unwrap(), (requested.clone(), "f16"));
    let columns = "message m { required fixed_len_byte_array(2) a (FLOAT16); \
                   required float b; }";
    let file = table(columns, 1, |_, out| {
        put::<FixedLenByteArrayType>(out, &halves(&[0.5, 1024.0]), [&[]; 2]);
        put::<FloatType>(out, &[-2.0, 0.25], [&[]; 2]);
    });
    assert_eq!(read(&file, None, 5).unwrap(), (requested, "f64"));
    let floats = Column::Floats(vec![0.5, 1024.0]);
    assert_eq!(column(&file, Some("a")).unwrap(), floats);
}

#[test]
fn the_list_that_looks_like_logits_is_taken() {
    let file = |names: &[&str]| {
        let fields: Vec<_> = names.iter().map(|name| format!("repeated float {name};")).collect();
        let schema = format!("message m {{ {} }}", fields.join(" "));
        table(&schema, 1, |_, out| {
            for (at, _) in names.iter().enumerate() {
                put::<FloatType>(out, &[at as f32; 2], [&[1; 2], &[0, 1]]);
            }
        })
    };
    assert_eq!(read(&file(&["label", "Any"]), None, 9).unwrap().0, [1.0; 2]);
    assert_eq!(read(&file(&["a", "probs", "Logits"]), None, 9).unwrap().0, [2.0; 2]);
    assert_eq!(read(&file(&["a", "b"]), Some("b"), 9).unwrap().0, [1.0; 2]);
    assert_eq!(refused(&file(&["a", "b"]), None), "which of 'a', 'b' holds the logits?");
    let only = "there are no columns of classes in it; there is 'label'";
    assert_eq!(refused(&file(&["label"]), None), only);
    let error = column(&file(&["label"]), None).unwrap_err();
    assert_eq!(error.to_string(), "column 'label' holds lists");
    // Integers are taken if there is nothing better.
    let integers = "message m { repeated int32 a; required int64 __index_level_0__; }";
    let file = table(integers, 1, |_, out| {
        put::<Int32Type>(out, &[-1, 2], [&[1; 2], &[0, 1]]);
        put::<Int64Type>(out, &[5], [&[]; 2]);
    });
    assert_eq!(read(&file, None, 9).unwrap(), (vec![-1.0, 2.0], "f64"));
}

#[test]
fn a_column_is_found_by_its_name_or_as_the_only_one() {
    let file = table("message m { required boolean a; }", 2, |_, out| {
        put::<BoolType>(out, &[true, false], [&[]; 2]);
    });
    let only = Column::Bools(vec![true, false, true, false]);
    assert_eq!(column(&file, None).unwrap(), only);
    assert_eq!(column(&file, Some("A")).unwrap(), only);
    let error = column(&file, Some("b")).unwrap_err();
    assert_eq!(error.to_string(), "nothing in it is called 'b'; there is 'a'");
    let schema = "message m { required int64 a (UINT_64); required binary b (UTF8); }";
    let file = table(schema, 1, |_, out| {
        put::<Int64Type>(out, &[7, -1], [&[]; 2]);
        put::<ByteArrayType>(out, &["x".into(), "y".into()], [&[]; 2]);
    });
    let error = column(&file, None).unwrap_err();
    assert_eq!(error.to_string(), "which of 'a', 'b' holds the labels?");
    // Beyond i64 a number keeps its size, to be refused as a label with it.
    let large = Column::Floats(vec![7.0, 18446744073709551615.0]);
    assert_eq!(column(&file, Some("a")).unwrap(), large);
    let texts = Column::Texts(vec!["x".into(), "y".into()]);
    assert_eq!(column(&file, Some("b")).unwrap(), texts);
}

#[test]
fn broken_files_are_refused_without_a_panic() {
    let all = |bytes: &[u8]| {
        let file = from_bytes(bytes);
        let _ = column(&file, None);
        read(&file, None, 2)
    };
    let message = |bytes: &[u8]| all(bytes).unwrap_err().to_string();
    assert_eq!(message(&LIST[..300]), "the file is cut short");
    for bytes in [&b"a,b\n"[..], b"PAR", b""] {
        assert!(message(bytes).ends_with("file: it does not begin with PAR1"));
    }
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        usize::try_from(state >> 33).unwrap()
    };
    for whole in [LIST, COLUMNS] {
        for length in 0..whole.len() {
            assert!(all(&whole[..length]).is_err(), "{length}");
        }
        for _ in 0..300 {
            let mut bytes = whole.to_vec();
            for _ in 0..=next() % 3 {
                let at = next() % bytes.len();
                bytes[at] = u8::try_from(next() % 256).unwrap();
            }
            let _ = all(&bytes);
        }
    }
}
