//! What a threshold accepts in each predicted class and in each group of rows: a high accuracy of all
//! accepted rows can hide a low one of some.

use abstain::{Losses, Rule, Weights};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What is accepted of some rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BreakdownRow {
    /// The predicted class or the group.
    pub name: String,
    /// Its rows.
    pub rows: usize,
    /// Those that are accepted.
    pub accepted: usize,
    /// Those of the accepted rows that are right.
    pub right: usize,
    /// Those that are wrong.
    pub wrong: usize,
    /// The weights of the same rows, if rows have weights; the shares are then those of the weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<BreakdownWeights>,
}

/// How much the rows of a part weigh.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct BreakdownWeights {
    /// All of them.
    pub rows: f64,
    /// Those that are accepted.
    pub accepted: f64,
    /// Those of the accepted rows that are right.
    pub right: f64,
}

impl BreakdownRow {
    fn new(name: String) -> Self {
        BreakdownRow { name, rows: 0, accepted: 0, right: 0, wrong: 0, weights: None }
    }

    fn push(&mut self, accepted: bool, loss: f64, weight: Option<f64>) {
        let right = accepted && loss == 0.0;
        self.rows += 1;
        self.accepted += usize::from(accepted);
        self.right += usize::from(right);
        self.wrong += usize::from(accepted && !right);
        if let Some(weight) = weight {
            let sums = self.weights.get_or_insert_default();
            sums.rows += weight;
            sums.accepted += if accepted { weight } else { 0.0 };
            sums.right += if right { weight } else { 0.0 };
        }
    }

    /// What shares are made of: the weights of the rows, or their numbers.
    pub fn sums(&self) -> BreakdownWeights {
        self.weights.unwrap_or(BreakdownWeights {
            rows: self.rows as f64,
            accepted: self.accepted as f64,
            right: self.right as f64,
        })
    }

    /// The accuracy of the accepted rows; nothing if there are none.
    pub fn accuracy(&self) -> Option<f64> {
        let sums = self.sums();
        (sums.accepted > 0.0).then(|| sums.right / sums.accepted)
    }

    /// The share of rows that are accepted.
    pub fn coverage(&self) -> f64 {
        let sums = self.sums();
        if sums.rows > 0.0 { sums.accepted / sums.rows } else { 0.0 }
    }
}

/// What a threshold accepts in each predicted class and group.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Breakdown {
    /// By predicted class, in the order of the classes; those that are never predicted are left out.
    pub by_class: Vec<BreakdownRow>,
    /// By group, sorted by name; empty if there are no groups.
    pub by_group: Vec<BreakdownRow>,
}

/// What rows are broken down by.
#[derive(Debug, Clone, Copy, Default)]
pub struct BrokenDownBy<'a> {
    /// The predicted classes, if they are known.
    pub predictions: Option<&'a [usize]>,
    /// The names of the classes; without them they are numbers.
    pub class_names: Option<&'a [String]>,
    /// The groups of the rows.
    pub groups: Option<&'a Groups>,
    /// The weights of the rows.
    pub weights: Option<&'a Weights>,
}

/// The group of each row, as a number, and the names of the groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// Sorted.
    names: Vec<String>,
    codes: Vec<usize>,
}

impl Groups {
    /// The groups of rows that name theirs.
    pub fn new(of_rows: &[String]) -> Self {
        let names: BTreeSet<&String> = of_rows.iter().collect();
        let codes: BTreeMap<&String, usize> =
            names.iter().enumerate().map(|(code, name)| (*name, code)).collect();
        Groups {
            codes: of_rows.iter().map(|name| codes[name]).collect(),
            names: names.into_iter().cloned().collect(),
        }
    }

    /// The names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of each row's group, which is its place among the names.
    pub fn codes(&self) -> &[usize] {
        &self.codes
    }

    /// The group of a row.
    pub(crate) fn of_row(&self, row: usize) -> Option<&String> {
        self.codes.get(row).map(|&code| &self.names[code])
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The groups of some rows.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let codes = rows.iter().filter_map(|&row| self.codes.get(row).copied()).collect();
        Groups { names: self.names.clone(), codes }
    }
}

