//! Tune methods on some rows, measure them on others, choose, certify.

use super::choose::Candidates;
use super::report::{
    AtTarget, Choice, Curve, MethodLine, MetricValue, NotCertified, Problem, Reason, TuneReport,
};
use super::request::{Division, TuneRequest};
use super::result::{Provenance, TuneResult, TunedOn};
use crate::breakdown::{Breakdown, BrokenDownBy, Groups};
use crate::certify::{certify_curve, reference_of};
use crate::copies::{self, CountedOnce};
use crate::error::LabError;
use crate::known::{KnownRows, check_loss};
use crate::measured::LogitFacts;
use crate::rows::{Answers, Collected, Select, Wanted, collect, labels_of};
use crate::split::{Holdout, Split};
use crate::statistics::{Spread, mean};
use crate::target::Target;
use crate::threshold::Judged;
use crate::warning::{self, Warning};
use abstain::certify::{Certificate, Certifier, Pilot};
use abstain::interval::Compared;
use abstain::metric::Direction;
use abstain::monitor::Reference;
use abstain::{
    Artifact, Error, Estimator, Fallback, Interval, Losses, Method, Metric, Objective, RcCurve,
    RowSource, Threshold, Tuned, Undefined,
    internal::{Candidate, Clusters, CrossFitted, Folds, Profiles, RowSketch},
};
use std::borrow::Cow;

/// How far tuning has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Steps done.
    pub done: usize,
    /// Steps in all.
    pub all: usize,
    /// The method that is being tuned; `None` while methods are measured.
    pub method: Option<Method>,
}

/// A method, and the result of tuning it.
pub type Attempt = (Method, Result<Tuned, Error>);

/// A method, the result of tuning it, and the confidences of the tuning rows; nothing if the rows were
/// not cross-fitted.
pub(super) type Fitted = (Method, Result<(Tuned, Option<TuningRows>), Error>);

/// The confidences of rows that tuned.
#[derive(Debug, Clone)]
pub(super) struct TuningRows {
    /// Each by an estimator that has not seen it.
    pub(super) out_of_fold: Vec<f64>,
    /// Each by the estimator that all of them tuned.
    pub(super) in_sample: Vec<f64>,
}

/// One split: what was tuned, and the confidences on the test rows.
#[derive(Debug, Clone)]
pub struct Run {
    /// The methods in the order of [`TuneReport::methods`], and the results of tuning them.
    pub tuned: Vec<Attempt>,
    /// The confidences of each of them; MSP's where tuning failed.
    pub confidences: Vec<Vec<f64>>,
    /// The losses of the test rows.
    pub losses: Losses,
    /// These rows among those of their source; `None` if they are all of them.
    pub rows: Option<Vec<usize>>,
    /// The index of the chosen method in `tuned`; MSP's if the choice fell back.
    chosen: usize,
    /// All test rows under the chosen estimator, where the methods were compared on a sample of them.
    whole: Option<ChosenRows>,
    /// The labels and predictions of all rows of that source.
    pub answers: Answers,
    /// What the tuning rows say of the chosen estimator, each measured without having tuned it: where to
    /// look for a threshold to certify.
    pub pilot: Option<Pilot>,
    /// The names of the classes, and the groups of all rows of that source.
    pub names: RowNames,
    /// Of the test rows those that certify, if some belong together: one of each.
    pub certifying: Option<Vec<usize>>,
}

/// All test rows under the chosen estimator.
#[derive(Debug, Clone)]
struct ChosenRows {
    confidences: Vec<f64>,
    losses: Losses,
    /// The rows among those of their source; `None` if they are all of them.
    rows: Option<Vec<usize>>,
}

/// What the rows of a source are called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowNames {
    /// The names of the classes.
    pub classes: Option<Vec<String>>,
    /// The group of each row.
    pub groups: Option<Groups>,
}

impl RowNames {
    fn of(source: &dyn RowSource) -> Self {
        RowNames {
            classes: source.class_names().map(<[String]>::to_vec),
            groups: source.groups().map(Groups::new),
        }
    }
}

/// Methods that were tuned, and measured on some rows.
struct Measurement {
    run: Run,
    choice: Choice,
    /// The rows of the source, and those that tuned.
    rows: usize,
    tuning_rows: usize,
    folds: Option<usize>,
    /// Of a cross-fit, the confidences of each method on the rows that tuned it.
    in_sample: Vec<Vec<f64>>,
    /// The metrics of each method on each split, if there are several splits.
    splits: Vec<Vec<Measures>>,
    warnings: Vec<Warning>,
    tuned_on: TunedOn,
    /// The fingerprint of the set that was measured on, and a sample of it unless all of it tuned.
    measured_on: (Option<String>, Option<RowSketch>),
}

