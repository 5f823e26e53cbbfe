//! NAURC, AURC, AUROC and coverage against accuracy, before and after tuning: Figure 3.

mod present;

use super::methods::PStar;
use super::{Context, NotMeasured, Study, over_splits};
use crate::measure::BeforeAfter;
use crate::measure::ModelResults;
use crate::protocol::{MAX_LOGIT_PNORM, Measured};
use abstain::statistics::spearman;
use abstain_lab::Spread;
use serde::Serialize;

/// Before and after, against accuracy.
#[derive(Debug, Clone, Serialize)]
pub struct ScatterStudy {
    /// The selective accuracy of the coverages.
    pub target: f64,
    /// The probability with which a certified coverage may fail, if coverages are certified.
    pub delta: Option<f64>,
    /// The models.
    pub models: Vec<ScatterModel>,
    /// Spearman's correlation with the accuracy over the models.
    pub correlations: Correlation,
}

/// A model.
#[derive(Debug, Clone, Serialize)]
pub struct ScatterModel {
    /// The model.
    pub model: String,
    /// Its title.
    pub title: String,
    /// Its accuracy.
    pub accuracy: Option<Spread>,
    /// The `p` of MaxLogit-pNorm.
    pub p: Option<PStar>,
    /// NAURC.
    pub naurc: BeforeAfter<Option<Spread>>,
    /// AURC.
    pub aurc: BeforeAfter<Option<Spread>>,
    /// AUROC.
    pub auroc: BeforeAfter<Option<Spread>>,
    /// The coverage at the target.
    pub coverage: BeforeAfter<Option<Spread>>,
}

/// Spearman's correlation of each metric with the accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Correlation {
    /// Of NAURC.
    pub naurc: BeforeAfter<Option<f64>>,
    /// Of AURC.
    pub aurc: BeforeAfter<Option<f64>>,
    /// Of AUROC.
    pub auroc: BeforeAfter<Option<f64>>,
    /// Of the coverage.
    pub coverage: BeforeAfter<Option<f64>>,
}

impl Study for ScatterStudy {
    const NAME: &'static str = "scatter";

    fn new(context: &Context<'_>) -> Result<Self, NotMeasured> {
        let models: Vec<ScatterModel> =
            context.models().iter().map(|results| model(context, results)).collect();
        let of = |metric: fn(&ScatterModel) -> BeforeAfter<Option<Spread>>| BeforeAfter {
            before: correlation(&models, |model| metric(model).before),
            after: correlation(&models, |model| metric(model).after),
        };
        Ok(ScatterStudy {
            target: context.protocol.accuracy,
            delta: context.certified.then_some(context.protocol.delta),
            correlations: Correlation {
                naurc: of(|model| model.naurc),
                aurc: of(|model| model.aurc),
                auroc: of(|model| model.auroc),
                coverage: of(|model| model.coverage),
            },
            models,
        })
    }
}

fn model(context: &Context<'_>, results: &ModelResults) -> ScatterModel {
    let both = |metric: fn(&Measured) -> Option<f64>| BeforeAfter {
        before: over_splits(results.full(), |split| metric(&split.baseline)),
        after: over_splits(results.full(), |split| metric(split.used_measured(MAX_LOGIT_PNORM)?)),
    };
    let certified = |coverage: fn(&BeforeAfter<f64>) -> f64| {
        Spread::of_all(results.methods.certified.iter().map(|split| Some(coverage(split))))
    };
    ScatterModel {
        model: results.model.name.clone(),
        title: results.model.title.clone(),
        accuracy: over_splits(results.full(), |split| Some(split.accuracy)),
        p: PStar::of(results, MAX_LOGIT_PNORM),
        naurc: both(|measured| measured.naurc),
        aurc: both(|measured| measured.aurc),
        auroc: both(|measured| measured.auroc),
        coverage: if context.certified {
            BeforeAfter {
                before: certified(|split| split.before),
                after: certified(|split| split.after),
            }
        } else {
            both(|measured| measured.coverage)
        },
    }
}

fn correlation(
    models: &[ScatterModel],
    metric: impl Fn(&ScatterModel) -> Option<Spread>,
) -> Option<f64> {
    let points =
        models.iter().filter_map(|model| Some((model.accuracy?.mean, metric(model)?.mean)));
    let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
    spearman(&x, &y).ok()
}
