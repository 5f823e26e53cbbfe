//! What a threshold accepts in each predicted class and in each group of rows: a high accuracy of all
//! accepted rows can hide a low one of some.

use abstain::Losses;
use serde::Serialize;
use std::collections::BTreeMap;

/// What is accepted of some rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Part {
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
}

impl Part {
    fn new(name: String) -> Self {
        Part { name, rows: 0, accepted: 0, right: 0, wrong: 0 }
    }

    fn push(&mut self, accepted: bool, loss: f64) {
        self.rows += 1;
        if accepted {
            self.accepted += 1;
            if loss == 0.0 { self.right += 1 } else { self.wrong += 1 }
        }
    }

    /// The accuracy of the accepted rows; nothing if there are none.
    pub fn accuracy(&self) -> Option<f64> {
        (self.accepted > 0).then(|| self.right as f64 / self.accepted as f64)
    }

    /// The share of rows that are accepted.
    pub fn coverage(&self) -> f64 {
        self.accepted as f64 / self.rows.max(1) as f64
    }
}

/// What a threshold accepts in each predicted class and group.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Breakdown {
    /// By predicted class, in the order of the classes; those that are never predicted are left out.
    pub by_class: Vec<Part>,
    /// By group, sorted by name; empty if there are no groups.
    pub by_group: Vec<Part>,
}

/// What rows are broken down by.
#[derive(Debug, Clone, Copy, Default)]
pub struct BrokenDownBy<'a> {
    /// The predicted classes, if they are known.
    pub predictions: Option<&'a [usize]>,
    /// The names of the classes; without them they are numbers.
    pub class_names: Option<&'a [String]>,
    /// The groups of the rows.
    pub groups: Option<&'a [String]>,
}

impl Breakdown {
    /// Counts rows whose confidence is at least a threshold; without one all are accepted. Nothing if a
    /// loss is neither 0 nor 1.
    pub fn new(
        confidences: &[f64],
        losses: &Losses,
        threshold: Option<f64>,
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
            let accepted = threshold.is_none_or(|at| confidence >= at);
            if let Some(&class) = by.predictions.and_then(|predictions| predictions.get(row)) {
                let part = classes.entry(class).or_insert_with(|| Part::new(name(class)));
                part.push(accepted, loss);
            }
            if let Some(group) = by.groups.and_then(|groups| groups.get(row)) {
                let part = groups.entry(group).or_insert_with(|| Part::new(group.clone()));
                part.push(accepted, loss);
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

    #[test]
    fn rows_are_counted_by_class_and_group() {
        let losses = Losses::new(vec![0.0, 1.0, 0.0, 1.0, 0.0]).expect("losses");
        let confidences = [5.0, 4.0, 3.0, 2.0, 1.0];
        let names = ["cat", "dog"].map(String::from);
        let groups = ["b", "a", "b", "a", "a"].map(String::from);
        let by = BrokenDownBy {
            predictions: Some(&[0, 1, 1, 1, 0]),
            class_names: Some(&names),
            groups: Some(&groups),
        };
        let found = Breakdown::new(&confidences, &losses, Some(2.0), by).expect("zero-one");
        let part = |name: &str, rows, accepted, right, wrong| Part {
            name: name.into(),
            rows,
            accepted,
            right,
            wrong,
        };
        assert_eq!(found.by_class, [part("cat", 2, 1, 1, 0), part("dog", 3, 3, 1, 2)]);
        assert_eq!(found.by_group, [part("a", 3, 2, 0, 2), part("b", 2, 2, 2, 0)]);
        assert_eq!(found.by_group[0].accuracy(), Some(0.0));
        let all = Breakdown::new(&confidences, &losses, None, by).expect("zero-one");
        assert_eq!(all.by_class[0].accepted, 2);
        let graded = Losses::new(vec![0.5; 5]).expect("losses");
        assert_eq!(Breakdown::new(&confidences, &graded, None, by), None);
    }
}
