//! From an image to what a classifier takes: resized, cropped and normalised.
//!
//! The steps and their rounding are those of torchvision and Pillow; `config.rs` reads the
//! descriptions that timm and HuggingFace write.

#![expect(clippy::cast_possible_truncation, reason = "numbers of images are in single precision")]

mod config;
mod request;
mod resize;

pub use config::ConfigError;
pub use request::{DescribedBy, FoundPreprocess, PreprocessError, PreprocessRequest, Unstated};

use crate::images::Pixels;
use resize::resized;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How images are prepared for a classifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preprocess {
    /// The size that images get.
    pub resize: Resize,
    /// The part in the middle that is used then.
    pub crop: Option<Crop>,
    /// How pixels between pixels are found; smoothed when an image is made smaller, as Pillow does.
    pub interpolation: Interpolation,
    /// What the values 0 to 255 are multiplied by.
    pub rescale: f64,
    /// What is subtracted then, for each channel.
    pub mean: [f64; 3],
    /// What is divided by then.
    pub std: [f64; 3],
    /// The order of the dimensions.
    pub layout: Layout,
    /// The order of the channels.
    pub channels: Channels,
}

/// The size that an image gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resize {
    /// It keeps its size.
    None,
    /// Its shorter side gets this length, and its ratio is kept.
    Shorter(usize),
    /// It gets this size, whatever its ratio.
    Exact(Size),
}

/// A height and a width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Rows.
    pub height: usize,
    /// Pixels in a row.
    pub width: usize,
}

/// The part in the middle of an image. What lies outside of the image is black.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crop {
    /// Its size.
    pub size: Size,
    /// Where it begins if it cannot be exactly in the middle.
    pub rounding: Rounding,
}

/// The rounding of half a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// To an even number, as torchvision and timm do.
    #[default]
    Even,
    /// Down, as HuggingFace does.
    Down,
}

/// An interpolation by Pillow's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are Pillow's")]
pub enum Interpolation {
    Nearest,
    Box,
    Bilinear,
    Hamming,
    Bicubic,
    Lanczos,
}

impl Interpolation {
    /// All of them.
    pub const ALL: [Interpolation; 6] = [
        Interpolation::Nearest,
        Interpolation::Box,
        Interpolation::Bilinear,
        Interpolation::Hamming,
        Interpolation::Bicubic,
        Interpolation::Lanczos,
    ];

    fn name(self) -> &'static str {
        match self {
            Interpolation::Nearest => "nearest",
            Interpolation::Box => "box",
            Interpolation::Bilinear => "bilinear",
            Interpolation::Hamming => "hamming",
            Interpolation::Bicubic => "bicubic",
            Interpolation::Lanczos => "lanczos",
        }
    }
}

impl fmt::Display for Interpolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Interpolation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Interpolation::ALL.into_iter().find(|one| one.name() == text);
        found.ok_or_else(|| {
            let names: Vec<&str> = Interpolation::ALL.iter().map(|one| one.name()).collect();
            format!("one of {}", names.join(", "))
        })
    }
}

/// The order of the dimensions of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Image, channel, row, column: PyTorch.
    #[default]
    Nchw,
    /// Image, row, column, channel: TensorFlow.
    Nhwc,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layout::Nchw => "nchw",
            Layout::Nhwc => "nhwc",
        })
    }
}

impl FromStr for Layout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "nchw" => Ok(Layout::Nchw),
            "nhwc" => Ok(Layout::Nhwc),
            _ => Err("nchw (PyTorch) or nhwc (TensorFlow)".into()),
        }
    }
}

/// The order of the channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Channels {
    /// Red first.
    #[default]
    Rgb,
    /// Blue first, as OpenCV and Caffe have it.
    Bgr,
}

impl FromStr for Channels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "rgb" => Ok(Channels::Rgb),
            "bgr" => Ok(Channels::Bgr),
            _ => Err("rgb or bgr".into()),
        }
    }
}

impl FromStr for Size {
    type Err = String;

    /// `224` is a square, `224x192` a height and a width.
    fn from_str(text: &str) -> Result<Self, String> {
        let side = |text: &str| match text.trim().parse::<usize>() {
            Ok(side) if (1..=LARGEST).contains(&side) => Ok(side),
            _ => Err(format!("a side from 1 to {LARGEST}, or HEIGHTxWIDTH")),
        };
        match text.split_once('x') {
            Some((height, width)) => Ok(Size { height: side(height)?, width: side(width)? }),
            None => side(text).map(|side| Size { height: side, width: side }),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.height, self.width)
    }
}

