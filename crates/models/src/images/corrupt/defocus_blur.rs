//! Defocus blur.
//!
//! - **Definition**: a mean over a disk, whose edge is smoothed by a small normal kernel of 3 × 3
//!   pixels, or 5 × 5 for the largest disk. Both continue beyond their edges by reflection without the
//!   last pixel.
//! - **Parameters**: the radius of the disk, and the deviation of the smoothing, in pixels.
//! - **Differs from ImageNet-C**: not at all.

use super::grid::{Border, Grid, single};
use super::{Group, Info, Random};
use crate::images::Pixels;
use abstain::internal::elementary::exp;

pub(super) const INFO: Info =
    Info { name: "defocus-blur", aliases: &["defocus"], group: Group::Blur, random: false };

const DISKS: [(i32, f64); 5] = [(3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)];

pub(super) fn apply(image: &Pixels, step: usize, _random: &mut Random) -> Pixels {
    let (radius, deviation) = DISKS[step];
    let kernel = disk(radius, deviation);
    let reach = kernel.len() / 2;
    let grid = Grid::of(image);
    let index =
        |at: usize, size| Border::MirrorInside.index(at.cast_signed() - reach.cast_signed(), size);
    let columns: Vec<usize> = (0..grid.width + 2 * reach).map(|x| index(x, grid.width)).collect();
    let stride = 3 * columns.len();
    let padded: Vec<f32> = (0..grid.height)
        .flat_map(|y| columns.iter().map(move |&x| (x, y)))
        .flat_map(|(x, y)| grid.at(x, y))
        .copied()
        .collect();

    let mut values = vec![0.0; grid.values.len()];
    let mut sums = vec![0.0; stride];
    for (y, out) in values.chunks_exact_mut(3 * grid.width).enumerate() {
        let row = |k: usize| &padded[index(y + k, grid.height) * stride..][..stride];
        // The disk is the same upside down, and from right to left: rows and columns in pairs.
        for (k, weights) in kernel[..=reach].iter().enumerate() {
            let (above, below) = (row(k), row(2 * reach - k));
            let share = if k == reach { 0.5 } else { 1.0 };
            for ((sum, above), below) in sums.iter_mut().zip(above).zip(below) {
                *sum = share * (above + below);
            }
            for (i, &weight) in weights[..reach].iter().enumerate().filter(|(_, w)| **w != 0.0) {
                let (left, right) = (&sums[3 * i..], &sums[3 * (2 * reach - i)..]);
                for ((out, left), right) in out.iter_mut().zip(left).zip(right) {
                    *out += weight * (left + right);
                }
            }
            for (out, sum) in out.iter_mut().zip(&sums[3 * reach..]) {
                *out += weights[reach] * sum;
            }
        }
    }
    Grid { values, ..grid }.cut()
}

/// The weights of a disk with a smooth edge.
fn disk(radius: i32, deviation: f64) -> Vec<Vec<f32>> {
    let (reach, taps) = if radius <= 8 { (8, 1) } else { (radius, 2) };
    let inside = |x: i32, y: i32| f64::from(u8::from(x * x + y * y <= radius * radius));
    let sum: f64 = (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| inside(x, y))).sum();
    let smoothing: Vec<f64> =
        (-taps..=taps).map(|k| exp(-f64::from(k * k) / (2.0 * deviation * deviation))).collect();
    let total: f64 = smoothing.iter().sum();
    // The array of the disk ends at `reach` and is continued by reflection there.
    let reflected = |at: i32| if at.abs() > reach { at.signum() * 2 * reach - at } else { at };
    let weight = |x: i32, y: i32| {
        let around = (-taps..=taps).flat_map(|j| (-taps..=taps).map(move |i| (i, j)));
        let smooth = |k: i32| smoothing[(k + taps).unsigned_abs() as usize] / total;
        let sums =
            around.map(|(i, j)| smooth(i) * smooth(j) * inside(reflected(x + i), reflected(y + j)));
        // Those of the narrowest kernel are too small to count, and slow to multiply by.
        Some(sums.sum::<f64>() / sum).filter(|weight| *weight > 1e-12).map_or(0.0, single)
    };
    (-reach..=reach).map(|y| (-reach..=reach).map(|x| weight(x, y)).collect()).collect()
}
