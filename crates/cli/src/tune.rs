//! `abstain tune`: from held-out rows to an estimator.

use crate::data::{Dataset, InputArguments, LossArgument, SamplingArguments, check_output};
use crate::failure::{Refused, hinted};
use crate::page::{ClassNames, PageArguments, provenance, write_page};
use crate::progress::Progress;
use abstain::certify::Procedure;
use abstain::{Artifact, Fallback, Input, Method, Objective, Space, Threshold, Tuner};
use abstain_io::{Encoding, write_artifact};
use abstain_lab::{Experiment, Found, Holdout, Origin, RowSource, Split, Step, Target};
use abstain_report as report;
use abstain_report::page::TunePage;
use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain tune logits.npy labels.npy
  abstain tune logits.npy labels.npy --target-accuracy 0.98 --delta 0.05 -o estimator.json
  abstain tune logits.npy labels.npy --report report.html
  abstain tune holdout.npz --test test-logits.npy test-labels.npy -o estimator.json
  abstain tune probs.parquet --probs --method MaxLogit-pNorm --fallback paper --json

A random part of the rows tunes, and everything that is printed is measured on the others.
The estimator that is written is that of the recommended method (of those asked for), or MSP
if the other rows do not confirm that it is better.")]
pub(crate) struct Arguments {
    /// The logits: rows × classes in npy, npz, safetensors, pt, parquet or csv; - for standard input
    logits: PathBuf,
    /// The labels, classes counted from 0 [default: beside the logits in their file]
    labels: Option<PathBuf>,
    /// Where to write the estimator
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Methods to tune, with commas or again and again; 'all' for those of the paper and the stack
    #[arg(long = "method", value_name = "NAME", value_delimiter = ',', default_value = "all")]
    methods: Vec<String>,
    /// What to tune for: a metric such as AURC or SAC@0.98, or NLL
    #[arg(long, value_name = "METRIC", default_value_t)]
    objective: Objective,
    /// When a tuned method is given up for MSP: none, paper, standard-errors=1, cross-validation=5
    #[arg(long, value_name = "RULE", default_value_t)]
    fallback: Fallback,
    /// The values to try: standard, paper, published-code or fine
    #[arg(long, value_name = "SPACE", default_value = "standard", value_parser = PossibleValuesParser::new(Space::NAMES), hide_possible_values = true)]
    space: String,
    /// What an error costs: zero-one, top-5, or a file of costs (classes × classes, or one a row)
    #[arg(long, value_name = "LOSS", default_value_t)]
    loss: LossArgument,

    /// The accuracy asked of the answers that are kept; sets a threshold
    #[arg(long, value_name = "A", value_parser = share, group = "target")]
    target_accuracy: Option<f64>,
    /// The selective risk allowed among the answers that are kept; sets a threshold
    #[arg(long, value_name = "R", value_parser = risk, group = "target")]
    target_risk: Option<f64>,
    /// Certify the threshold: its guarantee fails with at most this probability
    #[arg(long, value_name = "D", value_parser = share, requires = "target")]
    delta: Option<f64>,
    /// How to certify: fixed-sequence or sgr
    #[arg(long, value_name = "NAME", value_parser = procedure(), hide_possible_values = true, default_value = "fixed-sequence", requires = "delta")]
    procedure: Procedure,

    /// Rows to tune on, as a share or a number [default: half of them, at most 5000]
    #[arg(long, value_name = "ROWS", conflicts_with = "test")]
    holdout: Option<Holdout>,
    /// Measure on these rows instead, and tune on all of LOGITS
    #[arg(long, value_names = ["LOGITS", "LABELS"], num_args = 1..=2)]
    test: Option<Vec<PathBuf>>,
    /// Random splits to average the table over
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "test")]
    splits: u32,
    #[command(flatten)]
    sampling: SamplingArguments,

    #[command(flatten)]
    input: InputArguments,

    #[command(flatten)]
    page: PageArguments,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Print the verdict alone, and no progress
    #[arg(short, long, conflicts_with = "json", help_heading = "Output")]
    quiet: bool,
}

/// A number between 0 and 1, both excluded.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("a number between 0 and 1, both excluded".into()),
    }
}

/// A mean loss: above 1 where a loss can be, and then there is nothing to certify.
fn risk(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("a number above 0".into()),
    }
}

/// The procedures by name, so that shells can complete them.
pub(crate) fn procedure() -> impl TypedValueParser<Value = Procedure> {
    PossibleValuesParser::new(["fixed-sequence", "sgr"]).map(|text| match &text[..] {
        "sgr" => Procedure::Sgr,
        _ => Procedure::FixedSequence,
    })
}

