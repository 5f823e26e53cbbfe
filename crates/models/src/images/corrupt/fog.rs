//! Fog.
//!
//! - **Definition**: a random height map from 0 to 1, by the diamond-square algorithm, is multiplied by
//!   an amount and added to all channels; the sum is scaled so that the largest level of the image
//!   would stay under the thickest fog.
//! - **Parameters**: the amount, as a multiple of the largest level, and the decay of the roughness of
//!   the map from each scale to the next.
//! - **Size**: the map is a square whose side is the next power of two: 256 for 224 pixels, at most
//!   4,096. It is periodic, and repeated in larger images.
//! - **Differs from ImageNet-C**: in the random numbers alone.

use super::clouds::{height_map, side_for};
use super::grid::{cut, single};
use super::{Group, Info, Random};
use crate::images::Pixels;

pub(super) const INFO: Info =
    Info { name: "fog", aliases: &[], group: Group::Weather, random: true };

const PARAMETERS: [(f64, f64); 5] = [(1.5, 2.0), (2.0, 2.0), (2.5, 1.7), (2.5, 1.5), (3.0, 1.4)];

pub(super) fn apply(image: &Pixels, step: usize, random: &mut Random) -> Pixels {
    let (amount, decay) = PARAMETERS[step];
    let side = side_for(image.width, image.height);
    let map = height_map(side, decay, random);
    let largest = f64::from(image.rgb.iter().copied().max().unwrap_or(0)) / 255.0;
    let scale = single(largest / (largest + amount));
    let amount = single(255.0 * amount);
    let mut rgb = Vec::with_capacity(image.rgb.len());
    for (y, row) in image.rgb.chunks_exact(3 * image.width).enumerate() {
        let heights = &map[y % side * side..][..side];
        for (pixel, height) in row.chunks_exact(3).zip(heights.iter().cycle()) {
            rgb.extend(
                pixel.iter().map(|&level| cut((f32::from(level) + amount * height) * scale)),
            );
        }
    }
    Pixels { rgb, ..*image }
}