impl Measurement {
    /// The report and the artifact of rows that tuned.
    fn conclude(
        self,
        request: &TuneRequest,
        source: &dyn RowSource,
        steps: &mut Steps<'_>,
    ) -> Result<TuneResult, LabError> {
        let report = report(request, source.classes(), &self, steps)?;
        let provenance = Provenance::new(request, source, self.tuned_on, self.measured_on);
        Ok(TuneResult::new(request.clone(), report, self.run, provenance))
    }
}

/// Tunes on the rows of a source, and measures on them: cross-fitted, or on those that a hold-out leaves.
pub fn tune(
    request: &TuneRequest,
    source: &mut dyn RowSource,
    on_step: &mut dyn FnMut(Step),
) -> Result<TuneResult, LabError> {
    request.check()?;
    let request = &request.for_rows(source)?;
    let mut steps = Steps::new(request, on_step);
    let found = match request.division() {
        Division::CrossFit => tune_cross_fitted(request, source, &mut steps),
        Division::Split(holdout) => tune_split(request, source, holdout, &mut steps),
        Division::Fixed(method) => measure_fixed(request, source, method),
    };
    found?.conclude(request, source, &mut steps)
}

/// Tunes on all rows, and measures each by estimators that have not seen it. The source is read once.
fn tune_cross_fitted(
    request: &TuneRequest,
    source: &mut dyn RowSource,
    steps: &mut Steps<'_>,
) -> Result<Measurement, LabError> {
    let rows = labels_of(source)?.len();
    let sample = request.sample(rows);
    let plan = request.plan();
    let select = sample.as_deref().map_or(Select::All, Select::Rows);
    let profiles = Some((&plan, select));
    let pass = Wanted { profiles, predictions: true, fingerprint: true, ..Wanted::default() };
    let mut collected = collect(source, &pass)?;
    let warnings = rows_warnings(&collected, source, request);
    let tuned_on = TunedOn::take(&mut collected);
    let predictions = std::mem::take(&mut collected.predictions);
    let clusters = request.clusters(source, &std::mem::take(&mut collected.keys));
    let mut tuning = collected.profiles.ok_or(Error::NoRows)?;
    keep_together(&mut tuning, clusters.as_ref(), sample.as_deref());
    let folds = request.tuner.folds(&tuning, request.folds);
    let folds = folds.map_err(|_| LabError::TooFewToCrossFit { rows: tuning.rows() })?;
    let fitted = fit_methods(request, &tuning, Some(&folds), steps)?;
    let (choice, pilot) = Candidates { request, fitted: &fitted, tuning: &tuning }.choose()?;
    let baseline = tuning.confidences(&[Estimator::MSP])?.swap_remove(0);
    let (mut tuned, mut confidences, mut in_sample) = (Vec::new(), Vec::new(), Vec::new());
    for (method, result) in fitted {
        let (result, rows) = match result {
            Ok((tuned, rows)) => (Ok(tuned), rows),
            Err(error) => (Err(error), None),
        };
        tuned.push((method, result));
        // MSP where tuning failed, with the reason in its line.
        let rows = rows.unwrap_or_else(|| TuningRows {
            out_of_fold: baseline.clone(),
            in_sample: baseline.clone(),
        });
        confidences.push(rows.out_of_fold);
        in_sample.push(rows.in_sample);
    }
    let answers = Answers { labels: labels_of(source)?.clone(), predictions };
    let (losses, names) = (tuning.losses(), RowNames::of(source));
    let chosen = choice.index(tuned.iter().map(|(method, _)| *method));
    let tuning_rows = tuning.rows();
    let run = {
        // Every row tuned: none certifies.
        let (rows, whole, certifying) = (sample, None, None);
        Run { tuned, confidences, losses, rows, chosen, whole, answers, pilot, names, certifying }
    };
    Ok(Measurement {
        run,
        choice,
        rows,
        tuning_rows,
        folds: Some(folds.count()),
        in_sample,
        splits: Vec::new(),
        warnings,
        measured_on: (tuned_on.fingerprint.clone(), None),
        tuned_on,
    })
}