impl Breakdown {
    /// Counts the rows that a rule accepts; without one all are accepted. Nothing if a loss is neither 0
    /// nor 1.
    pub fn new(
        confidences: &[f64],
        losses: &Losses,
        rule: Option<&Rule>,
        by: BrokenDownBy<'_>,
    ) -> Option<Self> {
        if !losses.is_zero_one() {
            return None;
        }
        let (mut classes, mut groups) = (BTreeMap::new(), BTreeMap::new());
        let name = |class: usize| {
            by.class_names.and_then(|names| names.get(class)).cloned().unwrap_or(class.to_string())
        };
        for (row, (&confidence, &loss)) in confidences.iter().zip(losses.values()).enumerate() {
            let class = by.predictions.and_then(|predictions| predictions.get(row)).copied();
            let group = by.groups.and_then(|groups| groups.of_row(row));
            let accepted = rule.is_none_or(|rule| {
                rule.decide(confidence, class, group.map(|group| &group[..])).is_accept()
            });
            let weight = by.weights.and_then(|weights| weights.values().get(row)).copied();
            if let Some(class) = class {
                let part = classes.entry(class).or_insert_with(|| BreakdownRow::new(name(class)));
                part.push(accepted, loss, weight);
            }
            if let Some(group) = group {
                let part = groups.entry(group).or_insert_with(|| BreakdownRow::new(group.clone()));
                part.push(accepted, loss, weight);
            }
        }
        Some(Breakdown {
            by_class: classes.into_values().collect(),
            by_group: groups.into_values().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abstain::Threshold;

    #[test]
    fn rows_are_counted_by_class_and_group() {
        let losses = Losses::new(vec![0.0, 1.0, 0.0, 1.0, 0.0]).expect("losses");
        let confidences = [5.0, 4.0, 3.0, 2.0, 1.0];
        let names = ["cat", "dog"].map(String::from);
        let groups = Groups::new(&["b", "a", "b", "a", "a"].map(String::from));
        let by = BrokenDownBy {
            predictions: Some(&[0, 1, 1, 1, 0]),
            class_names: Some(&names),
            groups: Some(&groups),
            weights: None,
        };
        let rule = Rule::from(Threshold::given(2.0));
        let found = Breakdown::new(&confidences, &losses, Some(&rule), by).expect("zero-one");
        let part = |name: &str, rows, accepted, right, wrong| BreakdownRow {
            name: name.into(),
            rows,
            accepted,
            right,
            wrong,
            weights: None,
        };
        assert_eq!(found.by_class, [part("cat", 2, 1, 1, 0), part("dog", 3, 3, 1, 2)]);
        assert_eq!(found.by_group, [part("a", 3, 2, 0, 2), part("b", 2, 2, 2, 0)]);
        assert_eq!(found.by_group[0].accuracy(), Some(0.0));
        let all = Breakdown::new(&confidences, &losses, None, by).expect("zero-one");
        assert_eq!(all.by_class[0].accepted, 2);
        let graded = Losses::new(vec![0.5; 5]).expect("losses");
        assert_eq!(Breakdown::new(&confidences, &graded, None, by), None);
        // Rows are counted, and shares are those of the weights.
        let weights = Weights::new(vec![1.0, 3.0, 0.5, 1.0, 0.0]).expect("weights");
        let by = BrokenDownBy { weights: Some(&weights), ..by };
        let found = Breakdown::new(&confidences, &losses, Some(&rule), by).expect("zero-one");
        let dog = &found.by_class[1];
        assert_eq!((dog.accepted, dog.right, dog.wrong), (3, 1, 2));
        assert_eq!((dog.accuracy(), dog.coverage()), (Some(0.5 / 4.5), 1.0));
        assert_eq!(found.by_class[0].coverage(), 1.0, "a row of weight 0 is left out");
    }
}
