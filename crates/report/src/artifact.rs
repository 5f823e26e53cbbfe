//! An artifact in words.

use crate::table::{Align, Table};
use crate::words::{STRONG, count, estimator, percent, short, significant, styled, target_percent};
use abstain::stack::Stack;
use abstain::{Artifact, Centring, Estimator, Input, Threshold, Tuning};
use std::fmt::Write;

/// What the artifact is, how it came about, and how to use it.
pub fn artifact(artifact: &Artifact) -> String {
    let mut text = String::new();
    let title = format!("{}, written by {}", estimator(&artifact.estimator), artifact.written_by);
    let _ = writeln!(text, "{}", styled(STRONG, &title));
    let _ = writeln!(text, "Confidence: {}", formula(&artifact.estimator));
    if let Estimator::Stack(stack) = &artifact.estimator {
        let mut table = Table::new(&[
            ("score", Align::Left),
            ("weight", Align::Right),
            ("mean", Align::Right),
            ("std", Align::Right),
        ]);
        for term in stack.terms() {
            table.row([
                term.estimator.to_string(),
                format!("{:+.3}", term.weight),
                significant(term.mean),
                significant(term.deviation),
            ]);
        }
        text += &table.to_string();
    }
    let classes = artifact.classes.map_or("any number of".to_string(), count);
    let input = match artifact.input {
        Input::Masked {} => "logits, in which -inf marks classes that were ruled out".into(),
        Input::Probabilities { floor, .. } => format!("probabilities, none below {floor:e}"),
        _ => "logits".to_string(),
    };
    let _ = writeln!(text, "Input: rows of {classes} classes, {input}");
    let _ = writeln!(text, "{}", threshold(artifact));
    if let Some(tuning) = &artifact.tuning {
        let _ = writeln!(text, "{}", history(tuning));
    }
    text
}

/// The estimator's formula in a line.
fn formula(estimator: &Estimator) -> String {
    match estimator {
        Estimator::Family(family) => family.family().info().formula.into(),
        Estimator::Stack(_) => Stack::FORMULA.into(),
        Estimator::Scored { score, transform, .. } => {
            let what = score.name();
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
                    format!("{what} of the logits {shift}{gamma}{scale}")
                }
                (None, 1.0) => format!("{what} of the logits as they are"),
                (None, _) => format!("{what} of the logits divided by a temperature"),
            }
        }
        _ => String::new(),
    }
}

/// "wrong", or what counts instead.
fn wrong(loss: &str) -> String {
    match loss {
        "zero-one" => "wrong".into(),
        top => format!("wrong by the loss {top}"),
    }
}

/// The threshold, and what it rests on.
pub fn threshold(artifact: &Artifact) -> String {
    let Some(threshold) = &artifact.threshold else {
        return "Threshold: none, so that nothing is said of acceptance.".into();
    };
    let at = threshold.at();
    let mut text = format!("Threshold: accept a confidence of {at} or more");
    if let Some(classes) = artifact.classes {
        let value = artifact.estimator.value(at, classes);
        let what = if artifact.estimator.is_probability() { "a probability" } else { "a value" };
        let _ = write!(text, " ({what} of {})", short(value, 6));
    }
    let basis = match threshold {
        Threshold::Certified { certificate: own, assumptions, loss, .. } => {
            format!(
                "Certificate: with probability {}, at most {} of the accepted answers are {}; \
                 it rests on {} errors in {} accepted of {} rows ({}; δ shared by {}).\n\
                 It assumes that {assumptions}.",
                target_percent(1.0 - own.delta),
                target_percent(own.risk),
                wrong(loss),
                count(own.errors),
                count(own.accepted),
                count(own.rows),
                match own.procedure {
                    abstain::certify::Procedure::FixedSequence => "fixed-sequence testing",
                    abstain::certify::Procedure::Sgr => "SGR",
                },
                own.tried,
            )
        }
        Threshold::Risk { risk, rows, accepted, selective_risk, loss, .. } => format!(
            "No certificate: on {} rows it kept {} with a selective risk of {} ({} was asked for; \
             loss {loss}).",
            count(*rows),
            percent(*accepted as f64 / *rows as f64),
            short(*selective_risk, 4),
            short(*risk, 6),
        ),
        Threshold::Coverage { coverage, rows, accepted, .. } => format!(
            "No certificate: on {} rows it kept {} ({} was asked for).",
            count(*rows),
            percent(*accepted as f64 / *rows as f64),
            target_percent(*coverage),
        ),
        _ => "No certificate: the threshold was set by hand.".into(),
    };
    format!("{text}\n{basis}")
}

fn history(tuning: &Tuning) -> String {
    let Tuning { method, objective, rows, seed, space, fallback, loss, .. } = tuning;
    let mut text = format!(
        "Tuned: {method} for {objective} (loss {loss}) on {} rows, space {space}, fallback {fallback}, \
         seed {seed}",
        count(*rows)
    );
    if let (Some(value), Some(baseline)) = (tuning.value, tuning.baseline) {
        let _ = write!(text, "; {objective} {value:.4} there, MSP {baseline:.4}");
    }
    if tuning.fell_back {
        text += "; given up for MSP";
    }
    if let Some(own) = &tuning.measured
        && let (Some(naurc), Some(baseline)) = (own.naurc, own.baseline)
    {
        let _ = write!(
            text,
            "\nMeasured on {} other rows: NAURC {naurc:.4}, MSP {baseline:.4}",
            count(own.rows)
        );
    }
    if let Some(data) = &tuning.data {
        let _ = write!(text, "\nData: sha256 {data}");
    }
    text
}
