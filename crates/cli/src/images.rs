//! Arguments that say what the images are, how they are prepared, and what runs the model.

use crate::failure::hinted;
use crate::input::class_names;
use abstain_models::images::{
    Channels, ClassOrder, Classifier, ClassifierError, ClassifierRequest, Dataset, DatasetError,
    DatasetLayout, DatasetOptions, DescribedBy, FoundPreprocess, Interpolation, LabelError, Layout,
    LogitsError, PredictError, PreprocessError, PreprocessRequest, Resize, Runtime, RuntimeChoice,
    RuntimeError, Size, Unstated,
};
use abstain_models::onnx::inspect;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// What the images are.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Images")]
pub(crate) struct ImageArguments {
    /// Names of the classes in the model's order: a file with one per line, or 'cat,dog,cow'
    #[arg(long, value_name = "NAMES")]
    class_names: Option<String>,
    /// Name of the column of the images in Parquet files
    #[arg(long, value_name = "NAME")]
    image_name: Option<String>,
    /// Turn images as their EXIF data say; torchvision and timm do not
    #[arg(long)]
    pub(crate) orient: bool,
}

/// Which classes the images are of; the names of folders and labels are matched with those of
/// `--class-names`.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Images")]
pub(crate) struct LabelArguments {
    /// Labels of the images: lines of NAME,LABEL, or an array in the order of an array of pixels
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Which class a folder is of: its place among the sorted names, or the number that its name is
    /// [default: sorted, if that is certain] [possible values: sorted, number]
    #[arg(long, value_name = "ORDER")]
    pub(crate) class_order: Option<ClassOrder>,
    /// Name of the column of the labels in Parquet files
    #[arg(long, value_name = "NAME")]
    labels_name: Option<String>,
}

impl ImageArguments {
    pub(crate) fn options(&self, labels: Option<&LabelArguments>) -> DatasetOptions {
        DatasetOptions {
            labels: labels.and_then(|given| given.labels.clone()),
            image_name: self.image_name.clone(),
            label_name: labels.and_then(|given| given.labels_name.clone()),
            without_labels: labels.is_none(),
        }
    }

    pub(crate) fn class_names(&self) -> Result<Option<Vec<String>>> {
        self.class_names.as_deref().map(class_names).transpose()
    }

    /// The images, and a note of how they were understood.
    pub(crate) fn open(
        &self,
        path: &Path,
        labels: Option<&LabelArguments>,
        quiet: bool,
    ) -> Result<Dataset> {
        let dataset = Dataset::open(path, &self.options(labels)).map_err(dataset_failure)?;
        if !quiet {
            let layout = match dataset.layout {
                DatasetLayout::ClassFolders => "a folder for each class",
                DatasetLayout::Flat => "images in one folder",
                DatasetLayout::Tar => "tar archives",
                DatasetLayout::Parquet => "Parquet",
                DatasetLayout::Array => "an array of pixels",
            };
            let ignored = match dataset.ignored {
                0 => String::new(),
                ignored => format!("; {ignored} other files are not read"),
            };
            let images = dataset.items.len();
            eprintln!("note: {}: {images} images ({layout}){ignored}", path.display());
        }
        Ok(dataset)
    }
}

/// Refuses an output that would replace an image.
pub(crate) fn not_over_images(output: &Path, dataset: &Dataset) -> Result<()> {
    if dataset.has_file(output) {
        let problem = format!("{} is one of the images", output.display());
        return Err(hinted(problem, "choose another name for the output"));
    }
    Ok(())
}

