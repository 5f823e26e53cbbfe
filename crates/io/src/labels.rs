//! Labels as people have them: numbers, names of classes, truth values, one-hot rows. The only place that
//! decides which class a label is: files, streams, tables of Python and images all come here.
//!
//! `testdata/labels.toml` has the cases, with what each is read as.

mod answers;
mod cell;

use answers::check_spelling;
pub use answers::classes_of_answers;
pub(crate) use answers::comparable;
pub(crate) use cell::flag_of;
use cell::number_of;
pub use cell::{ClassNames, class_of, truth_of};

use crate::column::Column;
use crate::error::{ErrorKind, Result};
use crate::layout::{ClassColumns, Numbering};
use crate::matrix::Matrix;
use crate::reader::{LogitsReader, ReadOptions};
use abstain::Labels;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How labels were understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LabelKind {
    /// Numbers of classes, counted from 0.
    Numbers,
    /// Numbers of classes, counted from another number.
    NumbersFrom(i64),
    /// Names of classes.
    Names,
    /// Names whose sorted order is that of the classes, as in scikit-learn.
    SortedNames,
    /// Truth values: false is class 0.
    Bools,
    /// -1 for class 0 and 1 for class 1.
    Signs,
    /// One number for each class, of which one is 1.
    OneHot,
}

/// Labels as they are in a file or an array, before the classes are known.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RawLabels {
    /// One value for each row.
    Column(Column),
    /// Classes, and how many there are.
    OneHot(Vec<i64>, usize),
    /// Numbers that stand for names, and the names in the order of these numbers. It need not be that of
    /// the classes.
    Named(Vec<i64>, Vec<String>),
}

impl RawLabels {
    /// Rows of one number for each class, of which one is 1 and the others are 0.
    pub fn of_one_hot(rows: &[f64], width: usize) -> std::result::Result<Self, ErrorKind> {
        let mut labels = Vec::new();
        extend_by_one_hot(&mut labels, rows, width.max(1))?;
        Ok(RawLabels::OneHot(labels, width))
    }

    /// Adds the labels of the next file of a set.
    pub(crate) fn append(&mut self, other: RawLabels) -> Result<()> {
        match (self, other) {
            (RawLabels::Column(all), RawLabels::Column(more)) => all.append(more),
            (RawLabels::OneHot(all, width), RawLabels::OneHot(more, found)) if *width == found => {
                all.extend(more);
            }
            (RawLabels::Named(all, names), RawLabels::Named(more, found)) if *names == found => {
                all.extend(more);
            }
            _ => {
                let problem = "their labels have other numbers of columns".into();
                return Err(ErrorKind::NotAlike { problem });
            }
        }
        Ok(())
    }

    /// One-hot labels by the names of their columns.
    pub(crate) fn named(self, names: &[String]) -> Self {
        let name = |&class: &i64| {
            usize::try_from(class)
                .ok()
                .and_then(|class| names.get(class))
                .cloned()
                .unwrap_or_default()
        };
        match self {
            RawLabels::OneHot(labels, _) => {
                RawLabels::Column(Column::Texts(labels.iter().map(name).collect()))
            }
            other => other,
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            RawLabels::Column(column) => column.len(),
            RawLabels::OneHot(labels, _) | RawLabels::Named(labels, _) => labels.len(),
        }
    }

    /// The rows in which the label is missing.
    pub(crate) fn gaps(&self) -> Vec<usize> {
        match self {
            RawLabels::Column(column) => column.gaps(),
            RawLabels::OneHot(..) | RawLabels::Named(..) => Vec::new(),
        }
    }

    /// The labels of some rows.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        match self {
            RawLabels::Column(column) => RawLabels::Column(column.select(rows)),
            RawLabels::OneHot(labels, width) => {
                RawLabels::OneHot(rows.iter().map(|&row| labels[row]).collect(), *width)
            }
            RawLabels::Named(labels, names) => {
                RawLabels::Named(rows.iter().map(|&row| labels[row]).collect(), names.clone())
            }
        }
    }

    /// The labels that occur, where they are text, or may occur, where that is stated.
    pub(crate) fn texts(&self) -> Option<BTreeSet<String>> {
        match self {
            RawLabels::Named(_, names) => {
                Some(names.iter().map(|name| name.trim().to_string()).collect())
            }
            RawLabels::Column(Column::Texts(values)) => {
                let texts = values.iter().map(|text| text.trim().to_string());
                Some(texts.filter(|text| !text.is_empty()).collect())
            }
            _ => None,
        }
    }
}

