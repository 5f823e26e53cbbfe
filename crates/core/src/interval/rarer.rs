//! Which rows are the rare events: wrong ones, or right ones.
//!
//! The gamma limits are for sums of rare events. Among the surest rows errors are rare; among the least
//! sure ones, and wherever most rows are wrong, right rows are. Since `Σ ℓ g` is `Σ g − Σ (1 − ℓ) g`, a
//! sum of losses may count either, and on each side of a cut it counts those that are fewer.

use crate::curve::RcCurve;

/// How many standard deviations from one half the share of right rows must be on both sides of a cut.
/// A cut that follows chance would hide how the few right rows vary.
const CLEAR: f64 = 2.0;

/// The first group of which right rows are counted, and not wrong ones.
///
/// It is where the surer rows have most more right rows than wrong ones, if both sides are clearly what
/// they seem to be; otherwise all groups, or none, whichever event is rarer over all.
pub(super) fn first_counted_by_right(curve: &RcCurve) -> usize {
    let n = curve.rows() as f64;
    let excess = |rows: f64, loss: f64| rows - 2.0 * loss;
    let over_all = excess(n, curve.total_loss());
    let (mut cut, mut most, mut above) = (0, 0.0, 0.0);
    for (index, group) in curve.groups().enumerate() {
        let rows = (group.rows_before + group.rows) as f64;
        let here = excess(rows, group.loss_before + group.loss);
        // Of equal cuts, the one by which more rows count as the others do.
        if here > most || here == most && over_all >= 0.0 {
            (cut, most, above) = (index + 1, here, rows);
        }
    }
    let clear = |excess: f64, rows: f64| excess >= CLEAR * rows.sqrt();
    if above > 0.0 && above < n && clear(most, above) && clear(most - over_all, n - above) {
        return cut;
    }
    if over_all < 0.0 { 0 } else { curve.thresholds() }
}

/// A row whose loss counts, as one that counts if it has none: what it adds to a sum, what the event
/// would add, and its influence, which stays.
pub(super) fn counted_by_right([contribution, unseen, influence]: [f64; 3]) -> [f64; 3] {
    [contribution - unseen, -unseen, influence]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::losses::Losses;

    fn cut(losses: &[f64]) -> usize {
        let confidences: Vec<f64> = (0..losses.len()).map(|row| -(row as f64)).collect();
        let losses = Losses::new(losses.to_vec()).expect("losses");
        first_counted_by_right(&RcCurve::new(&confidences, &losses).expect("a curve"))
    }

    #[test]
    fn the_rarer_event_counts_on_both_sides() {
        let rows = |right: usize, wrong: usize| [vec![0.0; right], vec![1.0; wrong]].concat();
        // Clearly right above, clearly wrong below.
        assert_eq!(cut(&rows(40, 60)), 40);
        // A few rows at either end may be chance.
        assert_eq!(cut(&rows(3, 97)), 0);
        assert_eq!(cut(&rows(97, 3)), 100);
        assert_eq!((cut(&rows(0, 9)), cut(&rows(9, 0))), (0, 9));
        // Nothing to tell the rows by.
        assert_eq!(cut(&[1.0, 0.0].repeat(50)), 100);
        assert_eq!(counted_by_right([0.25, 0.25, 3.0]), [0.0, -0.25, 3.0]);
        assert_eq!(counted_by_right([0.0, 0.25, 3.0]), [-0.25, -0.25, 3.0]);
    }
}