/// Measures a method that rows decide nothing about, on all of them. The source is read once.
fn measure_fixed(
    request: &TuneRequest,
    source: &mut dyn RowSource,
    method: Method,
) -> Result<Measurement, LabError> {
    let mut tuned = Vec::new();
    let others = Some(method).filter(|method| *method != Method::MSP);
    for method in [Method::MSP].into_iter().chain(others) {
        tuned.push((method, Ok(untuned(method, request.tuner.objective)?)));
    }
    let estimators = estimators_of(&tuned);
    let choice = Choice {
        method,
        estimator: estimators.last().cloned().unwrap_or(Estimator::MSP),
        reason: if others.is_some() { Reason::AsRequested } else { Reason::OnlyMsp },
        decided_by: request.deciding_metric(),
        gain: None,
        tuned_value: None,
        tuned_baseline: None,
    };
    let test = TestRows::new(request, labels_of(source)?.len(), None);
    let mut collected = collect(source, &test.wanted(&estimators, &choice.estimator))?;
    let warnings = rows_warnings(&collected, source, request);
    let measured_on = measured_on(&mut collected);
    let clusters = request.clusters(source, &std::mem::take(&mut collected.keys));
    // No row tuned, so that there is none to recognise.
    let tuned_on = TunedOn { scale: collected.facts.scale(), ..TunedOn::default() };
    Ok(Measurement {
        rows: collected.rows,
        run: Run::new(tuned, &choice, collected, source, test, None)?
            .certified_by(clusters.as_ref(), request.tuner.seed),
        choice,
        tuning_rows: 0,
        folds: None,
        in_sample: Vec::new(),
        splits: Vec::new(),
        warnings,
        tuned_on,
        measured_on,
    })
}

/// A method without parameters, which no rows tuned.
fn untuned(method: Method, objective: Objective) -> Result<Tuned, Error> {
    let estimator: Estimator = method.to_string().parse()?;
    let best = Candidate { estimator: estimator.clone(), value: None };
    let (surface, fell_back) = (Vec::new(), false);
    Ok(Tuned { method, objective, estimator, best, baseline: None, fell_back, surface })
}

/// Tunes on a random part of some rows, and measures on the others.
///
/// The source is read once more than there are splits: a pass collects the confidences on the test
/// rows of one split and the profiles of the tuning rows of the next, so that memory holds neither
/// the rows nor the profiles of all of them.
fn tune_split(
    request: &TuneRequest,
    source: &mut dyn RowSource,
    holdout: Holdout,
    steps: &mut Steps<'_>,
) -> Result<Measurement, LabError> {
    let rows = labels_of(source)?.len();
    let split = |index, clusters: Option<&Clusters>| {
        let seed = request.of_split(index).tuner.seed;
        Split::random(rows, clusters, holdout, seed).ok_or(LabError::CannotSplit { rows, holdout })
    };
    let plan = request.plan();
    // Of many splits only two are in memory: the one that is measured, and the next.
    let mut clusters = request.clusters(source, &[]);
    let mut next = split(0, clusters.as_ref())?;
    let first_pass = |split: &Split, source: &mut dyn RowSource| {
        let profiles = Some((&plan, Select::Rows(&split.tuning)));
        collect(source, &Wanted { profiles, fingerprint: true, ..Wanted::default() })
    };
    let mut collected = first_pass(&next, source)?;
    let found = request.clusters(source, &collected.keys);
    if found != clusters {
        // Only now are copies known, which may be on both sides: another split, and another reading.
        clusters = found;
        next = split(0, clusters.as_ref())?;
        collected = first_pass(&next, source)?;
    }
    let mut next = Some(next);
    request.check_certifying(&collected)?;
    let mut warnings = rows_warnings(&collected, source, request);
    // Of many rows they are large, and not needed any more.
    collected.keys = Vec::new();
    // Among all rows are those that measure; those that tuned are refused before.
    let measured_rows = std::mem::take(&mut collected.sketch.rounded).finished();
    let tuned_on = TunedOn::take(&mut collected);
    let mut profiles = collected.profiles;
    let (mut first, mut target) = (None, None);
    let mut splits = Vec::new();
    for index in 0..request.splits {
        let (current, mut tuning) = next.take().zip(profiles.take()).ok_or(Error::NoRows)?;
        keep_together(&mut tuning, clusters.as_ref(), Some(&current.tuning));
        let (tuned, choice, pilot) = fit_and_choose(&request.of_split(index), &tuning, steps)?;
        if index + 1 < request.splits {
            next = Some(split(index + 1, clusters.as_ref())?);
        }
        // One pass: the confidences on the test rows, and the profiles of the next split's tuning rows.
        let estimators = estimators_of(&tuned);
        let test = TestRows::new(&request.of_split(index), rows, Some(current.test));
        let wanted = Wanted {
            profiles: next.as_ref().map(|split| (&plan, Select::Rows(&split.tuning))),
            predictions: index == 0,
            fingerprint: false,
            ..test.wanted(&estimators, &choice.estimator)
        };
        let mut collected = collect(source, &wanted)?;
        profiles = collected.profiles.take();
        let of_test =
            clusters.as_ref().zip(test.all.as_ref()).map(|(clusters, rows)| clusters.select(rows));
        let run = Run::new(tuned, &choice, collected, source, test, pilot)?
            .certified_by(of_test.as_ref(), request.tuner.seed);
        // The same target for all splits, or their mean would mean nothing.
        let target = *target.get_or_insert_with(|| request.target_of(&run.losses));
        if request.splits > 1 {
            splits.push(measures(&run, target)?);
        }
        if index == 0 {
            first = Some((run, tuning.rows(), choice));
        }
    }
    let (run, tuning_rows, choice) = first.ok_or(Error::NoRows)?;
    // The predictions came with the second pass.
    let Answers { labels, predictions } = &run.answers;
    warnings.extend(warning::of_labels(labels, predictions, source.classes()));
    let measured_on = (tuned_on.fingerprint.clone(), Some(measured_rows));
    let folds = None;
    Ok(Measurement {
        run,
        choice,
        rows,
        tuning_rows,
        folds,
        in_sample: Vec::new(),
        splits,
        warnings,
        tuned_on,
        measured_on,
    })
}

