//! How files were understood, and what looks wrong with them, in words.

use abstain_io::{ConfidenceRows, LabelKind, Outcome, Reading};
use abstain_lab::Warning;
use abstain_report::{named_warning_text, words::count};
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
        "binary-probability" => format!("the probability of {}", positive(reading)),
        "binary-logit" => format!("the logit of {}", positive(reading)),
        "confidence" => "a confidence".to_string(),
        encoding => format!("{} classes ({encoding})", count(reading.classes)),
    };
    let from = match &reading.columns[..] {
        [] => String::new(),
        columns => format!(" from {}", list(columns)),
    };
    let labels: String = match reading.labels {
        Some(LabelKind::NumbersFrom(_)) => "; labels are counted from 1".into(),
        Some(LabelKind::Names) => "; labels are names of classes".into(),
        Some(LabelKind::SortedNames) => {
            let second = reading.positive.as_ref();
            let second = second.map(|_| format!(" ({})", positive(reading))).unwrap_or_default();
            format!(
                "; labels are names, and classes are taken in their sorted order, as in scikit-learn{second}"
            )
        }
        Some(LabelKind::Bools) => "; of the labels, false is class 0 and true is class 1".into(),
        Some(LabelKind::Signs) => "; of the labels, -1 is class 0 and 1 is class 1".into(),
        Some(LabelKind::OneHot) => "; labels are one-hot".into(),
        Some(_) | None => String::new(),
    };
    let counted = |rows: u64| count(usize::try_from(rows).unwrap_or(usize::MAX));
    let unlabelled = match (reading.unlabelled, reading.strangers) {
        (0, 0) => String::new(),
        (0, strangers) => format!("; {} labels of other rows are not used", counted(strangers)),
        (rows, 0) => format!("; {} rows without a label are left out", counted(rows)),
        (rows, strangers) => format!(
            "; {} rows without a label are left out, and {} labels of other rows",
            counted(rows),
            counted(strangers)
        ),
    };
    let unused = match &reading.unused[..] {
        [] => String::new(),
        unused => format!("; not used: {}", list(unused)),
    };
    format!("{}: {rows}{what}{from}{labels}{unlabelled}{unused}", shown(&reading.file))
}

/// Class 1, with its name.
fn positive(reading: &Reading) -> String {
    match &reading.positive {
        Some(name) => format!("class 1, '{name}'"),
        None => "class 1".into(),
    }
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
        (Some(_), _) if rows.by_propensity => "; rows count by their propensities".into(),
        (Some(_), _) => "; rows count by their weights".into(),
        (None, Some(name)) => {
            format!("; '{name}' is not used: --weight-name '{name}' weights the rows by it")
        }
        (None, None) => String::new(),
    };
    let unlabelled = match rows.unlabelled {
        0 => String::new(),
        unlabelled => format!("; {} rows without a label are left out", count(unlabelled)),
    };
    let repeated = match &rows.repeated {
        None => String::new(),
        Some((name, repeated)) => format!(
            "; {} rows have the '{name}' of an earlier one: are these copies (--group-folds {name} counts them once in a certificate), or several models?",
            count(*repeated)
        ),
    };
    let rows = count(rows.confidences.len());
    format!("{}: {rows} confidences{column}{outcome}{unlabelled}{weights}{repeated}", shown(path))
}

/// Prints what looks wrong, also where progress and notes are not wanted.
pub(crate) fn print_warnings(warnings: &[Warning], path: &Path) {
    print_named_warnings(warnings, path, None);
}

/// The same with the names of the classes.
pub(crate) fn print_named_warnings(warnings: &[Warning], path: &Path, names: Option<&[String]>) {
    for warning in warnings {
        let hint = match warning {
            Warning::LooksLikeProbabilities => " (--probs reads them as such)",
            Warning::Copies { .. } => " (`tune` and `certify`: --repeats keep if each counts)",
            Warning::ReversedConfidence { .. } => {
                " (--negate reads an uncertainty as a confidence)"
            }
            Warning::ShiftedLabels { by: -1, .. } => " (--first-label 1 counts them from 1)",
            _ => "",
        };
        eprintln!("warning: {}: {}{hint}", shown(path), named_warning_text(warning, names));
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
