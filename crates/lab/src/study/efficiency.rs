//! How many rows tuning takes.

use super::Context;
use crate::measure::Closeup;
use serde::Serialize;

/// NAURC against the number of rows that tune.
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
    /// What it is called.
    pub title: String,
    /// What was seen.
    #[serde(flatten)]
    pub seen: Closeup,
}

impl EfficiencyStudy {
    /// From what was measured.
    pub fn new(context: &Context<'_>) -> Self {
        let models = context.chosen().filter_map(|own| {
            Some(ModelEfficiency {
                model: own.model.name.clone(),
                title: own.model.title.clone(),
                // What each logit weighs is a study of its own.
                seen: Closeup { influences: Vec::new(), ..own.closeup.clone()? },
            })
        });
        EfficiencyStudy { models: models.collect() }
    }
}
