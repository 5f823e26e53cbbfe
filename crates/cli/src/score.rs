//! `abstain score`: an answer to every row.

use crate::failure::{hinted, in_file};
use crate::input::{InputArguments, ModelArguments, estimator, not_over, note_scale};
use crate::notes;
use crate::progress::Progress;
use abstain::Encoding;
use abstain_io::{BadRows, LogitsReader, Reading, ScoreFormat, Source};
use abstain_lab::{ScoreOutput, ScoreSummary, Scorer};
use anyhow::Result;
use clap::ValueEnum;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain score estimator.json logits.npy -o scores.parquet
  abstain score estimator.json logits.npy --values -o scores.csv
  abstain score estimator.json rows.parquet --keep id -o scores.parquet
  abstain score judge.json answers.csv --keep id -o decisions.csv
  zcat logits.csv.gz | abstain score 'MaxLogit-pNorm(p=5)' - > scores.csv
  tail -f rows.jsonl | abstain score estimator.json - --format jsonl --line-buffered

Columns: prediction, the class (its name, where names are known); confidence, higher is surer, on the scale of the threshold;
accept, whether it reaches the threshold. Rows are streamed: memory does not grow with the file.")]
#[expect(clippy::struct_excessive_bools, reason = "switches of the command line")]
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
    /// Columns of the input to write beside the scores, such as ids; comma-separated or repeated
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Output")]
    keep: Vec<String>,
    /// Write the numbers of the predicted classes, where their names are known
    #[arg(long, help_heading = "Output")]
    ids: bool,
    /// Score and write each row as soon as it is there, as from a pipe
    #[arg(long, help_heading = "Output")]
    line_buffered: bool,
    #[command(flatten)]
    model: ModelArguments,
    /// Name of the column of the confidences, for the estimator 'Confidence'
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    confidence_name: Option<String>,
    /// Rows that cannot be scored, such as those with a missing number: they abstain (no class, a
    /// confidence of -inf) and are counted, or are an error
    #[arg(long, value_name = "WHAT", default_value = "abstain", help_heading = "Input")]
    bad_rows: BadRowsOption,
    /// The column of the confidences is an uncertainty: the confidence is its negative
    #[arg(long, help_heading = "Input")]
    negate: bool,
    #[command(flatten)]
    input: InputArguments,
    /// No progress and no notes
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

/// What is done with rows that cannot be scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BadRowsOption {
    Abstain,
    Refuse,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let artifact = estimator(&arguments.estimator)?;
    arguments.model.check(&artifact)?;
    if let Some(at) = arguments.threshold {
        note_scale(&artifact.estimator, at, arguments.quiet);
    }
    let scorer = Scorer::new(&artifact, arguments.threshold, arguments.values)?;
    let format = output_format(&arguments.output, arguments.output_format)?;
    let mut inputs: Vec<&Path> = vec![&arguments.logits, &arguments.estimator];
    inputs.extend(arguments.input.extra());
    not_over(&arguments.output, &inputs)?;
    let (summary, encoding) = arguments.score(&scorer, format)?;
    notes::print_warnings(&summary.warnings(scorer.artifact(), encoding), &arguments.logits);
    if let Some((rows, first)) = summary.bad_rows() {
        let path = arguments.logits.display();
        eprintln!(
            "warning: {path}: {rows} row(s) cannot be scored and abstain, without a class; the first: {first}"
        );
    }
    if !scorer.accepts() && !arguments.quiet {
        eprintln!(
            "note: the estimator has no threshold, so there is no column `accept`; \
             `abstain certify` finds one, or --threshold"
        );
    }
    Ok(())
}

impl Arguments {
    /// Scores all rows and writes them; returns what the rows look like, and what they are.
    fn score(&self, scorer: &Scorer, format: ScoreFormat) -> Result<(ScoreSummary, Encoding)> {
        let mut options = self.input.options_for(scorer.artifact())?;
        options.keep.clone_from(&self.keep);
        options.row_by_row = self.line_buffered;
        options.negate |= self.negate;
        options.bad_rows = match self.bad_rows {
            BadRowsOption::Abstain => BadRows::Keep,
            BadRowsOption::Refuse => BadRows::Refuse,
        };
        if let (Encoding::Confidence, Some(name)) = (options.encoding, &self.confidence_name) {
            options.logits_name = Some(name.clone());
        }
        let mut source = Source::of_logits(&self.logits, options.encoding)?;
        if self.line_buffered {
            source = source.line_by_line();
        }
        let reader = LogitsReader::open(&source, &options)?;
        if !self.quiet {
            eprintln!("note: {}", notes::of_reading(&Reading::of(&reader, &self.logits)));
        }
        let (encoding, class_names) = (reader.encoding(), options.class_names);
        let progress = Progress::new("scoring", reader.rows(), self.quiet);
        let (ids, line_buffered) = (self.ids, self.line_buffered);
        let output = ScoreOutput { path: &self.output, format, class_names, ids, line_buffered };
        let summary = scorer.write(reader, output, &mut |rows| progress.at(rows as u64));
        Ok((summary.map_err(in_file(&self.logits))?, encoding))
    }
}

pub(crate) fn output_format(path: &Path, given: Option<ScoreFormat>) -> Result<ScoreFormat> {
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
