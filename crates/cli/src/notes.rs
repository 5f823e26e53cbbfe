//! How files were understood, and what looks wrong with them, in words.

use abstain_io::{ConfidenceRows, LabelKind, Outcome, Reading};
use abstain_lab::Warning;
use abstain_report::{warning_text, words::count};
use std::path::Path;

/// Names in a list that are shown.
const SHOWN: usize = 4;

/// How many rows and classes were read, and from which columns.
pub(crate) fn of_reading(reading: &Reading) -> String {
    let rows = match reading.rows {
        Some(1) => "1 row of ".into(),
        Some(rows) => format!("{} rows of ", count(usize::try_from(rows).unwrap_or(usize::MAX))),
        None => "rows of ".into(),
    };
    let what = match reading.encoding.as_str() {
        "binary-probability" => "the probability of class 1".to_string(),
        "binary-logit" => "the logit of class 1".to_string(),
        "confidence" => "a confidence".to_string(),
        encoding => format!("{} classes ({encoding})", count(reading.classes)),
    };
    let from = match &reading.columns[..] {
        [] => String::new(),
        columns => format!(" from {}", list(columns)),
    };
    let labels = match reading.labels {
        Some(LabelKind::NumbersFrom(_)) => "; labels are counted from 1",
        Some(LabelKind::Names) => "; labels are names of classes",
        Some(LabelKind::SortedNames) => {
            "; labels are names, and classes are taken in their sorted order, as in scikit-learn"
        }
        Some(LabelKind::Bools) => "; of the labels, false is class 0 and true is class 1",
        Some(LabelKind::Signs) => "; of the labels, -1 is class 0 and 1 is class 1",
        Some(LabelKind::OneHot) => "; labels are one-hot",
        Some(_) | None => "",
    };
    let unused = match &reading.unused[..] {
        [] => String::new(),
        unused => format!("; not used: {}", list(unused)),
    };
    format!("{}: {rows}{what}{from}{labels}{unused}", shown(&reading.file))
}

/// How a table of confidences was understood.
pub(crate) fn of_confidences(rows: &ConfidenceRows, path: &Path) -> String {
    let outcome = match rows.outcome {
        Some(Outcome::Correct) => "; predictions are right where the flag is 1",
        Some(Outcome::Losses) => "; predictions cost what the losses say",
        Some(Outcome::PredictionsAndLabels) => "; predictions are compared with the labels",
        Some(_) | None => "",
    };
    let column = match rows.column.as_str() {
        "" => String::new(),
        name => format!(" from '{name}'"),
    };
    let weights = match (&rows.weights, &rows.unused_weights) {
        (Some(_), _) => "; rows count by their weights".into(),
        (None, Some(name)) => {
            format!("; '{name}' is not used: --weight-name '{name}' weights the rows by it")
        }
        (None, None) => String::new(),
    };
    let rows = count(rows.confidences.len());
    format!("{}: {rows} confidences{column}{outcome}{weights}", shown(path))
}

/// Prints what looks wrong, also where progress and notes are not wanted.
pub(crate) fn print_warnings(warnings: &[Warning], path: &Path) {
    for warning in warnings {
        let hint = match warning {
            Warning::LooksLikeProbabilities => " (--probs reads them as such)",
            Warning::Copies { .. } => " (`tune` and `certify`: --repeats keep if each counts)",
            Warning::ShiftedLabels { by: -1, .. } => " (--first-label 1 counts them from 1)",
            _ => "",
        };
        eprintln!("warning: {}: {}{hint}", shown(path), warning_text(warning));
    }
}

/// Says what a certificate does not allow for, which the program cannot see: earlier calls.
pub(crate) fn print_one_call() {
    eprintln!(
        "note: the guarantee is that of one call whose target, delta, seed and splits were fixed before \
         looking at the rows; calls on the same rows share delta (--tried)"
    );
}

fn shown(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() }
}

/// A list of names, shortened in the middle.
fn list(names: &[String]) -> String {
    let quoted = |name: &String| format!("'{name}'");
    if names.len() <= SHOWN {
        return names.iter().map(quoted).collect::<Vec<_>>().join(", ");
    }
    let first: Vec<String> = names[..2].iter().map(quoted).collect();
    format!("{}, …, {}", first.join(", "), names.last().map(quoted).unwrap_or_default())
}
