//! Tune methods on some rows, measure them on others, choose, certify.

use crate::source::RowSource;
use crate::split::{Holdout, Split};
use crate::statistics::{Spread, mean};
use crate::target::Target;
use abstain::certify::{Certificate, Certifier, Infeasible, Procedure};
use abstain::metric::Direction;
use abstain::{
    Bootstrap, Error, Estimator, Fallback, Interval, Losses, Method, Metric, ProfilePlan, Profiles,
    RcCurve, Tuner, Undefined,
};
use serde::{Serialize, Serializer};

/// Points of a curve in a report: enough for any picture.
const POINTS: usize = 512;

/// What to do.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// The methods; MSP, the baseline, is always among those measured.
    pub methods: Vec<Method>,
    /// How to tune.
    pub tuner: Tuner,
    /// What is asked of the answers that are kept; the usual target of the accuracy if not said.
    pub target: Option<Target>,
    /// How often a certified threshold may fail; none is certified if not said.
    pub delta: Option<f64>,
    /// By which procedure a threshold is certified.
    pub procedure: Procedure,
    /// How many rows to tune on, if there are no rows apart to measure on.
    pub holdout: Holdout,
    /// How many random splits to average over; choice and certificate are those of the first.
    pub splits: usize,
    /// The replicates of intervals; their seed is the tuner's.
    pub replicates: usize,
}

impl Default for Experiment {
    fn default() -> Self {
        Experiment {
            methods: Tuner::methods_of_the_paper(),
            tuner: Tuner::default(),
            target: None,
            delta: None,
            procedure: Procedure::default(),
            holdout: Holdout::default(),
            splits: 1,
            replicates: Bootstrap::default().replicates,
        }
    }
}

/// How far an experiment has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Steps done.
    pub done: usize,
    /// Steps in all.
    pub all: usize,
    /// The method that is tuned now; nothing while they are measured.
    pub method: Option<Method>,
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TuneReport {
    /// The rows that were tuned on.
    pub tuning_rows: usize,
    /// The rows that were measured on.
    pub test_rows: usize,
    /// The classes.
    pub classes: usize,
    /// The accuracy on the test rows, or one minus the mean loss if losses are graded.
    pub accuracy: f64,
    /// Whether every loss is 0 or 1.
    pub zero_one: bool,
    /// How many splits were averaged over.
    pub splits: usize,
    /// The seed of everything random.
    pub seed: u64,
    /// What is asked of the answers that are kept.
    pub target: Target,
    /// What was tuned for.
    pub objective: abstain::Objective,
    /// MSP first, then the methods in the order given.
    pub methods: Vec<MethodLine>,
    /// What to use.
    pub choice: Choice,
    /// The risk-coverage curve of MSP on the test rows.
    pub before: Curve,
    /// That of the choice.
    pub after: Curve,
    /// The widest threshold of the choice that meets the target on the test rows.
    pub at_target: Option<AtTarget>,
    /// The certified threshold, if one was asked for and there is one.
    pub certificate: Option<Certificate>,
    /// Why there is none, if one was asked for.
    pub infeasible: Option<Refusal>,
}

/// A threshold that meets the target on the rows it was found on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtTarget {
    /// The threshold.
    #[serde(serialize_with = "abstain::extended::serialize")]
    pub threshold: f64,
    /// The rows above it.
    pub accepted: usize,
    /// The selective risk among them.
    pub selective_risk: f64,
}

impl AtTarget {
    pub(crate) fn new(target: Target, curve: &RcCurve) -> Option<Self> {
        target.widest(curve).map(|knot| AtTarget {
            threshold: knot.threshold,
            accepted: knot.accepted,
            selective_risk: knot.selective_risk(),
        })
    }
}

/// Why nothing could be certified.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Refusal(pub Infeasible);

impl Serialize for Refusal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A method, tuned and measured.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MethodLine {
    /// The method.
    pub method: Method,
    /// What came of tuning it; nothing if that failed.
    pub estimator: Option<Estimator>,
    /// Whether it was given up for MSP.
    pub fell_back: bool,
    /// Why it could not be tuned, or was of no use.
    pub problem: Option<String>,
    /// NAURC on the test rows.
    pub naurc: MetricValue,
    /// AURC.
    pub aurc: MetricValue,
    /// AUROC.
    pub auroc: MetricValue,
    /// The share of rows that is kept at the target.
    pub kept: MetricValue,
    /// By how much its NAURC is below MSP's.
    pub gain: MetricValue,
}