/// The largest side of an input.
const LARGEST: usize = 8192;

impl Preprocess {
    /// What most ImageNet classifiers of torchvision take: the shorter side is resized to 256, the
    /// middle 224 x 224 are used, and ImageNet's mean and standard deviation normalise them.
    pub fn imagenet() -> Self {
        let size = Size { height: 224, width: 224 };
        Preprocess {
            resize: Resize::Shorter(256),
            crop: Some(Crop { size, rounding: Rounding::Even }),
            interpolation: Interpolation::Bilinear,
            rescale: 1.0 / 255.0,
            mean: [0.485, 0.456, 0.406],
            std: [0.229, 0.224, 0.225],
            layout: Layout::Nchw,
            channels: Channels::Rgb,
        }
    }

    /// The size of what the classifier gets, if it is the same for all images.
    pub fn size(&self) -> Option<Size> {
        match (self.crop, self.resize) {
            (Some(crop), _) => Some(crop.size),
            (None, Resize::Exact(size)) => Some(size),
            (None, _) => None,
        }
    }

    /// Resizes and crops an image.
    pub fn crop(&self, image: &Pixels) -> Pixels {
        let whole = Size { height: image.height, width: image.width };
        let target = match self.resize {
            Resize::None => whole,
            Resize::Exact(size) => size,
            Resize::Shorter(side) if image.width <= image.height => {
                Size { width: side, height: longer(side, image.height, image.width) }
            }
            Resize::Shorter(side) => {
                Size { height: side, width: longer(side, image.width, image.height) }
            }
        };
        let Some(crop) = self.crop else {
            return resized(image, target, Part::all(target), self.interpolation);
        };
        // What there is of the crop within the image, and where in the crop it lies.
        let vertical = Span::of(target.height, crop.size.height, crop.rounding);
        let horizontal = Span::of(target.width, crop.size.width, crop.rounding);
        let part = Part {
            top: vertical.from,
            left: horizontal.from,
            size: Size { height: vertical.length, width: horizontal.length },
        };
        let inner = resized(image, target, part, self.interpolation);
        if part.size == crop.size {
            return inner;
        }
        let mut rgb = vec![0; crop.size.height * crop.size.width * 3];
        for (row, pixels) in inner.rgb.chunks_exact(inner.width * 3).enumerate() {
            let at = ((row + vertical.to) * crop.size.width + horizontal.to) * 3;
            rgb[at..at + pixels.len()].copy_from_slice(pixels);
        }
        Pixels { width: crop.size.width, height: crop.size.height, rgb }
    }

    /// Writes the numbers of a cropped image into its place in a batch.
    pub fn normalise(&self, image: &Pixels, into: &mut [f32]) {
        let table = |channel: usize| -> [f32; 256] {
            let (mean, std) = (self.mean[channel] as f32, self.std[channel] as f32);
            // The steps of torchvision, each rounded to single precision.
            std::array::from_fn(|value| ((value as f64 * self.rescale) as f32 - mean) / std)
        };
        let tables = [table(0), table(1), table(2)];
        self.arrange(image, into, |channel, value| tables[channel][usize::from(value)]);
    }

    /// Writes a number for each value of an image, in the order of the channels and dimensions.
    pub(crate) fn arrange<T>(
        &self,
        image: &Pixels,
        into: &mut [T],
        number: impl Fn(usize, u8) -> T,
    ) {
        let area = image.width * image.height;
        for channel in 0..3 {
            let from = match self.channels {
                Channels::Rgb => channel,
                Channels::Bgr => 2 - channel,
            };
            let values = image.rgb[from..].iter().step_by(3).map(|&value| number(channel, value));
            match self.layout {
                Layout::Nchw => {
                    let plane = &mut into[channel * area..(channel + 1) * area];
                    plane.iter_mut().zip(values).for_each(|(to, value)| *to = value);
                }
                Layout::Nhwc => {
                    let plane = into[channel..].iter_mut().step_by(3);
                    plane.zip(values).for_each(|(to, value)| *to = value);
                }
            }
        }
    }
}

/// The longer side of a resized image, as torchvision rounds it.
fn longer(side: usize, longer: usize, shorter: usize) -> usize {
    (side * longer / shorter).max(1)
}

/// A part of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    top: usize,
    left: usize,
    size: Size,
}

impl Part {
    fn all(size: Size) -> Self {
        Part { top: 0, left: 0, size }
    }
}

