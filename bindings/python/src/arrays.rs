//! Arrays of numpy, borrowed.

use crate::errors::Failure;
use crate::work::pieces;
use abstain::half::f16;
use abstain::{CostMatrix, Error, Labels, Logits, Losses, Values};
use abstain_io::Encoding;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// Rows in one of numpy's floating-point types.
#[derive(FromPyObject)]
pub(crate) enum Rows<'py> {
    F32(PyReadonlyArray2<'py, f32>),
    F64(PyReadonlyArray2<'py, f64>),
    F16(PyReadonlyArray2<'py, f16>),
}

/// A vector of numbers.
pub(crate) type Vector<'py> = PyReadonlyArray1<'py, f64>;

/// Rows that the interpreter need not be held for.
#[derive(Clone)]
pub(crate) struct Matrix<'a> {
    pub(crate) values: Values<'a>,
    pub(crate) classes: usize,
    pub(crate) encoding: Encoding,
}

impl Rows<'_> {
    /// The numbers, not copied.
    pub(crate) fn matrix(&self, encoding: Encoding) -> PyResult<Matrix<'_>> {
        let (values, classes): (Values<'_>, usize) = match self {
            Rows::F32(array) => (array.as_slice()?.into(), array.shape()[1]),
            Rows::F64(array) => (array.as_slice()?.into(), array.shape()[1]),
            Rows::F16(array) => (array.as_slice()?.into(), array.shape()[1]),
        };
        Ok(Matrix { values, classes, encoding })
    }
}

impl<'a> Matrix<'a> {
    /// The numbers as logits, checked.
    pub(crate) fn logits(&self) -> Result<Logits<'a>, Error> {
        self.encoding.logits(self.values.clone(), self.classes)
    }

    /// The same in pieces, each of them checked while it is in the cache.
    pub(crate) fn pieces(
        &self,
        mut each: impl FnMut(&Logits<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut encoding = self.encoding;
        let unknown = matches!(encoding, Encoding::Probabilities { floor: None, .. });
        if unknown || self.values.is_empty() || self.classes < 2 {
            // The floor is that of all rows; and what is no matrix is refused here.
            encoding = encoding.input(self.logits()?.floor()).into();
        }
        let classes = self.classes;
        pieces(self.values.len() / classes, classes, |rows| {
            let values = self.values.part(rows.start * classes..rows.end * classes);
            let piece = encoding.logits(values, classes);
            each(&piece.map_err(|error| error.of_chunk(rows.start))?)
        })
    }
}

/// What the numbers are, as Python says it: "logits", "masked" or "probabilities", and of the last also
/// the floor and the tolerance, if they are given.
pub(crate) type GivenInput = (String, Option<f64>, Option<f64>);

/// What the numbers are.
pub(crate) fn encoding((input, floor, tolerance): &GivenInput) -> Result<Encoding, Failure> {
    let (floor, tolerance) = (*floor, *tolerance);
    let only = |name: &str| {
        Failure::Input(format!("{name} is for input=\"probabilities\", not {input:?}"))
    };
    if let Some(floor) = floor.filter(|floor| !(*floor > 0.0 && *floor < 1.0)) {
        let why = format!("floor is {floor}, but must be between 0 and 1, both excluded");
        return Err(Failure::Input(why));
    }
    match &input[..] {
        "probabilities" => Ok(Encoding::Probabilities { floor, tolerance }),
        "logits" | "masked" if floor.is_some() => Err(only("floor")),
        "logits" | "masked" if tolerance.is_some() => Err(only("tolerance")),
        "logits" => Ok(Encoding::Logits),
        "masked" => Ok(Encoding::Masked),
        _ => Err(Failure::Input(format!(
            "input is {input:?}, but must be \"logits\", \"masked\" or \"probabilities\""
        ))),
    }
}

/// Labels of rows with that many classes.
pub(crate) fn labels(array: &PyReadonlyArray1<'_, i64>, classes: usize) -> Result<Labels, Failure> {
    Ok(Labels::new(array.as_slice().map_err(PyErr::from)?, classes)?)
}

/// Losses that were given as such.
pub(crate) fn given_losses(array: &Vector<'_>) -> Result<Losses, Failure> {
    Ok(Losses::new(array.as_slice().map_err(PyErr::from)?.to_vec())?)
}

/// What an error costs, as Python says it.
#[derive(FromPyObject)]
pub(crate) enum GivenLoss<'py> {
    Name(String),
    Rows(Vector<'py>),
    Costs(PyReadonlyArray2<'py, f64>),
}

/// What an error costs.
#[derive(Clone)]
pub(crate) enum Loss {
    ZeroOne,
    TopK(usize),
    Rows(Losses),
    Costs(CostMatrix),
}

impl Loss {
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        match name.strip_prefix("top-") {
            Some(k) => Some(Loss::TopK(k.parse().ok()?)),
            None => (name == "zero-one").then_some(Loss::ZeroOne),
        }
    }

    pub(crate) fn new(given: &GivenLoss<'_>) -> Result<Self, Failure> {
        match given {
            GivenLoss::Name(name) => Loss::of_name(name).ok_or_else(|| {
                let wanted = "\"zero-one\", \"top-5\", a loss for each row, or a matrix of costs";
                Failure::Input(format!("loss is {name:?}, but must be {wanted}"))
            }),
            GivenLoss::Rows(array) => Ok(Loss::Rows(given_losses(array)?)),
            GivenLoss::Costs(array) => {
                let costs = array.as_slice().map_err(PyErr::from)?.to_vec();
                Ok(Loss::Costs(CostMatrix::new(costs, array.shape()[1])?))
            }
        }
    }

    /// In a word, as an artifact says it.
    pub(crate) fn name(&self) -> String {
        match self {
            Loss::ZeroOne => "zero-one".into(),
            Loss::TopK(k) => format!("top-{k}"),
            Loss::Rows(_) => "losses by row".into(),
            Loss::Costs(_) => "costs by class".into(),
        }
    }

    /// The losses of some rows.
    pub(crate) fn of(&self, logits: &Logits<'_>, labels: &Labels) -> Result<Losses, Error> {
        match self {
            Loss::ZeroOne => Losses::zero_one(logits, labels),
            Loss::TopK(k) => Losses::top_k(logits, labels, *k),
            Loss::Costs(costs) => Losses::cost(logits, labels, costs),
            Loss::Rows(losses) => {
                let (found, expected) = (losses.values().len(), logits.rows());
                if found != expected {
                    return Err(Error::Length { what: "losses", found, expected });
                }
                Ok(losses.clone())
            }
        }
    }
}
