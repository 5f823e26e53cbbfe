//! `abstain logits`: classifiers are run over images.

use crate::failure::hinted;
use crate::images::{
    ClassifierArguments, ImageArguments, LabelArguments, dataset_failure, logits_failure,
    not_over_images,
};
use crate::input::not_over;
use crate::progress::Progress;
use abstain::Encoding;
use abstain_models::images::corrupt::{Corruption, Group, SEVERITIES};
use abstain_models::images::{
    CollectProgress, Dataset, LogitsRequest, LogitsResult, Shifted, collect_logits, find_shifted,
    write_contact_sheet,
};
use anyhow::Result;
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain logits resnet50.onnx imagenet/val -o zoo
  abstain logits a.onnx b.onnx photos/ -o zoo --preprocess imagenet --class-names classes.txt
  abstain logits resnet50.onnx imagenet/val -o zoo --shifted imagenet-c/ --shifted v2=imagenetv2/
  abstain logits resnet50.onnx photos/ -o zoo --corrupt noise,fog --contact-sheet corruptions.png
  abstain study all zoo

IMAGES is a folder with a subfolder for each class, a folder of images with --labels, tar archives (class/image.jpg,
or WebDataset's image.jpg beside image.cls), Parquet files as HuggingFace stores them, or an npy of uint8 pixels.
An interrupted run continues where it was. Images that cannot be decoded are left out and listed in skipped.csv.")]
#[expect(clippy::struct_excessive_bools, reason = "switches of the command line")]
pub(crate) struct Arguments {
    /// Models in ONNX, and the images last
    #[arg(required = true, num_args = 2.., value_names = ["MODEL", "IMAGES"])]
    paths: Vec<PathBuf>,
    /// Folder of the zoo; models are added to one that is there
    #[arg(short, long, value_name = "FOLDER", help_heading = "Output")]
    output: PathBuf,
    /// Name of the model in the zoo [default: that of its file]
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    name: Option<String>,
    /// Title of a new zoo [default: the name of the images' folder]
    #[arg(long, value_name = "TITLE", help_heading = "Output")]
    title: Option<String>,
    #[command(flatten)]
    images: ImageArguments,
    #[command(flatten)]
    labels: LabelArguments,
    /// Stop at an image that cannot be decoded, instead of leaving it out
    #[arg(long, help_heading = "Images")]
    refuse_broken: bool,
    /// Shifted images, as [NAME=]FOLDER; repeatable. ImageNet-C's folders become one set for each
    /// corruption and severity
    #[arg(long, value_name = "FOLDER", help_heading = "Shift")]
    shifted: Vec<String>,
    /// Corruptions to apply to the prepared images: names of ImageNet-C, groups (noise, blur, weather,
    /// digital) or 'all'; comma-separated or repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Shift")]
    corrupt: Vec<String>,
    /// Severities of the corruptions, 1 to 5
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = SEVERITIES, requires = "corrupt", value_parser = clap::value_parser!(u8).range(1..=5), help_heading = "Shift")]
    severities: Vec<u8>,
    /// Seed of the corruptions
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Shift")]
    seed: u64,
    /// Draw the first image with every corruption and severity into this PNG file
    #[arg(long, value_name = "FILE", requires = "corrupt", help_heading = "Shift")]
    contact_sheet: Option<PathBuf>,
    #[command(flatten)]
    classifier: ClassifierArguments,
    /// The model's outputs are probabilities, not logits
    #[arg(long, help_heading = "Model")]
    probs: bool,
    /// The model's outputs are logits, even if they look like probabilities
    #[arg(long, conflicts_with = "probs", help_heading = "Model")]
    no_probs: bool,
    /// Print what was done as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// No progress and no notes
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let Some((images, models)) = arguments.paths.split_last() else { return Ok(()) };
    if models.len() > 1 && arguments.name.is_some() {
        return Err(hinted(
            "--name is of one model",
            "leave it out: the names are those of the files",
        ));
    }
    if let Some(model) = models.iter().find(|model| model.is_dir()) {
        let problem = format!("{}: a folder, where a model is expected", model.display());
        return Err(hinted(problem, "the models come first, and one path of images last"));
    }
    let mut names = HashSet::new();
    if let Some(model) = models.iter().find(|model| !names.insert(file_name(model).to_lowercase()))
    {
        let problem = format!("{}: two models are called '{}'", model.display(), file_name(model));
        return Err(hinted(problem, "run them one after the other, with another --name"));
    }
    let corruptions = arguments.corruptions()?;
    let dataset = arguments.images.open(images, Some(&arguments.labels), arguments.quiet)?;
    if let Some(sheet) = &arguments.contact_sheet {
        let models: Vec<&Path> = models.iter().map(PathBuf::as_path).collect();
        not_over(sheet, &models)?;
        not_over_images(sheet, &dataset)?;
    }
    let mut results = Vec::new();
    for model in models {
        let result = arguments.collect(model, images, &dataset, &corruptions)?;
        if !arguments.json {
            arguments.describe(&result, out)?;
        }
        results.push(result);
    }
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&results)?)?;
    } else if !arguments.quiet {
        eprintln!("note: next, `abstain study all {}`", arguments.output.display());
    }
    Ok(())
}

