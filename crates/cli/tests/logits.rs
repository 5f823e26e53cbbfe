//! `abstain logits` and `abstain predict`: images to logits, zoos and decisions.

#![cfg(feature = "models")]

mod common;

use assert_cmd::Command;
use common::program;
use std::fmt::Write as _;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// The program.
fn abstain() -> Command {
    Command::new(program())
}

/// A model of three colours: see testdata/models/make.py.
fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/models").join(name)
}

/// Classes in the order of the model.
const CLASSES: [&str; 3] = ["blue", "green", "red"];

/// An image of about one colour.
fn image(class: usize, number: u32) -> image::RgbImage {
    let (width, height) = (10 + number % 7, 9 + number % 5);
    image::RgbImage::from_fn(width, height, |x, y| {
        let dim = ((x * 13 + y * 7 + number * 31) % 90) as u8;
        let mut pixel = [dim; 3];
        pixel[2 - class] = 160 + dim;
        image::Rgb(pixel)
    })
}

fn encoded(class: usize, number: u32) -> Vec<u8> {
    let format =
        if number.is_multiple_of(2) { image::ImageFormat::Png } else { image::ImageFormat::Jpeg };
    let mut bytes = Cursor::new(Vec::new());
    image(class, number).write_to(&mut bytes, format).expect("encoded");
    bytes.into_inner()
}

/// Folders of classes with so many images each.
fn folders(root: &Path, count: u32) {
    for (class, name) in CLASSES.iter().enumerate() {
        fs::create_dir_all(root.join(name)).expect("created");
        for number in 0..count {
            let ending = if number.is_multiple_of(2) { "png" } else { "jpg" };
            let path = root.join(name).join(format!("{number:04}.{ending}"));
            fs::write(path, encoded(class, number)).expect("written");
        }
    }
}

fn logits(arguments: &[&str]) -> Command {
    let mut command = abstain();
    command.arg("logits").args(arguments).args(["--runtime", "rten"]);
    command
}

fn output(command: &mut Command) -> (String, String, Option<i32>) {
    let done = command.output().expect("run");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&done.stdout), text(&done.stderr), done.status.code())
}

fn path(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// The rows and columns of an array of floats, and its numbers.
fn array(path: &Path) -> (Vec<u64>, Vec<f32>) {
    let bytes = fs::read(path).expect("an array");
    let file = npyz::NpyFile::new(&bytes[..]).expect("npy");
    (file.shape().to_vec(), file.into_vec().expect("floats"))
}

fn labels(path: &Path) -> Vec<i64> {
    let bytes = fs::read(path).expect("an array");
    npyz::NpyFile::new(&bytes[..]).expect("npy").into_vec().expect("integers")
}

#[test]
fn a_folder_of_classes_becomes_a_zoo_that_studies_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let (images, zoo) = (folder.path().join("photos"), folder.path().join("zoo"));
    folders(&images, 20);
    let run =
        |name: &str| output(&mut logits(&[path(&model(name)), path(&images), "-o", path(&zoo)]));
    let (out, err, code) = run("colours.onnx");
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("colours: 60 rows × 3 classes, accuracy 1.000"), "{out}");
    assert!(err.contains("note: images: shorter side 8 (bilinear), middle 8 x 8"), "{err}");
    assert_eq!(array(&zoo.join("colours.npy")).0, [60, 3]);
    assert_eq!(labels(&zoo.join("labels.npy"))[18..22], [0, 0, 1, 1]);
    // A model with a fixed batch and channels last gives the same numbers.
    let (out, err, code) = run("colours-fixed.onnx");
    assert_eq!((code, out.contains("accuracy 1.000")), (Some(0), true), "{err}");
    let (one, other) = (array(&zoo.join("colours.npy")), array(&zoo.join("colours-fixed.npy")));
    let largest = one.1.iter().zip(&other.1).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(largest < 1e-4, "{largest}");
    let (out, err, code) = output(
        abstain()
            .args(["bench", path(&zoo), "--holdout", "20", "--splits", "2"])
            .arg("-o")
            .arg(folder.path().join("results")),
    );
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("colours-fixed"), "{out}");
    // Nothing is done twice.
    let (out, _, _) = run("colours.onnx");
    assert!(out.contains("nothing was left to do"), "{out}");
}

#[test]
fn probabilities_are_not_taken_for_logits() {
    let folder = tempfile::tempdir().expect("a folder");
    let (images, zoo) = (folder.path().join("photos"), folder.path().join("zoo"));
    folders(&images, 3);
    let softmax = model("colours-probabilities.onnx");
    let arguments = [path(&softmax), path(&images), "-o", path(&zoo)];
    let (_, err, code) = output(&mut logits(&arguments));
    assert_eq!(code, Some(2));
    assert!(err.contains("look like probabilities") && err.contains("--probs"), "{err}");
    let (_, err, code) = output(logits(&arguments).arg("--probs"));
    assert_eq!(code, Some(0), "{err}");
    let manifest = fs::read_to_string(zoo.join("zoo.toml")).expect("a manifest");
    assert!(manifest.contains("encoding = \"probabilities\""), "{manifest}");
}

