//! The artifact: a tuned estimator with everything that scoring needs and everything that one may
//! want to know of where it came from. `docs/artifact.md` specifies its JSON.

use crate::certify::Pilot;
use crate::encoding::Encoding;
use crate::error::Error;
use crate::estimator::Estimator;
use crate::fallback::Fallback;
use crate::logits::Logits;
use crate::method::Method;
use crate::monitor::Reference;
use crate::objective::Objective;
use crate::rule::Rule;
use crate::sketch::RowSketch;
use crate::threshold::Threshold;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// An estimator to be deployed.
///
/// ```
/// use abstain::{Artifact, Logits, Threshold};
///
/// let mut artifact = Artifact::new("MaxLogit-pNorm(p=4)".parse()?);
/// artifact.rule = Some(Threshold::given(1.0).into());
/// let logits = Logits::new(&[9.0_f32, 0.5, -1.0, 0.1, 0.3, 0.29][..], 3)?;
/// let answers = artifact.answers(&logits)?;
/// assert_eq!((answers[0].prediction, answers[1].prediction), (0, 1));
/// assert!(answers[0].accept == Some(true) && answers[0].confidence > answers[1].confidence);
/// # Ok::<(), abstain::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    format: Tag,
    version: u32,
    /// The program and version that wrote it.
    pub written_by: String,
    /// The estimator with its numbers.
    pub estimator: Estimator,
    /// The classifier whose rows it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelInfo>,
    /// When it was made, as the user states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// How many classes the rows must have; any number if unknown.
    pub classes: Option<usize>,
    /// The names of the classes, in the order of their numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_names: Option<Vec<String>>,
    /// The columns that its rows were read from, where the user named them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Columns>,
    /// What the numbers of the rows are.
    pub input: Encoding,
    /// Which rows are accepted.
    pub rule: Option<Rule>,
    /// What version 1 has in place of the rule; nothing after reading.
    #[serde(default, rename = "threshold", skip_serializing)]
    old_threshold: Option<Threshold>,
    /// How the estimator was tuned.
    pub tuning: Option<Tuning>,
    /// What the certifying rows looked like, against which a monitor compares later rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
}

/// A classifier, as the user identifies it. Its text is `NAME` or `NAME@VERSION`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Anything else, by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl ModelInfo {
    /// Whether two descriptions may be of the same classifier: names are equal, and so are versions
    /// where both state one.
    pub fn agrees_with(&self, other: &ModelInfo) -> bool {
        let versions = self.version.as_ref().zip(other.version.as_ref());
        self.name == other.name && versions.is_none_or(|(a, b)| a == b)
    }
}

impl fmt::Display for ModelInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.version {
            Some(version) => write!(f, "@{version}"),
            None => Ok(()),
        }
    }
}

impl FromStr for ModelInfo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, version) = match text.rsplit_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        if name.trim().is_empty() || version.is_some_and(|version| version.trim().is_empty()) {
            return Err("a name, or a name and a version as in resnet50@v2".into());
        }
        let (name, version) = (name.to_string(), version.map(str::to_string));
        Ok(ModelInfo { name, version, metadata: BTreeMap::new() })
    }
}

/// The columns that rows were read from, as the user named them: files of later commands that have such
/// columns are read alike.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// Those of the logits: a name, names with commas, or a pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logits: Option<String>,
    /// That of the labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
    /// That of the confidences, where they are computed elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
    /// Whether that column is an uncertainty, and a confidence is its negative.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negated: bool,
}

/// The tag that distinguishes the file from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Tag {
    #[serde(rename = "abstain-estimator")]
    Estimator,
}

/// How an estimator was tuned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// The method that was tuned.
    pub method: Method,
    /// Whether it fell back to MSP.
    pub fell_back: bool,
    /// What it was tuned for.
    pub objective: Objective,
    /// The objective of the estimator on the tuning rows, if it is defined.
    pub value: Option<f64>,
    /// MSP's.
    pub baseline: Option<f64>,
    /// What an error costs: the text of a [`crate::Loss`].
    pub loss: String,
    /// The name of the search space.
    pub space: String,
    /// When the method falls back to MSP.
    pub fallback: Fallback,
    /// The seed of everything random.
    pub seed: u64,
    /// The rows it was tuned on.
    pub rows: usize,
    /// The SHA-256 of all rows of the file they are from.
    pub data: Option<String>,
    /// The SHA-256 of unlabelled rows of the deployment, if the stack has its scale from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlabelled: Option<String>,
    /// A sample of the rows that tuned, by which they are recognised among others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sketch: Option<RowSketch>,
    /// The same by what rounding leaves of them: see [`crate::internal::RowMark`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounded: Option<RowSketch>,
    /// The typical size of the numbers in a row: see [`crate::internal::RowFacts::scale`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// What it was worth on rows that tuning had not seen.
    pub measured: Option<Measured>,
    /// What the tuning rows say of where a certificate may be found on others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pilot: Option<Pilot>,
}

