//! The use case *audit*: which rows of a deployment to have labelled next, and what labels can show.

use crate::error::LabError;
use crate::monitor::{Hash, RecordErrorKind, RecordSource, ScoredRecord, check_acceptance};
use abstain::monitor::{AuditPlan, LabelsNeeded, MonitorSettings, Strata};
use abstain::{Artifact, Error, Threshold, threshold::Basis};
use serde::Serialize;

/// Rises of the risk over the target that are simulated if none is requested.
const RISES: [f64; 2] = [1.5, 2.0];

/// Which rows to have labelled.
#[derive(Debug, Clone, Copy)]
pub struct AuditRequest<'a> {
    /// What decides which rows are accepted.
    pub artifact: &'a Artifact,
    /// How many of the first records to leave out, such as those of an earlier audit.
    pub from_row: u64,
    /// How many labels to expect.
    pub budget: f64,
    /// The share of them for rows that were not accepted.
    pub abstained: f64,
    /// The risk that is to be noticed; by default one and a half times the target, and twice.
    pub rise: Option<f64>,
    /// Whether to simulate how many labels it takes.
    pub simulate: bool,
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
    /// What tells it apart: its identifier, or its number where it has none.
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

/// Chooses rows to have labelled. The records are read twice.
pub fn audit(
    request: &AuditRequest<'_>,
    records: &dyn RecordSource,
) -> Result<AuditResult, LabError> {
    let AuditRequest { artifact, settings, .. } = request;
    let threshold = artifact.one_threshold()?.ok_or(Error::NoThreshold)?;
    let mut strata = Strata::new(artifact)?;
    let mut rows = 0;
    each_from(request, records, |row, record| {
        if record.confidence.is_nan() {
            return Err(records.wrong(row, RecordErrorKind::Confidence));
        }
        strata.count(record.confidence);
        rows += 1;
        Ok(())
    })?;
    let plan = strata.plan(request.budget, request.abstained, settings.seed)?;
    let mut chosen = Vec::new();
    each_from(request, records, |row, record| {
        let wrong = |kind| records.wrong(row, kind);
        check_acceptance(record, threshold).map_err(wrong)?;
        // By what is given on with the row, so that a row is chosen or not whatever is read before it.
        let key = record.id.map(|id| Hash::of(id).number()).or(record.row);
        let key = key.ok_or_else(|| wrong(RecordErrorKind::NoId))?;
        let Some(propensity) = plan.choose(key, record.confidence) else { return Ok(()) };
        chosen.push(ChosenRow {
            id: record.id.map_or_else(|| key.to_string(), str::to_string),
            row,
            confidence: record.confidence,
            prediction: record.prediction.as_ref().map(ToString::to_string),
            accept: threshold.accepts(record.confidence),
            propensity,
        });
        Ok(())
    })?;
    let target = target_of(artifact, settings);
    let (mut confirm, mut notice) = (None, Vec::new());
    if let Some(target) = target.filter(|_| request.simulate) {
        confirm = labels_to_confirm(&plan, artifact, None, settings)?;
        let most = 0.99 * settings.max_loss;
        let rises = request.rise.map_or_else(
            || RISES.iter().map(|rise| (rise * target).min(most)).collect(),
            |rise| vec![rise],
        );
        for rise in rises {
            notice.push(labels_to_notice(&plan, artifact, rise, settings)?);
        }
    }
    let accepted = chosen.iter().filter(|row| row.accept).count() as u64;
    Ok(AuditResult { plan, chosen, accepted, rows, target_risk: target, confirm, notice })
}

/// The target that labels are tested against, if there is one.
fn target_of(artifact: &Artifact, settings: &MonitorSettings) -> Option<f64> {
    let threshold = artifact.threshold();
    settings.target_risk.or_else(|| threshold.and_then(Threshold::target_risk))
}

/// How many labels of accepted rows confirm the threshold at a risk; by default at that with which the
/// threshold was found. Nothing without a target, or if that risk is not known.
pub fn labels_to_confirm(
    plan: &AuditPlan,
    artifact: &Artifact,
    risk: Option<f64>,
    settings: &MonitorSettings,
) -> Result<Option<Needed>, LabError> {
    let risk = risk.or_else(|| risk_of(artifact.threshold()));
    let Some((target, risk)) = target_of(artifact, settings).zip(risk) else { return Ok(None) };
    let target = checked_target(target, settings)?;
    if !(0.0..=settings.max_loss).contains(&risk) {
        let wanted = "from 0 to the largest loss";
        return Err(Error::Parameter { name: "risk", value: risk, wanted }.into());
    }
    let labels = plan.labels_to_confirm(risk / settings.max_loss, target, settings);
    Ok(Some(Needed { risk, labels }))
}

/// How many labels of accepted rows it takes to notice a risk above the target.
pub fn labels_to_notice(
    plan: &AuditPlan,
    artifact: &Artifact,
    risk: f64,
    settings: &MonitorSettings,
) -> Result<Needed, LabError> {
    let target = target_of(artifact, settings).ok_or(LabError::NoTargetRisk)?;
    if !(risk > target && risk < settings.max_loss) {
        let wanted = "above the target and below the largest loss";
        return Err(Error::Parameter { name: "rise", value: risk, wanted }.into());
    }
    let target = checked_target(target, settings)?;
    let labels = plan.labels_to_notice(risk / settings.max_loss, target, settings);
    Ok(Needed { risk, labels })
}

/// The target over the largest loss, if a monitor would take these settings.
fn checked_target(target: f64, settings: &MonitorSettings) -> Result<f64, LabError> {
    let share = target / settings.max_loss;
    let wanted = "a number between 0 and 1, both excluded";
    for (name, value) in
        [("alpha", settings.alpha), ("delta", settings.delta), ("target_risk", share)]
    {
        if !(value > 0.0 && value < 1.0) {
            return Err(Error::Parameter { name, value, wanted }.into());
        }
    }
    Ok(share)
}

/// Calls a function with each row that may be chosen.
fn each_from(
    request: &AuditRequest<'_>,
    records: &dyn RecordSource,
    mut each: impl FnMut(u64, &ScoredRecord<'_>) -> Result<(), LabError>,
) -> Result<(), LabError> {
    records.each(&mut |row, record| {
        if row < request.from_row { Ok(()) } else { each(row, record) }
    })
}

/// The risk among accepted rows that a threshold was found with.
fn risk_of(threshold: Option<&Threshold>) -> Option<f64> {
    match &threshold?.basis {
        Basis::Certified { certificate, .. } => {
            Some(certificate.errors as f64 / certificate.accepted.max(1) as f64)
        }
        Basis::Anytime { certificate, .. } => Some(certificate.selective_risk),
        Basis::Risk { selective_risk, .. } => Some(*selective_risk),
        _ => None,
    }
}
