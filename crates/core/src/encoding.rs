//! What the numbers of a row are: stated by the user, never guessed from values.

use crate::error::Error;
use crate::logits::{Floor, Logits, Probabilities, Values};
use crate::method::nearest;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What the numbers of a row are.
///
/// Its text is the kind alone; its JSON also holds the floor and the tolerance of probabilities.
///
/// ```
/// use abstain::Encoding;
///
/// let encoding: Encoding = "probabilities".parse()?;
/// assert_eq!(encoding, Encoding::Probabilities { floor: None, tolerance: None });
/// assert_eq!(encoding.to_string(), "probabilities");
/// # Ok::<(), abstain::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "Json", into = "Json")]
pub enum Encoding {
    /// Finite logits.
    #[default]
    Logits,
    /// Logits in which `-inf` marks a class that was ruled out.
    Masked,
    /// Probabilities; those below the floor count as the floor.
    Probabilities {
        /// The floor; without one, the smallest non-zero probability of all rows.
        floor: Option<f64>,
        /// How far from valid they may be; see [`Probabilities::tolerance`].
        tolerance: Option<f64>,
    },
}

/// The same with a tag and fields, so that unknown fields are refused for every kind.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum Json {
    Logits {},
    Masked {},
    Probabilities { floor: Option<f64>, tolerance: Option<f64> },
}

impl From<Json> for Encoding {
    fn from(json: Json) -> Self {
        match json {
            Json::Logits {} => Encoding::Logits,
            Json::Masked {} => Encoding::Masked,
            Json::Probabilities { floor, tolerance } => {
                Encoding::Probabilities { floor, tolerance }
            }
        }
    }
}

impl From<Encoding> for Json {
    fn from(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Logits => Json::Logits {},
            Encoding::Masked => Json::Masked {},
            Encoding::Probabilities { floor, tolerance } => {
                Json::Probabilities { floor, tolerance }
            }
        }
    }
}

impl Encoding {
    /// The texts of the kinds.
    pub const NAMES: [&'static str; 3] = ["logits", "masked", "probabilities"];

    /// An encoding by its kind, with the floor and the tolerance of probabilities.
    pub fn new(kind: &str, floor: Option<f64>, tolerance: Option<f64>) -> Result<Self, Error> {
        let kind: Encoding = kind.parse()?;
        for (name, given) in [("floor", floor), ("tolerance", tolerance)] {
            let Some(value) = given else { continue };
            if !matches!(kind, Encoding::Probabilities { .. }) {
                return Err(Error::Parameter { name, value, wanted: "left out for logits" });
            }
        }
        if let Some(value) = floor.filter(|floor| !(*floor > 0.0 && *floor < 1.0)) {
            let wanted = "between 0 and 1, both excluded";
            return Err(Error::Parameter { name: "floor", value, wanted });
        }
        Ok(match kind {
            Encoding::Probabilities { .. } => Encoding::Probabilities { floor, tolerance },
            other => other,
        })
    }

    /// Numbers as the logits that they stand for.
    pub fn logits<'a>(
        self,
        values: impl Into<Values<'a>>,
        classes: usize,
    ) -> Result<Logits<'a>, Error> {
        match self {
            Encoding::Logits => Logits::new(values, classes),
            Encoding::Masked => Logits::masked(values, classes),
            Encoding::Probabilities { floor, tolerance } => {
                let floor = floor.map_or(Floor::SmallestNonZero, Floor::At);
                Logits::from_probabilities(values, classes, Probabilities { floor, tolerance })
            }
        }
    }

    /// The same encoding with the floor that was found in the rows.
    #[must_use]
    pub fn with_floor(self, found: Option<f64>) -> Self {
        match self {
            Encoding::Probabilities { floor, tolerance } => {
                Encoding::Probabilities { floor: found.or(floor), tolerance }
            }
            other => other,
        }
    }

    /// The floor of probabilities, if it is known.
    pub fn floor(self) -> Option<f64> {
        match self {
            Encoding::Probabilities { floor, .. } => floor,
            Encoding::Logits | Encoding::Masked => None,
        }
    }

    /// Whether all rows must be read once to find the floor.
    pub fn needs_floor(self) -> bool {
        matches!(self, Encoding::Probabilities { floor: None, .. })
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [logits, masked, probabilities] = Self::NAMES;
        f.write_str(match self {
            Encoding::Logits => logits,
            Encoding::Masked => masked,
            Encoding::Probabilities { .. } => probabilities,
        })
    }
}

impl FromStr for Encoding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "logits" => Ok(Encoding::Logits),
            "masked" => Ok(Encoding::Masked),
            "probabilities" => Ok(Encoding::Probabilities { floor: None, tolerance: None }),
            _ => {
                let suggestion = nearest(text, Self::NAMES.iter().map(ToString::to_string));
                Err(Error::UnknownName { what: "encoding", name: text.into(), suggestion })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_json_read_back() {
        for name in Encoding::NAMES {
            let encoding: Encoding = name.parse().expect("a name");
            assert_eq!(encoding.to_string(), name);
            let json = serde_json::to_string(&encoding).expect("serialises");
            assert_eq!(serde_json::from_str::<Encoding>(&json).expect("reads"), encoding);
        }
        let floored = Encoding::Probabilities { floor: Some(0.25), tolerance: None };
        let json = r#"{"kind":"probabilities","floor":0.25,"tolerance":null}"#;
        assert_eq!(serde_json::to_string(&floored).expect("serialises"), json);
        assert!(serde_json::from_str::<Encoding>(r#"{"kind":"logits","floor":0.5}"#).is_err());
        assert!("probs".parse::<Encoding>().is_err());
    }

    #[test]
    fn floors_and_tolerances_belong_to_probabilities() {
        assert!(Encoding::new("logits", Some(0.1), None).is_err());
        assert!(Encoding::new("masked", None, Some(0.1)).is_err());
        for floor in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(Encoding::new("probabilities", Some(floor), None).is_err(), "{floor}");
        }
        let encoding = Encoding::new("probabilities", None, Some(0.1)).expect("valid");
        assert!(encoding.needs_floor() && !encoding.with_floor(Some(0.1)).needs_floor());
        assert_eq!(encoding.with_floor(Some(0.1)).floor(), Some(0.1));
        assert_eq!(Encoding::Logits.with_floor(Some(0.1)), Encoding::Logits);
    }
}
