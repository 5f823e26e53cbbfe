//! `abstain tune`: from held-out rows to an estimator.

use crate::data::{Dataset, InputArguments, LossArgument, not_over};
use crate::failure::{Refused, hinted};
use crate::progress::Progress;
use abstain::certify::Procedure;
use abstain::{
    Artifact, Fallback, Input, Measured, Method, Objective, Space, Threshold, Tuner, Tuning,
};
use abstain_io::{Encoding, write_artifact};
use abstain_lab::{Experiment, Holdout, RowSource, Split, Step, Target, TuneReport};
use abstain_report as report;
use anyhow::Result;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain tune logits.npy labels.npy
  abstain tune logits.npy labels.npy --target-accuracy 0.98 --delta 0.05 -o estimator.json
  abstain tune holdout.npz --test test-logits.npy test-labels.npy -o estimator.json
  abstain tune probs.parquet --probs --method MaxLogit-pNorm --fallback paper --json

A random part of the rows tunes, and everything that is printed is measured on the others. The
estimator that is written is the recommended method's (of those asked for), or MSP's if the other rows
do not confirm that it is better.")]
pub(crate) struct Arguments {
    /// The logits: rows × classes in npy, npz, safetensors, pt, parquet or csv; - for standard input
    logits: PathBuf,
    /// The labels, classes counted from 0 [default: beside the logits in their file]
    labels: Option<PathBuf>,
    /// Where to write the estimator
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Methods to tune, with commas or again and again; 'all' for every one of the paper
    #[arg(long = "method", value_name = "NAME", value_delimiter = ',', default_value = "all")]
    methods: Vec<String>,
    /// What to tune for: a metric such as AURC or SAC@0.98, or NLL
    #[arg(long, value_name = "METRIC", default_value_t)]
    objective: Objective,
    /// When a tuned method is given up for MSP: none, paper, standard-errors=1, cross-validation=5
    #[arg(long, value_name = "RULE", default_value_t)]
    fallback: Fallback,
    /// The values to try: standard, paper, published-code or fine
    #[arg(long, value_name = "SPACE", default_value = "standard")]
    space: String,
    /// What an error costs: zero-one, top-5, or a file of costs (classes × classes, or one a row)
    #[arg(long, value_name = "LOSS", default_value_t)]
    loss: LossArgument,

    /// The accuracy asked of the answers that are kept; sets a threshold
    #[arg(long, value_name = "A", value_parser = share, group = "target")]
    target_accuracy: Option<f64>,
    /// The selective risk allowed among the answers that are kept; sets a threshold
    #[arg(long, value_name = "R", value_parser = share, group = "target")]
    target_risk: Option<f64>,
    /// Certify the threshold: its guarantee fails with at most this probability
    #[arg(long, value_name = "D", value_parser = share, requires = "target")]
    delta: Option<f64>,
    /// How to certify: fixed-sequence or sgr
    #[arg(long, value_name = "NAME", value_parser = procedure, default_value = "fixed-sequence", requires = "delta")]
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
    /// The seed of splits, folds and replicates
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Replicates of the bootstrap intervals
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    replicates: u32,

    #[command(flatten)]
    input: InputArguments,

    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the verdict alone, and no progress
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

/// A number between 0 and 1, both excluded.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("a number between 0 and 1, both excluded".into()),
    }
}

pub(crate) fn procedure(text: &str) -> Result<Procedure, String> {
    match text {
        "fixed-sequence" => Ok(Procedure::FixedSequence),
        "sgr" => Ok(Procedure::Sgr),
        _ => Err("fixed-sequence or sgr".into()),
    }
}

fn methods(names: &[String]) -> Result<Vec<Method>> {
    let mut methods = Vec::new();
    for name in names {
        let more = match &name.to_ascii_lowercase()[..] {
            "all" => Tuner::methods_of_the_paper(),
            _ => vec![name.parse::<Method>()?],
        };
        methods.extend(more.into_iter().filter(|own| !methods.contains(own)).collect::<Vec<_>>());
    }
    Ok(methods)
}

