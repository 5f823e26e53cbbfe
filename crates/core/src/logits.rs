//! Logits, validated at the door: after construction nothing fails because of values.

use crate::error::Error;
use crate::row::{Row, Slice, Survey};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use rayon::prelude::*;
use std::borrow::Cow;

/// Logits beyond this magnitude are refused: no sum of them can overflow.
const LARGEST_LOGIT: f64 = 1e100;

/// The floor where the smallest non-zero probability would be no floor at all.
const FLOOR_OF_ONE_HOT: f64 = 1e-12;

/// Numbers of a piece: in single precision they fit into the fastest cache, so that reading them does not
/// wait behind those of the next piece, which are on their way.
const NUMBERS_PER_PIECE: usize = 1 << 13;

/// Pieces handed to a thread at a time.
const PIECES_PER_TASK: usize = 16;

/// With fewer classes a second look at a row is cheaper than keeping what the first one found.
const MANY_CLASSES: usize = 16;

/// Rows handed to a thread at a time.
const ROWS_PER_TASK: usize = 64;

/// Numbers in one of the four floating-point types that networks are run in, borrowed or owned.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Values<'a> {
    /// IEEE half precision.
    F16(Cow<'a, [f16]>),
    /// Brain floating point.
    BF16(Cow<'a, [bf16]>),
    /// Single precision.
    F32(Cow<'a, [f32]>),
    /// Double precision.
    F64(Cow<'a, [f64]>),
}

macro_rules! values_from {
    ($($number:ty => $variant:ident),*) => {$(
        impl<'a> From<&'a [$number]> for Values<'a> {
            fn from(values: &'a [$number]) -> Self {
                Values::$variant(Cow::Borrowed(values))
            }
        }
        impl<'a> From<&'a Vec<$number>> for Values<'a> {
            fn from(values: &'a Vec<$number>) -> Self {
                Values::$variant(Cow::Borrowed(values))
            }
        }
        impl<'a, const N: usize> From<&'a [$number; N]> for Values<'a> {
            fn from(values: &'a [$number; N]) -> Self {
                Values::$variant(Cow::Borrowed(values))
            }
        }
        impl From<Vec<$number>> for Values<'_> {
            fn from(values: Vec<$number>) -> Self {
                Values::$variant(Cow::Owned(values))
            }
        }
    )*};
}
values_from!(f16 => F16, bf16 => BF16, f32 => F32, f64 => F64);

impl Values<'_> {
    /// How many numbers there are.
    pub fn len(&self) -> usize {
        match self {
            Values::F16(v) => v.len(),
            Values::BF16(v) => v.len(),
            Values::F32(v) => v.len(),
            Values::F64(v) => v.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some of them, borrowed.
    ///
    /// # Panics
    ///
    /// If the range does not end within them.
    #[must_use]
    pub fn part(&self, range: std::ops::Range<usize>) -> Values<'_> {
        match self {
            Values::F16(values) => (&values[range]).into(),
            Values::BF16(values) => (&values[range]).into(),
            Values::F32(values) => (&values[range]).into(),
            Values::F64(values) => (&values[range]).into(),
        }
    }

    /// Puts one number into all places of some rows of so many numbers.
    pub fn fill_rows(&mut self, rows: &[usize], numbers: usize, number: f32) {
        fn fill<T: Copy>(values: &mut [T], rows: &[usize], numbers: usize, number: T) {
            for &row in rows {
                values[row * numbers..(row + 1) * numbers].fill(number);
            }
        }
        match self {
            Values::F16(values) => fill(values.to_mut(), rows, numbers, f16::from_f32(number)),
            Values::BF16(values) => fill(values.to_mut(), rows, numbers, bf16::from_f32(number)),
            Values::F32(values) => fill(values.to_mut(), rows, numbers, number),
            Values::F64(values) => fill(values.to_mut(), rows, numbers, number.into()),
        }
    }

    /// Writes all of them as f64, which every type fits into exactly.
    ///
    /// # Panics
    ///
    /// If `out` is longer than they are.
    pub fn copy_to(&self, out: &mut [f64]) {
        self.widen(0, out);
    }

    /// How far probabilities of this type may be from valid, by rounding.
    pub fn default_tolerance(&self) -> f64 {
        match self {
            Values::F16(_) | Values::BF16(_) => 1e-2,
            Values::F32(_) | Values::F64(_) => 1e-3,
        }
    }

    /// Numbers `start .. start + out.len()`, widened; every type fits into f64 exactly.
    pub(crate) fn widen(&self, start: usize, out: &mut [f64]) {
        let end = start + out.len();
        match self {
            Values::F16(v) => v[start..end].convert_to_f64_slice(out),
            Values::BF16(v) => v[start..end].convert_to_f64_slice(out),
            Values::F32(v) => {
                for (out, &x) in out.iter_mut().zip(&v[start..end]) {
                    *out = f64::from(x);
                }
            }
            Values::F64(v) => out.copy_from_slice(&v[start..end]),
        }
    }
}

