//! The tuned methods on further sets of rows: Table 3 and the figures beside it.

mod present;

use super::{Context, NotMeasured, Study, json_as_array, over_splits};
use crate::measure::ModelResults;
use crate::measure::{MeasuredPart, SHIFTED, SetResult, ShiftResult, ShiftedMethod, ShiftedSplit};
use crate::protocol::MAX_LOGIT_PNORM;
use abstain::Method;
use abstain::statistics::{pearson, spearman};
use abstain_io::zoo::FurtherSet;
use abstain_lab::statistics::{Spread, mean};
use serde::{Serialize, Serializer};
use std::fmt;

/// Further sets.
#[derive(Debug, Clone, Serialize)]
pub struct ShiftStudy {
    /// The probability with which a certified coverage may fail, if coverages are certified.
    pub delta: Option<f64>,
    /// The sets without a corruption.
    pub titles: Vec<SetTitle>,
    /// One table per model that has further sets.
    pub tables: Vec<ShiftTable>,
    /// Every model on every set, and on the rows of the zoo.
    pub points: Vec<SetPoint>,
    /// Over models on sets without a corruption, or on all sets if there are none: Pearson's
    /// correlation of the gain on the set with that on the rows of the zoo.
    pub gains_correlation: Option<f64>,
    /// The same of the NAURC of MaxLogit-pNorm.
    pub naurc_correlation: Option<f64>,
    /// Spearman's correlation of that NAURC with the accuracy, over all points.
    pub accuracy_correlation: Option<f64>,
}

/// A set and its title. In JSON, an array of the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetTitle {
    /// The name of the set.
    pub name: String,
    /// Its title.
    pub title: String,
}

json_as_array!(SetTitle: name, title);

/// A model: coverages at its accuracy on the rows of the zoo.
#[derive(Debug, Clone, Serialize)]
pub struct ShiftTable {
    /// The model.
    pub model: String,
    /// Its title.
    pub title: String,
    /// The methods.
    pub methods: Vec<Method>,
    /// The rows of the zoo, then the severities, each a mean over corruptions, then the sets without
    /// a corruption.
    pub columns: Vec<ShiftColumn>,
}

/// The rows behind a column of the table. In JSON, its text: 0 stands for the rows of the zoo.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// The rows of the zoo.
    Clean,
    /// The sets of this severity.
    Severity(u32),
    /// A set without a corruption.
    Set(String),
}

impl Column {
    /// Whether it is a level of corruption, the rows of the zoo included.
    pub fn is_level(&self) -> bool {
        !matches!(self, Column::Set(_))
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Column::Clean => f.write_str("0"),
            Column::Severity(severity) => severity.fmt(f),
            Column::Set(name) => f.write_str(name),
        }
    }
}

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A column of the table.
#[derive(Debug, Clone, Serialize)]
pub struct ShiftColumn {
    /// The rows behind it.
    #[serde(rename = "name")]
    pub column: Column,
    /// The number of sets behind it.
    pub sets: usize,
    /// The accuracy.
    pub accuracy: Option<Spread>,
    /// The coverage of each method.
    #[serde(serialize_with = "in_order")]
    pub coverage: Vec<MethodSpread>,
    /// NAURC of each method.
    #[serde(serialize_with = "in_order")]
    pub naurc: Vec<MethodSpread>,
}

/// A method and a number over the splits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MethodSpread {
    /// The method.
    pub method: Method,
    /// The number.
    pub spread: Option<Spread>,
}

/// In JSON the methods are those of the table, in its order.
fn in_order<S: Serializer>(all: &[MethodSpread], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(all.iter().map(|each| each.spread))
}

/// The number of a method.
fn of_method(all: &[MethodSpread], method: Method) -> Option<Spread> {
    all.iter().find(|each| each.method == method)?.spread
}

impl ShiftColumn {
    /// The coverage of a method.
    pub fn coverage_of(&self, method: Method) -> Option<Spread> {
        of_method(&self.coverage, method)
    }

    /// The NAURC of a method.
    pub fn naurc_of(&self, method: Method) -> Option<Spread> {
        of_method(&self.naurc, method)
    }
}

