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
//! come from. [`CurveBuilder`] takes them in pieces, and [`RcCurve::weighted`] takes [`Weights`] too.
//!
//! # Tuning, intervals, guarantees
//!
//! [`Profiles`] are what one pass over the logits keeps of each row. On them a [`Tuner`] searches the
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

mod artifact;
mod bootstrap;
pub mod calibration;
pub mod certify;
pub mod compat;
mod curve;
#[doc(hidden)]
pub mod elementary;
mod encoding;
mod error;
mod estimator;
pub mod exact;
mod facts;
mod fallback;
pub mod family;
mod folds;
mod interval;
mod labels;
mod logits;
mod loss;
mod losses;
mod method;
pub mod metric;
pub mod monitor;
mod objective;
mod profile;
mod random;
mod row;
pub mod rows;
mod rule;
pub mod score;
mod space;
pub mod statistics;
pub mod stop;
mod text;
mod threshold;
mod transform;
mod tune;
mod weights;

pub use artifact::{
    Answer, Artifact, ArtifactError, ArtifactErrorKind, Measured, ModelInfo, Tuning, extended,
};
pub use bootstrap::Bootstrap;
pub use curve::{Count, CurveBuilder, Knot, Point, RcCurve, WeightedCurve};
pub use encoding::Encoding;
pub use error::{Error, Undefined};
pub use estimator::Estimator;
pub use facts::{RowFacts, RowSketch, Shared};
pub use fallback::Fallback;
pub use family::stack::{self, StackRecipe};
pub use family::{Family, FamilyEstimator};
pub use folds::Folds;
pub use half;
pub use interval::{Compared, Interval, Intervals};
pub use labels::Labels;
pub use logits::{Floor, Logits, Probabilities, ProbabilityRange, Values};
pub use loss::Loss;
pub use losses::{CostMatrix, Losses};
pub use method::{Method, TemperatureObjective, TransformKind};
pub use metric::{Metric, MetricKind};
pub use objective::Objective;
pub use profile::{ProfilePlan, ProfileState, Profiles};
pub use random::permutation;
#[doc(hidden)]
pub use row::Instructions;
pub use row::{Influences, Weighing};
pub use rows::{Chunk, Labelled, MemoryRows, PassError, RowSource};
pub use rule::{Decision, Reason, Rule};
pub use score::Score;
pub use space::Space;
pub use threshold::{Basis, Threshold};
pub use transform::{Centring, Exponent, Finite, Norm, Share, Temperature, Transform};
pub use tune::{Candidate, CrossFitted, Fit, Tuned, Tuner, evaluate_metrics, tune};
pub use weights::Weights;

/// The README's example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
