//! The use case *audit*: which rows of a deployment to have labelled next, and what labels can show.

use crate::error::LabError;
use crate::monitor::check_confidences;
use crate::monitor::{Hash, check_acceptance};
use abstain::monitor::{AuditPlan, LabelsNeeded, MonitorSettings, Strata};
use abstain::{Artifact, Basis, Error, Threshold};
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
    let threshold = artifact.one_threshold()?.ok_or(Error::NoThreshold)?;
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
        let wrong = |problem: String| LabError::Record { path: path.clone(), row, problem };
        check_acceptance(record, threshold.at).map_err(wrong)?;
        let id = record.get(Role::Id).map(str::to_string);
        let id = id.ok_or_else(|| wrong("a record without an id".into()))?;
        let Some(propensity) = plan.choose(Hash::of(&id).number(), record.confidence) else {
            return Ok(());
        };
        chosen.push(ChosenRow {
            id,
            row,
            confidence: record.confidence,
            prediction: record.get(Role::Prediction).map(str::to_string),
            accept: threshold.accepts(record.confidence),
            propensity,
        });
        Ok(())
    })?;
    let target = target_of(artifact, settings);
    let (mut confirm, mut notice) = (None, Vec::new());
    if let Some(target) = target {
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

/// Chooses rows to have labelled by a column of confidences: how, which of them, and with which
/// propensities.
pub fn audit_confidences(
    artifact: &Artifact,
    confidences: &[f64],
    budget: f64,
    abstained: f64,
    seed: u64,
) -> Result<(AuditPlan, Vec<usize>, Vec<f64>), LabError> {
    let mut strata = Strata::new(artifact)?;
    check_confidences(confidences)?;
    for &confidence in confidences {
        strata.count(confidence);
    }
    let plan = strata.plan(budget, abstained, seed)?;
    let choose = |(row, confidence): (usize, &f64)| {
        plan.choose(row as u64, *confidence).map(|propensity| (row, propensity))
    };
    let (rows, propensities) = confidences.iter().enumerate().filter_map(choose).unzip();
    Ok((plan, rows, propensities))
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
    match &threshold?.basis {
        Basis::Certified { certificate, .. } => {
            Some(certificate.errors as f64 / certificate.accepted.max(1) as f64)
        }
        Basis::Anytime { certificate, .. } => Some(certificate.selective_risk),
        Basis::Risk { selective_risk, .. } => Some(*selective_risk),
        _ => None,
    }
}
