//! `abstain bench`: a zoo at a glance.

use crate::page::{check_page, provenance, write_page};
use crate::zoo::{ResultArguments, ZooArguments, about, check_folder, hint, measure, print, write};
use abstain_lab::Bench;
use abstain_lab::study::{Context, MethodsStudy, ScatterStudy, Summary};
use abstain_report::page::{self, Detail};
use abstain_report::study;
use anyhow::Result;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain bench zoo/
  abstain bench models.toml --splits 10 --holdout 5000 --out results
  abstain bench zoo/ --report zoo.html

A zoo is a folder with labels.npy and one file of logits a model, or a zoo.toml that names the files
(docs/zoo.md). Every model is tuned and measured on the same random splits: the paper's protocol.
With --out finished models are kept, and a run that was stopped goes on where it was.")]
pub(crate) struct Arguments {
    /// The zoo: a folder, or a manifest in TOML
    zoo: PathBuf,
    /// A folder for the tables, and for what is finished
    #[arg(short, long, value_name = "FOLDER", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Write a page to look at: one HTML file that opens anywhere, also offline
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report: Option<PathBuf>,
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
    if let Some(file) = &arguments.report {
        let mut others = zoo.files();
        others.push(&arguments.zoo);
        let page = arguments.out.as_ref().map(|folder| folder.join("bench.md"));
        others.extend(page.as_deref());
        check_page(file, &others)?;
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
    if let Some(file) = &arguments.report {
        out.flush()?;
        let html = page(&context, &summary, &about, json.clone())?;
        write_page(file, &html, result.quiet || result.json)?;
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

fn page(
    context: &Context<'_>,
    summary: &Summary,
    about: &study::About,
    json: serde_json::Value,
) -> Result<String> {
    let mut facts = vec![Detail::new("Settings", about.settings.clone())];
    for (index, own) in context.results.iter().enumerate() {
        let mut hashes = own.hashes.iter();
        if let (Some(labels), 0) = (hashes.next(), index) {
            facts.push(Detail::new("Labels (SHA-256)", labels));
        }
        facts.extend(hashes.map(|hash| Detail::new(format!("{} (SHA-256)", own.model.name), hash)));
    }
    let (scatter, methods) = (ScatterStudy::new(context), MethodsStudy::new(context));
    facts.extend(provenance());
    let details = facts;
    let about_page =
        page::About { title: about.zoo.clone(), details, report: json, ..page::About::default() };
    Ok(page::zoo(summary, &scatter, &methods, about, &about_page)?)
}
