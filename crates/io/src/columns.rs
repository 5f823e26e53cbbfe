//! Which columns of a table are the logits: the same in text and in Parquet.

/// Columns that are surely no logits, whatever else is in a table.
pub(crate) const NOT_LOGITS: [&str; 4] = ["prediction", "confidence", "value", "accept"];

/// Columns that may be anything: it is asked rather than guessed.
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
    names.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Whether columns look like the classes of one classifier: all of them numbered, or none, and none
/// with a name that tables keep other things under.
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

/// Whether a name is one of those asked for; a star at the end stands for anything.
pub(crate) fn matches(wanted: &str, name: &str) -> bool {
    wanted.split(',').any(|wanted| match wanted.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == wanted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_one_kind_belong_together() {
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
    fn patterns_match_by_name_and_by_beginning() {
        assert!(matches("logit_*", "logit_7") && !matches("logit_*", "label"));
        assert!(matches("cat,dog", "dog") && !matches("cat,dog", "cow"));
        assert!(matches("a*,b", "b") && matches("*", "anything"));
    }
}