/// One-hot labels as classes.
pub(crate) fn one_hot(matrix: &mut dyn Matrix) -> Result<RawLabels> {
    let width = matrix.classes();
    if width == 0 {
        return Err(ErrorKind::NotOneHot { row: 0 });
    }
    let mut labels: Vec<i64> = Vec::new();
    let mut buffer = Vec::new();
    while let Some(values) = matrix.next_chunk((1 << 20) / width.max(1) + 1)? {
        buffer.resize(values.len(), 0.0);
        values.copy_to(&mut buffer);
        extend_by_one_hot(&mut labels, &buffer, width)?;
    }
    if labels.is_empty() { Err(ErrorKind::NoRows) } else { Ok(RawLabels::OneHot(labels, width)) }
}

/// Adds the classes of rows of which each has a single 1, and else 0.
fn extend_by_one_hot(labels: &mut Vec<i64>, rows: &[f64], width: usize) -> Result<()> {
    for row in rows.chunks_exact(width) {
        let ones = row.iter().filter(|&&x| x == 1.0).count();
        let zeros = row.iter().filter(|&&x| x == 0.0).count();
        match row.iter().position(|&x| x == 1.0) {
            Some(class) if ones == 1 && zeros + 1 == width => {
                labels.push(i64::try_from(class).unwrap_or(i64::MAX));
            }
            _ => return Err(ErrorKind::NotOneHot { row: labels.len() as u64 }),
        }
    }
    Ok(())
}

/// Labels as numbers of classes, and how they were understood.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResolvedLabels {
    /// The labels.
    pub labels: Labels,
    /// The names of the classes, where they are known.
    pub class_names: Option<Vec<String>>,
    /// How the labels were understood.
    pub kind: LabelKind,
}

/// The labels of so many classes, by the names and the first number that the options state. Whoever shows
/// the error adds where the labels come from.
pub fn resolve_labels(
    labels: RawLabels,
    classes: usize,
    options: &ReadOptions,
) -> std::result::Result<ResolvedLabels, ErrorKind> {
    Classes::unnamed(classes, options).resolve(labels)
}

/// What is known of the classes that labels are of.
#[derive(Clone, Copy)]
pub(crate) struct Classes<'a> {
    pub(crate) count: usize,
    pub(crate) columns: &'a ClassColumns,
    /// The names that the user gives.
    pub(crate) names: Option<&'a [String]>,
    /// The second of two classes, by its name.
    pub(crate) positive: Option<&'a str>,
    /// The number of the first class.
    pub(crate) first_label: Option<i64>,
}

impl<'a> Classes<'a> {
    /// The classes of logits that were opened.
    pub(crate) fn of(reader: &'a LogitsReader<'_>, options: &'a ReadOptions) -> Self {
        Classes {
            count: reader.classes(),
            columns: reader.columns(),
            names: options.class_names.as_deref(),
            positive: options.positive.as_deref(),
            first_label: options.first_label,
        }
    }

    /// So many classes, of which no columns are known.
    pub(crate) fn unnamed(count: usize, options: &'a ReadOptions) -> Self {
        static UNNAMED: ClassColumns = ClassColumns {
            columns: Vec::new(),
            names: Vec::new(),
            class_names: None,
            numbering: Numbering::Array,
            others: Vec::new(),
        };
        Classes {
            count,
            columns: &UNNAMED,
            names: options.class_names.as_deref(),
            positive: options.positive.as_deref(),
            first_label: options.first_label,
        }
    }

    /// The labels of these classes.
    pub(crate) fn resolve(&self, raw: RawLabels) -> Result<ResolvedLabels> {
        if let Some(names) = self.names
            && names.len() != self.count
        {
            let (found, classes) = (names.len(), self.count);
            return Err(ErrorKind::ClassNameCount { found, classes });
        }
        if let Some(positive) = self.positive {
            return self.with_positive(positive, raw);
        }
        match raw {
            RawLabels::OneHot(labels, width) if width == self.count => {
                self.confirm(self.count, labels.len())?;
                self.resolved(&labels, LabelKind::OneHot)
            }
            RawLabels::OneHot(_, found) => {
                Err(ErrorKind::OneHotWidth { found, classes: self.count })
            }
            RawLabels::Named(labels, names) => self.of_named(&labels, &names),
            RawLabels::Column(Column::Texts(texts)) => self.of_texts(&texts),
            RawLabels::Column(Column::Bools(bools)) => self.of_bools(&bools),
            RawLabels::Column(numbers) => self.of_numbers(numbers),
        }
    }

