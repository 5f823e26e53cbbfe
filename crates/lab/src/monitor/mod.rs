//! The use case *monitor*: whether what an artifact promises still holds, by the records of a deployment
//! and by labels that come later.
//!
//! A [`StreamState`] takes [`ScoredRecord`]s in time order and [`LabelRecord`]s at any time. Producers make
//! them: [`watch`] of files, [`watch_columns`] and [`label_columns`] of columns in memory.

mod columns;
mod cursor;
mod files;
mod history;
mod places;
mod record;
mod rowset;
mod state;
#[cfg(test)]
mod tests;
mod time;
mod window;

pub use columns::{
    GroupColumn, LabelColumns, OutcomeColumns, StreamColumns, label_columns, watch_columns,
};
pub use cursor::{Counted, EarlierFile, FileCursor, WatchState, state_from_json, state_to_json};
pub use files::{OnRecord, RecordProblem, RecordProblemKind, WatchRequest, WatchResult, watch};
pub use history::{History, LabelPoint, RowPoint};
pub use places::RowPlace;
pub(crate) use record::check_acceptance;
pub use record::{
    ClassValue, CountedRow, Label, LabelRecord, Lookup, Outcome, Propensity, RecordError,
    RecordErrorKind, RecordPlace, RowKey, ScoredRecord,
};
pub use state::{
    Hash, LabelAnswer, LabelledRow, Recorded, StreamState, stream_from_json, stream_to_json,
};

pub use window::Window;

use crate::error::{LabError, Refusal};
use crate::known::loss_of;
use abstain::monitor::{Monitor, MonitorReport, Selected};
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
    let certificate = *report.certified.last().ok_or_else(|| why_nothing(&report))?;
    let loss = loss_of(artifact).map_or_else(|| Loss::ZeroOne.to_string(), str::to_string);
    let mut artifact = artifact.clone();
    artifact.rule = Some(Threshold::anytime(certificate, loss).into());
    // It summarises other rows than those that certify now.
    artifact.reference = None;
    Ok(artifact)
}

/// Why the labels of a stream certify nothing.
fn why_nothing(report: &MonitorReport) -> Refusal {
    let labels = report.labels;
    let selected = report.selection.as_ref().and_then(|selection| selection.against().next());
    if let Some(Selected { by, of_labels, of_rows, .. }) = selected {
        let (by, of_labels, of_rows) = (*by, *of_labels, *of_rows);
        return Refusal::LabelsNotRandom { by, of_labels, of_rows };
    }
    let unfilled = report.selection.as_ref().map_or(0, |selection| selection.unfilled);
    if unfilled > 0 {
        return Refusal::LabelsMissing { labels, missing: unfilled };
    }
    match (report.changed_since, report.certified_since) {
        (Some(_), Some(since)) => {
            Refusal::LabelsBeforeShift { labels, certifying: report.certifying_labels, since }
        }
        (_, since) => Refusal::NothingCertified { labels, tested: since.is_some() },
    }
}
