//! Experiments: rows in, plain result structs out. Nothing is printed or rounded here.
//!
//! * [`Experiment`] tunes methods on some rows, measures them on others, chooses one and certifies
//!   its threshold: what `abstain tune` does.
//! * [`evaluate()`] measures estimators on a set of rows against MSP: what `abstain eval` does.

mod evaluate;
mod source;
mod split;
mod target;
mod tune;

pub use evaluate::{Asked, AtThreshold, Contender, MetricLine, SetReport, Verdict, evaluate};
pub use source::{InMemory, RowSource};
pub use split::{Holdout, Split};
pub use target::Target;
pub use tune::{
    AtTarget, Choice, Curve, Experiment, MethodLine, MetricValue, Reason, Refusal, Spread, Step,
    TuneReport,
};