/// Tunes on all rows of one source, and measures on those of another; each is read once.
pub fn tune_with_test(
    request: &TuneRequest,
    source: &mut dyn RowSource,
    test: &mut dyn RowSource,
    on_step: &mut dyn FnMut(Step),
) -> Result<TuneResult, LabError> {
    request.check()?;
    if request.holdout.is_some() || request.splits > 1 {
        return Err(LabError::SplitWithTest);
    }
    check_loss(source.loss(), 2)?;
    if source.has_extra() != test.has_extra() {
        return Err(LabError::ExtraOfOneSet);
    }
    if let (Some(tuned), Some(floor)) = (source.encoding().floor(), test.encoding().floor())
        && tuned != floor
    {
        return Err(LabError::OtherFloor { tuned });
    }
    let request = &request.for_rows(source)?;
    let (found, expected) = (test.classes(), source.classes());
    if found != expected {
        return Err(LabError::OtherRowClasses { found, expected });
    }
    let plan = request.plan();
    let mut steps = Steps::new(request, on_step);
    let rows = labels_of(source)?.len();
    let sample = request.sample(rows);
    let profiles = Some((&plan, sample.as_deref().map_or(Select::All, Select::Rows)));
    let first_pass = Wanted { profiles, fingerprint: true, ..Wanted::default() };
    let mut first = collect(source, &first_pass)?;
    let mut warnings = rows_warnings(&first, source, request);
    let tuned_on = TunedOn::take(&mut first);
    let clusters = request.clusters(source, &std::mem::take(&mut first.keys));
    let mut tuning = first.profiles.ok_or(Error::NoRows)?;
    keep_together(&mut tuning, clusters.as_ref(), sample.as_deref());
    let (tuned, choice, pilot) = fit_and_choose(request, &tuning, &mut steps)?;
    let measured = TestRows::new(request, labels_of(test)?.len(), None);
    let estimators = estimators_of(&tuned);
    let mut collected = collect(test, &measured.wanted(&estimators, &choice.estimator))?;
    request.check_certifying(&collected)?;
    if collected.fingerprints.labelled == tuned_on.fingerprint {
        return Err(LabError::TestRowsTuned);
    }
    let known = KnownRows::of_sketches(&tuned_on.sketch);
    if request.delta.is_some() && known.are_among(&collected.sketch) {
        return Err(LabError::CertifyingRowsShared);
    }
    warnings.extend(known.warning(&collected.sketch));
    let measured_on = measured_on(&mut collected);
    for warning in rows_warnings(&collected, test, request) {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    let clusters = request.clusters(test, &std::mem::take(&mut collected.keys));
    let found = Measurement {
        run: Run::new(tuned, &choice, collected, test, measured, pilot)?
            .certified_by(clusters.as_ref(), request.tuner.seed),
        choice,
        rows,
        tuning_rows: tuning.rows(),
        folds: None,
        in_sample: Vec::new(),
        splits: Vec::new(),
        warnings,
        tuned_on,
        measured_on,
    };
    found.conclude(request, source, &mut steps)
}

/// The fingerprint of rows that measure, and a sample of them.
fn measured_on(collected: &mut Collected) -> (Option<String>, Option<RowSketch>) {
    let rounded = std::mem::take(&mut collected.sketch.rounded).finished();
    (collected.fingerprints.labelled.take(), Some(rounded))
}

/// The test rows, and those on which all methods are compared.
struct TestRows {
    /// All test rows among those of their source; `None` if they are all of them.
    all: Option<Vec<usize>>,
    /// A random sample of them, if they are too many to compare all methods on each.
    compared: Option<Vec<usize>>,
}

impl TestRows {
    /// Of a source of so many rows, these test.
    fn new(request: &TuneRequest, rows: usize, all: Option<Vec<usize>>) -> Self {
        let count = all.as_ref().map_or(rows, Vec::len);
        let compared = request.compared(count).map(|sample| match &all {
            Some(all) => sample.into_iter().map(|index| all[index]).collect(),
            None => sample,
        });
        TestRows { all, compared }
    }

    /// What is learned of rows that measure some estimators, of which one was chosen.
    fn wanted<'a>(&'a self, estimators: &'a [Estimator], chosen: &'a Estimator) -> Wanted<'a> {
        let all = self.all.as_deref().map_or(Select::All, Select::Rows);
        let compared = self.compared.as_deref().map(Select::Rows);
        Wanted {
            confidences: Some((estimators, compared.unwrap_or(all))),
            whole: compared.map(|_| (chosen, all)),
            predictions: true,
            fingerprint: true,
            ..Wanted::default()
        }
    }
}

