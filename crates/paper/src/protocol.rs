//! The paper's protocol: several random splits, the same for every model. On each split, methods are
//! tuned on the hold-out and measured on the test rows.

use abstain::{
    Estimator, Fallback, Method, Score, Space, Tuner,
    method::{TemperatureObjective, TransformKind},
    transform::{Centring, Finite},
};
use abstain_lab::DEFAULT_DELTA;
use abstain_lab::Target;
use abstain_lab::{Holdout, Split};
use serde::{Deserialize, Serialize};

/// How models are measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Protocol {
    /// How methods are tuned; its seed is that of the first split.
    pub tuner: Tuner,
    /// The number of random splits.
    pub splits: usize,
    /// The size of the hold-out.
    pub holdout: Holdout,
    /// Sizes of smaller hold-outs, which are random parts of the full one.
    pub smaller: Vec<usize>,
    /// The selective accuracy at which coverages are measured.
    pub accuracy: f64,
    /// The probability with which a certificate may fail.
    pub delta: f64,
    /// The number of random hold-outs of each size in the study of efficiency.
    pub realisations: usize,
    /// The replicates of the bootstrap. 200 give a standard error to within 5 %.
    pub replicates: usize,
}

impl Default for Protocol {
    /// The paper's: ten splits, 5,000 tuning rows, MSP where tuning does not beat it on the hold-out.
    fn default() -> Self {
        let tuner = Tuner { fallback: Fallback::Paper, ..Tuner::default() };
        Protocol {
            tuner: Tuner { space: in_halves(tuner.space), ..tuner },
            splits: 10,
            holdout: Holdout::Usual,
            smaller: vec![1000, 500],
            accuracy: 0.98,
            delta: DEFAULT_DELTA,
            realisations: 50,
            replicates: 200,
        }
    }
}

/// Centred p-norm normalisation.
const PNORM: TransformKind = TransformKind::PNorm { centring: Centring::Mean, shift: false };

/// The transforms of the paper's tables.
pub const TRANSFORMS: [TransformKind; 4] = [
    TransformKind::Raw,
    TransformKind::Temperature(TemperatureObjective::Nll),
    TransformKind::Temperature(TemperatureObjective::Aurc),
    PNORM,
];

const fn scored(score: Score, transform: TransformKind) -> Method {
    Method::Scored { score, transform }
}

/// The paper's method.
pub const MAX_LOGIT_PNORM: Method = scored(Score::MaxLogit, PNORM);

/// MSP under the temperature that minimises the AURC.
pub const MSP_TS_AURC: Method =
    scored(Score::Msp, TransformKind::Temperature(TemperatureObjective::Aurc));

/// MSP under the temperature that minimises the NLL.
pub const MSP_TS_NLL: Method =
    scored(Score::Msp, TransformKind::Temperature(TemperatureObjective::Nll));

/// MSP of normalised logits.
pub const MSP_PNORM: Method = scored(Score::Msp, PNORM);

/// The negative entropy of normalised logits.
pub const NEGATIVE_ENTROPY_PNORM: Method = scored(Score::NegativeEntropy, PNORM);

/// The difference of the two largest logits.
pub const LOGITS_MARGIN: Method = scored(Score::LogitsMargin, TransformKind::Raw);

/// The methods of the paper without the ablations of the p-norm, MSP first.
pub fn methods() -> Vec<Method> {
    let ablation = |method: &Method| {
        matches!(method, Method::Scored { transform, .. }
            if matches!(transform, TransformKind::PNorm { .. }) && *transform != PNORM)
    };
    Tuner::methods_of_the_paper().into_iter().filter(|method| !ablation(method)).collect()
}

/// MaxLogit-pNorm and its ablations: each centring `Γ`, without and with a tuned `γ`.
pub fn centring_methods() -> Vec<Method> {
    let centred = |method: &Method| {
        matches!(
            method,
            Method::Scored { score: Score::MaxLogit, transform: TransformKind::PNorm { .. } }
        )
    };
    Tuner::methods_of_the_paper().into_iter().filter(centred).collect()
}