/// What stands in place of a probability of zero, whose logarithm does not exist.
///
/// The floor decides how far below the others an "impossible" class lies, and estimators that
/// look at all classes depend on it: on one real data set MaxLogit-pNorm is far worse than MSP
/// with a floor of 1e-38 and better than MSP with the smallest non-zero probability.
///
/// A floor must lie below the largest probability of every row, or it would move predictions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Floor {
    /// The smallest non-zero probability of the data; 1e-12 if that is the largest probability of
    /// some row, as where rows are one-hot.
    #[default]
    SmallestNonZero,
    /// A given number, in (0, 1).
    At(f64),
}

/// What must be known of all probabilities to choose the default floor, gathered in pieces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbabilityRange {
    /// The smallest that is not zero.
    smallest: f64,
    /// The smallest of the rows' largest.
    lowest_top: f64,
}

impl Default for ProbabilityRange {
    fn default() -> Self {
        ProbabilityRange { smallest: f64::INFINITY, lowest_top: f64::INFINITY }
    }
}

impl ProbabilityRange {
    /// Checks some rows and takes them in.
    pub fn extend<'a>(
        &mut self,
        values: impl Into<Values<'a>>,
        classes: usize,
        tolerance: Option<f64>,
    ) -> Result<(), Error> {
        let rows = Logits::shaped(values.into(), classes, Encoding::Logits)?;
        self.merge(rows.probability_range(tolerance)?);
        Ok(())
    }

    /// What [`Floor::SmallestNonZero`] stands for.
    pub fn floor(&self) -> f64 {
        if self.smallest < self.lowest_top { self.smallest } else { FLOOR_OF_ONE_HOT }
    }

    fn merge(&mut self, other: ProbabilityRange) {
        self.smallest = self.smallest.min(other.smallest);
        self.lowest_top = self.lowest_top.min(other.lowest_top);
    }
}

/// How probabilities are checked and turned into logits.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Probabilities {
    /// What replaces zeros; smaller non-zero probabilities are raised to it too.
    pub floor: Floor,
    /// How far a probability may lie outside [0, 1] and the sum of a row from 1. By default
    /// 1e-3, and 1e-2 for the two half-precision types.
    pub tolerance: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Encoding {
    Logits,
    /// `-inf` marks a masked class.
    Masked,
    /// The logit is `ln max(value, floor)`.
    Probabilities {
        floor: f64,
    },
}

/// The outputs of a classifier: `rows × classes` numbers in row-major order, all of them valid.
///
/// ```
/// use abstain::{Estimator, Logits};
///
/// let logits = Logits::new(&[2.0_f32, 0.5, -1.0, 0.1, 0.3, 0.29][..], 3)?;
/// assert_eq!(logits.predictions(), [0, 1]);
///
/// let estimator: Estimator = "MaxLogit-pNorm(p=4)".parse()?;
/// let confidences = estimator.confidences(&logits);
/// assert!(confidences[0] > confidences[1]);
/// # Ok::<(), abstain::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Logits<'a> {
    values: Values<'a>,
    rows: usize,
    classes: usize,
    encoding: Encoding,
    /// What the first look at each row found, if the values are plain logits of many classes.
    surveys: Option<Cow<'a, [Survey]>>,
    /// One further number of each row, if there is one.
    extra: Option<Cow<'a, [f64]>>,
}

impl<'a> Logits<'a> {
    /// Finite logits.
    pub fn new(values: impl Into<Values<'a>>, classes: usize) -> Result<Self, Error> {
        Self::checked(values.into(), classes, Encoding::Logits)
    }

