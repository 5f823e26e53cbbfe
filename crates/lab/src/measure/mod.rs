//! What is measured on one model: everything that looks at rows. Each part is kept in a file of its
//! own, so that a run that was stopped goes on where it was; [`crate::study`] draws the conclusions.

mod centring;
mod closeup;
mod methods;
mod rows;
mod shift;

pub use closeup::{Closeup, Influence, SizeResult};
pub use methods::{
    BinLine, COMPARED, CURVES, Comparison, ConfidenceCounts, CurveBand, EXPONENTS, MethodsResult,
    RELIABLE, ReliabilityLine, curve_coverages,
};
pub use shift::{SHIFTED, SetResult, ShiftResult, ShiftedSplit};

pub(crate) use centring::centring;
pub(crate) use closeup::closeup;
pub(crate) use methods::{exponent_of, methods};
pub(crate) use rows::plan;
pub(crate) use shift::shift;

use serde::{Deserialize, Serialize};

/// The parts of what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// All methods on all splits.
    Methods,
    /// MaxLogit-pNorm under other centrings.
    Centring,
    /// The tuned methods on further sets.
    Shift,
    /// What the size of the hold-out does, and what each logit weighs: of chosen models.
    Closeup,
}

impl Part {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Part::Methods => "methods",
            Part::Centring => "centring",
            Part::Shift => "shift",
            Part::Closeup => "closeup",
        }
    }
}
