//! An artifact in words.

use super::{Finding, Findings, Tone, coverage_limits};
use crate::sheet::{Align, Cell, Group, Heading, Sheet};
use crate::words::{count, estimator, percent, rows, short, significant, target_percent};
use abstain::certify::Procedure;
use abstain::{
    Artifact, Encoding, Estimator, Rule, Threshold, artifact::Tuning, threshold::Basis,
    transform::Centring,
};
use abstain_lab::{CountedOnce, Sampled};
use std::fmt::Write;

/// What the artifact computes, its threshold, and how it was tuned.
pub fn artifact(artifact: &Artifact) -> Findings {
    let name = match artifact.input {
        Encoding::Confidence => "Confidence".into(),
        _ => estimator(&artifact.estimator),
    };
    let title = format!("{name}, written by {}", artifact.written_by);
    let plain = |text: String| Finding::new(Tone::Plain, text);
    let mut findings: Vec<Finding> = identity(artifact).into_iter().map(plain).collect();
    findings.extend([plain(input(artifact)), plain(threshold(artifact))]);
    findings.extend(artifact.tuning.as_ref().map(|tuning| plain(history(tuning))));
    Findings {
        about: vec![
            Finding::new(Tone::Neutral, title),
            plain(format!("Confidence: {}", formula(&artifact.estimator))),
        ],
        sheet: terms(artifact),
        figure: None,
        findings,
    }
}

/// Which classifier it is for, and when it was made.
fn identity(artifact: &Artifact) -> Option<String> {
    let mut text = match &artifact.model {
        Some(model) => {
            let more = model.metadata.iter().map(|(key, value)| format!(", {key} = {value}"));
            format!("Model: {model}{}", more.collect::<String>())
        }
        None => String::new(),
    };
    if let Some(date) = &artifact.date {
        text += if text.is_empty() { "Date: " } else { "; date: " };
        text += date;
    }
    (!text.is_empty()).then_some(text)
}

/// The scores of a stack with their weights.
pub(super) fn terms(artifact: &Artifact) -> Option<Sheet> {
    let Estimator::Stack(stack) = &artifact.estimator else { return None };
    let rows = stack.terms().iter().map(|term| {
        vec![
            Cell::text(term.estimator.to_string()),
            Cell::number(term.weight, 3).signed(),
            Cell::text(significant(term.mean)),
            Cell::text(significant(term.deviation)),
        ]
    });
    Some(Sheet {
        name: "terms".into(),
        caption: "Scores and weights".into(),
        header: vec![["score", "weight", "mean", "std"].map(Heading::new).into()],
        align: vec![Align::Left],
        groups: vec![Group { label: None, rows: rows.collect() }],
        notes: class_offsets(stack.class_offsets(), artifact.class_names.as_deref())
            .into_iter()
            .collect(),
    })
}

/// What a stack adds for the predicted class, from the least to the most.
fn class_offsets(offsets: &[f64], names: Option<&[String]>) -> Option<String> {
    let of = |(class, offset): (usize, &f64)| (*offset, class);
    let all = || offsets.iter().enumerate().map(of);
    let least = all().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = all().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let text = |(offset, class): (f64, usize)| match names.and_then(|names| names.get(class)) {
        Some(name) => format!("{offset:+.3} ({name})"),
        None => format!("{offset:+.3} (class {class})"),
    };
    Some(format!(
        "For the predicted class, an offset is added: from {} to {}.",
        text(least),
        text(most)
    ))
}

fn input(artifact: &Artifact) -> String {
    let raised = |floor: f64| format!("raised to {floor:e} where it is lower");
    match artifact.input {
        Encoding::BinaryProbability { floor: Some(floor), .. } => {
            return format!("Input: the probability of the positive class, {}", raised(floor));
        }
        Encoding::BinaryLogit => return "Input: the logit of the positive class".into(),
        Encoding::Confidence => return "Input: a confidence that is computed elsewhere".into(),
        _ => {}
    }
    let classes = artifact.classes.map_or("any number of".to_string(), count);
    let encoding = match artifact.input {
        Encoding::Masked => "logits, in which -inf marks excluded classes".into(),
        Encoding::Probabilities { floor: Some(floor), .. } => {
            format!("probabilities, raised to {floor:e} where they are lower")
        }
        _ => "logits".to_string(),
    };
    let names = artifact.class_names.as_ref().map_or(String::new(), |names| {
        let first: Vec<&str> = names.iter().take(3).map(String::as_str).collect();
        let more = if names.len() > first.len() { ", …" } else { "" };
        format!(" ({}{more})", first.join(", "))
    });
    format!("Input: rows of {classes} classes{names}, {encoding}")
}

