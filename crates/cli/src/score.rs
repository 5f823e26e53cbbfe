//! `abstain score`: an answer to every row.

use crate::failure::{hinted, in_file};
use crate::input::{InputArguments, ModelArguments, estimator, not_over, note_scale};
use crate::notes;
use crate::progress::Progress;
use abstain::Encoding;
use abstain_io::{
    LogitsReader, PredictionColumn, Reading, ScoreColumns, ScoreFormat, ScoreWriter, Source,
};
use abstain_lab::{LabError, ScoreSummary, Scored, Scorer, check_classes};
use anyhow::Result;
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
    #[command(flatten)]
    input: InputArguments,
    /// No progress and no notes
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
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
    let summary = arguments.score(&scorer, format)?;
    let warnings = summary.0.warnings(scorer.artifact(), summary.1);
    notes::print_warnings(&warnings, &arguments.logits);
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
        let artifact = scorer.artifact();
        let mut options = self.input.options_for(artifact)?;
        options.keep.clone_from(&self.keep);
        options.row_by_row = self.line_buffered;
        if let (Encoding::Confidence, Some(name)) = (options.encoding, &self.confidence_name) {
            options.logits_name = Some(name.clone());
        }
        let mut source = Source::of_logits(&self.logits, options.encoding)?;
        if self.line_buffered {
            source = source.line_by_line();
        }
        let bare = options.encoding == Encoding::Confidence;
        if bare && self.values {
            let problem = "a confidence that is computed elsewhere has no other value";
            return Err(hinted(problem, "leave out --values"));
        }
        let reader = LogitsReader::open(&source, &options)?;
        if !self.quiet {
            eprintln!("note: {}", notes::of_reading(&Reading::of(&reader, &self.logits)));
        }
        if !bare {
            check_classes(artifact, reader.classes()).map_err(in_file(&self.logits))?;
        }
        let names = reader.columns().class_names.clone().or(options.class_names);
        let predictions = match names {
            _ if bare => PredictionColumn::None,
            Some(names) if !self.ids => PredictionColumn::Names(names),
            _ => PredictionColumn::Numbers,
        };
        let kept = reader.kept().to_vec();
        let (value, accept) = (self.values, scorer.accepts());
        let columns = ScoreColumns { predictions, value, accept, kept };
        let mut writer =
            ScoreWriter::create(&self.output, format, columns)?.line_buffered(self.line_buffered);
        let progress = Progress::new("scoring", reader.rows(), self.quiet);
        let (mut summary, encoding) = (ScoreSummary::default(), reader.encoding());
        if bare {
            reader.each_number(|numbers, kept| -> Result<()> {
                let answers = scorer.accept(numbers);
                summary.push_answers(&answers);
                writer.write(&answers, &[], kept)?;
                progress.at(summary.rows() as u64);
                Ok(())
            })?;
        } else {
            reader.map_pieces(
                |logits| Ok::<Scored, LabError>(scorer.score(logits)?),
                |scored, kept| {
                    summary.push(&scored);
                    writer.write(&scored.answers, &scored.values, kept)?;
                    progress.at(summary.rows() as u64);
                    Ok(())
                },
            )?;
        }
        drop(progress);
        writer.finish()?;
        Ok((summary, encoding))
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