/// What looks wrong with the rows of a pass.
fn rows_warnings(
    collected: &Collected,
    source: &dyn RowSource,
    request: &TuneRequest,
) -> Vec<Warning> {
    let logits = LogitFacts::of(source, collected);
    let mut found = warning::of_logits(&logits, source.labels(), &collected.predictions, None);
    warning::heed(&mut found, request.repeats);
    found
}

/// Keeps tuning rows that belong together in one fold; they are some of the rows of the clusters, or all.
fn keep_together(tuning: &mut Profiles, clusters: Option<&Clusters>, rows: Option<&[usize]>) {
    if let Some(clusters) = clusters {
        tuning.keep_together(rows.map_or(clusters.clone(), |rows| clusters.select(rows)));
    }
}

/// The values of some rows, or of all.
fn select<T: Clone>(all: &[T], rows: Option<&[usize]>) -> Vec<T> {
    match rows {
        Some(rows) => rows.iter().filter_map(|&row| all.get(row).cloned()).collect(),
        None => all.to_vec(),
    }
}

/// Counts the steps of tuning: each method of each split, and then those of measuring.
struct Steps<'a> {
    done: usize,
    all: usize,
    on_step: &'a mut dyn FnMut(Step),
}

impl<'a> Steps<'a> {
    fn new(request: &TuneRequest, on_step: &'a mut dyn FnMut(Step)) -> Self {
        Steps { done: 0, all: (request.splits + 1) * (request.methods.len() + 1), on_step }
    }

    fn tuning(&mut self, method: Method) {
        (self.on_step)(Step { done: self.done, all: self.all, method: Some(method) });
        self.done = (self.done + 1).min(self.all);
    }

    fn measuring(&mut self, measured: usize, all: usize) {
        let done = self.done + (self.all - self.done) * measured / all.max(1);
        (self.on_step)(Step { done, all: self.all, method: None });
    }
}

/// Tunes the baseline and every method of the request, cross-fitted where there are folds.
fn fit_methods(
    request: &TuneRequest,
    tuning: &Profiles,
    folds: Option<&Folds>,
    steps: &mut Steps<'_>,
) -> Result<Vec<Fitted>, Error> {
    let others = request.methods.iter().filter(|method| **method != Method::MSP);
    let mut fitted = Vec::new();
    for &method in [&Method::MSP].into_iter().chain(others) {
        steps.tuning(method);
        let result = match folds {
            Some(folds) => request.tuner.cross_fit(method, tuning, folds).map(
                |CrossFitted { tuned, out_of_fold, in_sample }| {
                    (tuned, Some(TuningRows { out_of_fold, in_sample }))
                },
            ),
            None => request.tuner.tune(method, tuning).map(|tuned| (tuned, None)),
        };
        // A failure concerns one method alone; an interruption ends all of them.
        if let Err(Error::Stopped) = result {
            return Err(Error::Stopped);
        }
        fitted.push((method, result));
    }
    Ok(fitted)
}