impl MethodLine {
    /// Whether it is more than another name of MSP, which a method that was given up became.
    pub fn stands_alone(&self) -> bool {
        self.method == Method::MSP || (!self.fell_back && self.problem.is_none())
    }
}

/// A metric on the test rows of the first split, with its interval; over several splits, also its
/// mean and standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Default)]
pub struct MetricValue {
    /// On the first split; nothing where it is undefined.
    pub interval: Option<Interval>,
    /// Over the splits.
    pub spread: Option<Spread>,
}

/// What to use, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// The method that was a candidate.
    pub method: Method,
    /// The estimator to use: the candidate's, or MSP.
    pub estimator: Estimator,
    /// Why.
    pub reason: Reason,
    /// The metric that decided.
    pub decided_by: Metric,
    /// The target at which the choice had to keep no less than MSP, if one was named.
    pub decided_at: Option<Target>,
    /// By how much the candidate is better than MSP in it on the test rows.
    pub gain: Option<Interval>,
    /// The objective of the estimator on the tuning rows.
    pub tuned_value: Option<f64>,
    /// MSP's.
    pub tuned_baseline: Option<f64>,
}

impl Choice {
    /// How many estimators were compared on the test rows to come to it, each of which may have been
    /// chosen: MSP and the candidate, unless there was nothing to decide.
    pub fn tried(&self) -> usize {
        match self.reason {
            Reason::Confirmed | Reason::NotConfirmed | Reason::WorseAtTarget => 2,
            Reason::FellBack | Reason::AsAsked | Reason::OnlyMsp => 1,
        }
    }

    /// Which of the lines is the choice.
    pub fn place(&self, methods: &[MethodLine]) -> usize {
        if self.estimator == Estimator::MSP {
            return 0;
        }
        methods.iter().position(|line| line.method == self.method).unwrap_or(0)
    }
}

/// Why an estimator was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// Better than MSP on the test rows, surely so.
    Confirmed,
    /// Better than MSP on the tuning rows, but not surely so on the test rows: MSP.
    NotConfirmed,
    /// Surely better than MSP, but at the target MSP keeps more: MSP.
    WorseAtTarget,
    /// Not better than MSP on the tuning rows: MSP.
    FellBack,
    /// Asked for without confirmation.
    AsAsked,
    /// There was nothing else.
    OnlyMsp,
}

/// A risk-coverage curve, thinned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// Ascending.
    pub coverage: Vec<f64>,
    /// The selective risk at each coverage.
    pub selective_risk: Vec<f64>,
}

impl Curve {
    fn of(curve: &RcCurve) -> Self {
        let points = curve.thinned_points(POINTS);
        Curve {
            coverage: points.iter().map(|point| point.coverage).collect(),
            selective_risk: points.iter().map(|point| point.selective_risk).collect(),
        }
    }
}

/// What came of it, and the rows that say so.
#[derive(Debug, Clone)]
pub struct Found {
    /// What came of it.
    pub report: TuneReport,
    /// The first split.
    pub run: Run,
}

/// A method, and what came of tuning it.
pub type Attempt = (Method, Result<abstain::Tuned, Error>);

/// One split: what was tuned, and the confidences on the rows to measure on.
#[derive(Debug, Clone)]
pub struct Run {
    /// The methods in the order of [`TuneReport::methods`], and what came of tuning them.
    pub tuned: Vec<Attempt>,
    /// The confidences of each of them; MSP's where there is nothing better.
    pub confidences: Vec<Vec<f64>>,
    /// The losses.
    pub losses: Losses,
    /// Which rows of the source these are; nothing if they are all of them.
    pub rows: Option<Vec<usize>>,
}

