//! The risk-coverage curve: the only sort and the only tie rule.
//!
//! Rows are sorted by falling confidence, and equal confidences form one group, because a threshold
//! accepts all of them or none. Each group is a [`Knot`]. All metrics are read from the knots.
//!
//! Where a metric needs the risk at a row count inside a group, it is the expectation over all
//! orders of the group. Nothing depends on the order of the rows, or on the number of threads.

mod areas;
mod count;
mod order;
mod ranking;
mod resample;
mod weighted;

use crate::error::Error;
use crate::losses::{self, Losses};
use crate::threshold::reaches;
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

pub(crate) use areas::Areas;
pub use count::Count;
pub(crate) use count::Counts;
pub(crate) use order::Sorter;
pub(crate) use ranking::Ranking;
pub(crate) use resample::SortedRows;
pub use weighted::WeightedCurve;

/// Targets and coverages are typed as decimals: a count that meets one up to rounding meets it.
const ROUNDING: f64 = 1e-12;

/// Below this many rows one thread sorts faster than two.
const PARALLEL_SORT: usize = 1 << 14;

/// Collects confidences and losses. Builders can be filled apart and merged in any order.
///
/// ```
/// use abstain::{Losses, Metric, curve::CurveBuilder};
///
/// let mut builder = CurveBuilder::new();
/// builder.extend(&[0.9, 0.8, 0.7], &Losses::new(vec![0.0, 0.0, 1.0])?)?;
/// let mut other = CurveBuilder::new();
/// other.push(0.6, 1.0)?;
/// builder.merge(other);
///
/// let curve = builder.finish()?;
/// assert_eq!("AUROC".parse::<Metric>()?.evaluate(&curve), Ok(1.0));
/// # Ok::<(), abstain::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CurveBuilder {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    /// Falls as the confidence rises, so that an ascending sort puts the surest first.
    key: u64,
    loss: f64,
}

/// Maps a confidence that is not NaN to an integer that falls as it rises; 0.0 and −0.0 are equal.
fn descending_key(confidence: f64) -> u64 {
    let bits = (confidence + 0.0).to_bits();
    let ascending = if bits >> 63 == 1 { !bits } else { bits | (1 << 63) };
    !ascending
}

/// `0² = 0` and `1² = 1`, and no other number is its own square.
fn is_zero_one(loss: f64) -> bool {
    loss * loss == loss
}

#[inline]
fn confidence_of(key: u64) -> f64 {
    let ascending = !key;
    f64::from_bits(if ascending >> 63 == 1 { ascending & !(1 << 63) } else { !ascending })
}

impl CurveBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a row. The confidence may be infinite but not NaN; the loss is a finite number from 0.
    pub fn push(&mut self, confidence: f64, loss: f64) -> Result<(), Error> {
        let row = self.entries.len();
        if confidence.is_nan() {
            return Err(Error::InvalidConfidence { row });
        }
        if !losses::valid(loss) {
            return Err(Error::InvalidLoss { row, value: loss });
        }
        self.entries.push(Entry { key: descending_key(confidence), loss });
        Ok(())
    }

    /// Adds many rows.
    pub fn extend(&mut self, confidences: &[f64], losses: &Losses) -> Result<(), Error> {
        let before = self.entries.len();
        check(confidences, losses).map_err(|error| error.of_chunk(before))?;
        let pairs = confidences.iter().zip(losses.values());
        self.entries.extend(pairs.map(|(&c, &loss)| Entry { key: descending_key(c), loss }));
        Ok(())
    }

    /// Adds the rows of another builder.
    pub fn merge(&mut self, mut other: CurveBuilder) {
        self.entries.append(&mut other.entries);
    }

    /// Sorts the rows and builds the curve.
    pub fn finish(mut self) -> Result<RcCurve, Error> {
        if self.entries.is_empty() {
            return Err(Error::NoRows);
        }
        // Without branches: zeros and ones come in an order that no processor can predict.
        let zero_one = self.entries.iter().fold(true, |all, e| all & is_zero_one(e.loss));
        // Outside of the pool no other curve is sorted at the same time, and all threads may help.
        let alone = rayon::current_thread_index().is_none();
        let many = if alone { PARALLEL_SORT } else { order::MANY };
        if self.entries.len() > many {
            self.entries.par_sort_unstable_by_key(|e| e.key);
        } else {
            let confidences: Vec<f64> =
                self.entries.iter().map(|entry| confidence_of(entry.key)).collect();
            let mut sorter = Sorter::default();
            sorter.sort(&confidences);
            self.entries = sorter.rows().map(|row| self.entries[row]).collect();
        }
        Ok(RcCurve::of_sorted(self.entries, zero_one))
    }
}