/// A model on a set, with MaxLogit-pNorm or MSP where it fell back.
#[derive(Debug, Clone, Serialize)]
pub struct SetPoint {
    /// The model.
    pub model: String,
    /// Its title.
    pub title: String,
    /// The set, unless it is on the rows of the zoo.
    pub set: Option<String>,
    /// The kind of corruption of the set.
    pub group: Option<String>,
    /// Its severity.
    pub severity: Option<u32>,
    /// The accuracy on the set.
    pub accuracy: f64,
    /// NAURC on the set.
    pub naurc: Option<f64>,
    /// By how much it is below that of MSP.
    pub gain: Option<f64>,
    /// By how much the NAURC of the stack, or of MSP where it fell back, is below that of MSP.
    pub stack_gain: Option<f64>,
}

impl SetPoint {
    /// Whether it is compared with the rows of the zoo. Sets with a corruption are compared only if
    /// there are no others: a growing severity would hide everything else.
    pub fn is_compared(&self, all: &[SetPoint]) -> bool {
        let uncorrupted = |point: &SetPoint| point.set.is_some() && point.group.is_none();
        if all.iter().any(uncorrupted) { uncorrupted(self) } else { self.set.is_some() }
    }

    /// The same model on the rows of the zoo.
    pub fn clean<'a>(&self, all: &'a [SetPoint]) -> Option<&'a SetPoint> {
        all.iter().find(|point| point.set.is_none() && point.model == self.model)
    }
}

impl Study for ShiftStudy {
    const NAME: &'static str = "shift";
    const NEEDS: &'static [MeasuredPart] = &[MeasuredPart::Shift];

    fn new(context: &Context<'_>) -> Result<Self, NotMeasured> {
        let mut tables = Vec::new();
        let mut points: Vec<SetPoint> = Vec::new();
        for model in context.models() {
            let shift = model.shift.as_ref().ok_or(NotMeasured { part: MeasuredPart::Shift })?;
            let shifted = ModelShift::new(context, model, shift);
            tables.extend(shifted.table());
            points.extend(shifted.points());
        }
        let correlation = |value: fn(&SetPoint) -> Option<f64>| -> Option<f64> {
            let compared = points.iter().filter(|point| point.is_compared(&points));
            let pairs =
                compared.filter_map(|point| Some((value(point.clean(&points)?)?, value(point)?)));
            let (x, y): (Vec<f64>, Vec<f64>) = pairs.unzip();
            pearson(&x, &y).ok()
        };
        let all = points.iter().filter_map(|point| Some((point.accuracy, point.naurc?)));
        let (x, y): (Vec<f64>, Vec<f64>) = all.unzip();
        let uncorrupted = context.zoo.sets.iter().filter(|set| set.corruption.is_none());
        Ok(ShiftStudy {
            delta: context.certified.then_some(context.protocol.delta),
            titles: uncorrupted
                .map(|set| SetTitle { name: set.name.clone(), title: set.title.clone() })
                .collect(),
            tables,
            gains_correlation: correlation(|point| point.gain),
            naurc_correlation: correlation(|point| point.naurc),
            accuracy_correlation: spearman(&x, &y).ok(),
            points,
        })
    }
}

/// The table of a model, if it was measured on further sets.
pub(super) fn table(context: &Context<'_>, model: &ModelResults) -> Option<ShiftTable> {
    ModelShift::new(context, model, model.shift.as_ref()?).table()
}

/// A model on its further sets.
struct ModelShift<'a> {
    model: &'a ModelResults,
    sets: Vec<(&'a FurtherSet, &'a SetResult)>,
    certified: bool,
}

