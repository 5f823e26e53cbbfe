//! `abstain.tune`.

use crate::arrays::{GivenInput, GivenLoss, Loss, Matrix, Rows, encoding, labels};
use crate::artifact::{Artifact, Asked, fingerprint, procedure};
use crate::errors::Failure;
use crate::page::{self, Heading, plain};
use crate::work::{beside, work};
use abstain::{Error, Labels, Logits, Method, RcCurve, Space, Threshold, Tuner};
use abstain_io::Encoding;
use abstain_lab::picture::Answers;
use abstain_lab::{
    Experiment, Found, Holdout, InMemory, Origin, RowSource, Split, Step, Target, TuneReport,
};
use abstain_report::page::TunePage;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::path::PathBuf;

/// What to do, as Python says it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    methods: Vec<String>,
    objective: String,
    fallback: String,
    space: String,
    accuracy: Option<f64>,
    risk: Option<f64>,
    delta: Option<f64>,
    procedure: String,
    holdout: Option<String>,
    splits: usize,
    replicates: usize,
    seed: u64,
}

impl Options {
    fn experiment(&self) -> Result<Experiment, Failure> {
        let mut methods: Vec<Method> = Vec::new();
        for name in &self.methods {
            let more = match &name.to_ascii_lowercase()[..] {
                "all" => Tuner::methods_of_the_paper(),
                _ => vec![name.parse()?],
            };
            methods
                .extend(more.into_iter().filter(|own| !methods.contains(own)).collect::<Vec<_>>());
        }
        if self.accuracy.is_some() && self.risk.is_some() {
            return Err(Failure::Input("give target_accuracy or target_risk, not both".into()));
        }
        let target = Target::of(self.accuracy, self.risk);
        if let Some(target) = target {
            // Checks the range.
            target.metric()?;
        }
        if let Some(delta) = self.delta
            && !(delta > 0.0 && delta < 1.0)
        {
            let why = format!("delta is {delta}, but must be between 0 and 1, both excluded");
            return Err(Failure::Input(why));
        }
        if self.objective.eq_ignore_ascii_case("accuracy") {
            let why = "no estimator changes the accuracy of all rows; SAC@0.95 is the share that is \
                       kept at an accuracy";
            return Err(Failure::Input(why.into()));
        }
        Ok(Experiment {
            methods,
            tuner: Tuner {
                objective: self.objective.parse()?,
                space: self.space.parse::<Space>()?,
                fallback: self.fallback.parse()?,
                seed: self.seed,
                ..Tuner::default()
            },
            target,
            delta: self.delta,
            procedure: procedure(&self.procedure)?,
            holdout: match &self.holdout {
                None => Holdout::default(),
                Some(text) => text.parse().map_err(|why| {
                    Failure::Input(format!("holdout is {text}, but must be {why}"))
                })?,
            },
            splits: self.splits,
            replicates: self.replicates,
        })
    }
}

/// What tuning found, and the rows that say so.
#[pyclass(frozen, module = "abstain._abstain")]
pub(crate) struct Tuning {
    found: Found,
    experiment: Experiment,
    origin: Origin,
    /// Of all rows of the set that was measured on.
    answers: Answers,
}

/// A labelled set.
struct Set<'a> {
    logits: Logits<'a>,
    labels: Labels,
}

impl<'a> Set<'a> {
    fn new(matrix: &Matrix<'a>, labels: Labels) -> Result<Self, Error> {
        let logits = matrix.logits()?;
        let (found, expected) = (labels.len(), logits.rows());
        if found != expected {
            return Err(Error::Length { what: "labels", found, expected });
        }
        Ok(Set { logits, labels })
    }

    fn fingerprint(&self) -> Result<String, Error> {
        fingerprint(&self.logits, &self.labels)
    }

    fn source(&self, loss: &Loss) -> Result<InMemory<'_>, Error> {
        InMemory::with_losses(&self.logits, &self.labels, loss.of(&self.logits, &self.labels)?)
    }
}

