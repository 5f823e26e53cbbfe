//! Families: estimators with parameters that are not a score of a transformed row.
//!
//! To add one, write its file with the headings of the others and add its line to the registry below;
//! names, parsing, listings, serialisation, tuning and the property tests follow.
//!
//! A family is either *profiled* or *recorded*. A profiled one is a formula over the statistics of a
//! `RowView`, which a profile can evaluate for any parameters. A recorded one is a formula over
//! `Others`, the distances of all classes, which a profile does not hold: the pass over the rows
//! records the confidences of all points of its grid instead.
//!
//! The stack is a family too, but its parameters are fitted, not searched, and are more than a few
//! numbers: see [`stack`].

pub mod stack;

use crate::error::Error;
use crate::profile::ProfileRow;
use crate::row::{BATCH, RowView};
use crate::space::Space;
use crate::transform::{Finite, Share, Temperature};

/// The parameters of a family in the order of its [`Info`]; unused places are 0.
pub(crate) type Values = [f64; 2];

/// What is known of a family without its parameters.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "properties that do not depend on each other")]
pub struct Info {
    /// Its name, as in its paper.
    pub name: &'static str,
    /// What it computes, in words: "a mixture of MSP with and without a temperature".
    pub formula: &'static str,
    /// Its parameters, two at most.
    pub parameters: &'static [Parameter],
    /// Whether its values are meant as probabilities of being right.
    pub is_probability: bool,
    /// Whether adding a constant to all logits changes it.
    pub sees_constants: bool,
    /// Whether masked classes count: the number of classes itself is part of the formula.
    pub counts_classes: bool,
    /// Whether a profile records the confidences of its grid, because it cannot compute them.
    pub recorded: bool,
}

/// A parameter of a family.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The values that it may have.
    pub domain: Domain,
    /// Its value where none is given.
    pub default: Option<f64>,
}

impl Parameter {
    const fn new(name: &'static str, domain: Domain) -> Self {
        Parameter { name, domain, default: None }
    }

    const fn with_default(name: &'static str, domain: Domain, default: f64) -> Self {
        Parameter { name, domain, default: Some(default) }
    }

    fn checked(&self, value: f64) -> Result<f64, Error> {
        let refused = |wanted| Err(Error::Parameter { name: self.name, value, wanted });
        match self.domain {
            Domain::Temperature => Temperature::new(value).map(Temperature::get),
            Domain::Real => Finite::new(value).map(Finite::get),
            Domain::Share => Share::new(value).map(Share::get),
            Domain::Power if (1e-3..=100.0).contains(&value) => Ok(value),
            Domain::Power => refused("a number from 0.001 to 100"),
            Domain::Classes if (1.0..=1e9).contains(&value) && value.fract() == 0.0 => Ok(value),
            Domain::Classes => refused("a whole number from 1 to 1e9"),
        }
    }
}

/// The values that a parameter may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Domain {
    /// A positive number between 1e-100 and 1e100.
    Temperature,
    /// Any number up to 1e100 in magnitude.
    Real,
    /// A number between 0 and 1.
    Share,
    /// A positive exponent: a number from 0.001 to 100.
    Power,
    /// A number of classes: a whole number from 1. If there are not so many, it means all.
    Classes,
}

/// What a search tries for a family.
pub(crate) struct Search {
    /// The values of each axis; unless [`Definition::point`] says otherwise there is one axis for each
    /// parameter.
    pub(crate) axes: Vec<Axis>,
    /// How often the continuous axes are refined around the best point.
    pub(crate) refinements: usize,
}

/// An axis of a search.
pub(crate) enum Axis {
    /// Values on a continuum, which can be refined.
    Continuous(Vec<f64>),
    /// Values of a continuum that is not refined.
    Fixed(Vec<f64>),
    /// Numbers of classes; those beyond what there are mean all.
    Classes(Vec<f64>),
    /// The temperature that temperature scaling finds for MSP on the same rows.
    TunedTemperature,
}

/// What the file of a family provides. `column` is where a profile has recorded its confidence, and
/// is passed on to [`RowView::recorded`]; profiled families do not use it.
trait Definition {
    /// What is known without its parameters.
    const INFO: Info;

    /// The confidence of a row on the rank scale: higher is surer.
    fn confidence<R: RowView>(row: &R, values: Values, column: usize) -> f64;

