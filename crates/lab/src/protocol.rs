//! The paper's protocol: several random splits, the same for every model; on each, methods are tuned
//! on the hold-out and measured on the other rows.

use crate::split::{Holdout, Split};
use crate::target::Target;
use abstain::{
    Centring, Estimator, Fallback, Family, Finite, Method, Score, TemperatureObjective,
    TransformKind, Tuner,
};
use serde::{Deserialize, Serialize};

/// How models are measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Protocol {
    /// How methods are tuned; its seed is that of the first split.
    pub tuner: Tuner,
    /// How many random splits.
    pub splits: usize,
    /// How many rows tune.
    pub holdout: Holdout,
    /// Smaller hold-outs to try as well: random parts of the same ones.
    pub smaller: Vec<usize>,
    /// The selective accuracy of which coverages are told.
    pub accuracy: f64,
    /// How often a certified threshold may fail.
    pub delta: f64,
    /// How many realisations of the hold-out show what its size does.
    pub realisations: usize,
    /// The replicates of the bootstrap, which gives standard errors: 200 tell them to 5 %.
    pub replicates: usize,
}

impl Default for Protocol {
    /// The paper's: ten splits, 5,000 rows, MSP where tuning does not beat it on the hold-out.
    fn default() -> Self {
        let mut tuner = Tuner { fallback: Fallback::Paper, ..Tuner::default() };
        // Every row keeps its norm under every γ and p: half a unit apart keeps that affordable.
        let halves = (-6..=6).filter_map(|i| Finite::new(f64::from(i) / 2.0).ok());
        tuner.space.gammas = halves.collect();
        Protocol {
            tuner,
            splits: 10,
            holdout: Holdout::Usual,
            smaller: vec![1000, 500],
            accuracy: 0.98,
            delta: 0.05,
            realisations: 50,
            replicates: 200,
        }
    }
}

/// The transforms of the paper's tables.
pub const TRANSFORMS: [TransformKind; 4] = [
    TransformKind::Raw,
    TransformKind::Temperature(TemperatureObjective::Nll),
    TransformKind::Temperature(TemperatureObjective::Aurc),
    TransformKind::PNorm { centring: Centring::Mean, shift: false },
];

/// The paper's method.
pub const MAX_LOGIT_PNORM: Method =
    Method::Scored { score: Score::MaxLogit, transform: TRANSFORMS[3] };

/// MSP under a temperature for the AURC.
pub const MSP_TS_AURC: Method = Method::Scored { score: Score::Msp, transform: TRANSFORMS[2] };

/// MSP under a temperature for the likelihood.
pub const MSP_TS_NLL: Method = Method::Scored { score: Score::Msp, transform: TRANSFORMS[1] };

/// MSP of normalised logits.
pub const MSP_PNORM: Method = Method::Scored { score: Score::Msp, transform: TRANSFORMS[3] };

/// The margin of the two largest logits.
pub const LOGITS_MARGIN: Method =
    Method::Scored { score: Score::LogitsMargin, transform: TransformKind::Raw };

/// Score × transform, MSP first, then the tunable methods of other papers, and the stack.
pub fn methods() -> Vec<Method> {
    let scored = Score::OF_THE_PAPER.iter().flat_map(|&score| {
        TRANSFORMS.iter().filter_map(move |&transform| Method::new(score, transform).ok())
    });
    let families = Family::OF_THE_PAPER.map(Method::Family);
    scored.chain(families).chain([Method::Stack]).collect()
}

/// MaxLogit-pNorm under each `Γ`, without and with a tuned `γ`.
pub fn centring_methods() -> Vec<Method> {
    let centrings = [Centring::None, Centring::Mean, Centring::Min];
    let variant = |centring: Centring, shift: bool| Method::Scored {
        score: Score::MaxLogit,
        transform: TransformKind::PNorm { centring, shift },
    };
    centrings.iter().flat_map(|&own| [variant(own, false), variant(own, true)]).collect()
}

impl Protocol {
    /// The splits of so many rows: one seed after the other.
    pub fn splits(&self, rows: usize) -> Option<Vec<Split>> {
        let seed = |index: usize| self.tuner.seed.wrapping_add(index as u64);
        (0..self.splits.max(1)).map(|i| Split::random(rows, self.holdout, seed(i))).collect()
    }

    /// The sizes of the hold-outs: the protocol's, then smaller ones.
    pub fn sizes(&self, rows: usize) -> Vec<usize> {
        let full = Split::random(rows, self.holdout, 0).map_or(0, |split| split.tuning.len());
        let smaller = self.smaller.iter().copied().filter(|&size| size > 0 && size < full);
        std::iter::once(full).chain(smaller).collect()
    }

    /// What answers that are kept should meet.
    pub fn target(&self) -> Target {
        Target::Accuracy(self.accuracy)
    }
}

/// What a method came to on one split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The best candidate on the hold-out.
    pub estimator: Estimator,
    /// Whether it was given up for MSP.
    pub fell_back: bool,
    /// What it measures on the test rows, given up or not.
    pub measured: Measured,
}

impl Outcome {
    /// What is used in the end: MSP where it was given up.
    pub fn used(&self) -> Estimator {
        if self.fell_back { Estimator::MSP } else { self.estimator.clone() }
    }
}

/// Metrics on the test rows of one split; nothing where one is undefined.
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
    /// The expected calibration error, of what is meant as a probability.
    pub ece: Option<f64>,
}

/// One split of one model: what every method of a list came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SplitResult {
    /// The accuracy on the test rows.
    pub accuracy: f64,
    /// What MSP measures.
    pub baseline: Measured,
    /// The methods, in the order of their list.
    pub outcomes: Vec<Outcome>,
}

impl SplitResult {
    /// What a method measures in the end: MSP where it was given up.
    pub fn finally(&self, index: usize) -> &Measured {
        match &self.outcomes[index] {
            outcome if outcome.fell_back => &self.baseline,
            outcome => &outcome.measured,
        }
    }

    /// The estimator behind that.
    pub fn used(&self, index: usize) -> Estimator {
        self.outcomes[index].used()
    }

    /// By how much the NAURC of a method is below MSP's, in the end.
    pub fn gain(&self, index: usize) -> Option<f64> {
        Some(self.baseline.naurc? - self.finally(index).naurc?)
    }
}

/// The splits of one model with hold-outs of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Holdings {
    /// The rows that tuned.
    pub tuning_rows: usize,
    /// The splits.
    pub splits: Vec<SplitResult>,
}
