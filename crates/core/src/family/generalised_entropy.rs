//! GEN, the generalised entropy of the largest probabilities.
//!
//! - **Definition**: `−Σ p^γ (1 − p)^γ` over the `M` largest softmax probabilities; over all if there
//!   are fewer.
//! - **Range and direction**: up to 0, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. 0 if a single class is not masked.
//! - **Rank scale**: `−ln` of the sum. With `q = 1 − p_1`, which is taken from the sum of the others,
//!   it is `−γ ln q − ln(p_1^γ + Σ (p_k / q)^γ (1 − p_k)^γ)`: no term underflows, so that it grows with
//!   the log-odds where the value itself rounds to 0.
//! - **Search**: `γ` of 0.01, 0.02, 0.05, … 1 and `M` of 10, 20, 50, … 1,000.
//! - **Cost**: one pass of exponentials, one sort, and two exponentials and a logarithm for each of
//!   the `M` largest.
//! - **Reference**: Liu, Lochman & Zach (2023).

use super::{Axis, Definition, Domain, Info, Parameter, Search, Values, count};
use crate::row::{RowView, Statistics};
use crate::score::softmax;
use crate::space::Space;
use crate::transform::Transform;

pub(super) struct Gen;

impl Definition for Gen {
    const INFO: Info = Info {
        name: "GEN",
        formula: "the negative generalised entropy of the M largest softmax probabilities",
        parameters: &[
            Parameter::with_default("gamma", Domain::Power, 0.1),
            Parameter::with_default("M", Domain::Classes, 100.0),
        ],
        is_probability: false,
        sees_constants: false,
        counts_classes: false,
        recorded: true,
    };

    fn confidence<R: RowView>(row: &R, [gamma, m]: Values, column: usize) -> f64 {
        row.recorded(column, |others| {
            let raw = others.transformed(&Transform::RAW, 0);
            let log_odds = softmax::log_odds(&raw);
            if log_odds == f64::INFINITY {
                return f64::INFINITY;
            }
            let (log_top, log_rest) = (-softmax::softplus(-log_odds), -softmax::softplus(log_odds));
            let (gap, log_tail) = (others.gap(), raw.log_tail(1.0));
            let term = |distance: f64| {
                // ln(p_k / q); no p_k of another class is above ½.
                let log_share = (gap - distance) - log_tail;
                let p = (log_rest + log_share).exp();
                (gamma * (log_share + (-p).ln_1p())).exp()
            };
            let sum = (gamma * log_top).exp() + others.sum(count(m) - 1, term);
            -gamma * log_rest - sum.ln()
        })
    }

    fn value(confidence: f64, _values: Values, _classes: usize) -> f64 {
        -(-confidence).exp()
    }

    fn search(_space: &Space) -> Search {
        let gammas = vec![0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];
        let counts = vec![10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0];
        Search { axes: vec![Axis::Fixed(gammas), Axis::Classes(counts)], refinements: 0 }
    }
}
