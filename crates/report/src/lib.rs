//! Results as people read them.
//!
//! A result becomes [`findings`]: sentences with a tone, a [`sheet`] and a [`figure`]. Sinks write
//! them for the terminal, with ANSI styles that the printer strips where they are not wanted, in
//! Markdown, CSV and LaTeX, or as a [`page`]. Units, scales and rounding live here and nowhere else.

pub mod figure;
pub mod findings;
pub mod page;
mod prometheus;
pub mod sheet;
mod terminal;
pub mod words;

pub use findings::sentences::evaluation_notes;
pub use findings::{
    certified, counted_once, few_rows, label_free_verdict, monitor_figures, named_warning_text,
    sampled, threshold, tuning_figure, verdict, warning_text,
};
pub use prometheus::prometheus;
pub use terminal::{
    artifact, audit, breakdown, evaluation, label_free, monitor, summary, tuning, tuning_in_short,
};