/// A space with γ in steps of ½: a profile holds the norm of a row under every γ and p, and these
/// keep profiles small.
fn in_halves(space: Space) -> Space {
    let halves = (-6..=6).filter_map(|i| Finite::new(f64::from(i) / 2.0).ok());
    Space { gammas: halves.collect(), ..space }
}

impl Protocol {
    /// The same with another search space, but γ in steps of ½.
    #[must_use]
    pub fn with_space(self, space: Space) -> Self {
        Protocol { tuner: Tuner { space: in_halves(space), ..self.tuner }, ..self }
    }

    /// The name of the search space, whatever its γ, or "custom".
    pub(crate) fn space_name(&self) -> &'static str {
        let gammas = &self.tuner.space.gammas;
        let same = |name: &&&str| {
            let named =
                name.parse::<Space>().map(|space| Space { gammas: gammas.clone(), ..space });
            named.is_ok_and(|space| space == self.tuner.space)
        };
        Space::NAMES.iter().find(same).copied().unwrap_or("custom")
    }

    /// The splits of so many rows, with consecutive seeds.
    pub fn splits(&self, rows: usize) -> Option<Vec<Split>> {
        let seed = |index: usize| self.tuner.seed.wrapping_add(index as u64);
        (0..self.splits.max(1)).map(|i| Split::random(rows, None, self.holdout, seed(i))).collect()
    }

    /// The sizes of the hold-outs, the full one first.
    pub fn sizes(&self, rows: usize) -> Vec<usize> {
        let full = Split::random(rows, None, self.holdout, 0).map_or(0, |split| split.tuning.len());
        let smaller = self.smaller.iter().copied().filter(|&size| size > 0 && size < full);
        std::iter::once(full).chain(smaller).collect()
    }

    /// What is required of the accepted rows.
    pub fn target(&self) -> Target {
        Target::Accuracy(self.accuracy)
    }
}

/// A method on one split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The method.
    pub method: Method,
    /// The best candidate on the hold-out.
    pub estimator: Estimator,
    /// Whether MSP is used instead, by the rule of the protocol.
    pub fell_back: bool,
    /// The metrics of the best candidate on the test rows, even where it fell back.
    pub measured: Measured,
}

impl Outcome {
    /// The estimator that is used: MSP where the method fell back.
    pub fn used(&self) -> Estimator {
        if self.fell_back { Estimator::MSP } else { self.estimator.clone() }
    }
}

/// Metrics on the test rows of one split; `None` where one is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Measured {
    /// NAURC.
    pub naurc: Option<f64>,
    /// AURC.
    pub aurc: Option<f64>,
    /// AUROC.
    pub auroc: Option<f64>,
    /// The coverage at the target accuracy; 0 where no threshold meets it.
    pub coverage: Option<f64>,
    /// The expected calibration error, of confidences that are probabilities.
    pub ece: Option<f64>,
}

/// One split of one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SplitResult {
    /// The accuracy on the test rows.
    pub accuracy: f64,
    /// The metrics of MSP.
    pub baseline: Measured,
    /// One outcome per method.
    pub outcomes: Vec<Outcome>,
}

impl SplitResult {
    /// The outcome of a method, if it was measured.
    pub fn outcome(&self, method: Method) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.method == method)
    }

    /// The estimator that is used for a method: MSP where it fell back or was not measured.
    pub fn used(&self, method: Method) -> Estimator {
        self.outcome(method).map_or(Estimator::MSP, Outcome::used)
    }

    /// The metrics of that estimator.
    pub fn used_measured(&self, method: Method) -> Option<&Measured> {
        let outcome = self.outcome(method)?;
        Some(if outcome.fell_back { &self.baseline } else { &outcome.measured })
    }

    /// The NAURC of MSP less that of the estimator that is used.
    pub fn gain(&self, method: Method) -> Option<f64> {
        Some(self.baseline.naurc? - self.used_measured(method)?.naurc?)
    }
}

/// The splits of one model with hold-outs of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HoldoutResult {
    /// The number of tuning rows.
    pub tuning_rows: usize,
    /// One result per split.
    pub splits: Vec<SplitResult>,
}
