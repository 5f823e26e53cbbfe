//! Average gains against the smallest gain that counts.

use super::{Context, place};
use crate::protocol::TRANSFORMS;
use crate::statistics::Spread;
use abstain::{Method, Score};
use serde::Serialize;

/// The gains of the p-norm methods against ε.
#[derive(Debug, Clone, Serialize)]
pub struct EpsilonStudy {
    /// The values of ε.
    pub epsilons: Vec<f64>,
    /// The value that the other studies use.
    pub used: f64,
    /// The methods.
    pub lines: Vec<EpsilonLine>,
}

/// A method.
#[derive(Debug, Clone, Serialize)]
pub struct EpsilonLine {
    /// The method.
    pub method: Method,
    /// Its average positive gain at each ε.
    pub apg: Vec<Option<Spread>>,
}

impl EpsilonStudy {
    /// From what was measured.
    pub fn new(context: &Context<'_>) -> Self {
        let epsilons: Vec<f64> = (0..=50).map(|i| f64::from(i) / 1000.0).collect();
        let methods =
            Score::OF_THE_PAPER.iter().filter_map(|&score| Method::new(score, TRANSFORMS[3]).ok());
        let line = |method: Method| EpsilonLine {
            method,
            apg: epsilons
                .iter()
                .map(|&epsilon| {
                    let place = place(method)?;
                    context.apg(epsilon, |own, split| {
                        own.full().splits.get(split)?.finally(place).naurc
                    })
                })
                .collect(),
        };
        let lines = methods.map(line).collect();
        EpsilonStudy { used: context.epsilon, lines, epsilons }
    }
}
