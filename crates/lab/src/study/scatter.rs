//! NAURC, AURC, AUROC and coverage against accuracy, before and after: Figure 3.

use super::{Context, PStar, over_splits, place};
use crate::bench::ModelResults;
use crate::protocol::{MAX_LOGIT_PNORM, Measured};
use crate::statistics::Spread;
use abstain::statistics::spearman;
use serde::Serialize;

/// Before and after, against accuracy.
#[derive(Debug, Clone, Serialize)]
pub struct ScatterStudy {
    /// The selective accuracy of the coverages.
    pub target: f64,
    /// How often a certified coverage may fail; nothing if coverages are those of the rows.
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
    /// What it is called.
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

/// With MSP, and with MaxLogit-pNorm or what it fell back to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BeforeAfter<T> {
    /// With MSP.
    pub before: T,
    /// With MaxLogit-pNorm.
    pub after: T,
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

impl ScatterStudy {
    /// From what was measured.
    pub fn new(context: &Context<'_>) -> Self {
        let models: Vec<ScatterModel> =
            context.results.iter().map(|own| model(context, own)).collect();
        let of = |metric: fn(&ScatterModel) -> BeforeAfter<Option<Spread>>| BeforeAfter {
            before: correlation(&models, |own| metric(own).before),
            after: correlation(&models, |own| metric(own).after),
        };
        ScatterStudy {
            target: context.protocol.accuracy,
            delta: context.certified.then_some(context.protocol.delta),
            correlations: Correlation {
                naurc: of(|own| own.naurc),
                aurc: of(|own| own.aurc),
                auroc: of(|own| own.auroc),
                coverage: of(|own| own.coverage),
            },
            models,
        }
    }
}

fn model(context: &Context<'_>, own: &ModelResults) -> ScatterModel {
    let place = place(MAX_LOGIT_PNORM);
    let both = |metric: fn(&Measured) -> Option<f64>| BeforeAfter {
        before: over_splits(own.full(), |split| metric(&split.baseline)),
        after: over_splits(own.full(), |split| metric(split.finally(place?))),
    };
    let certified =
        |which: usize| Spread::of_all(own.methods.certified.iter().map(|both| Some(both[which])));
    ScatterModel {
        model: own.model.name.clone(),
        title: own.model.title.clone(),
        accuracy: over_splits(own.full(), |split| Some(split.accuracy)),
        p: PStar::of(own, MAX_LOGIT_PNORM),
        naurc: both(|measured| measured.naurc),
        aurc: both(|measured| measured.aurc),
        auroc: both(|measured| measured.auroc),
        coverage: if context.certified {
            BeforeAfter { before: certified(0), after: certified(1) }
        } else {
            both(|measured| measured.coverage)
        },
    }
}

fn correlation(
    models: &[ScatterModel],
    metric: impl Fn(&ScatterModel) -> Option<Spread>,
) -> Option<f64> {
    let points = models.iter().filter_map(|own| Some((own.accuracy?.mean, metric(own)?.mean)));
    let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
    spearman(&x, &y).ok()
}
