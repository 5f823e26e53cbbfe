//! Tuning: searches over a method's parameters on the rows of a profile, and the fallback to MSP.

mod cross_fit;
mod fit;
mod likelihood;
mod recalibrate;

pub use cross_fit::CrossFitted;
pub use fit::{Fit, tune};

use crate::copies::Clusters;
use crate::curve::RcCurve;
use crate::error::{Error, Undefined};
use crate::estimator::Estimator;
use crate::fallback::Fallback;
use crate::family::stack::{Anchored, StackRecipe};
use crate::family::{Axis, Family};
use crate::folds::Folds;
use crate::interval::Intervals;
use crate::method::{Method, TemperatureObjective, TransformKind};
use crate::metric::Metric;
use crate::objective::Objective;
use crate::profile::{ProfilePlan, Profiles};
use crate::random::Random;
use crate::score::Score;
use crate::space::{Space, coarse, refined};
use crate::transform::{Centring, Exponent, Finite, Norm, Temperature, Transform};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// A point of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The estimator.
    pub estimator: Estimator,
    /// The objective on the tuning rows, if it is defined.
    pub value: Option<f64>,
}

/// A tuned method.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// The method.
    pub method: Method,
    /// What it was tuned for.
    pub objective: Objective,
    /// What to use: the best candidate, or MSP.
    pub estimator: Estimator,
    /// The best candidate, and the objective on the tuning rows.
    pub best: Candidate,
    /// MSP's objective on the tuning rows.
    pub baseline: Option<f64>,
    /// Whether it fell back to MSP.
    pub fell_back: bool,
    /// Everything that was tried, in the order of the grid.
    pub surface: Vec<Candidate>,
}

impl Tuned {
    fn fall_back(&mut self) {
        self.estimator = Estimator::MSP;
        self.fell_back = true;
    }
}

/// How to tune.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct Tuner {
    /// What to optimise.
    pub objective: Objective,
    /// What to try.
    pub space: Space,
    /// When to fall back to MSP.
    pub fallback: Fallback,
    /// What a stack is made of.
    pub stack: StackRecipe,
    /// The seed of folds and replicates.
    pub seed: u64,
}

/// The estimator at a point of the grid.
type Make<'a> = Box<dyn Fn(&[f64]) -> Result<Estimator, Error> + Sync + 'a>;

/// What a search tries: the values of each axis, which axes are continuous, and the estimator at a
/// point.
struct Grid<'a> {
    axes: Vec<Vec<f64>>,
    refinable: Vec<bool>,
    make: Make<'a>,
    refinements: usize,
    /// The last axis is one of temperatures, to be tried coarsely first.
    coarse_first: bool,
}

impl Tuner {
    /// The method that measurement favours (docs/decisions/method-and-fallback.md): the stack.
    pub const RECOMMENDED: Method = Method::Stack;

    /// The methods of the paper: six scores raw, with both temperatures and with the p-norm; the
    /// ablations of the p-norm; the families of other papers. And the stack.
    pub fn methods_of_the_paper() -> Vec<Method> {
        use TransformKind::{PNorm, Raw, Temperature as Ts};
        let centred = PNorm { centring: Centring::Mean, shift: false };
        let transforms =
            [Raw, Ts(TemperatureObjective::Nll), Ts(TemperatureObjective::Aurc), centred];
        let mut methods: Vec<Method> = Score::OF_THE_PAPER
            .iter()
            .flat_map(|&s| transforms.iter().filter_map(move |&t| Method::new(s, t).ok()))
            .collect();
        for centring in Centring::ALL {
            for shift in [false, true] {
                let transform = PNorm { centring, shift };
                if transform != centred {
                    methods.push(Method::Scored { score: Score::MaxLogit, transform });
                }
            }
        }
        methods.extend(Family::OF_THE_PAPER.map(Method::Family));
        methods.push(Method::Stack);
        methods
    }

