//! Motion blur.
//!
//! - **Definition**: a weighted mean along a line from each pixel, in a random direction of at most 45
//!   degrees from the horizontal. The weights fall from the pixel on as one side of a normal density.
//!   Beyond the edges the last pixel is repeated; levels are rounded.
//! - **Parameters**: the radius and the deviation in pixels. There are `2 radius + 1` pixels on a line.
//! - **Differs from ImageNet-C**: in the random numbers alone.

use super::grid::Grid;
use super::motion::moved;
use super::{Group, Info, Random};
use crate::images::Pixels;

pub(super) const INFO: Info =
    Info { name: "motion-blur", aliases: &["motion"], group: Group::Blur, random: true };

const PARAMETERS: [(u32, f64); 5] = [(10, 3.0), (15, 5.0), (15, 8.0), (15, 12.0), (20, 15.0)];

pub(super) fn apply(image: &Pixels, step: usize, random: &mut Random) -> Pixels {
    let (radius, deviation) = PARAMETERS[step];
    let degrees = random.between(-45.0, 45.0);
    let rgb = moved(&Grid::of(image), radius, deviation, degrees).rounded();
    Pixels { rgb, ..*image }
}
