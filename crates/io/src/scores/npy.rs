//! npy: a structured array.

use super::{Definition, Encoder, ScoreColumn, ScoreKind};
use crate::column::Column;
use crate::error::{ErrorKind, Result};
use crate::npy_file::npy_header;
use crate::scores::target::Target;
use std::io::{Seek, SeekFrom, Write};

pub(super) const FORMAT: Definition =
    Definition { name: "npy", extensions: &["npy"], seeks: true, create };

struct Npy {
    out: Target,
    columns: Vec<ScoreColumn>,
    rows: u64,
}

fn create(mut out: Target, columns: &[ScoreColumn]) -> Result<Box<dyn Encoder>> {
    let endless = |column: &&ScoreColumn| column.kind == ScoreKind::Text(None);
    if let Some(column) = columns.iter().find(endless) {
        return Err(ErrorKind::Unsupported {
            problem: format!("npy cannot hold the text of '{}', whose length is open", column.name),
            instead: "write csv, jsonl or parquet".into(),
        });
    }
    // The number of rows is known at the end; until then a header of the same length.
    out.write_all(&header(0, columns))?;
    Ok(Box::new(Npy { out, columns: columns.to_vec(), rows: 0 }))
}

impl Encoder for Npy {
    fn write(&mut self, columns: &[Column]) -> Result<()> {
        let rows = columns.first().map_or(0, Column::len);
        let mut bytes = Vec::new();
        for row in 0..rows {
            for (ScoreColumn { kind, .. }, column) in self.columns.iter().zip(columns) {
                match column {
                    Column::Integers(values) => bytes.extend_from_slice(&values[row].to_le_bytes()),
                    Column::Floats(values) => bytes.extend_from_slice(&values[row].to_le_bytes()),
                    Column::Bools(values) => bytes.push(u8::from(values[row])),
                    Column::Texts(values) => {
                        let ScoreKind::Text(Some(size)) = kind else { continue };
                        let end = bytes.len() + 4 * size;
                        for c in values[row].chars().take(*size) {
                            bytes.extend_from_slice(&u32::from(c).to_le_bytes());
                        }
                        bytes.resize(end, 0);
                    }
                }
            }
        }
        self.rows += rows as u64;
        Ok(self.out.write_all(&bytes)?)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    fn finish(mut self: Box<Self>) -> Result<Target> {
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&header(self.rows, &self.columns))?;
        Ok(self.out)
    }
}

/// The header of a structured array, of a length that does not depend on the rows.
fn header(rows: u64, columns: &[ScoreColumn]) -> Vec<u8> {
    let field = |ScoreColumn { name, kind }: &ScoreColumn| {
        let kind = match kind {
            ScoreKind::Integer => "<i8".to_string(),
            ScoreKind::Float => "<f8".to_string(),
            ScoreKind::Bool => "|b1".to_string(),
            ScoreKind::Text(size) => format!("<U{}", size.unwrap_or(0)),
        };
        format!("('{}', '{kind}'), ", name.replace(['\\', '\''], "_"))
    };
    let fields: String = columns.iter().map(field).collect();
    npy_header(&format!("[{fields}]"), rows, &[])
}
