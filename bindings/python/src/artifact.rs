//! The artifact: an estimator, what its rows are, and its threshold.

use crate::arrays::{GivenInput, GivenLoss, Loss, Matrix, Rows, encoding, labels};
use crate::errors::Failure;
use crate::page::{json, plain};
use crate::work::{pieces, work};
use abstain::certify::{Certifier, Procedure};
use abstain::{Answer, Error, Labels, Logits, Losses, RcCurve, Threshold};
use abstain_io::{Encoding, Fingerprint, parse_artifact, read_artifact, write_artifact};
use abstain_lab::{Experiment, Target, tried_on};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::path::PathBuf;

/// An artifact; never changed, only replaced.
#[pyclass(frozen, module = "abstain._abstain")]
pub(crate) struct Artifact {
    pub(crate) inner: abstain::Artifact,
    /// What its rows are; of a bare estimator for probabilities the floor is that of the rows.
    pub(crate) encoding: Encoding,
}

impl From<abstain::Artifact> for Artifact {
    fn from(inner: abstain::Artifact) -> Self {
        let encoding = inner.input.into();
        Artifact { inner, encoding }
    }
}

/// What a threshold is asked to do, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    accuracy: Option<f64>,
    risk: Option<f64>,
    delta: Option<f64>,
    procedure: String,
    tried: Option<usize>,
}

impl Asked {
    fn target(&self) -> Result<Target, Failure> {
        let Some(target) = Target::of(self.accuracy, self.risk) else {
            return Err(Failure::Input("give accuracy or risk".into()));
        };
        if self.accuracy.is_some() && self.risk.is_some() {
            return Err(Failure::Input("give accuracy or risk, not both".into()));
        }
        // Checks the range.
        target.metric()?;
        Ok(target)
    }

    /// An experiment that would have asked for the same.
    pub(crate) fn experiment(&self, like: &Experiment) -> Result<Experiment, Failure> {
        let (target, procedure) = (Some(self.target()?), procedure(&self.procedure)?);
        Ok(Experiment { target, delta: self.delta, procedure, ..like.clone() })
    }

    /// The threshold on rows of which that many estimators were compared.
    pub(crate) fn threshold(
        &self,
        curve: &RcCurve,
        compared: usize,
        loss: String,
        data: Option<String>,
    ) -> Result<Threshold, Failure> {
        let target = self.target()?;
        if let Some(delta) = self.delta {
            let tried = self.tried.unwrap_or(1).max(compared);
            let procedure = procedure(&self.procedure)?;
            let certifier = Certifier { procedure, tried, ..target.certifier(delta) };
            return match certifier.certify(curve)? {
                Ok(certificate) => Ok(Threshold::certified(certificate, loss, data)),
                Err(why) => {
                    Err(Failure::Infeasible(format!("no threshold can be certified: {why}")))
                }
            };
        }
        let Some(knot) = target.widest(curve) else {
            let why = "no threshold reaches this target on these rows";
            return Err(Failure::Infeasible(why.into()));
        };
        Ok(Threshold::Risk {
            at: knot.threshold,
            risk: target.risk(),
            loss,
            rows: curve.rows(),
            accepted: knot.accepted,
            selective_risk: knot.selective_risk(),
        })
    }
}

/// A procedure by name.
pub(crate) fn procedure(name: &str) -> Result<Procedure, Failure> {
    match name {
        "fixed-sequence" => Ok(Procedure::FixedSequence),
        "sgr" => Ok(Procedure::Sgr),
        _ => Err(Failure::Input(format!(
            "procedure is {name:?}, but must be \"fixed-sequence\" or \"sgr\""
        ))),
    }
}

/// The SHA-256 of rows and labels, as in the artifacts of `abstain tune`.
pub(crate) fn fingerprint(logits: &Logits<'_>, labels: &Labels) -> Result<String, Error> {
    let mut fingerprint = Fingerprint::default();
    pieces(logits.rows(), logits.classes(), |rows| {
        fingerprint.update(&logits.part(rows));
        Ok(())
    })?;
    Ok(fingerprint.finish(labels))
}

impl Artifact {
    /// Rows of another classifier are refused.
    fn check_classes(&self, matrix: &Matrix<'_>) -> Result<(), Error> {
        match self.inner.classes {
            Some(expected) if expected != matrix.classes => {
                Err(Error::Classes { found: matrix.classes, expected })
            }
            _ => Ok(()),
        }
    }

