//! Confidence as a probability: calibration errors, reliability diagrams, histograms, and gains
//! against how many rows are very sure.

use super::Context;
use crate::measure::{ConfidenceCounts, ReliabilityLine};
use crate::protocol::{MAX_LOGIT_PNORM, MSP_PNORM, MSP_TS_AURC, MSP_TS_NLL};
use crate::statistics::{Spread, mean};
use abstain::Method;
use abstain::statistics::spearman;
use serde::Serialize;

/// Confidence as a probability.
#[derive(Debug, Clone, Serialize)]
pub struct CalibrationStudy {
    /// The expected calibration error over all models.
    pub ece: Vec<EceLine>,
    /// The chosen models.
    pub models: Vec<ModelCalibration>,
    /// All models: how many rows are very sure, and what MaxLogit-pNorm gains.
    pub sure: Vec<SureModel>,
    /// Spearman's correlation of the two.
    pub correlation: Option<f64>,
}

/// A method's expected calibration error.
#[derive(Debug, Clone, Serialize)]
pub struct EceLine {
    /// The method, as tuned, given up or not.
    pub method: Method,
    /// The mean over the models, over the splits.
    pub ece: Option<Spread>,
    /// On how many models it is the best of these methods.
    pub best_on: usize,
}

/// A model's reliability, on the first split.
#[derive(Debug, Clone, Serialize)]
pub struct ModelCalibration {
    /// The model.
    pub model: String,
    /// What it is called.
    pub title: String,
    /// The gain of MaxLogit-pNorm there.
    pub gain: Option<f64>,
    /// How often methods are right at each confidence.
    pub reliability: Vec<ReliabilityLine>,
    /// Confidences of MSP.
    pub before: ConfidenceCounts,
    /// Confidences after tuning.
    pub after: ConfidenceCounts,
}

/// A model, how sure it is and what can be gained.
#[derive(Debug, Clone, Serialize)]
pub struct SureModel {
    /// The model.
    pub model: String,
    /// What it is called.
    pub title: String,
    /// The share of rows with an MSP above 0.999.
    pub very_sure: f64,
    /// The gain of MaxLogit-pNorm.
    pub gain: Option<Spread>,
}

impl CalibrationStudy {
    /// From what was measured.
    pub fn new(context: &Context<'_>) -> Self {
        let methods = [Method::MSP, MSP_TS_NLL, MSP_TS_AURC, MSP_PNORM];
        let ece = |own: &crate::ModelResults, method: Method, split: usize| {
            let place = super::place(method)?;
            own.full().splits.get(split)?.outcomes[place].measured.ece
        };
        let splits = context.protocol.splits.max(1);
        let over_models = |method: Method| {
            Spread::of_all((0..splits).map(|split| {
                let each = context.results.iter().map(|own| ece(own, method, split));
                Some(mean(&each.collect::<Option<Vec<f64>>>()?)).filter(|mean| mean.is_finite())
            }))
        };
        let of_model = |own: &crate::ModelResults, method: Method| {
            let spread = Spread::of_all((0..splits).map(|split| ece(own, method, split)));
            spread.map_or(f64::INFINITY, |spread| spread.mean)
        };
        let best = |own: &crate::ModelResults| {
            let each = methods.iter().map(|&method| (method, of_model(own, method)));
            each.min_by(|a, b| a.1.total_cmp(&b.1)).map(|best| best.0)
        };
        let line = |&method: &Method| EceLine {
            method,
            ece: over_models(method),
            best_on: context.results.iter().filter(|own| best(own) == Some(method)).count(),
        };
        let sure: Vec<SureModel> = context
            .results
            .iter()
            .map(|own| SureModel {
                model: own.model.name.clone(),
                title: own.model.title.clone(),
                very_sure: own.methods.very_sure,
                gain: own.gain(),
            })
            .collect();
        let points = sure.iter().filter_map(|own| Some((own.very_sure, own.gain?.mean)));
        let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
        let models = context.chosen().map(|own| ModelCalibration {
            model: own.model.name.clone(),
            title: own.model.title.clone(),
            gain: super::place(MAX_LOGIT_PNORM)
                .and_then(|place| own.full().splits.first()?.gain(place)),
            reliability: own.methods.reliability.clone(),
            before: own.methods.before.clone(),
            after: own.methods.after.clone(),
        });
        CalibrationStudy {
            ece: methods.iter().map(line).collect(),
            models: models.collect(),
            correlation: spearman(&x, &y).ok(),
            sure,
        }
    }
}
