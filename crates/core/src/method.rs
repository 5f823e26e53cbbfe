//! Methods: estimators whose parameters are still to be tuned, and their names.
//!
//! A name is a score and a transform, as the paper prints them: `MSP`, `MSP-TS-AURC`,
//! `MaxLogit-pNorm`, `NegativeGini-pNorm`; or that of a family. Nothing lists the combinations: names
//! are composed from the registries of scores and families and the transforms below, and read back
//! the same way.

use crate::error::Error;
use crate::family::{Family, stack::Stack};
use crate::score::Score;
use crate::text::json_as_text;
use crate::transform::Centring;
use std::fmt;
use std::str::FromStr;

/// What the temperature of a method is tuned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TemperatureObjective {
    /// Whatever the tuning is run for.
    Chosen,
    /// The negative log-likelihood, as for calibration.
    Nll,
    /// The area under the risk-coverage curve.
    Aurc,
}

/// The transform of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransformKind {
    /// The logits as they are.
    Raw,
    /// One temperature for all rows.
    Temperature(TemperatureObjective),
    /// p-norm normalisation, optionally with a tuned shift `γ`.
    PNorm {
        /// What is subtracted first.
        centring: Centring,
        /// Whether a constant `γ` is added before the norm is taken.
        shift: bool,
    },
}

impl TransformKind {
    /// Every transform with its suffix and one sentence on it, in the order of listings.
    pub const ALL: &'static [(TransformKind, &'static str, &'static str)] = {
        use TemperatureObjective::{Aurc, Chosen, Nll};
        use TransformKind::{PNorm, Raw, Temperature};
        const fn pnorm(centring: Centring, shift: bool) -> TransformKind {
            PNorm { centring, shift }
        }
        &[
            (Raw, "", "the logits as they are"),
            (Temperature(Chosen), "-TS", "one temperature T for all rows"),
            (Temperature(Nll), "-TS-NLL", "the temperature that minimises the NLL"),
            (Temperature(Aurc), "-TS-AURC", "the temperature that minimises the AURC"),
            (pnorm(Centring::Mean, false), "-pNorm", "centred, then divided by the p-norm"),
            (pnorm(Centring::None, false), "-pNorm-NC", "divided by the p-norm, not centred"),
            (pnorm(Centring::Min, false), "-pNorm-min", "less the minimum, over the p-norm"),
            (
                pnorm(Centring::Mean, true),
                "-pNorm-shift",
                "centred and shifted by γ, over the p-norm",
            ),
            (pnorm(Centring::None, true), "-pNorm-NC-shift", "shifted by γ, over the p-norm"),
            (
                pnorm(Centring::Min, true),
                "-pNorm-min-shift",
                "less the minimum, plus γ, over the p-norm",
            ),
        ]
    };

    fn suffix(self) -> &'static str {
        Self::ALL.iter().find(|entry| entry.0 == self).map_or("", |entry| entry.1)
    }
}

/// A confidence estimator whose parameters are still to be tuned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// A score of the transformed row.
    Scored {
        /// The score.
        score: Score,
        /// The transform.
        transform: TransformKind,
    },
    /// A family whose parameters are a few numbers.
    Family(Family),
    /// Logistic regression on several scores.
    Stack,
    /// Several scores, weighted without labels.
    LabelFree,
    /// A number that is given beside each row. It is a term of stacks, and is in no listing.
    Extra,
}

impl Method {
    /// The usual confidence and the baseline of everything.
    pub const MSP: Method = Method::Scored { score: Score::Msp, transform: TransformKind::Raw };

    /// A score under a transform, unless that ranks exactly as the score alone.
    pub fn new(score: Score, transform: TransformKind) -> Result<Self, Error> {
        let method = Method::Scored { score, transform };
        match transform {
            TransformKind::Temperature(_) if !score.info().temperature_matters => {
                Err(Error::RankNeutral {
                    name: method.to_string(),
                    same: score.name().to_string(),
                    why: "one temperature for all rows does not change their order",
                })
            }
            _ => Ok(method),
        }
    }

    /// Every method, in the order of listings.
    pub fn all() -> impl Iterator<Item = Method> {
        let scored = Score::ALL.iter().flat_map(|&score| {
            TransformKind::ALL.iter().filter_map(move |entry| Method::new(score, entry.0).ok())
        });
        scored.chain(Self::families())
    }

    /// Every family, and the stacks.
    pub fn families() -> impl Iterator<Item = Method> {
        let families = Family::ALL.iter().copied().map(Method::Family);
        families.chain([Method::Stack, Method::LabelFree])
    }

    /// Whether it is a stack: its parameters are fitted, and are more than a few numbers.
    pub fn is_stack(self) -> bool {
        matches!(self, Method::Stack | Method::LabelFree)
    }

