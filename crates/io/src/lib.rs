//! Files: logits and labels in the formats people have them in, artifacts, and scores.
//!
//! A [`LogitsReader`] hands out rows in chunks, always in the same memory, whatever the size of the
//! file: npy, npz, safetensors, PyTorch's pt, Parquet, text; gzipped or not; from standard input too.
//! No reader executes anything: of a pickle only what makes tensors is understood, and anything else
//! in it is refused by name.
//!
//! Files are written under a temporary name and renamed, so that no one ever sees half of one
//! ([`AtomicFile`]).

mod array;
mod artifact;
mod columns;
mod csv;
mod dtype;
mod error;
mod fingerprint;
mod format;
mod matrix;
mod npy;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod pickle;
mod reader;
mod rows;
mod safetensors;
mod scores;
mod source;
mod torch;

pub use array::Numbers;
pub use artifact::{parse_artifact, read_artifact, write_artifact};
pub use error::{Error, ErrorKind};
pub use fingerprint::{Fingerprint, hash_of, hash_of_file};
pub use format::Format;
pub use output::{AtomicFile, remove_temporary_files};
#[cfg(feature = "parquet")]
pub use parquet::quiet_guarded_panics;
pub use reader::{LogitsReader, ReadOptions, read_labels, read_numbers};
pub use rows::{FileRows, LossArgument, RowFiles};
pub use scores::{ScoreFormat, ScoreWriter};
pub use source::Source;