    /// Logits in which `-inf` marks a class that was ruled out beforehand.
    ///
    /// A masked class has probability zero. Means, minima and p-norms run over the others.
    pub fn masked(values: impl Into<Values<'a>>, classes: usize) -> Result<Self, Error> {
        Self::checked(values.into(), classes, Encoding::Masked)
    }

    /// Probabilities, whose logarithms serve as logits: exact for all softmax scores and for all
    /// centred estimators, because the two differ by one constant a row.
    pub fn from_probabilities(
        values: impl Into<Values<'a>>,
        classes: usize,
        how: Probabilities,
    ) -> Result<Self, Error> {
        if let Floor::At(floor) = how.floor
            && !(floor > 0.0 && floor < 1.0)
        {
            let wanted = "a number between 0 and 1, both excluded";
            return Err(Error::Parameter { name: "floor", value: floor, wanted });
        }
        // The encoding is settled below, once the smallest non-zero probability is known.
        let mut logits = Self::shaped(values.into(), classes, Encoding::Logits)?;
        let range = logits.probability_range(how.tolerance)?;
        let floor = match how.floor {
            Floor::SmallestNonZero => range.floor(),
            Floor::At(floor) if floor < range.lowest_top => floor,
            Floor::At(value) => {
                let wanted = "below the largest probability of every row";
                return Err(Error::Parameter { name: "floor", value, wanted });
            }
        };
        logits.encoding = Encoding::Probabilities { floor };
        Ok(logits)
    }

    /// The same rows with one further number each, such as a distance to the training features: a term
    /// that a stack may have beside its scores.
    pub fn with_extra(mut self, extra: impl Into<Cow<'a, [f64]>>) -> Result<Self, Error> {
        let extra = extra.into();
        let (found, expected) = (extra.len(), self.rows);
        if found != expected {
            return Err(Error::Length { what: "extra", found, expected });
        }
        if let Some(row) = extra.iter().position(|x| x.is_nan() || x.abs() > LARGEST_LOGIT) {
            return Err(Error::Extra { row, value: extra[row] });
        }
        self.extra = Some(extra);
        Ok(self)
    }

    /// Whether each row has a further number.
    pub fn has_extra(&self) -> bool {
        self.extra.is_some()
    }

    /// Applies a function to plain logits in pieces that stay in the cache of a core, in parallel; the
    /// results are in the order of the rows. Each piece is checked when it is first looked at, and the
    /// next one comes from memory while it is worked on: all in all, the memory is read once.
    ///
    /// ```
    /// use abstain::{Estimator, Logits};
    ///
    /// let msp = Estimator::MSP;
    /// let confidences =
    ///     Logits::map_pieces(&[4.0_f32, 0.1, -0.2, 0.3][..], 2, |logits| Ok(msp.confidences(logits)))?;
    /// assert_eq!(confidences.len(), 2);
    /// # Ok::<(), abstain::Error>(())
    /// ```
    pub fn map_pieces<T: Send>(
        values: impl Into<Values<'a>>,
        classes: usize,
        work: impl Fn(&Logits<'_>) -> Result<Vec<T>, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let values = values.into();
        let shape = Logits::shaped(values.part(0..values.len()), classes, Encoding::Logits)?;
        let rows = shape.rows;
        let piece = (NUMBERS_PER_PIECE / classes).max(1);
        let pieces: Vec<Result<Vec<T>, Error>> = (0..rows.div_ceil(piece))
            .into_par_iter()
            .with_min_len(PIECES_PER_TASK)
            .map(|index| {
                let first = index * piece;
                let part = values.part(first * classes..(first + piece).min(rows) * classes);
                Logits::new(part, classes)
                    .and_then(|logits| work(&logits))
                    .map_err(|error| error.of_chunk(first))
            })
            .collect();
        // The first error in the order of the rows, whatever the threads.
        let mut all = Vec::with_capacity(rows);
        for piece in pieces {
            all.extend(piece?);
        }
        Ok(all)
    }

    /// How many rows there are: one at least.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many classes there are: two at least.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The floor under the probabilities, if that is what the data are.
    pub fn floor(&self) -> Option<f64> {
        match self.encoding {
            Encoding::Probabilities { floor } => Some(floor),
            Encoding::Logits | Encoding::Masked => None,
        }
    }

    /// Whether some classes may be masked.
    pub(crate) fn has_masks(&self) -> bool {
        self.encoding == Encoding::Masked
    }

    /// The numbers of a row as they were given: probabilities as such.
    ///
    /// # Panics
    ///
    /// If there is no such row, or `out` is not as long as there are classes.
    pub fn copy_row(&self, row: usize, out: &mut [f64]) {
        assert_eq!(out.len(), self.classes, "a row has as many numbers as classes");
        self.values.widen(row * self.classes, out);
    }

    /// Some of the rows, copied, in the order given.
    ///
    /// # Panics
    ///
    /// If `rows` is empty or out of range.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Logits<'static> {
        fn pick<T: Copy>(values: &[T], rows: &[usize], classes: usize) -> Vec<T> {
            rows.iter().flat_map(|&i| &values[i * classes..(i + 1) * classes]).copied().collect()
        }
        assert!(!rows.is_empty(), "logits of no rows");
        let classes = self.classes;
        let values = match &self.values {
            Values::F16(values) => pick(values, rows, classes).into(),
            Values::BF16(values) => pick(values, rows, classes).into(),
            Values::F32(values) => pick(values, rows, classes).into(),
            Values::F64(values) => pick(values, rows, classes).into(),
        };
        let extra = self.extra.as_ref().map(|extra| rows.iter().map(|&i| extra[i]).collect());
        let surveys = self.surveys.as_ref().map(|all| rows.iter().map(|&i| all[i]).collect());
        let (rows, encoding) = (rows.len(), self.encoding);
        Logits { values, rows, classes, encoding, surveys, extra }
    }