/// How images are prepared, and what runs the model.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Preprocessing")]
pub(crate) struct ClassifierArguments {
    /// A config.json of timm, a preprocessor_config.json of HuggingFace, or 'imagenet' (shorter side
    /// 256, middle 224, ImageNet's mean and std) [default: the model's metadata, or such a file beside it]
    #[arg(long, value_name = "FILE")]
    preprocess: Option<String>,
    /// Length of the shorter side, or HEIGHTxWIDTH whatever the ratio
    #[arg(long, value_name = "SIZE")]
    resize: Option<String>,
    /// The middle part that is used: a side, or HEIGHTxWIDTH
    #[arg(long, value_name = "SIZE")]
    crop: Option<Size>,
    /// Interpolation, smoothed as Pillow's: nearest, box, bilinear, hamming, bicubic, lanczos
    #[arg(long, value_name = "NAME")]
    interpolation: Option<Interpolation>,
    /// Factor of the values 0 to 255, such as 1/255 or 1
    #[arg(long, value_name = "X", value_parser = factor)]
    rescale: Option<f64>,
    /// Subtracted from the rescaled values: one number, or one for each channel
    #[arg(long, value_name = "M", value_parser = three, allow_hyphen_values = true)]
    mean: Option<[f64; 3]>,
    /// Divided by afterwards: one number, or one for each channel
    #[arg(long, value_name = "S", value_parser = three)]
    std: Option<[f64; 3]>,
    /// Order of the dimensions, if the model does not state it: nchw or nhwc
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<Layout>,
    /// Order of the channels: rgb or bgr
    #[arg(long, value_name = "ORDER")]
    channels: Option<Channels>,
    /// The output that has the logits, if there are several
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    logits: Option<String>,
    /// What runs the model: auto (ONNX Runtime if its library is found), rten or onnxruntime
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = ["auto", "rten", "onnxruntime"], hide_possible_values = true, help_heading = "Model")]
    runtime: String,
    /// The library of ONNX Runtime, such as libonnxruntime.so [default: ORT_DYLIB_PATH, the Python
    /// environment, the system]
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    onnxruntime: Option<PathBuf>,
    /// Images that the model gets at once
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..), help_heading = "Model")]
    batch: u16,
    /// Threads, for images and for the model [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Model")]
    threads: Option<u16>,
}

impl ClassifierArguments {
    pub(crate) fn batch(&self) -> usize {
        usize::from(self.batch)
    }

    pub(crate) fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }

    /// Loads a model; says what runs it and how images are prepared.
    pub(crate) fn load(&self, path: &Path, quiet: bool) -> Result<(Classifier, Runtime)> {
        let summary = inspect(path)?;
        let found = self.preprocess()?.find(path, &summary).map_err(preprocess_failure)?;
        let origin = origin(&found);
        if self.onnxruntime.is_some() && self.runtime == "rten" {
            let problem = "--runtime rten uses no library, but --onnxruntime names one";
            return Err(hinted(problem, "leave out one of the two"));
        }
        let choice = match (&self.onnxruntime, &self.runtime[..]) {
            (Some(path), _) => RuntimeChoice::OnnxRuntime(Some(path.clone())),
            (None, "rten") => RuntimeChoice::Rten,
            (None, "onnxruntime") => RuntimeChoice::OnnxRuntime(None),
            (None, _) => RuntimeChoice::Auto,
        };
        let runtime = choice.resolve().map_err(runtime_failure)?;
        let request = ClassifierRequest {
            path,
            summary,
            preprocess: found.preprocess,
            runtime: &runtime,
            threads: self.threads(),
            logits: self.logits.as_deref(),
        };
        let classifier = Classifier::load(&request).map_err(classifier_failure)?;
        let stated = classifier.preprocess().layout;
        if self.layout.is_some_and(|layout| layout != stated) {
            let problem = format!("{}: the model takes its input as {stated}", path.display());
            return Err(hinted(problem, "leave out --layout"));
        }
        if !quiet {
            eprintln!("note: {}: run by {runtime}", path.display());
            eprintln!("note: images: {} ({origin})", classifier.preprocess());
        }
        Ok((classifier, runtime))
    }

    /// What the options say of the preprocessing.
    fn preprocess(&self) -> Result<PreprocessRequest> {
        let described_by = self.preprocess.as_deref().map(|text| match text {
            name if name.eq_ignore_ascii_case("imagenet") => DescribedBy::ImageNet,
            file => DescribedBy::File(file.into()),
        });
        Ok(PreprocessRequest {
            described_by,
            resize: self.resize.as_deref().map(parse_resize).transpose()?,
            crop: self.crop,
            interpolation: self.interpolation,
            rescale: self.rescale,
            mean: self.mean,
            std: self.std,
            layout: self.layout,
            channels: self.channels,
        })
    }
}

