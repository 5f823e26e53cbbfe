//! Risk-coverage curves of chosen models.

mod present;

use super::{Context, NotMeasured, Study, over_splits};
use crate::measure::{CurveBand, curve_coverages};
use abstain_lab::Spread;
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
    /// Its title.
    pub title: String,
    /// Its accuracy.
    pub accuracy: Option<Spread>,
    /// One curve per method.
    pub curves: Vec<CurveBand>,
}

impl Study for CurvesStudy {
    const NAME: &'static str = "curves";

    fn new(context: &Context<'_>) -> Result<Self, NotMeasured> {
        let models = context.chosen().map(|model| ModelCurves {
            model: model.model.name.clone(),
            title: model.model.title.clone(),
            accuracy: over_splits(model.full(), |split| Some(split.accuracy)),
            curves: model.methods.curves.clone(),
        });
        Ok(CurvesStudy { coverage: curve_coverages(), models: models.collect() })
    }
}
