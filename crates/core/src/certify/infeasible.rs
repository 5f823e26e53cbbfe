//! Why a target cannot be certified, and what could have been.

use super::complement;
use serde::Serialize;
use std::fmt;

/// Why no threshold can be certified, and what could have been.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Infeasible {
    /// What is missing.
    #[serde(flatten)]
    pub reason: Reason,
    /// The lowest risk that the same procedure certifies on these rows. It was found by looking at them,
    /// so that it is advice on what to request of the next rows, and no certificate.
    pub instead: Option<Instead>,
}

/// What is missing for a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// Too few rows to certify this target even without any error among them.
    TooFewRows {
        /// How many there are.
        rows: usize,
        /// How many it takes at least.
        needed: usize,
    },
    /// Even on these rows no threshold that accepts enough of them comes below the target.
    OutOfReach {
        /// The lowest selective risk of a threshold that accepts enough rows.
        lowest: f64,
        /// How many rows a certificate takes at least.
        enough: usize,
        /// About how many rows it would take if the surest rows, which are below the target but too few,
        /// stayed as sure; nothing if not even they are clearly below it.
        needed: Option<usize>,
    },
    /// Some threshold is below the target on these rows, but they are too few to be sure.
    NotSure {
        /// The lowest selective risk of a threshold that accepts enough rows.
        lowest: f64,
        /// How many rows there are.
        rows: usize,
        /// About how many rows it would take if the rates stayed about as they are; nothing if they are
        /// too near to the target to tell, or if a million rows are not enough.
        needed: Option<usize>,
    },
}

/// A risk that could have been certified.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Instead {
    /// The selective risk.
    pub risk: f64,
    /// The share of rows above the threshold.
    pub coverage: f64,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::TooFewRows { rows, needed } => write!(
                f,
                "{} rows cannot certify this target even without errors; it takes {} at least",
                grouped(*rows),
                grouped(*needed)
            ),
            Reason::OutOfReach { lowest, enough, needed } => {
                write!(
                    f,
                    "it takes {} answers at least, and among as many the selective risk of these rows \
                     is {lowest:.4} or more",
                    grouped(*enough)
                )?;
                match needed {
                    Some(needed) => {
                        let needed = grouped(*needed);
                        write!(f, "; about {needed} rows would do if the surest stay as sure")
                    }
                    None => Ok(()),
                }
            }
            Reason::NotSure { lowest, rows, needed } => {
                write!(
                    f,
                    "the selective risk comes down to {lowest:.4} on these rows, but they are too few to be \
                     sure"
                )?;
                match needed {
                    Some(needed) => {
                        let more = grouped(needed.saturating_sub(*rows));
                        write!(f, "; about {} would do, {more} more", grouped(*needed))
                    }
                    None => write!(f, ", and too near to the target to tell how many would do"),
                }
            }
        }
    }
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reason)?;
        if let Some(Instead { risk, coverage }) = self.instead {
            write!(
                f,
                " (a risk of {risk}, that is an accuracy of {}, could have been certified at a coverage of \
                 {coverage:.3}: advice for the next rows, not a certificate)",
                complement(risk)
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Infeasible {}

/// A count with a comma after every three digits.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let place = |(index, digit): (usize, char)| {
        let comma = index > 0 && (digits.len() - index).is_multiple_of(3);
        comma.then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(place).collect()
}
