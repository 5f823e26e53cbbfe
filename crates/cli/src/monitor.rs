//! `abstain monitor`: whether what was promised still holds.

use crate::failure::{Alarmed, hinted};
use crate::input::{check_output, estimator, not_over};
use crate::options::{LevelArguments, TargetArguments, share};
use crate::page::{PageArguments, provenance, short_name, write_page};
use crate::progress::Progress;
use crate::records::{LabelArguments, RecordArguments};
use abstain::Artifact;
use abstain::monitor::{MonitorReport, MonitorSettings};
use abstain_io::{AtomicFile, ErrorKind, Role, Source, write_artifact};
use abstain_lab::{
    LabError, Target, WatchRequest, WatchResult, WatchState, recertified, state_from_json,
    state_to_json, watch,
};
use abstain_report as report;
use anyhow::{Context, Result};
use std::cell::Cell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often the state of a stream that is followed is stored.
const BETWEEN_SAVES: Duration = Duration::from_secs(1);

/// Rows after which progress is shown.
const ROWS_A_STEP: u64 = 10_000;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain score estimator.json rows.parquet --keep id -o records.csv
  abstain monitor estimator.json records.csv --labels labels.csv --state watch.json
  abstain monitor estimator.json 'records-*.csv' --labels labels.csv --state watch.json --page watch.html
  tail -n +1 -F records.jsonl | abstain monitor estimator.json - --format jsonl --state watch.json
  abstain monitor estimator.json records.csv --labels labels.csv -o certified-anew.json

Records are scores of `abstain score` in time order, with an id, and optionally a time and a group. Labels
have an id and a label (or correct, or loss), and come at any time later; a propensity, if `abstain audit`
chose them. A label beside a record counts if it is there when the record is counted. With --state each
call counts what is new; a stream on standard input begins where it began the first time. Without labels, coverage, confidences and predicted
classes are watched. Exits with 1 where an alarm stands.")]
#[expect(clippy::struct_excessive_bools, reason = "switches of the command line")]
pub(crate) struct Arguments {
    /// Estimator with a threshold, best one that `abstain certify` or `abstain tune --delta` certified
    estimator: PathBuf,
    /// Records: a file, a folder, a pattern in quotes, or - to follow standard input
    records: PathBuf,
    /// Labels of some of the records, by id; - for standard input [default: a label beside each record,
    /// where there is one]
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    labels: Option<PathBuf>,
    /// Where the state is stored, so that the next call goes on from there
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    state: Option<PathBuf>,
    /// The file of records follows the one before, instead of beginning with it
    #[arg(long, requires = "state", help_heading = "Input")]
    next: bool,
    /// File of records that was counted before and has moved since, in which rows of late labels are found;
    /// may be repeated. Files that are where they were are found without
    #[arg(long, value_name = "FILE", requires = "state", help_heading = "Input")]
    earlier: Vec<PathBuf>,
    /// Column of groups, each of which is watched as well
    #[arg(long, value_name = "COLUMN", help_heading = "Input")]
    group: Option<String>,
    #[command(flatten)]
    columns: RecordArguments,
    #[command(flatten)]
    label_columns: LabelArguments,
    /// Smallest propensity of the rows that were chosen for a label, if the labels do not have it in a
    /// column `min_propensity`
    #[arg(long, value_name = "P", value_parser = share, help_heading = "Input")]
    min_propensity: Option<f64>,
    #[command(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    levels: LevelArguments,
    /// Largest loss; losses and the target are on its scale
    #[arg(long, value_name = "L", default_value_t = 1.0)]
    max_loss: f64,
    /// Rows that were not accepted have labels as accepted ones do (as `abstain audit` chooses them):
    /// thresholds below the one in use may be certified anew, too
    #[arg(long)]
    abstained_labelled: bool,
    /// Discard the evidence for thresholds: only later rows certify them, with half of what is left of delta
    #[arg(long)]
    restart_certification: bool,
    /// Write the estimator with the lowest threshold that the labels certify anew
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write the numbers in the text format of Prometheus; - for standard output instead of the report
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    prometheus: Option<PathBuf>,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// No progress and no notes
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let artifact = estimator(&arguments.estimator)?;
    arguments.check()?;
    let settings = MonitorSettings {
        alpha: arguments.levels.alpha,
        delta: arguments.levels.delta,
        max_loss: arguments.max_loss,
        abstained_labelled: arguments.abstained_labelled,
        target_risk: arguments.target.target().map(Target::risk),
        ..MonitorSettings::default()
    };
    let mut state = arguments.read_state(&artifact, &settings)?;
    if arguments.restart_certification {
        state.stream.restart_certification();
    }
    let result = arguments.watch(&artifact, settings, &mut state)?;
    // The state first: what is printed can be had again, what was counted cannot be counted twice.
    arguments.write_state(&state)?;
    arguments.print(&result, &state, out)?;
    if let Some(output) = &arguments.output {
        write_artifact(&recertified(&artifact, state.stream.monitor())?, output)?;
        if !arguments.quiet {
            eprintln!("written: {}", output.display());
        }
    }
    match result.report.alarms.len() {
        0 => Ok(()),
        alarms => {
            out.flush()?;
            Err(Alarmed(alarms).into())
        }
    }
}

impl Arguments {
    fn labels_are_piped(&self) -> bool {
        self.labels.as_deref().is_some_and(|path| path.as_os_str() == "-")
    }

    fn is_followed(&self) -> bool {
        self.records.as_os_str() == "-"
    }

