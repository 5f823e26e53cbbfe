//! Measured rows: the confidences of some rows, what the predictions cost, and what else is known of them.
//!
//! They come from logits and estimators, in one reading, or from a table of confidences that were computed
//! elsewhere. Everything that is measured, certified or chosen on rows is so on these.

use crate::breakdown::{Breakdown, BrokenDownBy, Groups};
use crate::copies::{self, Copies, Repeats};
use crate::error::{LabError, Refusal};
use crate::known::Seen;
use crate::rows::{
    Answers, Collected, Fingerprints, Select, Wanted, collect, has_ordered_fingerprint,
};
use crate::threshold::Judged;
use crate::warning::{self, Warning};
use abstain::{
    Artifact, Encoding, Error, Estimator, Losses, RowSource, Threshold, Weights,
    internal::{Clusters, RowFacts, RowSketches},
};
use abstain_io::{ConfidenceRows, Fingerprint, class_of, hash_of_confidences};

/// A column of confidences.
#[derive(Debug, Clone)]
pub struct Contender {
    /// Its name.
    pub name: String,
    /// The estimator, unless the confidences come from elsewhere.
    pub estimator: Option<Estimator>,
    /// Its confidences.
    pub confidences: Vec<f64>,
    /// The predictions that the confidences are of, by name or number, where they came with them.
    pub predictions: Option<Vec<String>>,
}

impl Contender {
    /// An estimator and its confidences.
    pub fn new(estimator: &Estimator, confidences: Vec<f64>) -> Self {
        Contender {
            // A stack has too many parameters for the head of a column.
            name: match estimator {
                Estimator::Stack(stack) => stack.name().into(),
                other => other.to_string(),
            },
            estimator: Some(estimator.clone()),
            confidences,
            predictions: None,
        }
    }

    /// Confidences that come from elsewhere.
    pub fn of_column(name: impl Into<String>, confidences: Vec<f64>) -> Self {
        Contender { name: name.into(), estimator: None, confidences, predictions: None }
    }

    /// The same with the predictions that the confidences are of.
    #[must_use]
    pub fn with_predictions(self, predictions: Option<Vec<String>>) -> Self {
        Contender { predictions, ..self }
    }

    /// Refuses confidences of other predictions than those of the rows, by whose losses they would be judged.
    pub(crate) fn check_predictions(
        &self,
        answers: Option<&Answers>,
        class_names: &[String],
    ) -> Result<(), LabError> {
        let (Some(predictions), Some(answers)) = (&self.predictions, answers) else {
            return Ok(());
        };
        let differs = |(text, &class): (&String, &usize)| {
            class_of(text, class_names).is_none_or(|found| found as usize != class)
        };
        let different =
            predictions.iter().zip(&answers.predictions).filter(|pair| differs(*pair)).count();
        let (name, rows) = (self.name.clone(), predictions.len());
        if different == 0 {
            return Ok(());
        }
        Err(LabError::OtherPredictions { name, different, rows })
    }

    /// The confidences as probabilities of being right, if they are meant as such.
    pub(crate) fn probabilities(&self) -> Option<Vec<f64>> {
        self.estimator.as_ref()?.probabilities(&self.confidences)
    }
}

/// Rows with their confidences.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MeasuredRows {
    /// The columns of confidences.
    pub columns: Vec<Contender>,
    /// What the predictions cost, if that is known.
    pub losses: Option<Losses>,
    /// The labels and predictions, where they are known.
    pub answers: Option<Answers>,
    /// The names of the classes.
    pub class_names: Option<Vec<String>>,
    /// The group of each row.
    pub groups: Option<Groups>,
    /// What rows belong together by: see [`RowSource::fold_groups`].
    pub fold_groups: Option<Vec<String>>,
    /// The weight of each row.
    pub weights: Option<Weights>,
    /// The text of the loss.
    pub loss: String,
    /// By what artifacts know the rows.
    pub fingerprints: Fingerprints,
    /// What is known of the logits, where there are logits.
    pub logits: Option<LogitFacts>,
    /// Where flags say which predictions are right, and predictions and labels are there too: the share of
    /// the rows in which they disagree.
    pub disagreement: Option<f64>,
}

