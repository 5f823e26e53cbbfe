//! Randomness from an explicit seed: the same on every machine.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The numbers below `n` in the random order of a seed.
pub fn permutation(n: usize, seed: u64) -> Vec<usize> {
    Random::new(seed).permutation(n)
}

/// A source of random numbers.
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The source of one task of many: the same whichever thread runs it.
    pub(crate) fn of_task(seed: u64, task: usize) -> Self {
        Random::new(seed ^ (task as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A whole number below `n`, which is not 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        // The high half of a 128-bit product: uneven by less than n / 2^64.
        let high = (u128::from(self.0.next_u64()) * n as u128) >> 64;
        #[expect(clippy::cast_possible_truncation, reason = "it is below n")]
        let index = high as usize;
        index
    }

    /// A number from 0 on and below 1, in steps of 2^-53.
    pub(crate) fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The numbers below `n` in random order.
    pub(crate) fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}
