//! What holds for every format of scores.

use super::*;
use crate::{Format, Quantity, Source, read_column};

const ANSWERS: [Answer; 3] = [
    Answer { prediction: 3, confidence: 0.1, accept: Some(true) },
    Answer { prediction: 0, confidence: f64::NEG_INFINITY, accept: Some(false) },
    Answer { prediction: 70_000, confidence: -1.0 / 3.0, accept: Some(true) },
];
const VALUES: [f64; 3] = [0.5, 0.0, 1e-300];

fn write(path: &Path, format: ScoreFormat, value: bool, accept: bool) -> Result<()> {
    let mut writer = ScoreWriter::create(path, format, value, accept).map_err(|e| *e.kind)?;
    // In two pieces, as rows come.
    for piece in [0..1, 1..3] {
        let written = writer.write(&ANSWERS[piece.clone()], &VALUES[piece]);
        written.map_err(|error| *error.kind)?;
    }
    writer.finish().map_err(|error| *error.kind)
}

/// The columns of a file of any format.
fn column(path: &Path, name: &str) -> Option<Vec<f64>> {
    if Format::of_path(path).is_some() {
        let column = read_column(&Source::new(path), None, Quantity::Column, Some(name));
        return column.ok().and_then(|column| column.into_floats().ok());
    }
    let text = std::fs::read_to_string(path).expect("text");
    let number = |line: &str| {
        let object: serde_json::Value = serde_json::from_str(line).expect("JSON");
        match object.get(name)? {
            serde_json::Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
            serde_json::Value::String(infinity) => infinity.parse().ok(),
            number => number.as_f64(),
        }
    };
    text.lines().map(number).collect()
}

#[test]
fn every_format_is_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    for &format in ScoreFormat::ALL {
        for (value, accept) in [(true, true), (true, false), (false, true), (false, false)] {
            let path = folder.path().join(format!("scores.{format}"));
            write(&path, format, value, accept).expect("written");
            let expect = |name, wanted: Option<Vec<f64>>| {
                assert_eq!(column(&path, name), wanted, "{format} {name}");
            };
            expect("prediction", Some(vec![3.0, 0.0, 70_000.0]));
            expect("confidence", Some(ANSWERS.map(|answer| answer.confidence).into()));
            expect("value", value.then(|| VALUES.into()));
            expect("accept", accept.then(|| vec![1.0, 0.0, 1.0]));
        }
    }
}

#[test]
fn a_row_without_its_columns_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let undecided = [Answer { accept: None, ..ANSWERS[0] }];
    for &format in ScoreFormat::ALL {
        let path = folder.path().join("scores");
        let mut writer = ScoreWriter::create(&path, format, false, true).expect("created");
        assert!(writer.write(&undecided, &[]).is_err(), "{format} without accept");
        let mut writer = ScoreWriter::create(&path, format, true, false).expect("created");
        assert!(writer.write(&undecided, &[]).is_err(), "{format} without value");
        assert!(!path.exists(), "an unfinished file is removed");
    }
}

#[test]
fn extensions_are_distinct_and_name_the_format() {
    let mut seen: Vec<&str> = Vec::new();
    for &format in ScoreFormat::ALL {
        assert_eq!(format.name(), format.extensions()[0]);
        for extension in format.extensions() {
            assert!(!seen.contains(extension), "two formats have the extension {extension}");
            seen.push(extension);
            let path = format!("scores.{}", extension.to_uppercase());
            assert_eq!(ScoreFormat::of_path(Path::new(&path)), Some(format));
        }
    }
    // Scores are not compressed, so they do not get the name of a compressed file.
    assert_eq!(ScoreFormat::of_path(Path::new("scores.csv.gz")), None);
}

#[test]
fn the_documentation_describes_every_format() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let text = std::fs::read_to_string(path).expect("docs/formats.md");
    for format in ScoreFormat::ALL {
        let extensions: Vec<String> =
            format.extensions().iter().map(|extension| format!("`.{extension}`")).collect();
        let row = format!("| {} | {} |", extensions.join(", "), format.summary());
        assert!(text.contains(&row), "docs/formats.md lacks the row\n{row}");
    }
}
