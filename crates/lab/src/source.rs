//! Where an experiment gets its rows from.

use crate::picture::Answers;
use abstain::{Error, Estimator, Labels, Logits, Losses, ProfilePlan, Profiles, stop};

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

/// Rows that are worked on between two looks at whether to go on.
const ROWS_AT_ONCE: usize = 4096;

/// Rows in memory.
#[derive(Clone)]
pub struct InMemory<'a> {
    logits: &'a Logits<'a>,
    labels: &'a Labels,
    losses: Losses,
    told: &'a dyn Fn(usize, usize),
}

impl<'a> InMemory<'a> {
    /// Rows under the 0/1 loss.
    pub fn new(logits: &'a Logits<'a>, labels: &'a Labels) -> Result<Self, Error> {
        Ok(InMemory { logits, labels, losses: Losses::zero_one(logits, labels)?, told: &|_, _| {} })
    }

    /// Rows under losses of their own.
    pub fn with_losses(
        logits: &'a Logits<'a>,
        labels: &'a Labels,
        losses: Losses,
    ) -> Result<Self, Error> {
        let expected = logits.rows();
        for (what, found) in [("labels", labels.len()), ("losses", losses.values().len())] {
            if found != expected {
                return Err(Error::Length { what, found, expected });
            }
        }
        Ok(InMemory { logits, labels, losses, told: &|_, _| {} })
    }

    /// Tells a function how many rows of a pass are done, and how many there are.
    #[must_use]
    pub fn telling(self, told: &'a dyn Fn(usize, usize)) -> Self {
        InMemory { told, ..self }
    }

    /// The rows a piece at a time.
    fn pieces(&self) -> impl Iterator<Item = Result<Logits<'_>, Error>> {
        let rows = self.logits.rows();
        (0..rows).step_by(ROWS_AT_ONCE).map(move |first| {
            stop::check()?;
            Ok(self.logits.part(first..(first + ROWS_AT_ONCE).min(rows)))
        })
    }
}

impl RowSource for InMemory<'_> {
    type Error = Error;

    fn rows(&self) -> usize {
        self.logits.rows()
    }

    fn profiles(&mut self, plan: &ProfilePlan, rows: &[usize]) -> Result<Profiles, Error> {
        let mut profiles = Profiles::empty(self.logits.classes(), plan);
        profiles.reserve(rows.len());
        let all = rows.len();
        for rows in rows.chunks(ROWS_AT_ONCE) {
            stop::check()?;
            (self.told)(profiles.rows(), all);
            let (labels, losses) = (self.labels.select(rows), self.losses.select(rows));
            // Rows that follow each other, as all of them do, need no copy of their logits.
            match (rows.first(), rows.last()) {
                (Some(&first), Some(&last)) if last - first + 1 == rows.len() => {
                    profiles.push(&self.logits.part(first..last + 1), &labels, &losses)?;
                }
                _ => profiles.push(&self.logits.select(rows), &labels, &losses)?,
            }
        }
        Ok(profiles)
    }

    fn confidences(&mut self, estimators: &[Estimator]) -> Result<(Vec<Vec<f64>>, Losses), Error> {
        let mut columns = vec![Vec::new(); estimators.len()];
        for piece in self.pieces() {
            let own = Estimator::confidences_of(estimators, &piece?);
            for (column, own) in columns.iter_mut().zip(own) {
                column.extend(own);
            }
        }
        Ok((columns, self.losses.clone()))
    }

    fn answers(&mut self) -> Result<Answers, Error> {
        let mut predictions = Vec::new();
        for piece in self.pieces() {
            predictions.extend(piece?.predictions());
        }
        Ok(Answers { labels: self.labels.clone(), predictions })
    }
}
