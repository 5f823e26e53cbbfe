//! Tunable methods of other papers, and the stack.

use super::Context;
use crate::protocol::{MAX_LOGIT_PNORM, MSP_TS_AURC};
use crate::statistics::Spread;
use abstain::{Family, Method};
use serde::Serialize;

/// Average positive gains, by the size of the hold-out.
#[derive(Debug, Clone, Serialize)]
pub struct OthersStudy {
    /// The rows that tuned.
    pub tuning_rows: Vec<usize>,
    /// A method and its gain with each size.
    pub methods: Vec<(Method, Vec<Option<Spread>>)>,
}

impl OthersStudy {
    /// From what was measured.
    pub fn new(context: &Context<'_>) -> Self {
        let methods = Family::OF_THE_PAPER.map(Method::Family).into_iter().chain([
            MSP_TS_AURC,
            MAX_LOGIT_PNORM,
            Method::Stack,
        ]);
        let tuning_rows = context.sizes();
        let gains = |method: Method| {
            let of = |size: usize| context.apg_of(method, size);
            (method, (0..tuning_rows.len()).map(of).collect())
        };
        OthersStudy { methods: methods.map(gains).collect(), tuning_rows }
    }
}
