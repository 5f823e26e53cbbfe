//! Which columns of a table in memory are the logits and the labels: the rules of files.

use crate::errors::Failure;
use abstain::Encoding;
use abstain_io::{ErrorKind, Field, FieldKind, Numbering, ReadOptions, place_labels, place_logits};
use pyo3::prelude::*;
use std::collections::BTreeSet;

/// A column: its name, what it holds, and whether it holds lists.
type GivenField = (String, String, bool);

fn field((name, kind, list): GivenField) -> Field {
    let kind = match kind.as_str() {
        "float" => FieldKind::Float,
        "integer" => FieldKind::Integer,
        "bool" => FieldKind::Bool,
        "text" => FieldKind::Text,
        _ => FieldKind::Other,
    };
    if list { Field::list(name, kind) } else { Field::scalar(name, kind) }
}

fn failure(kind: ErrorKind) -> Failure {
    let hint = match kind {
        ErrorKind::NamedProbabilities { .. } => "input=\"probabilities\" reads them as such",
        ErrorKind::OneColumn { .. } => {
            "input=\"binary-probability\" or \"binary-logit\" reads one number of a binary classifier"
        }
        _ => {
            "abstain.read_table names the columns: logits=\"logit_*\" or [\"cat\", \"dog\"], labels="
        }
    };
    Failure::Input(format!("{kind}; {hint}"))
}

/// The indices of the logits in the order of the classes, the names of the classes, and whether labels
/// still have to confirm that these are all classes.
#[pyfunction]
#[pyo3(signature = (fields, input, name, class_names, reserved, labels))]
pub(crate) fn place_table_logits(
    fields: Vec<GivenField>,
    input: &str,
    name: Option<String>,
    class_names: Option<Vec<String>>,
    reserved: Option<String>,
    labels: Option<Vec<String>>,
) -> PyResult<(Vec<usize>, Option<Vec<String>>, bool)> {
    let fields: Vec<Field> = fields.into_iter().map(field).collect();
    let encoding: Encoding = input.parse().map_err(Failure::from)?;
    let options = ReadOptions {
        logits_name: name,
        labels_name: reserved,
        class_names,
        encoding,
        ..ReadOptions::default()
    };
    let seen: Option<BTreeSet<String>> = labels.map(|labels| labels.into_iter().collect());
    let found = place_logits(&fields, &options, seen).map_err(failure)?;
    let uncertain = matches!(found.numbering, Numbering::Words { certain: false });
    Ok((found.columns, found.class_names, uncertain))
}

/// The index of the labels.
#[pyfunction]
pub(crate) fn place_table_labels(fields: Vec<GivenField>, name: Option<String>) -> PyResult<usize> {
    let fields: Vec<Field> = fields.into_iter().map(field).collect();
    let options = ReadOptions { labels_name: name, ..ReadOptions::default() };
    Ok(place_labels(&fields, &options).map_err(failure)?)
}
