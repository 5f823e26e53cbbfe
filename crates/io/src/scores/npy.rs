//! npy: a structured array.

use super::{Columns, Definition, Encoder, Rows};
use crate::error::Result;
use crate::scores::target::Target;
use std::io::{Seek, SeekFrom, Write};

pub(super) const FORMAT: Definition =
    Definition { name: "npy", extensions: &["npy"], seeks: true, create };

struct Npy {
    out: Target,
    columns: Columns,
    rows: u64,
}

fn create(mut out: Target, columns: Columns) -> Result<Box<dyn Encoder>> {
    // The number of rows is known at the end; until then a header of the same length.
    out.write_all(&header(0, columns))?;
    Ok(Box::new(Npy { out, columns, rows: 0 }))
}

impl Encoder for Npy {
    fn write(&mut self, rows: &Rows<'_>) -> Result<()> {
        let mut bytes = Vec::with_capacity(rows.answers.len() * 21);
        for (prediction, confidence, value, accept) in rows.iter() {
            bytes.extend_from_slice(&prediction.to_le_bytes());
            bytes.extend_from_slice(&confidence.to_le_bytes());
            if let Some(value) = value {
                bytes.extend_from_slice(&value.to_le_bytes());
            }
            bytes.extend(accept.map(u8::from));
        }
        self.rows += rows.answers.len() as u64;
        Ok(self.out.write_all(&bytes)?)
    }

    fn finish(mut self: Box<Self>) -> Result<Target> {
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&header(self.rows, self.columns))?;
        Ok(self.out)
    }
}

/// The header of a structured array, always of the same length.
fn header(rows: u64, columns: Columns) -> Vec<u8> {
    const LENGTH: usize = 256;
    let mut fields = String::from("('prediction', '<u4'), ('confidence', '<f8'), ");
    if columns.value {
        fields += "('value', '<f8'), ";
    }
    if columns.accept {
        fields += "('accept', '|b1'), ";
    }
    let mut text = format!("{{'descr': [{fields}], 'fortran_order': False, 'shape': ({rows},), }}");
    let before = 10;
    text += &" ".repeat(LENGTH - before - 1 - text.len());
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    let length = u16::try_from(LENGTH - before).unwrap_or(u16::MAX);
    header.extend_from_slice(&length.to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}
