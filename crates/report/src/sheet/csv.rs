//! Sheets as comma-separated values.

use super::{Cell, Sheet, Value, stacked};
use csv::{Error, Writer};

/// Which columns of the file a column of the sheet becomes.
#[derive(Default)]
struct Parts {
    std: bool,
    interval: bool,
    note: bool,
}

pub(super) fn render(sheet: &Sheet) -> Result<String, Error> {
    if sheet.columns() == 0 {
        return Ok(String::new());
    }
    let blocks = sheet.blocks();
    let labels = usize::from(sheet.labelled());
    let parts: Vec<Parts> = (0..sheet.columns() - labels)
        .map(|column| {
            let cells = || stacked(&blocks, column);
            Parts {
                std: cells().any(|cell| matches!(cell.value, Value::Spread { .. })),
                interval: cells().any(|cell| matches!(cell.value, Value::Interval { .. })),
                note: cells().any(|cell| cell.note.is_some()),
            }
        })
        .collect();
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record(header(sheet, &parts))?;
    for block in &blocks {
        for row in &block.rows {
            let label = sheet.labelled().then(|| guarded(block.label));
            let cells = row.iter().zip(&parts).flat_map(|(cell, parts)| fields(cell, parts));
            writer.write_record(label.into_iter().chain(cells))?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn header(sheet: &Sheet, parts: &[Parts]) -> Vec<String> {
    let mut names = sheet.names(" / ", |heading| heading.text.clone()).into_iter();
    let mut header = Vec::new();
    if sheet.labelled() {
        let name = names.next().unwrap_or_default();
        header.push(if name.is_empty() { "group".into() } else { guarded(&name) });
    }
    for (name, parts) in names.zip(parts) {
        header.push(guarded(&name));
        let further = [
            (parts.std, "std"),
            (parts.interval, "low"),
            (parts.interval, "high"),
            (parts.note, "note"),
        ];
        for (_, part) in further.iter().filter(|(is_there, _)| *is_there) {
            header.push(guarded(format!("{name} ({part})").trim_start()));
        }
    }
    header
}

fn fields(cell: &Cell, parts: &Parts) -> Vec<String> {
    let mut fields = vec![match &cell.value {
        Value::Missing => String::new(),
        Value::Text(text) => guarded(text),
        Value::Count(count) => count.to_string(),
        Value::Number { value, .. }
        | Value::Spread { mean: value, .. }
        | Value::Interval { value, .. } => number(*value),
    }];
    if parts.std {
        fields.push(match cell.value {
            Value::Spread { std, .. } => number(std),
            _ => String::new(),
        });
    }
    if parts.interval {
        fields.extend(match cell.value {
            Value::Interval { low, high, .. } => [number(low), number(high)],
            _ => [String::new(), String::new()],
        });
    }
    if parts.note {
        fields.push(cell.note.as_deref().map_or(String::new(), guarded));
    }
    fields
}

/// The shortest text that is read back as the same number.
fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { String::new() }
}

/// The text so that no spreadsheet runs it: names come from files, and files from anywhere.
fn guarded(text: &str) -> String {
    let formula = text.trim_start().starts_with(['=', '+', '-', '@']);
    if formula && text.parse::<f64>().is_err() { format!("'{text}") } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{Group, Heading};

    #[test]
    fn values_become_as_many_columns_as_they_have_numbers() {
        let interval = Value::Interval { value: 0.5, low: -1e-9, high: f64::NAN, digits: 2 };
        let rows = vec![
            vec![Cell::text("MSP"), Cell::spread(0.1 + 0.2, 0.0, 1), interval.into()],
            vec![Cell::text("a,\"b\""), Cell::number(1e300, 1).noted("F")],
            vec![Cell::text("=1+1"), Cell::count(1234), Cell::number(-0.0, 1)],
        ];
        let heading = |text| Heading::new(text);
        let sheet = Sheet {
            header: vec![
                vec![heading(""), heading(""), Heading::over("NAURC", 2)],
                vec![heading("data"), heading("method"), heading("x"), heading("-y")],
            ],
            groups: vec![Group { label: Some("CIFAR".into()), rows }],
            ..Sheet::default()
        };
        let expected = "\
data,method,NAURC / x,NAURC / x (std),NAURC / x (note),NAURC / -y,NAURC / -y (low),NAURC / -y (high)
CIFAR,MSP,0.30000000000000004,0.0,,0.5,-1e-9,
CIFAR,\"a,\"\"b\"\"\",1e300,,F,,,
CIFAR,'=1+1,1234,,,-0.0,,
";
        assert_eq!(sheet.csv().expect("valid"), expected);
    }

    #[test]
    fn only_formulas_are_guarded() {
        for formula in ["=A1", "+A1", "-A1", "@A1", " =A1", "\t=A1", "-1+cmd|' /C calc'!A0"] {
            assert_eq!(guarded(formula), format!("'{formula}"));
        }
        for other in ["-1.5", "+3", "-inf", "A=1", "", "'", "−1", "a\nb"] {
            assert_eq!(guarded(other), other);
        }
    }

    #[test]
    fn an_empty_sheet_is_empty() {
        assert_eq!(Sheet::default().csv().expect("valid"), "");
        let labelled = Group { label: Some("x".into()), rows: vec![vec![]] };
        let sheet = Sheet { groups: vec![labelled], ..Sheet::default() };
        assert_eq!(sheet.csv().expect("valid"), "group\nx\n");
    }
}
