//! Tables of bare confidences: one number for each row that was computed elsewhere, and what says
//! whether the prediction is right.

use crate::column::Column;
use crate::error::{Error, ErrorKind};
use crate::format::Format;
use crate::labels::{RawLabels, comparable, flag_of};
use crate::layout::{Field, Quantity, identifies, normalised};
use crate::reader::{ColumnRequest, Missing, OpenTable, read_column};
use crate::rows::{
    JoinedLabels, SharedId, check_losses, join, losses_of, places_by_id, read_losses, shared_id,
};
use crate::source::Source;
use abstain::{Losses, Weights};
use serde::Serialize;
use std::collections::HashSet;
use std::path::Path;

/// Where bare confidences are, and what they are called.
#[derive(Debug)]
pub struct ConfidenceFiles {
    /// The table.
    pub table: Source,
    /// The labels, if they are in another file.
    pub labels: Option<Source>,
    /// The predictions, if they are in another file.
    pub predictions: Option<Source>,
    /// The losses, if they are in another file.
    pub losses: Option<Source>,
    /// The format of the table, if its name does not determine it.
    pub format: Option<Format>,
    /// The names of columns.
    pub names: ConfidenceNames,
    /// What is done with rows that have no label.
    pub missing: Missing,
    /// Whether the column holds uncertainties, of which the negative is taken.
    pub negate: bool,
    /// The name of the confidences in earlier tables, which this one must have if its columns have names.
    pub earlier: Option<String>,
}

/// The names of the columns of a table of confidences; usual ones by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfidenceNames {
    /// The confidences.
    pub confidence: Option<String>,
    /// 1 where the prediction is right.
    pub correct: Option<String>,
    /// What the prediction costs.
    pub losses: Option<String>,
    /// The predictions.
    pub predictions: Option<String>,
    /// The labels.
    pub labels: Option<String>,
    /// The groups of the rows.
    pub group: Option<String>,
    /// What rows belong together by.
    pub fold_group: Option<String>,
    /// The weights of the rows; they have none unless the column is named.
    pub weight: Option<String>,
}

impl ConfidenceNames {
    fn all(&self) -> impl Iterator<Item = Option<&String>> {
        let names = [
            &self.confidence,
            &self.correct,
            &self.losses,
            &self.predictions,
            &self.labels,
            &self.group,
            &self.weight,
        ];
        names.into_iter().map(Option::as_ref)
    }
}

/// What says whether predictions are right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outcome {
    /// Flags that are 1 where they are.
    Correct,
    /// Losses.
    Losses,
    /// Predictions and labels.
    PredictionsAndLabels,
}

/// Bare confidences, and what is known of the predictions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConfidenceRows {
    /// The confidences.
    pub confidences: Vec<f64>,
    /// What the predictions cost; `None` if nothing says so.
    pub losses: Option<Losses>,
    /// What says so.
    pub outcome: Option<Outcome>,
    /// The predictions and labels, as text, where there are both.
    pub answers: Option<(Vec<String>, Vec<String>)>,
    /// The predictions, as text, where there are any, with labels or without.
    pub predictions: Option<Vec<String>>,
    /// The groups of the rows.
    pub groups: Option<Vec<String>>,
    /// What rows belong together by: see [`abstain::RowSource::fold_groups`].
    pub fold_groups: Option<Vec<String>>,
    /// The weights of the rows.
    pub weights: Option<Weights>,
    /// A column with a usual name of weights that is not used, because it was not named.
    pub unused_weights: Option<String>,
    /// Where flags say which predictions are right, and predictions and labels are there too: the share of
    /// the rows in which they disagree.
    pub disagreement: Option<f64>,
    /// Rows that are left out because they have no label.
    pub unlabelled: usize,
    /// The column of identifiers, and how many rows have that of an earlier one: copies, or the rows of
    /// several models.
    pub repeated: Option<(String, usize)>,
    /// Whether the weights are those of a sample with propensities: a row that was labelled with probability
    /// p stands for 1 / p rows.
    pub by_propensity: bool,
    /// The column of the confidences.
    pub column: String,
}

