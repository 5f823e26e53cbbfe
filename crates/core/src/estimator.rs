//! Estimators: methods with their parameters.

use crate::error::Error;
use crate::family::stack::{Clip, Stack, Term};
use crate::family::{Family, FamilyEstimator};
use crate::logits::Logits;
use crate::method::{Method, TemperatureObjective, TransformKind, nearest};
use crate::profile::{Column, ProfileRow, Recorded};
use crate::row::RowView;
use crate::score::{Score, max_logit, msp, softmax};
use crate::threshold::reaches;
use crate::transform::{Centring, Exponent, Finite, Norm, Temperature, Transform};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A confidence estimator: a method with its parameters.
///
/// Its text is the name of the method with the parameters in parentheses:
///
/// ```
/// use abstain::Estimator;
///
/// let estimator: Estimator = "msp-pnorm(p=4, tau=0.5)".parse()?;
/// assert_eq!(estimator.to_string(), "MSP-pNorm(p=4, tau=0.5)");
/// assert!("MaxLogit-TS(T=2)".parse::<Estimator>().is_err()); // ranks as MaxLogit
/// # Ok::<(), abstain::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Estimator {
    /// A score of the transformed row; made by name or by [`Estimator::new`], which refuse
    /// combinations that rank as simpler ones.
    #[non_exhaustive]
    Scored {
        /// The score.
        score: Score,
        /// The transform.
        transform: Transform,
    },
    /// A family with its parameters, such as BK, ETS or HTS.
    Family(FamilyEstimator),
    /// A logistic regression on several scores of the row.
    Stack(Stack),
    /// The number that is given beside the row ([`Logits::with_extra`]).
    Extra,
}

impl Estimator {
    /// The maximum softmax probability of the logits as they are.
    pub const MSP: Estimator = Estimator::Scored { score: Score::Msp, transform: Transform::RAW };

    /// The paper's estimator: the largest centred logit over the p-norm.
    pub fn max_logit_pnorm(p: f64) -> Result<Self, Error> {
        Ok(Estimator::Scored { score: Score::MaxLogit, transform: Transform::pnorm(p)? })
    }

    /// The confidence of each row on the estimator's rank scale: higher is surer, and what
    /// thresholds are compared with. [`Estimator::value`] turns it into the paper's number.
    pub fn confidences(&self, logits: &Logits<'_>) -> Vec<f64> {
        logits.map_rows(|_, row| self.confidence(row, &[]))
    }

    /// The confidences of several estimators; each row is brought into the cache once.
    pub fn confidences_of(estimators: &[Estimator], logits: &Logits<'_>) -> Vec<Vec<f64>> {
        let rows: Vec<Vec<f64>> =
            logits.map_rows(|_, row| estimators.iter().map(|e| e.confidence(row, &[])).collect());
        (0..estimators.len()).map(|k| rows.iter().map(|row| row[k]).collect()).collect()
    }

    /// The confidences of each row as the paper's formula gives them, such as probabilities.
    ///
    /// Sure rows may tie here (at 1, say) that [`Estimator::confidences`] tells apart.
    pub fn values(&self, logits: &Logits<'_>) -> Vec<f64> {
        logits.map_rows(|_, row| self.value(self.unrounded(row, &[]), logits.classes()))
    }

    /// The confidence of a row on the rank scale; `columns` tell a profile where it has recorded what
    /// [`Estimator::columns`] lists.
    pub(crate) fn confidence<R: RowView>(&self, row: &R, columns: &[usize]) -> f64 {
        resolved(self.unrounded(row, columns))
    }

    /// The score or family whose formula it is, if several estimators of it are evaluated together.
    pub(crate) fn formula(&self) -> (Option<Score>, Option<Family>) {
        match self {
            Estimator::Scored { score, .. } => (Some(*score), None),
            Estimator::Family(family) => (None, Some(family.family())),
            Estimator::Stack(_) | Estimator::Extra => (None, None),
        }
    }

    fn unrounded<R: RowView>(&self, row: &R, columns: &[usize]) -> f64 {
        let column = columns.first().copied().unwrap_or(0);
        match self {
            Estimator::Scored {
                score: Score::MaxLogit,
                transform: Transform { norm: Some(norm), .. },
            } => row.max_logit(norm, column),
            Estimator::Scored { score, transform } => {
                score.confidence(&row.transformed(transform, column))
            }
            Estimator::Family(family) => family.confidence(row, column),
            Estimator::Stack(stack) => stack.confidence(row, columns),
            Estimator::Extra => row.extra(),
        }
    }

