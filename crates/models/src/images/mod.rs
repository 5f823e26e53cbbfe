//! Images to logits and decisions: data sets of images, decoding, preprocessing, corruptions, and
//! the runtimes of models.

mod classifier;
pub mod corrupt;
mod dataset;
mod decode;
mod logits;
mod pass;
mod pixels;
mod predict;
mod preprocess;
mod runtime;
mod sheet;
mod shifted;

pub use classifier::{Classifier, ClassifierError, ClassifierRequest};
pub use dataset::{
    ClassOrder, Dataset, DatasetError, DatasetLayout, DatasetOptions, Item, Label, LabelError,
    resolve,
};
pub use decode::{DecodeError, Decoded, decode};
pub use logits::{
    CollectProgress, LogitsError, LogitsRequest, LogitsResult, SetResult, Skipped, collect_logits,
};
pub use pixels::Pixels;
pub use predict::{PredictError, PredictRequest, PredictSummary, Predicted, predict};
pub use preprocess::{
    Channels, ConfigError, Crop, DescribedBy, FoundPreprocess, Interpolation, Layout, Preprocess,
    PreprocessError, PreprocessRequest, Resize, Rounding, Size, Unstated,
};
pub use runtime::{Runtime, RuntimeChoice, RuntimeError, find_library};
pub use sheet::write_contact_sheet;
pub use shifted::{Shifted, find_shifted};
