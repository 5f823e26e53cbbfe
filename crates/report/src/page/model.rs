//! What the pages of `tune` and `eval` have in common: sets of rows, each with its picture.

use super::table::PageTable;
use super::{About, Detail, PageError, Tile, Tone, Verdict, conventions, render};
use crate::words;
use abstain::Estimator;
use abstain_lab::Target;
use abstain_lab::picture::{MethodPicture, Number, Picture};
use serde::Serialize;

/// A set of rows: what can be read without a script.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SetHead {
    pub(super) name: String,
    pub(super) verdict: Verdict,
    pub(super) numbers: Vec<Tile>,
    pub(super) table: PageTable,
}

/// A set of rows: what is drawn of it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SetView {
    name: String,
    /// Which of the methods is the baseline, and which is recommended.
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
    /// Its numbers in words.
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
    /// What is known of it beyond the numbers of any position.
    pub(super) note: Option<String>,
}

impl SetView {
    pub(super) fn new(
        head: &SetHead,
        picture: Picture,
        estimators: &[Option<&Estimator>],
        choice: usize,
        marks: Vec<Mark>,
    ) -> Self {
        let detail =
            |at: usize| estimators.get(at).copied().flatten().map_or(String::new(), words::numbers);
        let views = picture.methods.into_iter().enumerate();
        SetView {
            name: head.name.clone(),
            baseline: 0,
            choice,
            marks,
            rows: picture.rows,
            classes: picture.classes,
            methods: views
                .map(|(at, picture)| MethodView { detail: detail(at), picture })
                .collect(),
            oracle: picture.oracle,
        }
    }
}

/// What both kinds of pages say.
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

/// Writes the page. What is said of all sets comes before what is said of the first, which there is.
pub(super) fn page(
    about: &About,
    subtitle: &str,
    terms: Terms,
    over_all: Option<(Tone, String)>,
    heads: &[SetHead],
    sets: &[SetView],
) -> Result<String, PageError> {
    let subtitle = match &about.loss {
        Some(loss) => format!("{subtitle}; loss: {loss}"),
        None => subtitle.to_string(),
    };
    let subtitle = &subtitle;
    let details = [&about.details[..], &conventions(terms.delta)].concat();
    let mut verdict = heads[0].verdict.clone();
    if let Some((tone, sentence)) = over_all {
        let own = std::mem::replace(&mut verdict.sentence, sentence);
        verdict.notes.insert(0, own);
        verdict.tone = tone;
    }
    let head =
        Head { title: &about.title, subtitle, verdict, sets: heads, details: &details, terms };
    let data =
        Data { terms, class_names: about.class_names.as_deref(), sets, report: &about.report };
    render(TEMPLATE, &head, &data)
}

const TEMPLATE: &str = include_str!("assets/model.html");
/// How right the classifier itself is.
pub(super) fn level(accuracy: f64, zero_one: bool) -> Tile {
    if zero_one {
        Tile::new(words::percent(accuracy), "of the answers are right if it answers everything")
    } else {
        Tile::new(words::significant(1.0 - accuracy), "is the mean loss if it answers everything")
    }
}

/// AUROC for those who have not heard of it.
pub(super) fn ranking(auroc: f64, baseline: Option<f64>) -> Tile {
    let label = "is how often a right answer is given more confidence than a wrong one; guessing \
                 gives 50 %";
    let note = baseline.map(|own| format!("MSP: {}", words::percent(own)));
    Tile::new(words::percent(auroc), label).noted(note)
}