    /// The confidences of a row under several parameters: what these share is computed once.
    fn confidences<R: RowView>(row: &R, several: &[(Values, usize)], out: &mut [f64]) {
        for (out, &(values, column)) in out.iter_mut().zip(several) {
            *out = Self::confidence(row, values, column);
        }
    }

    /// The temperatures at which a row has its MSP, if the family is MSP at some temperature.
    fn temperatures<R: RowView>(_row: &R, _several: &[(Values, usize)]) -> Option<[f64; BATCH]> {
        None
    }

    /// The value of the paper's formula for a confidence on the rank scale; never decreasing.
    fn value(confidence: f64, values: Values, classes: usize) -> f64;

    /// `−ln` of the probability of the label, if the family gives probabilities to the classes.
    fn log_loss(_row: &ProfileRow<'_>, _values: Values) -> Option<f64> {
        None
    }

    /// Whether all rows of that many classes get the same confidence.
    fn is_constant(_classes: usize) -> bool {
        false
    }

    /// What a search tries.
    fn search(space: &Space) -> Search;

    /// The parameters at a point of the search.
    fn point(at: &[f64]) -> Values {
        let mut values = [0.0; 2];
        values[..at.len()].copy_from_slice(at);
        values
    }
}

/// The names of some parameters.
const fn names<const N: usize>(parameters: &[Parameter]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut i = 0;
    while i < N {
        names[i] = parameters[i].name;
        i += 1;
    }
    names
}

macro_rules! registry {
    ($($variant:ident => $module:ident, $summary:literal;)*) => {
        $(mod $module;)*

        /// A family whose parameters are a few numbers.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Family {
            $(#[doc = $summary] $variant,)*
        }

        impl Family {
            /// Every family, in the order of listings.
            pub const ALL: &'static [Family] = &[$(Family::$variant),*];

            /// Its name, parameters and properties.
            pub fn info(self) -> &'static Info {
                match self {
                    $(Family::$variant => &<$module::$variant as Definition>::INFO,)*
                }
            }

            /// One sentence on what it is.
            pub fn summary(self) -> &'static str {
                match self {
                    $(Family::$variant => $summary,)*
                }
            }

            /// The names of its parameters.
            pub fn parameters(self) -> &'static [&'static str] {
                match self {
                    $(Family::$variant => {
                        const INFO: Info = <$module::$variant as Definition>::INFO;
                        const NAMES: [&str; INFO.parameters.len()] = names(INFO.parameters);
                        &NAMES
                    })*
                }
            }

            /// Whether all rows of that many classes get the same confidence.
            pub(crate) fn is_constant(self, classes: usize) -> bool {
                match self {
                    $(Family::$variant => $module::$variant::is_constant(classes),)*
                }
            }

            /// What a search tries.
            pub(crate) fn search(self, space: &Space) -> Search {
                match self {
                    $(Family::$variant => $module::$variant::search(space),)*
                }
            }

            fn point(self, at: &[f64]) -> Values {
                match self {
                    $(Family::$variant => $module::$variant::point(at),)*
                }
            }

            fn confidence<R: RowView>(self, row: &R, values: Values, column: usize) -> f64 {
                match self {
                    $(Family::$variant => $module::$variant::confidence(row, values, column),)*
                }
            }

            /// The confidences of a row under several parameters and the columns for each.
            pub(crate) fn confidences<R: RowView>(
                self,
                row: &R,
                several: &[(Values, usize)],
                out: &mut [f64],
            ) {
                match self {
                    $(Family::$variant => $module::$variant::confidences(row, several, out),)*
                }
            }

            /// The temperatures at which a row has its MSP, if it is MSP at some temperature.
            pub(crate) fn temperatures<R: RowView>(
                self,
                row: &R,
                several: &[(Values, usize)],
            ) -> Option<[f64; BATCH]> {
                match self {
                    $(Family::$variant => $module::$variant::temperatures(row, several),)*
                }
            }

            fn value(self, confidence: f64, values: Values, classes: usize) -> f64 {
                match self {
                    $(Family::$variant => $module::$variant::value(confidence, values, classes),)*
                }
            }

            fn log_loss(self, row: &ProfileRow<'_>, values: Values) -> Option<f64> {
                match self {
                    $(Family::$variant => $module::$variant::log_loss(row, values),)*
                }
            }
        }
    };
}

