//! The arguments that describe the input rows, and opening them.

use crate::failure::hinted;
use crate::progress::Progress;
use abstain::{Artifact, Encoding, Estimator};
use abstain_io::{
    AtomicFile, ExtraColumn, FileRows, Format, LossArgument, Numbers, ReadOptions, RowFiles,
    Source, read_artifact, read_numbers,
};
use abstain_lab::{check_extra, encoding_for, loss_for};
use anyhow::Result;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// What the rows are.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArguments {
    #[arg(long, value_name = "FORMAT", help = format!("File format, if the file name does not determine it: {}", Format::names()))]
    format: Option<Format>,
    /// Name of the array, tensor or column of the logits; 'logit_*' or 'cat,dog' for one column per
    /// class
    #[arg(long, value_name = "NAME")]
    logits_name: Option<String>,
    /// Name of the array, tensor or column of the labels; it is never read as logits
    #[arg(long, value_name = "NAME")]
    labels_name: Option<String>,
    /// The rows are probabilities, not logits
    #[arg(long)]
    probs: bool,
    /// Replacement for probabilities of zero [default: the smallest non-zero one in the file]
    #[arg(long, value_name = "P", requires = "probs")]
    floor: Option<f64>,
    /// Allowed deviation of a row of probabilities from a sum of 1 [default: 0.001, in half
    /// precision 0.01]
    #[arg(long, value_name = "X", requires = "probs")]
    tolerance: Option<f64>,
    /// -inf marks classes that were ruled out
    #[arg(long, conflicts_with = "probs")]
    masked: bool,
    /// One further number of each row, such as a distance to the training data: a term of the stack
    #[arg(long, value_name = "FILE")]
    extra: Option<PathBuf>,
    /// Name of the array or column of the extra numbers; it is never read as logits
    #[arg(long, value_name = "NAME", requires = "extra")]
    extra_name: Option<String>,
}

impl InputArguments {
    /// The encoding that the flags state.
    fn given(&self) -> Option<Encoding> {
        if self.probs {
            let (floor, tolerance) = (self.floor, self.tolerance);
            return Some(Encoding::Probabilities { floor, tolerance });
        }
        self.masked.then_some(Encoding::Masked)
    }

    fn options_in(&self, encoding: Encoding) -> ReadOptions {
        ReadOptions {
            format: self.format,
            logits_name: self.logits_name.clone(),
            labels_name: self.labels_name.clone(),
            encoding,
            extra: self
                .extra
                .as_ref()
                .map(|path| ExtraColumn { path: path.clone(), name: self.extra_name.clone() }),
        }
    }

    /// The file of the extra column.
    pub(crate) fn extra(&self) -> Option<&Path> {
        self.extra.as_deref()
    }

    /// How to read rows: logits, unless the flags state something else.
    pub(crate) fn options(&self) -> ReadOptions {
        self.options_in(self.given().unwrap_or_default())
    }

    /// How to read rows for an artifact.
    pub(crate) fn options_for(&self, artifact: &Artifact) -> Result<ReadOptions> {
        check_extra(artifact, self.extra.is_some())?;
        Ok(self.options_in(encoding_for(artifact, self.given())?))
    }
}

/// Randomness and resampling.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct SamplingArguments {
    /// Intervals by a bootstrap of N replicates in place of closed forms. It misses what these rows
    /// miss: errors so rare that none of them is here
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub(crate) replicates: Option<u32>,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

impl SamplingArguments {
    /// The replicates of the bootstrap, if it was requested.
    pub(crate) fn replicates(&self) -> Option<usize> {
        self.replicates.map(|count| count as usize)
    }
}

/// Labelled rows in files, with a bar for each pass.
pub(crate) fn rows<'a>(
    logits: &Path,
    labels: Option<&Path>,
    options: &ReadOptions,
    loss: &LossArgument,
    quiet: bool,
) -> Result<FileRows<'a>> {
    let files = RowFiles {
        logits: Source::new(logits),
        labels: labels.map(Source::new),
        options: options.clone(),
        loss: loss.clone(),
    };
    Ok(FileRows::open(files)?.on_progress(reading(quiet)))
}

/// A bar that appears when a pass begins and ends with it.
fn reading<'a>(quiet: bool) -> impl Fn(usize, usize) + 'a {
    let bar = RefCell::new(None);
    move |done, all| {
        let mut bar = bar.borrow_mut();
        let progress = bar.get_or_insert_with(|| Progress::new("reading", Some(all as u64), quiet));
        progress.at(done as u64);
        if done == all {
            *bar = None;
        }
    }
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

/// Refuses to write an artifact over what is read, or to standard output.
pub(crate) fn check_output(output: Option<&Path>, inputs: &[&Path]) -> Result<()> {
    let Some(output) = output else { return Ok(()) };
    if output.as_os_str() == "-" {
        let hint = "--json prints the artifact to standard output";
        return Err(hinted("an artifact is written to a file", hint));
    }
    not_over(output, inputs)?;
    // Check before the work that the file can be written; but a pipe that is opened and closed has
    // ended.
    let special = std::fs::metadata(output).is_ok_and(|file| !file.is_file() && !file.is_dir());
    if !special {
        drop(AtomicFile::create(output)?);
    }
    Ok(())
}

/// Refuses to write over what is read.
pub(crate) fn not_over(output: &Path, inputs: &[&Path]) -> Result<()> {
    let real = |path: &Path| path.canonicalize().ok();
    let Some(real_output) = real(output) else { return Ok(()) };
    match inputs.iter().find(|input| real(input).as_ref() == Some(&real_output)) {
        Some(input) => Err(hinted(
            format!("{} would be written over {}", output.display(), input.display()),
            "choose another name for the output",
        )),
        None => Ok(()),
    }
}

/// The loss to use with an artifact: the given one, or that of the artifact.
pub(crate) fn loss_with(artifact: &Artifact, given: Option<&LossArgument>) -> Result<LossArgument> {
    match given {
        Some(given) => Ok(given.clone()),
        None => Ok(LossArgument::Named(loss_for(artifact)?)),
    }
}

/// Notes that a threshold between 0 and 1 is on the rank scale, not a probability.
pub(crate) fn note_scale(estimator: &Estimator, at: f64, quiet: bool) {
    if quiet || !estimator.is_probability() || !(at > 0.0 && at < 1.0) {
        return;
    }
    // The log-odds of a probability of being right do not depend on the number of classes.
    let (value, meant) = (estimator.value(at, 2), estimator.confidence_of(at, 2));
    eprintln!(
        "note: thresholds are on the scale of the column `confidence`, here log-odds: {at} is a \
         probability of {value:.3}; for a probability of {at} give {meant:.6}"
    );
}

/// A column of confidences, losses or predictions: by its name, by one of the usual names, or the
/// only one.
pub(crate) fn column(
    path: &Path,
    what: &'static str,
    wanted: Option<&str>,
    usual: &[&str],
) -> Result<Numbers> {
    Ok(read_numbers(&Source::new(path), None, what, wanted, usual)?)
}
