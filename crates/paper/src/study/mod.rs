//! The paper's studies: what was measured on every model, brought together in numbers, and these in
//! words, tables and figures. One folder or file per study.
//!
//! To add one, write its file with a struct that implements [`Study`], its numbers, and [`Present`],
//! its words, tables and figures, and add its line to the registry below. Numbers never depend on
//! how they are shown. The choices of `abstain study`, its help, `all`, the index of the results and
//! the table in `docs/zoo.md` follow.

mod context;
mod index;
mod request;
mod show;

pub use context::{Context, MethodGain};
pub use request::{Choice, StudyAnswer, StudyRequest, study};
pub use show::About;

pub(crate) use context::{json_as_array, over_splits};
pub(crate) use index::index;
use show::{
    band, columns, correlation, headings, look, number, p_star, p_star_note, p_value, percent,
    scaled, spread,
};

use crate::PaperError;
use crate::measure::MeasuredPart;
use abstain_io::zoo::Zoo;
use abstain_report::figure::Figure;
use abstain_report::sheet::Sheet;
use serde::Serialize;
use serde_json::Value as Json;
use std::fmt::Write;

macro_rules! registry {
    ($($module:ident::$study:ident,)*) => {
        $(pub mod $module;)*

        /// Every study, in the order of listings and of the index.
        pub const STUDIES: &[StudyInfo] = &[$(StudyInfo::of::<$module::$study>()),*];
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

/// A study: the numbers behind some tables and figures. Its JSON is what `--json` prints.
pub trait Study: Serialize + Sized {
    /// Its name in commands and files.
    const NAME: &'static str;

    /// What must be measured for it, besides all methods on all models.
    const NEEDS: &'static [MeasuredPart] = &[];

    /// What it shows as well, where the zoo has it.
    const USES: &'static [MeasuredPart] = &[];

    /// Whether a zoo has what it shows.
    fn suits(zoo: &Zoo) -> Result<(), Unsuited> {
        let measurable = Self::NEEDS.iter().all(|part| part.suits(zoo));
        if measurable { Ok(()) } else { Err(Unsuited::NoFurtherSets) }
    }

    /// Computes it.
    fn new(context: &Context<'_>) -> Result<Self, NotMeasured>;
}

/// A study needs a part that was not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the study needs a part that was not measured: {}", part.name())]
pub struct NotMeasured {
    /// The part.
    pub part: MeasuredPart,
}

/// Why a zoo has nothing for a study to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unsuited {
    /// No model has further sets of rows.
    #[error("the models have no further sets")]
    NoFurtherSets,
    /// No model has figures in the paper's tables.
    #[error("the paper's tables have no figures of these models")]
    NoPublishedModel,
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

impl Content {
    /// The remarks and tables, with the styles of a terminal.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for remark in &self.remarks {
            let _ = writeln!(text, "{remark}\n");
        }
        for sheet in &self.sheets {
            let _ = writeln!(text, "{}", sheet.terminal(None, true));
        }
        text
    }
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
    pub fn new<S: Present>(study: &S, about: &About) -> Result<Self, PaperError> {
        let json = serde_json::to_value(study).map_err(PaperError::of_output)?;
        Ok(Presentation { name: S::NAME, title: S::TITLE, json, content: study.present(about) })
    }
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
    needs: &'static [MeasuredPart],
    uses: &'static [MeasuredPart],
    suits: fn(&Zoo) -> Result<(), Unsuited>,
    present: fn(&Context<'_>, &About) -> Result<Presentation, PaperError>,
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
    pub fn parts(&self, zoo: &Zoo) -> impl Iterator<Item = MeasuredPart> {
        let uses = self.uses.iter().filter(|part| part.suits(zoo));
        self.needs.iter().chain(uses).copied()
    }

    /// Computes and presents it.
    pub fn present(
        &self,
        context: &Context<'_>,
        about: &About,
    ) -> Result<Presentation, PaperError> {
        (self.present)(context, about)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
