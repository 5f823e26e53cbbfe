//! The tuned methods on further sets of rows: Table 3 and the figures beside it.

use super::{Context, over_splits};
use crate::bench::ModelResults;
use crate::measure::{SHIFTED, SetResult, ShiftedSplit};
use crate::protocol::MAX_LOGIT_PNORM;
use crate::statistics::{Spread, mean};
use crate::zoo::FurtherSet;
use abstain::Method;
use abstain::statistics::{pearson, spearman};
use serde::Serialize;

/// Further sets.
#[derive(Debug, Clone, Serialize)]
pub struct ShiftStudy {
    /// How often a certified coverage may fail; nothing if coverages are those of the rows.
    pub delta: Option<f64>,
    /// The sets of no group: their names, and what they are called.
    pub titles: Vec<(String, String)>,
    /// Of each model that has such sets.
    pub tables: Vec<ShiftTable>,
    /// Every model on every set, its own rows (no set) included.
    pub points: Vec<SetPoint>,
    /// Over models on sets of no group, or on all sets if each has one: Pearson's correlation of the
    /// gain there with that on the own rows.
    pub gains_correlation: Option<f64>,
    /// The same of the NAURC of MaxLogit-pNorm.
    pub naurc_correlation: Option<f64>,
    /// Spearman's correlation of that NAURC with the accuracy, over everything.
    pub accuracy_correlation: Option<f64>,
}

/// A model: coverages at its accuracy on its own rows.
#[derive(Debug, Clone, Serialize)]
pub struct ShiftTable {
    /// The model.
    pub model: String,
    /// What it is called.
    pub title: String,
    /// The methods.
    pub methods: Vec<Method>,
    /// Its own rows, then the severities, each a mean over groups, then sets that are of no group.
    pub columns: Vec<ShiftColumn>,
}

/// A column of the table.
#[derive(Debug, Clone, Serialize)]
pub struct ShiftColumn {
    /// The severity or the name of the set.
    pub name: String,
    /// The sets behind it.
    pub sets: usize,
    /// The accuracy.
    pub accuracy: Option<Spread>,
    /// The coverage of each method.
    pub coverage: Vec<Option<Spread>>,
    /// NAURC of each method.
    pub naurc: Vec<Option<Spread>>,
}

/// A model on a set, with MaxLogit-pNorm or what it fell back to.
#[derive(Debug, Clone, Serialize)]
pub struct SetPoint {
    /// The model.
    pub model: String,
    /// What it is called.
    pub title: String,
    /// The set; nothing for its own rows.
    pub set: Option<String>,
    /// The group of the set.
    pub group: Option<String>,
    /// The severity in its group.
    pub severity: Option<u32>,
    /// The accuracy there.
    pub accuracy: f64,
    /// NAURC there.
    pub naurc: Option<f64>,
    /// By how much MSP's is higher there.
    pub gain: Option<f64>,
}

impl SetPoint {
    /// Whether it is held against the own rows of its model. Corruptions of growing severity would
    /// only show how severe they are.
    pub fn is_compared(&self, all: &[SetPoint]) -> bool {
        let apart = |point: &SetPoint| point.set.is_some() && point.group.is_none();
        if all.iter().any(apart) { apart(self) } else { self.set.is_some() }
    }
}

impl ShiftStudy {
    /// From what was measured; nothing if the zoo has no further sets.
    pub fn new(context: &Context<'_>) -> Option<Self> {
        if context.zoo.sets.is_empty() {
            return None;
        }
        let tables = context.results.iter().filter_map(|own| table(context, own)).collect();
        let points: Vec<SetPoint> =
            context.results.iter().flat_map(|own| points(context, own)).collect();
        let own_rows = |point: &SetPoint| {
            points.iter().find(|own| own.set.is_none() && own.model == point.model)
        };
        let pairs = |value: fn(&SetPoint) -> Option<f64>| -> Option<f64> {
            let shifted = points.iter().filter(|point| point.is_compared(&points));
            let pairs = shifted.filter_map(|point| Some((value(own_rows(point)?)?, value(point)?)));
            let (x, y): (Vec<f64>, Vec<f64>) = pairs.unzip();
            pearson(&x, &y).ok()
        };
        let everything = points.iter().filter_map(|point| Some((point.accuracy, point.naurc?)));
        let (x, y): (Vec<f64>, Vec<f64>) = everything.unzip();
        Some(ShiftStudy {
            delta: context.certified.then_some(context.protocol.delta),
            titles: context
                .zoo
                .sets
                .iter()
                .filter(|set| set.group.is_none())
                .map(|set| (set.name.clone(), set.title.clone()))
                .collect(),
            tables,
            gains_correlation: pairs(|point| point.gain),
            naurc_correlation: pairs(|point| point.naurc),
            accuracy_correlation: spearman(&x, &y).ok(),
            points,
        })
    }
}

