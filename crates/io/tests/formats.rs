//! Every format gives the same rows; every damaged file gives an error.

#![allow(clippy::cast_possible_truncation, missing_docs)]

mod common;

use abstain_io::{Encoding, Error, LogitsReader, ReadOptions, Source, read_labels, read_numbers};
use common::{
    LABELS, ROWS, archive, bytes, columns, f32_npy, gzip, labels_npy, npy, npz, put, safetensors,
    text,
};
use half::{bf16, f16};
use proptest::prelude::*;
use std::path::Path;
use zip::CompressionMethod::{Deflated, Stored};

fn rows(path: &Path, options: &ReadOptions) -> Result<Vec<Vec<f64>>, Error> {
    let source = Source::new(path);
    let mut reader = LogitsReader::open(&source, options)?;
    let (mut all, mut row) = (Vec::new(), vec![0.0; reader.classes()]);
    while let Some((first, logits)) = reader.next_chunk()? {
        assert_eq!(first, all.len(), "chunks follow each other");
        for i in 0..logits.rows() {
            logits.copy_row(i, &mut row);
            all.push(row.clone());
        }
    }
    if let Some(promised) = reader.rows() {
        assert_eq!(promised, all.len() as u64);
    }
    Ok(all)
}

fn labels(path: &Path, options: &ReadOptions) -> Result<Vec<u32>, Error> {
    Ok(read_labels(&Source::new(path), options, 4)?.values().to_vec())
}

fn named(logits: Option<&str>, labels: Option<&str>) -> ReadOptions {
    ReadOptions {
        logits_name: logits.map(Into::into),
        labels_name: labels.map(Into::into),
        ..ReadOptions::default()
    }
}

#[test]
fn every_format_gives_the_same_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let f32_le = || bytes(|x| (x as f32).to_le_bytes());
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("f4.npy", f32_npy()),
        ("f2.npy", npy("'<f2'", "(5, 4)", false, &bytes(|x| f16::from_f64(x).to_le_bytes()))),
        ("f8.npy", npy("'<f8'", "(5, 4)", false, &bytes(f64::to_le_bytes))),
        ("big-endian.npy", npy("'>f4'", "(5, 4)", false, &bytes(|x| (x as f32).to_be_bytes()))),
        ("fortran.npy", npy("'<f8'", "(5, 4)", true, &columns(f64::to_le_bytes))),
        ("fortran.npy.gz", gzip(&npy("'<f8'", "(5, 4)", true, &columns(f64::to_le_bytes)))),
        ("packed.npy.gz", gzip(&f32_npy())),
        ("packed-without-saying.npy", gzip(&f32_npy())),
        ("stored.npz", npz(Stored)),
        ("deflated.npz", npz(Deflated)),
        (
            "fortran.npz",
            archive(
                &[("logits.npy", npy("'<f8'", "(5, 4)", true, &columns(f64::to_le_bytes)))],
                Deflated,
            ),
        ),
        ("f32.safetensors", safetensors(&[("logits", "F32", "[5,4]", f32_le())])),
        (
            "bf16.safetensors",
            safetensors(&[
                ("embedding", "F32", "[5,4]", bytes(|_| [0; 4])),
                ("logits", "BF16", "[5,4]", bytes(|x| bf16::from_f64(x).to_le_bytes())),
            ]),
        ),
        ("plain.csv", text(",", None)),
        ("names.csv", text(",", Some("a,b,c,d"))),
        ("tabs.tsv", text("\t", Some("a\tb\tc\td"))),
        ("semicolons.csv", text(";", None)),
        ("savetxt.txt", text(" ", Some("# a comment"))),
        ("packed.csv.gz", gzip(&text(",", None))),
        ("no-extension-npy", f32_npy()),
        ("no-extension-text", text(",", None)),
        ("no-extension-zip", npz(Deflated)),
    ];
    for (name, data) in files {
        let path = put(folder.path(), name, &data);
        let found = rows(&path, &ReadOptions::default());
        assert_eq!(found.unwrap_or_else(|error| panic!("{error}")), ROWS, "{name}");
    }
}

