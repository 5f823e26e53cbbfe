//! What the pages of `tune` and `eval` have in common: sets of rows, each with its picture.

use super::table::PageTable;
use super::{About, Detail, PageError, Tile, Verdict, conventions, render};
use crate::findings::{self, Finding, Findings};
use crate::words;
use abstain_lab::picture::{MethodPicture, Number, Picture};
use abstain_lab::{Breakdown, Target};
use serde::Serialize;

/// A set of rows: what can be read without a script.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SetHead {
    pub(super) name: String,
    pub(super) verdict: Verdict,
    pub(super) numbers: Vec<Tile>,
    pub(super) table: PageTable,
    /// What the threshold accepts in each predicted class and group.
    pub(super) accepted: Vec<AcceptedBy>,
}

/// What the threshold accepts, by class or by group.
#[derive(Debug, Clone, Serialize)]
pub(super) struct AcceptedBy {
    table: PageTable,
    findings: Vec<Finding>,
}

impl AcceptedBy {
    pub(super) fn all(breakdown: Option<&Breakdown>) -> Vec<Self> {
        let found = breakdown.map(findings::breakdown).unwrap_or_default();
        let shown = |found: Findings| AcceptedBy {
            table: PageTable::new(&found.sheet.unwrap_or_default()),
            findings: found.findings,
        };
        found.into_iter().map(shown).collect()
    }
}

/// A set of rows: what is drawn of it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SetView {
    name: String,
    /// Where the baseline is among the methods, and where the chosen method.
    baseline: usize,
    choice: usize,
    marks: Vec<Mark>,
    rows: usize,
    classes: Option<usize>,
    methods: Vec<MethodView>,
    oracle: abstain_lab::Curve,
}

#[derive(Debug, Clone, Serialize)]
struct MethodView {
    /// Its parameters in words.
    detail: String,
    #[serde(flatten)]
    picture: MethodPicture,
}

/// An operating point that has a name.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Mark {
    pub(super) name: &'static str,
    pub(super) method: usize,
    pub(super) accepted: usize,
    pub(super) threshold: Number,
    /// What is known about it beyond the numbers of any position.
    pub(super) note: Option<String>,
}

/// Where pictures draw the baseline.
pub(super) const BASELINE: usize = 0;

impl SetView {
    /// `detail` gives the parameters of a method by its name.
    pub(super) fn new(
        head: &SetHead,
        picture: Picture,
        detail: impl Fn(&str) -> String,
        choice: usize,
        marks: Vec<Mark>,
    ) -> Self {
        let view = |picture: MethodPicture| MethodView { detail: detail(&picture.name), picture };
        SetView {
            name: head.name.clone(),
            baseline: BASELINE,
            choice,
            marks,
            rows: picture.rows,
            classes: picture.classes,
            methods: picture.methods.into_iter().map(view).collect(),
            oracle: picture.oracle,
        }
    }
}

/// What both kinds of pages state.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Terms {
    pub(super) kind: &'static str,
    pub(super) delta: f64,
    pub(super) target: Target,
    pub(super) zero_one: bool,
}

#[derive(Serialize)]
struct Head<'a> {
    title: &'a str,
    subtitle: &'a str,
    verdict: Verdict,
    sets: &'a [SetHead],
    details: &'a [Detail],
    #[serde(flatten)]
    terms: Terms,
}

#[derive(Serialize)]
struct Data<'a> {
    #[serde(flatten)]
    terms: Terms,
    class_names: Option<&'a [String]>,
    sets: &'a [SetView],
    report: &'a serde_json::Value,
}

/// Writes the page. A finding about all sets comes before those about the first set.
pub(super) fn page(
    about: &About,
    subtitle: &str,
    terms: Terms,
    over_all: Option<Finding>,
    heads: &[SetHead],
    sets: &[SetView],
) -> Result<String, PageError> {
    let subtitle = match &about.loss {
        Some(loss) => format!("{subtitle}; loss: {loss}"),
        None => subtitle.to_string(),
    };
    let details = [&about.details[..], &conventions(terms.delta)].concat();
    let mut verdict = heads[0].verdict.clone();
    if let Some(finding) = over_all {
        verdict = verdict.below(finding);
    }
    let (title, subtitle) = (&about.title[..], &subtitle[..]);
    let head = Head { title, subtitle, verdict, sets: heads, details: &details, terms };
    let data =
        Data { terms, class_names: about.class_names.as_deref(), sets, report: &about.report };
    render(TEMPLATE, SCRIPT, &head, &data)
}

const TEMPLATE: &str = include_str!("assets/model.html");

/// What is used comes before what uses it.
const SCRIPT: &str = concat!(
    include_str!("assets/point.js"),
    include_str!("assets/view.js"),
    include_str!("assets/panel.js"),
    include_str!("assets/costs.js"),
    include_str!("assets/curves.js"),
    include_str!("assets/methods.js"),
    include_str!("assets/confidence.js"),
    include_str!("assets/classes.js"),
    include_str!("assets/errors.js"),
    include_str!("assets/search.js"),
    include_str!("assets/sets.js"),
    include_str!("assets/model.js"),
);

/// The quality of the classifier without abstaining.
pub(super) fn level(accuracy: f64, zero_one: bool) -> Tile {
    if zero_one {
        Tile::new(words::percent(accuracy), "of the answers are right if it answers everything")
    } else {
        Tile::new(words::significant(1.0 - accuracy), "is the mean loss if it answers everything")
    }
}

/// AUROC in words.
pub(super) fn ranking(auroc: f64, baseline: Option<f64>) -> Tile {
    let label = "is how often a right answer has more confidence than a wrong one; guessing gives \
                 50 %";
    let note = baseline.map(|auroc| format!("MSP: {}", words::percent(auroc)));
    Tile::new(words::percent(auroc), label).noted(note)
}
