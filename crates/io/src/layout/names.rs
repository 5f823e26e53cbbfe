//! The names that columns and arrays usually have, by what they hold.

/// A name in a form that does not depend on case and separators: `trueLabel`, `True-Label` and
/// `true_label` are alike.
pub(crate) fn normalised(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut lower_before = false;
    for c in name.trim().chars() {
        if c.is_alphanumeric() {
            if c.is_uppercase() && lower_before {
                text.push('_');
            }
            lower_before = c.is_lowercase();
            text.extend(c.to_lowercase());
        } else {
            lower_before = false;
            if !text.is_empty() && !text.ends_with('_') {
                text.push('_');
            }
        }
    }
    text.truncate(text.trim_end_matches('_').len());
    text
}

/// Names of one quantity: where one of the first list is there, the second is not looked at.
pub(crate) struct Usual {
    pub(crate) first: &'static [&'static str],
    pub(crate) then: &'static [&'static str],
}

pub(crate) const LABELS: Usual = Usual {
    first: &[
        "label",
        "labels",
        "target",
        "targets",
        "y_true",
        "y",
        "true_label",
        "true_labels",
        "gt",
        "ground_truth",
        "gt_label",
        "true_class",
        "gold",
        "gold_label",
        "y_test",
        "y_val",
    ],
    then: &[
        "class",
        "class_id",
        "class_idx",
        "class_index",
        "class_label",
        "label_id",
        "label_ids",
        "label_idx",
        "label_name",
        "label_text",
        "target_class",
        "target_label",
        "target_id",
        "true",
        "truth",
        "actual",
        "actual_label",
        "actual_class",
        "reference",
        "references",
        "expected",
        "expected_label",
        "correct_label",
        "category",
        "annotation",
    ],
};

pub(crate) const PREDICTIONS: Usual = Usual {
    first: &[
        "prediction",
        "predictions",
        "pred",
        "preds",
        "predicted",
        "y_pred",
        "y_hat",
        "yhat",
        "pred_label",
        "pred_labels",
        "predicted_label",
        "predicted_labels",
        "pred_class",
        "predicted_class",
    ],
    then: &[
        "pred_id",
        "pred_idx",
        "predicted_id",
        "predicted_index",
        "prediction_id",
        "label_pred",
        "model_prediction",
        "predicted_category",
        "argmax",
        "answer",
        "output_label",
    ],
};

pub(crate) const CONFIDENCES: Usual = Usual {
    first: &["confidence", "confidences", "confidence_score", "conf"],
    then: &[
        "score",
        "scores",
        "certainty",
        "conf_score",
        "judge_score",
        "max_prob",
        "max_proba",
        "max_probability",
        "max_softmax",
        "msp",
        "top_prob",
        "top1_prob",
    ],
};

/// 1 where the prediction is right.
pub(crate) const CORRECT: Usual = Usual {
    first: &["correct", "is_correct", "correctness", "right", "is_right"],
    then: &[
        "was_correct",
        "correct_flag",
        "hit",
        "match",
        "is_match",
        "matches",
        "success",
        "passed",
    ],
};

/// What a prediction costs: 1 where it is wrong.
pub(crate) const LOSSES: Usual = Usual {
    first: &["loss", "losses", "wrong", "is_wrong", "error", "is_error", "incorrect"],
    then: &["cost", "is_incorrect", "mistake", "misclassified", "zero_one_loss"],
};

pub(crate) const WEIGHTS: Usual =
    Usual { first: &["weight", "weights", "sample_weight", "sample_weights"], then: &[] };

pub(crate) const EXTRA: Usual = Usual { first: &["extra"], then: &[] };

/// One probability of a binary classifier.
pub(crate) const BINARY_PROBABILITIES: Usual = Usual {
    first: &[
        "prob",
        "proba",
        "probability",
        "probabilities",
        "probs",
        "p",
        "y_prob",
        "y_proba",
        "prob_positive",
        "positive_prob",
        "prob_pos",
        "p_positive",
        "prob_1",
        "proba_1",
        "p1",
        "p_1",
        "prob1",
    ],
    then: &["y_score", "score", "scores", "output", "outputs"],
};

