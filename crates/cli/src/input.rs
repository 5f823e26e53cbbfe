//! The arguments that describe the input rows, and opening them.

use crate::failure::hinted;
use crate::notes;
use crate::progress::Progress;
use abstain::artifact::{Columns, ModelInfo};
use abstain::{Artifact, Encoding, Estimator};
use abstain_io::{
    AtomicFile, BadRows, ConfidenceFiles, ConfidenceNames, ConfidenceRows, ExtraColumn, FileRows,
    Format, LossArgument, Missing, ReadOptions, RowFiles, Source, read_artifact,
};
use abstain_lab::{
    MeasuredRows, check_extra, check_model, confidence_artifact, encoding_for, loss_for,
};
use abstain_models::onnx::{is_model, selective_artifact};
use anyhow::Result;
use clap::ValueEnum;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The estimator that is a confidence computed elsewhere.
pub(crate) const CONFIDENCE: &str = "Confidence";

/// What one number of a binary classifier is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Binary {
    Probability,
    Logit,
}

/// What is done with rows that have no label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum MissingLabels {
    #[default]
    Skip,
    Refuse,
}

impl From<MissingLabels> for Missing {
    fn from(missing: MissingLabels) -> Self {
        match missing {
            MissingLabels::Skip => Missing::Skip,
            MissingLabels::Refuse => Missing::Refuse,
        }
    }
}

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
    /// Names of the classes in their order: a file with one per line, or 'cat,dog,cow'. Columns and
    /// labels are matched with them
    #[arg(long, value_name = "NAMES")]
    class_names: Option<String>,
    /// The class, of two, whose probability or logit the number is (or the second column); with labels
    /// that are names
    #[arg(long, value_name = "NAME")]
    positive: Option<String>,
    /// Number of the first class in the labels [default: 0, or as the columns are numbered]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    first_label: Option<i64>,
    /// Rows without a label: left out and counted, or an error
    #[arg(long, value_name = "WHAT", default_value = "skip")]
    missing: MissingLabels,
    /// The rows are probabilities, not logits
    #[arg(long)]
    probs: bool,
    /// Each row is one number of a binary classifier: the probability or the logit of class 1
    #[arg(long, value_name = "KIND", conflicts_with_all = ["probs", "masked"])]
    binary: Option<Binary>,
    /// Replacement for probabilities of zero [default: the smallest non-zero one in the file]
    #[arg(long, value_name = "P")]
    floor: Option<f64>,
    /// Allowed deviation of a row of probabilities from a sum of 1 [default: 0.001, in half
    /// precision 0.01]
    #[arg(long, value_name = "X")]
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
    fn given(&self) -> Result<Option<Encoding>> {
        let (floor, tolerance) = (self.floor, self.tolerance);
        let given = match self.binary {
            Some(Binary::Probability) => Some(Encoding::BinaryProbability { floor, tolerance }),
            Some(Binary::Logit) => Some(Encoding::BinaryLogit),
            None if self.probs => Some(Encoding::Probabilities { floor, tolerance }),
            None => self.masked.then_some(Encoding::Masked),
        };
        let probabilities = given.is_some_and(Encoding::is_probabilities);
        if !probabilities && (floor.is_some() || tolerance.is_some()) {
            let hint = "add --probs or --binary probability, or leave it out";
            return Err(hinted("--floor and --tolerance are for probabilities", hint));
        }
        Ok(given)
    }

    fn options_in(&self, encoding: Encoding) -> Result<ReadOptions> {
        Ok(ReadOptions {
            format: self.format,
            logits_name: self.logits_name.clone(),
            labels_name: self.labels_name.clone(),
            class_names: self.class_names.as_deref().map(class_names).transpose()?,
            positive: self.positive.clone(),
            first_label: self.first_label,
            missing: self.missing.into(),
            encoding,
            extra: self
                .extra
                .as_ref()
                .map(|path| ExtraColumn { path: path.clone(), name: self.extra_name.clone() }),
            earlier_logits: None,
            earlier_labels: None,
            negate: false,
            bad_rows: BadRows::Refuse,
            keep: Vec::new(),
            row_by_row: false,
        })
    }

    /// The file of the extra column.
    pub(crate) fn extra(&self) -> Option<&Path> {
        self.extra.as_deref()
    }

    /// How to read rows: logits, unless the flags state something else.
    pub(crate) fn options(&self) -> Result<ReadOptions> {
        self.options_in(self.given()?.unwrap_or_default())
    }

    /// How to read rows for an artifact, which may know the names of the classes.
    pub(crate) fn options_for(&self, artifact: &Artifact) -> Result<ReadOptions> {
        if artifact.input != Encoding::Confidence {
            check_extra(artifact, self.extra.is_some())?;
        }
        let mut options = self.options_in(encoding_for(artifact, self.given()?)?)?;
        if options.class_names.is_none() {
            options.class_names.clone_from(&artifact.class_names);
        }
        if let Some(columns) = &artifact.columns {
            let is_confidence = artifact.input == Encoding::Confidence;
            let earlier = if is_confidence { &columns.confidence } else { &columns.logits };
            options.earlier_logits.clone_from(earlier);
            options.earlier_labels.clone_from(&columns.labels);
            options.negate = is_confidence && columns.negated;
        }
        Ok(options)
    }

    /// Writes into an artifact which columns were named, so that later commands find them.
    pub(crate) fn remember(&self, artifact: &mut Artifact) {
        let mut columns = artifact.columns.take().unwrap_or_default();
        if artifact.input != Encoding::Confidence {
            columns.logits = self.logits_name.clone().or(columns.logits);
        }
        columns.labels = self.labels_name.clone().or(columns.labels);
        artifact.columns = Some(columns).filter(|columns| *columns != Columns::default());
    }
}

