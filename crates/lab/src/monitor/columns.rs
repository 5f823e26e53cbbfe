//! Columns in memory as records and labels: rows in their order, and labels beside them or later.

use super::record::{
    ClassValue, CountedRow, Label, LabelRecord, Outcome, Propensity, RecordError, RecordErrorKind,
    RecordPlace, RowKey, ScoredRecord,
};
use super::state::{LabelledRow, StreamState};
use super::{EachRecord, RecordSource};
use crate::error::LabError;
use abstain::{Artifact, Error};

/// New rows of a stream, in their order.
#[derive(Debug, Clone, Copy, Default)]
pub struct StreamColumns<'a> {
    /// The confidence of each row.
    pub confidences: &'a [f64],
    /// The predicted class of each row.
    pub predictions: Option<&'a [i64]>,
    /// The number of each row in the stream, from 0, where the monitor sees a part of it.
    pub rows: Option<&'a [i64]>,
    /// The group of each row.
    pub groups: Option<GroupColumn<'a>>,
    /// What is known of the answers.
    pub outcomes: Option<OutcomeColumns<'a>>,
}

/// Labels of rows that were counted before.
#[derive(Debug, Clone, Copy)]
pub struct LabelColumns<'a> {
    /// The number of each row in the stream, from 0.
    pub rows: &'a [i64],
    /// The confidence of each row.
    pub confidences: &'a [f64],
    /// The group of each row.
    pub groups: Option<GroupColumn<'a>>,
    /// What is known of the answers.
    pub outcomes: OutcomeColumns<'a>,
}

/// The group of each row.
#[derive(Debug, Clone, Copy)]
pub struct GroupColumn<'a> {
    /// The names of the groups.
    pub names: &'a [String],
    /// The place of the name of each row; none where it is negative.
    pub places: &'a [i64],
}

/// What answers cost.
#[derive(Debug, Clone, Copy)]
pub struct OutcomeColumns<'a> {
    /// What the answer of each row cost; NaN where that is not known.
    pub losses: &'a [f64],
    /// The probability with which each row was chosen for a label.
    pub propensities: Option<&'a [f64]>,
    /// The smallest probability with which any row could be chosen.
    pub min_propensity: Option<f64>,
}

/// Counts new rows of a stream, and the labels beside them: all or none.
pub fn watch_columns(
    artifact: &Artifact,
    state: &mut StreamState,
    columns: &StreamColumns<'_>,
) -> Result<(), LabError> {
    columns.check()?;
    state.record_all(artifact, (0..columns.confidences.len()).map(|row| columns.record(row)))
}

/// Counts labels of rows that were counted before: all or none. Returns how many labels were counted
/// before; those stay.
pub fn label_columns(
    artifact: &Artifact,
    state: &mut StreamState,
    columns: &LabelColumns<'_>,
) -> Result<usize, LabError> {
    columns.check()?;
    state.label_all(artifact, (0..columns.rows.len()).map(|row| columns.label(row)))
}

impl<'a> StreamColumns<'a> {
    fn check(&self) -> Result<(), LabError> {
        let rows = self.confidences.len();
        let lengths = [("prediction", self.predictions), ("rows", self.rows)];
        for (what, column) in lengths.into_iter().chain([("groups", places(self.groups))]) {
            column.map_or(Ok(()), |column| check_length(what, column.len(), rows))?;
        }
        self.outcomes.map_or(Ok(()), |outcomes| outcomes.check(rows))
    }

    fn record(&self, row: usize) -> Result<ScoredRecord<'a>, RecordErrorKind> {
        let label = self.outcomes.map(|outcomes| outcomes.label(row)).transpose()?;
        Ok(ScoredRecord {
            prediction: self.predictions.map(|classes| ClassValue::Number(classes[row])),
            group: self.groups.and_then(|groups| groups.of(row)),
            row: self.rows.map(|rows| number(rows[row])).transpose()?,
            label: label.flatten(),
            ..ScoredRecord::new(self.confidences[row])
        })
    }
}

