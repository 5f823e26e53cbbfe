//! The use case *tune*: tune methods on some rows, measure them on others, choose, certify.

mod choose;
mod label_free;
mod report;
mod request;
mod result;
mod run;

pub use label_free::{LabelFreeResult, Unlabelled};
pub use report::{
    AtTarget, Choice, Curve, MethodLine, MetricValue, NotCertified, Problem, Reason, TuneReport,
};
pub use request::TuneRequest;
pub use result::{Provenance, TuneAnswer, TuneResult, TunedOn};
pub use run::{Attempt, RowNames, Run, Step, tune, tune_with_test};
