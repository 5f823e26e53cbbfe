//! Profiles as they are stored, or sent from one machine to another.

use super::{ProfilePlan, Profiles, Tails};
use crate::error::Error;
use crate::exact::Numbers;
use crate::row::TailTable;
use serde::{Deserialize, Serialize};

/// The rows of profiles without their plan, which both sides know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileState {
    /// The columns of one number a row, some of which may be empty.
    columns: Vec<Numbers>,
    predictions: Vec<u32>,
    /// Three numbers a row.
    deviations: Numbers,
    /// Two numbers a row, for each norm of the plan.
    norms: Vec<Numbers>,
    tails: TailState,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TailState {
    None,
    Rows(Numbers),
    /// Spread, count and nodes of each row.
    Tables(Vec<Numbers>),
}

impl Profiles {
    /// What is recorded of the rows.
    pub fn into_state(mut self) -> ProfileState {
        let norms = self
            .norms
            .iter()
            .map(|norm| Numbers(norm.iter().flat_map(|(norm, log)| [*norm, *log]).collect()));
        ProfileState {
            norms: norms.collect(),
            columns: self.columns_mut().map(|column| Numbers(std::mem::take(column))).collect(),
            predictions: self.predictions,
            deviations: Numbers(self.deviations.concat()),
            tails: match self.tails {
                Tails::None => TailState::None,
                Tails::Rows(rows) => TailState::Rows(Numbers(rows)),
                Tails::Tables(tables) => {
                    TailState::Tables(tables.iter().map(|table| Numbers(table.numbers())).collect())
                }
            },
        }
    }

    /// The profiles of a state that was made with the same plan; another one is refused.
    pub fn from_state(
        classes: usize,
        plan: &ProfilePlan,
        state: ProfileState,
    ) -> Result<Self, Error> {
        let mut profiles = Profiles::empty(classes, plan);
        let ProfileState { columns, predictions, deviations, norms, tails } = state;
        let rows = predictions.len();
        // Empty where the plan does not need them.
        let (extra, exponentials) = (profiles.plan.extra, !profiles.plan.no_exponentials);
        let used = [true, true, true, true, extra, true, exponentials];
        let lengths = used.into_iter().chain(std::iter::repeat(true));
        let fits = |(column, used): (&Numbers, bool)| column.0.len() == if used { rows } else { 0 };
        let sound = columns.len() == profiles.columns_mut().count()
            && columns.iter().zip(lengths).all(fits)
            && deviations.0.len() == 3 * rows
            && norms.len() == profiles.norms.len()
            && norms.iter().all(|norm| norm.0.len() == 2 * rows)
            && predictions.iter().all(|&class| (class as usize) < classes);
        let tails = match (&profiles.tails, tails) {
            (Tails::None, TailState::None) => Some(Tails::None),
            (Tails::Rows(_), TailState::Rows(numbers)) if numbers.0.len() == rows * classes => {
                Some(Tails::Rows(numbers.0))
            }
            // Few classes have tables too, where some are masked.
            (Tails::Rows(_) | Tails::Tables(_), TailState::Tables(tables))
                if tables.len() == rows =>
            {
                let tables = tables.iter().map(|table| TailTable::of_numbers(&table.0));
                tables.collect::<Option<Vec<_>>>().map(Tails::Tables)
            }
            _ => None,
        };
        let Some(tails) = tails.filter(|_| sound) else { return Err(Error::StatesDiffer) };
        profiles.columns_mut().zip(columns).for_each(|(column, numbers)| *column = numbers.0);
        profiles.predictions = predictions;
        profiles.deviations = deviations.0.as_chunks::<3>().0.to_vec();
        let pairs = |norm: Numbers| norm.0.as_chunks().0.iter().map(|&[a, b]| (a, b)).collect();
        profiles.norms = norms.into_iter().map(pairs).collect();
        profiles.tails = tails;
        Ok(profiles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimator::Estimator;
    use crate::labels::Labels;
    use crate::logits::Logits;

    /// Merged, stored and read back, parts have the confidences of the whole to the bit.
    #[test]
    fn parts_that_are_stored_and_merged_are_the_whole() {
        let texts = ["MSP-pNorm(p=4, tau=0.5)", "MSP-TS(T=1.5)", "MaxLogit-pNorm(p=3)"];
        let estimators: Vec<Estimator> =
            texts.iter().map(|text| text.parse().expect("valid")).collect();
        let plan = ProfilePlan::of(&estimators);
        for classes in [4, 40] {
            let rows = 61;
            let mut values: Vec<f64> =
                (0..rows * classes).map(|i| (i * 7919 % 1009) as f64 / 97.0).collect();
            // A masked class in the last part, which changes how few classes are kept.
            values[(rows - 1) * classes] = f64::NEG_INFINITY;
            let labels: Vec<usize> = (0..rows).map(|row| 1 + row % (classes - 1)).collect();
            let profiles = |part: std::ops::Range<usize>| {
                let values = &values[part.start * classes..part.end * classes];
                let logits = Logits::masked(values, classes).expect("logits");
                let labels = Labels::new(&labels[part], classes).expect("labels");
                Profiles::new(&logits, &labels, &plan).expect("profiles")
            };
            let whole = profiles(0..rows).confidences(&estimators).expect("recorded");
            for parts in [1, 2, 7] {
                let mut merged = Profiles::empty(classes, &plan);
                for part in 0..parts {
                    let state =
                        profiles(part * rows / parts..(part + 1) * rows / parts).into_state();
                    let json = serde_json::to_string(&state).expect("serialises");
                    let state = serde_json::from_str(&json).expect("reads");
                    let read = Profiles::from_state(classes, &plan, state).expect("the same plan");
                    merged.merge(read).expect("the same plan");
                }
                assert_eq!(merged.confidences(&estimators).expect("recorded"), whole);
            }
            let state = profiles(0..3).into_state();
            let other = Profiles::from_state(classes, &ProfilePlan::default(), state.clone());
            assert!(matches!(other, Err(Error::StatesDiffer)));
            let short = ProfileState { predictions: vec![0; 2], ..state };
            assert!(Profiles::from_state(classes, &plan, short).is_err());
        }
    }
}