#[test]
fn folders_that_are_not_the_models_classes_need_a_word() {
    let folder = tempfile::tempdir().expect("a folder");
    let (images, zoo) = (folder.path().join("photos"), folder.path().join("zoo"));
    folders(&images, 3);
    fs::remove_dir_all(images.join("green")).expect("removed");
    let colours = model("colours.onnx");
    let arguments = [path(&colours), path(&images), "-o", path(&zoo)];
    let (_, err, code) = output(&mut logits(&arguments));
    assert_eq!(code, Some(2));
    assert!(
        err.contains("2 classes in the images, but the model has 3")
            && err.contains("--class-names"),
        "{err}"
    );
    let (out, err, _) = output(logits(&arguments).args(["--class-names", "blue,green,red"]));
    assert!(out.contains("6 rows × 3 classes, accuracy 1.000"), "{err}");
    assert_eq!(labels(&zoo.join("labels.npy")), [0, 0, 0, 2, 2, 2]);
    // Numbers as names: by their value, if that is said.
    fs::rename(images.join("blue"), images.join("0")).expect("renamed");
    fs::rename(images.join("red"), images.join("2")).expect("renamed");
    let zoo = folder.path().join("numbers");
    let arguments = [path(&colours), path(&images), "-o", path(&zoo)];
    let (_, err, _) = output(&mut logits(&arguments));
    assert!(err.contains("--class-order number"), "{err}");
    let (out, err, _) = output(logits(&arguments).args(["--class-order", "number"]));
    assert!(out.contains("accuracy 1.000"), "{err}");
}

#[test]
fn a_flat_folder_takes_its_labels_from_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let (images, zoo) = (folder.path().join("photos"), folder.path().join("zoo"));
    fs::create_dir(&images).expect("created");
    let mut table = "ImageId,PredictionString\n".to_string();
    for number in 0..12 {
        let class = (number as usize * 2 + 1) % 3;
        fs::write(images.join(format!("val_{number:03}.JPEG")), encoded(class, number * 2 + 1))
            .expect("written");
        writeln!(table, "val_{number:03},{} 1 2 3 4", CLASSES[class]).expect("written");
    }
    let labels_file = folder.path().join("solution.csv");
    fs::write(&labels_file, table).expect("written");
    let colours = model("colours.onnx");
    let arguments = [path(&colours), path(&images), "-o", path(&zoo)];
    let (_, err, code) = output(&mut logits(&arguments));
    assert_eq!(code, Some(2));
    assert!(err.contains("have no label") && err.contains("--labels FILE"), "{err}");
    let (_, err, _) = output(logits(&arguments).args(["--labels", path(&labels_file)]));
    assert!(err.contains("order of the classes is not known"), "{err}");
    let named = ["--labels", path(&labels_file), "--class-names", "blue,green,red"];
    let (out, err, _) = output(logits(&arguments).args(named));
    assert!(out.contains("12 rows × 3 classes, accuracy 1.000"), "{err}");
    fs::write(&labels_file, "0\n1\n2\n").expect("written");
    let (_, err, _) = output(logits(&arguments).args(named));
    assert!(err.contains("name of an image and its label"), "{err}");
}

#[test]
fn shards_and_arrays_are_the_same_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let colours = model("colours.onnx");
    let at = |name: &str| folder.path().join(name);
    // WebDataset: an image beside its class.
    let mut tar = tar::Builder::new(fs::File::create(at("part.tar")).expect("created"));
    let mut add = |name: String, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, bytes).expect("added");
    };
    let mut pixels: Vec<u8> = Vec::new();
    let mut classes = Vec::new();
    for number in 0..9_u32 {
        let class = number as usize % 3;
        let picture = image::imageops::resize(
            &image(class, number),
            8,
            8,
            image::imageops::FilterType::Nearest,
        );
        let mut png = Cursor::new(Vec::new());
        picture.write_to(&mut png, image::ImageFormat::Png).expect("encoded");
        add(format!("{number:06}.png"), &png.into_inner());
        add(format!("{number:06}.cls"), class.to_string().as_bytes());
        pixels.extend_from_slice(picture.as_raw());
        classes.push(i64::from(number % 3));
    }
    tar.finish().expect("finished");
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (9, 8, 8, 3), }\n";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend_from_slice(&u16::try_from(header.len()).expect("short").to_le_bytes());
    npy.extend_from_slice(header.as_bytes());
    npy.extend_from_slice(&pixels);
    fs::write(at("pixels.npy"), npy).expect("written");
    let text: Vec<String> = classes.iter().map(i64::to_string).collect();
    fs::write(at("labels.csv"), text.join("\n")).expect("written");
    let (out, err, _) =
        output(&mut logits(&[path(&colours), path(&at("part.tar")), "-o", path(&at("tar"))]));
    assert!(out.contains("9 rows × 3 classes, accuracy 1.000"), "{err}");
    let (out, err, _) = output(&mut logits(&[
        path(&colours),
        path(&at("pixels.npy")),
        "-o",
        path(&at("npy")),
        "--labels",
        path(&at("labels.csv")),
    ]));
    assert!(out.contains("9 rows × 3 classes, accuracy 1.000"), "{err}");
    assert_eq!(array(&at("tar/colours.npy")), array(&at("npy/colours.npy")));
    assert_eq!(labels(&at("tar/labels.npy")), classes);
}

