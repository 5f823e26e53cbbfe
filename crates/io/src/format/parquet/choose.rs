//! Which columns are the logits.

use super::cursor::{ColumnType, Leaf, names_of};
use crate::error::{ErrorKind, ExpectedShape, Result};
use crate::selection::{SUSPECT, Selection, are_numbered, belong_together, is_one_of, matches};

/// The error of a column that does not hold one number for each row.
pub(super) fn no_numbers(leaf: &Leaf) -> ErrorKind {
    let (what, instead) = match leaf.kind {
        ColumnType::Other | ColumnType::Bool => {
            ("does not hold numbers", "choose or write a column of numbers")
        }
        _ => ("holds lists", "one number per row is expected; take the argmax of one-hot labels"),
    };
    let problem = format!("column '{}' {what}", leaf.name);
    ErrorKind::Unsupported { problem, instead: instead.into() }
}

fn is_number(leaf: &Leaf) -> bool {
    leaf.kind.is_float() || leaf.kind.is_integer()
}

/// The columns of the logits: the requested ones, or those that look like it.
pub(super) fn logit_columns(
    all: &[Leaf],
    selection: &Selection<'_>,
    rows: i64,
) -> Result<Vec<Leaf>> {
    match selection.name {
        Some(name) => by_name(all, name, selection, rows),
        None => by_looks(all, selection),
    }
}

/// The column of a name, which holds lists, or the columns that patterns match.
fn by_name(all: &[Leaf], name: &str, selection: &Selection<'_>, rows: i64) -> Result<Vec<Leaf>> {
    if let Some(leaf) = all.iter().find(|leaf| leaf.name == name) {
        return match leaf.depth {
            _ if !is_number(leaf) => Err(no_numbers(leaf)),
            1 => Ok(vec![leaf.clone()]),
            0 => Err(ErrorKind::Shape {
                name: format!("'{name}' "),
                found: vec![rows.unsigned_abs()],
                expected: ExpectedShape::RowsByClasses,
            }),
            _ => {
                let problem = format!("column '{name}' holds lists of lists");
                let instead = "write the logits as one list for each row".into();
                Err(ErrorKind::Unsupported { problem, instead })
            }
        };
    }
    let fits = |leaf: &&Leaf| {
        matches(name, &leaf.name) && leaf.depth == 0 && !is_one_of(&leaf.name, selection.except)
    };
    let chosen: Vec<Leaf> = all.iter().filter(fits).cloned().collect();
    if chosen.is_empty() {
        return Err(selection.missing(name, names_of(all)));
    }
    match chosen.iter().find(|leaf| !is_number(leaf)) {
        Some(leaf) => Err(no_numbers(leaf)),
        None => Ok(chosen),
    }
}

/// pandas keeps an index that is not 0, 1, 2, … in columns of such names.
pub(super) fn is_index(leaf: &Leaf) -> bool {
    leaf.name.starts_with("__index_level_")
}

/// The columns that look like logits: lists before columns, and floats before integers; of several
/// lists that of the first usual name.
fn by_looks(all: &[Leaf], selection: &Selection<'_>) -> Result<Vec<Leaf>> {
    let usual = selection.usual;
    let candidate = |leaf: &&Leaf| {
        is_number(leaf) && !is_index(leaf) && !is_one_of(&leaf.name, selection.except)
    };
    for kinds in [ColumnType::is_float, ColumnType::is_integer] {
        let fits = |leaf: &&Leaf| candidate(leaf) && kinds(leaf.kind) && leaf.depth == 1;
        let lists: Vec<&Leaf> = all.iter().filter(fits).collect();
        let named = |name: &&str| lists.iter().find(|leaf| leaf.name.eq_ignore_ascii_case(name));
        match (&lists[..], usual.iter().find_map(named)) {
            ([leaf], _) | (_, Some(leaf)) => return Ok(vec![(*leaf).clone()]),
            ([], _) => {}
            _ => {
                let names = lists.iter().map(|leaf| leaf.name.clone()).collect();
                return Err(selection.ambiguous(names));
            }
        }
        if all.iter().any(|leaf| candidate(&leaf) && kinds(leaf.kind) && leaf.depth == 0) {
            let columns = all.iter().filter(candidate).filter(|leaf| leaf.depth == 0);
            return one_per_class(columns, selection);
        }
    }
    Err(selection.missing(usual.first().unwrap_or(&""), names_of(all)))
}

/// One column for each class. Integers among floats are classes if they are numbered like them (a
/// class whose logits happen to be whole), not if they have a name that usually belongs to other data.
fn one_per_class<'a>(
    columns: impl Iterator<Item = &'a Leaf>,
    selection: &Selection<'_>,
) -> Result<Vec<Leaf>> {
    let all: Vec<Leaf> = columns.cloned().collect();
    let floats = all.iter().any(|leaf| leaf.kind.is_float());
    let other = |leaf: &Leaf| floats && leaf.kind.is_integer() && is_one_of(&leaf.name, &SUSPECT);
    let chosen: Vec<Leaf> = all.into_iter().filter(|leaf| !other(leaf)).collect();
    let names = names_of(&chosen);
    let mixed = floats && chosen.iter().any(|leaf| leaf.kind.is_integer());
    if !belong_together(&names) || (mixed && !are_numbered(&names)) {
        return Err(selection.ambiguous(names));
    }
    Ok(chosen)
}
