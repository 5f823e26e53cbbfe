//! The paper's studies: what was measured on every model, brought together. One file a study.

mod calibration;
mod centring;
mod curves;
mod efficiency;
mod epsilon;
mod exponent;
mod influence;
mod methods;
mod others;
mod scatter;
mod shift;
mod significance;
mod summary;

pub use calibration::{CalibrationStudy, EceLine, ModelCalibration, SureModel};
pub use centring::{CentredModel, CentringStudy, CentringTable};
pub use curves::{CurvesStudy, ModelCurves};
pub use efficiency::{EfficiencyStudy, ModelEfficiency};
pub use epsilon::{EpsilonLine, EpsilonStudy};
pub use exponent::{ExponentLine, ExponentStudy, ExponentTable};
pub use influence::{InfluenceStudy, ModelInfluence, WeighedMethod};
pub use methods::{ApgTable, FULL, FullLine, FullModel, GainLine, MethodsStudy, ModelTable, PStar};
pub use others::OthersStudy;
pub use scatter::{BeforeAfter, Correlation, ScatterModel, ScatterStudy};
pub use shift::{SetPoint, ShiftColumn, ShiftStudy, ShiftTable};
pub use significance::{Duel, ModelDuel, SignificanceStudy};
pub use summary::{Summary, SummaryLine};

use crate::bench::ModelResults;
use crate::measure::Part;
use crate::protocol::{self, Holdings, Protocol};
use crate::statistics::Spread;
use crate::zoo::Zoo;
use abstain::Method;
use abstain::statistics::average_positive_gain;
use serde::Serialize;

/// What studies are made from.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The zoo.
    pub zoo: &'a Zoo,
    /// How it was measured.
    pub protocol: &'a Protocol,
    /// Every model.
    pub results: &'a [ModelResults],
    /// The models that are shown on their own.
    pub chosen: &'a [String],
    /// Smaller gains do not count.
    pub epsilon: f64,
    /// Coverages are certified ones.
    pub certified: bool,
}

/// A study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Study {
    /// Score × transform.
    Methods,
    /// Before and after, against accuracy.
    Scatter,
    /// What the smallest gain that counts does.
    Epsilon,
    /// Risk-coverage curves.
    Curves,
    /// How many rows tuning takes.
    Efficiency,
    /// Fixed `p` against tuned.
    Exponent,
    /// What centring does.
    Centring,
    /// Other tunable methods.
    Others,
    /// Further sets of rows.
    Shift,
    /// Confidence as a probability.
    Calibration,
    /// What each logit weighs.
    Influence,
    /// Which method beats which.
    Significance,
}

impl Study {
    /// Every study with its name and one sentence on it.
    pub const ALL: &'static [(Study, &'static str, &'static str)] = &[
        (
            Study::Methods,
            "methods",
            "every score under every transform: NAURC, AUROC, AURC and gains",
        ),
        (
            Study::Scatter,
            "scatter",
            "NAURC, AURC, AUROC and coverage against accuracy, before and after",
        ),
        (Study::Epsilon, "epsilon", "average gains against the smallest gain that counts"),
        (Study::Curves, "curves", "risk-coverage curves of chosen models"),
        (Study::Efficiency, "efficiency", "NAURC against the number of rows that tune"),
        (Study::Exponent, "exponent", "fixed p against a tuned one"),
        (Study::Centring, "centring", "what is subtracted before the norm, and what is added"),
        (Study::Others, "others", "tunable methods of other papers: BK, ETS, HTS; and the stack"),
        (Study::Shift, "shift", "the tuned methods on further sets of rows"),
        (Study::Calibration, "calibration", "calibration errors, reliability diagrams, histograms"),
        (Study::Influence, "influence", "how much the j-th logit weighs"),
        (
            Study::Significance,
            "significance",
            "which method beats which: bootstrap, sign test, Holm",
        ),
    ];

    /// What must be measured for it, beyond all methods on all models.
    pub fn part(self) -> Option<Part> {
        match self {
            Study::Centring => Some(Part::Centring),
            Study::Shift => Some(Part::Shift),
            Study::Efficiency | Study::Influence => Some(Part::Closeup),
            _ => None,
        }
    }
}

impl<'a> Context<'a> {
    /// The results of the chosen models, in the order of the choice.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = &'a ModelResults> {
        let results = self.results;
        self.chosen
            .iter()
            .filter_map(move |name| results.iter().find(|own| own.model.name == *name))
    }

    /// The average positive gain over the models, on each split, over the splits. `naurc` gives that
    /// of the method on a model and a split. Models without errors on some split, or without anything
    /// else, have no NAURC there and are left out.
    pub(crate) fn apg(
        &self,
        epsilon: f64,
        naurc: impl Fn(&ModelResults, usize) -> Option<f64>,
    ) -> Option<Spread> {
        let defined = |own: &&ModelResults| {
            own.full().splits.iter().all(|split| split.baseline.naurc.is_some())
        };
        Spread::of_all((0..self.protocol.splits.max(1)).map(|split| {
            let models = || self.results.iter().filter(defined);
            let baseline = models().map(|own| own.full().splits.get(split)?.baseline.naurc);
            let own = models().map(|own| naurc(own, split));
            let (baseline, own): (Option<Vec<f64>>, Option<Vec<f64>>) =
                (baseline.collect(), own.collect());
            average_positive_gain(&baseline?, &own?, epsilon).ok()
        }))
    }

    /// The same for one of [`protocol::methods`], with a size of the hold-out.
    pub(crate) fn apg_of(&self, method: Method, size: usize) -> Option<Spread> {
        let place = place(method)?;
        self.apg(self.epsilon, |own, split| {
            own.methods.holdings.get(size)?.splits.get(split)?.finally(place).naurc
        })
    }

    /// The sizes of the hold-outs.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        self.protocol.sizes(self.zoo.rows())
    }
}

/// The place of a method among [`protocol::methods`].
pub(crate) fn place(method: Method) -> Option<usize> {
    protocol::methods().iter().position(|own| *own == method)
}

/// A number of each split, over the splits.
pub(crate) fn over_splits(
    holdings: &Holdings,
    value: impl Fn(&protocol::SplitResult) -> Option<f64>,
) -> Option<Spread> {
    Spread::of_all(holdings.splits.iter().map(value))
}
