//! What commands that set a threshold do with the artifact.

use abstain_io::write_artifact;
use abstain_lab::FoundThreshold;
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
    /// Print JSON: the artifact, how the rows were read, and what looks wrong with them
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress and no notes
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl OutputArguments {
    pub(crate) fn file(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// Writes an artifact that has got a threshold, and says so.
    pub(crate) fn write(&self, found: &FoundThreshold, out: &mut impl Write) -> Result<()> {
        let FoundThreshold { artifact, .. } = found;
        if let Some(output) = &self.output {
            write_artifact(artifact, output)?;
        }
        if self.json {
            writeln!(out, "{}", serde_json::to_string_pretty(found)?)?;
        } else {
            write!(out, "{}", report::artifact(artifact))?;
            if let Some(sampled) = &found.sampled {
                writeln!(out, "{}", report::sampled(sampled))?;
            }
            if let Some(counted) = &found.counted {
                writeln!(out, "{}", report::counted_once(counted))?;
            }
            if let Some(breakdown) = &found.breakdown {
                write!(out, "{}", report::breakdown(breakdown))?;
            }
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