/// One logit of a binary classifier.
pub(crate) const BINARY_LOGITS: Usual = Usual {
    first: &["logit", "logits", "z", "decision_function", "decision"],
    then: &["y_score", "score", "scores", "margin", "output", "outputs"],
};

/// Lists and arrays of logits.
pub(crate) const LOGITS: Usual = Usual {
    first: &["logits", "logit"],
    then: &["outputs", "output", "scores", "predictions", "preds", "y_pred", "y_score"],
};

/// Lists and arrays of probabilities.
pub(crate) const PROBABILITIES: Usual = Usual {
    first: &["probs", "probabilities", "prob", "proba", "probas", "softmax", "y_prob", "y_proba"],
    then: &[
        "outputs",
        "output",
        "scores",
        "predictions",
        "preds",
        "y_pred",
        "y_score",
        "logits",
        "logit",
    ],
};

/// What a name must say for the numbers to be probabilities.
const PROBABILITY_WORDS: [&str; 8] =
    ["prob", "probs", "proba", "probas", "probability", "probabilities", "softmax", "softmaxes"];

/// What a name must say for the numbers to be logits.
const LOGIT_WORDS: [&str; 2] = ["logit", "logits"];

/// Beginnings and endings that the columns of one classifier have in common.
const CLASS_WORDS: [&str; 13] = [
    "p",
    "class",
    "classes",
    "score",
    "scores",
    "output",
    "outputs",
    "out",
    "conf",
    "confidence",
    "label",
    "pred",
    "y_score",
];

/// Columns that hold something else than the numbers of a class, beside those of the lists above.
const OTHERS: &[&str] = &[
    // Rows, and where they come from.
    "id",
    "ids",
    "idx",
    "index",
    "row",
    "row_id",
    "row_number",
    "uid",
    "uuid",
    "guid",
    "key",
    "sample",
    "sample_id",
    "example",
    "example_id",
    "image",
    "image_id",
    "file",
    "filename",
    "file_name",
    "filepath",
    "file_path",
    "path",
    "url",
    "text",
    "sentence",
    "prompt",
    "question",
    "response",
    "split",
    "fold",
    "group",
    "domain",
    "cohort",
    "segment",
    "subset",
    "partition",
    "dataset",
    "source",
    "site",
    "user",
    "user_id",
    "time",
    "timestamp",
    "date",
    "datetime",
    "day",
    "month",
    "year",
    "hour",
    "epoch",
    "step",
    "batch",
    "seed",
    "model",
    "version",
    "unnamed",
    "unnamed_0",
    "level_0",
    // What was computed from the numbers of the classes.
    "value",
    "accept",
    "accepted",
    "entropy",
    "margin",
    "energy",
    "uncertainty",
    "variance",
    "std",
    "stddev",
    "mean",
    "max",
    "min",
    "norm",
    "gini",
    "logsumexp",
    "temperature",
    "threshold",
    "rank",
    "nll",
    "cross_entropy",
    "ce",
    "ce_loss",
    "log_loss",
    "log_prob",
    "logprob",
    "perplexity",
    "brier",
    "max_logit",
    "acc",
    "accuracy",
    "top1",
    "top5",
    "top_1",
    "top_5",
    "top1_class",
    "prob",
    "proba",
    "probability",
    "logit",
    // Sizes.
    "n",
    "count",
    "length",
    "len",
    "size",
    "num_tokens",
    "tokens",
    "latency",
    "duration",
    // Lists that are no logits.
    "embedding",
    "embeddings",
    "features",
    "feature",
    "hidden_state",
    "hidden_states",
    "input_ids",
    "attention_mask",
    "token_type_ids",
    "pixel_values",
    "bbox",
];

/// Endings of names of other things, such as `user_id` or `train_loss`.
const OTHER_ENDINGS: [&str; 9] = [
    "_id",
    "_idx",
    "_index",
    "_loss",
    "_weight",
    "_entropy",
    "_uncertainty",
    "_timestamp",
    "_path",
];

