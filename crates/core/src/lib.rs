//! `abstain` tells you when your classifier is wrong.
//!
//! A trained classifier should answer only when it can be trusted. Its usual confidence, the
//! maximum softmax probability (MSP), is often a poor guide; simple estimators computed from the
//! same logits do better (Cattelan & Silva, *How to Fix a Broken Confidence Estimator*, 2024).
//! This crate holds the mathematics: no files, no clock, no printing.
//!
//! # The tour
//!
//! [`Logits`] and [`Labels`] are validated when they are made. [`Losses`] say what each prediction
//! costs, once for all estimators. An [`Estimator`] turns logits into confidences; an [`RcCurve`]
//! is made of confidences and losses; a [`Metric`] is read from the curve.
//!
//! ```
//! use abstain::{Estimator, Labels, Logits, Losses, Metric, RcCurve};
//!
//! let logits = Logits::new(
//!     &[4.0_f32, 1.0, 0.5, 2.0, 1.9, 0.0, 0.3, 0.2, 0.1, 1.0, 3.0, 1.0][..],
//!     3,
//! )?;
//! let labels = Labels::new(&[0, 1, 0, 1], 3)?;
//! let losses = Losses::zero_one(&logits, &labels)?;
//!
//! for name in ["MSP", "MaxLogit-pNorm(p=3)"] {
//!     let estimator: Estimator = name.parse()?;
//!     let curve = RcCurve::new(&estimator.confidences(&logits), &losses)?;
//!     match Metric::NAURC.evaluate(&curve) {
//!         Ok(value) => println!("{estimator}: NAURC {value:.3}"),
//!         Err(undefined) => println!("{estimator}: NAURC {undefined}"),
//!     }
//! }
//! # Ok::<(), abstain::Error>(())
//! ```
//!
//! # Confidences you have already
//!
//! Any vector of numbers will do: [`RcCurve::new`] takes confidences and losses, wherever they
//! come from. [`curve::CurveBuilder`] takes them in pieces, and [`RcCurve::weighted`] takes [`Weights`] too.
//!
//! # Tuning, intervals, guarantees
//!
//! [`internal::Profiles`] are what one pass over the logits keeps of each row. On them a [`Tuner`] searches the
//! parameters of any [`Method`] for any [`Objective`], and falls back to MSP where nothing is gained.
//! [`Intervals`] are those of metrics, [`certify::Certifier`] a threshold its guarantee, and
//! an [`Artifact`] carries estimator, threshold and certificate to where they are used.
//!
//! # Two scales
//!
//! [`Estimator::confidences`] returns numbers to rank and threshold by, on a scale that does not
//! saturate (for MSP the log-odds). [`Estimator::values`] returns what the paper's formula gives (for
//! MSP the probability). On the second, half of the rows of a confident network may tie at 1.
//!
//! # Undefined is not NaN
//!
//! Bad input is an [`Error`] that names row, column and value. A metric of good input may still not
//! exist, as the AUROC of a classifier without errors; it is then [`Undefined`], with the reason.

pub mod artifact;
mod bootstrap;
pub mod calibration;
pub mod certify;
pub mod compat;
mod copies;
pub mod curve;
mod elementary;
mod encoding;
mod error;
mod estimator;
mod exact;
mod facts;
mod fallback;
pub mod family;
mod folds;
pub mod interval;
mod labels;
pub mod logits;
mod loss;
mod losses;
pub mod method;
pub mod metric;
pub mod monitor;
mod objective;
mod profile;
mod random;
mod row;
pub mod rows;
pub mod rule;
pub mod score;
mod sketch;
mod space;
pub mod statistics;
pub mod stop;
mod text;
pub mod threshold;
pub mod transform;
mod tune;
mod weights;

pub use artifact::{Answer, Artifact};
pub use bootstrap::Bootstrap;
pub use curve::RcCurve;
pub use encoding::Encoding;
pub use error::{Error, Undefined};
pub use estimator::Estimator;
pub use fallback::Fallback;
pub use half;
pub use interval::{Interval, Intervals};
pub use labels::Labels;
pub use logits::{Logits, Probabilities};
pub use loss::Loss;
pub use losses::{CostMatrix, Losses};
pub use method::Method;
pub use metric::Metric;
pub use objective::Objective;
pub use rows::{MemoryRows, RowSource};
pub use rule::{Decision, Rule};
pub use score::Score;
pub use space::Space;
pub use threshold::Threshold;
pub use tune::{Fit, Tuned, Tuner, tune};
pub use weights::Weights;

/// What the other crates of abstain need of this one. It changes without notice.
#[doc(hidden)]
pub mod internal {
    pub mod elementary {
        pub use crate::elementary::*;
    }
    pub mod exact {
        pub use crate::exact::*;
    }
    pub use crate::copies::Clusters;
    pub use crate::facts::RowFacts;
    pub use crate::folds::Folds;
    pub use crate::profile::{ProfilePlan, ProfileState, Profiles};
    pub use crate::random::permutation;
    pub use crate::row::{Influences, Instructions, Weighing};
    pub use crate::sketch::{RowMark, RowSketch, RowSketches, Shared};
    pub use crate::tune::{Candidate, CrossFitted, evaluate_metrics};
}

/// Compiles only if what users hold may cross threads.
#[cfg(test)]
const _: () = {
    const fn crosses_threads<T: Send + Sync + Unpin>() {}
    crosses_threads::<Artifact>();
    crosses_threads::<CostMatrix>();
    crosses_threads::<Error>();
    crosses_threads::<Estimator>();
    crosses_threads::<Fit>();
    crosses_threads::<Intervals>();
    crosses_threads::<Labels>();
    crosses_threads::<Logits<'_>>();
    crosses_threads::<Losses>();
    crosses_threads::<Metric>();
    crosses_threads::<RcCurve>();
    crosses_threads::<Rule>();
    crosses_threads::<Tuned>();
    crosses_threads::<Tuner>();
    crosses_threads::<Weights>();
    crosses_threads::<certify::Certifier>();
    crosses_threads::<curve::CurveBuilder>();
    crosses_threads::<internal::Profiles>();
    crosses_threads::<monitor::Monitor>();
};

/// The README's example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
