//! jsonl: one JSON object on each line.

use super::{Definition, Encoder, ScoreColumn};
use crate::column::Column;
use crate::error::Result;
use crate::scores::target::Target;
use std::io::Write;

pub(super) const FORMAT: Definition =
    Definition { name: "jsonl", extensions: &["jsonl", "ndjson"], seeks: false, create };

struct JsonLines {
    out: Target,
    /// The names of the columns as JSON.
    names: Vec<String>,
}

// As every format is begun.
#[expect(clippy::unnecessary_wraps)]
fn create(out: Target, columns: &[ScoreColumn]) -> Result<Box<dyn Encoder>> {
    let names = columns.iter().map(|column| text(&column.name)).collect();
    Ok(Box::new(JsonLines { out, names }))
}

impl Encoder for JsonLines {
    fn write(&mut self, columns: &[Column]) -> Result<()> {
        let JsonLines { out, names } = self;
        for row in 0..columns.first().map_or(0, Column::len) {
            for (index, (name, column)) in names.iter().zip(columns).enumerate() {
                write!(out, "{}{name}:", if index == 0 { '{' } else { ',' })?;
                match column {
                    Column::Integers(values) => write!(out, "{}", values[row])?,
                    Column::Floats(values) => write!(out, "{}", number(values[row]))?,
                    Column::Bools(values) => write!(out, "{}", values[row])?,
                    Column::Texts(values) => write!(out, "{}", text(&values[row]))?,
                }
            }
            writeln!(out, "}}")?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    fn finish(self: Box<Self>) -> Result<Target> {
        Ok(self.out)
    }
}

fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// JSON has no infinity; it is the text "inf", as in artifacts.
fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { format!("\"{value}\"") }
}
