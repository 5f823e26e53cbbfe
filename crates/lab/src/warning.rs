//! What looks wrong with rows, although they can be read: said, and not refused.

use crate::copies::{Copies, Repeats};
use crate::known::KnownRows;
use crate::measured::{LogitFacts, MeasuredRows};
use crate::order::{OtherOrder, other_order};
use crate::rows::Fingerprints;
use crate::target::FewRows;
use abstain::{
    Artifact, Encoding, Labels, Losses, Metric, RcCurve, internal::RowFacts, threshold::Basis,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Something about rows that looks wrong: its kind, and the numbers that show it.
///
/// The enum is exhaustive on purpose: a new kind does not compile until `report` has words for it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Warning {
    /// The rows are read as logits, and each of them is one of probabilities.
    LooksLikeProbabilities,
    /// The rows are read as logits, and each of them is one of probabilities in per cent.
    LooksLikePercentages,
    /// The rows are read as logits, and all numbers lie between 0 and 1.
    BetweenZeroAndOne,
    /// The confidence is higher for wrong predictions than for right ones.
    ReversedConfidence {
        /// How often a right one has the higher confidence of two.
        auroc: f64,
    },
    /// The confidence of one of two classes is always below that of the other, as the probability of one
    /// class is.
    OneSidedConfidence,
    /// The flags of right predictions and the comparison of predictions with labels disagree.
    FlagDisagrees {
        /// In this share of the rows.
        share: f64,
    },
    /// Predictions agree with the labels no more often than chance.
    ChanceAccuracy {
        /// How often they agree.
        accuracy: f64,
        /// How often they would by chance, with these shares of predicted and true classes.
        chance: f64,
    },
    /// Labels agree with the predictions far more often if they are shifted.
    ShiftedLabels {
        /// By how much: −1 if they seem to be counted from 1.
        by: i64,
        /// How often they agree then.
        shifted: f64,
        /// How often they agree as they are.
        accuracy: f64,
    },
    /// With the classes in another order, predictions would agree with the labels far more often.
    OtherOrder {
        /// How often they would.
        reordered: f64,
        /// How often they agree as they are.
        accuracy: f64,
    },
    /// One class is predicted for many rows, and hardly ever right there.
    WrongClass {
        /// The class.
        class: usize,
        /// The rows that it is predicted for.
        predicted: usize,
        /// Those of them that are right.
        right: usize,
        /// All rows.
        rows: usize,
    },
    /// A class is the label of many rows, and never predicted.
    NeverPredicted {
        /// The class; of several, the one with the most rows.
        class: usize,
        /// The rows with this label.
        labels: usize,
        /// How many other classes are never predicted, although as large a share of the labels names them.
        others: usize,
    },
    /// A threshold without a guarantee accepts too few rows to show its target.
    FewAccepted(FewRows),
    /// All confidences are equal.
    ConstantConfidence,
    /// Some rows are equal to others, to digits that are too many for chance.
    Copies {
        /// All rows.
        rows: usize,
        /// Those that are equal to no earlier one.
        distinct: usize,
    },
    /// Some of the rows tuned the estimator.
    SharedRows {
        /// Of the tuning rows that were looked for, how many were found.
        found: usize,
        /// How many were looked for.
        compared: usize,
    },
    /// The numbers of the rows are of another size than those of the tuning rows.
    OtherScale {
        /// The size here.
        here: f64,
        /// The size of the tuning rows.
        tuned: f64,
    },
    /// The threshold of the artifact was certified on these rows.
    CertifyingRows,
    /// The threshold accepts another share of these rows than of those it was found on.
    OtherCoverage {
        /// The share of these rows.
        here: f64,
        /// The share of those.
        expected: f64,
    },
}

/// Rows below which shares say nothing.
const FEW: usize = 20;

/// How many times larger or smaller numbers are before it is said.
const SCALE: f64 = 3.0;

/// What looks wrong with the numbers of rows.
pub(crate) fn of_numbers(encoding: Encoding, facts: &RowFacts) -> Option<Warning> {
    let as_logits = matches!(encoding, Encoding::Logits | Encoding::Masked);
    if !as_logits {
        None
    } else if facts.look_like_probabilities() {
        Some(Warning::LooksLikeProbabilities)
    } else if facts.look_like_percentages() {
        Some(Warning::LooksLikePercentages)
    } else {
        facts.lie_between_zero_and_one().then_some(Warning::BetweenZeroAndOne)
    }
}