/// Where a preprocessing is from.
fn origin(found: &FoundPreprocess) -> String {
    let described = match &found.described_by {
        None => return "from the options".into(),
        Some(DescribedBy::ImageNet) => "the usual ones of ImageNet".to_string(),
        Some(DescribedBy::Metadata) => "from the model's metadata".to_string(),
        Some(DescribedBy::File(path)) => format!("from {}", path.display()),
    };
    if found.changed { described + ", with changes by the options" } else { described }
}

fn preprocess_failure(error: PreprocessError) -> anyhow::Error {
    let hint = match &error {
        PreprocessError::File(_) => {
            return match error {
                PreprocessError::File(error) => error.into(),
                error => error.into(),
            };
        }
        PreprocessError::Unknown { unstated, .. } => {
            let flags = unstated.iter().map(|what| match what {
                Unstated::ResizeOrCrop => "--resize or --crop",
                Unstated::Interpolation => "--interpolation",
                Unstated::Mean => "--mean",
                Unstated::Std => "--std",
            });
            format!(
                "give --preprocess FILE (config.json of timm, preprocessor_config.json of HuggingFace), \
                 --preprocess imagenet (shorter side 256, middle 224), or {}",
                flags.collect::<Vec<_>>().join(", ")
            )
        }
        PreprocessError::Metadata { .. } => "give --preprocess".into(),
        PreprocessError::Config { .. } => {
            "state it with --resize, --crop, --interpolation, --mean and --std".into()
        }
        PreprocessError::Std => {
            return hinted(format!("--std: {error}"), "such as 0.229,0.224,0.225");
        }
        _ => return error.into(),
    };
    hinted(error.to_string(), hint)
}

fn parse_resize(text: &str) -> Result<Resize> {
    let size: Size = text.parse().map_err(|expected: String| {
        hinted(format!("--resize: '{text}' is not {expected}"), "such as 256, or 224x224")
    })?;
    Ok(if text.contains('x') { Resize::Exact(size) } else { Resize::Shorter(size.height) })
}

fn factor(text: &str) -> Result<f64, String> {
    let value = match text.split_once('/') {
        Some((above, below)) => {
            above.parse::<f64>().ok().zip(below.parse::<f64>().ok()).map(|(a, b)| a / b)
        }
        None => text.parse().ok(),
    };
    value
        .filter(|value| *value > 0.0 && value.is_finite())
        .ok_or_else(|| "a number above 0, such as 1/255".into())
}

fn three(text: &str) -> Result<[f64; 3], String> {
    let numbers: Option<Vec<f64>> = text
        .split(',')
        .map(|number| number.trim().parse().ok().filter(|number: &f64| number.is_finite()))
        .collect();
    match numbers.as_deref() {
        Some(&[one]) => Ok([one; 3]),
        Some(&[red, green, blue]) => Ok([red, green, blue]),
        _ => Err("one number, or three with commas".into()),
    }
}

pub(crate) fn runtime_failure(error: RuntimeError) -> anyhow::Error {
    let hint = match &error {
        RuntimeError::NotFound => {
            "name it with --onnxruntime FILE; `pip install onnxruntime` brings one in \
             onnxruntime/capi/, and --runtime rten needs none"
        }
        RuntimeError::Library { .. } => "--runtime rten needs no library",
        RuntimeError::Load { runtime: "rten", .. } | RuntimeError::Run { runtime: "rten", .. } => {
            "ONNX Runtime knows more operators: --runtime onnxruntime"
        }
        _ => return error.into(),
    };
    hinted(error.to_string(), hint)
}

pub(crate) fn classifier_failure(error: ClassifierError) -> anyhow::Error {
    let hint = match error {
        ClassifierError::Runtime(error) => return runtime_failure(error),
        ClassifierError::Size { .. } => "choose with --crop, or with --resize HEIGHTxWIDTH",
        ClassifierError::Outputs { .. } => "choose with --logits",
        _ => return error.into(),
    };
    hinted(error.to_string(), hint)
}