    /// What a profile must record for some methods.
    pub fn plan(&self, methods: &[Method]) -> ProfilePlan {
        let mut plan = ProfilePlan::of_norms(self.space.centred_norms());
        let ablated: BTreeSet<Score> = methods
            .iter()
            .filter_map(|method| match *method {
                Method::Scored { score, transform: TransformKind::PNorm { centring, shift } } => {
                    (shift || centring != Centring::Mean).then_some(score)
                }
                _ => None,
            })
            .collect();
        for score in ablated {
            plan = plan.and(&self.ablation_plan(score));
        }
        let needs_exponentials = |method: &Method| match *method {
            Method::MSP | Method::LabelFree | Method::Extra => false,
            Method::Scored { score, .. } => score.info().temperature_matters,
            Method::Family(family) => !family.info().recorded,
            Method::Stack => self.stack.scores().iter().any(Estimator::needs_exponentials),
        };
        let recorded = methods.iter().flat_map(|method| match method {
            Method::Family(family) if family.info().recorded => self.recorded_grid(*family),
            _ => Vec::new(),
        });
        let plan = plan.and(&ProfilePlan::of(&self.stack.scores()));
        let plan = plan.and(&ProfilePlan::of(&Anchored::scores()));
        let plan = plan.and(&ProfilePlan::of(&recorded.collect::<Vec<_>>()));
        let likelihood = self.objective == Objective::Nll;
        if likelihood || methods.iter().any(needs_exponentials) {
            plan
        } else {
            plan.without_exponentials()
        }
    }

    /// What a profile must record for a score under the paper's ablations of the norm: of MaxLogit the
    /// confidences alone, half as much as the norms.
    fn ablation_plan(&self, score: Score) -> ProfilePlan {
        let norms = ProfilePlan::of_norms(self.space.ablated_norms());
        if score != Score::MaxLogit {
            return norms;
        }
        let estimator = |norm| Estimator::Scored {
            score,
            transform: Transform { norm: Some(norm), ..Transform::RAW },
        };
        let confidences: Vec<Estimator> = self.space.ablated_norms().map(estimator).collect();
        let plan = ProfilePlan::of(&confidences);
        // A likelihood is that of a softmax.
        if self.objective == Objective::Nll { plan.and(&norms) } else { plan }
    }

    /// Every estimator that the search for a recorded family may try.
    fn recorded_grid(&self, family: Family) -> Vec<Estimator> {
        let axes = family.search(&self.space).axes.into_iter().map(|axis| match axis {
            Axis::Continuous(values) | Axis::Fixed(values) | Axis::Classes(values) => values,
            // Nothing is tuned before there are rows.
            Axis::TunedTemperature => Vec::new(),
        });
        let points = product(&axes.collect::<Vec<_>>());
        points.iter().filter_map(|at| family.at(at).ok()).map(Estimator::Family).collect()
    }

    /// The best parameters for a method on these rows, whether or not they beat MSP.
    pub fn search(&self, method: Method, profiles: &Profiles) -> Result<Tuned, Error> {
        let mut found = self.search_samples(method, profiles, &[])?;
        found.swap_remove(0)
    }

    /// The best parameters on each of many overlapping subsets of the rows.
    ///
    /// The same as [`search`](Self::search) on the selected rows, so that candidates are sorted once for
    /// all subsets, except that the `τ` of p-norms is relative to the mean norm of all rows, and that
    /// where temperatures are tried coarsely first, what one subset leads to is tried on all.
    pub fn search_subsets(
        &self,
        method: Method,
        profiles: &Profiles,
        subsets: &[Vec<usize>],
    ) -> Result<Vec<Result<Tuned, Error>>, Error> {
        let is_grid = match method {
            Method::Scored { transform, .. } => {
                transform != TransformKind::Temperature(TemperatureObjective::Nll)
            }
            Method::Extra => true,
            Method::Family(_) | Method::Stack | Method::LabelFree => false,
        };
        if !is_grid {
            let search = |rows: &Vec<usize>| self.search(method, &profiles.select(rows));
            return Ok(subsets.iter().map(search).collect());
        }
        let counts = |rows: &Vec<usize>| {
            let mut counts = vec![0; profiles.rows()];
            for &row in rows {
                counts[row] += 1;
            }
            counts
        };
        let samples: Vec<Vec<u32>> = subsets.iter().map(counts).collect();
        let mut found = self.search_samples(method, profiles, &samples)?;
        found.remove(0)?;
        Ok(found)
    }

