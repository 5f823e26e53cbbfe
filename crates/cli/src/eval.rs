//! `abstain eval`: an estimator on labelled rows.

use crate::data::{
    Dataset, InputArguments, LossArgument, SamplingArguments, check_classes, column, estimator,
    loss_for,
};
use crate::failure::hinted;
use crate::page::{ClassNames, PageArguments, provenance, write_page};
use crate::progress::Progress;
use crate::tune::share;
use abstain::{Artifact, Bootstrap, Estimator, Labels, Losses, Metric};
use abstain_io::{Numbers, hash_of_file};
use abstain_lab::picture::{Answers, Picture, Rows};
use abstain_lab::{
    Asked, Contender, RowSource, SetReport, Target, evaluate, seen_before, usual_metrics,
};
use abstain_report::page::{Detail, EvalPage, EvaluatedSet};
use abstain_report::{self as report, Known};
use anyhow::{Context, Result};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain eval estimator.json logits.npy labels.npy
  abstain eval estimator.json clean.npz --set fog fog.npz fog.npz --set snow snow.npz snow.npz
  abstain eval estimator.json logits.npy labels.npy --report report.html
  abstain eval 'MSP-TS(T=1.5)' logits.npy labels.npy --metric NAURC,RiskAtCoverage@0.8
  abstain eval --confidence scores.csv --labels labels.npy
  abstain eval --confidence mine.npy --losses wrong.npy

Every value has its 95 % interval from a bootstrap over the rows, and every difference to MSP too.")]
pub(crate) struct Arguments {
    /// The estimator: a file of `abstain tune`, or a text such as 'MaxLogit-pNorm(p=5)'
    #[arg(required_unless_present = "confidence", requires = "logits")]
    estimator: Option<PathBuf>,
    /// The logits; - for standard input
    logits: Option<PathBuf>,
    /// The labels [default: beside the logits in their file]
    labels: Option<PathBuf>,
    /// A further set under a name of its own; again and again
    #[arg(long = "set", value_names = ["NAME", "LOGITS", "LABELS"], num_args = 3, requires = "estimator")]
    sets: Vec<PathBuf>,

    /// Confidences of your own, one a row: beside the estimator's, or instead of any
    #[arg(long, value_name = "FILE")]
    confidence: Option<PathBuf>,
    /// For --confidence without logits: the labels; the predictions are beside the confidences
    #[arg(
        long = "labels",
        value_name = "FILE",
        requires = "confidence",
        conflicts_with = "estimator",
        id = "labels_of_confidence"
    )]
    labels_of_confidence: Option<PathBuf>,
    /// For --labels: the predictions, if they are in a file of their own
    #[arg(long, value_name = "FILE", requires = "labels_of_confidence")]
    predictions: Option<PathBuf>,
    /// For --confidence without logits: the loss of each row, 1 where it is wrong
    #[arg(long, value_name = "FILE", requires = "confidence", conflicts_with_all = ["estimator", "labels_of_confidence"])]
    losses: Option<PathBuf>,

    /// Metrics, with commas or again and again [default: the usual ones of every kind]
    #[arg(long = "metric", value_name = "METRIC", value_delimiter = ',')]
    metrics: Vec<Metric>,
    /// The accuracy asked of the answers that are kept [default: one that suits the classifier]
    #[arg(long, value_name = "A", value_parser = share, conflicts_with = "metrics")]
    target_accuracy: Option<f64>,
    /// What an error costs: zero-one, top-5, or a file of costs (classes × classes, or one a row)
    /// [default: that of the estimator]
    #[arg(long, value_name = "LOSS", requires = "estimator")]
    loss: Option<LossArgument>,
    #[command(flatten)]
    sampling: SamplingArguments,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let artifact = match (&arguments.estimator, &arguments.logits) {
        (Some(text), Some(_)) => Some(estimator(text)?),
        _ => None,
    };
    if !arguments.sets.is_empty() && matches!(arguments.loss, Some(LossArgument::File(_))) {
        let problem = "losses or costs from a file are for one set of rows alone";
        return Err(hinted(problem, "leave out --set, or use zero-one or top-5 losses"));
    }
    arguments.check_page()?;
    let class_names = arguments.page.class_names()?;
    let names = class_names.as_ref();
    let mut sets: Vec<Evaluated> = Vec::new();
    match (&artifact, &arguments.logits) {
        (Some(artifact), Some(logits)) => {
            let name = logits.file_stem().map_or("-".into(), |name| name.to_string_lossy());
            let labels = arguments.labels.as_deref();
            let own = arguments.confidence.as_deref();
            let asked =
                arguments.target_accuracy.map(Target::Accuracy).or(Target::of_artifact(artifact));
            let files = (&**logits, labels);
            let first = on_set(arguments, artifact, &name, files, own, asked, (names, None))?;
            // The same target on all sets, or they could not be compared.
            let asked = Some(first.report.target);
            sets.push(first);
            for set in arguments.sets.chunks_exact(3) {
                let (name, files) = (set[0].to_string_lossy(), (&*set[1], Some(&*set[2])));
                let first = sets.first().and_then(|own| own.picture.as_ref());
                let set = on_set(arguments, artifact, &name, files, None, asked, (names, first))?;
                sets.push(set);
            }
        }
        _ => sets.push(without_logits(arguments, names)?),
    }
    let reports: Vec<SetReport> = sets.iter().map(|own| own.report.clone()).collect();
    let known = artifact.as_ref().map(Known::of).unwrap_or_default();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reports)?)?;
    } else {
        for (index, found) in reports.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            write!(out, "{gap}{}", report::evaluation(found, known))?;
        }
        if reports.len() > 1 {
            write!(out, "\n{}", report::summary(&reports, known))?;
        }
    }
    if let Some(file) = arguments.page.file() {
        out.flush()?;
        let html = page(arguments, artifact.as_ref(), sets, known, class_names)?;
        write_page(file, &html, arguments.quiet || arguments.json)?;
    }
    Ok(())
}