#[test]
fn broken_images_are_listed_and_none_is_dropped_silently() {
    let folder = tempfile::tempdir().expect("a folder");
    let (images, zoo) = (folder.path().join("photos"), folder.path().join("zoo"));
    folders(&images, 40);
    let mut broken = Vec::new();
    for (class, name) in CLASSES.iter().enumerate() {
        for number in 0..20_u32 {
            let whole = encoded(class, number);
            let file =
                format!("x{number:04}.{}", if number.is_multiple_of(2) { "png" } else { "jpg" });
            let bytes = match number % 3 {
                0 => whole[..whole.len() / 2].to_vec(),
                1 => Vec::new(),
                _ => b"<html>not found</html>".to_vec(),
            };
            fs::write(images.join(name).join(&file), bytes).expect("written");
            broken.push(format!("{name}/{file}"));
        }
    }
    let colours = model("colours.onnx");
    let arguments = [path(&colours), path(&images), "-o", path(&zoo)];
    let (_, err, code) = output(logits(&arguments).arg("--refuse-broken"));
    assert_eq!(code, Some(2));
    assert!(err.contains("blue/x0000.png: "), "{err}");
    let (out, err, code) = output(&mut logits(&arguments));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("120 rows × 3 classes, accuracy 1.000"), "{out}");
    assert!(err.contains("warning: 60 images cannot be decoded"), "{err}");
    let listed = fs::read_to_string(zoo.join("skipped.csv")).expect("a list");
    let mut names: Vec<&str> =
        listed.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    names.sort_unstable();
    broken.sort();
    assert_eq!(names, broken);
    let rows = fs::read_to_string(zoo.join("images.csv")).expect("a list");
    assert_eq!(rows.lines().count(), 121);
    // A second model leaves out the same ones.
    let fixed = model("colours-fixed.onnx");
    let (out, err, _) = output(&mut logits(&[path(&fixed), path(&images), "-o", path(&zoo)]));
    assert!(out.contains("120 rows"), "{err}");
    // Other images are not rows of this zoo.
    fs::remove_file(images.join("red/0001.jpg")).expect("removed");
    let (_, err, code) = output(logits(&arguments).args(["--name", "again"]));
    assert_eq!(code, Some(2));
    assert!(err.contains("its rows are those of other images"), "{err}");
}

#[test]
fn corruptions_and_shifted_folders_become_sets() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    folders(&at("photos"), 4);
    for severity in [1, 3] {
        folders(&at(&format!("c/blur/zoom_blur/{severity}")), 4);
    }
    folders(&at("v2"), 3);
    for (number, class) in CLASSES.iter().enumerate() {
        fs::rename(at("v2").join(class), at("v2").join(number.to_string())).expect("renamed");
    }
    let colours = model("colours.onnx");
    let zoo = at("zoo");
    let (v2, c, photos) = (format!("v2={}", path(&at("v2"))), at("c"), at("photos"));
    let (out, err, code) = output(&mut logits(&[
        path(&colours),
        path(&photos),
        "-o",
        path(&zoo),
        "--corrupt",
        "brightness,contrast",
        "--severities",
        "1,5",
        "--shifted",
        path(&c),
        "--shifted",
        &v2,
    ]));
    assert_eq!(code, Some(0), "{err}");
    for line in [
        "brightness-1: 12 rows",
        "contrast-5: 12 rows",
        "zoom-blur-3: 12 rows, accuracy 1.000",
        "v2: 9 rows (other rows), accuracy 1.000",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    // The same photos: the files of ImageNet-C were found by their names.
    assert_eq!(array(&zoo.join("sets/zoom-blur-1/colours.npy")), array(&zoo.join("colours.npy")));
    assert_ne!(array(&zoo.join("sets/contrast-5/colours.npy")), array(&zoo.join("colours.npy")));
    let manifest = fs::read_to_string(zoo.join("zoo.toml")).expect("a manifest");
    assert!(manifest.contains("labels = \"sets/v2/labels.npy\""), "{manifest}");
    assert!(manifest.contains("group = \"zoom-blur\"\nseverity = 3\naligned = true"), "{manifest}");
    let (_, err, _) = output(
        logits(&[path(&colours), path(&photos), "-o", path(&zoo)]).args(["--corrupt", "rain"]),
    );
    assert!(err.contains("no corruption is called 'rain'"), "{err}");
}