impl<'a> ModelShift<'a> {
    fn new(context: &Context<'a>, model: &'a ModelResults, shift: &'a ShiftResult) -> Self {
        let zoo = context.zoo;
        let find = |result: &'a SetResult| {
            Some((zoo.sets.iter().find(|set| set.name == result.set)?, result))
        };
        let sets = shift.sets.iter().filter_map(find).collect();
        ModelShift { model, sets, certified: context.certified }
    }

    fn table(&self) -> Option<ShiftTable> {
        if self.sets.is_empty() {
            return None;
        }
        let severity =
            |set: &FurtherSet| set.corruption.as_ref().map(|corruption| corruption.severity);
        let mut severities: Vec<u32> =
            self.sets.iter().filter_map(|(set, _)| severity(set)).collect();
        severities.sort_unstable();
        severities.dedup();
        let mut columns = vec![self.clean()];
        columns.extend(severities.into_iter().map(|level| {
            let same = self.sets.iter().filter(|(set, _)| severity(set) == Some(level));
            let results: Vec<&SetResult> = same.map(|(_, result)| *result).collect();
            self.column(Column::Severity(level), &results)
        }));
        let uncorrupted = self.sets.iter().filter(|(set, _)| set.corruption.is_none());
        columns.extend(
            uncorrupted.map(|(set, result)| self.column(Column::Set(set.name.clone()), &[result])),
        );
        Some(ShiftTable {
            model: self.model.model.name.clone(),
            title: self.model.model.title.clone(),
            methods: SHIFTED.to_vec(),
            columns,
        })
    }

    /// The rows of the zoo. At their accuracy every row is accepted.
    fn clean(&self) -> ShiftColumn {
        // No certificate was computed on the rows of the zoo.
        let all = (!self.certified).then_some(Spread { mean: 1.0, std: 0.0 });
        let full = self.model.full();
        let naurc = |method: Method| over_splits(full, |split| split.used_measured(method)?.naurc);
        ShiftColumn {
            column: Column::Clean,
            sets: 0,
            accuracy: over_splits(full, |split| Some(split.accuracy)),
            coverage: SHIFTED.map(|method| MethodSpread { method, spread: all }).to_vec(),
            naurc: SHIFTED.map(|method| MethodSpread { method, spread: naurc(method) }).to_vec(),
        }
    }

    /// The mean over some sets, split by split.
    fn column(&self, column: Column, sets: &[&SetResult]) -> ShiftColumn {
        let splits = sets.iter().map(|set| set.splits.len()).min().unwrap_or(0);
        let over = |value: &dyn Fn(&ShiftedSplit) -> Option<f64>| {
            Spread::of_all((0..splits).map(|split| {
                let each = sets.iter().map(|set| value(&set.splits[split]));
                Some(mean(&each.collect::<Option<Vec<f64>>>()?))
            }))
        };
        let of_methods = |value: &dyn Fn(&ShiftedMethod) -> Option<f64>| {
            let spread = |method: Method| over(&|split| value(split.method(method)?));
            SHIFTED.map(|method| MethodSpread { method, spread: spread(method) }).to_vec()
        };
        ShiftColumn {
            column,
            sets: sets.len(),
            accuracy: over(&|split| Some(split.accuracy)),
            coverage: of_methods(&|outcome| {
                if self.certified { outcome.certified } else { outcome.coverage }
            }),
            naurc: of_methods(&|outcome| outcome.naurc),
        }
    }

    fn points(&self) -> Vec<SetPoint> {
        let further = self.sets.iter().filter_map(|(set, result)| {
            self.point(Some(set), &self.column(Column::Set(set.name.clone()), &[result]))
        });
        self.point(None, &self.clean()).into_iter().chain(further).collect()
    }

    fn point(&self, set: Option<&FurtherSet>, column: &ShiftColumn) -> Option<SetPoint> {
        let naurc = |method: Method| column.naurc_of(method).map(|spread| spread.mean);
        let corruption = set.and_then(|set| set.corruption.as_ref());
        let (before, after) = (naurc(Method::MSP), naurc(MAX_LOGIT_PNORM));
        Some(SetPoint {
            model: self.model.model.name.clone(),
            title: self.model.model.title.clone(),
            set: set.map(|set| set.name.clone()),
            group: corruption.map(|corruption| corruption.group.clone()),
            severity: corruption.map(|corruption| corruption.severity),
            accuracy: column.accuracy?.mean,
            naurc: after,
            gain: before.zip(after).map(|(before, after)| before - after),
            stack_gain: before.zip(naurc(Method::Stack)).map(|(before, after)| before - after),
        })
    }
}
