//! csv: text with a line of names. Numbers read back to the same bits.

use super::{Columns, Definition, Encoder, Rows};
use crate::error::Result;
use crate::scores::target::Target;
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
    columns: Columns,
    delimiter: char,
) -> Result<Box<dyn Encoder>> {
    let names: Vec<&str> = columns.names().collect();
    writeln!(out, "{}", names.join(&delimiter.to_string()))?;
    Ok(Box::new(Text { out, delimiter }))
}

impl Encoder for Text {
    fn write(&mut self, rows: &Rows<'_>) -> Result<()> {
        let Text { out, delimiter } = self;
        for (prediction, confidence, value, accept) in rows.iter() {
            write!(out, "{prediction}{delimiter}{confidence:?}")?;
            if let Some(value) = value {
                write!(out, "{delimiter}{value:?}")?;
            }
            if let Some(accept) = accept {
                write!(out, "{delimiter}{accept}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Target> {
        Ok(self.out)
    }
}