/// Refuses confidences that are NaN or not as many as there are losses.
fn check(confidences: &[f64], losses: &Losses) -> Result<(), Error> {
    let (found, expected) = (confidences.len(), losses.values().len());
    if found != expected {
        return Err(Error::Length { what: "confidences", found, expected });
    }
    match confidences.iter().position(|confidence| confidence.is_nan()) {
        Some(row) => Err(Error::InvalidConfidence { row }),
        None => Ok(()),
    }
}

/// Turns sorted rows into knots in place (a second array would cost more than the sort): the key
/// of each tie and the loss of all rows up to it. Returns how many rows those are, or nothing if
/// no rows tie and the knot `i` is simply at `i + 1` rows.
fn collapse(entries: &mut Vec<Entry>) -> Option<Vec<usize>> {
    let mut accepted = Vec::new();
    let ties = entries.windows(2).any(|pair| pair[0].key == pair[1].key);
    let (mut knots, mut loss) = (0, 0.0);
    for i in 0..entries.len() {
        loss += entries[i].loss;
        let key = entries[i].key;
        if entries.get(i + 1).is_none_or(|next| next.key != key) {
            entries[knots] = Entry { key, loss };
            knots += 1;
            if ties {
                accepted.push(i + 1);
            }
        }
    }
    entries.truncate(knots);
    ties.then_some(accepted)
}

/// The AURC of the confidence that sorts the rows by their loss.
fn oracle_aurc(entries: &[Entry], zero_one: bool) -> f64 {
    let n = entries.len();
    if zero_one {
        let errors = entries.iter().filter(|e| e.loss == 1.0).count();
        return oracle_of_errors(n, errors);
    }
    let mut losses: Vec<f64> = entries.iter().map(|e| e.loss).collect();
    losses.sort_unstable_by(f64::total_cmp);
    let (mut loss, mut sum) = (0.0, 0.0);
    for (i, row_loss) in losses.iter().enumerate() {
        loss += row_loss;
        sum += loss / (i + 1) as f64;
    }
    sum / n as f64
}

/// The AURC of an ideal confidence where the loss is 0/1.
fn oracle_of_errors(rows: usize, errors: usize) -> f64 {
    let right = rows - errors;
    let sum: f64 = (1..=errors).map(|k| k as f64 / (right + k) as f64).sum();
    sum / rows as f64
}

/// A threshold and what it lets through: all rows whose confidence is at least `threshold`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knot<C = usize> {
    /// The smallest confidence that is accepted.
    pub threshold: f64,
    /// How many rows are accepted; their weight if they have one.
    pub accepted: C,
    /// The sum of their losses.
    pub loss: f64,
}

impl<C: Count> Knot<C> {
    /// The mean loss of the accepted rows.
    pub fn selective_risk(&self) -> f64 {
        self.loss / self.accepted.to_f64()
    }
}

impl Knot {
    /// How many of them are wrong, if the loss is 0/1.
    pub fn errors(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let errors = self.loss as usize;
        errors
    }
}

/// A point of the curve for plotting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The smallest confidence that is accepted.
    pub threshold: f64,
    /// The share of rows that is accepted.
    pub coverage: f64,
    /// The mean loss of the accepted rows.
    pub selective_risk: f64,
    /// The area under the curve up to this coverage; at the last point it is the AURC.
    pub area: f64,
}

