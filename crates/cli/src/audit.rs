//! `abstain audit`: which rows to have labelled next.

use crate::failure::hinted;
use crate::input::{check_output, estimator, not_over};
use crate::options::{LevelArguments, TargetArguments};
use crate::records::RecordArguments;
use abstain::monitor::MonitorSettings;
use abstain_io::{Column, ScoreFormat, Source, write_table};
use abstain_lab::{AuditRequest, AuditResult, ChosenRow, Target, audit};
use abstain_report as report;
use anyhow::Result;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain audit estimator.json records.csv --budget 300 -o to-label.csv
  abstain audit estimator.json records.csv --budget 300 --rise 0.08 --from-row 120000 -o to-label.csv

Fill in the last column of the list, `label` (or `correct`, where there are no predictions), and give it to `abstain monitor --labels`: it reads the propensities.
Each row is chosen by itself, so the number of rows varies around the budget. Choose from a row once: --from-row
leaves out what an earlier audit chose from.")]
pub(crate) struct Arguments {
    /// Estimator with a threshold
    estimator: PathBuf,
    /// Records: scores of `abstain score` with an id
    records: PathBuf,
    /// Labels to expect
    #[arg(long, value_name = "N", value_parser = budget)]
    budget: f64,
    /// Share of the budget for rows that were not accepted, which tell whether the threshold may be lower
    #[arg(long, value_name = "S", default_value_t = 0.25, value_parser = from_0_to_1)]
    abstained: f64,
    /// Number of records to leave out at the beginning
    #[arg(long, value_name = "N", default_value_t = 0)]
    from_row: u64,
    /// Risk that is to be noticed [default: 1.5 and 2 times the target]
    #[arg(long, value_name = "R")]
    rise: Option<f64>,
    #[command(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    levels: LevelArguments,
    /// Seed of the choice
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    columns: RecordArguments,
    #[arg(short, long, value_name = "FILE", help_heading = "Output", help = format!("Where to write the list, in the format of its name ({})", ScoreFormat::names()))]
    output: Option<PathBuf>,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// No notes
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

fn budget(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("a number above 0".into()),
    }
}

fn from_0_to_1(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("a number from 0 to 1".into()),
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let artifact = estimator(&arguments.estimator)?;
    let inputs = [arguments.estimator.as_path(), &arguments.records];
    let format = match &arguments.output {
        Some(output) => {
            not_over(output, &inputs)?;
            check_output(Some(output), &inputs)?;
            Some(list_format(output)?)
        }
        None => None,
    };
    let settings = MonitorSettings {
        alpha: arguments.levels.alpha,
        delta: arguments.levels.delta,
        target_risk: arguments.target.target().map(Target::risk),
        seed: arguments.seed,
        ..MonitorSettings::default()
    };
    let source = Source::to_read_again(&arguments.records)?;
    let mut records = arguments.columns.records(source, Vec::new());
    records.row_by_row = false;
    let request = AuditRequest {
        artifact: &artifact,
        from_row: arguments.from_row,
        budget: arguments.budget,
        abstained: arguments.abstained,
        rise: arguments.rise,
        simulate: true,
        settings,
    };
    let result = audit(&request, &records)?;
    if let (Some(output), Some(format)) = (&arguments.output, format) {
        write_list(&result, output, format)?;
    }
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&result)?)?;
    } else {
        write!(out, "{}", report::audit(&result))?;
    }
    out.flush()?;
    match &arguments.output {
        _ if arguments.quiet || arguments.json => {}
        Some(output) => eprintln!("written: {}", output.display()),
        None => eprintln!("note: nothing was written; -o FILE writes the list"),
    }
    Ok(())
}

fn list_format(output: &Path) -> Result<ScoreFormat> {
    ScoreFormat::of_path(output).ok_or_else(|| {
        hinted(
            format!("{}: the file name does not determine the format", output.display()),
            format!("give it one of the endings {}", ScoreFormat::names()),
        )
    })
}

/// The list, with an empty column for the labels.
fn write_list(result: &AuditResult, output: &Path, format: ScoreFormat) -> Result<()> {
    let chosen = &result.chosen;
    let prediction = |row: &ChosenRow| row.prediction.clone().unwrap_or_default();
    // What has no prediction is not compared with a label.
    let compared = chosen.iter().any(|row| row.prediction.is_some());
    let columns = vec![
        ("id", Column::Texts(chosen.iter().map(|row| row.id.clone()).collect())),
        ("prediction", Column::Texts(chosen.iter().map(prediction).collect())),
        ("confidence", Column::Floats(chosen.iter().map(|row| row.confidence).collect())),
        ("accept", Column::Bools(chosen.iter().map(|row| row.accept).collect())),
        ("propensity", Column::Floats(chosen.iter().map(|row| row.propensity).collect())),
        ("min_propensity", Column::Floats(vec![result.plan.min_propensity; chosen.len()])),
        (
            if compared { "label" } else { "correct" },
            Column::Texts(vec![String::new(); chosen.len()]),
        ),
    ];
    Ok(write_table(output, format, columns)?)
}