/// Tunes, measures, chooses, certifies.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the package's keywords")]
pub(crate) fn tune(
    py: Python<'_>,
    rows: Rows<'_>,
    target: PyReadonlyArray1<'_, i64>,
    test: Option<(Rows<'_>, PyReadonlyArray1<'_, i64>)>,
    loss: GivenLoss<'_>,
    input: GivenInput,
    options: Options,
    progress: Option<Py<PyAny>>,
) -> PyResult<Tuning> {
    let experiment = options.experiment()?;
    let encoding = encoding(&input)?;
    let loss = Loss::new(&loss)?;
    let matrix = rows.matrix(encoding)?;
    let tuning_labels = labels(&target, matrix.classes)?;
    let test = match &test {
        None => None,
        Some((rows, target)) => {
            if matches!(loss, Loss::Rows(_)) {
                let why =
                    "losses by row are for one set alone: leave out test, or use another loss";
                return Err(Failure::Input(why.into()).into());
            }
            let own = rows.matrix(encoding)?;
            if own.classes != matrix.classes {
                let (found, expected) = (own.classes, matrix.classes);
                return Err(Failure::Core(Error::Classes { found, expected }).into());
            }
            Some((labels(target, own.classes)?, own))
        }
    };
    work(py, progress, |progress| {
        let set = Set::new(&matrix, tuning_labels)?;
        let test = match test {
            None => None,
            Some((labels, mut matrix)) => {
                if let (Encoding::Probabilities { floor, .. }, own @ Some(_)) =
                    (&mut matrix.encoding, set.logits.floor())
                {
                    // Both sets have the floor of the first: it is part of the estimator.
                    *floor = own;
                }
                Some(Set::new(&matrix, labels)?)
            }
        };
        if test.is_none() && Split::random(set.logits.rows(), experiment.holdout, 0).is_none() {
            let (rows, holdout) = (set.logits.rows(), experiment.holdout);
            return Err(Failure::Input(format!(
                "{rows} row(s) cannot be split as asked ({holdout}): some must tune, and some must be \
                 left to measure on"
            )));
        }
        let mut step = |step: Step| {
            let what = step.method.map_or("measuring".into(), |own| format!("tuning {own}"));
            progress.at(step.done, step.all, &what);
        };
        let hashes = || {
            let tuned_on = set.fingerprint()?;
            let measured_on = test.as_ref().map(Set::fingerprint).transpose()?;
            Ok((tuned_on.clone(), measured_on.unwrap_or(tuned_on)))
        };
        let ((tuned_on, measured_on), (found, answers)) = beside(hashes, || {
            let reading = |done: usize, all: usize| progress.at(done, all, "reading");
            let mut source = set.source(&loss)?.telling(&reading);
            match &test {
                None => Ok((experiment.run(&mut source, &mut step)?, source.answers()?)),
                Some(test) => {
                    let mut test = test.source(&loss)?;
                    Ok((experiment.run_on(&mut source, &mut test, &mut step)?, test.answers()?))
                }
            }
        })?;
        if test.is_some() && tuned_on == measured_on {
            let what = "the test rows are the very rows that were tuned on";
            return Err(Failure::Input(format!("{what}: leave out test, and some are kept apart")));
        }
        progress.at(1, 1, "done");
        let origin = Origin {
            input: encoding.input(set.logits.floor()),
            loss: loss.name(),
            space: options.space.clone(),
            tuned_on: Some(tuned_on),
            measured_on: Some(measured_on),
        };
        Ok(Tuning { found, experiment, origin, answers })
    })
}

impl Tuning {
    /// What was found, where an estimator has perhaps got a threshold that does not rest on these rows:
    /// then nothing is said of a certificate.
    fn report_of(&self, artifact: &abstain::Artifact) -> Cow<'_, TuneReport> {
        let report = &self.found.report;
        let own = self.experiment.artifact(report, &self.origin).threshold;
        if own == artifact.threshold
            || (report.certificate.is_none() && report.infeasible.is_none())
        {
            return Cow::Borrowed(report);
        }
        let mut other = report.clone();
        (other.certificate, other.infeasible) = (None, None);
        Cow::Owned(other)
    }
}

