//! What looks wrong with rows, in words.

use crate::words::{count, percent};
use abstain_lab::Warning;

/// A warning as a sentence without its full stop: it follows the name of a file.
pub fn warning_text(warning: &Warning) -> String {
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
    fn labels_that_seem_shifted_are_named_with_the_shift() {
        let text = |by| warning_text(&Warning::ShiftedLabels { by, shifted: 0.9, accuracy: 0.1 });
        assert!(text(-1).starts_with("with 1 subtracted from every label, "));
        assert!(text(1).starts_with("with 1 added to every label, "));
    }
}
