//! Tables and labels in memory, by the rules of files.

use crate::capsule::batches;
use crate::errors::Failure;
use abstain::Encoding;
use abstain_io::{
    ClassNames, Column, ConfidenceFiles, ErrorKind, Frame, FrameLabels, FrameNumbers, LabelKind,
    RawLabels, ReadOptions, ResolvedLabels, Source, resolve_labels as resolve,
};
use arrow_array::{
    ArrayRef, BooleanArray, FixedSizeListArray, Float32Array, Float64Array, Int64Array, NullArray,
    RecordBatch, RecordBatchOptions, StringArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use numpy::{
    IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::Arc;

/// Labels as they are given.
#[derive(FromPyObject)]
pub(crate) enum GivenLabels<'py> {
    Numbers(PyReadonlyArray1<'py, i64>),
    Bools(PyReadonlyArray1<'py, bool>),
    OneHot(PyReadonlyArray2<'py, f64>),
    Texts(Vec<String>),
}

impl GivenLabels<'_> {
    fn raw(self) -> Result<RawLabels, Failure> {
        let wrong = |kind: ErrorKind| failure(kind, "labels");
        Ok(RawLabels::Column(match self {
            GivenLabels::Numbers(array) => Column::Integers(array.to_vec().map_err(PyErr::from)?),
            GivenLabels::Bools(array) => Column::Bools(array.to_vec().map_err(PyErr::from)?),
            GivenLabels::Texts(texts) => Column::Texts(texts),
            GivenLabels::OneHot(array) => {
                let rows = array.as_slice().map_err(PyErr::from)?;
                return RawLabels::of_one_hot(rows, array.shape()[1]).map_err(wrong);
            }
        }))
    }
}

/// A column of a library that does not speak Arrow; nothing if it is of no use.
#[derive(FromPyObject)]
enum GivenColumn<'py> {
    F64(PyReadonlyArray1<'py, f64>),
    F32(PyReadonlyArray1<'py, f32>),
    Integers(PyReadonlyArray1<'py, i64>),
    Bools(PyReadonlyArray1<'py, bool>),
    F64Lists(PyReadonlyArray2<'py, f64>),
    F32Lists(PyReadonlyArray2<'py, f32>),
    Texts(Vec<String>),
}

impl GivenColumn<'_> {
    fn array(self) -> PyResult<ArrayRef> {
        let lists = |values: ArrayRef, width: usize| -> PyResult<ArrayRef> {
            let item = Arc::new(Field::new_list_field(values.data_type().clone(), false));
            let width =
                i32::try_from(width).map_err(|_| Failure::Input("too many columns".into()))?;
            let lists = FixedSizeListArray::try_new(item, width, values, None);
            Ok(Arc::new(lists.map_err(|error| Failure::Input(error.to_string()))?))
        };
        Ok(match self {
            GivenColumn::F64(array) => Arc::new(Float64Array::from(array.to_vec()?)),
            GivenColumn::F32(array) => Arc::new(Float32Array::from(array.to_vec()?)),
            GivenColumn::Integers(array) => Arc::new(Int64Array::from(array.to_vec()?)),
            GivenColumn::Bools(array) => Arc::new(BooleanArray::from(array.to_vec()?)),
            GivenColumn::Texts(texts) => Arc::new(StringArray::from(texts)),
            GivenColumn::F64Lists(array) => {
                let values = Float64Array::from(array.as_slice()?.to_vec());
                lists(Arc::new(values), array.shape()[1])?
            }
            GivenColumn::F32Lists(array) => {
                let values = Float32Array::from(array.as_slice()?.to_vec());
                lists(Arc::new(values), array.shape()[1])?
            }
        })
    }
}

/// One batch of columns, each of which has as many rows.
fn batch_of(
    columns: Vec<(String, Option<GivenColumn<'_>>)>,
    rows: usize,
) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (name, column) in columns {
        let array = match column {
            Some(column) => column.array()?,
            None => Arc::new(NullArray::new(rows)),
        };
        fields.push(Field::new(
            name,
            array.data_type().clone(),
            array.data_type() == &DataType::Null,
        ));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options);
    let batch = batch.map_err(|error| Failure::Input(format!("table: {error}")))?;
    Ok((schema, vec![batch]))
}

/// A table as the readers of files take it: an object that has the method `__arrow_c_stream__`, or a list of
/// columns with their names and how many rows they have.
fn source_of(table: &Bound<'_, PyAny>, rows: usize) -> PyResult<Source> {
    let (schema, batches) = match table.cast::<PyList>() {
        Ok(columns) => batch_of(columns.extract()?, rows)?,
        Err(_) => batches(table)?,
    };
    Ok(Source::batches("table", schema, batches))
}

/// An error of a table or of labels, in terms of keywords.
fn failure(kind: ErrorKind, what: &str) -> Failure {
    let row = match kind {
        ErrorKind::UnknownLabel { row, .. }
        | ErrorKind::NotOneHot { row }
        | ErrorKind::NotWhole { row, .. }
        | ErrorKind::NumberOrName { row, .. }
        | ErrorKind::Null { row, .. } => usize::try_from(row).ok(),
        _ => None,
    };
    let value = match &kind {
        ErrorKind::UnknownLabel { label, .. } => Some(label.clone()),
        _ => None,
    };
    let hint = match kind {
        ErrorKind::Values(error) => return Failure::Core(error),
        ErrorKind::NamedProbabilities { .. } => "input=\"probabilities\" reads them as such",
        ErrorKind::OneColumn { .. } => {
            "input=\"binary-probability\" or \"binary-logit\" reads one number of a binary classifier"
        }
        ErrorKind::LabelCount { .. }
        | ErrorKind::TwoSpellings { .. }
        | ErrorKind::BoolLabels { .. } => "give class_names=, one name for each column",
        ErrorKind::NumberOrName { .. } => {
            "strings are names; leave out class_names= if the labels count from 0"
        }
        ErrorKind::FirstLabel => "give labels that count from 0 as labels=",
        ErrorKind::UnknownLabel { .. }
        | ErrorKind::NotOneHot { .. }
        | ErrorKind::NotWhole { .. }
        | ErrorKind::Null { .. }
        | ErrorKind::ClassNameCount { .. }
        | ErrorKind::NoRows => "",
        _ => {
            "abstain.read_table names the columns: logits=\"logit_*\" or [\"cat\", \"dog\"], labels="
        }
    };
    let separator = if hint.is_empty() { "" } else { "; " };
    Failure::Cell { message: format!("{what}: {kind}{separator}{hint}"), row, value }
}

/// The class of each row, the names of the classes if they are known, and whether nothing states their
/// order.
type NamedLabels<'py> = (Bound<'py, PyArray1<i64>>, Option<Vec<String>>, bool);

/// Labels by the rules of files.
#[pyfunction]
pub(crate) fn resolve_labels<'py>(
    py: Python<'py>,
    labels: GivenLabels<'py>,
    classes: usize,
    class_names: Option<Vec<String>>,
    what: &str,
) -> PyResult<NamedLabels<'py>> {
    let options = ReadOptions { class_names, ..ReadOptions::default() };
    let found = resolve(labels.raw()?, classes, &options).map_err(|kind| failure(kind, what))?;
    let guessed = found.kind == LabelKind::SortedNames;
    Ok((numbers(py, &found.labels), found.class_names, guessed))
}

/// The place of each label among the names of classes; None for those that are none of them.
#[pyfunction]
pub(crate) fn class_places(class_names: Vec<String>, labels: Vec<String>) -> Vec<Option<usize>> {
    let known = ClassNames::new(class_names.iter().map(String::as_str));
    labels.iter().map(|label| known.place(label)).collect()
}

fn numbers<'py>(py: Python<'py>, labels: &abstain::Labels) -> Bound<'py, PyArray1<i64>> {
    labels.values().iter().map(|&label| i64::from(label)).collect::<Vec<_>>().into_pyarray(py)
}

/// Bare confidences, and what the predictions cost where something says so.
type FoundConfidences<'py> = (Bound<'py, PyArray1<f64>>, Option<Bound<'py, PyArray1<f64>>>);

/// The confidences of a table, and what says which predictions are right: a column of flags, of losses, or
/// the predictions and the labels.
#[pyfunction]
pub(crate) fn read_confidences<'py>(
    table: &Bound<'py, PyAny>,
    rows: usize,
    correct: Option<String>,
    losses: Option<String>,
) -> PyResult<FoundConfidences<'py>> {
    let py = table.py();
    let mut files = ConfidenceFiles::new(source_of(table, rows)?);
    files.names.correct = correct;
    files.names.losses = losses;
    let found = files.read().map_err(|error| failure(*error.kind, "table"))?;
    let losses = found.losses.map(|losses| losses.values().to_vec().into_pyarray(py));
    Ok((found.confidences.into_pyarray(py), losses))
}

