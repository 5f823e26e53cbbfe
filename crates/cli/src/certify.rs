//! `abstain certify`: a threshold with a guarantee, on fresh rows.

use crate::failure::{hinted, in_file};
use crate::input::{InputArguments, check_output, estimator, loss_with, rows};
use crate::options::{TargetArguments, procedure, share};
use crate::output::OutputArguments;
use abstain::certify::Procedure;
use abstain_io::LossArgument;
use abstain_lab::{CertifyRequest, DEFAULT_DELTA, certify};
use anyhow::Result;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(
    group(
        clap::ArgGroup::new("wanted").required(true).args(["target_accuracy", "target_risk"])
    ),
    after_help = "\
Examples:
  abstain certify estimator.json fresh.npz --target-accuracy 0.95 -o certified.json
  abstain certify estimator.json fresh.npy fresh-labels.npy --target-risk 0.01 --delta 0.1

The rows must be fresh: drawn like those that the estimator will be used on, and not used to tune
it. If no threshold can be certified, the program says what is missing and exits with 1."
)]
pub(crate) struct Arguments {
    /// Estimator: a file of `abstain tune`, or a text such as 'MaxLogit-pNorm(p=5)'
    estimator: PathBuf,
    /// Logits of fresh rows; - for standard input
    logits: PathBuf,
    /// Labels of these rows [default: the labels in the logits file]
    labels: Option<PathBuf>,
    #[command(flatten)]
    target: TargetArguments,
    /// Probability with which the guarantee may fail
    #[arg(long, value_name = "D", value_parser = share, default_value_t = DEFAULT_DELTA)]
    delta: f64,
    /// Certification procedure: fixed-sequence or sgr
    #[arg(long, value_name = "NAME", value_parser = procedure(), hide_possible_values = true, default_value = "fixed-sequence")]
    procedure: Procedure,
    /// Number of estimators that were compared on these rows, this one included; they share delta
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    tried: u32,
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
    let (logits, labels) = (&arguments.logits, arguments.labels.as_deref());
    let loss = loss_with(&artifact, arguments.loss.as_ref())?;
    let inputs = [Some(logits.as_path()), labels, loss.file(), arguments.input.extra()];
    check_output(arguments.output.file(), &inputs.into_iter().flatten().collect::<Vec<_>>())?;
    let Some(target) = arguments.target.target() else {
        return Err(hinted("no target is given", "give a target accuracy or a target risk"));
    };
    let tried = arguments.tried as usize;
    let (delta, procedure) = (Some(arguments.delta), arguments.procedure);
    let request = CertifyRequest { target, delta, procedure, tried };
    request.check()?;
    let options = arguments.input.options_for(&artifact)?;
    let quiet = arguments.output.quiet;
    let mut source = rows(logits, labels, &options, &loss, quiet)?;
    let certified = certify(&artifact, &request, &mut source).map_err(in_file(logits))?;
    if certified.tried > tried && !quiet {
        let tried = certified.tried;
        eprintln!("note: the estimator was compared with MSP on these rows: --tried {tried}");
    }
    arguments.output.write(&certified.artifact, out)
}
