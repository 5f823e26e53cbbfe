//! Movement along a line, for blur and for snow.

use super::grid::{Border, Grid, add_scaled, single, whole};
use abstain::internal::elementary::exp;
use std::f64::consts::PI;

/// Blurs along a line that starts at each pixel: a sum of the pixels on it, whose weights fall from the
/// first on as one side of a normal density. There are `2 radius + 1` pixels, one apart, each the
/// nearest to the line.
pub(super) fn moved(grid: &Grid, radius: u32, deviation: f64, degrees: f64) -> Grid {
    let weight = |i: u32| exp(-f64::from(i * i) / (2.0 * deviation * deviation));
    let sum: f64 = (0..=2 * radius).map(weight).sum();
    let (cosine, sine) = direction(degrees);
    // Halves are rounded down.
    let nearest = |x: f64| whole((x - 0.5).ceil());

    let (width, channels) = (grid.width, grid.channels);
    let margin = 2 * radius as usize;
    let padded: Vec<f32> = (0..grid.height)
        .flat_map(|y| (0..width + 2 * margin).map(move |x| (x, y)))
        .flat_map(|(x, y)| {
            let x = Border::Nearest.index(x.cast_signed() - margin.cast_signed(), width);
            grid.at(x, y)
        })
        .copied()
        .collect();
    let stride = (width + 2 * margin) * channels;

    let mut values = vec![0.0; grid.values.len()];
    for (y, out) in values.chunks_exact_mut(width * channels).enumerate() {
        for i in 0..=2 * radius {
            let (right, down) = (nearest(f64::from(i) * cosine), nearest(f64::from(i) * sine));
            let row = Border::Nearest.index(y.cast_signed() + down, grid.height);
            let start = margin.saturating_add_signed(right) * channels;
            let source = &padded[row * stride + start..][..width * channels];
            add_scaled(out, source, single(weight(i) / sum));
        }
    }
    Grid { values, ..*grid }
}

/// The cosine and the sine of an angle, by their series: those of a library differ between systems.
pub(super) fn direction(degrees: f64) -> (f64, f64) {
    let quarters = (degrees / 90.0).round();
    let x = (degrees - 90.0 * quarters) * (PI / 180.0);
    // To the term of x^17, below 2^-53 for an eighth of a turn.
    let term = |factor: f64, k: u32| 1.0 - factor * x * x / f64::from(k * (k + 1));
    let sine = x * (1..=8).rev().fold(1.0, |rest, i| term(rest, 2 * i));
    let cosine = (1..=8).rev().fold(1.0, |rest, i| term(rest, 2 * i - 1));
    match whole(quarters).rem_euclid(4) {
        0 => (cosine, sine),
        1 => (-sine, cosine),
        2 => (-cosine, -sine),
        _ => (sine, -cosine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_cosines_and_sines() {
        for degrees in -400..400 {
            let (cosine, sine) = direction(f64::from(degrees));
            let radians = f64::from(degrees).to_radians();
            assert!((cosine - radians.cos()).abs() < 1e-14, "{degrees}");
            assert!((sine - radians.sin()).abs() < 1e-14, "{degrees}");
        }
    }
}
