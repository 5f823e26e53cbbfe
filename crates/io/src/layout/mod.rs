//! Which columns or arrays of a file are the logits, the labels and so on: the same rules for every
//! format, and for tables in memory.
//!
//! A reading is taken only if the names determine it. Otherwise the file is refused, with what was
//! found in it.

mod classes;
mod names;

use crate::error::{ErrorKind, Result};
use std::fmt;

pub use classes::{ClassColumns, Numbering};
pub(crate) use classes::{ClassRequest, class_columns};
pub(crate) use names::{
    BINARY_LOGITS, BINARY_PROBABILITIES, CONFIDENCES, CORRECT, EXTRA, LABELS, LOSSES, PREDICTIONS,
    Usual, WEIGHTS, identifies, is_other, normalised,
};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldKind {
    /// Numbers; text does not tell whole ones from others.
    Number,
    /// Numbers of a floating-point type.
    Float,
    /// Numbers of an integer type.
    Integer,
    /// Truth values.
    Bool,
    /// Text.
    Text,
    /// Anything else.
    Other,
}

impl FieldKind {
    /// Whether it holds numbers.
    pub fn is_number(self) -> bool {
        matches!(self, FieldKind::Number | FieldKind::Float | FieldKind::Integer)
    }
}

/// A column of a table, or an array of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name; nothing if it has none.
    pub name: String,
    /// What it holds.
    pub kind: FieldKind,
    /// 0 for one value in each row, 1 for a list.
    pub depth: usize,
}

impl Field {
    /// A column of one value in each row.
    pub fn scalar(name: impl Into<String>, kind: FieldKind) -> Self {
        Field { name: name.into(), kind, depth: 0 }
    }

    /// A column of lists.
    pub fn list(name: impl Into<String>, kind: FieldKind) -> Self {
        Field { name: name.into(), kind, depth: 1 }
    }
}

/// What is looked for in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// The logits, or the probabilities in their place.
    Logits,
    /// The probability of the positive class.
    BinaryProbabilities,
    /// The logit of the positive class.
    BinaryLogits,
    /// The labels.
    Labels,
    /// The predictions.
    Predictions,
    /// Confidences that were computed elsewhere.
    Confidences,
    /// Whether predictions are right.
    Correct,
    /// What predictions cost.
    Losses,
    /// The weights of the rows.
    Weights,
    /// One further number of each row.
    Extra,
    /// A column that is always named, such as that of the groups.
    Column,
}

impl Quantity {
    /// The names that it usually has.
    fn usual(self) -> &'static Usual {
        const NONE: Usual = Usual { first: &[], then: &[] };
        match self {
            Quantity::Labels => &LABELS,
            Quantity::Predictions => &PREDICTIONS,
            Quantity::Confidences => &CONFIDENCES,
            Quantity::Correct => &CORRECT,
            Quantity::Losses => &LOSSES,
            Quantity::Weights => &WEIGHTS,
            Quantity::Extra => &EXTRA,
            Quantity::BinaryProbabilities => &BINARY_PROBABILITIES,
            Quantity::BinaryLogits => &BINARY_LOGITS,
            Quantity::Logits | Quantity::Column => &NONE,
        }
    }

    /// Whether a name is one that it usually has.
    pub fn has_name(self, name: &str) -> bool {
        self.usual().rank(&normalised(name)).is_some()
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Quantity::Logits => "logits",
            Quantity::BinaryProbabilities => "probability of the positive class",
            Quantity::BinaryLogits => "logit of the positive class",
            Quantity::Labels => "labels",
            Quantity::Predictions => "predictions",
            Quantity::Confidences => "confidences",
            Quantity::Correct => "correct flags",
            Quantity::Losses => "losses",
            Quantity::Weights => "weights",
            Quantity::Extra => "extra column",
            Quantity::Column => "column",
        })
    }
}

/// The index of the field of a name: exactly, else in another case, if only one fits.
pub(crate) fn named(fields: &[Field], what: Quantity, name: &str) -> Result<usize> {
    // Columns without names are called by their numbers.
    if fields.len() > 1
        && fields.iter().all(|field| field.name.is_empty())
        && let Some(index) = name.trim().parse().ok().filter(|i| *i < fields.len())
    {
        return Ok(index);
    }
    let exactly: Vec<usize> = (0..fields.len()).filter(|&i| fields[i].name == name).collect();
    let alike = || -> Vec<usize> {
        (0..fields.len()).filter(|&i| fields[i].name.eq_ignore_ascii_case(name)).collect()
    };
    let found = if exactly.is_empty() { alike() } else { exactly };
    match found[..] {
        [only] => Ok(only),
        [] => {
            let name = name.into();
            Err(ErrorKind::NoSuchName { what, name, names: names_of(fields) })
        }
        _ => Err(ErrorKind::SameName { name: name.into() }),
    }
}

