//! Use cases: requests in, plain result structs out. Nothing is printed or rounded.
//!
//! Each use case is one request and one function. It validates, has the defaults, and returns a
//! result or a [`LabError`]; a [`Refusal`] is a valid request without a solution. The program, the
//! Python package and services turn their arguments into requests and results into text.
//!
//! | use case | function |
//! |---|---|
//! | tune, measure, choose, certify | [`tune()`], [`tune_with_test`] with a [`TuneRequest`] |
//! | measure on labelled rows | [`evaluate()`] with an [`EvaluateRequest`] |
//! | a threshold that meets a target, with a guarantee or without | [`certify()`] with a [`CertifyRequest`] |
//! | a threshold by coverage, by costs or by number | [`cover`], [`minimise_cost`], [`set_threshold`] |
//! | score rows | [`Scorer`] |
//! | watch an artifact after deployment | [`StreamState`]; of files, [`watch`] with a [`WatchRequest`] |
//! | choose rows to have labelled | [`audit()`] with an [`AuditRequest`] |
//!
//! Rows come from a [`abstain::RowSource`]; [`collect`] reads one once and returns everything that is
//! wanted of it, and a [`Pass`] learns the same from parts that are read in different places. Use cases
//! after tuning work on [`MeasuredRows`], which also hold confidences that were computed elsewhere:
//! [`Rows`] are either. A [`picture`] is what a page draws of a result.

mod audit;
mod breakdown;
mod certify;
mod copies;
mod error;
mod evaluate;
mod gate;
mod known;
mod measured;
mod monitor;
mod order;
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
pub use breakdown::{Breakdown, BreakdownRow, BreakdownWeights, BrokenDownBy, Groups};
pub use certify::{CertifyRequest, DEFAULT_DELTA, Sampled, certify};
pub use copies::{Copies, CountedOnce, Repeats};
pub use error::{ErrorClass, LabError, Refusal, SettingDiffers};
pub use evaluate::{
    AtThreshold, Contenders, EvaluateRequest, EvaluateResult, Known, Measure, MetricLine,
    SetReport, Sets, Verdict, WeightFacts, evaluate,
};
pub use gate::{Check, Gate, GateVerdict, Requirement};
pub use known::{Seen, check_loss, check_model, encoding_beside, encoding_for, loss_for};
pub use measured::{Contender, LogitFacts, MeasuredRows, Rows, warnings_of};
pub use monitor::{
    ClassValue, Counted, CountedRow, EachRecord, EarlierFile, FileCursor, GroupColumn, Hash,
    History, Label, LabelAnswer, LabelColumns, LabelPoint, LabelRecord, LabelledRow, Lookup,
    OnRecord, Outcome, OutcomeColumns, Propensity, RecordError, RecordErrorKind, RecordPlace,
    RecordProblem, RecordProblemKind, RecordSource, Recorded, RowKey, RowPlace, RowPoint,
    ScoredRecord, StreamColumns, StreamState, WatchRequest, WatchResult, WatchState, Window,
    label_columns, recertified, state_from_json, state_to_json, stream_from_json, stream_to_json,
    watch, watch_columns,
};
pub use rows::{
    Answers, Collected, Fingerprints, Pass, PassState, Select, Wanted, check_order, collect,
};
pub use score::{ScoreOutput, ScoreSummary, Scored, Scorer};
pub use split::{Holdout, Split};
pub use statistics::Spread;
pub use target::{FewRows, Target};
pub use threshold::{
    Costs, FoundThreshold, GivenThreshold, check_classes, check_extra, confidence_artifact, cover,
    minimise_cost, set_threshold,
};
pub use tune::{
    AtTarget, Attempt, Choice, Curve, LabelFreeResult, MethodLine, MetricValue, NotCertified,
    Problem, Provenance, Reason, RowNames, Run, Step, TuneAnswer, TuneReport, TuneRequest,
    TuneResult, TunedOn, Unlabelled, tune, tune_with_test,
};
pub use warning::{Warning, unlabelled_warnings};
