//! Impulse noise, also called salt and pepper.
//!
//! - **Definition**: a share of the levels, in each channel apart, becomes 0 or 255, each as often.
//! - **Parameter**: the share.
//! - **Differs from ImageNet-C**: in the random numbers alone.

use super::grid::map_levels;
use super::{Group, Info, Random};
use crate::images::Pixels;

pub(super) const INFO: Info =
    Info { name: "impulse-noise", aliases: &["impulse"], group: Group::Noise, random: true };

const SHARES: [f64; 5] = [0.03, 0.06, 0.09, 0.17, 0.27];

pub(super) fn apply(image: &Pixels, step: usize, random: &mut Random) -> Pixels {
    let replaced = SHARES[step];
    map_levels(image, |level| {
        let share = random.share();
        if share >= replaced {
            level
        } else if share < replaced / 2.0 {
            255
        } else {
            0
        }
    })
}
