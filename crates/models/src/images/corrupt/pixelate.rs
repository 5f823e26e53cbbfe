//! Pixelate.
//!
//! - **Definition**: the image is reduced by averages over boxes, first of columns and then of rows,
//!   each rounded, and enlarged again without interpolation. A pixel is in the box that has its centre.
//! - **Parameter**: the reduced size as a share of the size; it is cut to whole pixels, at least one.
//! - **Differs from ImageNet-C**: not at all.

use super::{Group, Info, Random};
use crate::images::Pixels;

pub(super) const INFO: Info =
    Info { name: "pixelate", aliases: &[], group: Group::Digital, random: false };

/// The shares as fractions: their products are exact.
const SHARES: [(usize, usize); 5] = [(3, 5), (1, 2), (2, 5), (3, 10), (1, 4)];

pub(super) fn apply(image: &Pixels, step: usize, _random: &mut Random) -> Pixels {
    let (part, whole) = SHARES[step];
    let reduced = |size: usize| (size.saturating_mul(part) / whole).max(1);
    let (columns, rows) =
        (boxes(image.width, reduced(image.width)), boxes(image.height, reduced(image.height)));
    let mut narrow = Vec::with_capacity(image.height * columns.len() * 3);
    for row in image.rgb.chunks_exact(3 * image.width) {
        for &(from, to) in &columns {
            narrow.extend(mean(to - from, |i, channel| row[3 * (from + i) + channel]));
        }
    }
    let stride = 3 * columns.len();
    let mut small = Vec::with_capacity(rows.len() * stride);
    for &(from, to) in &rows {
        for column in 0..columns.len() {
            small.extend(mean(to - from, |i, channel| {
                narrow[(from + i) * stride + 3 * column + channel]
            }));
        }
    }
    let mut rgb = Vec::with_capacity(image.rgb.len());
    for y in 0..image.height {
        let row = &small[nearest(y, image.height, rows.len()) * stride..];
        for x in 0..image.width {
            let at = 3 * nearest(x, image.width, columns.len());
            rgb.extend_from_slice(&row[at..at + 3]);
        }
    }
    Pixels { rgb, ..*image }
}

/// The pixels of each of `count` equal boxes, by their centres.
fn boxes(size: usize, count: usize) -> Vec<(usize, usize)> {
    // The first pixel whose centre is not before the edge `k size / count`.
    let edge = |k: usize| (2 * k * size + count) / (2 * count);
    (0..count).map(|k| (edge(k), edge(k + 1))).collect()
}

/// The pixel of `count` at the centre of pixel `at` of `size`.
fn nearest(at: usize, size: usize, count: usize) -> usize {
    (2 * at + 1) * count / (2 * size)
}

/// The mean of each channel over `count` pixels, rounded.
fn mean(count: usize, level: impl Fn(usize, usize) -> u8) -> [u8; 3] {
    [0, 1, 2].map(|channel| {
        let sum: usize = (0..count).map(|i| usize::from(level(i, channel))).sum();
        #[expect(clippy::cast_possible_truncation, reason = "a mean of levels is a level")]
        let mean = ((2 * sum + count) / (2 * count)) as u8;
        mean
    })
}
