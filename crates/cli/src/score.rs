//! `abstain score`: an answer to every row.

use crate::data::{InputArguments, check_classes, estimator, not_over, note_scale};
use crate::failure::hinted;
use crate::progress::Progress;
use abstain::{Answer, Threshold};
use abstain_io::{Encoding, LogitsReader, ScoreFormat, ScoreWriter, Source};
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
    /// The estimator: a file of `abstain tune`, or a text such as 'MaxLogit-pNorm(p=5)'
    estimator: PathBuf,
    /// The logits; - for standard input
    logits: PathBuf,
    /// Where to write: npy, csv, tsv, parquet or jsonl by its name; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output")]
    output: PathBuf,
    /// The format of the output, where its name does not say it [default for -: csv]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    output_format: Option<ScoreFormat>,
    /// Accept from this confidence on, whatever the estimator says
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    threshold: Option<f64>,
    /// Add the column `value`: the confidence as the paper's formula has it, such as a probability
    #[arg(long, help_heading = "Output")]
    values: bool,
    #[command(flatten)]
    input: InputArguments,
    /// No progress and no notes
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut artifact = estimator(&arguments.estimator)?;
    match arguments.threshold {
        Some(at) if at.is_nan() => return Err(hinted("the threshold is NaN", "give a number")),
        Some(at) => {
            note_scale(&artifact.estimator, at, arguments.quiet);
            artifact.threshold = Some(Threshold::Given { at });
        }
        None => {}
    }
    let format = output_format(&arguments.output, arguments.output_format)?;
    not_over(&arguments.output, &[&arguments.logits, &arguments.estimator])?;
    let options = arguments.input.options_for(&artifact)?;
    let twice = matches!(options.encoding, Encoding::Probabilities { floor: None, .. });
    let source = if twice {
        Source::to_read_again(&arguments.logits)?
    } else {
        Source::new(&arguments.logits)
    };
    let reader = LogitsReader::open(&source, &options)?;
    let classes = reader.classes();
    check_classes(&artifact, classes, &arguments.logits)?;
    let accept = artifact.threshold.is_some();
    let mut writer = ScoreWriter::create(&arguments.output, format, arguments.values, accept)?;
    let progress = Progress::new("scoring", reader.rows(), arguments.quiet);
    let mut rows = 0;
    reader.map_pieces(
        |logits| -> Result<Vec<Answer>> { Ok(artifact.answers(logits)?) },
        |answers| {
            let value = |own: &Answer| artifact.estimator.value(own.confidence, classes);
            let values: Vec<f64> =
                if arguments.values { answers.iter().map(value).collect() } else { Vec::new() };
            writer.write(&answers, &values)?;
            rows += answers.len() as u64;
            progress.at(rows);
            Ok(())
        },
    )?;
    drop(progress);
    writer.finish()?;
    if !accept && !arguments.quiet {
        eprintln!(
            "note: the estimator has no threshold, so there is no column `accept`; \
             `abstain certify` finds one, or --threshold"
        );
    }
    Ok(())
}

fn output_format(path: &Path, said: Option<ScoreFormat>) -> Result<ScoreFormat> {
    if let Some(format) = said.or_else(|| ScoreFormat::of_path(path)) {
        return Ok(format);
    }
    if path.as_os_str() == "-" {
        return Ok(ScoreFormat::Csv);
    }
    Err(hinted(
        format!("{}: the name does not say the format", path.display()),
        format!("say it with --output-format ({})", ScoreFormat::names()),
    ))
}