    /// `−ln` of the probability that the estimator's softmax gives to the label.
    pub(crate) fn log_loss(&self, row: &ProfileRow<'_>, columns: &[usize]) -> Option<f64> {
        match self {
            Estimator::Scored { transform, .. } => {
                let column = columns.first().copied().unwrap_or(0);
                let transformed = row.transformed(transform, column);
                Some(softmax::log_loss(&transformed, row.label_distance()))
            }
            Estimator::Family(family) => family.log_loss(row),
            Estimator::Stack(_) | Estimator::Extra => None,
        }
    }

    /// Whether a profile needs the sums of exponentials for it, other than that of MSP itself.
    pub(crate) fn needs_exponentials(&self) -> bool {
        match self {
            estimator if *estimator == Estimator::MSP => false,
            Estimator::Scored { score, .. } => score.info().temperature_matters,
            Estimator::Family(family) => !family.family().info().recorded,
            Estimator::Stack(stack) => {
                stack.terms.iter().any(|term| term.estimator.needs_exponentials())
            }
            Estimator::Extra => false,
        }
    }

    /// Whether each row must come with a further number ([`Logits::with_extra`]).
    pub fn needs_extra(&self) -> bool {
        self.columns().contains(&Column::Extra)
    }

    /// What a profile must have recorded for it, in the order in which it is read.
    pub(crate) fn columns(&self) -> Vec<Column> {
        match self {
            Estimator::Stack(stack) => stack.columns().collect(),
            other => other.column().into_iter().collect(),
        }
    }

    /// The same of an estimator that is not a stack.
    pub(crate) fn column(&self) -> Option<Column> {
        match self {
            Estimator::Scored {
                score: Score::MaxLogit,
                transform: Transform { norm: Some(norm), .. },
            } if !norm.is_centred() => {
                // Without a norm it is a deviation, which every profile has.
                let normalised = norm.p.get() > 0.0;
                normalised.then_some(Column::Confidence(Recorded::MaxLogit(*norm)))
            }
            Estimator::Scored { .. } => self.column_of_log_loss(),
            Estimator::Family(family) if family.family().info().recorded => {
                Some(Column::Confidence(Recorded::Family(*family)))
            }
            Estimator::Family(_) | Estimator::Stack(_) => None,
            Estimator::Extra => Some(Column::Extra),
        }
    }

    /// What a profile must have recorded for its log-likelihood.
    pub(crate) fn column_of_log_loss(&self) -> Option<Column> {
        match self {
            Estimator::Scored { transform, .. } => transform.norm.map(Column::Norm),
            Estimator::Family(_) | Estimator::Stack(_) | Estimator::Extra => None,
        }
    }

    /// The value of the paper's formula for a confidence on the rank scale; never decreasing.
    pub fn value(&self, confidence: f64, classes: usize) -> f64 {
        match self {
            Estimator::Scored { score: Score::MaxLogit, transform }
                if transform.norm.is_some_and(|norm| norm.p.get() > 0.0) =>
            {
                max_logit::normalised_value(confidence)
            }
            Estimator::Scored { score, .. } => score.value(confidence, classes),
            Estimator::Family(family) => family.value(confidence, classes),
            Estimator::Stack(stack) if stack.is_labelled() => msp::value(confidence, classes),
            Estimator::Stack(_) | Estimator::Extra => confidence,
        }
    }

    /// The least confidence on the rank scale whose value is at least this one: what a threshold on
    /// values is on confidences. Infinite if no value is so large.
    pub fn confidence_of(&self, value: f64, classes: usize) -> f64 {
        // Values never decrease.
        least(|confidence| self.value(confidence, classes) >= value)
    }

    /// The values of some confidences, if they are meant as probabilities of being right.
    pub fn probabilities(&self, confidences: &[f64]) -> Option<Vec<f64>> {
        // A probability is the same whatever the number of classes.
        let value = |&confidence: &f64| self.value(confidence, 2);
        self.is_probability().then(|| confidences.iter().map(value).collect())
    }

