//! The use case *monitor* for columns in memory: rows in their order, and labels beside them or later.
//!
//! All rows of a call are counted, or none.

use super::probability_of;
use crate::error::{LabError, Refusal};
use crate::known::loss_of;
use abstain::monitor::{Feedback, Monitor, Record};
use abstain::{Artifact, Error, Loss, Threshold, stop};

/// Rows between two looks at whether the work is still wanted.
const CHUNK: usize = 1 << 14;

/// New rows of a stream, in their order.
#[derive(Debug, Clone, Copy)]
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
    /// How many rows the stream has so far.
    pub of: u64,
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

/// Counts new rows of a stream, and the labels beside them.
pub fn watch_columns(
    artifact: &Artifact,
    monitor: &Monitor,
    columns: &StreamColumns<'_>,
) -> Result<Monitor, LabError> {
    let StreamColumns { confidences, predictions, rows, groups, outcomes } = *columns;
    let count = confidences.len();
    check_confidences(confidences)?;
    if let Some(predictions) = predictions {
        check_length("prediction", predictions.len(), count)?;
        check_predictions(artifact, predictions)?;
    }
    if let Some(rows) = rows {
        check_length("rows", rows.len(), count)?;
        check_rows(rows)?;
    }
    if let Some(groups) = &groups {
        groups.check(count)?;
    }
    if let Some(outcomes) = &outcomes {
        outcomes.check(count, monitor.settings().max_loss)?;
    }
    let mut monitor = monitor.clone();
    for row in 0..count {
        if row % CHUNK == 0 {
            stop::check()?;
        }
        let confidence = confidences[row];
        let number = rows.map(|rows| rows[row].unsigned_abs());
        let position = number.unwrap_or(monitor.records());
        let group = groups.and_then(|groups| groups.of(row));
        monitor.record(&Record {
            confidence,
            prediction: predictions.and_then(|classes| u32::try_from(classes[row]).ok()),
            probability: probability_of(artifact, confidence),
            group,
            row: number,
        });
        if let Some((loss, weight)) = outcomes.and_then(|outcomes| outcomes.of(row)) {
            monitor.label(&Feedback { row: position, confidence, loss, weight, group })?;
        }
    }
    Ok(monitor)
}

/// Counts labels of rows that were counted before.
pub fn label_columns(monitor: &Monitor, columns: &LabelColumns<'_>) -> Result<Monitor, LabError> {
    let LabelColumns { rows, of, confidences, groups, outcomes } = *columns;
    let count = rows.len();
    check_length("confidence", confidences.len(), count)?;
    check_rows(rows)?;
    if let Some(row) = rows.iter().position(|row| row.unsigned_abs() >= of) {
        let wanted = format!("a row of the stream, which has {of} so far");
        return Err(value("rows", row, rows[row] as f64, wanted));
    }
    check_confidences(confidences)?;
    if let Some(groups) = &groups {
        groups.check(count)?;
    }
    outcomes.check(count, monitor.settings().max_loss)?;
    let mut monitor = monitor.clone();
    for row in 0..count {
        if row % CHUNK == 0 {
            stop::check()?;
        }
        if let Some((loss, weight)) = outcomes.of(row) {
            let group = groups.and_then(|groups| groups.of(row));
            let (number, confidence) = (rows[row].unsigned_abs(), confidences[row]);
            monitor.label(&Feedback { row: number, confidence, loss, weight, group })?;
        }
    }
    Ok(monitor)
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

impl<'a> GroupColumn<'a> {
    fn check(&self, rows: usize) -> Result<(), LabError> {
        check_length("groups", self.places.len(), rows)
    }

    fn of(self, row: usize) -> Option<&'a str> {
        let place = usize::try_from(self.places[row]).ok()?;
        self.names.get(place).map(String::as_str)
    }
}

