//! The arguments that say what the rows are, and the reading of rows.

use crate::failure::hinted;
use crate::progress::Progress;
use abstain::{
    Artifact, CostMatrix, Estimator, Input, Labels, Logits, Losses, ProfilePlan, Profiles,
    Threshold,
};
use abstain_io::{
    AtomicFile, Encoding, Error, ErrorKind, Fingerprint, Format, LogitsReader, Numbers,
    ReadOptions, Source, read_artifact, read_labels, read_numbers,
};
use abstain_lab::RowSource;
use abstain_lab::picture::Answers;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What the rows are.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArguments {
    /// The format, where the file's name does not say it: npy, npz, safetensors, pt, parquet or csv
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// The array, tensor or column of the logits; 'logit_*' or 'cat,dog' for one column a class
    #[arg(long, value_name = "NAME")]
    logits_name: Option<String>,
    /// The array, tensor or column of the labels; never taken for logits
    #[arg(long, value_name = "NAME")]
    labels_name: Option<String>,
    /// The rows are probabilities, not logits
    #[arg(long)]
    probs: bool,
    /// What replaces probabilities of zero [default: the smallest other one of the file]
    #[arg(long, value_name = "P", requires = "probs")]
    floor: Option<f64>,
    /// How far probabilities may miss a sum of 1 [default: 0.001, in half precision 0.01]
    #[arg(long, value_name = "X", requires = "probs")]
    tolerance: Option<f64>,
    /// -inf marks classes that were ruled out
    #[arg(long, conflicts_with = "probs")]
    masked: bool,
}

impl InputArguments {
    pub(crate) fn options(&self) -> ReadOptions {
        let encoding = if self.probs {
            Encoding::Probabilities { floor: self.floor, tolerance: self.tolerance }
        } else if self.masked {
            Encoding::Masked
        } else {
            Encoding::Logits
        };
        ReadOptions {
            format: self.format,
            logits_name: self.logits_name.clone(),
            labels_name: self.labels_name.clone(),
            encoding,
        }
    }

    /// The same, as an artifact wants its rows.
    pub(crate) fn options_for(&self, artifact: &Artifact) -> Result<ReadOptions> {
        let mut options = self.options();
        let said = self.probs || self.masked;
        let bare = artifact.classes.is_none() && artifact.tuning.is_none();
        options.encoding = match (artifact.input, options.encoding) {
            // A bare estimator does not say what its rows are.
            (Input::Logits {}, own) if bare => own,
            (
                Input::Probabilities { floor, tolerance },
                Encoding::Probabilities { floor: own, tolerance: more },
            ) => {
                if own.is_some_and(|own| own != floor) {
                    let problem = format!("the estimator was tuned with a floor of {floor:e}");
                    return Err(hinted(problem, "leave out --floor, or tune it again"));
                }
                Encoding::Probabilities { floor: Some(floor), tolerance: more.or(tolerance) }
            }
            (Input::Probabilities { floor, tolerance }, _) if !said => {
                Encoding::Probabilities { floor: Some(floor), tolerance }
            }
            (Input::Masked {}, _) if !said => Encoding::Masked,
            (Input::Masked {}, own @ Encoding::Masked)
            | (Input::Logits {}, own @ (Encoding::Logits | Encoding::Masked)) => own,
            _ => {
                let hint = "give it rows of the kind it was tuned on, or tune it on these";
                return Err(hinted("the estimator was tuned on another kind of rows", hint));
            }
        };
        Ok(options)
    }
}

/// What is drawn at random.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct SamplingArguments {
    /// The seed of everything random: splits, folds, replicates
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Replicates of the bootstrap intervals
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub(crate) replicates: u32,
}

/// What an error costs.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum LossArgument {
    #[default]
    ZeroOne,
    TopK(usize),
    File(PathBuf),
}

impl FromStr for LossArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "zero-one" {
            return Ok(LossArgument::ZeroOne);
        }
        if let Some(k) = text.strip_prefix("top-") {
            let k = k.parse().map_err(|_| "top-5, say: the 5 largest logits count as right")?;
            return Ok(LossArgument::TopK(k));
        }
        Ok(LossArgument::File(text.into()))
    }
}

impl std::fmt::Display for LossArgument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LossArgument::ZeroOne => f.write_str("zero-one"),
            LossArgument::TopK(k) => write!(f, "top-{k}"),
            LossArgument::File(path) => path.display().fmt(f),
        }
    }
}

/// What an error costs, read and ready.
enum Loss {
    ZeroOne,
    TopK(usize),
    Costs(CostMatrix),
    Rows(Losses, PathBuf),
}