/// Tunes and chooses on the tuning rows alone: rows that measure have no part in it.
fn fit_and_choose(
    request: &TuneRequest,
    tuning: &Profiles,
    steps: &mut Steps<'_>,
) -> Result<(Vec<Attempt>, Choice, Option<Pilot>), Error> {
    // Other rules do not cross-fit; they are requested for what they are.
    let folds = match request.tuner.fallback {
        Fallback::Veto(_) => request.tuner.folds(tuning, request.folds).ok(),
        _ => None,
    };
    let fitted = fit_methods(request, tuning, folds.as_ref(), steps)?;
    let (choice, pilot) = Candidates { request, fitted: &fitted, tuning }.choose()?;
    let attempt = |(method, fitted): Fitted| (method, fitted.map(|(tuned, _)| tuned));
    Ok((fitted.into_iter().map(attempt).collect(), choice, pilot))
}

/// The estimator of each attempt; MSP where tuning failed, with the reason in its line.
fn estimators_of(attempts: &[Attempt]) -> Vec<Estimator> {
    let estimator = |tuned: &Tuned| tuned.estimator.clone();
    attempts.iter().map(|(_, tuned)| tuned.as_ref().map_or(Estimator::MSP, estimator)).collect()
}

impl Run {
    fn new(
        tuned: Vec<Attempt>,
        choice: &Choice,
        mut collected: Collected,
        source: &dyn RowSource,
        test: TestRows,
        pilot: Option<Pilot>,
    ) -> Result<Self, Error> {
        let predictions = std::mem::take(&mut collected.predictions);
        let whole = std::mem::take(&mut collected.whole);
        let whole_losses = std::mem::take(&mut collected.whole_losses);
        let (confidences, losses) = collected.into_confidences()?;
        let (rows, whole) = match test.compared {
            None => (test.all, None),
            Some(sample) => {
                let losses = Losses::new(whole_losses)?;
                let whole = ChosenRows { confidences: whole, losses, rows: test.all };
                (Some(sample), Some(whole))
            }
        };
        let chosen = choice.index(tuned.iter().map(|(method, _)| *method));
        let answers = Answers { labels: labels_of(source)?.clone(), predictions };
        let (names, certifying) = (RowNames::of(source), None);
        Ok(Run {
            tuned,
            confidences,
            losses,
            rows,
            chosen,
            whole,
            answers,
            pilot,
            names,
            certifying,
        })
    }

    /// The same with one row of each cluster of the test rows to certify.
    fn certified_by(mut self, clusters: Option<&Clusters>, seed: u64) -> Self {
        // The estimator was chosen before these rows were looked at.
        let (confidences, losses, _) = self.of_choice();
        let pick = |clusters| copies::one_of_each(clusters, confidences, losses.values(), seed);
        self.certifying = clusters.map(pick);
        self
    }

    /// The confidences of the chosen estimator and the losses of the rows that certify.
    pub(super) fn to_certify(&self) -> (Cow<'_, [f64]>, Cow<'_, Losses>) {
        let (confidences, losses, _) = self.of_choice();
        match &self.certifying {
            None => (confidences.into(), Cow::Borrowed(losses)),
            Some(rows) => {
                let picked: Vec<f64> = rows.iter().map(|&row| confidences[row]).collect();
                (picked.into(), Cow::Owned(losses.select(rows)))
            }
        }
    }

    /// How many rows certify, where some belong together.
    pub(super) fn counted(&self, seed: u64) -> Option<CountedOnce> {
        let (rows, counted) = (self.test_losses().values().len(), self.certifying.as_ref()?.len());
        Some(CountedOnce { rows, counted, seed })
    }

    /// The confidences, the losses and the places of all test rows under the chosen estimator.
    fn of_choice(&self) -> (&[f64], &Losses, Option<&[usize]>) {
        match &self.whole {
            Some(whole) => (&whole.confidences, &whole.losses, whole.rows.as_deref()),
            None => (&self.confidences[self.chosen], &self.losses, self.rows.as_deref()),
        }
    }

    /// The losses of all test rows.
    pub(super) fn test_losses(&self) -> &Losses {
        self.of_choice().1
    }