#[test]
fn preprocessing_must_be_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let images = folder.path().join("photos");
    folders(&images, 2);
    // Without the metadata, whose key is damaged.
    let bytes = fs::read(model("colours.onnx")).expect("a model");
    let at = bytes.windows(18).position(|part| part == b"abstain.preprocess").expect("the key");
    let mut other = bytes;
    other[at] = b'x';
    let bare = folder.path().join("bare.onnx");
    fs::write(&bare, other).expect("written");
    let zoo = folder.path().join("zoo");
    let arguments = [path(&bare), path(&images), "-o", path(&zoo)];
    let (_, err, code) = output(&mut logits(&arguments));
    assert_eq!(code, Some(2));
    assert!(err.contains("how are images prepared") && err.contains("--mean, --std"), "{err}");
    let (_, err, _) = output(logits(&arguments).args(["--preprocess", "imagenet"]));
    assert!(err.contains("takes images of 8 x 8, but preprocessing gives 224 x 224"), "{err}");
    let flags = [
        "--resize",
        "8",
        "--crop",
        "8",
        "--interpolation",
        "bilinear",
        "--mean",
        "0.5",
        "--std",
        "0.25",
    ];
    let (out, err, _) = output(logits(&arguments).args(flags));
    assert!(out.contains("accuracy 1.000"), "{err}");
    assert!(err.contains("(from the options)"), "{err}");
    // A file beside the model is used, and said.
    let config = r#"{"do_resize": true, "size": {"height": 8, "width": 8}, "resample": 2,
        "image_mean": [0.5, 0.5, 0.5], "image_std": [0.25, 0.25, 0.25]}"#;
    fs::write(folder.path().join("preprocessor_config.json"), config).expect("written");
    let (_, err, code) = output(logits(&arguments).args(["--name", "squashed"]));
    assert_eq!(code, Some(0), "{err}");
    assert!(
        err.contains("resized to 8 x 8 (bilinear)") && err.contains("preprocessor_config.json"),
        "{err}"
    );
    // The model states the order of its dimensions.
    let (_, err, code) = output(logits(&arguments).args(["--name", "nhwc", "--layout", "nhwc"]));
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("takes its input as nchw") && err.contains("leave out --layout"), "{err}");
    let (_, err, code) = output(logits(&arguments).args(["--name", "nchw", "--layout", "nchw"]));
    assert_eq!(code, Some(0), "{err}");
    // Blue first: the model takes red for blue.
    let (out, err, _) = output(logits(&arguments).args(["--name", "bgr", "--channels", "bgr"]));
    assert!(
        out.contains("accuracy 0.333") && err.contains("with changes by the options"),
        "{out} {err}"
    );
}

#[test]
fn predictions_are_those_of_score() {
    let folder = tempfile::tempdir().expect("a folder");
    let (images, zoo) = (folder.path().join("photos"), folder.path().join("zoo"));
    folders(&images, 6);
    fs::write(images.join("red/broken.png"), b"").expect("written");
    let colours = model("colours.onnx");
    output(&mut logits(&[path(&colours), path(&images), "-o", path(&zoo)]));
    let estimator = folder.path().join("estimator.json");
    let set = output(abstain().args([
        "threshold",
        "MaxLogit-pNorm(p=2)",
        "--at",
        "0.6",
        "-o",
        path(&estimator),
    ]));
    assert_eq!(set.2, Some(0), "{}", set.1);
    let predict = |extra: &[&str]| {
        let mut command = abstain();
        command.args(["predict", path(&colours), path(&images), "--runtime", "rten"]).args(extra);
        output(&mut command)
    };
    let (_, err, code) = predict(&[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("carries no estimator") && err.contains("abstain export"), "{err}");
    let (decisions, err, code) = predict(&["--estimator", path(&estimator)]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("red/broken.png: the file is empty; it has no row"), "{err}");
    let (scores, _, _) =
        output(abstain().args(["score", path(&estimator), path(&zoo.join("colours.npy"))]));
    let without_names: Vec<&str> =
        decisions.lines().map(|line| line.split_once(',').expect("columns").1).collect();
    assert_eq!(without_names, scores.lines().collect::<Vec<_>>());
    assert!(
        decisions.starts_with("image,prediction,confidence,accept\nblue/0000.png,0,"),
        "{decisions}"
    );
    let (named, _, _) =
        predict(&["--estimator", path(&estimator), "--class-names", "blue,green,red"]);
    assert!(named.contains("\nred/0005.jpg,red,"), "{named}");
    let (ids, _, _) =
        predict(&["--estimator", path(&estimator), "--class-names", "blue,green,red", "--ids"]);
    assert_eq!(ids, decisions);
    let lines = folder.path().join("decisions.jsonl");
    predict(&["--estimator", path(&estimator), "-o", path(&lines)]);
    let text = fs::read_to_string(&lines).expect("lines");
    assert!(text.starts_with("{\"image\":\"blue/0000.png\",\"prediction\":0,"), "{text}");
}

#[test]
fn an_exported_model_decides_as_its_estimator_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let images = folder.path().join("photos");
    folders(&images, 6);
    let (estimator, selective) =
        (folder.path().join("estimator.json"), folder.path().join("selective.onnx"));
    let colours = model("colours.onnx");
    let estimated = "MaxLogit-pNorm(p=2)";
    output(abstain().args(["threshold", estimated, "--at", "2.2915", "-o", path(&estimator)]));
    let (_, err, code) = output(abstain().args([
        "export",
        path(&estimator),
        path(&colours),
        "-o",
        path(&selective),
    ]));
    assert_eq!(code, Some(0), "{err}");
    let predict = |arguments: &[&str]| {
        let mut command = abstain();
        command.arg("predict").args(arguments).args([path(&images), "--runtime", "rten", "-q"]);
        let (out, err, code) = output(&mut command);
        assert_eq!(code, Some(0), "{err}");
        let row = |line: &str| -> Vec<String> { line.split(',').map(str::to_string).collect() };
        out.lines().skip(1).map(row).collect::<Vec<_>>()
    };
    // Another export replaces the first, and keeps what the model says of its images.
    let again = folder.path().join("again.onnx");
    let (_, err, code) =
        output(abstain().args(["export", path(&estimator), path(&selective), "-o", path(&again)]));
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(predict(&[path(&again)]), predict(&[path(&selective)]));
    let inside = predict(&[path(&selective)]);
    let beside = predict(&[path(&colours), "--estimator", path(&estimator)]);
    assert_eq!((inside.len(), beside.len()), (18, 18));
    for (one, other) in inside.iter().zip(&beside) {
        let confidence = |row: &[String]| row[2].parse::<f64>().expect("a confidence");
        assert!((confidence(one) - confidence(other)).abs() < 1e-5, "{one:?} {other:?}");
        assert_eq!((&one[..2], &one[3]), (&other[..2], &other[3]));
    }
}