pub(crate) fn dataset_failure(error: DatasetError) -> anyhow::Error {
    let hint = match &error {
        DatasetError::File(_) => {
            return match error {
                DatasetError::File(error) => error.into(),
                error => error.into(),
            };
        }
        DatasetError::Ambiguous { what: "images", .. }
        | DatasetError::NoColumn { what: "images", .. } => "choose with --image-name",
        DatasetError::Ambiguous { .. } | DatasetError::NoColumn { .. } => {
            "choose with --labels-name"
        }
        DatasetError::Labels { .. } => {
            "lines of NAME,LABEL, where NAME is the file name of an image, with or without its ending"
        }
        DatasetError::Mixed { .. } => "give the folder of one of them",
        DatasetError::UnknownKind(path) if path.extension().is_some_and(|end| end == "onnx") => {
            "models come first, and the images last"
        }
        _ => return error.into(),
    };
    hinted(error.to_string(), hint)
}

fn label_failure(error: &LabelError) -> anyhow::Error {
    let hint = match error {
        LabelError::Missing { .. } => {
            "give --labels FILE with lines of NAME,LABEL, or a folder for each class"
        }
        LabelError::Order { names: 1, .. } => {
            "if this is a folder around those of the classes, give it; else give --class-names: the names of all \
             classes in the model's order"
        }
        LabelError::Order { numbers: true, .. } => {
            "if the names of the folders are the numbers of the classes, give --class-order number"
        }
        LabelError::Order { .. } | LabelError::NoNames { .. } | LabelError::UnknownName { .. } => {
            "give --class-names: the names of all classes in the model's order"
        }
        LabelError::NumberOrText { .. } => {
            "give --class-order number if the names are the model's class numbers (as in ImageNetV2), or \
             --class-order sorted if the model was trained with torchvision's ImageFolder"
        }
        LabelError::EmptyFolder { .. } => {
            "remove the folder if it is no class, or give --class-names with all classes in the model's order"
        }
        LabelError::NotNumber { .. } => {
            "leave out --class-order; if the order of the classes is not known, give --class-names"
        }
        LabelError::NumberOrName { .. } => {
            "give --class-order number if labels are the numbers of classes; else write them as other names"
        }
        LabelError::OutOfRange { .. } => "labels count from 0; is this the model of these images?",
        LabelError::Names { .. } => "is this the model of these images?",
        _ => return anyhow::Error::msg(error.to_string()),
    };
    hinted(error.to_string(), hint)
}

pub(crate) fn logits_failure(error: LogitsError) -> anyhow::Error {
    match error {
        LogitsError::Dataset(error) => dataset_failure(error),
        LogitsError::Label(error) => label_failure(&error),
        LogitsError::Classifier(error) => classifier_failure(error),
        LogitsError::Broken { .. } => hinted(
            error.to_string(),
            "leave out --refuse-broken: such images are then left out and listed in skipped.csv",
        ),
        LogitsError::Name { .. } => hinted(error.to_string(), "choose another --name"),
        LogitsError::SameSet { .. } => {
            hinted(error.to_string(), "name those of a folder, as in --shifted v2=FOLDER")
        }
        LogitsError::Taken { .. } => hinted(
            error.to_string(),
            "choose another --name or --output, or delete the file to replace it",
        ),
        LogitsError::PartlyAligned { .. } => hinted(
            error.to_string(),
            "a set has an image of the same name for every row, or no image of such a name",
        ),
        LogitsError::OtherRows { .. } => hinted(
            error.to_string(),
            "models of a zoo are run on the same images; choose another --output",
        ),
        LogitsError::LooksLikeProbabilities { .. } => hinted(
            error.to_string(),
            "add --probs if the model ends in a softmax, or --no-probs if these are logits",
        ),
        LogitsError::File(error) => error.into(),
        error => error.into(),
    }
}

pub(crate) fn predict_failure(error: PredictError) -> anyhow::Error {
    match error {
        PredictError::Dataset(error) => dataset_failure(error),
        PredictError::Classifier(error) => classifier_failure(error),
        PredictError::NoEstimator => hinted(
            error.to_string(),
            "give --estimator FILE, or write one into the model: `abstain export ESTIMATOR MODEL.onnx`",
        ),
        PredictError::LooksLikeProbabilities => hinted(
            error.to_string(),
            "`abstain export ESTIMATOR MODEL.onnx` uses the logits before a final softmax; or tune on the probabilities",
        ),
        PredictError::Output(error) => error.into(),
        PredictError::Lab(error) => error.into(),
        error => error.into(),
    }
}