/// The risk-coverage curve of one estimator on one set of rows, counted in whole rows or in weights.
#[derive(Debug, Clone, PartialEq)]
pub struct RcCurve<C: Count = usize> {
    /// The key of each threshold, surest first, and the losses of all rows it accepts.
    knots: Vec<Entry>,
    /// How many rows each threshold accepts; without ties it is one more than its index.
    accepted: Option<Vec<C>>,
    rows: C,
    zero_one: bool,
    oracle_aurc: f64,
    mean_of_risks: Memo<f64>,
    /// See [`RcCurve::area_weights`].
    area_weights: Memo<Arc<Vec<(f64, f64)>>>,
    /// What weights need beside the knots.
    sums: C::Sums,
}

/// What several metrics need, computed for the first of them.
#[derive(Debug, Clone)]
struct Memo<T>(OnceLock<T>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Memo(OnceLock::new())
    }
}

/// Whether it was computed yet makes no difference to a curve.
impl<T> PartialEq for Memo<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl RcCurve {
    /// The curve of confidences and losses.
    pub fn new(confidences: &[f64], losses: &Losses) -> Result<Self, Error> {
        let mut builder = CurveBuilder::new();
        builder.extend(confidences, losses)?;
        builder.finish()
    }

    /// The curve of rows in the order of their keys, one at least.
    fn of_sorted(mut entries: Vec<Entry>, zero_one: bool) -> Self {
        if !zero_one {
            // Inside a tie the losses are added up in one and the same order.
            for tie in entries.chunk_by_mut(|a, b| a.key == b.key) {
                tie.sort_unstable_by(|a, b| a.loss.total_cmp(&b.loss));
            }
        }
        let rows = entries.len();
        let oracle_aurc = oracle_aurc(&entries, zero_one);
        let accepted = collapse(&mut entries);
        RcCurve {
            knots: entries,
            accepted,
            rows,
            zero_one,
            oracle_aurc,
            mean_of_risks: Memo::default(),
            area_weights: Memo::default(),
            sums: (),
        }
    }

    /// No curve yet, but memory for one.
    pub(crate) fn memory() -> Self {
        RcCurve {
            knots: Vec::new(),
            accepted: None,
            rows: 0,
            zero_one: true,
            oracle_aurc: 0.0,
            mean_of_risks: Memo::default(),
            area_weights: Memo::default(),
            sums: (),
        }
    }

    /// The expected loss of the `rows` surest rows.
    fn expected_loss(&self, rows: usize) -> f64 {
        let (mut first, mut end) = (0, self.thresholds() - 1);
        while first < end {
            let middle = usize::midpoint(first, end);
            if self.accepted(middle) < rows {
                first = middle + 1;
            } else {
                end = middle;
            }
        }
        let group = self.group(first);
        let share = (rows - group.rows_before) as f64 / group.rows as f64;
        group.loss_before + share * group.loss
    }

    /// The expected risk of the rows between two places, as far as there are any; that of all rows if
    /// there are none.
    pub(crate) fn risk_between(&self, from: usize, to: usize) -> f64 {
        let to = to.min(self.rows);
        if from >= to {
            return self.risk();
        }
        (self.expected_loss(to) - self.expected_loss(from)) / (to - from) as f64
    }

    /// What a loss in each group weighs in the area under the whole curve, and what a row there changes
    /// through the ranks, as `compute` finds them for the first metric that needs them.
    pub(crate) fn area_weights(
        &self,
        compute: impl FnOnce() -> Vec<(f64, f64)>,
    ) -> Arc<Vec<(f64, f64)>> {
        self.area_weights.0.get_or_init(|| Arc::new(compute())).clone()
    }
}

impl<C: Count> RcCurve<C> {
    /// The number of different thresholds: one at least.
    pub fn thresholds(&self) -> usize {
        self.knots.len()
    }

    /// A threshold; 0 is the strictest, and the last accepts every row.
    fn knot(&self, index: usize) -> Knot<C> {
        let Entry { key, loss } = self.knots[index];
        Knot { threshold: confidence_of(key), accepted: self.accepted(index), loss }
    }

    fn accepted(&self, index: usize) -> C {
        self.accepted.as_ref().map_or(C::from_rows(index + 1), |accepted| accepted[index])
    }

    /// The thresholds, from the strictest to the one that accepts every row.
    pub fn knots(&self) -> impl DoubleEndedIterator<Item = Knot<C>> + ExactSizeIterator {
        (0..self.thresholds()).map(|index| self.knot(index))
    }