impl Loss {
    fn new(argument: &LossArgument, classes: usize) -> Result<Self> {
        let path = match argument {
            LossArgument::ZeroOne => return Ok(Loss::ZeroOne),
            LossArgument::TopK(k) => return Ok(Loss::TopK(*k)),
            LossArgument::File(path) => path,
        };
        let source = Source::to_read_again(path)?;
        // One number a row of the data, or a square of costs, one a pair of classes.
        let rows = read_numbers(&source, None, "losses", None, &["loss", "losses"]);
        match rows {
            Ok(rows) => {
                let values = rows.into_floats();
                let losses = Losses::new(values).with_context(|| path.display().to_string())?;
                Ok(Loss::Rows(losses, path.clone()))
            }
            Err(Error { kind, .. }) if matches!(*kind, ErrorKind::Shape { .. }) => {
                // Costs of infinity are refused below, as costs; masks let them pass until then.
                let masked = ReadOptions { encoding: Encoding::Masked, ..ReadOptions::default() };
                let mut reader = LogitsReader::open(&source, &masked)?;
                let mut costs = Vec::new();
                let mut row = vec![0.0; reader.classes()];
                while let Some((_, chunk)) = reader.next_chunk()? {
                    for index in 0..chunk.rows() {
                        chunk.copy_row(index, &mut row);
                        costs.extend_from_slice(&row);
                    }
                }
                let name = || path.display().to_string();
                Ok(Loss::Costs(CostMatrix::new(costs, classes).with_context(name)?))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn of(&self, logits: &Logits<'_>, labels: &Labels, first: usize) -> Result<Losses> {
        Ok(match self {
            Loss::ZeroOne => Losses::zero_one(logits, labels)?,
            Loss::TopK(k) => Losses::top_k(logits, labels, *k)?,
            Loss::Costs(costs) => Losses::cost(logits, labels, costs)?,
            Loss::Rows(losses, path) => {
                let end = first + logits.rows();
                let too_few = || {
                    let (path, losses) = (path.display(), losses.values().len());
                    let problem = format!("{path}: {losses} losses for more rows");
                    hinted(problem, "one loss a row, or a square of classes × classes")
                };
                let own = losses.values().get(first..end).ok_or_else(too_few)?;
                Losses::new(own.to_vec())?
            }
        })
    }

    /// Losses of the rows themselves must be as many as there are rows.
    fn check_length(&self, rows: u64) -> Result<()> {
        match self {
            Loss::Rows(losses, path) if losses.values().len() as u64 != rows => {
                let (path, losses) = (path.display(), losses.values().len());
                let problem = format!("{path}: {losses} losses for {rows} rows");
                Err(hinted(problem, "one loss a row, or a square of classes × classes"))
            }
            _ => Ok(()),
        }
    }
}

/// A labelled set of rows on disk, read again for each question.
pub(crate) struct Dataset {
    labels_path: PathBuf,
    source: Source,
    labels: Labels,
    loss: Loss,
    options: ReadOptions,
    /// What the rows are.
    pub(crate) input: Input,
    pub(crate) classes: usize,
    /// The SHA-256 of rows and labels, once they have been read.
    data: Option<String>,
    quiet: bool,
}

impl Dataset {
    /// Opens the files and reads everything but the logits.
    pub(crate) fn open(
        path: &Path,
        labels_path: Option<&Path>,
        options: &ReadOptions,
        loss: &LossArgument,
        quiet: bool,
    ) -> Result<Self> {
        if path.as_os_str() == "-" && labels_path.is_some_and(|own| own.as_os_str() == "-") {
            let hint = "give one of them as a file";
            return Err(hinted("logits and labels cannot both come from standard input", hint));
        }
        let source = Source::to_read_again(path)?;
        let reader = LogitsReader::open(&source, options)?;
        let (classes, rows, floor) = (reader.classes(), reader.rows(), reader.floor());
        drop(reader);
        let mut options = options.clone();
        if let Encoding::Probabilities { floor: own, .. } = &mut options.encoding {
            // Found once, it need not be looked for again.
            *own = floor;
        }
        let labels = match labels_path {
            Some(labels) => {
                let apart = ReadOptions { format: None, ..options.clone() };
                read_labels(&Source::new(labels), &apart, classes)?
            }
            None => labels_beside(&source, &options, classes)?,
        };
        let input = options.encoding.input(floor);
        let loss = Loss::new(loss, classes)?;
        if let Some(rows) = rows {
            check_lengths(labels_path.unwrap_or(path), labels.len(), path, rows)?;
            loss.check_length(rows)?;
        }
        let labels_path = labels_path.unwrap_or(path).to_path_buf();
        Ok(Dataset {
            labels_path,
            source,
            labels,
            loss,
            options,
            input,
            classes,
            data: None,
            quiet,
        })
    }

    /// Hands the rows, their labels and losses to a function, chunk by chunk.
    fn read(
        &mut self,
        mut each: impl FnMut(usize, &Logits<'_>, &Labels, &Losses) -> Result<()>,
    ) -> Result<()> {
        let mut reader = LogitsReader::open(&self.source, &self.options)?;
        let progress = Progress::new("reading", Some(self.labels.len() as u64), self.quiet);
        let mut fingerprint = self.data.is_none().then(Fingerprint::default);
        let mut rows = 0;
        while let Some((first, logits)) = reader.next_chunk()? {
            rows = first + logits.rows();
            if rows > self.labels.len() {
                // Text does not say beforehand how many rows it has: count on, and complain below.
                continue;
            }
            let labels = self.labels.part(first..rows);
            let losses = self.loss.of(&logits, &labels, first)?;
            if let Some(fingerprint) = &mut fingerprint {
                fingerprint.update(&logits);
            }
            each(first, &logits, &labels, &losses)?;
            progress.at(rows as u64);
        }
        check_lengths(&self.labels_path, self.labels.len(), self.source.path(), rows as u64)?;
        self.loss.check_length(rows as u64)?;
        if let Some(fingerprint) = fingerprint {
            self.data = Some(fingerprint.finish(&self.labels));
        }
        Ok(())
    }

    /// The SHA-256 of rows and labels; known once the rows have been read.
    pub(crate) fn data(&self) -> Option<String> {
        self.data.clone()
    }
}

impl RowSource for Dataset {
    type Error = anyhow::Error;

    fn rows(&self) -> usize {
        self.labels.len()
    }

    fn profiles(&mut self, plan: &ProfilePlan, rows: &[usize]) -> Result<Profiles> {
        let mut profiles = Profiles::empty(self.classes, plan);
        profiles.reserve(rows.len());
        let mut wanted = rows;
        self.read(|first, logits, labels, losses| {
            let (own, later) =
                wanted.split_at(wanted.partition_point(|&row| row < first + logits.rows()));
            wanted = later;
            if own.is_empty() {
                return Ok(());
            }
            let own: Vec<usize> = own.iter().map(|&row| row - first).collect();
            let (logits, labels) = (logits.select(&own), labels.select(&own));
            Ok(profiles.push(&logits, &labels, &losses.select(&own))?)
        })?;
        Ok(profiles)
    }

    fn confidences(&mut self, estimators: &[Estimator]) -> Result<(Vec<Vec<f64>>, Losses)> {
        let mut columns = vec![Vec::new(); estimators.len()];
        let mut all = Vec::new();
        self.read(|_, logits, _, losses| {
            let own = Estimator::confidences_of(estimators, logits);
            for (column, own) in columns.iter_mut().zip(own) {
                column.extend(own);
            }
            all.extend_from_slice(losses.values());
            Ok(())
        })?;
        Ok((columns, Losses::new(all)?))
    }

    fn answers(&mut self) -> Result<Answers> {
        let mut predictions = Vec::new();
        self.read(|_, logits, _, _| {
            predictions.extend(logits.predictions());
            Ok(())
        })?;
        Ok(Answers { labels: self.labels.clone(), predictions })
    }
}

fn labels_beside(source: &Source, options: &ReadOptions, classes: usize) -> Result<Labels> {
    read_labels(source, options, classes).map_err(|error| match *error.kind {
        ErrorKind::Shape { .. } | ErrorKind::Ambiguous { .. } => hinted(
            format!("{}: there are logits but no labels in it", source.path().display()),
            "give the file of the labels after that of the logits, or their --labels-name",
        ),
        _ => error.into(),
    })
}

fn check_lengths(labels_path: &Path, labels: usize, path: &Path, rows: u64) -> Result<()> {
    if labels as u64 == rows {
        return Ok(());
    }
    let (labels_path, path) = (labels_path.display(), path.display());
    let problem = format!("{labels_path}: {labels} labels for the {rows} rows of {path}");
    let hint = match rows.checked_add(1) {
        Some(one_more) if one_more == labels as u64 => {
            "was a line of names taken for a label, or a row for names?"
        }
        _ => "both files must come from the same run, row for row",
    };
    Err(hinted(problem, hint))
}

/// An artifact from a file, or an estimator by name, such as "MaxLogit-pNorm(p=5)".
pub(crate) fn estimator(text: &Path) -> Result<Artifact> {
    if text.exists() || text.as_os_str() == "-" {
        return Ok(read_artifact(text)?);
    }
    let name = text.to_string_lossy();
    let is_path = name.contains(std::path::MAIN_SEPARATOR) || name.ends_with(".json");
    match name.parse::<Estimator>() {
        Ok(estimator) => Ok(Artifact::new(estimator)),
        Err(_) if is_path => Ok(read_artifact(text)?),
        Err(error) => {
            let problem = format!("there is no file '{name}', and as an estimator: {error}");
            Err(hinted(problem, "`abstain list` shows the estimators; `abstain tune` writes files"))
        }
    }
}

/// Checks that a set has the classes that an artifact wants.
pub(crate) fn check_classes(artifact: &Artifact, classes: usize, path: &Path) -> Result<()> {
    match artifact.classes {
        Some(wanted) if wanted != classes => Err(hinted(
            format!(
                "{}: {classes} classes, but the estimator was tuned on {wanted}",
                path.display()
            ),
            "tune an estimator on rows of this classifier",
        )),
        _ => Ok(()),
    }
}

/// Refuses to write an artifact over what is read, or to standard output.
pub(crate) fn check_output(
    output: Option<&Path>,
    logits: &Path,
    labels: Option<&Path>,
    loss: &LossArgument,
) -> Result<()> {
    let Some(output) = output else { return Ok(()) };
    if output.as_os_str() == "-" {
        let hint = "--json prints the artifact to standard output";
        return Err(hinted("an artifact is written to a file", hint));
    }
    let loss = match loss {
        LossArgument::File(path) => path,
        LossArgument::ZeroOne | LossArgument::TopK(_) => logits,
    };
    not_over(output, &[logits, labels.unwrap_or(logits), loss])?;
    // Whether it can be written is found out before the work, not after it; but a pipe that is opened
    // and closed has ended.
    let special = std::fs::metadata(output).is_ok_and(|own| !own.is_file() && !own.is_dir());
    if !special {
        drop(AtomicFile::create(output)?);
    }
    Ok(())
}

/// Refuses to write over what is read.
pub(crate) fn not_over(output: &Path, inputs: &[&Path]) -> Result<()> {
    let real = |path: &Path| path.canonicalize().ok();
    let Some(own) = real(output) else { return Ok(()) };
    match inputs.iter().find(|input| real(input).as_ref() == Some(&own)) {
        Some(input) => Err(hinted(
            format!("{} would be written over {}", output.display(), input.display()),
            "choose another name for the output",
        )),
        None => Ok(()),
    }
}

/// What an error costs where an artifact is used: what is said, or what its threshold was found
/// with.
pub(crate) fn loss_for(artifact: &Artifact, said: Option<&LossArgument>) -> Result<LossArgument> {
    if let Some(said) = said {
        return Ok(said.clone());
    }
    let own = artifact.threshold.as_ref().and_then(Threshold::loss);
    match own.or(artifact.tuning.as_ref().map(|tuning| &tuning.loss[..])) {
        None => Ok(LossArgument::ZeroOne),
        Some(text) => match text.parse() {
            Ok(loss @ (LossArgument::ZeroOne | LossArgument::TopK(_))) => Ok(loss),
            _ => Err(hinted(
                format!("the estimator was made for the costs of {text}"),
                "say --loss with the costs of these rows, or --loss zero-one",
            )),
        },
    }
}

/// Says that a threshold between 0 and 1 is perhaps not what it looks like.
pub(crate) fn note_scale(estimator: &Estimator, at: f64, quiet: bool) {
    if quiet || !estimator.is_probability() || !(at > 0.0 && at < 1.0) {
        return;
    }
    // Probabilities of being right do not depend on the number of classes.
    let (value, meant) = (estimator.value(at, 2), estimator.confidence_of(at, 2));
    eprintln!(
        "note: thresholds are on the scale of the column `confidence`, here log-odds: {at} is a \
         probability of {value:.3}; for a probability of {at} give {meant:.6}"
    );
}

/// A column of the user's: confidences, losses or predictions. It has the name that is wanted, or
/// one of the usual ones, or it is alone.
pub(crate) fn column(
    path: &Path,
    what: &'static str,
    wanted: Option<&str>,
    usual: &[&str],
) -> Result<Numbers> {
    Ok(read_numbers(&Source::new(path), None, what, wanted, usual)?)
}