    /// The curve of the chosen estimator on all test rows.
    pub(super) fn curve_of_choice(&self) -> Result<RcCurve, Error> {
        let (confidences, losses, _) = self.of_choice();
        RcCurve::new(confidences, losses)
    }

    /// What a threshold of the chosen estimator accepts in each predicted class and group of the test
    /// rows.
    pub(super) fn breakdown(&self, at: f64) -> Option<Breakdown> {
        // Only test rows have confidences.
        let (confidences, losses, rows) = self.of_choice();
        let predictions = select(&self.answers.predictions, rows);
        let groups = self.names.groups.as_ref();
        let groups = groups.map(|groups| rows.map_or(groups.clone(), |rows| groups.select(rows)));
        let by = BrokenDownBy {
            predictions: Some(&predictions),
            class_names: self.names.classes.as_deref(),
            groups: groups.as_ref(),
            weights: None,
        };
        Breakdown::new(confidences, losses, Some(&Threshold::given(at).into()), by)
    }

    /// What the certified threshold, or that of the target, accepts.
    pub(super) fn breakdown_at(
        &self,
        certificate: Option<&Certificate>,
        at_target: Option<AtTarget>,
    ) -> Option<Breakdown> {
        let certified = certificate.map(|certificate| certificate.threshold);
        self.breakdown(certified.or(at_target.map(|found| found.threshold))?)
    }

    /// The confidences of the chosen estimator, and what the predictions cost.
    pub(super) fn judged<'a>(&'a self, loss: &'a str) -> Judged<'a> {
        let (confidences, losses, _) = self.of_choice();
        Judged { confidences, losses, weights: None, loss }
    }

    /// What the rows of a certified threshold look like to the chosen estimator.
    pub(super) fn reference(&self, artifact: &Artifact) -> Option<Reference> {
        let predictions = select(&self.answers.predictions, self.of_choice().2);
        let predictions = select(&predictions, self.certifying.as_deref());
        let (confidences, losses) = self.to_certify();
        reference_of(artifact, &confidences, &losses, Some(&predictions)).ok().flatten()
    }

    /// The confidences of each method.
    pub(super) fn columns(&self) -> Vec<&[f64]> {
        self.confidences.iter().map(|column| &column[..]).collect()
    }
}

/// The metrics of a method in a table of tuning.
struct Measures {
    naurc: Option<f64>,
    aurc: Option<f64>,
    auroc: Option<f64>,
    coverage: Option<f64>,
    gain: Option<f64>,
}

/// The metrics of each method on the test rows of a split.
fn measures(run: &Run, target: Target) -> Result<Vec<Measures>, Error> {
    let coverage = target.metric()?;
    let mut all: Vec<Measures> = Vec::new();
    for confidences in &run.confidences {
        let curve = RcCurve::new(confidences, &run.losses)?;
        let value = |metric: Metric| metric.evaluate(&curve).ok();
        let naurc = value(Metric::NAURC);
        let baseline = all.get(TuneReport::BASELINE).map_or(naurc, |baseline| baseline.naurc);
        all.push(Measures {
            naurc,
            aurc: value(Metric::AURC),
            auroc: value(Metric::AUROC),
            coverage: value(coverage),
            gain: baseline.zip(naurc).map(|(baseline, naurc)| baseline - naurc),
        });
    }
    Ok(all)
}

