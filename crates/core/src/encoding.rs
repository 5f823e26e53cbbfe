//! What the numbers of a row are: stated by the user, never guessed from values.

use crate::error::Error;
use crate::logits::{Floor, Logits, Probabilities, ProbabilityRange, Values};
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
    /// The probability of the positive class of a binary classifier, one number for each row: the
    /// row is `(1 − p, p)`.
    BinaryProbability {
        /// The floor, as of probabilities.
        floor: Option<f64>,
        /// How far from valid they may be; see [`Probabilities::tolerance`].
        tolerance: Option<f64>,
    },
    /// The logit of the positive class of a binary classifier, one number for each row: the row is
    /// `(−z / 2, z / 2)`, so that no class is preferred by scores that see constants.
    BinaryLogit,
    /// A confidence that is computed elsewhere, one number for each row. There are no logits.
    Confidence,
}

/// The same with a tag and fields, so that unknown fields are refused for every kind.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum Json {
    Logits {},
    Masked {},
    Probabilities { floor: Option<f64>, tolerance: Option<f64> },
    BinaryProbability { floor: Option<f64>, tolerance: Option<f64> },
    BinaryLogit {},
    Confidence {},
}

impl From<Json> for Encoding {
    fn from(json: Json) -> Self {
        match json {
            Json::Logits {} => Encoding::Logits,
            Json::Masked {} => Encoding::Masked,
            Json::Probabilities { floor, tolerance } => {
                Encoding::Probabilities { floor, tolerance }
            }
            Json::BinaryProbability { floor, tolerance } => {
                Encoding::BinaryProbability { floor, tolerance }
            }
            Json::BinaryLogit {} => Encoding::BinaryLogit,
            Json::Confidence {} => Encoding::Confidence,
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
            Encoding::BinaryProbability { floor, tolerance } => {
                Json::BinaryProbability { floor, tolerance }
            }
            Encoding::BinaryLogit => Json::BinaryLogit {},
            Encoding::Confidence => Json::Confidence {},
        }
    }
}