impl ConfidenceFiles {
    /// A table with everything in it, under usual names.
    pub fn new(table: Source) -> Self {
        ConfidenceFiles {
            table,
            labels: None,
            predictions: None,
            losses: None,
            format: None,
            names: ConfidenceNames::default(),
            missing: Missing::default(),
            negate: false,
            earlier: None,
        }
    }

    /// Reads the confidences, and whatever says which predictions are right; without it `losses` are
    /// missing. Every file is read once.
    pub fn read(mut self) -> Result<ConfidenceRows, Error> {
        let table = OpenTable::open(&self.table, self.format)?;
        let fields = table.fields().to_vec();
        // Where columns have names, one of another name is not the one that the threshold is for.
        let named = |field: &Field| !field.name.is_empty();
        let earlier = self.earlier.take().filter(|_| fields.iter().any(named));
        self.names.confidence = self.names.confidence.take().or(earlier);
        let (names, path) = (&self.names, self.table.path());
        let of_table = |kind: ErrorKind| kind.of(path);
        let name = names.confidence.as_deref();
        let place = table.place(ColumnRequest { what: Quantity::Confidences, name })?;
        let outcome = self.outcome(&fields)?;
        self.check_roles(&fields, outcome)?;
        if outcome == Some(Outcome::Losses) && self.losses.is_none() {
            check_losses(&fields, names.losses.as_deref()).map_err(of_table)?;
        }
        let sought = self.sought(&table, &fields, outcome)?;
        let requests = self.requests(outcome, &sought);
        let quantities = requests.iter().map(|request| request.what);
        let found = quantities.zip(table.columns(&requests)?).collect();
        let mut columns = TableColumns { found };
        let Sought { compared, alone, joined, propensity, id, id_of_labels } = sought;
        // What is wrong with identifiers matters only where rows belong together by them.
        let of_rows = match columns.take(Quantity::Extra) {
            Err(error) if joined => return Err(error),
            found => id.zip(found.ok().flatten()),
        };
        let repeated = of_rows.as_ref().map(|(name, ids)| (name.clone(), repeated_in(ids)));
        let ids = id_of_labels.zip(of_rows.map(|(_, ids)| ids)).filter(|_| joined);
        let mut confidences = self.confidences(&mut columns)?;
        let rows = confidences.len();
        let Judgement { losses, answers, labelled } =
            self.judgement(outcome, &mut columns, ids.as_ref())?;
        let mut texts = |name: &Option<String>| match name {
            Some(_) => Ok(columns.take(Quantity::Column)?.map(Column::into_texts)),
            None => Ok(None),
        };
        // In the order in which they are requested.
        let (mut groups, mut fold_groups) = (texts(&names.group)?, texts(&names.fold_group)?);
        let by_propensity = propensity.is_some();
        let weights = match columns.take(Quantity::Weights)? {
            Some(weights) => {
                let mut weights = weights.into_floats().map_err(of_table)?;
                if by_propensity {
                    invert(&mut weights).map_err(of_table)?;
                }
                check_count("weights", weights.len(), rows, path)?;
                if let Some(labelled) = &labelled {
                    weights = labelled.iter().map(|&row| weights[row]).collect();
                }
                Some(Weights::new(weights).map_err(|error| ErrorKind::from(error).of(path))?)
            }
            None => None,
        };
        // What cannot be compared says nothing.
        let disagreement = match (&losses, outcome) {
            (Some(flags), Some(Outcome::Correct)) if compared => {
                let found = self.answers(&mut columns, None).ok();
                let found = found.filter(|found| found.labelled.is_none());
                found.map(|found| disagreement(flags, &found.losses))
            }
            _ => None,
        };
        let predictions = match &answers {
            Some((predictions, _)) => Some(predictions.clone()),
            // Predictions that nothing is compared with are not looked at here.
            None if alone => {
                columns.take(Quantity::Predictions).ok().flatten().map(Column::into_texts)
            }
            None => None,
        };
        let unlabelled = labelled.as_ref().map_or(0, |labelled: &Vec<usize>| rows - labelled.len());
        if let Some(labelled) = &labelled {
            confidences = labelled.iter().map(|&row| confidences[row]).collect();
            for groups in [&mut groups, &mut fold_groups].into_iter().flatten() {
                check_count("groups", groups.len(), rows, path)?;
                *groups = labelled.iter().map(|&row| groups[row].clone()).collect();
            }
        }
        let rows = confidences.len();
        let found = [
            ("losses", losses.as_ref().map(|losses| losses.values().len())),
            ("weights", weights.as_ref().map(|weights| weights.values().len())),
        ];
        for (what, found) in found {
            check_count(what, found.unwrap_or(rows), rows, path)?;
        }
        let has_weight_name = |field: &&Field| Quantity::Weights.has_name(&field.name);
        let unused = fields.iter().find(has_weight_name).filter(|_| weights.is_none());
        Ok(ConfidenceRows {
            confidences,
            losses,
            outcome,
            answers,
            predictions,
            groups,
            fold_groups,
            weights,
            unused_weights: unused.map(|field| field.name.clone()),
            disagreement,
            unlabelled,
            repeated: repeated.filter(|(_, rows)| *rows > 0),
            by_propensity,
            column: fields[place].name.clone(),
        })
    }

