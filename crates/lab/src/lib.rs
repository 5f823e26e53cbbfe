//! Experiments: rows in, plain result structs out. Nothing is printed or rounded here.
//!
//! * [`Experiment`] tunes methods on some rows, measures them on others, chooses one and certifies
//!   its threshold: what `abstain tune` does.
//! * [`evaluate()`] measures estimators on a set of rows against MSP: what `abstain eval` does.
//! * [`Bench`] takes every model of a [`Zoo`] through the paper's [`Protocol`], and [`study`] makes the
//!   paper's tables and figures of it: what `abstain bench` and `abstain study` do.
//! * A [`picture`] is what a page draws of rows: thresholds and what each lets through, classes, errors.

mod bench;
mod deploy;
mod error;
mod evaluate;
mod keep;
pub mod measure;
pub mod picture;
pub mod protocol;
mod retarget;
mod source;
mod split;
pub mod statistics;
pub mod study;
mod target;
mod tune;
mod zoo;

pub use bench::{Bench, BenchStep, ModelResults, representative};
pub use deploy::{Origin, TunedOnThem, seen_before, tried_on};
pub use error::LabError;
pub use evaluate::{
    Asked, AtThreshold, Contender, MetricLine, SetReport, Verdict, evaluate, usual_metrics,
};
pub use protocol::Protocol;
pub use source::{InMemory, RowSource};
pub use split::{Holdout, Split};
pub use statistics::Spread;
pub use target::Target;
pub use tune::{
    AtTarget, Attempt, Choice, Curve, Experiment, Found, MethodLine, MetricValue, Reason, Refusal,
    Run, Step, TuneReport,
};
pub use zoo::{FurtherSet, Kind, Model, Zoo, ZooError};