impl OutcomeColumns<'_> {
    fn check(&self, rows: usize, max_loss: f64) -> Result<(), LabError> {
        check_length("loss", self.losses.len(), rows)?;
        let known = |row: &usize| !self.losses[*row].is_nan();
        let wrong = |loss: f64| !(0.0..=1.0).contains(&(loss / max_loss));
        if let Some(row) = (0..rows).filter(known).find(|row| wrong(self.losses[*row])) {
            let wanted = format!("from 0 to {max_loss}");
            return Err(value("loss", row, self.losses[row], wanted));
        }
        let Some(propensities) = self.propensities else {
            return match self.min_propensity {
                Some(_) => Err(LabError::PropensitiesMissing),
                None => Ok(()),
            };
        };
        check_length("propensity", propensities.len(), rows)?;
        let smallest = self.min_propensity.ok_or(LabError::MinPropensityMissing)?;
        if !(smallest > 0.0 && smallest <= 1.0) {
            let wanted = "above 0 and at most 1";
            return Err(Error::Parameter { name: "min_propensity", value: smallest, wanted }.into());
        }
        let wrong = |propensity: f64| !(propensity >= smallest && propensity <= 1.0);
        match (0..rows).filter(known).find(|row| wrong(propensities[*row])) {
            Some(row) => {
                let wanted = format!("from the smallest, {smallest}, to 1");
                Err(value("propensity", row, propensities[row], wanted))
            }
            None => Ok(()),
        }
    }

    /// The loss and the weight of a row, if it has a label.
    fn of(&self, row: usize) -> Option<(f64, f64)> {
        let loss = self.losses[row];
        let weight = match (self.propensities, self.min_propensity) {
            (Some(propensities), Some(smallest)) => smallest / propensities[row],
            _ => 1.0,
        };
        (!loss.is_nan()).then_some((loss, weight))
    }
}

fn value(column: &'static str, row: usize, value: f64, wanted: impl Into<String>) -> LabError {
    LabError::Value { column, row, value, wanted: wanted.into() }
}

fn check_length(what: &'static str, found: usize, expected: usize) -> Result<(), LabError> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Length { what, found, expected }.into())
}

pub(crate) fn check_confidences(confidences: &[f64]) -> Result<(), LabError> {
    match confidences.iter().position(|confidence| confidence.is_nan()) {
        Some(row) => Err(Error::InvalidConfidence { row }.into()),
        None => Ok(()),
    }
}

fn check_predictions(artifact: &Artifact, predictions: &[i64]) -> Result<(), LabError> {
    let known = artifact.classes.and_then(|classes| u32::try_from(classes).ok());
    let wrong = |class: &i64| !(0..i64::from(known.unwrap_or(u32::MAX))).contains(class);
    match predictions.iter().position(wrong) {
        Some(row) => {
            let wanted = match artifact.classes {
                Some(classes) => format!("one of the classes from 0 to {}", classes - 1),
                None => "a class, counted from 0".to_string(),
            };
            Err(value("prediction", row, predictions[row] as f64, wanted))
        }
        None => Ok(()),
    }
}