    /// Whether its values are meant as probabilities of being right.
    pub fn is_probability(&self) -> bool {
        match self {
            Estimator::Scored { score, .. } => *score == Score::Msp,
            Estimator::Family(family) => family.family().info().is_probability,
            Estimator::Stack(stack) => stack.is_labelled(),
            Estimator::Extra => false,
        }
    }

    /// Whether it gives every row of that many classes the same confidence.
    ///
    /// Two classes centred by their mean (or minimum) and normalised are always the same two
    /// numbers: nothing is left to rank by. (Rows of equal logits are an exception.)
    pub fn is_constant(&self, classes: usize) -> bool {
        match self {
            // One probability alone has no variance.
            Estimator::Scored { score: Score::Ldam, .. } => classes == 2,
            Estimator::Scored { score, transform: Transform { norm: Some(norm), .. }, .. } => {
                let plain = norm.gamma == Finite::ZERO && norm.centring != Centring::None;
                let two = classes == 2 && norm.p.get() > 0.0;
                // The top class is as far from the minimum as any.
                let largest = *score == Score::MaxLogit
                    && norm.centring == Centring::Min
                    && norm.p.get() == f64::INFINITY;
                plain && (two || largest)
            }
            Estimator::Family(family) => family.family().is_constant(classes),
            Estimator::Scored { .. } | Estimator::Stack(_) | Estimator::Extra => false,
        }
    }

    /// The method it belongs to.
    pub fn method(&self) -> Method {
        match self {
            Estimator::Family(family) => Method::Family(family.family()),
            Estimator::Stack(stack) if stack.is_labelled() => Method::Stack,
            Estimator::Stack(_) => Method::LabelFree,
            Estimator::Extra => Method::Extra,
            Estimator::Scored { score, transform } => {
                let transform = match transform.norm {
                    Some(Norm { centring, gamma, .. }) => {
                        TransformKind::PNorm { centring, shift: gamma != Finite::ZERO }
                    }
                    None if transform.temperature == Temperature::ONE => TransformKind::Raw,
                    None => TransformKind::Temperature(TemperatureObjective::Chosen),
                };
                Method::Scored { score: *score, transform }
            }
        }
    }

    /// Its parameters by name, in the order of [`Method::parameters`].
    pub fn parameters(&self) -> Vec<(&'static str, f64)> {
        let names = self.method().parameters().iter().copied();
        match self {
            Estimator::Scored { transform, .. } => {
                names.map(|name| (name, transform.parameter(name))).collect()
            }
            Estimator::Family(family) => names.zip(family.values().iter().copied()).collect(),
            Estimator::Stack(_) | Estimator::Extra => Vec::new(),
        }
    }

    /// A method with its parameters by name. `tau` may be left out, and is then 1, as may those
    /// parameters of families that have a default; all others are required, and no parameter is
    /// accepted that the method does not take.
    pub fn new(method: Method, parameters: &[(&str, f64)]) -> Result<Self, Error> {
        let mut given = BTreeMap::new();
        for &(name, value) in parameters {
            let takes = method.parameters().iter();
            let known = takes.copied().find(|known| known.eq_ignore_ascii_case(unfold(name)));
            let Some(known) = known else {
                return Err(parameter_error(method, "does not take", name));
            };
            if given.insert(known, value).is_some() {
                return Err(parameter_error(method, "takes only once", known));
            }
        }
        let get = |name: &'static str, default: Option<f64>| {
            let value = given.get(name).copied().or(default);
            value.ok_or_else(|| parameter_error(method, "needs", name))
        };
        match method {
            Method::Stack | Method::LabelFree => Err(Error::StackAsText),
            Method::Extra => Ok(Estimator::Extra),
            Method::Family(family) => {
                let parameters = family.info().parameters.iter();
                let values =
                    parameters.map(|p| get(p.name, p.default)).collect::<Result<Vec<_>, _>>();
                Ok(Estimator::Family(FamilyEstimator::new(family, &values?)?))
            }
            Method::Scored { score, transform } => {
                // Made by hand, a method may be rank-neutral.
                Method::new(score, transform)?;
                let transform = match transform {
                    TransformKind::Raw => Transform::RAW,
                    TransformKind::Temperature(_) => Transform::temperature(get("T", None)?)?,
                    TransformKind::PNorm { centring, shift } => {
                        let gamma =
                            if shift { Finite::new(get("gamma", None)?)? } else { Finite::ZERO };
                        let norm = Norm { centring, gamma, p: Exponent::new(get("p", None)?)? };
                        let temperature = Temperature::new(get("tau", Some(1.0))?)?;
                        Transform { norm: Some(norm), temperature }
                    }
                };
                Ok(Estimator::Scored { score, transform })
            }
        }
    }
}

