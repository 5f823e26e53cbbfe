//! `abstain eval`: an estimator on labelled rows.

use crate::failure::{Refused, hinted, in_file};
use crate::input::{
    BareArguments, GroupColumns, InputArguments, ModelArguments, SamplingArguments, estimator,
    loss_with, rows,
};
use crate::notes::print_warnings;
use crate::options::{TargetArguments, coverage};
use crate::page::{PageArguments, provenance, write_page};
use crate::progress::Progress;
use abstain::{Artifact, Encoding, RowSource};
use abstain_io::{ConfidenceFiles, LossArgument, Source, hash_of_file};
use abstain_lab::{
    Contender, EvaluateRequest, EvaluateResult, Gate, Measure, SetReport, Sets, check_classes,
    check_loss,
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
  abstain eval Confidence judged.csv --group site

Every value, and every difference to MSP, has a 95 % interval.

--fail-if-violated fails only where the rows show, with an error probability of at most 5 %, that
the selective risk at the threshold is above its target: a risk above it alone may be chance.
--min-coverage and --min-accuracy compare the values on these rows as they are. All results are
printed in any case; a requirement that is not met ends the program with exit code 1.")]
pub(crate) struct Arguments {
    /// Estimator: a file of `abstain tune`, a text such as 'MaxLogit-pNorm(p=5)', or 'Confidence' for a
    /// table of confidences
    #[arg(required_unless_present = "confidence", requires = "logits")]
    estimator: Option<PathBuf>,
    /// Logits, or the table; - for standard input
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

    /// Metrics of `abstain list`, ECE or NLL, comma-separated or repeated [default: the usual ones of every kind]
    #[arg(
        long = "metric",
        value_name = "METRIC",
        value_delimiter = ',',
        conflicts_with = "target"
    )]
    metrics: Vec<Measure>,
    #[command(flatten)]
    target: TargetArguments,
    /// Loss: zero-one, top-5, or a file: one loss per row, or the costs of each label (row) and each
    /// prediction (column)
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
    /// Column of groups: what is accepted is counted for each
    #[arg(long, value_name = "COLUMN", help_heading = "Input")]
    group: Option<String>,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    bare: BareArguments,
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
    let artifact = match (&arguments.estimator, &arguments.logits) {
        (Some(text), Some(_)) => Some(estimator(text)?),
        _ => None,
    };
    if let Some(artifact) = &artifact {
        arguments.model.check(artifact)?;
    }
    let (sets, class_names) = match (&artifact, &arguments.logits) {
        (Some(artifact), Some(table)) if artifact.input == Encoding::Confidence => {
            arguments.on_tables(artifact, table)?
        }
        (Some(artifact), Some(logits)) => arguments.on_sets(artifact, logits)?,
        _ => arguments.without_logits()?,
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
            if let Some(breakdown) = &set.result.report.breakdown {
                write!(out, "{}", report::breakdown(breakdown))?;
            }
        }
        if reports.len() > 1 {
            let known = sets[0].result.known;
            let reports: Vec<SetReport> = reports.into_iter().cloned().collect();
            write!(out, "\n{}", report::summary(&reports, known))?;
        }
    }
    if let Some(file) = arguments.page.file() {
        out.flush()?;
        let page = EvalPage { sets, class_names, provenance: provenance(), ..EvalPage::default() };
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
        self.bare.check_page(self.page.file())?;
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

    fn on_sets(&self, artifact: &Artifact, logits: &Path) -> Result<Evaluated> {
        self.bare.check_no_weights()?;
        let mut sets = Sets::new(Some(artifact), self.request());
        let files = (logits, self.labels.as_deref());
        let confidence = self.confidence.as_deref();
        let first = self.on_set(artifact, &mut sets, &stem(logits), files, confidence)?;
        let class_names = first.result.class_names.clone();
        let mut evaluated = vec![first];
        for set in self.sets.chunks_exact(3) {
            let (name, files) = (set[0].to_string_lossy(), (&*set[1], Some(&*set[2])));
            evaluated.push(self.on_set(artifact, &mut sets, &name, files, None)?);
        }
        Ok((evaluated, class_names))
    }

    fn on_set(
        &self,
        artifact: &Artifact,
        sets: &mut Sets<'_>,
        name: &str,
        (logits, labels): (&Path, Option<&Path>),
        confidence: Option<&Path>,
    ) -> Result<EvaluatedSet> {
        let options = self.input.options_for(artifact)?;
        let loss = loss_with(artifact, self.loss.as_ref())?;
        let group = self.group.as_deref();
        let mut source = rows(logits, labels, &options, &loss, group.into(), self.quiet)?;
        check_classes(artifact, source.classes()).map_err(in_file(logits))?;
        check_loss(source.loss(), 1 + self.sets.len() / 3)?;
        let others = match confidence {
            Some(path) => vec![self.confidences(path)?],
            None => Vec::new(),
        };
        if let (Some(path), Some(other)) = (confidence, others.first()) {
            let (found, expected) = (other.confidences.len(), source.rows().unwrap_or(0));
            if found != expected {
                let (path, logits) = (path.display(), logits.display());
                let problem =
                    format!("{path}: {found} confidences for the {expected} rows of {logits}");
                return Err(hinted(problem, "both files must come from the same run, row for row"));
            }
        }
        let bar = self.bar();
        let mut on_step = |done, steps| bar.of(done as u64, steps as u64);
        let result = sets.measure(name, &mut source, others, &mut on_step);
        let mut result = result.map_err(in_file(logits))?;
        drop(bar);
        result.report.input = Some(source.reading().clone());
        if !self.quiet {
            for note in report::evaluation_notes(&result) {
                eprintln!("note: {}: {note}", logits.display());
            }
        }
        print_warnings(&result.report.warnings, logits);
        Ok(EvaluatedSet { result, files: hashes(&[confidence])? })
    }

    /// The artifact of a bare confidence on one table or several.
    fn on_tables(&self, artifact: &Artifact, table: &Path) -> Result<Evaluated> {
        let first = [stem(table).into(), table.to_path_buf()];
        let labels = self.labels.as_ref();
        let mut sets = Sets::new(Some(artifact), self.request());
        let (mut evaluated, mut class_names) = (Vec::new(), None);
        let others = self.sets.chunks_exact(3).map(|set| (&set[0], &set[1], Some(&set[2])));
        for (name, table, labels) in [(&first[0], &first[1], labels)].into_iter().chain(others) {
            // A table that holds everything is given twice, as a set of files is.
            let labels = labels.filter(|labels| *labels != table).map(Source::new);
            let files = ConfidenceFiles { labels, ..BareArguments::table_of(artifact, table) };
            let result = self.on_table(&mut sets, &name.to_string_lossy(), files, table)?;
            class_names = class_names.or(result.class_names.clone());
            let files = hashes(&[Some(table)])?;
            evaluated.push(EvaluatedSet { result, files });
        }
        Ok((evaluated, class_names))
    }

    fn on_table(
        &self,
        sets: &mut Sets<'_>,
        name: &str,
        files: ConfidenceFiles,
        path: &Path,
    ) -> Result<EvaluateResult> {
        let mut rows =
            self.bare.rows(&self.input, files, self.group.as_deref().into(), self.quiet)?;
        rows.columns[0].name = name.to_string();
        let bar = self.bar();
        let mut on_step = |done, steps| bar.of(done as u64, steps as u64);
        let result = sets
            .measure(name, rows, Vec::new(), &mut on_step)
            .with_context(|| path.display().to_string())?;
        drop(bar);
        print_warnings(&result.report.warnings, path);
        Ok(result)
    }

    fn without_logits(&self) -> Result<Evaluated> {
        let Some(path) = &self.confidence else {
            return Err(hinted("there is nothing to measure", "give an estimator and logits"));
        };
        let files = ConfidenceFiles {
            labels: self.labels_of_confidence.as_ref().map(Source::new),
            predictions: self.predictions.as_ref().map(Source::new),
            losses: self.losses.as_ref().map(Source::new),
            ..ConfidenceFiles::new(Source::new(path))
        };
        let mut sets = Sets::new(None, self.request());
        let result = self.on_table(&mut sets, &stem(path), files, path)?;
        let class_names = result.class_names.clone();
        let files = [&self.confidence, &self.losses, &self.labels_of_confidence, &self.predictions];
        let files = hashes(&files.map(Option::as_deref))?;
        Ok((vec![EvaluatedSet { result, files }], class_names))
    }

    /// A column of confidences, which is measured beside the estimator.
    fn confidences(&self, path: &Path) -> Result<Contender> {
        let files = ConfidenceFiles::new(Source::new(path));
        let rows = self.bare.read(&self.input, files, GroupColumns::default(), true)?;
        Ok(Contender::of_column(stem(path), rows.confidences).with_predictions(rows.predictions))
    }
}

/// Sets that were measured, and the names of their classes.
type Evaluated = (Vec<EvaluatedSet>, Option<Vec<String>>);

/// The name of a file without its extension.
fn stem(path: &Path) -> String {
    path.file_stem().map_or("-".into(), |name| name.to_string_lossy().into_owned())
}

/// The SHA-256 of files that are read whole, but for standard input.
fn hashes(files: &[Option<&Path>]) -> Result<Vec<Detail>> {
    let files = files.iter().flatten().filter(|path| path.as_os_str() != "-");
    let detail = |path: &&Path| -> Result<Detail> {
        Ok(Detail::new(format!("{} (SHA-256)", path.display()), hash_of_file(path)?))
    };
    files.map(detail).collect()
}
