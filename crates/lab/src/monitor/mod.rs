//! The use case *monitor*: whether what an artifact promises still holds, by the records of a deployment
//! and by labels that come later.
//!
//! A [`StreamState`] takes [`ScoredRecord`]s in time order and [`LabelRecord`]s at any time. Producers make
//! them: [`watch`] of files, [`watch_columns`] and [`label_columns`] of columns in memory.

mod columns;
mod cursor;
mod files;
mod history;
mod record;
mod rowset;
mod state;
#[cfg(test)]
mod tests;

pub use columns::{
    GroupColumn, LabelColumns, OutcomeColumns, StreamColumns, label_columns, watch_columns,
};
pub use cursor::{Counted, FileCursor, WatchState, state_from_json, state_to_json};
pub use files::{OnRecord, RecordProblem, RecordProblemKind, WatchRequest, WatchResult, watch};
pub use history::{History, LabelPoint, RowPoint};
pub(crate) use record::check_acceptance;
pub use record::{
    ClassValue, CountedRow, Label, LabelRecord, Lookup, Outcome, Propensity, RecordError,
    RecordErrorKind, RecordPlace, RowKey, ScoredRecord,
};
pub use state::{
    Hash, LabelAnswer, LabelledRow, Recorded, StreamState, stream_from_json, stream_to_json,
};

use crate::error::{LabError, Refusal};
use crate::known::loss_of;
use abstain::monitor::Monitor;
use abstain::{Artifact, Loss, Threshold};

/// Called with each record and its number among those of the source.
pub type EachRecord<'a> = dyn FnMut(u64, &ScoredRecord<'_>) -> Result<(), LabError> + 'a;

/// Records that can be read as often as needed.
pub trait RecordSource {
    /// Calls a function with each record, in their order.
    fn each(&self, each: &mut EachRecord<'_>) -> Result<(), LabError>;

    /// The error of a record that is not valid.
    fn wrong(&self, row: u64, kind: RecordErrorKind) -> LabError;
}

/// The artifact with the lowest threshold that the labels of the stream certify.
pub fn recertified(artifact: &Artifact, monitor: &Monitor) -> Result<Artifact, LabError> {
    let report = monitor.report();
    let certificate = *report.certified.last().ok_or(Refusal::NothingCertified {
        labels: report.labels,
        tested: report.certified_since.is_some(),
    })?;
    let loss = loss_of(artifact).map_or_else(|| Loss::ZeroOne.to_string(), str::to_string);
    let mut artifact = artifact.clone();
    artifact.rule = Some(Threshold::anytime(certificate, loss).into());
    // It summarises other rows than those that certify now.
    artifact.reference = None;
    Ok(artifact)
}
