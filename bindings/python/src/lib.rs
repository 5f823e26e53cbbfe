//! The extension module `abstain._abstain`: arrays in, numbers out.
//!
//! What people call lives in the Python package around it, which turns tensors, frames and lists into
//! arrays, and names into defaults. Here arrays are borrowed, the interpreter is let go while the core
//! works, and errors of the core become the package's exceptions. No arithmetic.

#![allow(clippy::needless_pass_by_value, reason = "what Python passes is owned")]

mod arrays;
mod artifact;
mod capsule;
mod confidences;
mod errors;
mod evaluation;
mod lists;
mod metrics;
mod monitor;
mod page;
mod statistics;
mod tables;
mod tuning;
mod work;
mod zoo;

use pyo3::pymodule;

#[pymodule]
mod _abstain {
    #[pymodule_export]
    use crate::artifact::Artifact;
    #[pymodule_export]
    use crate::confidences::{
        costs_of_confidences, coverage_of_confidences, threshold_on_confidences,
    };
    #[pymodule_export]
    use crate::evaluation::{Evaluation, evaluate};
    #[pymodule_export]
    use crate::lists::{methods, methods_of_the_paper, metric_kinds, warning_text};
    #[pymodule_export]
    use crate::metrics::{
        aurc_of, curve, difference, interval, losses, metric, nll, predictions, reliability,
    };
    #[pymodule_export]
    use crate::monitor::{Monitor, artifact_of_threshold, audit, labels_needed};
    #[pymodule_export]
    use crate::statistics::{average_positive_gain, pearson, spearman};
    #[pymodule_export]
    use crate::tables::{class_places, read_confidences, read_table, resolve_labels};
    #[pymodule_export]
    use crate::tuning::{Tuning, check_tuning, label_free, tune};
    #[pymodule_export]
    use crate::zoo::{bench, check_zoo, extend_zoo, study};

    #[pymodule_init]
    fn init() {
        crate::work::remember_process();
    }

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
