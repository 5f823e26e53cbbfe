//! What a pass over a row source collects: everything that is needed, in one reading.

use crate::error::LabError;
use abstain::{
    Chunk, Error, Estimator, Influences, Labels, Losses, ProfilePlan, Profiles, RowFacts,
    RowSketch, RowSource, Weighing,
};
use abstain_io::{Fingerprint, classes_of_answers};

/// Rows of a source.
#[derive(Debug, Clone, Copy, Default)]
pub enum Select<'a> {
    /// All of them.
    #[default]
    All,
    /// These, in ascending order.
    Rows(&'a [usize]),
}

/// What a pass collects.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The profiles of some rows.
    pub profiles: Option<(&'a ProfilePlan, Select<'a>)>,
    /// The confidences of some estimators on some rows, with their losses.
    pub confidences: Option<(&'a [Estimator], Select<'a>)>,
    /// The weight of each logit over all rows.
    pub influences: &'a [Weighing],
    /// The negative log-likelihood of the labels under some estimators, over all rows.
    pub nll: &'a [Estimator],
    /// The predictions of all rows.
    pub predictions: bool,
    /// The SHA-256 of all rows and labels, and what else recognises rows: their facts, and the sketches
    /// of all rows and of those with profiles.
    pub fingerprint: bool,
}

/// What a pass collected.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    /// The profiles.
    pub profiles: Option<Profiles>,
    /// The confidences of each estimator.
    pub confidences: Vec<Vec<f64>>,
    /// The losses of the rows that have confidences.
    pub losses: Vec<f64>,
    /// The geometric mean of the weights of each logit, for each weighing.
    pub influences: Vec<Vec<f64>>,
    /// The mean negative log-likelihood under each estimator that has one.
    pub nll: Vec<Option<f64>>,
    /// The predictions.
    pub predictions: Vec<usize>,
    /// The SHA-256.
    pub fingerprint: Option<String>,
    /// That of the rows without their labels.
    pub fingerprint_of_rows: Option<String>,
    /// What the rows look like.
    pub facts: RowFacts,
    /// A sample of all rows, by which they are recognised.
    pub sketch: RowSketch,
    /// The same of the rows that have profiles.
    pub sketch_of_profiles: RowSketch,
}

impl Collected {
    /// The confidences and the losses of the rows that have them.
    pub fn into_confidences(self) -> Result<(Vec<Vec<f64>>, Losses), Error> {
        Ok((self.confidences, Losses::new(self.losses)?))
    }
}

/// The labels and predictions of all rows of a source.
#[derive(Debug, Clone)]
pub struct Answers {
    /// The labels.
    pub labels: Labels,
    /// The predicted classes.
    pub predictions: Vec<usize>,
}

impl Answers {
    /// Predictions and labels that are names, and the names of the classes: those that occur, in the order
    /// of their numbers if they are numbers, else sorted.
    pub fn of_names(
        predictions: &[String],
        labels: &[String],
    ) -> Result<(Self, Vec<String>), Error> {
        let (predictions, numbers, names) = classes_of_answers(predictions, labels);
        let labels = Labels::new(&numbers, names.len().max(2))?;
        Ok((Answers { labels, predictions }, names))
    }

    /// One more than the largest class that occurs.
    pub(crate) fn classes_seen(&self) -> usize {
        let labels = self.labels.values().iter().map(|&label| label as usize);
        labels.chain(self.predictions.iter().copied()).max().map_or(0, |largest| largest + 1)
    }
}

/// Rows of a chunk whose facts are collected.
const ROWS_LOOKED_AT: usize = 256;

