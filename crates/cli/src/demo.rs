//! `abstain demo`: tuned, compared and certified on the real logits that are built into the program.

use crate::tune::run_experiment;
use abstain::half::f16;
use abstain::{Labels, Logits, Method, Values};
use abstain_lab::{Experiment, Holdout, InMemory, Target, TuneReport};
use abstain_report as report;
use anyhow::{Context, Result};
use serde_json::json;
use std::io::Write;

#[derive(clap::Args)]
#[command(after_help = "Example: abstain demo --json")]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

struct Set {
    name: &'static str,
    about: &'static str,
    logits: &'static [u8],
    labels: &'static [u8],
}

macro_rules! embedded {
    ($folder:literal, $about:literal) => {
        Set {
            name: $folder,
            about: $about,
            logits: include_bytes!(concat!("../../../demo/", $folder, "/logits.npy")),
            labels: include_bytes!(concat!("../../../demo/", $folder, "/labels.npy")),
        }
    };
}

const SETS: [Set; 2] = [
    embedded!(
        "imagenet-efficientnet-lite2",
        "EfficientNet-Lite2 on ImageNet images: its MSP is broken"
    ),
    embedded!("fashion-ce", "A small CNN on Fashion-MNIST: its MSP is fine"),
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

fn tune(set: &Set) -> Result<TuneReport> {
    let (logits, labels) = read(set)?;
    let experiment = Experiment {
        methods: METHODS.iter().map(|name| name.parse()).collect::<Result<Vec<Method>, _>>()?,
        target: Some(Target::Accuracy(ACCURACY)),
        delta: Some(DELTA),
        holdout: Holdout::Share(0.5),
        ..Experiment::default()
    };
    run_experiment(&experiment, &mut InMemory::new(&logits, &labels)?, None, false)
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let mut json = Vec::new();
    for set in &SETS {
        let found = tune(set).context(set.name)?;
        if arguments.json {
            json.push(json!({ "set": set.name, "about": set.about, "report": found }));
        } else {
            let gap = if set.name == SETS[0].name { "" } else { "\n" };
            write!(out, "{gap}{}\n{}", set.about, report::tuning(&found))?;
        }
    }
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json)?)?;
    }
    Ok(())
}
