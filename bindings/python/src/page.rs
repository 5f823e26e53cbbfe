//! Text, JSON and pages.

use crate::errors::Failure;
use abstain_io::AtomicFile;
use abstain_report::page::{About, Detail};
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

    /// What a page says of itself.
    pub(crate) fn about(self, loss: &str, facts: Vec<Detail>, report: serde_json::Value) -> About {
        let mut details = facts;
        details.push(Detail::new(
            "Program",
            concat!("abstain ", env!("CARGO_PKG_VERSION"), ", Python"),
        ));
        About {
            title: self.title,
            loss: (loss != "zero-one").then(|| loss.to_string()),
            class_names: self.class_names,
            details,
            report,
        }
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