/// What looks wrong with confidences that were computed elsewhere, and with what says which predictions are
/// right.
pub(crate) fn of_table(rows: &MeasuredRows, confidences: &[f64]) -> Vec<Warning> {
    let losses = rows.losses.as_ref();
    let mut warnings: Vec<Warning> =
        losses.and_then(|losses| of_direction(confidences, losses)).into_iter().collect();
    if let (Some(answers), Some(names)) = (&rows.answers, &rows.class_names) {
        warnings.extend(of_labels(&answers.labels, &answers.predictions, names.len()));
        warnings.extend(of_sides(confidences, &answers.predictions));
    }
    let disagrees = rows.disagreement.filter(|share| *share > 0.0);
    warnings.extend(disagrees.map(|share| Warning::FlagDisagrees { share }));
    warnings
}

/// Whether a confidence is an uncertainty: wrong rows have higher ones, and not by chance.
fn of_direction(confidences: &[f64], losses: &Losses) -> Option<Warning> {
    let curve = RcCurve::new(confidences, losses).ok()?;
    let auroc = Metric::AUROC.evaluate(&curve).ok()?;
    let (rows, wrong) = (curve.rows() as f64, curve.total_loss());
    let right = rows - wrong;
    // The standard error where confidences say nothing.
    let error = ((rows + 1.0) / (12.0 * right * wrong)).sqrt();
    (auroc < 0.5 - 4.0 * error).then_some(Warning::ReversedConfidence { auroc })
}

/// Whether confidences of two classes are the probability of one of them.
fn of_sides(confidences: &[f64], predictions: &[usize]) -> Option<Warning> {
    const ENOUGH: usize = 5;
    let mut sides: BTreeMap<usize, (usize, f64, f64)> = BTreeMap::new();
    for (&confidence, &prediction) in confidences.iter().zip(predictions) {
        if !(0.0..=1.0).contains(&confidence) {
            return None;
        }
        let side = sides.entry(prediction).or_insert((0, f64::INFINITY, f64::NEG_INFINITY));
        *side = (side.0 + 1, side.1.min(confidence), side.2.max(confidence));
    }
    let sides: Vec<_> = sides.into_values().collect();
    let &[(a, a_low, a_high), (b, b_low, b_high)] = &sides[..] else { return None };
    let apart = a_high < b_low || b_high < a_low;
    (apart && a.min(b) >= ENOUGH).then_some(Warning::OneSidedConfidence)
}

/// What looks wrong with the labels of rows, given the predictions.
pub(crate) fn of_labels(labels: &Labels, predictions: &[usize], classes: usize) -> Vec<Warning> {
    let rows = predictions.len();
    if rows < FEW || labels.len() != rows {
        return Vec::new();
    }
    let (mut predicted, mut actual) = (vec![0.0; classes], vec![0.0; classes]);
    let (mut right, mut one_less, mut one_more) = (0.0, 0.0, 0.0);
    for (&prediction, &label) in predictions.iter().zip(labels.values()) {
        let label = label as usize;
        predicted[prediction] += 1.0;
        actual[label] += 1.0;
        right += f64::from(u8::from(prediction == label));
        one_less += f64::from(u8::from(prediction + 1 == label));
        one_more += f64::from(u8::from(prediction == label + 1));
    }
    let count = rows as f64;
    let chance: f64 =
        predicted.iter().zip(&actual).map(|(a, b)| a * b).sum::<f64>() / (count * count);
    let error = (chance * (1.0 - chance) / count).sqrt();
    let accuracy = right / count;
    let mut warnings = Vec::new();
    let (by, shifted) =
        if one_less >= one_more { (-1, one_less / count) } else { (1, one_more / count) };
    // Where the first class (or the last) is a label, labels cannot be counted from another number.
    let possible = if by == -1 { actual[0] == 0.0 } else { actual[classes - 1] == 0.0 };
    // Neighbouring classes may be mistaken for each other, but not more often than they are right.
    let shifts = shifted > 2.0 * accuracy && shifted > chance + 5.0 * error && shifted > 0.2;
    let shifts = shifts && possible;
    if shifts {
        warnings.push(Warning::ShiftedLabels { by, shifted, accuracy });
    } else if let Some(OtherOrder { reordered, .. }) = other_order(labels, predictions, classes) {
        warnings.push(Warning::OtherOrder { reordered, accuracy });
    } else if accuracy <= chance + 2.0 * error {
        warnings.push(Warning::ChanceAccuracy { accuracy, chance });
    } else {
        warnings.extend(of_classes(labels, predictions, classes));
    }
    warnings
}