/// What is known of the logits of rows.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LogitFacts {
    /// The number of classes.
    pub classes: usize,
    /// What the numbers are.
    pub encoding: Encoding,
    /// The key of each row, by which copies are found; none where they are not needed.
    pub keys: Vec<u64>,
    /// How many rows are copies of others.
    pub copies: Option<Copies>,
    /// What they look like.
    pub facts: RowFacts,
    /// A sample of the rows, by which they are recognised.
    pub sketch: RowSketches,
    /// The mean negative log-likelihood of the labels under each estimator that has one, if requested.
    pub nll: Vec<Option<f64>>,
}

impl LogitFacts {
    /// What a pass over a source learned of its logits.
    pub(crate) fn of(source: &dyn RowSource, collected: &Collected) -> Self {
        LogitFacts {
            classes: source.classes(),
            encoding: source.encoding(),
            keys: Vec::new(),
            copies: Copies::of(&collected.keys),
            facts: collected.facts.clone(),
            sketch: collected.sketch.clone(),
            nll: collected.nll.clone(),
        }
    }
}

/// Rows to be measured, or rows that were.
pub enum Rows<'a> {
    /// Rows to be read, once.
    Read(&'a mut dyn RowSource),
    /// Rows that were measured.
    Measured(Box<MeasuredRows>),
}

impl<'a, S: RowSource> From<&'a mut S> for Rows<'a> {
    fn from(source: &'a mut S) -> Self {
        Rows::Read(source)
    }
}

impl<'a> From<&'a mut dyn RowSource> for Rows<'a> {
    fn from(source: &'a mut dyn RowSource) -> Self {
        Rows::Read(source)
    }
}

impl From<MeasuredRows> for Rows<'_> {
    fn from(rows: MeasuredRows) -> Self {
        Rows::Measured(Box::new(rows))
    }
}

impl Rows<'_> {
    /// Refuses, before they are read, rows of another number of classes than an artifact's.
    pub(crate) fn check_classes(&self, artifact: &Artifact) -> Result<(), LabError> {
        match self {
            Rows::Read(source) => crate::threshold::check_classes(artifact, source.classes()),
            Rows::Measured(_) => Ok(()),
        }
    }

    /// Refuses, before they are read, rows of which nothing says what the predictions cost.
    pub(crate) fn check_labels(&self) -> Result<(), Error> {
        let labelled = match self {
            Rows::Read(source) => source.labels().is_some(),
            Rows::Measured(rows) => rows.losses.is_some(),
        };
        if labelled { Ok(()) } else { Err(Error::NoLabels) }
    }

    /// Whether rows have weights.
    pub(crate) fn have_weights(&self) -> bool {
        matches!(self, Rows::Measured(rows) if rows.weights.is_some())
    }

    /// The rows with the confidences of some estimators; those that were measured have theirs.
    pub(crate) fn measure(
        self,
        artifact: Option<&Artifact>,
        estimators: &[Estimator],
        nll: bool,
    ) -> Result<MeasuredRows, LabError> {
        match self {
            Rows::Read(source) => MeasuredRows::read(source, artifact, estimators, nll),
            Rows::Measured(mut rows) => {
                rows.check()?;
                rows.recognise(artifact);
                Ok(*rows)
            }
        }
    }
}

impl MeasuredRows {
    /// One column of confidences that were computed elsewhere, of which nothing else is known.
    pub fn new(column: Contender, losses: Option<Losses>) -> Self {
        MeasuredRows {
            columns: vec![column],
            loss: losses.as_ref().map_or("zero-one", Losses::text).into(),
            losses,
            answers: None,
            class_names: None,
            groups: None,
            fold_groups: None,
            weights: None,
            fingerprints: Fingerprints::default(),
            logits: None,
            disagreement: None,
        }
    }

    /// A table of confidences, whose column is called so.
    pub fn of_table(name: &str, table: ConfidenceRows) -> Result<Self, Error> {
        let mut rows = Self::new(Contender::of_column(name, table.confidences), table.losses);
        if let Some((predictions, labels)) = table.answers {
            let (answers, names) = Answers::of_names(&predictions, &labels)?;
            (rows.answers, rows.class_names) = (Some(answers), Some(names));
        }
        rows.groups = table.groups.as_deref().map(Groups::new);
        rows.fold_groups = table.fold_groups;
        (rows.weights, rows.disagreement) = (table.weights, table.disagreement);
        Ok(rows)
    }