/// Rows that have no other number are numbered from 0.
impl RecordSource for StreamColumns<'_> {
    fn each(&self, each: &mut EachRecord<'_>) -> Result<(), LabError> {
        self.check()?;
        for row in 0..self.confidences.len() {
            let number = row as u64;
            let mut record = self.record(row).map_err(|kind| self.wrong(number, kind))?;
            record.row.get_or_insert(number);
            each(number, &record)?;
        }
        Ok(())
    }

    fn wrong(&self, row: u64, kind: RecordErrorKind) -> LabError {
        RecordError::new(RecordPlace::Row(row.try_into().unwrap_or(usize::MAX)), kind).into()
    }
}

impl<'a> LabelColumns<'a> {
    fn check(&self) -> Result<(), LabError> {
        let rows = self.rows.len();
        check_length("confidence", self.confidences.len(), rows)?;
        places(self.groups).map_or(Ok(()), |places| check_length("groups", places.len(), rows))?;
        self.outcomes.check(rows)
    }

    /// The label of a row, if it has one, and what is known of the row.
    fn label(&self, row: usize) -> Result<Option<LabelledRow<'a>>, RecordErrorKind> {
        let number = number(self.rows[row])?;
        let Some(label) = self.outcomes.label(row)? else { return Ok(None) };
        let found = CountedRow {
            row: number,
            confidence: self.confidences[row],
            prediction: None,
            group: self.groups.and_then(|groups| groups.of(row)).map(Into::into),
            time: None,
        };
        Ok(Some((LabelRecord { key: RowKey::Row(number), label }, found)))
    }
}

impl<'a> GroupColumn<'a> {
    fn of(self, row: usize) -> Option<&'a str> {
        let place = usize::try_from(self.places[row]).ok()?;
        self.names.get(place).map(String::as_str)
    }
}

fn places(groups: Option<GroupColumn<'_>>) -> Option<&[i64]> {
    groups.map(|groups| groups.places)
}

impl OutcomeColumns<'_> {
    fn check(&self, rows: usize) -> Result<(), LabError> {
        check_length("loss", self.losses.len(), rows)?;
        let Some(propensities) = self.propensities else {
            return match self.min_propensity {
                Some(_) => Err(LabError::PropensitiesMissing),
                None => Ok(()),
            };
        };
        check_length("propensity", propensities.len(), rows)?;
        let smallest = self.min_propensity.ok_or(LabError::MinPropensityMissing)?;
        // It is of the call, whether a row has a label or not.
        if Propensity::new(1.0, smallest).is_err() {
            let wanted = "above 0 and at most 1";
            return Err(Error::Parameter { name: "min_propensity", value: smallest, wanted }.into());
        }
        Ok(())
    }

    /// The label of a row, if it has one.
    fn label(&self, row: usize) -> Result<Option<Label<'static>>, RecordErrorKind> {
        let loss = self.losses[row];
        if loss.is_nan() {
            return Ok(None);
        }
        let of_row = self.propensities.map(|propensities| propensities[row]);
        let propensity = of_row.zip(self.min_propensity);
        let propensity = propensity.map(|(of_row, smallest)| Propensity::new(of_row, smallest));
        Ok(Some(Label { outcome: Outcome::Loss(loss), propensity: propensity.transpose()? }))
    }
}

/// The number of a row in the stream.
fn number(row: i64) -> Result<u64, RecordErrorKind> {
    u64::try_from(row).map_err(|_| RecordErrorKind::NegativeRow { row })
}

