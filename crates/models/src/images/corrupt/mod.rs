//! Common corruptions of images, at five severities.
//!
//! They are the fifteen of ImageNet-C (Hendrycks & Dietterich, *Benchmarking Neural Network
//! Robustness to Common Corruptions and Perturbations*, 2019) with its parameters. To add one, write
//! its file with the headings of the others and add its line to the registry below; names, parsing,
//! listings, the contact sheet and the laws follow.
//!
//! **Size.** The parameters are those published for 224 × 224 pixels. Lengths are in pixels and are
//! not scaled: on a larger image a blur of the same severity is weaker. Any size is accepted.
//!
//! **Levels.** A corrupted level is cut to a whole number, not rounded, because ImageNet-C does so;
//! motion blur, pixelate and JPEG round, as the programs behind them do. ImageNet-C stores its images
//! as JPEG of quality 85; here only the corruption of that name compresses.
//!
//! **Randomness.** The random numbers depend on the seed, the corruption, the severity and the index
//! of the image, and on nothing else: not on the order of images or on threads.
//!
//! **Same bytes everywhere.** Only additions, multiplications, divisions and square roots of IEEE 754
//! are used, in a fixed order; exponentials, logarithms and sines are made of them. So every machine
//! gives the same bytes. The numbers are not those of numpy, so the noise is not that of ImageNet-C.

mod clouds;
mod grid;
mod letters;
mod motion;
mod random;
mod sheet;

pub use sheet::contact_sheet;

use crate::images::Pixels;
use random::Random;
use std::fmt;
use std::str::FromStr;

/// The name and the properties of a corruption.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// Its name; with underscores, that of its folder in ImageNet-C.
    pub name: &'static str,
    /// Other names people use for it.
    pub aliases: &'static [&'static str],
    /// What kind it is.
    pub group: Group,
    /// Whether another seed gives another image.
    pub random: bool,
}

/// A kind of corruption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Errors of single pixels.
    Noise,
    /// Loss of sharpness.
    Blur,
    /// What lies between the camera and the scene, and light.
    Weather,
    /// What is done to the image afterwards.
    Digital,
}

impl Group {
    /// Every group, in the order of listings.
    pub const ALL: &'static [Group] = &[Group::Noise, Group::Blur, Group::Weather, Group::Digital];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Group::Noise => "noise",
            Group::Blur => "blur",
            Group::Weather => "weather",
            Group::Digital => "digital",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The severities, from the weakest to the strongest.
pub const SEVERITIES: std::ops::RangeInclusive<u8> = 1..=5;

/// Why an image was not corrupted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CorruptError {
    /// A name that no corruption has.
    #[error("no corruption is called '{name}'; there are {}", names())]
    UnknownName {
        /// What was typed.
        name: String,
    },
    /// A severity out of range.
    #[error("severities are 1 to 5, not {0}")]
    Severity(u8),
    /// An image without pixels, or of another size than its bytes.
    #[error("an image of {width} × {height} pixels does not have {bytes} bytes")]
    Size {
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
        /// Bytes given.
        bytes: usize,
    },
}

/// Every name, in the order of listings.
fn names() -> String {
    let names: Vec<_> = Corruption::ALL.iter().map(|corruption| corruption.name()).collect();
    names.join(", ")
}