    /// Reads rows once, with the confidences of some estimators, and with the fingerprints by which an
    /// artifact may know them.
    pub fn read(
        source: &mut dyn RowSource,
        artifact: Option<&Artifact>,
        estimators: &[Estimator],
        nll: bool,
    ) -> Result<Self, LabError> {
        let wanted = Wanted {
            confidences: Some((estimators, Select::All)),
            nll: if nll { estimators } else { &[] },
            predictions: source.labels().is_some(),
            ..Wanted::default()
        };
        let collected = collect(source, &wanted.recognised_by(artifact))?;
        let mut logits = LogitFacts::of(source, &collected);
        logits.keys = collected.keys;
        let columns = estimators.iter().zip(collected.confidences);
        let labels = source.labels().cloned();
        Ok(MeasuredRows {
            columns: columns.map(|(estimator, column)| Contender::new(estimator, column)).collect(),
            losses: labels.is_some().then(|| Losses::new(collected.losses)).transpose()?,
            answers: labels.map(|labels| Answers { labels, predictions: collected.predictions }),
            class_names: source.class_names().map(<[String]>::to_vec),
            groups: source.groups().map(Groups::new),
            fold_groups: source.fold_groups().map(<[String]>::to_vec),
            weights: None,
            loss: source.loss().to_string(),
            fingerprints: collected.fingerprints,
            logits: Some(logits),
            disagreement: None,
        })
    }

    /// The first column: that of an artifact's estimator, or the only one.
    pub fn confidences(&self) -> &[f64] {
        self.columns.first().map_or(&[], |column| &column.confidences)
    }

    /// The losses, where they are needed.
    pub fn losses(&self) -> Result<&Losses, Error> {
        self.losses.as_ref().ok_or(Error::NoLabels)
    }

    /// The first column under losses, which are those of the rows where they have some.
    pub(crate) fn judged<'a>(&'a self, losses: &'a Losses) -> Judged<'a> {
        let (confidences, weights) = (self.confidences(), self.weights.as_ref());
        Judged { confidences, losses, weights, loss: &self.loss }
    }

    /// How many classes there are; where there are no logits, one more than the largest that occurs.
    pub fn classes(&self) -> Option<usize> {
        let of_logits = self.logits.as_ref().map(|logits| logits.classes);
        of_logits.or(self.answers.as_ref().map(Answers::classes_seen))
    }

