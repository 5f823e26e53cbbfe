//! csv: text with a line of names. Numbers read back to the same bits.

use super::{Definition, Encoder, ScoreColumn};
use crate::column::Column;
use crate::error::Result;
use crate::scores::target::Target;
use std::borrow::Cow;
use std::io::Write;

pub(super) const FORMAT: Definition = Definition {
    name: "csv",
    extensions: &["csv", "txt"],
    seeks: false,
    create: |out, columns| delimited(out, columns, ','),
};

struct Text {
    out: Target,
    delimiter: char,
}

/// Begins text with this delimiter.
pub(super) fn delimited(
    mut out: Target,
    columns: &[ScoreColumn],
    delimiter: char,
) -> Result<Box<dyn Encoder>> {
    let names: Vec<Cow<'_, str>> =
        columns.iter().map(|column| quoted(&column.name, delimiter)).collect();
    writeln!(out, "{}", names.join(&delimiter.to_string()))?;
    Ok(Box::new(Text { out, delimiter }))
}

/// A text in quotes, where it would be read as something else without them.
fn quoted(text: &str, delimiter: char) -> Cow<'_, str> {
    let plain = !text.contains([delimiter, '"', '\n', '\r']) && text.trim() == text;
    if plain { Cow::Borrowed(text) } else { format!("\"{}\"", text.replace('"', "\"\"")).into() }
}

impl Encoder for Text {
    fn write(&mut self, columns: &[Column]) -> Result<()> {
        let Text { out, delimiter } = self;
        for row in 0..columns.first().map_or(0, Column::len) {
            for (index, column) in columns.iter().enumerate() {
                if index > 0 {
                    write!(out, "{delimiter}")?;
                }
                match column {
                    Column::Integers(values) => write!(out, "{}", values[row])?,
                    Column::Floats(values) => write!(out, "{:?}", values[row])?,
                    Column::Bools(values) => write!(out, "{}", values[row])?,
                    Column::Texts(values) => {
                        write!(out, "{}", quoted(&values[row], *delimiter))?;
                    }
                }
            }
            writeln!(out)?;
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
