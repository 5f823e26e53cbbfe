//! NAURC against the number of tuning rows.

mod present;

use super::{Context, NotMeasured, Study};
use crate::measure::{Closeup, MeasuredPart};
use serde::Serialize;

/// NAURC against the number of tuning rows.
#[derive(Debug, Clone, Serialize)]
pub struct EfficiencyStudy {
    /// The chosen models.
    pub models: Vec<ModelEfficiency>,
}

/// A model.
#[derive(Debug, Clone, Serialize)]
pub struct ModelEfficiency {
    /// The model.
    pub model: String,
    /// Its title.
    pub title: String,
    /// The measurements, without influences, which are another study.
    #[serde(flatten)]
    pub closeup: Closeup,
}

impl Study for EfficiencyStudy {
    const NAME: &'static str = "efficiency";
    const NEEDS: &'static [MeasuredPart] = &[MeasuredPart::Closeup];

    fn new(context: &Context<'_>) -> Result<Self, NotMeasured> {
        let models = context.chosen().map(|model| {
            let closeup =
                model.closeup.clone().ok_or(NotMeasured { part: MeasuredPart::Closeup })?;
            Ok(ModelEfficiency {
                model: model.model.name.clone(),
                title: model.model.title.clone(),
                closeup: Closeup { influences: Vec::new(), ..closeup },
            })
        });
        Ok(EfficiencyStudy { models: models.collect::<Result<_, _>>()? })
    }
}
