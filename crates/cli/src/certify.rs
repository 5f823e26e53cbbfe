//! `abstain certify`: a threshold with a guarantee, on fresh rows.

use crate::data::{
    Dataset, InputArguments, LossArgument, check_classes, check_output, estimator, loss_for,
};
use crate::failure::{Refused, hinted};
use crate::output::OutputArguments;
use crate::tune::{explained, procedure, share};
use abstain::certify::{Certifier, Procedure};
use abstain::{RcCurve, Threshold};
use abstain_lab::{RowSource, Target, tried_on};
use anyhow::Result;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("target").required(true)), after_help = "\
Examples:
  abstain certify estimator.json fresh.npz --target-accuracy 0.95 -o certified.json
  abstain certify estimator.json fresh.npy fresh-labels.npy --target-risk 0.01 --delta 0.1

The rows must be fresh: drawn like those that the estimator will be used on, and not those that
it was tuned on.
If no threshold can be certified, the program says what is missing and exits with 1.")]
pub(crate) struct Arguments {
    /// The estimator: a file of `abstain tune`, or a text such as 'MaxLogit-pNorm(p=5)'
    estimator: PathBuf,
    /// The logits of fresh rows; - for standard input
    logits: PathBuf,
    /// Their labels [default: beside the logits in their file]
    labels: Option<PathBuf>,
    /// The accuracy to guarantee
    #[arg(long, value_name = "A", value_parser = share, group = "target")]
    target_accuracy: Option<f64>,
    /// The selective risk to guarantee
    #[arg(long, value_name = "R", value_parser = share, group = "target")]
    target_risk: Option<f64>,
    /// How often the guarantee may fail
    #[arg(long, value_name = "D", value_parser = share, default_value_t = 0.05)]
    delta: f64,
    /// How to certify: fixed-sequence or sgr
    #[arg(long, value_name = "NAME", value_parser = procedure(), hide_possible_values = true, default_value = "fixed-sequence")]
    procedure: Procedure,
    /// How many estimators were compared on these very rows, this one included; they share delta
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    tried: u32,
    /// What an error costs: zero-one, top-5, or a file of costs [default: that of the estimator]
    #[arg(long, value_name = "LOSS")]
    loss: Option<LossArgument>,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let mut artifact = estimator(&arguments.estimator)?;
    let (logits, labels) = (&arguments.logits, arguments.labels.as_deref());
    let loss = loss_for(&artifact, arguments.loss.as_ref())?;
    check_output(arguments.output.file(), logits, labels, &loss)?;
    let options = arguments.input.options_for(&artifact)?;
    let quiet = arguments.output.quiet;
    let mut set = Dataset::open(logits, labels, &options, &loss, quiet)?;
    check_classes(&artifact, set.classes, logits)?;
    let (columns, losses) = set.confidences(std::slice::from_ref(&artifact.estimator))?;
    let data = set.data();
    let Ok(compared) = tried_on(&artifact, data.as_deref()) else {
        return Err(hinted(
            format!("{}: the estimator was tuned on rows of this very file", logits.display()),
            "certify on fresh rows; or let `abstain tune` do it, on the rows that it keeps apart",
        ));
    };
    let Some(target) = Target::of(arguments.target_accuracy, arguments.target_risk) else {
        return Err(hinted("no target is given", "give an accuracy or a risk"));
    };
    let curve = RcCurve::new(&columns[0], &losses)?;
    let (procedure, tried) = (arguments.procedure, (arguments.tried as usize).max(compared));
    if tried > arguments.tried as usize && !quiet {
        eprintln!("note: the estimator was compared with MSP on these rows: --tried {tried}");
    }
    let certifier = Certifier { procedure, tried, ..target.certifier(arguments.delta) };
    let certified = certifier.certify(&curve).map_err(|error| explained(error.into()))?;
    let certificate =
        certified.map_err(|why| Refused(format!("no threshold can be certified: {why}")))?;
    artifact.threshold = Some(Threshold::certified(certificate, loss.to_string(), data));
    artifact.classes = Some(set.classes);
    artifact.input = set.input;
    arguments.output.write(&artifact, out)
}