    /// The labels of two classes, of which the second has this name.
    fn with_positive(&self, positive: &str, raw: RawLabels) -> Result<ResolvedLabels> {
        let positive = positive.trim();
        let without = Classes { positive: None, ..*self };
        if self.count != 2 {
            return Err(ErrorKind::PositiveOfMany { classes: self.count });
        }
        let other =
            |names: Vec<String>| Err(ErrorKind::OtherPositive { positive: positive.into(), names });
        if let Some(names) = self.names() {
            let is_second =
                ClassNames::new(names.iter().map(String::as_str)).place(positive) == Some(1);
            return if is_second { without.resolve(raw) } else { other(names) };
        }
        let mut names: BTreeSet<String> = raw.texts().unwrap_or_default();
        if names.iter().all(|name| number_of(name).is_some() || truth_of(name).is_some()) {
            // Numbers and truth values have an order.
            let is_second = number_of(positive) == Some(1) || truth_of(positive) == Some(true);
            let names = || ["0", "1"].map(String::from).to_vec();
            return if is_second { without.resolve(raw) } else { other(names()) };
        }
        if !names.remove(positive) {
            let names = names.into_iter().collect();
            return Err(ErrorKind::NoSuchPositive { positive: positive.into(), names });
        }
        let names: Vec<String> = names.into_iter().chain([positive.to_string()]).collect();
        Classes { names: Some(&names), ..without }.resolve(raw)
    }

    /// The names that the user gives, or those of the columns.
    fn names(&self) -> Option<Vec<String>> {
        self.names.map(<[String]>::to_vec).or_else(|| self.columns.class_names.clone())
    }

    fn resolved(&self, labels: &[i64], kind: LabelKind) -> Result<ResolvedLabels> {
        let labels = Labels::new(labels, self.count)?;
        Ok(ResolvedLabels { labels, class_names: self.names(), kind })
    }

    fn of_names(
        &self,
        texts: &[String],
        names: Vec<String>,
        kind: LabelKind,
    ) -> Result<ResolvedLabels> {
        let known = ClassNames::new(names.iter().map(String::as_str));
        let class = |(row, text): (usize, &String)| {
            known.place(text).ok_or_else(|| ErrorKind::UnknownLabel {
                row: row as u64,
                label: text.clone(),
                names: names.clone(),
            })
        };
        let labels: Vec<usize> = texts.iter().enumerate().map(class).collect::<Result<_>>()?;
        let labels = Labels::new(&labels, self.count)?;
        Ok(ResolvedLabels { labels, class_names: Some(names), kind })
    }

    /// Numbers that stand for names. Where the classes have names, these decide; else they have those of
    /// the labels, in the order of the numbers.
    fn of_named(&self, labels: &[i64], names: &[String]) -> Result<ResolvedLabels> {
        let name = |(row, &label): (usize, &i64)| {
            let name = usize::try_from(label).ok().and_then(|place| names.get(place));
            name.cloned().ok_or_else(|| {
                let (label, classes) = (label.into(), names.len());
                abstain::Error::LabelOutOfRange { row, label, classes }.into()
            })
        };
        let texts: Vec<String> = labels.iter().enumerate().map(name).collect::<Result<_>>()?;
        let known = self.names().unwrap_or_else(|| names.to_vec());
        if known.len() != self.count {
            let (found, classes) = (known.len(), self.count);
            return Err(ErrorKind::ClassNameCount { found, classes });
        }
        self.of_names(&texts, known, LabelKind::Names)
    }