/// A set that was measured, and what a page draws of it if there is to be one.
struct Evaluated {
    report: SetReport,
    picture: Option<Picture>,
    /// What was read, and its SHA-256.
    data: Vec<Detail>,
    /// What else is to be said.
    notes: Vec<String>,
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
        if let Some(LossArgument::File(path)) = &self.loss {
            others.push(path);
        }
        self.page.check(&others)
    }

    /// How intervals and bands are made.
    fn bootstrap(&self) -> Bootstrap {
        let SamplingArguments { seed, replicates } = self.sampling;
        Bootstrap { replicates: replicates as usize, seed, ..Bootstrap::default() }
    }

    /// What a page draws of a set, if there is to be one.
    fn draw(
        &self,
        contenders: &[Contender],
        report: &SetReport,
        rows: &Rows<'_>,
        (known, has_bounds): (Known, bool),
        first: Option<&Picture>,
    ) -> Result<Picture> {
        let sets = 1 + self.sets.len() / 3;
        let painter = EvalPage::painter(known, self.bootstrap(), report, sets, has_bounds);
        let threshold = report.threshold.map(|own| (own.whose, own.at));
        Ok(painter.compared(contenders, threshold, rows, first)?)
    }
}

fn page(
    arguments: &Arguments,
    artifact: Option<&Artifact>,
    sets: Vec<Evaluated>,
    known: Known,
    class_names: Option<ClassNames>,
) -> Result<String> {
    let loss = match artifact {
        Some(artifact) => loss_for(artifact, arguments.loss.as_ref())?,
        None => LossArgument::ZeroOne,
    };
    let title = sets.first().map_or(String::new(), |set| set.report.name.clone());
    let drawn = sets.into_iter().filter_map(|set| {
        let Evaluated { report, picture, data: details, notes } = set;
        Some(EvaluatedSet { report, picture: picture?, notes, details })
    });
    let page = EvalPage {
        sets: drawn.collect(),
        known,
        estimator: artifact.map(|artifact| artifact.estimator.clone()),
        loss: loss.to_string(),
        bootstrap: arguments.bootstrap(),
        title,
        class_names: class_names.map(ClassNames::into_names),
        provenance: provenance(),
    };
    Ok(page.html()?)
}

