//! Resizing as Pillow does.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sides and values are small and not negative"
)]

use super::{Interpolation, Part, Size};
use crate::images::Pixels;
use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use std::cell::RefCell;

thread_local! {
    static RESIZER: RefCell<Resizer> = RefCell::new(Resizer::new());
}

/// A part of the image resized to a size.
///
/// Pillow resizes first the width and rounds to 8 bits, then the height; in one step the crate does
/// it the other way round, which changes up to 13 levels. So each side is a step. Only what the part
/// needs is computed.
pub(super) fn resized(image: &Pixels, size: Size, part: Part, how: Interpolation) -> Pixels {
    // Each filter with the pixels that it reaches to.
    let (filter, support) = match how {
        Interpolation::Nearest => return nearest(image, size, part),
        Interpolation::Box => (FilterType::Box, 0.5),
        Interpolation::Bilinear => (FilterType::Bilinear, 1.0),
        Interpolation::Hamming => (FilterType::Hamming, 1.0),
        Interpolation::Bicubic => (FilterType::CatmullRom, 2.0),
        Interpolation::Lanczos => (FilterType::Lanczos3, 3.0),
    };
    let scale = |from: usize, to: usize| from as f64 / to as f64;
    let (down, across) = (scale(image.height, size.height), scale(image.width, size.width));
    // The rows that the second step reads.
    let reach = support * down.max(1.0) + 2.0;
    let first = (part.top as f64 * down - reach).floor().max(0.0) as usize;
    let end = ((part.top + part.size.height) as f64 * down + reach).ceil() as usize;
    let rows = end.min(image.height) - first;
    let across = Step {
        from: Size { height: rows, width: image.width },
        to: Size { height: rows, width: part.size.width },
        left: part.left as f64 * across,
        width: part.size.width as f64 * across,
        top: 0.0,
        height: rows as f64,
    };
    let wide = &image.rgb[first * image.width * 3..(first + rows) * image.width * 3];
    let narrow = if size.width == image.width && part.size.width == image.width {
        None
    } else {
        across.run(wide, filter)
    };
    let narrow = narrow.as_deref().unwrap_or(wide);
    let down = Step {
        from: across.to,
        to: part.size,
        left: 0.0,
        width: part.size.width as f64,
        top: part.top as f64 * down - first as f64,
        height: part.size.height as f64 * down,
    };
    let same = size.height == image.height && rows == part.size.height;
    let rgb = if same { None } else { down.run(narrow, filter) };
    let rgb = rgb.unwrap_or_else(|| narrow.to_vec());
    Pixels { width: part.size.width, height: part.size.height, rgb }
}

/// One call of the crate.
struct Step {
    from: Size,
    to: Size,
    left: f64,
    width: f64,
    top: f64,
    height: f64,
}

impl Step {
    fn run(&self, rgb: &[u8], filter: FilterType) -> Option<Vec<u8>> {
        let side = |side: usize| u32::try_from(side).ok();
        let from =
            ImageRef::new(side(self.from.width)?, side(self.from.height)?, rgb, PixelType::U8x3);
        let mut to = Image::new(side(self.to.width)?, side(self.to.height)?, PixelType::U8x3);
        // Rounding must not lead outside of the image.
        let width = self.width.min(self.from.width as f64 - self.left);
        let height = self.height.min(self.from.height as f64 - self.top);
        let options = ResizeOptions::new()
            .resize_alg(ResizeAlg::Convolution(filter))
            .crop(self.left, self.top, width, height);
        let done = RESIZER
            .with(|resizer| resizer.borrow_mut().resize(&from.ok()?, &mut to, &options).ok());
        done.map(|()| to.into_vec())
    }
}

