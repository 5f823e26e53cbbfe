//! What is measured on one model: everything that needs rows. Each part is stored in a record, so
//! that an interrupted run continues; [`mod@crate::study`] summarises the results of all models.

mod centring;
mod closeup;
mod methods;
mod records;
mod rows;
mod run;
mod shift;

pub use closeup::{Closeup, Influence, SizeResult};
pub use methods::{
    BeforeAfter, BinLine, COMPARED, CURVES, Comparison, ConfidenceCounts, CurveBand, EXPONENTS,
    FixedExponent, MethodsResult, REFERENCES, RELIABLE, ReliabilityLine, curve_coverages,
};
pub use run::{Activity, ModelResults, ModelStep, Runner, ZooResults};
pub use shift::{SHIFTED, SetResult, ShiftResult, ShiftedMethod, ShiftedSplit};

pub(crate) use centring::centring;
pub(crate) use closeup::{closeup, weighed_methods};
pub(crate) use methods::{exponent_of, methods};
pub(crate) use shift::Shifted;

use abstain_io::zoo::Zoo;
use serde::{Deserialize, Serialize};

/// A part of what is measured on a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredPart {
    /// All methods on all splits.
    Methods,
    /// MaxLogit-pNorm under other centrings.
    Centring,
    /// The tuned methods on further sets.
    Shift,
    /// The effect of the size of the hold-out, and the weight of each logit, of chosen models.
    Closeup,
}

impl MeasuredPart {
    /// Its name in the names of records.
    pub fn name(self) -> &'static str {
        match self {
            MeasuredPart::Methods => "methods",
            MeasuredPart::Centring => "centring",
            MeasuredPart::Shift => "shift",
            MeasuredPart::Closeup => "closeup",
        }
    }

    /// Whether it can be measured on a zoo: shift needs a model with a further set.
    pub fn suits(self, zoo: &Zoo) -> bool {
        self != MeasuredPart::Shift || zoo.has_further_rows()
    }
}
