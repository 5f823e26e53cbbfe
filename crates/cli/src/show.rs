//! `abstain show`: an artifact in words.

use crate::input::estimator;
use abstain_models::onnx::{ModelSummary, ModelValue, inspect, is_model};
use abstain_report as report;
use anyhow::Result;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain show estimator.json
  abstain show selective.onnx")]
pub(crate) struct Arguments {
    /// The estimator: a file of `abstain tune`, a model of `abstain export`, or a text such as
    /// 'MaxLogit-pNorm(p=5)'
    estimator: PathBuf,
    /// Print it as JSON, in the newest version of the format
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let artifact = estimator(&arguments.estimator)?;
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&artifact)?)?;
        return Ok(());
    }
    write!(out, "{}", report::artifact(&artifact))?;
    if is_model(&arguments.estimator) {
        in_model(&inspect(&arguments.estimator)?, out)?;
    }
    Ok(())
}

/// The model that the artifact is in.
fn in_model(model: &ModelSummary, out: &mut impl Write) -> Result<()> {
    let list = |values: &[ModelValue]| {
        values.iter().map(ModelValue::to_string).collect::<Vec<_>>().join(", ")
    };
    writeln!(out, "Inputs: {}\nOutputs: {}", list(&model.inputs), list(&model.outputs))?;
    if let Some(selective) = &model.selective {
        writeln!(out, "Computed from '{}' in {}", selective.logits, selective.precision)?;
    }
    Ok(())
}
