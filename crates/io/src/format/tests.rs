//! What holds for every format in the registry: a new line is tested without further words.

use super::*;
use crate::{Error, LogitsReader, ReadOptions, Source, read_labels};
use proptest::prelude::*;
use std::io::Write;
use std::path::PathBuf;

/// A small file of a format with the logits [`ROWS`], and one with the labels [`LABELS`].
pub(super) struct Sample {
    pub(super) logits: Vec<u8>,
    pub(super) labels: Vec<u8>,
    /// Whether a shorter file may be a whole one, as in plain text.
    pub(super) open_ended: bool,
}

impl Sample {
    /// A file that holds both.
    pub(super) fn both(file: Vec<u8>) -> Self {
        Sample { logits: file.clone(), labels: file, open_ended: false }
    }
}

/// The rows of every file: exact in all number types.
pub(super) const ROWS: [[f64; 4]; 5] = [
    [1.5, -0.25, 0.0, 2.0],
    [0.125, 3.0, -1.0, 0.5],
    [-2.0, 1.0, 4.0, 0.75],
    [8.0, 8.0, 7.5, -6.0],
    [0.0, -1.0, -2.0, -3.0],
];

/// A number of [`ROWS`] in single precision.
#[expect(clippy::cast_possible_truncation, reason = "it is exact")]
pub(super) fn single(x: f64) -> f32 {
    x as f32
}

pub(super) const LABELS: [u8; 5] = [3, 1, 0, 1, 0];

pub(super) fn gzip(data: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(data).expect("packed");
    packed.finish().expect("packed")
}

/// Puts a file into a folder.
pub(super) fn put(folder: &Path, name: &str, data: &[u8]) -> PathBuf {
    let path = folder.join(name);
    // Some file systems flush a file that is written over, which takes milliseconds each time.
    let _ = std::fs::remove_file(&path);
    std::fs::write(&path, data).expect("written");
    path
}

pub(super) fn rows(
    path: &Path,
    options: &ReadOptions,
) -> std::result::Result<Vec<Vec<f64>>, Error> {
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
    if let Some(stated) = reader.rows() {
        assert_eq!(stated, all.len() as u64);
    }
    Ok(all)
}

pub(super) fn labels(path: &Path, options: &ReadOptions) -> std::result::Result<Vec<u32>, Error> {
    Ok(read_labels(&Source::new(path), options, 4)?.values().to_vec())
}

pub(super) fn named(logits: Option<&str>, labels: Option<&str>) -> ReadOptions {
    ReadOptions {
        logits_name: logits.map(Into::into),
        labels_name: labels.map(Into::into),
        ..ReadOptions::default()
    }
}

/// The samples of all formats.
fn samples() -> impl Iterator<Item = (Format, Sample)> {
    let of =
        |&format: &Format| (format.definition().samples)().into_iter().map(move |s| (format, s));
    Format::ALL.iter().flat_map(of)
}

#[test]
fn every_format_has_a_sample_and_distinct_extensions() {
    let mut seen: Vec<&str> = Vec::new();
    for &format in Format::ALL {
        assert!(samples().any(|(other, _)| other == format), "{format} has no sample");
        assert_eq!(format.name(), format.extensions()[0], "the name is the usual extension");
        for extension in format.extensions() {
            assert!(!seen.contains(extension), "two formats have the extension {extension}");
            seen.push(extension);
            assert_eq!(extension.to_uppercase().parse(), Ok(format));
            let path = format!("some.folder/logits.{extension}");
            assert_eq!(Format::of_path(Path::new(&path)), Some(format));
            assert_eq!(Format::of_path(Path::new(&(path + ".gz"))), Some(format));
        }
    }
    assert!("xlsx".parse::<Format>().is_err());
    assert_eq!(Format::of_path(Path::new("logits")), None);
    assert_eq!(Format::of_path(Path::new("-")), None);
}

#[test]
fn every_sample_is_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |name: &str, logits: &[u8], labelled: &[u8], options: &ReadOptions| {
        let path = put(folder.path(), name, logits);
        let found = rows(&path, options).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found, ROWS, "{name}");
        let path = put(folder.path(), name, labelled);
        let found = labels(&path, options).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found, LABELS.map(u32::from), "{name}");
    };
    for (format, sample) in samples() {
        let Sample { logits, labels, .. } = &sample;
        let (packed_logits, packed_labels) = (gzip(logits), gzip(labels));
        let options = ReadOptions::default();
        for extension in format.extensions() {
            let name = format!("plain.{extension}");
            check(&name, logits, labels, &options);
            check(&(name + ".gz"), &packed_logits, &packed_labels, &options);
        }
        // By the first bytes, which are looked at inside gzip as well.
        check("without-extension", logits, labels, &options);
        check("without-extension", &packed_logits, &packed_labels, &options);
        let options = ReadOptions { format: Some(format), ..options };
        check("other.bin", logits, labels, &options);
    }
}

