//! The rule that decides which rows are accepted.

use crate::error::Error;
use crate::threshold::Threshold;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Which rows are accepted: those whose confidence reaches the threshold that is theirs.
///
/// ```
/// use abstain::{Decision, Rule, Threshold, rule::Reason};
///
/// let rule = Rule::ByClass(vec![Some(Threshold::given(0.5)), None]);
/// assert_eq!(rule.decide(0.7, Some(0), None), Decision::Accept);
/// assert_eq!(rule.decide(0.4, Some(0), None), Decision::Abstain(Reason::BelowThreshold));
/// assert_eq!(rule.decide(0.7, Some(1), None), Decision::Abstain(Reason::NoThreshold));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// One threshold for all rows.
    Threshold(Threshold),
    /// A threshold for each predicted class, in the order of their numbers. Rows of a class without one
    /// are never accepted.
    ByClass(Vec<Option<Threshold>>),
    /// A threshold for each group. Rows of a group without one are never accepted, nor are those of a
    /// group that is not in the table.
    ByGroup(#[serde(deserialize_with = "each_once")] ByName),
}

/// Thresholds by name.
type ByName = BTreeMap<String, Option<Threshold>>;

/// Reads a table, and refuses one that has a name twice: serde would take the last.
fn each_once<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ByName, D::Error> {
    struct Table;
    impl<'de> Visitor<'de> for Table {
        type Value = ByName;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("thresholds by name")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ByName, A::Error> {
            let mut table = ByName::new();
            while let Some((name, threshold)) = map.next_entry::<String, _>()? {
                if table.contains_key(&name) {
                    return Err(de::Error::custom(format!("two thresholds of '{name}'")));
                }
                table.insert(name, threshold);
            }
            Ok(table)
        }
    }
    deserializer.deserialize_map(Table)
}

/// What is done with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Its prediction is the answer.
    Accept,
    /// It has no answer.
    Abstain(Reason),
}

/// Why a row has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The confidence is below the threshold.
    BelowThreshold,
    /// There is no threshold for the class or group of the row.
    NoThreshold,
}

impl Decision {
    /// Whether the row is accepted.
    #[inline]
    pub fn is_accept(self) -> bool {
        self == Decision::Accept
    }
}

impl Rule {
    /// Decides on a row by its confidence, its predicted class and its group. What the rule does not look
    /// at may be absent.
    #[inline]
    pub fn decide(
        &self,
        confidence: f64,
        prediction: Option<usize>,
        group: Option<&str>,
    ) -> Decision {
        let threshold = match self {
            Rule::Threshold(threshold) => Some(threshold),
            Rule::ByClass(table) => prediction.and_then(|class| table.get(class)?.as_ref()),
            Rule::ByGroup(table) => group.and_then(|group| table.get(group)?.as_ref()),
        };
        match threshold {
            Some(threshold) if threshold.accepts(confidence) => Decision::Accept,
            Some(_) => Decision::Abstain(Reason::BelowThreshold),
            None => Decision::Abstain(Reason::NoThreshold),
        }
    }

    /// The threshold, if it is one for all rows.
    pub fn threshold(&self) -> Option<&Threshold> {
        match self {
            Rule::Threshold(threshold) => Some(threshold),
            Rule::ByClass(_) | Rule::ByGroup(_) => None,
        }
    }

    /// All its thresholds.
    pub fn thresholds(&self) -> impl Iterator<Item = &Threshold> {
        let (classes, groups) = match self {
            Rule::Threshold(_) => (None, None),
            Rule::ByClass(table) => (Some(table), None),
            Rule::ByGroup(table) => (None, Some(table)),
        };
        let groups = groups.into_iter().flat_map(BTreeMap::values);
        self.threshold().into_iter().chain(classes.into_iter().flatten().chain(groups).flatten())
    }

    /// Refuses rows that do not have what the rule looks at: predicted classes or groups.
    pub fn check_rows(&self, predictions: bool, groups: bool) -> Result<(), Error> {
        match self {
            Rule::ByClass(_) if !predictions => Err(Error::ThresholdTable { by: "class" }),
            Rule::ByGroup(_) if !groups => Err(Error::ThresholdTable { by: "group" }),
            _ => Ok(()),
        }
    }

    /// Checks what its numbers say of each other, and that a table by class is one of the classes.
    pub(crate) fn check(&self, classes: Option<usize>) -> Result<(), String> {
        if let Rule::ByClass(table) = self
            && classes.is_some_and(|classes| classes != table.len())
        {
            let classes = classes.unwrap_or(0);
            return Err(format!("thresholds of {} classes for {classes}", table.len()));
        }
        self.thresholds().try_for_each(Threshold::check)
    }
}