#[test]
fn options_of_the_run_do_not_change_the_logits() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    folders(&at("photos"), 6);
    let (colours, photos) = (model("colours.onnx"), at("photos"));
    let run = |zoo: &str, extra: &[&str]| {
        let mut command = logits(&[path(&colours), path(&photos), "-o", path(&at(zoo))]);
        let (out, err, code) = output(command.args(extra));
        assert_eq!(code, Some(0), "{err}");
        (out, err)
    };
    let (_, err) = run("whole", &["--title", "Three colours"]);
    assert!(err.contains("note: next, `abstain study all"), "{err}");
    let manifest = fs::read_to_string(at("whole/zoo.toml")).expect("a manifest");
    assert!(manifest.contains("title = \"Three colours\""), "{manifest}");
    let (out, err) = run("single", &["--batch", "1", "--threads", "1", "--json", "-q"]);
    assert_eq!(err, "");
    let result: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&result[0]["rows"], &result[0]["accuracy"]), (&18.into(), &1.0.into()), "{out}");
    let (whole, single) = (array(&at("whole/colours.npy")), array(&at("single/colours.npy")));
    assert_eq!(whole.0, single.0);
    let apart = whole.1.iter().zip(&single.1).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart < 1e-5, "{apart}");
    // Outputs that look like probabilities, and are said not to be.
    let softmax = model("colours-probabilities.onnx");
    let forced = at("forced");
    let arguments = [path(&softmax), path(&photos), "-o", path(&forced), "--no-probs"];
    let (_, err, code) = output(&mut logits(&arguments));
    assert_eq!(code, Some(0), "{err}");
    let manifest = fs::read_to_string(at("forced/zoo.toml")).expect("a manifest");
    assert!(!manifest.contains("encoding"), "{manifest}");
    // Twice as large values before the mean is subtracted.
    let (_, err) = run("scaled", &["--rescale", "2/255"]);
    assert!(err.contains("with changes by the options"), "{err}");
    assert_ne!(array(&at("scaled/colours.npy")), whole);
}

#[test]
fn corruptions_depend_on_the_seed_and_are_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    folders(&at("photos"), 2);
    let (colours, photos, sheet) = (model("colours.onnx"), at("photos"), at("sheet.png"));
    let noise = |zoo: &str, seed: &str| {
        let zoo = at(zoo);
        let arguments = [path(&colours), path(&photos), "-o", path(&zoo), "--seed", seed];
        let shift = ["--corrupt", "gaussian-noise,fog", "--severities", "2"];
        let drawn = ["--contact-sheet", path(&sheet)];
        let (_, err, code) = output(logits(&arguments).args(shift).args(drawn));
        assert_eq!(code, Some(0), "{err}");
        array(&zoo.join("sets/gaussian-noise-2/colours.npy"))
    };
    let first = noise("a", "1");
    assert_eq!(first, noise("b", "1"));
    assert_ne!(first, noise("c", "2"));
    let drawn = image::open(&sheet).expect("a picture");
    assert!(drawn.width() > 24 && drawn.height() > 16, "{} x {}", drawn.width(), drawn.height());
}

#[test]
fn images_with_an_orientation_are_counted_and_turned_on_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let (photos, zoo) = (folder.path().join("photos"), folder.path().join("zoo"));
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/images");
    for class in CLASSES {
        fs::create_dir_all(photos.join(class)).expect("created");
        for name in ["rgb.png", "orientation-3.png"] {
            fs::copy(testdata.join(name), photos.join(class).join(name)).expect("copied");
        }
    }
    let colours = model("colours.onnx");
    let run = |zoo: &Path, extra: &[&str]| {
        let arguments = [path(&colours), path(&photos), "-o", path(zoo)];
        let (_, err, code) = output(logits(&arguments).args(extra));
        assert_eq!(code, Some(0), "{err}");
        err
    };
    let err = run(&zoo, &[]);
    assert!(err.contains("3 images were not turned, though their EXIF data say"), "{err}");
    let err = run(&folder.path().join("turned"), &["--orient"]);
    assert!(err.contains("3 images were turned as their EXIF data say"), "{err}");
}

