//! Curves of resampled rows, from one sort.

use super::{Entry, Memo, RcCurve, Sorter, oracle_of_errors};
use crate::error::Error;
use crate::losses::Losses;

/// Rows sorted by falling confidence once, of which any number of curves can be made.
#[derive(Debug, Clone)]
pub(crate) struct SortedRows {
    /// The index of each row, surest first, and whether it ties with the one before it (the lowest
    /// bit). Four bytes a row: many estimators fit into the cache together.
    order: Vec<u32>,
    /// The losses in that order; of the 0/1 loss one byte a row.
    losses: SortedLosses,
}

#[derive(Debug, Clone)]
enum SortedLosses {
    ZeroOne(Vec<u8>),
    /// The losses, and the indices and losses of all rows by rising loss.
    Graded(Vec<f64>, Vec<(usize, f64)>),
}

impl SortedRows {
    pub(crate) fn new(confidences: &[f64], losses: &Losses) -> Result<Self, Error> {
        // Built for its checks.
        RcCurve::new(confidences, losses)?;
        let mut sorter = Sorter::default();
        sorter.sort(confidences);
        Self::of_order(&sorter, confidences, losses)
    }

    /// Of confidences that were sorted: as many as there are losses, and one at least.
    pub(crate) fn of_order(
        sorter: &Sorter,
        confidences: &[f64],
        losses: &Losses,
    ) -> Result<Self, Error> {
        let zero_one = losses.is_zero_one();
        let values = losses.values();
        if values.len() >= 1 << 31 {
            let (value, wanted) = (values.len() as f64, "below 2^31");
            return Err(Error::Parameter { name: "the number of rows", value, wanted });
        }
        let mut last = f64::NAN;
        let place = |row: usize| {
            let tied = u32::from(confidences[row] == last);
            last = confidences[row];
            #[expect(clippy::cast_possible_truncation, reason = "checked above")]
            let row = row as u32;
            row << 1 | tied
        };
        let order = sorter.rows().map(place).collect();
        let sorted = sorter.rows().map(|row| values[row]);
        let losses = if zero_one {
            SortedLosses::ZeroOne(sorted.map(|loss| u8::from(loss == 1.0)).collect())
        } else {
            let mut by_loss: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
            by_loss.sort_by(|a, b| a.1.total_cmp(&b.1));
            SortedLosses::Graded(sorted.collect(), by_loss)
        };
        Ok(SortedRows { order, losses })
    }

    /// The curve of the rows, each taken as often as its count says (one of them at least once), in
    /// the memory of another curve. Its thresholds are ranks, not confidences.
    pub(crate) fn resampled(&self, counts: &[u32], memory: RcCurve) -> RcCurve {
        let RcCurve { mut knots, accepted, .. } = memory;
        let mut accepted = accepted.unwrap_or_default();
        knots.clear();
        accepted.clear();
        let zero_one = matches!(self.losses, SortedLosses::ZeroOne(_));
        match &self.losses {
            SortedLosses::ZeroOne(losses) => {
                let losses = losses.iter().map(|&loss| f64::from(loss));
                self.fill(counts, losses, &mut knots, &mut accepted);
            }
            SortedLosses::Graded(losses, _) => {
                self.fill(counts, losses.iter().copied(), &mut knots, &mut accepted);
            }
        }
        let rows = accepted.last().copied().unwrap_or(0);
        let oracle_aurc = match &self.losses {
            SortedLosses::ZeroOne(_) => {
                let errors = knots.last().map_or(0.0, |knot| knot.loss);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a count"
                )]
                oracle_of_errors(rows, errors as usize)
            }
            SortedLosses::Graded(_, by_loss) => {
                let (mut k, mut sum, mut total) = (0.0, 0.0, 0.0);
                for &(index, loss) in by_loss {
                    for _ in 0..counts[index] {
                        k += 1.0;
                        sum += loss;
                        total += sum / k;
                    }
                }
                total / k
            }
        };
        RcCurve {
            knots,
            accepted: Some(accepted),
            rows,
            zero_one,
            oracle_aurc,
            mean_of_risks: Memo::default(),
            area_weights: Memo::default(),
            sums: (),
        }
    }

    fn fill(
        &self,
        counts: &[u32],
        losses: impl Iterator<Item = f64>,
        knots: &mut Vec<Entry>,
        accepted: &mut Vec<usize>,
    ) {
        let (mut rows, mut loss) = (0_usize, 0.0);
        // Ties are identified by their first row, which may not be in the sample.
        let (mut group, mut last) = (0_u64, u64::MAX);
        for (&row, row_loss) in self.order.iter().zip(losses) {
            group += u64::from(row & 1 == 0);
            let count = counts[(row >> 1) as usize];
            if count == 0 {
                continue;
            }
            rows += count as usize;
            loss += f64::from(count) * row_loss;
            if group == last {
                if let (Some(knot), Some(accepted)) = (knots.last_mut(), accepted.last_mut()) {
                    (knot.loss, *accepted) = (loss, rows);
                }
            } else {
                knots.push(Entry { key: group, loss });
                accepted.push(rows);
                last = group;
            }
        }
    }
}
