//! Parquet, read through the low-level interface of the `parquet` crate: page by page, so that no
//! more than a chunk of rows and one page of each column are in memory at a time.

mod cursor;
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
