//! `abstain score`: an answer to every row.

use crate::failure::{hinted, in_file};
use crate::input::{InputArguments, estimator, not_over, note_scale};
use crate::progress::Progress;
use abstain_io::{LogitsReader, ScoreFormat, ScoreWriter, Source};
use abstain_lab::{LabError, Scored, Scorer, check_classes};
use anyhow::Result;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain score estimator.json logits.npy -o scores.parquet
  abstain score estimator.json logits.npy --values -o scores.csv
  zcat logits.csv.gz | abstain score 'MaxLogit-pNorm(p=5)' - > scores.csv

Columns: prediction, the class; confidence, higher is surer, on the scale of the threshold;
accept, whether it reaches the threshold. Rows are streamed: memory does not grow with the file.")]
pub(crate) struct Arguments {
    /// Estimator: a file of `abstain tune`, or a text such as 'MaxLogit-pNorm(p=5)'
    estimator: PathBuf,
    /// Logits; - for standard input
    logits: PathBuf,
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output", help = format!("File to write, in the format of its name ({}); - for standard output", ScoreFormat::names()))]
    output: PathBuf,
    /// Format of the output, if its name does not determine it [default for -: csv]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    output_format: Option<ScoreFormat>,
    /// Accept confidences from this on, instead of the estimator's threshold
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    threshold: Option<f64>,
    /// Add the column `value`: the confidence on the scale of the paper's formula, such as a probability
    #[arg(long, help_heading = "Output")]
    values: bool,
    #[command(flatten)]
    input: InputArguments,
    /// No progress and no notes
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let artifact = estimator(&arguments.estimator)?;
    if let Some(at) = arguments.threshold {
        note_scale(&artifact.estimator, at, arguments.quiet);
    }
    let scorer = Scorer::new(&artifact, arguments.threshold, arguments.values)?;
    let format = output_format(&arguments.output, arguments.output_format)?;
    let mut inputs: Vec<&Path> = vec![&arguments.logits, &arguments.estimator];
    inputs.extend(arguments.input.extra());
    not_over(&arguments.output, &inputs)?;
    let options = arguments.input.options_for(&artifact)?;
    let source = Source::of_logits(&arguments.logits, options.encoding)?;
    let reader = LogitsReader::open(&source, &options)?;
    check_classes(&artifact, reader.classes()).map_err(in_file(&arguments.logits))?;
    let (values, accepts) = (arguments.values, scorer.accepts());
    let mut writer = ScoreWriter::create(&arguments.output, format, values, accepts)?;
    let progress = Progress::new("scoring", reader.rows(), arguments.quiet);
    let mut rows = 0;
    reader.map_pieces(
        |logits| Ok::<Scored, LabError>(scorer.score(logits)?),
        |scored| {
            writer.write(&scored.answers, &scored.values)?;
            rows += scored.answers.len() as u64;
            progress.at(rows);
            Ok(())
        },
    )?;
    drop(progress);
    writer.finish()?;
    if !accepts && !arguments.quiet {
        eprintln!(
            "note: the estimator has no threshold, so there is no column `accept`; \
             `abstain certify` finds one, or --threshold"
        );
    }
    Ok(())
}

fn output_format(path: &Path, given: Option<ScoreFormat>) -> Result<ScoreFormat> {
    if let Some(format) = given.or_else(|| ScoreFormat::of_path(path)) {
        return Ok(format);
    }
    if path.as_os_str() == "-" {
        return Ok(ScoreFormat::Csv);
    }
    Err(hinted(
        format!("{}: the file name does not determine the format", path.display()),
        format!("give --output-format ({})", ScoreFormat::names()),
    ))
}
