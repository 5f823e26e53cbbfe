//! Arrays of numpy, borrowed.

use crate::artifact::Artifact;
use crate::errors::Failure;
use abstain::half::f16;
use abstain::rows::chunks;
use abstain::{
    CostMatrix, Encoding, Error, Labels, Logits, Loss, Losses, MemoryRows, Weights, logits::Values,
};
use abstain_lab::{check_extra, check_order};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// Rows, perhaps with one further number each.
#[derive(FromPyObject)]
pub(crate) enum Rows<'py> {
    Plain(Numbers<'py>),
    WithExtra((Numbers<'py>, Vector<'py>)),
}

/// Rows in one of numpy's floating-point types.
#[derive(FromPyObject)]
pub(crate) enum Numbers<'py> {
    F32(PyReadonlyArray2<'py, f32>),
    F64(PyReadonlyArray2<'py, f64>),
    F16(PyReadonlyArray2<'py, f16>),
}

/// A vector of numbers.
pub(crate) type Vector<'py> = PyReadonlyArray1<'py, f64>;

/// Rows that can be read without holding the interpreter.
#[derive(Clone)]
pub(crate) struct Matrix<'a> {
    pub(crate) values: Values<'a>,
    /// How many numbers a row has.
    pub(crate) numbers: usize,
    /// How many classes they stand for: one number of a binary classifier stands for two.
    pub(crate) classes: usize,
    pub(crate) encoding: Encoding,
    /// One further number of each row.
    pub(crate) extra: Option<&'a [f64]>,
}

impl Rows<'_> {
    /// The numbers, not copied.
    pub(crate) fn matrix(&self, encoding: Encoding) -> PyResult<Matrix<'_>> {
        let (numbers, extra) = match self {
            Rows::Plain(numbers) => (numbers, None),
            Rows::WithExtra((numbers, extra)) => (numbers, Some(extra.as_slice()?)),
        };
        let (values, numbers): (Values<'_>, usize) = match numbers {
            Numbers::F32(array) => (array.as_slice()?.into(), array.shape()[1]),
            Numbers::F64(array) => (array.as_slice()?.into(), array.shape()[1]),
            Numbers::F16(array) => (array.as_slice()?.into(), array.shape()[1]),
        };
        Ok(Matrix { values, numbers, classes: encoding.classes(numbers), encoding, extra })
    }

    /// The numbers for an artifact, which may need a further one of each row, or none.
    pub(crate) fn matrix_for(&self, artifact: &Artifact) -> PyResult<Matrix<'_>> {
        let matrix = self.matrix(artifact.encoding)?;
        check_extra(&artifact.inner, matrix.extra.is_some()).map_err(Failure::from)?;
        Ok(matrix)
    }
}

impl<'a> Matrix<'a> {
    /// The numbers as logits, checked.
    pub(crate) fn logits(&self) -> Result<Logits<'a>, Error> {
        let logits = self.encoding.logits(self.values.clone(), self.numbers)?;
        match self.extra {
            Some(extra) => logits.with_extra(extra),
            None => Ok(logits),
        }
    }

    /// The rows with their labels under a loss.
    pub(crate) fn labelled(
        &self,
        labels: TargetLabels,
        loss: Loss,
    ) -> Result<MemoryRows<'a>, Error> {
        let TargetLabels { labels, guessed } = labels;
        let rows = MemoryRows::new(self.logits()?, self.encoding, labels, loss)?;
        Ok(match guessed {
            Some(names) => rows.with_guessed_names(names),
            None => rows,
        })
    }

    /// The same with the group of each row, if there are groups, and what rows belong together by.
    pub(crate) fn grouped(
        &self,
        labels: TargetLabels,
        loss: Loss,
        groups: Option<Vec<String>>,
        together: Option<Vec<String>>,
    ) -> Result<MemoryRows<'a>, Error> {
        let expected = labels.labels.len();
        for (what, column) in [("groups", &groups), ("group_folds", &together)] {
            if let Some(found) = column.as_ref().map(Vec::len).filter(|found| *found != expected) {
                return Err(Error::Length { what, found, expected });
            }
        }
        Ok(self.labelled(labels, loss)?.with_groups(groups).with_fold_groups(together))
    }

    /// The same in chunks, each of which is checked while it is in the cache; none of no rows. Returns
    /// the encoding with the floor of all rows.
    pub(crate) fn chunks(
        &self,
        mut each: impl FnMut(&Logits<'_>) -> Result<(), Error>,
    ) -> Result<Encoding, Error> {
        let mut encoding = self.encoding;
        let empty = self.values.is_empty() && self.numbers > 0;
        if !empty && (encoding.needs_floor() || self.values.is_empty() || self.classes < 2) {
            // The floor is that of all rows; and what is not a matrix is refused here.
            encoding = encoding.with_floor(self.logits()?.floor());
        }
        let numbers = self.numbers;
        let rows = self.values.len() / numbers;
        if let Some(extra) = self.extra
            && extra.len() != rows
        {
            return Err(Error::Length { what: "extra", found: extra.len(), expected: rows });
        }
        if empty {
            return Ok(encoding);
        }
        chunks(rows, numbers, |rows| {
            let values = self.values.part(rows.start * numbers..rows.end * numbers);
            let mut chunk = encoding.logits(values, numbers);
            if let Some(extra) = self.extra {
                chunk = chunk.and_then(|chunk| chunk.with_extra(&extra[rows.clone()]));
            }
            each(&chunk.map_err(|error| error.of_chunk(rows.start))?)
        })?;
        Ok(encoding)
    }
}

