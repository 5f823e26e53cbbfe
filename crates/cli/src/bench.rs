//! `abstain bench`: an overview of a zoo.

use crate::page::{check_page, provenance, write_page};
use crate::zoo::{ResultArguments, ZooArguments, about, check_folder, hint, measure, print, write};
use abstain_lab::Bench;
use abstain_lab::study::methods::MethodsStudy;
use abstain_lab::study::scatter::ScatterStudy;
use abstain_lab::study::summary::Summary;
use abstain_lab::study::{Context, Study};
use abstain_report::page::{self, Detail};
use abstain_report::study::{self, Presentation};
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

/// The page of results in the folder.
const PAGE: &str = "bench.md";

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let Arguments { how, result, .. } = arguments;
    let zoo = how.zoo(&arguments.zoo)?;
    let protocol = how.protocol(0)?;
    let bench = Bench::new(&zoo, &protocol, arguments.output.as_deref()).map_err(hint)?;
    if let Some(folder) = &arguments.output {
        check_folder(folder, PAGE)?;
    }
    if let Some(file) = &arguments.page {
        let mut others = zoo.files();
        others.push(&arguments.zoo);
        let page = arguments.output.as_ref().map(|folder| folder.join(PAGE));
        others.extend(page.as_deref());
        check_page(file, &others)?;
    }
    let mut results = measure(&bench, &[], &[], result.quiet)?;
    // The overview shows no model individually.
    results.chosen.clear();
    let context = how.context(&zoo, &protocol, &results);
    let summary = Summary::new(&context)?;
    let about = about(&context, how, false);
    let shown = Presentation::new(&summary, &about)?;
    if result.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&shown.json)?)?;
    } else {
        print(&shown.content, out)?;
    }
    if let Some(file) = &arguments.page {
        out.flush()?;
        let html = page(&context, &summary, &about, shown.json.clone())?;
        write_page(file, &html, result.quiet || result.json)?;
    }
    if let Some(folder) = &arguments.output {
        out.flush()?;
        let written = write(folder, PAGE, &[shown], &about)?;
        if !result.quiet {
            eprintln!("written: {written} files in {}", folder.display());
        }
    }
    Ok(())
}

fn page(
    context: &Context<'_>,
    summary: &Summary,
    about: &study::About,
    json: serde_json::Value,
) -> Result<String> {
    let mut facts = vec![Detail::new("Settings", about.settings.clone())];
    facts.extend(context.results.models.iter().map(|results| {
        let name = format!("{}: rows and labels (SHA-256)", results.model.name);
        Detail::new(name, &results.fingerprint)
    }));
    let (scatter, methods) = (ScatterStudy::new(context)?, MethodsStudy::new(context)?);
    facts.extend(provenance());
    let details = facts;
    let about_page =
        page::About { title: about.zoo.clone(), details, report: json, ..page::About::default() };
    Ok(page::zoo(summary, &scatter, &methods, about, &about_page)?)
}
