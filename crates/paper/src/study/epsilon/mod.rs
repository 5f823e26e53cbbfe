//! Average positive gains against ε, the gain up to which gains count as none.

mod present;

use super::{Context, NotMeasured, Study};
use crate::protocol::TRANSFORMS;
use abstain::{Method, Score};
use abstain_lab::Spread;
use serde::Serialize;

/// The gains of the p-norm methods against ε.
#[derive(Debug, Clone, Serialize)]
pub struct EpsilonStudy {
    /// The values of ε.
    pub epsilons: Vec<f64>,
    /// The value that the other studies use.
    pub used: f64,
    /// One line per method.
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

impl Study for EpsilonStudy {
    const NAME: &'static str = "epsilon";

    fn new(context: &Context<'_>) -> Result<Self, NotMeasured> {
        let epsilons: Vec<f64> = (0..=50).map(|i| f64::from(i) / 1000.0).collect();
        let [.., pnorm] = TRANSFORMS;
        let methods =
            Score::OF_THE_PAPER.iter().filter_map(|&score| Method::new(score, pnorm).ok());
        let apg = |method: Method, epsilon: f64| {
            context.apg(epsilon, |model, split| {
                model.full().splits.get(split)?.used_measured(method)?.naurc
            })
        };
        let line = |method: Method| EpsilonLine {
            method,
            apg: epsilons.iter().map(|&epsilon| apg(method, epsilon)).collect(),
        };
        let lines = methods.map(line).collect();
        Ok(EpsilonStudy { used: context.epsilon, lines, epsilons })
    }
}