fn further<'a>(context: &Context<'a>, result: &SetResult) -> Option<&'a FurtherSet> {
    context.zoo.sets.iter().find(|set| set.name == result.set)
}

fn table(context: &Context<'_>, own: &ModelResults) -> Option<ShiftTable> {
    let sets = &own.shift.as_ref()?.sets;
    let known: Vec<(&FurtherSet, &SetResult)> =
        sets.iter().filter_map(|result| Some((further(context, result)?, result))).collect();
    if known.is_empty() {
        return None;
    }
    let mut columns = vec![own_rows(context, own)];
    let mut severities: Vec<u32> = known.iter().filter_map(|(set, _)| set.severity).collect();
    severities.sort_unstable();
    severities.dedup();
    for severity in severities {
        let same: Vec<&SetResult> = known
            .iter()
            .filter(|(set, _)| set.severity == Some(severity))
            .map(|(_, result)| *result)
            .collect();
        columns.push(column(context, severity.to_string(), &same));
    }
    for (set, result) in known.iter().filter(|(set, _)| set.severity.is_none()) {
        columns.push(column(context, set.name.clone(), &[result]));
    }
    Some(ShiftTable {
        model: own.model.name.clone(),
        title: own.model.title.clone(),
        methods: SHIFTED.to_vec(),
        columns,
    })
}

/// Level 0: at its own accuracy everything is kept.
fn own_rows(context: &Context<'_>, own: &ModelResults) -> ShiftColumn {
    // Of a promise on the own rows nothing is known.
    let all = (!context.certified).then_some(Spread { mean: 1.0, std: 0.0 });
    let naurc = |method: &Method| {
        let place = super::place(*method)?;
        over_splits(own.full(), |split| split.finally(place).naurc)
    };
    ShiftColumn {
        name: "0".into(),
        sets: 0,
        accuracy: over_splits(own.full(), |split| Some(split.accuracy)),
        coverage: vec![all; SHIFTED.len()],
        naurc: SHIFTED.iter().map(naurc).collect(),
    }
}

/// The mean over some sets, split by split.
fn column(context: &Context<'_>, name: String, sets: &[&SetResult]) -> ShiftColumn {
    let splits = sets.iter().map(|set| set.splits.len()).min().unwrap_or(0);
    let over = |value: &dyn Fn(&ShiftedSplit) -> Option<f64>| {
        Spread::of_all((0..splits).map(|split| {
            let each = sets.iter().map(|set| value(&set.splits[split]));
            Some(mean(&each.collect::<Option<Vec<f64>>>()?))
        }))
    };
    let certified = context.certified;
    let coverage = |split: &ShiftedSplit, k: usize| {
        if certified { split.certified[k] } else { split.coverage[k] }
    };
    ShiftColumn {
        name,
        sets: sets.len(),
        accuracy: over(&|split| Some(split.accuracy)),
        coverage: (0..SHIFTED.len()).map(|k| over(&|split| coverage(split, k))).collect(),
        naurc: (0..SHIFTED.len()).map(|k| over(&|split| split.naurc[k])).collect(),
    }
}

fn points(context: &Context<'_>, own: &ModelResults) -> Vec<SetPoint> {
    let Some(shift) = &own.shift else { return Vec::new() };
    let place = |method: Method| SHIFTED.iter().position(|own| *own == method).unwrap_or_default();
    let (msp, pnorm) = (place(Method::MSP), place(MAX_LOGIT_PNORM));
    let column = own_rows(context, own);
    let mean_of = |spread: Option<Spread>| spread.map(|own| own.mean);
    let difference = |naurc: &[Option<Spread>]| Some(mean_of(naurc[msp])? - mean_of(naurc[pnorm])?);
    let point = |set: Option<&FurtherSet>, column: &ShiftColumn| {
        Some(SetPoint {
            model: own.model.name.clone(),
            title: own.model.title.clone(),
            set: set.map(|set| set.name.clone()),
            group: set.and_then(|set| set.group.clone()),
            severity: set.and_then(|set| set.severity),
            accuracy: column.accuracy?.mean,
            naurc: mean_of(column.naurc[pnorm]),
            gain: difference(&column.naurc),
        })
    };
    let further = shift.sets.iter().filter_map(|result| {
        let set = further(context, result)?;
        point(Some(set), &self::column(context, set.name.clone(), &[result]))
    });
    point(None, &column).into_iter().chain(further).collect()
}
