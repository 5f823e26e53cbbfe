//! The corpus of labels (testdata/labels.toml) through the resolver.

use abstain_io::{Column, ErrorKind, RawLabels, ReadOptions, resolve_labels};
use toml::{Table, Value};

/// Labels of the type that their cells have.
fn raw(cells: &[Value]) -> Result<RawLabels, ErrorKind> {
    fn all<T>(cells: &[Value], of: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
        cells.iter().map(of).collect()
    }
    let number = |cell: &Value| cell.as_float().or(cell.as_integer().map(|x| x as f64));
    if let Some(rows) = all(cells, |cell| all(cell.as_array()?, number)) {
        return RawLabels::of_one_hot(&rows.concat(), rows[0].len());
    }
    let integers = all(cells, Value::as_integer).map(Column::Integers);
    let column = integers
        .or_else(|| all(cells, number).map(Column::Floats))
        .or_else(|| all(cells, Value::as_bool).map(Column::Bools))
        .or_else(|| all(cells, |cell| Some(cell.as_str()?.to_string())).map(Column::Texts));
    Ok(RawLabels::Column(column.expect("cells of one type")))
}

fn word(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotWhole { .. } => "not-whole",
        ErrorKind::Values(abstain::Error::LabelOutOfRange { .. }) => "out-of-range",
        ErrorKind::LabelCount { .. } => "count",
        ErrorKind::UnknownLabel { .. } => "unknown",
        ErrorKind::ClassNameCount { .. } => "class-names",
        ErrorKind::TwoSpellings { .. } => "two-spellings",
        ErrorKind::Null { .. } => "missing",
        ErrorKind::NumberOrName { .. } => "number-or-name",
        ErrorKind::BoolLabels { .. } => "truth-values",
        ErrorKind::OneHotWidth { .. } => "width",
        ErrorKind::NotOneHot { .. } => "not-one-hot",
        _ => "another error",
    }
}

#[test]
fn labels_are_read_as_the_corpus_says() {
    let text = include_str!("../../../testdata/labels.toml");
    let corpus: Table = text.parse().expect("TOML");
    let cases = corpus["case"].as_array().expect("cases");
    assert!(cases.len() > 30);
    for case in cases {
        let name = case["name"].as_str().expect("a name");
        let names = case.get("class_names").and_then(Value::as_array).map(|names| {
            names.iter().filter_map(Value::as_str).map(String::from).collect::<Vec<String>>()
        });
        let options = ReadOptions {
            class_names: names,
            first_label: case.get("first_label").and_then(Value::as_integer),
            ..ReadOptions::default()
        };
        let classes = usize::try_from(case["classes"].as_integer().expect("classes")).expect("few");
        let resolved = raw(case["labels"].as_array().expect("labels"))
            .and_then(|raw| resolve_labels(raw, classes, &options));
        match (resolved, case.get("expected"), case.get("error")) {
            (Ok(found), Some(expected), None) => {
                let found = found.labels.values().iter().map(|&x| Value::Integer(x.into()));
                assert_eq!(&Value::Array(found.collect()), expected, "{name}");
            }
            (Err(error), None, Some(expected)) => {
                assert_eq!(Some(word(&error)), expected.as_str(), "{name}: {error}");
            }
            (found, ..) => panic!("{name}: {found:?}"),
        }
    }
}
