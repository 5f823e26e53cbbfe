//! What commands on zoos have in common: the arguments, the run, and the folder of results.

use crate::failure::hinted;
use crate::progress::Progress;
use crate::options::share;
use abstain::{Fallback, Space};
use abstain_io::{AtomicFile, ErrorKind};
use abstain_lab::measure::Part;
use abstain_lab::study::Context;
use abstain_lab::{Bench, BenchStep, Holdout, ModelResults, Protocol, Zoo};
use abstain_report::study::{About, Shown};
use anyhow::Result;
use clap::builder::PossibleValuesParser;
use std::io::Write;
use std::path::Path;

/// The page with everything, and what its first line says, so that no one else's is replaced.
pub(crate) const PAGE: &str = "README.md";
const MARK: &str = "<!-- Written by abstain. -->";

/// Steps of a progress bar that a model takes.
const STEPS_A_MODEL: u64 = 1000;

#[derive(clap::Args, Debug, Clone)]
pub(crate) struct ZooArguments {
    /// Only these models, by name, with commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    models: Vec<String>,
    /// Random splits, the same for all models
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    splits: u32,
    /// Rows to tune on, as a share or a number [default: half of them, at most 5000]
    #[arg(long, value_name = "ROWS")]
    holdout: Option<Holdout>,
    /// Smaller hold-outs to try as well, as numbers of rows with commas; 0 for none
    #[arg(long, value_name = "ROWS", value_delimiter = ',', default_value = "1000,500")]
    smaller: Vec<usize>,
    /// The values to try: standard, paper, published-code or fine
    #[arg(long, value_name = "SPACE", default_value = "standard", value_parser = PossibleValuesParser::new(Space::NAMES), hide_possible_values = true)]
    space: String,
    /// When a tuned method is given up for MSP: none, paper, standard-errors=1, cross-validation=5
    #[arg(long, value_name = "RULE", default_value_t = Fallback::Paper)]
    fallback: Fallback,
    /// Gains in NAURC up to this count as none in averages
    #[arg(long, value_name = "E", default_value_t = 0.01, value_parser = gain)]
    epsilon: f64,
    /// The selective accuracy at which coverages are told
    #[arg(long, value_name = "A", default_value_t = 0.98, value_parser = share)]
    accuracy: f64,
    /// Tell coverages that can be certified, not those that the rows happen to show
    #[arg(long)]
    certified: bool,
    /// How often a certified coverage may fail
    #[arg(long, value_name = "D", default_value_t = 0.05, value_parser = share, requires = "certified")]
    delta: f64,
    /// The seed of everything random: splits, folds, replicates
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Replicates of the bootstrap that gives standard errors
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    replicates: u32,
}

/// Each once, in the order given.
pub(crate) fn distinct<T: PartialEq + Clone>(all: &[T]) -> Vec<T> {
    let mut out: Vec<T> = Vec::new();
    for own in all {
        if !out.contains(own) {
            out.push(own.clone());
        }
    }
    out
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
            .map_err(|error| hinted(error.to_string(), "docs/zoo.md says what a zoo is made of"))?;
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
        results: &'a [ModelResults],
        chosen: &'a [String],
    ) -> Context<'a> {
        let (epsilon, certified) = (self.epsilon, self.certified);
        Context { zoo, protocol, results, chosen, epsilon, certified }
    }
}

fn names(zoo: &Zoo) -> String {
    zoo.models.iter().map(|model| &model.name[..]).collect::<Vec<_>>().join(", ")
}

fn unknown_model(name: &str, known: &str) -> anyhow::Error {
    hinted(format!("no model is called '{name}'"), format!("there are {known}"))
}

/// Checks names of models that are to be shown.
pub(crate) fn check_models(zoo: &Zoo, wanted: &[String]) -> Result<()> {
    let has = |name: &String| zoo.models.iter().any(|model| model.name == *name);
    match wanted.iter().find(|name| !has(name)) {
        Some(name) => Err(unknown_model(name, &names(zoo))),
        None => Ok(()),
    }
}