impl Experiment {
    /// Runs it on one set of rows, split at random. `progress` is told of every step.
    ///
    /// Each split asks for the profiles of its tuning rows and then for the confidences of the tuned
    /// estimators, so that memory holds neither the rows nor the profiles of all of them.
    pub fn run<S: RowSource>(
        &self,
        source: &mut S,
        progress: &mut dyn FnMut(Step),
    ) -> Result<Found, S::Error> {
        self.check()?;
        let (rows, splits) = (source.rows(), self.splits.max(1));
        let all = (splits + 1) * (self.methods.len() + 1);
        let mut done = 0;
        let (mut first, mut target) = (None, None);
        let mut values = Vec::new();
        for index in 0..splits {
            let seed = self.tuner.seed.wrapping_add(index as u64);
            let split = Split::random(rows, self.holdout, seed).ok_or(Error::Parameter {
                name: "the number of rows",
                value: rows as f64,
                wanted: "larger than that of the tuning rows, of which there is one at least",
            })?;
            let tuning = source.profiles(&self.plan(), &split.tuning)?;
            // As if it were run alone with that seed.
            let alone = Experiment { tuner: Tuner { seed, ..self.tuner.clone() }, ..self.clone() };
            let tuned = alone.tune(&tuning, all, &mut done, progress)?;
            let run = Run::new(tuned, source, Some(split.test))?;
            // The same for all splits, or their mean would mean nothing.
            let target = *target.get_or_insert_with(|| self.target_of(&run.losses));
            if splits > 1 {
                values.push(Self::values(&run, target)?);
            }
            if index == 0 {
                first = Some((run, tuning));
            }
        }
        let (run, tuning) = first.ok_or(Error::NoRows)?;
        let mut report = self.report(&run, &tuning, (done, all), progress)?;
        spread(&mut report, &values);
        Ok(Found { report, run })
    }

    /// Runs it on rows to tune on and others to measure on.
    pub fn run_on<S: RowSource>(
        &self,
        tuning: &mut S,
        test: &mut S,
        progress: &mut dyn FnMut(Step),
    ) -> Result<Found, S::Error> {
        self.check()?;
        let (all, mut done) = (2 * (self.methods.len() + 1), 0);
        let every: Vec<usize> = (0..tuning.rows()).collect();
        let tuning = tuning.profiles(&self.plan(), &every)?;
        let tuned = self.tune(&tuning, all, &mut done, progress)?;
        let run = Run::new(tuned, test, None)?;
        let report = self.report(&run, &tuning, (done, all), progress)?;
        Ok(Found { report, run })
    }

    /// A target that the test rows themselves suggest cannot be certified on them.
    fn check(&self) -> Result<(), Error> {
        match (self.delta, self.target) {
            (Some(value), None) => Err(Error::Parameter {
                name: "delta",
                value,
                wanted: "given together with a target",
            }),
            _ => Ok(()),
        }
    }

    /// What the profiles of tuning rows must hold.
    fn plan(&self) -> ProfilePlan {
        self.tuner.plan(&self.methods)
    }

    fn tune(
        &self,
        tuning: &Profiles,
        all: usize,
        done: &mut usize,
        progress: &mut dyn FnMut(Step),
    ) -> Result<Vec<Attempt>, Error> {
        let others = self.methods.iter().filter(|method| **method != Method::MSP);
        let mut tuned = Vec::new();
        for &method in [&Method::MSP].into_iter().chain(others) {
            progress(Step { done: *done, all, method: Some(method) });
            // What went wrong with one method is said of it alone; but who stops one stops all.
            match self.tuner.tune(method, tuning) {
                Err(Error::Stopped) => return Err(Error::Stopped),
                own => tuned.push((method, own)),
            }
            *done = (*done + 1).min(all);
        }
        Ok(tuned)
    }

    /// What is asked of the answers that are kept.
    pub(crate) fn target_of(&self, losses: &Losses) -> Target {
        match self.target {
            None => Target::usual_for(losses),
            // An accuracy is there only where errors are counted.
            Some(target) if !losses.is_zero_one() => Target::Risk(target.risk()),
            Some(target) => target,
        }
    }

    pub(crate) fn bootstrap(&self) -> Bootstrap {
        Bootstrap { replicates: self.replicates, level: 0.95, seed: self.tuner.seed }
    }

    /// What decides whether a method is better: what it was tuned for, as far as that ranks rows.
    fn decisive(&self) -> Metric {
        match self.tuner.objective {
            // Of one classifier, NAURC is AURC on a scale that people can read.
            abstain::Objective::Metric(metric) if metric != Metric::AURC => metric,
            _ => Metric::NAURC,
        }
    }

    fn metrics(target: Target) -> Result<[Metric; 4], Error> {
        Ok([Metric::NAURC, Metric::AURC, Metric::AUROC, target.metric()?])
    }

    /// NAURC, AURC, AUROC, what is kept, and the gain, of each method.
    fn values(run: &Run, target: Target) -> Result<Vec<[Option<f64>; 5]>, Error> {
        let metrics = Self::metrics(target)?;
        let mut all: Vec<[Option<f64>; 5]> = Vec::new();
        for confidences in &run.confidences {
            let curve = RcCurve::new(confidences, &run.losses)?;
            let [naurc, aurc, auroc, kept] = metrics.map(|metric| metric.evaluate(&curve).ok());
            let baseline = all.first().map_or(naurc, |first| first[0]);
            let gain = baseline.zip(naurc).map(|(baseline, own)| baseline - own);
            all.push([naurc, aurc, auroc, kept, gain]);
        }
        Ok(all)
    }

