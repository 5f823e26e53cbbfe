//! `abstain.bench` and `abstain.study`.

use crate::errors::Failure;
use crate::page;
use crate::tuning::holdout;
use crate::work::{Progress, work};
use abstain_paper::measure::ModelStep;
use abstain_paper::{BenchRequest, PaperError, Protocol, StudyRequest, Zoo};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// The keywords that both functions have.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    output: Option<PathBuf>,
    models: Vec<String>,
    splits: usize,
    holdout: Option<String>,
    smaller: Vec<usize>,
    space: String,
    fallback: String,
    epsilon: f64,
    target_accuracy: f64,
    certified: bool,
    delta: f64,
    seed: u64,
    replicates: usize,
}

impl Options {
    fn request(self) -> Result<BenchRequest, Failure> {
        let mut protocol = Protocol::default().with_space(self.space.parse()?);
        protocol.tuner.fallback = self.fallback.parse()?;
        protocol.tuner.seed = self.seed;
        protocol.splits = self.splits;
        if let Some(text) = &self.holdout {
            protocol.holdout = holdout(text)?;
        }
        protocol.smaller = self.smaller;
        protocol.accuracy = self.target_accuracy;
        protocol.delta = self.delta;
        protocol.replicates = self.replicates;
        let mut request = BenchRequest::new(protocol);
        request.output = self.output;
        request.models = self.models;
        request.epsilon = self.epsilon;
        request.certified = self.certified;
        Ok(request)
    }
}

impl From<PaperError> for Failure {
    fn from(error: PaperError) -> Self {
        match error {
            PaperError::Lab(error) => error.into(),
            PaperError::UnknownModel { ref known, .. } => {
                Failure::Input(format!("{error}; there are {}", known.join(", ")))
            }
            other => Failure::Input(other.to_string()),
        }
    }
}

fn open(path: &Path) -> Result<Zoo, Failure> {
    Zoo::open(path).map_err(|error| Failure::Input(error.to_string()))
}

/// Reports the progress of a bench.
fn on_step(progress: &Progress) -> impl FnMut(ModelStep<'_>) {
    |step| {
        let (done, all) = step.done();
        progress.at(done, all, &step.to_string());
    }
}

/// An overview of a zoo: what `abstain bench --json` prints.
#[pyfunction]
pub(crate) fn bench(
    py: Python<'_>,
    zoo: PathBuf,
    options: Options,
    page: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let request = options.request()?;
    let answer = work(py, progress, |progress| {
        let answer = abstain_paper::bench(&open(&zoo)?, &request, &mut on_step(progress))?;
        if let Some(path) = page {
            let html = answer.page(page::provenance());
            page::write(&path, &html.map_err(|error| Failure::Input(error.to_string()))?)?;
        }
        Ok(answer)
    })?;
    page::json(&answer)
}

/// Studies of a zoo: what `abstain study --json` prints.
#[pyfunction]
pub(crate) fn study(
    py: Python<'_>,
    name: String,
    zoo: PathBuf,
    options: Options,
    show: Vec<String>,
    realisations: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut request = StudyRequest::new(name.parse().map_err(Failure::from)?, options.request()?);
    request.show = show;
    request.bench.protocol.realisations = realisations;
    let answer = work(py, progress, |progress| {
        Ok(abstain_paper::study(&open(&zoo)?, &request, &mut on_step(progress))?)
    })?;
    page::json(&answer)
}