/// The encoding as Python passes it: its kind, and of probabilities the floor and the tolerance.
pub(crate) type GivenInput = (String, Option<f64>, Option<f64>);

/// What the numbers are.
pub(crate) fn encoding((kind, floor, tolerance): &GivenInput) -> Result<Encoding, Failure> {
    Ok(Encoding::new(kind, *floor, *tolerance)?)
}

/// The class of each row, with the names of the classes where nothing states their order.
#[derive(FromPyObject)]
pub(crate) enum GivenTarget<'py> {
    Stated(PyReadonlyArray1<'py, i64>),
    Guessed((PyReadonlyArray1<'py, i64>, Vec<String>)),
}

/// Labels of rows, with the names of the classes where nothing states their order.
#[derive(Clone)]
pub(crate) struct TargetLabels {
    pub(crate) labels: Labels,
    guessed: Option<Vec<String>>,
}

impl TargetLabels {
    /// The labels, for what only compares them with the predictions of some rows.
    pub(crate) fn of(self, logits: &Logits<'_>) -> Result<Labels, Failure> {
        if let Some(names) = &self.guessed {
            check_order(&self.labels, &logits.predictions(), names)?;
        }
        Ok(self.labels)
    }
}

/// Labels of rows with that many classes.
pub(crate) fn labels(target: &GivenTarget<'_>, classes: usize) -> Result<TargetLabels, Failure> {
    let (array, guessed) = match target {
        GivenTarget::Stated(array) => (array, None),
        GivenTarget::Guessed((array, names)) => (array, Some(names.clone())),
    };
    let labels = Labels::new(array.as_slice().map_err(PyErr::from)?, classes)?;
    Ok(TargetLabels { labels, guessed })
}

/// Losses that are given as numbers.
pub(crate) fn given_losses(array: &Vector<'_>) -> Result<Losses, Failure> {
    Ok(Losses::new(array.as_slice().map_err(PyErr::from)?.to_vec())?)
}

/// Weights, if there are any, as a copy that is checked.
pub(crate) fn given_weights(weights: Option<&Vector<'_>>) -> PyResult<Option<Weights>> {
    let Some(weights) = weights else { return Ok(None) };
    Ok(Some(Weights::new(weights.as_slice()?.to_vec()).map_err(Failure::Core)?))
}

/// The loss as Python passes it.
#[derive(FromPyObject)]
pub(crate) enum GivenLoss<'py> {
    Name(String),
    Rows(Vector<'py>),
    Costs(PyReadonlyArray2<'py, f64>),
}

impl GivenLoss<'_> {
    pub(crate) fn loss(&self) -> Result<Loss, Failure> {
        match self {
            GivenLoss::Name(name) => name.parse().map_err(|_| {
                let wanted = "\"zero-one\", \"top-5\", one loss per row, or a matrix of costs";
                Failure::Input(format!("loss is {name:?}, but must be {wanted}"))
            }),
            GivenLoss::Rows(array) => Ok(Loss::PerRow(given_losses(array)?)),
            GivenLoss::Costs(array) => {
                let costs = array.as_slice().map_err(PyErr::from)?.to_vec();
                Ok(Loss::Costs(CostMatrix::new(costs, array.shape()[1])?))
            }
        }
    }
}
