//! `abstain bench`: a zoo at a glance.

use crate::zoo::{ResultArguments, ZooArguments, about, check_folder, hint, measure, print, write};
use abstain_lab::Bench;
use abstain_lab::study::Summary;
use abstain_report::study;
use anyhow::Result;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain bench zoo/
  abstain bench models.toml --splits 10 --holdout 5000 --out results

A zoo is a folder with labels.npy and one file of logits a model, or a zoo.toml that names the files
(docs/zoo.md). Every model is tuned and measured on the same random splits: the paper's protocol.
With --out finished models are kept, and a run that was stopped goes on where it was.")]
pub(crate) struct Arguments {
    /// The zoo: a folder, or a manifest in TOML
    zoo: PathBuf,
    /// A folder for the tables, and for what is finished
    #[arg(short, long, value_name = "FOLDER", help_heading = "Output")]
    out: Option<PathBuf>,
    #[command(flatten)]
    how: ZooArguments,
    #[command(flatten)]
    result: ResultArguments,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let Arguments { how, result, .. } = arguments;
    let zoo = how.zoo(&arguments.zoo)?;
    let protocol = how.protocol(0)?;
    let bench = Bench::new(&zoo, &protocol, arguments.out.as_deref()).map_err(hint)?;
    if let Some(folder) = &arguments.out {
        check_folder(folder)?;
    }
    let results = measure(&bench, &[], result.quiet)?;
    let context = how.context(&zoo, &protocol, &results, &[]);
    let summary = Summary::new(&context);
    let about = about(&context, how, false);
    let shown = study::summary(&summary, &about);
    let json = serde_json::to_value(&summary)?;
    if result.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json)?)?;
    } else {
        print(&shown, out)?;
    }
    if let Some(folder) = &arguments.out {
        out.flush()?;
        let written = write(folder, "bench.md", &[(shown, json)], &about)?;
        if !result.quiet {
            eprintln!("written: {written} files in {}", folder.display());
        }
    }
    Ok(())
}