    /// The same on all rows, then on each sample of them, which says how often each row counts.
    fn search_samples(
        &self,
        method: Method,
        profiles: &Profiles,
        samples: &[Vec<u32>],
    ) -> Result<Vec<Result<Tuned, Error>>, Error> {
        if profiles.rows() == 0 {
            return Err(Error::NoRows);
        }
        self.search_grid_samples(method, &self.grid(method, profiles)?, profiles, samples)
    }

    /// The same on a grid of the method.
    fn search_grid_samples(
        &self,
        method: Method,
        grid: &Grid<'_>,
        profiles: &Profiles,
        samples: &[Vec<u32>],
    ) -> Result<Vec<Result<Tuned, Error>>, Error> {
        let objective = self.objective_of(method);
        let tried = search_grid(grid, objective, profiles, samples)?;
        let baselines = objective.evaluate_samples(profiles, &[Estimator::MSP], samples)?;
        let tuned = |(sample, baseline): (usize, &Result<f64, Undefined>)| {
            let value = |tried: &Tried| tried.values[sample].ok();
            let surface: Vec<Candidate> = tried
                .iter()
                .map(|t| Candidate { estimator: t.estimator.clone(), value: value(t) })
                .collect();
            let Some(best) = best_of(surface.iter().map(|c| c.value), objective) else {
                // Nothing is defined: the reason is that of any candidate.
                let why = tried.first().and_then(|tried| tried.values[sample].err());
                return Err(why.unwrap_or(Undefined::NotFinite).into());
            };
            let best = surface[best].clone();
            let (estimator, baseline) = (best.estimator.clone(), baseline.ok());
            Ok(Tuned { method, objective, estimator, best, baseline, fell_back: false, surface })
        };
        Ok(baselines[0].iter().enumerate().map(tuned).collect())
    }

    /// What a method is tuned for: the objective, unless its name says another.
    fn objective_of(&self, method: Method) -> Objective {
        let for_aurc = TransformKind::Temperature(TemperatureObjective::Aurc);
        match method {
            Method::Scored { transform, .. } if transform == for_aurc => {
                Objective::Metric(Metric::AURC)
            }
            _ => self.objective,
        }
    }

    /// Tunes a method and decides whether it is worth it.
    pub fn tune(&self, method: Method, profiles: &Profiles) -> Result<Tuned, Error> {
        if let Fallback::Veto(_) = self.fallback
            && let Ok(folds) = self.folds(profiles, Folds::DEFAULT)
        {
            return self.cross_fit(method, profiles, &folds).map(|fitted| fitted.tuned);
        }
        let mut tuned = self.search(method, profiles)?;
        if !self.is_worth_it(&tuned, profiles)? {
            tuned.fall_back();
        }
        Ok(tuned)
    }

    /// Tunes every method on the same rows.
    pub fn tune_all(
        &self,
        methods: &[Method],
        profiles: &Profiles,
    ) -> Vec<(Method, Result<Tuned, Error>)> {
        methods.iter().map(|&method| (method, self.tune(method, profiles))).collect()
    }

    fn is_worth_it(&self, tuned: &Tuned, profiles: &Profiles) -> Result<bool, Error> {
        let best = &tuned.best.estimator;
        if *best == Estimator::MSP {
            return Ok(true);
        }
        if best.is_constant(profiles.classes()) {
            return Ok(false);
        }
        match self.fallback {
            // A veto needs a cross-fit: without one there is nothing against it.
            Fallback::None | Fallback::Veto(_) => Ok(true),
            Fallback::Paper => {
                // Not worse is good enough for the paper.
                Ok(gain_over_msp(tuned.objective, best, profiles)?.is_some_and(|gain| gain >= 0.0))
            }
            Fallback::StandardErrors(times) => {
                let found = gain_and_error(tuned.objective, best, profiles)?;
                Ok(found.is_some_and(|(gain, error)| gain > times * error))
            }
            Fallback::CrossValidation { folds, standard_errors } => {
                self.wins_cross_validation(tuned.method, folds, standard_errors, profiles)
            }
        }
    }

