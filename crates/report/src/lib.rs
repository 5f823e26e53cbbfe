//! What was found, as people read it.
//!
//! Every function takes a plain result and returns text: for the terminal, with ANSI styles that the
//! printer strips where they are not wanted, for papers ([`sheet`], [`figure`]), or a whole [`page`].
//! Units, scales and rounding live here and nowhere else.

mod artifact;
mod curve;
mod evaluation;
pub mod figure;
pub mod page;
mod plot;
pub mod sheet;
pub mod study;
mod table;
mod tuning;
mod words;

pub use artifact::{artifact, threshold};
pub use curve::tuning_figure;
pub use evaluation::{evaluation, evaluation_notes, summary};
pub use table::{Align, Table};
pub use tuning::{certified, tuning, verdict};