/// NAURC on rows that tuning had not seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// How many rows.
    pub rows: usize,
    /// The estimator's NAURC, if it is defined.
    pub naurc: Option<f64>,
    /// MSP's.
    pub baseline: Option<f64>,
    /// The SHA-256 of all rows of the file they are from.
    pub data: Option<String>,
    /// A sample of these rows, by what rounding leaves of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounded: Option<RowSketch>,
}

impl Answer {
    /// In place of a class, where a row could not be scored.
    pub const NO_CLASS: u32 = u32::MAX;

    /// The answer to a row that could not be scored: no class, below every threshold.
    pub fn abstention(has_rule: bool) -> Self {
        Answer {
            prediction: Self::NO_CLASS,
            confidence: f64::NEG_INFINITY,
            accept: has_rule.then_some(false),
        }
    }
}

/// What a classifier answers to a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// The predicted class.
    pub prediction: u32,
    /// The confidence, on the scale of [`Estimator::confidences`].
    pub confidence: f64,
    /// Whether to trust it; nothing without a threshold.
    pub accept: Option<bool>,
}

/// Why a text is no artifact that can be read, or why an artifact is not sound. Its text is for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ArtifactError {
    kind: ArtifactErrorKind,
    problem: String,
}

/// What is wrong with an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArtifactErrorKind {
    /// It is not JSON, or not of the fields of an artifact.
    Json,
    /// It is JSON of something else.
    OtherFormat,
    /// It is of a version that is not known here, or of none.
    Version,
    /// Its fields contradict each other, or a number is out of its range.
    Unsound,
}

impl ArtifactError {
    fn new(kind: ArtifactErrorKind, problem: impl fmt::Display) -> Self {
        ArtifactError { kind, problem: problem.to_string() }
    }

    /// What is wrong.
    pub fn kind(&self) -> ArtifactErrorKind {
        self.kind
    }
}

impl Artifact {
    /// The newest version of the format, which is the one written.
    pub const VERSION: u32 = 2;

    /// An estimator with nothing known but itself.
    pub fn new(estimator: Estimator) -> Self {
        Artifact {
            format: Tag::Estimator,
            version: Self::VERSION,
            written_by: concat!("abstain ", env!("CARGO_PKG_VERSION")).to_string(),
            estimator,
            model: None,
            date: None,
            classes: None,
            class_names: None,
            columns: None,
            input: Encoding::default(),
            rule: None,
            old_threshold: None,
            tuning: None,
            reference: None,
        }
    }

    /// Reads an artifact from its JSON, of any version, or a bare estimator as in
    /// `{"method": "MaxLogit-pNorm", "p": 5}`.
    pub fn from_json(text: &str) -> Result<Self, ArtifactError> {
        use ArtifactErrorKind::{Json, OtherFormat, Version};
        let json_error = |error| ArtifactError::new(Json, error);
        let json: Value = serde_json::from_str(text).map_err(json_error)?;
        let Some(object) = json.as_object() else {
            return Err(ArtifactError::new(OtherFormat, "it is not a JSON object"));
        };
        if !object.contains_key("format") && object.contains_key("method") {
            return serde_json::from_value(json).map(Artifact::new).map_err(json_error);
        }
        if object.get("format").and_then(Value::as_str) != Some("abstain-estimator") {
            let problem = "it does not say \"format\": \"abstain-estimator\"";
            return Err(ArtifactError::new(OtherFormat, problem));
        }
        let newest = Self::VERSION;
        let of_another_version = match object.get("version").and_then(Value::as_u64) {
            Some(version) if version > newest.into() => {
                let problem =
                    format!("it is of version {version}, and this program reads up to {newest}");
                return Err(ArtifactError::new(Version, problem));
            }
            Some(2) => "threshold",
            Some(1) => "rule",
            _ => return Err(ArtifactError::new(Version, "its version is missing or unknown")),
        };
        if object.contains_key(of_another_version) {
            let problem = format!("the field `{of_another_version}` is of another version");
            return Err(ArtifactError::new(Json, problem));
        }
        // From the text, so that an error names its line.
        let artifact: Artifact = serde_json::from_str(text).map_err(json_error)?;
        let artifact = artifact.migrated();
        artifact.check()?;
        Ok(artifact)
    }

