//! All severities of corruptions in one picture.

use super::letters::{COLUMNS, ROWS, filled};
use super::{CorruptError, Corruption, SEVERITIES, check_size};
use crate::images::Pixels;

/// Pixels in a square of a letter.
const SQUARE: usize = 2;
/// Pixels from one letter to the next.
const ADVANCE: usize = (COLUMNS + 1) * SQUARE;
/// Pixels between images.
const GAP: usize = 6;

/// The image under corruptions: a row for each, with its name; the columns are the clean image and the
/// severities.
pub fn contact_sheet(
    image: &Pixels,
    corruptions: &[Corruption],
    seed: u64,
) -> Result<Pixels, CorruptError> {
    check_size(image)?;
    let columns: Vec<String> =
        std::iter::once("clean".to_string()).chain(SEVERITIES.map(|s| s.to_string())).collect();
    let longest =
        |names: &mut dyn Iterator<Item = &str>| names.map(str::len).max().unwrap_or(0) * ADVANCE;
    let names = corruptions.iter().map(|corruption| corruption.name());
    let left = 2 * GAP + longest(&mut names.chain(["severity"]));
    let top = 2 * GAP + ROWS * SQUARE;
    let across = GAP + image.width.max(longest(&mut columns.iter().map(String::as_str)));
    let down = GAP + image.height.max(ROWS * SQUARE);

    let (width, height) = (left + columns.len() * across, top + corruptions.len() * down);
    let mut sheet = Pixels { width, height, rgb: vec![255; 3 * width * height] };
    write(&mut sheet, "severity", GAP, GAP);
    for (column, name) in columns.iter().enumerate() {
        write(&mut sheet, name, left + column * across, GAP);
    }
    for (row, &corruption) in corruptions.iter().enumerate() {
        let y = top + row * down;
        write(&mut sheet, corruption.name(), GAP, y + (down - GAP - ROWS * SQUARE) / 2);
        paste(&mut sheet, image, left, y);
        for (column, severity) in (1..).zip(SEVERITIES) {
            let corrupted = corruption.apply(image, severity, seed, 0)?;
            paste(&mut sheet, &corrupted, left + column * across, y);
        }
    }
    Ok(sheet)
}

/// Copies an image to a place that has room for it.
fn paste(sheet: &mut Pixels, image: &Pixels, x: usize, y: usize) {
    let rows = sheet.rgb.chunks_exact_mut(3 * sheet.width).skip(y);
    for (to, from) in rows.zip(image.rgb.chunks_exact(3 * image.width)) {
        to[3 * x..][..from.len()].copy_from_slice(from);
    }
}

/// Writes black letters; what has no room is left out.
fn write(sheet: &mut Pixels, text: &str, x: usize, y: usize) {
    for (at, letter) in (x..).step_by(ADVANCE).zip(text.chars()) {
        for (column, row) in filled(letter) {
            let rows = sheet.rgb.chunks_exact_mut(3 * sheet.width).skip(y + row * SQUARE);
            for line in rows.take(SQUARE) {
                let pixels = line.chunks_exact_mut(3).skip(at + column * SQUARE);
                pixels.take(SQUARE).for_each(|pixel| pixel.fill(0));
            }
        }
    }
}
