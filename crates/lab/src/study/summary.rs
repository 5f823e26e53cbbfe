//! A zoo at a glance: every model in a line, every method's gain.

use super::{BeforeAfter, Context, PStar, ScatterStudy, SignificanceStudy, over_splits, place};
use crate::bench::ModelResults;
use crate::protocol::{self, MAX_LOGIT_PNORM};
use crate::statistics::Spread;
use abstain::Method;
use serde::Serialize;

/// A zoo at a glance.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// The selective accuracy of the coverages.
    pub target: f64,
    /// How often a certified coverage may fail; nothing if coverages are those of the rows.
    pub delta: Option<f64>,
    /// Smaller gains do not count.
    pub epsilon: f64,
    /// The models on which MaxLogit-pNorm lowers NAURC by more than that.
    pub improved: usize,
    /// By how much it does so at most.
    pub largest_gain: Option<f64>,
    /// The models on which MaxLogit-pNorm is surely better than MSP, on the test rows of the first split.
    pub surely_better: usize,
    /// The models.
    pub models: Vec<SummaryLine>,
    /// Every method and its average positive gain, the best first.
    pub apg: Vec<(Method, Option<Spread>)>,
}

/// A model.
#[derive(Debug, Clone, Serialize)]
pub struct SummaryLine {
    /// The model.
    pub model: String,
    /// What it is called.
    pub title: String,
    /// Its accuracy.
    pub accuracy: Option<Spread>,
    /// NAURC of MSP.
    pub msp: Option<Spread>,
    /// NAURC of MaxLogit-pNorm, or of MSP where it fell back.
    pub max_logit_pnorm: Option<Spread>,
    /// The same of the stack.
    pub stack: Option<Spread>,
    /// The `p` of MaxLogit-pNorm.
    pub p: Option<PStar>,
    /// The p-value of the difference between MaxLogit-pNorm and MSP on the test rows of the first
    /// split, corrected for all models.
    pub p_corrected: Option<f64>,
    /// The coverage at the target.
    pub coverage: BeforeAfter<Option<Spread>>,
}

impl Summary {
    /// From what was measured.
    pub fn new(context: &Context<'_>) -> Self {
        let scatter = ScatterStudy::new(context);
        let significance = SignificanceStudy::new(context);
        let duel = significance
            .duels
            .iter()
            .find(|own| own.method == MAX_LOGIT_PNORM && own.reference == Method::MSP);
        let finally = |own: &ModelResults, method: Method| {
            over_splits(own.full(), |split| split.finally(place(method)?).naurc)
        };
        let line = |(index, own): (usize, &ModelResults)| SummaryLine {
            model: own.model.name.clone(),
            title: own.model.title.clone(),
            accuracy: scatter.models[index].accuracy,
            msp: finally(own, Method::MSP),
            max_logit_pnorm: finally(own, MAX_LOGIT_PNORM),
            stack: finally(own, Method::Stack),
            p: PStar::of(own, MAX_LOGIT_PNORM),
            p_corrected: duel.and_then(|duel| duel.models[index].p_corrected),
            coverage: scatter.models[index].coverage,
        };
        let gain = |method: Method| (method, context.apg_of(method, 0));
        let mut apg: Vec<_> = protocol::methods().into_iter().map(gain).collect();
        let mean = |spread: Option<Spread>| spread.map_or(f64::NEG_INFINITY, |own| own.mean);
        apg.sort_by(|a, b| mean(b.1).total_cmp(&mean(a.1)));
        let models: Vec<SummaryLine> = context.results.iter().enumerate().map(line).collect();
        let gain = |own: &SummaryLine| Some(own.msp?.mean - own.max_logit_pnorm?.mean);
        let gains: Vec<f64> = models.iter().filter_map(gain).collect();
        Summary {
            improved: gains.iter().filter(|&&gain| gain > context.epsilon).count(),
            largest_gain: gains.iter().copied().reduce(f64::max),
            target: scatter.target,
            delta: scatter.delta,
            epsilon: context.epsilon,
            surely_better: duel.map_or(0, |duel| duel.surely_better),
            models,
            apg,
        }
    }
}
