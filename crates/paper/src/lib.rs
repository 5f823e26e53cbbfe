//! Many models by the paper's protocol: measurements, studies, and their tables and figures.
//!
//! | use case | function |
//! |---|---|
//! | an overview of a zoo | [`bench()`] with a [`BenchRequest`] |
//! | the paper's experiments on a zoo | [`study()`] with a [`StudyRequest`] |
//!
//! Models are those of a [`Zoo`]. Each is tuned and measured on the same random splits, by a
//! [`Protocol`]; [`measure`] is everything that needs rows, and a [`study`](mod@study) brings
//! together what was measured on all models. Numbers and presentation of a study are apart: its
//! JSON is exact, and only its tables and figures are rounded.

mod bench;
mod error;
mod folder;
pub mod measure;
mod page;
pub mod protocol;
mod statistics;
pub mod study;

pub use abstain_io::zoo::Zoo;
pub use bench::{BenchAnswer, BenchRequest, bench};
pub use error::PaperError;
pub use folder::Written;
pub use protocol::Protocol;
pub use study::{Choice, StudyAnswer, StudyRequest, study};
