//! Images of every kind against the pixels that Pillow gives, which `testdata/images/make.py` wrote.

#![cfg(feature = "images")]

use abstain_models::images::{Dataset, DatasetOptions, Label, Pixels, decode, resolve};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/images")
}

/// The values of an array, and the length of its rows.
fn array(name: &str) -> (Vec<u8>, usize) {
    let bytes = fs::read(folder().join(name)).expect("read");
    let file = npyz::NpyFile::new(&bytes[..]).expect("an array");
    let rows = usize::try_from(file.shape()[0]).expect("rows");
    let values: Vec<u8> = file.into_vec().expect("bytes");
    let length = values.len() / rows;
    (values, length)
}

/// The largest difference of levels.
fn difference(pixels: &Pixels, expected: &[u8]) -> u8 {
    assert_eq!(pixels.rgb.len(), expected.len());
    pixels.rgb.iter().zip(expected).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0)
}

#[test]
fn every_kind_of_image_has_the_pixels_of_pillow() {
    let (expected, length) = array("expected.npy");
    let mut names: Vec<String> = fs::read_dir(folder())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .filter(|name| {
            ![".npy", ".py", ".parquet", "refused"].iter().any(|end| name.ends_with(end))
        })
        .collect();
    names.sort();
    assert_eq!(names.len(), expected.len() / length);
    for (name, expected) in names.iter().zip(expected.chunks(length)) {
        let bytes = fs::read(folder().join(name)).expect("read");
        let found = decode(&bytes, false).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((found.pixels.width, found.pixels.height), (24, 16), "{name}");
        assert_eq!(found.oriented, name.starts_with("orientation"), "{name}");
        let apart = difference(&found.pixels, expected);
        println!("{name}: {apart}");
        // Decoders of JPEG round, and interpolate colours, in different ways.
        let allowed = match name.as_str() {
            "baseline.jpg" | "progressive.jpg" => 4,
            "full-chroma.jpg" => 2,
            "cmyk.jpg" | "grey.jpg" => 1,
            _ => 0,
        };
        assert!(apart <= allowed, "{name}: {apart} levels apart");
    }
}

#[test]
fn what_no_decoder_reads_is_refused() {
    let bytes = fs::read(folder().join("refused/palette.tif")).expect("read");
    let error = decode(&bytes, false).expect_err("refused").to_string();
    assert!(error.contains("RGBPalette"), "{error}");
}

#[test]
fn images_are_turned_on_request() {
    let (expected, length) = array("oriented.npy");
    for (expected, orientation) in expected.chunks(length).zip(2..=8) {
        let bytes = fs::read(folder().join(format!("orientation-{orientation}.png")));
        let found = decode(&bytes.expect("read"), true).expect("an image").pixels;
        let upright = if orientation < 5 { (24, 16) } else { (16, 24) };
        assert_eq!((found.width, found.height), upright, "{orientation}");
        assert_eq!(difference(&found, expected), 0, "{orientation}");
    }
}

#[test]
fn images_in_parquet_are_read_with_their_labels() {
    let path = folder().join("photos.parquet");
    let dataset = Dataset::open(&path, &DatasetOptions::default()).expect("a dataset");
    let labels: Vec<_> = dataset.items.iter().map(|item| item.label.clone()).collect();
    assert_eq!(labels, [2, 0, 1].map(|label| Some(Label::Number(label))));
    let names = ["blue", "green", "red"].map(String::from);
    assert_eq!(dataset.class_names.as_deref(), Some(&names[..]));
    assert_eq!(resolve(&dataset, 3, None, None), Ok(vec![2, 0, 1]));
}
