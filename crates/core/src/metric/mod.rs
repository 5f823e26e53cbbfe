//! Metrics: numbers read from a risk-coverage curve.
//!
//! To add one, write its file with the headings of the others and add its line to the registry
//! below. It reads an [`RcCurve`] and nothing else.

use crate::curve::{Count, RcCurve};
use crate::error::{Error, Undefined};
use crate::interval::Expansion;
use crate::method::nearest;
use crate::text::json_as_text;
use std::fmt;
use std::str::FromStr;

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Lower is better.
    Lower,
    /// Higher is better.
    Higher,
}

/// The name and the properties of a metric.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// Its name.
    pub name: &'static str,
    /// Which way is better.
    pub better: Direction,
    /// Whether it is read at a single threshold. Others are best for the ideal confidence; at a single
    /// threshold another may be better, because the ideal one ties all wrong rows.
    pub one_threshold: bool,
    /// The largest value it may have; the smallest is 0.
    pub largest: Largest,
    /// Its parameters.
    pub parameters: &'static [Parameter],
}

/// The largest value of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Largest {
    /// Whatever the loss.
    Always(f64),
    /// For the 0/1 loss; there is none for others.
    ZeroOne(f64),
    /// There is none.
    None,
}

/// A parameter of a metric.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The largest it may be; the smallest is 0.
    pub largest: f64,
}

macro_rules! registry {
    ($($variant:ident => $module:ident, $summary:literal;)*) => {
        $(mod $module;)*

        /// A kind of metric; with its parameters it is a [`Metric`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum MetricKind {
            $(#[doc = $summary] $variant,)*
        }

        impl MetricKind {
            /// Every kind, in the order of listings.
            pub const ALL: &'static [MetricKind] = &[$(MetricKind::$variant),*];

            /// Its name and properties.
            pub fn info(self) -> &'static Info {
                match self {
                    $(MetricKind::$variant => &$module::INFO,)*
                }
            }

            /// One sentence on what it is.
            pub fn summary(self) -> &'static str {
                match self {
                    $(MetricKind::$variant => $summary,)*
                }
            }

            fn evaluate<C: Count>(self, curve: &RcCurve<C>, at: [f64; 2]) -> Result<f64, Undefined> {
                match self {
                    $(MetricKind::$variant => $module::evaluate(curve, at),)*
                }
            }

            fn expansion(self, curve: &RcCurve, at: [f64; 2]) -> Expansion {
                match self {
                    $(MetricKind::$variant => $module::expansion(curve, at),)*
                }
            }
        }
    };
}

registry! {
    Aurc => aurc, "Area under the risk-coverage curve.";
    EAurc => e_aurc, "AURC in excess of that of an ideal confidence.";
    Naurc => naurc, "AURC scaled so that an ideal confidence has 0 and a random one 1.";
    Auroc => auroc, "Chance that a right row is surer than a wrong one.";
    Augrc => augrc, "Area under the generalised-risk-coverage curve.";
    Sac => sac, "Selective accuracy constraint: the largest coverage at an accuracy.";
    CoverageAtRisk => coverage_at_risk, "The largest coverage at a selective risk.";
    RiskAtCoverage => risk_at_coverage, "The selective risk at a coverage.";
    PartialAurc => partial_aurc, "Mean selective risk over a range of coverages.";
    Accuracy => accuracy, "Share of right rows, whatever the confidence.";
}

/// A metric with its parameters, such as `AURC`, `SAC@0.98` or `PartialAURC@0.2..0.8`.
///
/// ```
/// use abstain::{Losses, Metric, RcCurve};
///
/// let losses = Losses::new(vec![0.0, 0.0, 1.0, 0.0])?;
/// let curve = RcCurve::new(&[0.9, 0.8, 0.4, 0.6], &losses)?;
/// let sac: Metric = "SAC@0.98".parse()?;
/// assert_eq!(sac.evaluate(&curve), Ok(0.75));
/// # Ok::<(), abstain::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    kind: MetricKind,
    /// As many as the kind takes; the rest are 0.
    at: [f64; 2],
}

impl Metric {
    /// Area under the risk-coverage curve.
    pub const AURC: Metric = Metric { kind: MetricKind::Aurc, at: [0.0; 2] };
    /// AURC between that of the ideal (0) and of a random (1) confidence.
    pub const NAURC: Metric = Metric { kind: MetricKind::Naurc, at: [0.0; 2] };
    /// Chance that a right row is surer than a wrong one.
    pub const AUROC: Metric = Metric { kind: MetricKind::Auroc, at: [0.0; 2] };

    /// A kind of metric and the values of its parameters.
    pub fn new(kind: MetricKind, values: &[f64]) -> Result<Self, Error> {
        let info = kind.info();
        if values.len() != info.parameters.len() {
            let names: Vec<_> = info.parameters.iter().map(|p| p.name).collect();
            let takes = if names.is_empty() { "none".into() } else { names.join(", ") };
            let problem = if values.len() < names.len() { "needs" } else { "does not take" };
            let parameter = names
                .get(values.len())
                .map_or_else(|| values[names.len()].to_string(), |name| (*name).to_string());
            let method = info.name.to_string();
            return Err(Error::ParameterSet { method, problem, parameter, takes });
        }
        let mut at = [0.0; 2];
        for ((slot, &value), parameter) in at.iter_mut().zip(values).zip(info.parameters) {
            if !(0.0..=parameter.largest).contains(&value) {
                let wanted = if parameter.largest == 1.0 {
                    "a number between 0 and 1"
                } else {
                    "a finite number from 0"
                };
                return Err(Error::Parameter { name: parameter.name, value, wanted });
            }
            *slot = value + 0.0;
        }
        if values.len() == 2 && at[0] >= at[1] {
            let wanted = "larger than the first";
            return Err(Error::Parameter { name: info.parameters[1].name, value: at[1], wanted });
        }
        Ok(Metric { kind, at })
    }

