//! Every score under every transform: Tables 1 and 2, Figure 2 and the full tables of the paper.

mod present;

use super::{Context, NotMeasured, Study, over_splits};
use crate::measure::ModelResults;
use crate::measure::{CURVES, exponent_of};
use crate::protocol::{
    LOGITS_MARGIN, MAX_LOGIT_PNORM, MSP_PNORM, MSP_TS_AURC, Measured, NEGATIVE_ENTROPY_PNORM,
    Outcome, TRANSFORMS,
};
use abstain::{Method, Score, method::TransformKind};
use abstain_lab::Spread;
use serde::{Serialize, Serializer};

/// The methods of the full tables.
pub const FULL: [Method; 7] = CURVES;

/// The methods of the figure of gains.
const SHOWN: [Method; 6] =
    [MSP_TS_AURC, LOGITS_MARGIN, MSP_PNORM, NEGATIVE_ENTROPY_PNORM, MAX_LOGIT_PNORM, Method::Stack];

/// Every score under every transform.
#[derive(Debug, Clone, Serialize)]
pub struct MethodsStudy {
    /// The number of random splits.
    pub splits: usize,
    /// The number of test rows.
    pub test_rows: usize,
    /// Gains up to this count as none.
    pub epsilon: f64,
    /// One table per model, with methods as tuned, even where they fell back.
    pub models: Vec<ModelTable>,
    /// The average positive gain over all models, by the size of the hold-out.
    pub apg: Vec<ApgTable>,
    /// The models by the gain of MaxLogit-pNorm, the largest first.
    pub order: Vec<String>,
    /// The gains of some methods in that order.
    pub gains: Vec<GainLine>,
    /// The full tables, with MSP where a method fell back.
    pub full: Vec<FullModel>,
}

/// One model: a row per score, a column per transform, and `None` where a transform does not change
/// the ranking.
#[derive(Debug, Clone, Serialize)]
pub struct ModelTable {
    /// The model.
    pub model: String,
    /// Its title.
    pub title: String,
    /// Whether it is shown individually.
    pub chosen: bool,
    /// NAURC.
    pub naurc: Vec<Vec<Option<Spread>>>,
    /// AUROC.
    pub auroc: Vec<Vec<Option<Spread>>>,
}

/// Average positive gains: a row per score, a column per transform.
#[derive(Debug, Clone, Serialize)]
pub struct ApgTable {
    /// The number of tuning rows.
    pub tuning_rows: usize,
    /// The gains.
    pub apg: Vec<Vec<Option<Spread>>>,
}

/// A method's gain on each model.
#[derive(Debug, Clone, Serialize)]
pub struct GainLine {
    /// The method.
    pub method: Method,
    /// Its gains, in the order of the models.
    pub gains: Vec<Option<Spread>>,
}

/// A model in the full tables.
#[derive(Debug, Clone, Serialize)]
pub struct FullModel {
    /// The model.
    pub model: String,
    /// Its title.
    pub title: String,
    /// Its accuracy.
    pub accuracy: Option<Spread>,
    /// The methods of [`FULL`].
    pub methods: Vec<FullLine>,
}

/// A method in the full tables.
#[derive(Debug, Clone, Serialize)]
pub struct FullLine {
    /// The method.
    pub method: Method,
    /// NAURC.
    pub naurc: Option<Spread>,
    /// AURC.
    pub aurc: Option<Spread>,
    /// AUROC.
    pub auroc: Option<Spread>,
    /// The `p` that most splits chose, of methods that have one or fell back.
    pub p: Option<PStar>,
}

/// The choice of most splits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PStar {
    /// MSP.
    Fallback,
    /// A method without a `p`, as tuned.
    Tuned,
    /// This `p`.
    At(f64),
}

impl Serialize for PStar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            PStar::Fallback => serializer.serialize_str("F"),
            PStar::Tuned => serializer.serialize_none(),
            PStar::At(p) => serializer.serialize_f64(*p),
        }
    }
}

impl PStar {
    /// The choice of most splits of a model; of equally frequent ones, the first.
    pub(crate) fn of(results: &ModelResults, method: Method) -> Option<PStar> {
        let of_outcome = |outcome: &Outcome| match exponent_of(&outcome.estimator) {
            _ if outcome.fell_back => PStar::Fallback,
            Some(p) => PStar::At(p),
            None => PStar::Tuned,
        };
        let splits = results.full().splits.iter();
        let all: Vec<PStar> =
            splits.filter_map(|split| split.outcome(method).map(of_outcome)).collect();
        let count = |p: &PStar| all.iter().filter(|other| *other == p).count();
        // `max_by_key` returns the last maximum.
        all.iter().rev().max_by_key(|p| count(p)).copied()
    }
}

impl Study for MethodsStudy {
    const NAME: &'static str = "methods";

    fn new(context: &Context<'_>) -> Result<Self, NotMeasured> {
        let mut order: Vec<&ModelResults> = context.models().iter().collect();
        let gain = |model: &ModelResults| model.gain().map_or(f64::NEG_INFINITY, |gain| gain.mean);
        order.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
        let gains_of = |&method: &Method| GainLine {
            method,
            gains: order
                .iter()
                .map(|model| over_splits(model.full(), |split| split.gain(method)))
                .collect(),
        };
        let sizes = context.sizes();
        Ok(MethodsStudy {
            splits: context.protocol.splits,
            test_rows: context.zoo.rows() - sizes[0],
            epsilon: context.epsilon,
            models: context.models().iter().map(|model| model_table(context, model)).collect(),
            apg: sizes
                .iter()
                .enumerate()
                .map(|(size, &tuning_rows)| ApgTable {
                    tuning_rows,
                    apg: grid(|method| context.apg_of(method, size)),
                })
                .collect(),
            order: order.iter().map(|model| model.model.name.clone()).collect(),
            gains: SHOWN.iter().map(gains_of).collect(),
            full: context.models().iter().map(full_model).collect(),
        })
    }
}

/// A row per score, a column per transform.
fn grid<T>(value: impl Fn(Method) -> Option<T>) -> Vec<Vec<Option<T>>> {
    let of = |score: Score, transform: TransformKind| {
        Method::new(score, transform).ok().and_then(&value)
    };
    Score::OF_THE_PAPER
        .iter()
        .map(|&score| TRANSFORMS.iter().map(|&transform| of(score, transform)).collect())
        .collect()
}

fn model_table(context: &Context<'_>, model: &ModelResults) -> ModelTable {
    let table = |metric: fn(&Measured) -> Option<f64>| {
        grid(|method| over_splits(model.full(), |split| metric(&split.outcome(method)?.measured)))
    };
    ModelTable {
        model: model.model.name.clone(),
        title: model.model.title.clone(),
        chosen: context.results.chosen.contains(&model.model.name),
        naurc: table(|measured| measured.naurc),
        auroc: table(|measured| measured.auroc),
    }
}

fn full_model(model: &ModelResults) -> FullModel {
    let line = |&method: &Method| {
        let of = |metric: fn(&Measured) -> Option<f64>| {
            over_splits(model.full(), |split| metric(split.used_measured(method)?))
        };
        FullLine {
            method,
            naurc: of(|measured| measured.naurc),
            aurc: of(|measured| measured.aurc),
            auroc: of(|measured| measured.auroc),
            p: PStar::of(model, method).filter(|p| *p != PStar::Tuned),
        }
    };
    FullModel {
        model: model.model.name.clone(),
        title: model.model.title.clone(),
        accuracy: over_splits(model.full(), |split| Some(split.accuracy)),
        methods: FULL.iter().map(line).collect(),
    }
}