    fn report(
        &self,
        run: &Run,
        tuning: &Profiles,
        (done, all): (usize, usize),
        progress: &mut dyn FnMut(Step),
    ) -> Result<TuneReport, Error> {
        let Run { tuned, confidences, losses, .. } = run;
        let target = self.target_of(losses);
        let bootstrap = self.bootstrap();
        let columns: Vec<&[f64]> = confidences.iter().map(|column| &column[..]).collect();
        let decisive = self.decisive();
        let mut metrics = Self::metrics(target)?.to_vec();
        metrics.push(decisive);
        let mut measured = |replicates: usize| {
            let done = done + (all - done) * replicates / self.replicates.max(1);
            progress(Step { done, all, method: None });
        };
        measured(0);
        let compared = bootstrap.compare(&metrics, &columns, losses, &mut measured)?;
        let better = |interval: Interval| match decisive.better() {
            Direction::Lower => negated(interval),
            Direction::Higher => interval,
        };
        let gains: Vec<Option<Interval>> =
            compared.iter().map(|own| own[4].difference.ok().map(better)).collect();
        let defined = |interval: Result<Interval, Undefined>| MetricValue {
            interval: interval.ok(),
            spread: None,
        };
        let classes = tuning.classes();
        let methods: Vec<MethodLine> = tuned
            .iter()
            .zip(&compared)
            .map(|((method, tuned), own)| MethodLine {
                method: *method,
                estimator: tuned.as_ref().ok().map(|tuned| tuned.estimator.clone()),
                fell_back: tuned.as_ref().is_ok_and(|tuned| tuned.fell_back),
                problem: problem(tuned, classes),
                naurc: defined(own[0].value),
                aurc: defined(own[1].value),
                auroc: defined(own[2].value),
                kept: defined(own[3].value),
                gain: defined(own[0].difference.map(negated)),
            })
            .collect();
        let choice = self.choose(tuned, &methods, &gains, tuning)?;
        let column = choice.place(&methods);
        let before = RcCurve::new(&confidences[0], losses)?;
        let after = RcCurve::new(&confidences[column], losses)?;
        let (certificate, infeasible) = self.certify(&after, &choice, target)?;
        Ok(TuneReport {
            tuning_rows: tuning.rows(),
            test_rows: losses.values().len(),
            classes: tuning.classes(),
            accuracy: 1.0 - mean(losses.values()),
            zero_one: losses.is_zero_one(),
            splits: self.splits.max(1),
            seed: self.tuner.seed,
            target,
            objective: self.tuner.objective,
            methods,
            choice,
            before: Curve::of(&before),
            after: Curve::of(&after),
            at_target: AtTarget::new(target, &after),
            certificate,
            infeasible,
        })
    }

    /// The certificate of the choice, or why there is none, if one was asked for.
    fn certify(
        &self,
        curve: &RcCurve,
        choice: &Choice,
        target: Target,
    ) -> Result<(Option<Certificate>, Option<Refusal>), Error> {
        let Some(delta) = self.delta else { return Ok((None, None)) };
        let (tried, procedure) = (choice.tried(), self.procedure);
        let certifier = Certifier { tried, procedure, ..target.certifier(delta) };
        Ok(match certifier.certify(curve)? {
            Ok(certificate) => (Some(certificate), None),
            Err(infeasible) => (None, Some(Refusal(infeasible))),
        })
    }