#[test]
fn a_selective_model_gives_its_logits_and_others_must_be_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    folders(&at("photos"), 3);
    let (colours, photos, selective) = (model("colours.onnx"), at("photos"), at("selective.onnx"));
    let (_, err, code) =
        output(abstain().args(["export", "MSP", path(&colours), "-o", path(&selective)]));
    assert_eq!(code, Some(0), "{err}");
    let run = |model: &Path, zoo: &str, extra: &[&str]| {
        output(logits(&[path(model), path(&photos), "-o", path(&at(zoo))]).args(extra))
    };
    assert_eq!(run(&colours, "before", &[]).2, Some(0));
    let (_, err, code) = run(&selective, "after", &[]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(array(&at("before/colours.npy")), array(&at("after/selective.npy")));
    assert_eq!(run(&selective, "named", &["--logits", "logits"]).2, Some(0));
    assert_eq!(array(&at("before/colours.npy")), array(&at("named/selective.npy")));
    let (_, err, code) = run(&selective, "wrong", &["--logits", "scores"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("which output has the logits?") && err.contains("confidence"), "{err}");
    let (_, err, code) = output(abstain().args([
        "logits",
        path(&colours),
        path(&photos),
        "-o",
        path(&at("missing")),
        "--onnxruntime",
        "nowhere/libonnxruntime.so",
    ]));
    assert_eq!(code, Some(2));
    assert!(err.contains("nowhere/libonnxruntime.so"), "{err}");
}

#[test]
fn an_estimator_for_logits_refuses_probabilities() {
    let folder = tempfile::tempdir().expect("a folder");
    let (photos, estimator) = (folder.path().join("photos"), folder.path().join("estimator.json"));
    folders(&photos, 2);
    output(abstain().args(["threshold", "MSP", "--at", "0.6", "-o", path(&estimator)]));
    let softmax = model("colours-probabilities.onnx");
    let (_, err, code) = output(abstain().args([
        "predict",
        path(&softmax),
        path(&photos),
        "--estimator",
        path(&estimator),
        "--runtime",
        "rten",
    ]));
    assert_eq!(code, Some(2));
    assert!(err.contains("look like probabilities") && err.contains("abstain export"), "{err}");
}

#[test]
fn a_list_of_imagenets_classes_names_folders_by_their_identifiers() {
    let folder = tempfile::tempdir().expect("a folder");
    let (images, zoo) = (folder.path().join("photos"), folder.path().join("zoo"));
    folders(&images, 2);
    let synsets = ["n00000009", "n00000002", "n00000005"];
    let mut list = String::new();
    for (class, synset) in CLASSES.iter().zip(synsets) {
        fs::rename(images.join(class), images.join(synset)).expect("renamed");
        writeln!(list, "{synset} {class}, colour of {class} things").expect("written");
    }
    let names = folder.path().join("LOC_synset_mapping.txt");
    fs::write(&names, list).expect("written");
    let colours = model("colours.onnx");
    let arguments = [path(&colours), path(&images), "-o", path(&zoo)];
    let (out, err, code) = output(logits(&arguments).args(["--class-names", path(&names)]));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("6 rows × 3 classes, accuracy 1.000"), "{out}");
    assert_eq!(labels(&zoo.join("labels.npy")), [1, 1, 2, 2, 0, 0]);
}

#[test]
fn empty_folders_and_cut_archives_are_not_passed_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    folders(&at("photos"), 2);
    fs::create_dir(at("photos/black")).expect("created");
    let (colours, photos, zoo) = (model("colours.onnx"), at("photos"), at("zoo"));
    let run = |images: &Path, extra: &[&str]| {
        output(logits(&[path(&colours), path(images), "-o", path(&zoo)]).args(extra))
    };
    let (_, err, code) = run(&photos, &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("no image in the folder 'black'") && err.contains("remove"), "{err}");
    let (_, err, code) = run(&photos, &["--class-order", "number"]);
    assert_eq!((code, err.contains("'blue', which is not a number")), (Some(2), true), "{err}");
    let mut tar = tar::Builder::new(Vec::new());
    for class in CLASSES {
        tar.append_dir_all(class, photos.join(class)).expect("added");
    }
    let mut bytes = tar.into_inner().expect("finished");
    bytes.truncate(bytes.len() - 1024);
    fs::write(at("cut.tar"), &bytes).expect("written");
    let (_, err, code) = run(&at("cut.tar"), &[]);
    assert_eq!((code, err.contains("it has no end")), (Some(2), true), "{err}");
    bytes.resize(bytes.len() + 1024, 0);
    fs::write(at("whole.tar"), &bytes).expect("written");
    let (out, err, _) = run(&at("whole.tar"), &[]);
    assert!(out.contains("6 rows × 3 classes, accuracy 1.000"), "{err}");
    let (_, err, code) = run(&photos, &["--onnxruntime", "libonnxruntime.so"]);
    assert_eq!((code, err.contains("leave out one of the two")), (Some(2), true), "{err}");
    let (_, err, code) = run(&colours, &[]);
    assert_eq!((code, err.contains("hint: models come first")), (Some(2), true), "{err}");
    // One image is enough for decisions.
    let estimator = at("estimator.json");
    output(abstain().args(["threshold", "MSP", "--at", "0.6", "-o", path(&estimator)]));
    let (out, err, code) = output(abstain().args([
        "predict",
        path(&colours),
        path(&photos.join("red/0000.png")),
        "--estimator",
        path(&estimator),
        "--runtime",
        "rten",
    ]));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("\n0000.png,2,"), "{out}");
}