    /// Whether the method, tuned on the other folds, beats MSP on average over the folds.
    fn wins_cross_validation(
        &self,
        method: Method,
        folds: usize,
        standard_errors: f64,
        profiles: &Profiles,
    ) -> Result<bool, Error> {
        let clusters = profiles.clusters();
        let n = clusters.map_or(profiles.rows(), Clusters::count);
        if folds < 2 {
            let value = folds as f64;
            return Err(Error::Parameter { name: "folds", value, wanted: "at least 2" });
        }
        if n < 2 * folds {
            return Ok(false);
        }
        let order = Random::new(self.seed).permutation(n);
        let objective = self.objective_of(method);
        let mut gains = Vec::new();
        for fold in 0..folds {
            let (start, end) = (fold * n / folds, (fold + 1) * n / folds);
            let rest: Vec<usize> = [&order[..start], &order[end..]].concat();
            let rows = |part: &[usize]| match clusters {
                Some(clusters) => profiles.select(&clusters.rows_in(part)),
                None => profiles.select(part),
            };
            let (test, rest) = (rows(&order[start..end]), rows(&rest));
            let best = match self.search(method, &rest) {
                Ok(tuned) => tuned.best.estimator,
                // A fold on which the objective is undefined, as one without errors, does not count.
                Err(Error::Undefined(_)) => continue,
                Err(error) => return Err(error),
            };
            gains.extend(gain_over_msp(objective, &best, &test)?);
        }
        let (mean, error) = mean_and_error(&gains);
        // Without two folds to compare there is nothing to go by, and nothing is larger than NaN.
        Ok(mean > standard_errors * error)
    }