impl From<Threshold> for Rule {
    fn from(threshold: Threshold) -> Self {
        Rule::Threshold(threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Decision::{Abstain, Accept};
    use Reason::{BelowThreshold, NoThreshold};
    use serde_json::{from_value, json, to_value};

    fn by_group() -> Rule {
        let table = [("north", Some(Threshold::given(1.0))), ("south", None)];
        Rule::ByGroup(table.map(|(name, threshold)| (name.to_string(), threshold)).into())
    }

    #[test]
    fn one_threshold_is_for_all_rows() {
        let rule = Rule::from(Threshold::given(1.0));
        for (class, group) in [(None, None), (Some(7), Some("x"))] {
            assert_eq!(rule.decide(1.0, class, group), Accept);
            assert_eq!(rule.decide(1.0_f64.next_down(), class, group), Abstain(BelowThreshold));
            assert_eq!(rule.decide(f64::NAN, class, group), Abstain(BelowThreshold));
        }
        let decide =
            |at, confidence| Rule::from(Threshold::given(at)).decide(confidence, None, None);
        assert_eq!(decide(f64::NEG_INFINITY, f64::NEG_INFINITY), Accept);
        assert_eq!(decide(f64::INFINITY, f64::MAX), Abstain(BelowThreshold));
        assert_eq!(decide(f64::INFINITY, f64::INFINITY), Accept);
        assert_eq!(decide(0.0, -0.0), Accept);
    }

    #[test]
    fn each_class_has_its_threshold() {
        let rule =
            Rule::ByClass(vec![Some(Threshold::given(1.0)), None, Some(Threshold::given(2.0))]);
        let decide = |class| rule.decide(1.5, class, Some("north"));
        assert_eq!(decide(Some(0)), Accept);
        assert_eq!(decide(Some(1)), Abstain(NoThreshold));
        assert_eq!(decide(Some(2)), Abstain(BelowThreshold));
        assert_eq!((decide(Some(3)), decide(None)), (Abstain(NoThreshold), Abstain(NoThreshold)));
    }

    #[test]
    fn each_group_has_its_threshold() {
        let rule = by_group();
        let decide = |confidence, group| rule.decide(confidence, Some(0), group);
        assert_eq!(decide(1.0, Some("north")), Accept);
        assert_eq!(decide(0.5, Some("north")), Abstain(BelowThreshold));
        for group in [Some("south"), Some("west"), Some("North"), None] {
            assert_eq!(decide(9.0, group), Abstain(NoThreshold), "{group:?}");
        }
    }

    #[test]
    fn tables_need_what_they_look_at() {
        let by_class = Rule::ByClass(vec![None]);
        let refused = |by| Err(Error::ThresholdTable { by });
        assert_eq!(by_class.check_rows(false, true), refused("class"));
        assert_eq!(by_class.check_rows(true, false), Ok(()));
        assert_eq!(by_group().check_rows(true, false), refused("group"));
        assert_eq!(by_group().check_rows(false, true), Ok(()));
        assert_eq!(Rule::from(Threshold::given(0.0)).check_rows(false, false), Ok(()));
    }

    #[test]
    fn rules_read_back() {
        let given = |at: f64| json!({"basis": "given", "at": at});
        for (rule, json) in [
            (Rule::from(Threshold::given(1.0)), json!({"threshold": given(1.0)})),
            (
                Rule::ByClass(vec![None, Some(Threshold::given(2.0))]),
                json!({"by_class": [null, given(2.0)]}),
            ),
            (by_group(), json!({"by_group": {"north": given(1.0), "south": null}})),
        ] {
            assert_eq!(to_value(&rule).expect("serialises"), json);
            assert_eq!(from_value::<Rule>(json).expect("reads"), rule);
        }
        for wrong in [
            json!({"by_group": {"north": {"basis": "given", "at": 1.0, "colour": "blue"}}}),
            json!({"by_class": {"0": given(1.0)}}),
            json!({"threshold": null}),
            json!({"threshold": given(1.0), "by_class": []}),
            json!({"by_colour": {}}),
            given(1.0),
        ] {
            assert!(from_value::<Rule>(wrong.clone()).is_err(), "{wrong}");
        }
        let twice = r#"{"by_group": {"north": null, "south": null, "north": null}}"#;
        let error = serde_json::from_str::<Rule>(twice).unwrap_err();
        assert!(error.to_string().starts_with("two thresholds of 'north'"), "{error}");
    }

    #[test]
    fn every_threshold_of_a_table_is_checked() {
        let nan = || Some(Threshold::given(f64::NAN));
        assert!(Rule::from(Threshold::given(f64::NAN)).check(None).is_err());
        assert!(Rule::ByClass(vec![None, nan()]).check(Some(2)).is_err());
        assert!(Rule::ByGroup([("north".to_string(), nan())].into()).check(None).is_err());
        assert_eq!(by_group().check(None), Ok(()));
        let two = Rule::ByClass(vec![None, Some(Threshold::given(1.0))]);
        assert_eq!((two.check(Some(2)), two.check(None)), (Ok(()), Ok(())));
        assert!(two.check(Some(3)).is_err());
    }
}
