//! `abstain.bench` and `abstain.study`, and the manifest of `abstain.collect`.

use crate::errors::Failure;
use crate::page;
use crate::tuning::holdout;
use crate::work::{Progress, work};
use abstain::Encoding;
use abstain_io::zoo::{NewModel, NewSet, can_extend, extend};
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

/// A further set of a model: its name, the corruption with its severity, and whether its rows are those of
/// the zoo, changed.
type GivenSet = (String, Option<(String, u32)>, bool);

/// Adds a model to the manifest of a folder, with the sets that it was run on.
#[pyfunction]
pub(crate) fn extend_zoo(
    folder: PathBuf,
    title: &str,
    name: String,
    sets: Vec<GivenSet>,
) -> PyResult<()> {
    let set = |(set, corruption, aligned): GivenSet| NewSet {
        labels: (!aligned).then(|| format!("sets/{set}/labels.npy")),
        logits: format!("sets/{set}/{{model}}.npy"),
        name: set,
        corruption,
    };
    let model = NewModel {
        logits: format!("{name}.npy"),
        name,
        encoding: Encoding::default(),
        sets: sets.into_iter().map(set).collect(),
        replaces: false,
    };
    let extended = extend(&folder, title, "labels.npy", model);
    Ok(extended.map_err(|error| Failure::Input(error.to_string()))?)
}

/// Refuses a folder whose manifest is not one that models are added to.
#[pyfunction]
pub(crate) fn check_zoo(folder: PathBuf) -> PyResult<()> {
    Ok(can_extend(&folder).map_err(|error| Failure::Input(error.to_string()))?)
}
