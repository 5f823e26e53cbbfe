//! Levels and grids of numbers: what several corruptions need.

use crate::Pixels;

/// A level as a whole number. It is cut and not rounded, as in ImageNet-C; a small part is added first,
/// so that a sum that should be a whole number stays one whatever its rounding errors.
pub(super) fn cut(level: f64) -> u8 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast to u8 stops at 0 and 255"
    )]
    let whole = (level + 1.0 / 1024.0) as u8;
    whole
}

/// The image with every level replaced.
pub(super) fn map_levels(image: &Pixels, mut new: impl FnMut(u8) -> u8) -> Pixels {
    Pixels { rgb: image.rgb.iter().map(|&level| new(level)).collect(), ..*image }
}
