//! `abstain demo`: tuned, compared and certified on the real logits that are built into the program.

use abstain::certify::{Certificate, Certifier, Infeasible};
use abstain::half::f16;
use abstain::{
    Bootstrap, Estimator, Interval, Labels, Logits, Method, Metric, Profiles, RcCurve, Tuner,
    Values,
};
use anyhow::{Context, Result};
use comfy_table::{CellAlignment, ContentArrangement, Table, TableComponent, presets};
use serde::Serialize;
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

/// Methods worth showing, the baseline first and the recommended one last.
const METHODS: [&str; 6] =
    ["MSP", "LogitsMargin", "MSP-TS-AURC", "MSP-pNorm", "MaxLogit-pNorm", "Stack"];

/// The accuracy that is asked for, and how often its guarantee may fail.
const ACCURACY: f64 = 0.95;
const DELTA: f64 = 0.05;

#[derive(Serialize)]
struct Report {
    set: &'static str,
    about: &'static str,
    rows: usize,
    classes: usize,
    accuracy: f64,
    methods: Vec<Line>,
    chosen: Estimator,
    certificate: Option<Certificate>,
    #[serde(skip)]
    infeasible: Option<Infeasible>,
}

/// A method, tuned on one half of the rows and measured on the other.
#[derive(Serialize)]
struct Line {
    method: String,
    estimator: Estimator,
    fell_back: bool,
    naurc: f64,
    auroc: f64,
    coverage: f64,
    /// How much lower NAURC is than MSP's: the value and the ends of its 95 % interval.
    gain: [f64; 3],
}

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

fn report(set: &Set) -> Result<Report> {
    let (logits, labels) = read(set)?;
    let methods = METHODS.iter().map(|name| name.parse()).collect::<Result<Vec<Method>, _>>()?;
    let tuner = Tuner::default();
    let profiles = Profiles::new(&logits, &labels, &tuner.plan(&methods))?;
    let even: Vec<usize> = (0..profiles.rows()).step_by(2).collect();
    let odd: Vec<usize> = (1..profiles.rows()).step_by(2).collect();
    let (tuning, test) = (profiles.select(&even), profiles.select(&odd));
    let losses = test.losses();
    let baseline = test.confidences(&[Estimator::MSP])?.remove(0);
    let metrics = [Metric::NAURC, Metric::AUROC, format!("SAC@{ACCURACY}").parse()?];

    let mut lines = Vec::new();
    let mut chosen = (Estimator::MSP, RcCurve::new(&baseline, &losses)?);
    for method in methods {
        let tuned = tuner.tune(method, &tuning)?;
        let confidences = test.confidences(std::slice::from_ref(&tuned.estimator))?.remove(0);
        let curve = RcCurve::new(&confidences, &losses)?;
        let values = metrics.map(|metric| metric.evaluate(&curve));
        let [gain] = Bootstrap::default().differences(
            &[Metric::NAURC],
            &baseline,
            &confidences,
            &losses,
        )?[..] else {
            anyhow::bail!("one metric has one interval");
        };
        let Interval { estimate, low, high, .. } = gain?;
        lines.push(Line {
            method: method.to_string(),
            estimator: tuned.estimator.clone(),
            fell_back: tuned.fell_back,
            naurc: values[0]?,
            auroc: values[1]?,
            coverage: values[2]?,
            gain: [estimate, low, high],
        });
        // The recommended method is taken only if the other half confirms its gain.
        if method == Tuner::RECOMMENDED && low > 0.0 {
            chosen = (tuned.estimator, curve);
        }
    }
    // Two estimators were looked at on these rows, so that each has half of δ.
    let certifier = Certifier { tried: 2, ..Certifier::accuracy(ACCURACY, DELTA) };
    let certified = certifier.certify(&chosen.1)?;
    let accuracy = "Accuracy".parse::<Metric>()?.evaluate(&chosen.1)?;
    Ok(Report {
        set: set.name,
        about: set.about,
        rows: logits.rows(),
        classes: logits.classes(),
        accuracy,
        methods: lines,
        chosen: chosen.0,
        certificate: certified.ok(),
        infeasible: certified.err(),
    })
}

fn print(report: &Report, out: &mut impl Write) -> Result<()> {
    let Report { about, rows, classes, accuracy, .. } = report;
    writeln!(out, "{about}")?;
    writeln!(
        out,
        "{rows} rows, {classes} classes; tuned on one half, measured on the other (accuracy {accuracy:.3})"
    )?;
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
        "method",
        "tuned to",
        "NAURC ↓",
        "gain over MSP [95 %]",
        "AUROC ↑",
        "kept at 95 % ↑",
    ]);
    for line in &report.methods {
        let numbers: Vec<String> = line
            .estimator
            .parameters()
            .iter()
            .map(|(name, value)| format!("{name} = {}", round(*value)))
            .collect();
        let tuned = match (line.fell_back, &line.estimator) {
            (true, _) => "MSP: no gain".to_string(),
            (false, Estimator::Stack(stack)) => format!("{} scores", stack.terms().len()),
            (false, _) => numbers.join(", "),
        };
        let gain = if line.estimator == Estimator::MSP {
            String::new()
        } else {
            let [gain, low, high] = line.gain;
            format!("{gain:+.3} [{low:+.3}, {high:+.3}]")
        };
        table.add_row([
            line.method.clone(),
            tuned,
            format!("{:.4}", line.naurc),
            gain,
            format!("{:.4}", line.auroc),
            format!("{:.1} %", 100.0 * line.coverage),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    writeln!(out, "{table}")?;
    let coverage = |method: &str| {
        let line = report.methods.iter().find(|line| line.method == method);
        line.map_or(0.0, |line| 100.0 * line.coverage)
    };
    let (before, after) = (coverage("MSP"), coverage("Stack"));
    if report.chosen == Estimator::MSP {
        writeln!(
            out,
            "Keep MSP: at 95 % accuracy it answers {before:.1} % of the inputs, and nothing is surely better."
        )?;
    } else {
        writeln!(
            out,
            "Use the stack: at 95 % accuracy it answers {after:.1} % of the inputs, where MSP answers {before:.1} %."
        )?;
    }
    if let Some(own) = &report.certificate {
        let coverage = 100.0 * own.coverage();
        writeln!(
            out,
            "Certified with probability 95 %: accuracy of 95 % or more on {coverage:.1} % of the inputs \
             (errors: {} in {} rows).",
            own.errors, own.accepted
        )?;
    }
    if let Some(why) = &report.infeasible {
        writeln!(out, "No threshold for 95 % accuracy can be certified: {why}.")?;
    }
    Ok(writeln!(out)?)
}

fn round(value: f64) -> String {
    let short = format!("{value:.3}");
    short.trim_end_matches('0').trim_end_matches('.').to_string()
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let reports =
        SETS.iter().map(|set| report(set).context(set.name)).collect::<Result<Vec<_>>>()?;
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reports)?)?;
        return Ok(());
    }
    for report in &reports {
        print(report, out)?;
    }
    writeln!(out, "NAURC is 0 for an ideal confidence and 1 for a random one.")?;
    Ok(())
}
