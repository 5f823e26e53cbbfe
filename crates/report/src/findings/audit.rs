//! The rows to have labelled, and what labels can show.

use super::{Finding, Findings, Tone};
use crate::sheet::{Align, Cell, Group, Heading, Sheet};
use crate::words::{count, percent, rows as number, significant, target_percent};
use abstain_lab::{AuditResult, Needed};

/// The rows to have labelled, in words.
pub fn audit(result: &AuditResult) -> Findings {
    let chosen = result.chosen.len();
    let about = format!(
        "{} of {} rows chosen: {} accepted, {} abstained from. Expected: {}.",
        count(chosen),
        number(result.rows),
        number(result.accepted),
        number(chosen as u64 - result.accepted),
        count(rounded(result.plan.expected())),
    );
    let row = |stratum: &abstain::monitor::Stratum| {
        vec![
            Cell::text(match stratum.from {
                from if from == f64::NEG_INFINITY => "any".to_string(),
                from => significant(from),
            }),
            Cell::text(if stratum.accepted { "accepted" } else { "abstained" }),
            Cell::text(number(stratum.rows)),
            Cell::text(percent(stratum.risk)),
            Cell::text(percent(stratum.propensity)),
        ]
    };
    let names = ["confidence from", "answer", "rows", "risk, assumed", "propensity"];
    let strata = result.plan.strata.iter().filter(|stratum| stratum.rows > 0);
    let sheet = Sheet {
        name: "strata".into(),
        caption: "How rows are chosen".into(),
        header: vec![names.map(Heading::new).into()],
        align: vec![Align::Right, Align::Left, Align::Right, Align::Right, Align::Right],
        groups: vec![Group { label: None, rows: strata.map(row).collect() }],
        notes: vec![
            "The assumed risk is that of the certifying rows, as if there were two more, one of them wrong. \
             Each row is chosen by itself with its propensity, so their number varies."
                .into(),
        ],
    };
    let labels = |needed: &Needed| match (needed.labels.median, needed.labels.ninety) {
        (Some(median), Some(ninety)) => {
            format!(
                "{} labels of accepted rows in the median, {} in nine of ten cases",
                number(median),
                number(ninety)
            )
        }
        (Some(median), None) => format!("{} labels of accepted rows in the median", number(median)),
        _ => "more labels than can be simulated".to_string(),
    };
    let mut findings = Vec::new();
    if let (Some(confirm), Some(target)) = (&result.confirm, result.target_risk) {
        findings.push(Finding::new(
            Tone::Neutral,
            format!(
                "To confirm the threshold at a risk of at most {}, if it is {} as on the certifying rows: {}.",
                target_percent(target),
                percent(confirm.risk),
                labels(confirm)
            ),
        ));
    }
    findings.extend(result.notice.iter().map(|needed| {
        Finding::new(
            Tone::Neutral,
            format!("To notice a risk of {}: {}.", target_percent(needed.risk), labels(needed)),
        )
    }));
    Findings {
        about: vec![Finding::new(Tone::Neutral, about)],
        sheet: Some(sheet),
        figure: None,
        findings,
    }
}

fn rounded(value: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of rows")]
    let rounded = value.round() as usize;
    rounded
}
