//! What is behind the pointer to an estimator, and how it scores rows.

use crate::failure::Failure;
use abstain::{Artifact, Encoding, Error, Logits, artifact::ModelInfo, logits::Values};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::Read;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::path::Path;

/// The most numbers of a piece, which stay in the cache of a core while they are checked and scored.
const NUMBERS_PER_PIECE: usize = 1 << 16;

/// The most rows of a piece. The core scores so few rows on the calling thread.
const ROWS_PER_PIECE: usize = 64;

/// The most bytes that are read: no artifact has more, but a file of logits given by mistake has.
const LARGEST: u64 = 1 << 24;

/// An artifact, with its texts as C reads them.
#[derive(Debug)]
pub struct Estimator {
    artifact: Artifact,
    needs_extra: bool,
    name: CString,
    input: CString,
    model_name: Option<CString>,
    model_version: Option<CString>,
    class_names: Vec<CString>,
}

/// Rows of numbers, of which each begins `stride` numbers after the one before.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a, T> {
    /// From the first number of the first row to the last of the last.
    pub(crate) values: &'a [T],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) stride: usize,
}

impl<'a, T: Copy> Matrix<'a, T> {
    /// The numbers of some rows: as they are if they follow each other, else copied.
    fn part<'b>(&self, rows: Range<usize>, copy: &'b mut Vec<T>) -> &'b [T]
    where
        'a: 'b,
    {
        let (stride, columns) = (self.stride, self.columns);
        if stride == columns {
            return &self.values[rows.start * columns..rows.end * columns];
        }
        copy.clear();
        for row in rows {
            copy.extend_from_slice(&self.values[row * stride..][..columns]);
        }
        copy
    }
}

/// Where the scores of rows are written.
pub(crate) struct Outputs<'a> {
    pub(crate) predictions: Output<'a, i64>,
    pub(crate) confidences: Output<'a, f64>,
    pub(crate) values: Output<'a, f64>,
    pub(crate) accepts: Output<'a, u8>,
}

/// An array of one element for each row; nothing was written to it yet.
pub(crate) type Output<'a, T> = Option<&'a mut [MaybeUninit<T>]>;

/// Writes the element of a row, if it is requested.
fn put<T>(output: &mut Output<'_, T>, row: usize, element: impl FnOnce() -> T) {
    if let Some(output) = output {
        output[row].write(element());
    }
}