    /// What is looked for in the table beside the confidences and what says which predictions are right.
    fn sought(
        &self,
        table: &OpenTable,
        fields: &[Field],
        outcome: Option<Outcome>,
    ) -> Result<Sought, Error> {
        let names = &self.names;
        let compared = match outcome {
            Some(Outcome::PredictionsAndLabels) => true,
            Some(Outcome::Correct) => {
                has(fields, Quantity::Predictions) && has(fields, Quantity::Labels)
            }
            _ => false,
        };
        let alone = !compared
            && self.predictions.is_none()
            && (names.predictions.is_some() || has(fields, Quantity::Predictions));
        let shared = match &self.labels {
            Some(labels) if outcome == Some(Outcome::PredictionsAndLabels) => {
                let of_labels = OpenTable::open(labels, None)?;
                shared_id((&self.table, table), (labels, &of_labels))?
            }
            _ => None,
        };
        let is_propensity = |field: &&Field| normalised(&field.name) == "propensity";
        let propensity = fields.iter().find(is_propensity).map(|field| field.name.clone());
        let propensity = propensity.filter(|_| names.weight.is_none() && outcome.is_some());
        let joined = shared.is_some();
        let (shared, id_of_labels) = match shared {
            Some(SharedId { of_rows, of_labels }) => (Some(of_rows), Some(of_labels)),
            None => (None, None),
        };
        let id = shared.or_else(|| {
            let taken = |name: &String| names.all().any(|other| other == Some(name));
            let mut known = fields.iter().map(|field| &field.name);
            known.find(|name| identifies(name) && !taken(name)).cloned()
        });
        Ok(Sought { compared, alone, joined, propensity, id, id_of_labels })
    }

    /// The confidences, of which none is NaN.
    fn confidences(&self, columns: &mut TableColumns) -> Result<Vec<f64>, Error> {
        let of_table = |kind: ErrorKind| kind.of(self.table.path());
        let found = columns.take(Quantity::Confidences)?.map(Column::into_floats);
        let mut found = found.transpose().map_err(of_table)?.unwrap_or_default();
        if self.negate {
            for confidence in &mut found {
                *confidence = -*confidence;
            }
        }
        match found.iter().position(|value| value.is_nan()) {
            Some(row) => Err(of_table(abstain::Error::InvalidConfidence { row }.into())),
            None => Ok(found),
        }
    }

