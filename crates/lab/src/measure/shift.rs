//! The tuned methods on further sets: nothing is tuned there.

use super::methods::MethodsResult;
use super::rows::distinct;
use crate::LabError;
use crate::protocol::{self, MAX_LOGIT_PNORM, MSP_TS_AURC, Protocol, SplitResult};
use crate::split::Split;
use crate::target::Target;
use crate::zoo::{Model, Zoo};
use abstain::{Estimator, Losses, Method, Metric, RcCurve};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The methods that are tried on further sets.
pub const SHIFTED: [Method; 4] = [Method::MSP, MSP_TS_AURC, MAX_LOGIT_PNORM, Method::Stack];

/// A model on further sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShiftResult {
    /// The sets that it has.
    pub sets: Vec<SetResult>,
}

/// A model on one set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetResult {
    /// The set.
    pub set: String,
    /// The splits.
    pub splits: Vec<ShiftedSplit>,
}

/// The methods of [`SHIFTED`], tuned on the hold-out of one split of the zoo's rows, on a set: with
/// MSP in place of those that were given up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShiftedSplit {
    /// The accuracy there.
    pub accuracy: f64,
    /// NAURC of each.
    pub naurc: Vec<Option<f64>>,
    /// AUROC of each.
    pub auroc: Vec<Option<f64>>,
    /// The coverage of each at the accuracy on the test rows of the zoo.
    pub coverage: Vec<Option<f64>>,
    /// The coverage of each that can be certified for that accuracy with the labels of these rows.
    pub certified: Vec<Option<f64>>,
}

/// Measures a model on the further sets that it has.
pub(crate) fn shift(
    zoo: &Zoo,
    model: &Model,
    protocol: &Protocol,
    splits: &[Split],
    methods: &MethodsResult,
    progress: &mut dyn FnMut(usize),
) -> Result<ShiftResult, LabError> {
    let all = protocol::methods();
    let full = &methods.holdings[0];
    // What to use on each split, and each of them once.
    let used = |result: &SplitResult| {
        SHIFTED.map(|method| {
            let place = all.iter().position(|own| *own == method);
            place.map_or(Estimator::MSP, |place| result.used(place))
        })
    };
    let used: Vec<Estimator> = full.splits.iter().flat_map(used).collect();
    let (distinct, places) = distinct(&used);
    let mut sets = Vec::new();
    let own = zoo.sets.iter().filter(|set| set.has(model));
    for (done, set) in own.enumerate() {
        progress(done);
        let (columns, losses) = set.confidences(model, &distinct)?;
        let every: Vec<usize> = (0..losses.values().len()).collect();
        let results = splits
            .par_iter()
            .zip(places.par_chunks(SHIFTED.len()))
            .zip(&full.splits)
            .map(|((split, places), result)| {
                let rows = if set.aligned { &split.test } else { &every };
                let columns: Vec<&Vec<f64>> = places.iter().map(|&k| &columns[k]).collect();
                on_rows(rows, &columns, &losses, result.accuracy, protocol.delta)
            })
            .collect::<Result<Vec<_>, _>>()?;
        sets.push(SetResult { set: set.name.clone(), splits: results });
    }
    Ok(ShiftResult { sets })
}

fn on_rows(
    rows: &[usize],
    columns: &[&Vec<f64>],
    losses: &Losses,
    accuracy: f64,
    delta: f64,
) -> Result<ShiftedSplit, abstain::Error> {
    let losses = losses.select(rows);
    let target = Target::Accuracy(accuracy);
    let risk = losses.values().iter().sum::<f64>() / rows.len() as f64;
    let mut split = ShiftedSplit {
        accuracy: 1.0 - risk,
        naurc: Vec::new(),
        auroc: Vec::new(),
        coverage: Vec::new(),
        certified: Vec::new(),
    };
    for column in columns {
        let own: Vec<f64> = rows.iter().map(|&row| column[row]).collect();
        let curve = RcCurve::new(&own, &losses)?;
        split.naurc.push(Metric::NAURC.evaluate(&curve).ok());
        split.auroc.push(Metric::AUROC.evaluate(&curve).ok());
        // An accuracy of 0 or 1 asks for everything or for what no rows can promise.
        let asked = (accuracy > 0.0 && accuracy < 1.0).then_some(());
        let metric = asked.map(|()| target.metric()).transpose()?;
        split.coverage.push(metric.and_then(|metric| metric.evaluate(&curve).ok()));
        let certified = asked.map(|()| target.certifier(delta).certify(&curve)).transpose()?;
        // What cannot be certified covers nothing.
        split.certified.push(certified.map(|own| own.map_or(0.0, |own| own.coverage())));
    }
    Ok(split)
}
