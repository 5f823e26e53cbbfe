//! `abstain demo`: tuned, compared and certified on the real logits that are built into the program.

use crate::page::write_page;
use crate::tune::run_experiment;
use crate::zoo::folder_at;
use abstain::half::f16;
use abstain::{Labels, Logits, Method, Values};
use abstain_lab::{Experiment, Found, Holdout, InMemory, Origin, RowSource, Target};
use abstain_report as report;
use abstain_report::page::{Detail, TunePage};
use anyhow::{Context, Result};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain demo
  abstain demo --report pages      # then open the pages in a browser")]
pub(crate) struct Arguments {
    /// Write a page to look at for each classifier into this folder
    #[arg(long, value_name = "FOLDER")]
    report: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

struct Set {
    name: &'static str,
    about: &'static str,
    logits: &'static [u8],
    labels: &'static [u8],
    classes: &'static [&'static str],
}

macro_rules! embedded {
    ($folder:literal, $about:literal, $classes:expr) => {
        Set {
            name: $folder,
            about: $about,
            logits: include_bytes!(concat!("../../../demo/", $folder, "/logits.npy")),
            labels: include_bytes!(concat!("../../../demo/", $folder, "/labels.npy")),
            classes: $classes,
        }
    };
}

const SETS: [Set; 2] = [
    embedded!(
        "imagenet-efficientnet-lite2",
        "EfficientNet-Lite2 on ImageNet images: its MSP is broken",
        &[]
    ),
    embedded!("fashion-ce", "A small CNN on Fashion-MNIST: its MSP is fine", &FASHION),
];

const FASHION: [&str; 10] = [
    "T-shirt or top",
    "trousers",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
];

/// Methods worth showing, the recommended one last.
const METHODS: [&str; 5] = ["LogitsMargin", "MSP-TS-AURC", "MSP-pNorm", "MaxLogit-pNorm", "Stack"];

/// The accuracy that is asked for, and how often its guarantee may fail.
const ACCURACY: f64 = 0.95;
const DELTA: f64 = 0.05;

fn read(set: &Set) -> Result<(Logits<'static>, Labels)> {
    let npy = npyz::NpyFile::new(set.logits)?;
    let classes = usize::try_from(npy.shape()[1])?;
    let values = if npy.dtype().descr().contains("f2") {
        Values::from(npy.into_vec::<f16>()?)
    } else {
        Values::from(npy.into_vec::<f32>()?)
    };
    let labels = npyz::NpyFile::new(set.labels)?.into_vec::<i64>()?;
    Ok((Logits::new(values, classes)?, Labels::new(&labels, classes)?))
}

fn experiment() -> Result<Experiment> {
    Ok(Experiment {
        methods: METHODS.iter().map(|name| name.parse()).collect::<Result<Vec<Method>, _>>()?,
        target: Some(Target::Accuracy(ACCURACY)),
        delta: Some(DELTA),
        holdout: Holdout::Share(0.5),
        ..Experiment::default()
    })
}

fn page(
    set: &Set,
    found: &Found,
    rows: &mut InMemory<'_>,
    json: serde_json::Value,
) -> Result<String> {
    let experiment = experiment()?;
    let origin = Origin { loss: "zero-one".into(), space: "standard".into(), ..Origin::default() };
    let artifact = experiment.artifact(&found.report, &origin);
    let names: Vec<String> = set.classes.iter().map(|&name| name.into()).collect();
    let built_in = format!("built into the program: demo/{}", set.name);
    let mut provenance = vec![Detail::new("Logits and labels", built_in)];
    provenance.extend(crate::page::provenance());
    let answers = rows.answers()?;
    let page = TunePage {
        delta: experiment.delta,
        title: set.about.into(),
        measured_on: set.name.into(),
        class_names: Some(names).filter(|names| !names.is_empty()),
        provenance,
        json,
        ..TunePage::new(found, &artifact, &answers, experiment.replicates)
    };
    Ok(page.html()?)
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let mut json = Vec::new();
    if let Some(folder) = &arguments.report {
        folder_at(folder)?;
    }
    let experiment = experiment()?;
    for set in &SETS {
        let (logits, labels) = read(set)?;
        let mut rows = InMemory::new(&logits, &labels)?;
        let found = run_experiment(&experiment, &mut rows, None, false).context(set.name)?;
        let own = json!({ "set": set.name, "about": set.about, "report": found.report });
        if !arguments.json {
            let gap = if set.name == SETS[0].name { "" } else { "\n" };
            write!(out, "{gap}{}\n{}", set.about, report::tuning(&found.report))?;
        }
        if let Some(folder) = &arguments.report {
            out.flush()?;
            let html = page(set, &found, &mut rows, own.clone())?;
            write_page(&folder.join(format!("{}.html", set.name)), &html, arguments.json)?;
        }
        json.push(own);
    }
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json)?)?;
    }
    Ok(())
}
