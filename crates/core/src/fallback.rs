//! When tuning falls back to MSP.

use crate::error::Error;
use crate::text::json_as_text;
use std::fmt;
use std::str::FromStr;

/// When tuning falls back to MSP.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Fallback {
    /// If MSP is better by more than this many standard errors of the difference, in a cross-fit. Any
    /// stricter rule throws true gains away on a few hundred rows.
    Veto(f64),
    /// Never, except where the estimator gives all rows the same confidence.
    None,
    /// The paper's: if it is worse than MSP on the tuning rows themselves.
    Paper,
    /// Unless it is better than MSP on the tuning rows by more than this many standard errors of the
    /// difference.
    StandardErrors(f64),
    /// Unless it is better than MSP on average over the folds of a cross-validation, tuned on the
    /// others each time, and by more than some standard errors of that average.
    CrossValidation {
        /// How many folds.
        folds: usize,
        /// How many standard errors; 0 for the average alone.
        standard_errors: f64,
    },
}

impl Default for Fallback {
    /// Two standard errors against it: what measurement favours
    /// (docs/decisions/method-and-fallback.md).
    fn default() -> Self {
        Fallback::Veto(2.0)
    }
}

impl Fallback {
    /// The forms that are read, for messages.
    pub const FORMS: &'static str = "veto=2, none, paper, standard-errors=1, cross-validation=5 or cross-validation=5+1 (standard error)";
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fallback::Veto(times) => write!(f, "veto={times}"),
            Fallback::None => f.write_str("none"),
            Fallback::Paper => f.write_str("paper"),
            Fallback::StandardErrors(times) => write!(f, "standard-errors={times}"),
            Fallback::CrossValidation { folds, standard_errors: 0.0 } => {
                write!(f, "cross-validation={folds}")
            }
            Fallback::CrossValidation { folds, standard_errors } => {
                write!(f, "cross-validation={folds}+{standard_errors}")
            }
        }
    }
}

impl FromStr for Fallback {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let syntax = || {
            let problem = format!("a fallback is {}", Fallback::FORMS);
            Error::Syntax { text: text.to_string(), problem }
        };
        let number = |text: &str| {
            let value = text.parse().ok().filter(|x: &f64| (0.0..=100.0).contains(x));
            value.ok_or_else(syntax)
        };
        let (name, given) = match text.trim().split_once('=') {
            Some((name, given)) => (name, Some(given)),
            None => (text.trim(), None),
        };
        match (&name.to_ascii_lowercase()[..], given) {
            ("veto", times) => Ok(Fallback::Veto(number(times.unwrap_or("2"))?)),
            ("none", None) => Ok(Fallback::None),
            ("paper", None) => Ok(Fallback::Paper),
            ("standard-errors", times) => {
                Ok(Fallback::StandardErrors(number(times.unwrap_or("1"))?))
            }
            ("cross-validation", given) => {
                let (folds, errors) =
                    given.unwrap_or("5").split_once('+').unwrap_or((given.unwrap_or("5"), "0"));
                let folds = folds.parse().ok().filter(|folds| (2..=1000).contains(folds));
                let folds = folds.ok_or_else(syntax)?;
                Ok(Fallback::CrossValidation { folds, standard_errors: number(errors)? })
            }
            _ => Err(syntax()),
        }
    }
}

json_as_text!(Fallback);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back() {
        for text in [
            "veto=2",
            "veto=0.5",
            "none",
            "paper",
            "standard-errors=1",
            "standard-errors=0.5",
            "cross-validation=5",
            "cross-validation=10+1",
        ] {
            let fallback: Fallback = text.parse().expect("valid");
            assert_eq!(fallback.to_string(), text);
        }
        assert_eq!("veto".parse(), Ok(Fallback::default()));
        assert_eq!("standard-errors".parse(), Ok(Fallback::StandardErrors(1.0)));
        let folds = Fallback::CrossValidation { folds: 5, standard_errors: 0.0 };
        assert_eq!("Cross-Validation".parse(), Ok(folds));
        for wrong in ["", "never", "standard-errors=-1", "cross-validation=1", "paper=2", "none=1"]
        {
            let error = wrong.parse::<Fallback>().unwrap_err().to_string();
            assert!(error.contains("a fallback is veto=2, none, paper"), "{error}");
        }
    }
}
