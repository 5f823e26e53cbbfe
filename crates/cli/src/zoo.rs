//! What the commands on zoos share: the arguments, the run, and the folder of results.

use crate::failure::hinted;
use crate::options::share;
use crate::progress::Progress;
use abstain::{Fallback, Space};
use abstain_io::{AtomicFile, ErrorKind};
use abstain_lab::measure::Part;
use abstain_lab::study::Context;
use abstain_lab::{Activity, Bench, BenchResult, BenchStep, DEFAULT_DELTA, Holdout, Protocol, Zoo};
use abstain_report::study::{About, Content, Presentation};
use anyhow::Result;
use clap::builder::PossibleValuesParser;
use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

/// The first line of a page, by which it is recognised before it is replaced.
const MARK: &str = "<!-- Written by abstain. -->";

/// Steps of a progress bar that a model takes.
const STEPS_A_MODEL: u64 = 1000;

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

/// The sizes without repetitions, in their order.
fn distinct(sizes: &[usize]) -> Vec<usize> {
    let mut seen = HashSet::new();
    sizes.iter().copied().filter(|size| seen.insert(*size)).collect()
}

/// A number from 0 to 1.
fn gain(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("a number from 0 to 1".into()),
    }
}

impl ZooArguments {
    pub(crate) fn zoo(&self, path: &Path) -> Result<Zoo> {
        let zoo = Zoo::open(path)
            .map_err(|error| hinted(error.to_string(), "docs/zoo.md describes zoos"))?;
        if self.models.is_empty() {
            return Ok(zoo);
        }
        let known = names(&zoo);
        zoo.only(&self.models).map_err(|name| unknown_model(&name, &known))
    }

    pub(crate) fn protocol(&self, realisations: usize) -> Result<Protocol> {
        let mut protocol = Protocol::default();
        let gammas = protocol.tuner.space.gammas.clone();
        protocol.tuner.space = Space { gammas, ..self.space.parse()? };
        protocol.tuner.fallback = self.fallback;
        protocol.tuner.seed = self.seed;
        Ok(Protocol {
            splits: self.splits as usize,
            holdout: self.holdout.unwrap_or_default(),
            smaller: distinct(&self.smaller),
            accuracy: self.accuracy,
            delta: self.delta,
            realisations,
            replicates: self.replicates as usize,
            ..protocol
        })
    }

    pub(crate) fn context<'a>(
        &self,
        zoo: &'a Zoo,
        protocol: &'a Protocol,
        results: &'a BenchResult,
    ) -> Context<'a> {
        let (epsilon, certified) = (self.epsilon, self.certified);
        Context { zoo, protocol, results, epsilon, certified }
    }
}

fn names(zoo: &Zoo) -> String {
    zoo.models.iter().map(|model| &model.name[..]).collect::<Vec<_>>().join(", ")
}

fn unknown_model(name: &str, known: &str) -> anyhow::Error {
    hinted(format!("no model is called '{name}'"), format!("there are {known}"))
}

/// Checks the names of models to show.
pub(crate) fn check_models(zoo: &Zoo, show: &[String]) -> Result<()> {
    zoo.find_all(show).map_err(|name| unknown_model(&name, &names(zoo)))
}

/// What all captions state. `requested` is whether the user chose the models to show.
pub(crate) fn about(context: &Context<'_>, how: &ZooArguments, requested: bool) -> About {
    let Context { zoo, protocol, results, .. } = *context;
    let tuning_rows = protocol.sizes(zoo.rows())[0];
    About {
        epsilon: context.epsilon,
        falls_back: how.fallback != Fallback::None,
        chosen: results.chosen.clone(),
        requested,
        settings: format!(
            "Search space: {} (γ in steps of ½); fallback: {}; seed: {}",
            how.space, how.fallback, how.seed
        ),
        zoo: zoo.title.clone(),
        models: zoo.models.len(),
        splits: protocol.splits,
        tuning_rows,
        test_rows: zoo.rows() - tuning_rows,
    }
}

/// A bar over all models.
struct ModelProgress(Progress);