    /// The number of rows; their weight if they have one.
    pub fn rows(&self) -> C {
        self.rows
    }

    /// The mean loss of all rows.
    pub fn risk(&self) -> f64 {
        self.total_loss() / self.rows.to_f64()
    }

    /// The sum of all losses; the number of errors if the loss is 0/1.
    pub fn total_loss(&self) -> f64 {
        // A curve is never empty: `finish` refuses to build one.
        self.knots[self.knots.len() - 1].loss
    }

    /// The number of right rows, if the loss is 0/1.
    pub(crate) fn right(&self) -> f64 {
        C::stored_right(&self.sums).unwrap_or_else(|| self.rows.to_f64() - self.total_loss())
    }

    /// Whether there are several rows whose weights count as no more than one row.
    pub(crate) fn is_less_than_a_row(&self) -> bool {
        C::is_less_than_a_row(self.rows, &self.sums)
    }

    /// Whether every loss is 0 or 1.
    pub fn is_zero_one(&self) -> bool {
        self.zero_one
    }

    /// The AURC of the confidence that sorts these rows by their loss: the smallest possible.
    pub fn oracle_aurc(&self) -> f64 {
        self.oracle_aurc
    }

    /// A group of equal confidence.
    #[inline]
    pub(crate) fn group(&self, index: usize) -> Group<C> {
        let (rows_before, loss_before) = match index.checked_sub(1) {
            Some(before) => (self.accepted(before), self.knots[before].loss),
            None => (C::ZERO, 0.0),
        };
        let (rows, loss, right) = C::stored(&self.sums, index).unwrap_or_else(|| {
            let rows = self.accepted(index) - rows_before;
            let loss = self.knots[index].loss - loss_before;
            (rows, loss, rows.to_f64() - loss)
        });
        Group { rows_before, loss_before, rows, loss, right }
    }

    /// The groups of equal confidence, surest first.
    pub(crate) fn groups(&self) -> impl DoubleEndedIterator<Item = Group<C>> {
        (0..self.thresholds()).map(|index| self.group(index))
    }

    /// The sum over `k` in a range of row counts of the expected selective risk of the `k` surest
    /// rows.
    pub(crate) fn sum_of_risks(&self, counts: &Counts<C>) -> f64 {
        self.groups().map(|group| group.sum_of_risks(counts)).sum()
    }

    /// All row counts.
    pub(crate) fn counts(&self) -> Counts<C> {
        Counts { after: C::ZERO, to: self.rows }
    }

    /// The mean over all row counts `k` of the expected selective risk of the `k` surest rows.
    pub(crate) fn mean_of_risks(&self) -> f64 {
        let sum = || self.groups().map(|group| group.sum_of_all_risks()).sum::<f64>();
        let mean = || sum() / self.rows.to_f64();
        *self.mean_of_risks.0.get_or_init(mean)
    }

    /// The last knot at which the share of right rows is at least `accuracy`, for a 0/1 loss.
    pub fn widest_within_accuracy(&self, accuracy: f64) -> Option<Knot<C>> {
        self.widest(|rows, loss| rows - loss >= accuracy * rows * (1.0 - ROUNDING))
    }

    /// The last knot whose selective risk is at most `risk`.
    pub fn widest_within_risk(&self, risk: f64) -> Option<Knot<C>> {
        self.widest(|rows, loss| loss <= risk * rows * (1.0 + ROUNDING) + f64::MIN_POSITIVE)
    }

    /// The last knot whose rows and loss are allowed.
    fn widest(&self, allowed: impl Fn(f64, f64) -> bool) -> Option<Knot<C>> {
        let allowed = |&i: &usize| allowed(self.accepted(i).to_f64(), self.knots[i].loss);
        (0..self.thresholds()).rev().find(allowed).map(|index| self.knot(index))
    }

    /// The first knot whose coverage is at least `coverage`.
    pub fn narrowest_covering(&self, coverage: f64) -> Knot<C> {
        let wanted = coverage * self.rows.to_f64() * (1.0 - ROUNDING);
        let (mut first, mut end) = (0, self.thresholds() - 1);
        while first < end {
            let middle = usize::midpoint(first, end);
            if self.accepted(middle).to_f64() < wanted {
                first = middle + 1;
            } else {
                end = middle;
            }
        }
        self.knot(first)
    }

