//! The classes of a row other than the top one, in order: what recorded families are computed from.

use super::{Row, RowView, Transformed};
use crate::transform::Transform;

/// The classes other than the top one that are not masked, by their distance `z_1 − z_k` from it,
/// nearest first.
pub(crate) struct Others<'a> {
    row: Row<'a>,
    distances: Vec<f64>,
}

impl<'a> Others<'a> {
    pub(crate) fn new(row: &Row<'a>) -> Self {
        let mut distances: Vec<f64> = row.z.to_vec();
        for z in &mut distances {
            // Not −0.0, whose bits come last.
            *z = row.top - *z + 0.0;
        }
        // The bits of numbers from 0 on are in the order of the numbers.
        distances.sort_unstable_by_key(|distance| distance.to_bits());
        // The first is the top class itself.
        distances.remove(0);
        Others { row: *row, distances }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.distances.len()
    }

    /// The distance of the runner-up; infinite if there is none.
    pub(crate) fn gap(&self) -> f64 {
        self.distances.first().copied().unwrap_or(f64::INFINITY)
    }

    /// The sum of a function of the distance over the nearest so many, or all if there are fewer.
    pub(crate) fn sum(&self, nearest: usize, f: impl Fn(f64) -> f64) -> f64 {
        self.distances.iter().take(nearest).map(|&distance| f(distance)).sum()
    }
}

impl RowView for Others<'_> {
    type Transformed<'b>
        = Transformed<'b>
    where
        Self: 'b;

    fn transformed(&self, transform: &Transform, _column: usize) -> Transformed<'_> {
        self.row.transformed(transform)
    }

    fn recorded(&self, _column: usize, confidence: impl Fn(&Others<'_>) -> f64) -> f64 {
        confidence(self)
    }

    fn prediction(&self) -> usize {
        self.row.prediction()
    }

    fn extra(&self) -> f64 {
        self.row.extra
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Slice;

    #[test]
    fn distances_run_from_the_runner_up_to_the_last_class() {
        let z = [1.0, 4.0, -2.0, 4.0, 3.5];
        let others = Others::new(&Row::new(Slice::Double(&z)));
        assert_eq!((others.count(), others.gap()), (4, 0.0));
        assert_eq!(others.sum(2, |d| d + 1.0), 1.0 + 1.5);
        assert_eq!(others.sum(9, |d| d), 0.5 + 3.0 + 6.0);
    }

    #[test]
    fn zeros_of_both_signs_tie() {
        let z = [-0.0, 0.0, -1.0];
        let others = Others::new(&Row::new(Slice::Double(&z)));
        assert_eq!((others.gap(), others.sum(1, |d| d)), (0.0, 0.0));
    }

    #[test]
    fn masked_classes_are_left_out() {
        let all = [f64::NEG_INFINITY, 2.0, f64::NEG_INFINITY];
        let others = Others::new(&Row::masked(Slice::Double(&all), Slice::Double(&all[1..2])));
        assert_eq!((others.count(), others.gap()), (0, f64::INFINITY));
        assert_eq!(others.sum(3, |d| d), 0.0);
    }
}
