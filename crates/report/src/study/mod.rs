//! The paper's studies as tables and figures. One file per study.
//!
//! To add one, write its file with an implementation of [`Present`] for its struct in
//! [`abstain_lab::study`], and add its line to the registry below. The choices of `abstain study`,
//! its help, `all`, the index of the results and the table in `docs/zoo.md` follow.

mod index;

pub use index::index;

use crate::figure::{Figure, Layer, Style};
use crate::sheet::{Cell, Heading, Sheet, Value};
use crate::words;
use abstain::Method;
use abstain_lab::measure::Part;
use abstain_lab::study::methods::PStar;
use abstain_lab::study::{Context, NotMeasured, Study, Unsuited};
use abstain_lab::{Spread, Zoo};
use serde_json::Value as Json;

macro_rules! registry {
    ($($module:ident::$study:ident,)*) => {
        $(mod $module;)*

        /// Every study, in the order of listings and of the index.
        pub const STUDIES: &[StudyInfo] =
            &[$(StudyInfo::of::<abstain_lab::study::$module::$study>()),*];
    };
}

registry! {
    summary::Summary,
    methods::MethodsStudy,
    scatter::ScatterStudy,
    epsilon::EpsilonStudy,
    curves::CurvesStudy,
    efficiency::EfficiencyStudy,
    exponent::ExponentStudy,
    centring::CentringStudy,
    others::OthersStudy,
    shift::ShiftStudy,
    calibration::CalibrationStudy,
    influence::InfluenceStudy,
    significance::SignificanceStudy,
    published::PublishedStudy,
}

/// A study in words, tables and figures.
pub trait Present: Study {
    /// Its heading.
    const TITLE: &'static str;

    /// What it shows, in a phrase.
    const SUMMARY: &'static str;

    /// Where the paper shows it.
    const PAPER: Option<&'static str>;

    /// Its words, tables and figures.
    fn present(&self, about: &About) -> Content;
}

/// The words, tables and figures of a study.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Content {
    /// What to conclude from it, in sentences.
    pub remarks: Vec<String>,
    /// Its tables.
    pub sheets: Vec<Sheet>,
    /// Its figures.
    pub figures: Vec<Figure>,
}

/// A study, ready to print and to write.
#[derive(Debug, Clone, PartialEq)]
pub struct Presentation {
    /// The name of the study.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Its numbers.
    pub json: Json,
    /// Its words, tables and figures.
    pub content: Content,
}

impl Presentation {
    /// Presents a study.
    pub fn new<S: Present>(study: &S, about: &About) -> Result<Self, StudyError> {
        let json = serde_json::to_value(study)?;
        Ok(Presentation { name: S::NAME, title: S::TITLE, json, content: study.present(about) })
    }
}

/// Why a study cannot be presented.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// A part that it needs was not measured.
    #[error(transparent)]
    NotMeasured(#[from] NotMeasured),
    /// Its numbers cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// A study of the registry.
#[derive(Debug, Clone, Copy)]
pub struct StudyInfo {
    /// Its name in commands and files.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What it shows, in a phrase.
    pub summary: &'static str,
    /// Where the paper shows it.
    pub paper: Option<&'static str>,
    needs: &'static [Part],
    uses: &'static [Part],
    suits: fn(&Zoo) -> Result<(), Unsuited>,
    present: fn(&Context<'_>, &About) -> Result<Presentation, StudyError>,
}

impl StudyInfo {
    const fn of<S: Present>() -> Self {
        StudyInfo {
            name: S::NAME,
            title: S::TITLE,
            summary: S::SUMMARY,
            paper: S::PAPER,
            needs: S::NEEDS,
            uses: S::USES,
            suits: S::suits,
            present: |context, about| Presentation::new(&S::new(context)?, about),
        }
    }

    /// The study of a name.
    pub fn find(name: &str) -> Option<&'static StudyInfo> {
        STUDIES.iter().find(|study| study.name == name)
    }

    /// Whether a zoo has what it shows.
    pub fn suits(&self, zoo: &Zoo) -> Result<(), Unsuited> {
        (self.suits)(zoo)
    }

    /// What is measured for it on a zoo, besides all methods on all models.
    pub fn parts(&self, zoo: &Zoo) -> impl Iterator<Item = Part> {
        let uses = self.uses.iter().filter(|part| zoo.supports(**part));
        self.needs.iter().chain(uses).copied()
    }

    /// Computes and presents it.
    pub fn present(
        &self,
        context: &Context<'_>,
        about: &About,
    ) -> Result<Presentation, StudyError> {
        (self.present)(context, about)
    }
}

/// What all captions state.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// The title of the zoo.
    pub zoo: String,
    /// The number of models.
    pub models: usize,
    /// The number of random splits.
    pub splits: usize,
    /// The number of tuning rows.
    pub tuning_rows: usize,
    /// The number of test rows.
    pub test_rows: usize,
    /// Gains up to this count as none.
    pub epsilon: f64,
    /// Whether tuned methods may fall back to MSP.
    pub falls_back: bool,
    /// The models that are shown individually.
    pub chosen: Vec<String>,
    /// Whether they were requested, and not chosen by their gains.
    pub requested: bool,
    /// The settings of the tuner, in words.
    pub settings: String,
}

impl About {
    /// "mean ± std over 10 random splits; 5,000 tuning rows, 5,000 test rows".
    pub(crate) fn protocol(&self) -> String {
        let (tuning, test) = (words::count(self.tuning_rows), words::count(self.test_rows));
        format!("{}; {tuning} tuning rows, {test} test rows", self.spread())
    }

    fn spread(&self) -> String {
        match self.splits {
            1 => "one random split".into(),
            many => format!("mean ± std over {many} random splits"),
        }
    }

