//! Arrow IPC, read one record batch at a time: files (Feather of version 2) and streams, which is what
//! the `datasets` library writes.

mod messages;
mod read;
#[cfg(test)]
mod tests;
mod values;

use super::{Definition, Reader};

pub(crate) use read::MemoryTable;
#[cfg(feature = "parquet")]
pub(super) use read::{ArrowTable, Batches, Origin};

pub(super) const FORMAT: Definition = Definition {
    name: "arrow",
    extensions: &["arrow", "feather", "ipc"],
    recognises: |head| messages::Kind::of(head).is_some(),
    reader: Reader::Table(read::open_table),
    #[cfg(test)]
    samples: tests::samples,
};