    /// Some rows that follow each other, borrowed.
    ///
    /// # Panics
    ///
    /// If `rows` is empty or out of range.
    #[must_use]
    pub fn part(&self, rows: std::ops::Range<usize>) -> Logits<'_> {
        assert!(!rows.is_empty(), "logits of no rows");
        let values = self.values.part(rows.start * self.classes..rows.end * self.classes);
        let extra = self.extra.as_ref().map(|extra| Cow::Borrowed(&extra[rows.clone()]));
        let surveys = self.surveys.as_ref().map(|all| Cow::Borrowed(&all[rows.clone()]));
        let (classes, encoding) = (self.classes, self.encoding);
        Logits { values, rows: rows.len(), classes, encoding, surveys, extra }
    }

    /// The predicted class of each row: the largest logit, the first of them if several tie.
    pub fn predictions(&self) -> Vec<usize> {
        self.map_rows(|_, row| row.prediction())
    }

    /// Applies a function to every row, in parallel; the result is in the order of the rows.
    pub(crate) fn map_rows<T: Send>(&self, f: impl Fn(usize, &Row<'_>) -> T + Sync) -> Vec<T> {
        map_each(self.rows, Buffers::default, |buffers, row| {
            let extra = self.extra.as_ref().map_or(f64::NAN, |extra| extra[row]);
            f(row, &self.load(row, buffers).with_extra(extra))
        })
    }

    /// Applies a function to the numbers of each row as they were given, in f64.
    pub(crate) fn map_values<T: Send>(&self, f: impl Fn(usize, &[f64]) -> T + Sync) -> Vec<T> {
        let buffer = || vec![0.0; self.classes];
        map_each(self.rows, buffer, |buffer, row| {
            self.values.widen(row * self.classes, buffer);
            f(row, buffer)
        })
    }

    /// A row as logits: borrowed if that is what was given, else written into a buffer.
    fn load<'b>(&'b self, row: usize, buffers: &'b mut Buffers) -> Row<'b> {
        if let Some(surveys) = &self.surveys {
            return Row::surveyed(self.plain(row, &mut buffers.single), &surveys[row]);
        }
        if self.encoding == Encoding::Logits {
            return Row::new(self.plain(row, &mut buffers.single));
        }
        let Buffers { double, unmasked, .. } = buffers;
        double.resize(self.classes, 0.0);
        self.values.widen(row * self.classes, double);
        if let Encoding::Probabilities { floor } = self.encoding {
            for x in double.iter_mut() {
                *x = x.max(floor).ln();
            }
            return Row::new(Slice::Double(double));
        }
        unmasked.clear();
        unmasked.extend(double.iter().filter(|x| x.is_finite()));
        Row::masked(Slice::Double(double), Slice::Double(unmasked))
    }

    /// The numbers of a row: borrowed in single and double precision, else widened to single
    /// precision, which is exact.
    fn plain<'b>(&'b self, row: usize, buffer: &'b mut Vec<f32>) -> Slice<'b> {
        let range = row * self.classes..(row + 1) * self.classes;
        match &self.values {
            Values::F64(values) => return Slice::Double(&values[range]),
            Values::F32(values) => return Slice::Single(&values[range]),
            Values::F16(values) => {
                buffer.resize(self.classes, 0.0);
                values[range].convert_to_f32_slice(buffer);
            }
            Values::BF16(values) => {
                buffer.resize(self.classes, 0.0);
                values[range].convert_to_f32_slice(buffer);
            }
        }
        Slice::Single(buffer)
    }

    /// Checks the values as probabilities.
    fn probability_range(&self, tolerance: Option<f64>) -> Result<ProbabilityRange, Error> {
        let tolerance = tolerance.unwrap_or(self.values.default_tolerance());
        if !(0.0..1.0).contains(&tolerance) {
            let wanted = "a number from 0 to below 1";
            return Err(Error::Parameter { name: "tolerance", value: tolerance, wanted });
        }
        let rows = self.try_rows(|row, values| check_probabilities(row, values, tolerance))?;
        let mut range = ProbabilityRange::default();
        for part in rows {
            range.merge(part);
        }
        Ok(range)
    }

    fn shaped(values: Values<'a>, classes: usize, encoding: Encoding) -> Result<Self, Error> {
        if classes < 2 {
            return Err(Error::TooFewClasses { classes });
        }
        if values.is_empty() {
            return Err(Error::NoRows);
        }
        if !values.len().is_multiple_of(classes) {
            return Err(Error::Ragged { values: values.len(), classes });
        }
        let rows = values.len() / classes;
        Ok(Logits { values, rows, classes, encoding, surveys: None, extra: None })
    }

    fn checked(values: Values<'a>, classes: usize, encoding: Encoding) -> Result<Self, Error> {
        let mut logits = Self::shaped(values, classes, encoding)?;
        if encoding == Encoding::Masked {
            logits.try_rows(|row, values| check_logits(row, values, encoding))?;
            return Ok(logits);
        }
        // Almost all files are sound: the first look at a row says so, and a row that is not is looked
        // at once more.
        let surveys: Vec<Survey> =
            map_each(logits.rows, Vec::new, |buffer, row| logits.plain(row, buffer).survey());
        let is_valid = |survey: &Survey| survey.magnitude <= LARGEST_LOGIT;
        if let Some(row) = surveys.iter().position(|survey| !is_valid(survey)) {
            let mut values = vec![0.0; classes];
            logits.values.widen(row * classes, &mut values);
            check_logits(row, &values, encoding)?;
        }
        if classes >= MANY_CLASSES {
            logits.surveys = Some(surveys.into());
        }
        Ok(logits)
    }

    /// Runs a check over the rows in parallel and returns the error of the first row that fails,
    /// however many threads there are.
    fn try_rows<T: Send>(
        &self,
        check: impl Fn(usize, &[f64]) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        self.map_values(check).into_iter().collect()
    }
}

