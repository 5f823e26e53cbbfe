//! Rows without labels: the label-free rule, and the rows of a deployment.

use super::request::TuneRequest;
use crate::error::LabError;
use abstain::family::stack::{Anchored, Deployment, StackRecipe};
use abstain::{
    Artifact, Encoding, Error, Logits, Method, RowSource,
    artifact::Tuning,
    internal::{ProfilePlan, Profiles},
};
use abstain_io::Fingerprint;
use serde::Serialize;

/// Unlabelled rows, of which a bounded number is kept: every row, then every second, every fourth and so
/// on, so that those kept are spread over all of them.
pub struct Unlabelled {
    profiles: Profiles,
    max_rows: usize,
    rows: usize,
    stride: usize,
    fingerprint: Fingerprint,
}

/// What can be done without labels.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct LabelFreeResult {
    /// The label-free rule, without a threshold.
    pub artifact: Artifact,
    /// The number of classes.
    pub classes: usize,
    /// The rows that were read.
    pub rows: usize,
}

impl Unlabelled {
    /// No rows yet.
    pub fn new(classes: usize, max_rows: usize) -> Self {
        let plan = ProfilePlan::of(&Anchored::scores()).without_exponentials();
        let (profiles, fingerprint) = (Profiles::empty(classes, &plan), Fingerprint::default());
        Unlabelled { profiles, max_rows: max_rows.max(1), rows: 0, stride: 1, fingerprint }
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.profiles.classes()
    }

    /// The rows of a source, which need no labels.
    pub fn read(source: &mut dyn RowSource, max_rows: usize) -> Result<Self, LabError> {
        let mut rows = Unlabelled::new(source.classes(), max_rows);
        source.pass(&mut |chunk| rows.push(chunk.logits))?;
        Ok(rows)
    }

    /// Adds the next rows.
    pub fn push(&mut self, logits: &Logits<'_>) -> Result<(), Error> {
        self.fingerprint.update(logits, None);
        let first = self.rows;
        let kept: Vec<usize> =
            (0..logits.rows()).filter(|row| (first + row).is_multiple_of(self.stride)).collect();
        self.rows += logits.rows();
        if !kept.is_empty() {
            self.profiles.push_unlabelled(&logits.select(&kept))?;
        }
        while self.profiles.rows() > self.max_rows {
            let every_second: Vec<usize> = (0..self.profiles.rows()).step_by(2).collect();
            self.profiles = self.profiles.select(&every_second);
            self.stride *= 2;
        }
        Ok(())
    }

    /// The label-free rule of these rows.
    pub fn label_free(self, encoding: Encoding) -> Result<LabelFreeResult, LabError> {
        if self.rows == 0 {
            return Err(Error::NoRows.into());
        }
        let request = TuneRequest::default();
        let (rows, classes) = (self.rows, self.profiles.classes());
        let mut artifact = Artifact::new(Anchored::label_free(&self.profiles)?);
        artifact.classes = Some(classes);
        artifact.input = encoding;
        artifact.tuning = Some(Tuning {
            method: Method::LabelFree,
            fell_back: artifact.estimator.method() != Method::LabelFree,
            objective: request.tuner.objective,
            value: None,
            baseline: None,
            loss: abstain::Loss::ZeroOne.to_string(),
            space: request.tuner.space.name().to_string(),
            fallback: request.tuner.fallback,
            seed: request.tuner.seed,
            rows: self.profiles.rows(),
            data: Some(self.fingerprint.without_labels()),
            unlabelled: None,
            sketch: None,
            rounded: None,
            scale: None,
            measured: None,
            pilot: None,
        });
        Ok(LabelFreeResult { artifact, classes, rows })
    }

    /// The rows as those of the deployment of a classifier with so many classes.
    pub fn deployment(self, classes: usize) -> Result<StackRecipe, LabError> {
        if self.rows == 0 {
            return Err(Error::NoRows.into());
        }
        let (found, expected) = (self.classes(), classes);
        if found != expected {
            return Err(LabError::OtherRowClasses { found, expected });
        }
        let fingerprint = Some(self.fingerprint.without_labels());
        let deployment = Some(Deployment::new(self.profiles, fingerprint));
        Ok(StackRecipe::Anchored { deployment, extra: false })
    }
}
