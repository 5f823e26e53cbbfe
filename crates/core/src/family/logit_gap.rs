//! LogitGap, the distance of the largest logit from the mean of the next ones.
//!
//! - **Definition**: `z_1 − (z_2 + … + z_{N+1}) / N` of the sorted logits. With fewer than `N` other
//!   classes it is the mean of all of them.
//! - **Range and direction**: from 0, higher is surer.
//! - **Invariances**: adding a constant to a row; permuting classes.
//! - **Undefined when**: never. Masked classes are left out; infinite if a single class is not masked.
//! - **Rank scale**: the value itself.
//! - **Search**: `N` of 1, 2, 3, 5, 7 times powers of ten up to 1,000.
//! - **Cost**: one sort.

use super::{Axis, Definition, Domain, Info, Parameter, Search, Values, count};
use crate::row::RowView;
use crate::space::Space;

pub(super) struct LogitGap;

impl Definition for LogitGap {
    const INFO: Info = Info {
        name: "LogitGap",
        formula: "the largest logit less the mean of the next N",
        parameters: &[Parameter::new("N", Domain::Classes)],
        is_probability: false,
        sees_constants: false,
        counts_classes: false,
        recorded: true,
    };

    fn confidence<R: RowView>(row: &R, [n, _]: Values, column: usize) -> f64 {
        row.recorded(column, |others| match others.count().min(count(n)) {
            0 => f64::INFINITY,
            nearest => others.sum(nearest, |distance| distance) / nearest as f64,
        })
    }

    fn value(confidence: f64, _values: Values, _classes: usize) -> f64 {
        confidence
    }

    fn search(_space: &Space) -> Search {
        let decade = |ten: f64| [1.0, 2.0, 3.0, 5.0, 7.0].map(|digit| digit * ten);
        let counts = [1.0, 10.0, 100.0].into_iter().flat_map(decade).chain([1000.0]).collect();
        Search { axes: vec![Axis::Classes(counts)], refinements: 0 }
    }
}