/// The names of the classes: the lines of a file, or words with commas.
pub(crate) fn class_names(given: &str) -> Result<Vec<String>> {
    let path = Path::new(given);
    let names: Vec<String> = if path.is_file() {
        let read = std::fs::read_to_string(path);
        let text = read.map_err(|error| abstain_io::ErrorKind::from(error).of(path))?;
        text.lines().map(|line| line.trim().to_string()).collect()
    } else if given.contains(',') {
        given.split(',').map(|name| name.trim().to_string()).collect()
    } else {
        let problem = format!("--class-names: there is no file '{given}'");
        return Err(hinted(problem, "give a file with one name per line, or 'cat,dog,cow'"));
    };
    let different: BTreeSet<&String> = names.iter().collect();
    if different.len() != names.len() || names.iter().any(String::is_empty) {
        let problem = format!("--class-names: a name in '{given}' is empty or there twice");
        return Err(hinted(problem, "one name per class, in the order of the classes"));
    }
    Ok(names)
}

/// The columns of a table of confidences, and groups.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Tables of confidences (the estimator 'Confidence')")]
pub(crate) struct BareArguments {
    /// Name of the column of the confidences
    #[arg(long, value_name = "NAME")]
    confidence_name: Option<String>,
    /// The column is an uncertainty: the confidence is its negative
    #[arg(long)]
    negate: bool,
    /// Name of the column that is 1 or true where the prediction is right
    #[arg(long, value_name = "NAME", conflicts_with = "losses_name")]
    correct_name: Option<String>,
    /// Name of the column of the losses: 1 where the prediction is wrong
    #[arg(long, value_name = "NAME")]
    losses_name: Option<String>,
    /// Name of the column of the predictions, which are compared with the labels
    #[arg(long, value_name = "NAME")]
    predictions_name: Option<String>,
    /// Name of the column of the weights: a row counts as that many rows. Without it all rows count
    /// the same
    #[arg(long, value_name = "NAME")]
    weight_name: Option<String>,
}

impl BareArguments {
    /// Reads a table of confidences, and says how it was understood.
    pub(crate) fn read(
        &self,
        input: &InputArguments,
        mut files: ConfidenceFiles,
        groups: GroupColumns<'_>,
        quiet: bool,
    ) -> Result<ConfidenceRows> {
        files.format = files.format.or(input.format);
        files.names = ConfidenceNames {
            confidence: self.confidence_name.clone().or(input.logits_name.clone()),
            correct: self.correct_name.clone(),
            losses: self.losses_name.clone(),
            predictions: self.predictions_name.clone(),
            labels: input.labels_name.clone(),
            group: groups.counted.map(str::to_string),
            fold_group: groups.together.map(str::to_string),
            weight: self.weight_name.clone(),
        };
        files.missing = input.missing.into();
        files.negate |= self.negate;
        let path = files.table.path().to_path_buf();
        let rows = files.read()?;
        if !quiet {
            eprintln!("note: {}", notes::of_confidences(&rows, &path));
        }
        Ok(rows)
    }

    /// The table of an artifact, whose columns may be known by their names.
    pub(crate) fn table_of(artifact: &Artifact, table: &Path) -> ConfidenceFiles {
        let columns = artifact.columns.clone().unwrap_or_default();
        ConfidenceFiles {
            negate: columns.negated,
            earlier: columns.confidence,
            ..ConfidenceFiles::new(Source::new(table))
        }
    }