#[test]
fn labels_are_read_from_any_integer_type() {
    fn data<const N: usize>(convert: impl Fn(u8) -> [u8; N]) -> Vec<u8> {
        LABELS.iter().flat_map(|&x| convert(x)).collect()
    }
    let folder = tempfile::tempdir().expect("a folder");
    let text = LABELS.map(|x| format!("{x}\n")).concat();
    let floats = LABELS.map(|x| format!("{x}.0\n")).concat();
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("i8.npy", npy("'<i8'", "(5,)", false, &data(|x| i64::from(x).to_le_bytes()))),
        ("i8-big.npy", npy("'>i8'", "(5,)", false, &data(|x| i64::from(x).to_be_bytes()))),
        ("i4.npy", npy("'<i4'", "(5,)", false, &data(|x| i32::from(x).to_le_bytes()))),
        ("i2.npy", npy("'<i2'", "(5,)", false, &data(|x| i16::from(x).to_le_bytes()))),
        ("i1.npy", npy("'|i1'", "(5,)", false, &LABELS)),
        ("u1.npy", npy("'|u1'", "(5,)", false, &LABELS)),
        ("u2.npy", npy("'<u2'", "(5,)", false, &data(|x| u16::from(x).to_le_bytes()))),
        ("u4.npy", npy("'<u4'", "(5,)", false, &data(|x| u32::from(x).to_le_bytes()))),
        ("u8.npy", npy("'<u8'", "(5,)", false, &data(|x| u64::from(x).to_le_bytes()))),
        ("f4.npy", npy("'<f4'", "(5,)", false, &data(|x| f32::from(x).to_le_bytes()))),
        ("column.npy", npy("'|u1'", "(5, 1)", false, &LABELS)),
        ("labels.npz", npz(Deflated)),
        ("named.csv", format!("id,label\n{}", LABELS.map(|x| format!("7,{x}\n")).concat()).into()),
        ("plain.csv", text.clone().into()),
        ("headed.csv", format!("whatever\n{text}").into()),
        ("floats.txt", floats.into()),
        (
            "labels.safetensors",
            safetensors(&[
                ("labels", "I32", "[5]", data(|x| i32::from(x).to_le_bytes())),
                ("logits", "F32", "[5,4]", bytes(|x| (x as f32).to_le_bytes())),
            ]),
        ),
    ];
    for (name, data) in files {
        let path = put(folder.path(), name, &data);
        let found = labels(&path, &ReadOptions::default());
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found, LABELS.map(u32::from), "{name}");
    }
}

#[test]
fn tables_keep_labels_and_logits_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut table = String::from(",logit_0,logit_1,logit_2,logit_3,label\n");
    for (i, (row, label)) in ROWS.iter().zip(LABELS).enumerate() {
        let row = row.map(|x| x.to_string()).join(",");
        table += &[i.to_string(), row, label.to_string() + "\n"].join(",");
    }
    let path = put(folder.path(), "pandas.csv", table.as_bytes());
    assert_eq!(rows(&path, &ReadOptions::default()).expect("read"), ROWS);
    assert_eq!(labels(&path, &ReadOptions::default()).expect("read"), LABELS.map(u32::from));
    // By name, whatever else there is.
    let table = table.replace(",label", ",truth");
    let path = put(folder.path(), "other.csv", table.as_bytes());
    let options = named(Some("logit_*"), Some("truth"));
    assert_eq!(rows(&path, &options).expect("read"), ROWS);
    assert_eq!(labels(&path, &options).expect("read"), LABELS.map(u32::from));
    assert_eq!(rows(&path, &named(None, Some("truth"))).expect("read"), ROWS);
}

