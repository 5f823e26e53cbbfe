//! Gaussian noise.
//!
//! - **Definition**: a normal number of mean 0 is added to each level of each channel.
//! - **Parameter**: its standard deviation, as a share of the largest level.
//! - **Differs from ImageNet-C**: in the random numbers alone.

use super::grid::{cut, map_levels};
use super::{Group, Info, Random};
use crate::images::Pixels;

pub(super) const INFO: Info =
    Info { name: "gaussian-noise", aliases: &["gaussian"], group: Group::Noise, random: true };

const DEVIATIONS: [f64; 5] = [0.08, 0.12, 0.18, 0.26, 0.38];

pub(super) fn apply(image: &Pixels, step: usize, random: &mut Random) -> Pixels {
    let deviation = 255.0 * DEVIATIONS[step];
    map_levels(image, |level| cut(f64::from(level) + deviation * random.normal()))
}
