//! Random clouds, for fog and for frost.

use super::Random;
use super::grid::single;

/// The side of a map for an image: the next power of two, within limits. The map is periodic, and is
/// repeated beyond them.
pub(super) fn side_for(width: usize, height: usize) -> usize {
    width.max(height).clamp(2, 4096).next_power_of_two()
}

/// A periodic map of heights from 0 to 1, by the diamond-square algorithm.
///
/// Each round fills the middles of the squares of known points, then the middles of their sides, with
/// the mean of four neighbours and a random number, whose size falls from round to round.
pub(super) fn height_map(side: usize, decay: f64, random: &mut Random) -> Vec<f32> {
    let mut map = vec![0.0_f64; side * side];
    let mut roughness = 100.0;
    let mut step = side;
    while step >= 2 {
        let half = step / 2;
        // Fills one point of each square. Places are relative to its upper left corner.
        let mut fill = |right: usize, down: usize, around: [(usize, usize); 4]| {
            for y in (0..side).step_by(step) {
                for x in (0..side).step_by(step) {
                    let at = |(i, j): (usize, usize)| (y + j) % side * side + (x + i) % side;
                    let mean = around.iter().map(|&place| map[at(place)]).sum::<f64>() / 4.0;
                    // The roughness counts twice, as in the program of the paper.
                    map[at((right, down))] =
                        mean + roughness * random.between(-roughness, roughness);
                }
            }
        };
        fill(half, half, [(0, 0), (step, 0), (0, step), (step, step)]);
        // `side − half` is half a step to the left or above: the map is periodic.
        fill(half, 0, [(0, 0), (step, 0), (half, half), (half, side - half)]);
        fill(0, half, [(0, 0), (0, step), (half, half), (side - half, half)]);
        step = half;
        roughness /= decay;
    }
    let (low, high) =
        map.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &height| {
            (low.min(height), high.max(height))
        });
    // They are equal with no chance worth mention; the map is then flat.
    let range = if high > low { high - low } else { 1.0 };
    map.iter().map(|height| single((height - low) / range)).collect()
}
