//! From values to places on an axis.

use super::{Axis, Scale};

/// The largest magnitude that is drawn: the difference of two is still a number.
const LARGEST: f64 = 1e300;

/// What an axis shows: its ends, or their decimal logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) log: bool,
}

impl Span {
    /// What the axis shows if these are the data. `grounded` data stand on zero, as bars do, and need no
    /// margin below it.
    pub(super) fn new(axis: &Axis, data: impl IntoIterator<Item = f64>, grounded: bool) -> Self {
        let log = axis.scale == Scale::Log && axis.categories.is_none();
        if let Some(names) = &axis.categories {
            return Self { low: -0.5, high: names.len().max(1) as f64 - 0.5, log: false };
        }
        let placed = |value| inner(value, log);
        if let Some((low, high)) = axis.range
            && let (Some(a), Some(b)) = (placed(low), placed(high))
        {
            return Self::of(a.min(b), a.max(b), 0.0, log);
        }
        let ends = data.into_iter().filter_map(placed).fold(None, |ends, value| match ends {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        });
        let Some((low, high)) = ends else { return Self { low: 0.0, high: 1.0, log } };
        let mut span = Self::of(low, high, 0.05, log);
        if grounded && !log && low >= 0.0 && span.low < 0.0 {
            span.low = 0.0;
        }
        span
    }

    /// From end to end with a margin on each side; a single value gets an axis around it.
    fn of(low: f64, high: f64, margin: f64, log: bool) -> Self {
        let width = high - low;
        let size = low.abs().max(high.abs());
        // Numbers on the axis cannot distinguish closer ends.
        let least = if log { 1e-9 } else { 1e-9 * size };
        let by = if width > least {
            margin * width
        } else if log {
            0.5
        } else if size > 0.0 {
            0.1 * size
        } else {
            1.0
        };
        Self { low: low - by, high: high + by, log }
    }

    /// Where a value is, as a share of the axis; `None` for one that cannot be shown on it.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        inner(value, self.log).map(|value| self.share(value))
    }

    /// Where a value is that is a logarithm already if the axis is logarithmic.
    pub(super) fn share(&self, inner: f64) -> f64 {
        (inner - self.low) / (self.high - self.low)
    }

    /// The value at a share of the axis.
    pub(super) fn value(&self, share: f64) -> f64 {
        let inner = self.low + share * (self.high - self.low);
        if self.log { 10f64.powf(inner) } else { inner }
    }
}

/// The value or its logarithm, if it can be drawn.
fn inner(value: f64, log: bool) -> Option<f64> {
    let fits = value.abs() <= LARGEST && (!log || value >= 1.0 / LARGEST);
    fits.then(|| if log { value.log10() } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(scale: Scale, range: Option<(f64, f64)>, data: &[f64]) -> (f64, f64) {
        let axis = Axis { scale, range, ..Axis::default() };
        let Span { low, high, .. } = Span::new(&axis, data.iter().copied(), false);
        (low, high)
    }

    #[test]
    fn ends_come_from_the_data() {
        assert_eq!(span(Scale::Linear, None, &[0.0, 10.0]), (-0.5, 10.5));
        assert_eq!(span(Scale::Linear, None, &[f64::NAN, f64::INFINITY, 2.0]), (1.8, 2.2));
        assert_eq!(span(Scale::Log, None, &[-1.0, 0.0, 10.0, 1000.0]), (0.9, 3.1));
    }

    #[test]
    fn no_axis_is_empty() {
        assert_eq!(span(Scale::Linear, None, &[]), (0.0, 1.0));
        assert_eq!(span(Scale::Linear, None, &[0.0, 0.0]), (-1.0, 1.0));
        assert_eq!(span(Scale::Linear, Some((5.0, 5.0)), &[]), (4.5, 5.5));
        let (low, high) = span(Scale::Linear, None, &[1.0, 1.0 + 1e-15]);
        assert!(low < 0.95 && high > 1.05);
        assert_eq!(span(Scale::Log, Some((10.0, 10.0)), &[]), (0.5, 1.5));
        let (low, high) = span(Scale::Linear, None, &[-1e300, 1e300]);
        assert!((high - low).is_finite());
    }

    #[test]
    fn ends_that_cannot_be_drawn_are_not_used() {
        assert_eq!(span(Scale::Log, Some((0.0, 10.0)), &[1.0, 10.0]), (-0.05, 1.05));
        assert_eq!(span(Scale::Linear, Some((f64::NAN, 1.0)), &[0.0, 10.0]), (-0.5, 10.5));
        assert_eq!(span(Scale::Linear, Some((1.0, 0.0)), &[]), (0.0, 1.0));
    }
}
