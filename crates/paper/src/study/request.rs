//! The paper's experiments on a zoo.

use super::{About, Context, Presentation, STUDIES, StudyInfo};
use crate::bench::check_models;
use crate::measure::{MeasuredPart, ModelStep, Runner};
use crate::{BenchRequest, PaperError, Written, Zoo, folder};
use serde::{Serialize, Serializer};
use std::fmt::Write;
use std::str::FromStr;

/// One study, or all that have something to show.
#[derive(Debug, Clone, Copy)]
pub enum Choice {
    /// Those that suit the zoo.
    All,
    /// This one; it is an error if it does not suit the zoo.
    One(&'static StudyInfo),
}

impl FromStr for Choice {
    type Err = PaperError;

    /// The name of a study, or `all`.
    fn from_str(name: &str) -> Result<Self, PaperError> {
        if name == "all" {
            return Ok(Choice::All);
        }
        let unknown = || PaperError::UnknownStudy { name: name.to_string() };
        StudyInfo::find(name).map(Choice::One).ok_or_else(unknown)
    }
}

impl Choice {
    /// The page of results in the folder: that of one study does not replace that of all.
    fn page(self) -> String {
        match self {
            Choice::All => "README.md".into(),
            Choice::One(study) => format!("{}.md", study.name),
        }
    }

    fn studies(self, zoo: &Zoo) -> Result<Vec<&'static StudyInfo>, PaperError> {
        match self {
            Choice::All => Ok(STUDIES.iter().filter(|study| study.suits(zoo).is_ok()).collect()),
            Choice::One(study) => {
                study.suits(zoo)?;
                Ok(vec![study])
            }
        }
    }
}

/// Which studies to run, and how.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StudyRequest {
    /// The studies.
    pub studies: Choice,
    /// Models to show individually; without any, those with the largest, the median and the
    /// smallest gain.
    pub show: Vec<String>,
    /// How models are measured, and where the results go.
    pub bench: BenchRequest,
}

impl StudyRequest {
    /// Some studies of models that are measured as for [`bench()`](crate::bench()).
    pub fn new(studies: Choice, bench: BenchRequest) -> Self {
        StudyRequest { studies, show: Vec::new(), bench }
    }
}

/// What studies found. Its JSON has the numbers of each by its name.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StudyAnswer {
    /// The studies, in the order of the registry.
    pub studies: Vec<Presentation>,
    /// What was written, if there is a folder.
    pub written: Option<Written>,
}

impl Serialize for StudyAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all: Vec<_> = self.studies.iter().map(|study| (study.name, &study.json)).collect();
        all.sort_by_key(|(name, _)| *name);
        serializer.collect_map(all)
    }
}

impl StudyAnswer {
    /// The remarks and tables of the first study, which of all studies is the overview, and the
    /// remarks of the others; with the styles of a terminal.
    pub fn text(&self) -> String {
        let Some((first, others)) = self.studies.split_first() else { return String::new() };
        let mut text = first.content.text();
        for remark in others.iter().flat_map(|study| &study.content.remarks) {
            let _ = writeln!(text, "{remark}");
        }
        text
    }
}

/// Runs studies on a zoo: measures its models, or takes what records have of them, and brings the
/// results together.
pub fn study(
    zoo: &Zoo,
    request: &StudyRequest,
    on_progress: &mut dyn FnMut(ModelStep<'_>),
) -> Result<StudyAnswer, PaperError> {
    let StudyRequest { studies: choice, show, bench } = request;
    bench.check()?;
    let (zoo, protocol) = (bench.zoo(zoo)?, bench.protocol());
    check_models(&zoo, show)?;
    let runner = Runner::new(&zoo, &protocol, bench.folder())?;
    let (studies, page) = (choice.studies(&zoo)?, choice.page());
    if let Some(folder) = bench.folder() {
        folder::check(folder, &page)?;
    }
    let parts: Vec<MeasuredPart> = studies.iter().flat_map(|study| study.parts(&zoo)).collect();
    let results = &runner.run(&parts, show, on_progress)?;
    let (epsilon, certified) = (bench.epsilon, bench.certified);
    let context = Context { zoo: &zoo, protocol: &protocol, results, epsilon, certified };
    let about = About::new(&context, !show.is_empty());
    let shown = studies.iter().map(|study| study.present(&context, &about));
    let studies: Vec<Presentation> = shown.collect::<Result<_, PaperError>>()?;
    let write = |folder| folder::write(folder, &page, &studies, &about);
    Ok(StudyAnswer { written: bench.folder().map(write).transpose()?, studies })
}