fn check_logits(row: usize, values: &[f64], encoding: Encoding) -> Result<(), Error> {
    let mut masked = 0;
    for (column, &value) in values.iter().enumerate() {
        if value == f64::NEG_INFINITY && encoding == Encoding::Masked {
            masked += 1;
        } else if !value.is_finite() {
            return Err(Error::NotFinite { row, column, value });
        } else if value.abs() > LARGEST_LOGIT {
            return Err(Error::TooLarge { row, column, value });
        }
    }
    if masked == values.len() { Err(Error::AllMasked { row }) } else { Ok(()) }
}

fn check_probabilities(
    row: usize,
    values: &[f64],
    tolerance: f64,
) -> Result<ProbabilityRange, Error> {
    for (column, &value) in values.iter().enumerate() {
        if !(-tolerance..=1.0 + tolerance).contains(&value) {
            return Err(Error::NotAProbability { row, column, value, tolerance });
        }
    }
    let sum: f64 = values.iter().sum();
    if (sum - 1.0).abs() > tolerance {
        return Err(Error::ProbabilitySum { row, sum, tolerance });
    }
    let positive = values.iter().copied().filter(|&p| p > 0.0);
    let none = ProbabilityRange { smallest: f64::INFINITY, lowest_top: 0.0 };
    Ok(positive.fold(none, |range, p| ProbabilityRange {
        smallest: range.smallest.min(p),
        lowest_top: range.lowest_top.max(p),
    }))
}

