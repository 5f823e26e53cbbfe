//! Frost.
//!
//! - **Definition**: a weighted sum of the image and of a picture of frost.
//! - **Parameters**: the weights of the image and of the frost.
//! - **Differs from ImageNet-C**: in the frost. There it is a part, cut out at random, of one of five
//!   photographs of frozen windows, two of which are the same. Those are not ours to give away; here
//!   crystals are drawn at random on a random cloud. Colour, contrast, brightness and its correlation
//!   between pixels are those measured on the photographs; the shapes are not.

use super::clouds::{height_map, side_for};
use super::grid::{cut, single, whole};
use super::motion::direction;
use super::{Group, Info, Random};
use crate::images::Pixels;

pub(super) const INFO: Info =
    Info { name: "frost", aliases: &[], group: Group::Weather, random: true };

const WEIGHTS: [(f32, f32); 5] = [(1.0, 0.4), (0.8, 0.6), (0.7, 0.7), (0.65, 0.7), (0.6, 0.75)];

pub(super) fn apply(image: &Pixels, step: usize, random: &mut Random) -> Pixels {
    let (of_image, of_frost) = WEIGHTS[step];
    let kind = &KINDS[random.below(KINDS.len())];
    let frost = kind.picture(image.width, image.height, random);
    let mut rgb = Vec::with_capacity(image.rgb.len());
    for (pixel, &height) in image.rgb.chunks_exact(3).zip(&frost) {
        for ((&level, mean), deviation) in pixel.iter().zip(kind.means).zip(kind.deviations) {
            let frost = (mean + deviation * height).clamp(0.0, 255.0);
            rgb.push(cut(of_image * f32::from(level) + of_frost * frost));
        }
    }
    Pixels { rgb, ..*image }
}

/// One look of frozen windows.
struct Kind {
    /// Of red, green and blue, in levels.
    means: [f32; 3],
    deviations: [f32; 3],
    /// How much the mean of a part differs from that of the window, in deviations.
    drift: f64,
    /// Crystals for each 1,000 pixels.
    density: f64,
    /// The length of a crystal in pixels, on average.
    length: f64,
    /// The chance of a branch on either side, at each pixel of a crystal.
    branches: f64,
    /// The angle of branches in degrees, from and to.
    angles: (f64, f64),
    /// The share of crystals that are darker than what is around them.
    dark: f64,
    /// How much crystals count beside the cloud.
    crystals: f32,
}

/// A film of ice, blades, blades again, flakes, and ferns.
const KINDS: [&Kind; 5] = [&FILM, &BLADES, &BLADES, &FLAKES, &FERNS];

const FILM: Kind = Kind {
    means: [78.0, 148.0, 164.0],
    deviations: [24.0, 14.0, 13.0],
    drift: 0.55,
    density: 30.0,
    length: 9.0,
    branches: 0.1,
    angles: (20.0, 70.0),
    dark: 0.5,
    crystals: 0.8,
};

const BLADES: Kind = Kind {
    means: [198.0, 202.0, 211.0],
    deviations: [20.0, 20.0, 21.0],
    drift: 0.3,
    density: 10.0,
    length: 45.0,
    branches: 0.2,
    angles: (3.0, 14.0),
    dark: 0.6,
    crystals: 1.1,
};

const FLAKES: Kind = Kind {
    means: [145.0, 160.0, 173.0],
    deviations: [26.0, 26.0, 27.0],
    drift: 0.25,
    density: 60.0,
    length: 5.0,
    branches: 0.2,
    angles: (40.0, 80.0),
    dark: 0.4,
    crystals: 1.5,
};

const FERNS: Kind = Kind {
    means: [100.0, 112.0, 124.0],
    deviations: [36.0, 36.0, 35.0],
    drift: 0.3,
    density: 2.5,
    length: 40.0,
    branches: 0.4,
    angles: (35.0, 65.0),
    dark: 0.0,
    crystals: 1.4,
};