/// A line is one of names only if it cannot be one of numbers, and no row is lost without a word.
#[test]
fn the_first_line_of_text_is_names_or_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |text: &str| {
        rows(&put(folder.path(), "table.csv", text.as_bytes()), &ReadOptions::default())
            .map_err(|error| error.kind.to_string())
    };
    let both = vec![vec![1.5, 2.0], vec![3.0, 4.0]];
    for text in [
        "1.5,2\n3,4\n",
        "a,b\n1.5,2\n3,4\n",
        // pandas: columns that are numbers, an index without a name, both.
        "0,1\n1.5,2.0\n3.0,4.0\n",
        ",0,1\n0,1.5,2\n1,3,4\n",
        "0,1,label\n1.5,2,0\n3,4,1\n",
        // A delimiter after the last number; columns that are aligned.
        "1.5,2,\n3,4,\n",
        "   1.5   2\n  3     4  \n",
        "a b\n1.5 2\n3 4\n",
    ] {
        assert_eq!(read(text), Ok(both.clone()), "{text}");
    }
    // Votes and one-hot rows begin like names, and are none.
    let whole = vec![vec![0.0, 1.0], vec![1.0, 0.0]];
    for text in ["0,1\n1,0\n", "0.0,1.0\n1.0,0.0\n"] {
        assert_eq!(read(text), Ok(whole.clone()), "{text}");
    }
    for (text, message) in [
        ("1.0,NA,3.0\n2,1,0.5\n", "row 0 (line 1), column 1: 'NA' is not a number"),
        ("1.0,,3.0\n2,1,0.5\n", "row 0, column 1: the value is missing"),
        ("1,2\n3,\n", "row 1, column 1: the value is missing"),
        ("id,a,b\n7,1,2\n", "which of 'id', 'a', 'b' holds the logits?"),
        ("score,l0,l1\n7,1,2\n", "which of 'score', 'l0', 'l1' holds the logits?"),
        ("{\"a\": 1}\n", "it looks like JSON, which is not read"),
    ] {
        assert_eq!(read(text), Err(message.to_string()), "{text}");
    }
    let path = put(folder.path(), "id.csv", b"id,cat,dog\n7,1.5,2\n8,3,4\n");
    assert_eq!(rows(&path, &named(Some("cat,dog"), None)).expect("read"), both);
    // A long comment before the first line, through a pipe's buffer.
    let comment = format!("# {}\n1.5\t2\n3\t4\n", "x".repeat(5000));
    let path = put(folder.path(), "comment.tsv.gz", &gzip(comment.as_bytes()));
    assert_eq!(rows(&path, &ReadOptions::default()).expect("read"), both);
    // Labels beside an index; a name with a blank.
    for text in [",0\n0,3\n1,1\n", "my label\n3\n1\n"] {
        let path = put(folder.path(), "labels.csv", text.as_bytes());
        assert_eq!(labels(&path, &ReadOptions::default()).expect("read"), [3, 1], "{text}");
    }
}

#[test]
fn arrays_are_found_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = npy("'<f4'", "(5, 4)", false, &bytes(|_| [0; 4]));
    let files = [("mine.npy", f32_npy()), ("other.npy", other), ("truth.npy", labels_npy())];
    let path = put(folder.path(), "named.npz", &archive(&files, Stored));
    let options = named(Some("mine"), Some("truth"));
    assert_eq!(rows(&path, &options).expect("read"), ROWS);
    assert_eq!(labels(&path, &options).expect("read"), LABELS.map(u32::from));
    // The labels are the only array of one dimension; the logits could be either of two.
    assert_eq!(labels(&path, &ReadOptions::default()).expect("read"), LABELS.map(u32::from));
    let error = rows(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("which of 'mine', 'other', 'truth' holds the logits?"), "{error}");
    let error = rows(&path, &named(Some("yours"), None)).unwrap_err().to_string();
    assert!(error.contains("nothing in it is called 'yours'; there are 'mine'"), "{error}");
}

#[test]
fn whole_numbers_and_structured_arrays_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = npy("'<i4'", "(2, 3)", false, &[5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0].repeat(2));
    let path = put(folder.path(), "votes.npy", &whole);
    assert_eq!(rows(&path, &ReadOptions::default()).expect("read"), [[5.0, 1.0, 0.0]; 2]);
    let mut data = Vec::new();
    for (i, label) in LABELS.iter().enumerate() {
        data.extend_from_slice(&u32::from(*label).to_le_bytes());
        data.extend_from_slice(&(i as f64 / 2.0).to_le_bytes());
        data.push(u8::from(i > 2));
    }
    let descr = "[('prediction', '<u4'), ('confidence', '<f8'), ('accept', '|b1')]";
    let path = put(folder.path(), "scores.npy", &npy(descr, "(5,)", false, &data));
    let column = |name| {
        let source = Source::new(&path);
        read_numbers(&source, None, "numbers", Some(name), &[]).expect("read").into_floats()
    };
    assert_eq!(column("confidence"), [0.0, 0.5, 1.0, 1.5, 2.0]);
    assert_eq!(column("prediction"), LABELS.map(f64::from));
    assert_eq!(column("accept"), [0.0, 0.0, 0.0, 1.0, 1.0]);
}

