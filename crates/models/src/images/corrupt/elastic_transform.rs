//! Elastic transform.
//!
//! - **Definition**: a random affine map, by which three points of a square around the centre move; then
//!   each pixel is taken from a place nearby, given by two fields of smoothed uniform noise. Both
//!   interpolate linearly and reflect at the edges.
//! - **Parameters**: the size of the displacements, the deviation of their smoothing, and how far the
//!   three points move at most; all as shares of the shorter side, and 244/224 of it, because the
//!   program of the paper says 244 for 224.
//! - **Cost**: the smoothing of severity 1 is wider than the image: sums of `n` terms for `n × n` pixels.
//! - **Differs from ImageNet-C**: in the random numbers alone. An affine map that nearly folds the
//!   image, which happens below a dozen pixels, is left out.

use super::grid::{Border, Grid};
use super::{Group, Info, Random};
use crate::images::Pixels;

pub(super) const INFO: Info =
    Info { name: "elastic-transform", aliases: &["elastic"], group: Group::Digital, random: true };

const PARAMETERS: [(f64, f64, f64); 5] =
    [(2.0, 0.7, 0.1), (2.0, 0.08, 0.2), (0.05, 0.01, 0.02), (0.07, 0.01, 0.02), (0.12, 0.01, 0.02)];

pub(super) fn apply(image: &Pixels, step: usize, random: &mut Random) -> Pixels {
    let (width, height) = (image.width, image.height);
    let (size, smoothing, movement) = PARAMETERS[step];
    let side = width.min(height) as f64 * 244.0 / 224.0;
    let map = Affine::random(width, height, movement * side, random);
    let mut field = || {
        let noise = Grid::filled(width, height, || random.between(-1.0, 1.0));
        noise.blurred(smoothing * side, 3.0, Border::Mirror).values
    };
    let (right, down) = (field(), field());
    let reach = size * side;

    let grid = Grid::of(image);
    let places = || (0..height).flat_map(|y| (0..width).map(move |x| (x as f64, y as f64)));
    let mut values = Vec::with_capacity(grid.values.len());
    for (x, y) in places() {
        let (x, y) = map.source(x, y);
        grid.between(x, y, Border::MirrorInside, &mut values);
    }
    let moved = Grid { values, ..grid };
    let mut values = Vec::with_capacity(moved.values.len());
    for ((x, y), (right, down)) in places().zip(right.iter().zip(&down)) {
        let (x, y) = (x + reach * f64::from(*right), y + reach * f64::from(*down));
        moved.between(x, y, Border::Mirror, &mut values);
    }
    Grid { values, ..moved }.cut()
}

/// Where a pixel comes from: a matrix and a shift.
struct Affine {
    matrix: [[f64; 2]; 2],
    shift: [f64; 2],
}

impl Affine {
    /// The inverse of the map that moves three corners of a square by up to `movement` in each
    /// direction.
    fn random(width: usize, height: usize, movement: f64, random: &mut Random) -> Affine {
        let [x, y] = [(width / 2) as f64, (height / 2) as f64];
        let half = (width.min(height) / 3) as f64;
        let mut moved = |x: f64, y: f64| {
            [x + random.between(-movement, movement), y + random.between(-movement, movement)]
        };
        let lower_right = moved(x + half, y + half);
        let upper_right = moved(x + half, y - half);
        let upper_left = moved(x - half, y - half);
        // The columns of the map's matrix are the moved sides over the length of a side.
        let column = |to: [f64; 2], from: [f64; 2]| {
            [(to[0] - from[0]) / (2.0 * half), (to[1] - from[1]) / (2.0 * half)]
        };
        let (a, b) = (column(upper_right, upper_left), column(lower_right, upper_right));
        let determinant = a[0] * b[1] - a[1] * b[0];
        if !determinant.is_finite() || determinant < 0.1 {
            return Affine { matrix: [[1.0, 0.0], [0.0, 1.0]], shift: [0.0; 2] };
        }
        let matrix =
            [[b[1] / determinant, -b[0] / determinant], [-a[1] / determinant, a[0] / determinant]];
        let corner = [x - half, y - half];
        let shift =
            [0, 1].map(|i| corner[i] - matrix[i][0] * upper_left[0] - matrix[i][1] * upper_left[1]);
        Affine { matrix, shift }
    }

    fn source(&self, x: f64, y: f64) -> (f64, f64) {
        let at = |i: usize| self.matrix[i][0] * x + self.matrix[i][1] * y + self.shift[i];
        (at(0), at(1))
    }
}
