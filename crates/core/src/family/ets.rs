//! ETS, ensemble temperature scaling.
//!
//! - **Definition**: `w MSP(z / T) + (1 − w) MSP(z)`. The original has three weights; a constant
//!   term and the sum of the other two do not change the order.
//! - **Range and direction**: `[1/C, 1]`, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. 1 if a single class is not masked.
//! - **Rank scale**: `−ln` of what is missing to 1.
//! - **Search**: weights in steps of 0.01, at the temperature of temperature scaling, as in the
//!   original.
//! - **Cost**: two passes of exponentials.
//! - **Reference**: Zhang et al. (2020).

use super::{Axis, Definition, Domain, Info, Parameter, Search, Values};
use crate::profile::ProfileRow;
use crate::row::RowView;
use crate::score::softmax;
use crate::space::{Space, steps};
use crate::transform::Transform;

pub(super) struct Ets;

impl Definition for Ets {
    const INFO: Info = Info {
        name: "ETS",
        formula: "a mixture of MSP with and without a temperature",
        parameters: &[Parameter::new("T", Domain::Temperature), Parameter::new("w", Domain::Share)],
        is_probability: true,
        sees_constants: false,
        counts_classes: false,
        recorded: false,
    };

    fn confidence<R: RowView>(row: &R, [t, weight]: Values, _column: usize) -> f64 {
        let log_rest = |transform| softmax::log_rest(&row.transformed(&transform, 0));
        -mixture(weight, transforms(t).map(log_rest))
    }

    fn value(confidence: f64, _values: Values, _classes: usize) -> f64 {
        -(-confidence).exp_m1()
    }

    fn log_loss(row: &ProfileRow<'_>, [t, weight]: Values) -> Option<f64> {
        let distance = row.label_distance();
        let log_label = |transform| -softmax::log_loss(&row.transformed(&transform, 0), distance);
        Some(-mixture(weight, transforms(t).map(log_label)))
    }

    fn search(space: &Space) -> Search {
        let weights = Axis::Continuous(steps(0, 100, 100.0).collect());
        Search { axes: vec![Axis::TunedTemperature, weights], refinements: space.refinements }
    }
}

/// The transforms of the two terms.
fn transforms(t: f64) -> [Transform; 2] {
    [Transform::of_temperature(t), Transform::RAW]
}

/// `ln(w e^scaled + (1 − w) e^raw)`.
fn mixture(weight: f64, [scaled, raw]: [f64; 2]) -> f64 {
    softmax::log_add(weight.ln() + scaled, (1.0 - weight).ln() + raw)
}