#[test]
fn the_fixtures_of_other_programs_are_read() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let own = ReadOptions::default();
    let quarters: Vec<f64> = (0..12).map(|i| f64::from(i) / 4.0 - 1.0).collect();
    let quarters: Vec<&[f64]> = quarters.chunks(4).collect();
    assert_eq!(rows(&fixtures.join("dict.pt"), &own).expect("read"), quarters);
    assert_eq!(labels(&fixtures.join("dict.pt"), &own).expect("read"), [3, 0, 2]);
    let tensor = rows(&fixtures.join("tensor.pt"), &own).expect("read");
    assert_eq!(tensor, [[0.5, -1.0, 2.0], [3.0, 4.25, -6.0]]);
    let transposed = rows(&fixtures.join("transposed.pt"), &own).expect("read");
    assert_eq!(transposed, [[0.5, 3.5], [1.5, 4.5], [2.5, 5.5]]);
    let hostile = rows(&fixtures.join("calls-os-system.pt"), &own).unwrap_err();
    assert!(hostile.to_string().contains("nothing was run"), "{hostile}");
    #[cfg(feature = "parquet")]
    {
        assert_eq!(rows(&fixtures.join("list.parquet"), &own).expect("read"), ROWS[..3]);
        assert_eq!(labels(&fixtures.join("list.parquet"), &own).expect("read"), [3, 1, 2]);
        let columns = rows(&fixtures.join("columns.parquet"), &own).expect("read");
        assert_eq!(columns, ROWS.map(|row| row.map(|x| x / 3.0))[..3]);
        assert_eq!(labels(&fixtures.join("columns.parquet"), &own).expect("read"), [3, 1, 2]);
    }
}

/// Many chunks, read twice for the floor, and bad values named by their place in the file.
#[test]
fn chunks_do_not_show() {
    let folder = tempfile::tempdir().expect("a folder");
    let (classes, count) = (1000, 3000);
    let mut values = vec![0.0_f32; classes * count];
    for (i, row) in values.chunks_exact_mut(classes).enumerate() {
        row[i % classes] = 0.75;
        row[(i + 1) % classes] = 0.25 - 1e-4 * (i % 7) as f32;
        row[(i + 2) % classes] = 1e-4 * (i % 7) as f32;
    }
    let write = |values: &[f32], name: &str| {
        let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        put(folder.path(), name, &npy("'<f4'", "(3000, 1000)", false, &data))
    };
    let probabilities = ReadOptions {
        encoding: Encoding::Probabilities { floor: None, tolerance: None },
        ..ReadOptions::default()
    };
    let path = write(&values, "probs.npy");
    let source = Source::new(&path);
    let reader = LogitsReader::open(&source, &probabilities).expect("opened");
    assert_eq!(reader.floor(), Some(f64::from(1e-4_f32)));
    assert_eq!(rows(&path, &probabilities).expect("read").len(), count);
    values[2500 * classes + 7] = f32::NAN;
    let path = write(&values, "nan.npy");
    let error = rows(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("row 2500, column 7: logit NaN is not a finite number"), "{error}");
    let error = rows(&path, &probabilities).unwrap_err().to_string();
    assert!(error.contains("row 2500, column 7: NaN is not a probability"), "{error}");
}