impl ModelProgress {
    fn new(quiet: bool) -> Self {
        ModelProgress(Progress::of_shares("measuring", quiet))
    }

    fn at(&self, step: BenchStep<'_>) {
        let what = match step.activity {
            Activity::Reading(_) => "reading",
            Activity::Measuring(Part::Methods) => "tuning",
            Activity::Measuring(Part::Centring) => "centring",
            Activity::Measuring(Part::Shift) => "on further sets",
            Activity::Measuring(Part::Closeup) => "a closer look",
        };
        let number = format!("{} of {}", step.index + 1, step.models);
        self.0.now(format!("model {number}, {}: {what}", step.model.name));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a step")]
        let done = (step.share.clamp(0.0, 1.0) * STEPS_A_MODEL as f64) as u64;
        self.0.of(step.index as u64 * STEPS_A_MODEL + done, step.models as u64 * STEPS_A_MODEL);
    }
}

/// Measures every model, with a progress bar.
pub(crate) fn measure(
    bench: &Bench<'_>,
    parts: &[Part],
    show: &[String],
    quiet: bool,
) -> Result<BenchResult> {
    let progress = ModelProgress::new(quiet);
    bench.run(parts, show, &mut |step| progress.at(step)).map_err(hint)
}

/// Adds a hint to an error about the hold-out.
pub(crate) fn hint(error: abstain_lab::LabError) -> anyhow::Error {
    match error {
        abstain_lab::LabError::TooFewRows => {
            hinted(error.to_string(), "--holdout takes a share such as 0.1, or a number of rows")
        }
        other => other.into(),
    }
}

/// Writes studies into a folder: tables, figures, the numbers, and a page with all of them.
pub(crate) fn write(
    folder: &Path,
    page: &str,
    studies: &[Presentation],
    about: &About,
) -> Result<usize> {
    let mut written = 0;
    let mut file = |name: String, bytes: &[u8]| -> Result<()> {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            folder_at(parent)?;
        }
        AtomicFile::write_whole(&path, bytes)?;
        written += 1;
        Ok(())
    };
    for study in studies {
        for sheet in &study.content.sheets {
            let name = &sheet.name;
            file(format!("tables/{name}.md"), sheet.markdown().as_bytes())?;
            file(format!("tables/{name}.csv"), sheet.csv()?.as_bytes())?;
            file(format!("tables/{name}.tex"), sheet.latex().as_bytes())?;
        }
        for figure in &study.content.figures {
            file(format!("figures/{}.svg", figure.name), figure.svg()?.as_bytes())?;
            file(format!("figures/{}.png", figure.name), &figure.png(2.0)?)?;
        }
        let mut text = serde_json::to_string_pretty(&study.json)?;
        text.push('\n');
        file(format!("json/{}.json", study.name), text.as_bytes())?;
    }
    let index = abstain_report::study::index(studies, about);
    file(page.into(), format!("{MARK}\n\n{index}").as_bytes())?;
    Ok(written)
}

/// Prints the remarks and tables of a study.
pub(crate) fn print(content: &Content, out: &mut impl Write) -> Result<()> {
    for remark in &content.remarks {
        writeln!(out, "{remark}\n")?;
    }
    for sheet in &content.sheets {
        writeln!(out, "{}", sheet.terminal(None, true))?;
    }
    Ok(())
}

/// Creates a folder unless it exists.
pub(crate) fn folder_at(folder: &Path) -> Result<()> {
    Ok(std::fs::create_dir_all(folder).map_err(|error| ErrorKind::from(error).of(folder))?)
}

/// Checks that a folder can be written to and that its page replaces no foreign file, before any work is
/// done.
pub(crate) fn check_folder(folder: &Path, page: &str) -> Result<()> {
    folder_at(folder)?;
    let page = folder.join(page);
    if let Ok(text) = std::fs::read(&page)
        && !text.starts_with(MARK.as_bytes())
    {
        let problem = format!("{}: the page of results would replace this file", page.display());
        return Err(hinted(problem, "choose another folder with --output"));
    }
    let probe = folder.join(".abstain-probe");
    AtomicFile::create(&probe)?;
    Ok(())
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