/// Classes that take the place of others, and classes that are lost: no confidence mends either.
fn of_classes(labels: &Labels, predictions: &[usize], classes: usize) -> Vec<Warning> {
    let rows = predictions.len();
    let (mut predicted, mut actual, mut right) =
        (vec![0_usize; classes], vec![0_usize; classes], vec![0_usize; classes]);
    for (&prediction, &label) in predictions.iter().zip(labels.values()) {
        let label = label as usize;
        predicted[prediction] += 1;
        actual[label] += 1;
        right[label] += usize::from(prediction == label);
    }
    let mut warnings = Vec::new();
    let is_wrong = |&class: &usize| {
        predicted[class] >= FEW.max(rows / 10) && 10 * right[class] <= predicted[class]
    };
    if let Some(class) = (0..classes).filter(is_wrong).max_by_key(|&class| predicted[class]) {
        let (predicted, right) = (predicted[class], right[class]);
        warnings.push(Warning::WrongClass { class, predicted, right, rows });
    }
    let is_lost = |&class: &usize| predicted[class] == 0 && actual[class] >= FEW.max(rows / 50);
    let lost: Vec<usize> = (0..classes).filter(is_lost).collect();
    if let Some(&class) = lost.iter().max_by_key(|&&class| actual[class]) {
        let (labels, others) = (actual[class], lost.len() - 1);
        warnings.push(Warning::NeverPredicted { class, labels, others });
    }
    warnings
}

/// What the rows of a pass look like to an artifact.
pub(crate) fn of_artifact(artifact: &Artifact, facts: &RowFacts) -> Option<Warning> {
    let tuned = artifact.tuning.as_ref()?.scale?;
    let here = facts.scale()?;
    let differs = here > SCALE * tuned || tuned > SCALE * here;
    differs.then_some(Warning::OtherScale { here, tuned })
}

/// Whether the threshold of an artifact accepts a far different share of so many rows than of those it was
/// found on.
pub(crate) fn of_coverage(artifact: &Artifact, here: f64, rows: f64) -> Option<Warning> {
    let threshold = artifact.threshold()?;
    let then = match &threshold.basis {
        Basis::Certified { certificate, .. } => certificate.rows,
        Basis::Risk { rows, weighted_coverage: None, .. }
        | Basis::Coverage { rows, weighted_coverage: None, .. } => *rows,
        // How much rows with weights say about a share is not known here.
        _ => return None,
    };
    let (then, expected) = (then as f64, threshold.coverage()?);
    if rows.min(then) < FEW as f64 {
        return None;
    }
    let both = (rows * here + then * expected) / (rows + then);
    let error = (both * (1.0 - both) * (1.0 / rows + 1.0 / then)).sqrt();
    let difference = (here - expected).abs();
    let far = difference > 0.1 && difference > 4.0 * error;
    far.then_some(Warning::OtherCoverage { here, expected })
}

/// Whether the threshold of an artifact was certified on these rows.
pub(crate) fn of_certificate(artifact: &Artifact, rows: &Fingerprints) -> Option<Warning> {
    match &artifact.threshold()?.basis {
        Basis::Certified { data: Some(data), .. } if rows.contain(data) => {
            Some(Warning::CertifyingRows)
        }
        _ => None,
    }
}

/// Leaves out that rows are equal where the user says that each counts.
pub(crate) fn heed(warnings: &mut Vec<Warning>, repeats: Repeats) {
    warnings
        .retain(|warning| repeats == Repeats::Once || !matches!(warning, Warning::Copies { .. }));
}

/// Whether all confidences are equal.
pub(crate) fn of_confidences(confidences: &[f64]) -> Option<Warning> {
    let constant = confidences.len() > 1 && confidences.iter().all(|c| *c == confidences[0]);
    constant.then_some(Warning::ConstantConfidence)
}

/// Everything that looks wrong with rows without labels, for the estimator of an artifact.
pub fn unlabelled_warnings(
    artifact: &Artifact,
    encoding: Encoding,
    facts: &RowFacts,
    confidences: &[f64],
) -> Vec<Warning> {
    let of_rows = of_numbers(encoding, facts).into_iter().chain(of_artifact(artifact, facts));
    of_rows.chain(of_confidences(confidences)).collect()
}