fn measure(
    arguments: &Arguments,
    name: &str,
    contenders: &[Contender],
    losses: &Losses,
    target: Option<Target>,
    threshold: Option<(usize, f64)>,
) -> Result<SetReport> {
    let target = target.unwrap_or_else(|| Target::usual_for(losses));
    let metrics = if arguments.metrics.is_empty() {
        usual_metrics(target, losses.is_zero_one())?
    } else {
        arguments.metrics.clone()
    };
    let bootstrap = arguments.bootstrap();
    let replicates = arguments.sampling.replicates.into();
    let bar = Progress::new("measuring", Some(replicates), arguments.quiet);
    let asked = Asked { metrics, target, threshold, bootstrap };
    Ok(evaluate(name, contenders, losses, &asked, &mut |done| bar.at(done as u64))?)
}

fn on_set(
    arguments: &Arguments,
    artifact: &Artifact,
    name: &str,
    (logits, labels): (&Path, Option<&Path>),
    confidence: Option<&Path>,
    target: Option<Target>,
    (names, first): (Option<&ClassNames>, Option<&Picture>),
) -> Result<Evaluated> {
    let options = arguments.input.options_for(artifact)?;
    let loss = loss_for(artifact, arguments.loss.as_ref())?;
    let mut set = Dataset::open(logits, labels, &options, &loss, arguments.quiet)?;
    check_classes(artifact, set.classes, logits)?;
    ClassNames::check(names, set.classes, true)?;
    let mut estimators = vec![artifact.estimator.clone()];
    if artifact.estimator != Estimator::MSP {
        estimators.push(Estimator::MSP);
    }
    let (columns, losses) = set.confidences(&estimators)?;
    let mut notes = Vec::new();
    let seen = seen_before(artifact, set.data().as_deref());
    notes.extend(seen.map(|note| format!("{}: {note}", logits.display())));
    if artifact.estimator.is_constant(set.classes) {
        let method = artifact.estimator.method();
        notes.push(report::sentences::constant_confidence(method, set.classes));
    }
    if !arguments.quiet {
        for note in &notes {
            eprintln!("note: {note}");
        }
    }
    let mut contenders: Vec<Contender> = (estimators.iter().zip(columns))
        .map(|(estimator, own)| Contender::new(estimator, own, set.classes))
        .collect();
    if let Some(path) = confidence {
        let own = own_confidence(path)?;
        let (found, expected) = (own.confidences.len(), losses.values().len());
        if found != expected {
            let (path, logits) = (path.display(), logits.display());
            let problem =
                format!("{path}: {found} confidences for the {expected} rows of {logits}");
            return Err(hinted(problem, "both files must come from the same run, row for row"));
        }
        contenders.insert(contenders.len() - 1, own);
    }
    // The estimator comes first, but for MSP, which is last as the baseline.
    let whose = if artifact.estimator == Estimator::MSP { contenders.len() - 1 } else { 0 };
    let at = artifact.threshold.as_ref().map(|own| (whose, own.at()));
    let report = measure(arguments, name, &contenders, &losses, target, at)
        .with_context(|| name.to_string())?;
    let picture = if arguments.page.file().is_some() {
        let answers = set.answers()?;
        let (classes, answers) = (Some(set.classes), Some(&answers));
        let rows = Rows { losses: &losses, classes, answers, index: None };
        // Rows that tuned it bound nothing.
        let bounds = (Known::of(artifact), seen.is_none());
        Some(arguments.draw(&contenders, &report, &rows, bounds, first)?)
    } else {
        None
    };
    let mut data = Vec::new();
    if let Some(hash) = set.data() {
        data.push(Detail::new(format!("{name}: rows and labels (SHA-256)"), hash));
    }
    data.extend(hashes(&[confidence])?);
    Ok(Evaluated { report, picture, data, notes })
}

fn own_confidence(path: &Path) -> Result<Contender> {
    let confidences = column(path, "confidences", None, &["confidence", "confidences", "score"])?;
    let name = path.file_stem().map_or("confidence".into(), |name| name.to_string_lossy());
    Ok(Contender {
        name: name.into_owned(),
        estimator: None,
        confidences: confidences.into_floats(),
        probabilities: None,
    })
}