    /// What is used where MSP beats a method on the hold-out.
    fn used(&self) -> &'static str {
        if self.falls_back {
            "MSP on splits where a method fell back"
        } else {
            "without a fallback to MSP"
        }
    }

    /// How an average positive gain is computed.
    fn gains(&self) -> String {
        format!(
            "{}; gains up to ε = {} count as none; {}",
            self.spread(),
            words::short(self.epsilon, 4),
            self.used()
        )
    }

    /// "14 models of Fashion-MNIST".
    fn models(&self) -> String {
        let plural = if self.models == 1 { "" } else { "s" };
        format!("{} model{plural} of {}", self.models, self.zoo)
    }

    /// Which models are shown individually, and why.
    fn shown(&self) -> String {
        if self.chosen.is_empty() {
            return "No model is shown individually".into();
        }
        let why = if self.requested {
            "as requested"
        } else {
            "the largest, the median and the smallest gain"
        };
        format!("Shown individually: {} ({why})", self.chosen.join(", "))
    }
}

/// The methods in the order of their styles, so that each looks the same in all figures.
const LOOKS: [&str; 15] = [
    "MSP",
    "MaxLogit-pNorm",
    "MSP-TS-AURC",
    "MSP-pNorm",
    "LogitsMargin",
    "MSP-TS-NLL",
    "Stack",
    "NegativeEntropy-pNorm",
    "NegativeGini-pNorm",
    "SoftmaxMargin-pNorm",
    "LogitsMargin-pNorm",
    "HTS",
    "ETS",
    "BK",
    "MaxLogit",
];

/// The style of a method in all figures.
fn look(method: Method) -> Style {
    let name = method.to_string();
    Style::series(LOOKS.iter().position(|other| **other == name).unwrap_or(LOOKS.len()))
}

/// A mean with its standard deviation, or a dash.
fn spread(value: Option<Spread>, digits: usize) -> Cell {
    value.map_or(Value::Missing.into(), |spread| Cell::spread(spread.mean, spread.std, digits))
}

/// The same in per cent.
fn percent(value: Option<Spread>, digits: usize) -> Cell {
    spread(value.map(|value| scaled(value, 100.0)), digits)
}

/// A mean with its standard deviation in another unit.
fn scaled(value: Spread, factor: f64) -> Spread {
    Spread { mean: factor * value.mean, std: factor * value.std }
}

/// A number, or a dash.
fn number(value: Option<f64>, digits: usize) -> Cell {
    value.map_or(Value::Missing.into(), |value| Cell::number(value, digits))
}

/// A p-value; small ones as "< 0.001".
fn p_value(p: f64) -> Cell {
    if p < 0.001 { Cell::text("< 0.001") } else { Cell::number(p, 3) }
}

fn headings<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Vec<Heading> {
    texts.into_iter().map(Heading::new).collect()
}

/// A line with a band of one standard deviation; points without a value interrupt it.
fn band(label: String, points: &[(f64, Option<Spread>)], style: Style) -> Layer {
    let mean =
        |(x, value): &(f64, Option<Spread>)| (*x, value.map_or(f64::NAN, |spread| spread.mean));
    let ends = |(_, value): &(f64, Option<Spread>)| {
        value.map_or((f64::NAN, f64::NAN), |spread| {
            (spread.mean - spread.std, spread.mean + spread.std)
        })
    };
    Layer::Line {
        label: Some(label),
        points: points.iter().map(mean).collect(),
        band: Some(points.iter().map(ends).collect()),
        style,
    }
}

/// The number of panels side by side: no row should be nearly empty.
fn columns(panels: usize) -> usize {
    if panels == 3 { 3 } else { panels.min(2) }
}

/// "F" for the fallback, "p* = 2" for an exponent.
fn p_star_note(p: PStar) -> String {
    match p {
        PStar::At(_) => format!("p* = {}", p_star(p)),
        other => p_star(other),
    }
}

/// "F" for the fallback, else the number.
fn p_star(p: PStar) -> String {
    match p {
        PStar::Fallback => "F".into(),
        PStar::Tuned => "tuned".into(),
        PStar::At(p) => words::short(p, 2),
    }
}

/// "ρ = 0.98", or "ρ undefined".
fn correlation(letter: &str, value: Option<f64>) -> String {
    value.map_or_else(
        || format!("{letter} undefined"),
        |value| format!("{letter} = {value:.3}").replace('-', "−"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// The table of studies in the documentation.
    fn table() -> String {
        let mut out = String::from("| study | shows | in the paper |\n|---|---|---|\n");
        for study in STUDIES {
            let paper = study.paper.unwrap_or("–");
            let _ = writeln!(out, "| `{}` | {} | {paper} |", study.name, study.summary);
        }
        out
    }

    /// `INSTA_UPDATE=always` rewrites the table, as it does snapshots.
    #[test]
    fn documentation_lists_every_study() {
        const START: &str = "| study | shows";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/zoo.md");
        let text = std::fs::read_to_string(path).expect("the documentation");
        let start = text.find(START).expect("a table of studies");
        let length = text[start..].find("\n\n").expect("text after the table") + 1;
        let found = &text[start..start + length];
        if std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always") {
            std::fs::write(path, text.replace(found, &table())).expect("written");
        } else {
            assert_eq!(found, table(), "INSTA_UPDATE=always rewrites the table");
        }
    }

    #[test]
    fn names_of_studies_are_unique_and_not_all() {
        for (index, study) in STUDIES.iter().enumerate() {
            let found = STUDIES.iter().position(|other| other.name == study.name);
            assert_eq!(found, Some(index), "{}", study.name);
            assert_ne!(study.name, "all");
        }
    }
}