/// Applies a function to each of some rows, with a buffer of the thread; the results are in the order
/// of the rows. Fewer than two tasks are done by the calling thread: a service that scores a few rows
/// at a time starts no other threads.
fn map_each<B, T: Send>(
    rows: usize,
    buffer: impl Fn() -> B + Send + Sync,
    f: impl Fn(&mut B, usize) -> T + Send + Sync,
) -> Vec<T> {
    if rows < 2 * ROWS_PER_TASK {
        let mut buffer = buffer();
        return (0..rows).map(|row| f(&mut buffer, row)).collect();
    }
    (0..rows).into_par_iter().with_min_len(ROWS_PER_TASK).map_init(buffer, f).collect()
}

/// Where a thread writes rows that are not held as they are computed with.
#[derive(Default)]
struct Buffers {
    single: Vec<f32>,
    double: Vec<f64>,
    unmasked: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_logits_are_refused_with_their_place() {
        let refuse = |values: &[f64], classes| Logits::new(values, classes).unwrap_err();
        assert_eq!(refuse(&[], 2), Error::NoRows);
        assert_eq!(refuse(&[1.0], 1), Error::TooFewClasses { classes: 1 });
        assert_eq!(refuse(&[1.0], 0), Error::TooFewClasses { classes: 0 });
        assert_eq!(refuse(&[1.0, 2.0, 3.0], 2), Error::Ragged { values: 3, classes: 2 });
        let place = refuse(&[1.0, 2.0, 3.0, f64::INFINITY], 2);
        assert_eq!(place, Error::NotFinite { row: 1, column: 1, value: f64::INFINITY });
        let place = refuse(&[f64::NEG_INFINITY, 2.0], 2);
        assert_eq!(place, Error::NotFinite { row: 0, column: 0, value: f64::NEG_INFINITY });
        let place = refuse(&[0.0, 2.0, -1e101, 1.0], 2);
        assert_eq!(place, Error::TooLarge { row: 1, column: 0, value: -1e101 });
        let text = refuse(&[0.0, 2.0, 1.0, f64::NAN], 2).to_string();
        assert_eq!(text, "row 1, column 1: logit NaN is not a finite number");
    }

    #[test]
    fn the_first_bad_row_is_named_whatever_the_threads() {
        let mut values = vec![0.5_f32; 200_000];
        values[150_001] = f32::NAN;
        values[190_000] = f32::NAN;
        let error = Logits::new(&values[..], 10).unwrap_err();
        assert!(matches!(error, Error::NotFinite { row: 15_000, column: 1, .. }), "{error}");
    }

    #[test]
    fn pieces_are_checked_in_the_order_of_the_rows() {
        let mut values: Vec<f32> = (0..400_000).map(|i| (i % 97) as f32).collect();
        let whole = Logits::new(&values[..], 10).expect("valid").predictions();
        let pieces = Logits::map_pieces(&values[..], 10, |part| Ok(part.predictions()));
        assert_eq!(pieces, Ok(whole));
        for place in [390_004, 250_001, 90_002] {
            values[place] = f32::NAN;
        }
        let bad = Logits::map_pieces(&values[..], 10, |part| Ok(part.predictions())).unwrap_err();
        assert!(matches!(bad, Error::NotFinite { row: 9_000, column: 2, .. }), "{bad}");
        let none = Logits::map_pieces(&[0.0_f32; 0][..], 10, |part| Ok(part.predictions()));
        assert_eq!(none, Err(Error::NoRows));
    }

