//! What can be wrong with an input, and why a metric may have no value.

use std::fmt;

/// An input that was refused. Rows and columns count from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There are no rows.
    #[error("there are no rows")]
    NoRows,
    /// Labels are needed, and the rows have none.
    #[error("the rows have no labels")]
    NoLabels,
    /// A classifier needs two classes at least.
    #[error("{classes} class(es) given, at least 2 are needed")]
    TooFewClasses {
        /// How many there are.
        classes: usize,
    },
    /// A row of a binary classifier that gives one number has more than one.
    #[error("{found} numbers in each row, but a binary classifier's is one")]
    NotOneNumber {
        /// How many there are.
        found: usize,
    },
    /// A monitor needs a threshold.
    #[error("the estimator has no threshold, so nothing is accepted that could be watched")]
    NoThreshold,
    /// A rule with several thresholds, where one for all rows is needed or rows have no such column.
    #[error("the rule has a threshold for each {by}, which cannot be applied here")]
    ThresholdTable {
        /// What the thresholds are by: class or group.
        by: &'static str,
    },
    /// States of monitors that watch different things.
    #[error("the states are not of the same estimator, threshold and settings")]
    StatesDiffer,
    /// Logits are needed, and there is only a confidence.
    #[error("there are no logits, only a confidence")]
    NoLogits,
    /// The number of values is not a multiple of the number of classes.
    #[error("{values} values do not make whole rows of {classes} classes")]
    Ragged {
        /// How many values there are.
        values: usize,
        /// How many make a row.
        classes: usize,
    },
    /// A cost matrix that is not square.
    #[error("{values} costs do not make a square matrix of {classes} classes")]
    CostMatrix {
        /// How many costs there are.
        values: usize,
        /// How many classes.
        classes: usize,
    },
    /// Rows of different numbers of classes.
    #[error("rows of {found} classes where {expected} were expected")]
    Classes {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A profile does not hold the norm or the sums that an estimator needs.
    #[error("the profile does not hold what {estimator} needs: add it to the plan")]
    NotProfiled {
        /// The estimator.
        estimator: String,
    },
    /// A number beside a row is not finite, or too large.
    #[error(
        "row {row} of the extra column is {value}, which is not a number between -1e100 and 1e100"
    )]
    Extra {
        /// The row.
        row: usize,
        /// The number.
        value: f64,
    },
    /// The estimator needs a further number of each row.
    #[error("the estimator needs an extra column, one number for each row")]
    ExtraMissing,
    /// Two inputs that belong together differ in length.
    #[error("{what}: {found} rows where {expected} were expected")]
    Length {
        /// The input that does not fit.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
    },
    /// A logit is NaN or infinite (`-inf` is allowed in masked logits).
    #[error("row {row}, column {column}: logit {value} is not a finite number")]
    NotFinite {
        /// Its row.
        row: usize,
        /// Its class.
        column: usize,
        /// Its value.
        value: f64,
    },
    /// A logit is beyond 1e100 in magnitude, where sums could overflow.
    #[error("row {row}, column {column}: logit {value:e} is beyond 1e100 in magnitude")]
    TooLarge {
        /// Its row.
        row: usize,
        /// Its class.
        column: usize,
        /// Its value.
        value: f64,
    },
    /// Every class of a row is masked.
    #[error("row {row}: every class is masked (-inf)")]
    AllMasked {
        /// The row.
        row: usize,
    },
    /// A probability is NaN, negative or above 1 by more than the tolerance.
    #[error("row {row}, column {column}: {value} is not a probability (tolerance {tolerance})")]
    NotAProbability {
        /// Its row.
        row: usize,
        /// Its class.
        column: usize,
        /// Its value.
        value: f64,
        /// What it may be off by.
        tolerance: f64,
    },
    /// The probabilities of a row do not sum to 1 within the tolerance.
    #[error("row {row}: the probabilities sum to {sum}, not to 1 (tolerance {tolerance})")]
    ProbabilitySum {
        /// The row.
        row: usize,
        /// Its sum.
        sum: f64,
        /// What it may be off by.
        tolerance: f64,
    },
    /// A label is not the index of a class.
    #[error("row {row}: label {label} is not between 0 and {}", classes - 1)]
    LabelOutOfRange {
        /// Its row.
        row: usize,
        /// Its value.
        label: i128,
        /// How many classes there are.
        classes: usize,
    },
    /// A loss is negative, NaN, or beyond 1e100.
    #[error("row {row}: loss {value:e} is not between 0 and 1e100")]
    InvalidLoss {
        /// Its row.
        row: usize,
        /// Its value.
        value: f64,
    },
    /// A weight is negative, NaN, or beyond the range of weights.
    #[error("row {row}: weight {value:e} is neither 0 nor between 1e-100 and 1e100")]
    InvalidWeight {
        /// Its row.
        row: usize,
        /// Its value.
        value: f64,
    },
    /// No row has a weight.
    #[error("all {rows} weights are 0")]
    ZeroWeights {
        /// How many there are.
        rows: usize,
    },
    /// A weight is larger than any row was said to have.
    #[error("row {row}: weight {value} is above the largest one, {largest}")]
    WeightAbove {
        /// Its row.
        row: usize,
        /// Its value.
        value: f64,
        /// The largest that was stated.
        largest: f64,
    },
    /// A cost is negative, NaN, or beyond 1e100.
    #[error("label {label}, prediction {prediction}: cost {value:e} is not between 0 and 1e100")]
    InvalidCost {
        /// The true class.
        label: usize,
        /// The predicted class.
        prediction: usize,
        /// The cost.
        value: f64,
    },
    /// A confidence is NaN.
    #[error("row {row}: the confidence is NaN")]
    InvalidConfidence {
        /// Its row.
        row: usize,
    },
    /// A parameter is outside of its range.
    #[error("{name} is {value}, but must be {wanted}")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        wanted: &'static str,
    },
    /// A parameter is missing, or belongs to another method.
    #[error("{method} {problem} the parameter {parameter} (it takes {takes})")]
    ParameterSet {
        /// The method.
        method: String,
        /// "needs" or "does not take".
        problem: &'static str,
        /// The parameter.
        parameter: String,
        /// What the method takes.
        takes: String,
    },
    /// A name that nothing has.
    #[error("no {what} is called '{name}'{}", suggestion.as_ref().map_or(String::new(), |s| format!("; did you mean '{s}'?")))]
    UnknownName {
        /// What was looked for.
        what: &'static str,
        /// What was typed.
        name: String,
        /// The nearest name, if one is near.
        suggestion: Option<String>,
    },
    /// A combination that ranks exactly as a simpler one.
    #[error("{name} ranks exactly as {same}: {why}; use {same}")]
    RankNeutral {
        /// The combination.
        name: String,
        /// The simpler one.
        same: String,
        /// Why they are the same.
        why: &'static str,
    },
    /// A stack has too many numbers for a line of text.
    #[error("a stack is fitted, or read from JSON; it has too many numbers to write as text")]
    StackAsText,
    /// A name whose parameters cannot be read.
    #[error("cannot read '{text}': {problem}")]
    Syntax {
        /// What was typed.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The work was no longer wanted; see [`crate::stop`].
    #[error("stopped")]
    Stopped,
    /// Valid input for which the requested value does not exist.
    #[error(transparent)]
    Undefined(#[from] Undefined),
}

impl Error {
    /// The row that it is about.
    pub fn row(&self) -> Option<usize> {
        let mut copy = self.clone();
        copy.row_mut().map(|row| *row)
    }

    /// The same error of rows that begin at `first`, where they are part of more.
    #[must_use]
    pub fn of_chunk(mut self, first: usize) -> Self {
        if let Some(row) = self.row_mut() {
            *row += first;
        }
        self
    }

    fn row_mut(&mut self) -> Option<&mut usize> {
        match self {
            Error::NotFinite { row, .. }
            | Error::TooLarge { row, .. }
            | Error::AllMasked { row }
            | Error::NotAProbability { row, .. }
            | Error::ProbabilitySum { row, .. }
            | Error::LabelOutOfRange { row, .. }
            | Error::InvalidLoss { row, .. }
            | Error::InvalidWeight { row, .. }
            | Error::WeightAbove { row, .. }
            | Error::Extra { row, .. }
            | Error::InvalidConfidence { row } => Some(row),
            _ => None,
        }
    }
}

/// Why a value does not exist.
///
/// A metric of valid input may still be undefined; it is then an error with its reason, never NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Undefined {
    /// No row is wrong.
    NoErrors,
    /// No row is right.
    NoCorrect,
    /// All losses are equal, so that no order of the rows is better than another.
    EqualLosses,
    /// Some loss is neither 0 nor 1.
    LossNotZeroOne,
    /// No number of accepted rows falls into the range of coverages.
    EmptyRange,
    /// The weights of several rows sum to 1 or less, which is no more than one row.
    LessThanARow,
    /// Fewer than two points.
    TooFewPoints,
    /// One of the two variables is constant.
    Constant,
    /// The label of a row is masked: its likelihood is zero.
    MaskedLabel {
        /// The row.
        row: usize,
    },
    /// A value to be read as a probability is not between 0 and 1.
    NotAProbability {
        /// Its row.
        row: usize,
        /// Its value.
        value: f64,
    },
    /// A value is not a finite number.
    NotFinite,
    /// The estimator gives no probability to the classes.
    NoLikelihood,
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undefined::NoErrors => f.write_str("undefined: no row is wrong"),
            Undefined::NoCorrect => f.write_str("undefined: no row is right"),
            Undefined::EqualLosses => f.write_str("undefined: all losses are equal"),
            Undefined::LossNotZeroOne => f.write_str("undefined: a loss is neither 0 nor 1"),
            Undefined::EmptyRange => f.write_str("undefined: no row count in this coverage range"),
            Undefined::LessThanARow => f.write_str(
                "undefined: the weights sum to 1 or less, and 1 is one row; scale them to sum to the number of rows",
            ),
            Undefined::TooFewPoints => f.write_str("undefined: fewer than two points"),
            Undefined::Constant => f.write_str("undefined: one variable is constant"),
            Undefined::MaskedLabel { row } => {
                write!(f, "undefined: the label of row {row} is masked")
            }
            Undefined::NotAProbability { row, value } => {
                write!(f, "undefined: row {row} has {value}, which is not a probability")
            }
            Undefined::NoLikelihood => {
                f.write_str("undefined: the estimator gives no probability to the classes")
            }
            Undefined::NotFinite => f.write_str("undefined: a value is not a finite number"),
        }
    }
}

impl std::error::Error for Undefined {}
