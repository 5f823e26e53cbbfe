//! The page of `abstain bench`: an overview of a zoo.

use crate::BenchAnswer;
use crate::study::methods::GainLine;
use crate::study::scatter::ScatterStudy;
use abstain::Method;
use abstain::metric::Direction::{Higher, Lower};
use abstain_lab::Spread;
use abstain_report::findings::{Finding, Tone};
use abstain_report::page::{Detail, PageError, PageTable, Tile, Verdict, render};
use abstain_report::words;
use serde::Serialize;

const TEMPLATE: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("page.js");

#[derive(Serialize)]
struct Head<'a> {
    kind: &'static str,
    title: &'a str,
    subtitle: String,
    verdict: Verdict,
    numbers: Vec<Tile>,
    table: PageTable,
    epsilon: String,
    details: &'a [Detail],
}

#[derive(Serialize)]
struct Data<'a> {
    kind: &'static str,
    title: &'a str,
    epsilon: f64,
    scatter: &'a ScatterStudy,
    gains: Gains<'a>,
    apg: Vec<Gain>,
    report: &'a serde_json::Value,
}

#[derive(Serialize)]
struct Gains<'a> {
    order: &'a [String],
    methods: &'a [GainLine],
}

#[derive(Serialize)]
struct Gain {
    method: Method,
    apg: Option<Spread>,
}

/// The page of a zoo.
pub(crate) fn zoo(answer: &BenchAnswer, provenance: Vec<Detail>) -> Result<String, PageError> {
    let BenchAnswer { summary, scatter, methods, shown, about, rows, .. } = answer;
    let mut details = vec![Detail::new("Settings", &about.settings)];
    details.extend(rows.iter().map(|(model, fingerprint)| {
        Detail::new(format!("{model}: rows and labels (SHA-256)"), fingerprint)
    }));
    details.extend(provenance);
    let content = &shown.content;
    let sheet = &content.sheets[0];
    let lower = Some(Lower);
    let better = [None, Some(Higher), lower, lower, lower, lower, Some(Higher), Some(Higher)];
    let models = summary.models.iter().map(|line| line.model.clone());
    let table = PageTable::new(sheet).better(&better).about_models(models);
    let epsilon = words::short(summary.epsilon, 4);
    let models = summary.models.len();
    let measured =
        if models == 1 { "model, measured" } else { "models, measured on the same splits" };
    let gains = [summary.largest_gain, summary.stack.largest_gain].into_iter().flatten();
    let largest = match gains.reduce(f64::max) {
        Some(gain) if gain > 0.0 => {
            Tile::new(words::signed(gain, 3), "is the largest gain in NAURC")
        }
        _ => Tile::new("none", "of them gains"),
    };
    let numbers = vec![
        Tile::new(words::count(models), measured),
        Tile::new(
            words::count(summary.improved),
            format!("of them gain more than {epsilon} in NAURC with MaxLogit-pNorm"),
        ),
        Tile::new(words::count(summary.stack.improved), "of them do with the stack"),
        largest,
    ];
    let surely_better = summary.surely_better.max(summary.stack.surely_better);
    let tone = if surely_better > 0 { Tone::Good } else { Tone::Neutral };
    let remarks = content.remarks.iter().enumerate();
    let findings = remarks
        .map(|(i, text)| Finding::new(if i == 0 { tone } else { Tone::Plain }, text.clone()));
    let verdict = Verdict::new(findings.collect());
    let head = Head {
        kind: "zoo",
        title: &about.zoo,
        subtitle: about.protocol(),
        verdict,
        numbers,
        table,
        epsilon: epsilon.clone(),
        details: &details,
    };
    let data = Data {
        kind: "zoo",
        title: &about.zoo,
        epsilon: summary.epsilon,
        scatter,
        gains: Gains { order: &methods.order, methods: &methods.gains },
        apg: summary.apg.iter().map(|gain| Gain { method: gain.method, apg: gain.apg }).collect(),
        report: &shown.json,
    };
    render(TEMPLATE, SCRIPT, &head, &data)
}