    fn of_texts(&self, texts: &[String]) -> Result<ResolvedLabels> {
        if let Some(row) = texts.iter().position(|text| text.trim().is_empty()) {
            return Err(ErrorKind::Null { row: row as u64, column: "of the labels".into() });
        }
        if let Some(names) = self.names() {
            let known = ClassNames::new(names.iter().map(String::as_str));
            let is_name = |text: &String| known.place(text).is_some();
            // Numbers of classes whose names are given, such as LABEL_1. Columns that have names are
            // in the order of the file, which such a number need not follow.
            let numbers: Option<Vec<i64>> = texts.iter().map(|text| number_of(text)).collect();
            return match numbers {
                Some(numbers)
                    if self.names.is_some()
                        && !known.are_numbers()
                        && !texts.iter().any(is_name) =>
                {
                    self.of_numbers(Column::Integers(numbers))
                }
                _ => self.of_names(texts, names, LabelKind::Names),
            };
        }
        let texts: Vec<String> = texts.iter().map(|text| text.trim().to_string()).collect();
        let distinct: BTreeSet<&String> = texts.iter().collect();
        if let Some(numbers) = numbers_in(&distinct) {
            // As in LABEL_10, which sorts before LABEL_2.
            let labels: Vec<i64> = texts.iter().map(|text| numbers[text]).collect();
            return self.of_numbers(Column::Integers(labels));
        }
        check_spelling(distinct.iter().copied())?;
        if distinct.len() != self.count {
            let names = distinct.iter().map(ToString::to_string).collect();
            let (found, classes) = (distinct.len(), self.count);
            return Err(ErrorKind::LabelCount { found, names, classes });
        }
        let names = distinct.into_iter().cloned().collect();
        self.of_names(&texts, names, LabelKind::SortedNames)
    }

    fn of_bools(&self, bools: &[bool]) -> Result<ResolvedLabels> {
        let names = self.names().unwrap_or_default();
        // Of many classes, 0 and 1 are two numbers among others.
        let is_word = |name: &str| self.count == 2 || name.parse::<f64>().is_err();
        let named = |value: bool| {
            let says = |name: &String| is_word(name) && truth_of(name) == Some(value);
            names.iter().position(says).and_then(|place| i64::try_from(place).ok())
        };
        if let (Some(no), Some(yes)) = (named(false), named(true)) {
            let labels: Vec<i64> =
                bools.iter().map(|&value| if value { yes } else { no }).collect();
            return self.resolved(&labels, LabelKind::Names);
        }
        if self.count != 2 {
            return Err(ErrorKind::BoolLabels { classes: self.count });
        }
        let labels: Vec<i64> = bools.iter().map(|&value| i64::from(value)).collect();
        self.resolved(&labels, LabelKind::Bools)
    }

    fn of_numbers(&self, numbers: Column) -> Result<ResolvedLabels> {
        if let Column::Floats(values) = &numbers
            && let Some(row) = values.iter().position(|x| x.fract() == 0.0 && x.abs() > 1e15)
        {
            // Too large to be distinguished from its neighbours, and far from any class.
            #[expect(clippy::cast_possible_truncation, reason = "whole")]
            let label = values[row] as i128;
            return Err(abstain::Error::LabelOutOfRange { row, label, classes: self.count }.into());
        }
        let mut labels = numbers.into_integers()?;
        // Names that are numbers, such as digits that a classifier knows, are names.
        if let (Some(names), None) = (self.names, self.first_label)
            && ClassNames::new(names.iter().map(String::as_str)).are_numbers()
        {
            return self.of_numbers_as_names(&labels, names);
        }
        let both = labels.contains(&-1) && labels.contains(&1);
        if self.count == 2 && self.first_label.is_none() && both && !labels.contains(&0) {
            self.confirm(2, labels.len())?;
            labels.iter_mut().filter(|label| **label == -1).for_each(|label| *label = 0);
            return self.resolved(&labels, LabelKind::Signs);
        }
        let first = self.first_label(&labels)?;
        self.confirm(classes_seen(&labels, first), labels.len())?;
        if first == 0 {
            return self.resolved(&labels, LabelKind::Numbers);
        }
        for label in &mut labels {
            *label = label.saturating_sub(first);
        }
        self.resolved(&labels, LabelKind::NumbersFrom(first))
    }

    /// Refuses labels that may be numbers as well as names, and would be other classes.
    fn of_numbers_as_names(&self, labels: &[i64], names: &[String]) -> Result<ResolvedLabels> {
        let texts: Vec<String> = labels.iter().map(ToString::to_string).collect();
        let resolved = self.of_names(&texts, names.to_vec(), LabelKind::Names)?;
        let places = || resolved.labels.values().iter().map(|&place| i64::from(place));
        let are_numbers = labels
            .iter()
            .all(|&label| usize::try_from(label).is_ok_and(|label| label < self.count));
        match places().zip(labels).position(|(place, &label)| place != label) {
            Some(row) if are_numbers => {
                let place = resolved.labels.values()[row] as usize;
                Err(ErrorKind::NumberOrName { row: row as u64, label: labels[row], place })
            }
            _ => Ok(resolved),
        }
    }