/// A file that is named as another format is refused, unless the two are read alike.
#[test]
fn names_that_contradict_the_contents_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (format, sample) in samples() {
        for named in Format::ALL.iter().filter(|&&named| named != format) {
            let path = put(folder.path(), &format!("wrong.{named}"), &sample.logits);
            match rows(&path, &ReadOptions::default()) {
                Ok(found) => assert_eq!(found, ROWS, "{format} named as {named}"),
                Err(error) if named.recognises(&sample.logits) => {
                    assert!(matches!(*error.kind, ErrorKind::Malformed { .. }), "{error}");
                }
                Err(error) => {
                    assert!(matches!(*error.kind, ErrorKind::OtherFormat { .. }), "{error}");
                }
            }
        }
    }
}

#[test]
fn first_bytes_decide_where_names_do_not() {
    let detect = |path: &str, head: &[u8]| Format::detect(None, Path::new(path), head);
    let message = |path: &str, head: &[u8]| detect(path, head).unwrap_err().to_string();
    assert_eq!(detect("-", b"1.5,2.5\n").ok(), Some(Format::Csv));
    assert_eq!(detect("x.pt", b"PK\x03\x04").ok(), Some(Format::Torch));
    // Damage is for the reader to describe.
    assert_eq!(detect("x.npy", b"\0\x01\x02").ok(), Some(Format::Npy));
    assert!(matches!(detect("-", b"\0\x01\x02"), Err(ErrorKind::UnknownFormat)));
    let zip = "named as npy, but it looks like npz or pt";
    assert_eq!(message("x.npy", b"PK\x03\x04"), zip);
    assert!(message("x.npy", b"\x89HDF\r\n\x1a\n").contains("looks like"));
    let pickle = "it looks like a Python pickle, which is never loaded";
    assert_eq!(message("x.pkl", b"\x80\x04\x95"), pickle);
}

/// Every beginning of a file is refused; of text, any line may be the last.
#[test]
fn every_truncated_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (format, sample) in samples() {
        let packed = (format!("cut.{format}.gz"), gzip(&sample.logits));
        let plain = (format!("cut.{format}"), sample.logits);
        let files = [packed, plain].into_iter().take(if sample.open_ended { 1 } else { 2 });
        for (name, data) in files {
            for end in 0..data.len() {
                let path = put(folder.path(), &name, &data[..end]);
                let found = rows(&path, &ReadOptions::default());
                assert!(found.is_err(), "{name} cut at {end} of {}", data.len());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever the bytes, there is an answer.
    #[test]
    fn damaged_bytes_never_panic(
        which in any::<prop::sample::Index>(),
        packed in prop::bool::weighted(0.1),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let all: Vec<(Format, Sample)> = samples().collect();
        let (format, sample) = which.get(&all);
        let folder = tempfile::tempdir().expect("a folder");
        for sound in [&sample.logits, &sample.labels] {
            let mut data = if packed { gzip(sound) } else { sound.clone() };
            for (index, byte) in &changes {
                let at = index.index(data.len());
                data[at] = *byte;
            }
            let path = put(folder.path(), &format!("x.{format}"), &data);
            let _ = rows(&path, &ReadOptions::default());
            let _ = labels(&path, &ReadOptions::default());
        }
    }
}

#[test]
fn the_documentation_describes_every_format() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let text = std::fs::read_to_string(path).expect("docs/formats.md");
    for format in Format::ALL {
        let extensions: Vec<String> =
            format.extensions().iter().map(|extension| format!("`.{extension}`")).collect();
        let row = format!("| {} | {} |", extensions.join(", "), format.summary());
        assert!(text.contains(&row), "docs/formats.md lacks the row\n{row} …");
    }
}

/// Many chunks, read twice for the floor, and bad values named by their place in the file.
#[test]
fn rows_do_not_depend_on_the_chunks() {
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
        put(folder.path(), name, &abstain_kit::npy("'<f4'", "(3000, 1000)", &data))
    };
    let probabilities = ReadOptions {
        encoding: abstain::Encoding::Probabilities { floor: None, tolerance: None },
        ..ReadOptions::default()
    };
    let path = write(&values, "probs.npy");
    let source = Source::new(&path);
    let reader = LogitsReader::open(&source, &probabilities).expect("opened");
    assert_eq!(reader.encoding().floor(), Some(f64::from(1e-4_f32)));
    assert_eq!(rows(&path, &probabilities).expect("read").len(), count);
    values[2500 * classes + 7] = f32::NAN;
    let path = write(&values, "nan.npy");
    let error = rows(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("row 2500, column 7: logit NaN is not a finite number"), "{error}");
    let error = rows(&path, &probabilities).unwrap_err().to_string();
    assert!(error.contains("row 2500, column 7: NaN is not a probability"), "{error}");
}