fn methods(names: &[String]) -> Result<Vec<Method>> {
    let mut methods = Vec::new();
    for name in names {
        let more = match &name.to_ascii_lowercase()[..] {
            "all" => Tuner::methods_of_the_paper(),
            _ => vec![name.parse::<Method>().map_err(|error| {
                let hint = if name.contains('(') {
                    "a method is tuned, so its numbers are left out"
                } else {
                    "`abstain list` shows scores, transforms and families"
                };
                hinted(error.to_string(), hint)
            })?],
        };
        methods.extend(more.into_iter().filter(|own| !methods.contains(own)).collect::<Vec<_>>());
    }
    Ok(methods)
}

impl Arguments {
    fn experiment(&self) -> Result<Experiment> {
        let space: Space = self.space.parse()?;
        if self.objective.to_string() == "Accuracy" {
            let problem = "no estimator changes the accuracy of all rows";
            return Err(hinted(problem, "SAC@0.95 is the share that is kept at an accuracy"));
        }
        let tuner = Tuner {
            objective: self.objective,
            space,
            fallback: self.fallback,
            seed: self.sampling.seed,
            ..Tuner::default()
        };
        let target = Target::of(self.target_accuracy, self.target_risk);
        Ok(Experiment {
            methods: methods(&self.methods)?,
            tuner,
            target,
            delta: self.delta,
            procedure: self.procedure,
            holdout: self.holdout.unwrap_or_default(),
            splits: self.splits as usize,
            replicates: self.sampling.replicates as usize,
        })
    }

    /// The page must not replace what is read, nor the estimator.
    fn check_page(&self) -> Result<()> {
        let mut others: Vec<&Path> = vec![&self.logits];
        others.extend(self.labels.as_deref());
        others.extend(self.output.as_deref());
        others.extend(self.test.iter().flatten().map(PathBuf::as_path));
        if let LossArgument::File(path) = &self.loss {
            others.push(path);
        }
        self.page.check(&others)
    }

    fn dataset(
        &self,
        logits: &Path,
        labels: Option<&Path>,
        options: &abstain_io::ReadOptions,
    ) -> Result<Dataset> {
        Dataset::open(logits, labels, options, &self.loss, self.quiet)
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let experiment = arguments.experiment()?;
    let (output, labels) = (arguments.output.as_deref(), arguments.labels.as_deref());
    check_output(output, &arguments.logits, labels, &arguments.loss)?;
    for test in arguments.test.iter().flatten() {
        check_output(output, test, None, &arguments.loss)?;
    }
    if arguments.test.is_some() && matches!(arguments.loss, LossArgument::File(_)) {
        let problem = "losses or costs from a file are for one set of rows alone";
        return Err(hinted(problem, "leave out --test, or use zero-one or top-5 losses"));
    }
    arguments.check_page()?;
    let class_names = arguments.page.class_names()?;
    let options = arguments.input.options();
    let mut rows = arguments.dataset(&arguments.logits, labels, &options)?;
    let mut test = match &arguments.test {
        None => None,
        Some(paths) => Some(test_rows(arguments, paths, &rows, options)?),
    };
    if test.is_none() && Split::random(rows.rows(), experiment.holdout, 0).is_none() {
        let (count, path) = (rows.rows(), arguments.logits.display());
        let problem =
            format!("{path}: {count} row(s) cannot be split as asked ({})", experiment.holdout);
        return Err(hinted(problem, "some must tune, and some must be left to measure on"));
    }
    ClassNames::check(class_names.as_ref(), rows.classes, true)?;
    let quiet = arguments.quiet;
    let all = run_experiment(&experiment, &mut rows, test.as_mut(), quiet).map_err(explained)?;
    if test.as_ref().is_some_and(|test| test.data() == rows.data()) {
        let problem = "the rows of --test are the very rows that were tuned on";
        return Err(hinted(problem, "leave out --test: some of the rows are then kept apart"));
    }
    let found = &all.report;
    let origin = Origin {
        input: rows.input,
        loss: arguments.loss.to_string(),
        space: arguments.space.clone(),
        tuned_on: rows.data(),
        measured_on: test.as_ref().unwrap_or(&rows).data(),
    };
    let artifact = experiment.artifact(found, &origin);

    // Refused, nothing is written: an earlier artifact is better than one without its threshold.
    let refused = experiment.refusal(found);
    if let (Some(output), None) = (&arguments.output, &refused) {
        write_artifact(&artifact, output)?;
    }
    let json = json!({ "report": found, "artifact": artifact });
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json)?)?;
    } else if arguments.quiet {
        writeln!(out, "{}", report::verdict(found))?;
        if let (Some(certified), None) = (report::certified(found), &refused) {
            writeln!(out, "{certified}")?;
        }
    } else {
        write!(out, "{}", report::tuning(found))?;
        if let Some(note) = threshold_note(&artifact, found.zero_one) {
            writeln!(out, "{note}")?;
        }
    }
    if let Some(file) = arguments.page.file() {
        out.flush()?;
        let rows = test.as_mut().unwrap_or(&mut rows);
        let html = page(arguments, &experiment, (&all, &artifact), rows, class_names, json)?;
        write_page(file, &html, arguments.quiet || arguments.json)?;
    }
    match (refused, &arguments.output) {
        (Some(why), output) => {
            let kept = output
                .as_ref()
                .map_or(String::new(), |path| format!("; {} was not written", path.display()));
            return Err(Refused(format!("{why}{kept}")).into());
        }
        (None, Some(output)) if !arguments.quiet && !arguments.json => {
            out.flush()?;
            eprintln!("written: {}", output.display());
        }
        (None, None) if !arguments.quiet && !arguments.json && arguments.page.file().is_none() => {
            out.flush()?;
            eprintln!("note: nothing was written; -o FILE keeps the estimator");
        }
        _ => {}
    }
    Ok(())
}