fn report(
    request: &TuneRequest,
    classes: usize,
    found: &Measurement,
    steps: &mut Steps<'_>,
) -> Result<TuneReport, LabError> {
    let Measurement { run, splits, .. } = found;
    let losses = &run.losses;
    let test_losses = run.test_losses();
    let target = request.target_of(test_losses);
    let deciding = request.deciding_metric();
    let metrics = [Metric::NAURC, Metric::AURC, Metric::AUROC, target.metric()?, deciding];
    let (intervals, columns) = (request.intervals(), run.columns());
    let all = intervals.steps(columns.len());
    steps.measuring(0, all);
    let mut on_step = |done: usize| steps.measuring(done, all);
    let mut compared = intervals.compare(&metrics, &columns, losses, &mut on_step)?;
    if found.folds.is_some() {
        of_fits_on_all_rows(&mut compared, &metrics, &found.in_sample, losses)?;
    }
    let better = |difference: Interval| match deciding.better() {
        Direction::Lower => negated(difference),
        Direction::Higher => difference,
    };
    let (mut methods, mut gains) = (Vec::new(), Vec::new());
    for (index, ((method, tuned), compared)) in run.tuned.iter().zip(&compared).enumerate() {
        let [naurc, aurc, auroc, coverage, decides] = &compared[..] else {
            unreachable!("one comparison per metric")
        };
        gains.push(decides.difference.ok().map(better));
        // Undefined in one split, a metric has no mean over them.
        let value = |interval: Result<Interval, Undefined>, of: fn(&Measures) -> Option<f64>| {
            let all = splits.iter().map(|split| of(&split[index]));
            let spread = if splits.is_empty() { None } else { Spread::of_all(all) };
            MetricValue { interval: interval.ok(), spread }
        };
        methods.push(MethodLine {
            method: *method,
            estimator: tuned.as_ref().ok().map(|tuned| tuned.estimator.clone()),
            fell_back: tuned.as_ref().is_ok_and(|tuned| tuned.fell_back),
            problem: Problem::of(tuned, classes),
            naurc: value(naurc.value, |measures| measures.naurc),
            aurc: value(aurc.value, |measures| measures.aurc),
            auroc: value(auroc.value, |measures| measures.auroc),
            coverage: value(coverage.value, |measures| measures.coverage),
            gain: value(naurc.difference.map(negated), |measures| measures.gain),
        });
    }
    let mut choice = found.choice.clone();
    let index = methods.iter().position(|line| line.method == choice.method);
    choice.measured(index.and_then(|index| gains[index]));
    let before = RcCurve::new(&run.confidences[TuneReport::BASELINE], losses)?;
    let after = RcCurve::new(&run.confidences[run.chosen], losses)?;
    let whole = run.curve_of_choice()?;
    let at_target = AtTarget::new(target, &whole);
    let certifier = request.delta.map(|delta| Certifier {
        procedure: request.procedure,
        pilot: run.pilot.clone(),
        ..target.certifier(delta)
    });
    let certify = |certifier: Certifier| {
        if run.certifying.is_none() {
            return certify_curve(&certifier, &whole);
        }
        let (confidences, losses) = run.to_certify();
        certify_curve(&certifier, &RcCurve::new(&confidences, &losses)?)
    };
    let certified = certifier.map(certify).transpose()?;
    let (certificate, infeasible) = match certified {
        Some(Ok(certificate)) => (Some(certificate), None),
        Some(Err(infeasible)) => (None, Some(NotCertified(infeasible))),
        None => (None, None),
    };
    let mut warnings = found.warnings.clone();
    warnings.extend(warning::of_confidences(&run.confidences[run.chosen]));
    Ok(TuneReport {
        rows: found.rows,
        tuning_rows: found.tuning_rows,
        test_rows: test_losses.values().len(),
        compared_rows: losses.values().len(),
        folds: found.folds,
        classes,
        accuracy: 1.0 - mean(test_losses.values()),
        zero_one: test_losses.is_zero_one(),
        splits: request.splits,
        seed: request.tuner.seed,
        target,
        objective: request.tuner.objective,
        methods,
        choice,
        before: Curve::of(&before),
        after: Curve::of(&after),
        at_target,
        breakdown: run.breakdown_at(certificate.as_ref(), at_target),
        counted: request.delta.and_then(|_| run.counted(request.tuner.seed)),
        certificate,
        infeasible,
        warnings,
    })
}

/// Makes differences to the baseline that were cross-fitted those of the estimators tuned on all rows.
fn of_fits_on_all_rows(
    compared: &mut [Vec<Compared>],
    metrics: &[Metric],
    in_sample: &[Vec<f64>],
    losses: &Losses,
) -> Result<(), Error> {
    let mut baseline = Vec::new();
    for (index, (compared, column)) in compared.iter_mut().zip(in_sample).enumerate() {
        let curve = RcCurve::new(column, losses)?;
        let values: Vec<_> = metrics.iter().map(|metric| metric.evaluate(&curve)).collect();
        if index == TuneReport::BASELINE {
            baseline = values;
            continue;
        }
        for ((compared, value), baseline) in compared.iter_mut().zip(values).zip(&baseline) {
            if let (Ok(value), Ok(baseline)) = (value, baseline) {
                compared.difference =
                    compared.difference.map(|found| found.of_fit_on_all_rows(value - baseline));
            }
        }
    }
    Ok(())
}

/// The interval of the negative.
fn negated(interval: Interval) -> Interval {
    let Interval { estimate, low, high, .. } = interval;
    Interval { estimate: 0.0 - estimate, low: 0.0 - high, high: 0.0 - low, ..interval }
}
