//! Random numbers from a seed: the same on every machine.

use abstain::internal::elementary::ln;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The source of random numbers of one image.
pub(super) struct Random {
    bits: Xoshiro256PlusPlus,
    /// Normal numbers are made in pairs: the second of the last pair.
    spare: Option<f64>,
}

impl Random {
    /// The source of one image under one corruption.
    pub(super) fn of(seed: u64, corruption: &str, severity: u8, image_index: u64) -> Self {
        // By the name and not the position: a new corruption leaves the others as they are.
        let name = corruption.bytes().fold(0, |hash, byte| mixed(hash ^ u64::from(byte)));
        let parts = [name, u64::from(severity), image_index];
        let state = parts.into_iter().fold(mixed(seed), |state, part| mixed(state ^ part));
        Random { bits: Xoshiro256PlusPlus::seed_from_u64(state), spare: None }
    }

    /// A number from 0 on and below 1, in steps of 2^-53.
    pub(super) fn share(&mut self) -> f64 {
        (self.bits.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from `low` on and below `high`.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// A whole number below `n`, which is not 0.
    pub(super) fn below(&mut self, n: usize) -> usize {
        // The high half of a 128-bit product: uneven by less than n / 2^64.
        let high = (u128::from(self.bits.next_u64()) * n as u128) >> 64;
        #[expect(clippy::cast_possible_truncation, reason = "it is below n")]
        let index = high as usize;
        index
    }

    /// A normal number of mean 0 and variance 1, by Marsaglia's polar method: its logarithm and its
    /// root are exact enough to be the same everywhere, as sines of a library are not.
    pub(super) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (u, v) = (self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            let square = u * u + v * v;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * ln(square) / square).sqrt();
                self.spare = Some(v * scale);
                return u * scale;
            }
        }
    }
}

/// A number whose every bit depends on every bit of `x` (the finaliser of SplitMix64).
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