    /// `p`, `γ` and `τ`, as far as the score and the variant have them.
    fn pnorm_grid<'a>(
        &'a self,
        score: Score,
        centring: Centring,
        shift: bool,
        profiles: &'a Profiles,
    ) -> Grid<'a> {
        let space = &self.space;
        let temperatures = || space.temperatures.iter().map(|t| t.get()).collect::<Vec<f64>>();
        let exponents = space.exponents.iter().map(|p| p.get()).collect();
        let refinements = space.refinements;
        let gammas = if shift { space.gammas.iter().map(|g| g.get()).collect() } else { vec![0.0] };
        let matters = score.info().temperature_matters;
        let taus = match (matters, shift) {
            (false, _) => vec![1.0],
            (true, false) => temperatures(),
            // Three axes at once: thirty temperatures are enough.
            (true, true) => {
                let skipped = (temperatures().len() / 30).max(1);
                temperatures().into_iter().skip(skipped - 1).step_by(skipped).collect()
            }
        };
        // Every temperature of a norm needs its mean, a sum over the rows.
        let known = Mutex::new(Vec::<(Norm, Option<f64>)>::new());
        let mean_norm = move |norm: &Norm| {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, mean)) = known.iter().rev().find(|(other, _)| other == norm) {
                return *mean;
            }
            let mean = profiles.mean_norm(norm);
            known.push((*norm, mean));
            mean
        };
        let make = move |at: &[f64]| {
            let (p, gamma) = (Exponent::new(at[0])?, Finite::new(at[1])?);
            let norm = Norm { centring, gamma, p };
            let of = |tau: f64| -> Result<Estimator, Error> {
                let temperature = Temperature::new(tau)?;
                let transform = Transform { norm: Some(norm), temperature };
                Ok(Estimator::Scored { score, transform })
            };
            if !matters {
                return of(1.0);
            }
            // Relative to the mean norm: an absolute grid would miss the optimum.
            match mean_norm(&norm) {
                Some(mean) => of(at[2] / mean),
                None => Err(Error::NotProfiled { estimator: of(at[2])?.to_string() }),
            }
        };
        Grid {
            axes: vec![exponents, gammas, taus],
            refinable: vec![false, false, matters],
            make: Box::new(make),
            refinements: if matters { refinements } else { 0 },
            coarse_first: space.coarse_first && matters,
        }
    }

    /// The grid of a method.
    fn grid<'a>(&'a self, method: Method, profiles: &'a Profiles) -> Result<Grid<'a>, Error> {
        let space = &self.space;
        let temperatures = || space.temperatures.iter().map(|t| t.get()).collect::<Vec<f64>>();
        let refinements = space.refinements;
        // Nothing to choose: the one estimator that there is.
        let single = |estimator: Estimator| Grid {
            axes: Vec::new(),
            refinable: Vec::new(),
            make: Box::new(move |_| Ok(estimator.clone())),
            refinements: 0,
            coarse_first: false,
        };
        let nll = TransformKind::Temperature(TemperatureObjective::Nll);
        Ok(match method {
            Method::Scored { score, transform: TransformKind::Raw } => {
                single(Estimator::Scored { score, transform: Transform::RAW })
            }
            Method::Scored { score, transform } if transform == nll => {
                let transform = Transform { norm: None, temperature: nll_temperature(profiles)? };
                single(Estimator::Scored { score, transform })
            }
            Method::Stack => single(self.stack.fit(profiles)?),
            Method::LabelFree => single(self.stack.label_free(profiles)?),
            Method::Extra => single(Estimator::Extra),
            Method::Scored { score, transform: TransformKind::Temperature(_) } => Grid {
                axes: vec![temperatures()],
                refinable: vec![true],
                make: Box::new(move |at| {
                    let transform = Transform::temperature(at[0])?;
                    Ok(Estimator::Scored { score, transform })
                }),
                refinements,
                coarse_first: space.coarse_first,
            },
            Method::Scored { score, transform: TransformKind::PNorm { centring, shift } } => {
                self.pnorm_grid(score, centring, shift, profiles)
            }
            Method::Family(family) => {
                let tuned = || self.msp_temperature(profiles);
                self.family_grid(family, profiles.classes(), tuned)?
            }
        })
    }

    /// The grid of a family, at the temperature that was tuned for MSP if it has one.
    fn family_grid<'a>(
        &self,
        family: Family,
        classes: usize,
        tuned: impl Fn() -> Result<Temperature, Error>,
    ) -> Result<Grid<'a>, Error> {
        let search = family.search(&self.space);
        let refinable =
            search.axes.iter().map(|axis| matches!(axis, Axis::Continuous(_))).collect();
        let values = |axis| {
            Ok(match axis {
                Axis::Continuous(values) | Axis::Fixed(values) => values,
                Axis::Classes(mut counts) => {
                    let classes = classes as f64;
                    for count in &mut counts {
                        *count = count.min(classes);
                    }
                    counts.dedup();
                    counts
                }
                Axis::TunedTemperature => vec![tuned()?.get()],
            })
        };
        Ok(Grid {
            axes: search.axes.into_iter().map(values).collect::<Result<_, Error>>()?,
            refinable,
            make: Box::new(move |at| family.at(at).map(Estimator::Family)),
            refinements: search.refinements,
            coarse_first: false,
        })
    }

    /// The temperature that temperature scaling finds for MSP.
    fn msp_temperature(&self, profiles: &Profiles) -> Result<Temperature, Error> {
        self.search(SCALED_MSP, profiles).map(|scaled| temperature_of(&scaled))
    }
}

/// Temperature scaling for what the tuner optimises.
const SCALED_MSP: Method = Method::Scored {
    score: Score::Msp,
    transform: TransformKind::Temperature(TemperatureObjective::Chosen),
};

/// The temperature that temperature scaling has found.
fn temperature_of(scaled: &Tuned) -> Temperature {
    match scaled.best.estimator {
        Estimator::Scored { transform, .. } => transform.temperature,
        _ => Temperature::ONE,
    }
}

/// A point of a grid, with its objective on all rows and on each sample.
struct Tried {
    point: Vec<f64>,
    estimator: Estimator,
    values: Vec<Result<f64, Undefined>>,
}