/// One side of a crop.
struct Span {
    /// Where it begins in the image.
    from: usize,
    /// Where that lies in the crop.
    to: usize,
    /// How much of it lies within the image.
    length: usize,
}

impl Span {
    fn of(image: usize, crop: usize, rounding: Rounding) -> Self {
        if image < crop {
            // Half of what is missing comes before the image: torchvision rounds it down, and
            // HuggingFace up.
            let missing = crop - image;
            let to = match rounding {
                Rounding::Even => missing / 2,
                Rounding::Down => missing.div_ceil(2),
            };
            return Span { from: 0, to, length: image };
        }
        let spare = image - crop;
        let from = match rounding {
            // Half to even, as Python rounds.
            Rounding::Even if spare % 4 == 3 => spare / 2 + 1,
            Rounding::Even | Rounding::Down => spare / 2,
        };
        Span { from, to: 0, length: crop }
    }
}

impl fmt::Display for Preprocess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.resize {
            Resize::None => f.write_str("not resized")?,
            Resize::Shorter(side) => {
                write!(f, "shorter side {side} ({})", self.interpolation)?;
            }
            Resize::Exact(size) => write!(f, "resized to {size} ({})", self.interpolation)?,
        }
        if let Some(crop) = self.crop {
            write!(f, ", middle {}", crop.size)?;
        }
        let round = |value: f64| (value * 1e4).round() / 1e4;
        let list = |values: [f64; 3]| match values {
            [a, b, c] if a == b && b == c => round(a).to_string(),
            _ => values.map(|value| round(value).to_string()).join(", "),
        };
        let rescale = if self.rescale == 1.0 {
            "0 to 255".to_string()
        } else {
            let largest = self.rescale * 255.0;
            format!("0 to {}", round(largest))
        };
        write!(f, ", {rescale}, mean {}, std {}", list(self.mean), list(self.std))?;
        if self.channels == Channels::Bgr {
            f.write_str(", blue first")?;
        }
        if self.layout == Layout::Nhwc {
            f.write_str(", channels last")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crops_begin_where_those_of_torchvision_do() {
        // int(round((image - crop) / 2)) in Python.
        let expected = [(10, 4, 3), (11, 4, 4), (12, 4, 4), (13, 4, 4), (15, 4, 6), (9, 4, 2)];
        for (image, crop, from) in expected {
            assert_eq!(Span::of(image, crop, Rounding::Even).from, from, "{image} {crop}");
            assert_eq!(Span::of(image, crop, Rounding::Down).from, (image - crop) / 2);
        }
    }

    #[test]
    fn a_small_image_is_padded_with_black() {
        let mut preprocess = Preprocess::imagenet();
        preprocess.resize = Resize::None;
        preprocess.crop =
            Some(Crop { size: Size { height: 4, width: 3 }, rounding: Rounding::Even });
        let image = Pixels { width: 1, height: 1, rgb: vec![7, 8, 9] };
        let cropped = preprocess.crop(&image);
        assert_eq!((cropped.width, cropped.height), (3, 4));
        let filled: Vec<usize> = (0..12).filter(|&i| cropped.rgb[i * 3] != 0).collect();
        assert_eq!(filled, [4]);
    }

    #[test]
    fn numbers_are_those_of_torchvision() {
        let preprocess = Preprocess::imagenet();
        let image = Pixels { width: 2, height: 1, rgb: vec![0, 128, 255, 10, 20, 30] };
        let mut numbers = [0.0; 6];
        preprocess.normalise(&image, &mut numbers);
        let expected = |value: f32, mean: f32, std: f32| (value / 255.0 - mean) / std;
        assert_eq!(numbers[0], expected(0.0, 0.485, 0.229));
        assert_eq!(numbers[1], expected(10.0, 0.485, 0.229));
        assert_eq!(numbers[2], expected(128.0, 0.456, 0.224));
        assert_eq!(numbers[5], expected(30.0, 0.406, 0.225));
        let last = Preprocess { layout: Layout::Nhwc, channels: Channels::Bgr, ..preprocess };
        last.normalise(&image, &mut numbers);
        assert_eq!(numbers[0], expected(255.0, 0.485, 0.229));
        assert_eq!(numbers[4], expected(20.0, 0.456, 0.224));
    }

    #[test]
    fn sizes_are_parsed() {
        assert_eq!("224".parse(), Ok(Size { height: 224, width: 224 }));
        assert_eq!("224x192".parse(), Ok(Size { height: 224, width: 192 }));
        assert!("0".parse::<Size>().is_err() && "224x".parse::<Size>().is_err());
    }
}
