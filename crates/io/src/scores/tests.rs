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
    let columns = ScoreColumns { value, accept, ..ScoreColumns::default() };
    let mut writer = ScoreWriter::create(path, format, columns).map_err(|e| *e.kind)?;
    // In two pieces, as rows come.
    for piece in [0..1, 1..3] {
        let written = writer.write(&ANSWERS[piece.clone()], &VALUES[piece], Vec::new());
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
        let created = |columns| ScoreWriter::create(&path, format, columns).expect("created");
        let accept = ScoreColumns { accept: true, ..ScoreColumns::default() };
        let written = created(accept).write(&undecided, &[], Vec::new());
        assert!(written.is_err(), "{format} without accept");
        let value = ScoreColumns { value: true, ..ScoreColumns::default() };
        let written = created(value).write(&undecided, &[], Vec::new());
        assert!(written.is_err(), "{format} without value");
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

#[test]
fn names_and_kept_columns_are_written_and_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let names: Vec<String> = (0..70_001).map(|class| format!("class, {class}")).collect();
    let columns = |kept| ScoreColumns {
        predictions: PredictionColumn::Names(names.clone()),
        kept,
        ..ScoreColumns::default()
    };
    for &format in ScoreFormat::ALL {
        let path = folder.path().join(format!("scores.{format}"));
        let kept = vec![
            ("id".to_string(), FieldKind::Integer),
            ("note \"x\"".to_string(), FieldKind::Number),
        ];
        let values = || {
            let notes = ["a,b", "line\nbreak", "\"\""].map(String::from).to_vec();
            vec![Column::Integers(vec![7, -8, 9]), Column::Texts(notes)]
        };
        if format == ScoreFormat::Npy {
            assert!(
                ScoreWriter::create(&path, format, columns(kept)).is_err(),
                "text of any length"
            );
            let mut writer =
                ScoreWriter::create(&path, format, columns(Vec::new())).expect("created");
            writer.write(&ANSWERS, &[], Vec::new()).expect("written");
            writer.finish().expect("written");
        } else {
            let mut writer = ScoreWriter::create(&path, format, columns(kept)).expect("created");
            writer.write(&ANSWERS, &[], values()).expect("written");
            assert!(
                writer.write(&ANSWERS, &[], Vec::new()).is_err(),
                "{format} lacks what is kept"
            );
            writer.finish().expect("written");
            let read = |name| {
                read_column(&Source::new(&path), None, Quantity::Column, Some(name)).expect("read")
            };
            assert_eq!(read("id"), Column::Integers(vec![7, -8, 9]), "{format}");
            assert_eq!(read("note \"x\""), values().remove(1), "{format}");
        }
        let found = read_column(&Source::new(&path), None, Quantity::Predictions, None);
        let expected = ["class, 3", "class, 0", "class, 70000"].map(String::from).to_vec();
        assert_eq!(found.expect("read"), Column::Texts(expected), "{format}");
    }
    let twice = columns(vec![("confidence".into(), FieldKind::Float)]);
    let path = folder.path().join("twice.csv");
    assert!(ScoreWriter::create(&path, ScoreFormat::Csv, twice).is_err());
}