    /// What says which predictions are right.
    fn judgement(
        &self,
        outcome: Option<Outcome>,
        columns: &mut TableColumns,
        ids: Option<&(String, Column)>,
    ) -> Result<Judgement, Error> {
        let (losses, answers, labelled) = match outcome {
            None => (None, None, None),
            Some(Outcome::Losses) => (Some(self.losses(columns)?), None, None),
            Some(Outcome::Correct) => {
                let flags = columns.take(Quantity::Correct)?;
                let flags = flags.ok_or(ErrorKind::NoRows).and_then(losses_of_flags);
                (Some(flags.map_err(|kind| kind.of(self.table.path()))?), None, None)
            }
            Some(Outcome::PredictionsAndLabels) => {
                let found = self.answers(columns, ids)?;
                (Some(found.losses), Some(found.texts), found.labelled)
            }
        };
        Ok(Judgement { losses, answers, labelled })
    }

    /// The columns of the table that are read.
    fn requests<'a>(
        &'a self,
        outcome: Option<Outcome>,
        sought: &'a Sought,
    ) -> Vec<ColumnRequest<'a>> {
        let (names, compared) = (&self.names, sought.compared);
        let losses_here = outcome == Some(Outcome::Losses) && self.losses.is_none();
        let roles = [
            (true, Quantity::Confidences, &names.confidence),
            (outcome == Some(Outcome::Correct), Quantity::Correct, &names.correct),
            (losses_here, Quantity::Losses, &names.losses),
            (compared && self.predictions.is_none(), Quantity::Predictions, &names.predictions),
            (compared && self.labels.is_none(), Quantity::Labels, &names.labels),
            (names.group.is_some(), Quantity::Column, &names.group),
            (names.fold_group.is_some(), Quantity::Column, &names.fold_group),
            (names.weight.is_some(), Quantity::Weights, &names.weight),
            (sought.propensity.is_some(), Quantity::Weights, &sought.propensity),
            (sought.id.is_some(), Quantity::Extra, &sought.id),
            (sought.alone, Quantity::Predictions, &names.predictions),
        ];
        let used = roles.into_iter().filter(|(used, ..)| *used);
        used.map(|(_, what, name)| ColumnRequest { what, name: name.as_deref() }).collect()
    }

    /// Refuses a column that would be two things at once.
    fn check_roles(&self, fields: &[Field], outcome: Option<Outcome>) -> Result<(), Error> {
        let names = &self.names;
        let compared = outcome == Some(Outcome::PredictionsAndLabels);
        let here = |other: &Option<Source>| compared && other.is_none();
        let roles = [
            (true, Quantity::Confidences, "the confidences", &names.confidence),
            (here(&self.labels), Quantity::Labels, "the labels", &names.labels),
            (here(&self.predictions), Quantity::Predictions, "the predictions", &names.predictions),
            (outcome == Some(Outcome::Correct), Quantity::Correct, "the flags", &names.correct),
            (names.losses.is_some(), Quantity::Losses, "the losses", &names.losses),
            (names.weight.is_some(), Quantity::Weights, "the weights", &names.weight),
        ];
        let mut seen: Vec<(usize, &'static str)> = Vec::new();
        let arrays = fields.len() == 1;
        for (_, what, role, name) in roles.into_iter().filter(|(used, ..)| *used) {
            let index = crate::layout::column(fields, what, name.as_deref(), &[], arrays);
            let Ok(index) = index else { continue };
            if let Some((_, other)) = seen.iter().find(|(known, _)| *known == index) {
                let name = fields[index].name.clone();
                return Err(
                    ErrorKind::TwoRoles { name, first: other, second: role }.of(self.table.path())
                );
            }
            seen.push((index, role));
        }
        Ok(())
    }

    /// What says which predictions are right: what is named, else flags, else predictions and labels,
    /// else losses.
    fn outcome(&self, fields: &[Field]) -> Result<Option<Outcome>, Error> {
        let names = &self.names;
        let known = |what: Quantity, named: bool, other: Option<&Source>| {
            named || other.is_some() || has(fields, what)
        };
        let labels = known(Quantity::Labels, names.labels.is_some(), self.labels.as_ref());
        let predictions =
            known(Quantity::Predictions, names.predictions.is_some(), self.predictions.as_ref());
        let stated = names.labels.is_some() || names.predictions.is_some() || self.labels.is_some();
        if names.losses.is_some() || self.losses.is_some() {
            return Ok(Some(Outcome::Losses));
        }
        if names.correct.is_some() || (!stated && has(fields, Quantity::Correct)) {
            return Ok(Some(Outcome::Correct));
        }
        if labels && predictions {
            return Ok(Some(Outcome::PredictionsAndLabels));
        }
        if stated {
            let names = fields.iter().map(|field| field.name.clone()).collect();
            return Err(ErrorKind::NoOutcome { names }.of(self.table.path()));
        }
        Ok(has(fields, Quantity::Losses).then_some(Outcome::Losses))
    }

    fn losses(&self, columns: &mut TableColumns) -> Result<Losses, Error> {
        if let Some(source) = &self.losses {
            return read_losses(source, self.names.losses.as_deref());
        }
        let losses = columns.take(Quantity::Losses)?.ok_or(ErrorKind::NoRows).and_then(losses_of);
        losses.map_err(|kind| kind.of(self.table.path()))
    }

    /// The predictions and labels, as text that is equal where they are, and the losses. Labels of another
    /// file belong to the rows by identifiers, where both have them.
    fn answers(
        &self,
        columns: &mut TableColumns,
        ids: Option<&(String, Column)>,
    ) -> Result<Answers, Error> {
        let path = self.labels.as_ref().unwrap_or(&self.table).path();
        let mut read = |other: Option<&Source>, what, name: Option<&str>| match other {
            Some(source) => read_column(source, None, what, name),
            None => columns.take(what)?.ok_or_else(|| ErrorKind::NoRows.of(self.table.path())),
        };
        let predictions = self.names.predictions.as_deref();
        let mut predictions = read(self.predictions.as_ref(), Quantity::Predictions, predictions)?;
        let name = self.names.labels.as_deref();
        let (labels, joined) = match (&self.labels, ids) {
            (Some(source), Some((id, expected))) => {
                let requests =
                    [ColumnRequest { what: Quantity::Labels, name }, ColumnRequest::named(id)];
                let mut found = OpenTable::open(source, None)?.columns(&requests)?;
                let (found, labels) = (found.pop(), found.pop());
                let none = || Err(ErrorKind::NoRows.of(source.path()));
                let (found, labels) = (found.unwrap_or_else(none)?, labels.unwrap_or_else(none)?);
                let of_table = (&self.table, expected.clone());
                (labels, places_by_id(id, of_table, (source, found))?)
            }
            (other, _) => (read(other.as_ref(), Quantity::Labels, name)?, None),
        };
        let joined = join(RawLabels::Column(labels), joined, self.missing);
        let JoinedLabels { raw, labelled, rows, .. } = joined.map_err(|kind| kind.of(path))?;
        check_count("labels", rows, predictions.len(), path)?;
        if let Some(labelled) = &labelled {
            predictions = predictions.select(labelled);
        }
        let RawLabels::Column(labels) = raw else { return Err(ErrorKind::NoRows.of(path)) };
        let (predictions, labels) =
            comparable(predictions, labels).map_err(|kind| kind.of(path))?;
        let wrong = predictions.iter().zip(&labels).map(|(a, b)| if a == b { 0.0 } else { 1.0 });
        let losses = Losses::new(wrong.collect());
        let losses = losses.map_err(|error| ErrorKind::from(error).of(path))?;
        Ok(Answers { losses, texts: (predictions, labels), labelled })
    }
}