/// Every beginning of a file is refused, and says so without a panic; of text, any line may be the
/// last.
#[test]
fn every_truncated_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let f32_le = bytes(|x| (x as f32).to_le_bytes());
    let fixture = |name: &str| {
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name))
            .expect("a fixture")
    };
    let mut files = vec![
        ("cut.npy", f32_npy()),
        ("cut.npy.gz", gzip(&f32_npy())),
        ("cut.npz", npz(Deflated)),
        ("stored.npz", npz(Stored)),
        ("cut.safetensors", safetensors(&[("logits", "F32", "[5,4]", f32_le)])),
        ("cut.pt", fixture("dict.pt")),
        ("cut.csv.gz", gzip(&text(",", None))),
    ];
    if cfg!(feature = "parquet") {
        files.push(("cut.parquet", fixture("list.parquet")));
    }
    for (name, data) in files {
        for end in 0..data.len() {
            let path = put(folder.path(), name, &data[..end]);
            let found = rows(&path, &ReadOptions::default());
            assert!(found.is_err(), "{name} cut at {end} of {}", data.len());
        }
    }
}

/// A header may promise more than its own part of an archive holds.
#[test]
fn arrays_end_with_their_part_of_an_archive() {
    let folder = tempfile::tempdir().expect("a folder");
    let short = npy("'<f4'", "(10, 4)", false, &bytes(|x| (x as f32).to_le_bytes()));
    for method in [Stored, Deflated] {
        let files = [("logits.npy", short.clone()), ("other.npy", f32_npy())];
        let path = put(folder.path(), "short.npz", &archive(&files, method));
        assert!(rows(&path, &named(Some("logits"), None)).is_err(), "{method}");
    }
    // Records of absurd length are refused, not made room for.
    let descr = "[('t', '|S999999999999999'), ('a', '<f4')]";
    let path = put(folder.path(), "record.npy", &npy(descr, "(3,)", false, &[0; 64]));
    let error = labels(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("its records are too large"), "{error}");
}

/// An archive may hold more arrays than a process may open files.
#[test]
fn many_arrays_are_one_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let names: Vec<String> = (0..3000).map(|i| format!("w{i}.npy")).collect();
    let weight = npy("'<f4'", "(1,)", false, &[0; 4]);
    let mut files: Vec<(&str, Vec<u8>)> =
        names.iter().map(|name| (&name[..], weight.clone())).collect();
    files.push(("logits.npy", f32_npy()));
    let path = put(folder.path(), "many.npz", &archive(&files, Stored));
    assert_eq!(rows(&path, &ReadOptions::default()).expect("read"), ROWS);
    let tensors: Vec<(&str, &str, &str, Vec<u8>)> =
        names.iter().map(|name| (&name[..], "F32", "[1]", vec![0; 4])).collect();
    let logits = ("logits", "F32", "[5,4]", bytes(|x| (x as f32).to_le_bytes()));
    let all = [tensors, vec![logits]].concat();
    let path = put(folder.path(), "many.safetensors", &safetensors(&all));
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever the bytes, there is an answer.
    #[test]
    fn hostile_bytes_never_panic(
        which in 0_usize..10,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let f32_le = bytes(|x| (x as f32).to_le_bytes());
        let (name, mut data) = match which {
            0 => ("x.npy", f32_npy()),
            1 => ("x.npz", npz(Deflated)),
            2 => ("x.npz", npz(Stored)),
            3 => ("x.safetensors", safetensors(&[("logits", "F32", "[5,4]", f32_le)])),
            4 => ("x.csv", text(",", Some("a,b,c,d"))),
            5 => ("x.pt", include_bytes!("../fixtures/dict.pt").to_vec()),
            6 => ("x.npy.gz", gzip(&f32_npy())),
            7 => ("x.npy", npy("[('a', '<f4'), ('b', '<i8')]", "(5,)", false, &[1; 60])),
            8 => ("x.parquet", include_bytes!("../fixtures/list.parquet").to_vec()),
            _ => ("x", npy("'<f8'", "(5, 4)", true, &columns(f64::to_le_bytes))),
        };
        for (index, byte) in changes {
            let at = index.index(data.len());
            data[at] = byte;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = put(folder.path(), name, &data);
        let _ = rows(&path, &ReadOptions::default());
        let _ = labels(&path, &ReadOptions::default());
    }
}