/// Reads a source once and collects what is wanted.
pub fn collect<S: RowSource>(source: &mut S, wanted: &Wanted<'_>) -> Result<Collected, LabError>
where
    LabError: From<S::Error>,
{
    let mut collected = Collected::default();
    let mut fingerprint = wanted.fingerprint.then(Fingerprint::default);
    let mut profiled = Cursor::default();
    if let Some((plan, rows)) = wanted.profiles {
        let mut profiles = Profiles::empty(source.classes(), plan);
        profiles.reserve(rows.count(source.rows()));
        (collected.profiles, profiled) = (Some(profiles), Cursor::new(rows));
    }
    let (estimators, mut measured) = match wanted.confidences {
        Some((estimators, rows)) => {
            let rows_of_each = rows.count(source.rows());
            collected.confidences =
                estimators.iter().map(|_| Vec::with_capacity(rows_of_each)).collect();
            collected.losses.reserve_exact(rows_of_each);
            (estimators, Some(Cursor::new(rows)))
        }
        None => (&[][..], None),
    };
    if !source.has_extra() && estimators.iter().any(Estimator::needs_extra) {
        return Err(Error::ExtraMissing.into());
    }
    if wanted.predictions {
        collected.predictions.reserve_exact(source.rows());
    }
    let mut nll = vec![Some(0.0); wanted.nll.len()];
    let mut influences = Influences::new(wanted.influences, source.classes());
    source.pass(&mut |chunk| {
        let hash = || {
            if let Some(fingerprint) = &mut fingerprint {
                fingerprint.update(chunk.logits);
            }
        };
        let gather = || -> Result<(), Error> {
            if wanted.fingerprint {
                collected.facts.merge(RowFacts::of(chunk.logits, ROWS_LOOKED_AT));
                collected.sketch.extend(&chunk.logits.row_hashes());
            }
            if let Some(profiles) = &mut collected.profiles {
                let sketch = &mut collected.sketch_of_profiles;
                profiled.take(chunk, |part| {
                    if wanted.fingerprint {
                        sketch.extend(&part.logits.row_hashes());
                    }
                    profiles.push(part.logits, part.labels, part.losses)
                })?;
            }
            if let Some(measured) = &mut measured {
                measured.take(chunk, |part| {
                    let columns = Estimator::confidences_of(estimators, part.logits);
                    for (all, column) in collected.confidences.iter_mut().zip(columns) {
                        all.extend(column);
                    }
                    collected.losses.extend_from_slice(part.losses.values());
                    Ok(())
                })?;
            }
            for (sum, estimator) in nll.iter_mut().zip(wanted.nll) {
                let mean = estimator.nll(chunk.logits, chunk.labels).transpose().ok().flatten();
                *sum = sum.zip(mean).map(|(sum, mean)| sum + mean * chunk.logits.rows() as f64);
            }
            if !wanted.influences.is_empty() {
                influences.push(chunk.logits);
            }
            if wanted.predictions {
                collected.predictions.extend(chunk.logits.predictions());
            }
            Ok(())
        };
        // SHA-256 runs on one core; the rest of the work fills the others.
        rayon::join(hash, gather).1
    })?;
    let rows = source.rows() as f64;
    collected.nll = nll.into_iter().map(|sum| sum.map(|sum| sum / rows)).collect();
    collected.influences = influences.means();
    collected.fingerprint_of_rows = fingerprint.as_ref().map(Fingerprint::of_rows);
    collected.fingerprint = fingerprint.map(|fingerprint| fingerprint.finish(source.labels()));
    Ok(collected)
}

impl Select<'_> {
    fn count(self, all: usize) -> usize {
        match self {
            Select::All => all,
            Select::Rows(rows) => rows.len(),
        }
    }
}

/// The rows of a selection that chunks have not reached yet.
#[derive(Default)]
struct Cursor<'a> {
    rows: Select<'a>,
}

impl<'a> Cursor<'a> {
    fn new(rows: Select<'a>) -> Self {
        Cursor { rows }
    }

    /// Calls a function with the selected rows of a chunk, if there are any.
    fn take(
        &mut self,
        chunk: &Chunk<'_>,
        each: impl FnOnce(&Chunk<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Select::Rows(rows) = self.rows else { return each(chunk) };
        let (here, later) = rows.split_at(rows.partition_point(|&row| row < chunk.range().end));
        self.rows = Select::Rows(later);
        if here.len() == chunk.logits.rows() {
            // All rows of the chunk: nothing is copied.
            return each(chunk);
        }
        if here.is_empty() {
            return Ok(());
        }
        let local: Vec<usize> = here.iter().map(|&row| row - chunk.first).collect();
        let (labels, losses) = (chunk.labels.select(&local), chunk.losses.select(&local));
        let logits = &chunk.logits.select(&local);
        each(&Chunk { first: chunk.first, logits, labels: &labels, losses: &losses })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abstain::{Logits, MemoryRows};

    #[test]
    fn one_pass_collects_what_several_would() {
        let (rows, classes) = (50_000, 30);
        let values: Vec<f32> =
            (0..rows * classes).map(|i| (i * 7919 % 10007) as f32 / 1000.0).collect();
        let labels: Vec<usize> = (0..rows).map(|row| row * 31 % classes).collect();
        let logits = Logits::new(&values[..], classes).expect("valid");
        let labels = Labels::new(&labels, classes).expect("valid");
        let estimators: Vec<Estimator> =
            ["MSP", "MaxLogit-pNorm(p=3)"].map(|text| text.parse().expect("valid")).to_vec();
        let plan = ProfilePlan::of(&estimators);
        let third: Vec<usize> = (0..rows).filter(|row| row % 3 == 1).collect();
        let mut source = MemoryRows::zero_one(logits.clone(), labels.clone()).expect("valid");
        let collected = collect(
            &mut source,
            &Wanted {
                profiles: Some((&plan, Select::Rows(&third))),
                confidences: Some((&estimators, Select::Rows(&third))),
                predictions: true,
                fingerprint: true,
                ..Wanted::default()
            },
        )
        .expect("a pass");
        let profiles = collected.profiles.expect("profiles");
        assert_eq!(profiles.rows(), third.len());
        let expected = Estimator::confidences_of(&estimators, &logits.select(&third));
        assert_eq!(collected.confidences, expected);
        assert_eq!(profiles.confidences(&estimators[..1]).expect("recorded")[0], expected[0]);
        assert_eq!(collected.predictions, logits.predictions());
        let losses = Losses::zero_one(&logits, &labels).expect("valid").select(&third);
        assert_eq!(collected.losses, losses.values());
        let mut whole = Fingerprint::default();
        whole.update(&logits);
        assert_eq!(collected.fingerprint, Some(whole.finish(&labels)));
    }
}