/// Predictions beside labels.
struct Answers {
    losses: Losses,
    /// Predictions and labels, as text.
    texts: (Vec<String>, Vec<String>),
    /// The rows that have labels, if not all have.
    labelled: Option<Vec<usize>>,
}

/// What is looked for in a table of confidences.
struct Sought {
    /// Whether predictions are compared with labels.
    compared: bool,
    /// Whether there are predictions that nothing is compared with.
    alone: bool,
    /// Whether the labels of another file belong to the rows by identifiers.
    joined: bool,
    /// The column of propensities, if they are the weights.
    propensity: Option<String>,
    /// The column of identifiers.
    id: Option<String>,
    /// That of the file of labels, if they belong to the rows by it.
    id_of_labels: Option<String>,
}

/// What says which predictions are right.
struct Judgement {
    losses: Option<Losses>,
    /// Predictions and labels, as text.
    answers: Option<(Vec<String>, Vec<String>)>,
    /// The rows that have labels, if not all have.
    labelled: Option<Vec<usize>>,
}

/// Propensities become weights: a row that was labelled with probability p stands for 1 / p rows.
fn invert(propensities: &mut [f64]) -> Result<(), ErrorKind> {
    for (row, propensity) in propensities.iter_mut().enumerate() {
        if !(*propensity > 0.0 && *propensity <= 1.0) {
            return Err(ErrorKind::NotAPropensity { row: row as u64, value: *propensity });
        }
        *propensity = propensity.recip();
    }
    Ok(())
}