/// The estimator's formula in a line.
fn formula(estimator: &Estimator) -> String {
    match estimator {
        Estimator::Family(family) => family.family().info().formula.into(),
        Estimator::Stack(stack) => stack.formula().into(),
        Estimator::Scored { score, transform, .. } => {
            let name = score.name();
            match (transform.norm, transform.temperature.get()) {
                (Some(norm), _) => {
                    let shift = match norm.centring {
                        Centring::Mean => "less their mean",
                        Centring::Min => "less the smallest",
                        Centring::None => "as they are",
                    };
                    let gamma = match norm.gamma.get() {
                        0.0 => String::new(),
                        gamma => format!(", plus {}", short(gamma, 4)),
                    };
                    let scale = match norm.p.get() {
                        0.0 => String::new(),
                        p => format!(", divided by their {}-norm", short(p, 4)),
                    };
                    format!("{name} of the logits {shift}{gamma}{scale}")
                }
                (None, 1.0) => format!("{name} of the logits as they are"),
                (None, _) => format!("{name} of the logits divided by a temperature"),
            }
        }
        Estimator::Extra => "the number that is given beside each row".into(),
        _ => String::new(),
    }
}

/// "wrong", or what counts as wrong under another loss.
fn wrong(loss: &str) -> String {
    match loss {
        "zero-one" => "wrong".into(),
        other => format!("wrong by the loss {other}"),
    }
}

/// Which rows are accepted, and the rows that this rests on.
pub fn threshold(artifact: &Artifact) -> String {
    let accept = |threshold: &Threshold| {
        let mut text = format!("accept a confidence of {} or more", threshold.at);
        if let Some(classes) = artifact.classes {
            let value = artifact.estimator.value(threshold.at, classes);
            let probability = artifact.estimator.is_probability();
            let scale = if probability { "a probability" } else { "a value" };
            let _ = write!(text, " ({scale} of {})", short(value, 6));
        }
        format!("{text}\n{}", basis(threshold))
    };
    let entry = |name: &str, threshold: Option<&Threshold>| {
        let text = threshold.map_or("abstain".into(), accept);
        format!("\n{name}: {text}")
    };
    match &artifact.rule {
        None => "No threshold: `accept` is not written.".into(),
        Some(Rule::Threshold(threshold)) => format!("Threshold: {}", accept(threshold)),
        Some(Rule::ByClass(table)) => {
            let names = artifact.class_names.as_deref().unwrap_or_default();
            let name = |class: usize| names.get(class).cloned().unwrap_or(class.to_string());
            let entries = table.iter().enumerate();
            let entries = entries.map(|(class, found)| entry(&name(class), found.as_ref()));
            format!("Thresholds by predicted class:{}", entries.collect::<String>())
        }
        Some(Rule::ByGroup(table)) => {
            let entries = table.iter().map(|(name, found)| entry(name, found.as_ref()));
            let entries = entries.collect::<String>();
            format!("Thresholds by group:{entries}\nAny other group: abstain")
        }
        Some(_) => "Thresholds of a kind that is not shown here.".into(),
    }
}

/// Which rows certify, where those that were given have weights.
pub fn sampled(sampled: &Sampled) -> String {
    let Sampled { rows, kept, max_weight, seed, .. } = sampled;
    format!(
        "{} of {} rows certify: each was kept with the probability of its weight over {} (seed {seed}).",
        count(*kept),
        count(*rows),
        short(*max_weight, 6)
    )
}