/// Rounds a confidence to 41 significant bits, twelve digits.
///
/// Rows can tie mathematically: those that are permutations of each other, all rows of which only
/// the top class lies above the mean under `p = 1`, one-hot logits under any p-norm. Rounding errors
/// in the sums over classes would rank such rows at random; they are far below this resolution,
/// and real rows hardly ever come closer than it.
#[inline(always)]
pub(crate) fn resolved(confidence: f64) -> f64 {
    const DROPPED: u64 = 1 << 12;
    let bits = confidence.to_bits().wrapping_add(DROPPED / 2) & !(DROPPED - 1);
    // −0.0 and 0.0 are one confidence.
    f64::from_bits(bits) + 0.0
}

/// The least number that is rounded to this one or to more: what rounded confidences are compared with
/// is this for confidences that are not rounded.
pub(crate) fn least_resolved(at: f64) -> f64 {
    least(|confidence| reaches(resolved(confidence), at))
}

/// The least number from which on something holds; infinite if it never does. Floats are halved by
/// their bits, so that every one can be met.
fn least(holds: impl Fn(f64) -> bool) -> f64 {
    let ordered = |x: f64| {
        let bits = x.to_bits();
        if bits >> 63 == 0 { bits | (1 << 63) } else { !bits }
    };
    let float = |key: u64| f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key });
    let (mut low, mut high) = (ordered(f64::NEG_INFINITY), ordered(f64::INFINITY));
    if !holds(float(high)) {
        return f64::INFINITY;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(float(middle)) { high = middle } else { low = middle + 1 }
    }
    float(low)
}

/// Greek letters and words are the same parameter.
fn unfold(name: &str) -> &str {
    match name {
        "τ" => "tau",
        "γ" => "gamma",
        other => other,
    }
}

fn parameter_error(method: Method, problem: &'static str, parameter: &str) -> Error {
    let takes = match method.parameters() {
        [] => "none".to_string(),
        names => names.join(", "),
    };
    Error::ParameterSet { method: method.to_string(), problem, parameter: parameter.into(), takes }
}

impl fmt::Display for Estimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.method())?;
        let parameters: Vec<String> =
            self.parameters().iter().map(|(name, value)| format!("{name}={value}")).collect();
        if parameters.is_empty() { Ok(()) } else { write!(f, "({})", parameters.join(", ")) }
    }
}

impl FromStr for Estimator {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let syntax = |problem: String| Error::Syntax { text: text.to_string(), problem };
        let (name, inside) = match text.split_once('(') {
            None => (text, ""),
            Some((name, rest)) => match rest.trim_end().strip_suffix(')') {
                Some(inside) => (name, inside),
                None => return Err(syntax("the closing parenthesis is missing".into())),
            },
        };
        let method: Method = name.parse()?;
        let mut parameters = Vec::new();
        for part in inside.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((key, number)) = part.split_once('=') else {
                return Err(syntax(format!("'{part}' is not of the form name=number")));
            };
            let number = number.trim();
            let parsed = if number == "∞" { Ok(f64::INFINITY) } else { number.parse() };
            let parsed = parsed.map_err(|_| syntax(format!("'{number}' is not a number")))?;
            parameters.push((key.trim(), parsed));
        }
        Estimator::new(method, &parameters)
    }
}

/// A field in JSON, which has no infinity; terms and numbers of classes are those of a stack.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum JsonField {
    Number(f64),
    Text(String),
    Terms(Vec<Term>),
    Numbers(Vec<f64>),
}

