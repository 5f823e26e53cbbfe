//! The weight of the j-th logit: `A_j / A_2`.

mod present;

use super::{Context, NotMeasured, Study};
use crate::measure::{Influence, MeasuredPart};
use abstain::Method;
use serde::Serialize;

/// The weight of each logit in chosen models.
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
    /// Its title.
    pub title: String,
    /// The methods.
    pub methods: Vec<MethodInfluence>,
}

/// A method.
#[derive(Debug, Clone, Serialize)]
pub struct MethodInfluence {
    /// The method.
    pub method: Method,
    /// Its `T` or `p`.
    pub parameter: f64,
    /// The geometric mean of `A_j / A_2`, largest logit first.
    pub ratios: Vec<f64>,
    /// The sum over the small logits.
    pub small: f64,
}

impl Study for InfluenceStudy {
    const NAME: &'static str = "influence";
    const NEEDS: &'static [MeasuredPart] = &[MeasuredPart::Closeup];

    fn new(context: &Context<'_>) -> Result<Self, NotMeasured> {
        // From a tenth of the classes on, as from the hundredth of a thousand in the paper.
        let small_from = (context.zoo.classes / 10).max(3);
        let method = |influence: &Influence| MethodInfluence {
            method: influence.method,
            parameter: influence.parameter,
            ratios: influence.ratios.clone(),
            small: influence.ratios.iter().skip(small_from - 1).sum(),
        };
        let models = context.chosen().map(|model| {
            let closeup =
                model.closeup.as_ref().ok_or(NotMeasured { part: MeasuredPart::Closeup })?;
            Ok(ModelInfluence {
                model: model.model.name.clone(),
                title: model.model.title.clone(),
                methods: closeup.influences.iter().map(method).collect(),
            })
        });
        Ok(InfluenceStudy { small_from, models: models.collect::<Result<_, _>>()? })
    }
}