/// The columns of a table, by what they are for.
struct TableColumns {
    found: Vec<(Quantity, Result<Column, Error>)>,
}

impl TableColumns {
    /// A column that was requested; nothing if it was not.
    fn take(&mut self, what: Quantity) -> Result<Option<Column>, Error> {
        let place = self.found.iter().position(|(known, _)| *known == what);
        place.map(|place| self.found.remove(place).1).transpose()
    }
}

/// How many values are there before.
fn repeated_in(ids: &Column) -> usize {
    let texts = ids.clone().into_texts();
    let distinct: HashSet<&str> = texts.iter().map(|text| text.trim()).collect();
    texts.len() - distinct.len()
}

/// Whether a field has a usual name of a quantity.
fn has(fields: &[Field], what: Quantity) -> bool {
    fields.iter().any(|field| what.has_name(&field.name))
}

/// `1 − flag`, each of them 0 or 1.
fn losses_of_flags(flags: Column) -> Result<Losses, ErrorKind> {
    let flags = match flags {
        Column::Texts(texts) => {
            let flag = |(row, text): (usize, &String)| match flag_of(text) {
                Some(flag) => Ok(if flag { 1.0 } else { 0.0 }),
                None => Err(ErrorKind::TextForNumber { row: row as u64, text: text.clone() }),
            };
            texts.iter().enumerate().map(flag).collect::<Result<Vec<f64>, _>>()?
        }
        numbers => numbers.into_floats()?,
    };
    if let Some(row) = flags.iter().position(|&flag| flag != 0.0 && flag != 1.0) {
        return Err(ErrorKind::NotAFlag { row: row as u64, value: flags[row] });
    }
    Ok(Losses::new(flags.into_iter().map(|flag| 1.0 - flag).collect())?)
}

/// The share of the rows in which flags disagree with predictions and labels.
fn disagreement(flags: &Losses, compared: &Losses) -> f64 {
    let pairs = compared.values().iter().zip(flags.values());
    let different = pairs.filter(|(a, b)| a != b).count();
    different as f64 / flags.values().len().max(1) as f64
}

