//! BK, the estimator of Boursinos & Koutsoukos (2022).
//!
//! - **Definition**: `a σ_1 + b (1 − σ_2)`. Only the direction of `(a, b)` changes the order.
//! - **Range and direction**: a real number, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. `a + b` if a single class is not masked.
//! - **Rank scale**: the value less `a + b`, that is `−(a (1 − σ_1) + b σ_2)`. It keeps its digits
//!   down to probabilities of 1e-308; below that, rows tie.
//! - **Search**: every direction of `(a, b)` to a quarter of a degree.
//! - **Cost**: one pass of exponentials.
//! - **Reference**: Boursinos & Koutsoukos (2022).

use super::{Axis, Definition, Domain, Info, Parameter, Search, Values};
use crate::elementary::{exp, exp_m1};
use crate::row::{RowView, Statistics};
use crate::score::softmax;
use crate::space::{Space, steps};
use crate::transform::Transform;

pub(super) struct Bk;

impl Definition for Bk {
    const INFO: Info = Info {
        name: "BK",
        formula: "a weighted sum of the two largest softmax probabilities",
        parameters: &[Parameter::new("a", Domain::Real), Parameter::new("b", Domain::Real)],
        is_probability: false,
        sees_constants: false,
        counts_classes: false,
        recorded: false,
    };

    fn confidence<R: RowView>(row: &R, [a, b]: Values, _column: usize) -> f64 {
        let [second, others] = statistics(row);
        -second * (a * others + (a + b))
    }

    fn confidences<R: RowView>(row: &R, several: &[(Values, usize)], out: &mut [f64]) {
        let [second, others] = statistics(row);
        for (out, &([a, b], _)) in out.iter_mut().zip(several) {
            *out = -second * (a * others + (a + b));
        }
    }

    fn value(confidence: f64, [a, b]: Values, _classes: usize) -> f64 {
        a + b + confidence
    }

    fn search(space: &Space) -> Search {
        let angles = space.every_family_step(steps(-720, 719, 4.0)).map(f64::to_radians);
        let refinements = space.refinements.max(space.family_refinements);
        Search { axes: vec![Axis::Continuous(angles.collect())], refinements }
    }

    /// The point is an angle.
    fn point(at: &[f64]) -> Values {
        let (b, a) = at[0].sin_cos();
        [a, b]
    }
}

/// The second probability, and those of the classes after it relative to it.
fn statistics<R: RowView>(row: &R) -> [f64; 2] {
    let row = row.transformed(&Transform::RAW, 0);
    let log_odds = softmax::log_odds(&row);
    if log_odds == f64::INFINITY {
        return [0.0; 2];
    }
    // With S = e^L the sum of the others relative to the second: 1 − σ_1 = σ_2 S. Written so that
    // a + b = 0 leaves exactly nothing where there is no third class.
    [exp(-row.gap()) * softmax::sigmoid(log_odds), exp_m1(row.log_tail(1.0))]
}