    /// What kind it is.
    pub fn kind(&self) -> MetricKind {
        self.kind
    }

    /// Which way is better.
    pub fn better(&self) -> Direction {
        self.kind.info().better
    }

    /// Its value, or why it has none.
    pub fn evaluate<C: Count>(&self, curve: &RcCurve<C>) -> Result<f64, Undefined> {
        self.kind.evaluate(curve, self.at)
    }

    /// What its interval is made from, where it has a value.
    pub(crate) fn expansion(&self, curve: &RcCurve) -> Expansion {
        self.kind.expansion(curve, self.at)
    }

    /// The smallest and the largest value it may have.
    pub(crate) fn range(&self, zero_one: bool) -> (f64, f64) {
        let largest = match self.kind.info().largest {
            Largest::Always(largest) => largest,
            Largest::ZeroOne(largest) if zero_one => largest,
            _ => f64::INFINITY,
        };
        (0.0, largest)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.kind.info();
        f.write_str(info.name)?;
        match info.parameters.len() {
            0 => Ok(()),
            1 => write!(f, "@{}", self.at[0]),
            _ => write!(f, "@{}..{}", self.at[0], self.at[1]),
        }
    }
}

impl FromStr for Metric {
    type Err = Error;

    /// Reads a name, whatever its case.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, values) = text.trim().split_once('@').unwrap_or((text.trim(), ""));
        let kind = MetricKind::ALL.iter().find(|kind| kind.info().name.eq_ignore_ascii_case(name));
        let Some(kind) = kind else {
            let names = MetricKind::ALL.iter().map(|kind| kind.info().name.to_string());
            let suggestion = nearest(name, names);
            return Err(Error::UnknownName { what: "metric", name: name.to_string(), suggestion });
        };
        let parse = |number: &str| {
            number.trim().parse::<f64>().map_err(|_| Error::Syntax {
                text: text.to_string(),
                problem: format!("'{number}' is not a number"),
            })
        };
        let values: Vec<f64> = if values.is_empty() {
            Vec::new()
        } else {
            values.split("..").map(parse).collect::<Result<_, _>>()?
        };
        Metric::new(*kind, &values)
    }
}

json_as_text!(Metric);

/// The numbers of right and of wrong rows, where the loss is 0/1.
fn right_and_wrong<C: Count>(curve: &RcCurve<C>) -> Result<(f64, f64), Undefined> {
    if !curve.is_zero_one() {
        return Err(Undefined::LossNotZeroOne);
    }
    Ok((curve.right(), curve.total_loss()))
}

/// Refuses weights that sum to so little that there is no count of whole rows to take a mean over.
fn check_counts<C: Count>(curve: &RcCurve<C>) -> Result<(), Undefined> {
    if curve.is_less_than_a_row() { Err(Undefined::LessThanARow) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        text.parse::<Metric>().map_or_else(|error| error.to_string(), |metric| metric.to_string())
    }

    #[test]
    fn names_read_back() {
        let mut names = std::collections::HashSet::new();
        for &kind in MetricKind::ALL {
            assert!(names.insert(kind.info().name.to_lowercase()), "listed twice");
            let metric = Metric::new(kind, &[0.25, 0.75][..kind.info().parameters.len()]);
            let metric = metric.expect("valid values");
            for text in [metric.to_string(), metric.to_string().to_uppercase()] {
                assert_eq!(text.parse::<Metric>(), Ok(metric));
            }
            let json = serde_json::to_string(&metric).expect("serialises");
            assert_eq!(serde_json::from_str::<Metric>(&json).expect("reads"), metric);
        }
    }

    #[test]
    fn wrong_names_and_values_are_explained() {
        for (text, message) in [
            ("NAURK", "no metric is called 'NAURK'; did you mean 'NAURC'?"),
            ("SAC", "SAC needs the parameter accuracy (it takes accuracy)"),
            ("AURC@0.5", "AURC does not take the parameter 0.5 (it takes none)"),
            ("SAC@1.5", "accuracy is 1.5, but must be a number between 0 and 1"),
            ("SAC@x", "cannot read 'SAC@x': 'x' is not a number"),
            ("CoverageAtRisk@-1", "risk is -1, but must be a finite number from 0"),
            ("PartialAURC@0.2", "PartialAURC needs the parameter to (it takes from, to)"),
            ("PartialAURC@0.8..0.2", "to is 0.2, but must be larger than the first"),
            ("RiskAtCoverage@nan", "coverage is NaN, but must be a number between 0 and 1"),
        ] {
            assert_eq!(read(text), message);
        }
    }
}