    /// Writes into the artifact of a bare confidence which column it is.
    pub(crate) fn remember(&self, artifact: &mut Artifact) {
        if artifact.input != Encoding::Confidence {
            return;
        }
        let mut columns = artifact.columns.take().unwrap_or_default();
        columns.confidence = self.confidence_name.clone().or(columns.confidence);
        columns.negated |= self.negate;
        artifact.columns = Some(columns).filter(|columns| *columns != Columns::default());
    }

    /// Refuses weights of rows that have logits.
    pub(crate) fn check_no_weights(&self) -> Result<()> {
        match &self.weight_name {
            None => Ok(()),
            Some(_) => Err(hinted(
                "--weight-name is for tables of confidences",
                "leave it out, or give the estimator 'Confidence' and a table of confidences",
            )),
        }
    }

    /// Refuses weights where a result would not show them.
    pub(crate) fn check_page(&self, page: Option<&Path>) -> Result<()> {
        match (&self.weight_name, page) {
            (Some(_), Some(_)) => Err(hinted(
                "a page shows rows of equal weight only",
                "leave out --page or --weight-name",
            )),
            _ => Ok(()),
        }
    }

    /// The same with outcomes, as rows to measure.
    pub(crate) fn rows(
        &self,
        input: &InputArguments,
        files: ConfidenceFiles,
        groups: GroupColumns<'_>,
        quiet: bool,
    ) -> Result<MeasuredRows> {
        let path = files.table.path().to_path_buf();
        let rows = self.read(input, files, groups, quiet)?;
        if rows.losses.is_none() {
            let problem = format!("{}: nothing says which predictions are right", path.display());
            let hint = "give --correct-name, --losses-name, or labels and --predictions-name";
            return Err(hinted(problem, hint));
        }
        let name = path.file_stem().map_or("confidence".into(), |name| name.to_string_lossy());
        Ok(MeasuredRows::of_table(&name, rows)?)
    }
}

/// The columns of groups.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GroupColumns<'a> {
    /// What is accepted is counted for each.
    pub(crate) counted: Option<&'a str>,
    /// Rows of one belong together.
    pub(crate) together: Option<&'a str>,
}

impl<'a> From<Option<&'a str>> for GroupColumns<'a> {
    fn from(counted: Option<&'a str>) -> Self {
        GroupColumns { counted, together: None }
    }
}

/// Which classifier the rows are of.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct ModelArguments {
    /// The classifier of the rows, as NAME or NAME@VERSION; an estimator of another one is refused
    #[arg(long, value_name = "ID", help_heading = "Input")]
    pub(crate) model_id: Option<ModelInfo>,
}

impl ModelArguments {
    /// Refuses an artifact of another classifier, and says if that cannot be checked.
    pub(crate) fn check(&self, artifact: &Artifact) -> Result<()> {
        Ok(check_model(artifact, self.model_id.as_ref())?)
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

/// Labelled rows in files, with a bar for each pass; how they were read is said first.
pub(crate) fn rows<'a>(
    logits: &Path,
    labels: Option<&Path>,
    options: &ReadOptions,
    loss: &LossArgument,
    groups: GroupColumns<'_>,
    quiet: bool,
) -> Result<FileRows<'a>> {
    let files = RowFiles {
        logits: Source::new(logits),
        labels: labels.map(Source::new),
        options: options.clone(),
        loss: loss.clone(),
        group: groups.counted.map(str::to_string),
        fold_group: groups.together.map(str::to_string),
    };
    let rows = FileRows::open(files)?.on_progress(reading(quiet));
    if !quiet {
        eprintln!("note: {}", notes::of_reading(rows.reading()));
    }
    Ok(rows)
}

/// Rows in a file without labels, with a bar for each pass; how they were read is said first.
pub(crate) fn unlabelled_rows<'a>(
    logits: &Path,
    options: ReadOptions,
    quiet: bool,
) -> Result<FileRows<'a>> {
    let source = Source::of_logits(logits, options.encoding)?;
    let rows = FileRows::unlabelled(source, options)?.on_progress(reading(quiet));
    if !quiet {
        eprintln!("note: {}", notes::of_reading(rows.reading()));
    }
    Ok(rows)
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

/// An artifact from a file, an estimator by name, such as "MaxLogit-pNorm(p=5)", or "Confidence".
pub(crate) fn estimator(text: &Path) -> Result<Artifact> {
    if is_model(text) && text.exists() {
        return Ok(selective_artifact(text)?);
    }
    if text.exists() || text.as_os_str() == "-" {
        return Ok(read_artifact(text)?);
    }
    let name = text.to_string_lossy();
    if name.eq_ignore_ascii_case(CONFIDENCE) {
        return Ok(confidence_artifact());
    }
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