    /// The names of its parameters.
    pub fn parameters(self) -> &'static [&'static str] {
        match self {
            Method::Family(family) => family.parameters(),
            Method::Stack | Method::LabelFree | Method::Extra => &[],
            Method::Scored { score, transform } => {
                match (transform, score.info().temperature_matters) {
                    (TransformKind::Raw, _) => &[],
                    (TransformKind::Temperature(_), _) => &["T"],
                    (TransformKind::PNorm { shift: false, .. }, false) => &["p"],
                    (TransformKind::PNorm { shift: false, .. }, true) => &["p", "tau"],
                    (TransformKind::PNorm { shift: true, .. }, false) => &["p", "gamma"],
                    (TransformKind::PNorm { shift: true, .. }, true) => &["p", "gamma", "tau"],
                }
            }
        }
    }
}

json_as_text!(Method);

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Scored { score, transform } => {
                write!(f, "{}{}", score.name(), transform.suffix())
            }
            Method::Family(family) => f.write_str(family.name()),
            Method::Stack => f.write_str(Stack::NAME),
            Method::LabelFree => f.write_str(Stack::LABEL_FREE),
            Method::Extra => f.write_str("Extra"),
        }
    }
}

impl FromStr for Method {
    type Err = Error;

    /// Reads a name, whatever its case; `_` and spaces count as `-`.
    fn from_str(name: &str) -> Result<Self, Error> {
        let wanted = fold(name);
        let named = Method::families().chain([Method::Extra]);
        if let Some(method) = named.into_iter().find(|method| fold(&method.to_string()) == wanted) {
            return Ok(method);
        }
        for &score in Score::ALL {
            let names = std::iter::once(&score.info().name).chain(score.info().aliases);
            for rest in names.filter_map(|name| wanted.strip_prefix(&fold(name))) {
                if let Some(entry) = TransformKind::ALL.iter().find(|entry| fold(entry.1) == rest) {
                    return Method::new(score, entry.0);
                }
            }
        }
        let suggestion = nearest(name, Method::all().map(|method| method.to_string()));
        Err(Error::UnknownName { what: "method", name: name.to_string(), suggestion })
    }
}

/// The form in which names are compared.
fn fold(name: &str) -> String {
    name.trim().to_lowercase().replace(['_', ' '], "-")
}

/// The candidate most like what was typed, if any is like it at all.
pub(crate) fn nearest(name: &str, candidates: impl Iterator<Item = String>) -> Option<String> {
    const ALIKE: f64 = 0.6;
    let wanted = fold(name);
    candidates
        .map(|candidate| {
            (strsim::normalized_damerau_levenshtein(&wanted, &fold(&candidate)), candidate)
        })
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn read(name: &str) -> String {
        name.parse::<Method>().map_or_else(|error| error.to_string(), |method| method.to_string())
    }

    #[test]
    fn names_are_unique_and_read_back() {
        let mut seen = HashSet::new();
        for method in Method::all() {
            let name = method.to_string();
            assert!(seen.insert(fold(&name)), "{name} is listed twice");
            for form in [name.clone(), name.to_uppercase(), name.to_lowercase()] {
                assert_eq!(form.parse::<Method>(), Ok(method), "{form}");
            }
        }
        for &score in Score::ALL {
            for alias in score.info().aliases {
                assert!(seen.insert(fold(alias)), "{alias} is taken");
                let method = alias.parse::<Method>().expect("an alias is a name");
                assert_eq!(method.to_string(), score.name());
            }
        }
    }

    #[test]
    fn names_of_the_paper() {
        assert_eq!(read("maxlogit-PNORM"), "MaxLogit-pNorm");
        assert_eq!(read("msp-ts-aurc"), "MSP-TS-AURC");
        assert_eq!(read("D_alpha-pNorm"), "NegativeGini-pNorm");
        assert_eq!(read("Dβ"), "MSP");
        assert_eq!(read("DOCTOR-beta-TS-NLL"), "MSP-TS-NLL");
        assert_eq!(read("bk"), "BK");
    }

    #[test]
    fn near_misses_get_a_suggestion() {
        assert_eq!(
            read("MaxLogits-pNorm"),
            "no method is called 'MaxLogits-pNorm'; did you mean 'MaxLogit-pNorm'?"
        );
        assert_eq!(
            read("MSP-TSAURC"),
            "no method is called 'MSP-TSAURC'; did you mean 'MSP-TS-AURC'?"
        );
        assert_eq!(
            read("NegativeGnii"),
            "no method is called 'NegativeGnii'; did you mean 'NegativeGini'?"
        );
        assert_eq!(read("conformal"), "no method is called 'conformal'");
        assert_eq!(read(""), "no method is called ''");
    }

    #[test]
    fn rank_neutral_combinations_are_refused_by_name() {
        for (name, same) in [("MaxLogit-TS", "MaxLogit"), ("logitsmargin-ts-aurc", "LogitsMargin")]
        {
            let error = name.parse::<Method>().unwrap_err();
            assert!(matches!(&error, Error::RankNeutral { same: s, .. } if s == same), "{error}");
        }
        assert_eq!(
            read("MaxLogit-TS"),
            "MaxLogit-TS ranks exactly as MaxLogit: one temperature for all rows does not change \
             their order; use MaxLogit"
        );
    }
}