    /// The rows as the estimator wants them.
    pub(crate) fn logits<'a>(&self, matrix: &Matrix<'a>) -> Result<Logits<'a>, Failure> {
        self.check_classes(matrix)?;
        Ok(matrix.logits()?)
    }

    fn confidences(&self, logits: &Logits<'_>) -> Result<Vec<f64>, Error> {
        let mut all = Vec::with_capacity(logits.rows());
        pieces(logits.rows(), logits.classes(), |rows| {
            all.extend(self.inner.estimator.confidences(&logits.part(rows)));
            Ok(())
        })?;
        Ok(all)
    }

    /// What an error costs: what is said, or what the artifact was made for.
    pub(crate) fn loss(&self, said: Option<&GivenLoss<'_>>) -> Result<Loss, Failure> {
        if let Some(said) = said {
            return Loss::new(said);
        }
        let own = self.inner.threshold.as_ref().and_then(Threshold::loss);
        match own.or(self.inner.tuning.as_ref().map(|tuning| &tuning.loss[..])) {
            None => Ok(Loss::ZeroOne),
            Some(text) => Loss::of_name(text).ok_or_else(|| {
                let what = format!("the estimator was made for other losses ({text})");
                Failure::Input(format!("{what}: give those of these rows, or loss=\"zero-one\""))
            }),
        }
    }

    fn with(&self, threshold: Threshold) -> Self {
        let mut inner = self.inner.clone();
        inner.threshold = Some(threshold);
        Artifact { inner, encoding: self.encoding }
    }
}

#[pymethods]
impl Artifact {
    /// An estimator by its text, such as "MaxLogit-pNorm(p=5)".
    #[staticmethod]
    fn of_text(text: &str, input: GivenInput) -> PyResult<Self> {
        let mut inner = abstain::Artifact::new(text.parse().map_err(Failure::Core)?);
        let encoding = encoding(&input)?;
        inner.input = encoding.input(input.1);
        inner.check().map_err(Failure::Input)?;
        Ok(Artifact { inner, encoding })
    }

    /// An artifact from its JSON.
    #[staticmethod]
    fn of_json(text: &str) -> PyResult<Self> {
        Ok(parse_artifact(text).map_err(|kind| Failure::Input(kind.to_string()))?.into())
    }