/// Logits, the labels, the names of the classes, and whether nothing states their order.
type Found<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyArray1<i64>>>, Option<Vec<String>>, bool);

/// The logits and labels of a table. Labels are given, or needed, or taken if they are there, or not used.
#[pyfunction]
#[pyo3(signature = (table, rows, input, logits, labels, class_names, given, need_labels))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn read_table<'py>(
    table: &Bound<'py, PyAny>,
    rows: usize,
    input: &str,
    logits: Option<String>,
    labels: Option<String>,
    class_names: Option<Vec<String>>,
    given: Option<GivenLabels<'py>>,
    need_labels: Option<bool>,
) -> PyResult<Found<'py>> {
    let py = table.py();
    let encoding: Encoding = input.parse().map_err(Failure::from)?;
    let options = ReadOptions {
        logits_name: logits,
        labels_name: labels,
        class_names,
        encoding,
        ..ReadOptions::default()
    };
    let labels = match given {
        Some(given) => FrameLabels::Given(given.raw()?),
        None => match need_labels {
            Some(true) => FrameLabels::Inside,
            Some(false) => FrameLabels::IfInside,
            None => FrameLabels::Unused,
        },
    };
    let source = source_of(table, rows)?;
    let frame = Frame::read(&source, &options, labels);
    let frame = frame.map_err(|error| failure(*error.kind, "table"))?;
    let shaped = |array: Bound<'py, PyAny>| {
        if encoding.is_one_number() {
            return Ok(array);
        }
        array.call_method1("reshape", ((-1, frame.width),))
    };
    let found = match frame.numbers {
        FrameNumbers::F16(values) => values.into_pyarray(py).into_any(),
        FrameNumbers::F32(values) => values.into_pyarray(py).into_any(),
        FrameNumbers::F64(values) => values.into_pyarray(py).into_any(),
        _ => return Err(Failure::Input("table: numbers of another type".into()).into()),
    };
    let is_guess = |labels: &ResolvedLabels| labels.kind == LabelKind::SortedNames;
    let guessed = frame.labels.as_ref().is_some_and(is_guess);
    let labels = frame.labels.map(|labels| numbers(py, &labels.labels));
    Ok((shaped(found)?, labels, frame.class_names, guessed))
}
