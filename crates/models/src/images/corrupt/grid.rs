//! Levels and grids of numbers: what several corruptions need.

use crate::images::Pixels;
use abstain::internal::elementary::exp;

/// A level as a whole number. It is cut and not rounded, as in ImageNet-C; a small part is added first,
/// so that a sum that should be a whole number stays one whatever its rounding errors.
pub(super) fn cut(level: impl Into<f64>) -> u8 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast to u8 stops at 0 and 255"
    )]
    let whole = (level.into() + 1.0 / 1024.0) as u8;
    whole
}

/// A number in single precision.
pub(super) fn single(x: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "precision is given up on purpose")]
    let single = x as f32;
    single
}

/// A whole number as such.
pub(super) fn whole(x: f64) -> isize {
    #[expect(clippy::cast_possible_truncation, reason = "positions in an image are far below 2^52")]
    let whole = x as isize;
    whole
}

/// The image with every level replaced.
pub(super) fn map_levels(image: &Pixels, mut new: impl FnMut(u8) -> u8) -> Pixels {
    Pixels { rgb: image.rgb.iter().map(|&level| new(level)).collect(), ..*image }
}

/// What an image is continued with beyond its edges.
#[derive(Debug, Clone, Copy)]
pub(super) enum Border {
    /// The last pixel: `aaa|abcd|ddd`.
    Nearest,
    /// The image reversed: `cba|abcd|dcb`.
    Mirror,
    /// The image reversed, without its last pixel: `dcb|abcd|cba`.
    MirrorInside,
}

impl Border {
    /// The pixel of `size` that stands at a position.
    pub(super) fn index(self, at: isize, size: usize) -> usize {
        let last = size.cast_signed() - 1;
        let index = match self {
            Border::Nearest => at.clamp(0, last),
            Border::Mirror => {
                let period = 2 * (last + 1);
                let at = at.rem_euclid(period);
                at.min(period - 1 - at)
            }
            Border::MirrorInside => {
                let period = (2 * last).max(1);
                let at = at.rem_euclid(period);
                at.min(period - at).min(last)
            }
        };
        index.cast_unsigned()
    }
}

/// Numbers at the pixels of an image, one or more of each.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) channels: usize,
    /// Row by row, the channels of a pixel together.
    pub(super) values: Vec<f32>,
}

impl Grid {
    /// The levels of an image, from 0 to 255.
    pub(super) fn of(image: &Pixels) -> Self {
        let values = image.rgb.iter().map(|&level| f32::from(level)).collect();
        Grid { width: image.width, height: image.height, channels: 3, values }
    }

    /// One channel, filled row by row.
    pub(super) fn filled(width: usize, height: usize, mut value: impl FnMut() -> f64) -> Self {
        let values = (0..width * height).map(|_| single(value())).collect();
        Grid { width, height, channels: 1, values }
    }

    /// The image of three channels of levels.
    pub(super) fn cut(&self) -> Pixels {
        let rgb = self.values.iter().map(|&level| cut(level)).collect();
        Pixels { width: self.width, height: self.height, rgb }
    }