    #[test]
    fn every_number_type_is_read() {
        let plain = [1.5_f32, -0.25, 0.0, 2.0];
        let wanted = [0, 1];
        let half: Vec<f16> = plain.iter().map(|&x| f16::from_f32(x)).collect();
        let brain: Vec<bf16> = plain.iter().map(|&x| bf16::from_f32(x)).collect();
        let double: Vec<f64> = plain.iter().map(|&x| f64::from(x)).collect();
        let confidences = |logits: Logits<'_>| {
            assert_eq!(logits.predictions(), wanted);
            let exact = logits.map_rows(|_, row| row.all().to_vec()).concat();
            assert_eq!(exact, plain.map(f64::from));
            logits.map_rows(|_, row| row.rank_of(0))
        };
        let all = [
            confidences(Logits::new(&plain[..], 2).expect("f32")),
            confidences(Logits::new(half, 2).expect("f16")),
            confidences(Logits::new(brain, 2).expect("bf16")),
            confidences(Logits::new(double, 2).expect("f64")),
        ];
        assert!(all.iter().all(|ranks| *ranks == [0, 1]));
        assert!(Logits::new(vec![f16::NAN, f16::ONE], 2).is_err());
        assert!(Logits::new(vec![bf16::INFINITY, bf16::ONE], 2).is_err());
    }

    #[test]
    fn masked_classes_are_allowed_when_asked_for_and_only_then() {
        let values = [f64::NEG_INFINITY, 1.0, 2.0, 3.0];
        assert!(Logits::new(&values[..], 2).is_err());
        assert_eq!(Logits::masked(&values[..], 2).expect("masked").predictions(), [1, 1]);
        let all = [0.0, 0.0, f64::NEG_INFINITY, f64::NEG_INFINITY];
        assert_eq!(Logits::masked(&all[..], 2).unwrap_err(), Error::AllMasked { row: 1 });
        let positive = Logits::masked(&[0.0, f64::INFINITY][..], 2).unwrap_err();
        assert!(matches!(positive, Error::NotFinite { row: 0, column: 1, .. }));
    }

    #[test]
    fn probabilities_are_checked_within_a_tolerance_and_floored() {
        let read = |values: &[f64], how| Logits::from_probabilities(values.to_vec(), 2, how);
        let default = Probabilities::default();
        let logits = read(&[0.75, 0.25, 1.00002, 0.0], default).expect("within tolerance");
        assert_eq!(logits.floor(), Some(0.25));
        let at = Probabilities { floor: Floor::At(1e-9), ..default };
        assert_eq!(read(&[1.0, 0.0], at).expect("floor given").floor(), Some(1e-9));

        let sum = read(&[0.5, 0.5, 0.5, 0.4], default).unwrap_err();
        assert_eq!(sum, Error::ProbabilitySum { row: 1, sum: 0.9, tolerance: 1e-3 });
        let negative = read(&[1.2, -0.2], default).unwrap_err();
        let place = Error::NotAProbability { row: 0, column: 0, value: 1.2, tolerance: 1e-3 };
        assert_eq!(negative, place);
        assert!(read(&[f64::NAN, 1.0], default).is_err());
        assert!(read(&[0.0, 0.0], default).is_err());
        // A floor at or above a row's largest probability would move its prediction.
        let one_hot = read(&[0.0, 1.0, 1.0, 0.0], default).expect("one-hot rows");
        assert_eq!((one_hot.predictions(), one_hot.floor()), (vec![1, 0], Some(1e-12)));
        let high = Probabilities { floor: Floor::At(0.6), ..default };
        assert!(matches!(read(&[0.4, 0.6], high), Err(Error::Parameter { name: "floor", .. })));
        // Half precision may miss the sum by more.
        let half: Vec<f16> = [0.6, 0.395].iter().map(|&x| f16::from_f32(x)).collect();
        assert!(Logits::from_probabilities(half, 2, default).is_ok());
        assert!(read(&[0.6, 0.395], default).is_err());
        for floor in [0.0, 1.0, -1.0, f64::NAN] {
            let bad = Probabilities { floor: Floor::At(floor), ..default };
            assert!(matches!(read(&[0.5, 0.5], bad), Err(Error::Parameter { .. })));
        }
        let loose = Probabilities { tolerance: Some(0.2), ..default };
        assert!(read(&[0.5, 0.4], loose).is_ok());
    }
}
