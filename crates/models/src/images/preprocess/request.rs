//! Which preprocessing a model gets: what is stated, then what the model or a file beside it says.

use super::{
    Channels, ConfigError, Crop, Interpolation, Layout, Preprocess, Resize, Rounding, Size,
};
use crate::onnx::ModelSummary;
use std::path::{Path, PathBuf};

/// The key of a model's metadata that describes its preprocessing.
const METADATA: &str = "abstain.preprocess";

/// The files beside a model that may describe it; a config.json may describe the network alone.
const BESIDE: [(&str, bool); 2] = [("preprocessor_config.json", true), ("config.json", false)];

/// What a caller states of the preprocessing; the rest is found.
#[derive(Debug, Clone, Default)]
pub struct PreprocessRequest {
    /// Where it is described.
    pub described_by: Option<DescribedBy>,
    /// The size that images get.
    pub resize: Option<Resize>,
    /// The size of the part in the middle.
    pub crop: Option<Size>,
    /// The interpolation.
    pub interpolation: Option<Interpolation>,
    /// What the values are multiplied by.
    pub rescale: Option<f64>,
    /// What is subtracted then.
    pub mean: Option<[f64; 3]>,
    /// What is divided by then.
    pub std: Option<[f64; 3]>,
    /// The order of the dimensions.
    pub layout: Option<Layout>,
    /// The order of the channels.
    pub channels: Option<Channels>,
}

/// Where a preprocessing is described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DescribedBy {
    /// The usual one of ImageNet.
    ImageNet,
    /// A file of timm or HuggingFace.
    File(PathBuf),
    /// The metadata of the model.
    Metadata,
}

/// A preprocessing, and where it is from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FoundPreprocess {
    /// How images are prepared.
    pub preprocess: Preprocess,
    /// Where it is described; nowhere if all of it is stated.
    pub described_by: Option<DescribedBy>,
    /// Whether something is stated that takes the place of what is described.
    pub changed: bool,
}

/// What must be stated where nothing describes a preprocessing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the fields")]
pub enum Unstated {
    ResizeOrCrop,
    Interpolation,
    Mean,
    Std,
}

/// Why the preprocessing of a model is not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PreprocessError {
    /// Nothing describes it, and not all of it is stated.
    #[error(
        "{}: how are images prepared for this model? Neither its metadata nor a file beside it says so",
        model.display()
    )]
    Unknown {
        /// The model.
        model: PathBuf,
        /// What is not stated.
        unstated: Vec<Unstated>,
    },
    /// The metadata of the model cannot be understood.
    #[error("{}: its metadata {METADATA}: {why}", model.display())]
    Metadata {
        /// The model.
        model: PathBuf,
        /// What is wrong.
        why: ConfigError,
    },
    /// A file cannot be understood.
    #[error("{}: {why}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: ConfigError,
    },
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] abstain_io::Error),
    /// A standard deviation is not above 0.
    #[error("standard deviations are above 0")]
    Std,
}

impl PreprocessRequest {
    /// How images are prepared for a model.
    pub fn find(
        &self,
        model: &Path,
        summary: &ModelSummary,
    ) -> Result<FoundPreprocess, PreprocessError> {
        if self.std.is_some_and(|std| std.iter().any(|value| *value <= 0.0)) {
            return Err(PreprocessError::Std);
        }
        let described = self.described(model, summary)?;
        let changed = described.is_some() && self.states_something();
        let (mut found, described_by) = match described {
            Some((preprocess, described_by)) => (preprocess, Some(described_by)),
            None => (self.without_description(model)?, None),
        };
        let rounding = found.crop.map_or(Rounding::Even, |crop| crop.rounding);
        found.crop = self.crop.map(|size| Crop { size, rounding }).or(found.crop);
        found.resize = self.resize.unwrap_or(found.resize);
        found.interpolation = self.interpolation.unwrap_or(found.interpolation);
        found.rescale = self.rescale.unwrap_or(found.rescale);
        found.mean = self.mean.unwrap_or(found.mean);
        found.std = self.std.unwrap_or(found.std);
        found.layout = self.layout.unwrap_or(found.layout);
        found.channels = self.channels.unwrap_or(found.channels);
        Ok(FoundPreprocess { preprocess: found, described_by, changed })
    }

    fn states_something(&self) -> bool {
        let Self { resize, crop, interpolation, rescale, mean, std, layout, channels, .. } = self;
        resize.is_some()
            || crop.is_some()
            || interpolation.is_some()
            || rescale.is_some()
            || mean.is_some()
            || std.is_some()
            || layout.is_some()
            || channels.is_some()
    }

    /// What a file or the model says.
    fn described(
        &self,
        model: &Path,
        summary: &ModelSummary,
    ) -> Result<Option<(Preprocess, DescribedBy)>, PreprocessError> {
        match &self.described_by {
            Some(DescribedBy::ImageNet) => {
                return Ok(Some((Preprocess::imagenet(), DescribedBy::ImageNet)));
            }
            Some(DescribedBy::File(path)) => return read_config(path).map(Some),
            Some(DescribedBy::Metadata) | None => {}
        }
        // Statements that are complete make up for a description that cannot be read.
        let complete = self.unstated().is_empty();
        if let Some(text) = summary.metadata.get(METADATA) {
            match Preprocess::from_config(text) {
                Ok(found) => return Ok(Some((found, DescribedBy::Metadata))),
                Err(_) if complete => return Ok(None),
                Err(why) => {
                    return Err(PreprocessError::Metadata { model: model.to_path_buf(), why });
                }
            }
        }
        let folder = model.parent().unwrap_or_else(|| Path::new("."));
        for (name, describes_images) in BESIDE {
            let file = folder.join(name);
            if file.is_file() {
                match read_config(&file) {
                    Err(_) if complete || !describes_images => {}
                    found => return found.map(Some),
                }
            }
        }
        Ok(None)
    }

    /// What is not stated.
    fn unstated(&self) -> Vec<Unstated> {
        let resized = self.resize.is_some();
        [
            (Unstated::ResizeOrCrop, resized || self.crop.is_some()),
            (
                Unstated::Interpolation,
                self.interpolation.is_some() || (!resized && self.crop.is_some()),
            ),
            (Unstated::Mean, self.mean.is_some()),
            (Unstated::Std, self.std.is_some()),
        ]
        .into_iter()
        .filter_map(|(what, stated)| (!stated).then_some(what))
        .collect()
    }

    /// What statements alone begin with.
    fn without_description(&self, model: &Path) -> Result<Preprocess, PreprocessError> {
        let unstated = self.unstated();
        if unstated.is_empty() {
            return Ok(Preprocess { resize: Resize::None, crop: None, ..Preprocess::imagenet() });
        }
        Err(PreprocessError::Unknown { model: model.to_path_buf(), unstated })
    }
}

fn read_config(path: &Path) -> Result<(Preprocess, DescribedBy), PreprocessError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| abstain_io::ErrorKind::from(error).of(path))?;
    let preprocess = Preprocess::from_config(&text)
        .map_err(|why| PreprocessError::Config { path: path.to_path_buf(), why })?;
    Ok((preprocess, DescribedBy::File(path.to_path_buf())))
}
