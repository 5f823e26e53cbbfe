//! Files: logits and labels in the formats people have them in, artifacts, and scores.
//!
//! A [`LogitsReader`] yields rows in chunks, always in the same memory, whatever the size of the
//! file, from any [`Format`], gzipped or not, and from standard input too. No reader executes
//! anything: of a pickle only what makes tensors is understood, and anything else in it is refused by
//! name.
//!
//! Files are written under a temporary name and renamed, so that no one ever sees half of one
//! ([`AtomicFile`]).
//!
//! A [`zoo`] is a set of files: the logits of many models on the same rows.
//!
//! An [`Error`] says what is wrong with a file; what may help follows from its [`ErrorKind`], in words
//! of the program that shows it.

mod array;
mod artifact;
mod column;
mod confidences;
mod dtype;
mod error;
mod features;
mod fingerprint;
mod format;
mod frame;
mod labels;
mod layout;
mod matrix;
mod npy_file;
mod output;
mod reader;
mod records;
mod registry;
mod rows;
mod scores;
mod shards;
mod source;
mod table;
pub mod zoo;

pub use artifact::{parse_artifact, read_artifact, write_artifact};
pub use column::Column;
pub use confidences::{ConfidenceFiles, ConfidenceNames, ConfidenceRows, Outcome};
pub use error::{Error, ErrorKind, ExpectedShape};
pub use features::{features, names_of_numbers};
pub use fingerprint::{
    Fingerprint, OrderedFingerprint, hash_of, hash_of_confidences, hash_of_file, hexadecimal,
};
pub use format::Format;
pub use format::{guarded, quiet_guarded_panics};
pub use frame::{Frame, FrameLabels, FrameNumbers};
pub use labels::{
    ClassNames, LabelKind, RawLabels, ResolvedLabels, class_of, classes_of_answers, resolve_labels,
    truth_of,
};
pub use layout::{ClassColumns, Field, FieldKind, Numbering, Quantity};
pub use npy_file::{GrowingArray, write_integers};
pub use output::{AtomicFile, remove_temporary_files};
pub use reader::{
    BadRows, BadRowsOf, ExtraColumn, LogitsReader, Missing, ReadOptions, read_column, read_fields,
};
pub use records::{RecordFile, RecordNames, RecordRow, Role};
pub use rows::{FileRows, LossArgument, Reading, RowFiles, read_labels, read_losses};
pub use scores::{PredictionColumn, ScoreColumns, ScoreFormat, ScoreWriter, write_table};
pub use source::{ReadCounter, Source};
