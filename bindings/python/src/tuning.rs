//! `abstain.tune` and `abstain.label_free`.

use crate::arrays::{GivenInput, GivenLoss, GivenTarget, Matrix, Rows, encoding, labels};
use crate::artifact::{Artifact, ThresholdOptions};
use crate::errors::Failure;
use crate::page::{self, Heading, plain};
use crate::work::work;
use abstain::{Encoding, MemoryRows, RowSource, Tuner};
use abstain_lab::{
    Costs, Holdout, Repeats, Step, Target, TuneRequest, TuneResult, Unlabelled, check_loss,
    encoding_beside,
};
use pyo3::prelude::*;
use std::path::PathBuf;

/// The keywords of `abstain.tune`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    methods: Vec<String>,
    objective: String,
    fallback: String,
    space: String,
    target_accuracy: Option<f64>,
    target_risk: Option<f64>,
    delta: Option<f64>,
    procedure: String,
    folds: usize,
    holdout: Option<String>,
    splits: usize,
    max_rows: usize,
    replicates: Option<usize>,
    seed: u64,
    class_names: Option<Vec<String>>,
    groups: Option<Vec<String>>,
    repeats: String,
    group_folds: (Option<Vec<String>>, Option<Vec<String>>),
}

impl Options {
    fn request(&self) -> Result<TuneRequest, Failure> {
        Ok(TuneRequest {
            methods: TuneRequest::methods_by_name(&self.methods)?,
            tuner: Tuner {
                objective: self.objective.parse()?,
                space: self.space.parse()?,
                fallback: self.fallback.parse()?,
                seed: self.seed,
                ..Tuner::default()
            },
            target: target(self.target_accuracy, self.target_risk)?,
            delta: self.delta,
            procedure: self.procedure.parse()?,
            folds: self.folds,
            holdout: self.holdout.as_deref().map(holdout).transpose()?,
            splits: self.splits,
            max_rows: self.max_rows,
            repeats: repeats(&self.repeats)?,
            replicates: self.replicates,
            ..TuneRequest::default()
        })
    }
}

/// What equal rows count as, by its text.
pub(crate) fn repeats(text: &str) -> Result<Repeats, Failure> {
    text.parse().map_err(|why| Failure::Input(format!("repeats is {text}, but must be {why}")))
}

/// A hold-out by its text.
pub(crate) fn holdout(text: &str) -> Result<Holdout, Failure> {
    text.parse().map_err(|why| Failure::Input(format!("holdout is {text}, but must be {why}")))
}

/// The target, of which only one kind may be given.
pub(crate) fn target(accuracy: Option<f64>, risk: Option<f64>) -> Result<Option<Target>, Failure> {
    if accuracy.is_some() && risk.is_some() {
        return Err(Failure::Input("give target_accuracy or target_risk, not both".into()));
    }
    Ok(Target::of(accuracy, risk))
}

/// The result of tuning.
#[pyclass(frozen, module = "abstain._abstain")]
pub(crate) struct Tuning(TuneResult);

/// Refuses what does not depend on rows, before anything else is done.
#[pyfunction]
pub(crate) fn check_tuning(options: Options) -> PyResult<()> {
    Ok(options.request()?.check().map_err(Failure::from)?)
}

/// Tunes, measures, chooses, certifies.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the package's keywords")]
pub(crate) fn tune(
    py: Python<'_>,
    rows: Rows<'_>,
    target: GivenTarget<'_>,
    test: Option<(Rows<'_>, GivenTarget<'_>)>,
    unlabelled: Option<Rows<'_>>,
    loss: GivenLoss<'_>,
    input: GivenInput,
    options: Options,
    progress: Option<Py<PyAny>>,
) -> PyResult<Tuning> {
    let mut request = options.request()?;
    request.check().map_err(Failure::from)?;
    let (encoding, loss) = (encoding(&input)?, loss.loss()?);
    let matrix = rows.matrix(encoding)?;
    let tuning_labels = labels(&target, matrix.classes)?;
    let test = match &test {
        None => None,
        Some((rows, target)) => {
            let matrix = rows.matrix(encoding)?;
            Some((labels(target, matrix.classes)?, matrix))
        }
    };
    let unlabelled = unlabelled.as_ref().map(|rows| rows.matrix(encoding)).transpose()?;
    work(py, progress, |progress| {
        let reading = |done: usize, all: usize| progress.at(done, all, "reading");
        let mut on_step = |step: Step| {
            let what = step.method.map_or("measuring".into(), |m| format!("tuning {m}"));
            progress.at(step.done, step.all, &what);
        };
        // Groups are those of the rows that are measured.
        let (here, there) =
            if test.is_none() { (options.groups, None) } else { (None, options.groups) };
        let (together, together_of_test) = options.group_folds;
        let source = matrix.grouped(tuning_labels, loss.clone(), here, together)?;
        let encoding = encoding_beside(&source, encoding);
        let names = options.class_names;
        let mut source = source.with_class_names(names.clone()).on_progress(&reading);
        if let Some(matrix) = unlabelled {
            let deployment = unlabelled_rows(&Matrix { encoding, ..matrix }, request.max_rows)?.0;
            request.tuner.stack = deployment.deployment(source.classes())?;
        }
        let result = match test {
            None => abstain_lab::tune(&request, &mut source, &mut on_step)?,
            Some((labels, mut matrix)) => {
                check_loss(&loss, 2)?;
                matrix.encoding = encoding;
                let mut test =
                    matrix.grouped(labels, loss, there, together_of_test)?.with_class_names(names);
                abstain_lab::tune_with_test(&request, &mut source, &mut test, &mut on_step)?
            }
        };
        progress.at(1, 1, "done");
        Ok(Tuning(result))
    })
}