/// The pixel in which the middle of each new one lies.
fn nearest(image: &Pixels, size: Size, part: Part) -> Pixels {
    let source = |at: usize, from: usize, to: usize| (at * 2 + 1) * from / (2 * to);
    let Part { top, left, size: Size { height, width } } = part;
    let mut rgb = Vec::with_capacity(width * height * 3);
    for row in top..top + height {
        let from = source(row, image.height, size.height) * image.width;
        for column in left..left + width {
            let at = (from + source(column, image.width, size.width)) * 3;
            rgb.extend_from_slice(&image.rgb[at..at + 3]);
        }
    }
    Pixels { width, height, rgb }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Resizing from its definition, in double precision, with one rounding after each side.
    fn naive(image: &Pixels, size: Size, how: Interpolation) -> Pixels {
        let across = |rgb: &[u8], from: usize, lines: usize, to: usize| -> Vec<u8> {
            let mut out = vec![0; lines * to * 3];
            for column in 0..to {
                let weights = weights(column, from, to, how);
                for line in 0..lines {
                    for channel in 0..3 {
                        let value = |&(at, w): &(usize, f64)| {
                            w * f64::from(rgb[(line * from + at) * 3 + channel])
                        };
                        let sum: f64 = weights.iter().map(value).sum();
                        out[(line * to + column) * 3 + channel] =
                            sum.round().clamp(0.0, 255.0) as u8;
                    }
                }
            }
            out
        };
        let transposed = |rgb: &[u8], width: usize, height: usize| -> Vec<u8> {
            let pixel = |i: usize| ((i % height) * width + i / height) * 3;
            (0..width * height).flat_map(|i| rgb[pixel(i)..pixel(i) + 3].to_vec()).collect()
        };
        let narrow = across(&image.rgb, image.width, image.height, size.width);
        let turned = transposed(&narrow, size.width, image.height);
        let small = across(&turned, image.height, size.width, size.height);
        let rgb = transposed(&small, size.height, size.width);
        Pixels { width: size.width, height: size.height, rgb }
    }

    fn weights(at: usize, from: usize, to: usize, how: Interpolation) -> Vec<(usize, f64)> {
        let scale = from as f64 / to as f64;
        let wide = scale.max(1.0);
        let kernel = |x: f64| {
            let x = x.abs();
            let sinc = |x: f64| {
                let x = x * std::f64::consts::PI;
                if x == 0.0 { 1.0 } else { x.sin() / x }
            };
            match how {
                Interpolation::Nearest => unreachable!("has no kernel"),
                Interpolation::Box => f64::from(u8::from(x <= 0.5)),
                Interpolation::Bilinear => (1.0 - x).max(0.0),
                Interpolation::Hamming if x < 1.0 => {
                    sinc(x) * (0.54 + 0.46 * (std::f64::consts::PI * x).cos())
                }
                // a = -1/2
                Interpolation::Bicubic if x < 1.0 => 1.5 * x * x * x - 2.5 * x * x + 1.0,
                Interpolation::Bicubic if x < 2.0 => -0.5 * x * x * x + 2.5 * x * x - 4.0 * x + 2.0,
                Interpolation::Lanczos if x < 3.0 => sinc(x) * sinc(x / 3.0),
                _ => 0.0,
            }
        };
        let support = match how {
            Interpolation::Box => 0.5,
            Interpolation::Bicubic => 2.0,
            Interpolation::Lanczos => 3.0,
            _ => 1.0,
        } * wide;
        let middle = (at as f64 + 0.5) * scale;
        let first = (middle - support + 0.5).max(0.0) as usize;
        let end = ((middle + support + 0.5) as usize).min(from);
        let raw: Vec<f64> =
            (first..end).map(|i| kernel((i as f64 + 0.5 - middle) / wide)).collect();
        let sum: f64 = raw.iter().sum();
        raw.into_iter().enumerate().map(|(i, w)| (first + i, w / sum)).collect()
    }

    fn image(width: usize, height: usize) -> Pixels {
        let mut state = 7_u32;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        // Noise with edges: the worst case of overshooting.
        let pixel = |i: usize| {
            if (i / 3 % width / 7).is_multiple_of(2) { noise() / 4 } else { 255 - noise() / 4 }
        };
        Pixels { width, height, rgb: (0..width * height * 3).map(pixel).collect() }
    }

    #[test]
    fn every_interpolation_agrees_with_its_definition() {
        for (width, height, to_height, to_width) in
            [(97, 61, 32, 51), (40, 50, 80, 60), (64, 64, 64, 20), (33, 7, 7, 33), (5, 300, 2, 2)]
        {
            let image = image(width, height);
            let size = Size { height: to_height, width: to_width };
            for how in Interpolation::ALL.into_iter().filter(|how| *how != Interpolation::Nearest) {
                let ours = resized(&image, size, Part::all(size), how);
                let expected = naive(&image, size, how);
                let largest = ours.rgb.iter().zip(&expected.rgb).map(|(a, b)| a.abs_diff(*b)).max();
                assert!(largest <= Some(1), "{how} {width}x{height}: {largest:?}");
            }
        }
    }

    #[test]
    fn a_part_is_that_part_of_the_whole() {
        let image = image(120, 90);
        let size = Size { height: 64, width: 85 };
        let part = Part { top: 13, left: 20, size: Size { height: 40, width: 33 } };
        for how in Interpolation::ALL {
            let whole = resized(&image, size, Part::all(size), how);
            let ours = resized(&image, size, part, how);
            let mut largest = 0;
            for row in 0..part.size.height {
                let at = ((row + part.top) * size.width + part.left) * 3;
                let expected = &whole.rgb[at..at + part.size.width * 3];
                let row = &ours.rgb[row * part.size.width * 3..(row + 1) * part.size.width * 3];
                largest = row
                    .iter()
                    .zip(expected)
                    .map(|(a, b)| a.abs_diff(*b))
                    .max()
                    .max(Some(largest))
                    .unwrap_or(0);
            }
            assert!(largest <= 1, "{how}: {largest}");
        }
    }

    #[test]
    fn the_same_size_changes_nothing() {
        let image = image(20, 30);
        let size = Size { height: 30, width: 20 };
        for how in Interpolation::ALL {
            assert_eq!(resized(&image, size, Part::all(size), how), image, "{how}");
        }
    }
}