impl Encoding {
    /// The texts of the kinds.
    pub const NAMES: [&'static str; 6] =
        ["logits", "masked", "probabilities", "binary-probability", "binary-logit", "confidence"];

    /// An encoding by its kind, with the floor and the tolerance of probabilities.
    pub fn new(kind: &str, floor: Option<f64>, tolerance: Option<f64>) -> Result<Self, Error> {
        let kind: Encoding = kind.parse()?;
        for (name, given) in [("floor", floor), ("tolerance", tolerance)] {
            let Some(value) = given else { continue };
            if !kind.is_probabilities() {
                return Err(Error::Parameter { name, value, wanted: "left out for logits" });
            }
        }
        if let Some(value) = floor.filter(|floor| !(*floor > 0.0 && *floor < 1.0)) {
            let wanted = "between 0 and 1, both excluded";
            return Err(Error::Parameter { name: "floor", value, wanted });
        }
        Ok(match kind {
            Encoding::Probabilities { .. } => Encoding::Probabilities { floor, tolerance },
            Encoding::BinaryProbability { .. } => Encoding::BinaryProbability { floor, tolerance },
            other => other,
        })
    }

    /// Whether the numbers are probabilities.
    pub fn is_probabilities(self) -> bool {
        matches!(self, Encoding::Probabilities { .. } | Encoding::BinaryProbability { .. })
    }

    /// Whether a row is one number, not one for each class.
    pub fn is_one_number(self) -> bool {
        matches!(
            self,
            Encoding::BinaryProbability { .. } | Encoding::BinaryLogit | Encoding::Confidence
        )
    }

    /// How many classes rows of so many numbers have.
    pub fn classes(self, numbers: usize) -> usize {
        if self.is_one_number() { 2 } else { numbers }
    }

    /// Numbers as the logits that they stand for; `numbers` is how many a row has.
    pub fn logits<'a>(
        self,
        values: impl Into<Values<'a>>,
        numbers: usize,
    ) -> Result<Logits<'a>, Error> {
        match self {
            Encoding::Logits => Logits::new(values, numbers),
            Encoding::Masked => Logits::masked(values, numbers),
            Encoding::Probabilities { floor, tolerance } => {
                let floor = floor.map_or(Floor::SmallestNonZero, Floor::At);
                Logits::from_probabilities(values, numbers, Probabilities { floor, tolerance })
            }
            Encoding::BinaryProbability { floor, tolerance } => {
                let values = values.into();
                let pairs = self.pairs(&values, numbers)?;
                let floor = floor.map_or(Floor::SmallestNonZero, Floor::At);
                let tolerance = Some(tolerance.unwrap_or(values.default_tolerance()));
                Logits::from_probabilities(pairs, 2, Probabilities { floor, tolerance })
            }
            Encoding::BinaryLogit => Logits::new(self.pairs(&values.into(), numbers)?, 2),
            Encoding::Confidence => Err(Error::NoLogits),
        }
    }

    /// Takes in what must be known of probabilities to choose their floor.
    pub fn extend_range(
        self,
        range: &mut ProbabilityRange,
        values: Values<'_>,
        numbers: usize,
    ) -> Result<(), Error> {
        match self {
            Encoding::Probabilities { tolerance, .. } => range.extend(values, numbers, tolerance),
            Encoding::BinaryProbability { tolerance, .. } => {
                let tolerance = tolerance.unwrap_or(values.default_tolerance());
                range.extend(self.pairs(&values, numbers)?, 2, Some(tolerance))
            }
            Encoding::Logits | Encoding::Masked | Encoding::BinaryLogit | Encoding::Confidence => {
                Ok(())
            }
        }
    }

    /// The two numbers of each row of a binary classifier that gives one, all of them checked: what is
    /// refused later would be a number that the user never wrote. They are doubles; the tolerance stays
    /// that of the type of the numbers.
    fn pairs(self, values: &Values<'_>, numbers: usize) -> Result<Vec<f64>, Error> {
        if numbers != 1 {
            return Err(Error::NotOneNumber { found: numbers });
        }
        let tolerance = match self {
            Encoding::BinaryProbability { tolerance, .. } => {
                Some(tolerance.unwrap_or(values.default_tolerance()))
            }
            _ => None,
        };
        let mut wide = vec![0.0; values.len()];
        values.widen(0, &mut wide);
        let mut pairs = Vec::with_capacity(2 * wide.len());
        for (row, &value) in wide.iter().enumerate() {
            let column = 0;
            match tolerance {
                Some(tolerance) => {
                    if !(-tolerance..=1.0 + tolerance).contains(&value) {
                        return Err(Error::NotAProbability { row, column, value, tolerance });
                    }
                    pairs.extend([1.0 - value, value]);
                }
                None if value.is_finite() => pairs.extend([-value / 2.0, value / 2.0]),
                None => return Err(Error::NotFinite { row, column, value }),
            }
        }
        Ok(pairs)
    }

    /// The same encoding with the floor that was found in the rows.
    #[must_use]
    pub fn with_floor(self, found: Option<f64>) -> Self {
        match self {
            Encoding::Probabilities { floor, tolerance } => {
                Encoding::Probabilities { floor: found.or(floor), tolerance }
            }
            Encoding::BinaryProbability { floor, tolerance } => {
                Encoding::BinaryProbability { floor: found.or(floor), tolerance }
            }
            other => other,
        }
    }

    /// The same encoding with the tolerance of another one, unless it states one.
    #[must_use]
    pub fn or_tolerance_of(self, other: Encoding) -> Self {
        use Encoding::{BinaryProbability, Probabilities};
        let recorded = match other {
            Probabilities { tolerance, .. } | BinaryProbability { tolerance, .. } => tolerance,
            _ => None,
        };
        match self {
            Probabilities { floor, tolerance } => {
                Probabilities { floor, tolerance: tolerance.or(recorded) }
            }
            BinaryProbability { floor, tolerance } => {
                BinaryProbability { floor, tolerance: tolerance.or(recorded) }
            }
            other => other,
        }
    }

    /// The floor of probabilities, if it is known.
    pub fn floor(self) -> Option<f64> {
        match self {
            Encoding::Probabilities { floor, .. } | Encoding::BinaryProbability { floor, .. } => {
                floor
            }
            Encoding::Logits | Encoding::Masked | Encoding::BinaryLogit | Encoding::Confidence => {
                None
            }
        }
    }

    /// Whether all rows must be read once to find the floor.
    pub fn needs_floor(self) -> bool {
        self.is_probabilities() && self.floor().is_none()
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [logits, masked, probabilities, binary_probability, binary_logit, confidence] =
            Self::NAMES;
        f.write_str(match self {
            Encoding::Logits => logits,
            Encoding::Masked => masked,
            Encoding::Probabilities { .. } => probabilities,
            Encoding::BinaryProbability { .. } => binary_probability,
            Encoding::BinaryLogit => binary_logit,
            Encoding::Confidence => confidence,
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
            "binary-probability" => {
                Ok(Encoding::BinaryProbability { floor: None, tolerance: None })
            }
            "binary-logit" => Ok(Encoding::BinaryLogit),
            "confidence" => Ok(Encoding::Confidence),
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

    #[test]
    fn one_number_of_a_binary_classifier_makes_two_classes() {
        let probability = Encoding::BinaryProbability { floor: None, tolerance: None };
        let logits = probability.logits(&[0.75_f32, 0.25, 1.0, 0.0][..], 1).expect("valid");
        assert_eq!((logits.classes(), logits.predictions()), (2, vec![1, 0, 1, 0]));
        assert_eq!(logits.floor(), Some(0.25));
        let mut range = ProbabilityRange::default();
        let values = Values::from(&[0.75_f32, 0.25, 1.0, 0.0][..]);
        probability.extend_range(&mut range, values, 1).expect("valid");
        assert_eq!(range.floor(), 0.25);
        let mut row = [0.0; 2];
        logits.copy_row(0, &mut row);
        assert_eq!(row, [0.25, 0.75]);
        let logits = Encoding::BinaryLogit.logits(&[3.0_f64, -1.0][..], 1).expect("valid");
        assert_eq!(logits.predictions(), [1, 0]);
        // The same ranking as that of the two probabilities.
        let msp = crate::Estimator::MSP.values(&logits);
        assert!((msp[0] - 1.0 / (1.0 + (-3.0_f64).exp())).abs() < 1e-12);
        assert!((msp[1] - 1.0 / (1.0 + (-1.0_f64).exp())).abs() < 1e-12);
        // A tie is answered by the first class, as argmax answers it.
        let even = probability.logits(&[0.5_f32, 0.9][..], 1).expect("valid");
        assert_eq!(even.predictions(), [0, 1]);
    }

    #[test]
    fn one_number_that_is_none_of_a_binary_classifier_is_refused() {
        let probability = Encoding::BinaryProbability { floor: None, tolerance: None };
        for (value, row) in [(1.5_f32, 1), (-0.5, 1), (f32::NAN, 1)] {
            let error = probability.logits(&[0.5, value][..], 1).unwrap_err();
            assert!(
                matches!(error, Error::NotAProbability { row: r, column: 0, value: v, .. }
                    if r == row && (v == f64::from(value) || v.is_nan())),
                "{error:?}"
            );
        }
        // The tolerance is that of the numbers, not that of the doubles made of them.
        let half = [half::f16::from_f32(0.5), half::f16::from_f32(1.004)];
        let logits = probability.logits(&half[..], 1).expect("within the tolerance of halves");
        assert_eq!(logits.predictions(), [0, 1]);
        let mut range = ProbabilityRange::default();
        assert!(probability.extend_range(&mut range, Values::from(&half[..]), 1).is_ok());
        let error = Encoding::BinaryLogit.logits(&[0.5, f64::INFINITY][..], 1).unwrap_err();
        assert!(matches!(error, Error::NotFinite { row: 1, column: 0, .. }));
        let error = probability.logits(&[0.5, 0.5][..], 2).unwrap_err();
        assert_eq!(error, Error::NotOneNumber { found: 2 });
        assert_eq!(Encoding::Confidence.logits(&[0.5][..], 1).unwrap_err(), Error::NoLogits);
    }
}
