//! What profiles record.

use crate::estimator::Estimator;
use crate::family::FamilyEstimator;
use crate::row::{ManyNorms, Others, Row};
use crate::transform::Norm;

/// What a profile records on request, beside what it records of every row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Column {
    /// A p-norm of the row.
    Norm(Norm),
    /// A confidence of the row.
    Confidence(Recorded),
    /// The number that was given beside the row.
    Extra,
}

/// A confidence that a profile holds because it cannot compute it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Recorded {
    /// That of a family which looks at every class.
    Family(FamilyEstimator),
    /// That of MaxLogit under a norm of which nothing else is wanted: half as much as the norm.
    MaxLogit(Norm),
}

impl Recorded {
    /// The same for rows of so many classes.
    fn for_classes(self, classes: usize) -> Self {
        match self {
            Recorded::Family(family) => Recorded::Family(family.for_classes(classes)),
            Recorded::MaxLogit(_) => self,
        }
    }
}

/// What a profile records: some norms, the confidences of some estimators, and the sums of
/// exponentials unless no estimator needs them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProfilePlan {
    pub(super) norms: Vec<Norm>,
    pub(super) confidences: Vec<Recorded>,
    pub(super) extra: bool,
    pub(super) no_exponentials: bool,
}

impl ProfilePlan {
    /// What some estimators need; each norm and each confidence is recorded once.
    pub fn of<'a>(estimators: impl IntoIterator<Item = &'a Estimator>) -> Self {
        let mut plan = ProfilePlan::default();
        for column in estimators.into_iter().flat_map(Estimator::columns) {
            plan.add(column);
        }
        plan
    }

    /// Some norms.
    pub(crate) fn of_norms(norms: impl IntoIterator<Item = Norm>) -> Self {
        let mut plan = ProfilePlan::default();
        norms.into_iter().for_each(|norm| plan.add(Column::Norm(norm)));
        plan
    }

    /// The same norms without the sums of exponentials, which take most of the time of a profile.
    /// MSP and scores of the logits themselves, such as MaxLogit-pNorm, do not need them; an estimator
    /// that does is refused by such a profile.
    #[must_use]
    pub fn without_exponentials(mut self) -> Self {
        self.no_exponentials = true;
        self
    }

    /// Adds what another plan records.
    #[must_use]
    pub fn and(mut self, other: &ProfilePlan) -> Self {
        self.no_exponentials &= other.no_exponentials;
        other.norms.iter().for_each(|&norm| self.add(Column::Norm(norm)));
        other.confidences.iter().for_each(|&recorded| self.add(Column::Confidence(recorded)));
        self.extra |= other.extra;
        self
    }

    fn add(&mut self, column: Column) {
        match column {
            Column::Norm(norm) => push_new(&mut self.norms, norm),
            Column::Confidence(recorded) => push_new(&mut self.confidences, recorded),
            Column::Extra => self.extra = true,
        }
    }

    /// The same plan for rows of so many classes, on which some estimators are equal.
    pub(super) fn for_classes(mut self, classes: usize) -> Self {
        for recorded in std::mem::take(&mut self.confidences) {
            push_new(&mut self.confidences, recorded.for_classes(classes));
        }
        self
    }

    /// What it records that another plan needs as well.
    pub(super) fn within(&self, other: &ProfilePlan) -> Self {
        let norms = self.norms.iter().filter(|norm| other.norms.contains(norm));
        let confidences = self.confidences.iter().filter(|known| other.confidences.contains(known));
        ProfilePlan {
            norms: norms.copied().collect(),
            confidences: confidences.copied().collect(),
            extra: self.extra,
            no_exponentials: self.no_exponentials || other.no_exponentials,
        }
    }

    /// The confidences that it records of a row, whose classes are sorted once for all families.
    pub(super) fn recorded_confidences(
        &self,
        row: &Row<'_>,
        norms: &mut ManyNorms<'_, '_>,
    ) -> Vec<f64> {
        let mut max_logits =
            norms.max_logits(self.confidences.iter().filter_map(|known| match known {
                Recorded::MaxLogit(norm) => Some(norm),
                Recorded::Family(_) => None,
            }));
        let mut others = None;
        let each = |known: &Recorded| match known {
            Recorded::Family(family) => {
                family.confidence(others.get_or_insert_with(|| Others::new(row)), 0)
            }
            Recorded::MaxLogit(_) => max_logits.next().unwrap_or(f64::NAN),
        };
        self.confidences.iter().map(each).collect()
    }

    /// Where a profile of this plan for so many classes has recorded something.
    pub(super) fn position(&self, column: Column, classes: usize) -> Option<usize> {
        match column {
            Column::Norm(norm) => self.norms.iter().position(|known| *known == norm),
            Column::Confidence(recorded) => {
                let recorded = recorded.for_classes(classes);
                self.confidences.iter().position(|known| *known == recorded)
            }
            Column::Extra => self.extra.then_some(0),
        }
    }
}

fn push_new<T: PartialEq>(items: &mut Vec<T>, item: T) {
    if !items.contains(&item) {
        items.push(item);
    }
}