registry! {
    Bk => bk, "a·MSP + b·(1 − second probability) (Boursinos & Koutsoukos)";
    Ets => ets, "w·MSP(z/T) + (1 − w)·MSP(z): ensemble temperature scaling";
    Hts => hts, "MSP with a temperature that depends on the row's entropy";
    Cmd => cmd, "minus the spread of ln(1 + (z₁ − z_k)/(T·0.5)) over the other classes";
    LogitGap => logit_gap, "z₁ − the mean of the N next largest logits";
    Gen => generalised_entropy, "minus the generalised entropy Σ p^γ (1 − p)^γ of the top M probabilities";
}

impl Family {
    /// The families that the paper compares with.
    pub const OF_THE_PAPER: [Family; 3] = [Family::Bk, Family::Ets, Family::Hts];

    /// Its name.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The estimator at a point of the family's search.
    pub(crate) fn at(self, point: &[f64]) -> Result<FamilyEstimator, Error> {
        let values = self.point(point);
        FamilyEstimator::new(self, &values[..self.info().parameters.len()])
    }
}

/// A family with its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FamilyEstimator {
    family: Family,
    values: Values,
}

impl FamilyEstimator {
    /// A family and a value for each of its parameters, in their order.
    pub fn new(family: Family, values: &[f64]) -> Result<Self, Error> {
        let parameters = family.info().parameters;
        if values.len() != parameters.len() {
            let (found, expected) = (values.len(), parameters.len());
            return Err(Error::Length { what: "parameters", found, expected });
        }
        let mut checked = [0.0; 2];
        for ((slot, &value), parameter) in checked.iter_mut().zip(values).zip(parameters) {
            *slot = parameter.checked(value)?;
        }
        Ok(FamilyEstimator { family, values: checked })
    }

    /// Its family.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The values of its parameters, in the order of [`Family::parameters`].
    pub fn values(&self) -> &[f64] {
        &self.values[..self.family.info().parameters.len()]
    }

    /// The same estimator for rows of so many classes: no number of classes is larger than that.
    pub(crate) fn for_classes(mut self, classes: usize) -> Self {
        for (value, parameter) in self.values.iter_mut().zip(self.family.info().parameters) {
            if parameter.domain == Domain::Classes {
                *value = value.min(classes as f64);
            }
        }
        self
    }

    pub(crate) fn confidence<R: RowView>(&self, row: &R, column: usize) -> f64 {
        self.family.confidence(row, self.values, column)
    }

    /// Its parameters, with unused places.
    pub(crate) fn all_values(&self) -> Values {
        self.values
    }

    pub(crate) fn value(&self, confidence: f64, classes: usize) -> f64 {
        self.family.value(confidence, self.values, classes)
    }

    pub(crate) fn log_loss(&self, row: &ProfileRow<'_>) -> Option<f64> {
        self.family.log_loss(row, self.values)
    }
}

/// A number of classes as an index; it was checked to be whole.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn count(value: f64) -> usize {
    value as usize
}

