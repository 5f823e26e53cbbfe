//! `abstain tune`: from held-out rows to an estimator.

use crate::failure::{Refused, hinted, in_file};
use crate::input::{
    GroupColumns, InputArguments, SamplingArguments, check_output, rows, unlabelled_rows,
};
use crate::notes;
use crate::options::{TargetArguments, TogetherArguments, procedure, share};
use crate::page::{PageArguments, provenance, short_name, write_page};
use crate::progress::Progress;
use abstain::certify::Procedure;
use abstain::{
    Artifact, Fallback, Objective, RowSource, Space, Threshold, Tuner, artifact::ModelInfo,
    internal::Folds, threshold::Basis,
};
use abstain_io::{
    ErrorKind, FileRows, Format, LossArgument, Quantity, ReadOptions, Reading, Source, read_fields,
    write_artifact,
};
use abstain_lab::{
    Holdout, LabError, Step, TuneRequest, TuneResult, Unlabelled, check_loss, encoding_beside,
    tune, tune_with_test,
};
use abstain_report as report;
use abstain_report::page::TunePage;
use anyhow::Result;
use clap::builder::PossibleValuesParser;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain tune logits.npy labels.npy
  abstain tune logits.npy labels.npy --target-accuracy 0.98 --delta 0.05 -o estimator.json
  abstain tune logits.npy labels.npy --page page.html
  abstain tune holdout.npz --test test-logits.npy test-labels.npy -o estimator.json
  abstain tune logits.npy --no-labels -o estimator.json
  abstain tune logits.npy labels.npy --unlabelled deployed.npy -o estimator.json
  abstain tune probs.parquet --probs --method MaxLogit-pNorm --fallback paper --json

The estimator is fitted on all rows. What is printed is measured in folds: each row by estimators
that have not seen it. With --delta some rows are kept from the fit, and certify the threshold.
The recommended estimator is written, or MSP if that is clearly better.")]
#[expect(clippy::struct_excessive_bools, reason = "switches of the command line")]
pub(crate) struct Arguments {
    #[arg(help = format!("Logits, rows × classes ({}); - for standard input", Format::names()))]
    logits: PathBuf,
    /// Labels: classes, counted from 0 [default: the labels in the logits file]
    labels: Option<PathBuf>,
    /// File to write the estimator to
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Without labels: write the label-free rule, whose weights come from the logits alone
    #[arg(long, conflicts_with_all = ["labels", "test", "holdout", "splits", "folds", "delta", "target", "methods", "objective", "fallback", "space", "loss", "file", "replicates", "extra", "repeats", "group_folds"])]
    no_labels: bool,
    /// Unlabelled logits of the deployment: the stack takes means, deviations and skewness from them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_labels", "extra"])]
    unlabelled: Option<PathBuf>,

    /// Methods to tune, comma-separated or repeated; 'all' for those of the paper and the stack
    #[arg(long = "method", value_name = "NAME", value_delimiter = ',', default_value = "all")]
    methods: Vec<String>,
    /// Objective of tuning: a metric such as AURC or SAC@0.98, or NLL
    #[arg(long, value_name = "METRIC", default_value_t)]
    objective: Objective,
    /// When a method falls back to MSP: veto=2, none, paper, standard-errors=1, cross-validation=5
    #[arg(long, value_name = "RULE", default_value_t)]
    fallback: Fallback,
    /// Search space: standard, paper, published-code or fine
    #[arg(long, value_name = "SPACE", default_value = "standard", value_parser = PossibleValuesParser::new(Space::NAMES), hide_possible_values = true)]
    space: String,
    /// Loss: zero-one, top-5, or a file: one loss per row, or the costs of each label (row) and each
    /// prediction (column)
    #[arg(long, value_name = "LOSS", default_value_t)]
    loss: LossArgument,

    #[command(flatten)]
    target: TargetArguments,
    /// Certify the threshold: its guarantee fails with at most this probability
    #[arg(long, value_name = "D", value_parser = share, requires = "target")]
    delta: Option<f64>,
    /// Certification procedure: fixed-sequence or sgr
    #[arg(long, value_name = "NAME", value_parser = procedure(), hide_possible_values = true, default_value = "fixed-sequence", requires = "delta")]
    procedure: Procedure,

