//! Use cases: requests in, plain result structs out. Nothing is printed or rounded.
//!
//! Each use case is one request and one function. It validates, has the defaults, and returns a
//! result or a [`LabError`]; a [`Refusal`] is a valid request without a solution. The program, the
//! Python package and services turn their arguments into requests and results into text.
//!
//! | use case | function |
//! |---|---|
//! | tune, measure, choose, certify | [`tune()`], [`tune_with_test`] with a [`TuneRequest`] |
//! | measure on labelled rows | [`evaluate()`], [`evaluate_confidences`] with an [`EvaluateRequest`] |
//! | a threshold that meets a target, with a guarantee or without | [`certify()`] with a [`CertifyRequest`] |
//! | the same of a bare confidence | [`certify_bare`], [`cover_confidences`], [`minimise_cost_of_confidences`] |
//! | a threshold by coverage, by costs or by number | [`cover`], [`minimise_cost`], [`set_threshold`] |
//! | score rows | [`Scorer`] |
//! | watch an artifact after deployment | [`StreamState`]; of files, [`watch`] with a [`WatchRequest`] |
//! | choose rows to have labelled | [`audit()`] with an [`AuditRequest`] |
//!
//! Rows come from a [`abstain::RowSource`]; [`collect`] reads one once and returns everything that is
//! wanted of it. A [`picture`] is what a page draws of a result.

mod audit;
mod breakdown;
mod certify;
mod confidence;
mod error;
mod evaluate;
mod gate;
mod known;
mod monitor;
pub mod picture;
mod rows;
mod score;
mod split;
pub mod statistics;
mod target;
mod threshold;
mod tune;
mod warning;

pub use audit::{
    AuditRequest, AuditResult, ChosenRow, Needed, audit, labels_to_confirm, labels_to_notice,
};
pub use breakdown::{Breakdown, BreakdownRow, BreakdownWeights, BrokenDownBy};
pub use certify::{CertifyRequest, CertifyResult, DEFAULT_DELTA, Sampled, certify};
pub use confidence::{
    certify_bare, confidence_artifact, cover_confidences, minimise_cost_of_confidences,
};
pub use error::{LabError, Refusal};
pub use evaluate::{
    AtThreshold, BareRows, Contender, Contenders, EvaluateRequest, EvaluateResult, Known, Measure,
    MetricLine, SetReport, Verdict, WeightFacts, evaluate, evaluate_confidences,
};
pub use gate::{Check, Gate, GateVerdict, Requirement};
pub use known::{Seen, check_model, encoding_for, loss_for};
pub use monitor::{
    ClassValue, Counted, CountedRow, EachRecord, FileCursor, GroupColumn, Hash, History, Label,
    LabelAnswer, LabelColumns, LabelPoint, LabelRecord, LabelledRow, Lookup, OnRecord, Outcome,
    OutcomeColumns, Propensity, RecordError, RecordErrorKind, RecordPlace, RecordProblem,
    RecordProblemKind, RecordSource, Recorded, RowKey, RowPoint, ScoredRecord, StreamColumns,
    StreamState, WatchRequest, WatchResult, WatchState, label_columns, recertified,
    state_from_json, state_to_json, stream_from_json, stream_to_json, watch, watch_columns,
};
pub use rows::{Answers, Collected, Select, Wanted, collect};
pub use score::{ScoreSummary, Scored, Scorer};
pub use split::{Holdout, Split};
pub use statistics::Spread;
pub use target::Target;
pub use threshold::{
    Costs, GivenThreshold, check_classes, check_extra, cover, minimise_cost, set_threshold,
};
pub use tune::{
    AtTarget, Attempt, Choice, Curve, LabelFreeResult, MethodLine, MetricValue, NotCertified,
    Problem, Provenance, Reason, RowNames, Run, Step, TuneReport, TuneRequest, TuneResult, TunedOn,
    Unlabelled, tune, tune_with_test,
};
pub use warning::{Warning, unlabelled_warnings};
