//! The contact sheet of corruptions.

use crate::images::classifier::Classifier;
use crate::images::corrupt::{Corruption, contact_sheet};
use crate::images::dataset::{Dataset, DatasetError, Encoded};
use crate::images::decode::decode;
use crate::images::logits::LogitsError;
use abstain_io::AtomicFile;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};
use std::path::Path;

/// Draws the first image that can be decoded, as the classifier gets it, with every corruption and
/// severity.
pub fn write_contact_sheet(
    dataset: &Dataset,
    classifier: &Classifier,
    corruptions: &[(Corruption, u8)],
    seed: u64,
    path: &Path,
) -> Result<(), LogitsError> {
    let mut reader = dataset.reader(0)?;
    let mut image = None;
    for item in 0..dataset.items.len() {
        let raw = reader.read(item..item + 1)?.pop();
        let pixels = match raw.map(crate::images::dataset::Raw::bytes).transpose()? {
            Some(Ok(Encoded::Bytes(bytes))) => decode(&bytes, false).ok().map(|one| one.pixels),
            Some(Ok(Encoded::Pixels(pixels))) => Some(pixels),
            _ => None,
        };
        if let Some(pixels) = pixels {
            image = Some(classifier.preprocess().crop(&pixels));
            break;
        }
    }
    let image = image.ok_or_else(|| DatasetError::NoImages(dataset.path.clone()))?;
    let mut chosen: Vec<Corruption> = corruptions.iter().map(|(one, _)| *one).collect();
    chosen.dedup();
    let sheet = contact_sheet(&image, &chosen, seed)?;
    let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
    let mut png = Vec::new();
    PngEncoder::new(&mut png)
        .write_image(&sheet.rgb, side(sheet.width), side(sheet.height), ExtendedColorType::Rgb8)
        .map_err(|error| DatasetError::Malformed {
            path: path.to_path_buf(),
            problem: error.to_string(),
        })?;
    Ok(AtomicFile::write_whole(path, &png)?)
}
