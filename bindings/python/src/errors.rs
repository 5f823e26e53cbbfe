//! Errors of the core as exceptions of the package, with the row, column and value they name.

use abstain::{Error, Undefined};
use abstain_io::ErrorKind;
use abstain_lab::{ErrorClass, LabError, RecordPlace};
use abstain_models::onnx::{ModelProblem, OnnxError};
use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyKeyboardInterrupt, PyOSError, PyPermissionError,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io::ErrorKind as ErrorOf;

/// What can go wrong in the extension.
pub(crate) enum Failure {
    /// The input is not what it should be, or a value does not exist.
    Core(Error),
    /// A file.
    File(abstain_io::Error),
    /// A valid request without a solution.
    Infeasible(String),
    /// The input, in words.
    Input(String),
    /// A number of a column.
    Value { message: String, row: usize, value: Option<f64> },
    /// A cell of a table, or all of it.
    Cell { message: String, row: Option<usize>, value: Option<String> },
    /// An exception of Python's.
    Python(PyErr),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Core(error)
    }
}

impl From<OnnxError> for Failure {
    fn from(error: OnnxError) -> Self {
        let because = |hint: &str| Failure::Input(format!("{error}: {hint}"));
        match error {
            OnnxError::File(error) => Failure::File(error),
            OnnxError::OutOfRange { .. } => because("give precision=\"float64\""),
            OnnxError::OpsetOfModel => because("leave out opset"),
            OnnxError::Model { ref problem, .. } => match **problem {
                ModelProblem::Outputs { .. }
                | ModelProblem::NoSuchValue { .. }
                | ModelProblem::Uncertain { .. }
                | ModelProblem::Shape { .. } => because("name the value as logits"),
                ModelProblem::NameTaken { .. } => because("give a prefix"),
                ModelProblem::ExternalData => because("write beside the model"),
                _ => Failure::Input(error.to_string()),
            },
            _ => Failure::Input(error.to_string()),
        }
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        if error.class() == ErrorClass::Refused {
            return Failure::Infeasible(error.to_string());
        }
        let because = |hint: &str| Failure::Input(format!("{error}: {hint}"));
        match &error {
            LabError::Rows(Error::ExtraMissing) => because("give it as extra"),
            LabError::Rows(error) => Failure::Core(error.clone()),
            LabError::CannotSplit { .. } => {
                because("at least one row must tune, and at least one must be left to measure on")
            }
            LabError::ConstantObjective => {
                because("\"SAC@0.95\", for example, is the coverage at an accuracy of 0.95")
            }
            LabError::OtherOrder { names, .. } => {
                let (fits, mut sorted) = (format!("{names:?}"), names.clone());
                sorted.sort();
                let hint = match names.len() {
                    ..=12 => format!(
                        "class_names={fits} is the order that fits, class_names={sorted:?} states the \
                         sorted one"
                    ),
                    _ => "give class_names, in the order of the columns".into(),
                };
                because(&hint)
            }
            LabError::LossOfOneSet => because("leave out test, or use another loss"),
            LabError::TooFewToCrossFit { .. } => because("give four rows at least"),
            LabError::CertifyingRowsScaled => {
                because("give other rows as unlabelled, or leave out delta")
            }
            LabError::ExtraOfOneSet => because("leave out extra, or test and unlabelled"),
            LabError::NoCertifyingRows => {
                because("tune with delta, or certify on other rows with Estimator.certify")
            }
            LabError::TestRowsTuned => {
                because("leave out test: the rows are then measured in folds")
            }
            LabError::CertifyingRowsTuned | LabError::CertifyingRowsShared => {
                because("give other rows, or tune with delta, which keeps some of them for it")
            }
            LabError::OtherRowClasses { .. } => because("both must come from the same classifier"),
            LabError::GradedLoss => {
                because("leave out delta, or use loss=\"zero-one\" or loss=\"top-5\"")
            }
            LabError::MaxWeightNeeded { .. } => {
                because("give max_weight, a bound that is known without looking at these rows")
            }
            LabError::GroupsWithWeights => because("leave out sample_weight or group_folds"),
            LabError::MaxWeightNotUsed => because("leave out max_weight, or give sample_weight"),
            LabError::LossNeeded { .. } => {
                because("give the losses of these rows, or loss=\"zero-one\"")
            }
            LabError::Record(wrong) => match wrong.place {
                RecordPlace::Row(row) => {
                    Failure::Value { message: error.to_string(), row, value: wrong.kind.value() }
                }
                _ => Failure::Input(error.to_string()),
            },
            LabError::OtherArtifactWatched => Failure::Core(Error::StatesDiffer),
            LabError::MinPropensityMissing => {
                because("give min_propensity, the smallest with which any row could be chosen")
            }
            LabError::PropensitiesMissing => because("give propensity"),
            LabError::NoTargetRisk => because("give target_risk"),
            LabError::File(_) => match error {
                LabError::File(error) => Failure::File(error),
                other => Failure::Input(other.to_string()),
            },
            _ => Failure::Input(error.to_string()),
        }
    }
}