    /// The same in the current version. An optional field that a version adds needs no line here.
    fn migrated(mut self) -> Self {
        if self.version == 1 {
            self.rule = self.old_threshold.take().map(Rule::from);
        }
        Artifact { version: Self::VERSION, ..self }
    }

    /// The threshold of all rows. Nothing without a rule, or if that is a table.
    pub fn threshold(&self) -> Option<&Threshold> {
        self.rule.as_ref().and_then(Rule::threshold)
    }

    /// The same for what cannot apply a table, which is an error.
    pub fn one_threshold(&self) -> Result<Option<&Threshold>, Error> {
        self.rule.iter().try_for_each(|rule| rule.check_rows(false, false))?;
        Ok(self.threshold())
    }

    /// Checks what its fields say of each other; readers call this.
    pub fn check(&self) -> Result<(), ArtifactError> {
        let unsound = |problem| ArtifactError::new(ArtifactErrorKind::Unsound, problem);
        self.contradiction().map_err(unsound)
    }

    fn contradiction(&self) -> Result<(), String> {
        if self.version != Self::VERSION {
            return Err(format!("version {} is not {}", self.version, Self::VERSION));
        }
        if let Some(classes @ 0..2) = self.classes {
            return Err(format!("{classes} class(es)"));
        }
        if let Some(names) = &self.class_names {
            check_names(names, self.classes)?;
        }
        match self.input {
            input if input.needs_floor() => return Err("probabilities without a floor".into()),
            input if input.floor().is_some_and(|floor| !(floor > 0.0 && floor < 1.0)) => {
                return Err(format!("a floor of {}", input.floor().unwrap_or_default()));
            }
            Encoding::Confidence if self.estimator != Estimator::Extra => {
                return Err(format!("{} of rows without logits", self.estimator));
            }
            _ => {}
        }
        if self.input.is_one_number() && self.classes.is_some_and(|classes| classes != 2) {
            return Err(format!("{} of another number of classes than 2", self.input));
        }
        if let Estimator::Stack(stack) = &self.estimator {
            let (found, classes) = (stack.class_offsets().len(), self.classes);
            if found > 0 && classes.is_some_and(|classes| classes != found) {
                return Err(format!("{found} class offsets for {} classes", classes.unwrap_or(0)));
            }
        }
        if let Some(pilot) = self.tuning.as_ref().and_then(|tuning| tuning.pilot.as_ref()) {
            pilot.check()?;
        }
        if let Some(reference) = &self.reference {
            reference.check()?;
        }
        self.rule.as_ref().map_or(Ok(()), |rule| rule.check(self.classes))
    }

    /// The prediction of each row, how sure it is, and whether to trust it.
    pub fn answers(&self, logits: &Logits<'_>) -> Result<Vec<Answer>, Error> {
        if let Some(expected) = self.classes
            && logits.classes() != expected
        {
            return Err(Error::Classes { found: logits.classes(), expected });
        }
        if self.estimator.needs_extra() && !logits.has_extra() {
            return Err(Error::ExtraMissing);
        }
        let rule = self.rule.as_ref();
        rule.map_or(Ok(()), |rule| rule.check_rows(true, false))?;
        Ok(logits.map_rows(|_, row| {
            let confidence = self.estimator.confidence(row, &[]);
            // At most as many classes as a label can count.
            let prediction = u32::try_from(row.prediction()).unwrap_or(u32::MAX);
            let decide = |rule: &Rule| rule.decide(confidence, Some(row.prediction()), None);
            let accept = rule.map(|rule| decide(rule).is_accept());
            Answer { prediction, confidence, accept }
        }))
    }
}

/// Names tell classes apart only if there is one for each, and no two are alike.
fn check_names(names: &[String], classes: Option<usize>) -> Result<(), String> {
    if Some(names.len()) != classes {
        let classes = classes.map_or("an unknown number of".into(), |classes| classes.to_string());
        return Err(format!("{} class names for {classes} classes", names.len()));
    }
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two classes have the name '{}'", pair[0])),
        None => Ok(()),
    }
}