    /// An artifact from its file.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        Ok(read_artifact(&path).map_err(Failure::File)?.into())
    }

    /// Writes the file, whole or not at all.
    fn write(&self, path: PathBuf) -> PyResult<()> {
        Ok(write_artifact(&self.inner, &path).map_err(Failure::File)?)
    }

    /// The artifact's JSON.
    fn json(&self) -> PyResult<String> {
        json(&self.inner)
    }

    /// The estimator's text.
    fn name(&self) -> String {
        match &self.inner.estimator {
            // It has too many numbers for a line.
            abstain::Estimator::Stack(_) => "Stack".into(),
            other => other.to_string(),
        }
    }

    /// What `abstain show` says of it.
    fn text(&self) -> String {
        plain(&abstain_report::artifact(&self.inner))
    }

    /// The threshold in words, and what it rests on.
    fn threshold_text(&self) -> String {
        plain(&abstain_report::threshold(&self.inner))
    }

    /// Whether its values are meant as probabilities of being right.
    fn is_probability(&self) -> bool {
        self.inner.estimator.is_probability()
    }

    /// The confidence of each row; its value by the paper's formula if `values`.
    fn confidence<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        values: bool,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let matrix = rows.matrix(self.encoding)?;
        let found = work(py, None, |_| {
            self.check_classes(&matrix)?;
            let mut all = Vec::new();
            matrix.pieces(|logits| {
                let estimator = &self.inner.estimator;
                all.extend(if values {
                    estimator.values(logits)
                } else {
                    estimator.confidences(logits)
                });
                Ok(())
            })?;
            Ok(all)
        })?;
        Ok(found.into_pyarray(py))
    }

    /// Prediction, confidence and, with a threshold, acceptance of each row.
    #[expect(clippy::type_complexity, reason = "what the package makes a named tuple of")]
    fn answers<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
    ) -> PyResult<(
        Bound<'py, PyArray1<i64>>,
        Bound<'py, PyArray1<f64>>,
        Option<Bound<'py, PyArray1<bool>>>,
    )> {
        let matrix = rows.matrix(self.encoding)?;
        let found: Vec<Answer> = work(py, None, |_| {
            let mut all = Vec::new();
            matrix.pieces(|logits| {
                all.extend(self.inner.answers(logits)?);
                Ok(())
            })?;
            Ok(all)
        })?;
        let prediction: Vec<i64> = found.iter().map(|own| own.prediction.into()).collect();
        let confidence: Vec<f64> = found.iter().map(|own| own.confidence).collect();
        let accept: Option<Vec<bool>> = found.iter().map(|own| own.accept).collect();
        Ok((
            prediction.into_pyarray(py),
            confidence.into_pyarray(py),
            accept.map(|own| own.into_pyarray(py)),
        ))
    }

    /// The same with a threshold of the user's own: a confidence, or a value of the paper's formula.
    fn with_threshold_at(&self, at: Option<f64>, value: Option<f64>) -> PyResult<Self> {
        let own = &self.inner.estimator;
        let at = match (at, value) {
            (Some(at), None) => at,
            (None, Some(value)) => {
                // Probabilities of being right do not depend on the number of classes.
                let known = self.inner.classes.or(own.is_probability().then_some(2));
                let Some(classes) = known else {
                    let why =
                        "how many classes there are is not known, and the value depends on it";
                    return Err(Failure::Input(why.into()).into());
                };
                let at = own.confidence_of(value, classes);
                if !at.is_finite() {
                    let why = format!("no confidence has the value {value}");
                    return Err(Failure::Input(why).into());
                }
                at
            }
            _ => return Err(Failure::Input("give at or value".into()).into()),
        };
        if at.is_nan() {
            return Err(Failure::Input("the threshold is NaN".into()).into());
        }
        Ok(self.with(Threshold::Given { at }))
    }

    /// The same with the threshold that accepts this share of some rows.
    fn with_coverage(&self, py: Python<'_>, rows: Rows<'_>, coverage: f64) -> PyResult<Self> {
        if !(coverage > 0.0 && coverage <= 1.0) {
            let why = format!("coverage is {coverage}, but must be above 0 and at most 1");
            return Err(Failure::Input(why).into());
        }
        let matrix = rows.matrix(self.encoding)?;
        work(py, None, |_| {
            let logits = self.logits(&matrix)?;
            let confidences = self.confidences(&logits)?;
            let rows = confidences.len();
            // Any loss will do: coverage does not ask for it.
            let curve = RcCurve::new(&confidences, &Losses::new(vec![0.0; rows])?)?;
            let knot = curve.narrowest_covering(coverage);
            let (at, accepted) = (knot.threshold, knot.accepted);
            let mut own = self.with(Threshold::Coverage { at, coverage, rows, accepted });
            own.learn(&logits);
            Ok(own)
        })
    }

    /// The same with the threshold that some labelled rows suggest, or certify.
    fn with_threshold_on(
        &self,
        py: Python<'_>,
        rows: Rows<'_>,
        target: PyReadonlyArray1<'_, i64>,
        loss: Option<GivenLoss<'_>>,
        asked: Asked,
    ) -> PyResult<Self> {
        let matrix = rows.matrix(self.encoding)?;
        let (labels, loss) = (labels(&target, matrix.classes)?, self.loss(loss.as_ref())?);
        work(py, None, |_| {
            let logits = self.logits(&matrix)?;
            let losses = loss.of(&logits, &labels)?;
            let (mut data, mut compared) = (None, 1);
            if asked.delta.is_some() {
                data = Some(fingerprint(&logits, &labels)?);
                compared = tried_on(&self.inner, data.as_deref()).map_err(|_| {
                    let why = "the estimator was tuned on these very rows, which certify nothing";
                    Failure::Input(format!(
                        "{why}: give fresh ones, or none at all for those that \
                        tuning kept apart"
                    ))
                })?;
            }
            let curve = RcCurve::new(&self.confidences(&logits)?, &losses)?;
            let mut own = self.with(asked.threshold(&curve, compared, loss.name(), data)?);
            own.learn(&logits);
            Ok(own)
        })
    }
}

impl Artifact {
    /// Takes over from rows what a bare estimator does not know.
    fn learn(&mut self, logits: &Logits<'_>) {
        self.inner.classes = Some(logits.classes());
        self.inner.input = self.encoding.input(logits.floor());
        self.encoding = self.inner.input.into();
    }
}
