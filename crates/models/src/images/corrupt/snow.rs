//! Snow.
//!
//! - **Definition**: normal noise is enlarged, what is below a threshold is removed, and the rest is
//!   blurred along a line that is at most 45 degrees from the vertical. This layer and the same turned
//!   by half are added to the image, which is first made paler: mixed with its lighter grey.
//! - **Parameters**: mean and deviation of the noise, factor of the enlargement, threshold, radius and
//!   deviation of the blur in pixels, and the share of the image in the mixture.
//! - **Differs from ImageNet-C**: in the random numbers alone.

use super::grid::{Grid, cut, single};
use super::motion::moved;
use super::{Group, Info, Random};
use crate::images::Pixels;

pub(super) const INFO: Info =
    Info { name: "snow", aliases: &[], group: Group::Weather, random: true };

struct Parameters {
    mean: f64,
    deviation: f64,
    enlargement: f64,
    threshold: f32,
    radius: u32,
    blur: f64,
    share: f64,
}

const PARAMETERS: [Parameters; 5] = [
    parameters(0.1, 3.0, 0.5, 10, 4.0, 0.8),
    parameters(0.2, 2.0, 0.5, 12, 4.0, 0.7),
    parameters(0.55, 4.0, 0.9, 12, 8.0, 0.7),
    parameters(0.55, 4.5, 0.85, 12, 8.0, 0.65),
    parameters(0.55, 2.5, 0.85, 12, 12.0, 0.55),
];

const fn parameters(
    mean: f64,
    enlargement: f64,
    threshold: f32,
    radius: u32,
    blur: f64,
    share: f64,
) -> Parameters {
    Parameters { mean, deviation: 0.3, enlargement, threshold, radius, blur, share }
}

pub(super) fn apply(image: &Pixels, step: usize, random: &mut Random) -> Pixels {
    let p = &PARAMETERS[step];
    let noise = || p.mean + p.deviation * random.normal();
    let mut layer = Grid::filled(image.width, image.height, noise).enlarged(p.enlargement);
    for value in &mut layer.values {
        let flake = if *value < p.threshold { 0.0 } else { value.min(1.0) };
        *value = f32::from(cut(255.0 * flake));
    }
    let degrees = random.between(-135.0, -45.0);
    let layer = moved(&layer, p.radius, p.blur, degrees).rounded();

    let (share, rest) = (single(p.share), single(1.0 - p.share));
    let turned = layer.iter().rev();
    let mut rgb = Vec::with_capacity(image.rgb.len());
    for ((pixel, flake), turned) in image.rgb.chunks_exact(3).zip(&layer).zip(turned) {
        let levels = [f32::from(pixel[0]), f32::from(pixel[1]), f32::from(pixel[2])];
        let grey = 0.299 * levels[0] + 0.587 * levels[1] + 0.114 * levels[2];
        let lighter = 1.5 * grey + 127.5;
        let snow = f32::from(*flake) + f32::from(*turned);
        rgb.extend(levels.map(|level| cut(share * level + rest * level.max(lighter) + snow)));
    }
    Pixels { rgb, ..*image }
}