    /// The knot at which errors and abstentions cost least, where a loss of 1 on an accepted row costs `error`
    /// and an abstention `abstention`; none if it is best to accept nothing. Of equal costs, that of the
    /// fewest answers.
    pub fn cheapest(&self, error: f64, abstention: f64) -> Option<Knot<C>> {
        let rows = self.rows.to_f64();
        let (mut least, mut cheapest) = (abstention * rows, None);
        for index in 0..self.thresholds() {
            let (accepted, loss) = (self.accepted(index).to_f64(), self.knots[index].loss);
            let cost = error * loss + abstention * (rows - accepted);
            if cost < least {
                (least, cheapest) = (cost, Some(index));
            }
        }
        cheapest.map(|index| self.knot(index))
    }

    /// What any number does as a threshold: the last knot whose confidences are all at least that, if
    /// there are rows so sure.
    pub fn at_threshold(&self, threshold: f64) -> Option<Knot<C>> {
        let sure = self.knots.partition_point(|knot| reaches(confidence_of(knot.key), threshold));
        sure.checked_sub(1).map(|index| self.knot(index))
    }

    /// The row counts `k` with `from < k/n <= to`, which may be none.
    pub(crate) fn counts_within(&self, from: f64, to: f64) -> Counts<C> {
        Counts { after: C::up_to(from, self.rows), to: C::up_to(to, self.rows) }
    }

    /// Every point of the curve, surest first.
    pub fn points(&self) -> Vec<Point> {
        let n = self.rows.to_f64();
        let mut sum = 0.0;
        self.knots()
            .zip(self.groups())
            .map(|(knot, group)| {
                sum += group.sum_of_all_risks();
                Point {
                    threshold: knot.threshold,
                    coverage: knot.accepted.to_f64() / n,
                    selective_risk: knot.selective_risk(),
                    area: sum / n,
                }
            })
            .collect()
    }

    /// At most `limit` points (three at least) for plotting: those that keep the shape, the first
    /// and the last among them.
    ///
    /// They are points of the whole curve and carry its areas, so that the area between any two
    /// of them, and the AURC at the last, are those of the whole curve.
    ///
    /// The shape is kept by largest triangles (Steinarsson, 2013): of each stretch the point
    /// that spans the largest triangle with the point before and the mean of the next stretch.
    pub fn thinned_points(&self, limit: usize) -> Vec<Point> {
        let points = self.points();
        let limit = limit.max(3);
        if points.len() <= limit {
            return points;
        }
        let last = points.len() - 1;
        let stretches = limit - 2;
        let start = |stretch: usize| 1 + stretch * (last - 1) / stretches;
        let mut kept = vec![points[0]];
        for stretch in 0..stretches {
            let next = if stretch + 1 < stretches {
                &points[start(stretch + 1)..start(stretch + 2)]
            } else {
                &points[last..]
            };
            let mean = |f: fn(&Point) -> f64| next.iter().map(f).sum::<f64>() / next.len() as f64;
            let ahead = (mean(|p| p.coverage), mean(|p| p.selective_risk));
            let behind = kept[kept.len() - 1];
            let triangle = |p: &Point| {
                ((behind.coverage - ahead.0) * (p.selective_risk - behind.selective_risk)
                    - (behind.coverage - p.coverage) * (ahead.1 - behind.selective_risk))
                    .abs()
            };
            let stretch = &points[start(stretch)..start(stretch + 1)];
            let best = stretch.iter().max_by(|a, b| triangle(a).total_cmp(&triangle(b)));
            kept.extend(best);
        }
        kept.push(points[last]);
        kept
    }
}

/// Rows of one confidence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group<C = usize> {
    /// Rows that are surer.
    pub(crate) rows_before: C,
    /// Their losses.
    pub(crate) loss_before: f64,
    /// Rows of this confidence.
    pub(crate) rows: C,
    /// Their losses.
    pub(crate) loss: f64,
    /// Those of them that are right, if the loss is 0/1.
    pub(crate) right: f64,
}

