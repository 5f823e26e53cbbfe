//! `abstain demo`: tune, compare and certify on the real logits that are built into the program.

use crate::page::{provenance, write_page};
use crate::progress::Progress;
use crate::tune::on_step;
use abstain_io::{ErrorKind, FileRows, LossArgument, ReadOptions, RowFiles, Source};
use abstain_lab::{DEFAULT_DELTA, Target, TuneRequest, tune};
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
  abstain demo --page pages        # then open the pages in a browser")]
pub(crate) struct Arguments {
    /// Folder for an HTML page of each classifier
    #[arg(long, alias = "report", value_name = "FOLDER")]
    page: Option<PathBuf>,
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
            logits: include_bytes!(concat!("../demo/", $folder, "/logits.npy")),
            labels: include_bytes!(concat!("../demo/", $folder, "/labels.npy")),
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
    embedded!(
        "fashion-ce",
        "A small CNN on Fashion-MNIST: its MSP is good, and a little is left to gain",
        &FASHION
    ),
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

/// The target accuracy.
const ACCURACY: f64 = 0.95;

impl Set {
    fn rows(&self) -> Result<FileRows<'static>> {
        Ok(FileRows::open(RowFiles {
            logits: Source::bytes(format!("{}/logits.npy", self.name), self.logits),
            labels: Some(Source::bytes(format!("{}/labels.npy", self.name), self.labels)),
            options: ReadOptions::default(),
            loss: LossArgument::default(),
            group: None,
            fold_group: None,
        })?)
    }
}

fn request() -> Result<TuneRequest> {
    Ok(TuneRequest {
        methods: TuneRequest::methods_by_name(&METHODS)?,
        target: Some(Target::Accuracy(ACCURACY)),
        delta: Some(DEFAULT_DELTA),
        ..TuneRequest::default()
    })
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let mut json = Vec::new();
    if let Some(folder) = &arguments.page {
        std::fs::create_dir_all(folder).map_err(|error| ErrorKind::from(error).of(folder))?;
    }
    let request = request()?;
    for (index, set) in SETS.iter().enumerate() {
        let bar = Progress::new("tuning", Some(1), false);
        let result = tune(&request, &mut set.rows()?, &mut on_step(&bar)).context(set.name)?;
        drop(bar);
        let entry = json!({ "set": set.name, "about": set.about, "report": result.report });
        if !arguments.json {
            let gap = if index == 0 { "" } else { "\n" };
            write!(out, "{gap}{}\n{}", set.about, report::tuning(&result.report))?;
        }
        if let Some(folder) = &arguments.page {
            out.flush()?;
            let names: Vec<String> = set.classes.iter().map(|&name| name.into()).collect();
            let place = format!("built into the program: demo/{}", set.name);
            let mut provenance = provenance();
            provenance.push(Detail::new("Logits and labels", place));
            let page = TunePage {
                title: set.about.into(),
                measured_on: Some(set.name.into()),
                class_names: (!names.is_empty()).then_some(names),
                provenance,
                json: entry.clone(),
                ..TunePage::new(&result)
            };
            let file = folder.join(format!("{}.html", set.name));
            write_page(&file, &page.html()?, arguments.json)?;
        }
        json.push(entry);
    }
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json)?)?;
    }
    Ok(())
}
