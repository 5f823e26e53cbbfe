//! Names of columns: whatever they are, there is an answer, and numbered classes do not depend on the
//! order of the file.

#![no_main]

use abstain_io::{LogitsReader, Numbering, ReadOptions, Source};

/// The values of a table with these names in the order of the classes, and what the order follows from.
fn classes(columns: &[(usize, &str)]) -> Option<(Vec<f64>, Numbering)> {
    let names: Vec<&str> = columns.iter().map(|(_, name)| *name).collect();
    let values: Vec<String> = columns.iter().map(|(i, _)| format!("{i}.25")).collect();
    let text = format!("{}\n{}\n", names.join(","), values.join(","));
    let source = Source::bytes("table.csv", text.into_bytes());
    let mut reader = LogitsReader::open(&source, &ReadOptions::default()).ok()?;
    let (found, numbering) = (reader.columns().columns.clone(), reader.columns().numbering);
    if numbering == Numbering::Positions {
        // The line was one of numbers.
        return None;
    }
    assert_eq!(found.len(), reader.classes(), "one column for each class");
    let mut row = vec![0.0; reader.classes()];
    reader.next_chunk().ok()??.1.copy_row(0, &mut row);
    for (class, column) in found.iter().enumerate() {
        assert_eq!(row[class], columns[*column].0 as f64 + 0.25, "the value of its column");
    }
    Some((row, numbering))
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    if text.contains(['"', '\n', '\r', '\t', ';', '#', '[']) {
        return;
    }
    let mut columns: Vec<(usize, &str)> = text.split(',').map(str::trim).enumerate().collect();
    let first = classes(&columns);
    columns.reverse();
    if let (Some((first, numbering)), Some((second, _))) = (first, classes(&columns))
        && matches!(numbering, Numbering::Numbers(_))
    {
        assert_eq!(first, second, "numbers decide, not the order");
    }
});
