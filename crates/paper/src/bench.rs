//! An overview of a zoo.

use crate::measure::{ModelStep, Runner};
use crate::study::methods::MethodsStudy;
use crate::study::scatter::ScatterStudy;
use crate::study::summary::Summary;
use crate::study::{About, Context, Presentation, Study};
use crate::{PaperError, Protocol, Written, Zoo, folder, page};
use abstain::Error;
use abstain_report::page::{Detail, PageError};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The page of results in the folder.
const PAGE: &str = "bench.md";

/// How the models of a zoo are measured and compared, and where the results go.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BenchRequest {
    /// Only these models, by name; all of them if there are none.
    pub models: Vec<String>,
    /// How they are measured.
    pub protocol: Protocol,
    /// Gains in NAURC up to this count as none in averages.
    pub epsilon: f64,
    /// Whether certified coverages are shown instead of those measured on the test rows.
    pub certified: bool,
    /// The folder for tables and for records of finished work; nothing is written without one.
    pub output: Option<PathBuf>,
}

impl Default for BenchRequest {
    fn default() -> Self {
        BenchRequest::new(Protocol::default())
    }
}

impl BenchRequest {
    /// All models by a protocol, with the paper's ε of 0.01.
    pub fn new(protocol: Protocol) -> Self {
        BenchRequest { models: Vec::new(), protocol, epsilon: 0.01, certified: false, output: None }
    }

    /// The page of results, if there is to be one.
    pub fn page(&self) -> Option<PathBuf> {
        self.output.as_ref().map(|folder| folder.join(PAGE))
    }

    /// Checks the numbers.
    pub fn check(&self) -> Result<(), PaperError> {
        let Protocol { splits, delta, realisations, replicates, .. } = self.protocol;
        let delta_is_valid = delta > 0.0 && delta < 1.0;
        let epsilon_is_valid = (0.0..=1.0).contains(&self.epsilon);
        let all = [
            ("splits", splits as f64, splits >= 1, "at least 1"),
            ("realisations", realisations as f64, realisations >= 1, "at least 1"),
            ("replicates", replicates as f64, replicates >= 2, "at least 2"),
            ("delta", delta, delta_is_valid, "between 0 and 1, both excluded"),
            ("epsilon", self.epsilon, epsilon_is_valid, "from 0 to 1"),
        ];
        if let Some(&(name, value, _, wanted)) = all.iter().find(|(_, _, valid, _)| !valid) {
            return Err(Error::Parameter { name, value, wanted }.into());
        }
        Ok(self.protocol.target().check()?)
    }

    /// The requested models of a zoo.
    pub(crate) fn zoo<'a>(&self, zoo: &'a Zoo) -> Result<Cow<'a, Zoo>, PaperError> {
        if self.models.is_empty() {
            return Ok(Cow::Borrowed(zoo));
        }
        check_models(zoo, &self.models)?;
        let only = zoo.clone().only(&self.models);
        only.map(Cow::Owned).map_err(|name| unknown_model(zoo, name))
    }

    /// The protocol with each size of the hold-out once.
    pub(crate) fn protocol(&self) -> Protocol {
        let mut seen = HashSet::new();
        let smaller = self.protocol.smaller.iter().copied().filter(|size| seen.insert(*size));
        Protocol { smaller: smaller.collect(), ..self.protocol.clone() }
    }

    pub(crate) fn folder(&self) -> Option<&Path> {
        self.output.as_deref()
    }
}

/// Checks names of models.
pub(crate) fn check_models(zoo: &Zoo, names: &[String]) -> Result<(), PaperError> {
    zoo.find_all(names).map_err(|name| unknown_model(zoo, name))
}

fn unknown_model(zoo: &Zoo, name: String) -> PaperError {
    let known = zoo.models.iter().map(|model| model.name.clone()).collect();
    PaperError::UnknownModel { name, known }
}

/// An overview of a zoo. Its JSON is that of the summary.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BenchAnswer {
    /// The models in a line each, and the gain of every method.
    pub summary: Summary,
    /// What was written, if there is a folder.
    pub written: Option<Written>,
    pub(crate) scatter: ScatterStudy,
    pub(crate) methods: MethodsStudy,
    pub(crate) shown: Presentation,
    pub(crate) about: About,
    /// The name of each model, and the SHA-256 of its rows and labels.
    pub(crate) rows: Vec<(String, String)>,
}

impl Serialize for BenchAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.shown.json.serialize(serializer)
    }
}

impl BenchAnswer {
    /// The remarks and tables, with the styles of a terminal.
    pub fn text(&self) -> String {
        self.shown.content.text()
    }

    /// The same as an HTML page; `provenance` is what only the caller knows.
    pub fn page(&self, provenance: Vec<Detail>) -> Result<String, PageError> {
        page::zoo(self, provenance)
    }
}

/// Measures the models of a zoo, or takes what records have of them, and summarises the results.
pub fn bench(
    zoo: &Zoo,
    request: &BenchRequest,
    on_progress: &mut dyn FnMut(ModelStep<'_>),
) -> Result<BenchAnswer, PaperError> {
    request.check()?;
    let (zoo, protocol) = (request.zoo(zoo)?, request.protocol());
    let runner = Runner::new(&zoo, &protocol, request.folder())?;
    if let Some(folder) = request.folder() {
        folder::check(folder, PAGE)?;
    }
    let mut results = runner.run(&[], &[], on_progress)?;
    // The overview shows no model individually.
    results.chosen.clear();
    let (epsilon, certified) = (request.epsilon, request.certified);
    let context = Context { zoo: &zoo, protocol: &protocol, results: &results, epsilon, certified };
    let summary = Summary::new(&context)?;
    let about = About::new(&context, false);
    let shown = Presentation::new(&summary, &about)?;
    let write = |folder| folder::write(folder, PAGE, std::slice::from_ref(&shown), &about);
    Ok(BenchAnswer {
        written: request.folder().map(write).transpose()?,
        scatter: ScatterStudy::new(&context)?,
        methods: MethodsStudy::new(&context)?,
        rows: results
            .models
            .iter()
            .map(|results| (results.model.name.clone(), results.fingerprint.clone()))
            .collect(),
        summary,
        shown,
        about,
    })
}