    /// The recommended method if it is among those asked for, else the one that is best on the tuning
    /// rows; MSP if it was given up there, or if the test rows do not confirm it.
    fn choose(
        &self,
        tuned: &[Attempt],
        methods: &[MethodLine],
        gains: &[Option<Interval>],
        tuning: &Profiles,
    ) -> Result<Choice, Error> {
        let objective = self.tuner.objective;
        let value = |estimator: &Estimator| {
            let one = std::slice::from_ref(estimator);
            objective.evaluate(tuning, one).map(|values| values[0].ok())
        };
        let decided_by = self.decisive();
        let chosen = |method, estimator: Estimator, reason, gain| -> Result<Choice, Error> {
            let (tuned_value, tuned_baseline) = (value(&estimator)?, value(&Estimator::MSP)?);
            let decided_at = self.target;
            Ok(Choice {
                method,
                estimator,
                reason,
                decided_by,
                decided_at,
                gain,
                tuned_value,
                tuned_baseline,
            })
        };
        let msp = |method, reason, gain| chosen(method, Estimator::MSP, reason, gain);
        let sound: Vec<&abstain::Tuned> = tuned
            .iter()
            .filter(|(method, _)| *method != Method::MSP)
            .filter_map(|(_, tuned)| tuned.as_ref().ok())
            .collect();
        let recommended = sound.iter().find(|own| own.method == Tuner::RECOMMENDED);
        let candidate = if let Some(found) = recommended {
            Some(*found)
        } else {
            let mut best: Option<(&abstain::Tuned, f64)> = None;
            for &own in sound.iter().filter(|own| !own.fell_back) {
                let Some(found) = value(&own.estimator)? else { continue };
                if best.is_none_or(|(_, least)| is_better(&objective, found, least)) {
                    best = Some((own, found));
                }
            }
            best.map(|(own, _)| own).or(sound.first().copied())
        };
        let Some(candidate) = candidate else {
            return msp(Method::MSP, Reason::OnlyMsp, None);
        };
        if candidate.fell_back {
            return msp(candidate.method, Reason::FellBack, None);
        }
        let at = methods.iter().position(|line| line.method == candidate.method);
        let gain = at.and_then(|at| gains[at]);
        let kept = |at: usize| methods[at].kept.interval.map_or(0.0, |own| own.estimate);
        let reason = match self.tuner.fallback {
            // Those who choose these want just what they say.
            Fallback::None | Fallback::Paper => Reason::AsAsked,
            _ if gain.is_none_or(|gain| gain.low <= 0.0) => {
                return msp(candidate.method, Reason::NotConfirmed, gain);
            }
            // Who names a target wants to keep the most there.
            _ if self.target.is_some() && at.is_some_and(|at| kept(at) < kept(0)) => {
                return msp(candidate.method, Reason::WorseAtTarget, gain);
            }
            _ => Reason::Confirmed,
        };
        chosen(candidate.method, candidate.estimator.clone(), reason, gain)
    }
}

/// Why a method was of no use, if there is more to say than that it did not gain.
fn problem(tuned: &Result<abstain::Tuned, Error>, classes: usize) -> Option<String> {
    match tuned {
        Err(error) => Some(error.to_string()),
        Ok(own) if own.best.estimator.is_constant(classes) => {
            Some(format!("gives all rows of {classes} classes the same confidence"))
        }
        Ok(_) => None,
    }
}

impl Run {
    fn new<S: RowSource>(
        tuned: Vec<Attempt>,
        source: &mut S,
        rows: Option<Vec<usize>>,
    ) -> Result<Self, S::Error> {
        // A method that could not be tuned is shown as MSP, with the reason beside it.
        let estimators: Vec<Estimator> = tuned
            .iter()
            .map(|(_, own)| own.as_ref().map_or(Estimator::MSP, |own| own.estimator.clone()))
            .collect();
        let (mut confidences, mut losses) = source.confidences(&estimators)?;
        if let Some(rows) = &rows {
            for column in &mut confidences {
                *column = rows.iter().map(|&row| column[row]).collect();
            }
            losses = losses.select(rows);
        }
        Ok(Run { tuned, confidences, losses, rows })
    }
}

fn is_better(objective: &abstain::Objective, a: f64, b: f64) -> bool {
    match objective {
        abstain::Objective::Metric(metric) if metric.better() == Direction::Higher => a > b,
        _ => a < b,
    }
}

/// The interval of the negative.
fn negated(own: Interval) -> Interval {
    Interval { estimate: 0.0 - own.estimate, low: 0.0 - own.high, high: 0.0 - own.low, ..own }
}

/// Puts the mean and spread over the splits beside the values of the first.
fn spread(report: &mut TuneReport, splits: &[Vec<[Option<f64>; 5]>]) {
    if splits.is_empty() {
        return;
    }
    for (index, line) in report.methods.iter_mut().enumerate() {
        let of = |column: usize| {
            // Undefined in one split, it has no mean over them.
            let values: Vec<f64> =
                splits.iter().map(|split| split[index][column]).collect::<Option<_>>()?;
            Spread::of(&values)
        };
        line.naurc.spread = of(0);
        line.aurc.spread = of(1);
        line.auroc.spread = of(2);
        line.kept.spread = of(3);
        line.gain.spread = of(4);
    }
}
