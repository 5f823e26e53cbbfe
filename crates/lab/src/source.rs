//! Where an experiment gets its rows from.

use crate::picture::Answers;
use abstain::{Error, Estimator, Labels, Logits, Losses, ProfilePlan, Profiles};

/// Labelled rows, in memory or in a file that is read again for each question: an experiment keeps of
/// them only what it needs.
pub trait RowSource {
    /// What can go wrong.
    type Error: From<Error>;

    /// How many rows there are.
    fn rows(&self) -> usize;

    /// The profiles of some rows, which are given in ascending order.
    fn profiles(&mut self, plan: &ProfilePlan, rows: &[usize]) -> Result<Profiles, Self::Error>;

    /// The confidences of some estimators on all rows, and the losses.
    fn confidences(
        &mut self,
        estimators: &[Estimator],
    ) -> Result<(Vec<Vec<f64>>, Losses), Self::Error>;

    /// The labels and predictions of all rows.
    fn answers(&mut self) -> Result<Answers, Self::Error>;
}

/// Rows in memory.
#[derive(Debug, Clone)]
pub struct InMemory<'a> {
    logits: &'a Logits<'a>,
    labels: &'a Labels,
    losses: Losses,
}

impl<'a> InMemory<'a> {
    /// Rows under the 0/1 loss.
    pub fn new(logits: &'a Logits<'a>, labels: &'a Labels) -> Result<Self, Error> {
        Ok(InMemory { logits, labels, losses: Losses::zero_one(logits, labels)? })
    }
}

impl RowSource for InMemory<'_> {
    type Error = Error;

    fn rows(&self) -> usize {
        self.logits.rows()
    }

    fn profiles(&mut self, plan: &ProfilePlan, rows: &[usize]) -> Result<Profiles, Error> {
        let mut profiles = Profiles::empty(self.logits.classes(), plan);
        let (logits, labels) = (self.logits.select(rows), self.labels.select(rows));
        profiles.push(&logits, &labels, &self.losses.select(rows))?;
        Ok(profiles)
    }

    fn confidences(&mut self, estimators: &[Estimator]) -> Result<(Vec<Vec<f64>>, Losses), Error> {
        Ok((Estimator::confidences_of(estimators, self.logits), self.losses.clone()))
    }

    fn answers(&mut self) -> Result<Answers, Error> {
        Ok(Answers { labels: self.labels.clone(), predictions: self.logits.predictions() })
    }
}
