//! Zoom blur.
//!
//! - **Definition**: the mean of the image and of enlargements of its middle by several factors, from 1
//!   on in equal steps. They are enlarged by linear interpolation.
//! - **Parameters**: the number of factors, and their step.
//! - **Differs from ImageNet-C**: not at all.

use super::grid::{Grid, add_scaled};
use super::{Group, Info, Random};
use crate::images::Pixels;

pub(super) const INFO: Info =
    Info { name: "zoom-blur", aliases: &["zoom"], group: Group::Blur, random: false };

/// The paper says 1 to 1.11, 1.16, 1.21, 1.26 and 1.31. Its program computes these in floating point,
/// where the end of the first range is included and the others are not.
const FACTORS: [(u32, f64); 5] = [(12, 0.01), (16, 0.01), (11, 0.02), (13, 0.02), (11, 0.03)];

pub(super) fn apply(image: &Pixels, step: usize, _random: &mut Random) -> Pixels {
    let (count, step) = FACTORS[step];
    let grid = Grid::of(image);
    let mut mean = grid.clone();
    for i in 0..count {
        let enlarged = grid.enlarged(1.0 + step * f64::from(i));
        add_scaled(&mut mean.values, &enlarged.values, 1.0);
    }
    for value in &mut mean.values {
        *value /= (count + 1) as f32;
    }
    mean.cut()
}
