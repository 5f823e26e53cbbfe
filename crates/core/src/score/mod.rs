//! Scores: closed formulas over the statistics of a (transformed) row.
//!
//! To add one, write its file with the headings of the others and add its line to the registry
//! below; names, parsing, listings, serialisation and the property tests follow.
//!
//! Every score has two scales. The **rank scale** is what `confidence` returns and what rows
//! are ordered by: it does not saturate, so that 1 − 1e-30 is still above 1 − 1e-20. The
//! **value** is the number of the paper's formula, such as a probability, and is what people see.
//! `value` turns the first into the second and never decreases.

// What is inlined takes on the instruction set of the version that it is inlined into.
#![allow(clippy::inline_always)]

pub(crate) mod softmax;

use crate::row::Statistics;

/// The name and the properties of a score.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// The name the paper prints.
    pub name: &'static str,
    /// Other names people use for it; they rank the same.
    pub aliases: &'static [&'static str],
    /// Whether dividing all logits by one temperature can change the order of the rows.
    pub temperature_matters: bool,
    /// Whether adding a constant to all logits changes it.
    pub sees_constants: bool,
    /// Whether masked classes count: the number of classes itself is part of the formula.
    pub counts_classes: bool,
}

macro_rules! registry {
    ($($variant:ident => $module:ident, $summary:literal;)*) => {
        $(pub(crate) mod $module;)*

        /// A confidence score without parameters.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Score {
            $(#[doc = $summary] $variant,)*
        }

        impl Score {
            /// Every score, in the order of listings.
            pub const ALL: &'static [Score] = &[$(Score::$variant),*];

            /// Its name and properties.
            pub fn info(self) -> &'static Info {
                match self {
                    $(Score::$variant => &$module::INFO,)*
                }
            }

            /// One sentence on what it is.
            pub fn summary(self) -> &'static str {
                match self {
                    $(Score::$variant => $summary,)*
                }
            }

            /// The confidence of a row on the rank scale.
            pub(crate) fn confidence(self, row: &impl Statistics) -> f64 {
                match self {
                    $(Score::$variant => $module::confidence(row),)*
                }
            }

            /// The confidences of several rows. The score is looked up once for all of them, and the
            /// loop over the rows is compiled for each score; a plain loop, which can be vectorised.
            #[inline(always)]
            pub(crate) fn confidences<S: Statistics, const N: usize>(
                self,
                row: impl Fn(usize) -> S,
            ) -> [f64; N] {
                let mut out = [0.0; N];
                match self {
                    $(Score::$variant => {
                        for k in 0..N {
                            out[k] = $module::confidence(&row(k));
                        }
                    })*
                }
                out
            }

            /// The value of the paper's formula for a confidence on the rank scale.
            pub(crate) fn value(self, confidence: f64, classes: usize) -> f64 {
                match self {
                    $(Score::$variant => $module::value(confidence, classes),)*
                }
            }
        }
    };
}

registry! {
    Msp => msp, "The maximum softmax probability: the usual baseline.";
    SoftmaxMargin => softmax_margin, "The difference of the two largest softmax probabilities.";
    MaxLogit => max_logit, "The largest logit.";
    LogitsMargin => logits_margin, "The difference of the two largest logits.";
    NegativeEntropy => negative_entropy, "The negative entropy of the softmax probabilities.";
    NegativeGini => negative_gini, "The negative Gini index of the softmax probabilities.";
    Energy => energy, "The negative energy: the logarithm of the sum of the exponentials.";
    Ldam => ldam, "The squared distance of the top probability from the others, over their variance.";
    Leon => leon, "Twice the top probability less the spread of all probabilities.";
}

impl Score {
    /// The scores of the paper's tables, in their order.
    pub const OF_THE_PAPER: [Score; 6] = [
        Score::Msp,
        Score::SoftmaxMargin,
        Score::MaxLogit,
        Score::LogitsMargin,
        Score::NegativeEntropy,
        Score::NegativeGini,
    ];

    /// Its name, as the paper prints it.
    pub fn name(self) -> &'static str {
        self.info().name
    }
}