macro_rules! registry {
    ($($variant:ident => $module:ident, $summary:literal;)*) => {
        $(mod $module;)*

        /// A common corruption of images.
        ///
        /// ```
        /// use abstain_models::images::Pixels;
        /// use abstain_models::images::corrupt::Corruption;
        ///
        /// let image = Pixels { width: 2, height: 1, rgb: vec![0, 50, 100, 150, 200, 250] };
        /// let corruption: Corruption = "gaussian_noise".parse()?;
        /// assert_eq!(corruption.to_string(), "gaussian-noise");
        /// let corrupted = corruption.apply(&image, 3, 0, 0)?;
        /// assert_eq!(corrupted.rgb.len(), image.rgb.len());
        /// # Ok::<(), abstain_models::images::corrupt::CorruptError>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Corruption {
            $(#[doc = $summary] $variant,)*
        }

        impl Corruption {
            /// Every corruption, in the order of listings, which is that of the paper.
            pub const ALL: &'static [Corruption] = &[$(Corruption::$variant),*];

            /// Its name and properties.
            pub fn info(self) -> &'static Info {
                match self {
                    $(Corruption::$variant => &$module::INFO,)*
                }
            }

            /// One sentence on what it is.
            pub fn summary(self) -> &'static str {
                match self {
                    $(Corruption::$variant => $summary,)*
                }
            }

            /// Corrupts an image that has pixels, at a step from 0 to 4.
            fn corrupt(self, image: &Pixels, step: usize, random: &mut Random) -> Pixels {
                match self {
                    $(Corruption::$variant => $module::apply(image, step, random),)*
                }
            }
        }
    };
}

registry! {
    GaussianNoise => gaussian_noise, "Noise of the sensor in little light: a normal number is added to each level.";
    ShotNoise => shot_noise, "Noise of few photons: each level is a Poisson count.";
    ImpulseNoise => impulse_noise, "Errors of bits: some levels become 0 or 255.";
    DefocusBlur => defocus_blur, "A lens out of focus: a mean over a disk.";
    GlassBlur => glass_blur, "Frosted glass: pixels change places with their neighbours.";
    MotionBlur => motion_blur, "A camera that moves: a mean along a line.";
    ZoomBlur => zoom_blur, "A camera that moves forward: a mean of enlargements.";
    Snow => snow, "Flakes that fall in a random direction, and paler colours.";
    Frost => frost, "Ice crystals on a window before the camera.";
    Fog => fog, "A random cloud that takes contrast away.";
    Brightness => brightness, "More light: the value of HSV is raised.";
    Contrast => contrast, "Less contrast: levels move towards the mean of their channel.";
    ElasticTransform => elastic_transform, "Stretched and contracted regions.";
    Pixelate => pixelate, "An image of low resolution, shown larger.";
    JpegCompression => jpeg_compression, "What a JPEG of low quality loses.";
}

impl Corruption {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The name of its folder in ImageNet-C.
    pub fn folder(self) -> String {
        self.name().replace('-', "_")
    }

    /// What kind it is.
    pub fn group(self) -> Group {
        self.info().group
    }

    /// The corrupted image, at a severity from 1 to 5.
    ///
    /// `image_index` tells images of one set apart: equal images with different indices get different
    /// noise.
    pub fn apply(
        self,
        image: &Pixels,
        severity: u8,
        seed: u64,
        image_index: u64,
    ) -> Result<Pixels, CorruptError> {
        if !SEVERITIES.contains(&severity) {
            return Err(CorruptError::Severity(severity));
        }
        check_size(image)?;
        let mut random = Random::of(seed, self.name(), severity, image_index);
        Ok(self.corrupt(image, usize::from(severity - 1), &mut random))
    }
}

/// Refuses an image without pixels, or of another size than its bytes.
fn check_size(image: &Pixels) -> Result<(), CorruptError> {
    let (width, height, bytes) = (image.width, image.height, image.rgb.len());
    let wanted = width.checked_mul(height).and_then(|pixels| pixels.checked_mul(3));
    if bytes == 0 || wanted != Some(bytes) {
        return Err(CorruptError::Size { width, height, bytes });
    }
    Ok(())
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Corruption {
    type Err = CorruptError;

    /// Reads a name, with hyphens, underscores or spaces, whatever its case.
    fn from_str(text: &str) -> Result<Self, CorruptError> {
        let name = text.trim().to_lowercase().replace(['_', ' '], "-");
        Corruption::ALL
            .iter()
            .copied()
            .find(|corruption| {
                corruption.name() == name || corruption.info().aliases.contains(&&*name)
            })
            .ok_or_else(|| CorruptError::UnknownName { name: text.to_string() })
    }
}