fn check_count(
    what: &'static str,
    found: usize,
    expected: usize,
    path: &Path,
) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    let (found, expected, rows_of) = (found as u64, expected as u64, path.to_path_buf());
    Err(ErrorKind::RowCount { what, found, rows_of, expected }.of(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, names: ConfidenceNames) -> Result<ConfidenceRows, String> {
        let table = Source::bytes("table.csv", text.as_bytes().to_vec());
        let files = ConfidenceFiles { names, ..ConfidenceFiles::new(table) };
        files.read().map_err(|error| error.kind.to_string())
    }

    fn losses(text: &str) -> Result<Vec<f64>, String> {
        let rows = read(text, ConfidenceNames::default())?;
        Ok(rows.losses.map(|losses| losses.values().to_vec()).unwrap_or_default())
    }

    #[test]
    fn correct_is_one_minus_loss() {
        assert_eq!(losses("confidence,correct\n.9,1\n.1,0\n"), Ok(vec![0.0, 1.0]));
        assert_eq!(losses("score,is_correct\n.9,True\n.1,False\n"), Ok(vec![0.0, 1.0]));
        for flags in [
            ["correct", "incorrect"],
            ["Right", "Wrong"],
            ["yes", "no"],
            ["\"true\"", "\"false\""],
            ["\"1\"", "\"0\""],
            ["PASS", "FAIL"],
        ] {
            let text = format!("confidence,correct\n.9,{}\n.1,{}\n", flags[0], flags[1]);
            assert_eq!(losses(&text), Ok(vec![0.0, 1.0]), "{text}");
        }
        let message = losses("confidence,correct\n.9,maybe\n.8,no\n").unwrap_err();
        assert_eq!(message, "row 0: 'maybe' is not a number");
        assert_eq!(losses("confidence,wrong\n.9,0\n.1,1\n"), Ok(vec![0.0, 1.0]));
        let named = ConfidenceNames { losses: Some("correct".into()), ..Default::default() };
        let message = read("confidence,correct\n.9,1\n", named).unwrap_err();
        assert!(message.contains("1 where a prediction is right"), "{message}");
        let message = losses("confidence,correct\n.9,0.5\n").unwrap_err();
        assert!(message.contains("neither 0 nor 1"), "{message}");
    }

    #[test]
    fn predictions_and_labels_are_compared() {
        let text = "true_label,pred_label,confidence\n3,3,.9\n2,1,.5\n";
        assert_eq!(losses(text), Ok(vec![0.0, 1.0]));
        let text = "y_true,y_pred,conf,loss\ncat,cat,.9,0.01\ndog,cat,.5,2.5\n";
        assert_eq!(losses(text), Ok(vec![0.0, 1.0]));
        // 3 and 3.0 are the same class.
        assert_eq!(losses("label,pred,conf\n3,3.0,.9\n2,2.0,.5\n"), Ok(vec![0.0, 0.0]));
    }

    #[test]
    fn one_class_is_written_in_one_way() {
        // Blanks do not count, and LABEL_3 is class 3.
        assert_eq!(losses("label,pred,conf\ncat ,cat,.9\n dog,cat,.5\n"), Ok(vec![0.0, 1.0]));
        assert_eq!(losses("label,pred,conf\n3,LABEL_3,.9\n2,LABEL_1,.5\n"), Ok(vec![0.0, 1.0]));
        let message = losses("label,pred,conf\nCat,cat,.9\ndog,dog,.5\n").unwrap_err();
        assert!(message.contains("upper and lower case"), "{message}");
    }

    #[test]
    fn a_column_is_one_thing_only() {
        let text = "confidence,label,pred,correct\n.9,1,1,1\n.5,0,1,0\n";
        let two = |names: ConfidenceNames| read(text, names).map(|_| ()).unwrap_err();
        let label = Some("label".to_string());
        let named = ConfidenceNames { predictions: label, ..Default::default() };
        assert_eq!(two(named), "'label' would be the labels and the predictions at once");
        let weight = Some("correct".to_string());
        let named = ConfidenceNames { weight, ..Default::default() };
        assert_eq!(two(named), "'correct' would be the flags and the weights at once");
    }

    #[test]
    fn flags_are_compared_with_predictions_and_labels() {
        let share = |text: &str| read(text, ConfidenceNames::default()).expect("read").disagreement;
        assert_eq!(share("conf,correct\n.9,1\n.5,0\n"), None);
        assert_eq!(share("conf,correct,pred,label\n.9,1,2,2\n.5,0,1,2\n"), Some(0.0));
        assert_eq!(share("conf,correct,pred,label\n.9,0,2,2\n.5,0,1,2\n"), Some(0.5));
    }

    #[test]
    fn what_is_not_said_is_not_guessed() {
        let rows = read("id,confidence\n7,.9\n", ConfidenceNames::default()).expect("read");
        assert!(rows.losses.is_none() && rows.confidences == [0.9]);
        // A probability may be that of the positive class.
        assert!(losses("prob,pred,label\n.9,1,1\n").is_err());
        let named = ConfidenceNames { confidence: Some("prob".into()), ..Default::default() };
        let rows = read("prob,pred,label\n.9,1,1\n", named).expect("named");
        assert_eq!(rows.outcome, Some(Outcome::PredictionsAndLabels));
        let message = losses("confidence,correct\nnan,1\n").unwrap_err();
        assert!(message.contains("row 0"), "{message}");
    }

    #[test]
    fn weights_are_used_if_they_are_named() {
        let named = || ConfidenceNames { weight: Some("weight".into()), ..Default::default() };
        let table = |weights: [&str; 2]| {
            format!("confidence,correct,weight\n.9,1,{}\n.8,0,{}\n", weights[0], weights[1])
        };
        let unnamed = read(&table(["2", "0.5"]), ConfidenceNames::default()).expect("read");
        assert_eq!((unnamed.weights, unnamed.unused_weights), (None, Some("weight".into())));
        let rows = read(&table(["2", "0.5"]), named()).expect("read");
        assert_eq!(rows.weights.expect("weights").values(), [2.0, 0.5]);
        assert_eq!(rows.unused_weights, None);
        for (weights, message) in [
            (["1", "-2"], "row 1: weight -2e0"),
            (["nan", "1"], "row 0: weight NaN"),
            (["1", "heavy"], "heavy"),
            (["0", "0"], "all 2 weights are 0"),
        ] {
            let error = read(&table(weights), named()).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        let other = ConfidenceNames { weight: Some("w".into()), ..Default::default() };
        assert!(read(&table(["1", "1"]), other).is_err(), "there is no such column");
    }

    #[test]
    fn propensities_of_an_audit_are_weights() {
        let text = "confidence,correct,propensity\n.9,1,0.5\n.8,0,1\n";
        let rows = read(text, ConfidenceNames::default()).expect("read");
        assert_eq!(rows.weights.expect("weights").values(), [2.0, 1.0]);
        let text = text.replace("0.5", "1.5");
        let error = read(&text, ConfidenceNames::default()).unwrap_err();
        assert_eq!(error, "row 0: a propensity of 1.5 is not a probability above 0");
        // Without outcomes there is nothing to weight.
        let rows = read("confidence,propensity\n.9,0.5\n", ConfidenceNames::default());
        assert!(rows.expect("read").weights.is_none());
    }

    #[test]
    fn repeated_identifiers_are_counted() {
        let repeated = |text: &str| read(text, ConfidenceNames::default()).expect("read").repeated;
        let pooled = "id,model,confidence,correct\n1,a,.9,1\n2,a,.8,0\n1,b,.7,1\n2,b,.6,1\n";
        assert_eq!(repeated(pooled), Some(("id".into(), 2)));
        assert_eq!(repeated("id,confidence,correct\n1,.9,1\n2,.8,0\n"), None);
        assert_eq!(repeated("confidence,correct\n.9,1\n.9,1\n"), None);
    }

    #[test]
    fn groups_are_text() {
        let names = ConfidenceNames { group: Some("site".into()), ..Default::default() };
        let rows = read("confidence,correct,site\n.9,1,7\n.8,0,8\n", names).expect("read");
        assert_eq!(rows.groups.expect("groups"), ["7", "8"]);
    }
}
