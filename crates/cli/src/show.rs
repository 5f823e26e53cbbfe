//! `abstain show`: an artifact in words.

use crate::input::estimator;
use abstain_report as report;
use anyhow::Result;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Example: abstain show estimator.json")]
pub(crate) struct Arguments {
    /// The estimator: a file of `abstain tune`, or a text such as 'MaxLogit-pNorm(p=5)'
    estimator: PathBuf,
    /// Print it as JSON, in the newest version of the format
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let artifact = estimator(&arguments.estimator)?;
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&artifact)?)?;
    } else {
        write!(out, "{}", report::artifact(&artifact))?;
    }
    Ok(())
}
