//! A run that is interrupted anywhere ends with the same files as one that is not.

#![cfg(feature = "images")]

use abstain_models::images::corrupt::Corruption;
use abstain_models::images::{
    Classifier, ClassifierRequest, CollectProgress, Dataset, DatasetOptions, LogitsRequest,
    LogitsResult, Preprocess, Runtime, collect_logits,
};
use abstain_models::onnx::inspect;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/models/colours.onnx")
}

/// Images of one colour, of which some are broken.
fn images(folder: &Path) {
    for (class, name) in ["blue", "green", "red"].iter().enumerate() {
        fs::create_dir_all(folder.join(name)).expect("created");
        for number in 0..40_u8 {
            let mut colour = [number; 3];
            colour[2 - class] = 200 + number;
            let image = image::RgbImage::from_pixel(9, 8, image::Rgb(colour));
            image.save(folder.join(name).join(format!("{number:02}.png"))).expect("saved");
        }
        for number in [3, 17, 39] {
            fs::write(folder.join(name).join(format!("{number:02}.png")), b"broken")
                .expect("written");
        }
    }
}

/// Runs until `interrupted` images are done, or to the end.
fn run(photos: &Path, folder: &Path, interrupted: Option<u64>) -> Option<LogitsResult> {
    let path = model();
    let summary = inspect(&path).expect("a model");
    let preprocess =
        Preprocess::from_config(&summary.metadata["abstain.preprocess"]).expect("known");
    let request = ClassifierRequest {
        path: &path,
        summary,
        preprocess,
        runtime: &Runtime::Rten,
        threads: 2,
        logits: None,
    };
    let mut classifier = Classifier::load(&request).expect("loaded");
    let dataset = Dataset::open(photos, &DatasetOptions::default()).expect("images");
    let corruptions: Vec<(Corruption, u8)> = ["gaussian-noise", "fog"]
        .iter()
        .map(|name| (name.parse().expect("a corruption"), 3))
        .collect();
    let request = LogitsRequest {
        classifier: &mut classifier,
        name: "colours",
        model: &path,
        runtime: "rten",
        encoding: None,
        dataset: &dataset,
        class_names: None,
        class_order: None,
        shifted: Vec::new(),
        corruptions: &corruptions,
        seed: 1,
        folder,
        title: "Colours",
        batch: 4,
        threads: 2,
        orient: false,
        skip_broken: true,
        record_every: Duration::ZERO,
    };
    let mut stop = |at: &CollectProgress| {
        assert!(interrupted.is_none_or(|images| at.done < images), "interrupted");
    };
    let ran = catch_unwind(AssertUnwindSafe(|| collect_logits(request, &mut stop)));
    ran.ok().map(|result| result.expect("collected"))
}

/// The files below a folder, by their paths.
fn files(root: &Path, folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(files(root, &path));
        } else {
            let relative = path.strip_prefix(root).expect("below").to_path_buf();
            all.push((relative, fs::read(&path).expect("read")));
        }
    }
    all.sort();
    all
}

#[test]
fn an_interrupted_run_ends_with_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let (photos, whole) = (folder.path().join("photos"), folder.path().join("whole"));
    images(&photos);
    let result = run(&photos, &whole, None).expect("not interrupted");
    assert_eq!((result.rows, result.skipped.len(), result.accuracy), (111, 9, 1.0));
    assert_eq!(result.computed, 333);
    let expected = files(&whole, &whole);
    assert!(expected.iter().any(|(path, _)| path.ends_with("sets/fog-3/colours.npy")));
    for (number, stops) in
        [vec![1], vec![50], vec![4, 5, 44, 81, 119], vec![120]].into_iter().enumerate()
    {
        let parts = folder.path().join(format!("parts-{number}"));
        for stop in &stops {
            assert!(run(&photos, &parts, Some(*stop)).is_none(), "not interrupted at {stop}");
            assert!(!parts.join("colours.npy").exists());
        }
        let result = run(&photos, &parts, None).expect("not interrupted");
        if stops.last() > Some(&20) {
            assert!(result.computed < 333, "it began anew: {}", result.computed);
        }
        assert_eq!(files(&parts, &parts), expected, "{stops:?}");
    }
}