/// Everything that looks wrong with logits and their labels, for a new estimator or for that of an artifact.
pub(crate) fn of_logits(
    logits: &LogitFacts,
    labels: Option<&Labels>,
    predictions: &[usize],
    artifact: Option<&Artifact>,
) -> Vec<Warning> {
    let LogitFacts { classes, encoding, facts, sketch, .. } = logits;
    let mut warnings: Vec<Warning> = of_numbers(*encoding, facts).into_iter().collect();
    let copies = logits.copies;
    warnings.extend(copies.map(|Copies { rows, distinct }| Warning::Copies { rows, distinct }));
    if let Some(labels) = labels {
        warnings.extend(of_labels(labels, predictions, *classes));
    }
    if let Some(artifact) = artifact {
        warnings.extend(of_artifact(artifact, facts));
        warnings.extend(KnownRows::tuned(artifact).warning(sketch));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use abstain::Threshold;

    fn labels(values: &[usize], classes: usize) -> Labels {
        Labels::new(values, classes).expect("labels")
    }

    #[test]
    fn labels_of_other_rows_are_noticed() {
        let predictions: Vec<usize> = (0..1000).map(|i| i * 7919 % 10).collect();
        let right = labels(&predictions, 10);
        assert!(of_labels(&right, &predictions, 10).is_empty());
        let shuffled: Vec<usize> = (0..1000).map(|i| (i * 104_729 / 7) % 10).collect();
        let found = of_labels(&labels(&shuffled, 10), &predictions, 10);
        assert!(matches!(found[..], [Warning::ChanceAccuracy { .. }]), "{found:?}");
        // One class for all: chance is what the classes make of it.
        let found = of_labels(&labels(&[0; 1000], 10), &[0; 1000], 10);
        assert_eq!(found, [Warning::ChanceAccuracy { accuracy: 1.0, chance: 1.0 }]);
        assert!(of_labels(&labels(&[1; 10], 10), &[0; 10], 10).is_empty(), "too few rows");
    }

    #[test]
    fn classes_that_dominate_and_classes_that_are_lost_are_noticed() {
        // Of ten classes, 4 is predicted in place of half of the others and never right; 7 is lost.
        let actual: Vec<usize> = (0..10_000).map(|i| i * 7919 % 10).collect();
        let answer = |(row, &class): (usize, &usize)| match class {
            4 => 3,
            7 => 4,
            _ if row / 10 % 5 < 2 => 4,
            class => class,
        };
        let predictions: Vec<usize> = actual.iter().enumerate().map(answer).collect();
        let found = of_labels(&labels(&actual, 10), &predictions, 10);
        let [Warning::WrongClass { class: 4, right: 0, predicted, rows: 10_000 }, ref lost] =
            found[..]
        else {
            panic!("{found:?}")
        };
        assert!(predicted > 4000, "{predicted}");
        assert_eq!(*lost, Warning::NeverPredicted { class: 7, labels: 1000, others: 0 });
        // A class that is right now and then, and a rare one that is never predicted.
        let fair = |(row, &class): (usize, &usize)| match class {
            class if row % 3 == 0 => (class + 1) % 10,
            class => class,
        };
        let predictions: Vec<usize> = actual.iter().enumerate().map(fair).collect();
        assert_eq!(of_labels(&labels(&actual, 11), &predictions, 11), []);
    }

    #[test]
    fn labels_that_count_from_one_are_noticed() {
        let predictions: Vec<usize> = (0..500).map(|i| i * 31 % 9).collect();
        let shifted: Vec<usize> = predictions.iter().map(|class| class + 1).collect();
        let found = of_labels(&labels(&shifted, 10), &predictions, 10);
        assert!(matches!(found[..], [Warning::ShiftedLabels { by: -1, .. }]), "{found:?}");
    }

    #[test]
    fn classes_in_another_order_are_noticed() {
        let predictions: Vec<usize> = (0..500).map(|i| i * 31 % 10).collect();
        let order = [3, 7, 0, 9, 4, 1, 8, 2, 6, 5];
        let other: Vec<usize> = predictions.iter().map(|&class| order[class]).collect();
        let found = of_labels(&labels(&other, 10), &predictions, 10);
        assert!(matches!(found[..], [Warning::OtherOrder { reordered: 1.0, .. }]), "{found:?}");
        // Too few rows of each class to tell.
        let few = &predictions[..20];
        let found = of_labels(&labels(&other[..20], 10), few, 10);
        assert!(!matches!(found[..], [Warning::OtherOrder { .. }]), "{found:?}");
    }

    #[test]
    fn thresholds_that_accept_other_shares_are_noticed() {
        let mut artifact = Artifact::new(abstain::Estimator::MSP);
        let at = 1.0;
        let coverage = |weighted_coverage| {
            let basis =
                Basis::Coverage { coverage: 0.8, rows: 1000, accepted: 800, weighted_coverage };
            Some(Threshold { at, basis }.into())
        };
        artifact.rule = coverage(None);
        assert_eq!(of_coverage(&artifact, 0.79, 1000.0), None);
        assert!(of_coverage(&artifact, 0.3, 1000.0).is_some());
        assert_eq!(of_coverage(&artifact, 0.0, 10.0), None, "too few rows");
        artifact.rule = coverage(Some(0.3));
        assert_eq!(of_coverage(&artifact, 0.3, 1000.0), None, "as much of the weight");
        artifact.rule = Some(Threshold::given(at).into());
        assert_eq!(of_coverage(&artifact, 0.0, 1000.0), None);
    }

    #[test]
    fn equal_confidences_are_noticed() {
        assert!(of_confidences(&[1.0, 1.0]).is_some());
        assert!(of_confidences(&[1.0, 2.0]).is_none() && of_confidences(&[1.0]).is_none());
    }
}
