//! CMD, the evenness of the other classes' distances from the top one.
//!
//! - **Definition**: `−s`, where `s` is the population standard deviation (divided by their number)
//!   of `ln(1 + (z_1 − z_k) / (T τ))` over the other classes `k ≥ 2`, with `τ = 0.5`.
//! - **Range and direction**: up to 0, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. Masked classes are left out; 0 if fewer than two others are left, so
//!   that all rows of two classes tie.
//! - **Rank scale**: the value itself. The logarithms are taken relative to that of the runner-up,
//!   which changes nothing in `s` and keeps the digits of nearly equal ones.
//! - **Search**: `T` from 1/16 to 64 by factors of √2.
//! - **Cost**: two logarithms for each class, and one sort.

use super::{Axis, Definition, Domain, Info, Parameter, Search, Values};
use crate::row::RowView;
use crate::space::{Space, steps};

/// `τ`.
const TAU: f64 = 0.5;

pub(super) struct Cmd;

impl Definition for Cmd {
    const INFO: Info = Info {
        name: "CMD",
        formula: "how evenly far the other logits lie below the largest, on a logarithmic scale",
        parameters: &[Parameter::with_default("T", Domain::Temperature, 1.0)],
        is_probability: false,
        sees_constants: false,
        counts_classes: false,
        recorded: true,
    };

    fn confidence<R: RowView>(row: &R, [t, _]: Values, column: usize) -> f64 {
        row.recorded(column, |others| {
            let count = others.count();
            if count < 2 {
                return 0.0;
            }
            let gap = others.gap();
            let log = |distance: f64| ((distance - gap) / (t * TAU + gap)).ln_1p();
            let mean = others.sum(count, log) / count as f64;
            let squares = others.sum(count, |distance| (log(distance) - mean).powi(2));
            -(squares / count as f64).sqrt()
        })
    }

    fn value(confidence: f64, _values: Values, _classes: usize) -> f64 {
        confidence
    }

    fn is_constant(classes: usize) -> bool {
        classes == 2
    }

    fn search(_space: &Space) -> Search {
        let temperatures = steps(-8, 12, 2.0).map(f64::exp2).collect();
        Search { axes: vec![Axis::Fixed(temperatures)], refinements: 0 }
    }
}
