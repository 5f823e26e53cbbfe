//! Contrast.
//!
//! - **Definition**: the distance of each level from the mean of its channel is multiplied by a factor.
//! - **Parameter**: the factor.
//! - **Differs from ImageNet-C**: not at all.

use super::grid::cut;
use super::{Group, Info, Random};
use crate::images::Pixels;

pub(super) const INFO: Info =
    Info { name: "contrast", aliases: &[], group: Group::Digital, random: false };

const FACTORS: [f64; 5] = [0.4, 0.3, 0.2, 0.1, 0.05];

pub(super) fn apply(image: &Pixels, step: usize, _random: &mut Random) -> Pixels {
    let factor = FACTORS[step];
    let mut sums = [0_u64; 3];
    for pixel in image.rgb.chunks_exact(3) {
        for (sum, &level) in sums.iter_mut().zip(pixel) {
            *sum += u64::from(level);
        }
    }
    let pixels = (image.rgb.len() / 3) as f64;
    let means = sums.map(|sum| sum as f64 / pixels);
    let mut rgb = Vec::with_capacity(image.rgb.len());
    for pixel in image.rgb.chunks_exact(3) {
        rgb.extend(
            means
                .iter()
                .zip(pixel)
                .map(|(mean, &level)| cut((f64::from(level) - mean) * factor + mean)),
        );
    }
    Pixels { rgb, ..*image }
}
