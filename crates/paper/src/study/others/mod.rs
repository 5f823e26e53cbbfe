//! Tunable methods of other papers, and the stack.

mod present;

use super::{Context, NotMeasured, Study, json_as_array};
use crate::protocol::{MAX_LOGIT_PNORM, MSP_TS_AURC};
use abstain::{Method, family::Family};
use abstain_lab::Spread;
use serde::Serialize;

/// The families of the paper, two methods to compare them with, and the stack.
fn methods() -> impl Iterator<Item = Method> {
    let families = Family::OF_THE_PAPER.into_iter().map(Method::Family);
    families.chain([MSP_TS_AURC, MAX_LOGIT_PNORM, Method::Stack])
}

/// Average positive gains, by the size of the hold-out.
#[derive(Debug, Clone, Serialize)]
pub struct OthersStudy {
    /// The numbers of tuning rows.
    pub tuning_rows: Vec<usize>,
    /// One line per method.
    pub methods: Vec<OthersLine>,
}

/// A method and its gain with each size of the hold-out. In JSON, an array of the two.
#[derive(Debug, Clone, PartialEq)]
pub struct OthersLine {
    /// The method.
    pub method: Method,
    /// Its average positive gains.
    pub apg: Vec<Option<Spread>>,
}

json_as_array!(OthersLine: method, apg);

impl Study for OthersStudy {
    const NAME: &'static str = "others";

    fn new(context: &Context<'_>) -> Result<Self, NotMeasured> {
        let tuning_rows = context.sizes();
        let line = |method: Method| OthersLine {
            method,
            apg: (0..tuning_rows.len()).map(|size| context.apg_of(method, size)).collect(),
        };
        Ok(OthersStudy { methods: methods().map(line).collect(), tuning_rows })
    }
}