/// The name of a file without its ending.
fn file_name(path: &Path) -> String {
    path.file_stem().map_or_else(|| "model".into(), |name| name.to_string_lossy().into_owned())
}

impl Arguments {
    fn collect(
        &self,
        model: &Path,
        images: &Path,
        dataset: &Dataset,
        corruptions: &[(Corruption, u8)],
    ) -> Result<LogitsResult> {
        let (mut classifier, runtime) = self.classifier.load(model, self.quiet)?;
        if let Some(path) = &self.contact_sheet {
            write_contact_sheet(dataset, &classifier, corruptions, self.seed, path)
                .map_err(logits_failure)?;
        }
        let name = self.name.clone().unwrap_or_else(|| file_name(model));
        let title = images.canonicalize().unwrap_or_else(|_| images.to_path_buf());
        let title =
            title.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into());
        let class_names = self.images.class_names()?;
        let progress = Progress::new(&name, Some(1), self.quiet);
        let request = LogitsRequest {
            classifier: &mut classifier,
            name: &name,
            model,
            runtime: &runtime.to_string(),
            encoding: match (self.probs, self.no_probs) {
                (true, _) => Some(Encoding::Probabilities { floor: None, tolerance: None }),
                (_, true) => Some(Encoding::Logits),
                _ => None,
            },
            dataset,
            class_names: class_names.as_deref(),
            class_order: self.labels.class_order,
            shifted: self.shifted()?,
            corruptions,
            seed: self.seed,
            folder: &self.output,
            title: self.title.as_deref().unwrap_or(&title),
            batch: self.classifier.batch(),
            threads: self.classifier.threads(),
            orient: self.images.orient,
            skip_broken: !self.refuse_broken,
            record_every: Duration::from_secs(2),
        };
        let result = collect_logits(request, &mut |at: &CollectProgress| {
            let set = at.set.as_ref().map_or_else(String::new, |set| format!(" {set}"));
            progress.now(format!("{name}{set}: {:.0} images/s", at.speed));
            progress.of(at.done, at.images);
        });
        drop(progress);
        result.map_err(logits_failure)
    }

    fn corruptions(&self) -> Result<Vec<(Corruption, u8)>> {
        let mut chosen: Vec<Corruption> = Vec::new();
        for name in &self.corrupt {
            let group = Group::ALL.iter().find(|group| group.name() == name);
            let found = Corruption::ALL
                .iter()
                .filter(|one| name == "all" || Some(&one.group()) == group)
                .copied();
            let before = chosen.len();
            chosen.extend(found);
            if chosen.len() == before {
                let one: Corruption = name.parse().map_err(|error| {
                    hinted(format!("--corrupt: {error}"), "or a group, or 'all'")
                })?;
                chosen.push(one);
            }
        }
        let mut severities = self.severities.clone();
        severities.sort_unstable();
        severities.dedup();
        let chosen = Corruption::ALL.iter().filter(|one| chosen.contains(one));
        Ok(chosen
            .flat_map(|&one| severities.iter().map(move |&severity| (one, severity)))
            .collect())
    }

    fn shifted(&self) -> Result<Vec<Shifted>> {
        let mut sets: Vec<Shifted> = Vec::new();
        let mut options = self.images.options(Some(&self.labels));
        // A table of labels is that of the rows; sets have theirs in their folders.
        options.labels = None;
        for given in &self.shifted {
            let (name, path) = match given.split_once('=') {
                Some((name, path)) if !Path::new(given).exists() => (Some(name), path),
                _ => (None, &given[..]),
            };
            sets.extend(find_shifted(Path::new(path), name, &options).map_err(dataset_failure)?);
        }
        Ok(sets)
    }

    fn describe(&self, result: &LogitsResult, out: &mut impl Write) -> Result<()> {
        let LogitsResult { model, rows, classes, accuracy, .. } = result;
        writeln!(
            out,
            "{model}: {rows} rows × {classes} classes, accuracy {accuracy:.3}, in {}",
            result.logits.display()
        )?;
        for set in &result.sets {
            let kind = if set.aligned { "" } else { " (other rows)" };
            writeln!(out, "  {}: {} rows{kind}, accuracy {:.3}", set.name, set.rows, set.accuracy)?;
        }
        if result.computed == 0 {
            writeln!(out, "  nothing was left to do")?;
        } else {
            let speed = result.computed as f64 / result.seconds;
            writeln!(
                out,
                "  {} images in {:.1} s, {speed:.0} images/s",
                result.computed, result.seconds
            )?;
        }
        let skipped = result.skipped.len()
            + result
                .sets
                .iter()
                .filter(|set| !set.aligned)
                .map(|set| set.skipped.len())
                .sum::<usize>();
        let of_sets = result.sets.iter().filter(|set| !set.aligned).flat_map(|set| &set.skipped);
        if let Some(first) = result.skipped.iter().chain(of_sets).next() {
            eprintln!(
                "warning: {skipped} images cannot be decoded and have no row, such as {} ({}); skipped.csv in {} and in its sets list them",
                first.image,
                first.reason,
                self.output.display()
            );
        }
        if result.oriented > 0 && !self.quiet {
            let what =
                if self.images.orient { "were turned as" } else { "were not turned, though" };
            eprintln!("note: {} images {what} their EXIF data say (--orient)", result.oriented);
        }
        Ok(())
    }
}
