//! safetensors: a header in JSON, then the numbers of all tensors.

use super::{Definition, Format, Reader};
use crate::array::{Array, Bytes};
use crate::dtype::Dtype;
use crate::error::{ErrorKind, Result};
use crate::source::Opened;
use safetensors::Dtype as Named;
use safetensors::tensor::Metadata;
use std::io::Read;
use std::sync::Arc;

#[cfg(test)]
mod tests;

pub(super) const FORMAT: Definition = Definition {
    name: "safetensors",
    extensions: &["safetensors"],
    recognises: |head| head.len() > 8 && head[8] == b'{' && head[5..8] == [0; 3],
    reader: Reader::Arrays(arrays),
    #[cfg(test)]
    samples: tests::samples,
};

/// The limit that the format sets.
const LONGEST_HEADER: u64 = 100_000_000;

/// The tensors of a file.
fn arrays(opened: Opened) -> Result<Vec<Array>> {
    let mut file = opened.into_file()?;
    let damaged =
        |problem: &dyn std::fmt::Display| ErrorKind::malformed(Format::Safetensors, problem);
    let length = file.metadata()?.len();
    let mut size = [0; 8];
    file.read_exact(&mut size).map_err(|_| damaged(&"the header is cut short"))?;
    let size = u64::from_le_bytes(size);
    if size > LONGEST_HEADER || size + 8 > length {
        return Err(damaged(&"the header is cut short"));
    }
    let mut header = vec![0; usize::try_from(size).unwrap_or(0)];
    file.read_exact(&mut header)?;
    // The crate checks a whole file in memory; of a large one only the header is brought there.
    let metadata: Metadata = serde_json::from_slice(&header).map_err(|error| damaged(&error))?;
    let expected = metadata.data_len() as u64;
    let found = length - 8 - size;
    if found < expected {
        return Err(ErrorKind::Truncated { expected, found: Some(found) });
    }
    let shared = Arc::new(file);
    let mut all = Vec::new();
    for name in metadata.offset_keys() {
        let Some(info) = metadata.info(&name) else { continue };
        let dtype = match info.dtype {
            Named::F16 => Dtype::F16,
            Named::BF16 => Dtype::BF16,
            Named::F32 => Dtype::F32,
            Named::F64 => Dtype::F64,
            Named::I8 => Dtype::I8,
            Named::I16 => Dtype::I16,
            Named::I32 => Dtype::I32,
            Named::I64 => Dtype::I64,
            Named::U8 => Dtype::U8,
            Named::U16 => Dtype::U16,
            Named::U32 => Dtype::U32,
            Named::U64 => Dtype::U64,
            Named::BOOL => Dtype::Bool,
            // Eight-bit floats and the like belong to weights, not to logits.
            _ => continue,
        };
        let shape: Vec<u64> = info.shape.iter().map(|&n| n as u64).collect();
        let numbers = shape.iter().try_fold(1_u64, |all, &n| all.checked_mul(n));
        let size = numbers.and_then(|n| n.checked_mul(dtype.size() as u64));
        let (start, end) = (info.data_offsets.0 as u64, info.data_offsets.1 as u64);
        if end.checked_sub(start) != size || end > expected {
            return Err(damaged(&format_args!("the place of '{name}' does not fit its shape")));
        }
        let bytes =
            Bytes::File { file: Arc::clone(&shared), offset: 8 + header.len() as u64 + start };
        all.push(Array { name, dtype, big_endian: false, shape, fortran: false, bytes });
    }
    if all.is_empty() {
        return Err(damaged(&"there is no tensor of numbers in it"));
    }
    Ok(all)
}
