//! JPEG compression.
//!
//! - **Definition**: what the image loses when it is written as a baseline JPEG and read again: colours
//!   as luma and chroma, chroma at half the resolution, blocks of 8 × 8 in the frequency domain, and
//!   frequencies rounded to multiples of the tables of the standard (ITU T.81, annex K), which the
//!   quality scales as the Independent JPEG Group does. Chroma is enlarged with weights 3/4 and 1/4.
//! - **Parameter**: the quality.
//! - **Differs from ImageNet-C**: by rounding errors of the transform, which are whole numbers there.
//!
//! No file is written: the lossless steps change nothing. The encoder of the crate `image` keeps chroma
//! at full resolution, unlike the program of the paper.

use super::grid::single;
use super::{Group, Info, Random};
use crate::images::Pixels;

pub(super) const INFO: Info =
    Info { name: "jpeg-compression", aliases: &["jpeg"], group: Group::Digital, random: false };

const QUALITIES: [u32; 5] = [25, 18, 15, 10, 7];

/// Steps of luma at quality 50, by row.
const LUMA: [u32; 64] = [
    16, 11, 10, 16, 24, 40, 51, 61, //
    12, 12, 14, 19, 26, 58, 60, 55, //
    14, 13, 16, 24, 40, 57, 69, 56, //
    14, 17, 22, 29, 51, 87, 80, 62, //
    18, 22, 37, 56, 68, 109, 103, 77, //
    24, 35, 55, 64, 81, 104, 113, 92, //
    49, 64, 78, 87, 103, 121, 120, 101, //
    72, 92, 95, 98, 112, 100, 103, 99,
];

/// Steps of chroma at quality 50, by row.
const CHROMA: [u32; 64] = [
    17, 18, 24, 47, 99, 99, 99, 99, //
    18, 21, 26, 66, 99, 99, 99, 99, //
    24, 26, 56, 99, 99, 99, 99, 99, //
    47, 66, 99, 99, 99, 99, 99, 99, //
    99, 99, 99, 99, 99, 99, 99, 99, //
    99, 99, 99, 99, 99, 99, 99, 99, //
    99, 99, 99, 99, 99, 99, 99, 99, //
    99, 99, 99, 99, 99, 99, 99, 99,
];

pub(super) fn apply(image: &Pixels, step: usize, _random: &mut Random) -> Pixels {
    let quality = QUALITIES[step];
    let [luma, blue, red] = channels(image);
    let luma = compressed(&luma, &steps(&LUMA, quality));
    let chroma = |channel: &Channel| {
        let halved = compressed(&channel.halved(), &steps(&CHROMA, quality));
        halved.narrowed(image.width.div_ceil(2)).doubled(image.width, image.height)
    };
    let (blue, red) = (chroma(&blue), chroma(&red));
    let mut rgb = Vec::with_capacity(image.rgb.len());
    for ((&luma, &blue), &red) in luma.levels.iter().zip(&blue.levels).zip(&red.levels) {
        rgb.extend(colours(luma, blue, red));
    }
    Pixels { rgb, ..*image }
}

/// The steps at a quality below 50.
fn steps(table: &[u32; 64], quality: u32) -> [f32; 64] {
    table.map(|step| ((step * (5000 / quality) + 50) / 100).clamp(1, 255) as f32)
}

/// One component of a colour at every pixel.
struct Channel {
    width: usize,
    height: usize,
    levels: Vec<i32>,
}

/// Luma, and chroma of blue and of red, in steps of 2^-16, rounded.
fn channels(image: &Pixels) -> [Channel; 3] {
    const HALF: i32 = 1 << 15;
    const MIDDLE: i32 = 128 << 16;
    // A half of chroma is rounded down, so that the largest stays below 256.
    let parts: [([i32; 3], i32); 3] = [
        ([19595, 38470, 7471], HALF),
        ([-11059, -21709, 32768], MIDDLE + HALF - 1),
        ([32768, -27439, -5329], MIDDLE + HALF - 1),
    ];
    parts.map(|(weights, offset)| {
        let level = |pixel: &[u8]| {
            let sum: i32 = weights.iter().zip(pixel).map(|(w, &level)| w * i32::from(level)).sum();
            (sum + offset) >> 16
        };
        let levels = image.rgb.chunks_exact(3).map(level).collect();
        Channel { width: image.width, height: image.height, levels }
    })
}

/// Red, green and blue.
fn colours(luma: i32, blue: i32, red: i32) -> [u8; 3] {
    let (blue, red) = (blue - 128, red - 128);
    let rounded = |sum: i32| (sum + (1 << 15)) >> 16;
    [
        luma + rounded(91881 * red),
        luma + rounded(-22554 * blue - 46802 * red),
        luma + rounded(116130 * blue),
    ]
    .map(|level| u8::try_from(level.clamp(0, 255)).unwrap_or(255))
}

