//! The sort behind every curve.
//!
//! A search sorts the same rows thousands of times, and a comparison of two confidences is a branch
//! that no processor can predict. So rows are dealt into buckets by a coarse, rising function of their
//! confidence first, without comparisons; the few that share a bucket are then compared in full. The
//! order is that of the confidences themselves, to the last bit.

/// Below this many rows a plain sort is as fast.
const FEW: usize = 300;

/// Up to this many rows are sorted here. More do not fit into the caches, where a sort in place by
/// several threads is as fast and needs half of the memory.
pub(super) const MANY: usize = 1 << 17;

/// Each pass deals by so many bits.
const DIGIT: u32 = 11;
const BUCKETS: usize = 0x7ff + 1;

/// Memory for sorts, which many of them share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sorter {
    /// The bucket of a row above 32 bits, and the row below.
    rows: Vec<u64>,
    dealt: Vec<u64>,
    counts: Vec<[u32; 2]>,
    ties: bool,
}

impl Sorter {
    /// Sorts rows by falling confidence, equal ones by their index. There are fewer than 2^32 of them,
    /// and none is NaN.
    pub(crate) fn sort(&mut self, confidences: &[f64]) {
        self.ties = false;
        self.rows.clear();
        let (least, most) = range(confidences);
        // Rising but for rounding, which keeps the order; the few bits are enough to part most rows.
        let buckets = ((1_u64 << (2 * DIGIT)) - 1) as f64;
        let scale = buckets / (most - least);
        if confidences.len() < FEW || !(scale.is_finite() && scale > 0.0) {
            // Infinities leave no scale, and equal confidences need none.
            self.rows.extend(0..confidences.len() as u64);
            self.settle(0, confidences.len(), confidences);
            return;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bucket")]
        let bucket = |c: f64| u64::from(((most - c) * scale) as i32 as u32);
        self.rows.extend(confidences.iter().zip(0_u64..).map(|(&c, row)| bucket(c) << 32 | row));
        self.deal();
        let mut first = 0;
        while first < self.rows.len() {
            let bucket = self.rows[first] >> 32;
            let shared = self.rows[first + 1..].iter().take_while(|&&row| row >> 32 == bucket);
            let end = first + 1 + shared.count();
            if end - first > 1 {
                self.settle(first, end, confidences);
            }
            first = end;
        }
    }

    /// Sorts by the bucket: by its lower digit, then by its upper one.
    fn deal(&mut self) {
        let digit = |row: u64, pass: u32| (row >> (32 + pass * DIGIT) & 0x7ff) as usize;
        self.counts.clear();
        self.counts.resize(BUCKETS, [0; 2]);
        for &row in &self.rows {
            self.counts[digit(row, 0)][0] += 1;
            self.counts[digit(row, 1)][1] += 1;
        }
        // Where the next row of each bucket goes.
        let mut next = [0; 2];
        for counts in &mut self.counts {
            for (count, next) in counts.iter_mut().zip(&mut next) {
                (*count, *next) = (*next, *next + *count);
            }
        }
        self.dealt.resize(self.rows.len(), 0);
        for pass in 0..2 {
            for &row in &self.rows {
                let place = &mut self.counts[digit(row, pass)][pass as usize];
                self.dealt[*place as usize] = row;
                *place += 1;
            }
            std::mem::swap(&mut self.rows, &mut self.dealt);
        }
    }

    /// Sorts rows of one bucket by their confidences.
    fn settle(&mut self, first: usize, end: usize, confidences: &[f64]) {
        let confidence = |row: u64| confidences[index(row)];
        let rows = &mut self.rows[first..end];
        rows.sort_unstable_by(|&a, &b| {
            // 0.0 and −0.0 are equal.
            (confidence(b) + 0.0).total_cmp(&(confidence(a) + 0.0)).then(a.cmp(&b))
        });
        self.ties |= rows.windows(2).any(|pair| confidence(pair[0]) == confidence(pair[1]));
    }

    /// The rows in the order of the last sort.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = usize> {
        self.rows.iter().map(|&row| index(row))
    }

    /// Whether any of its confidences were equal.
    pub(crate) fn has_ties(&self) -> bool {
        self.ties
    }
}

/// The least and the largest of some numbers, several at once: one after the other each would wait for
/// the last.
fn range(numbers: &[f64]) -> (f64, f64) {
    const LANES: usize = 16;
    let (mut least, mut most) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks.iter().map(|chunk| &chunk[..]).chain([rest]) {
        for ((least, most), &x) in least.iter_mut().zip(&mut most).zip(chunk) {
            *least = if x < *least { x } else { *least };
            *most = if x > *most { x } else { *most };
        }
    }
    (
        least.into_iter().fold(f64::INFINITY, f64::min),
        most.into_iter().fold(f64::NEG_INFINITY, f64::max),
    )
}

#[inline]
fn index(row: u64) -> usize {
    (row & 0xffff_ffff) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_not_numbers_do_not_panic() {
        let mut confidences: Vec<f64> = (0..2000).map(|i| f64::from(i * 7919 % 2003)).collect();
        confidences.iter_mut().step_by(20).for_each(|c| *c = f64::NAN);
        let mut sorter = Sorter::default();
        sorter.sort(&confidences);
        assert_eq!(sorter.rows().len(), 2000);
    }

    fn check(sorter: &mut Sorter, confidences: &[f64]) {
        let mut plain: Vec<usize> = (0..confidences.len()).collect();
        // Stable, so that equal ones stay in their order.
        plain.sort_by(|&a, &b| (confidences[b] + 0.0).total_cmp(&(confidences[a] + 0.0)));
        sorter.sort(confidences);
        assert_eq!(sorter.rows().collect::<Vec<_>>(), plain);
        let ties = plain.windows(2).any(|pair| confidences[pair[0]] == confidences[pair[1]]);
        assert_eq!(sorter.has_ties(), ties);
    }

    /// Every shape through one memory, so that nothing of one sort is left for the next.
    #[test]
    fn the_order_is_that_of_a_plain_sort() {
        let mut random = crate::random::Random::new(3);
        let mut sorter = Sorter::default();
        for rows in [1, 2, FEW - 1, FEW, 3000, 20_000] {
            let uniform: Vec<f64> =
                (0..rows).map(|_| random.below(1 << 40) as f64 / 2_f64.powi(40) - 0.4).collect();
            check(&mut sorter, &uniform);
            let shapes: [fn(f64) -> f64; 10] = [
                // Ties, few and many.
                |x| (x * 1e4).round(),
                |x| (x * 3.0).round(),
                |_| 0.25,
                // Zeros of both signs.
                |x| if x < 0.0 { -0.0 } else { (x * 2.0).round() },
                // Nearly all in one bucket.
                |x| if x > 0.59 { 1e9 } else { x },
                |x| 1.0 - (x * 40.0).exp() * 1e-16,
                // Beyond what a difference can hold, or next to nothing.
                |x| x * f64::MAX,
                |x| x * 1e-310,
                // Infinities.
                |x| if x > 0.5 { f64::INFINITY } else { x },
                |x| if x < 0.1 { f64::NEG_INFINITY } else { x * 7.0 },
            ];
            for shape in shapes {
                let confidences: Vec<f64> = uniform.iter().map(|&x| shape(x)).collect();
                check(&mut sorter, &confidences);
            }
        }
    }
}
