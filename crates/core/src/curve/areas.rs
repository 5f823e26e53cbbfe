//! The AURC of many samples of the same rows, from one sort and without a curve for each.

use super::Sorter;
use crate::losses::Losses;

/// Samples whose sums run side by side.
const SIDE_BY_SIDE: usize = 8;

/// Some rows under the 0/1 loss, and samples of them in which a row counts once or not at all.
#[derive(Debug, Clone)]
pub(crate) struct Areas {
    /// Whether each row is wrong.
    wrong: Vec<u8>,
    /// For eight samples at a time, the bits of those that each row is in. The first sample is that of
    /// all rows.
    members: Vec<(usize, Vec<u8>)>,
}

impl Areas {
    /// Nothing if a loss is neither 0 nor 1, if a row counts more than once, or if a sample is empty.
    pub(crate) fn new(losses: &Losses, samples: &[Vec<u32>]) -> Option<Self> {
        let proper = |counts: &Vec<u32>| counts.contains(&1) && counts.iter().all(|&c| c <= 1);
        if !losses.is_zero_one() || !samples.iter().all(proper) {
            return None;
        }
        let rows = losses.values().len();
        let all = vec![1; rows];
        let samples: Vec<&Vec<u32>> = std::iter::once(&all).chain(samples).collect();
        let members = samples.chunks(SIDE_BY_SIDE).map(|samples| {
            let mut bits = vec![0; rows];
            for (sample, counts) in samples.iter().enumerate() {
                bits.iter_mut()
                    .zip(*counts)
                    .for_each(|(bits, &c)| *bits |= u8::from(c > 0) << sample);
            }
            (samples.len(), bits)
        });
        let wrong = losses.values().iter().map(|&loss| u8::from(loss == 1.0)).collect();
        Some(Areas { wrong, members: members.collect() })
    }

    /// The AURC of all rows and of each sample, in the order of a sort without ties: the same as that
    /// of their curves, to the last bit.
    pub(crate) fn of_order(&self, sorter: &Sorter) -> Vec<f64> {
        let mut areas = Vec::new();
        for (samples, members) in &self.members {
            match samples {
                1 => self.add::<1>(sorter, members, 1, &mut areas),
                2..=4 => self.add::<4>(sorter, members, *samples, &mut areas),
                5..=6 => self.add::<6>(sorter, members, *samples, &mut areas),
                _ => self.add::<SIDE_BY_SIDE>(sorter, members, *samples, &mut areas),
            }
        }
        areas
    }

    fn add<const LANES: usize>(
        &self,
        sorter: &Sorter,
        members: &[u8],
        samples: usize,
        areas: &mut Vec<f64>,
    ) {
        // What a row with these bits adds to the number of rows of each sample: looked up, because
        // numbers that are loaded side by side are added side by side.
        let mut counts = [[0.0; LANES]; 1 << SIDE_BY_SIDE];
        for (bits, counts) in counts.iter_mut().enumerate() {
            for (lane, count) in counts.iter_mut().enumerate() {
                *count = f64::from(u8::from(bits >> lane & 1 == 1));
            }
        }
        let (mut rows, mut errors, mut sums) = ([0.0; LANES], [0.0; LANES], [0.0_f64; LANES]);
        for row in sorter.rows() {
            let counts = &counts[usize::from(members[row])];
            let wrong = f64::from(self.wrong[row]);
            for lane in 0..LANES {
                let count = counts[lane];
                rows[lane] += count;
                errors[lane] += count * wrong;
                // Before its first row a sample has no risk, and 0 to add.
                let divisor: f64 = if rows[lane] > 1.0 { rows[lane] } else { 1.0 };
                sums[lane] += count * (errors[lane] / divisor);
            }
        }
        areas.extend(sums.iter().zip(rows).take(samples).map(|(sum, rows)| sum / rows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{RcCurve, SortedRows};
    use crate::metric::Metric;
    use crate::random::Random;

    #[test]
    fn areas_are_those_of_the_curves_to_the_last_bit() {
        let mut random = Random::new(11);
        let mut sorter = Sorter::default();
        for rows in [2, 50, 1000, 4001] {
            let confidences: Vec<f64> =
                random.permutation(rows).into_iter().map(|i| (i as f64).sqrt() - 7.0).collect();
            sorter.sort(&confidences);
            assert!(!sorter.has_ties());
            for errors in [0, rows / 7, rows] {
                let mut values = vec![0.0; rows];
                random.permutation(rows)[..errors].iter().for_each(|&row| values[row] = 1.0);
                let losses = Losses::new(values).expect("losses");
                for count in [0, 1, 3, 5, 7, 8, 20] {
                    let samples: Vec<Vec<u32>> = (0..count)
                        .map(|k| (0..rows).map(|i| u32::from((i + k) % (k + 2) != 0)).collect())
                        .collect();
                    if samples.iter().any(|counts| !counts.contains(&1)) {
                        assert!(Areas::new(&losses, &samples).is_none());
                        continue;
                    }
                    let areas = Areas::new(&losses, &samples).expect("proper samples");
                    let found = areas.of_order(&sorter);
                    let curve = RcCurve::new(&confidences, &losses).expect("a curve");
                    let mut wanted = vec![Metric::AURC.evaluate(&curve).expect("defined")];
                    let sorted = SortedRows::new(&confidences, &losses).expect("sorted");
                    for counts in &samples {
                        let curve = sorted.resampled(counts, RcCurve::memory());
                        wanted.push(Metric::AURC.evaluate(&curve).expect("defined"));
                    }
                    let bits =
                        |areas: &[f64]| areas.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&found), bits(&wanted), "{rows} {errors} {count}");
                }
            }
        }
    }

    #[test]
    fn other_losses_and_samples_are_left_to_curves() {
        let (graded, plain) = (vec![0.5, 1.0], vec![0.0, 1.0]);
        let losses = |values| Losses::new(values).expect("losses");
        assert!(Areas::new(&losses(graded), &[]).is_none());
        assert!(Areas::new(&losses(plain.clone()), &[vec![2, 0]]).is_none());
        assert!(Areas::new(&losses(plain.clone()), &[vec![0, 0]]).is_none());
        assert!(Areas::new(&losses(plain), &[vec![1, 0]]).is_some());
    }
}