/// What all captions say. `shown` are the models that are shown on their own, `asked` whether
/// someone chose them.
pub(crate) fn about(context: &Context<'_>, how: &ZooArguments, asked: bool) -> About {
    let Context { zoo, protocol, chosen, .. } = *context;
    let tuning_rows = protocol.sizes(zoo.rows())[0];
    let why = if asked { "as asked" } else { "the largest, the median and the smallest gain" };
    About {
        epsilon: context.epsilon,
        gives_up: how.fallback != Fallback::None,
        shown: match chosen.len() {
            0 => "No model is shown on its own".into(),
            _ => format!("Shown on their own: {} ({why})", chosen.join(", ")),
        },
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
pub(crate) struct ModelProgress(Progress);

impl ModelProgress {
    pub(crate) fn new(quiet: bool) -> Self {
        ModelProgress(Progress::of_shares("measuring", quiet))
    }

    pub(crate) fn at(&self, step: BenchStep<'_>) {
        let what = match step.part {
            None => "reading",
            Some(Part::Methods) => "tuning",
            Some(Part::Centring) => "centring",
            Some(Part::Shift) => "on further sets",
            Some(Part::Closeup) => "looking closer",
        };
        let number = format!("{} of {}", step.index + 1, step.models);
        self.0.now(format!("model {number}, {}: {what}", step.model.name));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a step")]
        let own = (step.share.clamp(0.0, 1.0) * STEPS_A_MODEL as f64) as u64;
        self.0.of(step.index as u64 * STEPS_A_MODEL + own, step.models as u64 * STEPS_A_MODEL);
    }
}

/// Measures every model; what is finished is kept in the folder.
pub(crate) fn measure(bench: &Bench<'_>, parts: &[Part], quiet: bool) -> Result<Vec<ModelResults>> {
    let progress = ModelProgress::new(quiet);
    bench.run(parts, &mut |step| progress.at(step)).map_err(hint)
}

/// What to do about a hold-out that does not fit.
pub(crate) fn hint(error: abstain_lab::LabError) -> anyhow::Error {
    match error {
        abstain_lab::LabError::TooFewRows => {
            hinted(error.to_string(), "--holdout takes a share such as 0.1, or a number of rows")
        }
        other => other.into(),
    }
}

/// Writes what studies show into a folder: tables, figures, the numbers, and a page with all of them.
pub(crate) fn write(
    folder: &Path,
    page: &str,
    shown: &[(Shown, serde_json::Value)],
    about: &About,
) -> Result<usize> {
    let mut written = 0;
    let mut file = |name: String, bytes: &[u8]| -> Result<()> {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            folder_at(parent)?;
        }
        let mut file = AtomicFile::create(&path)?;
        file.write_all(bytes).map_err(|error| file.error(error))?;
        file.finish()?;
        written += 1;
        Ok(())
    };
    for (own, json) in shown {
        for sheet in &own.sheets {
            let name = &sheet.name;
            file(format!("tables/{name}.md"), sheet.markdown().as_bytes())?;
            file(format!("tables/{name}.csv"), sheet.csv()?.as_bytes())?;
            file(format!("tables/{name}.tex"), sheet.latex().as_bytes())?;
        }
        for figure in &own.figures {
            file(format!("figures/{}.svg", figure.name), figure.svg()?.as_bytes())?;
            file(format!("figures/{}.png", figure.name), &figure.png(2.0)?)?;
        }
        let mut text = serde_json::to_string_pretty(json)?;
        text.push('\n');
        file(format!("json/{}.json", own.name), text.as_bytes())?;
    }
    let pages: Vec<Shown> = shown.iter().map(|own| own.0.clone()).collect();
    let index = abstain_report::study::index(&pages, about);
    file(page.into(), format!("{MARK}\n\n{index}").as_bytes())?;
    Ok(written)
}

/// The tables of a study for the terminal.
pub(crate) fn print(shown: &Shown, out: &mut impl Write) -> Result<()> {
    for remark in &shown.remarks {
        writeln!(out, "{remark}\n")?;
    }
    for sheet in &shown.sheets {
        writeln!(out, "{}", sheet.terminal(None, true))?;
    }
    Ok(())
}

/// Makes a folder unless it is there.
pub(crate) fn folder_at(folder: &Path) -> Result<()> {
    Ok(std::fs::create_dir_all(folder).map_err(|error| ErrorKind::from(error).of(folder))?)
}

/// A folder that can be written to, before any work is done for it.
pub(crate) fn check_folder(folder: &Path) -> Result<()> {
    folder_at(folder)?;
    let page = folder.join(PAGE);
    if let Ok(text) = std::fs::read_to_string(&page)
        && !text.starts_with(MARK)
    {
        let problem = format!("{}: the page of results would replace this file", page.display());
        return Err(hinted(problem, "choose a folder of its own with --out"));
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