    /// Number of folds in which the rows are measured
    #[arg(long, value_name = "K", default_value_t = Folds::DEFAULT)]
    folds: usize,
    /// Tune on this share or number of rows, and measure on the others, instead of in folds
    #[arg(long, value_name = "ROWS", conflicts_with = "test")]
    holdout: Option<Holdout>,
    /// Test rows: measure on these, and tune on all rows of LOGITS
    #[arg(long, value_names = ["LOGITS", "LABELS"], num_args = 1..=2, conflicts_with = "extra")]
    test: Option<Vec<PathBuf>>,
    /// Number of random splits into tuning and test rows that the table is averaged over
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "test")]
    splits: u32,
    /// Largest number of rows that tune; if there are more, a random sample of this size
    #[arg(long, value_name = "ROWS", default_value_t = TuneRequest::default().max_rows)]
    max_rows: usize,
    #[command(flatten)]
    sampling: SamplingArguments,

    #[command(flatten)]
    input: InputArguments,
    /// Column of groups: what is accepted is counted for each
    #[arg(long, value_name = "COLUMN", help_heading = "Input", conflicts_with = "no_labels")]
    group: Option<String>,
    #[command(flatten)]
    together: TogetherArguments,

    /// The classifier, as NAME or NAME@VERSION; it is written into the estimator
    #[arg(long, value_name = "ID", help_heading = "Output")]
    model_id: Option<ModelInfo>,
    /// Anything else about the classifier, as KEY=VALUE; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair, requires = "model_id", help_heading = "Output")]
    metadata: Vec<(String, String)>,
    /// Date to write into the estimator, as you state it
    #[arg(long, value_name = "DATE", help_heading = "Output")]
    date: Option<String>,

    #[command(flatten)]
    page: PageArguments,
    /// Show every method in the table, not only MSP, the chosen one and the best three of the others
    #[arg(long, help_heading = "Output")]
    all: bool,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Print only the verdict, and no progress and no notes
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl Arguments {
    fn request(&self) -> Result<TuneRequest> {
        let methods = TuneRequest::methods_by_name(&self.methods).map_err(|error| {
            let hint = if self.methods.iter().any(|name| name.contains('(')) {
                "methods are tuned, so leave out their parameters"
            } else {
                "`abstain list` shows scores, transforms and families"
            };
            hinted(error.to_string(), hint)
        })?;
        Ok(TuneRequest {
            methods,
            tuner: Tuner {
                objective: self.objective,
                space: self.space.parse()?,
                fallback: self.fallback,
                seed: self.sampling.seed,
                ..Tuner::default()
            },
            target: self.target.target(),
            delta: self.delta,
            procedure: self.procedure,
            folds: self.folds,
            holdout: self.holdout,
            max_rows: self.max_rows,
            splits: self.splits as usize,
            repeats: self.together.repeats,
            replicates: self.sampling.replicates(),
            ..TuneRequest::default()
        })
    }

    /// The files that are read.
    fn inputs(&self) -> Vec<&Path> {
        let mut files: Vec<&Path> = vec![&self.logits];
        files.extend(self.labels.as_deref());
        files.extend(self.test.iter().flatten().map(PathBuf::as_path));
        files.extend(self.unlabelled.as_deref());
        files.extend(self.loss.file());
        files.extend(self.input.extra());
        files
    }

    /// Refuses outputs that would replace an input, or each other, before any work.
    fn check_outputs(&self) -> Result<()> {
        let mut others = self.inputs();
        check_output(self.output.as_deref(), &others)?;
        others.extend(self.output.as_deref());
        self.page.check(&others)
    }

    fn rows<'a>(&self, paths: &[&Path], options: &ReadOptions) -> Result<FileRows<'a>> {
        let groups = GroupColumns {
            counted: self.group.as_deref(),
            together: self.together.group_folds.as_deref(),
        };
        rows(paths[0], paths.get(1).copied(), options, &self.loss, groups, self.quiet)
    }

    /// Tunes, and says how the rows were read.
    fn tune(&self, request: &TuneRequest) -> Result<(TuneResult, Reading)> {
        let options = self.input.options()?;
        let mut files: Vec<&Path> = vec![&self.logits];
        files.extend(self.labels.as_deref());
        let source = self.rows(&files, &options);
        let mut source = source.map_err(|error| self.of_bare_confidences(error, &options))?;
        let reading = source.reading().clone();
        let mut request = request.clone();
        if let Some(file) = &self.unlabelled {
            let options = ReadOptions { format: None, ..self.options_beside(&source)? };
            let mut rows = unlabelled_rows(file, options, self.quiet)?;
            let deployment = Unlabelled::read(&mut rows, self.max_rows);
            let recipe = deployment.and_then(|rows| rows.deployment(source.classes()));
            request.tuner.stack = recipe.map_err(in_file(file))?;
        }
        let bar = Progress::new("tuning", Some(1), self.quiet);
        let mut on_step = on_step(&bar);
        let Some(paths) = &self.test else {
            let result =
                tune(&request, &mut source, &mut on_step).map_err(in_file(&self.logits))?;
            return Ok((result, reading));
        };
        check_loss(source.loss(), 2)?;
        let options = self.options_beside(&source)?;
        let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let mut test = self.rows(&paths, &options)?;
        let result = tune_with_test(&request, &mut source, &mut test, &mut on_step);
        Ok((result.map_err(in_file(paths[0]))?, reading))
    }

    /// Says why there is nothing to tune, if a table without classes is one of confidences.
    fn of_bare_confidences(&self, error: anyhow::Error, options: &ReadOptions) -> anyhow::Error {
        use ErrorKind::{NoClasses, OneColumn};
        let nothing = error
            .downcast_ref::<abstain_io::Error>()
            .is_some_and(|error| matches!(*error.kind, NoClasses { .. } | OneColumn { .. }));
        let has_confidences = || {
            let fields =
                read_fields(&Source::new(&self.logits), options.format).unwrap_or_default();
            fields.iter().any(|field| Quantity::Confidences.has_name(&field.name))
        };
        if nothing && self.logits.as_os_str() != "-" && has_confidences() {
            return in_file(&self.logits)(LabError::NothingToTune);
        }
        error
    }
}

