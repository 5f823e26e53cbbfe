//! Fixed `p` against a tuned one.

mod present;

use super::{Context, NotMeasured, Study};
use crate::measure::EXPONENTS;
use crate::protocol::{MAX_LOGIT_PNORM, MSP_PNORM};
use abstain::Method;
use abstain_lab::Spread;
use serde::Serialize;

/// The paper shows two sizes of the hold-out.
const SIZES: usize = 2;

/// Average positive gains at fixed `p`, by the size of the hold-out.
#[derive(Debug, Clone, Serialize)]
pub struct ExponentStudy {
    /// One table per size.
    pub tables: Vec<ExponentTable>,
}

/// One size of the hold-out.
#[derive(Debug, Clone, Serialize)]
pub struct ExponentTable {
    /// The number of tuning rows.
    pub tuning_rows: usize,
    /// The fixed exponents, then the tuned one.
    pub lines: Vec<ExponentLine>,
}

/// The gains at one `p`.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ExponentLine {
    /// `p`, unless it is tuned.
    pub p: Option<f64>,
    /// The gain of MaxLogit-pNorm.
    pub max_logit: Option<Spread>,
    /// The gain of MSP-pNorm.
    pub msp: Option<Spread>,
}

impl Study for ExponentStudy {
    const NAME: &'static str = "exponent";

    fn new(context: &Context<'_>) -> Result<Self, NotMeasured> {
        let sizes = context.sizes().into_iter().take(SIZES).enumerate();
        let tables = sizes.map(|(size, tuning_rows)| {
            let fixed = EXPONENTS.iter().map(|&p| ExponentLine {
                p: Some(p),
                max_logit: gain(context, MAX_LOGIT_PNORM, p, size),
                msp: gain(context, MSP_PNORM, p, size),
            });
            let tuned = ExponentLine {
                p: None,
                max_logit: context.apg_of(MAX_LOGIT_PNORM, size),
                msp: context.apg_of(MSP_PNORM, size),
            };
            ExponentTable { tuning_rows, lines: fixed.chain([tuned]).collect() }
        });
        Ok(ExponentStudy { tables: tables.collect() })
    }
}

/// The average positive gain of a method with a fixed `p`.
fn gain(context: &Context<'_>, method: Method, p: f64, size: usize) -> Option<Spread> {
    context.apg(context.epsilon, |model, split| {
        let fixed = model.methods.exponents.get(size)?.get(split)?;
        let outcome =
            &fixed.iter().find(|fixed| fixed.p == p && fixed.outcome.method == method)?.outcome;
        if outcome.fell_back {
            model.methods.holdouts.get(size)?.splits.get(split)?.baseline.naurc
        } else {
            outcome.measured.naurc
        }
    })
}