impl From<abstain_io::Error> for Failure {
    fn from(error: abstain_io::Error) -> Self {
        Failure::File(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Python(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| match failure {
            Failure::Core(error) => of_core(py, &error),
            Failure::File(error) => of_file(py, &error),
            Failure::Infeasible(why) => raise(py, "InfeasibleError", &why, NOWHERE),
            Failure::Input(why) => raise(py, "InputError", &why, NOWHERE),
            Failure::Value { message, row, value } => {
                let place = Place { row: Some(row), column: None, value };
                raise(py, "InputError", &message, Some(place))
            }
            Failure::Cell { message, row, value } => {
                let place = Place { row, column: None, value };
                raise(py, "InputError", &message, Some(place))
            }
            Failure::Python(error) => error,
        })
    }
}

/// Where in the input something is wrong.
struct Place<T = f64> {
    row: Option<usize>,
    column: Option<usize>,
    value: Option<T>,
}

/// Nothing in particular.
const NOWHERE: Option<Place> = None;

/// An exception of `abstain.errors`; should that fail, the exception that says so.
fn raise<T: for<'py> IntoPyObject<'py>>(
    py: Python<'_>,
    class: &str,
    message: &str,
    place: Option<Place<T>>,
) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let class = py.import("abstain.errors")?.getattr(class)?;
        let details = PyDict::new(py);
        if let Some(Place { row, column, value }) = place {
            details.set_item("row", row)?;
            details.set_item("column", column)?;
            details.set_item("value", value)?;
        }
        Ok(PyErr::from_value(class.call((message,), Some(&details))?))
    };
    made().unwrap_or_else(|error| error)
}

fn of_core(py: Python<'_>, error: &Error) -> PyErr {
    let message = error.to_string();
    let at = |row, column, value| Some(Place { row: Some(row), column, value });
    match *error {
        Error::Undefined(why) => {
            let place = match why {
                Undefined::MaskedLabel { row } => at(row, None, None),
                Undefined::NotAProbability { row, value } => at(row, None, Some(value)),
                _ => None,
            };
            raise(py, "UndefinedError", &message, place)
        }
        Error::NotFinite { row, column, value }
        | Error::TooLarge { row, column, value }
        | Error::NotAProbability { row, column, value, .. } => {
            raise(py, "InputError", &message, at(row, Some(column), Some(value)))
        }
        Error::ProbabilitySum { row, sum, .. } => {
            raise(py, "InputError", &message, at(row, None, Some(sum)))
        }
        // The labels that come here are below 2^63.
        Error::LabelOutOfRange { row, label, .. } => {
            raise(py, "InputError", &message, at(row, None, Some(label as f64)))
        }
        Error::InvalidLoss { row, value }
        | Error::InvalidWeight { row, value }
        | Error::WeightAbove { row, value, .. } => {
            raise(py, "InputError", &message, at(row, None, Some(value)))
        }
        Error::InvalidConfidence { row } => {
            raise(py, "InputError", &message, at(row, None, Some(f64::NAN)))
        }
        Error::AllMasked { row } => raise(py, "InputError", &message, at(row, None, None)),
        Error::InvalidCost { label, prediction, value } => {
            raise(py, "InputError", &message, at(label, Some(prediction), Some(value)))
        }
        Error::Parameter { value, .. } => {
            let place = Place { row: None, column: None, value: Some(value) };
            raise(py, "InputError", &message, Some(place))
        }
        // Only what runs within work that is no longer wanted can meet this.
        Error::Stopped => PyKeyboardInterrupt::new_err(()),
        _ => raise(py, "InputError", &message, NOWHERE),
    }
}

/// What the operating system refused is an `OSError` of the kind that its number says; a file that is
/// not what it should be is wrong input.
fn of_file(py: Python<'_>, error: &abstain_io::Error) -> PyErr {
    let path = error.path.display().to_string();
    match &*error.kind {
        ErrorKind::Io(io) => match io.raw_os_error() {
            Some(number) => PyOSError::new_err((number, error.kind.to_string(), path)),
            // Those that tempfile makes have lost their number, and not their kind.
            None => match io.kind() {
                ErrorOf::NotFound => PyFileNotFoundError::new_err(error.to_string()),
                ErrorOf::PermissionDenied => PyPermissionError::new_err(error.to_string()),
                ErrorOf::IsADirectory => PyIsADirectoryError::new_err(error.to_string()),
                _ => PyOSError::new_err(error.to_string()),
            },
        },
        _ => raise(py, "InputError", &error.to_string(), NOWHERE),
    }
}