impl Arguments {
    /// How to read a second set.
    fn options_beside(&self, first: &FileRows<'_>) -> Result<ReadOptions> {
        let mut options = self.input.options()?;
        options.encoding = encoding_beside(first, options.encoding);
        if options.class_names.is_none() {
            options.class_names = first.class_names().map(<[String]>::to_vec);
        }
        Ok(options)
    }

    fn run_without_labels(&self, out: &mut impl Write) -> Result<()> {
        check_output(self.output.as_deref(), &[&self.logits])?;
        let mut source = unlabelled_rows(&self.logits, self.input.options()?, self.quiet)?;
        let result = Unlabelled::read(&mut source, self.max_rows);
        let result = result.and_then(|rows| rows.label_free(source.encoding()));
        let mut result = result.map_err(in_file(&self.logits))?;
        self.identify(&mut result.artifact);
        if let Some(output) = &self.output {
            write_artifact(&result.artifact, output)?;
        }
        if self.json {
            let json = serde_json::to_value(&result)?;
            writeln!(out, "{}", serde_json::to_string_pretty(&json)?)?;
        } else if self.quiet {
            writeln!(out, "{}", report::label_free_verdict(&result))?;
        } else {
            write!(out, "{}", report::label_free(&result))?;
        }
        self.print_output_note(out)
    }

    /// Writes into an artifact which classifier it is for, and when it was made.
    fn identify(&self, artifact: &mut Artifact) {
        let mut model = self.model_id.clone();
        if !self.metadata.is_empty() {
            let model = model.get_or_insert_default();
            model.metadata.extend(self.metadata.iter().cloned());
        }
        artifact.model = model;
        artifact.date.clone_from(&self.date);
        self.input.remember(artifact);
    }