    /// The number of the first class in the labels.
    fn first_label(&self, labels: &[i64]) -> Result<i64> {
        if let Some(first) = self.first_label {
            return Ok(first);
        }
        if self.columns.numbering != Numbering::Numbers(1) {
            return Ok(0);
        }
        // The columns count from 1; the labels may follow them or not.
        let last = i64::try_from(self.count).unwrap_or(i64::MAX);
        match (labels.contains(&0), labels.contains(&last)) {
            (true, _) => Ok(0),
            (false, true) => Ok(1),
            (false, false) => Err(ErrorKind::FirstLabel),
        }
    }

    /// Refuses columns that are classes only if labels confirm it, and do not.
    fn confirm(&self, seen: usize, rows: usize) -> Result<()> {
        // Rows of each class from which on one that never occurs is unlikely to be one.
        const ENOUGH: usize = 20;
        match self.columns.numbering {
            Numbering::Positions
                if seen < self.count && self.names.is_none() && rows >= ENOUGH * self.count =>
            {
                let names = self.columns.columns.iter().map(ToString::to_string).collect();
                Err(ErrorKind::Unconfirmed { names, seen })
            }
            Numbering::Words { certain: false } if seen != self.count && self.names.is_none() => {
                Err(ErrorKind::Unconfirmed { names: self.columns.names.clone(), seen })
            }
            _ => Ok(()),
        }
    }
}

/// How many classes labels confirm: up to the largest, if the first occurs. Labels that count from 1
/// would else confirm a column too many.
fn classes_seen(labels: &[i64], first: i64) -> usize {
    let largest = labels.iter().copied().max().unwrap_or(0);
    let last = if labels.contains(&first) { largest.saturating_add(1) } else { largest };
    usize::try_from(last.saturating_sub(first)).unwrap_or(0)
}

