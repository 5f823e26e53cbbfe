//! Predictions beside labels, where no classes are known.

use super::cell::number_of;
use super::numbers_in;
use crate::column::Column;
use crate::error::{ErrorKind, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Predictions and labels as text that is equal where they are the same class: 3, 3.0 and LABEL_3 are, and
/// blanks around a name do not count.
pub(crate) fn comparable(
    predictions: Column,
    labels: Column,
) -> Result<(Vec<String>, Vec<String>)> {
    let whole = |column: &Column| -> Option<Vec<i64>> {
        let numbered = |texts: &Vec<String>| texts.iter().map(|text| number_of(text)).collect();
        match column {
            Column::Texts(texts) => numbered(texts),
            numbers => numbers.clone().into_integers().ok(),
        }
    };
    if let (Some(predictions), Some(labels)) = (whole(&predictions), whole(&labels)) {
        let texts = |numbers| Column::Integers(numbers).into_texts();
        return Ok((texts(predictions), texts(labels)));
    }
    let trimmed = |column: Column| -> Vec<String> {
        column.into_texts().iter().map(|text| text.trim().to_string()).collect()
    };
    let (predictions, labels) = (trimmed(predictions), trimmed(labels));
    check_spelling(predictions.iter().chain(&labels))?;
    Ok((predictions, labels))
}

/// Refuses names that differ in nothing but upper and lower case: whether they are the same is not for a
/// program to say.
pub(super) fn check_spelling<'a>(names: impl Iterator<Item = &'a String>) -> Result<()> {
    let mut spellings: BTreeMap<String, &str> = BTreeMap::new();
    for text in names {
        match spellings.get(&text.to_lowercase()) {
            Some(known) if known != text => {
                let (first, second) = ((*known).to_string(), text.clone());
                return Err(ErrorKind::TwoSpellings { first, second });
            }
            Some(_) => {}
            None => {
                spellings.insert(text.to_lowercase(), text);
            }
        }
    }
    Ok(())
}

/// Predictions and labels as numbers of the classes that occur, and the names of these: in the order of
/// their numbers if they are numbered, else sorted.
pub fn classes_of_answers(
    predictions: &[String],
    labels: &[String],
) -> (Vec<usize>, Vec<usize>, Vec<String>) {
    let distinct: BTreeSet<&String> = predictions.iter().chain(labels).collect();
    let numbers = numbers_in(&distinct).unwrap_or_default();
    let mut names: Vec<&String> = distinct.into_iter().collect();
    let number = |name: &String| name.parse::<i64>().unwrap_or(i64::MAX);
    names.sort_by_key(|&name| (numbers.get(name).copied().unwrap_or_else(|| number(name)), name));
    let places: BTreeMap<&String, usize> =
        names.iter().enumerate().map(|(place, &name)| (name, place)).collect();
    let numbered = |texts: &[String]| texts.iter().map(|text| places[text]).collect();
    let (predictions, labels) = (numbered(predictions), numbered(labels));
    (predictions, labels, names.into_iter().cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[&str]) -> Vec<String> {
        values.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn one_class_is_equal_however_its_number_is_written() {
        let named = Column::Texts(texts(&["LABEL_3", " 10", "2.0"]));
        let (found, labels) =
            comparable(named, Column::Integers(vec![3, 10, 1])).expect("compared");
        assert_eq!((found, labels), (texts(&["3", "10", "2"]), texts(&["3", "10", "1"])));
    }

    #[test]
    fn classes_are_in_the_order_of_their_numbers() {
        let found = classes_of_answers(&texts(&["c10", "c2"]), &texts(&["c2", "c1"]));
        assert_eq!(found, (vec![2, 1], vec![1, 0], texts(&["c1", "c2", "c10"])));
        let found = classes_of_answers(&texts(&["b", "10"]), &texts(&["2", "a"]));
        assert_eq!(found.2, ["2", "10", "a", "b"]);
    }
}
