//! `abstain bench`: an overview of a zoo.

use crate::page::{check_page, provenance, write_page};
use crate::zoo::{ModelProgress, ResultArguments, ZooArguments, failed, files_in, open};
use abstain_paper::bench;
use anyhow::Result;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain bench zoo/
  abstain bench models.toml --splits 10 --holdout 5000 -o results
  abstain bench zoo/ --page zoo.html

A zoo is a folder with labels.npy and one file of logits per model, or a zoo.toml that names the
files (docs/zoo.md). Every model is tuned and measured on the same random splits: the paper's
protocol. With --output, finished work is stored in records, and an interrupted run continues.")]
pub(crate) struct Arguments {
    /// Zoo: a folder, or a manifest in TOML
    zoo: PathBuf,
    /// Folder for the tables and for records of finished work
    #[arg(short, long, alias = "out", value_name = "FOLDER", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write an HTML page that shows the result; it is one file and works offline
    #[arg(long, alias = "report", value_name = "FILE", help_heading = "Output")]
    page: Option<PathBuf>,
    #[command(flatten)]
    how: ZooArguments,
    #[command(flatten)]
    result: ResultArguments,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let Arguments { how, result, .. } = arguments;
    let zoo = open(&arguments.zoo)?;
    let request = how.request(arguments.output.clone())?;
    if let Some(file) = &arguments.page {
        let index = request.page();
        let others =
            zoo.files().into_iter().chain([arguments.zoo.as_path()]).chain(index.as_deref());
        check_page(file, &others.collect::<Vec<_>>())?;
    }
    let progress = ModelProgress::new(result.quiet);
    let answer = bench(&zoo, &request, &mut |step| progress.at(step))
        .map_err(|error| failed(&arguments.zoo, error))?;
    drop(progress);
    if result.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&answer)?)?;
    } else {
        write!(out, "{}", answer.text())?;
    }
    out.flush()?;
    if let Some(file) = &arguments.page {
        write_page(file, &answer.page(provenance())?, result.quiet || result.json)?;
    }
    if let (Some(written), false) = (&answer.written, result.quiet) {
        eprintln!("written: {}", files_in(written));
    }
    Ok(())
}
