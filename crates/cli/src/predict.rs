//! `abstain predict`: images to decisions.

use crate::failure::hinted;
use crate::images::{ClassifierArguments, ImageArguments, not_over_images, predict_failure};
use crate::input::{estimator, not_over};
use crate::progress::Progress;
use crate::score::output_format;
use abstain_io::{Column, FieldKind, PredictionColumn, ScoreColumns, ScoreFormat, ScoreWriter};
use abstain_models::images::{PredictError, PredictRequest, predict};
use anyhow::Result;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain predict selective.onnx photos/ -o decisions.csv
  abstain predict resnet50.onnx photos/ --estimator estimator.json -o decisions.jsonl

MODEL carries an estimator (`abstain export`), or --estimator names one. Columns: image; prediction, the class (its
name, where names are known); confidence; accept, whether the confidence reaches the threshold. Images that cannot be
decoded have no row, and are listed on standard error.")]
pub(crate) struct Arguments {
    /// Model in ONNX
    model: PathBuf,
    /// Images: a folder, an image, tar archives, Parquet files or an npy of pixels
    images: PathBuf,
    /// Estimator: a file of `abstain tune` [default: the one that the model carries]
    #[arg(long, value_name = "FILE")]
    estimator: Option<PathBuf>,
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output", help = format!("File to write, in the format of its name ({}); - for standard output", ScoreFormat::names()))]
    output: PathBuf,
    /// Format of the output, if its name does not determine it [default for -: csv]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    output_format: Option<ScoreFormat>,
    /// Write the numbers of the predicted classes, where their names are known
    #[arg(long, help_heading = "Output")]
    ids: bool,
    #[command(flatten)]
    input: ImageArguments,
    #[command(flatten)]
    classifier: ClassifierArguments,
    /// No progress and no notes
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let quiet = arguments.quiet;
    let artifact = arguments.estimator.as_deref().map(estimator).transpose()?;
    let format = output_format(&arguments.output, arguments.output_format)?;
    let mut inputs = vec![arguments.model.as_path()];
    inputs.extend(arguments.estimator.as_deref());
    not_over(&arguments.output, &inputs)?;
    let dataset = arguments.input.open(&arguments.images, None, quiet)?;
    not_over_images(&arguments.output, &dataset)?;
    let (mut classifier, _) = arguments.classifier.load(&arguments.model, quiet)?;
    let carried = classifier.summary().selective.as_ref().map(|selective| &selective.artifact);
    let used = artifact.as_ref().or(carried);
    if let Some((expected, found)) =
        used.and_then(|artifact| artifact.classes).zip(classifier.classes())
        && expected != found
    {
        let problem = format!("the estimator is for {expected} classes, but the model has {found}");
        return Err(hinted(problem, "tune an estimator on logits of this model"));
    }
    let accept = used.is_some_and(|artifact| artifact.rule.is_some());
    let known = used.and_then(|artifact| artifact.class_names.clone());
    let names = arguments.input.class_names()?.or(known);
    if let Some((names, classes)) = names.as_ref().zip(classifier.classes())
        && names.len() != classes
    {
        let problem =
            format!("there are {} class names, but the model has {classes} classes", names.len());
        return Err(hinted(problem, "give the names of all classes in the model's order"));
    }
    let predictions = match names {
        Some(names) if !arguments.ids => PredictionColumn::Names(names),
        _ => PredictionColumn::Numbers,
    };
    let kept = vec![("image".to_string(), FieldKind::Text)];
    let columns = ScoreColumns { predictions, value: false, accept, kept };
    let mut writer = ScoreWriter::create(&arguments.output, format, columns)?;
    let progress = Progress::new("predicting", Some(dataset.items.len() as u64), quiet);
    let mut request = PredictRequest {
        classifier: &mut classifier,
        artifact: artifact.as_ref(),
        dataset: &dataset,
        batch: arguments.classifier.batch(),
        threads: arguments.classifier.threads(),
        orient: arguments.input.orient,
    };
    let mut done = 0;
    let summary = predict(&mut request, |rows| {
        done += rows.answers.len() as u64;
        writer.write(&rows.answers, &[], vec![Column::Texts(rows.images)])?;
        progress.at(done);
        Ok::<(), PredictError>(())
    });
    drop(progress);
    let summary = summary.map_err(predict_failure)?;
    writer.finish()?;
    for skipped in &summary.skipped {
        eprintln!("warning: {}: {}; it has no row", skipped.image, skipped.reason);
    }
    if quiet {
        return Ok(());
    }
    if let Some(accepted) = summary.accepted {
        eprintln!("note: {accepted} of {} images are accepted", summary.rows);
    } else {
        eprintln!(
            "note: the estimator has no threshold, so there is no column `accept`; \
             `abstain certify` finds one"
        );
    }
    if summary.oriented > 0 {
        let what =
            if arguments.input.orient { "were turned as" } else { "were not turned, though" };
        eprintln!("note: {} images {what} their EXIF data say (--orient)", summary.oriented);
    }
    Ok(())
}