impl Estimator {
    /// Reads an artifact from its file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let mut json = Vec::new();
        let read = |json| File::open(path)?.take(LARGEST).read_to_end(json);
        read(&mut json).map_err(|error| Failure::Unreadable { path: path.into(), error })?;
        let problem = match json.len() as u64 {
            0 => "the file is empty".into(),
            LARGEST => "the file is too large".into(),
            _ => match Self::parse(&json) {
                Err(Failure::Artifact { problem, .. }) => problem,
                other => return other,
            },
        };
        Err(Failure::Artifact { path: Some(path.into()), problem })
    }

    /// Reads an artifact from its JSON.
    pub(crate) fn parse(json: &[u8]) -> Result<Self, Failure> {
        let text = str::from_utf8(json).map_err(|_| "it is not text".to_string());
        let artifact = text.and_then(|text| {
            let artifact = Artifact::from_json(text).map_err(|error| error.to_string())?;
            // There is no argument for groups, and one function for the threshold.
            artifact.one_threshold().map_err(|error| error.to_string())?;
            Ok(artifact)
        });
        artifact.map(Self::new).map_err(|problem| Failure::Artifact { path: None, problem })
    }

    fn new(artifact: Artifact) -> Self {
        let model = artifact.model.as_ref();
        Estimator {
            // A bare confidence is its extra column itself.
            needs_extra: artifact.estimator.needs_extra() && artifact.input != Encoding::Confidence,
            name: c_text(&artifact.estimator.to_string()),
            input: c_text(&artifact.input.to_string()),
            model_name: model.map(|model| c_text(&model.name)),
            model_version: model.and_then(|model| model.version.as_deref()).map(c_text),
            class_names: artifact.class_names.iter().flatten().map(|name| c_text(name)).collect(),
            artifact,
        }
    }

    /// The number of classes, if it is known.
    pub(crate) fn classes(&self) -> Option<usize> {
        self.artifact.classes
    }

    /// How many numbers a row must have, if that is known.
    pub(crate) fn columns(&self) -> Option<usize> {
        if self.artifact.input.is_one_number() { Some(1) } else { self.artifact.classes }
    }

    pub(crate) fn input(&self) -> &CStr {
        &self.input
    }

    pub(crate) fn name(&self) -> &CStr {
        &self.name
    }

    pub(crate) fn model_name(&self) -> Option<&CStr> {
        self.model_name.as_deref()
    }

    pub(crate) fn model_version(&self) -> Option<&CStr> {
        self.model_version.as_deref()
    }

    pub(crate) fn class_name(&self, class: usize) -> Option<&CStr> {
        self.class_names.get(class).map(|name| &**name)
    }

    pub(crate) fn threshold(&self) -> Option<f64> {
        self.artifact.threshold().map(|threshold| threshold.at)
    }

    pub(crate) fn needs_extra(&self) -> bool {
        self.needs_extra
    }

    /// Whether values are probabilities of being right.
    pub(crate) fn values_are_probabilities(&self) -> bool {
        self.artifact.estimator.is_probability()
    }

    /// Refuses an artifact that is for another classifier.
    pub(crate) fn check_model(&self, model: &str) -> Result<(), Failure> {
        let given: ModelInfo = model.parse().map_err(|expected| {
            Failure::argument(format!("model is '{model}', but must be {expected}"))
        })?;
        match &self.artifact.model {
            Some(expected) if !expected.agrees_with(&given) => Err(Failure::OtherModel {
                expected: expected.to_string(),
                given: given.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Scores rows.
    pub(crate) fn score<T: Copy>(
        &self,
        matrix: &Matrix<'_, T>,
        extra: Option<&[f64]>,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), Failure>
    where
        for<'v> Values<'v>: From<&'v [T]>,
    {
        self.check_request(matrix.columns, extra.is_some(), outputs)?;
        let piece = (NUMBERS_PER_PIECE / matrix.columns).clamp(1, ROWS_PER_PIECE);
        let mut copy = Vec::new();
        for first in (0..matrix.rows).step_by(piece) {
            let rows = first..matrix.rows.min(first + piece);
            let values = matrix.part(rows.clone(), &mut copy);
            if self.artifact.input == Encoding::Confidence {
                self.accept(&values.into(), first, outputs)?;
            } else {
                let extra = extra.map(|extra| &extra[rows]);
                self.score_piece(values, matrix.columns, extra, first, outputs)?;
            }
        }
        Ok(())
    }

    /// Refuses what does not fit the estimator, whatever the numbers.
    fn check_request(
        &self,
        found: usize,
        has_extra: bool,
        outputs: &Outputs<'_>,
    ) -> Result<(), Failure> {
        let refuse = |problem| Err(Failure::argument(problem));
        let expected = self.columns();
        if expected.map_or(found < 2, |expected| found != expected) {
            return Err(Failure::Columns { found, expected });
        }
        let bare = self.artifact.input == Encoding::Confidence;
        match (self.needs_extra, has_extra) {
            (true, false) => {
                return refuse(
                    "extra is NULL, but the estimator needs a further number of each row",
                );
            }
            (false, true) => {
                return refuse("extra is not NULL, but the estimator takes no further number");
            }
            _ => {}
        }
        if bare && outputs.predictions.is_some() {
            return refuse("predictions is not NULL, but a bare confidence has no prediction");
        }
        if bare && outputs.values.is_some() {
            return refuse("values is not NULL, but a bare confidence has no other value");
        }
        if outputs.accepts.is_some() && self.artifact.rule.is_none() {
            return Err(Failure::NoThreshold);
        }
        Ok(())
    }

    /// Scores rows that follow each other; `first` is the number of the first.
    fn score_piece<'v, T>(
        &self,
        values: &'v [T],
        columns: usize,
        extra: Option<&[f64]>,
        first: usize,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), Failure>
    where
        Values<'v>: From<&'v [T]>,
    {
        let answers = || {
            let logits: Logits<'_> = self.artifact.input.logits(values, columns)?;
            let logits = match extra {
                Some(extra) => logits.with_extra(extra)?,
                None => logits,
            };
            self.artifact.answers(&logits)
        };
        let answers = answers().map_err(|error| match error {
            Error::Parameter { name: "floor", value: floor, .. } => {
                let row = first + self.row_below_floor(values, columns);
                Failure::Floor { row, floor }
            }
            error => Failure::Rows(error.of_chunk(first)),
        })?;
        let classes = self.artifact.input.classes(columns);
        for (row, answer) in (first..).zip(answers) {
            put(&mut outputs.predictions, row, || answer.prediction.into());
            put(&mut outputs.confidences, row, || answer.confidence);
            let value = || self.artifact.estimator.value(answer.confidence, classes);
            put(&mut outputs.values, row, value);
            put(&mut outputs.accepts, row, || answer.accept.unwrap_or(false).into());
        }
        Ok(())
    }

    /// The first of some rows that is refused by itself: the core names no row for a floor.
    fn row_below_floor<'v, T>(&self, values: &'v [T], columns: usize) -> usize
    where
        Values<'v>: From<&'v [T]>,
    {
        let is_refused = |row: &'v [T]| self.artifact.input.logits(row, columns).is_err();
        values.chunks(columns).position(is_refused).unwrap_or(0)
    }

    /// Writes bare confidences, which are compared with the threshold as they are.
    fn accept(
        &self,
        numbers: &Values<'_>,
        first: usize,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), Failure> {
        let mut buffer = [0.0; ROWS_PER_PIECE];
        let confidences = &mut buffer[..numbers.len()];
        numbers.copy_to(confidences);
        for (row, &mut confidence) in (first..).zip(confidences) {
            if confidence.is_nan() {
                return Err(Failure::Rows(Error::InvalidConfidence { row }));
            }
            put(&mut outputs.confidences, row, || confidence);
            let rule = self.artifact.rule.as_ref();
            let accept = rule.is_some_and(|rule| rule.decide(confidence, None, None).is_accept());
            put(&mut outputs.accepts, row, || accept.into());
        }
        Ok(())
    }
}

/// A text as C reads it, to which a zero byte is the end.
fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads may share what does not change.
    #[test]
    fn estimators_are_shared_by_threads() {
        fn is_shared<T: Send + Sync>() {}
        is_shared::<Estimator>();
    }

    #[test]
    fn zero_bytes_do_not_end_a_text() {
        assert_eq!(c_text("a\0b").as_c_str(), c"a\u{fffd}b");
    }
}