impl<C: Count> Group<C> {
    /// The sum of the expected selective risks at all row counts of the group.
    fn sum_of_all_risks(&self) -> f64 {
        self.sum_over(self.rows_before, self.rows_before + self.rows, self.rows)
    }

    /// The same at those that are inside `counts`.
    fn sum_of_risks(&self, counts: &Counts<C>) -> f64 {
        let (counts, width) = C::overlap(self.rows_before, self.rows, counts);
        if counts.is_empty() { 0.0 } else { self.sum_over(counts.after, counts.to, width) }
    }

    /// `Σ_k (loss_before + i·mean) / k` over `k = rows_before + i` with `after < k <= to`, which are
    /// `width` row counts: the expected loss of `i` rows drawn from the group is `i` times its mean.
    ///
    /// It is summed as `Σ_k mean + (loss_before − rows_before·mean) / k`, which is exact where the
    /// group and the rows before it have the same mean, as when all rows tie.
    #[inline]
    fn sum_over(&self, after: C, to: C, width: C) -> f64 {
        if C::is_single(self.rows, width) {
            return (self.loss_before + self.loss) / to.to_f64();
        }
        let mean = self.loss / self.rows.to_f64();
        let excess = self.loss_before - mean * self.rows_before.to_f64();
        mean * width.to_f64() + excess * C::sum_of_reciprocals(after, width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(confidences: &[f64], losses: &[f64]) -> RcCurve {
        RcCurve::new(confidences, &Losses::new(losses.to_vec()).expect("losses")).expect("curve")
    }

    #[test]
    fn keys_order_all_confidences_and_come_back() {
        let ascending = [f64::NEG_INFINITY, -1e300, -1.0, -1e-310, 0.0, 1e-310, 1.0, f64::INFINITY];
        for pair in ascending.windows(2) {
            assert!(descending_key(pair[0]) > descending_key(pair[1]));
        }
        for x in ascending {
            assert_eq!(confidence_of(descending_key(x)).to_bits(), x.to_bits());
        }
        assert_eq!(descending_key(-0.0), descending_key(0.0));
    }

    #[test]
    fn ties_form_one_knot() {
        let curve = curve(&[0.5, 0.9, 0.5, 0.0, -0.0], &[1.0, 0.0, 0.0, 1.0, 1.0]);
        let knots: Vec<_> = curve.knots().map(|k| (k.threshold, k.accepted, k.loss)).collect();
        assert_eq!(knots, [(0.9, 1, 0.0), (0.5, 3, 1.0), (0.0, 5, 3.0)]);
        assert_eq!(curve.widest_within_risk(0.4).map(|k| k.accepted), Some(3));
        assert_eq!(curve.widest_within_risk(1.0).map(|k| k.accepted), Some(5));
        assert_eq!(curve.narrowest_covering(0.2).accepted, 1);
        assert_eq!(curve.narrowest_covering(0.21).accepted, 3);
        assert_eq!(curve.narrowest_covering(1.0).accepted, 5);
        let at = |threshold| curve.at_threshold(threshold).map(|k| (k.accepted, k.errors()));
        assert_eq!([at(0.91), at(0.9), at(0.6)], [None, Some((1, 0)), Some((1, 0))]);
        assert_eq!([at(0.5), at(0.0), at(-7.0)], [Some((3, 1)), Some((5, 3)), Some((5, 3))]);
    }

    #[test]
    fn decimal_targets_are_met_exactly() {
        // 1 of 50 wrong is a risk of 0.02, although 1 − 0.98 is not 0.02 in binary.
        let losses: Vec<f64> = (0..50).map(|i| if i == 49 { 1.0 } else { 0.0 }).collect();
        let confidences: Vec<f64> = (0..50).map(|i| -f64::from(i)).collect();
        let curve = curve(&confidences, &losses);
        assert_eq!(curve.widest_within_risk(0.02).map(|k| k.accepted), Some(50));
        assert_eq!(curve.widest_within_risk(0.0199).map(|k| k.accepted), Some(49));
        assert_eq!(curve.widest_within_accuracy(0.98).map(|k| k.accepted), Some(50));
        assert_eq!(curve.widest_within_accuracy(0.9801).map(|k| k.accepted), Some(49));
        assert_eq!(curve.counts_within(0.29, 0.58), Counts { after: 14, to: 29 });
        assert!(curve.counts_within(0.3, 0.3).is_empty());
    }

    #[test]
    fn bad_rows_are_refused_with_their_place() {
        let mut builder = CurveBuilder::new();
        builder.push(1.0, 0.0).expect("valid");
        assert_eq!(builder.push(f64::NAN, 0.0), Err(Error::InvalidConfidence { row: 1 }));
        assert_eq!(builder.push(0.5, -1.0), Err(Error::InvalidLoss { row: 1, value: -1.0 }));
        let losses = Losses::new(vec![0.0, 1.0]).expect("losses");
        let error = builder.extend(&[0.1, f64::NAN], &losses).unwrap_err();
        assert_eq!(error, Error::InvalidConfidence { row: 2 });
        let error = builder.extend(&[0.1], &losses).unwrap_err();
        assert_eq!(error, Error::Length { what: "confidences", found: 1, expected: 2 });
        assert_eq!(CurveBuilder::new().finish(), Err(Error::NoRows));
    }

    /// Rows of both sorts, against the definition: the mean over k of the risk of the
    /// k surest rows. Without ties, so that the definition needs no expectation.
    #[test]
    fn many_rows_are_sorted_as_few_are() {
        for (n, graded) in
            [40_009, order::MANY + 9].into_iter().flat_map(|n| [(n, false), (n, true)])
        {
            let confidences: Vec<f64> = (0..n).map(|i| ((i * 7919) % n) as f64 - 2e4).collect();
            let loss = |i: usize| {
                let x = ((i * 104_729) % 1009) as f64 / 1009.0;
                if graded { x } else { f64::from(u8::from(x < 0.3)) }
            };
            let losses: Vec<f64> = (0..n).map(loss).collect();
            let mut pairs: Vec<(f64, f64)> =
                confidences.iter().copied().zip(losses.iter().copied()).collect();
            pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
            let (mut sum, mut aurc) = (0.0, 0.0);
            for (i, (_, loss)) in pairs.iter().enumerate() {
                sum += loss;
                aurc += sum / (i + 1) as f64 / n as f64;
            }
            let curve = curve(&confidences, &losses);
            assert_eq!(curve.thresholds(), n);
            let found = curve.mean_of_risks();
            assert!((found - aurc).abs() < 1e-12, "{found} {aurc}");
        }
    }

    #[test]
    fn thinning_moves_no_area() {
        let n = 5000;
        let confidences: Vec<f64> = (0..n).map(|i| f64::from((i * 7919) % n / 2)).collect();
        let losses: Vec<f64> = (0..n).map(|i| f64::from(u8::from((i * 31) % 97 < 20))).collect();
        let curve = curve(&confidences, &losses);
        let all = curve.points();
        for limit in [0, 3, 10, 100, 2499, 2500, 9999] {
            let few = curve.thinned_points(limit);
            assert!(few.len() <= limit.max(3), "{limit}: {}", few.len());
            assert_eq!(few[0], all[0]);
            assert_eq!(few[few.len() - 1], all[all.len() - 1]);
            assert!(few.iter().all(|point| all.contains(point)));
            assert!(few.windows(2).all(|w| w[0].coverage < w[1].coverage));
        }
        // The few points follow the curve: between them it is nowhere far from straight.
        let few = curve.thinned_points(100);
        let straight = |x: f64| {
            let k = few.partition_point(|p| p.coverage < x).clamp(1, few.len() - 1);
            let (a, b) = (few[k - 1], few[k]);
            let share = (x - a.coverage) / (b.coverage - a.coverage);
            a.selective_risk + share * (b.selective_risk - a.selective_risk)
        };
        let gap = |p: &Point| (straight(p.coverage) - p.selective_risk).abs();
        let mean_gap = all.iter().map(gap).sum::<f64>() / all.len() as f64;
        assert!(mean_gap < 1.5e-3, "{mean_gap}");
        let aurc = curve.mean_of_risks();
        assert!((all[all.len() - 1].area - aurc).abs() < 1e-15);
    }
}
