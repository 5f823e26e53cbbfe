//! Which arrays or columns of a file are meant: the same rules in every format.

use std::fmt;

/// What is looked for in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// The logits, or the probabilities in their place.
    Logits,
    /// The labels.
    Labels,
    /// Another number for each row, such as "losses".
    Column(&'static str),
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Quantity::Logits => "logits",
            Quantity::Labels => "labels",
            Quantity::Column(name) => name,
        })
    }
}

/// Which numbers of a file to read.
pub(crate) struct Selection<'a> {
    pub(crate) what: Quantity,
    /// The requested name. For the logits of a table it may be a pattern: see [`matches()`].
    pub(crate) name: Option<&'a str>,
    /// The names to look for without a requested one, the first that is there first.
    pub(crate) usual: &'a [&'a str],
    /// The names of columns that are not taken for logits.
    pub(crate) except: &'a [&'a str],
}

impl Selection<'_> {
    /// The error of a requested name that is not in the file.
    pub(crate) fn missing(&self, name: &str, names: Vec<String>) -> crate::ErrorKind {
        crate::ErrorKind::NoSuchName { what: self.what, name: name.into(), names }
    }

    /// The error of a file in which several things may be meant.
    pub(crate) fn ambiguous(&self, names: Vec<String>) -> crate::ErrorKind {
        crate::ErrorKind::Ambiguous { what: self.what, names }
    }
}

/// The columns of scores, which are never logits.
pub(crate) const SCORE_COLUMNS: [&str; 4] = ["prediction", "confidence", "value", "accept"];

/// Columns that may hold anything: with one of these among them the columns must be named.
pub(crate) const SUSPECT: [&str; 12] = [
    "id",
    "idx",
    "index",
    "row",
    "sample",
    "split",
    "fold",
    "group",
    "weight",
    "time",
    "timestamp",
    "date",
];

pub(crate) fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|other| other.eq_ignore_ascii_case(name))
}

/// Whether columns look like the classes of one classifier: all of them numbered, or none, and none
/// with a name that usually belongs to other data.
pub(crate) fn belong_together(names: &[String]) -> bool {
    let suspect = names.iter().any(|name| is_one_of(name, &SUSPECT));
    !suspect && (are_numbered(names) || !names.iter().any(|name| ends_with_digit(name)))
}

/// Whether all names end with a number.
pub(crate) fn are_numbered(names: &[String]) -> bool {
    names.iter().all(|name| ends_with_digit(name))
}

fn ends_with_digit(name: &str) -> bool {
    name.ends_with(|c: char| c.is_ascii_digit())
}

/// Whether a name is one of those in a list with commas; a star at the end stands for anything.
pub(crate) fn matches(patterns: &str, name: &str) -> bool {
    patterns.split(',').any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_belong_together_if_all_or_none_are_numbered() {
        let together = |names: &[&str]| {
            belong_together(&names.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert!(together(&["cat", "dog", "cow"]));
        assert!(together(&["logit_0", "logit_1"]));
        assert!(together(&["0", "1", "2"]));
        assert!(!together(&["id", "cat", "dog"]));
        assert!(!together(&["score", "l0", "l1"]));
    }

    #[test]
    fn patterns_match_whole_names_and_prefixes() {
        assert!(matches("logit_*", "logit_7") && !matches("logit_*", "label"));
        assert!(matches("cat,dog", "dog") && !matches("cat,dog", "cow"));
        assert!(matches("a*,b", "b") && matches("*", "anything"));
    }
}