/// Which rows certify, where some of those that were given belong together.
pub fn counted_once(counted: &CountedOnce) -> String {
    let CountedOnce { rows, counted, seed, .. } = counted;
    format!(
        "{} of {} rows certify: of rows that are equal or of one group, one drawn at random (seed {seed}).",
        count(*counted),
        count(*rows),
    )
}

/// What a threshold rests on.
fn basis(threshold: &Threshold) -> String {
    let coverage = percent(threshold.coverage().unwrap_or(0.0));
    let accepts = |rows: usize| match threshold.weighted_coverage() {
        None => format!("on {} rows it accepts {coverage}", count(rows)),
        Some(_) => format!("on {} rows with weights it accepts {coverage} by weight", count(rows)),
    };
    match &threshold.basis {
        Basis::Certified { certificate, assumptions, loss, .. } => format!(
            "Certificate: with probability {}, at most {} of the accepted answers are {}. It accepts \
             {coverage} of the rows ({}); it rests \
             on {} errors in {} accepted of {} rows ({}; δ shared by {}).\n\
             It assumes that {assumptions}.",
            target_percent(1.0 - certificate.delta),
            target_percent(certificate.risk),
            wrong(loss),
            coverage_limits(certificate),
            count(certificate.errors),
            count(certificate.accepted),
            count(certificate.rows),
            match (certificate.procedure, certificate.pilot) {
                (Procedure::FixedSequence, None) => "fixed-sequence testing".to_string(),
                (Procedure::FixedSequence, Some(rows)) => {
                    format!("fixed-sequence testing, placed by {} other rows", count(rows))
                }
                (Procedure::Sgr, _) => "SGR".to_string(),
            },
            certificate.tried,
        ),
        Basis::Anytime { certificate, assumptions, loss, .. } => format!(
            "Certificate, valid at any time: with probability {}, at most {} of the accepted answers are {}; it \
             rests on {} labels with a risk of {} among them, since row {} of a stream (e-value exp({})).\n\
             It assumes that {assumptions}.",
            target_percent(1.0 - certificate.delta),
            target_percent(certificate.risk),
            wrong(loss),
            rows(certificate.labels),
            percent(certificate.selective_risk),
            rows(certificate.since),
            short(certificate.alarm.log_e_value, 1),
        ),
        Basis::Risk { risk, rows, selective_risk, loss, .. } => format!(
            "No certificate: {} with a selective risk of {} (requested: {}; loss {loss}).",
            accepts(*rows),
            short(*selective_risk, 4),
            short(*risk, 6),
        ),
        Basis::Coverage { coverage: requested, rows, .. } => format!(
            "No certificate: {} (requested: {}).",
            accepts(*rows),
            target_percent(*requested),
        ),
        Basis::Cost { cost_error, cost_abstain, rows, loss, .. } => format!(
            "No certificate: {}, where errors at a cost of {} and abstentions at a cost of {} cost \
             least (loss {loss}).",
            accepts(*rows),
            short(*cost_error, 6),
            short(*cost_abstain, 6),
        ),
        _ => "No certificate: the threshold was set by hand.".into(),
    }
}

/// How the estimator was tuned and measured.
fn history(tuning: &Tuning) -> String {
    let Tuning { method, objective, rows, seed, space, fallback, loss, .. } = tuning;
    let mut text = format!(
        "Tuned: {method} for {objective} (loss {loss}) on {} rows, space {space}, fallback \
         {fallback}, seed {seed}",
        count(*rows)
    );
    if let (Some(value), Some(baseline)) = (tuning.value, tuning.baseline) {
        let _ = write!(text, "; {objective} {value:.4} there, MSP {baseline:.4}");
    }
    if tuning.fell_back {
        text += "; fell back to MSP";
    }
    if let Some(measured) = &tuning.measured
        && let (Some(naurc), Some(baseline)) = (measured.naurc, measured.baseline)
    {
        let rows = count(measured.rows);
        let _ = write!(text, "\nMeasured on {rows} rows: NAURC {naurc:.4}, MSP {baseline:.4}");
    }
    if let Some(fingerprint) = &tuning.data {
        let _ = write!(text, "\nData: {fingerprint}");
    }
    text
}