/// The index of the field that holds one value of each row: that of the requested name, the one of a
/// usual name, or the only one; of arrays, the only one of one dimension.
pub(crate) fn column(
    fields: &[Field],
    what: Quantity,
    name: Option<&str>,
    reserved: &[&str],
    arrays: bool,
) -> Result<usize> {
    if let Some(name) = name {
        return named(fields, what, name);
    }
    let free = |i: &usize| !reserved.contains(&&*fields[*i].name);
    for rank in 0..2 {
        let usual = |&i: &usize| what.usual().rank(&normalised(&fields[i].name)) == Some(rank);
        let found: Vec<usize> = (0..fields.len()).filter(free).filter(usual).collect();
        match found[..] {
            [] => {}
            [only] => return Ok(only),
            _ => return Err(ambiguous(fields, what, &found)),
        }
    }
    // pandas writes its index first, without a name.
    let index = |i: &usize| {
        let name = normalised(&fields[*i].name);
        fields.len() > 1
            && (name.is_empty() || name == "unnamed_0" || name.starts_with("index_level_"))
    };
    let mut others: Vec<usize> = (0..fields.len()).filter(|i| !index(i)).filter(free).collect();
    if arrays && fields.len() > 1 {
        // As numpy.savez names arrays: arr_0 of two dimensions, arr_1 of one.
        others.retain(|&i| fields[i].depth == 0 && !is_other(&fields[i].name));
    }
    match others[..] {
        // Alone in its file, a column is what the file was given for, whatever its name.
        [only] if may_stand_for(what, &fields[only]) => Ok(only),
        _ => {
            let all: Vec<usize> = (0..fields.len()).collect();
            Err(ambiguous(fields, what, &all))
        }
    }
}

/// Whether the only column of a file may hold a quantity: a name may say otherwise. A column of correct
/// flags read as losses would turn everything round.
fn may_stand_for(what: Quantity, field: &Field) -> bool {
    match what {
        Quantity::Column => false,
        Quantity::Losses => !Quantity::Correct.has_name(&field.name),
        Quantity::Correct => !Quantity::Losses.has_name(&field.name),
        Quantity::Labels => !Quantity::Predictions.has_name(&field.name),
        Quantity::Predictions => !Quantity::Labels.has_name(&field.name),
        _ => true,
    }
}

/// The error of a file in which several things may be meant.
pub(crate) fn ambiguous(fields: &[Field], what: Quantity, among: &[usize]) -> ErrorKind {
    let names = among.iter().map(|&i| fields[i].name.clone()).collect();
    ErrorKind::Ambiguous { what, names }
}

pub(crate) fn names_of(fields: &[Field]) -> Vec<String> {
    fields.iter().map(|field| field.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(names: &[&str]) -> Vec<Field> {
        names.iter().map(|name| Field::scalar(*name, FieldKind::Number)).collect()
    }

    fn label(names: &[&str]) -> Result<usize> {
        column(&fields(names), Quantity::Labels, None, &[], false)
    }

    #[test]
    fn usual_names_of_labels_are_found() {
        for name in ["label", "y_true", "trueLabel", "target", "gt", "Ground Truth", "class"] {
            assert_eq!(label(&["id", "prob", name]).expect(name), 2);
        }
        assert_eq!(label(&["", "whatever"]).expect("beside an index"), 1);
        // A better name goes first; of two good ones, neither.
        assert_eq!(label(&["class", "label"]).expect("label"), 1);
        assert!(matches!(label(&["label", "target"]), Err(ErrorKind::Ambiguous { .. })));
        assert!(matches!(label(&["a", "b"]), Err(ErrorKind::Ambiguous { .. })));
        assert!(matches!(label(&["pred"]), Err(ErrorKind::Ambiguous { .. })));
    }

    #[test]
    fn losses_are_not_read_from_correct_flags() {
        let of = |what, names: &[&str]| column(&fields(names), what, None, &[], false);
        assert!(of(Quantity::Losses, &["correct"]).is_err());
        assert!(of(Quantity::Losses, &["confidence", "correct"]).is_err());
        assert!(of(Quantity::Correct, &["wrong"]).is_err());
        assert_eq!(of(Quantity::Correct, &["confidence", "is_correct"]).expect("found"), 1);
        assert_eq!(of(Quantity::Losses, &["wrong"]).expect("found"), 0);
    }

    #[test]
    fn requested_names_are_exact_or_alone() {
        let all = fields(&["A", "b", "B", "b"]);
        assert_eq!(named(&all, Quantity::Labels, "a").expect("in another case"), 0);
        assert_eq!(named(&all, Quantity::Labels, "B").expect("exactly"), 2);
        assert!(matches!(named(&all, Quantity::Labels, "b"), Err(ErrorKind::SameName { .. })));
        assert!(matches!(named(&all, Quantity::Labels, "c"), Err(ErrorKind::NoSuchName { .. })));
    }
}
