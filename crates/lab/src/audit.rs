//! The use case *audit*: which rows of a deployment to have labelled next, and what labels can show.

use crate::error::LabError;
use abstain::monitor::{AuditPlan, LabelsNeeded, MonitorSettings, Strata};
use abstain::{Artifact, Error, Threshold};
use abstain_io::{RecordFile, RecordRow, Role};
use serde::Serialize;

/// Rises of the risk over the target that are simulated if none is requested.
const RISES: [f64; 2] = [1.5, 2.0];

/// Which rows to have labelled.
#[derive(Debug)]
pub struct AuditRequest<'a> {
    /// What decides which rows are accepted.
    pub artifact: &'a Artifact,
    /// The records. They are read twice.
    pub records: RecordFile,
    /// How many of the first records to leave out, such as those of an earlier audit.
    pub from_row: u64,
    /// How many labels to expect.
    pub budget: f64,
    /// The share of them for rows that were not accepted.
    pub abstained: f64,
    /// The risk that is to be noticed; by default one and a half times the target, and twice.
    pub rise: Option<f64>,
    /// How the labels will be tested.
    pub settings: MonitorSettings,
}

/// Rows to have labelled.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct AuditResult {
    /// How they were chosen.
    pub plan: AuditPlan,
    /// The rows, in their order.
    pub chosen: Vec<ChosenRow>,
    /// How many of them are accepted.
    pub accepted: u64,
    /// The rows that were chosen from.
    pub rows: u64,
    /// The target that labels are tested against, if there is one.
    pub target_risk: Option<f64>,
    /// How many labels of accepted rows confirm the threshold.
    pub confirm: Option<Needed>,
    /// How many labels of accepted rows it takes to notice a rise.
    pub notice: Vec<Needed>,
}

/// Labels that it takes at a risk.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Needed {
    /// The risk among accepted rows.
    pub risk: f64,
    /// The labels.
    #[serde(flatten)]
    pub labels: LabelsNeeded,
}

/// A row to have labelled.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChosenRow {
    /// What tells it apart.
    pub id: String,
    /// Its number among the records, from 0.
    pub row: u64,
    /// Its confidence.
    pub confidence: f64,
    /// The predicted class, as the records have it.
    pub prediction: Option<String>,
    /// Whether it is accepted.
    pub accept: bool,
    /// The probability with which it was chosen.
    pub propensity: f64,
}

/// Chooses rows to have labelled.
pub fn audit(request: &AuditRequest<'_>) -> Result<AuditResult, LabError> {
    let AuditRequest { artifact, records, settings, .. } = request;
    let at = artifact.threshold.as_ref().map(Threshold::at).ok_or(Error::NoThreshold)?;
    let mut strata = Strata::new(artifact)?;
    let mut rows = 0;
    each_from(request, |_, record| {
        strata.count(record.confidence);
        rows += 1;
        Ok(())
    })?;
    let path = records.source.path().to_path_buf();
    if !records.columns()?.iter().any(|(role, _)| *role == Role::Id) {
        return Err(LabError::NoIds { path });
    }
    let plan = strata.plan(request.budget, request.abstained, settings.seed)?;
    let mut chosen = Vec::new();
    each_from(request, |row, record| {
        let Some(propensity) = plan.choose(row, record.confidence) else { return Ok(()) };
        let id = record.get(Role::Id).map(str::to_string).ok_or_else(|| {
            let problem = "a record without an id".to_string();
            LabError::Record { path: path.clone(), row, problem }
        })?;
        chosen.push(ChosenRow {
            id,
            row,
            confidence: record.confidence,
            prediction: record.get(Role::Prediction).map(str::to_string),
            accept: record.confidence >= at,
            propensity,
        });
        Ok(())
    })?;
    let threshold = artifact.threshold.as_ref();
    let target = settings.target_risk.or_else(|| threshold.and_then(Threshold::target_risk));
    let (mut confirm, mut notice) = (None, Vec::new());
    if let Some(target) = target.map(|target| target / settings.max_loss) {
        let scaled = |risk: f64, labels| Needed { risk: risk * settings.max_loss, labels };
        if let Some(risk) = risk_of(threshold) {
            confirm = Some(scaled(risk, plan.labels_to_confirm(risk, target, settings)));
        }
        let rises = request.rise.map_or_else(
            || RISES.iter().map(|rise| (rise * target).min(0.99)).collect(),
            |rise| vec![rise / settings.max_loss],
        );
        for rise in rises {
            if !(rise > target && rise < 1.0) {
                let wanted = "above the target and below the largest loss";
                let value = rise * settings.max_loss;
                return Err(Error::Parameter { name: "rise", value, wanted }.into());
            }
            notice.push(scaled(rise, plan.labels_to_notice(rise, target, settings)));
        }
    }
    let accepted = chosen.iter().filter(|row| row.accept).count() as u64;
    Ok(AuditResult { plan, chosen, accepted, rows, target_risk: target, confirm, notice })
}

/// Calls a function with each row that may be chosen.
fn each_from(
    request: &AuditRequest<'_>,
    mut each: impl FnMut(u64, &RecordRow<'_>) -> Result<(), LabError>,
) -> Result<(), LabError> {
    request.records.each(|row, record| -> Result<bool, LabError> {
        if row >= request.from_row {
            each(row, record)?;
        }
        Ok(true)
    })
}

/// The risk among accepted rows that a threshold was found with.
fn risk_of(threshold: Option<&Threshold>) -> Option<f64> {
    match threshold? {
        Threshold::Certified { certificate, .. } => {
            Some(certificate.errors as f64 / certificate.accepted.max(1) as f64)
        }
        Threshold::Anytime { certificate, .. } => Some(certificate.selective_risk),
        Threshold::Risk { selective_risk, .. } => Some(*selective_risk),
        _ => None,
    }
}
