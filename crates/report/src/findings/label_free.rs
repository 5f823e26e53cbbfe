//! The findings of the label-free rule.

use super::artifact::terms;
use super::{Finding, Findings, Tone};
use crate::words::{count, estimator};
use abstain::Estimator;
use abstain_lab::LabelFreeResult;

/// The rule, what it is worth elsewhere, and what it cannot know.
pub fn label_free(result: &LabelFreeResult) -> Findings {
    let mut findings = vec![Finding::new(Tone::Neutral, label_free_verdict(result))];
    if result.artifact.estimator != Estimator::MSP {
        // Measured by the benchmark `choose` (docs/decisions/method-and-fallback.md).
        findings.push(Finding::new(
            Tone::Plain,
            "What it is worth elsewhere: on 25 real classifiers its NAURC is 0.0036 above the best \
             score in hindsight on average, that of MSP 0.0106. On one of them it is worse than MSP, \
             by 0.002. Labels help: with 250 of them the stack is 0.003 below the best score.",
        ));
    }
    findings.push(Finding::new(
        Tone::Plain,
        "Without labels it is not known whether that holds here, how accurate the classifier is, or \
         which threshold meets an accuracy: label some other rows for `abstain eval` and `abstain \
         certify`.",
    ));
    Findings {
        about: vec![Finding::new(
            Tone::Plain,
            format!(
                "{} rows without labels; {} classes",
                count(result.rows),
                count(result.classes)
            ),
        )],
        sheet: terms(&result.artifact),
        figure: None,
        findings,
    }
}

/// One sentence: which estimator to use.
pub fn label_free_verdict(result: &LabelFreeResult) -> String {
    match &result.artifact.estimator {
        msp if *msp == Estimator::MSP => {
            "Use MSP: with two classes there is nothing beside it.".into()
        }
        other => format!("Use {}: its weights come from the logits alone.", estimator(other)),
    }
}
