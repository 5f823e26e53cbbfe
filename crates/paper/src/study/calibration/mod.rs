//! Confidence as a probability: calibration errors, reliability diagrams, histograms, and gains
//! against the share of rows with a high MSP.

mod present;

use super::{Context, NotMeasured, Study};
use crate::measure::ModelResults;
use crate::measure::{ConfidenceCounts, ReliabilityLine};
use crate::protocol::{MAX_LOGIT_PNORM, MSP_PNORM, MSP_TS_AURC, MSP_TS_NLL};
use abstain::Method;
use abstain::statistics::spearman;
use abstain_lab::statistics::{Spread, mean};
use serde::Serialize;

/// The methods whose confidences are probabilities.
const METHODS: [Method; 4] = [Method::MSP, MSP_TS_NLL, MSP_TS_AURC, MSP_PNORM];

/// Confidence as a probability.
#[derive(Debug, Clone, Serialize)]
pub struct CalibrationStudy {
    /// The expected calibration error over all models.
    pub ece: Vec<EceLine>,
    /// The chosen models.
    pub models: Vec<ModelCalibration>,
    /// All models: the share of rows with a high MSP, and the gain of MaxLogit-pNorm.
    pub sure: Vec<SureModel>,
    /// Spearman's correlation of the two.
    pub correlation: Option<f64>,
}

/// A method's expected calibration error.
#[derive(Debug, Clone, Serialize)]
pub struct EceLine {
    /// The method as tuned, even where it fell back.
    pub method: Method,
    /// The mean over the models, over the splits.
    pub ece: Option<Spread>,
    /// The number of models on which it is the best of these methods.
    pub best_on: usize,
}

/// A model's reliability on the first split.
#[derive(Debug, Clone, Serialize)]
pub struct ModelCalibration {
    /// The model.
    pub model: String,
    /// Its title.
    pub title: String,
    /// The gain of MaxLogit-pNorm on the first split.
    pub gain: Option<f64>,
    /// The accuracy of methods at each confidence.
    pub reliability: Vec<ReliabilityLine>,
    /// Confidences of MSP.
    pub before: ConfidenceCounts,
    /// Confidences after tuning.
    pub after: ConfidenceCounts,
}

/// A model with the share of rows that have a high MSP.
#[derive(Debug, Clone, Serialize)]
pub struct SureModel {
    /// The model.
    pub model: String,
    /// Its title.
    pub title: String,
    /// The share of rows with an MSP above 0.999.
    pub very_sure: f64,
    /// The gain of MaxLogit-pNorm.
    pub gain: Option<Spread>,
}

impl Study for CalibrationStudy {
    const NAME: &'static str = "calibration";

    fn new(context: &Context<'_>) -> Result<Self, NotMeasured> {
        let sure: Vec<SureModel> = context
            .models()
            .iter()
            .map(|model| SureModel {
                model: model.model.name.clone(),
                title: model.model.title.clone(),
                very_sure: model.methods.very_sure,
                gain: model.gain(),
            })
            .collect();
        let points = sure.iter().filter_map(|model| Some((model.very_sure, model.gain?.mean)));
        let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
        Ok(CalibrationStudy {
            ece: METHODS.iter().map(|&method| ece_line(context, method)).collect(),
            models: context.chosen().map(model_calibration).collect(),
            correlation: spearman(&x, &y).ok(),
            sure,
        })
    }
}

fn model_calibration(model: &ModelResults) -> ModelCalibration {
    ModelCalibration {
        model: model.model.name.clone(),
        title: model.model.title.clone(),
        gain: model.full().splits.first().and_then(|split| split.gain(MAX_LOGIT_PNORM)),
        reliability: model.methods.reliability.clone(),
        before: model.methods.confidences.before.clone(),
        after: model.methods.confidences.after.clone(),
    }
}

fn ece_line(context: &Context<'_>, method: Method) -> EceLine {
    let splits = 0..context.protocol.splits.max(1);
    let over_models = splits.map(|split| {
        let each = context.models().iter().map(|model| ece(model, method, split));
        Some(mean(&each.collect::<Option<Vec<f64>>>()?)).filter(|mean| mean.is_finite())
    });
    let best = context.models().iter().filter(|model| best_method(model) == Some(method));
    EceLine { method, ece: Spread::of_all(over_models), best_on: best.count() }
}

fn ece(model: &ModelResults, method: Method, split: usize) -> Option<f64> {
    model.full().splits.get(split)?.outcome(method)?.measured.ece
}

/// The method with the lowest calibration error on a model.
fn best_method(model: &ModelResults) -> Option<Method> {
    let splits = model.full().splits.len();
    let of_method = |method: Method| {
        let spread = Spread::of_all((0..splits).map(|split| ece(model, method, split)));
        spread.map_or(f64::INFINITY, |spread| spread.mean)
    };
    let each = METHODS.iter().map(|&method| (method, of_method(method)));
    each.min_by(|a, b| a.1.total_cmp(&b.1)).map(|best| best.0)
}
