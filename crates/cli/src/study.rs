//! `abstain study`: the paper's experiments on a zoo.

use crate::failure::hinted;
use crate::zoo::{
    ResultArguments, ZooArguments, about, check_folder, check_models, hint, measure, print, write,
};
use abstain_lab::Bench;
use abstain_lab::measure::Part;
use abstain_lab::study::Unsuited;
use abstain_lab::study::published::published_models;
use abstain_report::study::{Presentation, STUDIES, StudyError, StudyInfo};
use anyhow::Result;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

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

/// One study, or all of them.
#[derive(Debug, Clone, Copy)]
enum Choice {
    All,
    One(&'static StudyInfo),
}

/// The names of the registry, and `all`.
fn choices() -> impl TypedValueParser<Value = Choice> {
    let all = PossibleValue::new("all").help("every study");
    let one = |study: &StudyInfo| PossibleValue::new(study.name).help(study.summary);
    PossibleValuesParser::new(std::iter::once(all).chain(STUDIES.iter().map(one)))
        .map(|name| StudyInfo::find(&name).map_or(Choice::All, Choice::One))
}

/// A study that has nothing to show, with a hint at what it needs.
fn unsuited(zoo: &Path, problem: Unsuited) -> anyhow::Error {
    let hint = match problem {
        Unsuited::NoFurtherSets => "docs/zoo.md describes how a manifest names them".into(),
        Unsuited::NoPublishedModel => {
            let names: Vec<String> = published_models()
                .iter()
                .map(|model| format!("{} ({})", model.title, model.names.join(", ")))
                .collect();
            format!("there are those of {}, on the 1,000 classes of ImageNet", names.join("; "))
        }
    };
    hinted(format!("{}: {problem}", zoo.display()), hint)
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let Arguments { how, result, output: folder, .. } = arguments;
    let zoo = how.zoo(&arguments.zoo)?;
    check_models(&zoo, &arguments.show)?;
    let protocol = how.protocol(arguments.realisations as usize)?;
    let bench = Bench::new(&zoo, &protocol, Some(folder)).map_err(hint)?;
    let studies: Vec<&StudyInfo> = match arguments.study {
        Choice::All => STUDIES.iter().filter(|study| study.suits(&zoo).is_ok()).collect(),
        Choice::One(study) => {
            study.suits(&zoo).map_err(|problem| unsuited(&arguments.zoo, problem))?;
            vec![study]
        }
    };
    // The page of one study does not replace that of all.
    let page = match arguments.study {
        Choice::All => "README.md".to_string(),
        Choice::One(study) => format!("{}.md", study.name),
    };
    check_folder(folder, &page)?;
    let parts: Vec<Part> = studies.iter().flat_map(|study| study.parts(&zoo)).collect();
    let results = measure(&bench, &parts, &arguments.show, result.quiet)?;
    let context = how.context(&zoo, &protocol, &results);
    let about = about(&context, how, !arguments.show.is_empty());
    let shown: Vec<Presentation> = studies
        .iter()
        .map(|study| study.present(&context, &about))
        .collect::<Result<_, StudyError>>()?;
    if result.json {
        let all: serde_json::Map<String, Value> =
            shown.iter().map(|study| (study.name.to_string(), study.json.clone())).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
    } else if let Some((first, others)) = shown.split_first() {
        // The first of all studies is the overview; of the others, only the remarks.
        print(&first.content, out)?;
        for remark in others.iter().flat_map(|study| &study.content.remarks) {
            writeln!(out, "{remark}")?;
        }
    }
    out.flush()?;
    let written = write(folder, &page, &shown, &about)?;
    if !result.quiet {
        let page = folder.join(page);
        let folder = folder.display();
        eprintln!("written: {written} files in {folder}; begin with {}", page.display());
    }
    Ok(())
}
