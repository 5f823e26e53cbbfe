//! Parquet files, read and written through the low-level interface of the `parquet` crate: page by
//! page, so that no more than a chunk of rows and one page of each column are in memory at a time.

mod choose;
mod cursor;
mod read;
mod write;

pub use cursor::quiet_guarded_panics;
pub(crate) use read::{Column, Matrix, column, names};
pub(crate) use write::Writer;