/// The page, refused or not: it says why.
fn page(
    arguments: &Arguments,
    experiment: &Experiment,
    (found, artifact): (&Found, &Artifact),
    rows: &mut Dataset,
    class_names: Option<ClassNames>,
    json: serde_json::Value,
) -> Result<String> {
    let measured_on = arguments.test.as_ref().map_or(&arguments.logits, |paths| &paths[0]);
    let answers = rows.answers()?;
    let page = TunePage {
        delta: experiment.delta,
        title: short_name(&arguments.logits),
        measured_on: short_name(measured_on),
        class_names: class_names.map(ClassNames::into_names),
        provenance: provenance(),
        json,
        ..TunePage::new(found, artifact, &answers, experiment.replicates)
    };
    Ok(page.html()?)
}

/// A file and the folder it is in: every other file of logits is called just that.
fn short_name(path: &Path) -> String {
    if path.as_os_str() == "-" {
        return "standard input".into();
    }
    let parts: Vec<_> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(part) => Some(part.to_string_lossy()),
            _ => None,
        })
        .collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

/// Says of a loss that cannot be certified what can.
pub(crate) fn explained(error: anyhow::Error) -> anyhow::Error {
    let graded = abstain::Error::Undefined(abstain::Undefined::LossNotZeroOne);
    if error.downcast_ref::<abstain::Error>() == Some(&graded) {
        let hint = "use zero-one or top-5 losses, or leave out --delta";
        return hinted("only losses of 0 and 1 can be certified", hint);
    }
    error
}

/// The rows of `--test`, which must be like the others.
fn test_rows(
    arguments: &Arguments,
    paths: &[PathBuf],
    rows: &Dataset,
    mut options: abstain_io::ReadOptions,
) -> Result<Dataset> {
    if let (Encoding::Probabilities { floor, .. }, Input::Probabilities { floor: own, .. }) =
        (&mut options.encoding, rows.input)
    {
        // Both sets have the floor of the first: it is part of the estimator.
        *floor = Some(own);
    }
    let test = arguments.dataset(&paths[0], paths.get(1).map(PathBuf::as_path), &options)?;
    if test.classes != rows.classes {
        let (own, other) = (test.classes, rows.classes);
        let path = paths[0].display();
        let problem = format!("{path}: {own} classes, but {other} in the rows to tune on");
        return Err(hinted(problem, "both must come from the same classifier"));
    }
    Ok(test)
}

/// Runs an experiment with a bar.
pub(crate) fn run_experiment<S>(
    experiment: &Experiment,
    rows: &mut S,
    test: Option<&mut S>,
    quiet: bool,
) -> Result<Found>
where
    S: RowSource,
    anyhow::Error: From<S::Error>,
{
    let bar = Progress::new("tuning", Some(1), quiet);
    let mut progress = |step: Step| {
        bar.now(step.method.map_or("measuring".into(), |method| format!("tuning {method}")));
        bar.of(step.done as u64, step.all as u64);
    };
    Ok(match test {
        Some(test) => experiment.run_on(rows, test, &mut progress)?,
        None => experiment.run(rows, &mut progress)?,
    })
}

fn threshold_note(artifact: &Artifact, zero_one: bool) -> Option<String> {
    match artifact.threshold.as_ref()? {
        Threshold::Certified { at, .. } => Some(format!("Threshold: {at}")),
        other => {
            // Only errors that are counted can be certified.
            let more = if zero_one { "; --delta 0.05 would certify one" } else { "" };
            Some(format!("Threshold: {} (met on the test rows, not certified{more})", other.at()))
        }
    }
}