    /// Refuses what could not be done or would overwrite something, before anything is counted.
    fn check(&self) -> Result<()> {
        if self.is_followed() && self.labels_are_piped() {
            return Err(hinted(
                "records and labels cannot both be standard input",
                "write one of them to a file and give its name, or put the labels beside the records",
            ));
        }
        let mut inputs: Vec<&Path> = vec![&self.estimator, &self.records];
        inputs.extend(self.labels.as_deref());
        let outputs = [self.state.as_deref(), self.output.as_deref(), self.prometheus.as_deref()];
        for output in outputs.into_iter().flatten().filter(|path| path.as_os_str() != "-") {
            not_over(output, &inputs)?;
        }
        check_output(self.output.as_deref(), &inputs)?;
        if let Some(path) = self.prometheus.as_ref().filter(|path| path.as_os_str() != "-") {
            drop(AtomicFile::create(path)?);
        }
        inputs.extend(outputs.into_iter().flatten());
        self.page.check(&inputs)
    }

    fn read_state(&self, artifact: &Artifact, settings: &MonitorSettings) -> Result<WatchState> {
        let Some(path) = &self.state else { return Ok(WatchState::new(artifact, settings)?) };
        match std::fs::read_to_string(path) {
            Ok(text) => state_from_json(&text).with_context(|| path.display().to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                // That it can be written is found out now, not after a long stream.
                drop(AtomicFile::create(path)?);
                Ok(WatchState::new(artifact, settings)?)
            }
            Err(error) => Err(ErrorKind::from(error).of(path).into()),
        }
    }

    fn write_state(&self, state: &WatchState) -> Result<(), LabError> {
        let Some(path) = &self.state else { return Ok(()) };
        Ok(AtomicFile::write_whole(path, state_to_json(state)?.as_bytes())?)
    }

    /// Writes the metrics, if they go to a file.
    fn write_metrics(&self, found: &MonitorReport) -> Result<(), LabError> {
        let Some(path) = self.prometheus.as_ref().filter(|path| path.as_os_str() != "-") else {
            return Ok(());
        };
        Ok(AtomicFile::write_whole(path, report::prometheus(found).as_bytes())?)
    }

    fn watch(
        &self,
        artifact: &Artifact,
        settings: MonitorSettings,
        state: &mut WatchState,
    ) -> Result<WatchResult> {
        let followed = self.is_followed();
        let source = Source::new(&self.records);
        // What others append to may end within a line; the next call reads it.
        let growing = self.state.is_some();
        let whole = |source: Source| if growing { source.whole_lines() } else { source };
        let source = if followed { source.line_by_line() } else { whole(source) };
        let mut others: Vec<(Role, String)> = self.label_columns.time().into_iter().collect();
        others.extend(self.group.clone().map(|name| (Role::Group, name)));
        if self.labels.is_none() {
            others.extend(self.label_columns.outcomes());
        }
        let labels = match &self.labels {
            None => None,
            // Columns are looked at before the labels are read.
            Some(path) if self.labels_are_piped() => Some(Source::to_read_again(path)?),
            Some(path) => Some(whole(Source::new(path))),
        };
        let labels = labels.map(|source| self.columns.labels(source, &self.label_columns));
        let earlier =
            self.earlier.iter().map(|path| self.columns.records(Source::new(path), others.clone()));
        let request = WatchRequest {
            artifact,
            settings,
            earlier: earlier.collect(),
            records: self.columns.records(source, others.clone()),
            labels,
            next_file: self.next,
            min_propensity: self.min_propensity,
        };
        for file in [Some(&request.records), request.labels.as_ref()].into_iter().flatten() {
            if file.ends_within_a_line()? && !self.quiet {
                let path = file.source.path().display();
                eprintln!("note: {path}: the last line has no end; it is counted once it has one");
            }
        }
        let progress = Progress::new("watching", None, self.quiet || followed);
        let saved = Cell::new(Instant::now());
        let mut alarms = state.stream.monitor().alarms();
        let result = watch(&request, state, &mut |state| {
            let monitor = state.stream.monitor();
            let records = monitor.records();
            if records % ROWS_A_STEP == 0 {
                progress.at(records);
            }
            if !followed {
                return Ok(());
            }
            let now = monitor.alarms();
            for raised in now.iter().filter(|alarm| !alarms.contains(alarm)) {
                let of =
                    raised.group.as_ref().map_or(String::new(), |name| format!(" of '{name}'"));
                let place = state.stream.place(raised.alarm.row).filter(|place| !place.later);
                let time = place.and_then(|place| place.time);
                let time = time.map_or(String::new(), |time| format!(", {time}"));
                eprintln!("alarm: {}{of}, at row {}{time}", raised.test, raised.alarm.row);
            }
            let raised = now.len() > alarms.len();
            alarms = now;
            if raised || saved.get().elapsed() >= BETWEEN_SAVES {
                self.write_state(state)?;
                self.write_metrics(&monitor.report())?;
                saved.set(Instant::now());
            }
            Ok(())
        })?;
        Ok(result)
    }

    fn print(&self, result: &WatchResult, state: &WatchState, out: &mut impl Write) -> Result<()> {
        let metrics = || report::prometheus(&result.report);
        let to_output = self.prometheus.as_deref().is_some_and(|path| path.as_os_str() == "-");
        if to_output {
            write!(out, "{}", metrics())?;
        } else if self.json {
            writeln!(out, "{}", serde_json::to_string_pretty(result)?)?;
        } else {
            write!(out, "{}", report::monitor(result))?;
        }
        out.flush()?;
        self.write_metrics(&result.report)?;
        if let Some(path) = self.page.file() {
            let title = format!("{}, watched", short_name(&self.records));
            let history = state.stream.history().cloned().unwrap_or_default();
            let html = report::page::monitor(&title, result, &history, &provenance())?;
            write_page(path, &html, self.quiet)?;
        }
        Ok(())
    }
}