/// Tries every point of a grid, then finer ones around the best of all rows and of each sample.
fn search_grid(
    grid: &Grid<'_>,
    objective: Objective,
    profiles: &Profiles,
    samples: &[Vec<u32>],
) -> Result<Vec<Tried>, Error> {
    if grid.axes.iter().any(Vec::is_empty) {
        let wanted = "at least one value for every number of the method";
        return Err(Error::Parameter { name: "the search space", value: 0.0, wanted });
    }
    let attempt = |points| try_points(grid, points, objective, profiles, samples);
    let last = grid.axes.last().filter(|_| grid.coarse_first);
    let mut tried = match last.and_then(|last| coarse(last)) {
        Some(chosen) => try_coarsely(grid, &chosen, objective, samples.len(), attempt)?,
        None => attempt(product(&grid.axes))?,
    };
    let steps = if grid.refinable.iter().filter(|&&axis| axis).count() > 1 { 4 } else { 10 };
    // What was tried last, and the axes around the best point of each sample.
    let mut first = 0;
    let mut axes = vec![grid.axes.clone(); 1 + samples.len()];
    for _ in 0..grid.refinements {
        let mut points: Vec<Vec<f64>> = Vec::new();
        for (sample, axes) in axes.iter_mut().enumerate() {
            let values = tried[first..].iter().map(|tried| tried.values[sample].ok());
            let Some(best) = best_of(values, objective) else { continue };
            let best = &tried[first + best].point;
            let refine = |((axis, &refinable), &at): ((&Vec<f64>, &bool), &f64)| {
                if refinable { refined(axis, at, steps) } else { vec![at] }
            };
            *axes = axes.iter().zip(&grid.refinable).zip(best).map(refine).collect();
            for point in product(axes) {
                if !points.contains(&point) {
                    points.push(point);
                }
            }
        }
        first = tried.len();
        tried.extend(attempt(points)?);
    }
    Ok(tried)
}

/// Tries some values of the last axis with every combination of the others, then some of those
/// between the neighbours of the best of each, for all rows and each sample, and so on until none is
/// left between them.
fn try_coarsely(
    grid: &Grid<'_>,
    chosen: &[usize],
    objective: Objective,
    samples: usize,
    attempt: impl Fn(Vec<Vec<f64>>) -> Result<Vec<Tried>, Error>,
) -> Result<Vec<Tried>, Error> {
    let Some((last, others)) = grid.axes.split_last() else { return Ok(Vec::new()) };
    let others = product(others);
    let point = |k: usize, index: usize| [&others[k][..], &[last[index]]].concat();
    // What was tried with each combination of the others, by place on the last axis.
    let mut tried: Vec<BTreeMap<usize, Tried>> = Vec::new();
    tried.resize_with(others.len(), BTreeMap::new);
    let mut places: BTreeSet<(usize, usize)> =
        (0..others.len()).flat_map(|k| chosen.iter().map(move |&index| (k, index))).collect();
    while !places.is_empty() {
        let points = places.iter().map(|&(k, index)| point(k, index)).collect();
        for ((k, index), found) in std::mem::take(&mut places).into_iter().zip(attempt(points)?) {
            tried[k].insert(index, found);
        }
        for (k, tried) in tried.iter().enumerate() {
            let indices: Vec<usize> = tried.keys().copied().collect();
            for sample in 0..=samples {
                let values = tried.values().map(|tried| tried.values[sample].ok());
                let Some(best) = best_of(values, objective) else { continue };
                let low = indices[best.saturating_sub(1)];
                let high = indices[(best + 1).min(indices.len() - 1)];
                let fresh: Vec<usize> =
                    (low..high).filter(|index| !tried.contains_key(index)).collect();
                // At most four, and as evenly as can be.
                let step = fresh.len().div_ceil(4).max(1);
                places
                    .extend(fresh.into_iter().skip(step / 2).step_by(step).map(|index| (k, index)));
            }
        }
    }
    Ok(tried.into_iter().flat_map(BTreeMap::into_values).collect())
}

fn try_points(
    grid: &Grid<'_>,
    points: Vec<Vec<f64>>,
    objective: Objective,
    profiles: &Profiles,
    samples: &[Vec<u32>],
) -> Result<Vec<Tried>, Error> {
    let estimators = points.iter().map(|at| (grid.make)(at)).collect::<Result<Vec<_>, _>>()?;
    let values = objective.evaluate_samples(profiles, &estimators, samples)?;
    let all = points.into_iter().zip(estimators).zip(values);
    Ok(all.map(|((point, estimator), values)| Tried { point, estimator, values }).collect())
}