fn check_length(what: &'static str, found: usize, expected: usize) -> Result<(), LabError> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Length { what, found, expected }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use abstain::monitor::{Feedback, Monitor, MonitorSettings, Record};
    use abstain::{Estimator, Threshold};

    fn watched() -> (Artifact, StreamState) {
        let mut artifact = Artifact::new(Estimator::MSP);
        artifact.rule = Some(Threshold::given(0.5).into());
        artifact.classes = Some(3);
        let settings = MonitorSettings { target_risk: Some(0.1), ..MonitorSettings::default() };
        let state = StreamState::new(&artifact, &settings).expect("a state");
        (artifact, state)
    }

    fn columns<'a>(confidences: &'a [f64], losses: &'a [f64]) -> StreamColumns<'a> {
        let outcomes = OutcomeColumns { losses, propensities: None, min_propensity: None };
        let (predictions, rows, groups) = (None, None, None);
        StreamColumns { confidences, predictions, rows, groups, outcomes: Some(outcomes) }
    }

    #[test]
    fn columns_are_counted_as_single_rows_are() {
        let (artifact, empty) = watched();
        // Short work is counted in place, long work in a copy.
        for count in [1000_u32, 40_000] {
            let confidences: Vec<f64> = (0..count).map(|row| f64::from(row % 10) / 10.0).collect();
            let losses: Vec<f64> =
                (0..count as usize).map(|row| [f64::NAN, 0.0, 1.0, 0.0][row % 7 % 4]).collect();
            let mut counted = empty.clone();
            watch_columns(&artifact, &mut counted, &columns(&confidences, &losses)).expect("rows");
            let settings = *empty.monitor().settings();
            let mut single = Monitor::new(&artifact, &settings).expect("a monitor");
            for (row, (&confidence, &loss)) in (0..).zip(confidences.iter().zip(&losses)) {
                single.record(&Record::new(confidence));
                if !loss.is_nan() {
                    single.label(&Feedback::new(row, confidence, loss)).expect("a label");
                }
            }
            single.compare_labels();
            assert_eq!(counted.monitor(), &single);
            // Labels that come later are the same labels.
            let mut later = empty.clone();
            let unlabelled = StreamColumns { outcomes: None, ..columns(&confidences, &losses) };
            watch_columns(&artifact, &mut later, &unlabelled).expect("rows");
            let rows: Vec<i64> = (0..i64::from(count)).collect();
            let outcomes = columns(&confidences, &losses).outcomes.expect("losses");
            let labels =
                LabelColumns { rows: &rows, confidences: &confidences, groups: None, outcomes };
            let shifted: Vec<i64> = rows.iter().map(|row| row + 1).collect();
            let before = later.clone();
            let error =
                label_columns(&artifact, &mut later, &LabelColumns { rows: &shifted, ..labels });
            // The last row is not of the stream; that some have no label moves no place.
            let last = format!("row {}: the row {count} is not a row of the stream", count - 1);
            assert!(error.expect_err("no such row").to_string().contains(&last));
            assert_eq!(later, before);
            label_columns(&artifact, &mut later, &labels).expect("labels");
            assert_eq!(later.monitor().report().risk, single.report().risk);
            // Given again, they are not counted again, wherever they were given before.
            let labelled = losses.iter().filter(|loss| !loss.is_nan()).count();
            for state in [&mut later, &mut counted] {
                let before = state.clone();
                let repeated = label_columns(&artifact, state, &labels).expect("the same labels");
                assert_eq!((repeated, &*state), (labelled, &before));
            }
        }
    }

    #[test]
    fn wrong_columns_are_refused() {
        let (artifact, empty) = watched();
        let refuse = |columns: StreamColumns<'_>| {
            let mut state = empty.clone();
            let error = watch_columns(&artifact, &mut state, &columns).expect_err("wrong");
            assert_eq!(state, empty);
            error.to_string()
        };
        assert!(refuse(columns(&[0.1, f64::NAN], &[0.0, 0.0])).contains("row 1"));
        assert!(
            refuse(columns(&[0.1, 0.2], &[0.0, 2.0]))
                .contains("row 1: the loss 2 is not from 0 to 1")
        );
        assert!(refuse(columns(&[0.1, 0.2], &[0.0])).contains("loss"));
        let base = columns(&[0.1, 0.2], &[0.0, 1.0]);
        assert!(
            refuse(StreamColumns { predictions: Some(&[0, 3]), ..base }).contains("there are 3")
        );
        assert!(
            refuse(StreamColumns { rows: Some(&[0, -1]), ..base }).contains("row 1: the row -1")
        );
        let outcomes = |propensities, min_propensity| {
            Some(OutcomeColumns { losses: &[0.0, 1.0], propensities, min_propensity })
        };
        for (propensities, smallest, expected) in [
            (Some(&[0.5, 0.25][..]), None, "smallest"),
            (Some(&[0.5, 0.25][..]), Some(0.3), "row 1: the propensity 0.25"),
            (Some(&[0.5, 0.25][..]), Some(0.0), "min_propensity"),
            (None, Some(0.3), "propensities"),
        ] {
            let outcomes = outcomes(propensities, smallest);
            let message = refuse(StreamColumns { outcomes, ..base });
            assert!(message.contains(expected), "{message}");
        }
    }
}
