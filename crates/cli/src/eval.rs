//! `abstain eval`: an estimator on labelled rows.

use crate::failure::{Refused, hinted, in_file};
use crate::input::{InputArguments, SamplingArguments, column, estimator, loss_with, rows};
use crate::options::{TargetArguments, coverage};
use crate::page::{ClassNames, PageArguments, provenance, write_page};
use crate::progress::Progress;
use abstain::{Artifact, Labels, Losses, Metric, RowSource};
use abstain_io::{LossArgument, Numbers, hash_of_file};
use abstain_lab::{
    Answers, Contender, EvaluateRequest, Gate, LabError, SetReport, check_classes, evaluate,
    evaluate_confidences,
};
use abstain_report as report;
use abstain_report::page::{Detail, EvalPage, EvaluatedSet};
use anyhow::{Context, Result};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain eval estimator.json logits.npy labels.npy
  abstain eval estimator.json clean.npz --set fog fog.npz fog.npz --set snow snow.npz snow.npz
  abstain eval estimator.json logits.npy labels.npy --page page.html
  abstain eval 'MSP-TS(T=1.5)' logits.npy labels.npy --metric NAURC,RiskAtCoverage@0.8
  abstain eval --confidence scores.csv --labels labels.npy
  abstain eval --confidence mine.npy --losses wrong.npy

Every value, and every difference to MSP, has a 95 % interval.

--fail-if-violated fails only where the rows show, with an error probability of at most 5 %, that
the selective risk at the threshold is above its target: a risk above it alone may be chance.
--min-coverage and --min-accuracy compare the values on these rows as they are. All results are
printed in any case; a requirement that is not met ends the program with exit code 1.")]
pub(crate) struct Arguments {
    /// Estimator: a file of `abstain tune`, or a text such as 'MaxLogit-pNorm(p=5)'
    #[arg(required_unless_present = "confidence", requires = "logits")]
    estimator: Option<PathBuf>,
    /// Logits; - for standard input
    logits: Option<PathBuf>,
    /// Labels [default: the labels in the logits file]
    labels: Option<PathBuf>,
    /// A further set with its name; may be repeated
    #[arg(long = "set", value_names = ["NAME", "LOGITS", "LABELS"], num_args = 3, requires = "estimator", conflicts_with = "extra")]
    sets: Vec<PathBuf>,

    /// Column of confidences, one per row: measured beside the estimator, or alone
    #[arg(long, value_name = "FILE")]
    confidence: Option<PathBuf>,
    /// Labels for --confidence without logits; the predictions are in the file of the confidences
    #[arg(
        long = "labels",
        value_name = "FILE",
        requires = "confidence",
        conflicts_with_all = ["estimator", "extra"],
        id = "labels_of_confidence"
    )]
    labels_of_confidence: Option<PathBuf>,
    /// Predictions for --labels, if they are in a separate file
    #[arg(long, value_name = "FILE", requires = "labels_of_confidence")]
    predictions: Option<PathBuf>,
    /// Losses for --confidence without logits: 1 for each wrong row
    #[arg(long, value_name = "FILE", requires = "confidence", conflicts_with_all = ["estimator", "labels_of_confidence", "extra"])]
    losses: Option<PathBuf>,

    /// Metrics, comma-separated or repeated [default: the usual ones of every kind]
    #[arg(
        long = "metric",
        value_name = "METRIC",
        value_delimiter = ',',
        conflicts_with = "target"
    )]
    metrics: Vec<Metric>,
    #[command(flatten)]
    target: TargetArguments,
    /// Loss: zero-one, top-5, or a file of costs (classes × classes) or of one loss per row
    /// [default: that of the estimator]
    #[arg(long, value_name = "LOSS", requires = "estimator")]
    loss: Option<LossArgument>,
    #[command(flatten)]
    sampling: SamplingArguments,
    /// Fail if the target of the estimator's threshold is violated on these rows
    #[arg(long, help_heading = "Requirements", requires = "estimator")]
    fail_if_violated: bool,
    /// Fail if the threshold accepts a smaller share of the rows
    #[arg(long, value_name = "C", value_parser = coverage, help_heading = "Requirements", requires = "estimator")]
    min_coverage: Option<f64>,
    /// Fail if the accuracy of the rows that the threshold accepts is lower; of all rows without a
    /// threshold
    #[arg(long, value_name = "A", value_parser = coverage, help_heading = "Requirements")]
    min_accuracy: Option<f64>,
    #[command(flatten)]
    input: InputArguments,
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
    arguments.check_page()?;
    let class_names = arguments.page.class_names()?;
    let artifact = match (&arguments.estimator, &arguments.logits) {
        (Some(text), Some(_)) => Some(estimator(text)?),
        _ => None,
    };
    let sets = match (&artifact, &arguments.logits) {
        (Some(artifact), Some(logits)) => {
            arguments.on_sets(artifact, logits, class_names.as_ref())?
        }
        _ => vec![arguments.without_logits(class_names.as_ref())?],
    };
    let reports: Vec<&SetReport> = sets.iter().map(|set| &set.result.report).collect();
    let failed = |report: &&&SetReport| report.verdict.as_ref().is_some_and(|v| !v.passed);
    let failed: Vec<String> =
        reports.iter().filter(failed).map(|report| report.name.clone()).collect();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reports)?)?;
    } else {
        for (index, set) in sets.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            write!(out, "{gap}{}", report::evaluation(&set.result.report, set.result.known))?;
        }
        if reports.len() > 1 {
            let known = sets[0].result.known;
            let reports: Vec<SetReport> = reports.into_iter().cloned().collect();
            write!(out, "\n{}", report::summary(&reports, known))?;
        }
    }
    if let Some(file) = arguments.page.file() {
        out.flush()?;
        let page = EvalPage {
            sets,
            class_names: class_names.map(ClassNames::into_names),
            provenance: provenance(),
            ..EvalPage::default()
        };
        write_page(file, &page.html()?, arguments.quiet || arguments.json)?;
    }
    if failed.is_empty() {
        return Ok(());
    }
    out.flush()?;
    Err(Refused(format!("requirements are not met on {}", failed.join(", "))).into())
}

