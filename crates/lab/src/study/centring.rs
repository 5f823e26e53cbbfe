//! What is subtracted before the norm, and what is added.

use super::{Context, PStar, over_splits};
use crate::bench::ModelResults;
use crate::protocol::MAX_LOGIT_PNORM;
use crate::statistics::Spread;
use abstain::statistics::pearson;
use serde::Serialize;

/// The paper's `Γ`, in the order of [`crate::protocol::centring_methods`].
const CENTRINGS: [&str; 3] = ["0", "μ(z)", "min z"];

/// MaxLogit-pNorm under other centrings.
#[derive(Debug, Clone, Serialize)]
pub struct CentringStudy {
    /// Average positive gains, by the size of the hold-out.
    pub tables: Vec<CentringTable>,
    /// The models.
    pub models: Vec<CentredModel>,
    /// Pearson's correlation of what centring gains with the distance of the mean logit from 0, over
    /// the models that did not fall back.
    pub correlation: Option<f64>,
}

/// One size of the hold-out.
#[derive(Debug, Clone, Serialize)]
pub struct CentringTable {
    /// The rows that tuned.
    pub tuning_rows: usize,
    /// `Γ`, and the gains with `γ = 0` and with a tuned `γ`.
    pub lines: Vec<(&'static str, Option<Spread>, Option<Spread>)>,
}

/// A model.
#[derive(Debug, Clone, Serialize)]
pub struct CentredModel {
    /// The model.
    pub model: String,
    /// What it is called.
    pub title: String,
    /// The mean of its logits.
    pub mean_logit: f64,
    /// By how much centring lowers the NAURC of MaxLogit-pNorm.
    pub centring_gain: Option<Spread>,
    /// By how much MaxLogit-pNorm lowers that of MSP.
    pub gain: Option<Spread>,
    /// Whether most splits gave MaxLogit-pNorm up.
    pub fell_back: bool,
}

impl CentringStudy {
    /// From what was measured; nothing if centrings were not.
    pub fn new(context: &Context<'_>) -> Option<Self> {
        context.results.iter().all(|own| own.centring.is_some()).then_some(())?;
        // The paper shows two sizes.
        let sizes = context.sizes().into_iter().take(2).enumerate();
        let tables = sizes.map(|(size, tuning_rows)| {
            // In the order of the methods: each centring without and with γ.
            let at = |index: usize| {
                context.apg(context.epsilon, |own, split| {
                    own.centring.as_ref()?.get(size)?.splits.get(split)?.finally(index).naurc
                })
            };
            let line = |(k, name): (usize, &&'static str)| (*name, at(2 * k), at(2 * k + 1));
            CentringTable { tuning_rows, lines: CENTRINGS.iter().enumerate().map(line).collect() }
        });
        let models: Vec<CentredModel> = context.results.iter().filter_map(model).collect();
        let improved = models.iter().filter(|own| !own.fell_back);
        let points =
            improved.filter_map(|own| Some((own.mean_logit.abs(), own.centring_gain?.mean)));
        let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
        Some(CentringStudy { tables: tables.collect(), correlation: pearson(&x, &y).ok(), models })
    }
}

fn model(own: &ModelResults) -> Option<CentredModel> {
    let full = own.centring.as_ref()?.first()?;
    Some(CentredModel {
        model: own.model.name.clone(),
        title: own.model.title.clone(),
        mean_logit: own.methods.mean_logit,
        centring_gain: over_splits(full, |split| {
            let naurc = |index: usize| split.outcomes[index].measured.naurc;
            Some(naurc(0)? - naurc(2)?)
        }),
        gain: own.gain(),
        fell_back: PStar::of(own, MAX_LOGIT_PNORM) == Some(PStar::Fallback),
    })
}
