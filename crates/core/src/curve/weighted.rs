//! The curve of rows with weights.

use super::{Entry, Group, Memo, RcCurve, descending_key, is_zero_one};
use crate::error::Error;
use crate::losses::Losses;
use crate::weights::Weights;
use std::cmp::Ordering;

/// The curve of rows with weights, by [`RcCurve::weighted`].
pub type WeightedCurve = RcCurve<f64>;

/// What a weighted curve stores beside its knots. The differences of the knots would do but for
/// rounding, which a light group beside heavy ones does not survive.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sums {
    pub(super) groups: Vec<Sum>,
    /// The weight of all right rows, if the loss is 0/1.
    pub(super) right: f64,
    /// How many rows have a weight other than 0.
    pub(super) rows: usize,
}

/// A group of equal confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sum {
    pub(super) weight: f64,
    pub(super) loss: f64,
    pub(super) right: f64,
}

/// A row: its place in the order, its loss and its weight.
type Row<K> = (K, f64, f64);

impl RcCurve<f64> {
    /// The curve of confidences and losses of rows with weights. Rows of weight 0 are checked, but
    /// otherwise ignored.
    ///
    /// See [`Weights`] for what a weight means.
    pub fn weighted(
        confidences: &[f64],
        losses: &Losses,
        weights: &Weights,
    ) -> Result<Self, Error> {
        check(confidences, losses, weights)?;
        let mut rows: Vec<Row<u64>> = rows_of(confidences, losses, weights).collect();
        let mut by_loss: Vec<Row<()>> = rows.iter().map(without_key).collect();
        sort(&mut rows);
        sort(&mut by_loss);
        Ok(of_sorted(&rows, &by_loss))
    }

    /// The curves of resampled rows with weights, from one sort: each row is taken as often as its count
    /// says. There is none of a resample in which every weight is 0.
    pub(crate) fn resampled(
        confidences: &[f64],
        losses: &Losses,
        weights: &Weights,
    ) -> Result<impl Fn(&[u32]) -> Option<Self> + use<>, Error> {
        check(confidences, losses, weights)?;
        let counted = weights.values().iter().enumerate().filter(|(_, weight)| **weight > 0.0);
        let indices: Vec<usize> = counted.map(|(index, _)| index).collect();
        let rows: Vec<Row<u64>> = rows_of(confidences, losses, weights).collect();
        let in_order = |order: &dyn Fn(&Row<u64>, &Row<u64>) -> Ordering| {
            let mut sorted: Vec<(Row<u64>, usize)> =
                rows.iter().copied().zip(indices.iter().copied()).collect();
            sorted.sort_unstable_by(|a, b| order(&a.0, &b.0));
            sorted
        };
        let by_confidence = in_order(&place);
        let by_loss = in_order(&|a, b| place(&without_key(a), &without_key(b)));
        Ok(move |counts: &[u32]| {
            let taken = |sorted: &[(Row<u64>, usize)]| -> Vec<Row<u64>> {
                let counted = sorted.iter().filter(|(_, index)| counts[*index] > 0);
                let counted = counted.map(|&((key, loss, weight), index)| {
                    (key, loss, weight * f64::from(counts[index]))
                });
                counted.collect()
            };
            let rows = taken(&by_confidence);
            let by_loss: Vec<Row<()>> = taken(&by_loss).iter().map(without_key).collect();
            (!rows.is_empty()).then(|| of_sorted(&rows, &by_loss))
        })
    }
}

fn check(confidences: &[f64], losses: &Losses, weights: &Weights) -> Result<(), Error> {
    super::check(confidences, losses)?;
    weights.check_rows(confidences.len())
}

/// The rows that have a weight.
fn rows_of(
    confidences: &[f64],
    losses: &Losses,
    weights: &Weights,
) -> impl Iterator<Item = Row<u64>> {
    let keys = confidences.iter().map(|&c| descending_key(c));
    let rows = keys.zip(losses.values()).zip(weights.values()).map(|((k, &l), &w)| (k, l, w));
    rows.filter(|&(_, _, weight)| weight > 0.0)
}

fn without_key<K>(&(_, loss, weight): &Row<K>) -> Row<()> {
    ((), loss, weight)
}

fn sort<K: Ord>(rows: &mut [Row<K>]) {
    rows.sort_unstable_by(place);
}

/// Every row has its place, so that sums do not depend on the order in which rows were given.
fn place<K: Ord>(a: &Row<K>, b: &Row<K>) -> Ordering {
    a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
}

fn of_sorted(rows: &[Row<u64>], by_loss: &[Row<()>]) -> RcCurve<f64> {
    let (mut knots, mut accepted): (Vec<Entry>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut sums = Sums { rows: rows.len(), ..Sums::default() };
    let (mut weight, mut loss, mut right) = Default::default();
    for tie in rows.chunk_by(|a, b| a.0 == b.0) {
        let sum = sum_of(tie);
        add(&mut weight, sum.weight);
        add(&mut loss, sum.loss);
        add(&mut right, sum.right);
        let knot = Entry { key: tie[0].0, loss: value(loss) };
        match (knots.last_mut(), accepted.last(), sums.groups.last_mut()) {
            // So light that the coverage does not change: part of the group before it.
            (Some(last), Some(&before), Some(group)) if value(weight) <= before => {
                *last = knot;
                group.weight += sum.weight;
                group.loss += sum.loss;
                group.right += sum.right;
            }
            _ => {
                knots.push(knot);
                accepted.push(value(weight));
                sums.groups.push(sum);
            }
        }
    }
    sums.right = value(right);
    let rows_in_all = accepted.last().copied().unwrap_or(0.0);
    RcCurve {
        knots,
        accepted: Some(accepted),
        rows: rows_in_all,
        zero_one: rows.iter().all(|&(_, loss, _)| is_zero_one(loss)),
        oracle_aurc: oracle_sum(by_loss) / rows_in_all,
        mean_of_risks: Memo::default(),
        area_weights: Memo::default(),
        sums,
    }
}

/// Weight, loss and right rows of rows of equal confidence.
fn sum_of<K>(rows: &[Row<K>]) -> Sum {
    let (mut weight, mut loss, mut right) = Default::default();
    for &(_, row_loss, row_weight) in rows {
        add(&mut weight, row_weight);
        add(&mut loss, row_weight * row_loss);
        if row_loss == 0.0 {
            add(&mut right, row_weight);
        }
    }
    Sum { weight: value(weight), loss: value(loss), right: value(right) }
}

/// The sum of the risks of the confidence that sorts the rows by their loss. Rows of equal loss tie,
/// which changes nothing.
fn oracle_sum(by_loss: &[Row<()>]) -> f64 {
    let (mut weight, mut loss) = Default::default();
    let mut total = 0.0;
    for tie in by_loss.chunk_by(|a, b| a.1 == b.1) {
        let sum = sum_of(tie);
        let (rows_before, loss_before) = (value(weight), value(loss));
        let Sum { weight: rows, loss: group_loss, right } = sum;
        let group = Group { rows_before, loss_before, rows, loss: group_loss, right };
        total += group.sum_of_all_risks();
        add(&mut weight, rows);
        add(&mut loss, group_loss);
    }
    total
}

/// Adds to a sum that carries its rounding error along (Neumaier, 1974).
fn add((sum, error): &mut (f64, f64), x: f64) {
    let total = *sum + x;
    *error += if *sum >= x { (*sum - total) + x } else { (x - total) + *sum };
    *sum = total;
}

fn value((sum, error): (f64, f64)) -> f64 {
    sum + error
}
