//! The tuned methods on further sets, where nothing is tuned.

use super::methods::MethodsResult;
use super::rows::distinct;
use crate::PaperError;
use crate::protocol::{MAX_LOGIT_PNORM, MSP_TS_AURC, Protocol, SplitResult};
use abstain::{Error, Estimator, Losses, Method, Metric, RcCurve};
use abstain_io::zoo::FurtherSet;
use abstain_lab::Split;
use abstain_lab::Target;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The methods that are measured on further sets.
pub const SHIFTED: [Method; 4] = [Method::MSP, MSP_TS_AURC, MAX_LOGIT_PNORM, Method::Stack];

/// A model on further sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShiftResult {
    /// One result per set.
    pub sets: Vec<SetResult>,
}

/// A model on one set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetResult {
    /// The name of the set.
    pub set: String,
    /// One result per split.
    pub splits: Vec<ShiftedSplit>,
}

/// The methods of [`SHIFTED`], tuned on the hold-out of one split of the zoo's rows, on a set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShiftedSplit {
    /// The accuracy on the set.
    pub accuracy: f64,
    /// One outcome per method.
    pub methods: Vec<ShiftedMethod>,
}

/// A method on a set: MSP where it fell back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShiftedMethod {
    /// The method.
    pub method: Method,
    /// NAURC.
    pub naurc: Option<f64>,
    /// AUROC.
    pub auroc: Option<f64>,
    /// The coverage at the accuracy on the test rows of the zoo.
    pub coverage: Option<f64>,
    /// The coverage that is certified for that accuracy with the labels of the set.
    pub certified: Option<f64>,
}

impl ShiftedSplit {
    /// The outcome of a method, if it was measured.
    pub fn method(&self, method: Method) -> Option<&ShiftedMethod> {
        self.methods.iter().find(|outcome| outcome.method == method)
    }
}

/// The estimators of one model on further sets: those of each split, each estimator once.
pub(crate) struct Shifted<'a> {
    protocol: &'a Protocol,
    splits: &'a [Split],
    results: &'a [SplitResult],
    /// The distinct estimators.
    pub(crate) estimators: Vec<Estimator>,
    /// Of each split, the estimator of each method of [`SHIFTED`] among them.
    places: Vec<usize>,
}

impl<'a> Shifted<'a> {
    pub(crate) fn new(
        protocol: &'a Protocol,
        splits: &'a [Split],
        methods: &'a MethodsResult,
    ) -> Self {
        let results = &methods.holdouts[0].splits[..];
        let used = |result: &SplitResult| SHIFTED.map(|method| result.used(method));
        let used: Vec<Estimator> = results.iter().flat_map(used).collect();
        let (estimators, places) = distinct(&used);
        Shifted { protocol, splits, results, estimators, places }
    }

    /// Measures the confidences of the estimators on a set.
    pub(crate) fn measure(
        &self,
        set: &FurtherSet,
        columns: &[Vec<f64>],
        losses: &Losses,
    ) -> Result<SetResult, PaperError> {
        let every: Vec<usize> = (0..losses.values().len()).collect();
        let splits = self
            .splits
            .par_iter()
            .zip(self.places.par_chunks(SHIFTED.len()))
            .zip(self.results)
            .map(|((split, places), result)| {
                let rows = if set.aligned { &split.test } else { &every };
                let columns: Vec<&[f64]> = places.iter().map(|&k| &columns[k][..]).collect();
                on_rows(rows, &columns, losses, result.accuracy, self.protocol.delta)
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(SetResult { set: set.name.clone(), splits })
    }
}

fn on_rows(
    rows: &[usize],
    columns: &[&[f64]],
    losses: &Losses,
    accuracy: f64,
    delta: f64,
) -> Result<ShiftedSplit, Error> {
    let losses = losses.select(rows);
    let risk = losses.values().iter().sum::<f64>() / rows.len() as f64;
    // An accuracy of 0 or 1 is no target: all rows meet the one, and no certificate the other.
    let target = (accuracy > 0.0 && accuracy < 1.0).then_some(Target::Accuracy(accuracy));
    let outcome = |(&method, column): (&Method, &&[f64])| {
        let confidences: Vec<f64> = rows.iter().map(|&row| column[row]).collect();
        let curve = RcCurve::new(&confidences, &losses)?;
        let metric = target.map(Target::metric).transpose()?;
        let certified = target.map(|target| target.certifier(delta).certify(&curve)).transpose()?;
        Ok(ShiftedMethod {
            method,
            naurc: Metric::NAURC.evaluate(&curve).ok(),
            auroc: Metric::AUROC.evaluate(&curve).ok(),
            coverage: metric.and_then(|metric| metric.evaluate(&curve).ok()),
            // Without a certificate no row may be accepted.
            certified: certified.map(|found| found.map_or(0.0, |found| found.coverage())),
        })
    };
    let methods = SHIFTED.iter().zip(columns).map(outcome).collect::<Result<_, Error>>()?;
    Ok(ShiftedSplit { accuracy: 1.0 - risk, methods })
}
