//! Reading the rows of a zoo, some at a time.

use super::{FurtherSet, Kind, Model, Zoo};
use crate::LabError;
use abstain::{Estimator, Influences, Labels, Logits, Losses, ProfilePlan, Profiles, Weighing};
use abstain_io::{LogitsReader, ReadOptions, Source, hash_of_file};
use std::path::Path;

impl Zoo {
    /// The profiles of all rows of a model.
    pub(crate) fn profiles(&self, model: &Model, plan: &ProfilePlan) -> Result<Profiles, LabError> {
        let mut profiles = Profiles::empty(self.classes, plan);
        read(&model.logits, model.kind, &self.labels, |logits, labels| {
            let losses = Losses::zero_one(logits, labels)?;
            Ok(profiles.push(logits, labels, &losses)?)
        })?;
        Ok(profiles)
    }

    /// The geometric mean of `A_j / A_2` over all rows of a model.
    pub(crate) fn influences(
        &self,
        model: &Model,
        weighings: &[Weighing],
    ) -> Result<Vec<Vec<f64>>, LabError> {
        let mut influences = Influences::new(weighings, self.classes);
        read(&model.logits, model.kind, &self.labels, |logits, _| {
            influences.push(logits);
            Ok(())
        })?;
        Ok(influences.means())
    }

    /// What the files of a model are, as hashes of their bytes: of its logits and labels first, then
    /// of those of further sets if they are wanted.
    pub(crate) fn hashes(&self, model: &Model, sets: bool) -> Result<Vec<String>, LabError> {
        self.files_of(model, sets).into_iter().map(|path| Ok(hash_of_file(path)?)).collect()
    }

    fn files_of<'a>(&'a self, model: &'a Model, sets: bool) -> Vec<&'a Path> {
        let mut files: Vec<&Path> = vec![&self.labels_path, &model.logits];
        for set in self.sets.iter().filter(|set| sets && set.has(model)) {
            files.push(&set.labels_path);
            let own = set.files.iter().filter(|(name, _)| *name == model.name);
            files.extend(own.map(|(_, path)| path.as_path()));
        }
        files
    }

    /// Every file that it is read from, some more than once; not the manifest.
    pub fn files(&self) -> Vec<&Path> {
        self.models.iter().flat_map(|model| self.files_of(model, true)).collect()
    }
}

impl FurtherSet {
    /// The confidences of some estimators on the rows of a further set, and the losses there.
    pub(crate) fn confidences(
        &self,
        model: &Model,
        estimators: &[Estimator],
    ) -> Result<(Vec<Vec<f64>>, Losses), LabError> {
        let mut columns: Vec<Vec<f64>> =
            vec![Vec::with_capacity(self.labels.len()); estimators.len()];
        let mut all = Vec::with_capacity(self.labels.len());
        let path = self.files.iter().find(|(name, _)| *name == model.name).map(|(_, path)| path);
        let Some(path) = path else { return Err(abstain::Error::NoRows.into()) };
        read(path, model.kind, &self.labels, |logits, labels| {
            let chunk = Estimator::confidences_of(estimators, logits);
            columns.iter_mut().zip(chunk).for_each(|(column, own)| column.extend(own));
            all.extend_from_slice(Losses::zero_one(logits, labels)?.values());
            Ok(())
        })?;
        Ok((columns, Losses::new(all)?))
    }
}

/// Hands the rows of a file and their labels to a function, chunk by chunk.
fn read(
    path: &Path,
    kind: Kind,
    labels: &Labels,
    mut each: impl FnMut(&Logits<'_>, &Labels) -> Result<(), LabError>,
) -> Result<(), LabError> {
    // Probabilities are read twice, once for their floor.
    let source = Source::to_read_again(path)?;
    let options = ReadOptions { encoding: kind.encoding(), ..ReadOptions::default() };
    let mut reader = LogitsReader::open(&source, &options)?;
    let mut rows = 0;
    while let Some((first, logits)) = reader.next_chunk()? {
        rows = first + logits.rows();
        if rows > labels.len() {
            break;
        }
        each(&logits, &labels.part(first..rows))?;
    }
    if rows != labels.len() {
        // It was another file when the zoo was opened.
        return Err(LabError::Changed { path: path.to_path_buf() });
    }
    Ok(())
}