/// Numbers that may be infinite, which JSON has no word for: `#[serde(with = "abstain::artifact::extended")]`.
pub mod extended {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Extended {
        Number(f64),
        Text(String),
    }

    /// Writes a number, or "inf" or "-inf".
    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            Extended::Number(*value).serialize(serializer)
        } else {
            Extended::Text(value.to_string()).serialize(serializer)
        }
    }

    /// Reads what [`serialize`] writes.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Extended::deserialize(deserializer)? {
            Extended::Number(value) => Ok(value),
            Extended::Text(text) => match &text[..] {
                "inf" => Ok(f64::INFINITY),
                "-inf" => Ok(f64::NEG_INFINITY),
                _ => Err(serde::de::Error::custom(format!("'{text}' is not a number"))),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::{Certificate, Certifier};
    use crate::curve::RcCurve;
    use crate::losses::Losses;
    use crate::monitor::AnytimeCertificate;
    use crate::threshold::Basis;

    fn certificate() -> Certificate {
        let curve = RcCurve::new(&[1.5; 200], &Losses::new(vec![0.0; 200]).expect("losses"));
        let certified = Certifier::risk(0.05, 0.05).certify(&curve.expect("a curve"));
        certified.expect("valid").expect("feasible")
    }

    fn whole() -> Artifact {
        let mut artifact = Artifact::new("MSP-pNorm(p=inf, tau=0.5)".parse().expect("valid"));
        artifact.classes = Some(10);
        artifact.class_names = Some((0..10).map(|class| format!("class {class}")).collect());
        artifact.model = Some(ModelInfo {
            name: "resnet".into(),
            version: Some("2".into()),
            metadata: BTreeMap::from([("owner".into(), "us".into())]),
        });
        artifact.date = Some("2026-11-17".into());
        artifact.input = Encoding::Probabilities { floor: Some(1e-6), tolerance: None };
        artifact.rule = Some(Threshold::certified(certificate(), "zero-one".into(), None).into());
        artifact.tuning = Some(Tuning {
            method: "MSP-pNorm".parse().expect("valid"),
            fell_back: false,
            objective: Objective::default(),
            value: Some(0.1),
            baseline: None,
            loss: "zero-one".into(),
            space: "standard".into(),
            fallback: Fallback::default(),
            seed: 7,
            rows: 100,
            data: None,
            unlabelled: Some("cd".into()),
            sketch: Some(RowSketch::default()),
            rounded: Some(RowSketch::default()),
            scale: Some(2.5),
            measured: Some(Measured {
                rows: 50,
                naurc: Some(0.1),
                baseline: Some(0.2),
                data: Some("ab".into()),
                rounded: Some(RowSketch::default()),
            }),
            pilot: Some(Pilot { rows: 100, accepted: vec![50, 100], errors: vec![0, 3] }),
        });
        let confidences: Vec<f64> = (0..60).map(f64::from).collect();
        let classes: Vec<usize> = (0..60).map(|row| row % 10).collect();
        let reference = Reference::new(&confidences, &[0.0; 60], Some(&classes), 1.5, 0);
        artifact.reference = Some(reference.expect("a reference"));
        artifact
    }

    fn anytime() -> Threshold {
        let certificate = serde_json::json!({
            "threshold": 1.5, "risk": 0.05, "delta": 0.05, "rows": 100, "accepted": 60, "labels": 50,
            "selective_risk": 0.02, "since": 7,
            "alarm": {"row": 90, "observations": 40, "log_e_value": 6.0},
        });
        let certificate = serde_json::from_value(certificate).expect("a certificate");
        Threshold::anytime(certificate, "zero-one".into())
    }

    #[test]
    fn artifacts_read_back() {
        let infinite = Threshold::given(f64::NEG_INFINITY);
        let bare = Artifact { rule: Some(infinite.into()), ..Artifact::new(Estimator::MSP) };
        let renewed = Artifact { rule: Some(anytime().into()), reference: None, ..whole() };
        for artifact in [whole(), bare, renewed, Artifact::new(Estimator::MSP)] {
            let json = serde_json::to_string(&artifact).expect("serialises");
            let again: Artifact = serde_json::from_str(&json).expect("reads");
            assert_eq!(again, artifact);
            assert_eq!(again.check(), Ok(()));
        }
    }

    /// As they were before certificates and tuning knew of pilots.
    #[test]
    fn artifacts_without_pilots_read() {
        let mut json = serde_json::to_value(whole()).expect("serialises");
        json["tuning"].as_object_mut().expect("an object").remove("pilot");
        assert!(json.pointer("/rule/threshold/certificate/pilot").is_none());
        let again: Artifact = serde_json::from_value(json.clone()).expect("reads");
        assert_eq!(
            (again.tuning.as_ref().and_then(|t| t.pilot.as_ref()), again.check()),
            (None, Ok(()))
        );
        assert_eq!(serde_json::to_value(&again).expect("serialises"), json);
    }

    #[test]
    fn every_field_is_known_or_refused() {
        let whole = serde_json::to_value(whole()).expect("serialises");
        for place in [
            "",
            "/model",
            "/estimator",
            "/input",
            "/rule",
            "/rule/threshold",
            "/rule/threshold/certificate",
            "/tuning",
            "/tuning/measured",
            "/tuning/pilot",
            "/tuning/sketch",
            "/tuning/rounded",
            "/tuning/measured/rounded",
            "/reference",
            "/reference/confidences",
            "/reference/predictions",
        ] {
            let mut more = whole.clone();
            let object =
                more.pointer_mut(place).and_then(|v| v.as_object_mut()).expect("an object");
            object.insert("colour".into(), "blue".into());
            assert!(serde_json::from_value::<Artifact>(more).is_err(), "{place} takes anything");
        }
        let mut logits = serde_json::to_value(Artifact::new(Estimator::MSP)).expect("serialises");
        logits["input"]["floor"] = 0.5.into();
        assert!(serde_json::from_value::<Artifact>(logits).is_err());
    }

    #[test]
    fn models_agree_where_neither_contradicts() {
        let model = |text: &str| text.parse::<ModelInfo>().expect("a model");
        assert_eq!(model("a/b@v2").to_string(), "a/b@v2");
        assert!(model("a").agrees_with(&model("a@1")) && model("a@1").agrees_with(&model("a@1")));
        assert!(!model("a@2").agrees_with(&model("a@1")) && !model("a").agrees_with(&model("b")));
        for text in ["", "@1", "a@", " "] {
            assert!(text.parse::<ModelInfo>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn class_names_are_one_for_each_class_and_different() {
        let with = |names: &[&str], classes| {
            let names = names.iter().map(ToString::to_string).collect();
            let class_names = Some(names);
            Artifact { classes, class_names, ..Artifact::new(Estimator::MSP) }.check()
        };
        assert_eq!(with(&["cat", "dog"], Some(2)), Ok(()));
        assert!(with(&["cat", "dog"], Some(3)).is_err() && with(&["cat", "dog"], None).is_err());
        assert!(with(&["cat", "cat"], Some(2)).is_err());
    }

    #[test]
    fn encodings_fit_the_estimator_and_the_classes() {
        let with = |estimator: &str, input: &str, classes| {
            let input = input.parse::<Encoding>().expect("an encoding").with_floor(Some(0.1));
            let estimator = estimator.parse().expect("an estimator");
            Artifact { classes, input, ..Artifact::new(estimator) }.check()
        };
        assert_eq!(with("MSP", "binary-probability", Some(2)), Ok(()));
        assert_eq!(with("Extra", "confidence", None), Ok(()));
        assert!(with("MSP", "binary-logit", Some(3)).is_err());
        assert!(with("MSP", "confidence", None).is_err());
    }

    #[test]
    fn fields_that_contradict_are_found() {
        let mut artifact = whole();
        if let Some(Rule::Threshold(threshold)) = &mut artifact.rule {
            threshold.at += 1.0;
        }
        assert!(artifact.check().is_err());
        let change = |edit: &dyn Fn(&mut Certificate)| {
            let mut artifact = whole();
            if let Some(Rule::Threshold(threshold)) = &mut artifact.rule
                && let Basis::Certified { certificate, .. } = &mut threshold.basis
            {
                edit(certificate);
            }
            artifact.check()
        };
        assert!(change(&|_| {}).is_ok());
        assert!(change(&|c| c.errors = c.accepted + 1).is_err());
        assert!(change(&|c| c.accepted = c.rows + 1).is_err());
        assert!(change(&|c| c.risk = 0.001).is_err(), "more than the errors can show");
        assert!(change(&|c| c.delta = 3.0).is_err());
        assert!(change(&|c| c.tried = 0).is_err());
        let mut artifact = whole();
        if let Some(Tuning { pilot: Some(pilot), .. }) = &mut artifact.tuning {
            pilot.errors[1] = 60;
        }
        assert!(artifact.check().is_err(), "more errors than rows in between");
        let renewed = |edit: &dyn Fn(&mut AnytimeCertificate)| {
            let mut threshold = anytime();
            if let Basis::Anytime { certificate, .. } = &mut threshold.basis {
                edit(certificate);
            }
            Artifact { rule: Some(threshold.into()), ..whole() }.check()
        };
        assert!(renewed(&|_| {}).is_ok());
        assert!(renewed(&|c| c.threshold = 2.0).is_err());
        assert!(renewed(&|c| c.accepted = 101).is_err());
        assert!(renewed(&|c| c.alarm.log_e_value = 2.0).is_err(), "too little evidence");
        assert!(renewed(&|c| c.risk = f64::NAN).is_err() && renewed(&|c| c.delta = 1.0).is_err());
        let reference = |edit: &dyn Fn(&mut Reference)| {
            let mut artifact = whole();
            artifact.reference.iter_mut().for_each(edit);
            artifact.check()
        };
        assert!(reference(&|r| r.losses.push(0.0)).is_err());
        assert!(reference(&|r| r.confidences.edges.reverse()).is_err());
        assert!(reference(&|r| r.confidences.rows = 1).is_err());
        assert!(reference(&|r| r.right_from = Some(f64::NAN)).is_err());
        for (cost_error, cost_abstain, accepted, weighted_coverage) in [
            (0.0, 1.0, 5, None),
            (1.0, f64::NAN, 5, None),
            (1.0, 1.0, 11, None),
            (1.0, 1.0, 5, Some(1.5)),
        ] {
            let (loss, selective_risk) = ("zero-one".to_string(), None);
            let basis = Basis::Cost {
                cost_error,
                cost_abstain,
                loss,
                rows: 10,
                accepted,
                selective_risk,
                weighted_coverage,
            };
            let threshold = Threshold { at: 0.5, basis };
            assert!(Artifact { rule: Some(threshold.into()), ..whole() }.check().is_err());
        }
        assert!(Artifact { classes: Some(1), ..whole() }.check().is_err());
        assert!(Artifact { version: 9, ..whole() }.check().is_err());
        for floor in [None, Some(2.0)] {
            let input = Encoding::Probabilities { floor, tolerance: None };
            assert!(Artifact { input, ..whole() }.check().is_err(), "{floor:?}");
        }
    }

    #[test]
    fn answers_are_the_estimators() {
        let values: Vec<f64> = (0..60).map(|i| f64::from(i * 37 % 23) / 3.0).collect();
        let logits = Logits::new(&values, 10).expect("valid");
        let estimator: Estimator = "MaxLogit-pNorm(p=3)".parse().expect("valid");
        let confidences = estimator.confidences(&logits);
        let at = confidences[2];
        let mut artifact = Artifact::new(estimator);
        assert!(artifact.answers(&logits).expect("answers").iter().all(|a| a.accept.is_none()));
        artifact.rule = Some(Threshold::given(at).into());
        let answers = artifact.answers(&logits).expect("answers");
        for ((answer, confidence), prediction) in
            answers.iter().zip(&confidences).zip(logits.predictions())
        {
            assert_eq!(answer.confidence.to_bits(), confidence.to_bits());
            assert_eq!(answer.prediction as usize, prediction);
            let decision = Rule::from(Threshold::given(at)).decide(*confidence, None, None);
            assert_eq!(answer.accept, Some(decision.is_accept()));
        }
        let table = (0..10).map(|class| (class % 2 == 0).then(|| Threshold::given(at))).collect();
        let by_class = Artifact { rule: Some(Rule::ByClass(table)), ..artifact.clone() };
        for (found, answer) in by_class.answers(&logits).expect("answers").iter().zip(&answers) {
            let even = answer.prediction % 2 == 0;
            assert_eq!(found.accept, Some(even && answer.accept == Some(true)));
        }
        let by_group = Artifact { rule: Some(Rule::ByGroup(BTreeMap::new())), ..artifact.clone() };
        let refused = Error::ThresholdTable { by: "group" };
        assert_eq!(by_group.answers(&logits), Err(refused.clone()));
        assert_eq!((by_group.threshold(), by_group.one_threshold()), (None, Err(refused)));
        artifact.classes = Some(11);
        let error = artifact.answers(&logits).unwrap_err();
        assert_eq!(error, Error::Classes { found: 10, expected: 11 });
    }
}