/// The label-free rule of some rows.
#[pyfunction]
pub(crate) fn label_free(
    py: Python<'_>,
    rows: Rows<'_>,
    input: GivenInput,
    max_rows: usize,
) -> PyResult<Artifact> {
    let matrix = rows.matrix(encoding(&input)?)?;
    work(py, None, |_| {
        let (rows, encoding) = unlabelled_rows(&matrix, max_rows)?;
        Ok(rows.label_free(encoding)?.artifact.into())
    })
}

/// Rows without labels, and what their numbers are.
fn unlabelled_rows(
    matrix: &Matrix<'_>,
    max_rows: usize,
) -> Result<(Unlabelled, Encoding), Failure> {
    let mut source = MemoryRows::unlabelled(matrix.logits()?, matrix.encoding);
    Ok((Unlabelled::read(&mut source, max_rows)?, source.encoding()))
}

#[pymethods]
impl Tuning {
    /// The estimator to use, with its threshold.
    fn artifact(&self) -> Artifact {
        self.0.artifact.clone().into()
    }

    /// Why a requested threshold does not exist.
    fn refusal(&self) -> Option<String> {
        self.0.refusal.map(|refusal| refusal.to_string())
    }

    /// The report of `abstain tune --json`.
    fn json(&self) -> PyResult<String> {
        page::json(&self.0.report)
    }

    /// What `abstain tune` prints.
    fn text(&self) -> String {
        plain(&abstain_report::tuning(&self.0.report))
    }

    /// Which estimator to use, and what it gains.
    fn verdict(&self) -> String {
        abstain_report::verdict(&self.0.report)
    }

    /// What is guaranteed, or why nothing is.
    fn certified(&self) -> Option<String> {
        abstain_report::certified(&self.0.report)
    }

    /// What so few rows cannot show, if that is so.
    fn few_rows(&self) -> Option<String> {
        abstain_report::few_rows(&self.0.report)
    }

    /// The risk-coverage curves of the baseline and of the estimator as an SVG.
    fn svg(&self) -> PyResult<String> {
        let figure = abstain_report::tuning_figure(&self.0.report);
        figure.svg().map_err(|error| Failure::Input(error.to_string()).into())
    }

    /// The same with another threshold, found on the rows that were measured.
    fn with_threshold(&self, py: Python<'_>, options: ThresholdOptions) -> PyResult<Tuning> {
        let request = options.request()?;
        work(py, None, |_| Ok(Tuning(self.0.with_threshold(&request)?)))
    }

    /// The same with the threshold that accepts a share of the rows that were measured.
    fn with_coverage(&self, py: Python<'_>, coverage: f64) -> PyResult<Tuning> {
        work(py, None, |_| Ok(Tuning(self.0.with_coverage(coverage)?)))
    }

    /// The same with the threshold at which errors and abstentions cost least on these rows.
    fn with_costs(&self, py: Python<'_>, costs: (f64, f64)) -> PyResult<Tuning> {
        let costs = Costs { error: costs.0, abstention: costs.1 };
        work(py, None, |_| Ok(Tuning(self.0.with_costs(&costs)?)))
    }

    /// Writes the page of `abstain tune --page`.
    fn page(
        &self,
        py: Python<'_>,
        path: PathBuf,
        title: String,
        class_names: Option<Vec<String>>,
    ) -> PyResult<()> {
        let class_names = class_names.or_else(|| self.0.artifact.class_names.clone());
        let heading = Heading { title, class_names };
        work(py, None, |_| {
            heading.check(self.0.report.classes)?;
            page::write(&path, &heading.tuning(&self.0)?)
        })
    }
}
