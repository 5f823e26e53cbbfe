//! Every score under every transform: Tables 1 and 2, Figure 2 and the full tables of the paper.

use super::{Context, over_splits, place};
use crate::bench::ModelResults;
use crate::measure::exponent_of;
use crate::protocol::{
    LOGITS_MARGIN, MAX_LOGIT_PNORM, MSP_PNORM, MSP_TS_AURC, MSP_TS_NLL, Measured, TRANSFORMS,
};
use crate::statistics::Spread;
use abstain::{Centring, Method, Score, TransformKind};
use serde::{Serialize, Serializer};

/// The methods of the full tables.
pub const FULL: [Method; 7] = [
    Method::MSP,
    MSP_TS_NLL,
    MSP_TS_AURC,
    LOGITS_MARGIN,
    MSP_PNORM,
    MAX_LOGIT_PNORM,
    Method::Stack,
];

/// The methods of the figure of gains.
const CENTRED: TransformKind = TransformKind::PNorm { centring: Centring::Mean, shift: false };
const SHOWN: [Method; 6] = [
    MSP_TS_AURC,
    LOGITS_MARGIN,
    MSP_PNORM,
    Method::Scored { score: Score::NegativeEntropy, transform: CENTRED },
    MAX_LOGIT_PNORM,
    Method::Stack,
];

/// Every score under every transform.
#[derive(Debug, Clone, Serialize)]
pub struct MethodsStudy {
    /// How many random splits.
    pub splits: usize,
    /// The rows that measure.
    pub test_rows: usize,
    /// Smaller gains do not count.
    pub epsilon: f64,
    /// Each model on its own, the methods as tuned, none given up.
    pub models: Vec<ModelTable>,
    /// The average positive gain over all models, by the size of the hold-out.
    pub apg: Vec<ApgTable>,
    /// The models by the gain of MaxLogit-pNorm, the largest first.
    pub order: Vec<String>,
    /// The gains of some methods in that order.
    pub gains: Vec<GainLine>,
    /// The full tables: the methods as used in the end, MSP in place of those given up.
    pub full: Vec<FullModel>,
}

/// One model: scores down, transforms across, nothing where a transform does not change the ranking.
#[derive(Debug, Clone, Serialize)]
pub struct ModelTable {
    /// The model.
    pub model: String,
    /// What it is called.
    pub title: String,
    /// Whether it is one of those chosen to be shown.
    pub chosen: bool,
    /// NAURC.
    pub naurc: Vec<Vec<Option<Spread>>>,
    /// AUROC.
    pub auroc: Vec<Vec<Option<Spread>>>,
}

/// Average positive gains: scores down, transforms across.
#[derive(Debug, Clone, Serialize)]
pub struct ApgTable {
    /// The rows that tuned.
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
    /// What it is called.
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
    /// The `p` that most splits chose, of methods that can be given up.
    pub p: Option<PStar>,
}

/// What most splits chose.
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
    /// What most splits of a model chose; of equally many, the first.
    pub(crate) fn of(results: &ModelResults, method: Method) -> Option<PStar> {
        let place = place(method)?;
        let of_split = |outcome: &crate::protocol::Outcome| match exponent_of(&outcome.estimator) {
            _ if outcome.fell_back => PStar::Fallback,
            Some(p) => PStar::At(p),
            None => PStar::Tuned,
        };
        let all: Vec<PStar> =
            results.full().splits.iter().map(|split| of_split(&split.outcomes[place])).collect();
        let count = |p: &PStar| all.iter().filter(|own| *own == p).count();
        // The last of the maxima is taken, so the list is turned round.
        all.iter().rev().max_by_key(|p| count(p)).copied()
    }
}

impl MethodsStudy {
    /// From what was measured.
    pub fn new(context: &Context<'_>) -> Self {
        let mut order: Vec<&ModelResults> = context.results.iter().collect();
        let gain = |own: &ModelResults| own.gain().map_or(f64::NEG_INFINITY, |gain| gain.mean);
        order.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
        let gains_of = |method: &Method| GainLine {
            method: *method,
            gains: order
                .iter()
                .map(|own| {
                    place(*method)
                        .and_then(|index| over_splits(own.full(), |split| split.gain(index)))
                })
                .collect(),
        };
        let sizes = context.sizes();
        MethodsStudy {
            splits: context.protocol.splits,
            test_rows: context.zoo.rows() - sizes[0],
            epsilon: context.epsilon,
            models: context.results.iter().map(|own| model_table(context, own)).collect(),
            apg: sizes
                .iter()
                .enumerate()
                .map(|(size, &tuning_rows)| ApgTable {
                    tuning_rows,
                    apg: grid(|method| context.apg_of(method, size)),
                })
                .collect(),
            order: order.iter().map(|own| own.model.name.clone()).collect(),
            gains: SHOWN.iter().map(gains_of).collect(),
            full: context.results.iter().map(full_model).collect(),
        }
    }
}

/// Scores down, transforms across.
fn grid<T>(value: impl Fn(Method) -> Option<T>) -> Vec<Vec<Option<T>>> {
    let of = |score: Score, transform: TransformKind| {
        Method::new(score, transform).ok().and_then(&value)
    };
    Score::OF_THE_PAPER
        .iter()
        .map(|&score| TRANSFORMS.iter().map(|&transform| of(score, transform)).collect())
        .collect()
}

fn model_table(context: &Context<'_>, own: &ModelResults) -> ModelTable {
    let table = |metric: fn(&Measured) -> Option<f64>| {
        grid(|method| {
            let place = place(method)?;
            over_splits(own.full(), |split| metric(&split.outcomes[place].measured))
        })
    };
    ModelTable {
        model: own.model.name.clone(),
        title: own.model.title.clone(),
        chosen: context.chosen.contains(&own.model.name),
        naurc: table(|measured| measured.naurc),
        auroc: table(|measured| measured.auroc),
    }
}

fn full_model(own: &ModelResults) -> FullModel {
    let line = |method: &Method| {
        let place = place(*method);
        let of = |metric: fn(&Measured) -> Option<f64>| {
            over_splits(own.full(), |split| metric(split.finally(place?)))
        };
        let p = PStar::of(own, *method);
        FullLine {
            method: *method,
            naurc: of(|measured| measured.naurc),
            aurc: of(|measured| measured.aurc),
            auroc: of(|measured| measured.auroc),
            p: p.filter(|p| *p != PStar::Tuned),
        }
    };
    FullModel {
        model: own.model.name.clone(),
        title: own.model.title.clone(),
        accuracy: over_splits(own.full(), |split| Some(split.accuracy)),
        methods: FULL.iter().map(line).collect(),
    }
}