    /// Refuses columns of different lengths.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let expected = self.confidences().len();
        let columns = self.columns.iter().map(|column| ("confidences", column.confidences.len()));
        let others = [
            ("losses", self.losses.as_ref().map(|losses| losses.values().len())),
            ("groups", self.groups.as_ref().map(Groups::len)),
            ("fold groups", self.fold_groups.as_ref().map(Vec::len)),
            ("weights", self.weights.as_ref().map(|weights| weights.values().len())),
        ];
        let others = others.into_iter().filter_map(|(what, found)| Some((what, found?)));
        match columns.chain(others).find(|(_, found)| *found != expected) {
            Some((what, found)) => Err(Error::Length { what, found, expected }),
            None => Ok(()),
        }
    }

    /// Takes the fingerprints of confidences and losses, by which an artifact may know them.
    fn recognise(&mut self, artifact: Option<&Artifact>) {
        let (Some(losses), None) = (&self.losses, &self.fingerprints.alone) else { return };
        let columns = [self.confidences(), losses.values()];
        let ordered = artifact.is_some_and(has_ordered_fingerprint);
        let ordered = ordered.then(|| hash_of_confidences(columns[0], columns[1]));
        let text = Fingerprint::of_columns(columns).without_labels();
        self.fingerprints = Fingerprints {
            labelled: Some(text),
            alone: None,
            ordered: ordered.into_iter().collect(),
        };
    }

    /// Whether an artifact has seen the rows.
    pub(crate) fn seen_by(&self, artifact: &Artifact) -> Option<Seen> {
        Seen::by(artifact, &self.fingerprints)
    }

    /// What looks wrong with the logits and their labels.
    pub(crate) fn warnings_of_logits(&self, artifact: Option<&Artifact>) -> Vec<Warning> {
        let Some(logits) = &self.logits else { return Vec::new() };
        let labels = self.answers.as_ref().map(|answers| &answers.labels);
        let predictions = self.answers.as_ref().map_or(&[][..], |answers| &answers.predictions);
        warning::of_logits(logits, labels, predictions, artifact)
    }

    /// What looks wrong with a column of confidences; of those that were computed elsewhere, also with what
    /// says which predictions are right.
    pub(crate) fn warnings_of(&self, confidences: &[f64]) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = warning::of_confidences(confidences).into_iter().collect();
        if self.logits.is_none() {
            warnings.extend(warning::of_table(self, confidences));
        }
        warnings
    }

    /// What a threshold on a column accepts in each predicted class and group; all rows without one.
    pub(crate) fn breakdown(&self, confidences: &[f64], at: Option<f64>) -> Option<Breakdown> {
        let rule = at.map(|at| Threshold::given(at).into());
        let by = BrokenDownBy {
            predictions: self.answers.as_ref().map(|answers| &answers.predictions[..]),
            class_names: self.class_names.as_deref(),
            groups: self.groups.as_ref(),
            weights: self.weights.as_ref(),
        };
        Breakdown::new(confidences, self.losses.as_ref()?, rule.as_ref(), by)
    }

    /// Which rows belong together; nothing if all are alone.
    pub(crate) fn clusters(&self, repeats: Repeats) -> Option<Clusters> {
        let keys = self.logits.as_ref().map_or(&[][..], |logits| &logits.keys);
        copies::clusters(keys, self.fold_groups.as_deref(), repeats)
    }

    /// Some of the rows, without their weights.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let column = |column: &Contender| Contender {
            confidences: rows.iter().map(|&row| column.confidences[row]).collect(),
            name: column.name.clone(),
            estimator: column.estimator.clone(),
            predictions: None,
        };
        MeasuredRows {
            columns: self.columns.iter().map(column).collect(),
            losses: self.losses.as_ref().map(|losses| losses.select(rows)),
            answers: self.answers.as_ref().map(|answers| answers.select(rows)),
            groups: self.groups.as_ref().map(|groups| groups.select(rows)),
            // What rows belong together by was for all of them.
            fold_groups: None,
            weights: None,
            ..self.clone()
        }
    }

    /// Rows of equal weight, sampled by weights of which `max_weight` is the largest in the population.
    pub(crate) fn sample(&self, max_weight: f64, seed: u64) -> Result<Self, LabError> {
        let (Some(weights), losses) = (&self.weights, self.losses()?) else {
            return Err(LabError::MaxWeightNotUsed);
        };
        // Other rows get other random numbers, also with the same seed: a certificate holds over the draw
        // of the rows and of the numbers, and numbers that never change would not be drawn.
        let of_rows = hash_of_confidences(self.confidences(), losses.values());
        let of_weights = hash_of_confidences(weights.values(), self.confidences());
        let number = |hash: &str| u64::from_str_radix(&hash[..16], 16).unwrap_or(0);
        let kept = weights.sample(max_weight, seed ^ number(&of_rows) ^ number(&of_weights))?;
        match kept.len() {
            0 => Err(Refusal::NoRowKept { rows: weights.values().len() }.into()),
            _ => Ok(self.select(&kept)),
        }
    }
}

/// What looks wrong with labelled rows, as use cases find it that measure an artifact on them: for one that
/// refuses, and has no result to say it in.
pub fn warnings_of<'a>(
    artifact: &Artifact,
    rows: impl Into<Rows<'a>>,
) -> Result<Vec<Warning>, LabError> {
    let rows: Rows<'_> = rows.into();
    let rows = rows.measure(Some(artifact), std::slice::from_ref(&artifact.estimator), false)?;
    let mut warnings = rows.warnings_of_logits(Some(artifact));
    warnings.extend(rows.warnings_of(rows.confidences()));
    Ok(warnings)
}
