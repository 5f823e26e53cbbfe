//! Results as one HTML file that can be mailed, opened offline and printed.
//!
//! A face fills in a [`TunePage`] or an [`EvalPage`] with what only it knows; facts, bounds and
//! pictures are assembled here. The template writes what can be read without a script: the
//! verdict, the tables, the details. A small script, no library, draws the charts as SVG: they take
//! the colours of the page, print sharply, and screen readers read their text, unlike that of a
//! canvas; a thousand points a curve need nothing faster. The script looks numbers up in the page's
//! data and does not estimate anything itself.
//!
//! A policy in the head forbids the page to load anything or to run any script but the one it contains, and all
//! text is escaped by the template or set as text: names of files, models and classes are anyone's.

mod evaluation;
mod model;
mod monitor;
mod table;
mod tuning;

pub use evaluation::{EvalPage, EvaluatedSet};
pub use monitor::monitor;
pub use table::PageTable;
pub use tuning::TunePage;

use crate::findings::{Finding, Tone, headline_first};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;
use sha2::{Digest, Sha256};

const CSS: &str = include_str!("assets/page.css");
const BASE: &str = include_str!("assets/base.html");
const MACROS: &str = include_str!("assets/macros.html");

/// What the scripts of all kinds of pages use; each kind adds the function `startPage`.
const COMMON: &str = concat!(
    include_str!("assets/format.js"),
    include_str!("assets/dom.js"),
    include_str!("assets/table.js"),
    include_str!("assets/chart.js"),
);

/// Runs last.
const START: &str = include_str!("assets/start.js");

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The rows could not be drawn.
    #[error(transparent)]
    Rows(#[from] abstain::Error),
    /// A page counts rows, and would show other numbers than those of the weights.
    #[error("a page shows rows of equal weight only")]
    Weights,
    /// A fault of the page itself, whatever the rows.
    #[error("the page cannot be written: {0}")]
    Page(String),
}

impl From<minijinja::Error> for PageError {
    fn from(error: minijinja::Error) -> Self {
        PageError::Page(error.to_string())
    }
}

impl From<serde_json::Error> for PageError {
    fn from(error: serde_json::Error) -> Self {
        PageError::Page(error.to_string())
    }
}

/// What a page states about itself.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// What is measured, mostly the name of a file.
    pub title: String,
    /// The loss, if it is not zero-one.
    pub loss: Option<String>,
    /// The names of the classes, if they have any.
    pub class_names: Option<Vec<String>>,
    /// Where the numbers come from: hashes, versions, seeds, conventions, the command.
    pub details: Vec<Detail>,
    /// What `--json` prints; the page contains it.
    pub report: serde_json::Value,
}

impl About {
    /// A loss that a reader must know about.
    fn unusual_loss(loss: &str) -> Option<String> {
        (!matches!(loss, "" | "zero-one")).then(|| loss.to_string())
    }
}

/// A line of the details.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Detail {
    /// The term.
    pub term: String,
    /// Its value.
    pub text: String,
}

impl Detail {
    /// A line.
    pub fn new(term: impl Into<String>, text: impl Into<String>) -> Self {
        Detail { term: term.into(), text: text.into() }
    }
}

/// What the numbers of a page about one classifier mean.
fn conventions(delta: f64) -> Vec<Detail> {
    let confidence = crate::words::target_percent(1.0 - delta);
    vec![
        Detail::new(
            "Threshold",
            "An input is answered if its confidence is at least the threshold. Rows of equal \
             confidence are answered together or not at all. Confidences are on the scale of the \
             column `confidence` of `abstain score`, which is the log-odds for probabilities; the \
             value on the scale of the paper is shown beside it.",
        ),
        Detail::new(
            "Positions",
            "The slider stops at about a thousand thresholds of the baseline and of the chosen \
             method, and at fewer of the others: evenly spaced by coverage, the widest for each \
             tenth of a per cent of accuracy (for other methods, each per cent), and the cheapest \
             for any costs. All counts are exact, also those on other sets.",
        ),
        Detail::new(
            "Bounds",
            format!(
                "Exact binomial (Clopper–Pearson) upper bounds on the share of errors among \
                 answers. The bounds for a threshold chosen on this page hold for all thresholds \
                 of all methods at once, with a probability of {confidence}, by a union bound. \
                 They are about future inputs like these rows, not about shifted ones. There are \
                 none on rows that tuned the estimator."
            ),
        ),
        Detail::new(
            "Bands",
            "95 % intervals of the selective risk at each coverage, one by one; the estimators are \
             not tuned again.",
        ),
        Detail::new(
            "AURC",
            "The mean selective risk over all coverages, in expectation over the order of equal \
             confidences. NAURC is AURC on a scale from 0, an ideal confidence, to 1, a random \
             one. AUROC is how often a right row has more confidence than a wrong one.",
        ),
    ]
}

/// The headline of a page or a set, and the findings below it.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    headline: Finding,
    notes: Vec<Finding>,
}

impl Verdict {
    /// The finding that must not be missed, then the others.
    pub fn new(findings: Vec<Finding>) -> Self {
        let mut findings = headline_first(findings).into_iter();
        let headline = findings.next().unwrap_or(Finding::new(Tone::Plain, ""));
        Verdict { headline, notes: findings.collect() }
    }

    /// The same below another headline.
    fn below(self, headline: Finding) -> Self {
        let notes = std::iter::once(self.headline).chain(self.notes).collect();
        Verdict { headline, notes }
    }
}

/// One of the numbers below the headline.
#[derive(Debug, Clone, Serialize)]
pub struct Tile {
    value: String,
    label: String,
    note: Option<String>,
}

impl Tile {
    /// A number and what it is.
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> Self {
        Tile { value: value.into(), label: label.into(), note: None }
    }

    fn noted(self, note: Option<String>) -> Self {
        Tile { note, ..self }
    }
}

/// Puts a page together: `head` is what the template reads, `data` what the script reads. Other
/// kinds of pages than those here have a template that extends `base.html`, and a script with a
/// function `startPage`.
pub fn render(
    template: &str,
    script: &str,
    head: &impl Serialize,
    data: &impl Serialize,
) -> Result<String, PageError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("base.html", BASE)?;
    environment.add_template("macros.html", MACROS)?;
    environment.add_template("page.html", template)?;
    let page = minijinja::Value::from(minijinja::value::Serde(head));
    let data = in_script(&serde_json::to_string(data)?);
    let js = [COMMON, script, START].concat();
    let context = context! { page, data, csp => policy(&js), css => CSS, js };
    Ok(environment.get_template("page.html")?.render(context)?)
}

/// JSON that cannot end the script element it stands in. Outside of strings JSON has none of these.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Nothing may be loaded, and only this style and this script count.
fn policy(script: &str) -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(CSS),
        hash(script)
    )
}
