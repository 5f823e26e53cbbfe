//! Brightness.
//!
//! - **Definition**: an amount is added to the value of each pixel in HSV, up to the largest value. Hue
//!   and saturation stay, so the three levels grow in proportion; black becomes grey.
//! - **Parameter**: the amount, as a share of the largest level.
//! - **Differs from ImageNet-C**: not at all.

use super::grid::cut;
use super::{Group, Info, Random};
use crate::images::Pixels;

pub(super) const INFO: Info =
    Info { name: "brightness", aliases: &[], group: Group::Weather, random: false };

const AMOUNTS: [f64; 5] = [0.1, 0.2, 0.3, 0.4, 0.5];

pub(super) fn apply(image: &Pixels, step: usize, _random: &mut Random) -> Pixels {
    let amount = 255.0 * AMOUNTS[step];
    let mut rgb = Vec::with_capacity(image.rgb.len());
    for pixel in image.rgb.chunks_exact(3) {
        let levels = [f64::from(pixel[0]), f64::from(pixel[1]), f64::from(pixel[2])];
        let value = levels[0].max(levels[1]).max(levels[2]);
        let raised = (value + amount).min(255.0);
        rgb.extend(
            levels.map(|level| cut(if value == 0.0 { raised } else { level * raised / value })),
        );
    }
    Pixels { rgb, ..*image }
}
