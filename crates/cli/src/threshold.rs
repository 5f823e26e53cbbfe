//! `abstain threshold`: a threshold without a guarantee.

use crate::failure::{hinted, in_file};
use crate::input::{InputArguments, check_output, estimator, loss_with, note_scale, rows};
use crate::options::{TargetArguments, coverage};
use crate::output::OutputArguments;
use crate::progress::Progress;
use abstain::Artifact;
use abstain_io::{LogitsReader, LossArgument, Source};
use abstain_lab::{CertifyRequest, GivenThreshold, certify, check_classes, cover, set_threshold};
use anyhow::Result;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(
    group(
        clap::ArgGroup::new("how")
            .required(true)
            .args(["coverage", "target_accuracy", "target_risk", "at", "value"])
    ),
    after_help = "\
Examples:
  abstain threshold estimator.json unlabelled.npy --coverage 0.8 -o deployed.json
  abstain threshold estimator.json logits.npy labels.npy --target-accuracy 0.95 -o deployed.json
  abstain threshold estimator.json --at 2.5 -o deployed.json

A threshold found here held on these rows and is not guaranteed on others; `abstain certify`
finds one that is."
)]
pub(crate) struct Arguments {
    /// Estimator: a file of `abstain tune`, or a text such as 'MaxLogit-pNorm(p=5)'
    estimator: PathBuf,
    /// Logits; - for standard input
    #[arg(required_unless_present_any = ["at", "value"], conflicts_with_all = ["at", "value"])]
    logits: Option<PathBuf>,
    /// Labels, for a target [default: the labels in the logits file]
    #[arg(conflicts_with = "coverage")]
    labels: Option<PathBuf>,
    /// Accept this share of the rows, or a little more where rows tie; needs no labels
    #[arg(long, value_name = "C", value_parser = coverage)]
    coverage: Option<f64>,
    #[command(flatten)]
    target: TargetArguments,
    /// Accept confidences from this on, as in the column `confidence`; needs no rows
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    at: Option<f64>,
    /// Accept values of the paper's formula from this on, such as a probability; needs no rows
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    value: Option<f64>,
    /// Loss: zero-one, top-5, or a file of costs [default: that of the estimator]
    #[arg(long, value_name = "LOSS")]
    loss: Option<LossArgument>,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let artifact = estimator(&arguments.estimator)?;
    let (logits, labels) = (arguments.logits.as_deref(), arguments.labels.as_deref());
    let loss = loss_with(&artifact, arguments.loss.as_ref())?;
    let inputs = [logits, labels, loss.file(), arguments.input.extra()];
    check_output(arguments.output.file(), &inputs.into_iter().flatten().collect::<Vec<_>>())?;
    let given = (arguments.at.map(GivenThreshold::Confidence))
        .or(arguments.value.map(GivenThreshold::Value));
    let artifact = match (given, logits) {
        (Some(given), _) => {
            if let GivenThreshold::Confidence(at) = given {
                note_scale(&artifact.estimator, at, arguments.output.quiet);
            }
            set_threshold(&artifact, given)?
        }
        (None, Some(logits)) => find(arguments, &artifact, logits, &loss)?,
        (None, None) => return Err(hinted("there are no rows", "give the logits")),
    };
    arguments.output.write(&artifact, out)
}

/// The threshold that rows suggest.
fn find(
    arguments: &Arguments,
    artifact: &Artifact,
    logits: &Path,
    loss: &LossArgument,
) -> Result<Artifact> {
    if let Some(coverage) = arguments.coverage {
        return covering(arguments, artifact, logits, coverage);
    }
    let Some(target) = arguments.target.target() else {
        return Err(hinted("no target is given", "give a target accuracy or a target risk"));
    };
    let options = arguments.input.options_for(artifact)?;
    let (labels, quiet) = (arguments.labels.as_deref(), arguments.output.quiet);
    let mut source = rows(logits, labels, &options, loss, quiet)?;
    let request = CertifyRequest::uncertified(target);
    Ok(certify(artifact, &request, &mut source).map_err(in_file(logits))?.artifact)
}

/// The threshold that accepts a share of rows, which need no labels.
fn covering(
    arguments: &Arguments,
    artifact: &Artifact,
    logits: &Path,
    coverage: f64,
) -> Result<Artifact> {
    let options = arguments.input.options_for(artifact)?;
    let source = Source::of_logits(logits, options.encoding)?;
    let mut reader = LogitsReader::open(&source, &options)?;
    let classes = reader.classes();
    check_classes(artifact, classes).map_err(in_file(logits))?;
    let progress = Progress::new("reading", reader.rows(), arguments.output.quiet);
    let mut confidences = Vec::new();
    while let Some((_, chunk)) = reader.next_chunk()? {
        confidences.extend(artifact.estimator.confidences(&chunk));
        progress.at(confidences.len() as u64);
    }
    Ok(cover(artifact, coverage, &confidences, classes, reader.encoding())?)
}
