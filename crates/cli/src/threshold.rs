//! `abstain threshold`: a threshold without a guarantee.

use crate::certify::{Rows, meeting_target};
use crate::failure::{hinted, in_file};
use crate::input::{
    BareArguments, CONFIDENCE, GroupColumns, InputArguments, ModelArguments, check_output,
    estimator, loss_with, note_scale, unlabelled_rows,
};
use crate::notes;
use crate::options::{TargetArguments, coverage};
use crate::output::OutputArguments;
use abstain::{Artifact, Encoding};
use abstain_io::LossArgument;
use abstain_lab::{
    CertifyRequest, FoundThreshold, GivenThreshold, MeasuredRows, cover, set_threshold,
};
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
  abstain threshold Confidence judged.csv --coverage 0.8 -o judge.json

A threshold found here held on these rows and is not guaranteed on others; `abstain certify`
finds one that is."
)]
pub(crate) struct Arguments {
    /// Estimator: a file of `abstain tune`, a text such as 'MaxLogit-pNorm(p=5)', or 'Confidence' for a
    /// table of confidences
    estimator: PathBuf,
    /// Logits, or the table; - for standard input
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
    /// Loss: zero-one, top-5, or a file of costs, one row per label and one column per prediction
    /// [default: that of the estimator]
    #[arg(long, value_name = "LOSS")]
    loss: Option<LossArgument>,
    /// Column of groups: what is accepted is counted for each
    #[arg(long, value_name = "COLUMN", help_heading = "Input", conflicts_with_all = ["coverage", "at", "value"])]
    group: Option<String>,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    bare: BareArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let mut artifact = estimator(&arguments.estimator)?;
    arguments.model.check(&artifact)?;
    arguments.input.remember(&mut artifact);
    arguments.bare.remember(&mut artifact);
    let (logits, labels) = (arguments.logits.as_deref(), arguments.labels.as_deref());
    let loss = loss_with(&artifact, arguments.loss.as_ref())?;
    let inputs = [logits, labels, loss.file(), arguments.input.extra()];
    check_output(arguments.output.file(), &inputs.into_iter().flatten().collect::<Vec<_>>())?;
    let given = (arguments.at.map(GivenThreshold::Confidence))
        .or(arguments.value.map(GivenThreshold::Value));
    let found = match (given, logits) {
        (Some(given), _) => {
            arguments.bare.check_no_weights()?;
            if let GivenThreshold::Confidence(at) = given {
                note_scale(&artifact.estimator, at, arguments.output.quiet);
            }
            FoundThreshold::new(set_threshold(&artifact, given)?)
        }
        (None, Some(logits)) => find(arguments, &artifact, logits, &loss)?,
        (None, None) => return Err(hinted("there are no rows", "give the logits")),
    };
    arguments.output.write(&found, out)
}

/// The threshold that rows suggest.
fn find(
    arguments: &Arguments,
    artifact: &Artifact,
    logits: &Path,
    loss: &LossArgument,
) -> Result<FoundThreshold> {
    if let Some(coverage) = arguments.coverage {
        return covering(arguments, artifact, logits, coverage);
    }
    let Some(target) = arguments.target.target() else {
        return Err(hinted("no target is given", "give a target accuracy or a target risk"));
    };
    let rows = Rows {
        logits,
        labels: arguments.labels.as_deref(),
        loss,
        groups: arguments.group.as_deref().into(),
        input: &arguments.input,
        bare: &arguments.bare,
        quiet: arguments.output.quiet,
    };
    meeting_target(artifact, &CertifyRequest::uncertified(target), &rows)
}

/// The threshold that accepts a share of rows, which need no labels.
fn covering(
    arguments: &Arguments,
    artifact: &Artifact,
    logits: &Path,
    coverage: f64,
) -> Result<FoundThreshold> {
    let quiet = arguments.output.quiet;
    if artifact.input == Encoding::Confidence {
        let files = BareArguments::table_of(artifact, logits);
        let table = arguments.bare.read(&arguments.input, files, GroupColumns::default(), quiet)?;
        return Ok(cover(artifact, coverage, MeasuredRows::of_table(CONFIDENCE, table)?)?);
    }
    arguments.bare.check_no_weights()?;
    let options = arguments.input.options_for(artifact)?;
    let mut rows = unlabelled_rows(logits, options, quiet)?;
    let found = cover(artifact, coverage, &mut rows).map_err(in_file(logits))?;
    notes::print_warnings(&found.warnings, logits);
    Ok(found.with_input(rows.reading().clone()))
}
