//! Shot noise.
//!
//! - **Definition**: each level of each channel becomes a Poisson count whose mean is proportional to
//!   it; counts above that of the largest level are clipped.
//! - **Parameter**: the mean count of the largest level.
//! - **Differs from ImageNet-C**: in the random numbers alone.

use super::grid::{cut, map_levels};
use super::{Group, Info, Random};
use crate::images::Pixels;
use abstain::internal::elementary::exp;

pub(super) const INFO: Info =
    Info { name: "shot-noise", aliases: &["shot"], group: Group::Noise, random: true };

const LARGEST_MEANS: [u32; 5] = [60, 25, 12, 5, 3];

pub(super) fn apply(image: &Pixels, step: usize, random: &mut Random) -> Pixels {
    let largest = LARGEST_MEANS[step];
    let levels: Vec<u8> =
        (0..=largest).map(|k| cut(255.0 * f64::from(k) / f64::from(largest))).collect();
    let tables: Vec<Vec<f64>> = (0..=255)
        .map(|level| cumulative(f64::from(level) / 255.0 * f64::from(largest), largest))
        .collect();
    map_levels(image, |level| {
        let share = random.share();
        let count = tables[usize::from(level)].partition_point(|&below| below <= share);
        levels[count]
    })
}

/// The chances that a Poisson count of mean `mean` is at most 0, 1, … and below `largest`.
fn cumulative(mean: f64, largest: u32) -> Vec<f64> {
    let mut chance = exp(-mean);
    let mut sum = 0.0;
    (1..=largest)
        .map(|k| {
            sum += chance;
            chance *= mean / f64::from(k);
            sum
        })
        .collect()
}