fn words(name: &str) -> impl Iterator<Item = String> {
    normalised(name).split('_').map(str::to_string).collect::<Vec<_>>().into_iter()
}

/// Whether a name says that the numbers are probabilities.
pub(crate) fn says_probabilities(name: &str) -> bool {
    words(name).any(|word| PROBABILITY_WORDS.contains(&word.as_str()))
}

/// Whether a name says that the numbers are logits.
pub(crate) fn says_logits(name: &str) -> bool {
    words(name).any(|word| LOGIT_WORDS.contains(&word.as_str()))
}

/// Whether something in common to several names says that they are the classes of one classifier.
pub(crate) fn says_classes(affix: &str) -> bool {
    let name = normalised(affix);
    name.is_empty()
        || says_probabilities(affix)
        || says_logits(affix)
        || CLASS_WORDS.contains(&name.as_str())
}

/// Whether a column of this name tells rows apart, in whatever file they are. Numbers of rows do not: they
/// begin anew in each file.
pub(crate) fn identifies(name: &str) -> bool {
    let name = normalised(name);
    let names = [
        "id",
        "ids",
        "uid",
        "uuid",
        "guid",
        "key",
        "filename",
        "file_name",
        "path",
        "url",
        "image",
        "image_name",
        "sample",
        "sample_name",
    ];
    let id = name.ends_with("_id") || name.ends_with("_path") || names.contains(&name.as_str());
    let roles = [&LABELS, &PREDICTIONS];
    id && name != "row_id" && roles.iter().all(|usual| usual.rank(&name).is_none())
}

/// Whether a column of this name holds something else than the numbers of a class.
pub(crate) fn is_other(name: &str) -> bool {
    let name = normalised(name);
    let roles = [&LABELS, &PREDICTIONS, &CONFIDENCES, &CORRECT, &LOSSES, &WEIGHTS, &EXTRA];
    name.is_empty()
        || name.starts_with("unnamed_")
        || name.starts_with("index_level_")
        || name.starts_with("pred_")
        || OTHERS.contains(&name.as_str())
        || OTHER_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || roles.iter().any(|usual| usual.rank(&name).is_some())
}

impl Usual {
    /// 0 for a name of the first list, 1 for one of the second.
    pub(crate) fn rank(&self, normalised: &str) -> Option<usize> {
        [self.first, self.then].iter().position(|names| names.contains(&normalised))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_case_and_separators() {
        for name in ["true_label", "True Label", "trueLabel", "TRUE-LABEL", " true.label "] {
            assert_eq!(normalised(name), "true_label", "{name}");
        }
        assert_eq!(normalised("__index_level_0__"), "index_level_0");
        assert_eq!(normalised("Unnamed: 0"), "unnamed_0");
        assert_eq!(normalised("logit[3]"), "logit_3");
        assert_eq!(normalised(""), "");
    }

    #[test]
    fn known_names_of_other_things_are_no_classes() {
        for name in [
            "loss",
            "pred",
            "y_pred",
            "pred_label",
            "correct",
            "entropy",
            "weight",
            "sample_weight",
            "score",
            "confidence",
            "fold",
            "split",
            "id",
            "user_id",
            "Unnamed: 0",
            "",
            "val_loss",
            "predicted",
            "y_true",
            "gt",
            "isCorrect",
            "__index_level_0__",
        ] {
            assert!(is_other(name), "{name}");
        }
        for name in ["cat", "dog", "logit_0", "prob_cat", "7", "airplane", "wolf_dog"] {
            assert!(!is_other(name), "{name}");
        }
    }

    #[test]
    fn names_say_what_their_numbers_are() {
        assert!(says_probabilities("probs") && says_probabilities("prob_7"));
        assert!(says_probabilities("softmax.out") && !says_probabilities("problem"));
        assert!(says_logits("logit_3") && !says_logits("outputs"));
        assert!(says_classes("logit_") && says_classes("") && says_classes("p_"));
        assert!(!says_classes("feature_"));
    }
}