/// The index of the best value, the first of equals.
fn best_of(values: impl Iterator<Item = Option<f64>>, objective: Objective) -> Option<usize> {
    let costs = values.map(|value| value.map(|v| objective.cost(v))).enumerate();
    let defined = costs.filter_map(|(i, cost)| Some((i, cost?)));
    defined.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
}

/// By how much an estimator is better than MSP on the rows it was tuned on, and the standard error
/// of that.
fn gain_and_error(
    objective: Objective,
    estimator: &Estimator,
    profiles: &Profiles,
) -> Result<Option<(f64, f64)>, Error> {
    let estimators = [estimator.clone(), Estimator::MSP];
    let (difference, error) = match objective {
        Objective::Metric(metric) => {
            let confidences = profiles.confidences(&estimators)?;
            let (tuned, msp) = (&confidences[0], &confidences[1]);
            match Intervals::default().differences(&[metric], tuned, msp, &profiles.losses())?[0] {
                Ok(found) => (found.estimate, found.standard_error),
                Err(_) => return Ok(None),
            }
        }
        // A mean over rows: its standard error needs no bootstrap.
        Objective::Nll => {
            let log_losses = profiles.log_losses(&estimators)?;
            let rows = log_losses[0].iter().zip(&log_losses[1]);
            mean_and_error(&rows.map(|(tuned, msp)| tuned - msp).collect::<Vec<f64>>())
        }
    };
    Ok(Some((-objective.cost(difference), error)))
}

/// By how much an estimator is better than MSP on some rows, if both are defined there.
fn gain_over_msp(
    objective: Objective,
    estimator: &Estimator,
    profiles: &Profiles,
) -> Result<Option<f64>, Error> {
    let values = objective.evaluate(profiles, &[estimator.clone(), Estimator::MSP])?;
    Ok(match values[..] {
        [Ok(value), Ok(msp)] => Some(objective.cost(msp) - objective.cost(value)),
        _ => None,
    })
}

/// The mean of some values and its standard error; NaN for fewer than two.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// Every combination of the values of the axes, the last axis running fastest.
fn product(axes: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut points = vec![Vec::with_capacity(axes.len())];
    for axis in axes {
        let extend = |point: &Vec<f64>| {
            axis.iter().map(|&x| point.iter().copied().chain([x]).collect()).collect::<Vec<_>>()
        };
        points = points.iter().flat_map(extend).collect();
    }
    points
}

/// The temperature that minimises the negative log-likelihood.
///
/// Without a root of its derivative (no errors, or nothing but errors) it is the end of the range towards
/// which the likelihood grows: 1e-4 or 1e4 times the mean gap.
pub(crate) fn nll_temperature(profiles: &Profiles) -> Result<Temperature, Error> {
    // Found twice if two threads look at once: waiting for one another they might wait for ever.
    if let Some(known) = profiles.likeliest.get() {
        return Ok(*known);
    }
    let all: Vec<usize> = (0..profiles.rows()).collect();
    let found = likelihood::temperature(profiles, &all)?;
    Ok(*profiles.likeliest.get_or_init(|| found))
}

/// The same of the rows outside of each fold.
fn nll_temperatures_outside(profiles: &Profiles, folds: &Folds) -> Result<Vec<Temperature>, Error> {
    if let Some((known, temperatures)) = profiles.likeliest_outside.get()
        && known == folds
    {
        return Ok(temperatures.clone());
    }
    let outside = |fold| likelihood::temperature(profiles, &folds.outside(fold));
    let found = (0..folds.count()).map(outside).collect::<Result<Vec<_>, _>>()?;
    profiles.likeliest_outside.get_or_init(|| (folds.clone(), found.clone()));
    Ok(found)
}

/// The metrics of an estimator on the rows of a profile.
pub fn evaluate_metrics(
    profiles: &Profiles,
    estimator: &Estimator,
    metrics: &[Metric],
) -> Result<Vec<Result<f64, Undefined>>, Error> {
    let confidences = profiles.confidences(std::slice::from_ref(estimator))?;
    let curve = RcCurve::new(&confidences[0], &profiles.losses())?;
    Ok(metrics.iter().map(|metric| metric.evaluate(&curve)).collect())
}
