//! Encoded images to pixels, with a defined answer to every kind of image.
//!
//! | image | answer |
//! |---|---|
//! | grey, palette | the three channels are equal; the colours of the palette |
//! | transparent | the alpha channel is dropped, as `convert("RGB")` of Pillow does |
//! | CMYK | converted without a colour profile |
//! | 16 bits | scaled to 8 bits (Pillow clips them instead) |
//! | floating point | refused: its range is not known |
//! | several frames | the first one |
//! | EXIF orientation | applied on request; torchvision and timm do not apply it |
//! | cut short, damaged | refused |

use crate::images::Pixels;
use image::metadata::Orientation;
use image::{ColorType, DynamicImage, ImageDecoder, ImageReader, Limits};
use std::io::Cursor;

/// The largest side that is decoded.
const LARGEST_SIDE: u32 = 1 << 16;
/// The largest memory that an image may need.
const LARGEST_IMAGE: u64 = 1 << 30;

/// A decoded image, and what was noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// Its pixels.
    pub pixels: Pixels,
    /// Whether it says that it is to be rotated or mirrored.
    pub oriented: bool,
}

/// Why an image cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// It is not an image of a known format.
    #[error("not a JPEG, PNG, WebP, BMP, TIFF or PNM image")]
    UnknownFormat,
    /// It ends too early.
    #[error("the image is cut short")]
    Truncated,
    /// Its values are floating-point numbers.
    #[error("its pixels are floating-point numbers, whose range is not known")]
    FloatingPoint,
    /// Its pixels need too much memory.
    #[error("its pixels need more than {} MB", LARGEST_IMAGE >> 20)]
    TooLarge,
    /// The decoder refuses it.
    #[error("{0}")]
    Damaged(String),
}

/// Decodes an image. `orient` applies the orientation that its EXIF data state.
pub fn decode(bytes: &[u8], orient: bool) -> Result<Decoded, DecodeError> {
    if bytes.is_empty() {
        return Err(DecodeError::Empty);
    }
    if bytes.starts_with(&[0xff, 0xd8]) && !is_whole_jpeg(bytes) {
        // The decoder fills what is missing with grey.
        return Err(DecodeError::Truncated);
    }
    let damaged = |error: image::ImageError| DecodeError::Damaged(one_line(&error.to_string()));
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| DecodeError::Damaged(error.to_string()))?;
    if reader.format().is_none() {
        return Err(DecodeError::UnknownFormat);
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(LARGEST_SIDE);
    limits.max_image_height = Some(LARGEST_SIDE);
    limits.max_alloc = Some(LARGEST_IMAGE);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(damaged)?;
    if matches!(decoder.color_type(), ColorType::Rgb32F | ColorType::Rgba32F) {
        return Err(DecodeError::FloatingPoint);
    }
    // The limits of some decoders are those of the sides alone.
    if decoder.total_bytes() > LARGEST_IMAGE {
        return Err(DecodeError::TooLarge);
    }
    // An orientation that cannot be read is none.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(damaged)?;
    let oriented = orientation != Orientation::NoTransforms;
    if orient {
        image.apply_orientation(orientation);
    }
    let rgb = image.into_rgb8();
    let (width, height) = (rgb.width() as usize, rgb.height() as usize);
    if width == 0 || height == 0 {
        return Err(DecodeError::Damaged("the image has no pixels".into()));
    }
    Ok(Decoded { pixels: Pixels { width, height, rgb: rgb.into_raw() }, oriented })
}