#[pymethods]
impl Tuning {
    /// The estimator to use, with its threshold.
    fn artifact(&self) -> Artifact {
        self.experiment.artifact(&self.found.report, &self.origin).into()
    }

    /// Why a threshold that was asked for is not there.
    fn refusal(&self) -> Option<String> {
        self.experiment.refusal(&self.found.report)
    }

    /// The report of `abstain tune --json`.
    fn json(&self, artifact: &Bound<'_, Artifact>) -> PyResult<String> {
        page::json(&self.report_of(&artifact.get().inner))
    }

    /// What `abstain tune` prints.
    fn text(&self, artifact: &Bound<'_, Artifact>) -> String {
        plain(&abstain_report::tuning(&self.report_of(&artifact.get().inner)))
    }

    /// What to use, and what it buys.
    fn verdict(&self) -> String {
        abstain_report::verdict(&self.found.report)
    }

    /// What is guaranteed, or why nothing is.
    fn certified(&self, artifact: &Bound<'_, Artifact>) -> Option<String> {
        abstain_report::certified(&self.report_of(&artifact.get().inner))
    }

    /// The risk-coverage curves before and after as an SVG.
    fn svg(&self, artifact: &Bound<'_, Artifact>) -> PyResult<String> {
        let figure = abstain_report::tuning_figure(&self.report_of(&artifact.get().inner));
        figure.svg().map_err(|error| Failure::Input(error.to_string()).into())
    }

    /// The estimator with another threshold, found on the rows that were measured on.
    fn with_threshold(&self, py: Python<'_>, asked: Asked) -> PyResult<Artifact> {
        let Found { report, run } = &self.found;
        work(py, None, |_| {
            let confidences = &run.confidences[report.choice.place(&report.methods)];
            let curve = RcCurve::new(confidences, &run.losses)?;
            let (loss, data) = (self.origin.loss.clone(), self.origin.measured_on.clone());
            let mut artifact = self.experiment.artifact(report, &self.origin);
            artifact.threshold =
                Some(asked.threshold(&curve, report.choice.tried(), loss, data)?);
            Ok(artifact.into())
        })
    }

    /// The same for the target of a threshold that was found on the rows that were measured on.
    fn retargeted(
        &self,
        py: Python<'_>,
        artifact: &Bound<'_, Artifact>,
        asked: Asked,
    ) -> PyResult<Tuning> {
        let certificate = match &artifact.get().inner.threshold {
            Some(Threshold::Certified { certificate, .. }) => Some(*certificate),
            _ => None,
        };
        work(py, None, |_| {
            let experiment = asked.experiment(&self.experiment)?;
            let found = self.found.retargeted(&experiment, certificate)?;
            let (origin, answers) = (self.origin.clone(), self.answers.clone());
            Ok(Tuning { found, experiment, origin, answers })
        })
    }

    /// Writes the page of `abstain tune --report`.
    fn page(
        &self,
        py: Python<'_>,
        artifact: &Bound<'_, Artifact>,
        path: PathBuf,
        title: String,
        class_names: Option<Vec<String>>,
    ) -> PyResult<()> {
        let heading = Heading { title, class_names };
        let artifact = &artifact.get().inner;
        work(py, None, |_| {
            let report = &*self.report_of(artifact);
            heading.check(report.classes)?;
            let Heading { title, class_names } = heading;
            let page = TunePage {
                report,
                delta: self.experiment.delta,
                measured_on: title.clone(),
                title,
                class_names,
                provenance: page::provenance(),
                json: serde_json::json!({ "report": report, "artifact": artifact }),
                ..TunePage::new(&self.found, artifact, &self.answers, self.experiment.replicates)
            };
            let html = page.html().map_err(page::failure)?;
            page::write(&path, &html)
        })
    }
}