#[test]
fn a_name_in_a_table_must_mean_one_image() {
    let folder = tempfile::tempdir().expect("a folder");
    let (images, zoo) = (folder.path().join("photos"), folder.path().join("zoo"));
    folders(&images, 1);
    let table = folder.path().join("labels.csv");
    fs::write(&table, "0000.png,0\n").expect("written");
    let colours = model("colours.onnx");
    let arguments = [path(&colours), path(&images), "-o", path(&zoo), "--labels", path(&table)];
    let (_, err, code) = output(&mut logits(&arguments));
    assert_eq!(code, Some(2));
    assert!(err.contains("3 of 3 images have no label, such as blue/0000.png"), "{err}");
}

#[test]
fn a_finished_set_is_not_taken_for_another_of_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    folders(&at("photos"), 3);
    folders(&at("c/contrast/5"), 3);
    let (colours, photos, zoo, shifted) = (model("colours.onnx"), at("photos"), at("zoo"), at("c"));
    let run = |extra: &[&str]| {
        output(logits(&[path(&colours), path(&photos), "-o", path(&zoo)]).args(extra))
    };
    let corrupt = ["--corrupt", "contrast", "--severities", "5"];
    let both = [&corrupt[..], &["--shifted", path(&shifted)]].concat();
    let (_, err, code) = run(&both);
    assert_eq!(code, Some(2));
    assert!(err.contains("two sets are called 'contrast-5'") && err.contains("v2=FOLDER"), "{err}");
    assert_eq!(run(&corrupt).2, Some(0));
    let drawn = array(&zoo.join("sets/contrast-5/colours.npy"));
    // The same names and labels, but other images: those of the folder are the clean ones.
    let (_, err, code) = run(&["--shifted", path(&shifted)]);
    assert_eq!(code, Some(2));
    assert!(err.contains("sets/contrast-5/colours.npy: it is there already"), "{err}");
    assert!(err.contains("from another corruption"), "{err}");
    assert_eq!(array(&zoo.join("sets/contrast-5/colours.npy")), drawn);
    fs::remove_file(zoo.join("sets/contrast-5/colours.npy")).expect("removed");
    let (_, err, code) = run(&["--shifted", path(&shifted)]);
    assert_eq!(code, Some(0), "{err}");
    let found = array(&zoo.join("sets/contrast-5/colours.npy"));
    assert_ne!(found, drawn);
    assert_eq!(found, array(&zoo.join("colours.npy")));
    let named = format!("other={}", path(&shifted));
    let (out, err, _) = run(&["--shifted", &named]);
    assert!(out.contains("other-contrast-5: 9 rows, accuracy 1.000"), "{out} {err}");
    // One image is missing: the set is neither the rows nor something else.
    fs::remove_file(at("c/contrast/5/red/0001.jpg")).expect("removed");
    let (_, err, code) = run(&["--shifted", path(&shifted)]);
    assert_eq!(code, Some(2));
    assert!(err.contains("none of 1 others, such as red/0001.jpg"), "{err}");
}