/// The hashes of files that are read whole, but for standard input.
fn hashes(files: &[Option<&Path>]) -> Result<Vec<Detail>> {
    let files = files.iter().flatten().filter(|path| path.as_os_str() != "-");
    let detail = |path: &&Path| -> Result<Detail> {
        Ok(Detail::new(format!("{} (SHA-256)", path.display()), hash_of_file(path)?))
    };
    files.map(detail).collect()
}

fn without_logits(arguments: &Arguments, names: Option<&ClassNames>) -> Result<Evaluated> {
    let Some(path) = &arguments.confidence else {
        return Err(hinted("there is nothing to measure", "give an estimator and logits"));
    };
    let own = own_confidence(path)?;
    let (losses, answers) = match (&arguments.losses, &arguments.labels_of_confidence) {
        (Some(losses), _) => {
            let values = column(losses, "losses", None, &["loss", "losses", "wrong", "error"])?;
            let context = || losses.display().to_string();
            (Losses::new(values.into_floats()).with_context(context)?, None)
        }
        (None, Some(labels)) => {
            let (losses, answers) = wrong(arguments.predictions.as_deref(), path, labels)?;
            (losses, Some(answers))
        }
        (None, None) => {
            let hint =
                "--losses FILE (1 where the row is wrong), or --labels FILE with predictions";
            return Err(hinted("it is not said which rows are wrong", hint));
        }
    };
    let (found, expected) = (losses.values().len(), own.confidences.len());
    if found != expected {
        let problem = format!("{found} losses for the {expected} rows of {}", path.display());
        return Err(hinted(problem, "both files must come from the same run, row for row"));
    }
    let name = own.name.clone();
    let target = arguments.target_accuracy.map(Target::Accuracy);
    let contenders = [own];
    let report = measure(arguments, &name, &contenders, &losses, target, None)
        .with_context(|| path.display().to_string())?;
    let picture = if arguments.page.file().is_some() {
        let classes = answers.as_ref().map(classes_seen);
        ClassNames::check(names, classes.unwrap_or(0), false)?;
        let rows = Rows { losses: &losses, classes, answers: answers.as_ref(), index: None };
        let bounds = (Known::default(), true);
        Some(arguments.draw(&contenders, &report, &rows, bounds, None)?)
    } else {
        None
    };
    let files = [
        &arguments.confidence,
        &arguments.losses,
        &arguments.labels_of_confidence,
        &arguments.predictions,
    ];
    let data = hashes(&files.map(Option::as_deref))?;
    Ok(Evaluated { report, picture, data, notes: Vec::new() })
}

/// Nothing says how many classes there are but the largest that occurs.
fn classes_seen(answers: &Answers) -> usize {
    let labels = answers.labels.values().iter().map(|&label| label as usize);
    labels.chain(answers.predictions.iter().copied()).max().map_or(0, |largest| largest + 1)
}

/// 1 where the prediction is not the label. Without a file of their own, predictions are the column
/// of that name beside the confidences.
fn wrong(own: Option<&Path>, confidences: &Path, labels: &Path) -> Result<(Losses, Answers)> {
    let usual = ["prediction", "predictions", "predicted", "y_pred"];
    let wanted = if own.is_some() { None } else { Some("prediction") };
    let predictions = own.unwrap_or(confidences);
    let predicted = column(predictions, "predictions", wanted, &usual).map_err(|error| {
        if own.is_some() {
            return error;
        }
        let problem = format!("{}: there are no predictions in it", confidences.display());
        hinted(problem, "give them with --predictions, or say with --losses which rows are wrong")
    })?;
    let usual = ["labels", "label", "targets", "target", "y_true", "y"];
    let actual = column(labels, "labels", None, &usual)?;
    let integers = |numbers: Numbers, path: &Path| -> Result<Labels> {
        let values = numbers.into_integers().map_err(|kind| kind.of(path))?;
        // As many classes as there can be: nothing here says how many there are.
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