impl Channel {
    fn at(&self, x: usize, y: usize) -> i32 {
        self.levels[y.min(self.height - 1) * self.width + x.min(self.width - 1)]
    }

    /// Means of 2 × 2 pixels; halves are rounded down and up in turn. It is as wide as its blocks: the
    /// last column is repeated before means are taken.
    fn halved(&self) -> Channel {
        let width = self.width.div_ceil(16) * 8;
        let height = self.height.div_ceil(2);
        let levels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| {
            let (x2, y2) = (2 * x, 2 * y);
            let sum = self.at(x2, y2)
                + self.at(x2 + 1, y2)
                + self.at(x2, y2 + 1)
                + self.at(x2 + 1, y2 + 1);
            let offset = if x % 2 == 0 { 1 } else { 2 };
            (sum + offset) >> 2
        });
        Channel { width, height, levels: levels.collect() }
    }

    /// Its first columns.
    fn narrowed(&self, width: usize) -> Channel {
        let rows = self.levels.chunks_exact(self.width);
        let levels = rows.flat_map(|row| &row[..width]).copied().collect();
        Channel { width, height: self.height, levels }
    }

    /// Enlarged to a size: three parts of the nearest pixel and one of the next, in both directions.
    /// Up to two columns are only repeated.
    fn doubled(&self, width: usize, height: usize) -> Channel {
        let mut levels = Vec::with_capacity(width * height);
        for y in 0..height {
            let near = y / 2;
            let far = if y % 2 == 0 { near.saturating_sub(1) } else { near + 1 };
            let sum = |x: usize| 3 * self.at(x, near) + self.at(x, far);
            levels.extend((0..width).map(|x| {
                let middle = x / 2;
                if self.width <= 2 {
                    self.at(middle, near)
                } else if x % 2 == 0 {
                    (3 * sum(middle) + sum(middle.saturating_sub(1)) + 8) >> 4
                } else {
                    (3 * sum(middle) + sum(middle + 1) + 7) >> 4
                }
            }));
        }
        Channel { width, height, levels }
    }
}

/// The channel after its blocks were rounded to steps in the frequency domain.
fn compressed(channel: &Channel, steps: &[f32; 64]) -> Channel {
    let cosines = cosines();
    let mut levels = vec![0; channel.levels.len()];
    for top in (0..channel.height).step_by(8) {
        for left in (0..channel.width).step_by(8) {
            let mut block = [[0.0; 8]; 8];
            for (y, row) in block.iter_mut().enumerate() {
                for (x, value) in row.iter_mut().enumerate() {
                    *value = (channel.at(left + x, top + y) - 128) as f32;
                }
            }
            let mut frequencies = product(&product(&cosines, &block), &transposed(&cosines));
            for (frequency, step) in frequencies.as_flattened_mut().iter_mut().zip(steps) {
                *frequency = nearest_multiple(*frequency, *step);
            }
            let block = product(&product(&transposed(&cosines), &frequencies), &cosines);
            for (y, row) in block.iter().enumerate().take(channel.height - top) {
                for (x, value) in row.iter().enumerate().take(channel.width - left) {
                    #[expect(clippy::cast_possible_truncation, reason = "a level and some error")]
                    let level = (value + 128.0).round() as i32;
                    levels[(top + y) * channel.width + left + x] = level.clamp(0, 255);
                }
            }
        }
    }
    Channel { levels, ..*channel }
}

/// The nearest multiple of a step; of two, the one further from 0. Frequencies are rounded to eighths
/// first, the precision of the usual transform in whole numbers: a few of them are then halfway.
fn nearest_multiple(frequency: f32, step: f32) -> f32 {
    let eighths = (8.0 * frequency.abs() + 0.5).floor();
    let steps = (eighths / (8.0 * step) + 0.5).floor();
    (steps * step).copysign(frequency)
}

type Block = [[f32; 8]; 8];

/// The matrix of the cosine transform, of which the transpose is the inverse.
fn cosines() -> Block {
    let mut matrix = [[0.0; 8]; 8];
    for (k, row) in (0_u32..).zip(matrix.iter_mut()) {
        for (i, value) in (0_u32..).zip(row.iter_mut()) {
            let scale = if k == 0 { 0.125_f64.sqrt() } else { 0.5 };
            let (cosine, _) = super::motion::direction(11.25 * f64::from(k * (2 * i + 1)));
            *value = single(scale * cosine);
        }
    }
    matrix
}

fn transposed(block: &Block) -> Block {
    let mut out = [[0.0; 8]; 8];
    for (y, row) in block.iter().enumerate() {
        for (x, &value) in row.iter().enumerate() {
            out[x][y] = value;
        }
    }
    out
}

fn product(one: &Block, other: &Block) -> Block {
    let mut out = [[0.0; 8]; 8];
    for (out, row) in out.iter_mut().zip(one) {
        for (&weight, other) in row.iter().zip(other) {
            for (out, value) in out.iter_mut().zip(other) {
                *out += weight * value;
            }
        }
    }
    out
}
