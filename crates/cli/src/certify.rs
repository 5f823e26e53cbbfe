//! `abstain certify`: a threshold with a guarantee, on fresh rows.

use crate::failure::{hinted, in_file};
use crate::input::{
    BareArguments, GroupColumns, InputArguments, ModelArguments, check_output, estimator,
    loss_with, rows as open_rows,
};
use crate::notes::{print_named_warnings, print_one_call};
use crate::options::{TargetArguments, TogetherArguments, procedure, share};
use crate::output::OutputArguments;
use abstain::certify::Procedure;
use abstain::{Artifact, Encoding};
use abstain_io::{ConfidenceFiles, LossArgument, Source};
use abstain_lab::{CertifyRequest, DEFAULT_DELTA, FoundThreshold, LabError, certify, warnings_of};
use anyhow::Result;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(
    group(
        clap::ArgGroup::new("wanted").required(true).args(["target_accuracy", "target_risk"])
    ),
    after_help = "\
Examples:
  abstain certify estimator.json fresh.npz --target-accuracy 0.95 -o certified.json
  abstain certify estimator.json fresh.npy fresh-labels.npy --target-risk 0.01 --delta 0.1
  abstain certify Confidence judged.csv --target-accuracy 0.9 -o judge.json

The rows must be fresh: drawn like those that the estimator will be used on, and not used to tune
it. If no threshold can be certified, the program says what is missing and exits with 1."
)]
pub(crate) struct Arguments {
    /// Estimator: a file of `abstain tune`, a text such as 'MaxLogit-pNorm(p=5)', or 'Confidence' for a
    /// table of confidences
    estimator: PathBuf,
    /// Logits of fresh rows, or the table; - for standard input
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
    /// Largest weight that any row of the population can have, for --weight-name: rows are kept with
    /// the probability of their weight over it, and those that are kept certify
    #[arg(long, value_name = "W", requires = "weight_name")]
    max_weight: Option<f64>,
    /// Seed of the rows that are drawn, for --weight-name, --group-folds and equal rows. They also
    /// depend on the rows and their order; like the target, fix it before looking at the rows
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of estimators that were compared on these rows, this one included; they share delta
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    tried: u32,
    /// Loss: zero-one, top-5, or a file of costs, one row per label and one column per prediction
    /// [default: that of the estimator]
    #[arg(long, value_name = "LOSS")]
    loss: Option<LossArgument>,
    /// Column of groups: what is accepted is counted for each
    #[arg(long, value_name = "COLUMN", help_heading = "Input")]
    group: Option<String>,
    #[command(flatten)]
    together: TogetherArguments,
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
    let (logits, labels) = (&arguments.logits, arguments.labels.as_deref());
    let loss = loss_with(&artifact, arguments.loss.as_ref())?;
    let inputs = [Some(logits.as_path()), labels, loss.file(), arguments.input.extra()];
    check_output(arguments.output.file(), &inputs.into_iter().flatten().collect::<Vec<_>>())?;
    let Some(target) = arguments.target.target() else {
        return Err(hinted("no target is given", "give a target accuracy or a target risk"));
    };
    let tried = arguments.tried as usize;
    let (delta, procedure) = (Some(arguments.delta), arguments.procedure);
    let (max_weight, seed) = (arguments.max_weight, arguments.seed);
    let repeats = arguments.together.repeats;
    let request = CertifyRequest { target, delta, procedure, tried, max_weight, repeats, seed };
    request.check()?;
    let rows = Rows {
        logits,
        labels,
        loss: &loss,
        groups: GroupColumns {
            counted: arguments.group.as_deref(),
            together: arguments.together.group_folds.as_deref(),
        },
        input: &arguments.input,
        bare: &arguments.bare,
        quiet: arguments.output.quiet,
    };
    arguments.output.write(&meeting_target(&artifact, &request, &rows)?, out)
}

/// Where labelled rows are, for a threshold that meets a target on them.
pub(crate) struct Rows<'a> {
    pub(crate) logits: &'a Path,
    pub(crate) labels: Option<&'a Path>,
    pub(crate) loss: &'a LossArgument,
    pub(crate) groups: GroupColumns<'a>,
    pub(crate) input: &'a InputArguments,
    pub(crate) bare: &'a BareArguments,
    pub(crate) quiet: bool,
}

/// Says what looks wrong with rows on which no threshold was found: it may be why.
fn warn_of_refused<'a>(
    artifact: &Artifact,
    found: &Result<FoundThreshold, LabError>,
    rows: impl Into<abstain_lab::Rows<'a>>,
    path: &Path,
) -> Result<(), LabError> {
    if matches!(found, Err(LabError::Refused(_))) {
        let names = artifact.class_names.as_deref();
        print_named_warnings(&warnings_of(artifact, rows)?, path, names);
    }
    Ok(())
}

/// The artifact with a threshold that meets a target, with a guarantee or without.
pub(crate) fn meeting_target(
    artifact: &Artifact,
    request: &CertifyRequest,
    rows: &Rows<'_>,
) -> Result<FoundThreshold> {
    let certified = if artifact.input == Encoding::Confidence {
        let files = ConfidenceFiles {
            labels: rows.labels.map(Source::new),
            ..BareArguments::table_of(artifact, rows.logits)
        };
        let table = rows.bare.rows(rows.input, files, rows.groups, rows.quiet)?;
        let found = certify(artifact, request, table.clone());
        warn_of_refused(artifact, &found, table, rows.logits)?;
        found
    } else {
        rows.bare.check_no_weights()?;
        let options = rows.input.options_for(artifact)?;
        let mut source =
            open_rows(rows.logits, rows.labels, &options, rows.loss, rows.groups, rows.quiet)?;
        let found = certify(artifact, request, &mut source);
        warn_of_refused(artifact, &found, &mut source, rows.logits)?;
        found.map(|found| found.with_input(source.reading().clone()))
    };
    let found = certified.map_err(in_file(rows.logits))?;
    if found.tried > request.tried && !rows.quiet {
        let tried = found.tried;
        eprintln!("note: the estimator was compared with MSP on these rows: --tried {tried}");
    }
    let names = found.artifact.class_names.as_deref();
    print_named_warnings(&found.warnings, rows.logits, names);
    if request.delta.is_some() && !rows.quiet {
        print_one_call();
    }
    Ok(found)
}
