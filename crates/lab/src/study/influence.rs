//! How much the j-th logit weighs: `A_j / A_2`.

use super::Context;
use crate::measure::Influence;
use abstain::Method;
use serde::Serialize;

/// What each logit weighs in chosen models.
#[derive(Debug, Clone, Serialize)]
pub struct InfluenceStudy {
    /// The small logits are those from this one on.
    pub small_from: usize,
    /// The models.
    pub models: Vec<ModelInfluence>,
}

/// A model.
#[derive(Debug, Clone, Serialize)]
pub struct ModelInfluence {
    /// The model.
    pub model: String,
    /// What it is called.
    pub title: String,
    /// The methods.
    pub methods: Vec<WeighedMethod>,
}

/// A method.
#[derive(Debug, Clone, Serialize)]
pub struct WeighedMethod {
    /// The method.
    pub method: Method,
    /// Its `T` or `p`.
    pub parameter: f64,
    /// The geometric mean of `A_j / A_2`, largest logit first.
    pub ratios: Vec<f64>,
    /// The sum over the small logits.
    pub small: f64,
}

impl InfluenceStudy {
    /// From what was measured.
    pub fn new(context: &Context<'_>) -> Self {
        // From a tenth of the classes on, as from the hundredth of a thousand in the paper.
        let small_from = (context.zoo.classes / 10).max(3);
        let weighed = |own: &Influence| WeighedMethod {
            method: own.method,
            parameter: own.parameter,
            ratios: own.ratios.clone(),
            small: own.ratios.iter().skip(small_from - 1).sum(),
        };
        let models = context.chosen().filter_map(|own| {
            Some(ModelInfluence {
                model: own.model.name.clone(),
                title: own.model.title.clone(),
                methods: own.closeup.as_ref()?.influences.iter().map(weighed).collect(),
            })
        });
        InfluenceStudy { small_from, models: models.collect() }
    }
}