    /// Says what was written, or that nothing was.
    fn print_output_note(&self, out: &mut impl Write) -> Result<()> {
        if self.quiet || self.json {
            return Ok(());
        }
        out.flush()?;
        match &self.output {
            Some(output) => eprintln!("written: {}", output.display()),
            None if self.page.file().is_none() => {
                eprintln!("note: nothing was written; -o FILE writes the estimator");
            }
            None => {}
        }
        Ok(())
    }
}

/// A key and its value.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().into(), value.into())),
        _ => Err("KEY=VALUE, as in owner=vision".into()),
    }
}

/// Shows each step of tuning on a bar.
pub(crate) fn on_step(bar: &Progress) -> impl FnMut(Step) {
    |step: Step| {
        bar.now(step.method.map_or("measuring".into(), |method| format!("tuning {method}")));
        bar.of(step.done as u64, step.all as u64);
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    if arguments.no_labels {
        return arguments.run_without_labels(out);
    }
    let request = arguments.request()?;
    request.check()?;
    arguments.check_outputs()?;
    let (mut result, reading) = arguments.tune(&request)?;
    arguments.identify(&mut result.artifact);
    let names = result.artifact.class_names.as_deref();
    notes::print_named_warnings(&result.report.warnings, &arguments.logits, names);
    if result.report.certificate.is_some() && !arguments.quiet {
        notes::print_one_call();
    }
    // After a refusal nothing is written: an earlier artifact is better than one without threshold.
    if let (Some(output), None) = (&arguments.output, result.refusal) {
        write_artifact(&result.artifact, output)?;
    }
    let json = serde_json::to_value(result.answer(Some(&reading)))?;
    print(arguments, &result, &json, out)?;
    if let Some(file) = arguments.page.file() {
        out.flush()?;
        let page = TunePage {
            title: title(&result.artifact, &arguments.logits),
            measured_on: arguments.test.as_ref().map(|test| short_name(&test[0])),
            class_names: result.artifact.class_names.clone(),
            provenance: provenance(),
            json,
            ..TunePage::new(&result)
        };
        write_page(file, &page.html()?, arguments.quiet || arguments.json)?;
    }
    conclude(arguments, &result, out)
}

fn print(
    arguments: &Arguments,
    result: &TuneResult,
    json: &Value,
    out: &mut impl Write,
) -> Result<()> {
    let found = &result.report;
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json)?)?;
    } else if arguments.quiet {
        writeln!(out, "{}", report::verdict(found))?;
        if let (Some(certified), None) = (report::certified(found), result.refusal) {
            writeln!(out, "{certified}")?;
        }
    } else {
        let table = if arguments.all { report::tuning } else { report::tuning_in_short };
        write!(out, "{}", table(found))?;
        if let Some(breakdown) = &found.breakdown {
            write!(out, "{}", report::breakdown(breakdown))?;
        }
        if let Some(note) = threshold_note(&result.artifact, found.zero_one) {
            writeln!(out, "{note}")?;
        }
    }
    Ok(())
}

/// Says what was written, or refuses.
fn conclude(arguments: &Arguments, result: &TuneResult, out: &mut impl Write) -> Result<()> {
    let output = arguments.output.as_ref();
    if let Some(refusal) = result.refusal {
        let not_written =
            output.map_or(String::new(), |path| format!("; {} was not written", path.display()));
        return Err(Refused(format!("{refusal}{not_written}")).into());
    }
    arguments.print_output_note(out)
}

/// The classifier, if it has a name, or else the file.
fn title(artifact: &Artifact, file: &Path) -> String {
    match &artifact.model {
        Some(ModelInfo { name, version: Some(version), .. }) => format!("{name} {version}"),
        Some(ModelInfo { name, .. }) => name.clone(),
        None => short_name(file),
    }
}

fn threshold_note(artifact: &Artifact, zero_one: bool) -> Option<String> {
    let Threshold { at, basis } = artifact.threshold()?;
    if let Basis::Certified { .. } = basis {
        return Some(format!("Threshold: {at}"));
    }
    // Only losses of 0 and 1 can be certified.
    let more = if zero_one { "; --delta 0.05 would certify one" } else { "" };
    Some(format!("Threshold: {at} (met on these rows, not certified{more})"))
}
