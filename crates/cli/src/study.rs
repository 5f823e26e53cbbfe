//! `abstain study`: the paper's experiments on a zoo.

use crate::zoo::{
    ModelProgress, PAGE, ResultArguments, ZooArguments, about, check_folder, check_models,
    distinct, hint, measure, print, write,
};
use abstain_lab::measure::Part;
use abstain_lab::study::{
    CalibrationStudy, CentringStudy, Context, CurvesStudy, EfficiencyStudy, EpsilonStudy,
    ExponentStudy, InfluenceStudy, MethodsStudy, OthersStudy, ScatterStudy, ShiftStudy,
    SignificanceStudy, Study, Summary,
};
use abstain_lab::{Bench, representative};
use abstain_report::study::{self as report, About, Shown};
use anyhow::Result;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain study all zoo/ --out results
  abstain study methods zoo/
  abstain study shift zoo/ --certified --delta 0.05
  abstain study curves models.toml --show resnet50,vgg16

The folder gets tables (Markdown, CSV, LaTeX), figures (SVG, PNG), the numbers (JSON) and a README.md
with all of them. Finished models are kept there: a run that was stopped goes on where it was, and a
model whose files changed is measured again.")]
pub(crate) struct Arguments {
    /// The study
    study: Choice,
    /// The zoo: a folder, or a manifest in TOML
    zoo: PathBuf,
    /// A folder for the results, and for what is finished
    #[arg(short, long, value_name = "FOLDER", default_value = "results", help_heading = "Output")]
    out: PathBuf,
    /// Models to show on their own, by name, with commas [default: those of the largest, the median
    /// and the smallest gain]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    show: Vec<String>,
    /// Realisations of the hold-out in the study of efficiency
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    realisations: u32,
    #[command(flatten)]
    how: ZooArguments,
    #[command(flatten)]
    result: ResultArguments,
}

/// One study, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    All,
    One(Study),
}

impl ValueEnum for Choice {
    fn value_variants<'a>() -> &'a [Self] {
        use Choice::{All, One};
        &[
            All,
            One(Study::Methods),
            One(Study::Scatter),
            One(Study::Epsilon),
            One(Study::Curves),
            One(Study::Efficiency),
            One(Study::Exponent),
            One(Study::Centring),
            One(Study::Others),
            One(Study::Shift),
            One(Study::Calibration),
            One(Study::Influence),
            One(Study::Significance),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Choice::All => PossibleValue::new("all").help("every study, and the zoo at a glance"),
            Choice::One(study) => {
                let entry = Study::ALL.iter().find(|entry| entry.0 == *study)?;
                PossibleValue::new(entry.1).help(entry.2)
            }
        })
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let Arguments { how, result, out: folder, .. } = arguments;
    let zoo = how.zoo(&arguments.zoo)?;
    check_models(&zoo, &arguments.show)?;
    let protocol = how.protocol(arguments.realisations as usize)?;
    let bench = Bench::new(&zoo, &protocol, Some(folder)).map_err(hint)?;
    let has_sets = zoo.sets.iter().any(|set| zoo.models.iter().any(|model| set.has(model)));
    let wanted: Vec<Study> = match arguments.study {
        // Without further sets there is nothing to say about them.
        Choice::All => {
            let all = Study::ALL.iter().map(|entry| entry.0);
            all.filter(|study| *study != Study::Shift || has_sets).collect()
        }
        Choice::One(study) => vec![study],
    };
    if wanted.contains(&Study::Shift) && !has_sets {
        let problem = format!("{}: the models have no further sets", arguments.zoo.display());
        return Err(crate::failure::hinted(problem, "docs/zoo.md says how a manifest names them"));
    }
    check_folder(folder)?;
    let parts: Vec<Part> = wanted.iter().filter_map(|study| study.part()).collect();
    let mut results = measure(&bench, &parts, result.quiet)?;
    let chosen = if arguments.show.is_empty() {
        representative(&results)
    } else {
        distinct(&arguments.show)
    };
    if parts.contains(&Part::Closeup) {
        let progress = ModelProgress::new(result.quiet);
        bench.look_closer(&mut results, &chosen, &mut |step| progress.at(step)).map_err(hint)?;
    }
    let context = how.context(&zoo, &protocol, &results, &chosen);
    let about = about(&context, how, !arguments.show.is_empty());
    let mut shown = Vec::new();
    if arguments.study == Choice::All {
        let summary = Summary::new(&context);
        shown.push((report::summary(&summary, &about), serde_json::to_value(&summary)?));
    }
    for study in wanted {
        shown.extend(show(study, &context, &about)?);
    }
    if result.json {
        let all: serde_json::Map<String, Value> =
            shown.iter().map(|own| (own.0.name.to_string(), own.1.clone())).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
    } else {
        // Of all studies the first: the others are too many for a terminal, and in the folder.
        let printed = if arguments.study == Choice::All { 1 } else { shown.len() };
        for own in &shown[..printed.min(shown.len())] {
            print(&own.0, out)?;
        }
        for own in shown.iter().skip(printed) {
            own.0.remarks.iter().try_for_each(|remark| writeln!(out, "{remark}"))?;
        }
    }
    out.flush()?;
    // The page of one study does not replace that of all.
    let page = match arguments.study {
        Choice::All => PAGE.to_string(),
        Choice::One(_) => format!("{}.md", shown.first().map_or("study", |own| own.0.name)),
    };
    let written = write(folder, &page, &shown, &about)?;
    if !result.quiet {
        let page = folder.join(page);
        eprintln!(
            "written: {written} files in {}; begin with {}",
            folder.display(),
            page.display()
        );
    }
    Ok(())
}

/// What a study shows, and its numbers.
fn show(study: Study, context: &Context<'_>, about: &About) -> Result<Option<(Shown, Value)>> {
    /// A study in two lines: what it is, and what it looks like.
    macro_rules! shown {
        ($study:expr, $report:path) => {{
            let study = $study;
            Some(($report(&study, about), serde_json::to_value(&study)?))
        }};
    }
    Ok(match study {
        Study::Methods => shown!(MethodsStudy::new(context), report::methods),
        Study::Scatter => shown!(ScatterStudy::new(context), report::scatter),
        Study::Epsilon => shown!(EpsilonStudy::new(context), report::epsilon),
        Study::Curves => shown!(CurvesStudy::new(context), report::curves),
        Study::Efficiency => shown!(EfficiencyStudy::new(context), report::efficiency),
        Study::Exponent => shown!(ExponentStudy::new(context), report::exponent),
        Study::Others => shown!(OthersStudy::new(context), report::others),
        Study::Calibration => shown!(CalibrationStudy::new(context), report::calibration),
        Study::Influence => shown!(InfluenceStudy::new(context), report::influence),
        Study::Significance => shown!(SignificanceStudy::new(context), report::significance),
        Study::Centring => match CentringStudy::new(context) {
            Some(found) => shown!(found, report::centring),
            None => None,
        },
        Study::Shift => match ShiftStudy::new(context) {
            Some(found) => shown!(found, report::shift),
            None => None,
        },
    })
}
