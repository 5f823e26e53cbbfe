//! `abstain threshold`: a threshold without a guarantee.

use crate::data::{
    Dataset, InputArguments, LossArgument, check_classes, check_output, estimator, loss_for,
    note_scale,
};
use crate::failure::{Refused, hinted};
use crate::output::OutputArguments;
use crate::progress::Progress;
use crate::tune::share;
use abstain::{Artifact, Losses, RcCurve, Threshold};
use abstain_io::{Encoding, LogitsReader, Source};
use abstain_lab::{RowSource, Target};
use anyhow::Result;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("how").required(true)), after_help = "\
Examples:
  abstain threshold estimator.json unlabelled.npy --coverage 0.8 -o deployed.json
  abstain threshold estimator.json logits.npy labels.npy --accuracy 0.95 -o deployed.json
  abstain threshold estimator.json --at 2.5 -o deployed.json

A threshold found here held on these rows and is not guaranteed on others; `abstain certify`
finds one that is.")]
pub(crate) struct Arguments {
    /// The estimator: a file of `abstain tune`, or a text such as 'MaxLogit-pNorm(p=5)'
    estimator: PathBuf,
    /// The logits; - for standard input
    #[arg(required_unless_present_any = ["at", "value"], conflicts_with_all = ["at", "value"])]
    logits: Option<PathBuf>,
    /// The labels, for --accuracy and --risk [default: beside the logits in their file]
    labels: Option<PathBuf>,
    /// Accept this share of the rows, or a little more where rows tie; needs no labels
    #[arg(long, value_name = "C", value_parser = share, group = "how")]
    coverage: Option<f64>,
    /// Accept as many rows as this accuracy allows
    #[arg(long, value_name = "A", value_parser = share, group = "how")]
    accuracy: Option<f64>,
    /// Accept as many rows as this selective risk allows
    #[arg(long, value_name = "R", value_parser = share, group = "how")]
    risk: Option<f64>,
    /// Accept from this confidence on, as in the column `confidence`; needs no rows
    #[arg(long, value_name = "X", allow_hyphen_values = true, group = "how")]
    at: Option<f64>,
    /// Accept from this value of the paper's formula on, such as a probability; needs no rows
    #[arg(long, value_name = "V", allow_hyphen_values = true, group = "how")]
    value: Option<f64>,
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
    let (logits, labels) = (arguments.logits.as_deref(), arguments.labels.as_deref());
    let loss = loss_for(&artifact, arguments.loss.as_ref())?;
    check_output(arguments.output.file(), logits.unwrap_or(Path::new("")), labels, &loss)?;
    let by_hand = match (arguments.at, arguments.value) {
        (Some(at), _) => Some(at),
        (None, Some(value)) => Some(at_value(&artifact, value)?),
        (None, None) => None,
    };
    match (by_hand, logits) {
        (Some(at), _) if at.is_nan() => {
            return Err(hinted("the threshold is NaN", "give a number"));
        }
        (Some(at), _) => {
            if arguments.at.is_some() {
                note_scale(&artifact.estimator, at, arguments.output.quiet);
            }
            artifact.threshold = Some(Threshold::Given { at });
        }
        (None, Some(logits)) => find(arguments, &mut artifact, logits, &loss)?,
        (None, None) => return Err(hinted("there are no rows", "give the logits")),
    }
    arguments.output.write(&artifact, out)
}

/// The confidence that a value of the paper's formula is.
fn at_value(artifact: &Artifact, value: f64) -> Result<f64> {
    let own = &artifact.estimator;
    let classes = match artifact.classes {
        Some(classes) => classes,
        None if own.is_probability() => 2,
        None => {
            let problem = "how many classes there are is not known, and the value depends on it";
            return Err(hinted(problem, "use an estimator of `abstain tune`, or --at"));
        }
    };
    let at = own.confidence_of(value, classes);
    if at.is_finite() {
        return Ok(at);
    }
    Err(hinted(format!("no confidence has the value {value}"), "give one that rows can have"))
}

/// Sets the threshold that the rows suggest.
fn find(
    arguments: &Arguments,
    artifact: &mut Artifact,
    logits: &Path,
    loss: &LossArgument,
) -> Result<()> {
    if let Some(coverage) = arguments.coverage {
        if arguments.labels.is_some() {
            return Err(hinted("a coverage needs no labels", "leave out their file"));
        }
        let confidences = unlabelled(arguments, artifact, logits)?;
        let rows = confidences.len();
        // Any loss will do: coverage does not ask for it.
        let curve = RcCurve::new(&confidences, &Losses::new(vec![0.0; rows])?)?;
        let knot = curve.narrowest_covering(coverage);
        let (at, accepted) = (knot.threshold, knot.accepted);
        artifact.threshold = Some(Threshold::Coverage { at, coverage, rows, accepted });
        return Ok(());
    }
    let options = arguments.input.options_for(artifact)?;
    let (labels, quiet) = (arguments.labels.as_deref(), arguments.output.quiet);
    let mut set = Dataset::open(logits, labels, &options, loss, quiet)?;
    check_classes(artifact, set.classes, logits)?;
    let (columns, losses) = set.confidences(std::slice::from_ref(&artifact.estimator))?;
    let Some(target) = Target::of(arguments.accuracy, arguments.risk) else {
        return Err(hinted("no target is given", "give an accuracy or a risk"));
    };
    let curve = RcCurve::new(&columns[0], &losses)?;
    let Some(knot) = target.widest(&curve) else {
        return Err(Refused("no threshold reaches this target on these rows".into()).into());
    };
    artifact.threshold = Some(Threshold::Risk {
        at: knot.threshold,
        risk: target.risk(),
        loss: loss.to_string(),
        rows: curve.rows(),
        accepted: knot.accepted,
        selective_risk: knot.selective_risk(),
    });
    (artifact.classes, artifact.input) = (Some(set.classes), set.input);
    Ok(())
}

/// The confidences of rows without labels; the artifact learns what they are.
fn unlabelled(arguments: &Arguments, artifact: &mut Artifact, logits: &Path) -> Result<Vec<f64>> {
    let options = arguments.input.options_for(artifact)?;
    let twice = matches!(options.encoding, Encoding::Probabilities { floor: None, .. });
    let source = if twice { Source::to_read_again(logits)? } else { Source::new(logits) };
    let mut reader = LogitsReader::open(&source, &options)?;
    let classes = reader.classes();
    check_classes(artifact, classes, logits)?;
    let progress = Progress::new("reading", reader.rows(), arguments.output.quiet);
    let mut confidences = Vec::new();
    while let Some((_, chunk)) = reader.next_chunk()? {
        confidences.extend(artifact.estimator.confidences(&chunk));
        progress.at(confidences.len() as u64);
    }
    (artifact.classes, artifact.input) = (Some(classes), options.encoding.input(reader.floor()));
    Ok(confidences)
}
