//! What looks wrong with rows, in words.

use super::tuning::too_few;
use super::{Finding, Tone};
use crate::words::{count, percent};
use abstain_lab::{Target, Warning};

/// A warning as a sentence without its full stop: it follows the name of a file.
pub fn warning_text(warning: &Warning) -> String {
    named_warning_text(warning, None)
}

/// The same with the names of the classes, if they have any.
pub fn named_warning_text(warning: &Warning, class_names: Option<&[String]>) -> String {
    match *warning {
        Warning::LooksLikeProbabilities => {
            "every row lies between 0 and 1 and sums to 1: these look like probabilities, and are \
             read as logits"
                .into()
        }
        Warning::LooksLikePercentages => {
            "every row lies between 0 and 100 and sums to 100: these look like probabilities in per \
             cent, and are read as logits; divide them by 100, and read them as probabilities"
                .into()
        }
        Warning::BetweenZeroAndOne => {
            "all numbers lie between 0 and 1, and rows do not sum to 1: these look like outputs of \
             sigmoids, and are read as logits; ln(p / (1 - p)) is the logit of a sigmoid p"
                .into()
        }
        Warning::ReversedConfidence { auroc } => format!(
            "wrong predictions have higher confidences than right ones (AUROC {auroc:.3}): is this an \
             uncertainty? A confidence is higher where the prediction is surer"
        ),
        Warning::OneSidedConfidence => {
            "of two predicted classes, one always has the lower confidence: this looks like the \
             probability of the other class, and not like the confidence of the prediction"
                .into()
        }
        Warning::FlagDisagrees { share } => format!(
            "in {} of the rows the flag disagrees with the comparison of predictions and labels; the \
             flag is used",
            percent(share)
        ),
        Warning::ChanceAccuracy { accuracy, chance } => format!(
            "predictions agree with the labels in {} of the rows, no more than by chance ({}): the \
             labels do not seem to belong to these rows",
            percent(accuracy),
            percent(chance)
        ),
        Warning::ShiftedLabels { by, shifted, accuracy } => format!(
            "with {} {} every label, predictions would agree in {} of the rows instead of {}: labels \
             count from 0",
            by.abs(),
            if by < 0 { "subtracted from" } else { "added to" },
            percent(shifted),
            percent(accuracy)
        ),
        Warning::OtherOrder { reordered, accuracy } => format!(
            "with the classes in another order, predictions would agree with the labels in {} of the \
             rows instead of {}: the labels seem to number or name them otherwise",
            percent(reordered),
            percent(accuracy)
        ),
        Warning::WrongClass { .. } | Warning::NeverPredicted { .. } => {
            class_text(warning, class_names)
        }
        Warning::FewAccepted(ref few) => too_few(few, Target::of_risk(few.risk)),
        Warning::ConstantConfidence => {
            "all rows have the same confidence, which separates none of them".into()
        }
        Warning::Copies { rows, distinct } => format!(
            "{} of the {} rows are equal to others, in more digits than chance repeats ({} are \
             distinct): copies say nothing new, so intervals are too narrow; copies stay on one side of \
             every split and fold, and count once in a certificate",
            count(rows - distinct),
            count(rows),
            count(distinct)
        ),
        Warning::SharedRows { found, compared } => format!(
            "{found} of the {compared} tuning rows that were looked for are among these rows: what is \
             measured on rows that tuned the estimator is too good"
        ),
        Warning::OtherScale { here, tuned } => {
            let ratio = (here / tuned).max(tuned / here);
            let digits = usize::from(ratio < 100.0);
            format!(
                "the numbers are {ratio:.digits$} times {} than those of the tuning rows (typical size \
                 {here:.3}, there {tuned:.3}): are they of the same classifier, and of the same kind?",
                if here > tuned { "larger" } else { "smaller" }
            )
        }
        Warning::CertifyingRows => {
            "the threshold was certified on these rows: they cannot confirm it, and certificates on \
             the same rows hold one by one, not all together"
                .into()
        }
        Warning::OtherCoverage { here, expected } => format!(
            "the threshold accepts {} of these rows, and accepted {} of those it was found on: these \
             rows differ from them",
            percent(here),
            percent(expected)
        ),
    }
}

/// A warning about a class; nothing for others.
fn class_text(warning: &Warning, class_names: Option<&[String]>) -> String {
    let named = |class: usize| match class_names.and_then(|names| names.get(class)) {
        Some(name) => format!("'{name}'"),
        None => format!("class {class}"),
    };
    match *warning {
        Warning::WrongClass { class, predicted, right, rows } => format!(
            "the classifier answers {} for {} of {} rows, and is right in {right} of them: look at this \
             first, because no confidence mends it",
            named(class),
            count(predicted),
            count(rows)
        ),
        Warning::NeverPredicted { class, labels, others } => {
            let more = match others {
                0 => String::new(),
                1 => ", and neither is one more class".to_string(),
                more => format!(", and neither are {} more classes", count(more)),
            };
            format!(
                "{} is the label of {} rows and never predicted{more}",
                named(class),
                count(labels)
            )
        }
        _ => String::new(),
    }
}

/// Warnings about the classifier itself, as findings: they come first.
pub(crate) fn of_classes(warnings: &[Warning], class_names: Option<&[String]>) -> Vec<Finding> {
    let about = |warning: &&Warning| {
        matches!(warning, Warning::WrongClass { .. } | Warning::NeverPredicted { .. })
    };
    let sentence = |warning: &Warning| {
        let text = named_warning_text(warning, class_names);
        let mut letters = text.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string());
        Finding::new(Tone::Bad, format!("{}{}.", first.unwrap_or_default(), letters.as_str()))
    };
    warnings.iter().filter(about).map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_warning_is_data_and_its_text_is_rounded() {
        let warning = Warning::OtherScale { here: 12.34567, tuned: 2.0 };
        let data = json!({ "kind": "other-scale", "here": 12.34567, "tuned": 2.0 });
        assert_eq!(serde_json::to_value(warning).expect("JSON"), data);
        assert_eq!(serde_json::from_value::<Warning>(data).expect("a warning"), warning);
        let text = warning_text(&warning);
        assert!(text.starts_with("the numbers are 6.2 times larger than"), "{text}");
        assert!(text.contains("(typical size 12.346, there 2.000)"), "{text}");
    }

    #[test]
    fn what_the_classifier_does_wrong_is_named_first() {
        let wrong = Warning::WrongClass { class: 4, predicted: 4351, right: 0, rows: 10_000 };
        let lost = Warning::NeverPredicted { class: 0, labels: 212, others: 2 };
        let names = ["A", "B", "C", "D", "E"].map(String::from);
        let warnings = [Warning::ConstantConfidence, wrong, lost];
        let found = of_classes(&warnings, Some(&names));
        assert_eq!(
            found.iter().map(|finding| &finding.text[..]).collect::<Vec<_>>(),
            [
                "The classifier answers 'E' for 4,351 of 10,000 rows, and is right in 0 of them: look at \
                 this first, because no confidence mends it.",
                "'A' is the label of 212 rows and never predicted, and neither are 2 more classes."
            ]
        );
        assert!(warning_text(&wrong).contains("answers class 4 for"));
    }

    #[test]
    fn labels_that_seem_shifted_are_named_with_the_shift() {
        let text = |by| warning_text(&Warning::ShiftedLabels { by, shifted: 0.9, accuracy: 0.1 });
        assert!(text(-1).starts_with("with 1 subtracted from every label, "));
        assert!(text(1).starts_with("with 1 added to every label, "));
    }
}
