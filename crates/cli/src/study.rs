//! `abstain study`: the paper's experiments on a zoo.

use crate::zoo::{ModelProgress, ResultArguments, ZooArguments, failed, files_in, open};
use abstain_paper::study::{STUDIES, StudyInfo};
use abstain_paper::{Choice, StudyRequest, study};
use anyhow::Result;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain study all zoo/ -o results
  abstain study methods zoo/
  abstain study shift zoo/ --certified --delta 0.05
  abstain study curves models.toml --show resnet50,vgg16

The folder gets tables (Markdown, CSV, LaTeX), figures (SVG, PNG), the numbers (JSON) and a README.md
with all of them. It also stores records of finished work: an interrupted run continues, and a model
is measured again if its files have changed.")]
pub(crate) struct Arguments {
    /// Study to run
    #[arg(value_parser = choices())]
    study: Choice,
    /// Zoo: a folder, or a manifest in TOML
    zoo: PathBuf,
    /// Folder for the results and for records of finished work
    #[arg(
        short,
        long,
        alias = "out",
        value_name = "FOLDER",
        default_value = "results",
        help_heading = "Output"
    )]
    output: PathBuf,
    /// Models to show individually, by name, comma-separated [default: those with the largest, the
    /// median and the smallest gain]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    show: Vec<String>,
    /// Random hold-outs of each size in the study of efficiency
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    realisations: u32,
    #[command(flatten)]
    how: ZooArguments,
    #[command(flatten)]
    result: ResultArguments,
}

/// The names of the registry, and `all`.
fn choices() -> impl TypedValueParser<Value = Choice> {
    let all = PossibleValue::new("all").help("every study");
    let one = |study: &StudyInfo| PossibleValue::new(study.name).help(study.summary);
    PossibleValuesParser::new(std::iter::once(all).chain(STUDIES.iter().map(one)))
        .try_map(|name| name.parse::<Choice>())
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let Arguments { how, result, .. } = arguments;
    let zoo = open(&arguments.zoo)?;
    let mut request =
        StudyRequest::new(arguments.study, how.request(Some(arguments.output.clone()))?);
    request.show.clone_from(&arguments.show);
    request.bench.protocol.realisations = arguments.realisations as usize;
    let progress = ModelProgress::new(result.quiet);
    let answer = study(&zoo, &request, &mut |step| progress.at(step))
        .map_err(|error| failed(&arguments.zoo, error))?;
    drop(progress);
    if result.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&answer)?)?;
    } else {
        write!(out, "{}", answer.text())?;
    }
    out.flush()?;
    if let (Some(written), false) = (&answer.written, result.quiet) {
        eprintln!("written: {}; begin with {}", files_in(written), written.page.display());
    }
    Ok(())
}
