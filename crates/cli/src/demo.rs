//! `abstain demo`: estimators compared on the real logits that are built into the program.

use abstain::half::f16;
use abstain::{Estimator, Labels, Logits, Losses, Metric, RcCurve, Values};
use anyhow::{Context, Result};
use comfy_table::{CellAlignment, ContentArrangement, Table, TableComponent, presets};
use serde::{Serialize, Serializer};
use std::io::Write;

#[derive(clap::Args)]
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
    embedded!("fashion-ce", "a small CNN on Fashion-MNIST: its MSP is fine"),
];

const ESTIMATORS: [&str; 12] = [
    "MSP",
    "SoftmaxMargin",
    "MaxLogit",
    "LogitsMargin",
    "NegativeEntropy",
    "NegativeGini",
    "MSP-TS(T=0.5)",
    "MaxLogit-pNorm(p=2)",
    "MaxLogit-pNorm(p=3)",
    "MaxLogit-pNorm(p=4)",
    "MaxLogit-pNorm(p=6)",
    "MaxLogit-pNorm(p=8)",
];

const METRICS: [&str; 4] = ["NAURC", "AURC", "AUROC", "SAC@0.95"];

#[derive(Serialize)]
struct Report {
    set: &'static str,
    about: &'static str,
    rows: usize,
    classes: usize,
    accuracy: Option<f64>,
    estimators: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    estimator: Estimator,
    /// In the order of `METRICS`; nothing where undefined.
    #[serde(serialize_with = "as_object")]
    metrics: Vec<(Metric, Option<f64>)>,
}

fn as_object<S: Serializer>(
    metrics: &[(Metric, Option<f64>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(metrics.iter().map(|(metric, value)| (metric, value)))
}

fn read(set: &Set) -> Result<(Logits<'static>, Losses)> {
    let npy = npyz::NpyFile::new(set.logits)?;
    let classes = usize::try_from(npy.shape()[1])?;
    let values = if npy.dtype().descr().contains("f2") {
        Values::from(npy.into_vec::<f16>()?)
    } else {
        Values::from(npy.into_vec::<f32>()?)
    };
    let logits = Logits::new(values, classes)?;
    let labels = npyz::NpyFile::new(set.labels)?.into_vec::<i64>()?;
    let losses = Losses::zero_one(&logits, &Labels::new(&labels, classes)?)?;
    Ok((logits, losses))
}

fn report(set: &Set) -> Result<Report> {
    let (logits, losses) = read(set).with_context(|| set.name)?;
    let metrics = METRICS.iter().map(|name| name.parse()).collect::<Result<Vec<Metric>, _>>()?;
    let mut estimators = Vec::new();
    let mut accuracy = None;
    for name in ESTIMATORS {
        let estimator: Estimator = name.parse()?;
        let curve = RcCurve::new(&estimator.confidences(&logits), &losses)?;
        accuracy = "Accuracy".parse::<Metric>()?.evaluate(&curve).ok();
        let metrics = metrics.iter().map(|metric| (*metric, metric.evaluate(&curve).ok()));
        estimators.push(Line { estimator, metrics: metrics.collect() });
    }
    let (rows, classes) = (logits.rows(), logits.classes());
    Ok(Report { set: set.name, about: set.about, rows, classes, accuracy, estimators })
}

fn number(value: Option<f64>) -> String {
    value.map_or("—".into(), |value| format!("{value:.4}"))
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let reports = SETS.iter().map(report).collect::<Result<Vec<_>>>()?;
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reports)?)?;
        return Ok(());
    }
    for report in &reports {
        let Report { about, rows, classes, accuracy, .. } = report;
        writeln!(out, "{about}")?;
        writeln!(out, "{rows} rows, {classes} classes, accuracy {}", number(*accuracy))?;
        let mut table = Table::new();
        table.load_preset(presets::UTF8_HORIZONTAL_ONLY);
        for between_rows in [
            TableComponent::HorizontalLines,
            TableComponent::MiddleIntersections,
            TableComponent::LeftBorderIntersections,
            TableComponent::RightBorderIntersections,
        ] {
            table.remove_style(between_rows);
        }
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header([
            "estimator",
            "NAURC ↓",
            "AURC ↓",
            "AUROC ↑",
            "coverage at 95 % accuracy ↑",
        ]);
        for line in &report.estimators {
            let numbers = line.metrics.iter().map(|(_, value)| number(*value));
            table.add_row(std::iter::once(line.estimator.to_string()).chain(numbers));
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        writeln!(out, "{table}\n")?;
    }
    writeln!(
        out,
        "NAURC is 0 for an ideal confidence and 1 for a random one. MSP is what most people use today."
    )?;
    Ok(())
}