#[cfg(test)]
impl Family {
    /// Estimators at the first, middle and last value of each axis of the search.
    pub(crate) fn examples(self) -> Vec<FamilyEstimator> {
        let axes: Vec<Vec<f64>> = self
            .search(&Space::standard())
            .axes
            .into_iter()
            .map(|axis| match axis {
                Axis::Continuous(values) | Axis::Fixed(values) | Axis::Classes(values) => values,
                Axis::TunedTemperature => vec![0.4, 1.5],
            })
            .collect();
        let pick = |at: usize| -> Vec<f64> {
            axes.iter().map(|axis| axis[at * (axis.len() - 1) / 2]).collect()
        };
        (0..3).map(|at| self.at(&pick(at)).expect("a point of the search")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimator::Estimator;
    use crate::logits::Logits;

    fn confidences(text: &str, logits: &Logits<'_>) -> Vec<f64> {
        text.parse::<Estimator>().expect(text).confidences(logits)
    }

    /// Sorted: 5, 3, 2, 0 and equal logits.
    #[test]
    fn more_classes_than_there_are_mean_all() {
        let rows = [3.0, 5.0, 0.0, 2.0, 1.0, 1.0, 1.0, 1.0];
        let logits = Logits::new(&rows[..], 4).expect("valid");
        assert_eq!(confidences("LogitGap(N=2)", &logits), [2.5, 0.0]);
        let all = confidences("LogitGap(N=3)", &logits);
        for n in [4, 5, 1_000_000_000] {
            assert_eq!(confidences(&format!("LogitGap(N={n})"), &logits), all);
        }
        let all = confidences("GEN(gamma=0.3, M=4)", &logits);
        assert_eq!(confidences("GEN(gamma=0.3, M=5)", &logits), all);
        assert_ne!(confidences("GEN(gamma=0.3, M=3)", &logits), all);
    }

    #[test]
    fn parameters_with_a_default_may_be_left_out() {
        for (text, full) in [
            ("CMD", "CMD(T=1)"),
            ("GEN", "GEN(gamma=0.1, M=100)"),
            ("GEN(M=7)", "GEN(gamma=0.1, M=7)"),
            ("gen(γ=0.5)", "GEN(gamma=0.5, M=100)"),
        ] {
            assert_eq!(text.parse::<Estimator>().expect(text).to_string(), full);
        }
        let error = "LogitGap".parse::<Estimator>().unwrap_err().to_string();
        assert_eq!(error, "LogitGap needs the parameter N (it takes N)");
        let error = "LogitGap(N=2.5)".parse::<Estimator>().unwrap_err().to_string();
        assert_eq!(error, "N is 2.5, but must be a whole number from 1 to 1e9");
    }

    #[test]
    fn hard_rows_have_an_answer() {
        let infinity = f64::INFINITY;
        let alone = [-infinity, 2.0, -infinity];
        let alone = Logits::masked(&alone[..], 3).expect("valid");
        let two = Logits::new(&[1.0, 4.0, 0.5, 0.25][..], 2).expect("valid");
        let saturated = [0.0, 1e4, -3.0, 0.0, 2e4, -3.0];
        let saturated = Logits::new(&saturated[..], 3).expect("valid");
        assert_eq!(confidences("CMD", &alone), [0.0]);
        assert_eq!(confidences("LogitGap(N=1)", &alone), [infinity]);
        assert_eq!(confidences("GEN", &alone), [infinity]);
        assert_eq!(confidences("CMD", &two), [0.0, 0.0]);
        assert!(Family::Cmd.is_constant(2) && !Family::Cmd.is_constant(3));
        assert_eq!(confidences("LogitGap(N=9)", &two), [3.0, 0.25]);
        // Beyond any digit of 1 − p, and still in order.
        let found = confidences("GEN", &saturated);
        assert!(found[1] > found[0] + 900.0 && found[1].is_finite(), "{found:?}");
    }

    /// The number of points of a family's grid, but for a temperature that is tuned before.
    fn points(family: Family, space: &Space) -> usize {
        let lengths = family.search(space).axes.into_iter().map(|axis| match axis {
            Axis::Continuous(values) | Axis::Fixed(values) | Axis::Classes(values) => values.len(),
            Axis::TunedTemperature => 1,
        });
        lengths.product()
    }

    #[test]
    fn grids_are_those_of_the_paper_and_coarser_ones() {
        for (family, paper, standard) in
            [(Family::Bk, 1440, 72), (Family::Ets, 101, 101), (Family::Hts, 401 * 201, 21 * 11)]
        {
            assert_eq!(points(family, &Space::paper()), paper, "{family:?}");
            assert_eq!(points(family, &Space::standard()), standard, "{family:?}");
        }
    }

    #[test]
    fn every_family_has_a_search_and_a_formula() {
        for &family in Family::ALL {
            let info = family.info();
            assert!(points(family, &Space::standard()) > 1, "{family:?}");
            assert!(!info.formula.is_empty() && !info.parameters.is_empty(), "{family:?}");
            for parameter in info.parameters {
                let default = parameter.default.map(|value| parameter.checked(value));
                assert!(default.is_none_or(|checked| checked.is_ok()), "{family:?}");
            }
        }
    }

    #[test]
    fn values_outside_a_domain_are_refused() {
        let parameter = |domain| Parameter::new("x", domain);
        for (domain, value) in [
            (Domain::Temperature, 0.0),
            (Domain::Real, f64::INFINITY),
            (Domain::Share, 1.5),
            (Domain::Power, 0.0),
            (Domain::Power, f64::NAN),
            (Domain::Classes, 0.0),
            (Domain::Classes, 2.5),
            (Domain::Classes, f64::INFINITY),
        ] {
            assert!(parameter(domain).checked(value).is_err(), "{domain:?}: {value}");
        }
        assert!(FamilyEstimator::new(Family::Bk, &[1.0]).is_err());
    }
}
