//! Risk-coverage curves of chosen models.

use super::{Context, over_splits};
use crate::measure::{CurveBand, curve_coverages};
use crate::statistics::Spread;
use serde::Serialize;

/// Curves of chosen models.
#[derive(Debug, Clone, Serialize)]
pub struct CurvesStudy {
    /// The coverages.
    pub coverage: Vec<f64>,
    /// The models.
    pub models: Vec<ModelCurves>,
}

/// The curves of a model.
#[derive(Debug, Clone, Serialize)]
pub struct ModelCurves {
    /// The model.
    pub model: String,
    /// What it is called.
    pub title: String,
    /// Its accuracy.
    pub accuracy: Option<Spread>,
    /// A curve a method.
    pub curves: Vec<CurveBand>,
}

impl CurvesStudy {
    /// From what was measured.
    pub fn new(context: &Context<'_>) -> Self {
        let models = context.chosen().map(|own| ModelCurves {
            model: own.model.name.clone(),
            title: own.model.title.clone(),
            accuracy: over_splits(own.full(), |split| Some(split.accuracy)),
            curves: own.methods.curves.clone(),
        });
        CurvesStudy { coverage: curve_coverages(), models: models.collect() }
    }
}