#[test]
fn nothing_of_another_model_or_zoo_is_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    folders(&at("photos"), 2);
    for place in ["a", "b", "c"] {
        fs::create_dir(at(place)).expect("created");
    }
    fs::copy(model("colours.onnx"), at("a/model.onnx")).expect("copied");
    fs::copy(model("colours-fixed.onnx"), at("b/model.onnx")).expect("copied");
    fs::copy(model("colours.onnx"), at("c/labels.onnx")).expect("copied");
    let (one, other, labels_model) = (at("a/model.onnx"), at("b/model.onnx"), at("c/labels.onnx"));
    let (photos, zoo) = (at("photos"), at("zoo"));
    let run = |models: &[&str], extra: &[&str]| {
        let all = [models, &[path(&photos), "-o", path(&zoo)], extra].concat();
        output(&mut logits(&all))
    };
    let (_, err, code) = run(&[path(&one), path(&other)], &[]);
    assert_eq!((code, err.contains("two models are called 'model'")), (Some(2), true), "{err}");
    assert_eq!(run(&[path(&one)], &[]).2, Some(0));
    let before = array(&zoo.join("model.npy"));
    let (_, err, code) = run(&[path(&other)], &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("model.npy: it is there already, from another"), "{err}");
    assert!(err.contains("model") && err.contains("--name"), "{err}");
    assert_eq!(array(&zoo.join("model.npy")), before);
    let (_, err, code) = run(&[path(&labels_model)], &[]);
    assert_eq!((code, err.contains("cannot be called 'labels'")), (Some(2), true), "{err}");
    let (_, err, code) = run(&[path(&one)], &["--name", "a/b"]);
    assert_eq!((code, err.contains("cannot be called 'a/b'")), (Some(2), true), "{err}");
    // Other settings: nothing is replaced, and nothing that is said of it.
    let manifest = fs::read_to_string(zoo.join("zoo.toml")).expect("a manifest");
    for (extra, expected) in [
        (&["--probs"][..], "from another encoding\n"),
        (&["--batch", "5", "--orient"], "from another batch, orient\n"),
    ] {
        let (_, err, code) = run(&[path(&one)], extra);
        assert_eq!(code, Some(2));
        assert!(err.contains(expected), "{err}");
    }
    assert_eq!(fs::read_to_string(zoo.join("zoo.toml")).expect("a manifest"), manifest);
    fs::write(zoo.join("mine.npy"), "mine").expect("written");
    let (_, err, code) = run(&[path(&one)], &["--name", "mine"]);
    assert_eq!((code, err.contains("from another run")), (Some(2), true), "{err}");
    let photo = at("photos/red/0000.png");
    let over = ["--name", "b", "--corrupt", "fog", "--contact-sheet", path(&photo)];
    let (_, err, code) = run(&[path(&one)], &over);
    assert_eq!((code, err.contains("is one of the images")), (Some(2), true), "{err}");
    // Labels of someone else.
    fs::create_dir(at("theirs")).expect("created");
    fs::copy(zoo.join("labels.npy"), at("theirs/labels.npy")).expect("copied");
    let theirs = at("theirs");
    let (_, err, code) = output(&mut logits(&[path(&one), path(&photos), "-o", path(&theirs)]));
    assert_eq!(code, Some(2));
    assert!(err.contains("labels.npy: its rows are those of other images"), "{err}");
    assert!(!theirs.join("model.npy").exists());
}

#[test]
fn options_replace_a_description_that_cannot_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    folders(&at("photos"), 2);
    let bytes = fs::read(model("colours.onnx")).expect("a model");
    let key = bytes.windows(18).position(|part| part == b"abstain.preprocess").expect("the key");
    let mut other = bytes;
    other[key] = b'x';
    fs::write(at("bare.onnx"), other).expect("written");
    fs::write(at("preprocessor_config.json"), r#"{"size": 8, "image_mean": [0, 0, 0]}"#)
        .expect("written");
    let (bare, photos, zoo) = (at("bare.onnx"), at("photos"), at("zoo"));
    let arguments = [path(&bare), path(&photos), "-o", path(&zoo)];
    let (_, err, code) = output(&mut logits(&arguments));
    assert_eq!(code, Some(2));
    assert!(err.contains("preprocessor_config.json") && err.contains("--interpolation"), "{err}");
    let all = "--resize 8 --crop 8 --interpolation bilinear --mean 0.5 --std 0.25";
    let (out, err, code) = output(logits(&arguments).args(all.split(' ')));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("accuracy 1.000") && err.contains("(from the options)"), "{err}");
}

#[test]
fn labels_are_matched_by_name_where_both_sides_have_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let colours = model("colours.onnx");
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/images/photos.parquet");
    let zoo = at("zoo");
    // The dataset's classes are blue, green and red, and its labels 2, 0 and 1.
    let arguments = [path(&colours), path(&stored), "-o", path(&zoo)];
    let (_, err, code) = output(logits(&arguments).args(["--class-names", "red,blue,green"]));
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(labels(&zoo.join("labels.npy")), [0, 1, 2]);
    let other = at("other");
    let arguments = [path(&colours), path(&stored), "-o", path(&other)];
    let (_, err, code) = output(logits(&arguments).args(["--class-names", "red,blue,lime"]));
    assert_eq!((code, err.contains("'green'")), (Some(2), true), "{err}");
    // Names that are numbers, of other classes.
    fs::create_dir(at("flat")).expect("created");
    for class in 0..3_u32 {
        let bytes = encoded(class as usize, 2 * class);
        fs::write(at("flat").join(format!("{class}.png")), bytes).expect("written");
    }
    fs::write(at("labels.csv"), "0.png,1\n1.png,2\n2.png,2\n").expect("written");
    let (flat, table, zoo) = (at("flat"), at("labels.csv"), at("numbers"));
    let arguments = [path(&colours), path(&flat), "-o", path(&zoo), "--labels", path(&table)];
    let named = [&arguments[..], &["--class-names", "1,2,3"]].concat();
    let (_, err, code) = output(&mut logits(&named));
    assert_eq!(code, Some(2));
    assert!(err.contains("the name of class 0") && err.contains("--class-order number"), "{err}");
    let (_, err, code) = output(logits(&named).args(["--class-order", "number"]));
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(labels(&zoo.join("labels.npy")), [1, 2, 2]);
}
