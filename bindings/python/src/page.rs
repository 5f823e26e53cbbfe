//! Text, JSON and pages.

use crate::errors::Failure;
use abstain_io::AtomicFile;
use abstain_report::page::{Detail, PageError};
use pyo3::PyResult;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// What people say of a page.
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
}

/// The details that only the package knows.
pub(crate) fn provenance() -> Vec<Detail> {
    vec![Detail::new("Program", concat!("abstain ", env!("CARGO_PKG_VERSION"), ", Python"))]
}

/// The failure behind an error of a page.
pub(crate) fn failure(error: PageError) -> Failure {
    match error {
        PageError::Rows(error) => Failure::Core(error),
        other => Failure::Input(other.to_string()),
    }
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
