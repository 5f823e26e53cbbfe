//! Which columns are the logits.

use super::cursor::{Kind, Leaf, names_of};
use crate::columns::{SUSPECT, are_numbered, belong_together, is_one_of, matches};
use crate::error::{ErrorKind, Result};

/// Not a number a row, or not one at all.
pub(super) fn no_numbers(leaf: &Leaf) -> ErrorKind {
    let (what, instead) = match leaf.kind {
        Kind::Other | Kind::Bool => {
            ("does not hold numbers", "choose or write a column of numbers")
        }
        _ => ("holds lists", "one number a row is wanted; of one-hot labels take the argmax"),
    };
    let problem = format!("column '{}' {what}", leaf.name);
    ErrorKind::Unsupported { problem, instead: instead.into() }
}

/// The columns that a name or patterns ask for.
pub(super) fn by_name(all: &[Leaf], name: &str, not: &[&str], rows: i64) -> Result<Vec<Leaf>> {
    let is_number = |leaf: &Leaf| leaf.kind.is_float() || leaf.kind.is_integer();
    if let Some(leaf) = all.iter().find(|leaf| leaf.name == name) {
        return match leaf.depth {
            _ if !is_number(leaf) => Err(no_numbers(leaf)),
            1 => Ok(vec![leaf.clone()]),
            0 => Err(ErrorKind::Shape {
                name: format!("'{name}' "),
                found: vec![rows.unsigned_abs()],
                wanted: "rows × classes",
            }),
            _ => {
                let problem = format!("column '{name}' holds lists of lists");
                let instead = "write the logits as one list a row".into();
                Err(ErrorKind::Unsupported { problem, instead })
            }
        };
    }
    let begins =
        |leaf: &&Leaf| matches(name, &leaf.name) && leaf.depth == 0 && !is_one_of(&leaf.name, not);
    let chosen: Vec<Leaf> = all.iter().filter(begins).cloned().collect();
    if chosen.is_empty() {
        return Err(ErrorKind::NoSuchName { name: name.into(), names: names_of(all) });
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
pub(super) fn by_looks(all: &[Leaf], usual: &[&str], not: &[&str]) -> Result<Vec<Leaf>> {
    let candidate = |leaf: &&Leaf| {
        let number = leaf.kind.is_float() || leaf.kind.is_integer();
        number && !is_index(leaf) && !is_one_of(&leaf.name, not)
    };
    for kinds in [Kind::is_float, Kind::is_integer] {
        let fits = |leaf: &&Leaf| candidate(leaf) && kinds(leaf.kind) && leaf.depth == 1;
        let lists: Vec<&Leaf> = all.iter().filter(fits).collect();
        let named = |name: &&str| lists.iter().find(|leaf| leaf.name.eq_ignore_ascii_case(name));
        match (&lists[..], usual.iter().find_map(named)) {
            ([leaf], _) | (_, Some(leaf)) => return Ok(vec![(*leaf).clone()]),
            ([], _) => {}
            _ => {
                let names = lists.iter().map(|leaf| leaf.name.clone()).collect();
                return Err(ErrorKind::Ambiguous { what: "logits", names });
            }
        }
        if all.iter().any(|leaf| candidate(&leaf) && kinds(leaf.kind) && leaf.depth == 0) {
            return one_a_class(all.iter().filter(candidate).filter(|leaf| leaf.depth == 0));
        }
    }
    Err(ErrorKind::NoSuchName { name: usual[0].into(), names: names_of(all) })
}

/// One column a class. Integers among floats are classes if they are numbered like them (a class
/// whose logits happen to be whole), not if they have a name that tables keep other things under.
fn one_a_class<'a>(columns: impl Iterator<Item = &'a Leaf>) -> Result<Vec<Leaf>> {
    let all: Vec<Leaf> = columns.cloned().collect();
    let floats = all.iter().any(|leaf| leaf.kind.is_float());
    let other = |leaf: &Leaf| floats && leaf.kind.is_integer() && is_one_of(&leaf.name, &SUSPECT);
    let chosen: Vec<Leaf> = all.into_iter().filter(|leaf| !other(leaf)).collect();
    let names = names_of(&chosen);
    let mixed = floats && chosen.iter().any(|leaf| leaf.kind.is_integer());
    if !belong_together(&names) || (mixed && !are_numbered(&names)) {
        return Err(ErrorKind::Ambiguous { what: "logits", names });
    }
    Ok(chosen)
}
