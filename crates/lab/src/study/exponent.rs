//! Fixed `p` against a tuned one.

use super::Context;
use crate::measure::EXPONENTS;
use crate::protocol::{MAX_LOGIT_PNORM, MSP_PNORM};
use crate::statistics::Spread;
use serde::Serialize;

/// Average positive gains at fixed `p`, by the size of the hold-out.
#[derive(Debug, Clone, Serialize)]
pub struct ExponentStudy {
    /// A table a size.
    pub tables: Vec<ExponentTable>,
}

/// One size of the hold-out.
#[derive(Debug, Clone, Serialize)]
pub struct ExponentTable {
    /// The rows that tuned.
    pub tuning_rows: usize,
    /// The fixed exponents, then the tuned one.
    pub lines: Vec<ExponentLine>,
}

/// The gains at one `p`.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ExponentLine {
    /// `p`; nothing where it is tuned.
    pub p: Option<f64>,
    /// MaxLogit-pNorm's.
    pub max_logit: Option<Spread>,
    /// MSP-pNorm's.
    pub msp: Option<Spread>,
}

impl ExponentStudy {
    /// From what was measured.
    pub fn new(context: &Context<'_>) -> Self {
        // The paper shows two sizes.
        let sizes = context.sizes().into_iter().take(2).enumerate();
        let tables = sizes.map(|(size, tuning_rows)| {
            let at = |index: usize| {
                context.apg(context.epsilon, |own, split| {
                    let outcome = own.methods.exponents.get(size)?.get(split)?.get(index)?;
                    let baseline = own.methods.holdings.get(size)?.splits.get(split)?.baseline;
                    if outcome.fell_back { baseline.naurc } else { outcome.measured.naurc }
                })
            };
            let mut lines: Vec<ExponentLine> = EXPONENTS
                .iter()
                .enumerate()
                .map(|(index, &p)| ExponentLine {
                    p: Some(p),
                    max_logit: at(index),
                    msp: at(index + EXPONENTS.len()),
                })
                .collect();
            lines.push(ExponentLine {
                p: None,
                max_logit: context.apg_of(MAX_LOGIT_PNORM, size),
                msp: context.apg_of(MSP_PNORM, size),
            });
            ExponentTable { tuning_rows, lines }
        });
        ExponentStudy { tables: tables.collect() }
    }
}
