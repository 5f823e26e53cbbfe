//! The arguments that say what the rows are, and the reading of rows.

use crate::failure::hinted;
use crate::progress::Progress;
use abstain::{
    Artifact, CostMatrix, Estimator, Input, Labels, Logits, Losses, ProfilePlan, Profiles,
};
use abstain_io::{
    Encoding, Error, ErrorKind, Fingerprint, Format, LogitsReader, Numbers, ReadOptions, Source,
    read_artifact, read_labels, read_numbers,
};
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
    /// The array, tensor or column of the logits; 'logit_*' for one column a class
    #[arg(long, value_name = "NAME")]
    logits_name: Option<String>,
    /// The array, tensor or column of the labels
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
        options.encoding = match (artifact.input, options.encoding) {
            // A bare estimator does not say what its rows are.
            (_, own) if artifact.classes.is_none() && artifact.tuning.is_none() => own,
            (Input::Probabilities { floor }, Encoding::Probabilities { floor: own, tolerance }) => {
                Encoding::Probabilities { floor: Some(own.unwrap_or(floor)), tolerance }
            }
            (Input::Probabilities { floor }, _) if !said => {
                Encoding::Probabilities { floor: Some(floor), tolerance: None }
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
    Rows(Vec<f64>),
}

impl Loss {
    fn new(argument: &LossArgument, classes: usize) -> Result<Self> {
        let path = match argument {
            LossArgument::ZeroOne => return Ok(Loss::ZeroOne),
            LossArgument::TopK(k) => return Ok(Loss::TopK(*k)),
            LossArgument::File(path) => path,
        };
        let source = Source::new(path);
        // One number a row of the data, or a square of costs, one a pair of classes.
        let rows = read_numbers(&source, None, "losses", None, &["loss", "losses"]);
        match rows {
            Ok(rows) => {
                let values = rows.into_floats();
                Losses::new(values.clone()).with_context(|| path.display().to_string())?;
                Ok(Loss::Rows(values))
            }
            Err(Error { kind, .. }) if matches!(*kind, ErrorKind::Shape { .. }) => {
                let mut reader = LogitsReader::open(&source, &ReadOptions::default())?;
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
            Loss::Rows(values) => {
                let end = first + logits.rows();
                let own = values.get(first..end).map(<[f64]>::to_vec);
                let found = values.len();
                let length = abstain::Error::Length { what: "losses", found, expected: end };
                Losses::new(own.ok_or(length)?)?
            }
        })
    }
}

/// A labelled set of rows on disk.
pub(crate) struct Dataset<'a> {
    pub(crate) logits: &'a Path,
    pub(crate) labels: Option<&'a Path>,
    pub(crate) options: &'a ReadOptions,
    pub(crate) loss: &'a LossArgument,
    pub(crate) quiet: bool,
}

/// What was learnt of a set while it was read.
pub(crate) struct About {
    pub(crate) input: Input,
    /// The SHA-256 of rows and labels.
    pub(crate) data: String,
}

impl Dataset<'_> {
    /// Hands the rows, their labels and losses to a function, chunk by chunk.
    fn read(
        &self,
        mut each: impl FnMut(&Logits<'_>, &Labels, &Losses) -> Result<()>,
    ) -> Result<About> {
        let source = Source::to_read_again(self.logits)?;
        let mut reader = LogitsReader::open(&source, self.options)?;
        let classes = reader.classes();
        let labels = match self.labels {
            Some(path) if path.as_os_str() == "-" && self.logits.as_os_str() == "-" => {
                let hint = "give one of them as a file";
                return Err(hinted("logits and labels cannot both come from standard input", hint));
            }
            Some(path) => {
                let apart = ReadOptions { format: None, ..self.options.clone() };
                read_labels(&Source::new(path), &apart, classes)?
            }
            None => self.labels_beside(&source, classes)?,
        };
        if let Some(rows) = reader.rows() {
            self.check_lengths(labels.len() as u64, rows)?;
        }
        let loss = Loss::new(self.loss, classes)?;
        let progress = Progress::new("reading", reader.rows(), self.quiet);
        let mut fingerprint = Fingerprint::default();
        let mut rows = 0;
        while let Some((first, logits)) = reader.next_chunk()? {
            rows = first + logits.rows();
            if rows > labels.len() {
                // Text does not say beforehand how many rows it has.
                continue;
            }
            let own = labels.part(first..rows);
            let losses = loss.of(&logits, &own, first)?;
            fingerprint.update(&logits);
            each(&logits, &own, &losses)?;
            progress.at(rows as u64);
        }
        self.check_lengths(labels.len() as u64, rows as u64)?;
        if let Loss::Rows(values) = &loss
            && values.len() != rows
        {
            let (found, expected) = (values.len(), rows);
            return Err(abstain::Error::Length { what: "losses", found, expected }.into());
        }
        let input = match (self.options.encoding, reader.floor()) {
            (_, Some(floor)) => Input::Probabilities { floor },
            (Encoding::Masked, _) => Input::Masked {},
            _ => Input::default(),
        };
        Ok(About { input, data: fingerprint.finish(&labels) })
    }

    fn labels_beside(&self, source: &Source, classes: usize) -> Result<Labels> {
        read_labels(source, self.options, classes).map_err(|error| match *error.kind {
            ErrorKind::Shape { .. } | ErrorKind::Ambiguous { .. } => hinted(
                format!("{}: there are logits but no labels in it", self.logits.display()),
                "give the file of the labels after that of the logits, or their --labels-name",
            ),
            _ => error.into(),
        })
    }

    fn check_lengths(&self, labels: u64, rows: u64) -> Result<()> {
        if labels == rows {
            return Ok(());
        }
        let labels_path = self.labels.unwrap_or(self.logits).display();
        let problem = format!(
            "{labels_path}: {labels} labels for the {rows} rows of {}",
            self.logits.display()
        );
        Err(hinted(problem, "both files must come from the same run, row for row"))
    }

    /// The profiles of all rows. `plan` is told how many classes there are.
    pub(crate) fn profiles(&self, plan: &ProfilePlan) -> Result<(Profiles, About)> {
        let mut profiles: Option<Profiles> = None;
        let about = self.read(|logits, labels, losses| {
            let own = profiles.get_or_insert_with(|| Profiles::empty(logits.classes(), plan));
            Ok(own.push(logits, labels, losses)?)
        })?;
        Ok((profiles.context("there are no rows")?, about))
    }

    /// The confidences of some estimators on all rows, and the losses.
    pub(crate) fn confidences(&self, estimators: &[Estimator]) -> Result<Confidences> {
        let mut columns = vec![Vec::new(); estimators.len()];
        let (mut losses, mut classes) = (Vec::new(), 0);
        let about = self.read(|logits, _, own| {
            for (column, estimator) in columns.iter_mut().zip(estimators) {
                column.extend(estimator.confidences(logits));
            }
            losses.extend_from_slice(own.values());
            classes = logits.classes();
            Ok(())
        })?;
        Ok(Confidences { columns, losses: Losses::new(losses)?, classes, about })
    }
}

/// Confidences and losses of a set.
pub(crate) struct Confidences {
    pub(crate) columns: Vec<Vec<f64>>,
    pub(crate) losses: Losses,
    pub(crate) classes: usize,
    pub(crate) about: About,
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

/// A column of the user's: confidences, losses or predictions.
pub(crate) fn column(path: &Path, what: &'static str, usual: &[&str]) -> Result<Numbers> {
    Ok(read_numbers(&Source::new(path), None, what, None, usual)?)
}
