//! Text, JSON and pages.

use crate::errors::Failure;
use abstain_io::AtomicFile;
use abstain_lab::{EvaluateResult, TuneResult};
use abstain_report::page::{Detail, EvalPage, TunePage};
use pyo3::PyResult;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// The title and the class names of a page.
pub(crate) struct Heading {
    pub(crate) title: String,
    pub(crate) class_names: Option<Vec<String>>,
}

impl Heading {
    /// Names must be as many as there are classes.
    pub(crate) fn check(&self, classes: usize) -> Result<(), Failure> {
        match &self.class_names {
            Some(names) if names.len() != classes => {
                let why = format!("class_names: {} names for {classes} classes", names.len());
                Err(Failure::Input(why))
            }
            _ => Ok(()),
        }
    }

    /// The page of a tuning.
    pub(crate) fn tuning(self, result: &TuneResult) -> Result<String, Failure> {
        let page = TunePage {
            title: self.title,
            class_names: self.class_names,
            provenance: provenance(),
            ..TunePage::new(result)
        };
        page.html().map_err(|error| Failure::Input(error.to_string()))
    }

    /// The page of an evaluation.
    pub(crate) fn evaluation(self, result: &EvaluateResult) -> Result<String, Failure> {
        let page = EvalPage {
            sets: vec![result.clone().into()],
            title: Some(self.title),
            class_names: self.class_names,
            provenance: provenance(),
        };
        page.html().map_err(|error| Failure::Input(error.to_string()))
    }
}

/// The program, as a detail of a page.
pub(crate) fn provenance() -> Vec<Detail> {
    vec![Detail::new("Program", concat!("abstain ", env!("CARGO_PKG_VERSION"), ", Python"))]
}

/// Writes a page, whole or not at all.
pub(crate) fn write(path: &Path, html: &str) -> Result<(), Failure> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(html.as_bytes()).map_err(|error| file.error(error))?;
    Ok(file.finish()?)
}

/// Without the styles of a terminal.
pub(crate) fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// As JSON.
pub(crate) fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| Failure::Input(error.to_string()).into())
}