    /// The nearest whole levels.
    pub(super) fn rounded(&self) -> Vec<u8> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast to u8 stops at 0 and 255"
        )]
        let rounded = self.values.iter().map(|level| (level + 0.5) as u8).collect();
        rounded
    }

    pub(super) fn row(&self, y: usize) -> &[f32] {
        let stride = self.width * self.channels;
        &self.values[y * stride..][..stride]
    }

    /// The values of a pixel.
    pub(super) fn at(&self, x: usize, y: usize) -> &[f32] {
        &self.values[(y * self.width + x) * self.channels..][..self.channels]
    }

    /// The same with rows and columns exchanged.
    fn transposed(&self) -> Grid {
        let mut values = Vec::with_capacity(self.values.len());
        for x in 0..self.width {
            for y in 0..self.height {
                values.extend_from_slice(self.at(x, y));
            }
        }
        Grid { width: self.height, height: self.width, channels: self.channels, values }
    }

    /// Blurs with a normal kernel that ends `truncate` deviations from its centre.
    pub(super) fn blurred(&self, deviation: f64, truncate: f64, border: Border) -> Grid {
        let radius = whole(truncate * deviation + 0.5);
        let weight = |k: isize| {
            let distance = k as f64 / deviation;
            exp(-0.5 * distance * distance)
        };
        let weights: Vec<f64> = (-radius..=radius).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        let kernel: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        // Both passes are over columns: sums of whole rows, which vectorise.
        let columns = self.filtered_columns(&kernel, border);
        columns.transposed().filtered_columns(&kernel, border).transposed()
    }

    /// Sums over columns, weighted by a kernel around each pixel.
    fn filtered_columns(&self, kernel: &[f64], border: Border) -> Grid {
        let radius = (kernel.len() / 2).cast_signed();
        let positions = -radius..self.height.cast_signed() + radius;
        let sources: Vec<usize> = positions.map(|at| border.index(at, self.height)).collect();
        let mut values = vec![0.0; self.values.len()];
        // A kernel longer than the image meets each row several times; its weights are added up.
        let mut weights = vec![0.0; self.height];
        for (y, out) in values.chunks_exact_mut(self.width * self.channels).enumerate() {
            for (&source, weight) in sources[y..].iter().zip(kernel) {
                weights[source] += weight;
            }
            let terms: Vec<(&[f32], f32)> = weights
                .iter_mut()
                .enumerate()
                .filter(|(_, weight)| **weight != 0.0)
                .map(|(source, weight)| (self.row(source), single(std::mem::take(weight))))
                .collect();
            // Four rows at a time: a sum is loaded and stored less often.
            let (fours, rest) = terms.as_chunks::<4>();
            for [(a, p), (b, q), (c, r), (d, s)] in fours {
                for ((((out, a), b), c), d) in out.iter_mut().zip(*a).zip(*b).zip(*c).zip(*d) {
                    *out += (p * a + q * b) + (r * c + s * d);
                }
            }
            for (row, weight) in rest {
                add_scaled(out, row, *weight);
            }
        }
        Grid { values, ..*self }
    }

    /// The middle of the image, enlarged to its size by linear interpolation.
    ///
    /// The part is the smallest whole number of pixels that fills the image; the corners of the part
    /// become those of the enlarged part, whose surplus is left out on both sides.
    pub(super) fn enlarged(&self, factor: f64) -> Grid {
        let (columns, rows) = (Place::all(self.width, factor), Place::all(self.height, factor));
        let mut mixed = vec![0.0; self.width * self.channels];
        let mut values = Vec::with_capacity(self.values.len());
        for row in rows {
            let (one, other) = (self.row(row.first), self.row(row.second));
            for ((mixed, one), other) in mixed.iter_mut().zip(one).zip(other) {
                *mixed = one + row.share * (other - one);
            }
            for column in &columns {
                let one = &mixed[column.first * self.channels..][..self.channels];
                let other = &mixed[column.second * self.channels..][..self.channels];
                values.extend(
                    one.iter().zip(other).map(|(one, other)| one + column.share * (other - one)),
                );
            }
        }
        Grid { values, ..*self }
    }

    /// The values between pixels, by linear interpolation.
    pub(super) fn between(&self, x: f64, y: f64, border: Border, out: &mut Vec<f32>) {
        let (left, top) = (x.floor(), y.floor());
        let (right_share, bottom_share) = (single(x - left), single(y - top));
        let column = |k: isize| border.index(whole(left) + k, self.width);
        let row = |k: isize| border.index(whole(top) + k, self.height);
        let (x0, x1, y0, y1) = (column(0), column(1), row(0), row(1));
        let corners = [self.at(x0, y0), self.at(x1, y0), self.at(x0, y1), self.at(x1, y1)];
        out.extend((0..self.channels).map(|channel| {
            let [a, b, c, d] = corners.map(|corner| corner[channel]);
            let upper = a + right_share * (b - a);
            let lower = c + right_share * (d - c);
            upper + bottom_share * (lower - upper)
        }));
    }
}

/// Adds a multiple of one row to another.
pub(super) fn add_scaled(out: &mut [f32], row: &[f32], weight: f32) {
    for (out, value) in out.iter_mut().zip(row) {
        *out += weight * value;
    }
}

/// A place between two pixels.
struct Place {
    first: usize,
    second: usize,
    /// How far it is from the first to the second.
    share: f32,
}

impl Place {
    /// Where the pixels of an enlarged axis come from.
    fn all(size: usize, factor: f64) -> Vec<Place> {
        let part = (size as f64 / factor).ceil();
        let enlarged = (part * factor).round_ties_even().max(size as f64);
        let start = ((size as f64 - part) / 2.0).floor();
        let surplus = ((enlarged - size as f64) / 2.0).floor();
        let step = if enlarged > 1.0 { (part - 1.0) / (enlarged - 1.0) } else { 0.0 };
        let place = |i: usize| {
            let at = (start + (i as f64 + surplus) * step).min((size - 1) as f64);
            let first = whole(at.floor()).cast_unsigned();
            let share = single(at - at.floor());
            Place { first, second: (first + 1).min(size - 1), share }
        };
        (0..size).map(place).collect()
    }
}