/// As a flat object: `{"method": "MaxLogit-pNorm", "p": 5.0}`; an infinite `p` is `"inf"`.
impl Serialize for Estimator {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        if let Estimator::Stack(stack) = self {
            let mut map = serializer.serialize_map(None)?;
            map.serialize_entry("method", stack.name())?;
            // Without it the scores are on their rank scale and clipped at ±5, as in the first edition.
            if let Clip::Soft(knee) = stack.clip {
                map.serialize_entry("soft_clip", &knee)?;
            }
            map.serialize_entry("intercept", &stack.intercept)?;
            map.serialize_entry("terms", &stack.terms)?;
            if !stack.class_offsets.is_empty() {
                map.serialize_entry("class_offsets", &stack.class_offsets)?;
            }
            return map.end();
        }
        let parameters = self.parameters();
        let mut map = serializer.serialize_map(Some(1 + parameters.len()))?;
        map.serialize_entry("method", &self.method().to_string())?;
        for (name, value) in parameters {
            let value = if value.is_finite() {
                JsonField::Number(value)
            } else {
                JsonField::Text(value.to_string())
            };
            map.serialize_entry(name, &value)?;
        }
        map.end()
    }
}

/// Reads the fields of an estimator, each of them once.
struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = BTreeMap<String, JsonField>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a method and its parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        use serde::de::Error as _;
        let mut fields = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = if key == "terms" {
                // As such, so that a mistake in a term is named.
                JsonField::Terms(map.next_value()?)
            } else if key == "class_offsets" {
                JsonField::Numbers(map.next_value()?)
            } else {
                let wrong = |_| A::Error::custom(format!("{key} is neither a number nor a text"));
                map.next_value().map_err(wrong)?
            };
            if fields.insert(key.clone(), value).is_some() {
                return Err(A::Error::custom(format!("duplicate field `{key}`")));
            }
        }
        Ok(fields)
    }
}

impl<'de> Deserialize<'de> for Estimator {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let mut fields = deserializer.deserialize_map(Fields)?;
        let method = match fields.remove("method") {
            Some(JsonField::Text(name)) => name.parse::<Method>().map_err(D::Error::custom)?,
            Some(_) => return Err(D::Error::custom("method is not a name")),
            None => {
                let like = nearest("method", fields.into_keys());
                let hint = like.map_or(String::new(), |key| format!(" (is '{key}' meant?)"));
                return Err(D::Error::custom(format!("the field 'method' is missing{hint}")));
            }
        };
        if method.is_stack() {
            let clip = match fields.remove("soft_clip") {
                Some(JsonField::Number(knee)) => Clip::Soft(knee),
                Some(_) => return Err(D::Error::custom("soft_clip is not a number")),
                None => Clip::HARD,
            };
            let class_offsets = match fields.remove("class_offsets") {
                Some(JsonField::Numbers(offsets)) => offsets,
                _ => Vec::new(),
            };
            let parts = (fields.remove("intercept"), fields.remove("terms"), fields.pop_first());
            let (Some(JsonField::Number(intercept)), Some(JsonField::Terms(terms)), None) = parts
            else {
                let parts =
                    "an intercept, terms, perhaps soft_clip, class_offsets and nothing else";
                return Err(D::Error::custom(format!("a {method} has {parts}")));
            };
            let stack = Stack::new(method == Method::Stack, clip, intercept, terms)
                .and_then(|stack| stack.with_class_offsets(class_offsets));
            return stack.map(Estimator::Stack).map_err(D::Error::custom);
        }
        let mut parameters = Vec::new();
        for (name, value) in &fields {
            let value = match value {
                JsonField::Terms(_) | JsonField::Numbers(_) => {
                    return Err(D::Error::custom(format!("{name} is a list, not a number")));
                }
                JsonField::Number(number) => *number,
                JsonField::Text(text) if text == "inf" => f64::INFINITY,
                JsonField::Text(text) => {
                    return Err(D::Error::custom(format!("{name} is '{text}', not a number")));
                }
            };
            parameters.push((name.as_str(), value));
        }
        Estimator::new(method, &parameters).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_for_unrounded_confidences_decides_as_the_rounded_one() {
        let around =
            |x: f64| (0..20_u64).map(move |k| f64::from_bits(x.to_bits() - 9000 + k * 900));
        for at in [2.5, -2.5, 0.3, -0.3, 1e-300, -1e30, resolved(std::f64::consts::PI)] {
            let unrounded = least_resolved(at);
            for confidence in around(at).chain([0.0, f64::INFINITY, f64::NEG_INFINITY]) {
                let decisions = (confidence >= unrounded, resolved(confidence) >= at);
                assert_eq!(decisions.0, decisions.1, "{confidence} at {at}");
            }
            assert!(resolved(unrounded) >= at && resolved(unrounded.next_down()) < at);
        }
        for at in [f64::INFINITY, f64::NEG_INFINITY] {
            assert!(resolved(least_resolved(at)) >= at);
        }
    }

