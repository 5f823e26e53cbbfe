//! What commands that set a threshold do with the artifact.

use abstain::Artifact;
use abstain_io::write_artifact;
use abstain_report as report;
use anyhow::Result;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArguments {
    /// Where to write the estimator with its threshold
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the artifact as JSON
    #[arg(long)]
    json: bool,
    /// No progress and no notes
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl OutputArguments {
    pub(crate) fn file(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// Writes an artifact that has got a threshold, and says so.
    pub(crate) fn write(&self, artifact: &Artifact, out: &mut impl Write) -> Result<()> {
        if let Some(output) = &self.output {
            write_artifact(artifact, output)?;
        }
        if self.json {
            writeln!(out, "{}", serde_json::to_string_pretty(artifact)?)?;
        } else {
            write!(out, "{}", report::artifact(artifact))?;
        }
        out.flush()?;
        match &self.output {
            _ if self.quiet || self.json => {}
            Some(output) => eprintln!("written: {}", output.display()),
            None => eprintln!(
                "note: nothing was written; -o FILE keeps the estimator with its threshold"
            ),
        }
        Ok(())
    }
}
