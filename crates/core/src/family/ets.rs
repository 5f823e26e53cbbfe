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
use crate::elementary::{exp, ln};
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
        -Mixture::of(transforms(t).map(|transform| log_rest(row, &transform))).with(weight)
    }

    fn confidences<R: RowView>(row: &R, several: &[(Values, usize)], out: &mut [f64]) {
        // A search tries many weights at one temperature.
        let raw = log_rest(row, &Transform::RAW);
        let mut last = (f64::NAN, Mixture::of([raw, raw]));
        for (out, &([t, weight], _)) in out.iter_mut().zip(several) {
            if t != last.0 {
                let scaled = log_rest(row, &Transform::of_temperature(t));
                last = (t, Mixture::of([scaled, raw]));
            }
            *out = -last.1.with(weight);
        }
    }

    fn value(confidence: f64, _values: Values, _classes: usize) -> f64 {
        -(-confidence).exp_m1()
    }

    fn log_loss(row: &ProfileRow<'_>, [t, weight]: Values) -> Option<f64> {
        let distance = row.label_distance();
        let log_label = |transform| -softmax::log_loss(&row.transformed(&transform, 0), distance);
        Some(-Mixture::of(transforms(t).map(log_label)).with(weight))
    }

    fn search(space: &Space) -> Search {
        let weights = Axis::Continuous(steps(0, 100, 100.0).collect());
        Search { axes: vec![Axis::TunedTemperature, weights], refinements: space.refinements }
    }
}

fn log_rest<R: RowView>(row: &R, transform: &Transform) -> f64 {
    softmax::log_rest(&row.transformed(transform, 0))
}

/// The transforms of the two terms.
fn transforms(t: f64) -> [Transform; 2] {
    [Transform::of_temperature(t), Transform::RAW]
}

/// Two probabilities that are mixed, by their logarithms.
struct Mixture {
    logs: [f64; 2],
    largest: f64,
    /// Both relative to the larger one.
    shares: [f64; 2],
}

impl Mixture {
    fn of(logs: [f64; 2]) -> Self {
        let largest = logs[0].max(logs[1]);
        Mixture { logs, largest, shares: logs.map(|log| exp(log - largest)) }
    }

    /// `ln(w e^scaled + (1 − w) e^raw)`.
    fn with(&self, weight: f64) -> f64 {
        let sum = weight * self.shares[0] + (1.0 - weight) * self.shares[1];
        if sum > f64::MIN_POSITIVE {
            return self.largest + ln(sum);
        }
        // The larger one has no weight, or both are 0.
        let [scaled, raw] = self.logs;
        softmax::log_add(ln(weight) + scaled, ln(1.0 - weight) + raw)
    }
}
