//! Rows of a tie in random order.

use crate::random::Random;

/// The errors among the surest rows, with the rows of each tie in random order.
///
/// A threshold lies between ties, but a test may fall inside one. The order is drawn from a generator
/// that starts from the counts themselves: the same rows have the same order, at every target.
pub(super) struct Order<'a> {
    knots: &'a [(usize, usize)],
    seed: u64,
    /// The tie that is looked at, and how many rows and errors have come so far.
    tie: usize,
    rows: usize,
    errors: usize,
    random: Random,
}

impl<'a> Order<'a> {
    /// The order of rows, given how many each threshold accepts and the errors among them.
    pub(super) fn new(knots: &'a [(usize, usize)]) -> Self {
        let mix = |seed: u64, &(accepted, errors): &(usize, usize)| {
            let counts = (accepted as u64) ^ (errors as u64).rotate_left(32);
            (seed ^ counts).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        };
        let seed = knots.iter().fold(0, mix);
        Order { knots, seed, tie: 0, rows: 0, errors: 0, random: Random::of_task(seed, 0) }
    }

    /// The errors among the first `count` rows, which are no fewer than in the call before.
    pub(super) fn errors(&mut self, count: usize) -> usize {
        while self.rows < count
            && let Some(&(accepted, errors)) = self.knots.get(self.tie)
        {
            if count >= accepted {
                (self.rows, self.errors) = (accepted, errors);
                self.tie += 1;
                self.random = Random::of_task(self.seed, self.tie);
                continue;
            }
            let wrong = self.random.below(accepted - self.rows) < errors - self.errors;
            self.rows += 1;
            self.errors += usize::from(wrong);
        }
        self.errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between the ends of a tie each order is as likely as any other, and at the ends there is no choice.
    #[test]
    fn errors_are_anywhere_in_their_tie() {
        let mut sum = 0;
        for other in 0..400 {
            let knots = [(10, 2), (40, 12), (50 + other, 12)];
            let mut order = Order::new(&knots);
            assert_eq!((order.errors(10), order.errors(10)), (2, 2));
            let inside = order.errors(25);
            assert!((2..=12).contains(&inside));
            assert_eq!((order.errors(40), order.errors(45)), (12, 12));
            // The same whatever else was looked at.
            assert_eq!(Order::new(&knots).errors(25), inside);
            sum += inside - 2;
        }
        // Ten errors in thirty rows, half of them in the first half: a mean of 5 with a deviation of 1.3.
        assert!((1900..=2100).contains(&sum), "{sum}");
    }
}