impl Arguments {
    fn experiment(&self) -> Result<Experiment> {
        let space: Space = self.space.parse()?;
        let tuner = Tuner {
            objective: self.objective,
            space,
            fallback: self.fallback,
            seed: self.seed,
            ..Tuner::default()
        };
        let target = match (self.target_accuracy, self.target_risk) {
            (Some(accuracy), _) => Some(Target::Accuracy(accuracy)),
            (_, Some(risk)) => Some(Target::Risk(risk)),
            _ => None,
        };
        Ok(Experiment {
            methods: methods(&self.methods)?,
            tuner,
            target,
            delta: self.delta,
            procedure: self.procedure,
            holdout: self.holdout.unwrap_or_default(),
            splits: self.splits as usize,
            replicates: self.replicates as usize,
        })
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
    if let Some(output) = &arguments.output {
        let test = arguments.test.iter().flatten();
        let inputs = [Some(&arguments.logits), arguments.labels.as_ref()];
        let inputs: Vec<&Path> =
            inputs.into_iter().flatten().chain(test).map(PathBuf::as_path).collect();
        not_over(output, &inputs)?;
    }
    let options = arguments.input.options();
    let mut rows = arguments.dataset(&arguments.logits, arguments.labels.as_deref(), &options)?;
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
    let quiet = arguments.quiet;
    let found = run_experiment(&experiment, &mut rows, test.as_mut(), quiet)?;
    let mut artifact = artifact(&found, &experiment, arguments);
    artifact.input = rows.input;
    if let Some(tuning) = &mut artifact.tuning {
        tuning.data = rows.data();
    }
    artifact.threshold = threshold(&found, &experiment, test.as_ref().unwrap_or(&rows));

    // Refused, nothing is written: an earlier artifact is better than one without its threshold.
    let refused = found.infeasible.as_ref().map(|why| why.0.to_string());
    if let (Some(output), None) = (&arguments.output, &refused) {
        write_artifact(&artifact, output)?;
    }
    if arguments.json {
        let json = json!({ "report": found, "artifact": artifact });
        writeln!(out, "{}", serde_json::to_string_pretty(&json)?)?;
    } else if arguments.quiet {
        writeln!(out, "{}", report::verdict(&found))?;
    } else {
        write!(out, "{}", report::tuning(&found))?;
        if let Some(note) = threshold_note(&artifact) {
            writeln!(out, "{note}")?;
        }
    }
    match (refused, &arguments.output) {
        (Some(why), output) => {
            let kept = output
                .as_ref()
                .map_or(String::new(), |path| format!("; {} was not written", path.display()));
            return Err(Refused(format!("no threshold can be certified: {why}{kept}")).into());
        }
        (None, Some(output)) if !arguments.quiet && !arguments.json => {
            out.flush()?;
            eprintln!("written: {}", output.display());
        }
        _ => {}
    }
    Ok(())
}

/// The rows of `--test`, which must be like the others.
fn test_rows(
    arguments: &Arguments,
    paths: &[PathBuf],
    rows: &Dataset,
    mut options: abstain_io::ReadOptions,
) -> Result<Dataset> {
    if let (Encoding::Probabilities { floor, .. }, Input::Probabilities { floor: own }) =
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
) -> Result<TuneReport>
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

fn artifact(found: &TuneReport, experiment: &Experiment, arguments: &Arguments) -> Artifact {
    let line = |method: Method| found.methods.iter().find(|own| own.method == method);
    let naurc = |method: Method| line(method)?.naurc.interval.map(|own| own.estimate);
    let choice = &found.choice;
    let is_msp = choice.estimator == abstain::Estimator::MSP;
    let mut artifact = Artifact::new(choice.estimator.clone());
    artifact.classes = Some(found.classes);
    artifact.tuning = Some(Tuning {
        method: choice.method,
        fell_back: is_msp && choice.method != Method::MSP,
        objective: found.objective,
        value: choice.tuned_value,
        baseline: choice.tuned_baseline,
        loss: arguments.loss.to_string(),
        space: arguments.space.clone(),
        fallback: experiment.tuner.fallback,
        seed: found.seed,
        rows: found.tuning_rows,
        data: None,
        measured: Some(Measured {
            rows: found.test_rows,
            naurc: naurc(if is_msp { Method::MSP } else { choice.method }),
            baseline: naurc(Method::MSP),
        }),
    });
    artifact
}

/// The certified threshold, or the one that met the target on the test rows if it was asked for.
fn threshold(found: &TuneReport, experiment: &Experiment, measured: &Dataset) -> Option<Threshold> {
    if let Some(certificate) = found.certificate {
        return Some(Threshold::certified(certificate, measured.data()));
    }
    experiment.target?;
    let knot = found.at_target.as_ref()?;
    Some(Threshold::Risk {
        at: knot.threshold,
        risk: experiment.target?.certifier(0.5).risk,
        rows: found.test_rows,
        accepted: knot.accepted,
        selective_risk: knot.selective_risk,
    })
}

fn threshold_note(artifact: &Artifact) -> Option<String> {
    match artifact.threshold.as_ref()? {
        Threshold::Certified { at, .. } => Some(format!("Threshold: {at}")),
        other => Some(format!(
            "Threshold: {} (met on the test rows, not certified; --delta 0.05 would certify one)",
            other.at()
        )),
    }
}