impl Kind {
    /// Brightness in deviations from the mean of the window.
    fn picture(&self, width: usize, height: usize, random: &mut Random) -> Vec<f32> {
        let drift = single(self.drift * random.normal());
        let side = side_for(width, height);
        let map = height_map(side, 1.8, random);
        let cloud: Vec<f32> = (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .map(|(x, y)| map[y % side * side + x % side])
            .collect();
        let mut crystals = Layer { width, height, values: vec![0.0; width * height] };
        self.grow(&mut crystals, random);
        // Crystals that lie on each other are not brighter without end.
        let ice: Vec<f32> = crystals.values.iter().map(|ice| ice / (1.0 + ice.abs())).collect();
        let (ice, cloud) = (standardised(&ice), standardised(&cloud));
        let sum: Vec<f32> =
            ice.iter().zip(&cloud).map(|(ice, cloud)| self.crystals * ice + cloud).collect();
        standardised(&sum).iter().map(|value| value + drift).collect()
    }

    /// Draws crystals: stems with branches on both sides.
    fn grow(&self, layer: &mut Layer, random: &mut Random) {
        // Crystals may begin beyond the edges and reach into the image.
        let margin = self.length;
        let (width, height) =
            (layer.width as f64 + 2.0 * margin, layer.height as f64 + 2.0 * margin);
        let count = whole((self.density * width * height / 1000.0).ceil());
        for _ in 0..count {
            let x = random.between(-margin, layer.width as f64 + margin);
            let y = random.between(-margin, layer.height as f64 + margin);
            let length = self.length * random.between(0.4, 1.6);
            let degrees = random.between(0.0, 360.0);
            let angle = random.between(self.angles.0, self.angles.1);
            let sign = if random.share() < self.dark { -1.0 } else { 1.0 };
            let light = sign * random.between(0.4, 1.0);
            let stem = Stroke { x, y, degrees, length, light };
            layer.draw(&stem);
            for i in 1..whole(length) {
                let along = i as f64;
                for side in [-1.0, 1.0] {
                    if random.share() < self.branches {
                        let (x, y) = stem.at(along);
                        let length = 0.5 * (length - along) * random.between(0.5, 1.0);
                        let degrees = degrees + side * angle;
                        layer.draw(&Stroke { x, y, degrees, length, light: 0.7 * light });
                    }
                }
            }
        }
    }
}

/// The same with mean 0 and variance 1, or 0 where all are equal.
fn standardised(values: &[f32]) -> Vec<f32> {
    let count = values.len() as f64;
    let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
    let square = |value: &f32| (f64::from(*value) - mean) * (f64::from(*value) - mean);
    let variance = values.iter().map(square).sum::<f64>() / count;
    let scale = if variance > 1e-12 { 1.0 / variance.sqrt() } else { 0.0 };
    values.iter().map(|&value| single((f64::from(value) - mean) * scale)).collect()
}

/// A straight line of light that fades towards its end.
struct Stroke {
    x: f64,
    y: f64,
    degrees: f64,
    length: f64,
    light: f64,
}

impl Stroke {
    /// The point that is so far along.
    fn at(&self, along: f64) -> (f64, f64) {
        let (cosine, sine) = direction(self.degrees);
        (self.x + along * cosine, self.y + along * sine)
    }
}

struct Layer {
    width: usize,
    height: usize,
    values: Vec<f32>,
}

impl Layer {
    fn draw(&mut self, stroke: &Stroke) {
        let (cosine, sine) = direction(stroke.degrees);
        let fade = stroke.light / stroke.length.max(1.0);
        let (mut x, mut y, mut light) = (stroke.x, stroke.y, stroke.light);
        for _ in 0..=whole(stroke.length) {
            self.add(x, y, light);
            x += cosine;
            y += sine;
            light -= 0.7 * fade;
        }
    }

    /// Shares light among the four pixels around a point.
    fn add(&mut self, x: f64, y: f64, light: f64) {
        let (left, top) = (x.floor(), y.floor());
        let (right_share, bottom_share) = (x - left, y - top);
        let columns = [(whole(left), 1.0 - right_share), (whole(left) + 1, right_share)];
        let rows = [(whole(top), 1.0 - bottom_share), (whole(top) + 1, bottom_share)];
        for (row, vertical) in rows {
            for (column, horizontal) in columns {
                let place = usize::try_from(column).ok().zip(usize::try_from(row).ok());
                if let Some((column, row)) =
                    place.filter(|&(x, y)| x < self.width && y < self.height)
                {
                    self.values[row * self.width + column] += single(light * horizontal * vertical);
                }
            }
        }
    }
}
