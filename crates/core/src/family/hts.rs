//! HTS, entropy-based temperature scaling.
//!
//! - **Definition**: `MSP(z / T_H)` with `T_H = ln(1 + exp(b + w ln(H / C)))` and `H` the entropy of
//!   the row's softmax probabilities.
//! - **Range and direction**: `[1/C, 1]`, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. `T_H` is kept between 1e-100 and 1e100; 1 if a single class is not
//!   masked, where `H` is 0.
//! - **Rank scale**: the log-odds, as for MSP.
//! - **Search**: `b` from −3 to 1 and `w` from −1 to 1 in steps of 0.01.
//! - **Cost**: three passes of exponentials.
//! - **Reference**: Balanya et al. (2022).

use super::{Axis, Definition, Domain, Info, Parameter, Search, Values};
use crate::elementary::ln;
use crate::profile::ProfileRow;
use crate::row::{BATCH, RowView, Statistics, softplus_each};
use crate::score::{msp, softmax};
use crate::space::{Space, steps};
use crate::transform::Transform;

pub(super) struct Hts;

impl Definition for Hts {
    const INFO: Info = Info {
        name: "HTS",
        formula: "MSP with a temperature that depends on the row's entropy",
        parameters: &[Parameter::new("b", Domain::Real), Parameter::new("w", Domain::Real)],
        is_probability: true,
        sees_constants: false,
        counts_classes: true,
        recorded: false,
    };

    fn confidence<R: RowView>(row: &R, values: Values, _column: usize) -> f64 {
        msp::confidence(&row.transformed(&transform(row, values), 0))
    }

    fn temperatures<R: RowView>(row: &R, several: &[(Values, usize)]) -> Option<[f64; BATCH]> {
        let log_mean_entropy = log_mean_entropy(row);
        let mut temperatures = [0.0; BATCH];
        for (t, &(values, _)) in temperatures.iter_mut().zip(several) {
            *t = before_softplus(log_mean_entropy, values);
        }
        softplus_each(&mut temperatures);
        Some(temperatures.map(within_range))
    }

    fn value(confidence: f64, _values: Values, classes: usize) -> f64 {
        msp::value(confidence, classes)
    }

    fn log_loss(row: &ProfileRow<'_>, values: Values) -> Option<f64> {
        let scaled = row.transformed(&transform(row, values), 0);
        Some(softmax::log_loss(&scaled, row.label_distance()))
    }

    fn search(space: &Space) -> Search {
        let axis =
            |from, to| Axis::Continuous(space.every_family_step(steps(from, to, 100.0)).collect());
        let refinements = space.refinements.max(space.family_refinements);
        Search { axes: vec![axis(-300, 100), axis(-100, 100)], refinements }
    }
}

/// The temperature `T_H` of a row.
fn transform<R: RowView>(row: &R, values: Values) -> Transform {
    let t = softmax::softplus(before_softplus(log_mean_entropy(row), values));
    Transform::of_temperature(within_range(t))
}

fn log_mean_entropy<R: RowView>(row: &R) -> f64 {
    row.log_entropy() - ln(row.transformed(&Transform::RAW, 0).classes())
}

fn before_softplus(log_mean_entropy: f64, [b, w]: Values) -> f64 {
    // A weight of 0 switches the entropy off even where its logarithm is infinite.
    b + if w == 0.0 { 0.0 } else { w * log_mean_entropy }
}

fn within_range(t: f64) -> f64 {
    t.clamp(1e-100, 1e100)
}
