//! What there is, by name; and warnings in words.

use crate::errors::Failure;
use abstain::metric::Direction;
use abstain::{Method, Tuner, metric::MetricKind};
use pyo3::prelude::*;

/// Every method and the numbers it takes.
#[pyfunction]
pub(crate) fn methods() -> Vec<(String, Vec<&'static str>)> {
    Method::all().map(|method| (method.to_string(), method.parameters().to_vec())).collect()
}

/// The methods that are tuned unless others are named.
#[pyfunction]
pub(crate) fn methods_of_the_paper() -> Vec<String> {
    Tuner::methods_of_the_paper().iter().map(Method::to_string).collect()
}

/// Every kind of metric: its name, the numbers it takes, and whether higher is better.
#[pyfunction]
pub(crate) fn metric_kinds() -> Vec<(&'static str, Vec<&'static str>, bool)> {
    let line = |kind: &MetricKind| {
        let info = kind.info();
        let numbers = info.parameters.iter().map(|parameter| parameter.name).collect();
        (info.name, numbers, info.better == Direction::Higher)
    };
    MetricKind::ALL.iter().map(line).collect()
}

/// A warning of a report in words.
#[pyfunction]
pub(crate) fn warning_text(json: &str) -> Result<String, Failure> {
    let warning = serde_json::from_str(json).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(abstain_report::warning_text(&warning))
}
