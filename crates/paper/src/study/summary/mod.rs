//! An overview of a zoo: a line per model, and the gain of every method.

mod present;

use super::methods::PStar;
use super::scatter::ScatterStudy;
use super::significance::SignificanceStudy;
use super::{Context, MethodGain, NotMeasured, Study, over_splits};
use crate::measure::BeforeAfter;
use crate::measure::ModelResults;
use crate::protocol::{self, MAX_LOGIT_PNORM};
use abstain::Method;
use abstain_lab::Spread;
use serde::Serialize;

/// An overview of a zoo.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// The selective accuracy of the coverages.
    pub target: f64,
    /// The probability with which a certified coverage may fail, if coverages are certified.
    pub delta: Option<f64>,
    /// Gains up to this count as none.
    pub epsilon: f64,
    /// The number of models on which MaxLogit-pNorm lowers NAURC by more than that.
    pub improved: usize,
    /// The largest gain.
    pub largest_gain: Option<f64>,
    /// The number of models on which MaxLogit-pNorm is significantly better than MSP, on the test
    /// rows of the first split.
    pub surely_better: usize,
    /// The same of the stack.
    pub stack: Improvement,
    /// The models.
    pub models: Vec<SummaryLine>,
    /// The average positive gain of every method, the best first.
    pub apg: Vec<MethodGain>,
}

/// What a method improves.
#[derive(Debug, Clone, Serialize)]
pub struct Improvement {
    /// The number of models whose NAURC it lowers by more than ε.
    pub improved: usize,
    /// The largest gain.
    pub largest_gain: Option<f64>,
    /// The number of models on which it is significantly better than MSP, on the test rows of the
    /// first split.
    pub surely_better: usize,
}

/// A model.
#[derive(Debug, Clone, Serialize)]
pub struct SummaryLine {
    /// The model.
    pub model: String,
    /// Its title.
    pub title: String,
    /// Its accuracy.
    pub accuracy: Option<Spread>,
    /// NAURC of MSP.
    pub msp: Option<Spread>,
    /// NAURC of MaxLogit-pNorm, or of MSP where it fell back.
    pub max_logit_pnorm: Option<Spread>,
    /// NAURC of the stack, or of MSP where it fell back.
    pub stack: Option<Spread>,
    /// The `p` of MaxLogit-pNorm.
    pub p: Option<PStar>,
    /// The p-value of the difference between MaxLogit-pNorm and MSP on the test rows of the first
    /// split, corrected for all models.
    pub p_corrected: Option<f64>,
    /// The coverage at the target.
    pub coverage: BeforeAfter<Option<Spread>>,
}

impl Study for Summary {
    const NAME: &'static str = "summary";

    fn new(context: &Context<'_>) -> Result<Self, NotMeasured> {
        let scatter = ScatterStudy::new(context)?;
        let significance = SignificanceStudy::new(context)?;
        let duel = significance.duel(MAX_LOGIT_PNORM, Method::MSP);
        let naurc = |model: &ModelResults, method: Method| {
            over_splits(model.full(), |split| split.used_measured(method)?.naurc)
        };
        let line = |model: &ModelResults| {
            let name = &model.model.name;
            let point = scatter.models.iter().find(|point| point.model == *name);
            let duel = duel.and_then(|duel| duel.models.iter().find(|duel| duel.model == *name));
            SummaryLine {
                model: name.clone(),
                title: model.model.title.clone(),
                accuracy: point.and_then(|point| point.accuracy),
                msp: naurc(model, Method::MSP),
                max_logit_pnorm: naurc(model, MAX_LOGIT_PNORM),
                stack: naurc(model, Method::Stack),
                p: PStar::of(model, MAX_LOGIT_PNORM),
                p_corrected: duel.and_then(|duel| duel.p_corrected),
                coverage: point
                    .map_or(BeforeAfter { before: None, after: None }, |point| point.coverage),
            }
        };
        let models: Vec<SummaryLine> = context.models().iter().map(line).collect();
        let improvement = |method: Method, of: fn(&SummaryLine) -> Option<Spread>| {
            let gain = |line: &SummaryLine| Some(line.msp?.mean - of(line)?.mean);
            let gains: Vec<f64> = models.iter().filter_map(gain).collect();
            let duel = significance.duel(method, Method::MSP);
            Improvement {
                improved: gains.iter().filter(|&&gain| gain > context.epsilon).count(),
                largest_gain: gains.into_iter().reduce(f64::max),
                surely_better: duel.map_or(0, |duel| duel.surely_better),
            }
        };
        let Improvement { improved, largest_gain, surely_better } =
            improvement(MAX_LOGIT_PNORM, |line| line.max_logit_pnorm);
        Ok(Summary {
            improved,
            largest_gain,
            surely_better,
            stack: improvement(Method::Stack, |line| line.stack),
            target: scatter.target,
            delta: scatter.delta,
            epsilon: context.epsilon,
            models,
            apg: gains_of_methods(context),
        })
    }
}

/// The average positive gain of every method, the best first.
fn gains_of_methods(context: &Context<'_>) -> Vec<MethodGain> {
    let gain = |method: Method| MethodGain { method, apg: context.apg_of(method, 0) };
    let mut gains: Vec<MethodGain> = protocol::methods().into_iter().map(gain).collect();
    let mean = |gain: &MethodGain| gain.apg.map_or(f64::NEG_INFINITY, |spread| spread.mean);
    gains.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    gains
}
