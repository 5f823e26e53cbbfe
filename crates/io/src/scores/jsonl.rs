//! jsonl: one JSON object on each line.

use super::{Columns, Definition, Encoder, Rows};
use crate::error::Result;
use crate::scores::target::Target;
use std::io::Write;

pub(super) const FORMAT: Definition =
    Definition { name: "jsonl", extensions: &["jsonl", "ndjson"], seeks: false, create };

struct JsonLines {
    out: Target,
}

// As every format is begun.
#[expect(clippy::unnecessary_wraps)]
fn create(out: Target, _: Columns) -> Result<Box<dyn Encoder>> {
    Ok(Box::new(JsonLines { out }))
}

impl Encoder for JsonLines {
    fn write(&mut self, rows: &Rows<'_>) -> Result<()> {
        let out = &mut self.out;
        for (prediction, confidence, value, accept) in rows.iter() {
            let confidence = number(confidence);
            write!(out, "{{\"prediction\":{prediction},\"confidence\":{confidence}")?;
            if let Some(value) = value {
                write!(out, ",\"value\":{}", number(value))?;
            }
            if let Some(accept) = accept {
                write!(out, ",\"accept\":{accept}")?;
            }
            writeln!(out, "}}")?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Target> {
        Ok(self.out)
    }
}

/// JSON has no infinity; it is the text "inf", as in artifacts.
fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { format!("\"{value}\"") }
}
