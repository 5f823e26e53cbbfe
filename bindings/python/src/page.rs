//! Text, JSON and pages.

use crate::errors::Failure;
use abstain::Bootstrap;
use abstain_io::AtomicFile;
use abstain_lab::Target;
use abstain_lab::picture::Painter;
use abstain_report::page::{About, Detail};
use pyo3::PyResult;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// How often the bounds on a page may fail, if nothing else is asked for.
pub(crate) const DELTA: f64 = 0.05;

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

/// How bounds and bands are made.
pub(crate) fn painter(delta: Option<f64>, target: Target, seed: u64, replicates: usize) -> Painter {
    let bootstrap = Bootstrap { replicates, seed, ..Bootstrap::default() };
    Painter { delta, target, bootstrap, pictures: 1 }
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