    fn read(text: &str) -> String {
        text.parse::<Estimator>().map_or_else(|error| error.to_string(), |e| e.to_string())
    }

    #[test]
    fn texts_read_back() {
        let families = Family::ALL.iter().flat_map(|family| family.examples());
        let families = families.map(|family| Estimator::Family(family).to_string());
        let scored = [
            "MSP",
            "MSP-TS(T=0.25)",
            "MaxLogit-pNorm(p=5)",
            "MaxLogit-pNorm(p=inf)",
            "MSP-pNorm(p=2.5, tau=0.1)",
            "LogitsMargin-pNorm-NC(p=3)",
            "Energy-pNorm-min-shift(p=3, gamma=-1.5, tau=2)",
        ];
        for text in scored.map(String::from).into_iter().chain(families) {
            let estimator: Estimator = text.parse().expect("a valid text");
            assert_eq!(estimator.to_string(), text);
            let json = serde_json::to_string(&estimator).expect("serialises");
            assert_eq!(serde_json::from_str::<Estimator>(&json).expect("reads"), estimator);
        }
        assert_eq!(read("maxlogit-pnorm( P = 5 )"), "MaxLogit-pNorm(p=5)");
        assert_eq!(read("msp-pnorm(p=4,τ=0.5)"), "MSP-pNorm(p=4, tau=0.5)");
        assert_eq!(read("MSP-pNorm(p=∞)"), "MSP-pNorm(p=inf, tau=1)");
        // The objective of a temperature is forgotten once its number is known.
        assert_eq!(read("MSP-TS-NLL(T=2)"), "MSP-TS(T=2)");
    }

    #[test]
    fn wrong_texts_are_explained() {
        for (text, message) in [
            ("MSP(T=2)", "MSP does not take the parameter T (it takes none)"),
            ("MSP-TS", "MSP-TS needs the parameter T (it takes T)"),
            (
                "MaxLogit-pNorm(p=5, tau=1)",
                "MaxLogit-pNorm does not take the parameter tau (it takes p)",
            ),
            ("MSP-pNorm(tau=1)", "MSP-pNorm needs the parameter p (it takes p, tau)"),
            (
                "MSP-TS(T=0)",
                "temperature is 0, but must be a positive number between 1e-100 and 1e100",
            ),
            (
                "MSP-TS(T=NaN)",
                "temperature is NaN, but must be a positive number between 1e-100 and 1e100",
            ),
            ("MaxLogit-pNorm(p=-1)", "p is -1, but must be 0, a number from 0.01 to 1e6, or inf"),
            ("ETS(T=1, w=2)", "weight is 2, but must be a number between 0 and 1"),
            ("BK(a=inf, b=1)", "coefficient is inf, but must be a number between -1e100 and 1e100"),
            ("MSP-TS(T=1", "cannot read 'MSP-TS(T=1': the closing parenthesis is missing"),
            ("MSP-TS(T=1, t=2)", "MSP-TS takes only once the parameter T (it takes T)"),
            ("MSP-TS(2)", "cannot read 'MSP-TS(2)': '2' is not of the form name=number"),
            ("MSP-TS(T=two)", "cannot read 'MSP-TS(T=two)': 'two' is not a number"),
        ] {
            assert_eq!(read(text), message);
        }
    }

