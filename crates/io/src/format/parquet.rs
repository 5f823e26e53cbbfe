//! Parquet, read as batches of Arrow: no more than a batch and one page of each column are in memory
//! at a time.

mod read;
#[cfg(test)]
mod tests;

use super::{Definition, Reader};

pub(super) const FORMAT: Definition = Definition {
    name: "parquet",
    extensions: &["parquet", "pq"],
    recognises: |head| head.starts_with(b"PAR1"),
    reader: Reader::Table(read::open_table),
    #[cfg(test)]
    samples: tests::samples,
};