/// Whether the markers of a JPEG lead to its end.
fn is_whole_jpeg(bytes: &[u8]) -> bool {
    const END: u8 = 0xd9;
    let mut at = 2;
    loop {
        // Fill bytes may come before a marker, and the data of a scan come before the next one.
        let Some(next) = bytes[at..].iter().position(|&byte| byte == 0xff) else { return false };
        at += next + 1;
        let Some(&marker) = bytes.get(at) else { return false };
        at += 1;
        match marker {
            END => return true,
            // A 0xff of the data of a scan, restart markers, and fill bytes.
            0x00 | 0x01 | 0xd0..=0xd8 => {}
            0xff => at -= 1,
            // Segments, that of a scan among them, say how long they are.
            _ => {
                let Some(&[high, low]) = bytes.get(at..at + 2).and_then(|two| two.first_chunk())
                else {
                    return false;
                };
                at += usize::from(u16::from_be_bytes([high, low]));
                if at > bytes.len() {
                    return false;
                }
            }
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{ExtendedColorType, ImageEncoder, ImageFormat};

    fn encoded(format: ImageFormat, kind: ExtendedColorType, bytes: &[u8], side: u32) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        image::write_buffer_with_format(&mut out, bytes, side, side, kind, format)
            .expect("encoded");
        out.into_inner()
    }

    fn jpeg(side: u32) -> Vec<u8> {
        let rgb: Vec<u8> = (0..side * side * 3).map(|i| (i * 7 % 251) as u8).collect();
        encoded(ImageFormat::Jpeg, ExtendedColorType::Rgb8, &rgb, side)
    }

    #[test]
    fn grey_transparent_and_deep_images_become_rgb() {
        let grey = encoded(ImageFormat::Png, ExtendedColorType::L8, &[0, 100, 200, 255], 2);
        let pixels = decode(&grey, false).expect("grey").pixels;
        assert_eq!(pixels.rgb, [0, 0, 0, 100, 100, 100, 200, 200, 200, 255, 255, 255]);
        let transparent =
            encoded(ImageFormat::Png, ExtendedColorType::Rgba8, &[10, 20, 30, 0].repeat(4), 2);
        assert_eq!(decode(&transparent, false).expect("rgba").pixels.rgb, [10, 20, 30].repeat(4));
        let deep: Vec<u8> =
            [0_u16, 257, 25700, 65535].iter().flat_map(|v| v.to_ne_bytes()).collect();
        let deep = encoded(ImageFormat::Png, ExtendedColorType::L16, &deep, 2);
        let pixels = decode(&deep, false).expect("16 bits").pixels;
        assert_eq!(pixels.rgb, [0, 0, 0, 1, 1, 1, 100, 100, 100, 255, 255, 255]);
    }

    #[test]
    fn every_truncation_of_a_jpeg_is_refused() {
        let whole = jpeg(24);
        assert!(decode(&whole, false).is_ok());
        for length in 0..whole.len() - 1 {
            let error = decode(&whole[..length], false).expect_err("cut short");
            assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn every_truncation_of_a_png_is_refused_before_its_last_chunk() {
        let rgb: Vec<u8> = (0..24_u32 * 24 * 3).map(|i| (i * 31 % 253) as u8).collect();
        let mut whole = Vec::new();
        image::codecs::png::PngEncoder::new(&mut whole)
            .write_image(&rgb, 24, 24, ExtendedColorType::Rgb8)
            .expect("encoded");
        // The last twelve bytes are the chunk that says that this is the end.
        for length in 0..whole.len() - 24 {
            assert!(decode(&whole[..length], false).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn damaged_bytes_never_panic() {
        let whole = jpeg(16);
        for at in 0..whole.len() {
            for value in [0, 0xff, whole[at] ^ 0x40] {
                let mut damaged = whole.clone();
                damaged[at] = value;
                let _ = decode(&damaged, true);
            }
        }
    }

    #[test]
    fn an_image_beyond_the_limit_is_refused_before_it_is_decoded() {
        assert_eq!(decode(b"P6 40000 40000 255\n123", false), Err(DecodeError::TooLarge));
    }

    #[test]
    fn other_files_are_no_images() {
        assert_eq!(decode(b"", false), Err(DecodeError::Empty));
        assert_eq!(decode(b"class,label\n", false), Err(DecodeError::UnknownFormat));
        assert_eq!(decode(&[0; 40], false), Err(DecodeError::UnknownFormat));
    }
}
