//! Glass blur.
//!
//! - **Definition**: the image is blurred by a normal kernel and cut to whole levels; then, from the
//!   lower right to the upper left, each pixel is replaced by one of its neighbours at random, several
//!   times over; then it is blurred again. A frame of pixels at the edges is left as it is.
//! - **Parameters**: the deviation of the kernel in pixels, how far neighbours are, and how many times.
//!   A neighbour is up to so many pixels to the left or above, and one less to the right or below.
//! - **Differs from ImageNet-C**: in the random numbers alone. The paper says that pixels are shuffled;
//!   its program replaces them, because the exchange overwrites one pixel before it is read.

use super::grid::{Border, Grid};
use super::{Group, Info, Random};
use crate::images::Pixels;

pub(super) const INFO: Info =
    Info { name: "glass-blur", aliases: &["glass"], group: Group::Blur, random: true };

const PARAMETERS: [(f64, usize, usize); 5] =
    [(0.7, 1, 2), (0.9, 2, 1), (1.0, 2, 3), (1.1, 3, 2), (1.5, 4, 2)];

pub(super) fn apply(image: &Pixels, step: usize, random: &mut Random) -> Pixels {
    let (deviation, reach, times) = PARAMETERS[step];
    let blurred = |image: &Pixels| Grid::of(image).blurred(deviation, 4.0, Border::Nearest).cut();
    let mut shuffled = blurred(image);
    let last = |size: usize| size.saturating_sub(reach);
    for _ in 0..times {
        for y in (reach + 1..=last(image.height)).rev() {
            for x in (reach + 1..=last(image.width)).rev() {
                let column = x + random.below(2 * reach) - reach;
                let row = y + random.below(2 * reach) - reach;
                let from = 3 * (row * image.width + column);
                shuffled.rgb.copy_within(from..from + 3, 3 * (y * image.width + x));
            }
        }
    }
    blurred(&shuffled)
}