impl Arguments {
    /// The page must not replace what is read.
    fn check_page(&self) -> Result<()> {
        let files = [
            &self.estimator,
            &self.logits,
            &self.labels,
            &self.confidence,
            &self.labels_of_confidence,
            &self.predictions,
            &self.losses,
        ];
        let mut others: Vec<&Path> = files.into_iter().flatten().map(PathBuf::as_path).collect();
        for set in self.sets.chunks_exact(3) {
            others.extend(set[1..].iter().map(PathBuf::as_path));
        }
        others.extend(self.loss.as_ref().and_then(LossArgument::file));
        others.extend(self.input.extra());
        self.page.check(&others)
    }

    fn request(&self) -> EvaluateRequest {
        EvaluateRequest {
            metrics: (!self.metrics.is_empty()).then(|| self.metrics.clone()),
            target: self.target.target(),
            replicates: self.sampling.replicates(),
            seed: self.sampling.seed,
            gate: Gate {
                target: self.fail_if_violated,
                min_coverage: self.min_coverage,
                min_accuracy: self.min_accuracy,
            },
        }
    }

    fn bar(&self) -> Progress {
        Progress::new("measuring", Some(1), self.quiet)
    }

    fn on_sets(
        &self,
        artifact: &Artifact,
        logits: &Path,
        names: Option<&ClassNames>,
    ) -> Result<Vec<EvaluatedSet>> {
        let name = logits.file_stem().map_or("-".into(), |name| name.to_string_lossy());
        let mut request = self.request();
        let files = (logits, self.labels.as_deref());
        let confidence = self.confidence.as_deref();
        let first = self.on_set(artifact, &name, files, confidence, &request, names)?;
        // The same target on all sets, or they could not be compared.
        request.target = Some(first.result.report.target);
        let mut sets = vec![first];
        for set in self.sets.chunks_exact(3) {
            let (name, files) = (set[0].to_string_lossy(), (&*set[1], Some(&*set[2])));
            sets.push(self.on_set(artifact, &name, files, None, &request, names)?);
        }
        Ok(sets)
    }

    fn on_set(
        &self,
        artifact: &Artifact,
        name: &str,
        (logits, labels): (&Path, Option<&Path>),
        confidence: Option<&Path>,
        request: &EvaluateRequest,
        names: Option<&ClassNames>,
    ) -> Result<EvaluatedSet> {
        let options = self.input.options_for(artifact)?;
        let loss = loss_with(artifact, self.loss.as_ref())?;
        let mut source = rows(logits, labels, &options, &loss, self.quiet)?;
        check_classes(artifact, source.classes()).map_err(in_file(logits))?;
        ClassNames::check(names, source.classes(), true)?;
        if source.loss().is_per_row() && !self.sets.is_empty() {
            return Err(LabError::LossOfOneSet.into());
        }
        let others = match confidence {
            Some(path) => vec![confidences(path)?],
            None => Vec::new(),
        };
        if let (Some(path), Some(other)) = (confidence, others.first()) {
            let (found, expected) = (other.confidences.len(), source.rows());
            if found != expected {
                let (path, logits) = (path.display(), logits.display());
                let problem =
                    format!("{path}: {found} confidences for the {expected} rows of {logits}");
                return Err(hinted(problem, "both files must come from the same run, row for row"));
            }
        }
        let bar = self.bar();
        let result = evaluate(name, artifact, &mut source, others, request, &mut |done, steps| {
            bar.of(done as u64, steps as u64);
        });
        let result = result.map_err(in_file(logits))?;
        drop(bar);
        if !self.quiet {
            for note in report::evaluation_notes(&result) {
                eprintln!("note: {}: {note}", logits.display());
            }
        }
        Ok(EvaluatedSet { result, files: hashes(&[confidence])? })
    }