    #[test]
    fn json_is_flat_and_strict() {
        let json = r#"{"method":"MSP-pNorm","p":"inf","tau":0.5}"#;
        let estimator: Estimator = serde_json::from_str(json).expect("valid");
        assert_eq!(serde_json::to_string(&estimator).expect("serialises"), json);
        let message = |json: &str| serde_json::from_str::<Estimator>(json).unwrap_err().to_string();
        assert!(message(r#"{"method":"MSP","q":1}"#).contains("does not take the parameter q"));
        assert!(message(r#"{"p":1}"#).contains("'method' is missing"));
        assert!(message(r#"{"methods":"MSP"}"#).contains("is 'methods' meant?"));
        assert!(message(r#"{"method":7}"#).contains("not a name"));
        assert!(message(r#"{"method":"MSP-TS","T":1,"T":2}"#).contains("duplicate field `T`"));
        assert!(message(r#"{"method":"MSP-TS","T":true}"#).contains("neither a number nor a text"));
        let term = r#"{"method":"Stack","intercept":0,"terms":[{"colour":1}]}"#;
        assert!(message(term).contains("unknown field `colour`"));
        assert!(message(r#"{"method":"MSP-TS","T":"warm"}"#).contains("not a number"));
    }

    #[test]
    fn the_resolution_keeps_forty_bits() {
        for x in [0.0, 0.5, 1.0, -2.0, 1e300, 1e-300, f64::INFINITY, f64::NEG_INFINITY] {
            assert!((resolved(x) - x).abs() <= 1e-12 * x.abs() || resolved(x) == x, "{x}");
            assert_eq!(resolved(resolved(x)), resolved(x));
        }
        assert_eq!(resolved(0.5 + 1e-16), 0.5);
        assert_eq!(resolved(0.5 - 1e-16), 0.5);
        assert_eq!(resolved(-0.0).to_bits(), 0);
        assert!(resolved(1.0 + 2e-12) > resolved(1.0));
    }

    #[test]
    fn rows_that_tie_mathematically_tie() {
        // One class above the mean: under p = 1 it holds exactly half of the norm.
        let above = [3.1, -0.2, -1.7, 0.4, 9.0, 0.3, 0.1, -5.3, 12.7, 1.1, 2.2, 3.3];
        // The same row with its classes permuted.
        let permuted = [[0.3, 2.9, -1.1, 0.7, 5.0, 0.9], [5.0, 0.7, 0.3, 0.9, -1.1, 2.9]].concat();
        let one_hot = [[7.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.3, 0.0, 0.0]].concat();
        let ties = |values: &[f64], classes, text: &str| {
            let logits = Logits::new(values, classes).expect("valid");
            let found = text.parse::<Estimator>().expect("valid").confidences(&logits);
            assert!(found.iter().all(|c| *c == found[0]), "{text}: {found:?}");
        };
        ties(&above, 4, "MaxLogit-pNorm(p=1)");
        for score in Score::ALL {
            ties(&permuted, 6, score.name());
        }
        for text in ["MSP-pNorm(p=2.5)", "MaxLogit-pNorm(p=7)", "CMD", "GEN", "LogitGap(N=3)"] {
            ties(&permuted, 6, text);
        }
        for text in ["MaxLogit-pNorm(p=3)", "MSP-pNorm(p=5)", "LogitsMargin-pNorm(p=0.5)"] {
            ties(&one_hot, 6, text);
        }
    }

    #[test]
    fn thresholds_on_values_are_thresholds_on_confidences() {
        for text in ["MSP", "MaxLogit-pNorm(p=3)", "NegativeEntropy", "HTS(b=0, w=1)", "MaxLogit"] {
            let estimator: Estimator = text.parse().expect("valid");
            for confidence in [-3.0, -0.25, 0.5, 1.0, 4.0] {
                let value = estimator.value(confidence, 10);
                let found = estimator.confidence_of(value, 10);
                assert!(estimator.value(found, 10) >= value, "{text}");
                assert!(estimator.value(found - 1e-9, 10) < value, "{text}: {found}");
            }
        }
        let ninety = Estimator::MSP.confidence_of(0.9, 10);
        assert!((ninety - 9.0_f64.ln()).abs() < 1e-12, "{ninety}");
        assert_eq!(Estimator::MSP.confidence_of(1.5, 10), f64::INFINITY);
    }

    #[test]
    fn two_classes_leave_nothing_to_rank_by() {
        let constant =
            |text: &str, classes| text.parse::<Estimator>().expect("valid").is_constant(classes);
        assert!(constant("MaxLogit-pNorm(p=3)", 2));
        assert!(constant("MSP-pNorm-min(p=inf)", 2));
        assert!(!constant("MaxLogit-pNorm(p=0)", 2));
        assert!(!constant("MaxLogit-pNorm-NC(p=3)", 2));
        assert!(!constant("MaxLogit-pNorm-shift(p=3, gamma=1)", 2));
        assert!(!constant("MaxLogit-pNorm(p=3)", 3));
        assert!(!constant("MSP", 2));
        assert!(constant("LDAM", 2) && !constant("LDAM", 3));
        assert!(constant("MaxLogit-pNorm-min(p=inf)", 7));
    }
}