fn check_rows(rows: &[i64]) -> Result<(), LabError> {
    match rows.iter().position(|row| *row < 0) {
        Some(row) => Err(value("rows", row, rows[row] as f64, "a row, counted from 0")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abstain::monitor::MonitorSettings;
    use abstain::{Basis, Estimator};

    fn watched() -> (Artifact, Monitor) {
        let mut artifact = Artifact::new(Estimator::MSP);
        artifact.rule = Some(Threshold::given(0.5).into());
        artifact.classes = Some(3);
        let settings = MonitorSettings { target_risk: Some(0.1), ..MonitorSettings::default() };
        let monitor = Monitor::new(&artifact, &settings).expect("a monitor");
        (artifact, monitor)
    }

    fn columns<'a>(confidences: &'a [f64], losses: &'a [f64]) -> StreamColumns<'a> {
        let outcomes = OutcomeColumns { losses, propensities: None, min_propensity: None };
        let (predictions, rows, groups) = (None, None, None);
        StreamColumns { confidences, predictions, rows, groups, outcomes: Some(outcomes) }
    }

    #[test]
    fn columns_are_counted_as_single_rows_are() {
        let (artifact, monitor) = watched();
        let confidences: Vec<f64> = (0..1000).map(|row| f64::from(row % 10) / 10.0).collect();
        let losses: Vec<f64> =
            (0..1000).map(|row| [f64::NAN, 0.0, 1.0, 0.0][row % 7 % 4]).collect();
        let counted = watch_columns(&artifact, &monitor, &columns(&confidences, &losses));
        let mut single = monitor.clone();
        for (row, (&confidence, &loss)) in (0..).zip(confidences.iter().zip(&losses)) {
            single.record(&Record::new(confidence));
            if !loss.is_nan() {
                single.label(&Feedback::new(row, confidence, loss)).expect("a label");
            }
        }
        assert_eq!(counted.expect("columns"), single);
        // Labels that come later are the same labels.
        let unlabelled = StreamColumns { outcomes: None, ..columns(&confidences, &losses) };
        let later = watch_columns(&artifact, &monitor, &unlabelled).expect("columns");
        let rows: Vec<i64> = (0..1000).collect();
        let outcomes = columns(&confidences, &losses).outcomes.expect("losses");
        let labels = LabelColumns {
            rows: &rows,
            of: 1000,
            confidences: &confidences,
            groups: None,
            outcomes,
        };
        assert!(label_columns(&later, &LabelColumns { of: 999, ..labels }).is_err());
        let later = label_columns(&later, &labels).expect("labels");
        assert_eq!(later.report().risk, single.report().risk);
    }

    #[test]
    fn wrong_columns_are_refused() {
        let (artifact, monitor) = watched();
        let refuse = |columns: StreamColumns<'_>| {
            watch_columns(&artifact, &monitor, &columns).expect_err("wrong").to_string()
        };
        assert!(refuse(columns(&[0.1, f64::NAN], &[0.0, 0.0])).contains("row 1"));
        assert!(refuse(columns(&[0.1, 0.2], &[0.0, 2.0])).contains("row 1: 2 is not from 0 to 1"));
        assert!(refuse(columns(&[0.1, 0.2], &[0.0])).contains("loss"));
        let base = columns(&[0.1, 0.2], &[0.0, 1.0]);
        assert!(refuse(StreamColumns { predictions: Some(&[0, 3]), ..base }).contains("0 to 2"));
        assert!(refuse(StreamColumns { rows: Some(&[0, -1]), ..base }).contains("row 1: -1"));
        let outcomes = |propensities, min_propensity| {
            Some(OutcomeColumns { losses: &[0.0, 1.0], propensities, min_propensity })
        };
        for (propensities, smallest, expected) in [
            (Some(&[0.5, 0.25][..]), None, "smallest"),
            (Some(&[0.5, 0.25][..]), Some(0.3), "row 1: 0.25"),
            (Some(&[0.5, 0.25][..]), Some(0.0), "min_propensity"),
            (None, Some(0.3), "propensities"),
        ] {
            let outcomes = outcomes(propensities, smallest);
            let message = refuse(StreamColumns { outcomes, ..base });
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn labels_certify_a_threshold_anew() {
        let (artifact, monitor) = watched();
        assert!(matches!(
            recertified(&artifact, &monitor),
            Err(LabError::Refused(Refusal::NothingCertified { .. }))
        ));
        let (confidences, losses) = (vec![1.0; 400], vec![0.0; 400]);
        let monitor = watch_columns(&artifact, &monitor, &columns(&confidences, &losses));
        let found = recertified(&artifact, &monitor.expect("columns")).expect("a certificate");
        found.check().expect("a sound artifact");
        assert!(matches!(
            found.threshold(),
            Some(Threshold { at: 0.5, basis: Basis::Anytime { .. } })
        ));
    }
}