    fn without_logits(&self, names: Option<&ClassNames>) -> Result<EvaluatedSet> {
        let Some(path) = &self.confidence else {
            return Err(hinted("there is nothing to measure", "give an estimator and logits"));
        };
        let contender = confidences(path)?;
        let (losses, answers) = match (&self.losses, &self.labels_of_confidence) {
            (Some(losses), _) => {
                let usual = ["loss", "losses", "wrong", "error"];
                let values = column(losses, "losses", None, &usual)?;
                let context = || losses.display().to_string();
                (Losses::new(values.into_floats()).with_context(context)?, None)
            }
            (None, Some(labels)) => {
                let predictions = self.predictions.as_deref();
                let (losses, answers) = losses_of_predictions(predictions, path, labels)?;
                (losses, Some(answers))
            }
            (None, None) => {
                let hint =
                    "--losses FILE with 1 for each wrong row, or --labels FILE and predictions";
                return Err(hinted("the losses of the rows are not given", hint));
            }
        };
        let (found, expected) = (losses.values().len(), contender.confidences.len());
        if found != expected {
            let problem = format!("{found} losses for the {expected} rows of {}", path.display());
            return Err(hinted(problem, "both files must come from the same run, row for row"));
        }
        let bar = self.bar();
        let mut on_step = |done, steps| bar.of(done as u64, steps as u64);
        let result =
            evaluate_confidences(contender, losses, answers, &self.request(), &mut on_step)
                .with_context(|| path.display().to_string())?;
        ClassNames::check(names, result.classes.unwrap_or(0), false)?;
        let files = [&self.confidence, &self.losses, &self.labels_of_confidence, &self.predictions];
        Ok(EvaluatedSet { result, files: hashes(&files.map(Option::as_deref))? })
    }
}

fn confidences(path: &Path) -> Result<Contender> {
    let confidences = column(path, "confidences", None, &["confidence", "confidences", "score"])?;
    let name = path.file_stem().map_or("confidence".into(), |name| name.to_string_lossy());
    Ok(Contender::of_column(name, confidences.into_floats()))
}

/// The SHA-256 of files that are read whole, but for standard input.
fn hashes(files: &[Option<&Path>]) -> Result<Vec<Detail>> {
    let files = files.iter().flatten().filter(|path| path.as_os_str() != "-");
    let detail = |path: &&Path| -> Result<Detail> {
        Ok(Detail::new(format!("{} (SHA-256)", path.display()), hash_of_file(path)?))
    };
    files.map(detail).collect()
}

/// 1 where the prediction is not the label. Without a separate file, predictions are the column of
/// that name in the file of the confidences.
fn losses_of_predictions(
    file: Option<&Path>,
    confidences: &Path,
    labels: &Path,
) -> Result<(Losses, Answers)> {
    let usual = ["prediction", "predictions", "predicted", "y_pred"];
    let wanted = if file.is_some() { None } else { Some("prediction") };
    let predictions = file.unwrap_or(confidences);
    let predicted = column(predictions, "predictions", wanted, &usual).map_err(|error| {
        if file.is_some() {
            return error;
        }
        let problem = format!("{}: there are no predictions in it", confidences.display());
        hinted(problem, "give --predictions, or --losses with 1 for each wrong row")
    })?;
    let usual = ["labels", "label", "targets", "target", "y_true", "y"];
    let actual = column(labels, "labels", None, &usual)?;
    let integers = |numbers: Numbers, path: &Path| -> Result<Labels> {
        let values = numbers.into_integers().map_err(|kind| kind.of(path))?;
        // The number of classes is not known here.
        Labels::new(&values, u32::MAX as usize).with_context(|| path.display().to_string())
    };
    let (predicted, actual) = (integers(predicted, predictions)?, integers(actual, labels)?);
    if predicted.len() != actual.len() {
        let problem = format!(
            "{}: {} labels for the {} predictions of {}",
            labels.display(),
            actual.len(),
            predicted.len(),
            predictions.display()
        );
        return Err(hinted(problem, "both files must come from the same run, row for row"));
    }
    let losses = Losses::of_predictions(&predicted, &actual)?;
    let predictions = predicted.values().iter().map(|&class| class as usize).collect();
    Ok((losses, Answers { labels: actual, predictions }))
}