/// The numbers of labels that are numbered alike, such as `LABEL_3`.
fn numbers_in<'a>(labels: &BTreeSet<&'a String>) -> Option<BTreeMap<&'a String, i64>> {
    let split = |text: &str| -> Option<(String, i64)> {
        let digits = text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (before, number) = text.split_at(text.len() - digits);
        // What is before the digits may be their sign.
        if before == "-" || before == "+" {
            return Some((String::new(), text.parse().ok()?));
        }
        Some((before.to_string(), number.parse().ok()?))
    };
    let mut numbers = BTreeMap::new();
    let mut common: Option<String> = None;
    for &label in labels {
        let (before, number) = split(label)?;
        if common.get_or_insert_with(|| before.clone()) != &before {
            return None;
        }
        numbers.insert(label, number);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(numbering: Numbering, names: &[&str]) -> ClassColumns {
        let class_names = matches!(numbering, Numbering::Words { .. })
            .then(|| names.iter().map(ToString::to_string).collect());
        ClassColumns {
            columns: (0..names.len()).collect(),
            names: names.iter().map(ToString::to_string).collect(),
            class_names,
            numbering,
            others: Vec::new(),
        }
    }

    fn resolve(columns: &ClassColumns, raw: Column) -> Result<(Vec<u32>, LabelKind)> {
        let count = columns.names.len();
        let classes = Classes { count, columns, names: None, positive: None, first_label: None };
        let resolved = classes.resolve(RawLabels::Column(raw))?;
        Ok((resolved.labels.values().to_vec(), resolved.kind))
    }

    fn texts(values: &[&str]) -> Column {
        Column::Texts(values.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn names_are_matched_with_columns_or_sorted() {
        let words = columns(Numbering::Words { certain: true }, &["dog", "cat", "cow"]);
        let found = resolve(&words, texts(&["cat", "dog", "cow"])).expect("classes");
        assert_eq!(found, (vec![1, 0, 2], LabelKind::Names));
        let array = columns(Numbering::Array, &["a", "b", "c"]);
        let found = resolve(&array, texts(&["cat", "dog", "cow"])).expect("classes");
        assert_eq!(found, (vec![0, 2, 1], LabelKind::SortedNames));
        let error = resolve(&array, texts(&["cat", "dog"])).unwrap_err();
        assert!(matches!(error, ErrorKind::LabelCount { found: 2, classes: 3, .. }));
        let error = resolve(&words, texts(&["cat", "wolf"])).unwrap_err();
        assert!(matches!(error, ErrorKind::UnknownLabel { row: 1, .. }));
        // Numbers in names go before the alphabet.
        let found = resolve(&array, texts(&["LABEL_2", "LABEL_0"])).expect("classes");
        assert_eq!(found, (vec![2, 0], LabelKind::Numbers));
    }

    #[test]
    fn numbers_of_names_are_these_classes_wherever_their_columns_are() {
        let named = |columns: &ClassColumns, labels: &[i64]| {
            let names = ["cat", "dog", "emu"].map(String::from).to_vec();
            let count = columns.names.len();
            let classes =
                Classes { count, columns, names: None, first_label: None, positive: None };
            classes.resolve(RawLabels::Named(labels.to_vec(), names))
        };
        let words = columns(Numbering::Words { certain: true }, &["dog", "emu", "cat"]);
        let found = named(&words, &[0, 1, 1]).expect("classes");
        assert_eq!(found.labels.values(), [2, 0, 0]);
        assert_eq!(found.class_names.expect("names"), ["dog", "emu", "cat"]);
        // Columns without names are in the order of the numbers.
        let array = columns(Numbering::Array, &["", "", ""]);
        let found = named(&array, &[2, 1]).expect("classes");
        assert_eq!(found.labels.values(), [2, 1]);
        assert_eq!(found.class_names.expect("names"), ["cat", "dog", "emu"]);
        let two = columns(Numbering::Array, &["", ""]);
        assert!(matches!(
            named(&two, &[0]),
            Err(ErrorKind::ClassNameCount { found: 3, classes: 2 })
        ));
        assert!(named(&array, &[-1]).is_err());
    }

    #[test]
    fn numbers_count_from_where_the_columns_do() {
        let ones = columns(Numbering::Numbers(1), &["c1", "c2", "c3"]);
        let of = |values: &[i64]| resolve(&ones, Column::Integers(values.to_vec()));
        assert_eq!(of(&[1, 3]).expect("from 1"), (vec![0, 2], LabelKind::NumbersFrom(1)));
        assert_eq!(of(&[0, 2]).expect("from 0"), (vec![0, 2], LabelKind::Numbers));
        assert!(matches!(of(&[1, 2]), Err(ErrorKind::FirstLabel)));
        assert!(of(&[0, 3]).is_err());
    }

    #[test]
    fn words_without_certainty_need_as_many_labels() {
        let words = columns(Numbering::Words { certain: false }, &["cat", "dog", "spread"]);
        let of = |values: &[i64]| resolve(&words, Column::Integers(values.to_vec()));
        assert!(of(&[0, 2, 1]).is_ok());
        assert!(of(&[0, 2]).is_ok());
        assert!(matches!(of(&[0, 1]), Err(ErrorKind::Unconfirmed { seen: 2, .. })));
        // Labels of two classes, counted from 1.
        assert!(matches!(of(&[1, 2]), Err(ErrorKind::Unconfirmed { seen: 2, .. })));
    }

    #[test]
    fn truth_values_are_two_classes() {
        let two = columns(Numbering::Array, &["a", "b"]);
        let bools = Column::Bools(vec![true, false]);
        assert_eq!(resolve(&two, bools.clone()).expect("read"), (vec![1, 0], LabelKind::Bools));
        let named = columns(Numbering::Words { certain: true }, &["True", "False"]);
        assert_eq!(resolve(&named, bools.clone()).expect("read"), (vec![0, 1], LabelKind::Names));
        let three = columns(Numbering::Array, &["a", "b", "c"]);
        assert!(matches!(resolve(&three, bools), Err(ErrorKind::BoolLabels { classes: 3 })));
    }

    #[test]
    fn class_names_that_are_numbers_are_names() {
        let columns = columns(Numbering::Array, &["a", "b"]);
        let names = ["3", "7"].map(String::from);
        let classes = Classes {
            count: 2,
            columns: &columns,
            names: Some(&names),
            positive: None,
            first_label: None,
        };
        let raw = RawLabels::Column(Column::Integers(vec![7, 3]));
        assert_eq!(classes.resolve(raw).expect("read").labels.values(), [1, 0]);
        let raw = RawLabels::Column(Column::Integers(vec![1]));
        assert!(classes.resolve(raw).is_err());
    }
}
