//! What the commands on zoos share: arguments, progress, and words for what is wrong.

use crate::failure::hinted;
use crate::options::share;
use crate::progress::Progress;
use abstain::{Fallback, Space};
use abstain_lab::{DEFAULT_DELTA, Holdout};
use abstain_paper::measure::ModelStep;
use abstain_paper::study::Unsuited;
use abstain_paper::study::published::published_models;
use abstain_paper::{BenchRequest, PaperError, Protocol, Written, Zoo};
use anyhow::Result;
use clap::builder::PossibleValuesParser;
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug, Clone)]
pub(crate) struct ZooArguments {
    /// Only these models, by name, comma-separated
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    models: Vec<String>,
    /// Number of random splits, the same for all models
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    splits: u32,
    /// Tuning rows, as a share or a number [default: half of the rows, at most 5000]
    #[arg(long, value_name = "ROWS")]
    holdout: Option<Holdout>,
    /// Smaller hold-outs to measure as well, as comma-separated numbers of rows; 0 for none
    #[arg(long, value_name = "ROWS", value_delimiter = ',', default_value = "1000,500")]
    smaller: Vec<usize>,
    /// Search space: standard, paper, published-code or fine
    #[arg(long, value_name = "SPACE", default_value = "standard", value_parser = PossibleValuesParser::new(Space::NAMES), hide_possible_values = true)]
    space: String,
    /// When a method falls back to MSP: none, paper, standard-errors=1, cross-validation=5
    #[arg(long, value_name = "RULE", default_value_t = Fallback::Paper)]
    fallback: Fallback,
    /// Gains in NAURC up to this count as none in averages
    #[arg(long, value_name = "E", default_value_t = 0.01, value_parser = gain)]
    epsilon: f64,
    /// Selective accuracy at which coverages are measured
    #[arg(long = "target-accuracy", alias = "accuracy", value_name = "A", default_value_t = 0.98, value_parser = share)]
    accuracy: f64,
    /// Show certified coverages instead of those measured on the test rows
    #[arg(long)]
    certified: bool,
    /// Probability with which a certified coverage may fail
    #[arg(long, value_name = "D", default_value_t = DEFAULT_DELTA, value_parser = share, requires = "certified")]
    delta: f64,
    /// Seed of all random numbers: splits, folds, replicates
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of bootstrap replicates for standard errors
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    replicates: u32,
}

/// A number from 0 to 1.
fn gain(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("a number from 0 to 1".into()),
    }
}

impl ZooArguments {
    pub(crate) fn request(&self, output: Option<PathBuf>) -> Result<BenchRequest> {
        let mut protocol = Protocol::default().with_space(self.space.parse()?);
        protocol.tuner.fallback = self.fallback;
        protocol.tuner.seed = self.seed;
        protocol.splits = self.splits as usize;
        protocol.holdout = self.holdout.unwrap_or_default();
        protocol.smaller.clone_from(&self.smaller);
        protocol.accuracy = self.accuracy;
        protocol.delta = self.delta;
        protocol.replicates = self.replicates as usize;
        let mut request = BenchRequest::new(protocol);
        request.models.clone_from(&self.models);
        request.epsilon = self.epsilon;
        request.certified = self.certified;
        request.output = output;
        Ok(request)
    }
}

pub(crate) fn open(path: &Path) -> Result<Zoo> {
    Zoo::open(path).map_err(|error| hinted(error.to_string(), "docs/zoo.md describes zoos"))
}

/// A bar over all models.
pub(crate) struct ModelProgress(Progress);

impl ModelProgress {
    pub(crate) fn new(quiet: bool) -> Self {
        ModelProgress(Progress::of_shares("measuring", quiet))
    }

    pub(crate) fn at(&self, step: ModelStep<'_>) {
        let (done, all) = step.done();
        self.0.now(step.to_string());
        self.0.of(done as u64, all as u64);
    }
}

/// An error in terms of the program's options.
pub(crate) fn failed(zoo: &Path, error: PaperError) -> anyhow::Error {
    let hint = match &error {
        PaperError::UnknownModel { known, .. } => format!("there are {}", known.join(", ")),
        PaperError::TooFewRows => "--holdout takes a share such as 0.1, or a number of rows".into(),
        PaperError::ForeignPage { .. } => "choose another folder with --output".into(),
        PaperError::Unsuited(problem) => {
            return hinted(format!("{}: {problem}", zoo.display()), suited_by(*problem));
        }
        _ => {
            return match error {
                PaperError::Lab(error) => error.into(),
                other => other.into(),
            };
        }
    };
    hinted(error.to_string(), hint)
}

/// What a study needs that has nothing to show.
fn suited_by(problem: Unsuited) -> String {
    match problem {
        Unsuited::NoFurtherSets => "docs/zoo.md describes how a manifest names them".into(),
        Unsuited::NoPublishedModel => {
            let names: Vec<String> = published_models()
                .iter()
                .map(|model| format!("{} ({})", model.title, model.names.join(", ")))
                .collect();
            format!("there are those of {}, on the 1,000 classes of ImageNet", names.join("; "))
        }
    }
}

/// "14 files in results".
pub(crate) fn files_in(written: &Written) -> String {
    let folder = written.page.parent().unwrap_or(Path::new("."));
    format!("{} files in {}", written.files, folder.display())
}

/// Where results go.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Output")]
pub(crate) struct ResultArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress and no notes
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
